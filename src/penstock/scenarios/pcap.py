"""Captures: reading pcap and pcapng files as arrays, and matching frames by their headers.

A file is read record by record, and no further than the time that is wanted, however large it is or becomes when it is unpacked. A cut or
damaged file is an error that says at which record.
"""

import gzip
import struct
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.basics.files import open_file
from penstock.errors import UserError

if TYPE_CHECKING:
    from penstock.scenarios.common import Match

ETHERNET = 1
MAX_RECORD_BYTES = 1 << 20
MAX_SPAN_NS = 366 * 86_400 * 10**9
MAX_FRAMES = 20_000_000  # that are kept, about 50 byte each beside their own
MAX_BYTES = 2_000_000_000  # of them together
DISORDER_NS = 10**9  # captures of several interfaces may be out of order by this much; later frames are looked for no longer
DISORDER_FRAMES = 1 << 20  # and in no more of them than these
REPORT_RECORDS = 1 << 16  # from one report of progress to the next
CHUNK_BYTES = 1 << 20
_PCAP_MAGICS = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\x4d\x3c\xb2\xa1": ("<", 1), b"\xa1\xb2\xc3\xd4": (">", 1000), b"\xa1\xb2\x3c\x4d": (">", 1),
}  # fmt: skip  # ns of the smaller unit of time
_PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6

Report = Callable[[str], None]
Record = tuple[int | None, int, bytes]  # time in ns (None: at once after the one before), bytes on the line, what is stored of them


@dataclass(frozen=True)
class Frames:
    """Frames of one capture in order of time; arrays have one element a frame."""

    times_ns: NDArray[np.int64]  # from the earliest frame of the file
    lengths: NDArray[np.int32]  # bytes on the line without FCS
    offsets: NDArray[np.int64]  # where it begins in `buffer`
    stored: NDArray[np.int32]  # bytes that the file holds of it; fewer than `lengths` where the snap length cut it
    buffer: bytearray
    whole: bool = True  # the file was read to its end
    earliest: int = 1  # the record that times count from
    early_ns: int = 0  # by which its stamp is before that of the file's first record

    def __len__(self) -> int:
        return len(self.times_ns)

    def frame(self, index: int) -> bytes:
        """Return what the file holds of one frame."""
        start = int(self.offsets[index])
        return bytes(self.buffer[start : start + int(self.stored[index])])


def read(path: Path, until_ns: int | None = None, report: Report | None = None) -> Frames:
    """Read a pcap or pcapng file of Ethernet frames (gzip is undone), from its earliest frame to `until_ns` after it, or whole.

    `report` hears how far it is. Raises UserError: missing, no file, empty, cut, damaged, too large, other link types.
    """
    try:
        with open_file(path, "a capture") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file: BinaryIO = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]
            return _collect(path, _Source(path, file), until_ns, report)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such capture") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:  # ValueError: a name with a zero byte
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


class _Source:
    """A file read in large pieces."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path, self._file = path, file
        self._chunk, self._at = b"", 0
        self.done = 0  # bytes

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes, fewer at the end."""
        if len(self._chunk) - self._at < count:
            self._chunk = self._chunk[self._at :] + self._file.read(max(CHUNK_BYTES, count))
            self._at = 0
        data = self._chunk[self._at : self._at + count]
        self._at += len(data)
        self.done += len(data)
        return data

    def fail(self, words: str) -> UserError:
        return UserError(f"{self.path}: {words}")


def _collect(path: Path, source: _Source, until_ns: int | None, report: Report | None) -> Frames:
    times, lengths, offsets, stored, buffer = array("q"), array("i"), array("q"), array("i"), bytearray()
    first: int | None = None
    began, earliest = 0, 1
    last, whole, record, beyond = 0, True, 0, 0
    for record, (time, length, data) in enumerate(_records(source), 1):
        last = last if time is None else time
        if first is None or last < first:
            began = last if first is None else began
            first, earliest = last, record
        if last - first > MAX_SPAN_NS or (times and times[0] - first > MAX_SPAN_NS):
            raise source.fail("is damaged: its times span more than a year")
        if report and record % REPORT_RECORDS == 0:
            report(f"Reading {path.name}: {record:,} frames, {source.done / 1e6:,.0f} MB")
        if until_ns is not None and last - first > until_ns:
            beyond += 1
            if last - first > until_ns + DISORDER_NS or beyond > DISORDER_FRAMES:
                whole = False
                break
            continue
        if len(times) == MAX_FRAMES or len(buffer) + len(data) > MAX_BYTES:
            most = f"{MAX_FRAMES:,} frames or {MAX_BYTES / 1e9:g} GB"
            raise source.fail(f"holds more than {most} in the time that is played: take a shorter duration, or a part of the capture")
        times.append(last)
        lengths.append(length)
        offsets.append(len(buffer))
        stored.append(len(data))
        buffer += data
    if not record:
        raise source.fail("holds no frames")
    from_first = np.frombuffer(times, dtype=np.int64) - first
    order = np.argsort(from_first, kind="stable")
    if until_ns is not None:  # `first` may have become earlier since
        order = order[from_first[order] <= until_ns]
        whole = whole and not beyond and len(order) == len(times)

    def ordered(values: array, kind: type) -> NDArray:  # type: ignore[type-arg]
        return np.frombuffer(values, dtype=kind)[order]

    buffer = buffer or bytearray(1)  # an empty one is no array
    columns = ordered(lengths, np.int32), ordered(offsets, np.int64), ordered(stored, np.int32)
    return Frames(from_first[order], *columns, buffer, whole, earliest, began - first)


