"""Real headers of frames: what generated frames begin with, and the DSCP of any frame."""

import ipaddress
import re
import struct
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, StrictInt

from penstock.basics.models import Model
from penstock.basics.suggest import nearest
from penstock.basics.units import describe

# RFC 2474 (CS, default), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VA), RFC 8622 (LE)
DSCP_NAMES = {
    "be": 0, "default": 0, "le": 1, "va": 44, "ef": 46,
    **{f"cs{n}": 8 * n for n in range(8)},
    **{f"af{c}{d}": 8 * c + 2 * d for c in range(1, 5) for d in range(1, 4)},
}  # fmt: skip
DSCPS = 64
ETHERNET_BYTES, TAG_BYTES, IPV4_BYTES, IPV6_BYTES, UDP_BYTES = 14, 4, 20, 40, 8
VLAN, SERVICE_VLAN, IPV4, IPV6 = 0x8100, 0x88A8, 0x0800, 0x86DD
UDP, HOPS = 17, 64
# What RFC 2544 (with RFC 6890) and RFC 5180 set aside for measurements.
SOURCE = {4: ipaddress.ip_address("198.18.0.0"), 6: ipaddress.ip_address("2001:2::")}
DESTINATION = {4: ipaddress.ip_address("198.19.0.0"), 6: ipaddress.ip_address("2001:2:0:1::")}
PORT = 9  # discard, RFC 863
_MAC = re.compile(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}")
MAX_HEADERS_BYTES = 1 << 28  # of all queues and sizes of a source


def dscp(value: object) -> int:
    """Return the number of a DSCP, `46` or `ef`. Raises ValueError, a sentence without its subject."""
    name = value.strip().lower() if isinstance(value, str) else value
    if isinstance(name, str) and name in DSCP_NAMES:
        return DSCP_NAMES[name]
    if isinstance(name, str) and name.isascii() and name.isdigit() and len(name) <= 2:
        name = int(name)
    if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < DSCPS:
        return name
    hint = nearest(name, DSCP_NAMES) if isinstance(name, str) else ""
    raise ValueError(f"must be a DSCP, a number from 0 to 63 or a name such as ef, af41 or cs6, not {describe(value)}{hint}")


def _tags(value: object) -> tuple[int, ...]:
    given = value if isinstance(value, (list, tuple)) else [value]
    if len(given) > 2 or not all(isinstance(tag, int) and not isinstance(tag, bool) and 0 <= tag < 4095 for tag in given):
        raise ValueError(f"must be a VLAN id from 0 to 4094, or a list of at most two, the outer one first, not {describe(value)}")
    return tuple(given)


