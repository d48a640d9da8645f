# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Rules that a device states, of order and of payload: one that keeps them has no finding, and each breach is found and named.

The device is the stand-in (stand_in.cpp), which keeps the rules by code of its own.
"""

import random
from typing import Any

import numpy as np
import pytest

from penstock.engine import engine
from penstock.testing.testkit import seed

Job = dict[str, Any]

CLOCK_HZ = 220_000_000
FRAMES = 400
# enum Fault and enum Rule of stand_in.cpp
LOSE, REORDER, CORRUPT, DUPLICATE = range(1, 5)
TRUNCATE = 14
BAD_DEADLINE, SEND_LATE, DROP_EARLY, BAD_REWRITE, WRONG_TAG = range(29, 34)
BY_DEADLINE, FREE, REWRITES, CARRIES_TAGS = 1, 2, 4, 8

RULES: dict[str, tuple[Job, int]] = {
    "fifo": ({}, 0),
    "fifo_tags": ({"tag_bits": 20}, CARRIES_TAGS),
    "by_deadline": ({"order": "by_deadline"}, BY_DEADLINE),
    "free": ({"order": "free"}, FREE),
    "free_tags": ({"order": "free", "tag_bits": 12}, FREE | CARRIES_TAGS),
    "rewritten": ({"payload": "rewritten"}, REWRITES),
    "rewritten_unjudged": ({"payload": "rewritten", "judged": False}, REWRITES),
    "rewritten_by_deadline": ({"payload": "rewritten", "order": "by_deadline"}, REWRITES | BY_DEADLINE),
    "rewritten_free": ({"payload": "rewritten", "order": "free"}, REWRITES | FREE),
    "rewritten_free_tags": ({"payload": "rewritten", "order": "free", "tag_bits": 16}, REWRITES | FREE | CARRIES_TAGS),
    "unjudged_free_tags": ({"payload": "rewritten", "judged": False, "order": "free", "tag_bits": 31}, REWRITES | FREE | CARRIES_TAGS),
}


def contents(rng: random.Random, count: int, alike: float) -> list[bytes]:
    """Frames of random bytes; some are, with this probability, equal to one before."""
    found: list[bytes] = []
    for _ in range(count):
        again = found and rng.random() < alike
        found.append(rng.choice(found[-4:]) if again else rng.randbytes(rng.choice([14, 15, 16, 60, 60, 64, 125, rng.randint(14, 1500)])))
    return found


def rule_job(library: str, name: str, number: int, fault: int = 0, parameter: int = 0, *, alike: float = 0.2, tight: bool = False) -> Job:
    """A job of random frames for the stand-in under one of the rules; bursts meet a slower output, so frames wait. `tight`: always."""
    rng = random.Random(number)
    keys, rules = RULES[name]
    if rules & BY_DEADLINE:
        keys = keys | {"deadlines": [rng.randint(20, 400), rng.choice([500, 500, 2000]), rng.choice([500, 3000]), 10**6]}
        if fault not in (0, SEND_LATE, DROP_EARLY):
            keys["deadlines"] = [10**6 + rng.randint(20, 400), 10**6 + 1000, 10**6 + 1000, 2 * 10**6]  # no frame misses it
    ids = [
        queue + 16 * klass
        for queue in rng.sample(range(16), 1 if tight else rng.choice([1, 2, 5]))
        for klass in range(4 if rules & BY_DEADLINE else 1)
    ]
    data = contents(rng, FRAMES, alike)
    cycles = np.cumsum([rng.choice([0, 0, 0, 3, 20, 60, 300]) for _ in data])
    source = {
        "kind": "frames",
        "cycles": cycles,
        "queues": np.array([rng.choice(ids) for _ in data], dtype=np.uint32),
        "offsets": np.cumsum([0, *map(len, data)])[:-1],
        "lengths": [len(frame) for frame in data],
        "stored": [len(frame) for frame in data],
        "data": np.frombuffer(b"".join(data), dtype=np.uint8),
    }
    writes = [(0x804, parameter), (0x800, fault), (0x80C, rules), (0x840, rng.getrandbits(32))]
    writes += [(0x830 + 4 * i, cycles) for i, cycles in enumerate(keys.get("deadlines", []))]
    if rules & FREE:
        writes += [write for n in range(1, FRAMES + 1) for write in [(0x810, n), (0x814, rng.choice([20, 20, 100, 1000]))]]
    return {
        "device": {"design": "stand_in", "library": library, "clock_hz": CLOCK_HZ} | keys,
        "seed": number,
        "drain": True,
        "max_cycles": 2_000_000,
        "quiet_cycles": 3000,
        "ingress_bps": 100e9,
        "egress_bps": 3e9 if tight else rng.choice([3e9, 10e9, 30e9]),
        "ready_permille": rng.choice([1000, 700]),
        "register_writes": writes,
        "sources": [source],
        "keep_departures": True,
    }


def assert_good(result: Job) -> None:
    assert result["findings"] == []
    assert result["conservation_ok"] and result["drained"]
    assert result["order_errors"] == result["payload_errors"] == result["event_errors"] == result["lost"] == 0


@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("name", RULES)
def test_what_keeps_its_rules_has_no_finding(stand_in: str, name: str, part: int) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    missed = 0
    for number in range(4):
        job = rule_job(stand_in, name, seed() + 100 * part + number, alike=random.Random(number).choice([0.0, 0.3, 0.9]))
        result = engine.run(job)
        assert_good(result)
        missed += result["packets"]["dropped"].get("missed", 0)
        assert result["packets"]["out"] + sum(result["packets"]["dropped"].values()) == FRAMES
        assert result["bytes"]["in"] == sum(job["sources"][0]["lengths"])
    assert (missed > 0) == ("deadline" in name)


def test_deadlines_put_frames_in_order(stand_in: str) -> None:
    """Not the measurement, but arithmetic by hand: three frames wait for the end of a long one, and leave by their classes."""
    lengths, ids = [1500, 100, 101, 102, 103], [48 + 5, 48 + 5, 32 + 5, 16 + 5, 32 + 5]
    source = {"kind": "frames", "cycles": [0, 300, 320, 340, 360], "queues": np.array(ids, dtype=np.uint32), "offsets": [0] * 5}
    source |= {"lengths": lengths, "stored": [0] * 5, "data": np.zeros(1, dtype=np.uint8)}
    job = rule_job(stand_in, "by_deadline", 1) | {"sources": [source], "egress_bps": 1e9, "ready_permille": 1000}
    job["device"]["deadlines"] = [10_000, 20_000, 30_000, 100_000]
    job["register_writes"] += [(0x830 + 4 * i, cycles) for i, cycles in enumerate(job["device"]["deadlines"])]
    result = engine.run(job)
    assert_good(result)
    assert result["departures"]["length"].tolist() == [1500, 102, 101, 103, 100]
    assert set(result["departures"]["queue"].tolist()) == {5}


def test_a_tag_is_of_its_queue(stand_in: str) -> None:
    """Sixteen frames of each queue with the sixteen tags that there are; they leave in any order, and each is known."""
    job = rule_job(stand_in, "free_tags", seed())
    job["device"]["tag_bits"] = 4
    queues = np.arange(256, dtype=np.uint32) // 16
    source = {"kind": "frames", "cycles": np.arange(256), "queues": queues, "offsets": [0] * 256, "lengths": [100] * 256}
    result = engine.run(job | {"sources": [source | {"stored": [0] * 256, "data": np.zeros(1, dtype=np.uint8)}]})
    assert_good(result)
    assert result["departures"]["queue"].tolist() != queues.tolist()


# Rule, fault: which count rises, and what the finding says.
BREACHES: list[tuple[str, int, str, str]] = [
    ("fifo", REORDER, "order_errors", "leaves before frame"),
    ("fifo", CORRUPT, "payload_errors", "comes out changed"),
    ("fifo", DUPLICATE, "event_errors", "does not hold it"),
    ("fifo", LOSE, "lost", "never came out"),
    ("fifo_tags", REORDER, "order_errors", "leaves before frame"),
    ("fifo_tags", CORRUPT, "payload_errors", "comes out changed"),
    ("fifo_tags", WRONG_TAG, "event_errors", "does not hold it"),
    ("fifo_tags", DUPLICATE, "event_errors", "does not hold it"),
    ("by_deadline", BAD_DEADLINE, "order_errors", "cycles earlier"),
    ("by_deadline", SEND_LATE, "order_errors", "cycles after its deadline"),
    ("by_deadline", DROP_EARLY, "order_errors", "is dropped for its deadline, which is"),
    ("by_deadline", CORRUPT, "payload_errors", "comes out changed"),
    ("by_deadline", DUPLICATE, "event_errors", "does not hold"),
    ("by_deadline", LOSE, "order_errors", "never came out|cycles earlier"),
    ("free", CORRUPT, "payload_errors", "another one of its queue, comes out changed"),
    ("free", TRUNCATE, "payload_errors", "another one of its queue, comes out changed"),
    ("free", DUPLICATE, "event_errors", "does not hold it"),
    ("free", LOSE, "lost", "never came out"),
    ("free_tags", CORRUPT, "payload_errors", "comes out changed"),
    ("free_tags", DUPLICATE, "event_errors", "does not hold it"),
    ("free_tags", LOSE, "lost", "never came out"),
    ("rewritten", BAD_REWRITE, "payload_errors", "comes out changed"),
    ("rewritten", REORDER, "order_errors", "leaves before frame"),
    ("rewritten", DUPLICATE, "event_errors", "does not hold it"),
    ("rewritten", LOSE, "lost", "never came out"),
    ("rewritten_by_deadline", BAD_DEADLINE, "order_errors", "cycles earlier"),
    ("rewritten_by_deadline", BAD_REWRITE, "payload_errors", "comes out changed"),
    ("rewritten_free", BAD_REWRITE, "payload_errors", "comes out changed"),
    ("rewritten_free", LOSE, "lost", "never came out"),
    ("rewritten_free_tags", BAD_REWRITE, "payload_errors", "comes out changed"),
    ("unjudged_free_tags", LOSE, "lost", "never came out"),
    ("unjudged_free_tags", DUPLICATE, "event_errors", "does not hold it"),
]
COUNTS = ("order_errors", "payload_errors", "event_errors", "lost")


@pytest.mark.parametrize(("name", "fault", "count", "words"), BREACHES)
def test_a_breach_is_found(stand_in: str, name: str, fault: int, count: int, words: str) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    for number in range(3):
        rng = random.Random(seed() + number)
        result = engine.run(rule_job(stand_in, name, seed() + number, fault, rng.randint(20, 300), alike=0.0, tight=True))
        found = {key: result[key] for key in COUNTS}
        assert found[count] > 0, (found, result["findings"])
        assert any(word in text for text in result["findings"] for word in words.split("|")), result["findings"]
        if fault not in (LOSE, WRONG_TAG) and (name, fault) != ("by_deadline", DUPLICATE):  # which put all that follows out of order
            assert sum(found.values()) == 1, result["findings"]


@pytest.mark.parametrize("name", ["fifo", "rewritten", "rewritten_free", "by_deadline"])
def test_the_breach_names_the_frame(stand_in: str, name: str) -> None:
    """A byte of the n-th frame changes: where the order is known, it is that frame that is named; else the queue and the length."""
    print(f"PENSTOCK_SEED={seed()}")
    job = rule_job(stand_in, name, seed(), BAD_REWRITE if "rewritten" in name else CORRUPT, 121, alike=0.0, tight=True)
    length = job["sources"][0]["lengths"][120]
    queue = int(job["sources"][0]["queues"][120]) % 16
    (finding,) = engine.run(job)["findings"]
    assert f"(queue {queue}, " in finding and finding.endswith((f"({length} bytes)", f"({length + 4} bytes)"))
    assert "free" in name or f" frame 120 (queue {queue}, {length} bytes) comes out changed" in finding


def test_a_session_tells_the_bytes_that_left(stand_in: str) -> None:
    """Of a rewriting device: byte 14 is one less, and a tag stands before byte 12 where byte 15 is odd."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    job = rule_job(stand_in, "rewritten", seed())
    keys = ("drain", "max_cycles", "quiet_cycles")
    session = engine.module().Session({key: value for key, value in job.items() if key not in keys} | {"sources": []})
    session.start()
    offered = [rng.randbytes(rng.randint(16, 300)) for _ in range(50)]
    for frame in offered:
        session.offer(session.now + 5, 3, frame)
    session.advance(200_000, until_empty=True)
    left = session.take_left()
    for number, start, end in zip(left["number"].tolist(), left["offsets"][:-1].tolist(), left["offsets"][1:].tolist(), strict=True):
        frame = bytearray(offered[number])
        frame[14] = (frame[14] - 1) & 0xFF
        tag = bytes([0x81, 0, frame[14], frame[15]]) if frame[15] & 1 else b""
        assert left["data"][start:end].tobytes() == bytes(frame[:12]) + tag + bytes(frame[12:])
    result = session.end()
    assert left["number"].tolist() == list(range(50)) and result["conservation_ok"]
    assert result["bytes"]["in"] == sum(map(len, offered)) < result["bytes"]["out"] == left["data"].size
    assert result["queue"]["in_bytes"][3] == result["bytes"]["in"]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"order": "free", "payload": "ecn_mark"}, "marks are told in the order of a queue"),
        ({"order": "sorted"}, "device.order is not one of the rules"),
        ({"payload": "sorted"}, "device.payload is not one of the rules"),
        ({"order": "by_deadline", "deadlines": [1]}, "device.deadlines has not one element for each class"),
        ({"order": "by_deadline"}, "device.deadlines is missing"),
        ({"deadlines": [1, 2, 3, 4]}, "deadlines is not a key"),
        ({"tag_bits": 32}, "device.tag_bits = 32 is out of range"),
    ],
)
def test_contradictions_are_refused(stand_in: str, keys: Job, words: str) -> None:
    job = rule_job(stand_in, "fifo", 1)
    with pytest.raises(ValueError, match=words):
        engine.run(job | {"device": job["device"] | keys})


