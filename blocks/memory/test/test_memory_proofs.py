"""The proof of the page allocator passes; what must make it fail stands in faults.yaml."""

import pytest

from penstock import testkit


@pytest.mark.parametrize("task", ["prove_3", "prove_4", "cover_6"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("memory", "pst_page_allocator", [task]) == {task: "PASS"}
