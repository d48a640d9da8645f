"""The proofs of pst_async_fifo and pst_crossing_reset pass; what must make them fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit

TASKS = {"pst_async_fifo": ["prove_4", "prove_8", "cover_4"], "pst_crossing_reset": ["prove_2", "prove_5", "cover_2"]}


@pytest.mark.parametrize(("module", "task"), [(module, task) for module, tasks in TASKS.items() for task in tasks])
def test_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("crossing", module, [task]) == {task: "PASS"}
