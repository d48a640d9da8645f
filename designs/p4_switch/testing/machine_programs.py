"""The test programs of the interpreter (`test/programs/*.p4`): commands for their tables, and packets that reach every line of them.

What simple_switch has answered is in `test/programs/answers.jsonl.gz` (tools/p4_machine_answers.py): a head, then for each packet the
program's number, what is sent, and the answers. Meters, clocks and random() are not in it: they differ from run to run there.
"""

import gzip
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.paths import DESIGNS

FOLDER = DESIGNS / "p4_switch" / "test" / "programs"
FILE = FOLDER / "answers.jsonl.gz"
PORTS = tuple(range(6))
PACKETS = 220  # of each program

# (name, commands)
TABLES = """
table_add exact_table found 0x0a000001 0x0005 => 11
table_add exact_table wide 0x0a000002 0x0005 => 0x123456789abcdef0fedcba9876543210
table_add leaving found 0x0a000001 => 7
table_add leaving found 0x0a000002 => 8
table_add lpm_wide found 0x0005 0x20010db8000000000000000000000000/32 => 30
table_add lpm_wide found 0x0005 0x20010db8000000000000000000000001/128 => 31
table_add lpm_wide found 0x0006 0x0/0 => 32
table_add ternary_table found 0x0a000000&&&0xff000000 0x0&&&0x0 => 40 20
table_add ternary_table found 0x0a000001&&&0xffffffff 0x20010db8000000000000000000000000&&&0xffffffff000000000000000000000000 => 41 10
table_add ternary_table found 0x0&&&0x1 0x1&&&0x1 => 42 30
table_add ternary_single found 0x8000&&&0x8000 => 50 3
table_add ternary_single found 0x8005&&&0xffff => 51 2
table_add ternary_single found 0x0001&&&0x0001 => 52 2
table_add range_table found 0x0000->0x0005 => 60 5
table_add range_table found 0x0005->0x0009 => 61 4
table_add range_table found 0x8000->0xffff => 62 6
table_add range_pair found 0x0000->0x0005 0x0a000000&&&0xff000000 6 => 70 5
table_add range_pair found 0x0005->0x8005 0x0&&&0x0 6 => 71 6
"""
PREFIXES = "".join(f"table_add lpm_table found {0x0A000000 | value << (32 - length - 8):#x}/{8 + length} => {length * 100 + value}\n"
                   for length in range(0, 25, 3) for value in range(min(2, 1 << length)))  # fmt: skip
SINGLES = "".join(f"table_add ternary_single found {value:#x}&&&0xfff0 => {value} 9\n" for value in range(0x100, 0x200, 0x10))
RANGES = "".join(
    f"table_add range_table found {value:#x}->{value + 0x1F:#x} => {value} {20 + value % 7}\n" for value in range(0x100, 0x300, 0x18)
)
COPIES = """
mirroring_add 1 1
mirroring_add 2 2
mirroring_add 3 3
mirroring_add_mc 4 1
mc_mgrp_create 1
mc_node_create 5 1 2
mc_node_associate 1 0
mc_node_create 6 4
mc_node_associate 1 1
mc_mgrp_create 2
mc_node_create 9 3
mc_node_associate 2 2
"""
PROFILES = """
act_prof_create_member action_profile_0 found 5
act_prof_create_member action_profile_0 other 6
table_indirect_add plain 1 => 0
table_indirect_add plain 2 => 1
table_indirect_add plain 3 => 0
act_prof_create_member action_profile_1 found 7
act_prof_create_member action_profile_1 other 8
act_prof_create_member action_profile_1 found 9
act_prof_create_group action_profile_1
act_prof_add_member_to_group action_profile_1 0 0
act_prof_add_member_to_group action_profile_1 1 0
act_prof_add_member_to_group action_profile_1 2 0
act_prof_create_group action_profile_1
act_prof_add_member_to_group action_profile_1 2 1
table_indirect_add_with_group selected 0x0100/8 => 0
table_indirect_add_with_group selected 0x0180/9 => 1
table_indirect_add selected 0x0200/16 => 1
"""
COMMANDS = {
    "arithmetic": "", "checks": "", "copies": COPIES, "parse": "", "profiles": PROFILES,
    "state": "table_add direct nothing 1 =>\ntable_add direct nothing 2 =>\n", "tables": TABLES + PREFIXES + SINGLES + RANGES,
}  # fmt: skip


