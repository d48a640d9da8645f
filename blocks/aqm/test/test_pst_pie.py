"""pst_pie against its model: millions of arrivals and departures, one of each per cycle, in a C++ loop."""

from pathlib import Path

import pytest

from penstock.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_pie.cpp"


def soak(queues: int, width: int, update: int, alpha: int, beta: int, estimate: int = 0, **arguments: int) -> dict[str, int]:
    defaults = {"seed": seed(), "tick": 1, "idle": 0, "hot": 0, "settings": 0, "resets": 0, "allowance": 4}
    shape = {"Queues": queues, "TimeWidth": width, "UpdateTicks": update, "Alpha": alpha, "Beta": beta, "Estimate": estimate}
    given = {"queues": queues, "width": width, "update": update, "alpha": alpha, "beta": beta, "estimate": estimate}
    return run_soak(BENCH, "aqm", "pst_pie", shape, {**given, **defaults, **arguments})


@pytest.mark.parametrize("hot", [0, 3])
def test_an_arrival_and_a_departure_every_cycle(hot: int) -> None:
    counts = soak(64, 18, 200, 1500, 15_000, operations=1_500_000, hot=hot)
    assert counts["operations"] / counts["cycles"] > 0.999
    assert min(counts["marked"], counts["dropped"]) > 100
    assert counts["meetings"] > (500_000 if hot else 5_000)


def test_settings_and_resets() -> None:
    counts = soak(64, 18, 200, 1500, 15_000, operations=1_000_000, idle=300, hot=8, settings=1, resets=10)
    assert counts["updates"] > 64 * 1000
    assert min(counts["marked"], counts["dropped"]) > 20


def test_burst_allowance() -> None:
    """It lasts long enough for the probability to rise far meanwhile; nothing is dropped before its end."""
    counts = soak(64, 20, 100, 6000, 60_000, operations=600_000, hot=3, allowance=40, resets=20)
    assert min(counts["marked"], counts["dropped"]) > 100


def test_estimated_delay_and_small_gains() -> None:
    counts = soak(1000, 26, 1500, 625, 6249, 1, operations=1_500_000)
    assert min(counts["marked"], counts["dropped"]) > 100


@pytest.mark.slow
def test_full_size() -> None:
    counts = soak(262_144, 26, 20_000, 625, 6249, operations=30_000_000, tick=16)
    assert counts["operations"] / counts["cycles"] > 0.98
