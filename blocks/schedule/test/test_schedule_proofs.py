"""The proofs of the scheduler pass, and fail with each planted fault."""

import pytest

from penstock import testkit

LISTS, WHEEL, SHAPED, PASSTHROUGH, SHAPER, OUTSTANDING, SEND_AHEAD = (
    f"schedule/rtl/pst_{name}.sv"
    for name in ("sched_lists", "timing_wheel", "schedule_shaped", "schedule_passthrough", "shaper", "outstanding", "send_ahead")
)

TASKS = [
    ("pst_sched_lists", ["places_wheel", "places_ready", "places_never", "sum_wheel", "sum_ready", "links_ready", "cover_wheel"]),
    ("pst_sched_lists", ["links_wheel"]),
    ("pst_timing_wheel", ["prove", "cover"]),
    ("pst_schedule_passthrough", ["prove", "cover"]),
    ("pst_outstanding", ["prove_2", "prove_3", "prove_long", "cover"]),
    ("pst_send_ahead", ["prove_2", "cover"]),
    pytest.param("pst_send_ahead", ["prove_3"], marks=pytest.mark.slow),
    ("pst_schedule_shaped", ["places"]),
    ("pst_schedule_shaped", ["places_verdict_2"]),
    ("pst_schedule_shaped", ["times_0"]),
    *(
        pytest.param("pst_schedule_shaped", [task], marks=pytest.mark.slow)
        for task in ("times_1", "cover", *(f"{part}_verdict_{stages}" for stages in (1, 2, 3) for part in ("places", "times")))
        if task != "places_verdict_2"
    ),
]

# Found from reset, by a bounded search of the same assertions.
FAULTS = {
    "a slot word written in the last cycle is not forwarded": (
        "pst_sched_lists", "find_wheel", LISTS, "if (hit1_q) slot_now = slot1_q;", ""
    ),
    "a stripe is emptied and filled in one cycle": (
        "pst_sched_lists", "find_ready", LISTS, "(pop && pop_last && pop_q == append_stripe)", "1'b0"
    ),
    "a splice does not move the turn": (
        "pst_sched_lists", "find_wheel", LISTS, "append_d = append_q + splice_slot_q.fill;", "append_d = append_q;"
    ),
    "a slot keeps its mark when it is spliced": (
        "pst_sched_lists", "find_wheel", LISTS, ".wdata_i(!init_q && !s_op_splice_i)", ".wdata_i(!init_q)"
    ),
    "a slot that somebody is placed in is not marked": (
        "pst_sched_lists", "find_wheel", LISTS, "op_take && (s_op_splice_i || s_op_wheel_i)", "op_take && s_op_splice_i"
    ),
    "the cursor leaves who came to its slot after it": (
        "pst_timing_wheel", "find", WHEEL, "peek_any || placed_q || place_cursor", "peek_any || place_cursor"
    ),
    "the cursor leaves who comes in its slot's last cycle": (
        "pst_timing_wheel", "find", WHEEL, "peek_any || placed_q || place_cursor", "peek_any || placed_q"
    ),
    "a slot is left before it is over": (
        "pst_timing_wheel", "find", WHEEL, "$signed(cursor_q - now_slot_i) < 0", "$signed(cursor_q - now_slot_i) <= 0"
    ),
    "who is beyond the horizon comes to the cursor's slot": (
        "pst_timing_wheel", "find", WHEEL, "cursor_q[SlotWidth-1:0] - 1'b1 -", "cursor_q[SlotWidth-1:0] -"
    ),
    "an id that waits for the lists is overwritten by the next": (
        "pst_timing_wheel", "find", WHEEL,
        "    if (s_place_ready_o) begin\n      place_valid_q  <= s_place_valid_i;\n      place_id_q     <= s_place_id_i;",
        "    place_id_q <= s_place_id_i;\n    if (s_place_ready_o) begin\n      place_valid_q  <= s_place_valid_i;",
    ),
    "an id is taken while the one before it waits for a splice": (
        "pst_timing_wheel", "find", WHEEL, "= !place_valid_q || place_take;", "= !place_valid_q || op_ready;"
    ),
    "the lists get another id": (
        "pst_timing_wheel", "find", WHEEL, ".s_op_queue_i(place_id_q)", ".s_op_queue_i(place_id_q & ~IdWidth'(2))"
    ),
    "an id goes to the lists again": (
        "pst_timing_wheel", "find", WHEEL, "place_valid_q  <= s_place_valid_i;", "place_valid_q  <= s_place_valid_i || placed_q;"
    ),
    "a return is taken while an announcement is placed": (
        "pst_schedule_passthrough", "find", PASSTHROUGH, "ret_valid && !pick_act;", "ret_valid;"
    ),
    "the credit of a queue that ran empty is lost": (
        "pst_schedule_passthrough", "find", PASSTHROUGH, "(s_ret_valid_i && !s_ret_backlogged_i)", "(1'b0)"
    ),
    "an announcement does not wait for the time stamp": (
        "pst_schedule_shaped", "find", SHAPED, "if (r_q[k].queue_id == s_active_queue_i) act_hazard",
        "if (k != 2 && r_q[k].queue_id == s_active_queue_i) act_hazard",
    ),
    "a gate opens before the last queue has parked": ("pst_schedule_shaped", "find", SHAPED, "5'(ParkDelay + 3)", "5'(6)"),
    "a queue is placed in the cycle of a splice": (
        "pst_schedule_shaped", "find", WHEEL, "place_valid_q && !splice_due_q && op_ready", "place_valid_q && op_ready"
    ),
    "nobody walks over old time stamps": (
        "pst_schedule_shaped", "find", SHAPED, "assign walk = walk_due_q && place_credit;", "assign walk = 1'b0;"
    ),
    "a look does not see the packet that is just getting through": (
        "pst_outstanding", "find", OUTSTANDING, "if (hit2_q) b2_gates = d2_new;", ""
    ),
    "a look trusts the word that is written while it is read": (
        "pst_outstanding", "find", OUTSTANDING, "b2_gates = b2_ram;\n    if (hit4_q) b2_gates = d4_new_q;", "b2_gates = b2_ram;"
    ),
    "a queue is told again and again": ("pst_outstanding", "find", OUTSTANDING, "{d2_new.done, d2_wants}", "{d2_new.done, d2_told}"),
    "a packet that is sent wants to be told": ("pst_outstanding", "find", OUTSTANDING, "result.wants ^ s_result_wants_i", "!result.wants"),
    "who wants to be told is written while it is read": (
        "pst_outstanding", "find", OUTSTANDING, "(s_result_valid_i && s_result_wants_i)", "s_result_valid_i"
    ),
    "a packet goes before the one ahead of it is through": (
        "pst_send_ahead", "find", SEND_AHEAD, "& (through_q | (s_done_valid_i ? match_q : '0));", ";"
    ),
    "who gets through in the cycle of the decision is not seen": (
        "pst_send_ahead", "find", SEND_AHEAD, "through_q[free] <= s_done_valid_i && s_done_queue_i == s_decide_queue_i;",
        "through_q[free] <= 1'b0;",
    ),
    "a dropped packet keeps its place": ("pst_send_ahead", "find", SEND_AHEAD, "if (dropped) taken_q[turn.place] <= 1'b0;", ""),
    "room is told although the last place is being taken": ("pst_send_ahead", "find", SEND_AHEAD, "int'(Places) - 2;", "int'(Places) - 1;"),
    "a packet is taken while one from a place goes": (
        "pst_send_ahead", "find", SEND_AHEAD, "(!from_place && m_packet_ready_i)", "m_packet_ready_i"
    ),
}  # fmt: skip

