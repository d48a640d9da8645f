"""Header fields of an Ethernet frame that the rules of a scenario look at; for live frames engine/src/wire/classifier.cpp does the same.

A field is read as soon as the bytes that are there decide it, whatever was cut off or is wrong behind it. Layouts: IEEE 802.3 and 802.1Q,
RFC 1042 (SNAP), RFC 2516 (PPPoE), RFC 3032 (MPLS), RFC 791, RFC 8200.
"""

from typing import Any, NamedTuple

_TAGS = frozenset((0x8100, 0x88A8, 0x9100, 0x9200))
_IPV4, _IPV6 = 0x0800, 0x86DD
_MPLS = (0x8847, 0x8848)
_PPPOE_DISCOVERY, _PPPOE_SESSION = 0x8863, 0x8864
_PPP = {0x0021: _IPV4, 0x0057: _IPV6, 0x0281: _MPLS[0], 0x0283: _MPLS[1]}  # EtherTypes of what PPP carries
_LEAST_TYPE = 0x0600  # what is less is the length of an 802.3 frame
_SNAP = (b"\xaa\xaa\x03\x00\x00\x00", b"\xaa\xaa\x03\x00\x00\xf8")  # RFC 1042, IEEE 802.1H
_LLC_IP = b"\x06\x06\x03"
_HOP_BY_HOP, _ROUTING, _FRAGMENT, _AUTHENTICATION, _OPTIONS = 0, 43, 44, 51, 60
_EXTENSIONS = frozenset((_HOP_BY_HOP, _ROUTING, _FRAGMENT, _AUTHENTICATION, _OPTIONS))  # ESP is none: what follows it is encrypted
_WITH_PORTS = frozenset((6, 17, 33, 132, 136))  # TCP, UDP, DCCP, SCTP, UDP-Lite: all begin with both ports


class Fields(NamedTuple):
    """What rules look at; None where a frame does not have it, or where it was cut off."""

    protocol: int | None = None
    source: bytes | None = None  # address; of one that was cut the bytes that are there
    destination: bytes | None = None
    version: int | None = None  # 4 or 6
    source_port: int | None = None
    destination_port: int | None = None
    dscp: int | None = None
    vlans: tuple[int, ...] = ()  # ids of the two outermost tags
    source_mac: bytes | None = None
    destination_mac: bytes | None = None
    mpls: int | None = None  # label at the top of the stack
    pppoe: int | None = None  # session


def fields_of(frame: bytes) -> Fields:
    """Return the fields of an Ethernet frame; never raises."""
    found: dict[str, Any] = {}
    if len(frame) >= 6:
        found["destination_mac"] = frame[:6]
    if len(frame) >= 12:
        found["source_mac"] = frame[6:12]
    _typed(found, frame, 12, len(frame))
    return Fields(**found)


def _word(frame: bytes, at: int) -> int:
    return frame[at] << 8 | frame[at + 1]


def _typed(found: dict[str, Any], frame: bytes, at: int, end: int) -> None:
    """Read on from the EtherType at `at`."""
    while at + 2 <= end:
        kind = _word(frame, at)
        at += 2
        if kind in _TAGS:
            vlans = found.get("vlans", ())
            if at + 2 <= end and len(vlans) < 2:
                found["vlans"] = (*vlans, _word(frame, at) & 0xFFF)
            at += 2
        elif kind < _LEAST_TYPE:
            end = min(end, at + kind)
            if frame[at : min(at + 3, end)] == _LLC_IP:
                return _ipv4(found, frame, at + 3, end)
            if frame[at : min(at + 6, end)] not in _SNAP:
                return None
            at += 6
        else:
            return _payload(found, frame, kind, at, end)
    return None


def _payload(found: dict[str, Any], frame: bytes, kind: int, at: int, end: int) -> None:
    if kind == _IPV4:
        _ipv4(found, frame, at, end)
    elif kind == _IPV6:
        _ipv6(found, frame, at, end)
    elif kind in _MPLS:
        _mpls(found, frame, at, end)
    elif kind in (_PPPOE_DISCOVERY, _PPPOE_SESSION) and at + 4 <= end:
        found["pppoe"] = _word(frame, at + 2)
        if kind == _PPPOE_SESSION and at + 8 <= end and not frame[at + 1]:
            carried = _PPP.get(_word(frame, at + 6))
            if carried is not None:
                _payload(found, frame, carried, at + 8, min(end, at + 6 + _word(frame, at + 4)))


def _mpls(found: dict[str, Any], frame: bytes, at: int, end: int) -> None:
    """Read a stack of labels, and the IP packet below it: nothing but its first four bits says that it is one (RFC 4928, 3)."""
    bottom = False
    while not bottom:
        if at + 3 > end:
            return
        found.setdefault("mpls", _word(frame, at) << 4 | frame[at + 2] >> 4)
        bottom = bool(frame[at + 2] & 1)
        at += 4
    if at < end:
        {4: _ipv4, 6: _ipv6}.get(frame[at] >> 4, lambda *_: None)(found, frame, at, end)


def _ipv4(found: dict[str, Any], frame: bytes, at: int, end: int) -> None:
    if at >= end or frame[at] >> 4 != 4 or frame[at] & 15 < 5:
        return
    found["version"] = 4
    there = end - at
    if there > 1:
        found["dscp"] = frame[at + 1] >> 2
    if there > 9:
        found["protocol"] = frame[at + 9]
    if there > 12:
        found["source"] = frame[at + 12 : min(at + 16, end)]
    if there > 16:
        found["destination"] = frame[at + 16 : min(at + 20, end)]
    if there > 20 and not _word(frame, at + 6) & 0x1FFF:  # the first bytes of a later fragment are no ports
        length = _word(frame, at + 2)  # 0: by segmentation offload
        _ports(found, frame, at + 4 * (frame[at] & 15), min(end, at + length) if length else end)


def _ipv6(found: dict[str, Any], frame: bytes, at: int, end: int) -> None:
    if at >= end or frame[at] >> 4 != 6:
        return
    found["version"] = 6
    there = end - at
    if there > 1:
        found["dscp"] = (frame[at] & 15) << 2 | frame[at + 1] >> 6
    if there > 8:
        found["source"] = frame[at + 8 : min(at + 24, end)]
    if there > 24:
        found["destination"] = frame[at + 24 : min(at + 40, end)]
    if there <= 6:
        return
    length, following, at = _word(frame, at + 4), frame[at + 6], at + 40
    end = min(end, at + length) if length else end  # 0: by segmentation offload, and of jumbograms
    while following in _EXTENSIONS:
        if at >= end:
            return
        kind, following = following, frame[at]
        if following not in _EXTENSIONS:
            found["protocol"] = following
        if at + 2 > end or (kind == _FRAGMENT and at + 4 > end):
            return
        if kind == _FRAGMENT and _word(frame, at + 2) & 0xFFF8:
            return  # a later fragment: what it holds are no headers
        at += 8 if kind == _FRAGMENT else 4 * (frame[at + 1] + 2) if kind == _AUTHENTICATION else 8 * (frame[at + 1] + 1)
    found["protocol"] = following
    _ports(found, frame, at, end)


def _ports(found: dict[str, Any], frame: bytes, at: int, end: int) -> None:
    if found["protocol"] in _WITH_PORTS:
        if at + 2 <= end:
            found["source_port"] = _word(frame, at)
        if at + 4 <= end:
            found["destination_port"] = _word(frame, at + 2)
