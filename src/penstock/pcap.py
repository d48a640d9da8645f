"""Captures: reading pcap and pcapng files as arrays, and matching frames by their headers.

Reading is scapy's; what is added is that a cut or damaged file is an error that says at which record, where libraries stop silently.
"""

import gzip
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from penstock.errors import UserError

if TYPE_CHECKING:
    from penstock.schema import Match

ETHERNET = 1
MAX_RECORD_BYTES = 1 << 20
MAX_SPAN_NS = 366 * 86_400 * 10**9
_PCAP_MAGICS = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}
_PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"


@dataclass(frozen=True)
class Frames:
    """Frames of one capture in order of time; arrays have one element a frame."""

    times_ns: NDArray[np.int64]  # from the first frame of the file
    lengths: NDArray[np.int32]  # bytes on the line without FCS
    data: list[bytes]  # what the file holds of each frame; shorter than `lengths` where the snap length cut it

    def __len__(self) -> int:
        return len(self.data)


def read(path: Path) -> Frames:
    """Read a pcap or pcapng file of Ethernet frames (gzip is undone). Raises UserError: missing, empty, cut, damaged, other link types."""
    try:
        if path.is_dir():
            raise UserError(f"{path}: is a folder, not a capture")
        with _open(path) as file:
            records = _check(path, file)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such capture") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:  # ValueError: a name with a zero byte
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return _read(path, records)


def _open(path: Path) -> BinaryIO:
    file = path.open("rb")
    magic = file.read(2)
    file.seek(0)
    return gzip.open(file) if magic == b"\x1f\x8b" else file  # type: ignore[return-value]


def _check(path: Path, file: BinaryIO) -> int:
    """Walk through the records and return their number; raise UserError at the first that is cut or cannot be one."""
    magic = file.read(4)
    if not magic:
        raise UserError(f"{path}: is an empty file, not a capture")
    if magic in _PCAP_MAGICS:
        records = _check_pcap(path, file, _PCAP_MAGICS[magic])
    elif magic == _PCAPNG_MAGIC:
        file.seek(0)
        records = _check_pcapng(path, file)
    else:
        raise UserError(f"{path}: is neither a pcap nor a pcapng file (it begins with {magic.hex(' ')})")
    if not records:
        raise UserError(f"{path}: holds no frames")
    return records


def _check_pcap(path: Path, file: BinaryIO, endian: str) -> int:
    header = file.read(20)
    if len(header) < 20:
        raise UserError(f"{path}: is cut within the file header of 24 byte")
    # The upper bits of the link type hold the length of an FCS where there is one.
    _check_link_type(path, struct.unpack(endian + "I", header[16:])[0] & 0x0FFF_FFFF)
    record = 0
    while header := file.read(16):
        record += 1
        if len(header) < 16:
            raise UserError(f"{path}: is cut within the header of record {record}")
        stored, length = struct.unpack(endian + "8xII", header)
        if stored > length or length > MAX_RECORD_BYTES:
            raise UserError(f"{path}: is damaged: record {record} claims to store {stored:,} of {length:,} byte")
        if len(file.read(stored)) < stored:
            raise UserError(f"{path}: is cut within record {record}")
    return record


def _check_pcapng(path: Path, file: BinaryIO) -> int:
    endian, record, block = "<", 0, 0
    while head := file.read(8):
        block += 1
        if len(head) < 8:
            raise UserError(f"{path}: is cut after {f'record {record}' if record else f'block {block - 1}'}")
        # Enhanced, simple and (obsolete) packet blocks are the records that a user counts.
        if struct.unpack(endian + "I", head[:4])[0] in (2, 3, 6):
            record += 1
        place = f"record {record}" if record else f"block {block}"
        if head[:4] == _PCAPNG_MAGIC:
            order = file.read(4)
            if order not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
                raise UserError(f"{path}: is {'cut' if len(order) < 4 else 'damaged'} within the section header of block {block}")
            endian = "<" if order[0] == 0x4D else ">"
            body = order
        else:
            body = b""
        kind, length = struct.unpack(endian + "II", head)
        if length < 12 or length % 4 or length > MAX_RECORD_BYTES:
            raise UserError(f"{path}: is damaged: {place} claims a length of {length:,} byte")
        body += file.read(length - 8 - len(body))
        if len(body) < length - 8:
            raise UserError(f"{path}: is cut within {place}")
        if struct.unpack(endian + "I", body[-4:])[0] != length:
            raise UserError(f"{path}: is damaged: the two lengths of {place} differ")
        if kind == 1:
            _check_link_type(path, struct.unpack(endian + "H", body[:2])[0])
    return record


def _check_link_type(path: Path, link_type: int) -> None:
    if link_type != ETHERNET:
        raise UserError(
            f"{path}: holds frames of link type {link_type}; only Ethernet (1) is supported: capture at one interface, not at `any`"
        )


