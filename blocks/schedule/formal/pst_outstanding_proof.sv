// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_outstanding: a look counts exactly the packets that are outstanding; a queue that asks for a wake-up is on its way to
// m_again exactly once as soon as a packet of its is through, never before, and while it is not there is one: no wake-up is lost, none comes twice.
//
// The decision side is that of pst_schedule_shaped: a queue that it has, and that does not wait for a wake-up, is looked at; so many cycles later
// comes a result, or none (it was too early, its gate was closed, its packet was dropped). Every stage watches what gets through meanwhile.
module pst_outstanding_proof #(
    parameter int unsigned Queues = 2,
    parameter int unsigned Stages = 3,    // cycles from look to result, >= 3
    parameter int unsigned Depth = 4,     // credits for packets through
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input logic                    clk_i,
    input logic                    rst_i,
    input logic                    look_i,
    input logic [QueueIdWidth-1:0] look_queue_i,
    input logic                    act_i,           // with the answer: something comes of it
    input logic                    ahead_i,         // with the answer: it may send while one packet is outstanding
    input logic                    want_i,          // with the result: it was sent, and waits
    input logic                    done_valid_i,
    input logic [QueueIdWidth-1:0] done_queue_i,
    input logic                    done_slow_i,
    input logic                    again_ready_i
);

  typedef logic [QueueIdWidth-1:0] queue_t;

  logic look_slow, done, again_valid, again, init_done, wants;
  logic [1:0] look_count, count, credits;
  logic [2:0] look_state;
  queue_t again_queue;

  // --- the decision side: stage 2 has the answer, the last one the result

  typedef struct packed {
    logic       valid;
    logic       sent;
    logic       waits;
    logic       through;    // a packet got through in a cycle after that of the look
    logic [2:0] state;
    queue_t     queue_id;
  } look_t;

  look_t [Stages:1] look_q;
  look_t answered, last;
  logic [Queues-1:0] in_pipe;
  assign last = look_q[Stages];

  always_comb begin
    count            = look_count - 2'(look_q[2].through);
    answered         = look_q[2];
    answered.state   = look_state;
    answered.through = through(look_q[2].queue_id);
    answered.sent    = act_i && (count == '0 || (count == 2'd1 && ahead_i));
    answered.waits   = act_i && !answered.sent;
    in_pipe = '0;
    for (int k = 1; k <= Stages; k++) if (look_q[k].valid) in_pipe[look_q[k].queue_id] = 1'b1;
  end

  function automatic logic through(queue_t queue_id);
    through = done && done_queue_i == queue_id;
  endfunction

  assign done  = done_valid_i;
  assign again = again_valid && again_ready_i;
  assign wants = last.valid && !through(last.queue_id) && (last.waits ? !last.through : last.sent && want_i);

  pst_outstanding #(
      .Queues(Queues), .Depth(Depth)
  ) u_dut (
      .clk_i, .rst_i,
      .s_look_queue_i(look_queue_i), .look_count_o(look_count), .look_slow_o(look_slow), .look_state_o(look_state),
      .s_result_valid_i(last.valid && (last.sent || wants)), .s_result_sent_i(last.sent), .s_result_wants_i(wants),
      .s_result_queue_i(last.queue_id), .s_result_state_i(last.state),
      .s_done_valid_i(done_valid_i), .s_done_queue_i(done_queue_i), .s_done_slow_i(done_slow_i), .done_credits_o(credits),
      .m_again_valid_o(again_valid), .m_again_ready_i(again_ready_i), .m_again_queue_o(again_queue), .init_done_o(init_done)
  );

  // --- how many are outstanding, which wait for a wake-up, which wait no more since a packet got through; which of those in D1, D2 wakes it up

  logic seen_q, tell, tell1_q, tell2_q;
  initial seen_q = 1'b0;
  logic [Queues-1:0][1:0] out_q;
  logic [Queues-1:0] waits_q, told_q, slow_q;
  logic [$clog2(Depth+1)-1:0] credit_q;    // packets that may get through before credits come back

  assign tell = done && waits_q[done_queue_i] && !told_q[done_queue_i];

  always_ff @(posedge clk_i) begin
    seen_q    <= 1'b1;
    tell1_q   <= tell;
    tell2_q   <= tell1_q;
    look_q[1] <= '{valid: look_i, queue_id: look_queue_i, default: '0};
    look_q[2] <= look_q[1];
    look_q[2].through <= through(look_q[1].queue_id);
    look_q[3] <= answered;
    for (int k = 4; k <= Stages; k++) begin
      look_q[k] <= look_q[k-1];
      look_q[k].through <= look_q[k-1].through || through(look_q[k-1].queue_id);
    end
    for (int q = 0; q < Queues; q++) begin
      out_q[q] <= out_q[q] + 2'(last.valid && last.sent && last.queue_id == queue_t'(q)) - 2'(through(queue_t'(q)));
    end
    credit_q <= credit_q + $bits(credit_q)'(credits) - $bits(credit_q)'(done);
    if (wants) waits_q[last.queue_id] <= 1'b1;
    if (tell) told_q[done_queue_i] <= 1'b1;
    if (done) slow_q[done_queue_i] <= done_slow_i;
    if (again) begin
      waits_q[again_queue] <= 1'b0;
      told_q[again_queue]  <= 1'b0;
    end
    if (rst_i) begin
      look_q  <= '0;
      credit_q <= $bits(credit_q)'(Depth);
      out_q   <= '0;
      waits_q <= '0;
      told_q  <= '0;
      slow_q  <= '1;
      tell1_q <= 1'b0;
      tell2_q <= 1'b0;
    end
  end

  // --- where a queue is on the hierarchy's side, what the memories say

  logic [Queues-1:0] in_d1, in_d2, cleared;
  logic [Queues-1:0][3:0] in_fifo;
  logic [Queues-1:0][2:0] decision, hierarchy, hierarchy_done;
  logic [Queues-1:0] wants_mem;
  queue_t fifo[Depth];    // the oldest word is in a register
  always_comb begin
    for (int k = 0; k < Depth; k++) fifo[k] = k == 0 ? again_queue : u_dut.u_again.mem[$clog2(Depth)'(32'(u_dut.u_again.raddr_q) + k - 1)];
    for (int q = 0; q < Queues; q++) begin
      in_d1[q]          = u_dut.d1_valid_q && u_dut.d1_queue_q == queue_t'(q);
      in_d2[q]          = u_dut.d2_valid_q && u_dut.d2_queue_q == queue_t'(q);
      decision[q]       = u_dut.u_decision_look.mem[q];
      hierarchy[q]      = u_dut.u_hierarchy_look.mem[q];
      hierarchy_done[q] = u_dut.u_hierarchy_done.mem[q];
      wants_mem[q]      = u_dut.u_wants.mem[q][0];
      cleared[q]        = !u_dut.init || q < 32'(u_dut.init_queue);
      in_fifo[q]        = '0;
      for (int k = 0; k < u_dut.Depth; k++) begin
        in_fifo[q] += 4'(k < 32'(u_dut.unused_level) && fifo[k] == queue_t'(q));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i) begin
      m_range : assume (32'(look_queue_i) < Queues && 32'(done_queue_i) < Queues);
      // pst_schedule_shaped: it has the queue, once
      if (look_i) m_look : assume (init_done && !in_pipe[look_queue_i] && !waits_q[look_queue_i]);
      // the hierarchy: it has a packet of the queue, and not two in a row
      if (done_valid_i) m_done : assume (credit_q != '0 && out_q[done_queue_i] != '0 && !in_d1[done_queue_i] && !in_d2[done_queue_i]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (look_q[2].valid) begin
        a_look : assert (count == out_q[look_q[2].queue_id]);
        if (!look_q[2].through) a_slow : assert (look_slow == slow_q[look_q[2].queue_id]);
      end
      if (again_valid) a_told : assert (waits_q[again_queue] && told_q[again_queue] && !in_pipe[again_queue]);
      for (int q = 0; q < Queues; q++) begin
        if (waits_q[q] && !told_q[q]) a_waits_for_one : assert (out_q[q] != '0 && in_fifo[q] == '0);
        if (told_q[q]) a_told_once : assert (in_fifo[q] + 4'(tell1_q && in_d1[q]) + 4'(tell2_q && in_d2[q]) == 4'd1);
        if (!waits_q[q]) a_not_told_without_waiting : assert (in_fifo[q] == '0 && !told_q[q]);
        a_two_at_most : assert (out_q[q] <= 2'd2);
      end
      if (u_dut.again) a_room : assert (32'(u_dut.unused_level) < Depth);

      // what the induction needs: the FIFO, the clearing walk
      a_flag : assert (again_valid == (u_dut.unused_level != '0));
      a_fifo : assert ($clog2(Depth)'(32'(u_dut.u_again.raddr_q) + 32'(u_dut.unused_level) - 1) == u_dut.u_again.waddr_q);
      a_credit : assert (32'(u_dut.unused_level) + 32'(u_dut.d1_valid_q) + 32'(u_dut.d2_valid_q) + 32'(credit_q) == Depth);
      a_tell : assert ((!tell1_q || u_dut.d1_valid_q) && (!tell2_q || u_dut.d2_valid_q));
      if (!init_done) begin
        a_idle : assert (32'(u_dut.init_queue) < Queues && in_pipe == '0 && out_q == '0 && waits_q == '0 && slow_q == '1
                         && !u_dut.d1_valid_q && !u_dut.d2_valid_q && !u_dut.d3_valid_q && u_dut.unused_level == '0);
      end
      a_range : assert (32'(u_dut.d1_queue_q) < Queues || !u_dut.d1_valid_q);
      a_range2 : assert (32'(u_dut.d2_queue_q) < Queues || !u_dut.d2_valid_q);

      // what the memories say
      for (int q = 0; q < Queues; q++) begin
        if (cleared[q]) begin
          a_memories_agree : assert (hierarchy_done[q][2:1] == hierarchy[q][2:1] && decision[q][0] == wants_mem[q]);
          a_outstanding : assert (2'(decision[q][2:1] - hierarchy[q][2:1]) == out_q[q] + 2'(in_d1[q]) + 2'(in_d2[q]));
          a_wants_not_told : assert ((wants_mem[q] != hierarchy_done[q][0]) == (waits_q[q] && in_fifo[q] == '0));
          if (!in_d1[q] && !in_d2[q]) a_slow_kept : assert (hierarchy[q][0] == slow_q[q]);
        end
        for (int k = 0; k < u_dut.Depth; k++) begin
          if (k < 32'(u_dut.unused_level)) a_fifo_in_range : assert (32'(fifo[k]) < Queues);
        end
        if (in_pipe[q]) a_pipe_does_not_wait : assert (!waits_q[q]);
        a_one_stage : assert (!(in_d1[q] && in_d2[q]));
        if (in_d1[q]) a_slow1 : assert (slow_q[q] == u_dut.d1_slow_q);
        if (in_d2[q]) a_slow2 : assert (slow_q[q] == u_dut.d2_slow_q);
        // two in a row are three cycles apart: D3 is what the memory has
        if (u_dut.d3_valid_q && u_dut.d3_queue_q == queue_t'(q))
          a_write_of_the_queue : assert (u_dut.d3_new_q == hierarchy[q] && !in_d1[q] && !in_d2[q]);
      end

      // every read sees what is there now, or is known to be replaced
      if (u_dut.d1_valid_q) begin
        a_d1_done : assert (u_dut.u_hierarchy_done.rdata_q == hierarchy_done[u_dut.d1_queue_q]);
        a_d1_wants : assert (u_dut.u_wants.rdata_q[0] == (hierarchy_done[u_dut.d1_queue_q][0] ^ tell1_q));
        if (tell1_q) a_d1_tell : assert (told_q[u_dut.d1_queue_q]);
      end
      if (u_dut.d2_valid_q) begin
        a_d2_done : assert ({u_dut.d2_done, u_dut.d2_told} == hierarchy_done[u_dut.d2_queue_q]);
        a_d2_wants : assert (u_dut.d2_wants == (hierarchy_done[u_dut.d2_queue_q][0] ^ tell2_q));
        if (tell2_q) a_d2_tell : assert (told_q[u_dut.d2_queue_q]);
      end
      for (int k = 1; k <= Stages; k++) begin
        for (int j = k + 1; j <= Stages; j++)
          a_look_once : assert (!(look_q[k].valid && look_q[j].valid && look_q[k].queue_id == look_q[j].queue_id));
        if (look_q[k].valid) begin
          a_look_in_range : assert (32'(look_q[k].queue_id) < Queues);
          if (k > 2) a_look_state : assert (look_q[k].state == decision[look_q[k].queue_id] && !(look_q[k].sent && look_q[k].waits));
          else a_look_undecided : assert (!look_q[k].sent && !look_q[k].waits && (k == 2 || !look_q[k].through));
          if (look_q[k].waits && !look_q[k].through) a_look_waits : assert (out_q[look_q[k].queue_id] != '0);
          if (look_q[k].sent) a_look_sent : assert (out_q[look_q[k].queue_id] <= 2'd1);
        end
      end
      if (look_q[1].valid) begin
        a_b1 : assert (u_dut.b1_queue_q == look_q[1].queue_id && u_dut.u_decision_look.rdata_q == decision[look_q[1].queue_id]);
        if (!(u_dut.d3_valid_q && u_dut.d3_queue_q == look_q[1].queue_id)) begin
          a_b1_hierarchy : assert (u_dut.u_hierarchy_look.rdata_q == hierarchy[look_q[1].queue_id]);
        end
      end
      if (look_q[2].valid) begin
        a_b2 : assert (look_state == decision[look_q[2].queue_id]);
        a_b2_through : assert (look_q[2].through == in_d1[look_q[2].queue_id]);
        a_b2_hit : assert (u_dut.hit2_q == in_d2[look_q[2].queue_id]);
        if (u_dut.hit2_q) a_b2_hierarchy : assert (u_dut.b2_hierarchy == {2'(hierarchy[look_q[2].queue_id][2:1] + 1'b1),
                                                                          slow_q[look_q[2].queue_id]}
                                               || in_d1[look_q[2].queue_id]);
        else a_b2_same : assert (u_dut.b2_hierarchy == hierarchy[look_q[2].queue_id]);
      end

      // useful work is possible
      c_told : cover (again && out_q[again_queue] != '0);
      c_replaced : cover (look_q[2].valid && u_dut.hit4_q);
      c_ahead : cover (out_q[0] == 2'd2);
      c_both : cover (u_dut.unused_level == 4'd2);
    end
  end

endmodule
