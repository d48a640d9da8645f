"""The proofs of the counters pass. Which faults each of them finds: ../faults.yaml."""

from penstock.testing import testkit


def test_proof_of_the_busiest_passes() -> None:
    tasks = ["prove_3", "prove_1", "cover"]
    assert testkit.run_proof("count", "pst_busiest", tasks) == dict.fromkeys(tasks, "PASS")


def test_proof_of_the_interrupt_passes() -> None:
    tasks = ["prove", "cover"]
    assert testkit.run_proof("count", "pst_interrupt", tasks) == dict.fromkeys(tasks, "PASS")