def deadline_job(library: str, frames: list[tuple[int, int, int]], deadlines: list[int], fault: int = 0, parameter: int = 0) -> Job:
    """Frames are (first bit, class, bytes), all of queue 5, between lines of a byte a cycle."""
    cycles, classes, lengths = (np.array(column, dtype=np.int64) for column in zip(*frames, strict=True))
    source = {"kind": "frames", "cycles": cycles, "queues": (16 * classes + 5).astype(np.uint32), "offsets": [0] * len(frames)}
    source |= {"lengths": lengths, "stored": [0] * len(frames), "data": np.zeros(1, dtype=np.uint8)}
    job = rule_job(library, "by_deadline", 1, fault, parameter) | {"sources": [source], "ready_permille": 1000}
    job["device"]["deadlines"] = deadlines
    job["register_writes"] += [(0x830 + 4 * i, after) for i, after in enumerate(deadlines)]
    return job | {"ingress_bps": 8 * CLOCK_HZ, "egress_bps": 8 * CLOCK_HZ, "overhead_bytes": 0}


def test_equal_deadlines_are_in_the_order_of_arrival(stand_in: str) -> None:
    """Class 1 has 60 cycles less than class 2, and its frame is taken 60 cycles later; class 3 comes first and goes last."""
    frames = [(0, 0, 1000), (1000, 3, 100), (1100, 2, 60), (1160, 1, 60)]
    result = engine.run(deadline_job(stand_in, frames, [10_000, 20_000, 20_060, 30_000]))
    assert_good(result)
    assert result["departures"]["length"].tolist() == [1000, 60, 60, 100]
    assert result["latency_cycles"][1] < 1000 and result["departures"]["cycle"][1] == 2001  # the elder of the two goes first


