# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Sessions: a device held open gives what a run gives, whenever frames are offered; and what comes in may depend on what went out."""

import random
from typing import Any

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.testing.testkit import seed

Job = dict[str, Any]
Frame = tuple[int, int, bytes, bool]  # cycle, queue, bytes, error
REASONS = ("", "runt", "oversize", "bad_queue_id", "bad_frame", "no_page", "tail_drop_packets", "tail_drop_bytes", "aqm", "", "no_share")


@pytest.fixture(scope="module")
def native() -> Any:
    """The module `penstock._engine`."""
    return engine.module()


def drawn_frames(rng: random.Random, config: configs.Configuration, until: int) -> list[Frame]:
    """Frames of all kinds, in order of time; now and then nothing, now and then many at once."""
    found: list[Frame] = []
    cycle = 0
    while (cycle := cycle + rng.choice([0, 1, 3, 20, 20, 60, rng.randint(0, 4000)])) < until:
        length = rng.choice([0, 13, 14, 60, 61, 64, 125, 590, config.max_frame_bytes, config.max_frame_bytes + 1])
        queue = rng.randrange(min(config.queues, 6)) if rng.random() < 0.95 else config.queues
        found.append((cycle, queue, rng.randbytes(length), rng.random() < 0.05))
    return found


def as_source(frames: list[Frame]) -> Job:
    """The same as a source of a run."""
    return {
        "kind": "frames",
        "cycles": [frame[0] for frame in frames],
        "queues": np.array([frame[1] for frame in frames], dtype=np.uint32),
        "offsets": np.cumsum([0, *(len(frame[2]) for frame in frames)])[:-1],
        "lengths": [len(frame[2]) for frame in frames],
        "stored": [len(frame[2]) for frame in frames],
        "data": np.frombuffer(b"".join(frame[2] for frame in frames) + b"\0", dtype=np.uint8),
        "error": [int(frame[3]) for frame in frames],
    }


def split(job: Job) -> tuple[Job, int, list[tuple[int, int, int]]]:
    """A job for a session, its duration, and the register writes that come while the clock is on."""
    keys = ("sources", "duration_cycles", "drain", "max_cycles", "quiet_cycles", "timed_register_writes")
    return {k: v for k, v in job.items() if k not in keys} | {"sources": []}, job["duration_cycles"], job["timed_register_writes"]


def play(native: Any, job: Job, frames: list[Frame], rng: random.Random) -> tuple[Job, list[Job], list[Job]]:
    """Offer the frames in a session, some long before they arrive and some at the last moment, and not in order."""
    settings, duration, writes = split(job)
    session = native.Session(settings)
    session.start()
    moments = sorted({duration, *(write[0] for write in writes), *(rng.randrange(duration) for _ in range(rng.choice([1, 10, 300])))})
    early = {frame[0]: rng.choice([0, 0, 50, 10_000]) for frame in frames}  # those of one cycle are offered in their order
    waiting = sorted((max(0, frame[0] - early[frame[0]]), i) for i, frame in enumerate(frames))
    left, dropped = [], []
    for moment in moments:
        # What would be offered before the next moment is offered now, in an order that is not that of the arrivals.
        while waiting and waiting[0][0] < moment:
            frame = frames[waiting.pop(0)[1]]
            session.offer(frame[0], frame[1], frame[2], error=frame[3])
        assert session.advance(moment) == moment == session.now
        for _, address, value in [write for write in writes if write[0] == moment]:
            session.write(address, value)
        if rng.random() < 0.5:
            left.append(session.take_left())
            dropped.append(session.take_dropped())
    left.append(session.take_left())
    dropped.append(session.take_dropped())
    return session.end(), left, dropped


def joined(parts: list[Job], key: str) -> np.ndarray:
    return np.concatenate([part[key] for part in parts])


def same(one: Job, other: Job) -> None:
    """Two results are equal, but for the time they took."""
    assert twins.differences(one, other) == []
    for key in ("conservation_ok", "findings", "memory", "bus", "counter_mismatches"):
        assert one[key] == other[key], key


def check_session_against_run(native: Any, config: configs.Configuration, library: str | None, number: int) -> None:
    rng = random.Random(number)
    job, timing = twins.random_job(config, number)
    job |= {"device": twins.device(config, library, timing), "drain": False, "max_cycles": None}
    frames = drawn_frames(rng, config, job["duration_cycles"])
    run = engine.run(job | {"sources": [as_source(frames)]})
    found, left, dropped = play(native, job, frames, rng)
    same(run, found)

    # What is said of each frame is what the totals say, and its bytes are those that were offered.
    for i, number_ in enumerate(joined(left, "number").tolist()):
        assert joined(left, "queue")[i] < config.queues, number_
    lengths = np.concatenate([np.diff(part["offsets"]) for part in left])
    assert lengths.tolist() == found["departures"]["length"].tolist()
    assert joined(left, "cycle").tolist() == found["departures"]["cycle"].tolist()
    assert joined(left, "latency").tolist() == found["latency_cycles"].tolist()
    counts = np.bincount(joined(dropped, "reason"), minlength=len(REASONS))
    assert {reason: int(count) for reason, count in zip(REASONS, counts, strict=True) if reason} == found["packets"]["dropped"]
    assert joined(dropped, "length").sum() == sum(found["bytes"]["dropped"].values())


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("name", ["tiny_16", "tiny_codel_16", "tiny_pie_16", "tiny_share_16", "tree_64"])
def test_session_on_the_model(native: Any, name: str, part: int) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    for number in range(4):
        check_session_against_run(native, configs.load(name), None, seed() + 100 * part + number)


