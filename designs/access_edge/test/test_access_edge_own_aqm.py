# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""AQMs that are compiled outside of the tree, in the device: told what ours are told, and judged by arithmetic on what came in and out."""

import random
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.registers import Aqm
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.hardware import part_model
from penstock.testing.own_aqm import BACKLOG_MARKER, OwnPart, write_part
from penstock.testing.testjobs import ip_frame, ip_frames
from penstock.testing.testkit import seed

Job = dict[str, Any]
TIMING = {"read_latency": 5, "write_latency": 2}
LENGTH = 100
CYCLES_PER_BYTE = 2  # of a queue at RATE in demo_codel_64, whose clock has 10 MHz
RATE = 40_000_000
SERVICE = LENGTH * CYCLES_PER_BYTE
AQM_DROP = 8


@pytest.fixture(scope="module")
def marker(tmp_path_factory: pytest.TempPathFactory) -> OwnPart:
    return write_part(tmp_path_factory.mktemp("own") / "step_marker")


def with_own(job: Job, part: OwnPart, numbers: dict[str, int] | None = None) -> Job:
    """The same device with this AQM."""
    library = part_model.library(part)
    given = {"name": part.name, "sees": part.sees, "library": str(library), "numbers": numbers or {}}
    model = job["device"]["model"] | {"aqm": given}
    return job | {"device": job["device"] | {"model": model}}