def packets(program: str, seed: int) -> list[bytes]:
    """Return the packets of a program; some are cut off, one is empty, one is long."""
    draw = random.Random(f"{program} {seed}")
    found = [_MAKERS[program](draw, number) for number in range(PACKETS)]
    for number in range(5, PACKETS, 11):
        found[number] = found[number][: draw.randrange(len(found[number]) + 1)]
    found[7] = b""
    found[8] += draw.randbytes(9_600 - len(found[8]))
    return found


def _edge(draw: random.Random, size: int) -> bytes:
    """Return a number of so many bytes: at random, near its ends, or small."""
    most = 1 << (8 * size)
    near = draw.choice(
        (0, 1, most - 1, most >> 1, (most >> 1) - 1, (most >> 1) + 1, draw.randrange(most), draw.randrange(most), draw.randrange(40))
    )
    return near.to_bytes(size, "big")


def _arithmetic(draw: random.Random, number: int) -> bytes:
    shift = draw.choice((0, 1, 7, 8, 12, 13, 31, 32, 33, 63, 64, 65, 127, 128, 200, 255))
    code = number % 17 if number % 3 else draw.choice((8, 9, 10, 11, 14))
    found = bytes([code, shift]) + _edge(draw, 1) + (_edge(draw, 1) if draw.random() < 0.8 else b"\0") + b"\0" + _edge(draw, 5)
    for size in (4, 8, 16, 2, 8):
        one, other = _edge(draw, size), _edge(draw, size)
        found += one + (one if draw.random() < 0.2 else other) + bytes(size)
    return found + draw.randbytes(draw.randrange(20))


