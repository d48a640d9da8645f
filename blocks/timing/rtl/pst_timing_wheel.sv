// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Timing wheel: what is placed comes out when the slot of its last waiting cycle is over, at once if that has passed.
//
// Beyond the horizon (Slots * SlotCycles) it comes out early, scattered over the wheel's last half: its taker looks at its time again.
//
// Throughput: one place and one due per cycle less the splices (four cycles per slot that has an entry; empty ones cost nothing).
// Latency: 1 cycle when it is due and nothing is under way; 3 with the slot's end or behind others, and up to 6 beside a splice.
// Ordering:   slot by slot, in the order of placing within a slot.
// Reset:      empties the wheel; a walker then clears it (`Slots` cycles).
module pst_timing_wheel #(
    parameter int unsigned Entries = 64,          // ids that can be placed, each in one place at most, >= 2
    parameter int unsigned Slots = 256,           // power of two, >= 2
    parameter int unsigned SlotCycles = 32,       // width of a slot in cycles, power of two, >= 8
    parameter int unsigned TimeWidth = 32,        // bits of a time in cycles
    parameter string       RamStyle = "auto",     // link memory, see pst_ram_1r1w
    localparam int unsigned IdWidth = Entries > 1 ? $clog2(Entries) : 1,
    localparam int unsigned SlotShift = $clog2(SlotCycles),
    localparam int unsigned SlotWidth = $clog2(Slots),
    localparam int unsigned SlotTimeWidth = TimeWidth - SlotShift
) (
    input  logic                     clk_i,
    input  logic                     rst_i,
    input  logic [SlotTimeWidth-1:0] now_slot_i,           // the present slot
    input  logic                     turn_i,               // the wheel turns; before, its cursor goes with now_slot_i
    output logic [SlotTimeWidth-1:0] cursor_o,             // slot that is spliced next: when it is over
    input  logic                     s_place_valid_i,
    output logic                     s_place_ready_o,
    input  logic [      IdWidth-1:0] s_place_id_i,
    input  logic                     s_place_due_i,        // of pst_wheel_when, with this cycle's time and cursor_o
    input  logic                     s_place_beyond_i,
    input  logic [    SlotWidth-1:0] s_place_slot_i,
    output logic                     m_due_valid_o,
    input  logic                     m_due_ready_i,
    output logic [      IdWidth-1:0] m_due_id_o,
    output logic                     init_done_o
);

  // Queues beyond the horizon are scattered over the wheel's last half: were they all put in its last slot, those that came in one go would
  // come back in one go, horizon after horizon, and keep the due ones waiting.
  localparam logic [SlotWidth-1:0] ScatterStep = SlotWidth'((longint'(2) ** SlotWidth * 316) / 512) | SlotWidth'(1);    // golden section

  if (Slots < 2 || Slots != 2 ** SlotWidth || SlotCycles < 8 || SlotCycles != 2 ** SlotShift) begin : g_bad_wheel
    $error("pst_timing_wheel: Slots (%0d) and SlotCycles (%0d) must be powers of two, at least 2 and 8", Slots, SlotCycles);
  end
  if (longint'(Slots) * SlotCycles >= longint'(2) ** (TimeWidth - 2)) begin : g_bad_time
    $error("pst_timing_wheel: Slots * SlotCycles must stay below 2^(TimeWidth-2) cycles");
  end

  logic place_valid_q, place_due_q, place_beyond_q, place_take, place_cursor;
  logic [IdWidth-1:0] place_id_q;
  logic [SlotTimeWidth-1:0] cursor_q;
  logic [SlotWidth-1:0] place_slot_q, scatter_q, far_slot_q;
  logic over, over_q, splice_due_q, move, op_ready;    // the cursor's slot is over; and it has an entry
  logic peek_any, placed_q;                            // it had an entry a cycle ago; one was to be placed there then

  assign over            = turn_i && init_done_o && !move && $signed(cursor_q - now_slot_i) < 0;
  assign move            = over_q && op_ready;
  assign place_take      = place_valid_q && !splice_due_q && op_ready;
  assign s_place_ready_o = !place_valid_q || place_take;
  assign cursor_o        = cursor_q;

  // It goes to the cursor's slot. That is left within few cycles of its end, so no entry waits here whose slot the cursor leaves, and what
  // comes then is due.
  assign place_cursor = place_valid_q && !place_due_q && !place_beyond_q && place_slot_q == cursor_q[SlotWidth-1:0];

  always_ff @(posedge clk_i) begin
    if (s_place_ready_o) begin
      place_valid_q  <= s_place_valid_i;
      place_id_q     <= s_place_id_i;
      place_due_q    <= s_place_due_i;
      place_beyond_q <= s_place_beyond_i;
      place_slot_q   <= s_place_slot_i;
    end
    over_q       <= over;
    splice_due_q <= over && (peek_any || placed_q || place_cursor);
    placed_q     <= place_cursor;
    if (move) cursor_q <= cursor_q + 1'b1;
    if (!turn_i || !init_done_o) cursor_q <= now_slot_i;
    if (place_take) scatter_q <= scatter_q + ScatterStep;
    far_slot_q <= cursor_q[SlotWidth-1:0] - 1'b1 - (scatter_q >> 1);    // a cursor that moves on in this cycle makes it one slot nearer
    if (rst_i) begin
      place_valid_q <= 1'b0;
      scatter_q     <= '0;
      over_q        <= 1'b0;
      splice_due_q  <= 1'b0;
      cursor_q      <= '1;
    end
  end

  pst_sched_lists #(
      .Queues(Entries), .Slots(Slots), .LinkRamStyle(RamStyle)
  ) u_lists (
      .clk_i, .rst_i,
      .s_op_valid_i(splice_due_q || place_valid_q), .s_op_ready_o(op_ready),
      .s_op_splice_i(splice_due_q), .s_op_wheel_i(!place_due_q), .s_op_direct_i(place_due_q && !splice_due_q),
      .s_op_queue_i(place_id_q), .s_op_slot_i(splice_due_q ? cursor_q[SlotWidth-1:0] : place_beyond_q ? far_slot_q : place_slot_q),
      .s_peek_slot_i(cursor_q[SlotWidth-1:0]), .peek_any_o(peek_any),
      .m_ready_valid_o(m_due_valid_o), .m_ready_ready_i(m_due_ready_i), .m_ready_queue_o(m_due_id_o),
      .init_done_o
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && move) a_slot_left_is_empty : assert (!place_cursor)
      else $error("the cursor leaves a slot that an entry is to be placed in");
  end
`endif

endmodule
