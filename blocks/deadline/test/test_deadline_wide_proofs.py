# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The proofs of what makes columns one port pass. Which faults they find: ../faults.yaml."""

import pytest

from penstock.testing import testkit

TASKS = [
    ("pst_deadline_token", "prove_2"),
    pytest.param("pst_deadline_token", "prove_4", marks=pytest.mark.slow),
    pytest.param("pst_deadline_token", "cover_2", marks=pytest.mark.slow),
    ("pst_edfr_positions", "prove_2"),
    ("pst_edfr_positions", "prove_4"),
    ("pst_edfr_positions", "cover_2"),
    ("pst_deal_intake", "prove_2"),
    ("pst_deal_intake", "prove_4"),
    ("pst_deal_intake", "cover_4"),
    ("pst_deal_assign", "prove_2"),
    ("pst_deal_assign", "prove_4"),
    ("pst_deal_assign", "cover_2"),
    pytest.param("pst_deal_store", "find_2", marks=pytest.mark.slow),
    pytest.param("pst_deal_store", "cover_2", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("module, task", TASKS)
def test_wide_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("deadline", module, [task]) == {task: "PASS"}
