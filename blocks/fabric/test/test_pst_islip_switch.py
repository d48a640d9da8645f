"""pst_islip_switch against its model: every port in every cycle, several sizes; and its rate at full load."""

from pathlib import Path

import pytest

from penstock.hardware import library
from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_islip_switch.cpp"


def soak(ports: int, classes: int, depth: int, iterations: int, back_pressure: int, **arguments: int) -> dict[str, int]:
    parameters = {
        "Ports": ports,
        "Width": 32,
        "Classes": classes,
        "FifoDepth": depth,
        "Iterations": iterations,
        "BackPressure": back_pressure,
    }
    settings = {"ports": ports, "classes": classes, "depth": depth, "iterations": iterations, "back_pressure": back_pressure}
    traffic = {"cycles": 20_000, "seed": seed(), "load": 900, "ready": 1000, "pattern": 0, "stalls": 1}
    sources = library.sources_of("pst_islip_switch")
    return run_soak(BENCH, "fabric", "pst_islip_switch", parameters, {**settings, **traffic, **arguments}, sources)


@pytest.mark.parametrize(
    "ports, classes, depth, iterations, back_pressure",
    [(2, 1, 1, 1, 1), (4, 1, 8, 2, 0), (4, 3, 5, 4, 1), pytest.param(8, 8, 2, 3, 0, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("pattern", [0, 1, 2])
def test_every_cycle(ports: int, classes: int, depth: int, iterations: int, back_pressure: int, pattern: int) -> None:
    for load, ready in [(1000, 1000), (950, 800), (400, 900)]:
        counts = soak(ports, classes, depth, iterations, back_pressure, load=load, ready=ready, pattern=pattern)
        assert counts["cells_out"] > 5_000
        assert counts["full_cycles"] > 0 or load < 900
        assert (counts["drops"] > 0) == (counts["full_cycles"] > 0 and not back_pressure)
        if load == 400:
            assert counts["latency_min"] == 5


def test_full_load_uniform() -> None:
    """Uniform traffic at full load: with one iteration the pointers part and every port sends in every cycle (paper, section III.B)."""
    # The cells that are still queued when traffic ends leave in some hundred cycles more, which count.
    counts = soak(8, 1, 512, 1, 1, load=1000, cycles=400_000, stalls=0)
    assert counts["cells_out"] > 0.99 * 8 * counts["cycles"]