def _read(path: Path, records: int) -> Frames:
    import logging

    logging.getLogger("scapy").setLevel(logging.ERROR)
    from scapy.error import Scapy_Exception
    from scapy.utils import RawPcapReader  # with a pcapng file its metaclass makes a RawPcapNgReader

    times: list[int] = []
    lengths: list[int] = []
    data: list[bytes] = []
    try:
        with RawPcapReader(str(path)) as reader:
            nano = getattr(reader, "nano", False)
            for stored, meta in reader:
                times.append(_nanoseconds(meta, nano, times))
                lengths.append(meta.wirelen)
                data.append(stored)
    except (Scapy_Exception, OSError, struct.error, ValueError, LookupError, ArithmeticError) as error:
        raise UserError(f"{path}: is damaged after record {len(data)}: {error}") from None
    if len(data) != records or max(lengths) > MAX_RECORD_BYTES:
        bad = len(data) + 1 if len(data) != records else int(np.argmax(lengths)) + 1
        raise UserError(f"{path}: is damaged at record {bad}")
    first = min(times)
    if max(times) - first > MAX_SPAN_NS:
        raise UserError(f"{path}: is damaged: its times span more than a year")
    # Captures of several interfaces may be out of order.
    from_first = np.array([time - first for time in times], dtype=np.int64)
    order = np.argsort(from_first, kind="stable")
    return Frames(from_first[order], np.array(lengths, dtype=np.int32)[order], [data[i] for i in order])


def _nanoseconds(meta: Any, nano: bool, earlier: Sequence[int]) -> int:
    if not hasattr(meta, "tsresol"):
        return int(meta.sec * 10**9 + meta.usec * (1 if nano else 1000))
    if meta.tshigh is None:  # a simple packet block has no time: it follows its predecessor at once
        return earlier[-1] if earlier else 0
    return int(((meta.tshigh << 32) | meta.tslow) * 10**9 // meta.tsresol)


@dataclass(frozen=True)
class Headers:
    """What rules look at; None where a frame does not have it (or the snap length cut it)."""

    protocol: int | None = None
    source: int | None = None
    destination: int | None = None
    version: int | None = None  # 4 or 6
    source_port: int | None = None
    destination_port: int | None = None


def parse_headers(frame: bytes) -> Headers:
    """Return the headers of an Ethernet frame, through VLAN tags and IPv6 extension headers; never raises."""
    import dpkt

    try:
        packet = dpkt.ethernet.Ethernet(frame).data
        if isinstance(packet, dpkt.ip.IP):
            version, protocol, source, destination = 4, packet.p, packet.src, packet.dst
        elif isinstance(packet, dpkt.ip6.IP6):
            version, protocol, source, destination = 6, packet.p, packet.src, packet.dst
        else:
            return Headers()
        ports = packet.data if isinstance(packet.data, (dpkt.tcp.TCP, dpkt.udp.UDP, dpkt.sctp.SCTP)) else None
    except (dpkt.Error, struct.error, IndexError, ValueError, KeyError, TypeError, AttributeError):
        return Headers()
    return Headers(
        protocol,
        int.from_bytes(source, "big"),
        int.from_bytes(destination, "big"),
        version,
        getattr(ports, "sport", None),
        getattr(ports, "dport", None),
    )


def _matches(match: "Match", headers: Headers) -> bool:
    if match.proto is not None and match.proto != headers.protocol:
        return False
    for network, address in ((match.src, headers.source), (match.dst, headers.destination)):
        if network is not None and (
            network.version != headers.version or address is None or address & int(network.netmask) != int(network.network_address)
        ):
            return False
    for ports, port in ((match.sport, headers.source_port), (match.dport, headers.destination_port)):
        if ports is not None and (port is None or not ports[0] <= port <= ports[1]):
            return False
    return True


def match_frames(frames: Frames, rules: Sequence["Match"]) -> NDArray[np.int64]:
    """Return for each frame the index of the first rule that matches it, or -1."""
    decide = _decider(rules)
    return np.fromiter((decide(frame) for frame in frames.data), dtype=np.int64, count=len(frames))


def _decider(rules: Sequence["Match"]) -> Callable[[bytes], int]:
    """Return a function from a frame to its rule; it remembers flows, since parsing each frame would take most of a long capture's time."""
    known: dict[bytes, int] = {}

    def decide(frame: bytes) -> int:
        # All that a rule can look at in a plain IPv4 frame: EtherType, version and length, fragment, protocol, addresses, ports.
        plain = frame[12:15] == b"\x08\x00\x45" and len(frame) >= 54
        key = frame[20:24] + frame[26:38] if plain else b""
        if plain and key in known:
            return known[key]
        headers = parse_headers(frame)
        found = next(_hits(rules, headers), -1)
        if plain:
            known[key] = found
        return found

    return decide


def _hits(rules: Sequence["Match"], headers: Headers) -> Iterator[int]:
    return (index for index, rule in enumerate(rules) if _matches(rule, headers))
