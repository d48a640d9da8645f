"""pst_hierarchy with more than 1,024 parents at a level, where the wheel has to grow with them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for test_pst_hierarchy: pytest's importlib mode does not do it

import test_pst_hierarchy

MANY = {"Queues": 32_768, "QueuesPerSubscriber": 2, "Nodes": 2, "Ports": 2, "Classes": 1, "PayloadWidth": 16}


@pytest.mark.slow
def test_many_slow_subscribers_wait_within_the_horizon() -> None:
    """16,384 subscribers that may send every 65,000 cycles reach their rate: visits to those that are not due take no room from others."""
    counts = test_pst_hierarchy.soak(MANY, level=0, kbps=16_000, length=600, queues_used=1, cycles=500_000)
    assert counts["used"] >= 9_900, counts
