"""Queues that are found in headers: both engines are equal, frame by frame and cycle by cycle, while subscribers come and go."""

import random
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge import find, registers
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.paths import BLOCKS
from penstock.testing.testjobs import assert_clean
from penstock.testing.testkit import seed

sys.path.insert(0, str(BLOCKS / "parse" / "test"))
import parse_frames

ANY_QUEUE = 0xFFFF_FFFE  # of a frame of which only the device says where it belongs
NO_QUEUE = 0xFFFF_FFFF  # of one that the device drops
SEEDS = 12
Drawn = list[tuple[int, int, int, int, bytes]]


@pytest.fixture(scope="session")
def routed() -> Iterator[tuple[configs.Configuration, Path]]:
    config = configs.load("routed_16")
    yield config, verilate.build_device(config, print, assertions=True)  # that no bank is written which a lookup still uses


@pytest.fixture(scope="session", params=[2, 7])
def levels(request: pytest.FixtureRequest) -> Iterator[tuple[configs.Configuration, Path]]:
    """Other depths of the tree: prefixes answer before keys do, or long after."""
    config = configs.with_overrides(configs.load("routed_16"), {"headers.prefix_levels": str(request.param)})
    yield config, verilate.build_device(config, print, assertions=True)


@pytest.fixture(scope="session")
def device() -> Iterator[tuple[configs.Configuration, Path]]:
    config = configs.load("headers_16")
    yield config, verilate.build_device(config, print)


def setup(rng: random.Random, config: Any) -> tuple[list[tuple[int, int]], Drawn]:
    """Draw profiles, classes and queues for misses."""
    writes = list(find.seed(config.headers.entries, rng.getrandbits(64)))
    drawn = []
    often = [14, 15] if config.headers.prefix_levels else []
    for index in range(config.headers.profiles):
        kind, space, class_of = rng.choice([*range(2, 16), 2, 3, 3, 6, 7, *3 * often]), rng.randrange(16), rng.randrange(6)
        classes = rng.choices(range(8), k=64)
        drawn.append((find.ALL_PORTS, kind, space, class_of, bytes(classes)))
        writes += [*find.profile(index, kind, space, class_of), *find.classes(index, classes)]
    for index in range(config.headers.profiles + 1):
        if rng.random() < 0.7:
            writes += find.miss(index, rng.choice([None, rng.randrange(18)]))
    return writes, drawn


