"""pst_frame_switch against its model of frames without bytes: every port in every cycle, several sizes of everything."""

from pathlib import Path

import pytest

from penstock.hardware import library
from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_frame_model.cpp"

FIELDS = {  # of the bench: of the hardware
    "ports": "Ports", "data_bytes": "DataBytes", "classes": "Classes", "max_frame": "MaxFrameBytes", "room": "RoomCells",
    "back_pressure": "BackPressure", "depth": "FifoDepth", "islip": "Islip", "stages": "Stages", "iterations": "Iterations",
    "number_width": "NumberWidth",
}  # fmt: skip
SIZES = {  # every parameter at two values at least, for each cell switch with and without back-pressure
    #                   P  byte C  max  room BP depth iSLIP S it number
    "fabric_keeps": (4, 8, 3, 97, 16, 1, 12, 0, 1, 1, 1),
    "fabric_loses": (4, 4, 3, 60, 8, 0, 1, 0, 4, 1, 2),
    "islip_keeps": (4, 8, 3, 97, 16, 1, 2, 1, 1, 2, 1),
    "islip_loses": (2, 12, 8, 30, 4, 0, 1, 1, 1, 1, 16),
    "fabric_2": (2, 12, 1, 30, 4, 1, 6, 0, 1, 1, 1),
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


def settings_of(size: str) -> dict[str, int]:
    return dict(zip(FIELDS, {**SIZES, **SLOW}[size], strict=True))


def soak(size: str, **arguments: int) -> dict[str, int]:
    settings = settings_of(size)
    hardware = {FIELDS[name]: f"1'b{value}" if name in ("back_pressure", "islip") else value for name, value in settings.items()}
    run = {"cycles": 60_000, "resets": 4, "seed": seed()}
    sources = library.sources_of("pst_frame_switch")
    return run_soak(BENCH, "fabric", "pst_frame_switch", hardware, {**settings, **run, **arguments}, sources, optimise=1)


@pytest.mark.parametrize("size", [*SIZES, *(pytest.param(size, marks=pytest.mark.slow) for size in SLOW)])
def test_every_cycle(size: str) -> None:
    """Three runs of random traffic; what the bench compares is worth something only if all of it has happened."""
    settings = settings_of(size)
    for run in range(3):
        counts = soak(size, seed=seed() + run)
        assert counts["frames_out"] > 1000 and counts["copies"] > 100
        assert counts["waited"] > 1000 and counts["stalled"] > 1000 and counts["skipped"] > 10
        assert counts["bad"] > 20 and counts["refused"] > 20
        assert counts["widest"] == settings["ports"]
        if settings["back_pressure"]:
            assert counts["drops"] == counts["lost"] == counts["no_room"] == 0
        else:
            assert counts["drops"] > 20 and counts["lost"] > 20 and counts["no_room"] > 20


@pytest.mark.parametrize("size", ["fabric_keeps", "islip_keeps"])
def test_the_model_is_faster(size: str) -> None:
    """The same beats through each alone, in one process: ten times as fast when measured, three times even on a busy machine."""
    counts = soak(size, cycles=100_000, resets=0, timed=1)
    assert counts["timed_cycles"] > 90_000
    assert counts["rtl_ns"] > 3 * counts["model_ns"]