# It takes tens of thousands of cycles until a time is wrong. No bounded search gets there, but the induction does not close.
TIME_FAULTS = {
    "a walk leaves the stamp to a queue that parks": (
        "times_0", SHAPED,
        "(last.op == OpWalk || last.op == OpPark || last.op == OpWait || dropped) && walk_old",
        "(last.op == OpWalk || last.op == OpWait || dropped) && walk_old",
    ),
    "an announcement reads the time stamp that a walk writes": (
        "times_0", SHAPED,
        "(r_q[k].op != OpWalk || k == int'(Last))",
        "(r_q[k].op != OpWalk)",
    ),
    "the stamp of a packet that waits for its verdict is a later one's": (
        "times_verdict_2", SHAPED, "time_q[k] <= time_q[k-1];", "time_q[k] <= time_r3;"
    ),
    "a walk leaves the stamp to a queue whose packet is dropped": (
        "times_verdict_1", SHAPED, "last.op == OpWait || dropped) && walk_old", "last.op == OpWait) && walk_old"
    ),
    "times are compared without a sign": ("times_0", SHAPED, "$signed({now_q, 16'b0} - time_b2) < 0", "{now_q, 16'b0} < time_b2"),
    "the shaper compares without a sign": ("times_0", SHAPER, "$signed(time_i - {floor_i, 16'b0}) < 0", "time_i < {floor_i, 16'b0}"),
}  # fmt: skip


@pytest.mark.parametrize("module, tasks", TASKS, ids=lambda value: value if isinstance(value, str) else "+".join(value))
def test_proof_passes(module: str, tasks: list[str]) -> None:
    assert testkit.run_proof("schedule", module, tasks) == dict.fromkeys(tasks, "PASS")


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_fails(name: str) -> None:
    module, task, *fault = FAULTS[name]
    assert testkit.run_proof("schedule", module, [task], tuple(fault)) == {task: "FAIL"}


@pytest.mark.parametrize("name", TIME_FAULTS)
def test_fault_of_time_is_not_proved(name: str) -> None:
    task, *fault = TIME_FAULTS[name]
    assert testkit.run_proof("schedule", "pst_schedule_shaped", [task], tuple(fault)) == {task: "UNKNOWN"}
