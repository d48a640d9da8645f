"""pst_queue_manager against its model: millions of mixed operations in a C++ loop."""

from pathlib import Path

import pytest

from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_queue_manager.cpp"
RANDOM, SAME, NEIGHBOURS, HOT = 0, 1, 2, 3


def soak(queues: int, descriptors: int, left: int = 0, head: int = 0, look: int = 0, **arguments: int) -> dict[str, int]:
    return run_soak(
        BENCH,
        "queue",
        "pst_queue_manager",
        {"Queues": queues, "Descriptors": descriptors, "ReportLeft": f"1'b{left}", "ReportHead": f"1'b{head}", "Look": f"1'b{look}"},
        {"queues": queues, "descriptors": descriptors, "left": left, "head": head, "look": look, "seed": seed()}
        | {"stall": 0, "resets": 0, "fill": 0, **arguments},
    )


@pytest.mark.parametrize("pattern", [RANDOM, SAME, NEIGHBOURS, HOT])
@pytest.mark.parametrize("queues, descriptors", [(16, 64), (1000, 3000)])
def test_mixed_operations(queues: int, descriptors: int, pattern: int) -> None:
    counts = soak(queues, descriptors, pattern=pattern, operations=1_000_000)
    assert counts["dequeues"] >= 1_000_000
    assert counts["drops"] > 1000, "tail drop was not exercised"
    assert pattern == RANDOM and queues > 16 or counts["both"] > 300, "enqueue and dequeue hardly ever met on one queue"


def test_counters_at_their_ends() -> None:
    """65,535 packets, and 16,777,215 byte, in one queue, whose limits go down to nothing meanwhile."""
    counts = soak(16, 66_000, left=1, pattern=SAME, operations=150_000, fill=1)
    assert counts["peak"] == 65_535


@pytest.mark.parametrize("pattern", [SAME, HOT])
def test_bytes_left(pattern: int) -> None:
    soak(16, 64, left=1, pattern=pattern, operations=300_000)


@pytest.mark.parametrize("queues, pattern, stall", [(16, SAME, 0), (16, HOT, 0), (16, HOT, 300), (1000, NEIGHBOURS, 0)])
def test_heads_and_backlogs(queues: int, pattern: int, stall: int) -> None:
    """What an own scheduler is told: the head's length and the bytes of a queue at each announcement, acceptance and dequeue."""
    counts = soak(queues, 64, left=1, head=1, pattern=pattern, operations=300_000, stall=stall)
    assert pattern == NEIGHBOURS or counts["both"] > 300, "enqueue and dequeue hardly ever met on one queue"


@pytest.mark.parametrize("pattern", [SAME, NEIGHBOURS, HOT])
def test_looks(pattern: int) -> None:
    """What a queue holds and its head, looked at whenever both sides let it, beside traffic that goes on as without."""
    counts = soak(16, 64, look=1, pattern=pattern, operations=300_000)
    assert counts["looks"] > 10_000 and counts["known"] > counts["looks"] // 20


@pytest.mark.parametrize("stall", [300, 900])
def test_stalled_outputs_and_resets(stall: int) -> None:
    counts = soak(16, 64, pattern=HOT, operations=300_000, stall=stall, resets=20)
    assert counts["dequeues"] >= 300_000 - 20


def test_rate() -> None:
    """What the bench offers, 0.69 of an enqueue and of a dequeue per cycle after the dequeues that it calls off, goes through."""
    counts = soak(1000, 3000, pattern=RANDOM, operations=1_000_000)
    assert counts["dequeues"] / counts["cycles"] > 0.68


@pytest.mark.slow
def test_full_size() -> None:
    """262,144 queues and 131,072 descriptors."""
    counts = soak(262_144, 131_072, pattern=RANDOM, operations=10_000_000)
    assert counts["dequeues"] >= 10_000_000
