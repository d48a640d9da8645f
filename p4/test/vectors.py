"""Packet vectors of the router: frames made by rule and at random, and what bmv2's simple_switch has sent for each (tools/p4_vectors.py).

Everything is decided by the seed; nothing but Python's own arithmetic makes the frames, so that neither the programs nor a library for
packets can share an error with them.
"""

import gzip
import json
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "vectors"
FILE = FOLDER / "router.jsonl.gz"
COMMANDS = {
    "router": ("router", "router_codel", "router_pie"),
    "router_codel": ("router", "router_codel"),
    "router_pie": ("router", "router_pie"),
}
PORTS = (0, 1, 2, 3, 5, 7, 510)  # whose output counts
CONTROL = 7
COUNTERS = {"RouterIngress.bad": 12, "RouterIngress.punted": 7}  # also recorded: packets and bytes of all frames together, at indices below

IPV4, IPV6, ARP, CONTROL_TYPE = b"\x08\x00", b"\x86\xdd", b"\x08\x06", b"\x88\xb5"
PEER = bytes.fromhex("02cc00000001")
STATIONS = {port: bytes.fromhex(f"0200000000{port:02x}") for port in (0, 1, 2)}
DESTINATIONS4 = (
    *(
        "10.0.0.9",
        "10.1.0.77",
        "10.1.2.9",
        "10.3.0.9",
        "10.0.0.8",
        "10.1.2.3",
        "10.0.0.1",
        "10.1.0.1",
        "10.66.1.1",
        "10.67.1.1",
        "10.67.128.1",
    ),
    *("11.0.0.1", "127.0.0.1", "0.0.0.0", "224.0.0.5", "224.0.1.5", "239.1.1.1", "240.0.0.1", "255.255.255.255", "9.255.255.255"),
)
SOURCES4 = ("10.0.0.9", "192.0.2.1", "127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255")
DESTINATIONS6 = (
    *(
        "2001:db8::9",
        "2001:db8:1::77",
        "2001:db8:1:2::9",
        "2001:db8:1:2:8000::1",
        "2001:db8:3::9",
        "2001:db8::8",
        "2001:db8::1",
        "2001:db8:66::1",
    ),
    *("2001:db9::1", "fe80::1", "febf:ffff::1", "fec0::1", "ff02::1", "ff02::1:ff00:1", "ff0e::1", "::", "::1", "::2"),
)
SOURCES6 = ("2001:db8::9", "2001:db9::5", "fe80::5", "ff02::1", "::", "::1")
OPTIONS4 = (b"", b"\x94\x04\x00\x00", bytes([7, 11, 4]) + bytes(9), bytes([0x44, 12, 5, 0]) + bytes(8), b"\x01" * 40)
OTHER_TYPES = ("88cc", "88f7", "8847", "8863", "8864", "0000", "002e", "05dc", "0600", "9100", "ffff", "0801", "86dc", "88b6", "22f0")


@dataclass
class Vector:
    """A frame at a port, why it is there, and what simple_switch has sent: the answer of all programs, or of single ones."""

    why: str
    port: int
    frame: bytes
    out: list[tuple[int, bytes]] | None = None
    other: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)

    def answer(self, program: str) -> list[tuple[int, bytes]]:
        """Return what simple_switch has sent."""
        assert self.out is not None
        return self.other.get(program, self.out)


def sum16(data: bytes) -> int:
    """Internet checksum, RFC 1071."""
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF ^ total


def payload(size: int) -> bytes:
    """Bytes that differ from place to place."""
    return bytes((i * 7 + 1) & 0xFF for i in range(size))


TRANSPORTS = {
    "udp": (17, lambda size: struct.pack("!HHHH", 4000, 53, 8 + size, 0x1234) + payload(size)),
    "tcp": (6, lambda size: struct.pack("!HHIIBBHHH", 4000, 80, 1, 2, 0x50, 0x18, 65535, 0x4321, 0) + payload(size)),
    "tcp with options": (
        6,
        lambda size: struct.pack("!HHIIBBHHH", 4000, 80, 1, 0, 0x70, 2, 65535, 1, 0) + b"\x02\x04\x05\xb4\1\1\4\2" + payload(size),
    ),
    "icmp": (1, lambda size: struct.pack("!BBHHH", 8, 0, 0x5555, 1, 2) + payload(size)),
    "nothing": (59, lambda size: b""),
    "unknown": (253, lambda size: payload(size)),
}


