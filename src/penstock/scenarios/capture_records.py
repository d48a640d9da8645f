"""Records of pcap and pcapng files (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng), as Ethernet frames.

What cannot be a file of these formats is an error that names the record.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from penstock.scenarios import link_types
from penstock.scenarios.capture_file import Source

MAX_RECORD_BYTES = 1 << 20  # of a frame
MAX_BLOCK_BYTES = 1 << 24  # of pcapng that is looked into; others are passed over, however long
_PCAP_MAGICS = {  # byte order, ns of the smaller unit of time, bytes of a record's header
    magic if order == ">" else magic[::-1]: (order, unit_ns, head)
    for magic, unit_ns, head in ((b"\xa1\xb2\xc3\xd4", 1000, 16), (b"\xa1\xb2\x3c\x4d", 1, 16), (b"\xa1\xb2\xcd\x34", 1000, 24))
    for order in "<>"
}
_PCAP_BYTES = 24  # of the header of a file
_PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"
_INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 1, 2, 3, 6
_PACKETS = (_OLD_PACKET, _SIMPLE_PACKET, _PACKET)
_LEAST_BLOCK = {_INTERFACE: 20, _OLD_PACKET: 32, _SIMPLE_PACKET: 16, _PACKET: 32}  # bytes
_END, _RESOLUTION, _FCS_BYTES, _OFFSET, _FLAGS = 0, 9, 13, 14, 2  # options


class Record(NamedTuple):
    """A frame, or why a record is none."""

    time: int | None  # ns; None: at once after the one before
    found: link_types.Found


def records(source: Source) -> Iterator[Record]:
    """Yield the records; raise UserError at the first that cannot be one, and Cut where the file ends within it."""
    magic = source.read(4)
    if not magic:
        raise source.fail("is an empty file, not a capture")
    if magic in _PCAP_MAGICS:
        yield from _pcap_records(source, magic)
    elif magic == _PCAPNG_MAGIC:
        yield from _pcapng_records(source)
    else:
        raise source.fail(f"is neither a pcap nor a pcapng file (it begins with {magic.hex(' ')})")


class _Pcap:
    """What the header of a pcap file says."""

    def __init__(self, source: Source, header: bytes) -> None:
        self.order, self.unit_ns, self.head_bytes = _PCAP_MAGICS[header[:4]]
        (link,) = struct.unpack_from(self.order + "I", header, 20)
        self.link = link & 0xFFFF
        self.fcs = 2 * (link >> 28) if link & 1 << 26 else 0  # words of 16 bit, where bit P says that it is there (draft, 4)
        self.unpack = struct.Struct(self.order + "IIII").unpack_from
        if self.link not in link_types.SUPPORTED:
            raise source.fail(_unsupported("holds frames", self.link))


def _pcap_records(source: Source, magic: bytes) -> Iterator[Record]:
    header = magic + source.read(_PCAP_BYTES - 4)
    if len(header) < _PCAP_BYTES:
        raise source.cut("within the file header of 24 byte")
    file = _Pcap(source, header)
    record = 0
    while header := source.read(16):
        if _begins_another(header):
            header += source.read(_PCAP_BYTES - 16)
            if len(header) < _PCAP_BYTES:
                raise source.cut(f"within the file header after record {record}")
            file = _Pcap(source, header)
            continue
        record += 1
        header += source.read(file.head_bytes - len(header))
        if len(header) < file.head_bytes:
            raise source.cut(f"within the header of record {record}")
        seconds, units, stored, length = file.unpack(header)
        _check_sizes(source, record, stored, length)
        if not length:
            raise source.fail(f"is damaged: record {record} claims to store 0 of 0 byte")
        data = source.read(stored)
        if len(data) < stored:
            raise source.cut(f"within record {record}")
        yield Record(seconds * 10**9 + units * file.unit_ns, _frame(source, record, file.link, length, data, file.fcs))


def _begins_another(header: bytes) -> bool:
    """Return whether a pcap file was joined on at the end of another: as a record's header it would be of a frame of no bytes."""
    kind = _PCAP_MAGICS.get(header[:4])
    return kind is not None and struct.unpack_from(kind[0] + "HH", header, 4) == (2, 4) and not any(header[8:16])


def _unsupported(what: str, link: int) -> str:
    known = ", ".join(f"{name} ({number})" for number, (name, _) in link_types.SUPPORTED.items())
    return f"{what} of link type {link}; supported are {known}"


def _frame(source: Source, record: int, link: int, length: int, data: bytes, fcs: int) -> link_types.Found:
    """Return a record as an Ethernet frame without the FCS, which captures mostly lack and sizes never count."""
    if length <= fcs:
        raise source.fail(f"is damaged: record {record} has {length} byte, and {fcs} of FCS among them")
    return link_types.SUPPORTED[link][1](length - fcs, data[: length - fcs])


def _check_sizes(source: Source, record: int, stored: int, length: int) -> None:
    if stored > length or length > MAX_RECORD_BYTES:
        raise source.fail(f"is damaged: record {record} claims to store {stored:,} of {length:,} byte")


