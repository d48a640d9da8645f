"""The proof of pst_async_fifo passes; what must make it fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove_4", "prove_8", "cover_4"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("crossing", "pst_async_fifo", [task]) == {task: "PASS"}
