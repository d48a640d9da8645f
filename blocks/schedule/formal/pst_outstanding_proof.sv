// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_outstanding: a look tells exactly whether the queue's packet is outstanding, or that it is unsure, and then the packet
// has got through within the last cycles; a queue that wants to be told is on its way to m_again exactly once as soon as its packet is through,
// and never before: no wake-up is lost, none comes twice.
//
// The decision side is that of pst_schedule_shaped: a queue that it has, and that does not wait to be told, is looked at; so many cycles later
// comes a result, or none (it was too early, its gate was closed, its packet was dropped). Until then nobody is through, see s_busy_i.
module pst_outstanding_proof #(
    parameter int unsigned Queues = 2,
    parameter int unsigned Stages = 3,    // cycles from look to result, >= 3
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input logic                    clk_i,
    input logic                    rst_i,
    input logic                    look_i,
    input logic [QueueIdWidth-1:0] look_queue_i,
    input logic                    act_i,           // with the answer: something comes of it
    input logic                    busy_i,          // somebody else (a walk) has the queue, too
    input logic                    done_valid_i,
    input logic [QueueIdWidth-1:0] done_queue_i,
    input logic                    again_ready_i
);

  typedef logic [QueueIdWidth-1:0] queue_t;

  logic look_out, look_unsure, busy, done_ready, done, again_valid, again, init_done;
  logic [1:0] look_state;
  queue_t done_queue, again_queue;

  // --- the decision side: stage 2 has the answer, the last one the result

  typedef struct packed {
    logic       valid;
    logic       sent;
    logic       wants;
    logic [1:0] state;
    queue_t     queue_id;
  } look_t;

  look_t [Stages:1] look_q;
  look_t answered, last;
  logic [Queues-1:0] in_pipe;
  assign last = look_q[Stages];

  always_comb begin
    answered       = look_q[2];
    answered.state = look_state;
    answered.sent  = act_i && !look_unsure && !look_out;
    answered.wants = act_i && !look_unsure && look_out;
    in_pipe = '0;
    for (int k = 1; k <= Stages; k++) if (look_q[k].valid) in_pipe[look_q[k].queue_id] = 1'b1;
  end

  assign busy  = in_pipe[done_queue] || busy_i;
  assign done  = done_valid_i && done_ready;
  assign again = again_valid && again_ready_i;

  pst_outstanding #(
      .Queues(Queues)
  ) u_dut (
      .clk_i, .rst_i,
      .s_look_queue_i(look_queue_i), .look_out_o(look_out), .look_unsure_o(look_unsure), .look_state_o(look_state),
      .s_result_valid_i(last.valid && (last.sent || last.wants)), .s_result_sent_i(last.sent), .s_result_queue_i(last.queue_id),
      .s_result_state_i(last.state), .s_busy_i(busy), .done_queue_o(done_queue),
      .s_done_valid_i(done_valid_i), .s_done_ready_o(done_ready), .s_done_queue_i(done_queue_i),
      .m_again_valid_o(again_valid), .m_again_ready_i(again_ready_i), .m_again_queue_o(again_queue), .init_done_o(init_done)
  );

  // --- whose packet is outstanding, who waits to be told; done_q: got through 1, 2, .. cycles ago

  logic seen_q;
  initial seen_q = 1'b0;
  logic [Queues-1:0] out_q, waits_q;
  logic [4:1][Queues-1:0] done_q;

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    look_q[1] <= '{valid: look_i, queue_id: look_queue_i, default: '0};
    look_q[2] <= look_q[1];
    look_q[3] <= answered;
    for (int k = 4; k <= Stages; k++) look_q[k] <= look_q[k-1];
    done_q <= {done_q[3:1], {Queues{1'b0}}};
    if (last.valid && last.sent) out_q[last.queue_id] <= 1'b1;
    if (last.valid && last.wants) waits_q[last.queue_id] <= 1'b1;
    if (done) begin
      out_q[done_queue_i]     <= 1'b0;
      done_q[1][done_queue_i] <= 1'b1;
    end
    if (again) waits_q[again_queue] <= 1'b0;
    if (rst_i) begin
      look_q  <= '0;
      out_q   <= '0;
      waits_q <= '0;
      done_q  <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i) begin
      m_range : assume (32'(look_queue_i) < Queues && 32'(done_queue_i) < Queues);
      // pst_schedule_shaped: it has the queue, once
      if (look_i) m_look : assume (init_done && !in_pipe[look_queue_i] && !waits_q[look_queue_i]);
      // the gates: they have the queue's packet, maybe before the result is known here
      if (done_valid_i) m_done : assume (out_q[done_queue_i] || in_pipe[done_queue_i]);
    end
  end

  // --- where a queue is on the gates' side, what the memories say

  logic [Queues-1:0] in_d, cleared;
  logic [Queues-1:0][4:0] on_way;    // entries in the D stages and in the FIFO
  logic [Queues-1:0][1:0] decision, gates;
  always_comb begin
    for (int q = 0; q < Queues; q++) begin
      in_d[q]     = (u_dut.d1_valid_q && u_dut.d1_queue_q == queue_t'(q)) || (u_dut.d2_valid_q && u_dut.d2_queue_q == queue_t'(q));
      on_way[q]   = 5'(u_dut.d1_valid_q && u_dut.d1_queue_q == queue_t'(q)) + 5'(u_dut.d2_valid_q && u_dut.d2_queue_q == queue_t'(q));
      decision[q] = u_dut.u_decision_look.mem[q];
      gates[q]    = u_dut.u_gates_look.mem[q];
      cleared[q]  = !u_dut.init_q || q < 32'(u_dut.init_queue_q);
      for (int k = 0; k < u_dut.Depth; k++) begin
        on_way[q] += 5'(k < 32'(u_dut.level) && u_dut.u_again.mem[3'(32'(u_dut.u_again.raddr_q) + k)] == queue_t'(q));
      end
    end
  end

  localparam int unsigned Told = 0, Done = 1;    // bits of gates; of decision: wants, sent

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (look_q[2].valid && !look_unsure) a_look : assert (look_out == out_q[look_q[2].queue_id]);
      if (look_q[2].valid && look_unsure) begin
        a_unsure : assert (!out_q[look_q[2].queue_id]
                           && (done_q[2][look_q[2].queue_id] || done_q[3][look_q[2].queue_id] || done_q[4][look_q[2].queue_id]));
      end
      if (again_valid) a_told : assert (waits_q[again_queue] && !out_q[again_queue] && !in_pipe[again_queue]);
      for (int q = 0; q < Queues; q++) begin
        if (waits_q[q] && !out_q[q]) assert (on_way[q] == 5'd1);
        if (!waits_q[q]) assert (on_way[q] == 5'(in_d[q]));
        if (out_q[q]) assert (on_way[q] == '0);
      end
      if (done_valid_i && !busy && init_done) a_taken : assert (done_ready || 32'(u_dut.level) > 4);
      if (u_dut.again) a_room : assert (32'(u_dut.level) < u_dut.Depth);

      // what the induction needs: the FIFO, the clearing walk
      a_flag : assert (again_valid == (u_dut.level != '0));
      a_fifo : assert (3'(32'(u_dut.u_again.raddr_q) + 32'(u_dut.level)) == u_dut.u_again.waddr_q);
      a_level : assert (32'(u_dut.level) + 32'(u_dut.d1_valid_q) + 32'(u_dut.d2_valid_q) <= u_dut.Depth);
      if (!init_done) begin
        a_idle : assert (32'(u_dut.init_queue_q) < Queues && in_pipe == '0 && out_q == '0 && waits_q == '0 && in_d == '0
                         && !u_dut.d3_valid_q && u_dut.level == '0);
      end

      // what the memories say
      for (int q = 0; q < Queues; q++) begin
        if (cleared[q]) begin
          assert (u_dut.u_decision_done.mem[q] == decision[q] && u_dut.u_gates_done.mem[q] == gates[q]);
          assert ((decision[q][Done] != gates[q][Done]) == (out_q[q] || in_d[q]));
          assert ((decision[q][Told] != gates[q][Told]) == (waits_q[q] && (out_q[q] || in_d[q])));
        end
        if (u_dut.init_q && !cleared[q]) assert (!waits_q[q] && !out_q[q]);
        for (int k = 0; k < u_dut.Depth; k++) begin
          if (k < 32'(u_dut.level)) assert (32'(u_dut.u_again.mem[3'(32'(u_dut.u_again.raddr_q) + k)]) < Queues);
        end
        if (in_pipe[q]) assert (!waits_q[q]);
        if (in_d[q]) assert (!out_q[q]);
        assert (done_q[1][q] == (u_dut.d1_valid_q && u_dut.d1_queue_q == queue_t'(q))
                && done_q[2][q] == (u_dut.d2_valid_q && u_dut.d2_queue_q == queue_t'(q))
                && done_q[3][q] == (u_dut.d3_valid_q && u_dut.d3_queue_q == queue_t'(q)));
        assert (32'(done_q[1][q]) + 32'(done_q[2][q]) <= 1 && (!out_q[q] || !(done_q[1][q] || done_q[2][q] || done_q[3][q])));
      end

      // every read sees what is there now, or is known to be unsure
      if (u_dut.d1_valid_q) begin
        a_d1 : assert (u_dut.u_decision_done.rdata_q == decision[u_dut.d1_queue_q] && u_dut.u_gates_done.rdata_q == gates[u_dut.d1_queue_q]
                       && 32'(u_dut.d1_queue_q) < Queues);
      end
      if (u_dut.d2_valid_q) begin
        a_d2 : assert (u_dut.d2_decision == decision[u_dut.d2_queue_q] && u_dut.d2_gates == gates[u_dut.d2_queue_q]
                       && 32'(u_dut.d2_queue_q) < Queues);
      end
      for (int k = 1; k <= Stages; k++) begin
        for (int j = k + 1; j <= Stages; j++) assert (!(look_q[k].valid && look_q[j].valid && look_q[k].queue_id == look_q[j].queue_id));
        if (look_q[k].valid) begin
          assert (32'(look_q[k].queue_id) < Queues);
          if (k > 2) assert (look_q[k].state == decision[look_q[k].queue_id] && !(look_q[k].sent && look_q[k].wants));
          else assert (!look_q[k].sent && !look_q[k].wants);
          if (look_q[k].wants) assert (out_q[look_q[k].queue_id]);
          if (look_q[k].sent) assert (!out_q[look_q[k].queue_id] && !in_d[look_q[k].queue_id]);
          if (k > 1) assert (!done_q[1][look_q[k].queue_id]);
          if (k > 2) assert (!done_q[2][look_q[k].queue_id]);
        end
      end
      if (look_q[1].valid) begin
        a_b1 : assert (u_dut.b1_queue_q == look_q[1].queue_id && u_dut.u_decision_look.rdata_q == decision[look_q[1].queue_id]);
        if (!done_q[1][look_q[1].queue_id] && !done_q[2][look_q[1].queue_id] && !done_q[3][look_q[1].queue_id]) begin
          a_b1_gates : assert (u_dut.u_gates_look.rdata_q == gates[look_q[1].queue_id]);
        end
      end
      if (look_q[2].valid) begin
        a_b2 : assert (look_state == decision[look_q[2].queue_id]);
        a_b2_unsure : assert (look_unsure == (done_q[2][look_q[2].queue_id] || done_q[3][look_q[2].queue_id]
                                              || done_q[4][look_q[2].queue_id]));
        if (!look_unsure) a_b2_gates : assert (u_dut.b2_gates == gates[look_q[2].queue_id]);
      end

      // useful work is possible
      c_told : cover (again && out_q != '0);
      c_unsure : cover (look_q[2].valid && look_unsure);
      c_two : cover (u_dut.level == 4'd2);
    end
  end

endmodule
