"""The proofs of the switch pass; what must make them fail stands in faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove_2_1", "prove_2_4", "cover_2_4"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("fabric", "pst_fabric", [task]) == {task: "PASS"}


@pytest.mark.slow
def test_proof_of_four_ports_passes() -> None:
    assert testkit.run_proof("fabric", "pst_fabric", ["prove_4_4"]) == {"prove_4_4": "PASS"}
