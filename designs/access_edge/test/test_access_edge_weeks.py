# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Clocks that go on for weeks: what happens then is what happens at the beginning, cycle by cycle, up to the end of the clock."""

import random
from typing import Any

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.testing.testkit import seed

Job = dict[str, Any]

END = 2**52  # kMaxCycles: more than 14 weeks at 500 MHz
WEEK = 7 * 86_400 * 500_000_000
# The model's walks, wheels and clocks of queues are in the same state again after a multiple of this; stamps have 64 bits, which are 2^48
# cycles: moments around a half and a whole of it, and with more and less between them.
PHASE = 2**34
MOMENTS = [cycle // PHASE * PHASE for cycle in (2**40, 2**46, 2**47 - PHASE, 2**47, 2**48, 4 * WEEK, 2**51 + 2**47, END - PHASE)]


def held(config: configs.Configuration, number: int) -> Any:
    """A session on the model, with random settings of queues and parents."""
    job, timing = twins.random_job(config, number)
    keys = ("sources", "duration_cycles", "drain", "max_cycles", "quiet_cycles", "timed_register_writes")
    settings = {key: value for key, value in job.items() if key not in keys} | {"sources": []}
    settings["device"] = twins.device(config, None, timing | {"gap_permille": 0})  # gaps depend on the cycle
    session = engine.module().Session(settings)
    session.start()
    return session


def burst(session: Any, rng: random.Random, queues: int, at: int) -> list[tuple[int, int, int]]:
    """Offer some frames from a cycle on, and return when they leave: cycles after it, queues, lengths."""
    for cycle in sorted(rng.randrange(20_000) for _ in range(60)):
        session.offer(at + cycle, rng.randrange(queues), rng.randbytes(rng.choice([60, 300, 1500])))
    session.advance(min(at + PHASE // 2, END))
    left = session.take_left()
    return list(zip((left["cycle"] - at).tolist(), left["queue"].tolist(), np.diff(left["offsets"]).tolist(), strict=True))


@pytest.mark.parametrize("name", ["tiny_16", "tiny_codel_16", "tree_64"])
def test_weeks_later_all_is_the_same(name: str) -> None:
    """Bursts with weeks of nothing between them leave as the same bursts do a minute apart."""
    print(f"PENSTOCK_SEED={seed()}")
    config = configs.load(name)
    compared = 0
    for number in range(seed(), seed() + 6):
        far, near = held(config, number), held(config, number)
        for turn, moment in enumerate(MOMENTS):
            bursts = [burst(s, random.Random(turn), min(config.queues, 6), at) for s, at in ((near, (turn + 1) * PHASE), (far, moment))]
            assert bursts[0] == bursts[1], (number, moment)
            compared += len(bursts[0])
        one, other = near.end(), far.end()
        assert one["conservation_ok"] and other["conservation_ok"] and one["findings"] == other["findings"] == []
        assert one["packets"] == other["packets"] and one["packets"]["in"] == 60 * len(MOMENTS)
    assert compared > 6 * 60 * len(MOMENTS) / 4  # others were dropped, or wait at closed gates


@pytest.mark.parametrize("gap", [2**46 - 1, 2**47 + 5, 2**48, 3 * 2**48 + 2**47])
def test_a_queue_that_waited_for_weeks_is_not_early_nor_late(gap: int) -> None:
    """At ten cycles a byte: two frames leave 1,000 cycles apart, whenever they come, and the first at once."""
    config = configs.load("tiny_16")
    session = engine.module().Session({"device": twins.device(config, None, {}), "sources": []})
    for address, value in twins.registers.queue_writes(3, 8 * config.clock_hz // 10, 0, 100, 100_000, config.clock_hz, None):
        session.write(address, value)
    session.start()
    at = 1000
    while at < END - 10_000:
        for _ in range(2):
            for _ in range(4):
                session.offer(at, 3, bytes(100))
            session.advance(at + 8000)
            cycles = session.take_left()["cycle"]
            assert 0 < cycles[0] - at < 600 and np.abs(np.diff(cycles)[1:] - 1000).max() <= 32, (at, cycles)
            at += 8000
        at += gap
    assert session.end()["conservation_ok"]


def test_the_end_of_the_clock() -> None:
    """A step too far is refused in a sentence, and nothing is lost by it: the frame that waits leaves before the end."""
    session = held(configs.load("tiny_16"), 1)
    numbers = [session.offer(at, 1, bytes(60)) for at in (0, END - 10_000, END)]
    for refused in (lambda: session.advance(END + 1), lambda: session.offer(END + 1, 1, bytes(60))):
        with pytest.raises(ValueError, match=r"the clock ends at 2\^52 cycles"):
            refused()
    assert session.advance(END - 20_000) == END - 20_000
    with pytest.raises(ValueError, match="the clock goes on, not back"):
        session.advance(END - 20_001)
    assert session.advance(END) == END == session.now
    with pytest.raises(ValueError, match=r"the clock ends at 2\^52 cycles"):
        session.advance(END + 1)
    assert session.take_left()["number"].tolist() == numbers[:2]
    result = session.end()
    assert result["conservation_ok"] and result["findings"] == [] and result["cycles"] == END


def test_until_empty_waits_for_weeks() -> None:
    session = held(configs.load("tiny_16"), 1)
    session.offer(4 * WEEK, 1, bytes(60))
    assert 4 * WEEK < session.advance(END, until_empty=True) < 4 * WEEK + 10_000
    assert session.end()["packets"]["out"] == 1


@pytest.mark.parametrize("start", [0, 2**44, 9 * WEEK, 2**51 + 12_345])
@pytest.mark.parametrize("pick", ["round_robin", "each"])
def test_traffic_keeps_its_rate_for_weeks(pick: str, start: int) -> None:
    """A frame of 100 byte every 400.3 cycles, and each comes in its cycle; the link in front takes no part."""
    config = configs.load("tiny_16")
    gap, count = 400.3, 2000
    source = {
        "kind": "constant",
        "queues": [3],
        "pick": pick,
        "bps": 800 * config.clock_hz / gap,
        "sizes": [(100, 1)],
        "start_cycle": start,
    }
    duration = start + int(gap * count)
    job = {"device": twins.device(config, None, {}), "duration_cycles": duration, "sources": [source], "keep_departures": True}
    result = engine.run(job | {"drain": True, "max_cycles": duration + 10_000})
    assert result["findings"] == [] and abs(result["packets"]["in"] - count) <= 1
    came = result["departures"]["cycle"] - result["latency_cycles"].astype(np.int64)
    expected = came[0] + gap * np.arange(len(came))
    assert np.abs(came - expected).max() <= 1.01 and came[0] - start < gap + 10


def test_lateness_for_weeks() -> None:
    """The ideal server's time lasts as long."""
    config = configs.load("tiny_16")
    found = []
    for start in (0, 2**36, 2**47 + 2**24, 9 * WEEK // PHASE * PHASE):
        source = {
            "kind": "poisson",
            "queues": range(16),
            "pick": "random",
            "bps": 20e9,
            "sizes": [(60, 1), (1500, 1)],
            "start_cycle": start,
        }
        job = {
            "device": twins.device(config, None, {}),
            "duration_cycles": start + 50_000,
            "sources": [source],
            "egress_bps": 99_999_999_977,
        }
        job |= {"lateness": {"shapers": np.ones(16, dtype=np.uint64)}, "ingress_bps": 100e9}
        result = engine.run(job)
        assert result["findings"] == [] and result["early"] == 0
        found.append((result["lateness"]["cycles"].tolist(), result["lateness"]["frames"].tolist(), result["packets"]))
    assert all(other == found[0] for other in found) and sum(found[0][1]) > 50


@pytest.mark.parametrize("side", ["ingress_bps", "egress_bps"])
@pytest.mark.parametrize("rate", [1, 8, 56, 1000])
def test_the_slowest_lines_keep_their_rate(rate: int, side: str) -> None:
    """A frame of 1,500 byte takes a line of 1 bit/s more than three hours."""
    config = configs.load("tiny_16")
    source = {"kind": "constant", "queues": [3], "pick": "round_robin", "bps": 1e9, "sizes": [(1500, 1)], "stop_cycle": 8000}
    job = {"device": twins.device(config, None, {}), "duration_cycles": END, "sources": [source], "keep_departures": True}
    result = engine.run(job | {"drain": False, "max_cycles": END, "overhead_bytes": 24, side: rate})
    frames = min(4, result["packets"]["in"])
    assert result["findings"] == [] and frames == 4
    time = 8 * 1524 * config.clock_hz / rate
    assert np.diff(result["departures"]["cycle"][:frames]) == pytest.approx(time, abs=2)


@pytest.mark.parametrize("buffer", [0, 500_000, 2**20])
def test_a_buffer_of_half_a_minute(buffer: int) -> None:
    """1 MB in front of 40 kbit/s: the device sends at once what fits into it."""
    config = configs.load("tree_2048")
    source = {"kind": "constant", "queues": [0], "pick": "round_robin", "bps": 10e6, "sizes": [(1000, 1)]}
    job = {"device": twins.device(config, None, {}), "duration_cycles": 4_000_000, "sources": [source], "ingress_bps": 1e9}
    result = engine.run(job | {"drain": False, "max_cycles": 4_000_000, "egress_bps": 40e3, "egress_buffer_bytes": buffer})
    packets = result["packets"]
    assert result["findings"] == [] and packets["in"] > 20
    assert packets["in"] - packets["out"] <= 1 if buffer else packets["out"] <= 1
