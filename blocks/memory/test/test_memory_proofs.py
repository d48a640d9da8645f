"""The proofs of the page allocator and of pst_ram_modify pass. Which faults each of them finds: ../faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove_3", "prove_4", "cover_6"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("memory", "pst_page_allocator", [task]) == {task: "PASS"}


def test_proof_of_modify_passes() -> None:
    assert testkit.run_proof("memory", "pst_ram_modify", ["prove", "cover"]) == {"prove": "PASS", "cover": "PASS"}
