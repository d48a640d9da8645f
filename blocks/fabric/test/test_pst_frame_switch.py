"""pst_frame_switch, whole: every byte of random frames through both cell switches, with and without losses."""

from pathlib import Path

import pytest

from penstock import library
from penstock.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_frame_switch.cpp"

SIZES = {  # name: hardware, and what of it the bench must know
    "fabric_2": {"Ports": 2, "DataBytes": 4, "Classes": 8, "MaxFrameBytes": 256, "RoomCells": 64, "FifoDepth": 8},
    "fabric_4": {"Ports": 4, "DataBytes": 16, "Classes": 2, "MaxFrameBytes": 9600, "RoomCells": 1024, "FifoDepth": 16},
    "fabric_8": {"Ports": 8, "DataBytes": 8, "Classes": 1, "MaxFrameBytes": 1518, "RoomCells": 256, "FifoDepth": 16, "Stages": 4},
    "islip_4": {"Ports": 4, "DataBytes": 32, "Classes": 8, "MaxFrameBytes": 1518, "RoomCells": 64, "FifoDepth": 4, "Islip": "1'b1"},
}
ALL = ["fabric_2", "fabric_4", "islip_4", pytest.param("fabric_8", marks=pytest.mark.slow)]


def soak(size: str, back_pressure: bool, fifo_depth: int | None = None, room: int | None = None, **traffic: int) -> dict[str, int]:
    hardware = {**SIZES[size], "BackPressure": f"1'b{int(back_pressure)}"}
    if fifo_depth:
        hardware["FifoDepth"] = fifo_depth
    if room:
        hardware["RoomCells"] = room
    longest = int(hardware["MaxFrameBytes"])
    arguments = {
        "ports": hardware["Ports"], "data_bytes": hardware["DataBytes"], "classes": hardware["Classes"], "max_frame": longest,
        "back_pressure": back_pressure, "cycles": 40_000, "seed": seed(), "load": 900, "ready": 950, "stalls": 0,
        "smallest": min(60, longest), "largest": longest,
    }  # fmt: skip
    unknown = set(traffic) - {*arguments, "multicast", "error", "oversize", "refused", "hot", "high", "fan_out"}
    assert not unknown, unknown
    sources = library.sources_of("pst_frame_switch")
    return run_soak(BENCH, "fabric", "pst_frame_switch", hardware, {**arguments, **traffic}, sources)


MIX = {"multicast": 200, "error": 30, "oversize": 20, "refused": 30}


@pytest.mark.parametrize("size", ALL)
def test_nothing_is_lost_with_back_pressure(size: str) -> None:
    for traffic in [
        {"load": 1000, "ready": 1000},
        {"load": 700, "ready": 600, "stalls": 1, "seed": seed() + 1},
        {"smallest": 8, "largest": 100, "stalls": 1, "seed": seed() + 2},
        {"hot": 1, "multicast": 0, "seed": seed() + 3},
    ]:
        counts = soak(size, True, **{**MIX, **traffic})
        assert counts["frames_out"] > 300
        assert counts["bad"] > 5 and counts["refused"] > 5
        assert counts["lost"] == counts["no_room"] == counts["cell_drops"] == 0


@pytest.mark.parametrize("size", ALL)
def test_whole_frames_are_lost_without(size: str) -> None:
    """FIFOs far too shallow, and room for fewer than two frames: cells are lost everywhere, and no torso comes out."""
    room = {"fabric_2": 64, "fabric_4": 512, "fabric_8": 128, "islip_4": 32}[size]
    reasons = {"lost": 0, "no_room": 0, "bad": 0}
    for traffic in [
        {"load": 1000, "ready": 900},
        {"load": 600, "ready": 700, "stalls": 1, "seed": seed() + 1},
        {"smallest": 8, "largest": 100, "load": 1000, "ready": 1000, "seed": seed() + 2},
    ]:
        counts = soak(size, False, 2, room, **{**MIX, **traffic})
        assert counts["frames_out"] > 100
        assert counts["cell_drops"] > 100
        for reason in reasons:
            reasons[reason] += counts[reason]
    assert all(reasons.values()), reasons
