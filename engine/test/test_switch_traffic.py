# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The traffic of the slot simulator: rates, destinations and bursts are those that were asked for."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.engine import engine
from penstock.testing.testkit import seed as run_seed

SLOTS = 30_000
SIGMAS = 5.0


def arrivals(slots: int = SLOTS, ports: int = 16, **setting: Any) -> NDArray[np.int64]:
    """Return destination by [slot, source], -1 where nothing arrived. At depth 1 nearly every packet has its fate by the end."""
    keys = {"algorithm": "oq", "iterations": 1, "ports": ports, "depth": 1, "rate": 0.7, "burst": 8.0, "hot": 0.4, "seed": run_seed()}
    simulation = engine.module("engine/src/switch_sim").SwitchSimulation(**keys | setting, keep=True)
    simulation.advance(slots + 400)
    fates = simulation.fates().astype(np.int64)
    made = np.full((slots + 400, ports), -1)
    made[fates[:, 1], fates[:, 2]] = fates[:, 3]
    return made[:slots]  # those of the last slots may still wait


def near(share: float, expected: float, trials: float) -> bool:
    """Within SIGMAS standard deviations of a binomial share."""
    return abs(share - expected) <= SIGMAS * np.sqrt(expected * (1 - expected) / trials) + 1e-12


@pytest.mark.parametrize("traffic", ["uniform", "nonuniform", "diagonal", "hotspot"])
@pytest.mark.parametrize("rate", [0.05, 0.7, 1.0])
def test_each_input_gets_its_rate_without_memory(traffic: str, rate: float) -> None:
    busy = arrivals(traffic=traffic, rate=rate) >= 0
    for source in range(16):
        assert near(busy[:, source].mean(), rate, SLOTS)
        assert near((busy[1:, source] & busy[:-1, source]).mean(), rate**2, SLOTS / 2)  # neighbours in time are independent
    assert near((busy[:, 0] & busy[:, 1]).mean(), rate**2, SLOTS)  # and so are inputs
    assert near((busy[4:, 0] & busy[:-4, 3]).mean(), rate**2, SLOTS / 2)  # four slots share a word of coins


@pytest.mark.parametrize("ports", [2, 8, 16, 32, 64])
@pytest.mark.parametrize("traffic", ["uniform", "nonuniform", "diagonal", "hotspot"])
def test_destinations_have_their_shares(traffic: str, ports: int) -> None:
    made = arrivals(traffic=traffic, ports=ports, slots=8000)
    for source in range(0, ports, 3):
        to = made[:, source][made[:, source] >= 0]
        share = np.bincount(to, minlength=ports) / len(to)
        expected = np.full(ports, 1 / ports)
        if traffic in ("nonuniform", "hotspot"):
            expected = np.full(ports, 0.6 / (ports - 1))
            expected[source if traffic == "nonuniform" else 0] = 0.4
        elif traffic == "diagonal":
            expected = np.zeros(ports)
            expected[source], expected[(source + 1) % ports] = 2 / 3, 1 / 3
        assert all(near(*pair, len(to)) for pair in zip(share, expected, strict=True))


@pytest.mark.parametrize(("rate", "burst"), [(0.3, 8.0), (0.7, 32.0), (1.0, 8.0), (0.5, 1.0)])
def test_bursts_have_their_mean_and_the_load_its_rate(rate: float, burst: float) -> None:
    made = arrivals(traffic="bursty", rate=rate, burst=burst, ports=32)
    busy = made >= 0
    independent = busy.size / (2 * burst)  # draws of the state
    assert near(busy.mean(), rate, independent)
    # The next slot has a packet for the same output when the state is not drawn anew, or is New with the same output again.
    goes_on = 1 - 1 / burst + rate / burst / 32
    same = (made[1:] == made[:-1])[busy[:-1]]
    assert near(same.mean(), goes_on, same.size)
    # After Off comes Off again unless the state is drawn anew and is New.
    if rate < 1:
        off = ~busy[1:][~busy[:-1]]
        assert near(off.mean(), 1 - rate / burst, off.size)
    share = np.bincount(made[busy], minlength=32) / busy.sum()
    assert all(near(value, 1 / 32, rate * independent) for value in share)


def test_bursts_have_the_load_from_the_first_slot_on() -> None:
    busy = [arrivals(slots=10, traffic="bursty", rate=0.5, burst=32.0, ports=64, seed=run) >= 0 for run in range(60)]
    assert near(np.mean([made[0].mean() for made in busy]), 0.5, 60 * 64)


def test_seeds_repeat_and_differ_and_algorithms_see_the_same_traffic() -> None:
    for traffic in ("uniform", "bursty", "nonuniform", "diagonal", "hotspot"):
        first, again, other = (arrivals(slots=500, traffic=traffic, seed=seed) for seed in (3, 3, 4))
        assert np.array_equal(first, again) and not np.array_equal(first, other)
        assert np.array_equal(first, arrivals(slots=500, traffic=traffic, seed=3, algorithm="cprra"))


def test_a_trace_is_played_and_then_nothing() -> None:
    trace = np.array([[0, 0, 1], [0, 1, 1], [2, 1, 0], [70, 0, 0]])
    made = arrivals(slots=200, ports=2, traffic="trace", trace=trace, algorithm="oq")
    assert sorted((slot, source, made[slot, source]) for slot, source in zip(*np.nonzero(made >= 0), strict=True)) == sorted(
        map(tuple, trace)
    )
