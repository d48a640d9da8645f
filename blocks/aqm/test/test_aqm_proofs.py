"""The proofs of the aqm block pass; faults that must make them fail are operators', or in faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize(
    ("module", "task"),
    [
        ("pst_cobalt", "prove"),
        pytest.param("pst_cobalt", "cover", marks=pytest.mark.slow),
        ("pst_dualpi2", "prove"),
        ("pst_dualpi2", "step"),
        ("pst_dualpi2", "cover"),
        ("pst_dualpi2_update", "prove"),
        ("pst_dualpi2_update", "cover"),
    ],
)
def test_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("aqm", module, [task]) == {task: "PASS"}
