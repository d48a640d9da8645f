// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_timing_wheel: its cursor leaves no slot that is not empty without splicing it, never goes past the present slot,
// and nothing is placed in a slot that it has left. The register before the lists hands over each id that it takes, once and unchanged, and
// nothing else; what the lists show goes out as it is.
//
// The lists are those of pst_sched_lists.sv (anything at all); of one slot, picked by the solver, it is kept whether an entry is there. What is
// assumed of a peek, pst_sched_lists.sby proves. A module that places an entry asks pst_wheel_when, which is in the bench, for any last cycle of
// its wait up to beyond the horizon. Lateness is thus the lists' alone: a slot that is over is spliced before any later one, or was empty.
module pst_timing_wheel_proof #(
    localparam int unsigned Slots = 4,
    localparam int unsigned SlotCycles = 8,
    localparam int unsigned TimeWidth = 10
) (
    input logic                 clk_i,
    input logic                 rst_i,
    input logic                 place_valid_i,
    input logic [1:0]           place_id_i,
    input logic [TimeWidth-1:0] place_hold_i,
    input logic                 due_ready_i
);

  typedef logic [TimeWidth-1:0] cycle_t;
  typedef logic [TimeWidth-4:0] slot_time_t;

  logic seen_q, turn_q;
  initial seen_q = 1'b0;
  cycle_t now_q;
  logic [1:0] picked;    // the slot that is looked at, any one

  logic place_ready, due, beyond, due_valid, init_done;
  logic [1:0] due_id;
  logic [1:0] slot;
  slot_time_t cursor;

  pst_wheel_when #(
      .Slots(Slots), .SlotCycles(SlotCycles), .TimeWidth(TimeWidth)
  ) u_when (
      .now_i(now_q), .cursor_i(cursor), .hold_i(place_hold_i), .due_o(due), .beyond_o(beyond), .slot_o(slot)
  );

  pst_timing_wheel #(
      .Entries(4), .Slots(Slots), .SlotCycles(SlotCycles), .TimeWidth(TimeWidth)
  ) u_dut (
      .clk_i, .rst_i, .now_slot_i(now_q[TimeWidth-1:3]), .turn_i(turn_q), .cursor_o(cursor),
      .s_place_valid_i(place_valid_i), .s_place_ready_o(place_ready), .s_place_id_i(place_id_i), .s_place_due_i(due),
      .s_place_beyond_i(beyond), .s_place_slot_i(slot),
      .m_due_valid_o(due_valid), .m_due_ready_i(due_ready_i), .m_due_id_o(due_id),
      .init_done_o(init_done)
  );

  // --- operations on the lists, as they are taken

  logic op, op_splice, op_wheel, op_here;
  logic here_q;                              // an entry is in the picked slot
  logic peeked_q, changed_q, was_here_q;     // the last peek was at that slot; an operation changed it in that cycle
  logic [1:0] hold_q;                        // cycles for which a splice keeps the lists from other operations
  cycle_t place_hold_q;                      // of the entry in the wheel's register
  logic place_far_q;
  logic held_q;                              // one was taken and is not in the lists yet, with this id
  logic [1:0] held_id_q;
  slot_time_t behind, ahead, present;        // the cursor behind the present slot; that entry's slot ahead of the cursor
  cycle_t late;

  assign present   = now_q[TimeWidth-1:3];
  assign behind    = present - cursor;
  assign ahead     = place_hold_q[TimeWidth-1:3] - cursor;
  assign late      = place_hold_q - now_q;
  assign op        = u_dut.u_lists.s_op_valid_i && u_dut.u_lists.s_op_ready_o;
  assign op_splice = op && u_dut.u_lists.s_op_splice_i;
  assign op_wheel  = op && !op_splice && u_dut.u_lists.s_op_wheel_i;
  assign op_here   = (op_splice || op_wheel) && u_dut.u_lists.s_op_slot_i == picked;

  always_ff @(posedge clk_i) begin
    seen_q     <= 1'b1;
    picked     <= picked;
    now_q      <= now_q + 1'b1;
    turn_q     <= init_done;
    was_here_q <= here_q;
    peeked_q   <= u_dut.u_lists.s_peek_slot_i == picked;
    changed_q  <= op_here;
    hold_q     <= op_splice ? 2'd3 : hold_q - 2'(hold_q != '0);
    if (op_here) here_q <= op_wheel;
    if (place_ready) begin
      place_hold_q <= place_hold_i;
      place_far_q  <= beyond;
    end
    if (op && !op_splice) held_q <= 1'b0;
    if (place_valid_i && place_ready) begin
      held_q    <= 1'b1;
      held_id_q <= place_id_i;
    end
    if (rst_i) begin
      now_q  <= '0;
      turn_q <= 1'b0;
      here_q <= 1'b0;
      held_q <= 1'b0;
      hold_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      m_lists : assume (u_dut.u_lists.s_op_ready_o == (init_done && hold_q == '0));
      m_init : assume (!turn_q || init_done);
      if (place_valid_i) m_after_init : assume (turn_q);
      if (peeked_q && !changed_q && turn_q) m_peek : assume (u_dut.u_lists.peek_any_o == was_here_q);
      m_hold : assume ($signed(place_hold_i - now_q) < 256 && $signed(place_hold_i - now_q) >= -256);
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (op_splice) a_over : assert (behind != '0 && u_dut.u_lists.s_op_slot_i == cursor[1:0]);
      if (u_dut.move && !op_splice) a_skip : assert (behind != '0 && !(cursor[1:0] == picked && (here_q || op_here)));
      if (op && !op_splice && !op_wheel) a_due : assert (late[TimeWidth-1] && !place_far_q);
      if (op_wheel && !place_far_q) a_slot : assert (ahead < slot_time_t'(Slots) && u_dut.u_lists.s_op_slot_i == place_hold_q[4:3]);
      if (op_wheel && place_far_q) a_far : assert (u_dut.u_lists.s_op_slot_i != cursor[1:0] && ahead >= slot_time_t'(Slots - 2));
      if (op && !op_splice) a_id : assert (held_q && u_dut.u_lists.s_op_queue_i == held_id_q);
      if (place_valid_i && place_ready && held_q) a_room : assert (op && !op_splice);
      a_shown : assert (due_valid == u_dut.u_lists.m_ready_valid_o && u_dut.u_lists.m_ready_ready_i == due_ready_i &&
                        due_id == u_dut.u_lists.m_ready_queue_o);
      // what the induction needs
      a_held : assert (u_dut.place_valid_q == held_q);
      a_behind : assert (behind <= 1);
      if (!turn_q) a_empty : assert (!here_q && !u_dut.place_valid_q && !u_dut.over_q && hold_q == '0);
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      c_skip : cover (turn_q && u_dut.move && !op_splice && here_q);
      c_held : cover (place_valid_i && place_ready && op && !op_splice && place_id_i != held_id_q);    // one goes, the next comes
      c_last : cover (op_splice && op_here && $past(place_ready) && here_q && changed_q);    // an entry came in the last cycle
    end
  end

endmodule
