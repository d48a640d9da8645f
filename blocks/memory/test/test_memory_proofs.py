"""The proofs of the page allocator, of the admission and of what several pairs share pass. Which faults they find: ../faults.yaml."""

import pytest

from penstock.testing import testkit


@pytest.mark.parametrize("task", ["prove_3", "prove_4", "cover_6"])
def test_proof_passes(task: str) -> None:
    assert testkit.run_proof("memory", "pst_page_allocator", [task]) == {task: "PASS"}


LONG = [pytest.param(task, marks=pytest.mark.slow) for task in ("prove_one", "prove_lost")]


@pytest.mark.parametrize("task", [*LONG, "prove_two", "cover_one", "cover_lost"])
def test_admission_proof_passes(task: str) -> None:
    assert testkit.run_proof("memory", "pst_page_admission", [task]) == {task: "PASS"}


@pytest.mark.parametrize("module", ["pst_share_write", "pst_share_read"])
@pytest.mark.parametrize("task", ["prove_2", "prove_3", "follow_2", "cover_2"])
def test_share_proof_passes(module: str, task: str) -> None:
    assert testkit.run_proof("memory", module, [task]) == {task: "PASS"}


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_guard_proof_passes(task: str) -> None:
    assert testkit.run_proof("memory", "pst_memory_guard", [task]) == {task: "PASS"}


@pytest.mark.parametrize("task", ["prove_any", "prove_same", "cover_any"])
def test_choice_proof_passes(task: str) -> None:
    assert testkit.run_proof("memory", "pst_page_choice", [task]) == {task: "PASS"}


@pytest.mark.parametrize("task", ["prove_2", "prove_3", "cover_2"])
def test_free_route_proof_passes(task: str) -> None:
    assert testkit.run_proof("memory", "pst_free_route", [task]) == {task: "PASS"}