def ipv4(
    dst: str = "10.1.0.77", src: str = "10.0.0.9", inner: str = "udp", size: int = 4, tos: int = 0, ttl: int = 64, options: bytes = b"",
    flags: int = 0, offset: int = 0, version: int = 4, ihl: int | None = None, length: int | None = None, checksum: int | None = None,
) -> bytes:  # fmt: skip
    """An IPv4 packet; its checksum is right unless given, over as many bytes as the header says if they are there."""
    protocol, made = TRANSPORTS[inner]
    body = made(size)
    words = 5 + len(options) // 4 if ihl is None else ihl
    total = 20 + len(options) + len(body) if length is None else length
    head = bytearray(struct.pack("!BBHHHBBH", version << 4 | words, tos, total, 0x1A2B, flags << 13 | offset, ttl, protocol, 0))
    head += ip_address(src).packed + ip_address(dst).packed + options
    packet = head + body
    packet[10:12] = (sum16(bytes(packet[: max(words, 5) * 4])) if checksum is None else checksum).to_bytes(2, "big")
    return bytes(packet)


def ipv6(
    dst: str = "2001:db8:1::77", src: str = "2001:db8::9", inner: str = "udp", size: int = 4, traffic: int = 0, hops: int = 64,
    label: int = 0xABCDE, extensions: str = "", version: int = 6, length: int | None = None,
) -> bytes:  # fmt: skip
    """An IPv6 packet; `extensions`: h(op by hop), d(estination), r(outing), f(ragment), a(uthentication), one after the other."""
    protocol, made = TRANSPORTS[inner]
    numbers = [{"h": 0, "d": 60, "r": 43, "f": 44, "a": 51}[one] for one in extensions] + [58 if inner == "icmp" else protocol]
    body = b"".join(
        bytes([follows, 1 if one == "a" else 0]) + bytes(range(6 if one != "a" else 10))
        for one, follows in zip(extensions, numbers[1:], strict=True)
    )
    body += made(size)
    head = struct.pack("!IHBB", version << 28 | traffic << 20 | label, len(body) if length is None else length, numbers[0], hops)
    return head + ip_address(src).packed + ip_address(dst).packed + body


def ethernet(port: int, kind: bytes, data: bytes, dst: bytes | None = None) -> bytes:
    """A frame to the station of a port."""
    return (dst or STATIONS.get(port, STATIONS[0])) + PEER + kind + data


def note(port: int, frame: bytes, reason: int = 0, zero: int = 0) -> bytes:
    """A frame of the control port."""
    return bytes.fromhex("0180c2000000") + PEER + CONTROL_TYPE + struct.pack("!BBH", reason, zero, port) + frame


def by_rule() -> Iterator[tuple[str, int, bytes]]:
    """Each rule of the router, and each border."""
    yield from _ipv4_by_rule()
    yield from _ipv6_by_rule()
    yield from _frames_by_rule()
    yield from _control_by_rule()
    yield from _cut_off()


