# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What is measured of an access edge alone: its own counters are compared, and lateness is exact. Arithmetic by hand, on the stand-in.

At 125 MHz and 1 Gbit/s a byte takes a cycle on the line and a frame 24 more, so a frame that begins in cycle S has its last bit at S + L.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.engine import engine
from penstock.paths import ROOT
from penstock.testing import teststand
from penstock.testing.testjobs import assert_clean, constant
from penstock.testing.teststand import AQM_FRAMES, AQM_ORDERS, STAYS, MakeJob, recorded, run

Job = dict[str, Any]

# enum Fault of stand_in.cpp
MISCOUNT_QUEUE = 6
MISCOUNT_AQM, MISCOUNT_QUEUE_AQM, MISCOUNT_QUEUE_DROPS, MISCOUNT_QUEUE_IN, MISCOUNT_MARKS, MISCOUNT_QUEUE_MARKS = range(16, 22)
MISCOUNT_BYTES, MISCOUNT_HIGH = 22, 23
READ_ERRORS = -1  # no fault of stand_in.cpp, which never reports a read error: compiled with a counter of them that is 1

# ---- the device's counters

COUNTS = "{}: the device counts {} packets, {} bytes, the engine has seen {} packets, {} bytes"


@pytest.mark.parametrize(
    ("fault", "findings"),
    [
        (MISCOUNT_AQM, [("drop counter aqm", 4, 402, 2, 201)]),
        # Of three drops four are the AQM's: two comparisons fail, the second one by a difference below 0.
        (MISCOUNT_QUEUE_AQM, [("queue 3 dropped by the AQM", 4, 402, 2, 201), ("queue 3 dropped, but not by the AQM", -1, -99, 1, 102)]),
        (MISCOUNT_QUEUE_DROPS, [("queue 3 dropped", 6, 606, 3, 303), ("queue 3 dropped, but not by the AQM", 4, 405, 1, 102)]),
        (MISCOUNT_QUEUE_IN, [("queue 3 in", 6, 614, 3, 307)]),
        (MISCOUNT_MARKS, [("marked packets", 2, 0, 1, 0)]),
        (MISCOUNT_QUEUE_MARKS, [("queue 3 marked", 2, 0, 1, 0)]),
        (MISCOUNT_BYTES, [("queue 3 out", 2, 209, 2, 207)]),
        (MISCOUNT_HIGH, [("drop counter runt", 1 << 32, 0, 0, 0)]),
        (READ_ERRORS, [("drop counter read_error", 1, 0, 0, 0)]),  # the last of the reasons
    ],
)
def test_every_counter_is_compared(
    stand_in_job: MakeJob, fault: int, findings: list[tuple[str, int, int, int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each counter of the device is wrong alone, and that is said and nothing else."""
    if fault == READ_ERRORS:
        make = teststand.maker(stand_in_job([])["device"] | {"library": with_read_errors(tmp_path, monkeypatch)})
        result = run(make, AQM_FRAMES, AQM_ORDERS)
    else:
        result = run(stand_in_job, AQM_FRAMES, AQM_ORDERS, fault)
    words = [COUNTS.format(name, *(number % (1 << 64) for number in numbers)) for name, *numbers in findings]
    assert result["findings"] == words
    assert result["counter_mismatches"] == len(words) and not result["conservation_ok"]


def with_read_errors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the library of a stand-in that has counted one read error."""
    text = (ROOT / "engine/test/stand_in.cpp").read_text()
    first = "if (address == 0x008) return kQueues;"
    assert text.count(first) == 1
    (folder / "engine/test").mkdir(parents=True)
    (folder / "engine/include").symlink_to(ROOT / "engine/include")
    (folder / "engine/test/stand_in.cpp").write_text(text.replace(first, f"if (address == 0x1B0) return 1;\n{first}"))
    monkeypatch.setattr(teststand, "ROOT", folder)
    return teststand.library()


def test_the_counters_of_queues_are_compared(stand_in_job: MakeJob) -> None:
    sources = [constant(bps=20e9), constant(bps=1e8, size=10)]
    result = engine.run(stand_in_job(sources, MISCOUNT_QUEUE, 20, sample_queues=[3]))
    assert result["counter_mismatches"] > 0 and any("queue 3 out" in text for text in result["findings"])
    assert not result["conservation_ok"]


def test_wrong_device_is_refused(stand_in_job: MakeJob) -> None:
    job = stand_in_job([constant()])
    with pytest.raises(ValueError, match="the device has 16 queues, the job 8"):
        engine.run(job | {"device": job["device"] | {"queues": 8}})
    with pytest.raises(ValueError, match="the device has 1 memories, the job 2"):
        engine.run(job | {"device": job["device"] | {"memories": [{"bytes": 64}] * 2}})


# ---- lateness


UNSHAPED, CLOSED = 1, 0
TEN_CYCLES_A_BYTE = 19 << 16 | 40_960  # 10 * 2^16 in units of 2^-16 cycles: 40,960 * 2^(19 - 15)


def lateness_run(make: MakeJob, frames: list[tuple[int, int, int, int]], end: int, from_cycle: int = 0) -> Job:
    """Frames are (queue, first bit, bytes, cycles from last bit to first bit); the output line has 800 Mbit/s: 1.25 cycles a byte."""
    orders = [write for n, frame in enumerate(frames, 1) for write in teststand.dictate(n, frame[3])]
    shapers = np.array([UNSHAPED, TEN_CYCLES_A_BYTE, CLOSED] + 13 * [UNSHAPED], dtype=np.uint64)
    keys = {"egress_bps": 8e8, "duration_cycles": end, "max_cycles": end, "drain": False}
    source = recorded([frame[:3] for frame in frames])
    return run(make, source, orders, lateness={"shapers": shapers, "from_cycle": from_cycle}, **keys)


LATE_FRAMES = [
    (0, 0, 501, 21),  # enqueued in cycle 502, sent in 522: 20 late
    (0, 525, 100, 21),  # the ideal server's line is free at 502 + 525 * 1.25 = 1158.25, the device's at 1178.25: 19.75, so 20
    (0, 10_000, 100, 1),  # leaves in the cycle of its enqueueing: 0
    (0, 20_000, 100, 31),  # 30
    (1, 30_000, 200, 40),  # 39; the next of this queue may leave 2,000 cycles later, less 1,024: at 30,201 + 976 = 31,177
    (1, 30_300, 200, 700),  # leaves in 31,200: 23
    (0, 40_000, 100, STAYS),  # enqueued in 40,101: at the end, in 50,000, 9,899 late
    (2, 41_000, 100, STAYS),  # a closed gate: never late
]


def test_lateness(stand_in_job: MakeJob) -> None:
    result = lateness_run(stand_in_job, LATE_FRAMES, 50_000)
    assert_clean(result)
    found = dict(zip(result["lateness"]["cycles"].tolist(), result["lateness"]["frames"].tolist(), strict=True))
    assert found == {0: 1, 20: 2, 23: 1, 30: 1, 39: 1, 9899: 1} and result["lateness"]["left"] == 1 and result["early"] == 0


@pytest.mark.parametrize(("from_cycle", "frames"), [(20_131, 4), (20_132, 3)])
def test_lateness_begins_with_the_cycle_that_is_asked_for(stand_in_job: MakeJob, from_cycle: int, frames: int) -> None:
    """The fourth frame leaves in cycle 20,131."""
    result = lateness_run(stand_in_job, LATE_FRAMES, 50_000, from_cycle)
    assert result["lateness"]["frames"].sum() == frames


@pytest.mark.parametrize(("wait", "early"), [(677, 0), (676, 1)])
def test_the_earliest_departure_time_is_exact(stand_in_job: MakeJob, wait: int, early: int) -> None:
    """The second frame of the shaped queue comes in 30,500 and may leave in 31,177, not before."""
    frames = [*LATE_FRAMES[4:5], (1, 30_300, 200, wait)]
    result = lateness_run(stand_in_job, frames, 50_000)
    assert result["early"] == early and (result["findings"] == []) == (early == 0)
