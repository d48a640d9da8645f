"""Frames of captures that are not Ethernet, behind the Ethernet header that they would have.

Where the link has no addresses, those of the header are zero, as on Linux' loopback interface. Layouts: tcpdump.org/linktypes.html,
radiotap.org, IEEE 802.11, RFC 1661 and 1662 (PPP), RFC 1547, section 4.3.1 (Cisco's HDLC).
"""

import struct
from collections.abc import Callable

HEADER_BYTES = 14
ETHERNET = 1
NO_IP = "carry no IP"
NO_DATA = "are no data frames of 802.11"
ENCRYPTED = "are encrypted by 802.11"
AGGREGATED = "hold several frames (A-MSDU of 802.11)"
BAD_FCS = "have a bad FCS"
CUT = "are cut before what they carry"
EMPTY = "have no bytes"
NO_NETWORK = "are of no kind that has an Ethernet header"

_IPV4, _IPV6 = 0x0800, 0x86DD
_NO_ADDRESS = bytes(6)

Whole = tuple[int, bytes]  # bytes on the line, what is stored of them
Found = Whole | str  # or why there is no such frame: words behind "records"


def _headed(kind: int, length: int, data: bytes, source: bytes = _NO_ADDRESS, destination: bytes = _NO_ADDRESS) -> Whole:
    return length + HEADER_BYTES, destination + source + struct.pack("!H", kind) + data


def _ethernet(length: int, data: bytes) -> Found:
    return length, data


def _raw(length: int, data: bytes) -> Found:
    if not data:
        return length + HEADER_BYTES, b""
    kind = {4: _IPV4, 6: _IPV6}.get(data[0] >> 4)
    return _headed(kind, length, data) if kind else NO_IP


def _family(length: int, data: bytes, order: str) -> Found:
    if length < 4 or len(data) < 4:
        return CUT
    family = struct.unpack_from(order + "I", data)[0]
    if family > 0xFFFF:  # of a machine of the other byte order
        family = struct.unpack_from(">I", data)[0]
    kind = _IPV4 if family == 2 else _IPV6 if family in (10, 23, 24, 28, 30) else None  # AF_INET6 of Linux, Windows, the BSDs, macOS
    return _headed(kind, length - 4, data[4:]) if kind else NO_IP


def _null(length: int, data: bytes) -> Found:
    return _family(length, data, "<")


def _loop(length: int, data: bytes) -> Found:
    return _family(length, data, ">")


# By the protocol of PPP: IPv4, IPv6, MPLS. Frames whose TCP header is compressed (0x002D, 0x002F) have no such protocol.
_OF_PPP = {0x0021: _IPV4, 0x0057: _IPV6, 0x0281: 0x8847, 0x0283: 0x8848}
_FRAMING = b"\xff\x03"  # address and control of HDLC-like framing, which may be left out


def _ppp(length: int, data: bytes) -> Found:
    at = 2 if data.startswith(_FRAMING) else 0
    # A protocol has two bytes, the first of which is even; or the second one alone, which is odd.
    size = at + (1 if len(data) > at and data[at] & 1 else 2)
    if length < size or len(data) < size:
        return CUT
    kind = _OF_PPP.get(int.from_bytes(data[at:size]))
    return _headed(kind, length - size, data[size:]) if kind else NO_IP


def _cisco(length: int, data: bytes) -> Found:
    if length < 4 or len(data) < 4:
        return CUT
    kind = struct.unpack_from("!H", data, 2)[0]
    # 0x8035 is its own keepalive, and types below 0x0600 are none of Ethernet.
    return _headed(kind, length - 4, data[4:]) if kind in (_IPV4, _IPV6, 0x8847, 0x8848) else NO_IP


def _serial(length: int, data: bytes) -> Found:
    return _cisco(length, data) if data[:1] in (b"\x0f", b"\x8f") else _ppp(length, data)


_IS_NO_FRAME = (801, 802, 803, 824)  # ARPHRD_IEEE80211 with its prisms and radiotap, ARPHRD_NETLINK
_ETHERNET_WITHOUT_TYPE, _LLC = 0x0001, 0x0004  # ETH_P_802_3, ETH_P_802_2
_LEAST_TYPE = 0x0600


