"""The proofs of lists and wheel pass; what must make them fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit

TASKS = [
    ("pst_sched_lists", "places_wheel"),
    ("pst_sched_lists", "places_ready"),
    ("pst_sched_lists", "places_never"),
    ("pst_sched_lists", "sum_wheel"),
    ("pst_sched_lists", "sum_ready"),
    ("pst_sched_lists", "links_ready"),
    pytest.param("pst_sched_lists", "links_wheel", marks=pytest.mark.slow),
    ("pst_sched_lists", "cover_wheel"),
    ("pst_timing_wheel", "prove"),
    ("pst_timing_wheel", "cover"),
]


@pytest.mark.parametrize("module, task", TASKS)
def test_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("timing", module, [task]) == {task: "PASS"}
