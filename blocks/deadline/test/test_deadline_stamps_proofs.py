# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_deadline_stamps is proved: never early, skip times do not run back, none is kept; and what the proof covers is reached."""

import pytest

from penstock.testing import testkit

SLOW = [pytest.param(task, marks=pytest.mark.slow) for task in ("prove_1", "prompt_0")]


@pytest.mark.parametrize("task", ["prove_0", "cover", *SLOW])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("deadline", "pst_deadline_stamps", [task]) == {task: "PASS"}
