"""The proofs of the scheduler pass; what must make them fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit

TASKS = [
    ("pst_schedule_passthrough", "prove"),
    ("pst_schedule_passthrough", "cover"),
    ("pst_outstanding", "prove_2"),
    ("pst_outstanding", "prove_3"),
    ("pst_outstanding", "prove_long"),
    ("pst_outstanding", "cover"),
    ("pst_send_ahead", "prove_2"),
    ("pst_send_ahead", "cover"),
    ("pst_schedule_shaped", "places"),
    ("pst_schedule_shaped", "places_verdict_2"),
]
SLOW = [
    ("pst_schedule_shaped", "times_0"),
    ("pst_send_ahead", "prove_3"),
    ("pst_schedule_shaped", "times_1"),
    ("pst_schedule_shaped", "cover"),
    ("pst_schedule_shaped", "places_verdict_1"),
    ("pst_schedule_shaped", "places_verdict_3"),
    ("pst_schedule_shaped", "times_verdict_1"),
    ("pst_schedule_shaped", "times_verdict_2"),
    ("pst_schedule_shaped", "times_verdict_3"),
]


@pytest.mark.parametrize("module, task", TASKS)
def test_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("schedule", module, [task]) == {task: "PASS"}


@pytest.mark.slow
@pytest.mark.parametrize("module, task", SLOW)
def test_slow_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("schedule", module, [task]) == {task: "PASS"}
