"""The proofs of the hierarchy pass, and fail with each planted fault."""

import pytest

from penstock.testing import testkit

GATE = "hierarchy/rtl/pst_gate.sv"
LISTS = "hierarchy/rtl/pst_fair_lists.sv"
CREDIT = "hierarchy/rtl/pst_round_credit.sv"
WAITING = "hierarchy/rtl/pst_waiting_queues.sv"
SIBLINGS = "hierarchy/rtl/pst_siblings.sv"
QUEUES = "hierarchy/rtl/pst_subscriber_queues.sv"
ORDER = "hierarchy/rtl/pst_sibling_order.sv"

TASKS = [
    ["places", "room", "cover"],
    ["times"],
]

# Found from reset, by a bounded search of the same assertions.
FAULTS = {
    "the state written three operations before is not forwarded": ("if (c6_valid_q && c6_parent_q == c3_parent_q)", "if (1'b0)"),
    "a parent is placed once more for each queue that waits": ("c4_place  = wait_o && c4_state.count == '0;", "c4_place  = wait_o;"),
    "a packet passes a closed gate": ("!c4_early && !c4_closed_q && c4_state", "!c4_early && c4_state"),
}

SLOW_FAULTS = {
    "a parent is lost when a queue leaves": ("c4_place     = s_op_last_i && c4_state.count != CountWidth'(1);", "c4_place     = 1'b0;"),
    "a gate opens before the last parent has parked": ("4'(OpenCycles)", "4'(3)"),
}

# It takes tens of thousands of cycles until a time is wrong, and many parents until a FIFO is full. No bounded search gets there, but the
# induction does not close.
UNPROVED = {
    "the state written two operations before is not forwarded": (
        "places", "if (c5_valid_q && c5_parent_q == c3_parent_q) c3_state = c5_state_q;", ""
    ),
    "a packet's time is compared without a sign": (
        "places", "$signed(now_i - c4_cycle) < 0 ||", "now_i < c4_cycle ||"
    ),
    "operations may come when the FIFO is too full": ("room", "PlaceDepth - 16 &&", "PlaceDepth - 8 &&"),
    "any queue of a train places its parent": ("places", "c4_place     = s_op_last_i && c4_state", "c4_place     = c4_state"),
    "trains are as long as the tolerance does not allow": (
        "places", "d3_longest < d3_rule_q.most ? d3_longest : d3_rule_q.most", "d3_longest"
    ),
    "the largest packet's time is rounded down": ("places", "SpanWidth'(scaled) + 1'b1;", "SpanWidth'(scaled);"),
    "a train is one packet longer than it may be": (
        "places", "(late_t'(span) << k) - late_t'(span) <= late", "(late_t'(span) << k) - 2 * late_t'(span) <= late"
    ),
    "a parent gets the next one's train": ("places", ".m_ready_i(given_q)", ".m_ready_i(m_due_valid_o && m_due_ready_i)"),
    "the due stages take one more than has room": ("room", "int'(due_level) <= DueDepth - 4", "int'(due_level) <= DueDepth - 1"),
}  # fmt: skip

UNPROVED_TIMES = {
    "a due parent's time is compared without a sign": ("$signed(d2_hold - now_i) >= 0", "d2_hold >= now_i"),
    "a train may be a cycle longer than the parent is late": ("late_of(32'(d2_late))", "late_of(32'(d2_late) + 1)"),
    "a wrapped time is taken for great lateness": ("late_of(32'(d2_late))", "late_of({16'b0, now_i} - {16'b0, d2_hold} - 1)"),
    "a parent waits a cycle too short": (
        "(c5_state_q.stamp - 1'b1) >> 16",
        "(c5_state_q.stamp - (stamp_t'(1) << 16)) >> 16",
    ),
}

# The proof of the lists is one induction in parts.
PARTS_OF_LISTS = ["0", "1", "2", "3", "4", "named"]

