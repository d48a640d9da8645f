"""The proof of the queue manager passes, and fails with each planted fault."""

import pytest

from penstock import testkit

MANAGER = "queue/rtl/pst_queue_manager.sv"
FAULTS = {
    "the third enqueue in a row is not forwarded": (MANAGER, "e_hit3_q ? enq1_q : enq_s3_q", "enq_s3_q"),
    "the dequeue of the same cycle is not seen": (MANAGER, "(deq_same_queue_q && d_commit)", "1'b0"),
    "a dequeue does not see the enqueue of two cycles ago": (MANAGER, "if (ed_hit2_q) enq_packets_for_deq = enq2_q.packets;", ""),
    "the limit in bytes forgets the packet": (
        MANAGER,
        "(ByteCountWidth'(limit_r.bytes) - ByteCountWidth'(e2_q.packet.len))",
        "limit_r.bytes",
    ),
}


def test_proof_passes() -> None:
    assert testkit.run_proof("queue", "pst_queue_manager", ["prove", "cover"]) == {"prove": "PASS", "cover": "PASS"}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_fails(name: str) -> None:
    """Each is found from reset: `find` is a bounded search of the same assertions."""
    assert testkit.run_proof("queue", "pst_queue_manager", ["find"], FAULTS[name]) == {"find": "FAIL"}
