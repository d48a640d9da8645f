"""pst_fabric against its model in every cycle, and against what needs no model: every cell once, at its output, in order."""

from pathlib import Path

import pytest

from penstock.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_fabric.cpp"

# Table 1 of the paper: ports, pipeline latency for S = 1, 2, 4.
TABLE_1 = {2: (4, 2, 1), 4: (7, 4, 2), 8: (10, 5, 2), 16: (14, 7, 4), 32: (20, 10, 5), 64: (27, 14, 7), 128: (35, 17, 8), 256: (44, 22, 11)}


def soak(ports: int, stages: int, width: int, depth: int, cycles: int, classes: int = 1, full: int = 0, pressure: int = 0) -> dict[str, int]:
    latency = TABLE_1[ports][(1, 2, 4).index(stages)]
    parameters = {
        "Ports": ports, "Width": width, "Stages": stages, "FifoDepth": depth, "Classes": classes, "BackPressure": f"1'b{pressure}",
        "Arbiter": f"1'b{full}",
    }  # fmt: skip
    arguments = {
        "ports": ports, "width": width, "stages": stages, "depth": depth, "classes": classes, "full": full, "pressure": pressure,
        "latency": latency, "cycles": cycles, "resets": 5, "seed": seed(),
    }  # fmt: skip
    return run_soak(BENCH, "fabric", "pst_fabric", parameters, arguments)


def test_first() -> None:
    soak(4, 1, 16, 3, 100_000)