def _records(source: _Source) -> Iterator[Record]:
    """Yield the records; raise UserError at the first that is cut or cannot be one."""
    magic = source.read(4)
    if not magic:
        raise source.fail("is an empty file, not a capture")
    if magic in _PCAP_MAGICS:
        yield from _pcap_records(source, *_PCAP_MAGICS[magic])
    elif magic == _PCAPNG_MAGIC:
        yield from _pcapng_records(source)
    else:
        raise source.fail(f"is neither a pcap nor a pcapng file (it begins with {magic.hex(' ')})")


def _pcap_records(source: _Source, endian: str, unit_ns: int) -> Iterator[Record]:
    header = source.read(20)
    if len(header) < 20:
        raise source.fail("is cut within the file header of 24 byte")
    (link,) = struct.unpack(endian + "I", header[16:])
    _check_link_type(source, link & 0xFFFF)
    fcs = 2 * (link >> 28) if link & 1 << 26 else 0  # in words of 16 bit, where bit P says that it is there (draft-ietf-opsawg-pcap, 4)
    unpack = struct.Struct(endian + "IIII").unpack
    record = 0
    while header := source.read(16):
        record += 1
        if len(header) < 16:
            raise source.fail(f"is cut within the header of record {record}")
        seconds, units, stored, length = unpack(header)
        _check_sizes(source, record, stored, length)
        data = source.read(stored)
        if len(data) < stored:
            raise source.fail(f"is cut within record {record}")
        yield seconds * 10**9 + units * unit_ns, *_without_fcs(source, record, length, data, fcs)


def _without_fcs(source: _Source, record: int, length: int, data: bytes, fcs: int) -> tuple[int, bytes]:
    """Return a frame's length and what is stored of it without the FCS, which captures mostly lack and sizes never count."""
    if length <= fcs:
        raise source.fail(f"is damaged: record {record} has {length} byte, and {fcs} of FCS among them")
    return length - fcs, data[: length - fcs]


def _check_sizes(source: _Source, record: int, stored: int, length: int) -> None:
    if stored > length or length > MAX_RECORD_BYTES or not length:
        raise source.fail(f"is damaged: record {record} claims to store {stored:,} of {length:,} byte")


def _pcapng_records(source: _Source) -> Iterator[Record]:
    endian, record, block = "<", 0, 0
    interfaces: list[_Interface] = []
    head = _PCAPNG_MAGIC + source.read(4)
    while head:
        block += 1
        if len(head) < 8:
            raise source.fail(f"is cut after {f'record {record}' if record else f'block {block - 1}'}")
        # Enhanced, simple and (obsolete) packet blocks are the records that a user counts.
        record += struct.unpack(endian + "I", head[:4])[0] in (_OLD_PACKET, _SIMPLE_PACKET, _PACKET)
        place = f"record {record}" if record else f"block {block}"
        body = b""
        if head[:4] == _PCAPNG_MAGIC:
            body = source.read(4)
            if body not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
                raise source.fail(f"is {'cut' if len(body) < 4 else 'damaged'} within the section header of block {block}")
            endian = "<" if body[0] == 0x4D else ">"
            interfaces = []
        kind, size = struct.unpack(endian + "II", head)
        if size < 12 or size % 4 or size > MAX_RECORD_BYTES:
            raise source.fail(f"is damaged: {place} claims a length of {size:,} byte")
        body += source.read(size - 8 - len(body))
        if len(body) < size - 8:
            raise source.fail(f"is cut within {place}")
        if struct.unpack(endian + "I", body[-4:])[0] != size:
            raise source.fail(f"is damaged: the two lengths of {place} differ")
        try:
            if kind == _INTERFACE:
                _check_link_type(source, struct.unpack_from(endian + "H", body)[0])
                interfaces.append(_interface(body[:-4], endian))
            elif kind in (_OLD_PACKET, _SIMPLE_PACKET, _PACKET):
                (time, length, data), fcs = _packet(kind, body[:-4], endian, interfaces)
                _check_sizes(source, record, len(data), length)
                yield time, *_without_fcs(source, record, length, data, fcs)
        except (struct.error, IndexError):
            raise source.fail(f"is damaged: {place} is not whole, or of an interface that is not described") from None
        head = source.read(8)


