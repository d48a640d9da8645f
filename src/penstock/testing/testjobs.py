"""Sources and checks that tests of whole devices share: jobs for the engine, and what a good result looks like."""

import random
from typing import Any

import numpy as np

Job = dict[str, Any]


def constant(queues: Any = (3,), bps: float = 5e9, size: int = 200, **keys: Any) -> Job:
    """A source of equal frames at equal distances."""
    return {"kind": "constant", "queues": list(queues), "pick": "round_robin", "bps": bps, "sizes": [(size, 1)]} | keys


def frames(rng: random.Random, count: int, mean_gap: int = 30) -> Job:
    """A list of frames of all kinds: good, runts, too long, for queues that do not exist, damaged."""
    lengths = [rng.choice([0, 5, 14, 60, 61, 124, 125, 700, 1522, 1523, 2000]) for _ in range(count)]
    stored = [rng.randint(0, length) for length in lengths]
    return {
        "kind": "frames",
        "cycles": np.cumsum([rng.randint(0, 2 * mean_gap) for _ in range(count)]),
        "queues": np.array([rng.choice([*range(16), 16, 0xFFFFFFFF]) for _ in range(count)], dtype=np.uint32),
        "offsets": np.cumsum([0, *stored])[:-1],
        "lengths": lengths,
        "stored": stored,
        "data": np.frombuffer(rng.randbytes(sum(stored) + 1), dtype=np.uint8),
        "error": [int(rng.random() < 0.1) for _ in range(count)],
    }


def ip_frame(rng: random.Random, length: int, ecn: int) -> bytes:
    """The first bytes of an IPv4 or IPv6 frame of `length` bytes, up to the end of its IP header, behind up to two VLAN tags."""
    tags = rng.choice([b"", b"\x81\x00\x00\x05", b"\x88\xa8\x00\x05\x81\x00\x00\x06"])
    start = rng.randbytes(12) + tags
    left = length - len(start) - 2
    if rng.random() < 0.5:
        return start + b"\x86\xdd" + bytes([0x60, ecn << 4]) + rng.randbytes(2) + (left - 40).to_bytes(2, "big") + rng.randbytes(34)
    head = bytes([0x45, rng.randrange(64) << 2 | ecn]) + left.to_bytes(2, "big") + rng.randbytes(6)
    addresses = rng.randbytes(8)
    words = sum(int.from_bytes((head + addresses)[i : i + 2], "big") for i in range(0, 18, 2))
    while words >> 16:
        words = (words & 0xFFFF) + (words >> 16)
    return start + b"\x08\x00" + head + (~words & 0xFFFF).to_bytes(2, "big") + addresses


def ip_frames(rng: random.Random, queues: list[int], count: int, mean_gap: int = 30) -> Job:
    """A list of IP frames for these queues, most of them ECN-capable."""
    lengths = [rng.choice([74, 100, 600, 1500]) for _ in range(count)]
    heads = [ip_frame(rng, length, rng.choice([0, 1, 2, 2, 3])) for length in lengths]
    return {
        "kind": "frames",
        "cycles": np.cumsum([rng.randint(0, 2 * mean_gap) for _ in range(count)]),
        "queues": np.array([rng.choice(queues) for _ in range(count)], dtype=np.uint32),
        "offsets": np.cumsum([0, *map(len, heads)])[:-1],
        "lengths": lengths,
        "stored": [len(head) for head in heads],
        "data": np.frombuffer(b"".join(heads), dtype=np.uint8),
    }


def udp_head(queue: int, flow: int, length: int, ecn: int = 0) -> bytes:
    """The first bytes of a UDP frame of `length` bytes of one of the flows for a queue, which differ in their source ports."""
    addresses = bytes([10, 0, 0, 1, 10, 1, queue >> 8 & 255, queue & 255])
    head = bytes([0x45, ecn]) + (length - 14).to_bytes(2, "big") + bytes([0, 0, 0, 0, 64, 17])
    words = sum(int.from_bytes((head + addresses)[i : i + 2], "big") for i in range(0, 18, 2))
    while words >> 16:
        words = (words & 0xFFFF) + (words >> 16)
    ports = (5000 + flow).to_bytes(2, "big") + (9).to_bytes(2, "big") + (length - 34).to_bytes(2, "big") + bytes(2)
    return bytes(12) + b"\x08\x00" + head + (~words & 0xFFFF).to_bytes(2, "big") + addresses + ports


def flow_frames(rng: random.Random, queues: list[int], flows: int, count: int, mean_gap: int = 30) -> Job:
    """A list of UDP frames for these queues, of so many flows each; two of three are of the first two."""
    lengths = [rng.choice([60, 100, 600, 1500]) for _ in range(count)]
    to = [rng.choice(queues) for _ in range(count)]
    heads = [
        udp_head(queue, rng.randrange(flows) if rng.random() < 0.34 else rng.randrange(2), length, rng.choice([0, 1, 2, 3]))
        for queue, length in zip(to, lengths, strict=True)
    ]
    return {
        "kind": "frames",
        "cycles": np.cumsum([rng.randint(0, 2 * mean_gap) for _ in range(count)]),
        "queues": np.array(to, dtype=np.uint32),
        "offsets": np.cumsum([0, *map(len, heads)])[:-1],
        "lengths": lengths,
        "stored": [len(head) for head in heads],
        "data": np.frombuffer(b"".join(heads), dtype=np.uint8),
    }


def fate(length: int, queue: int, error: int) -> str:
    """What docs/hardware.md says of a frame at the input of a device with 16 queues."""
    if error:
        return "bad_frame"
    if length < 14:
        return "runt"
    if length > 1522:
        return "oversize"
    return "passed" if queue < 16 else "bad_queue_id"


def assert_clean(result: dict[str, Any]) -> None:
    """Nothing is wrong with this run."""
    assert result["findings"] == [], result["findings"]
    for key in ("order_errors", "payload_errors", "event_errors", "lost", "counter_mismatches"):
        assert result[key] == 0, key
    assert result["conservation_ok"] and not result["interrupted"]
    for totals in (result["packets"], result["bytes"]):
        assert totals["in"] == totals["out"] + totals["queued"] + sum(totals["dropped"].values())
