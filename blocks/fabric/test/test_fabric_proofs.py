"""The proofs of the switch pass, and fail with each planted fault."""

import pytest

from penstock import testkit

RTL = "fabric/rtl/"
FAULTS = {
    "a cell goes to the wrong FIFO": ("prove_2_1", RTL + "pst_fabric_offsets.sv", "waited[d] - starts[d]", "waited[d]"),
    "the offset counters forget the batch before": (
        "find_2_4", RTL + "pst_offset_counters.sv", "sum_q[d] <= sum_q[d] + counts_i[d]", "sum_q[d] <= counts_i[d]"
    ),
    "invalid cells are not sorted to the front": ("prove_2_4", RTL + "pst_fabric.sv", "s_cell_valid_i[i] && s_cell_ready_o[i],", "1'b1,"),
    "a swap keeps one of the words": ("prove_2_4", RTL + "pst_batcher_sort.sv", "swap ? from[x] : from[x+Distance]", "from[x+Distance]"),
    "the filter does not look at the destination": ("prove_2_4", RTL + "pst_fabric_output.sv", " && s_dest_i[q] == output_i", ""),
    "the arbiter's turn moves on without a cell": ("prove_2_4", RTL + "pst_rotating_arbiter.sv", "(valid_o && take_i)", "take_i"),
    "a full FIFO drops although a cell leaves it": ("find_2_4", "stream/rtl/pst_fifo.sv", " || (ReadyOnPop && m_ready_i)", ""),
}  # fmt: skip


@pytest.mark.parametrize("task", ["prove_2_1", "prove_2_4", "cover_2_4"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("fabric", "pst_fabric", [task]) == {task: "PASS"}


@pytest.mark.slow
def test_proof_of_four_ports_passes() -> None:
    assert testkit.run_proof("fabric", "pst_fabric", ["prove_4_4"]) == {"prove_4_4": "PASS"}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_fails(name: str) -> None:
    task, *fault = FAULTS[name]
    assert testkit.run_proof("fabric", "pst_fabric", [task], tuple(fault)) == {task: "FAIL"}