# Each costs the proof of the lists its induction, with all assertions at once; "FAIL" would need some 15 cycles from reset, which take
# minutes. Trains of two are quicker than trains of four, where they show the fault.
UNPROVED_LISTS = {
    "the lowest class goes first": (
        "whole_short", "for (int c = Classes - 1; c >= 0; c--) if (look2_mask[c])", "for (int c = 0; c < Classes; c++) if (look2_mask[c])"
    ),
    "the word written two operations before is not forwarded": ("whole_short", "hit23_q      <= p1_hit2 ||", "hit23_q      <="),
    "a pick may overtake the next head of its list": ("whole_short", "if (head_valid) begin", "if (head_valid && !pick_valid) begin"),
    "a list that ran empty keeps its old head": ("whole_short", "if (!nonempty) p2_new.head[side] = p2_q.queue_id;", ""),
    "the classes that wait are not cleared": (
        "whole_short", "p3_mask[c] = p3_waits_q;", "p3_mask[c] = p3_mask_q[c] || p3_waits_q;"
    ),
    "a train leaves a queue too many in the count": ("whole_short", "p3_none_q ? '0 : p3_number_q", "p3_none_q ? '0 : number_t'(1)"),
    "the last of a train is marked too early": (
        "whole", "last: p5_walk_q.links == number_t'(2)}", "last: p5_walk_q.links <= number_t'(3)}"
    ),
    "places that a short train does not need are lost": (
        "whole_short", "(credit_count_t'(1) << p3_q.train) - credit_count_t'(p3_number_q) : '0", "'0 : '0"
    ),
    "a train's first queue is looked up for all of it": (
        "whole_short", "assign m_look_queue_o = p3_given;", "assign m_look_queue_o = p3_picked_q;"
    ),
    "who holds back is forgotten": (
        "whole_short", "{p4_pick_q, m_look_hold_i, m_look_queue_i}", "{p4_pick_q, patience_t'(0), m_look_queue_i}"
    ),
    "a queue is handed out before the look-up has answered": ("whole_short", ".s_valid_i(p4_given_q)", ".s_valid_i(p3_pick_q || p5_more)"),
}  # fmt: skip

SLOW_UNPROVED_LISTS = {
    "a train is taken for the whole list too early": ("whole_short", "(p2_lists.all[side] && !more_than_train);", "p2_lists.all[side];"),
    "a next head after a train that took all": ("whole", "head: p3_left_q", "head: p3_left_q || p3_number_q > number_t'(1)"),
    "a pick may meet a long train": ("whole", " && !(p4_walk_q.valid && p4_walk_q.links > number_t'(2));", ";"),
    "a pick may meet the second queue of a train": ("whole_short", " && !(p2_q.valid && p2_q.op == OpPick && p2_q.train != '0)", ""),
}

# Of the queues that wait together one stands in the list.
FAULTS_OF_SIBLINGS = {
    "a queue is appended although another stands": (SIBLINGS, "(s_event_waits_i && c3_beside == '0)", "s_event_waits_i"),
    "parents are not looked at": (WAITING, "\n          && words[i].parent == s_event_parent_i;", ";"),
    "classes are not looked at": (WAITING, " && words[i].cls == s_event_class_i\n", "\n"),
    "a queue that has left still waits": (WAITING, "if (s_event_left_i) words_new[i].waits = 1'b0;", ""),
    "the next one is not appended when one has left": (SIBLINGS, " || (s_event_left_i && c3_beside != '0);", ";"),
    "one that may not go yet is not appended again": (SIBLINGS, "s_event_again_i || (s_event_waits_i", "(s_event_waits_i"),
    "a queue that has left is appended": (
        SIBLINGS, "if (!s_event_left_i) c3_waiting[s_event_index_i] = 1'b1;", "c3_waiting[s_event_index_i] = 1'b1;"
    ),
    "a look in the cycle of the write has the old queue": (
        SIBLINGS, "hit_q[look_index_q] ? new_q : next[look_index_q]", "next[look_index_q]"
    ),
    "a look has another subscriber's queue": (SIBLINGS, "subscriber_q[5] == s_look_subscriber_i ? c5_waiting_q : '0", "c5_waiting_q"),
    "the one that has had the most goes": (SIBLINGS, "c4_before_q[b][a]", "c4_before_q[a][b]"),
    "the choice is not written for all": (SIBLINGS, ".we_i(c5_waiting_q[i])", ".we_i(c5_waiting_q[i] && c5_next_q.first == index_t'(i))"),
    "none is chosen when one has left": (
        SIBLINGS, "s_event_waits_i || s_event_left_i || s_event_again_i ? c3_waiting", "s_event_waits_i || s_event_again_i ? c3_waiting"
    ),
    "a queue that waits is waited for": (SIBLINGS, "s_event_left_i ? s_event_repeat_i : '0;", "s_event_repeat_i;"),
    "it holds back for ever": (SIBLINGS, "s_event_hold_i - 1'b1 : '0;", "s_event_hold_i : '0;"),
    "it holds back for a queue that would go after it": (SIBLINGS, "c4_repeat_q[c4_first] ? Patience", "c4_repeat_q != '0 ? Patience"),
}  # fmt: skip

