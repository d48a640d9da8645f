"""The proof of pst_find_queue passes; what must make it fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("profile", "pst_find_queue", [task]) == {task: "PASS"}
