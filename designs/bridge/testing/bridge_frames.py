# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Frames for tests of the bridge, with what makes their flow: known from what they are made of, not read back from them."""

import random
import struct

Key = list[tuple[int, int]]  # (place, byte)
PROTOCOL, PORTS, MACS = 32, 33, 40
WITH_PORTS = (6, 17, 132, 50)
LEAST = 60


def words(seed: int) -> list[list[list[int]]]:
    """Return the random words of the hash: by half of a byte, place and value. They are Marsaglia's xorshift, 13, 17, 5."""
    found: list[list[int]] = [[], []]
    state = seed
    for _ in range(64 * 16):
        for half in range(2):
            found[half].append(state >> 16 * half & 1023)
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
    return [[half[16 * place : 16 * place + 16] for place in range(64)] for half in found]


def words_of(frame: bytes, width: int, rng: random.Random) -> list[dict[str, int]]:
    """Return a frame as words of `width` bytes; what is behind its end in the last one is random."""
    parts = [frame[place : place + width] for place in range(0, len(frame), width)]
    filled = [int.from_bytes(part + rng.randbytes(width - len(part)), "little") for part in parts]
    return [{"data": data, "count": len(parts[n]) - 1, "last": int(n == len(parts) - 1)} for n, data in enumerate(filled)]


def framed(words: list[dict[str, int]], width: int) -> list[bytes]:
    """Return the frames of words that were read, of `width` bytes; only a last word may have less."""
    found, part = [], bytearray()
    for word in words:
        assert word["last"] or word["count"] == width - 1, word
        part += word["data"].to_bytes(width, "little")[: word["count"] + 1]
        if word["last"]:
            found.append(bytes(part))
            part.clear()
    assert not part, "the last frame is not whole"
    return found


def bucket(key: Key, table: list[list[list[int]]]) -> int:
    total = 0
    for place, byte in key:
        total ^= table[0][place][byte & 15] ^ table[1][place][byte >> 4]
    return total


def _ip4(rng: random.Random) -> tuple[bytes, Key]:
    options = rng.choice([0, 0, 0, 1, 10])
    protocol = rng.choice([*WITH_PORTS, 1, 47, rng.randrange(256)])
    later = rng.choice([rng.randrange(1, 256), 256 * rng.randrange(1, 32), rng.randrange(1, 0x2000)])
    fragment = rng.choice([0, 0, 0, 0x4000, 0x2000, 0x8000, later, 0x2000 | later])
    source, destination, ports = rng.randbytes(4), rng.randbytes(4), rng.randbytes(4)
    header = struct.pack(">BBHHHBBH", 0x45 + options, rng.randrange(256), rng.randrange(65536), rng.randrange(65536), fragment,
                         rng.randrange(256), protocol, rng.randrange(65536))  # fmt: skip
    key = [*enumerate(source + destination), (PROTOCOL, protocol)]
    if protocol in WITH_PORTS and fragment & 0x3FFF == 0:
        key += enumerate(ports, PORTS)
    return header + source + destination + rng.randbytes(4 * options) + ports, key


def _ip6(rng: random.Random) -> tuple[bytes, Key]:
    protocol = rng.choice([*WITH_PORTS, 58, 44, rng.randrange(256)])  # 44 is a fragment header
    addresses, ports = rng.randbytes(32), rng.randbytes(4)
    header = struct.pack(">IHBB", 6 << 28 | rng.randrange(1 << 28), rng.randrange(65536), protocol, rng.randrange(256))
    key = [*enumerate(addresses), (PROTOCOL, protocol), *(enumerate(ports, PORTS) if protocol in WITH_PORTS else [])]
    return header + addresses + ports, key


def drawn(rng: random.Random, longest: int = 300) -> tuple[bytes, int, Key]:
    """Return a frame without FCS, the id of its first VLAN tag or 0, and the key of its flow."""
    macs = bytes([rng.randrange(128) << 1]) + rng.randbytes(11)
    tags = rng.choice([0, 0, 0, 1, 1, 2, 3])
    kind = rng.choice(["ip4", "ip4", "ip6", "pppoe4", "pppoe6", "lcp", "arp", "any", "version4", "version6", "short4"])
    link, key = macs, list(enumerate(macs, MACS))
    ids = []
    for number in range(tags):
        tpid, tci = rng.choice([b"\x81\x00", b"\x88\xa8"]), rng.randrange(65536)
        link += tpid + struct.pack(">H", tci)
        key += enumerate(tpid, MACS + 12) if number < 3 else []
        ids.append(tci & 0xFFF)
    ethertype = {"ip4": b"\x08\0", "ip6": b"\x86\xdd", "pppoe4": b"\x88\x64", "pppoe6": b"\x88\x64", "lcp": b"\x88\x64", "arp": b"\x08\x06",
                 "version4": b"\x08\0", "version6": b"\x86\xdd", "short4": b"\x08\0"}.get(kind, rng.randbytes(2))  # fmt: skip
    if ethertype in (b"\x81\x00", b"\x88\xa8"):
        ethertype = b"\x08\x06"
    link += ethertype
    if tags < 3:
        key += enumerate(ethertype, MACS + 12)
    inner, flow = _ip6(rng) if kind in ("ip6", "pppoe6", "version4") else _ip4(rng)
    if kind == "short4":
        inner = bytes([rng.randrange(0x40, 0x45)]) + inner[1:]
    if kind.startswith("pppoe") or kind == "lcp":
        ppp = {"pppoe4": b"\x00\x21", "pppoe6": b"\x00\x57", "lcp": b"\xc0\x21"}[kind]
        link += b"\x11\x00" + rng.randbytes(4) + ppp
    if kind in ("ip4", "ip6", "pppoe4", "pppoe6") and tags < 3:
        key = flow
    frame = link + inner
    length = rng.choice([0, rng.randint(LEAST, longest), rng.randint(LEAST, LEAST + 20)])
    return frame + rng.randbytes(max(0, LEAST - len(frame), length - len(frame))), ids[0] if ids else 0, key