# Which of a subscriber's queues is picked.
FAULTS_OF_QUEUES = {
    "classes are not looked at": (
        QUEUES, "(c4_classes[b] < c4_classes[a] || (c4_classes[b] == c4_classes[a] && c4_before_q[b][a]))", "c4_before_q[b][a]"
    ),
    "the lowest class goes first": (QUEUES, "c4_classes[b] < c4_classes[a] ||", "c4_classes[b] > c4_classes[a] ||"),
    "queues of other classes are compared": (QUEUES, "(c4_classes[b] == c4_classes[a] && c4_before_q[b][a])", "c4_before_q[b][a]"),
    "queues that do not wait are compared": (QUEUES, "b != a && c4_waits[b] &&", "b != a &&"),
    "the order is read the wrong way": (QUEUES, "c4_before_q[b][a]", "c4_before_q[a][b]"),
    "none is chosen when a queue has left": (
        QUEUES, "c4_event_q   <= s_event_waits_i || s_event_left_i;", "c4_event_q   <= s_event_waits_i;"
    ),
    "a queue that has left still waits": (WAITING, "if (s_event_left_i) words_new[i].waits = 1'b0;", ""),
    "a pick reads a cycle too early": (QUEUES, ".raddr_i(look_subscriber_q[2])", ".raddr_i(look_subscriber_q[1])"),
    "a pick takes what was chosen for another subscriber": (
        QUEUES, ".waddr_i(init_q ? init_subscriber_q : subscriber_q[5])", ".waddr_i(subscriber_q[4])"
    ),
}  # fmt: skip

UNPROVED_QUEUES = {
    "more picks than the FIFO holds": ("room", "$bits(credit_q)'(PickDepth);", "$bits(credit_q)'(PickDepth + 1);"),
    "a pick leaves its place behind": (
        "room", "credit_q + $bits(credit_q)'(m_pick_valid_o && m_pick_ready_i)", "credit_q + $bits(credit_q)'(m_pick_valid_o)"
    ),
}  # fmt: skip

# By how much a queue is behind.
FAULTS_OF_ORDER = {
    "classes are not looked at": ("c3_passes && c3_words[i].cls == c3_class_q", "c3_passes"),
    "the others do not fall behind": ("else if (charge_q[3] && c3_passes && ", "else if (1'b0 && "),
    "what the queue was behind is not counted": (": c3_own - c3_cost;", ": '0;"),
    "the others fall behind by the whole packet": (
        "saturated(c3_words[i].behind, c3_cost, c3_own)", "saturated(c3_words[i].behind, c3_cost, '0)"
    ),
    "the order is the wrong way": ("c4_words[a].behind >= c4_words[b].behind :", "c4_words[a].behind <= c4_words[b].behind :"),
    "of two that are equal neither goes first": ("c4_words[a].behind >= c4_words[b].behind :", "c4_words[a].behind > c4_words[b].behind :"),
    "a look is charged": ("s_op_valid_i && s_op_charge_i}", "s_op_valid_i}"),
    "weights do not count": ("per_weight(s_op_weight_i)", "per_weight('0)"),
    "before whom a queue would go again forgets its next packet": (
        "(BehindWidth + 1)'(c4_words[b].behind) + (BehindWidth + 1)'(c4_cost_q)", "(BehindWidth + 1)'(c4_words[b].behind)"
    ),
    "a queue keeps its old class": ("c3_new[i].cls    = c3_class_q;", ""),
}  # fmt: skip

