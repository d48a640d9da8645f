"""pst_frame_switch against its model of frames without bytes: every port in every cycle, several sizes of everything."""

from pathlib import Path

import pytest

from penstock.hardware import library
from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_frame_model.cpp"

FIELDS = ("ports", "data_bytes", "classes", "max_frame", "room", "back_pressure", "depth", "islip", "stages", "iterations", "number_width")
PINS = (
    "Ports",
    "DataBytes",
    "Classes",
    "MaxFrameBytes",
    "RoomCells",
    "BackPressure",
    "FifoDepth",
    "Islip",
    "Stages",
    "Iterations",
    "NumberWidth",
)
SIZES = {  # every parameter at two values at least, for each cell switch with and without back-pressure
    #                   P  byte C  max  room BP depth iSLIP S it number
    "fabric_keeps": (4, 8, 3, 97, 16, 1, 9, 0, 1, 1, 1),
    "fabric_loses": (4, 4, 3, 60, 8, 0, 1, 0, 4, 1, 2),
    "islip_keeps": (4, 8, 3, 97, 16, 1, 2, 1, 1, 2, 1),
    "islip_loses": (2, 12, 8, 30, 4, 0, 1, 1, 1, 1, 16),
    "fabric_2": (2, 12, 8, 30, 4, 1, 6, 0, 1, 1, 1),
}
SLOW = {
    "fabric_2_loses": (2, 32, 1, 1518, 64, 0, 3, 0, 1, 1, 16),
    "fabric_one_class": (4, 32, 1, 1518, 64, 1, 4, 0, 4, 1, 1),
    "fabric_one_beat": (4, 8, 8, 8, 2, 1, 16, 0, 1, 1, 3),
    "fabric_8": (8, 8, 1, 200, 32, 1, 12, 0, 1, 1, 1),
    "fabric_8_classes": (8, 8, 8, 200, 32, 1, 16, 0, 4, 1, 1),
    "fabric_8_loses": (8, 8, 3, 200, 32, 0, 2, 0, 4, 1, 16),
    "fabric_deep": (4, 8, 1, 97, 16, 0, 70, 0, 1, 1, 4),
    "islip_2": (2, 8, 1, 200, 32, 1, 1, 1, 1, 2, 1),
    "islip_one_class": (4, 32, 1, 1518, 64, 0, 16, 1, 1, 1, 16),
    "islip_8": (8, 8, 1, 200, 32, 1, 4, 1, 1, 1, 1),
    "islip_8_classes": (8, 8, 8, 200, 32, 1, 5, 1, 1, 2, 1),
    "islip_8_loses": (8, 8, 3, 200, 32, 0, 2, 1, 1, 2, 3),
}


def soak(size: str, **arguments: int) -> dict[str, int]:
    values = {**SIZES, **SLOW}[size]
    hardware: dict[str, object] = dict(zip(PINS, values, strict=True))
    for name in ("BackPressure", "Islip"):
        hardware[name] = f"1'b{hardware[name]}"
    settings = dict(zip(FIELDS, values, strict=True))
    run = {"cycles": 60_000, "resets": 4, "seed": seed()}
    return run_soak(
        BENCH, "fabric", "pst_frame_switch", hardware, {**settings, **run, **arguments}, library.sources_of("pst_frame_switch"), 1
    )


@pytest.mark.parametrize("size", [*SIZES, *(pytest.param(size, marks=pytest.mark.slow) for size in SLOW)])
def test_every_cycle(size: str) -> None:
    back_pressure = {**SIZES, **SLOW}[size][FIELDS.index("back_pressure")]
    for run in range(3):
        counts = soak(size, seed=seed() + run)
        assert counts["frames_out"] > 1000 and counts["copies"] > 100
        assert counts["waited"] > 1000 and counts["stalled"] > 1000 and counts["skipped"] > 10
        assert counts["bad"] > 20 and counts["refused"] > 20
        assert counts["widest"] == counts_ports(size)
        if back_pressure:
            assert counts["drops"] == counts["lost"] == counts["no_room"] == 0
        else:
            assert counts["drops"] > 20 and counts["lost"] > 20 and counts["no_room"] > 20


def counts_ports(size: str) -> int:
    return {**SIZES, **SLOW}[size][FIELDS.index("ports")]