class _Interface(NamedTuple):
    ticks: int  # a second
    offset_ns: int
    snap: int  # 0: all is stored
    fcs: int  # bytes at the end of each frame


def _interface(body: bytes, endian: str) -> _Interface:
    """Return what an interface description says (draft-ietf-opsawg-pcapng, section 4.2)."""
    (snap,) = struct.unpack_from(endian + "I", body, 4)
    ticks, offset_ns, fcs, at = 10**6, 0, 0, 8
    while at + 4 <= len(body):
        code, size = struct.unpack_from(endian + "HH", body, at)
        if code == 9 and size == 1:  # if_tsresol
            value = body[at + 4]
            ticks = 2 ** (value & 127) if value & 128 else 10 ** min(value, 24)
        elif code == 13 and size == 1:  # if_fcslen, which is in bits by the draft's text and in bytes by its example and in programs
            value = body[at + 4]
            fcs = value // 8 if value >= 16 else value
        elif code == 14 and size == 8:  # if_tsoffset
            offset_ns = struct.unpack_from(endian + "q", body, at + 4)[0] * 10**9
        elif code == 0:
            break
        at += 4 + (size + 3) // 4 * 4
    return _Interface(ticks, offset_ns, snap, fcs)


def _packet(kind: int, body: bytes, endian: str, interfaces: Sequence[_Interface]) -> tuple[Record, int]:
    """Return a record, and how many bytes of it are FCS."""
    number = 0
    if kind == _SIMPLE_PACKET:  # it has no time, and what it stores is what the snap length leaves
        (length,) = struct.unpack_from(endian + "I", body)
        stored, start, time = min(length, interfaces[number].snap or length), 4, None
    else:
        number, high, low, stored, length = struct.unpack_from(endian + ("IIIII" if kind == _PACKET else "HxxIIII"), body)
        start, time = 20, (high << 32 | low) * 10**9 // interfaces[number].ticks + interfaces[number].offset_ns
        if not 0 <= time < 1 << 62:
            raise IndexError
    if start + stored > len(body):
        raise IndexError
    return (time, length, body[start : start + stored]), interfaces[number].fcs


def _check_link_type(source: _Source, link_type: int) -> None:
    if link_type != ETHERNET:
        raise source.fail(f"holds frames of link type {link_type}; only Ethernet (1) is supported: capture at one interface, not at `any`")


_SCTP, _SCTP_BYTES = 132, 12


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
        above = packet.data if isinstance(packet.data, (dpkt.tcp.TCP, dpkt.udp.UDP, dpkt.sctp.SCTP)) else None
        ports = (above.sport, above.dport) if above is not None else (None, None)
        if (
            above is None and protocol == _SCTP and len(packet.data) >= _SCTP_BYTES and not _later_fragment(packet)
        ):  # with chunks that dpkt refuses
            ports = struct.unpack_from("!HH", bytes(packet.data))
        if _later_fragment(packet):  # its first bytes are no ports, whatever dpkt makes of them
            ports = (None, None)
    except (dpkt.Error, struct.error, IndexError, ValueError, KeyError, TypeError, AttributeError):
        return Headers()
    return Headers(
        protocol,
        int.from_bytes(source, "big"),
        int.from_bytes(destination, "big"),
        version,
        *ports,
    )


def _later_fragment(packet: Any) -> bool:
    """Return whether an IP packet is a fragment other than the first one of its packet (RFC 791, 3.1; RFC 8200, 4.5)."""
    heads = getattr(packet, "all_extension_headers", None)
    if heads is None:
        return bool(packet.offset)
    return any(getattr(head, "frag_off", 0) for head in heads)


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
    decide = decider(rules)
    return np.fromiter((decide(frames.frame(index)) for index in range(len(frames))), dtype=np.int64, count=len(frames))


def decider(rules: Sequence["Match"]) -> Callable[[bytes], int]:
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
