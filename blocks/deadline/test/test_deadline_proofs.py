"""The proofs of encoder and chunk lists pass; what must make them fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit

TASKS = [
    ("pst_deadline_encoder", "three"),
    ("pst_deadline_encoder", "hasty"),
    ("pst_deadline_encoder", "cover"),
    ("pst_chunk_lists", "places"),
    ("pst_chunk_lists", "one"),
    ("pst_chunk_lists", "two"),
    ("pst_chunk_lists", "cover"),
]


@pytest.mark.parametrize("module, task", TASKS)
def test_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("deadline", module, [task]) == {task: "PASS"}