def _sum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data + b'0') // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _checks(draw: random.Random, number: int) -> bytes:
    options = draw.randbytes(4 * draw.choice((0, 0, 1, 2, 10)))
    payload = draw.randbytes(draw.randrange(60))
    protocol = draw.choice((17, 17, 17, 6))
    sport, dport = draw.randbytes(2), draw.randbytes(2)
    addresses = draw.randbytes(8)
    size = len(payload) + 8
    udp = sport + dport + struct.pack("!HH", size, 0) + payload
    check = _sum(addresses + struct.pack("!BBH", 0, protocol, size) + udp)
    if draw.random() < 0.8:
        udp = udp[:6] + struct.pack("!H", check if draw.random() < 0.7 else draw.randrange(1 << 16)) + payload
    fields = (20 + len(options) + size, draw.randrange(1 << 16), draw.randrange(1 << 16), draw.randrange(256), protocol, 0)
    head = bytes([0x45 + len(options) // 4, 0]) + struct.pack("!HHHBBH", *fields) + addresses
    right = _sum(head + options)
    head = head[:10] + struct.pack("!H", right if draw.random() < 0.7 else draw.randrange(1 << 16)) + head[12:]
    if draw.random() < 0.1:
        head = bytes([draw.randrange(256)]) + head[1:]
    return draw.randbytes(12) + b"\x08\x00" + head + options + udp


def _copies(draw: random.Random, number: int) -> bytes:
    code = draw.choice((1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, number % 15)) if number % 15 != 9 else 0
    if draw.random() < 0.1:
        code |= 0x80
    value = draw.choice((0, 2, 4, 5, 6, draw.randrange(1 << 32)))
    return (
        bytes([code, draw.choice((1, 2, 3, 1, 4, 5))])
        + struct.pack("!HI", draw.choice((0, 1, 2, 3)), value)
        + draw.randbytes(draw.randrange(70))
    )


def _parse(draw: random.Random, number: int) -> bytes:
    kind = draw.choice((0x8847, 0x0800, 0x1000, 0x1FFF, 0x1234, 0x1234, 0x2001, 0x2002, 0x3000))
    found = draw.randbytes(12) + struct.pack("!H", kind)
    if kind >> 12 == 1:
        found += bytes([draw.randrange(7), draw.randrange(5)]) + draw.randbytes(2)
    if kind == 0x2001:
        found += draw.randbytes(4)
    if kind not in (0x0800, 0x2002, 0x3000):
        count, same = draw.choice((1, 1, 2, 2, 3, 4, 5, 6)), draw.randbytes(4)
        for place in range(count):
            label = bytearray(same if draw.random() < 0.5 else draw.randbytes(4))
            label[2] = label[2] & 0xFE | (place == count - 1)
            found += label
    words = draw.choice((5, 5, 6, 7, 15, 3))
    version = draw.choice((4, 4, 4, 6, 5))
    return found + bytes([version << 4 | words]) + draw.randbytes(4 * words - 1 + draw.randrange(12))


def _profiles(draw: random.Random, number: int) -> bytes:
    if number % 3 == 0:
        return b"\0" + draw.choice((0, 1, 2, 3, 4)).to_bytes(2, "big") + draw.randbytes(4)
    return b"\1" + draw.choice((0x100, 0x17F, 0x180, 0x1FF, 0x200, 0x201, 0x123, 0x101)).to_bytes(2, "big") + draw.randbytes(4)


def _state(draw: random.Random, number: int) -> bytes:
    code = draw.choice((0, 0, 1, 1, 2, 3, 4, 5, 6, 9, 11))
    index = draw.randrange({0: 10, 1: 10, 2: 5, 3: 5, 4: 3, 5: 3, 6: 4}.get(code, 4))  # simple_switch ends where an index is outside
    return bytes([code]) + struct.pack("!I", index) + _edge(draw, 6) + b"\0"


def _tables(draw: random.Random, number: int) -> bytes:
    a = draw.choice(
        (0x0A000001, 0x0A000002, 0x0A0B0001, 0x0A000006, 6, 0x0B000001, 0x0A000000 | draw.randrange(1 << 24), draw.randrange(1 << 32))
    )
    ranges = (draw.randrange(0x100, 0x320), draw.randrange(0x100, 0x320), draw.randrange(1 << 16))
    b = draw.choice((5, 6, 4, 9, 10, 0x8000, 0x8005, 0xC000, 0xFFFF, *ranges))
    c = draw.choice((0x20010DB8 << 96, (0x20010DB8 << 96) + 1, (0x20010DB8 << 96) + (1 << 95), 1, 0, draw.randrange(1 << 128)))
    which = number % 11 if number % 2 else draw.choice((1, 1, 2, 3, 4, 4, 5, 5, 6, 8))
    return bytes([7 if which == 7 else which]) + struct.pack("!IH", a, b) + c.to_bytes(16, "big") + draw.randbytes(3)


_MAKERS: dict[str, Callable[[random.Random, int], bytes]] = {
    "arithmetic": _arithmetic, "checks": _checks, "copies": _copies, "parse": _parse, "profiles": _profiles,
    "state": _state, "tables": _tables,
}  # fmt: skip


# bytes; of a shorter packet no header is valid
LEAST = {"arithmetic": 124, "checks": 14, "copies": 8, "profiles": 7, "state": 12, "tables": 23}


def hidden(program: str, packet: bytes, frame: bytes) -> bytes:
    """Return what of a frame is compared: not what the clock says, and not fields of headers that are not valid, which P4 leaves open and
    simple_switch has from an earlier packet."""
    if program == "copies" and len(frame) >= 39 and frame[0] & 0x80:
        return frame[:26] + bytes(13) + b"\0" * (len(frame) > 39) + frame[40:]  # time, waiting time, depth
    if program == "checks":
        size = 4 * (packet[14] & 0xF) if len(packet) > 14 else 0
        if size < 20 or len(packet) < 14 + size + 8:
            return frame[:15] + bytes(25) + frame[40:]
        if packet[23] != 17:
            return frame[:33] + bytes(2) + frame[35:]  # a hash of the UDP port
    if program == "parse" and packet[12:13] and packet[12] >> 4 == 1 and packet[14:15] == b"\4":
        labels = [packet[at : at + 4] for at in range(18, min(len(packet) - 3, 34), 4)]
        count = next((place + 1 for place, label in enumerate(labels) if label[2] & 1), len(labels))
        if packet[15] >= count:
            return frame[:24] + bytes(2) + frame[26:]  # the label that is read
    return frame


def compared(program: str, packet: bytes, answer: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Return an answer as it is compared: in the order of ports and bytes; nothing where all depends on a header that is not valid."""
    if len(packet) < LEAST.get(program, 0):
        return []
    return sorted((port, hidden(program, packet, frame)) for port, frame in answer if port in PORTS)


def write(head: dict[str, Any], answers: dict[str, list[list[tuple[int, bytes]]]], path: Path = FILE) -> None:
    """Write what simple_switch has answered to each packet of each program."""
    lines = [json.dumps(head)]
    for program, found in answers.items():
        lines += [json.dumps([program, [[port, frame.hex()] for port, frame in answer]]) for answer in found]
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))


def read(path: Path = FILE) -> tuple[dict[str, Any], dict[str, list[list[tuple[int, bytes]]]]]:
    """Return the head and the answers of each program."""
    head, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    answers: dict[str, list[list[tuple[int, bytes]]]] = {}
    for line in lines:
        program, found = json.loads(line)
        answers.setdefault(program, []).append([(port, bytes.fromhex(frame)) for port, frame in found])
    return json.loads(head), answers
