"""pst_sched_lists against its model: order of the ready list under places, splices and pops."""

from pathlib import Path

import pytest

from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_sched_lists.cpp"


@pytest.mark.parametrize("pops", [100, 500, 900])
@pytest.mark.parametrize("queues, slots, stripes", [(16, 2, 4), (1000, 8, 8), (64, 0, 4)])
def test_order(queues: int, slots: int, stripes: int, pops: int) -> None:
    counts = run_soak(
        BENCH,
        "timing",
        "pst_sched_lists",
        {"Queues": queues, "Slots": slots, "Stripes": stripes},
        {"queues": queues, "slots": slots, "operations": 500_000, "seed": seed(), "pops": pops},
    )
    assert counts["pops"] > 100_000
    assert counts["longest"] > 2 * stripes
