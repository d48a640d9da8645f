"""The proof of the page allocator passes, and fails with each planted fault."""

import pytest

from penstock import testkit

ALLOCATOR = "memory/rtl/pst_page_allocator.sv"
FAULTS = {
    "a freed page collides with one from the RAM": ("prove_3", ALLOCATOR, " && pipe_valid_q == '0;", ";"),
    "the ring does not wrap": ("prove_3", ALLOCATOR, "page == page_t'(Pages - 1) ? '0 : page + 1'b1", "page + 1'b1"),
    "no place is reserved": ("prove_4", ALLOCATOR, "issue_ram   = room &&", "issue_ram   ="),
}


def test_proof_passes() -> None:
    status = testkit.run_proof("memory", "pst_page_allocator")
    assert set(status.values()) == {"PASS"}, status


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_fails(name: str) -> None:
    task, *fault = FAULTS[name]
    assert testkit.run_proof("memory", "pst_page_allocator", [task], tuple(fault)) == {task: "FAIL"}
