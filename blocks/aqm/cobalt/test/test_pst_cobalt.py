"""pst_cobalt against its model: millions of packets, one a cycle, in a C++ loop."""

from pathlib import Path

import pytest

from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_cobalt.cpp"


def soak(queues: int, width: int = 26, **arguments: int) -> dict[str, int]:
    defaults = {"seed": seed(), "spacing": 9, "tick": 1, "idle": 0, "pause": 20, "settings": 0, "resets": 0}
    given = {"queues": queues, "width": width, **defaults, **arguments}
    return run_soak(BENCH, "aqm/cobalt", "pst_cobalt", {"Queues": queues, "TimeWidth": width}, given)


@pytest.mark.parametrize("queues", [10, 1000])
def test_a_packet_every_cycle(queues: int) -> None:
    counts = soak(queues, pause=0, operations=1_000_000, tick=4)
    assert counts["operations"] / counts["cycles"] > 0.9, "one look in 16 is not taken"
    assert min(counts["marked"], counts["dropped"], counts["unlucky"], counts["downs"], counts["fulls"]) > 3000
    assert counts["highest"] > 30


def test_settings_pauses_and_resets() -> None:
    counts = soak(16, 20, operations=150_000, idle=100, settings=3, resets=10)
    assert min(counts["marked"], counts["dropped"], counts["unlucky"], counts["downs"]) > 500


@pytest.mark.parametrize("width", [18, 20])
def test_rests_longer_than_the_range_of_times(width: int) -> None:
    """Queues rest up to three times the range after which their times would be mistaken for others; none is, in any state."""
    counts = soak(16, width, operations=250_000, pause=3, spacing=200)
    assert counts["rested"] > 2 << width
    assert min(counts["downs"], counts["unlucky"]) > 100


@pytest.mark.slow
def test_full_size() -> None:
    counts = soak(262_144, operations=20_000_000, pause=0, tick=16)
    assert counts["operations"] / counts["cycles"] > 0.9
    assert counts["dropped"] > 10_000
