"""The proof of the queue manager passes; what must make it fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("queue", "pst_queue_manager", [task]) == {task: "PASS"}
