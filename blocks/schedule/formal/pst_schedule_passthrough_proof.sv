// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_schedule_passthrough: a queue is always in exactly one place, no more packets are under way than fit downstream, the
// first queue of the ready list leaves in the cycle in which there is a credit, an announcement waits one cycle at most.
//
// The lists are any lists that keep a queue until they show it (pst_sched_lists.sby).
module pst_schedule_passthrough_proof #(
    localparam int unsigned Queues = 2
) (
    input logic clk_i,
    input logic rst_i,
    input logic active_valid_i,
    input logic active_queue_i,
    input logic backlogged_i,
    input logic credit_i
);

  localparam int unsigned Credits = 4;

  logic active_ready, active, deq_valid, deq_queue, unused_take, unused_init_done;
  logic [31:0] unused_now;
  logic [3:1] way_q, way_queue_q;    // the dequeue, until the queue manager's answer in stage 3

  pst_schedule_passthrough #(
      .Queues(Queues), .Credits(Credits)
  ) u_dut (
      .clk_i, .rst_i,
      .s_active_valid_i(active_valid_i), .s_active_ready_o(active_ready), .s_active_queue_i(active_queue_i),
      .m_deq_valid_o(deq_valid), .m_deq_queue_o(deq_queue), .m_deq_take_o(unused_take),
      .s_ret_valid_i(way_q[3]), .s_ret_queue_i(way_queue_q[3]), .s_ret_backlogged_i(backlogged_i),
      .credit_i, .now_o(unused_now), .init_done_o(unused_init_done)
  );

  assign active = active_valid_i && active_ready;

  logic seen_q, refused_q;
  initial seen_q = 1'b0;
  logic [1:0] idle_q, listed_q;
  logic [2:0] under_way_q;           // popped, and no credit has come back for it
  always_ff @(posedge clk_i) begin
    seen_q      <= 1'b1;
    way_q       <= {way_q[2:1], deq_valid};
    way_queue_q <= {way_queue_q[2:1], deq_queue};
    under_way_q <= under_way_q + 3'(u_dut.ready_take) - 3'(credit_i);
    refused_q   <= active_valid_i && !active_ready;
    if (active) idle_q[active_queue_i] <= 1'b0;
    if (way_q[3] && !backlogged_i) idle_q[way_queue_q[3]] <= 1'b1;
    if (u_dut.place_valid_q) listed_q[u_dut.place_queue_q] <= 1'b1;
    if (u_dut.ready_take) listed_q[u_dut.ready_queue] <= 1'b0;
    if (rst_i) begin
      way_q       <= '0;
      under_way_q <= '0;
      refused_q   <= 1'b0;
      idle_q      <= '1;
      listed_q    <= '0;
    end
  end

  logic [1:0] one_place;
  always_comb begin
    for (int q = 0; q < 2; q++) begin
      logic [3:0] places;
      places = 4'(idle_q[q]) + 4'(listed_q[q]) + 4'(deq_valid && deq_queue == 1'(q))
          + 4'(u_dut.place_valid_q && u_dut.place_queue_q == 1'(q));
      for (int k = 1; k < 4; k++) places += 4'(way_q[k] && way_queue_q[k] == 1'(q));
      for (int k = 0; k < 2; k++) places += 4'(32'(u_dut.u_ret.level_q) > k && u_dut.u_ret.mem[4'(u_dut.u_ret.raddr_q + 4'(k))] == 1'(q));
      one_place[q] = places == 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i) begin
      m_listed : assume (!u_dut.ready_valid || listed_q[u_dut.ready_queue]);
      m_idle : assume (!active_valid_i || idle_q[active_queue_i]);
      m_credit : assume (!credit_i || under_way_q != '0);
    end
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_one_place : assert (one_place == '1);
      a_output : assert (under_way_q <= 3'(Credits));
      a_at_once : assert (u_dut.ready_take == (u_dut.ready_valid && under_way_q != 3'(Credits)));
      a_turn : assert (!refused_q || active_ready);
      // what the induction needs
      a_out_credit : assert (32'(u_dut.u_out_credit.count_q) + 32'(under_way_q) == Credits);
      a_any : assert (u_dut.place_credit == (u_dut.u_place_credit.count_q != '0) && u_dut.out_credit == (u_dut.u_out_credit.count_q != '0));
      a_place_credit : assert (32'(u_dut.u_place_credit.count_q) + 32'(deq_valid) + 32'(way_q[1]) + 32'(way_q[2]) + 32'(way_q[3])
                               + 32'(u_dut.u_ret.level_q) == 16);
      a_flag : assert (u_dut.ret_valid == (u_dut.u_ret.level_q != '0));
      a_level : assert (32'(u_dut.u_ret.level_q) <= 2 && u_dut.u_ret.waddr_q == 4'(u_dut.u_ret.raddr_q + 4'(u_dut.u_ret.level_q)));
      // useful work is possible
      c_both : cover (u_dut.ret_valid && active && under_way_q != '0);
    end
  end

endmodule