@pytest.mark.parametrize("number", range(3))
def test_session_on_the_rtl(native: Any, tiny: tuple[configs.Configuration, str], number: int) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    check_session_against_run(native, tiny[0], tiny[1], seed() + number)


def answer(native: Any, config: configs.Configuration, library: str | None, number: int, step: int) -> list[tuple[int, ...]]:
    """Each frame that leaves is answered by one or two others after a while, as acknowledgements let a sender go on. Returns departures."""
    rng = random.Random(number)
    job, timing = twins.random_job(config, number)
    if number % 2 == 0:
        job["ingress_bps"] = 0  # as fast as the bus: a frame's first beat is there in the cycle of its arrival
    settings, _, _ = split(job | {"device": twins.device(config, library, timing), "register_writes": []})
    session = native.Session(settings)
    session.start()
    for cycle in range(0, 400, 40):
        session.offer(cycle, rng.randrange(4), rng.randbytes(rng.choice([60, 590, 1500])))
    seen: list[tuple[int, ...]] = []
    while session.now < 30_000:
        session.advance(session.now + step)
        left = session.take_left()
        for frame, cycle, queue in zip(left["number"].tolist(), left["cycle"].tolist(), left["queue"].tolist(), strict=True):
            seen.append((frame, cycle, queue))
            for _ in range(rng.choice([0, 1, 1, 2])):
                session.offer(session.now + rng.choice([0, 1, 2, 500]), (queue + 1) % 4, rng.randbytes(rng.choice([60, 590, 1500])))
        for _ in range(rng.choice([0, 0, 0, 1, 3])):  # they take cycles, in which frames go on
            for address, value in twins.registers.queue_writes(rng.randrange(4), None, 0, 100, 100_000, config.clock_hz, None):
                session.write(address, value)
        if rng.random() < 0.3:
            session.read(0x8)
    left = session.take_left()  # what left during the last of these
    seen += zip(left["number"].tolist(), left["cycle"].tolist(), left["queue"].tolist(), strict=True)
    result = session.end()
    assert result["conservation_ok"] and result["findings"] == []
    assert len(seen) == result["packets"]["out"] > 20
    return seen


@pytest.mark.parametrize("number", range(3))
def test_what_comes_in_depends_on_what_went_out(native: Any, tiny: tuple[configs.Configuration, str], number: int) -> None:
    """Model and RTL agree to the cycle, although neither can know what will be offered."""
    print(f"PENSTOCK_SEED={seed()}")
    step = random.Random(seed() + number).choice([1, 13, 64, 1000])
    assert answer(native, tiny[0], None, seed() + number, step) == answer(native, tiny[0], tiny[1], seed() + number, step)


def test_registers_in_the_middle(native: Any) -> None:
    """A closed gate holds what is offered, and opens when it is told to."""
    config = configs.load("tiny_16")
    session = native.Session({"device": twins.device(config, None, {}), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9})
    for address, value in twins.registers.queue_writes(3, 0, 0, 100, 100_000, config.clock_hz, None):
        session.write(address, value)
    session.start()
    first = session.offer(0, 3, b"\1" * 60)
    second = session.offer(0, 3, b"\2" * 61)
    session.advance(5000)
    assert session.take_left()["number"].size == 0
    assert session.totals()["packets"]["queued"] == 2
    for address, value in twins.registers.queue_writes(3, None, 0, 100, 100_000, config.clock_hz, None):
        session.write(address, value)
    assert session.advance(100_000, until_empty=True) < 6000
    left = session.take_left()
    assert left["number"].tolist() == [first, second]
    assert bytes(left["data"]) == b"\1" * 60 + b"\2" * 61
    assert session.totals()["latency_histogram"]["count"] == 2
    assert session.end()["drained"]


def test_until_empty_returns_at_once(native: Any) -> None:
    session = native.Session({"device": twins.device(configs.load("tiny_16"), None, {}), "sources": []})
    session.start()
    assert session.advance(10**6, until_empty=True) == 0
    session.offer(500, 1, bytes(60))
    assert 500 < session.advance(10**6, until_empty=True) < 1000
    assert session.end()["packets"]["out"] == 1


def test_misuse_is_refused(native: Any) -> None:
    settings = {"device": twins.device(configs.load("tiny_16"), None, {}), "sources": []}
    for wrong in ({"duration_cycles": 5}, {"drain": True}, {"timed_register_writes": [(0, 0x40, 1)]}):
        with pytest.raises(ValueError, match="a session has no sources"):
            native.Session(settings | wrong)
    session = native.Session(settings)
    for early in (lambda: session.advance(5), lambda: session.offer(0, 0, b"")):
        with pytest.raises(ValueError, match="has not started"):
            early()
    session.start()
    session.advance(100)
    with pytest.raises(ValueError, match="in the past"):
        session.offer(99, 0, bytes(60))
    with pytest.raises(ValueError, match="the clock goes on"):
        session.advance(99)
    with pytest.raises(ValueError, match="65,535"):
        session.offer(200, 0, bytes(65_536))
    with pytest.raises(ValueError, match="started already"):
        session.start()
    session.end()
    for late in (session.end, session.start, lambda: session.advance(200), lambda: session.read(0), lambda: session.write(0, 0)):
        with pytest.raises(ValueError, match="has ended"):
            late()


def test_ctrl_c_leaves_the_session_usable(native: Any) -> None:
    session = native.Session({"device": twins.device(configs.load("tiny_16"), None, {}), "sources": []})
    session.start()
    session.offer(0, 0, bytes(60))
    with pytest.raises(KeyboardInterrupt):
        session.advance(1 << 45, progress=lambda now: False)
    now = session.now
    session.offer(now, 0, bytes(60))
    session.advance(now + 1000)
    assert session.end()["packets"]["out"] == 2
