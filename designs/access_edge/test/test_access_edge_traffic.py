# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The RTL of the smallest configuration in the engine: a whole device, every byte compared."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock.engine import engine
from penstock.testing.testjobs import assert_clean, constant, frames
from penstock.testing.testkit import seed

Job = dict[str, Any]
MakeJob = Callable[..., Job]

CLOCK_HZ = 220_000_000
MIX = [(60, 7), (570, 4), (1514, 1)]
QUEUE_INDEX, QUEUE_RATE, QUEUE_BURST, QUEUE_LIMIT_PACKETS, QUEUE_LIMIT_BYTES, QUEUE_COMMAND = range(0x40, 0x58, 4)


def settings(queue: int, rate: tuple[int, int] = (1, 0), packets: int = 65_535, size: int = 16_777_215) -> list[tuple[int, int]]:
    """Register writes that set one queue; rate is (mantissa, exponent)."""
    values = (queue, rate[1] << 16 | rate[0], 0, packets, size, 1)
    return list(zip((QUEUE_INDEX, QUEUE_RATE, QUEUE_BURST, QUEUE_LIMIT_PACKETS, QUEUE_LIMIT_BYTES, QUEUE_COMMAND), values, strict=True))


def rate_code(bps: float) -> tuple[int, int]:
    """Mantissa and exponent of a rate: period = mantissa * 2^(exponent - 15), in 2^-16 cycles a byte."""
    period = 8 * CLOCK_HZ / bps * 65_536
    exponent = math.floor(math.log2(period))
    return round(period / 2 ** (exponent - 15)), exponent


def all_kinds() -> list[Job]:
    """One source of each kind, bad frames among them."""
    return [
        frames(random.Random(seed()), 300, mean_gap=60),
        {"kind": "poisson", "queues": range(16), "pick": "each", "bps": 2e9, "sizes": MIX},
        {"kind": "onoff", "queues": [1, 5], "pick": "random", "bps": 30e9, "sizes": MIX, "on_cycles": 500, "off_cycles": 900},
        constant(range(16), bps=3e9, size=64),
        constant([3, 99], bps=5e8, size=1600),
    ]


@pytest.mark.parametrize(("valid", "ready"), [(1000, 1000), (600, 1000), (1000, 500), (700, 700)])
def test_all_kinds_of_traffic(tiny_job: MakeJob, valid: int, ready: int) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    result = engine.run(tiny_job(all_kinds(), valid_permille=valid, ready_permille=ready))
    assert_clean(result)
    assert result["drained"]
    assert all(result["packets"]["dropped"][reason] for reason in ("runt", "oversize", "bad_queue_id", "bad_frame"))
    assert result["packets"]["out"] > 500


def test_more_than_the_memories_hold(tiny_job: MakeJob) -> None:
    """Two shaped queues run into their limits; later the output takes a tenth of what comes, and pages run out."""
    writes = settings(2, rate_code(100e6), packets=3) + settings(4, rate_code(100e6), size=2000)
    first = constant([2, 4], bps=5e9, size=300, stop_cycle=6000)
    flood = {"kind": "poisson", "queues": range(16), "pick": "random", "bps": 50e9, "sizes": MIX, "start_cycle": 8000}
    result = engine.run(tiny_job([first, flood], egress_bps=5e9, register_writes=writes))
    assert_clean(result)
    dropped = result["packets"]["dropped"]
    assert all(dropped[reason] for reason in ("no_page", "tail_drop_packets", "tail_drop_bytes")), dropped
    assert result["drained"]