# It takes many packets until a queue is so far behind.
UNPROVED_ORDER = {
    "before whom a queue would go again wraps": (
        "prove_4",
        "(BehindWidth + 1)'(c4_words[b].behind) + (BehindWidth + 1)'(c4_cost_q)",
        "(BehindWidth + 1)'(behind_t'(c4_words[b].behind + c4_cost_q))",
    ),
    "being far behind wraps": ("prove_4", "sum[BehindWidth] ? '1 : sum", "sum"),
}

# Found from reset within some 20 cycles.
FAULTS_OF_CREDIT = {
    "a quantum for each pick": ("r6_credit_q <= r5_again_q ? r5_own_q.credit : r5_refilled;", "r6_credit_q <= r5_refilled;"),
    "a packet that asks is charged": ("r7_we_q   <= s_op_picked_i;", "r7_we_q   <= 1'b1;"),
    "long packets are charged less": ("r6_credit_q - credit_t'(s_op_len_i)", "r6_credit_q - credit_t'(s_op_len_i[12:0])"),
}

UNPROVED_CREDIT = {
    "a queue goes with nothing left": ("r5_own_q.credit > -credit_t'(r5_quantum_q)", "r5_own_q.credit >= -credit_t'(r5_quantum_q)"),
    "a subscriber that spent just what it had is said to owe": ("= !r7_word_q.credit[CreditWidth-1];", "= r7_word_q.credit > 0;"),
    "a subscriber that spent just what it had may send more": ("= more_o && r7_word_q.credit != '0;", "= more_o;"),
    "credit is kept without limit": ("r5_raised > r5_most ? r5_most : r5_raised", "r5_raised"),
    "a class without a word has another one's credit": ("if (!r4_known_q) r5_own_q.credit <= '0;", ""),
    "a class without a word has another one's round": ("r5_again_q   <= r4_known_q && ", "r5_again_q   <= "),
    "a class without a word has nothing": ("r5_own_q.credit > 0 || !r5_known_q", "r5_own_q.credit > 0"),
    "a class takes a word although it has one": ("if (r3_match_q[i]) r3_place = index_t'(i);", ""),
    "a class takes the first word": ("r3_place = r3_index_q;", "r3_place = '0;"),
    "weights do not count": ("(QuantumLog + 4)'(r3_weight_q) + 1'b1", "(QuantumLog + 4)'(1'b1)"),
    "weights above 4 count for less": ("(QuantumLog + 4)'(r3_weight_q) + 1'b1", "(QuantumLog + 4)'(r3_weight_q[1:0]) + 1'b1"),
}


@pytest.mark.parametrize("tasks", TASKS, ids=lambda tasks: tasks[0])
def test_proof_passes(tasks: list[str]) -> None:
    assert testkit.run_proof("hierarchy", "pst_gate", tasks) == dict.fromkeys(tasks, "PASS")


@pytest.mark.parametrize("name", [*FAULTS, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_FAULTS)])
def test_planted_fault_fails(name: str) -> None:
    fault = (FAULTS | SLOW_FAULTS)[name]
    assert testkit.run_proof("hierarchy", "pst_gate", ["find"], (GATE, *fault)) == {"find": "FAIL"}


@pytest.mark.parametrize("name", UNPROVED)
def test_fault_is_not_proved(name: str) -> None:
    task, *fault = UNPROVED[name]
    assert testkit.run_proof("hierarchy", "pst_gate", [task], (GATE, *fault)) == {task: "UNKNOWN"}


@pytest.mark.parametrize("name", UNPROVED_TIMES)
def test_fault_of_time_is_not_proved(name: str) -> None:
    assert testkit.run_proof("hierarchy", "pst_gate", ["times"], (GATE, *UNPROVED_TIMES[name])) == {"times": "UNKNOWN"}


