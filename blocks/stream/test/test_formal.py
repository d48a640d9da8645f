"""The proofs of the FIFOs and the skid buffer pass, and fail with each planted fault."""

import pytest

from penstock import testkit

FAULTS = {
    "pst_fifo": [
        ("prove_3", "stream/rtl/pst_fifo.sv", "AddrWidth'(Depth - 1)", "AddrWidth'(Depth)"),
        ("prove_4", "stream/rtl/pst_fifo.sv", "if (pop && !push) level_d", "if (pop) level_d"),
        ("prove_3p", "stream/rtl/pst_fifo.sv", "(ReadyOnPop && m_ready_i)", "ReadyOnPop"),
        ("prove_3r", "stream/rtl/pst_fifo.sv", "level_q <= LevelWidth'(1) ? s_data_i", "level_q == '0 ? s_data_i"),
    ],
    "pst_skid_buffer": [
        ("prove", "stream/rtl/pst_skid_buffer.sv", "skid_valid_q ? skid_data_q : s_data_i", "s_data_i"),
        ("prove", "stream/rtl/pst_skid_buffer.sv", "if (push) skid_data_q", "if (push && advance) skid_data_q"),
    ],
    "pst_ram_fifo": [
        ("prove_4", "stream/rtl/pst_ram_fifo.sv", "if (s_rewind_i) write_d = commit_q;", ""),
        ("prove_4", "stream/rtl/pst_ram_fifo.sv", "read_q != commit_q &&", "read_q != write_q &&"),
        ("prove_4", "stream/rtl/pst_ram_fifo.sv", "fetched_d   = read || (fetched_q && !advance)", "fetched_d = read"),
    ],
}


@pytest.mark.parametrize("module", FAULTS)
def test_proof_passes(module: str) -> None:
    status = testkit.run_proof("stream", module)
    assert set(status.values()) == {"PASS"}, status


@pytest.mark.parametrize(
    "module, task, fault", [(module, task, tuple(fault)) for module, faults in FAULTS.items() for task, *fault in faults]
)
def test_planted_fault_fails(module: str, task: str, fault: tuple[str, str, str]) -> None:
    assert testkit.run_proof("stream", module, [task], fault) == {task: "FAIL"}
