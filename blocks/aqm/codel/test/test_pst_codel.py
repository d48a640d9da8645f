"""pst_codel against its model: millions of packets, one a cycle, in a C++ loop."""

from pathlib import Path

import pytest

from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_codel.cpp"


def soak(queues: int, width: int = 26, estimate: int = 0, guard: int = 0, **arguments: int) -> dict[str, int]:
    defaults = {"seed": seed(), "spacing": 9, "tick": 1, "idle": 0, "pause": 20, "settings": 0, "resets": 0, "steady": 0}
    return run_soak(
        BENCH,
        "aqm/codel",
        "pst_codel",
        {"Queues": queues, "TimeWidth": width, "Estimate": estimate, "GuardCount": guard},
        {"queues": queues, "width": width, "estimate": estimate, "guard": guard, **defaults, **arguments},
    )


@pytest.mark.parametrize("queues", [10, 1000])
def test_a_packet_every_cycle(queues: int) -> None:
    """Queues as close together as they may be; rounds of several drops, and re-entries."""
    counts = soak(queues, pause=0, operations=1_000_000, tick=4)
    assert counts["operations"] / counts["cycles"] > 0.9, "one look in 16 is not taken"
    assert min(counts["marked"], counts["dropped"], counts["rounds"]) > 10_000
    assert counts["reentries"] > 500


@pytest.mark.parametrize("estimate", [0, 1])
def test_settings_pauses_and_resets(estimate: int) -> None:
    counts = soak(16, 16, estimate, operations=200_000, idle=100, settings=3, resets=20)
    assert min(counts["marked"], counts["dropped"], counts["rounds"]) > 1000
    assert counts["reentries"] > 100


@pytest.mark.parametrize("guard", [3, 40])
def test_with_a_guard(guard: int) -> None:
    counts = soak(16, 16, 0, guard, operations=200_000, idle=100, settings=3, resets=20)
    assert min(counts["marked"], counts["dropped"]) > 1000


@pytest.mark.parametrize("width", [16, 18])
def test_rests_longer_than_the_range_of_times(width: int) -> None:
    """Queues rest up to three times the range after which their times would be mistaken for others; none is, in any state."""
    counts = soak(16, width, operations=250_000, pause=3, spacing=200, tick=1)
    assert counts["rested"] > 2 << width
    assert counts["reentries"] > 100


def test_count_stays_at_its_end() -> None:
    """Drops and marks that go on until the 16 bits of count are full, and on; then the queues may leave."""
    counts = soak(2, operations=270_000, steady=240_000, pause=0)
    assert counts["saturated"] > 5_000


@pytest.mark.slow
def test_full_size() -> None:
    counts = soak(262_144, operations=20_000_000, pause=0, tick=16)
    assert counts["operations"] / counts["cycles"] > 0.9
    assert counts["dropped"] > 10_000