@pytest.mark.parametrize("name", ["tiny_codel_16", "tiny_estimate_16", "tiny_pie_16"])
def test_ours_from_a_library_do_the_same(name: str, tmp_path: Path) -> None:
    """CoDel and PIE, compiled against the headers and loaded, are those of the engine: equal results of random jobs, to the cycle."""
    config = configs.load(name)
    aqm = config.aqm
    header, of_class, sees = {
        "codel": ("codel/model/codel.hpp", "penstock::Codel", "departures"),
        "pie": ("pie/model/timed_pie.hpp", "penstock::TimedPie", "arrivals"),
    }[aqm]
    part = write_part(tmp_path / f"again_{aqm}", f'#include "blocks/aqm/{header}"\n', of_class, sees)
    rate, setting, gap = (
        (3 * 10**9, Aqm.of_halves(2, 2, ecn=True), 60) if aqm == "codel" else (5 * 10**8, Aqm.of_halves(5, 0, ecn=True), 24)
    )
    acted = 0
    for number in range(seed(), seed() + 8):
        job, timing = twins.random_job(config, number)
        job["device"] = twins.device(config, None, timing)
        if number == seed():  # overload of three queues, in which the AQM marks and drops
            writes = [write for q in range(3) for write in registers.queue_writes(q, rate, 0, 65_535, 16_777_215, config.clock_hz, setting)]
            source = ip_frames(random.Random(number), [0, 1, 2], 20_000, gap // 2)
            job |= {"register_writes": writes, "timed_register_writes": [], "sources": [source], "duration_cycles": None, "drain": True}
            job |= {"ingress_bps": 0, "egress_bps": 0, "max_cycles": None}
        ours = engine.run(job)
        theirs = engine.run(with_own(job, part, job["device"]["model"]["aqm"]["numbers"]))
        assert not (found := twins.differences(ours, theirs)), f"seed {number}: {found}"
        acted += ours["packets"]["dropped"]["aqm"] + ours["marked_packets"]
    assert acted > 50


@dataclass(frozen=True)
class Seen:
    """A frame and what became of it."""

    queue: int
    arrival: int  # cycle of its last bit
    end: int  # cycle in which its first bit left, or in which it was dropped
    ect: bool
    marked: bool
    dropped: bool


def session(part: OwnPart, tick_shift: int, settings: list[Aqm], estimate: bool = False, rate: int = RATE) -> Any:
    """A device with this AQM, and a queue at this rate for each setting; nothing else holds a frame up."""
    config = configs.load("demo_codel_64")
    unlimited = (65_535, 16_777_215)
    job = {
        "device": twins.device(config, None, TIMING),
        "ingress_bps": 0,
        "egress_bps": 0,
        "sources": [],
        "register_writes": [
            write
            for queue, aqm in enumerate(settings)
            for write in registers.queue_writes(queue, rate, 0, *unlimited, config.clock_hz, aqm)
        ],
    }
    job["device"]["model"] |= {"tick_shift": tick_shift, "aqm_estimate": estimate}
    held = engine.module().Session(with_own(job, part))
    held.start()
    return held


def play(held: Any, frames: list[tuple[int, int, bool]]) -> list[Seen]:
    """Offer frames (cycle, queue, whether it may be marked) and return what became of each, in order of arrival."""
    rng = random.Random(seed())
    data = {ect: ip_frame(rng, LENGTH, 2 if ect else 0).ljust(LENGTH, b"\0") for ect in (False, True)}
    numbers = {held.offer(cycle, queue, data[ect]): (queue, ect) for cycle, queue, ect in sorted(frames)}
    held.advance(frames[-1][0] + (1 << 32), until_empty=True)
    left, dropped = held.take_left(), held.take_dropped()
    assert set(dropped["reason"].tolist()) <= {AQM_DROP}
    seen: dict[int, Seen] = {}
    for number, cycle, latency, marked in zip(*(left[key].tolist() for key in ("number", "cycle", "latency", "marked")), strict=True):
        seen[number] = Seen(numbers[number][0], cycle - latency, cycle, numbers[number][1], bool(marked), False)
    arrivals = {number: cycle for number, (cycle, _, _) in zip(numbers, sorted(frames), strict=True)}
    late = {seen[number].arrival - arrivals[number] for number in seen}
    assert len(late) <= 3, "the last bit comes some cycles after a frame is offered"
    for number, cycle in zip(dropped["number"].tolist(), dropped["cycle"].tolist(), strict=True):
        seen[number] = Seen(numbers[number][0], arrivals[number] + min(late), cycle, numbers[number][1], False, True)
    assert len(seen) == len(frames)
    result = held.end()
    assert result["conservation_ok"], result["findings"]
    return [seen[number] for number in sorted(seen)]


def test_marks_begin_at_the_step_to_the_cycle(marker: OwnPart) -> None:
    """Ticks of one cycle: in each run the frames with a mark are those that waited longer than all others.

    The wait at which marks begin is the step and what a frame needs beside its queue: the same number of cycles whatever the step.
    """
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    least, most, marks = 0, 1000, 0  # what a frame needs beside its queue: from which number on it explains all marks, and to which
    for step in (150, 151, 180, 333, *(rng.randrange(100, 600) for _ in range(12))):
        cycle, frames = 0, []
        for _ in range(2000):
            cycle += rng.randrange(2 * SERVICE)  # as many frames as its rate allows
            frames.append((cycle, 0, True))
        seen = play(session(marker, 0, [Aqm.of_halves(step, 0, ecn=True)]), frames)
        marked, passed = ([frame.end - frame.arrival for frame in seen if frame.marked is mark] for mark in (True, False))
        assert max(passed) < min(marked), f"step {step}: waits overlap"
        least, most = max(least, max(passed) - step + 1), min(most, min(marked) - step)
        marks += len(marked)
    print(least, most, marks)
    assert 0 < least <= most < 60 and most - least < 3 and marks > 1000, (least, most)


@pytest.mark.parametrize("tick_shift", [0, 4])
@pytest.mark.parametrize("estimate", [False, True])
def test_step_marker_in_the_device(marker: OwnPart, estimate: bool, tick_shift: int) -> None:
    """Overload with pauses in queues with different steps: what waited at least a step is marked, or dropped where it may not be marked.

    How long it waited follows from when it came and went. With estimated delays it is the queue's bytes at its rate, from the frames that
    were there. Beside its queue a frame needs some cycles that are about the same for all; what is closer to a step than that is left out.
    """
    print(f"PENSTOCK_SEED={seed()}")
    rng, doubt = random.Random(seed()), 100
    steps = [2000, 2000, 5000, 700, 3000]
    settings = [Aqm.of_halves(step >> tick_shift, rng.randrange(1 << 18), ecn=n != 1, enable=n != 4) for n, step in enumerate(steps)]
    frames = []
    for queue in range(len(steps)):
        cycle, pause = rng.randrange(1000), 50
        for n in range(1500):
            pause = rng.randrange(20, 120) if n % 100 == 0 else pause
            gap = rng.uniform(0.3, 0.9) if n % 100 < pause else rng.uniform(1, 4)
            cycle += round(SERVICE * gap)
            frames.append((cycle, queue, rng.random() < 0.6))
    seen = play(session(marker, tick_shift, settings, estimate), sorted(frames))
    way = min(frame.end - frame.arrival for frame in seen if not frame.dropped)  # of a frame that does not wait
    counts = {"passed": 0, "marked": 0, "dropped": 0, "in doubt": 0}
    for queue, aqm in enumerate(settings):
        own = [frame for frame in seen if frame.queue == queue]
        for n, frame in enumerate(own):
            taken = frame.end - (0 if frame.dropped else way)  # about: the same cycle by the clock of the arrivals
            waited = [taken - frame.arrival]
            if estimate:
                # Frames in the queue when it is taken, itself included; those that come about then may be in it or not.
                there = [sum(other.arrival <= taken + off for other in own[n:]) for off in (-doubt, doubt)]
                waited = [max(1, count) * SERVICE for count in there]
            step = aqm.halves[0] << tick_shift
            slack = (1 << tick_shift) if estimate else doubt
            high = {wait >= step for wait in waited} if min(abs(wait - step) for wait in waited) >= slack else {True, False}
            if aqm.enable and len(high) > 1:
                counts["in doubt"] += 1
                continue
            fate = "passed" if not aqm.enable or high == {False} else "marked" if aqm.ecn and frame.ect else "dropped"
            given = "dropped" if frame.dropped else "marked" if frame.marked else "passed"
            assert given == fate, f"queue {queue}, frame {n}: {given}, waited {waited}, step {step}, seed {seed()}"
            counts[fate] += 1
    print(counts)
    assert min(counts["passed"], counts["marked"], counts["dropped"]) > 200 and counts["in doubt"] < 0.3 * len(seen), counts


def test_backlog_marker_at_arrivals(tmp_path: Path) -> None:
    """An AQM that judges arrivals is told the bytes that the latest departure left; what it marks keeps its mark, what it drops is gone.

    Who was there when, follows from when frames came and went; what is closer together than the cycles on the way is left out.
    """
    print(f"PENSTOCK_SEED={seed()}")
    part = write_part(tmp_path / "backlog_marker", BACKLOG_MARKER, "penstock::BacklogMarker", "arrivals")
    rng, slower, doubt = random.Random(seed()), 10, 60
    limits = [LENGTH * 4, LENGTH * 4, LENGTH * 9 + 1, LENGTH, LENGTH]
    settings = [Aqm.of_halves(limit, rng.randrange(1 << 18), ecn=n != 1, enable=n != 4) for n, limit in enumerate(limits)]
    frames = []
    for queue in range(len(limits)):
        cycle = rng.randrange(1000)
        for n in range(1500):
            cycle += round(slower * SERVICE * (rng.uniform(0.3, 0.9) if n % 60 < 30 else rng.uniform(0.8, 2.5)))
            frames.append((cycle, queue, rng.random() < 0.6))
    seen = play(session(part, 4, settings, rate=RATE // slower), sorted(frames))
    way = min(frame.end - frame.arrival for frame in seen if not frame.dropped)
    counts = {"passed": 0, "marked": 0, "dropped": 0, "in doubt": 0}
    for queue, aqm in enumerate(settings):
        own = [frame for frame in seen if frame.queue == queue]
        came = [frame.arrival for frame in own if not frame.dropped]
        taken = [frame.end - way for frame in own if not frame.dropped]
        for n, frame in enumerate(own):
            gone = {bisect_right(taken, frame.arrival + off) for off in (-doubt, doubt)}
            left = [max(0, bisect_right(came, taken[count - 1] + off) - count) if count else 0 for count in gone for off in (-doubt, doubt)]
            high = aqm.enable and left[0] * LENGTH >= aqm.halves[0]
            if aqm.enable and any((other * LENGTH >= aqm.halves[0]) != high for other in left):
                counts["in doubt"] += 1
                continue
            fate = "passed" if not high else "marked" if aqm.ecn and frame.ect else "dropped"
            given = "dropped" if frame.dropped else "marked" if frame.marked else "passed"
            assert given == fate, f"queue {queue}, frame {n}: {given}, not {fate}, seed {seed()}"
            counts[fate] += 1
    print(counts)
    assert min(counts["passed"], counts["marked"], counts["dropped"]) > 200 and counts["in doubt"] < 0.15 * len(seen), counts


@pytest.mark.parametrize(
    ("aqm", "words"),
    [
        ({"name": "red", "sees": "departures"}, r"device\.model\.aqm: the engine has no AQM red \(it has cobalt, codel, dualpi2, pie\)"),
        ({"name": "codel", "sees": "both"}, r"device\.model\.aqm\.sees is departures or arrivals"),
        ({"sees": "departures"}, r"device\.model\.aqm\.name is missing"),
        ({"name": "codel", "sees": "departures", "library": "/nowhere.so"}, r"device\.model\.aqm: the AQM's model does not load: /nowhere"),
        ({"name": "codel", "sees": "departures", "numbers": {"tick_shift": 3}}, r"aqm\.numbers\.tick_shift is given by the device itself"),
        ({"name": "codel", "sees": "departures", "numbers": {"x": "y"}}, r"device\.model\.aqm\.numbers\.x has a wrong type"),
        ({"name": "pie", "sees": "arrivals", "numbers": {"update_ticks": 0}}, r"AQM pie: the AQM's update_ticks must be at least 1"),
        ({"name": "codel", "sees": "departures", "colour": "red"}, r"device\.model\.aqm\.colour is not a key of a job"),
        ("codel", r"device\.model\.aqm is not a dictionary"),
    ],
)
def test_jobs_that_name_no_aqm(aqm: object, words: str) -> None:
    job, timing = twins.random_job(configs.load("tiny_codel_16"), 1)
    job["device"] = twins.device(configs.load("tiny_codel_16"), None, timing)
    job["device"]["model"]["aqm"] = aqm
    with pytest.raises(ValueError, match=words):
        engine.run(job)


def test_the_register_of_features_tells_them_apart(marker: OwnPart) -> None:
    """Ours have their numbers; all others have one."""
    mask = registers.word("features", aqm=3)
    for name, part, expected in (("tiny_16", None, 0), ("tiny_codel_16", None, 1), ("tiny_pie_16", None, 2), ("tiny_codel_16", marker, 3)):
        job = {"device": twins.device(configs.load(name), None, TIMING), "sources": []}
        session = engine.module().Session(with_own(job, part) if part else job)
        assert session.read(registers.address("features")) & mask == registers.word("features", aqm=expected)
