# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The proof of the fetch's pointers passes, and what it covers is reached. Which faults it finds: ../faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove_2", pytest.param("prove_4", marks=pytest.mark.slow), "cover"])
def test_fetch_proof_passes(task: str) -> None:
    assert testkit.run_proof("deadline", "pst_deadline_fetch", [task]) == {task: "PASS"}
