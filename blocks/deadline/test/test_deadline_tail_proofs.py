"""The proof of the tail's slots passes. Which faults it finds: ../faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove_2", "prove_3", "cover_2"])
def test_slots_proof_passes(task: str) -> None:
    assert testkit.run_proof("deadline", "pst_deadline_slots", [task]) == {task: "PASS"}
