"""A device held open against the same device in a run: whenever frames are offered, what comes out is the same. For any design."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.engine import engine
from penstock.testing.differences import differences

Job = dict[str, Any]
Frame = tuple[int, int, bytes, bool]  # cycle, queue, bytes, error


def drawn_frames(rng: random.Random, queues: int, most: int, until: int) -> list[Frame]:
    """Frames of all kinds for a device of so many queues that takes frames of up to `most` bytes; now and then nothing, or many at once."""
    found: list[Frame] = []
    cycle = 0
    while (cycle := cycle + rng.choice([0, 1, 3, 20, 20, 60, rng.randint(0, 4000)])) < until:
        length = rng.choice([0, 13, 14, 60, 61, 64, 125, 590, most, most + 1])
        queue = rng.randrange(min(queues, 6)) if rng.random() < 0.95 else queues
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
    return {k: v for k, v in job.items() if k not in keys} | {"sources": []}, job["duration_cycles"], job.get("timed_register_writes", [])


def play(job: Job, frames: list[Frame], rng: random.Random) -> tuple[Job, list[Job], list[Job]]:
    """Offer the frames in a session, some long before they arrive and some at the last moment, and not in order."""
    settings, duration, writes = split(job)
    session = engine.module().Session(settings)
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
    """Return one column of what was taken in parts."""
    return np.concatenate([part[key] for part in parts])


def same(one: Job, other: Job) -> None:
    """Two results are equal, but for the time they took."""
    assert differences(one, other) == []
    for key in ("conservation_ok", "findings", "memory", "bus", "counter_mismatches"):
        assert one[key] == other[key], (key, one[key], other[key])


def assert_session_equals_run(job: Job, frames: list[Frame], reasons: Sequence[str], rng: random.Random) -> Job:
    """`job` has all but its sources. A run that is given the frames, and a session that is offered them, have one result; return it.

    `reasons` are the device's drop reasons by number.
    """
    job = job | {"drain": False, "max_cycles": None}
    run = engine.run(job | {"sources": [as_source(frames)]})
    found, left, dropped = play(job, frames, rng)
    same(run, found)

    # What is said of each frame is what the totals say, and its bytes are those that were offered.
    queues = len(found["queue"]["in_packets"])
    for i, number_ in enumerate(joined(left, "number").tolist()):
        assert joined(left, "queue")[i] < queues, number_
    lengths = np.concatenate([np.diff(part["offsets"]) for part in left])
    assert lengths.tolist() == found["departures"]["length"].tolist()
    assert joined(left, "cycle").tolist() == found["departures"]["cycle"].tolist()
    assert joined(left, "latency").tolist() == found["latency_cycles"].tolist()
    counts = np.bincount(joined(dropped, "reason"), minlength=len(reasons))
    assert {reason: int(count) for reason, count in zip(reasons, counts, strict=True) if reason} == found["packets"]["dropped"]
    assert joined(dropped, "length").sum() == sum(found["bytes"]["dropped"].values())
    return found