def _pcapng_records(source: Source) -> Iterator[Record]:
    order, record, block = "<", 0, 0
    interfaces: list[_Interface] = []
    head = _PCAPNG_MAGIC + source.read(4)
    while head:
        block += 1
        if len(head) < 8:
            raise source.cut(f"after {f'record {record}' if record else f'block {block - 1}'}")
        # Enhanced, simple and (obsolete) packet blocks are the records that a user counts.
        record += struct.unpack(order + "I", head[:4])[0] in _PACKETS
        place = f"record {record}" if record else f"block {block}"
        body = b""
        if head[:4] == _PCAPNG_MAGIC:
            order, body = _section(source, block)
            interfaces = []
        kind, size = struct.unpack(order + "II", head)
        if size < _LEAST_BLOCK.get(kind, 12) or size % 4:
            raise source.fail(f"is damaged: {place} claims a length of {size:,} byte")
        if kind not in _LEAST_BLOCK:  # of a kind that says nothing of frames, or whose meaning is not known
            if not source.skip(size - 12 - len(body)):
                raise source.cut(f"within {place}")
            body = b""
        elif size > MAX_BLOCK_BYTES:
            raise source.fail(f"is damaged: {place} claims a length of {size:,} byte")
        else:
            body = source.read(size - 12)
        end = source.read(4)
        if len(end) < 4:
            raise source.cut(f"within {place}")
        if struct.unpack(order + "I", end)[0] != size:
            raise source.fail(f"is damaged: the two lengths of {place} differ")
        try:
            if kind == _INTERFACE:
                interfaces.append(_interface(body, order))
            elif kind in _PACKETS:
                yield _packet(source, record, kind, body, order, interfaces)
        except (struct.error, IndexError):
            raise source.fail(f"is damaged: {place} is not whole, or of an interface that is not described") from None
        head = source.read(8)


def _section(source: Source, block: int) -> tuple[str, bytes]:
    """Return the byte order of a section, and what was read of its header."""
    body = source.read(8)
    if len(body) < 8:
        raise source.cut(f"within the section header of block {block}")
    if body[:4] not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
        raise source.fail(f"is damaged within the section header of block {block}")
    order = "<" if body[0] == 0x4D else ">"
    version = struct.unpack_from(order + "HH", body, 4)
    if version not in ((1, 0), (1, 2)):  # 1.2 is 1.0 (draft, 4.1)
        raise source.fail(f"is of version {version[0]}.{version[1]} of pcapng; supported is 1.0")
    return order, body


class _Interface(NamedTuple):
    link: int
    ticks: int  # a second
    offset_ns: int
    snap: int  # 0: all is stored
    fcs: int  # bytes at the end of each frame


def _options(body: bytes, at: int, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield the options of a block: codes and values."""
    while at + 4 <= len(body):
        code, size = struct.unpack_from(order + "HH", body, at)
        if code == _END or at + 4 + size > len(body):
            return
        yield code, body[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4


def _interface(body: bytes, order: str) -> _Interface:
    """Return what an interface description says (draft, 4.2)."""
    link, snap = struct.unpack_from(order + "HxxI", body)
    ticks, offset_ns, fcs = 10**6, 0, 0
    for code, value in _options(body, 8, order):
        if code == _RESOLUTION and len(value) == 1:
            ticks = 2 ** (value[0] & 127) if value[0] & 128 else 10 ** value[0]
        elif code == _FCS_BYTES and len(value) == 1:  # which is in bits by the draft's text and in bytes by its example and in programs
            fcs = value[0] // 8 if value[0] >= 16 else value[0]
        elif code == _OFFSET and len(value) == 8:
            offset_ns = struct.unpack(order + "q", value)[0] * 10**9
    return _Interface(link, ticks, offset_ns, snap, fcs)


def _packet(source: Source, record: int, kind: int, body: bytes, order: str, interfaces: Sequence[_Interface]) -> Record:
    if kind == _SIMPLE_PACKET:  # it has no time, and what it stores is what the snap length leaves
        interface, time, start = interfaces[0], None, 4
        (length,) = struct.unpack_from(order + "I", body)
        stored = min(length, interface.snap or length)
    else:
        number, high, low, stored, length = struct.unpack_from(order + ("IIIII" if kind == _PACKET else "HxxIIII"), body)
        interface, start = interfaces[number], 20
        time = (high << 32 | low) * 10**9 // interface.ticks + interface.offset_ns
        if abs(time) >= 1 << 62:
            raise IndexError
    if start + stored > len(body):
        raise IndexError
    fcs = interface.fcs
    if kind != _SIMPLE_PACKET:
        for code, value in _options(body, start + -(-stored // 4) * 4, order):
            if code == _FLAGS and len(value) == 4:
                fcs = struct.unpack(order + "I", value)[0] >> 5 & 15 or fcs
    if interface.link not in link_types.SUPPORTED:
        raise source.fail(_unsupported(f"holds a frame (record {record})", interface.link))
    _check_sizes(source, record, stored, length)
    if not length:
        return Record(time, link_types.EMPTY)
    return Record(time, _frame(source, record, interface.link, length, body[start : start + stored], fcs))
