"""The proof of the page allocator passes. Which faults it finds: ../faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove_3", "prove_4", "cover_6"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("memory", "pst_page_allocator", [task]) == {task: "PASS"}
