"""The proof of the FIFO passes; what must make it fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit

PROOFS = {
    "pst_ram_fifo": ["prove_2", "prove_4", "cover_4"],
}


@pytest.mark.parametrize("module, task", [(module, task) for module, tasks in PROOFS.items() for task in tasks])
def test_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("stream", module, [task]) == {task: "PASS"}
