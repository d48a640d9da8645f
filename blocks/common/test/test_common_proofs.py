"""The proofs of FIFO, skid buffer and pst_ram_modify pass; what must make them fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit

PROOFS = {
    "pst_fifo": [
        *("prove_1", "prove_3", "prove_4", "prove_1r", "prove_3r", "prove_4r", "prove_1p", "prove_3p", "prove_3rp"),
        *("cover_3", "cover_3r"),
    ],
    "pst_skid_buffer": ["prove", "cover"],
}


@pytest.mark.parametrize("module, task", [(module, task) for module, tasks in PROOFS.items() for task in tasks])
def test_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("common", module, [task]) == {task: "PASS"}


def test_proof_of_modify_passes() -> None:
    assert testkit.run_proof("common", "pst_ram_modify", ["prove", "cover"]) == {"prove": "PASS", "cover": "PASS"}
