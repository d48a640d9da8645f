"""The proofs of the hierarchy pass. Which faults each of them finds: ../faults.yaml."""

import re

import pytest

from penstock.testing import testkit

# Only batches of more than two queues show these. Of such batches there is no proof that is short enough to be a test, but with a fault its
# induction fails at once.
UNPROVED_LONG_TRAINS = {
    "the last of a batch is marked too early": ("last: p5_walk_q.links == number_t'(2)}", "last: p5_walk_q.links <= number_t'(3)}"),
    "a next head after a batch that took all": ("head: p3_left_q", "head: p3_left_q || p3_number_q > number_t'(1)"),
    "a pick may meet a long batch": (" && !(p4_walk_q.valid && p4_walk_q.links > number_t'(2));", ";"),
}


def proof_passes(module: str, tasks: list[str]) -> None:
    assert testkit.run_proof("hierarchy", module, tasks) == dict.fromkeys(tasks, "PASS")


@pytest.mark.parametrize(
    "tasks", [["places", "room", "cover"], pytest.param(["times"], marks=pytest.mark.slow)], ids=lambda tasks: tasks[0]
)
def test_proof_passes(tasks: list[str]) -> None:
    proof_passes("pst_gate", tasks)


@pytest.mark.slow
def test_proof_of_lists_passes() -> None:
    proof_passes("pst_fair_lists", [*(f"short_{part}" for part in ("0", "1", "2", "3", "4", "a", "b", "c")), "cover"])


def test_proof_of_siblings_passes() -> None:
    proof_passes("pst_siblings", ["prove_4", "prove_2", "cover"])


def test_proof_of_waits_above_passes() -> None:
    proof_passes("pst_waits_above", ["prove_node", "prove_subscriber", "cover_node", "cover_subscriber"])


def test_proof_of_subscriber_queues_passes() -> None:
    proof_passes("pst_subscriber_queues", ["prove_4", "prove_2", "room", "cover"])


def test_proof_of_order_passes() -> None:
    proof_passes("pst_sibling_order", ["prove_4", "prove_2", "cover"])


def test_proof_of_credit_passes() -> None:
    proof_passes("pst_round_credit", ["prove", "cover"])


def test_proof_of_places_passes() -> None:
    proof_passes("pst_hierarchy_place", ["prove_2", "prove_1", "cover"])


@pytest.mark.slow
@pytest.mark.parametrize("name", UNPROVED_LONG_TRAINS)
def test_fault_of_long_trains_is_not_proved(name: str) -> None:
    fault = ("hierarchy/rtl/pst_fair_lists.sv", *UNPROVED_LONG_TRAINS[name])
    assert testkit.run_proof("hierarchy", "pst_fair_lists", ["whole"], fault) == {"whole": "UNKNOWN"}


def test_parts_of_a_proof_name_each_letter() -> None:
    """Yosys takes [a-h] in a selection for three letters: what is not selected would be assumed, not proved."""
    scripts = list(testkit.BLOCKS.glob("*/formal/*.sby"))
    assert scripts
    assert not [script.name for script in scripts if re.search(r"\[\w-\w\]", script.read_text())]