def prefixes(rng: random.Random, count: int, keys: list[int], base: Callable[[], int]) -> list[tuple[int, int, int, int]]:
    """Draw prefixes, many of which have keys, no two alike."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    while len(found) < count:
        bits = rng.choice((1, 9, 17, 25, 33, 49, 65, rng.randrange(find.PREFIX_BITS + 1)))
        key = rng.choice(keys) ^ rng.choice((0, 0, 1 << rng.randrange(65))) if keys else rng.getrandbits(65)
        found[key >> (65 - bits) << (65 - bits), bits] = (base(), rng.randrange(4))
    return [(*prefix, *subscriber) for prefix, subscriber in found.items()]


def random_job(config: Any, number: int) -> tuple[dict[str, Any], dict[str, int]]:
    """A random job of an access edge, whose frames are of the grammar of the parser, with subscribers that come, move and go."""
    rng = random.Random(number)
    base = lambda: rng.randrange(18)  # noqa: E731, of 16 queues
    job, timing = twins.random_job(config, number)
    writes, drawn = setup(rng, config)
    models, count = engine.models("profile"), rng.choice([60, 400, 1500])
    pool, known, routed = [], [], []
    gap = rng.choice([1, 3, 10, 60])
    frames = []
    for _ in range(count):
        data, _ = rng.choice(pool) if pool and rng.random() < 0.7 else parse_frames.odd(rng)
        pool.append((data, 0))
        if rng.random() < 0.05:
            data = data[:20]
        frames.append(data)
        choice = models.choose(data, 0, drawn, 0)
        if choice[0] is not None and not choice[1]:
            known.append(choice[2])
        if choice[1]:
            routed.append(choice[3])
    lengths = [len(data) if rng.random() < 0.7 else max(len(data), rng.choice([60, 128, 129, 600, 1522, 1523])) for data in frames]
    times = np.cumsum([rng.randint(0, 2 * gap) for _ in frames])
    source = {
        "kind": "frames",
        "cycles": times,
        "queues": np.full(count, ANY_QUEUE, dtype=np.uint32),
        "offsets": np.cumsum([0, *map(len, frames)])[:-1],
        "lengths": lengths,
        "stored": [len(data) for data in frames],
        "data": np.frombuffer(b"".join(frames), dtype=np.uint8),
        "error": [int(rng.random() < 0.05) for _ in frames],
    }
    for key in rng.sample(known, min(len(known), rng.choice([5, 60, 200]))):
        writes += find.insert(key, base(), rng.randrange(4))
    timed = []
    last = int(times[-1])
    if levels := config.headers.prefix_levels:
        tree, wide = find.Prefixes(levels), [choice for choice in routed if choice]
        for cycle in [None, *sorted(rng.randrange(last + 1) for _ in range(rng.choice([0, 1, 4]) if levels < 5 else 0))]:
            change = list(tree.change(prefixes(rng, rng.randrange(tree.most + 1), wide, base)))
            if cycle is None:
                writes += change if rng.random() < 0.9 else []
            else:
                timed += [(cycle, *write) for write in change]
    for cycle in sorted(rng.randrange(last + 1) for _ in range(rng.choice([0, 20, 200]))):
        key = rng.choice(known or [0])
        kind = rng.random()
        change = (
            find.insert(key, base(), rng.randrange(4))
            if kind < 0.6
            else find.delete(key)
            if kind < 0.8
            else find.read(key)
            if kind < 0.95
            else find.miss(rng.randrange(config.headers.profiles + 1), rng.choice([None, base()]))
        )
        timed += [(cycle, *write) for write in change]
    job["sources"] = [source]
    job["register_writes"] = job["register_writes"] + writes
    job["timed_register_writes"] = (
        sorted([*job["timed_register_writes"], *timed], key=lambda write: write[0]) if rng.random() < 0.5 else timed
    )
    job["duration_cycles"] = max(job["duration_cycles"], last + 1000)
    job["max_cycles"] = job["duration_cycles"] + 200_000
    return job, timing


@pytest.mark.slow
def test_engines_are_equal_with_trees_of_other_depths(levels: tuple[configs.Configuration, Path]) -> None:
    compare(*levels, 4)


def idle_departures(config: configs.Configuration, library: Path | None) -> np.ndarray:
    """When frames leave an idle device that come 3000 cycles apart, to queue 3, which frames without a profile have, too."""
    _, timing = twins.random_job(config, 1)
    count = 20
    writes = registers.queue_writes(3, None, 0, 65_535, 1 << 24, config.clock_hz)
    if config.headers:
        writes = [*find.seed(config.headers.entries, 1), *find.miss(config.headers.profiles, 3), *writes]
    job = {
        "sources": [
            {
                "kind": "frames",
                "cycles": 3000 * np.arange(1, count + 1),
                "queues": np.full(count, 3, dtype=np.uint32),
                "offsets": np.zeros(count, dtype=np.int64),
                "lengths": [60] * count,
                "stored": [60] * count,
                "data": np.zeros(60, dtype=np.uint8),
                "error": [0] * count,
            }
        ],
        "register_writes": writes,
        "keep_departures": True,
        "ingress_bps": 0,
        "egress_bps": 0,
        "duration_cycles": 3000 * (count + 2),
        "max_cycles": 200_000,
    }
    result = engine.run(job | {"device": twins.device(config, library, timing | {"gap_permille": 0})})
    assert_clean(result)
    assert result["packets"]["out"] == count
    return np.asarray(result["departures"]["cycle"]).astype(np.int64)


def test_idle_latency_of_the_model() -> None:
    """Headers cost 17 cycles beside a queue id in tdest, with 7 levels of prefixes 24; a queue id in front costs one or two."""
    base = idle_departures(configs.load("tiny_tdest_16"), None)
    deep = configs.with_overrides(configs.load("routed_16"), {"headers.prefix_levels": "7"})
    for config, more in ((configs.load("headers_16"), 17), (deep, 24)):
        assert set(idle_departures(config, None) - base) == {more}, config.name
    assert set(idle_departures(configs.load("tiny_16"), None) - base) <= {1, 2}


@pytest.mark.slow
def test_idle_latency_of_the_hardware(levels: tuple[configs.Configuration, Path]) -> None:
    """The same cycles on the RTL; 24 more than without headers with 7 levels of prefixes."""
    config, library = levels
    base = idle_departures(configs.load("tiny_tdest_16"), None)
    assert set(idle_departures(config, library) - base) == {24 if config.headers.prefix_levels == 7 else 17}


@pytest.mark.parametrize("name", ["device", pytest.param("routed", marks=pytest.mark.slow)])
def test_engines_are_equal(name: str, request: pytest.FixtureRequest) -> None:
    left, reasons = compare(*request.getfixturevalue(name), SEEDS)
    assert left > 500 and reasons["no_subscriber"] > 50 and reasons["bad_queue_id"] > 5, (left, reasons)
    assert registers.DROP_REASONS[14] == "no_subscriber"


def compare(config: configs.Configuration, library: Path, seeds: int) -> tuple[int, dict[str, int]]:
    """Compare both engines on random jobs; return how many frames left, and how many were lost by reason."""
    print(f"PENSTOCK_SEED={seed()}")
    reasons: dict[str, int] = {}
    left = 0
    for number in range(seed(), seed() + seeds):
        job, timing = random_job(config, number)
        rtl, model = (engine.run(job | {"device": twins.device(config, where, timing)}) for where in (library, None))
        assert twins.differences(rtl, model) == [], f"seed {number}"
        assert_clean(rtl)
        assert_clean(model)
        left += rtl["packets"]["out"]
        for reason, packets in rtl["packets"]["dropped"].items():
            reasons[reason] = reasons.get(reason, 0) + packets
    return left, reasons


def test_commands_and_counters_are_equal(device: tuple[configs.Configuration, Path]) -> None:
    """Keys come and go without traffic, more than there is room for, with wrong indexes among them: the same refusals of each, and
    the same keys are there."""
    config, library = device
    print(f"PENSTOCK_SEED={seed()}")
    timing, found, refusals = {"read_latency": 44, "write_latency": 22, "gap_permille": 0}, [], set()
    for where in (library, None):
        rng = random.Random(seed())
        session = engine.module().Session(
            {"device": twins.device(config, where, timing), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9}
        )
        session.start()
        assert [session.read(registers.address(f"find_{name}")) for name in ("profiles", "entries", "keys")] == [4, 128, 0]
        writes, _ = setup(rng, config)
        pool = [find.key(rng.randrange(16), rng.getrandbits(40)) for _ in range(200)]
        present: dict[int, int] = {}
        seen = []
        for write in writes:
            session.write(*write)
        session.read(registers.address("status"))  # all writes are done
        for _ in range(600):
            key, kind = rng.choice(pool), rng.random()
            if kind < 0.75:
                base = rng.randrange(16)
                change, expected = find.insert(key, base), None
            elif kind < 0.83:
                change, expected = find.delete(key), 0 if key in present else registers.refusal("bad_key")
            elif kind < 0.9:
                change, expected = find.read(key), 0 if key in present else registers.refusal("bad_key")
            elif kind < 0.93:
                change, expected = list(find.seed(128, 1))[:5], registers.refusal("bad_key") if present else 0
            elif kind < 0.96:
                change, expected = find.profile(rng.choice([4, 9]), 2, 0), registers.refusal("bad_index")
            else:
                change, expected = find.miss(rng.choice([4, 5]), 1), None
            for write in change:
                session.write(*write)
            session.advance(session.now + (900 if len(present) > 60 else rng.choice([200, 211])))  # no command takes longer
            status = session.read(registers.address("status"))
            reason = status >> 4 & 7
            assert not status & registers.STATUS_BUSY
            assert expected is None or reason == expected
            if kind < 0.75 and reason == 0:
                present[key] = base
            elif kind < 0.75:
                assert reason == registers.refusal("no_room") and len(present) > 100
            elif kind < 0.83:
                present.pop(key, None)
            elif kind < 0.9 and key in present:
                assert session.read(registers.address("find_read")) == present[key]
            refusals.add(reason)
            assert session.read(registers.address("find_keys")) == len(present)
            seen.append((session.now, reason, session.read(registers.address("find_moves"))))
        found.append(seen)
    assert found[0] == found[1]
    assert refusals >= {registers.refusal(name) for name in ("accepted", "bad_index", "bad_key")}


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_moves_are_equal_in_a_crowded_table(device: tuple[configs.Configuration, Path], share: float) -> None:
    """Keys come and go, this share of the commands inserts, and the counters are read at any moment, also while keys are moved."""
    config, library = device
    print(f"PENSTOCK_SEED={seed()}")
    timing, found = {"read_latency": 44, "write_latency": 22, "gap_permille": 0}, []
    names = ("find_moves", "find_keys", "find_moves")
    for where in (library, None):
        rng = random.Random(seed())
        session = engine.module().Session(
            {"device": twins.device(config, where, timing), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9}
        )
        session.start()
        keys = [find.key(1, number) for number in range(140 if share > 0.9 else 250)]
        for write in [*find.seed(config.headers.entries, rng.getrandbits(64)), *(write for key in keys for write in find.insert(key, 1))]:
            session.write(*write)
        seen = []
        for _ in range(500):
            key = rng.choice(keys)
            for write in find.insert(key, 3) if rng.random() < share else find.delete(key):
                session.write(*write)
            session.advance(session.now + rng.choice([5, 7, 20, 100, 101, 700, 900]))
            for _ in range(rng.choice([1, 1, 5])):
                seen.append((session.now, *(session.read(registers.address(name)) for name in names)))
        found.append(seen)
    differing = [(rtl, model) for rtl, model in zip(*found, strict=True) if rtl != model]
    assert not differing, f"{len(differing)} of {len(found[0])}, the first at {differing[0]}"
    assert found[0][-1][1] > 1000, "hardly a key was moved"


def test_engines_are_equal_beside_a_crowded_table(device: tuple[configs.Configuration, Path]) -> None:
    """A frame in every cycle beside commands that wait for moves of keys for more than 512 cycles: no traffic is stopped for them."""
    config, library = device
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    job, timing = twins.random_job(config, seed())
    keys = [find.key(1, number) for number in range(140)]
    writes = [*find.seed(config.headers.entries, rng.getrandbits(64)), *find.miss(config.headers.profiles, 3)]
    writes += [write for key in keys for write in find.insert(key, 1)]
    count = 20_000
    job["sources"] = [
        {
            "kind": "frames",
            "cycles": np.arange(count),
            "queues": np.full(count, ANY_QUEUE, dtype=np.uint32),
            "offsets": np.zeros(count, dtype=np.int64),
            "lengths": [60] * count,
            "stored": [60] * count,
            "data": np.zeros(60, dtype=np.uint8),
            "error": [0] * count,
        }
    ]
    job["register_writes"] = job["register_writes"] + writes
    changes = [find.insert(key, 2) if rng.random() < 0.7 else find.delete(key) for key in rng.choices(keys, k=100)]
    job["timed_register_writes"] = [(200 * number, *write) for number, change in enumerate(changes) for write in change]
    job |= {"ingress_bps": 0, "duration_cycles": count + 1000, "max_cycles": count + 200_000}
    rtl, model = (engine.run(job | {"device": twins.device(config, where, timing)}) for where in (library, None))
    assert twins.differences(rtl, model) == []
    assert rtl["packets"]["in"] == count


def longest(given: list[tuple[int, int, int, int]], key: int) -> int | None:
    """By definition: the queue of class 0 of the longest of these prefixes that the key begins with."""
    found = [(bits, base) for prefix, bits, base, _ in given if (key ^ prefix) >> (find.PREFIX_BITS - bits) == 0]
    return max(found)[1] if found else None


def packet(key: int) -> bytes:
    """Return a frame of 60 byte to the address that a key is of."""
    if key >> 64:
        address = (key & (1 << 64) - 1).to_bytes(8, "big")
        head = bytes(12) + struct.pack("!HIHBB", 0x86DD, 6 << 28, 6, 59, 64) + bytes(16) + address
    else:
        address = (key >> 32).to_bytes(4, "big")
        head = bytes(12) + struct.pack("!HBBHHHBBH", 0x0800, 0x45, 0, 46, 0, 0, 64, 17, 0) + bytes(4) + address
    return head.ljust(60, b"\0")


@pytest.mark.parametrize("where", ["rtl", "model"])
def test_prefixes_change_beside_traffic(routed: tuple[configs.Configuration, Path], where: str) -> None:
    """All prefixes are written anew again and again, and each frame whose longest prefix stays is in its queue all the time."""
    config, library = routed
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    base = lambda: rng.randrange(config.queues)  # noqa: E731
    tree = find.Prefixes(config.headers.prefix_levels)
    draw = lambda: 1 << 64 | rng.getrandbits(64) if rng.random() < 0.5 else rng.getrandbits(32) << 32  # noqa: E731
    keys, others = ([draw() for _ in range(30)] for _ in range(2))
    stay = prefixes(rng, 16, keys, base)
    known = {(key, bits) for key, bits, *_ in stay}
    sets = [[*stay, *(one for one in prefixes(rng, 15, others, base) if one[:2] not in known)] for _ in range(12)]
    wanted = {key: {longest(one, key) for one in sets} for key in (*keys, *others)}
    steady = {key: queues.pop() for key, queues in wanted.items() if len(queues) == 1}
    assert len(steady) > 10, "too few keys have the same prefix all the time"
    sent = rng.choices(list(steady), k=4000)
    changes = [list(tree.change(one)) for one in sets]
    job, timing = twins.random_job(config, seed())
    writes = [*find.seed(config.headers.entries, 1), *find.profile(0, find.KINDS["routed_destination"], 0), *find.classes(0, [0] * 64)]
    for queue in range(config.queues):
        writes += registers.queue_writes(queue, None, 0, 65_535, 1 << 24, config.clock_hz)
    job |= {
        "sources": [
            {
                "kind": "frames",
                "cycles": 20 * np.arange(len(sent)),
                "queues": [NO_QUEUE if steady[key] is None else steady[key] for key in sent],
                "offsets": 60 * np.arange(len(sent)),
                "lengths": [60] * len(sent),
                "stored": [60] * len(sent),
                "data": np.frombuffer(b"".join(map(packet, sent)), dtype=np.uint8),
                "error": [0] * len(sent),
            }
        ],
        "register_writes": writes + changes[0],
        "timed_register_writes": [(7000 * number, *write) for number, change in enumerate(changes[1:]) for write in change],
        "ingress_bps": 0,
        "egress_bps": 0,
        "duration_cycles": 20 * len(sent) + 1000,
        "max_cycles": 40 * len(sent) + 200_000,
    }
    result = engine.run(job | {"device": twins.device(config, library if where == "rtl" else None, timing)})
    assert_clean(result)
    lost = sum(steady[key] is None for key in sent)
    assert {reason: count for reason, count in result["packets"]["dropped"].items() if count} == ({"no_subscriber": lost} if lost else {})
    assert result["packets"]["out"] == len(sent) - lost > 1000


def test_commands_of_prefixes_are_refused(device: tuple[configs.Configuration, Path], routed: tuple[configs.Configuration, Path]) -> None:
    """A level, node, number or interval that the tree does not have; any of these commands without a tree."""
    timing = {"read_latency": 44, "write_latency": 22, "gap_permille": 0}
    accepted, index, none = (registers.refusal(name) for name in ("accepted", "bad_index", "no_command"))
    words = {"accepted": accepted, "bad_index": index}
    cases = [
        ("separator", 0 << 24 | 0 << 2 | 2, "accepted"),
        ("separator", 2 << 24 | 15 << 2 | 0, "accepted"),
        ("separator", 3 << 24, "bad_index"),
        ("separator", 255 << 24, "bad_index"),
        ("separator", 2 << 24 | 16 << 2, "bad_index"),
        ("separator", 0 << 24 | 1 << 2, "bad_index"),
        ("separator", 1 << 24 | 3, "bad_index"),
        ("interval", 63, "accepted"),
        ("interval", 64, "bad_index"),
        ("bank", 1, "accepted"),
    ]
    for (config, library), tree in ((device, False), (routed, True)):
        for where in (library, None):
            session = engine.module().Session(
                {"device": twins.device(config, where, timing), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9}
            )
            session.start()
            assert session.read(registers.address("find_prefix_levels")) == (3 if tree else 0)
            for command, item, expected in cases:
                session.write(registers.address("find_item"), item)
                session.write(registers.address("queue_command"), registers.command(f"find_{command}"))
                session.advance(session.now + 100)
                status = session.read(registers.address("status"))
                assert not status & registers.STATUS_BUSY
                assert status >> 4 & 7 == (words[expected] if tree else none), (config.name, command, item)