def test_shaped_queue_keeps_its_rate(tiny_job: MakeJob) -> None:
    source = constant([6], bps=2e8, size=500)
    result = engine.run(tiny_job([source], duration_cycles=300_000, register_writes=settings(6, rate_code(100e6), packets=8)))
    assert_clean(result)
    departures = result["departures"]["cycle"]
    late = departures[len(departures) // 2 :]
    rate = 500 * 8 * (len(late) - 1) / (late[-1] - late[0]) * CLOCK_HZ
    assert rate == pytest.approx(100e6, rel=0.005)
    assert result["packets"]["dropped"]["tail_drop_packets"] > 10


def shaped_run(tiny_job: MakeJob, told: tuple[int, int] | None = None) -> Job:
    """Run one backlogged queue of 100 Mbit/s with lateness measured; `told`: the rate that the ideal server believes in."""
    rate, unshaped = rate_code(100e6), 1
    code = (told or rate)[1] << 16 | (told or rate)[0]
    lateness = {"shapers": [code if queue == 6 else unshaped for queue in range(16)]}
    writes = settings(6, rate, packets=8)
    return engine.run(
        tiny_job([constant([6], bps=2e8, size=500, start_cycle=5000)], duration_cycles=600_000, register_writes=writes, lateness=lateness)
    )


def test_lateness_is_what_departures_are_behind_the_period(tiny_job: MakeJob) -> None:
    """A backlogged queue: frame i may leave i periods of 8,800 cycles, less 1,024 of credit, after the first, which left at once."""
    result = shaped_run(tiny_job)
    assert_clean(result)
    left = result["departures"]["cycle"]
    behind = left - 8800 * np.arange(len(left)) + 1024 * (np.arange(len(left)) > 0)
    late = np.repeat(result["lateness"]["cycles"], result["lateness"]["frames"].astype(int))
    assert len(late) == len(behind) > 60
    assert np.abs(np.sort(late) - np.sort(behind) - np.median(late - np.sort(behind))).max() <= 24  # the device decides some cycles late
    assert result["early"] == 0 and late.min() > 0


def test_a_shaper_that_is_too_fast_is_found(tiny_job: MakeJob) -> None:
    """The device shapes at 100 Mbit/s; a check for 99.9 sees frames leave early, one for 101 sees them late."""
    fast = shaped_run(tiny_job, rate_code(99.9e6))
    assert fast["early"] > 50 and any("before its earliest departure time" in words for words in fast["findings"])
    slow = shaped_run(tiny_job, rate_code(101e6))
    assert slow["early"] == 0 and slow["lateness"]["cycles"].max() > 50 * 87


def test_closed_gate_keeps_frames(tiny_job: MakeJob) -> None:
    """Rate 0 holds a queue without loss; the counters are right although frames stay, and opening it lets them go."""
    source = constant([6, 7], bps=1e9, size=100, stop_cycle=4000)
    closed = engine.run(tiny_job([source], register_writes=settings(6, (0, 0)), quiet_cycles=20_000))
    assert closed["conservation_ok"] and not closed["drained"]
    assert closed["packets"]["queued"] == closed["queue"]["in_packets"][6] > 0
    opening = [(20_000, address, value) for address, value in settings(6)]
    opened = engine.run(tiny_job([source], register_writes=settings(6, (0, 0)), timed_register_writes=opening))
    assert_clean(opened)
    assert opened["drained"] and 20_000 < opened["queue"]["first_departure"][6] < 21_000


def test_counters_hold_in_mid_traffic(tiny_job: MakeJob) -> None:
    result = engine.run(tiny_job(all_kinds(), drain=False, max_cycles=10_000, ready_permille=300))
    assert_clean(result)
    assert result["cycles"] == 10_000 and result["packets"]["queued"] > 0


def test_a_flipped_bit_in_memory_is_found(tiny_job: MakeJob) -> None:
    result = engine.run(tiny_job([constant(range(16), size=1000)], fault={"memory_flip_byte": 200}))
    assert result["payload_errors"] == 1 and "comes out changed" in result["findings"][0]


def test_same_seed_same_result(tiny_job: MakeJob) -> None:
    one, two = (engine.run(tiny_job(all_kinds(), ready_permille=800)) for _ in range(2))
    other = engine.run(tiny_job(all_kinds(), ready_permille=800, seed=seed() + 1))
    assert np.array_equal(one["latency_cycles"], two["latency_cycles"]) and one["cycles"] == two["cycles"]
    assert one["packets"] != other["packets"] or not np.array_equal(one["latency_cycles"], other["latency_cycles"])


def test_interrupted_run_has_a_result(tiny_job: MakeJob) -> None:
    calls = 0

    def progress(_: dict[str, Any]) -> bool:
        nonlocal calls
        calls += 1
        return calls < 3

    result = engine.run(tiny_job(all_kinds(), duration_cycles=10**9, max_cycles=None), progress)
    assert result["interrupted"] and result["conservation_ok"] and result["counter_mismatches"] == 0