def _cooked(length: int, data: bytes, size: int, protocol_at: int, hardware_at: int, address_at: int) -> Found:
    if length < size or len(data) < size:
        return CUT
    protocol, hardware = (struct.unpack_from("!H", data, at)[0] for at in (protocol_at, hardware_at))
    address_bytes = data[address_at - 1]
    source = data[address_at : address_at + 6] if address_bytes == 6 else _NO_ADDRESS
    length, data = length - size, data[size:]
    if hardware in _IS_NO_FRAME:
        return NO_NETWORK
    if protocol in (_ETHERNET_WITHOUT_TYPE, _LLC) and length < _LEAST_TYPE:
        protocol = length
    elif protocol < _LEAST_TYPE:
        return NO_NETWORK
    return _headed(protocol, length, data, source)


def _cooked_v1(length: int, data: bytes) -> Found:
    return _cooked(length, data, 16, 14, 2, 6)


def _cooked_v2(length: int, data: bytes) -> Found:
    return _cooked(length, data, 20, 0, 8, 12)


_TO_STATION, _FROM_STATION, _PROTECTED, _ORDER = 1, 2, 0x40, 0x80  # of the second byte of a frame's control field
_SNAP = b"\xaa\xaa\x03\x00\x00\x00"


def _wireless(length: int, data: bytes, padded: bool = False) -> Found:
    if len(data) < 2:
        return CUT
    first, flags = data[0], data[1]
    if first & 15 != 8 or first >> 4 & 4:  # version 0, type data, and not one of the subtypes without data
        return NO_DATA
    with_quality = bool(first >> 4 & 8)
    between = flags & _TO_STATION and flags & _FROM_STATION
    quality_at = 30 if between else 24
    size = quality_at + (2 if with_quality else 0) + (4 if with_quality and flags & _ORDER else 0)
    size = -(-size // 4) * 4 if padded else size
    if flags & _PROTECTED:
        return ENCRYPTED
    if len(data) < size:
        return CUT
    if with_quality and data[quality_at] & 0x80:
        return AGGREGATED
    addresses = [data[at : at + 6] for at in (4, 10, 16, 24)]
    destination = addresses[2] if flags & _TO_STATION else addresses[0]
    source = addresses[3] if between else addresses[2] if flags & _FROM_STATION else addresses[1]
    length, body = length - size, data[size:]
    if length < 8 or len(body) < 8:
        return CUT
    if body.startswith(_SNAP):
        return _headed(struct.unpack_from("!H", body, 6)[0], length - 8, body[8:], source, destination)
    return _headed(length, length, body, source, destination) if length < _LEAST_TYPE else NO_NETWORK


_MORE, _TIMER, _FLAGS = 1 << 31, 1 << 0, 1 << 1  # bits of radiotap's words of what is there
_FCS, _PADDED, _BAD_FCS = 0x10, 0x20, 0x40


def _radiotap(length: int, data: bytes) -> Found:
    if len(data) < 8:
        return CUT
    size, present = struct.unpack_from("<HI", data, 2)
    at, word = 8, present
    while word & _MORE and at + 4 <= min(size, len(data)):
        word, at = struct.unpack_from("<I", data, at)[0], at + 4
    if present & _TIMER:
        at = -(-at // 8) * 8 + 8
    flags = data[at] if present & _FLAGS and at < min(size, len(data)) else 0
    if flags & _BAD_FCS:
        return BAD_FCS
    length -= size + (4 if flags & _FCS else 0)
    return _wireless(length, data[size : size + max(0, length)], bool(flags & _PADDED)) if length > 0 else CUT


SUPPORTED: dict[int, tuple[str, Callable[[int, bytes], Found]]] = {
    ETHERNET: ("Ethernet", _ethernet),
    0: ("BSD loopback", _null),
    9: ("PPP", _ppp),
    12: ("raw IP", _raw),
    14: ("raw IP", _raw),
    50: ("PPP in HDLC-like framing", _serial),
    101: ("raw IP", _raw),
    104: ("Cisco HDLC", _cisco),
    105: ("802.11", _wireless),
    108: ("OpenBSD loopback", _loop),
    113: ("Linux cooked", _cooked_v1),
    127: ("802.11 with radiotap", _radiotap),
    228: ("raw IPv4", _raw),
    229: ("raw IPv6", _raw),
    276: ("Linux cooked, version 2", _cooked_v2),
}
