"""The proof of pst_lookup passes; what must make it fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("lookup", "pst_lookup", [task]) == {task: "PASS"}