def _address(value: object) -> Any:
    try:
        return ipaddress.ip_address(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError(f'must be an address such as "10.0.1.2" or "2001:db8::1", not {describe(value)}') from None


def _mac(value: object) -> bytes:
    if isinstance(value, str) and _MAC.fullmatch(value):
        return bytes.fromhex(value.replace(":", ""))
    raise ValueError(f'must be a MAC address such as "02:00:00:00:00:01", not {describe(value)}')


Dscp = Annotated[int, BeforeValidator(dscp)]
Mac = Annotated[Any, BeforeValidator(_mac)]
Vlans = Annotated[tuple[int, ...], BeforeValidator(_tags)]
Address = Annotated[Any, BeforeValidator(_address)]
UdpPort = Annotated[StrictInt, Field(ge=0, le=65_535)]


class Headers(Model):
    """What generated frames begin with: Ethernet, VLAN tags if any, IPv4 or IPv6, UDP; lengths and checksums are right."""

    ip: Literal[4, 6] = Field(4, description="Version of IP.")
    dscp: Dscp | None = Field(None, description="DSCP, `46` or `ef`; 0 unless given.")
    ecn: StrictInt = Field(0, ge=0, le=3, description="ECN field: 0 not capable, 1 or 2 capable, 3 marked already.")
    vlan: Vlans = Field((), description="VLAN id, or two with the outer one first; the priority is the upper half of the DSCP.")
    src_mac: Mac | None = Field(None, description="Source MAC address; locally administered, one for each queue, unless given.")
    dst_mac: Mac | None = Field(None, description="Destination MAC address; the same unless given.")
    src: Address | None = Field(None, description="Source address; of 198.18.0.0/16 or 2001:2::/64 unless given.")
    dst: Address | None = Field(None, description="Destination; of 198.19.0.0/16 or 2001:2:0:1::/64 unless given, one for each queue.")
    sport: UdpPort = Field(PORT, description="Source port.")
    dport: UdpPort = Field(PORT, description="Destination port.")

    @property
    def least_bytes(self) -> int:
        """Length of all headers."""
        return ETHERNET_BYTES + TAG_BYTES * len(self.vlan) + (IPV4_BYTES if self.ip == 4 else IPV6_BYTES) + UDP_BYTES


def check(headers: Headers, sizes: list[int], queues: int) -> None:
    """Raise ValueError, a sentence without its subject, where headers do not go with a source."""
    for key, address in (("src", headers.src), ("dst", headers.dst)):
        if address is not None and address.version != headers.ip:
            raise ValueError(f"has a `{key}` of IPv{address.version}, but `ip` is {headers.ip}")
    if min(sizes) < headers.least_bytes:
        raise ValueError(f"are {headers.least_bytes} byte, but `size` has frames of {min(sizes)} byte")
    if (total := headers.least_bytes * len(sizes) * queues) > MAX_HEADERS_BYTES:
        raise ValueError(
            f"of {queues:,} queues and {len(sizes)} sizes are {total:,} byte, allowed: {MAX_HEADERS_BYTES:,}; name fewer queues"
        )


def in_job(headers: Headers, dscps: list[int], queues: NDArray[np.uint32], sizes: list[int]) -> dict[str, Any]:
    """Return key `headers` of a job's source: those of every queue, with its DSCP, and size. The engine sums UDP's checksum up."""
    made = b"".join(_one(headers, code, int(queue), size) for code, queue in zip(dscps, queues, strict=True) for size in sizes)
    udp = headers.least_bytes - UDP_BYTES
    return {"bytes": np.frombuffer(made, dtype=np.uint8), "each": headers.least_bytes, "sum_from": udp, "sum_at": udp + 6}


def network(headers: Headers, code: int, queue: int, protocol: int, payload: int) -> bytes:
    """Return Ethernet, VLAN tags and IP in front of so many bytes of a protocol."""
    kinds = [SERVICE_VLAN, VLAN][2 - len(headers.vlan) :]
    tags = b"".join(struct.pack("!HH", kind, code >> 3 << 13 | tag) for kind, tag in zip(kinds, headers.vlan, strict=True))
    ethernet = (headers.dst_mac or struct.pack("!HI", 0x0200, queue)) + (headers.src_mac or struct.pack("!HI", 0x0201, queue)) + tags
    traffic_class = code << 2 | headers.ecn
    addresses = (headers.src or SOURCE[headers.ip] + 1 + (queue >> 16)).packed
    addresses += (headers.dst or DESTINATION[headers.ip] + (queue & 0xFFFF)).packed
    if headers.ip == 4:
        ip = struct.pack("!BBHHHBBH", 0x45, traffic_class, payload + IPV4_BYTES, 0, 0x4000, HOPS, protocol, 0) + addresses
        ip = ip[:10] + struct.pack("!H", 0xFFFF ^ ones_sum(ip)) + ip[12:]
    else:
        ip = struct.pack("!IHBB", 6 << 28 | traffic_class << 20, payload, protocol, HOPS) + addresses
    return ethernet + struct.pack("!H", IPV4 if headers.ip == 4 else IPV6) + ip


def _one(headers: Headers, code: int, queue: int, size: int) -> bytes:
    payload = size - headers.least_bytes + UDP_BYTES
    front = network(headers, code, queue, UDP, payload)
    pseudo = ones_sum(front[-8 if headers.ip == 4 else -32 :] + struct.pack("!HH", UDP, payload))
    return front + struct.pack("!HHHH", headers.sport, headers.dport, payload, pseudo)


def ones_sum(data: bytes) -> int:
    """Return the ones' complement sum of 16-bit words (RFC 1071)."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _dscp_at(frame: bytes) -> int:
    """Return where the type of what a frame carries stands, behind at most two VLAN tags."""
    at, tags = ETHERNET_BYTES - 2, 0
    while tags < 2 and int.from_bytes(frame[at : at + 2], "big") in (VLAN, SERVICE_VLAN):
        at, tags = at + TAG_BYTES, tags + 1
    return at


def dscp_of(frame: bytes) -> int | None:
    """Return the DSCP of an Ethernet frame, IPv4 or IPv6 behind at most two VLAN tags; None: it has none (as pst_dscp_class)."""
    at = _dscp_at(frame)
    first = frame[at + 2 : at + 4]
    kind = int.from_bytes(frame[at : at + 2], "big")
    if len(first) < 2 or {IPV4: 4, IPV6: 6}.get(kind) != first[0] >> 4:
        return None
    return first[1] >> 2 if kind == IPV4 else (first[0] & 15) << 2 | first[1] >> 6


def dscp_decided_by(frame: bytes) -> int:
    """Return how many of a frame's bytes say which DSCP it has, or that it has none; more than there are if it was cut before."""
    at = _dscp_at(frame)
    kind, first = frame[at : at + 2], frame[at + 2 : at + 3]
    version = {IPV4: 4, IPV6: 6}.get(int.from_bytes(kind, "big"))
    if len(kind) == 2 and version is None:
        return at + 2
    return at + 3 if first and first[0] >> 4 != version else at + 4
