"""pst_frame_switch, whole: every byte of random frames through both cell switches, with and without losses."""

from pathlib import Path

import pytest

from penstock.hardware import library
from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_frame_switch.cpp"

SIZES = {  # name: hardware, and what of it the bench must know
    "fabric_2": {"Ports": 2, "DataBytes": 4, "Classes": 8, "MaxFrameBytes": 256, "RoomCells": 64, "FifoDepth": 8},
    "fabric_4": {"Ports": 4, "DataBytes": 16, "Classes": 2, "MaxFrameBytes": 9600, "RoomCells": 1024, "FifoDepth": 16},
    "fabric_8": {"Ports": 8, "DataBytes": 8, "Classes": 1, "MaxFrameBytes": 1518, "RoomCells": 256, "FifoDepth": 16, "Stages": 4},
    "islip_4": {"Ports": 4, "DataBytes": 32, "Classes": 8, "MaxFrameBytes": 1518, "RoomCells": 64, "FifoDepth": 4, "Islip": "1'b1"},
}
ALL = ["fabric_2", "fabric_4", *(pytest.param(size, marks=pytest.mark.slow) for size in ("islip_4", "fabric_8"))]
SCHEDULERS = ["fabric_4", pytest.param("islip_4", marks=pytest.mark.slow)]  # the default suite has iSLIP in whole devices, of frame_switch


def soak(size: str, back_pressure: bool, fifo_depth: int | None = None, room: int | None = None, **traffic: int) -> dict[str, int]:
    hardware = {**SIZES[size], "BackPressure": f"1'b{int(back_pressure)}"}
    if fifo_depth:
        hardware["FifoDepth"] = fifo_depth
    if room:
        hardware["RoomCells"] = room
    longest = int(hardware["MaxFrameBytes"])
    arguments = {
        "ports": hardware["Ports"], "data_bytes": hardware["DataBytes"], "classes": hardware["Classes"], "max_frame": longest,
        "back_pressure": back_pressure, "cycles": 100_000, "seed": seed(), "load": 900, "ready": 950, "stalls": 0,
        "smallest": min(60, longest), "largest": longest,
    }  # fmt: skip
    unknown = set(traffic) - {*arguments, "multicast", "error", "oversize", "refused", "hot", "high", "fan_out", "senders", "turn"}
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
        assert counts["frames_out"] > 250
        assert counts["bad"] > 5 and counts["refused"] > 5
        assert counts["lost"] == counts["no_room"] == counts["cell_drops"] == 0


@pytest.mark.parametrize(
    "size", ["fabric_2", *(pytest.param(size, marks=pytest.mark.slow) for size in ["islip_4", "fabric_4", "fabric_8"])]
)
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


@pytest.mark.parametrize("size", SCHEDULERS)
@pytest.mark.parametrize("longest", [1, 5, 47])
def test_full_rate(size: str, longest: int) -> None:
    """Every source sends to one destination of its own: a beat per port and cycle, frames of one beat included."""
    longest *= int(SIZES[size]["DataBytes"])
    counts = soak(size, True, load=1000, ready=1000, turn=1, smallest=longest, largest=longest, cycles=20_000)
    assert counts["beats_out"] > 0.98 * 4 * 20_000


@pytest.mark.parametrize("copies", [1, 2, 3, 4])
def test_multicast_costs_a_slot_for_each_copy(copies: int) -> None:
    """A source alone: its beats take as many cycles as they have destinations, no more; the fabric takes no part in it."""
    counts = soak("fabric_4", True, load=1000, ready=1000, senders=1, fan_out=copies, smallest=60, largest=1500, cycles=30_000)
    assert 0.99 * 30_000 < copies * counts["beats_in"] < 1.05 * 30_000


def test_everybody_broadcasts() -> None:
    """All sources send to all: every output is busy all the time, and a source waits for its own four copies only."""
    counts = soak("fabric_4", True, load=1000, ready=1000, fan_out=4, smallest=60, largest=1500, cycles=60_000)
    assert counts["beats_out"] > 0.9 * 4 * 60_000
    assert counts["gap_max"] <= 4


@pytest.mark.parametrize("size", SCHEDULERS)
def test_highest_class_waits_for_one_frame_of_a_lower_one(size: str) -> None:
    """Four times overload of an output with the lowest class: class 0 waits for the frame that is being sent and for its like."""
    longest = int(SIZES[size]["MaxFrameBytes"])
    counts = soak(size, True, load=1000, ready=1000, hot=1, high=20, largest=longest, cycles=300_000)
    beats = -(-longest // int(SIZES[size]["DataBytes"]))
    assert counts["delay0_max"] < 3 * beats + 60
    assert counts["delay0_mean"] < beats
    assert counts["delay_low_max"] > 3 * counts["delay0_max"] or counts["delay_low_max"] > 4 * beats