def _ipv4_by_rule() -> Iterator[tuple[str, int, bytes]]:
    number = 0
    for inner in TRANSPORTS:
        for options in OPTIONS4:
            for flags, offset in ((0, 0), (2, 0), (1, 0), (1, 185), (0, 370)):
                for ttl in (0, 1, 2, 255):
                    number += 1
                    port, dst = number % 3, ("10.0.0.9", "10.1.0.77", "10.1.2.9")[number // 3 % 3]
                    packet = ipv4(dst, inner=inner, options=options, flags=flags, offset=offset, ttl=ttl, tos=number & 0xFF)
                    yield (
                        f"IPv4, {inner}, {len(options)} bytes of options, flags {flags}, offset {offset}, TTL {ttl}",
                        port,
                        ethernet(port, IPV4, packet),
                    )
    for dst in DESTINATIONS4:
        for src in SOURCES4:
            yield f"IPv4 from {src} to {dst}", 0, ethernet(0, IPV4, ipv4(dst, src))
        yield f"IPv4 to {dst}, whose TTL ends", 1, ethernet(1, IPV4, ipv4(dst, ttl=1))
    for bit in range(24 * 8):
        packet = bytearray(ipv4("10.0.0.9", options=b"\x01\x01\x01\x00", size=20))
        packet[bit // 8] ^= 128 >> bit % 8
        yield f"IPv4, bit {bit} of the header turned", 0, ethernet(0, IPV4, bytes(packet))
    for options in (b"", OPTIONS4[1]):
        for version in range(16):
            yield f"IPv4, version {version}", 0, ethernet(0, IPV4, ipv4(options=options, version=version))
        for ihl in range(16):
            yield f"IPv4, header length {ihl}", 1, ethernet(1, IPV4, ipv4(options=options, ihl=ihl, size=4))
            yield f"IPv4, header length {ihl}, enough bytes", 1, ethernet(1, IPV4, ipv4("10.1.2.9", options=options, ihl=ihl, size=44))
        full = 20 + len(options) + 8 + 10
        for length in (0, 1, 19, 20, 23, 24, 25, full - 1, full, full + 1, full + 256, 65535):
            yield f"IPv4, total length {length} of {full}", 0, ethernet(0, IPV4, ipv4(options=options, size=10, length=length))
    for checksum in (0, 1, 0x7FFF, 0xFFFE, 0xFFFF):
        yield f"IPv4, checksum {checksum:#x}", 0, ethernet(0, IPV4, ipv4(checksum=checksum))
    for low in range(65536):  # a header whose checksum is 0, and those whose next one is: RFC 1624
        packet = bytearray(ipv4(ttl=64))
        packet[4:6] = low.to_bytes(2, "big")
        packet[10:12] = bytes(2)
        right = sum16(bytes(packet[:20]))
        if right in (0, 0xFEFF, 0xFF00, 0xFFFE):
            packet[10:12] = right.to_bytes(2, "big")
            yield f"IPv4, right checksum {right:#x}", 0, ethernet(0, IPV4, bytes(packet))
            if right == 0:
                packet[10:12] = b"\xff\xff"
                yield "IPv4, checksum 0xffff for 0", 0, ethernet(0, IPV4, bytes(packet))
    for dscp in range(64):
        yield f"IPv4, DSCP {dscp}", 0, ethernet(0, IPV4, ipv4("10.0.0.9", tos=dscp << 2 | dscp & 3))
        yield f"IPv4, DSCP {dscp}", 0, ethernet(0, IPV4, ipv4("10.1.2.9", tos=dscp << 2 | dscp >> 2 & 3))
    for size in (599, 600, 601, 1499, 1500, 1501, 2000, 9000):
        for dst in ("10.1.2.9", "10.1.0.77", "10.0.0.1"):
            yield f"IPv4 of {size} bytes to {dst}", 0, ethernet(0, IPV4, ipv4(dst, size=size - 28))
    for padding in (1, 2, 18, 40, 700):
        yield f"IPv4 and {padding} bytes behind it", 0, ethernet(0, IPV4, ipv4("10.1.2.9", size=2) + bytes(padding))


def _ipv6_by_rule() -> Iterator[tuple[str, int, bytes]]:
    number = 0
    for inner in TRANSPORTS:
        for extensions in ("", "h", "d", "r", "f", "a", "hdr", "hrfad"):
            for hops in (0, 1, 2, 64, 255):
                number += 1
                port, dst = number % 3, ("2001:db8::9", "2001:db8:1::77", "2001:db8:1:2::9")[number // 3 % 3]
                packet = ipv6(dst, inner=inner, extensions=extensions, hops=hops, traffic=number & 0xFF)
                yield f"IPv6, {inner}, extensions {extensions or 'none'}, hop limit {hops}", port, ethernet(port, IPV6, packet)
    for dst in DESTINATIONS6:
        for src in SOURCES6:
            yield f"IPv6 from {src} to {dst}", 0, ethernet(0, IPV6, ipv6(dst, src))
        yield f"IPv6 to {dst}, whose hop limit ends", 1, ethernet(1, IPV6, ipv6(dst, hops=1))
    for version in range(16):
        yield f"IPv6, version {version}", 0, ethernet(0, IPV6, ipv6(version=version))
    for length in (0, 1, 7, 17, 18, 19, 20, 274, 65495, 65496, 65535):
        yield f"IPv6, length {length} of 18", 0, ethernet(0, IPV6, ipv6(size=10, length=length))
    for dscp in range(64):
        yield f"IPv6, DSCP {dscp}", 1, ethernet(1, IPV6, ipv6("2001:db8:1:2::9", traffic=dscp << 2 | dscp & 3))
    for size in (599, 600, 601, 1499, 1500, 1501, 2000):
        for dst in ("2001:db8:1:2::9", "2001:db8:1::77"):
            yield f"IPv6 of {size} bytes to {dst}", 0, ethernet(0, IPV6, ipv6(dst, size=size - 48))
    for padding in (1, 2, 18, 700):
        yield f"IPv6 and {padding} bytes behind it", 0, ethernet(0, IPV6, ipv6("2001:db8:1:2::9", size=2) + bytes(padding))


def _frames_by_rule() -> Iterator[tuple[str, int, bytes]]:
    groups = [bytes.fromhex(text) for text in ("ffffffffffff", "333300000001", "01005e000005", "0180c2000000", "030000000000")]
    arp = bytes.fromhex("0001080006040001") + PEER + bytes([10, 0, 0, 9]) + bytes(6) + bytes([10, 0, 0, 1])
    for port in (0, 1, 2, 3, CONTROL):
        for dst in (*STATIONS.values(), *groups, bytes.fromhex("020000000009"), bytes(6)):
            for kind, data in (
                (ARP, arp), (IPV4, ipv4()), (IPV6, ipv6()), (IPV4, ipv4("224.0.0.5", ttl=1)), (IPV6, ipv6("ff02::1", "fe80::5", hops=255)),
            ):  # fmt: skip
                yield f"type {kind.hex()} to {dst.hex()} at port {port}", port, ethernet(port, kind, data, dst)
    for text in OTHER_TYPES:
        for data in (b"", payload(46), ipv4()):
            yield f"EtherType {text}, {len(data)} bytes", 0, ethernet(0, bytes.fromhex(text), data)
    for tags in ("81000001", "8100e001", "81000fff", "88a80001", "88a8000181000002", "8100000181000002", "91000001"):
        for kind, data in ((IPV4, ipv4()), (IPV6, ipv6()), (ARP, arp), (CONTROL_TYPE, bytes(4))):
            for dst in (None, groups[0]):
                yield (
                    f"tags {tags} before type {kind.hex()}",
                    0,
                    ethernet(0, bytes.fromhex(tags[:4]), bytes.fromhex(tags[4:]) + kind + data, dst),
                )
    for size in (0, 1, 28, 46, 1500):
        yield f"ARP of {size} bytes", 2, ethernet(2, ARP, payload(size), groups[0])


def _control_by_rule() -> Iterator[tuple[str, int, bytes]]:
    inner = {
        "IPv4": ethernet(0, IPV4, ipv4()),
        "IPv4, TTL 0": ethernet(0, IPV4, ipv4("10.1.2.9", ttl=0)),
        "IPv4, options": ethernet(0, IPV4, ipv4(options=OPTIONS4[4])),
        "IPv4 to the router": ethernet(0, IPV4, ipv4("10.0.0.1")),
        "IPv4, no route": ethernet(0, IPV4, ipv4("11.0.0.1")),
        "IPv4, bad checksum": ethernet(0, IPV4, ipv4(checksum=7)),
        "IPv4, one byte too long": ethernet(0, IPV4, ipv4(length=33)),
        "IPv6": ethernet(0, IPV6, ipv6()),
        "IPv6, hop limit 0": ethernet(0, IPV6, ipv6("2001:db8:1:2::9", hops=0)),
        "IPv6, one byte too long": ethernet(0, IPV6, ipv6(length=13)),
        "IPv6 large": ethernet(0, IPV6, ipv6("2001:db8:1:2::9", size=600)),
        "ARP": ethernet(0, ARP, payload(28)),
        "LLDP": ethernet(0, b"\x88\xcc", payload(20)),
        "a note": note(511, ethernet(0, IPV4, ipv4())),
        "Ethernet alone": ethernet(0, b"\x88\xcc", b""),
        "nothing": b"",
    }
    for words, frame in inner.items():
        for to in (0, 1, 2, 3, 7, 510, 511, 512, 513, 65535):
            yield f"from the control port to {to}: {words}", CONTROL, note(to, frame, to & 7, to >> 8 & 1)
        yield f"{words}, without a note, at the control port", CONTROL, frame
        for port in (0, 3):
            yield f"{words}, with a note, at port {port}", port, note(511, frame)


def _cut_off() -> Iterator[tuple[str, int, bytes]]:
    whole = {
        "IPv4": (0, ethernet(0, IPV4, ipv4())),
        "IPv4 with 40 bytes of options": (0, ethernet(0, IPV4, ipv4(options=OPTIONS4[4]))),
        "IPv4 with 4 bytes of options": (1, ethernet(1, IPV4, ipv4("10.1.2.9", options=OPTIONS4[1], inner="tcp with options"))),
        "IPv6": (0, ethernet(0, IPV6, ipv6())),
        "IPv6 with extensions": (2, ethernet(2, IPV6, ipv6(extensions="hf"))),
        "IPv4 from the control port": (CONTROL, note(511, ethernet(0, IPV4, ipv4(options=OPTIONS4[1])))),
        "IPv6 from the control port": (CONTROL, note(511, ethernet(0, IPV6, ipv6()))),
        "raw from the control port": (CONTROL, note(1, ethernet(0, IPV6, ipv6()))),
        "IPv4 behind two tags": (0, ethernet(0, b"\x88\xa8", b"\0\1\x81\0\0\2" + IPV4 + ipv4())),
    }
    for words, (port, frame) in whole.items():
        for size in range(len(frame)):
            yield f"{words}, {size} bytes of it", port, frame[:size]


def at_random(rng: random.Random, count: int) -> Iterator[tuple[str, int, bytes]]:
    """Frames of any kind, mostly sound; some are then changed anywhere, cut off or padded."""
    for number in range(count):
        port = rng.choice((0, 0, 0, 1, 1, 2, 2, 3, CONTROL))
        tos, size, hops = rng.randrange(256), rng.choice((0, 1, 7, 18, 46, 100)), rng.choice((0, 1, 2, 3, 64, 255))
        inner = rng.choice(list(TRANSPORTS))
        kind = rng.random()
        if kind < 0.5:
            data = ipv4(
                rng.choice(DESTINATIONS4[:6] * 3 + DESTINATIONS4), rng.choice(SOURCES4[:2] * 8 + SOURCES4), inner, size, tos, hops,
                rng.choice(OPTIONS4 + (rng.randbytes(4 * rng.randrange(11)),)), rng.randrange(8), rng.choice((0, 0, rng.randrange(8192))),
            )  # fmt: skip
            frame = bytearray(ethernet(port, IPV4, data))
        elif kind < 0.85:
            extensions = "".join(rng.choice("hdrfa") for _ in range(rng.randrange(5)))
            data = ipv6(
                rng.choice(DESTINATIONS6[:5] * 3 + DESTINATIONS6), rng.choice(SOURCES6[:2] * 8 + SOURCES6), inner, size, tos, hops,
                rng.randrange(1 << 20), extensions,
            )  # fmt: skip
            frame = bytearray(ethernet(port, IPV6, data))
        else:
            frame = bytearray(
                ethernet(port, rng.choice((ARP, IPV4, IPV6, CONTROL_TYPE, b"\x81\0", rng.randbytes(2))), rng.randbytes(rng.randrange(80)))
            )
        what = rng.random()
        if what < 0.15:
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(frame))
                frame[at] = rng.randrange(256)
        elif what < 0.25:
            frame = frame[: rng.randrange(len(frame) + 1)]
        elif what < 0.35:
            frame += rng.randbytes(rng.randrange(1, 40))
        if (port == CONTROL and rng.random() < 0.9) or rng.random() < 0.05:
            frame = bytearray(
                note(rng.choice((511, 511, 511, 0, 1, 2, 3, 7, 510, 512, rng.randrange(1 << 15) + 513)), bytes(frame), rng.randrange(256))
            )
        yield f"at random, {number}", port, bytes(frame)


def vectors(seed: int = 1, random_ones: int = 800) -> list[Vector]:
    """Return all frames, none twice at a port."""
    made: dict[tuple[int, bytes], Vector] = {}
    for why, port, frame in (*by_rule(), *at_random(random.Random(seed), random_ones)):
        made.setdefault((port, frame), Vector(why, port, frame))
    return list(made.values())


def _out(answers: list[tuple[int, bytes]]) -> list[list[Any]]:
    return [[port, frame.hex()] for port, frame in answers]


def _in(answers: list[list[Any]]) -> list[tuple[int, bytes]]:
    return [(port, bytes.fromhex(frame)) for port, frame in answers]


def write(path: Path, head: dict[str, Any], made: list[Vector]) -> None:
    """Write a head and a line for each vector; the same ones make the same bytes."""
    lines = [json.dumps(head, separators=(",", ":"))]
    for one in made:
        assert one.out is not None
        line: dict[str, Any] = {"why": one.why, "port": one.port, "frame": one.frame.hex(), "out": _out(one.out)}
        if one.other:
            line["other"] = {name: _out(answers) for name, answers in one.other.items()}
        lines.append(json.dumps(line, separators=(",", ":")))
    path.write_bytes(gzip.compress("\n".join((*lines, "")).encode(), 9, mtime=0))


def read(path: Path = FILE) -> tuple[dict[str, Any], list[Vector]]:
    """Return the head and the vectors of a file."""
    head, *lines = (json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines())
    made = []
    for line in lines:
        other = {name: _in(answers) for name, answers in line.get("other", {}).items()}
        made.append(Vector(line["why"], line["port"], bytes.fromhex(line["frame"]), _in(line["out"]), other))
    return head, made


def commands(program: str) -> str:
    """Return what simple_switch_CLI is told, and Penstock's reader of its commands."""
    return "".join((FOLDER / f"{name}.commands").read_text() for name in COMMANDS[program])