def test_proof_of_lists_passes() -> None:
    tasks = [*(f"short_{part}" for part in PARTS_OF_LISTS), "cover"]
    assert testkit.run_proof("hierarchy", "pst_fair_lists", tasks) == dict.fromkeys(tasks, "PASS")


@pytest.mark.parametrize("name", [*UNPROVED_LISTS, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_UNPROVED_LISTS)])
def test_fault_of_lists_is_not_proved(name: str) -> None:
    task, *fault = (UNPROVED_LISTS | SLOW_UNPROVED_LISTS)[name]
    assert testkit.run_proof("hierarchy", "pst_fair_lists", [task], (LISTS, *fault)) == {task: "UNKNOWN"}


def test_proof_of_siblings_passes() -> None:
    tasks = ["prove_4", "prove_2", "cover"]
    assert testkit.run_proof("hierarchy", "pst_siblings", tasks) == dict.fromkeys(tasks, "PASS")


@pytest.mark.parametrize("name", FAULTS_OF_SIBLINGS)
def test_fault_of_siblings_fails(name: str) -> None:
    assert testkit.run_proof("hierarchy", "pst_siblings", ["find"], FAULTS_OF_SIBLINGS[name]) == {"find": "FAIL"}


def test_proof_of_subscriber_queues_passes() -> None:
    tasks = ["prove_4", "prove_2", "room", "cover"]
    assert testkit.run_proof("hierarchy", "pst_subscriber_queues", tasks) == dict.fromkeys(tasks, "PASS")


@pytest.mark.parametrize("name", FAULTS_OF_QUEUES)
def test_fault_of_subscriber_queues_fails(name: str) -> None:
    assert testkit.run_proof("hierarchy", "pst_subscriber_queues", ["find"], FAULTS_OF_QUEUES[name]) == {"find": "FAIL"}


@pytest.mark.parametrize("name", UNPROVED_QUEUES)
def test_fault_of_subscriber_queues_is_not_proved(name: str) -> None:
    task, *fault = UNPROVED_QUEUES[name]
    assert testkit.run_proof("hierarchy", "pst_subscriber_queues", [task], (QUEUES, *fault)) == {task: "UNKNOWN"}


def test_proof_of_order_passes() -> None:
    tasks = ["prove_4", "prove_2", "cover"]
    assert testkit.run_proof("hierarchy", "pst_sibling_order", tasks) == dict.fromkeys(tasks, "PASS")


@pytest.mark.parametrize("name", FAULTS_OF_ORDER)
def test_fault_of_order_fails(name: str) -> None:
    assert testkit.run_proof("hierarchy", "pst_sibling_order", ["find"], (ORDER, *FAULTS_OF_ORDER[name])) == {"find": "FAIL"}


@pytest.mark.parametrize("name", UNPROVED_ORDER)
def test_fault_of_order_is_not_proved(name: str) -> None:
    task, *fault = UNPROVED_ORDER[name]
    assert testkit.run_proof("hierarchy", "pst_sibling_order", [task], (ORDER, *fault)) == {task: "UNKNOWN"}


def test_proof_of_credit_passes() -> None:
    tasks = ["prove", "cover"]
    assert testkit.run_proof("hierarchy", "pst_round_credit", tasks) == dict.fromkeys(tasks, "PASS")


@pytest.mark.parametrize("name", FAULTS_OF_CREDIT)
def test_fault_of_credit_fails(name: str) -> None:
    assert testkit.run_proof("hierarchy", "pst_round_credit", ["find"], (CREDIT, *FAULTS_OF_CREDIT[name])) == {"find": "FAIL"}


@pytest.mark.parametrize("name", UNPROVED_CREDIT)
def test_fault_of_credit_is_not_proved(name: str) -> None:
    assert testkit.run_proof("hierarchy", "pst_round_credit", ["prove"], (CREDIT, *UNPROVED_CREDIT[name])) == {"prove": "UNKNOWN"}
