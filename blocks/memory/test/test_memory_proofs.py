"""The proofs of the page allocator (faults of it: faults.yaml) and of pst_ram_modify pass; the latter fails with each planted fault."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove_3", "prove_4", "cover_6"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("memory", "pst_page_allocator", [task]) == {task: "PASS"}


MODIFY = "memory/rtl/pst_ram_modify.sv"
FAULTS_OF_MODIFY = {
    "the operation just ahead is not seen": ("c3_hit_q  <= valid_q[3] && addr_q[3] == addr_q[2];", "c3_hit_q  <= 1'b0;"),
    "the operation two ahead is not seen": ("stage >= 4;", "stage >= 5;"),
    "the operation three ahead is not seen": ("if (valid_q[stage] && addr_q", "if (stage != 5 && valid_q[stage] && addr_q"),
    "the operation four ahead is not seen": ("int stage = 6;", "int stage = 5;"),
    "of two operations ahead the older one is seen": ("int stage = 6; stage >= 4; stage--", "int stage = 4; stage <= 6; stage++"),
    "an address without an operation is forwarded": ("if (valid_q[stage] && addr_q", "if (addr_q"),
    "an address just ahead without an operation is forwarded": ("valid_q[3] && addr_q[3] ==", "addr_q[3] =="),
    "the walker does not clear": ("init_q ? '0 : word_q[4]", "word_q[4]"),
    "the walker leaves the last word": ("init_addr_q == addr_t'(Depth - 1)", "init_addr_q == addr_t'(Depth - 2)"),
    "what an operation writes is lost": ("init_q || c4_we_q", "init_q"),
}


def test_proof_of_modify_passes() -> None:
    assert testkit.run_proof("memory", "pst_ram_modify", ["prove", "cover"]) == {"prove": "PASS", "cover": "PASS"}


@pytest.mark.parametrize("name", FAULTS_OF_MODIFY)
def test_fault_of_modify_fails(name: str) -> None:
    assert testkit.run_proof("memory", "pst_ram_modify", ["find"], (MODIFY, *FAULTS_OF_MODIFY[name])) == {"find": "FAIL"}
