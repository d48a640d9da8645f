"""The proofs of iSLIP, of segmentation and of reassembly pass, and fail with each planted fault."""

import pytest

from penstock import testkit

TASKS = [
    ("pst_islip", ["match_2", "match_4", "maximal_2", "maximal_4", "served_2", "served_3", "cover_4"]),
    ("pst_frame_segment", ["prove", "cover"]),
    ("pst_frame_reassemble", ["cover"]),
    pytest.param("pst_frame_reassemble", ["prove"], marks=pytest.mark.slow),
]

SEGMENT = "fabric/rtl/pst_frame_segment.sv"
ISLIP, REASSEMBLE = "fabric/rtl/pst_islip.sv", "fabric/rtl/pst_frame_reassemble.sv"

FAULTS = {
    "a matched input is granted again": ("pst_islip", "match_4", ISLIP, "candidates[i] = input_free[i] && (", "candidates[i] = ("),
    "an output that is taken grants again": ("pst_islip", "match_4", ISLIP, "output_free &= ~accept[i];", ""),
    "one iteration too few": ("pst_islip", "maximal_4", ISLIP, "n < Iterations;", "n < Iterations - 1;"),
    "a pointer stays at the port that it served": ("pst_islip", "served_2", ISLIP, "~(chosen | (chosen - 1'b1))", "~(chosen - 1'b1)"),
    "a pointer moves without an accept": (
        "pst_islip", "served_3", ISLIP, "first_accept[i][j] && first_grant_class[j][c]", "first_grant[j][i] && first_grant_class[j][c]"
    ),
    "the class counts at every beat": ("pst_frame_segment", "find", SEGMENT, "first_q ? beat.cls : class_q", "beat.cls"),
    "a beat is done with its first copy": ("pst_frame_segment", "find", SEGMENT, "(sent && left == '0)", "sent"),
    "a frame that was cut off goes on": ("pst_frame_segment", "find", SEGMENT, "(swallow || cut)", "swallow"),
    "every cell has a number of its own": ("pst_frame_segment", "find", SEGMENT, "if (sent && last) number_q", "if (sent) number_q"),
    "a cell goes without a credit": ("pst_frame_segment", "find", SEGMENT, "!swallow && credit;", "!swallow;"),
    "a frame with an error keeps its credits": ("pst_frame_segment", "find", SEGMENT, "last && error ? credit_t'(index_q) : '1", "'1"),
    "a credit comes back to all classes": (
        "pst_frame_segment", "find", SEGMENT, "s_credit_valid_i[p] && s_credit_class_i[p] == class_t'(c)", "s_credit_valid_i[p]"
    ),
    "a missing cell is not seen": (
        "pst_frame_reassemble", "find", REASSEMBLE, "open_q[flow] && header_q.index == index_q[flow]", "open_q[flow]"
    ),
    "a frame that lost its end stays": (
        "pst_frame_reassemble", "find", REASSEMBLE, "same ? write_q[flow] : commit_q[flow]", "write_q[flow]"
    ),
    "full room is not seen": ("pst_frame_reassemble", "find", REASSEMBLE, "in_turn && room && !forget", "in_turn && !forget"),
    "a frame is chosen twice": (
        "pst_frame_reassemble", "find", REASSEMBLE, "ptr_t'(start && next_flow_q == flow_t'(f));\n    next", "ptr_t'(0);\n    next"
    ),
    "a frame that begins in its middle": ("pst_frame_reassemble", "find", REASSEMBLE, ": header_q.index == '0;", ": 1'b1;"),
}  # fmt: skip


@pytest.mark.parametrize("module, tasks", TASKS)
def test_proof_passes(module: str, tasks: list[str]) -> None:
    assert testkit.run_proof("fabric", module, tasks) == dict.fromkeys(tasks, "PASS")


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_fails(name: str) -> None:
    module, task, *fault = FAULTS[name]
    # A bound that is not kept is found from reset, or by the induction alone.
    red = {"FAIL", "UNKNOWN"} if task.startswith("served") else {"FAIL"}
    assert testkit.run_proof("fabric", module, [task], tuple(fault))[task] in red
