"""Random captures for tests: pcapng by its specification, and what is in them."""

import random
import struct
from dataclasses import dataclass, field

from stand_in import frame

UNKNOWN = (4, 5, 0x0BAE, 0x7FFFFFFE)  # name resolution, statistics, and numbers that nobody has


@dataclass
class Written:
    """A file, and what a reader must find in it, record by record."""

    content: bytes = b""
    times_ns: list[int | None] = field(default_factory=list)  # None: it has no time
    lengths: list[int] = field(default_factory=list)
    kept: list[bytes] = field(default_factory=list)


@dataclass
class _Interface:
    link: int
    ticks: int
    offset: int
    snap: int


def pcapng(rng: random.Random, records: int = 30) -> Written:
    """Return a random file: sections of either byte order, interfaces before and between packets, blocks and options of all kinds."""
    written = Written()
    while len(written.times_ns) < records:
        _section(rng, written, rng.randrange(1, records))
    return written


def _section(rng: random.Random, written: Written, packets: int) -> None:
    order = rng.choice("<>")
    body = b""
    interfaces: list[_Interface] = []

    def block(kind: int, content: bytes) -> bytes:
        content = content.ljust(-(-len(content) // 4) * 4, b"\0")
        size = struct.pack(order + "I", 12 + len(content))
        return struct.pack(order + "I", kind) + size + content + size

    def options(*given: tuple[int, bytes]) -> bytes:
        given = tuple(one for one in given if one[1])
        if rng.random() < 0.3:
            given = ((1, b"a comment"), *given)
        made = b"".join(struct.pack(order + "HH", code, len(value)) + value.ljust(-(-len(value) // 4) * 4, b"\0") for code, value in given)
        return made + (struct.pack(order + "HH", 0, 0) if made and rng.random() < 0.8 else b"")

    def interface() -> bytes:
        link = 1 if rng.random() < 0.8 or not interfaces else 147  # of the latter no packet comes
        code, offset = rng.choice((None, 3, 6, 9, 0x80 | 10, 0x80 | 20)), rng.choice((0, 0, 5, -3))
        snap = rng.choice((0, 64, 262144))
        base = 6 if code is None else code
        interfaces.append(_Interface(link, 2 ** (base & 127) if base & 128 else 10**base, offset, snap))
        told = (9, bytes([code]) if code is not None else b""), (14, struct.pack(order + "q", offset) if offset else b"")
        return block(1, struct.pack(order + "HHI", link, 0, snap) + options(*told, (2, b"eth0")))

    def packet() -> bytes:
        number = rng.choice([index for index, one in enumerate(interfaces) if one.link == 1])
        of = interfaces[number]
        whole = frame(size=rng.randrange(60, 200), sport=rng.randrange(65536))
        length = len(whole)
        kind = rng.choice((6, 6, 6, 2, 3))
        written.lengths.append(length)
        if kind == 3:
            snap = interfaces[0].snap
            written.kept.append(whole[: snap or length])
            written.times_ns.append(None)
            return block(3, struct.pack(order + "I", length) + written.kept[-1])
        written.kept.append(whole[: rng.choice((length, length, rng.randrange(14, length)))])
        seconds = 1_700_000_000 + rng.randrange(1000)
        stamp = seconds * of.ticks + rng.randrange(of.ticks)
        written.times_ns.append(stamp * 10**9 // of.ticks + of.offset * 10**9)
        head = struct.pack(order + ("IIIII" if kind == 6 else "HHIIII"), *((number,) if kind == 6 else (number, 0)), stamp >> 32,
                           stamp & 0xFFFFFFFF, len(written.kept[-1]), length)  # fmt: skip
        kept = written.kept[-1].ljust(-(-len(written.kept[-1]) // 4) * 4, b"\0")
        return block(kind, head + kept + options((2, struct.pack(order + "I", 1))))

    body += block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1) + options((2, b"a machine")))
    if rng.random() < 0.3:
        body += block(rng.choice(UNKNOWN[2:]), rng.randbytes(rng.randrange(50)))
    body += interface()
    for _ in range(packets):
        if rng.random() < 0.1:
            body += interface()
        if rng.random() < 0.2:
            kind = rng.choice(UNKNOWN)
            content = {4: struct.pack(order + "HH", 0, 0), 5: struct.pack(order + "III", 0, 0, 0)}.get(kind)
            body += block(kind, rng.randbytes(rng.randrange(50)) if content is None else content)
        if interfaces[0].link == 1:
            body += packet()
    written.content += body
