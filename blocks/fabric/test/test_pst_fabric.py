"""pst_fabric against its model in every cycle, and against what needs no model: every cell once, at its output, in order."""

from pathlib import Path

import pytest

from penstock.hardware import fabric, library
from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_fabric.cpp"

# Table 1 of the paper: latency of the pipeline by ports, for S = 1, 2, 4.
TABLE_1 = {2: (4, 2, 1), 4: (7, 4, 2), 8: (10, 5, 2), 16: (14, 7, 4), 32: (20, 10, 5), 64: (27, 14, 7), 128: (35, 17, 8), 256: (44, 22, 11)}


def soak(
    ports: int,
    stages: int,
    width: int,
    depth: int,
    cycles: int,
    classes: int = 1,
    full: int = 0,
    pressure: int = 0,
    file: Path | None = None,
) -> dict[str, int]:
    """Run the soak; its first cells measure the pipeline, whose length must be that of Table 1. `file`: a generated switch of this size."""
    latency = TABLE_1[ports][(1, 2, 4).index(stages)]
    parameters = {
        "Ports": ports, "Width": width, "Stages": stages, "FifoDepth": depth, "Classes": classes, "BackPressure": f"1'b{pressure}",
        "Arbiter": f"1'b{full}",
    }  # fmt: skip
    arguments = {
        "ports": ports, "width": width, "stages": stages, "depth": depth, "classes": classes, "full": full, "pressure": pressure,
        "latency": latency, "cycles": cycles, "resets": 5, "seed": seed(),
    }  # fmt: skip
    optimise = 2 if ports < 32 else 1
    sources = [file] if file else library.sources_of("pst_fabric")
    return run_soak(BENCH, "fabric", "pst_fabric", {} if file else parameters, arguments, sources, optimise)


def test_the_formula_is_table_1() -> None:
    """Beyond 64 ports the formula alone, up to there the hardware too: every soak measures it."""
    found = {ports: tuple(fabric.pipeline_cycles(ports, stages) for stages in (1, 2, 4)) for ports in TABLE_1}
    assert found == TABLE_1


def test_rotating_arbiter_with_drops() -> None:
    """Two ports, one cell a FIFO: most batches drop something, and the arbiter is out of step again and again."""
    counts = soak(ports=2, stages=4, width=33, depth=1, cycles=2_000_000)
    assert counts["dropped"] > 100_000 and counts["stalled"] > 100_000
    # Out of step: cycles in which an output with cells sends none. They are few, and everything comes out at the end of the run.
    assert 0 < counts["skipped"] < counts["departed"] / 50
    assert counts["widest"] == 1


def test_rotating_arbiter_eight_ports() -> None:
    counts = soak(ports=8, stages=2, width=16, depth=5, cycles=150_000)
    assert counts["dropped"] > 10_000 and counts["skipped"] > 0 and counts["fullest"] > 10_000


def test_full_arbiter_keeps_order_through_drops() -> None:
    """The order of batches is kept in 80 words of block RAM here; a cell that waits is always offered."""
    counts = soak(ports=4, stages=1, width=70, depth=20, cycles=400_000, full=1)
    assert counts["dropped"] > 100_000 and counts["overtaken"] == counts["skipped"] == 0


def test_eight_classes_with_back_pressure() -> None:
    counts = soak(ports=2, stages=4, width=20, depth=5, cycles=400_000, classes=8, full=1, pressure=1)
    assert counts["dropped"] == counts["overtaken"] == 0 and counts["waited"] > 10_000 and counts["stalled"] > 10_000


@pytest.mark.slow
@pytest.mark.timeout(3600)  # 64 ports compile for several minutes
@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize(
    "ports, width, depth, cycles, options",
    [
        (2, 512, 70, 2_000_000, {"pressure": 1}),
        (4, 1, 3, 2_000_000, {}),
        (8, 64, 7, 500_000, {"full": 1}),
        (16, 8, 24, 300_000, {"pressure": 1}),
        (16, 40, 3, 300_000, {"full": 1}),
        (4, 20, 5, 500_000, {"classes": 8, "full": 1}),
        (32, 32, 2, 50_000, {}),
        (64, 32, 1, 10_000, {}),
    ],
)
def test_soak(ports: int, width: int, depth: int, cycles: int, options: dict[str, int], stages: int) -> None:
    counts = soak(ports, stages, width, depth, cycles, **options)
    assert counts["departed"] > cycles / 4
