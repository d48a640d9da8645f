"""pst_pie against its model: millions of arrivals and departures, one of each per cycle, in a C++ loop."""

from pathlib import Path

import pytest

from penstock.engine import engine
from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_pie.cpp"
DEFAULTS = engine.models("aqm/pie").pie_defaults
NAMES = {"update": "UpdateTicks", "alpha": "Alpha", "beta": "Beta", "mean": "MeanPacketBytes"}


def soak(queues: int, width: int, estimate: int = 0, parameters: dict[str, int] | None = None, **arguments: int) -> dict[str, int]:
    """Run the bench; what is not in `parameters` has its default, in the RTL that of the RTL and in the model that of the model."""
    parameters = parameters or {}
    defaults = {"seed": seed(), "tick": 1, "idle": 0, "hot": 0, "settings": 0, "resets": 0, "allowance": 4}
    shape = {"Queues": queues, "TimeWidth": width, "Estimate": estimate, **{NAMES[name]: value for name, value in parameters.items()}}
    models = {name: DEFAULTS[key] for name, key in zip(NAMES, ("update_ticks", "alpha", "beta", "mean_packet_bytes"), strict=True)}
    given = {"queues": queues, "width": width, "estimate": estimate, **models, **parameters}
    return run_soak(BENCH, "aqm/pie", "pst_pie", shape, {**given, **defaults, **arguments})


QUICK = {"update": 200, "alpha": 1500, "beta": 15_000}


@pytest.mark.parametrize("hot", [0, 3])
def test_an_arrival_and_a_departure_every_cycle(hot: int) -> None:
    counts = soak(64, 18, parameters=QUICK, operations=1_500_000, hot=hot)
    assert counts["operations"] / counts["cycles"] > 0.999
    assert min(counts["marked"], counts["dropped"]) > 100
    assert counts["meetings"] > (500_000 if hot else 5_000)


def test_settings_and_resets() -> None:
    counts = soak(64, 18, parameters={**QUICK, "mean": 700}, operations=1_000_000, idle=300, hot=8, settings=1, resets=10)
    assert counts["updates"] > 64 * 1000
    assert min(counts["marked"], counts["dropped"]) > 20


def test_burst_allowance() -> None:
    """It lasts long enough for the probability to rise far meanwhile; nothing is dropped before its end."""
    gains = {"update": 100, "alpha": 6000, "beta": 60_000}
    counts = soak(64, 20, parameters=gains, operations=600_000, hot=3, allowance=40, resets=20)
    assert min(counts["marked"], counts["dropped"]) > 100


def test_estimated_delay_and_default_gains() -> None:
    counts = soak(1000, 26, estimate=1, operations=3_000_000)
    assert min(counts["marked"], counts["dropped"]) > 100


@pytest.mark.slow
def test_full_size() -> None:
    counts = soak(262_144, 26, parameters={"update": 20_000}, operations=30_000_000, tick=16)
    assert counts["operations"] / counts["cycles"] > 0.98