@pytest.mark.parametrize(("fault", "words"), [(SEND_LATE, "is sent 1 cycles after its deadline"), (DROP_EARLY, "which is 0 cycles ahead")])
def test_the_last_cycle_of_a_deadline(stand_in: str, fault: int, words: str) -> None:
    """The second frame's turn comes a fixed time after it was taken: with that time it is sent, with a cycle less dropped; not else."""
    frames = [(0, 0, 1000), (1000, 1, 100)]
    drops = {
        after: engine.run(deadline_job(stand_in, frames, [10_000, after, 1, 1]))["packets"]["dropped"]["missed"] for after in (0, 10**5)
    }
    assert drops == {0: 1, 10**5: 0}
    low, high = 0, 10**5  # dropped; sent
    while high - low > 1:
        middle = (low + high) // 2
        result = engine.run(deadline_job(stand_in, frames, [10_000, middle, 1, 1]))
        assert_good(result)
        low, high = (middle, high) if result["packets"]["dropped"]["missed"] else (low, middle)
    assert 800 < high < 1000
    result = engine.run(deadline_job(stand_in, frames, [10_000, low if fault == SEND_LATE else high, 1, 1], fault, 2))
    assert result["order_errors"] == 1
    (finding,) = result["findings"]
    assert words in finding


@pytest.mark.parametrize("waits", [False, True])
def test_a_queue_goes_on_behind_a_frame_given_away_too_early(stand_in: str, waits: bool) -> None:
    """Of two or three frames that wait for the end of a long one the second goes first, and another comes while it leaves."""
    frames = [(0, 0, 1000), (1000, 1, 100), (1100, 1, 101), *([(1201, 1, 102)] if waits else []), (1950, 1, 103)]
    result = engine.run(deadline_job(stand_in, frames, [10**6] * 4, BAD_DEADLINE, 2))
    assert {key: result[key] for key in COUNTS} == dict.fromkeys(COUNTS, 0) | {"order_errors": 1}, result["findings"]
    assert result["departures"]["length"].tolist() == [1000, 101, 100, *([102] if waits else []), 103]
