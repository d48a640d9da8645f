// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The owner of each of a class's two slots of the tail, and which class's chunk is flushed next.
//
// A slot is the tail's while it fills a chunk there, or has none; from its closing to `s_moved` it is the mover's (busy). A slot whose chunk
// went by the loop keeps the number that the chunk had (kept).
//
// A class is flushed when it is dry, has a chunk begun, none of its slots is the mover's, and no frame of it is being written; classes in turn.
// Latency of a flush: 6 cycles from the first in which all of that holds, if it is the only one; one flush per 5 cycles.
// Reset: no class has a chunk, no slot is busy or keeps a number.
module pst_deadline_slots #(
    parameter int unsigned Classes = 64,  // 2..256
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    // the class whose frame is being written, and what is so of it
    input  logic                  op_valid_i,
    input  logic [ClassWidth-1:0] op_class_i,
    output logic                  op_open_o,      // it has a chunk begun
    output logic [           1:0] op_busy_o,      // by slot
    output logic [           1:0] op_kept_o,
    input  logic                  op_close_i,     // its chunk in this slot is closed
    input  logic                  op_close_slot_i,
    input  logic                  op_done_i,      // a frame of it is whole: its chunk is begun
    // a slot comes back from the mover
    input  logic                  s_moved_valid_i,
    input  logic [ClassWidth-1:0] s_moved_class_i,
    input  logic                  s_moved_slot_i,
    input  logic                  s_moved_looped_i,
    // flush: a read of the class's state; two cycles later it can be closed
    input  logic [   Classes-1:0] dry_i,
    output logic                  m_read_valid_o,
    input  logic                  m_read_ready_i,
    output logic [ClassWidth-1:0] m_read_class_o,
    input  logic                  flush_slot_i,   // of the class that was read
    input  logic                  flush_ready_i,
    output logic                  flush_o,        // now: it is closed
    // state of another class
    output logic [   Classes-1:0] open_o
);

  typedef logic [ClassWidth-1:0] class_t;

  logic [Classes-1:0] open_q, want_q;
  logic [1:0][Classes-1:0] busy_q, kept_q;
  logic [Classes-1:0] from_q;          // classes behind the one that was flushed last
  class_t pick, pick_q;
  logic picked_q, ahead, fits, give_up;
  logic [1:0] read_q;                  // the state of pick_q is on its way, is there

  for (genvar s = 0; s < 2; s++) begin : g_slot
    assign op_busy_o[s] = busy_q[s][op_class_i];
    assign op_kept_o[s] = kept_q[s][op_class_i];
  end
  assign op_open_o = open_q[op_class_i];
  assign open_o    = open_q;

  // The first of those behind the last one, or of all.
  always_comb begin
    pick  = '0;
    ahead = |(want_q & from_q);
    for (int unsigned c = Classes; c > 0; c--) begin
      if (want_q[c-1] && (from_q[c-1] || !ahead)) pick = class_t'(c - 1);
    end
  end

  // A frame of the class that is being written may change what was read: then others have their turn first.
  assign fits           = want_q[pick_q] && !(op_valid_i && op_class_i == pick_q);
  assign give_up        = picked_q && !fits;
  assign m_read_valid_o = picked_q && fits && read_q == '0;
  assign m_read_class_o = pick_q;
  assign flush_o        = picked_q && fits && read_q[1] && flush_ready_i;

  always_ff @(posedge clk_i) begin
    want_q <= dry_i & open_q & ~busy_q[0] & ~busy_q[1];
    if (!picked_q) begin
      pick_q   <= pick;
      picked_q <= want_q != '0;
    end
    read_q <= {read_q[0] && fits, m_read_valid_o && m_read_ready_i};
    if (flush_o || give_up) begin
      picked_q <= 1'b0;
      for (int unsigned c = 0; c < Classes; c++) from_q[c] <= c > 32'(pick_q);
    end

    if (op_done_i) open_q[op_class_i] <= 1'b1;
    if (flush_o) open_q[pick_q] <= 1'b0;
    for (int unsigned s = 0; s < 2; s++) begin
      if (s_moved_valid_i && 32'(s_moved_slot_i) == s) begin
        busy_q[s][s_moved_class_i] <= 1'b0;
        kept_q[s][s_moved_class_i] <= s_moved_looped_i;
      end
      if (op_close_i && 32'(op_close_slot_i) == s) busy_q[s][op_class_i] <= 1'b1;
      if (flush_o && 32'(flush_slot_i) == s) busy_q[s][pick_q] <= 1'b1;
    end
    if (rst_i) begin
      open_q   <= '0;
      busy_q   <= '0;
      kept_q   <= '0;
      want_q   <= '0;
      from_q   <= '0;
      picked_q <= 1'b0;
      read_q   <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (s_moved_valid_i) a_moved_was_busy : assert (busy_q[s_moved_slot_i][s_moved_class_i]);
      if (op_close_i) a_closed_was_free : assert (!busy_q[op_close_slot_i][op_class_i]);
      if (flush_o) a_flushed_was_open : assert (open_q[pick_q] && !busy_q[0][pick_q] && !busy_q[1][pick_q]);
      if (flush_o) a_flush_disturbs_no_frame : assert (!op_done_i || op_class_i != pick_q);
    end
  end
`endif

endmodule
