// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_deadline_slots: a slot has one owner; a flush takes a chunk that is begun, of a class with nothing in the mover's hands and
// no frame being written, and it comes in time.
module pst_deadline_slots_proof #(
    parameter int unsigned Classes = 2,
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic                  op_valid_i,
    input logic [ClassWidth-1:0] op_class_i,
    input logic                  op_close_i,
    input logic                  op_close_slot_i,
    input logic                  op_done_i,
    input logic                  moved_i,
    input logic [ClassWidth-1:0] moved_class_i,
    input logic                  moved_slot_i,
    input logic                  moved_looped_i,
    input logic [   Classes-1:0] dry_i,
    input logic                  read_ready_i,
    input logic                  flush_slot_i,
    input logic                  flush_ready_i,
    input logic [ClassWidth-1:0] watch_i       // the class that is followed
);

  // Of one class that wants nothing but its flush: the others are flushed before it, or give up, five cycles each at the most.
  localparam int unsigned Latest = 5 * Classes + 3;

  logic open, flush, read;
  logic [1:0] busy, kept;
  logic [ClassWidth-1:0] read_class;
  logic [Classes-1:0] open_classes;

  pst_deadline_slots #(
      .Classes(Classes)
  ) u_dut (
      .clk_i,
      .rst_i,
      .op_valid_i,
      .op_class_i,
      .op_open_o       (open),
      .op_busy_o       (busy),
      .op_kept_o       (kept),
      .op_close_i,
      .op_close_slot_i,
      .op_done_i,
      .s_moved_valid_i (moved_i),
      .s_moved_class_i (moved_class_i),
      .s_moved_slot_i  (moved_slot_i),
      .s_moved_looped_i(moved_looped_i),
      .dry_i,
      .m_read_valid_o  (read),
      .m_read_ready_i  (read_ready_i),
      .m_read_class_o  (read_class),
      .flush_slot_i,
      .flush_ready_i,
      .flush_o         (flush),
      .open_o          (open_classes)
  );

  logic seen_q;
  logic [ClassWidth-1:0] class_q;      // followed
  logic [1:0] mover_q, kept_q;         // its slots that the mover has; that have kept a number
  logic begun_q;                       // it has a chunk
  logic [1:0] read_q;                  // cycles since the last read, as far as no frame of its class came between
  logic [$clog2(Latest + 2)-1:0] waited_q;
  logic mine, closes, flushes, wants;
  initial seen_q = 1'b0;

  assign mine    = op_valid_i && op_class_i == class_q;
  assign closes  = mine && op_close_i;
  assign flushes = flush && read_class == class_q;
  assign wants   = begun_q && mover_q == '0 && dry_i[class_q] && !mine && read_ready_i && flush_ready_i;

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    for (int unsigned s = 0; s < 2; s++) begin
      if (moved_i && moved_class_i == class_q && 32'(moved_slot_i) == s) begin
        mover_q[s] <= 1'b0;
        kept_q[s]  <= moved_looped_i;
      end
      if (closes && 32'(op_close_slot_i) == s) mover_q[s] <= 1'b1;
      if (flushes && 32'(flush_slot_i) == s) mover_q[s] <= 1'b1;
    end
    if (mine && op_done_i) begun_q <= 1'b1;
    if (flushes) begun_q <= 1'b0;
    read_q   <= {read_q[0] && !mine, read && read_ready_i && read_class == class_q};
    waited_q <= wants && !flushes ? waited_q + 1'b1 : '0;
    if (rst_i) begin
      class_q  <= watch_i;
      mover_q  <= '0;
      kept_q   <= '0;
      begun_q  <= 1'b0;
      read_q   <= '0;
      waited_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    // by the tail, which asserts it
    m_classes : assume (32'(op_class_i) < Classes && 32'(moved_class_i) < Classes && 32'(watch_i) < Classes);
    m_operations : assume (op_valid_i || (!op_close_i && !op_done_i));
    if (op_close_i && !rst_i) m_closes_its_own : assume (!busy[op_close_slot_i]);
    // by the mover, whose bench checks it: what it gives back it had
    if (moved_i && !rst_i) m_moved_was_closed : assume (u_dut.busy_q[moved_slot_i][moved_class_i]);
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (flushes) begin
        a_flush_takes_a_chunk : assert (begun_q);
        a_flush_when_all_is_moved : assert (mover_q == '0);
        a_flush_disturbs_no_frame : assert (!mine);
        a_flush_knows_the_state : assert (read_q[1]);
      end
      if (mine) a_owners : assert (busy == mover_q && kept == kept_q && open == begun_q);
      a_open : assert (open_classes[class_q] == begun_q);
      a_flush_in_time : assert (32'(waited_q) <= Latest);
      // what the induction needs
      a_class : assert (32'(class_q) < Classes && (!u_dut.picked_q || 32'(u_dut.pick_q) < Classes));
      a_same : assert (mover_q == {u_dut.busy_q[1][class_q], u_dut.busy_q[0][class_q]});
      a_same_kept : assert (kept_q == {u_dut.kept_q[1][class_q], u_dut.kept_q[0][class_q]});
      a_stages : assert (u_dut.read_q != 2'b11);
      if (u_dut.read_q != '0 && u_dut.picked_q && u_dut.pick_q == class_q) a_read : assert (read_q == u_dut.read_q);
      if (u_dut.want_q[class_q] && u_dut.picked_q && u_dut.pick_q == class_q && u_dut.read_q != '0)
        a_wanted : assert (begun_q && mover_q == '0);
      // useful work is possible
      c_flush : cover (flushes && kept_q == 2'b01);
      c_second_flush : cover (flush && !flushes && begun_q && 32'(waited_q) > 2);
    end
  end

endmodule
