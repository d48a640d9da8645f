"""The proofs of iSLIP, of segmentation and of reassembly pass; what must make them fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit

TASKS = [
    *(("pst_islip", task) for task in ("match_2", "match_4", "maximal_2", "maximal_4", "served_2", "served_3", "cover_4")),
    ("pst_frame_segment", "prove"),
    ("pst_frame_segment", "cover"),
    ("pst_frame_reassemble", "cover"),
    pytest.param("pst_frame_reassemble", "prove", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("module, task", TASKS)
def test_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("fabric", module, [task]) == {task: "PASS"}
