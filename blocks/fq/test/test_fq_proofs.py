"""The proofs of the fq block pass; what must make them fail stands in faults.yaml, or is an operator's."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("fq", "pst_fq_lists", [task]) == {task: "PASS"}
