"""pst_dualpi2 against its model: millions of departures, nearly one a cycle, in a C++ loop."""

from pathlib import Path

import pytest

from penstock.engine import engine
from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_dualpi2.cpp"
DEFAULTS = engine.models("aqm/dualpi2").dualpi2_defaults
NAMES = {"update": "UpdateTicks", "alpha": "Alpha", "beta": "Beta", "coupling": "Coupling", "ramp": "RampLog2"}
KEYS = ("update_ticks", "alpha", "beta", "coupling", "ramp_log2")
FATES = [f"{queue}{fate}" for queue in "cl" for fate in ("pass", "mark", "drop")]


def soak(queues: int, width: int, parameters: dict[str, int] | None = None, **arguments: int) -> dict[str, int]:
    """Run the bench; what is not in `parameters` has its default, in the RTL that of the RTL and in the model that of the model."""
    parameters = parameters or {}
    defaults = {"seed": seed(), "tick": 1, "idle": 0, "spacing": 9, "settings": 0, "resets": 0}
    shape = {"Queues": queues, "TimeWidth": width, "TickShift": 0, **{NAMES[name]: value for name, value in parameters.items()}}
    models = {name: DEFAULTS[key] for name, key in zip(NAMES, KEYS, strict=True)}
    return run_soak(
        BENCH,
        "aqm/dualpi2",
        "pst_dualpi2",
        shape,
        {"queues": queues, "width": width, **models, **parameters, **defaults, **arguments},
    )


QUICK = {"update": 200, "alpha": 9000, "beta": 60_000}


@pytest.mark.parametrize(("coupling", "ramp"), [(2, 8), (1, 0), (3, 5), (4, 3)])
def test_a_departure_in_nearly_every_cycle(coupling: int, ramp: int) -> None:
    counts = soak(64, 18, {**QUICK, "coupling": coupling, "ramp": ramp}, operations=600_000)
    assert counts["operations"] / counts["cycles"] > 0.75
    assert min(counts[fate] for fate in FATES if coupling > 1 or fate != "ldrop") > 300
    assert counts["saturated"] > 10_000


def test_settings_and_resets() -> None:
    counts = soak(20, 18, QUICK, operations=600_000, idle=300, spacing=4, settings=1, resets=10)
    assert counts["updates"] > 10 * 1000
    assert min(counts[fate] for fate in FATES) > 200


def test_default_numbers() -> None:
    counts = soak(500, 26, operations=1_500_000)
    assert min(counts[fate] for fate in ("cpass", "cmark", "cdrop", "lpass", "lmark")) > 100


@pytest.mark.slow
def test_full_size() -> None:
    counts = soak(262_144, 26, {"update": 20_000}, operations=20_000_000, tick=16)
    assert counts["operations"] / counts["cycles"] > 0.9
