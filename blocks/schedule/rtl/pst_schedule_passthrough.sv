// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Scheduler without shaping: every backlogged queue may send, round robin packet by packet (the paper's no-scheduler).
//
// Throughput: one decision per cycle. Latency: activation to m_deq_valid_o 3 cycles, to m_deq_take_o 5.
// Ordering:   queues leave in the order in which they became ready. Reset: forgets all queues.
module pst_schedule_passthrough
#(
    parameter int unsigned Queues = 64,      // >= 2
    parameter int unsigned TimeWidth = 32,   // bits of a time in cycles
    parameter int unsigned Credits = 32,     // packets that fit downstream
    parameter string       QueueRamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic                    s_active_valid_i,
    output logic                    s_active_ready_o,
    input  logic [QueueIdWidth-1:0] s_active_queue_i,
    output logic                    m_deq_valid_o,
    output logic [QueueIdWidth-1:0] m_deq_queue_o,
    output logic                    m_deq_take_o,
    input  logic                    s_ret_valid_i,
    input  logic [QueueIdWidth-1:0] s_ret_queue_i,
    input  logic                    s_ret_backlogged_i,
    input  logic                    credit_i,
    output logic [   TimeWidth-1:0] now_o,
    output logic                    init_done_o
);

  localparam int unsigned PlaceDepth = 16;    // bounds the decisions in flight

  logic [TimeWidth-1:0] now_q;
  logic ready_valid, ready_take;
  logic [QueueIdWidth-1:0] ready_queue, ret_queue, place_queue_q;
  logic [$clog2(PlaceDepth+1)-1:0] unused_level;
  logic place_credit, out_credit;
  logic ret_valid, ret_take, unused_ret_ready, pick_act, place_valid_q, turn_q, unused_op_ready, unused_any;

  assign now_o = now_q;
  assign m_deq_take_o = 1'b1;    // whatever is popped leaves
  assign ready_take = ready_valid && place_credit && out_credit;
  // Returns and activations in turn.
  assign pick_act = s_active_valid_i && (turn_q || !ret_valid);
  assign ret_take = ret_valid && !pick_act;
  assign s_active_ready_o = turn_q || !ret_valid;

  always_ff @(posedge clk_i) begin
    now_q         <= now_q + 1'b1;
    m_deq_valid_o <= ready_take;
    m_deq_queue_o <= ready_queue;
    place_valid_q <= pick_act || ret_valid;
    place_queue_q <= pick_act ? s_active_queue_i : ret_queue;
    if (pick_act || ret_valid) turn_q <= !pick_act;
    if (rst_i) begin
      now_q         <= '0;
      m_deq_valid_o <= 1'b0;
      place_valid_q <= 1'b0;
      turn_q        <= 1'b0;
    end
  end

  pst_credits #(
      .Credits(PlaceDepth)
  ) u_place_credit (
      .clk_i, .rst_i, .take_i(ready_take), .give_i(2'(ret_take) + 2'(s_ret_valid_i && !s_ret_backlogged_i)), .any_o(place_credit)
  );

  pst_credits #(
      .Credits(Credits)
  ) u_out_credit (
      .clk_i, .rst_i, .take_i(ready_take), .give_i(2'(credit_i)), .any_o(out_credit)
  );

  pst_fifo #(
      .Width(QueueIdWidth), .Depth(PlaceDepth)
  ) u_ret (
      .clk_i, .rst_i,
      .s_valid_i(s_ret_valid_i && s_ret_backlogged_i), .s_ready_o(unused_ret_ready), .s_data_i(s_ret_queue_i),
      .m_valid_o(ret_valid), .m_ready_i(ret_take), .m_data_o(ret_queue),
      .level_o(unused_level)
  );

  pst_sched_lists #(
      .Queues(Queues), .Slots(0), .LinkRamStyle(QueueRamStyle)
  ) u_lists (
      .clk_i, .rst_i,
      .s_op_valid_i(place_valid_q), .s_op_ready_o(unused_op_ready),
      .s_op_splice_i(1'b0), .s_op_wheel_i(1'b0), .s_op_direct_i(1'b1), .s_op_queue_i(place_queue_q), .s_op_slot_i('0),
      .s_peek_slot_i('0), .peek_any_o(unused_any),
      .m_ready_valid_o(ready_valid), .m_ready_ready_i(ready_take), .m_ready_queue_o(ready_queue),
      .init_done_o
  );

`ifndef SYNTHESIS
  // Nobody looks at these two.
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (s_ret_valid_i && s_ret_backlogged_i) a_return_has_room : assert (unused_ret_ready);
      if (place_valid_q) a_lists_take_the_queue : assert (unused_op_ready);
    end
  end
`endif

endmodule
