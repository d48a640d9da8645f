// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Packets that have left their queue but not yet the hierarchy behind it, counted by queue; a queue that waits for them is told when one is through.
//
// The decision side owns `sent` and `wants`, the hierarchy's side owns `done`, `slow` and `told`. sent and done count modulo 4: outstanding are
// sent - done, two at most. wants and told toggle: a queue wants to be told while they differ. So each memory has one writer.
//
// Latency: a look 2 cycles; a packet that is through to m_again_o 3 cycles. Throughput: one look, one result, one packet through per cycle.
// A look knows all that was through in its own cycle or before; the decision side itself must watch s_done from the cycle after that, and
// may not say wants in a cycle in which the queue has a packet through.
// Reset: nothing is outstanding; a walker clears the memories (`Queues` cycles).
module pst_outstanding #(
    parameter int unsigned Queues = 64,        // >= 2
    parameter int unsigned Depth = 32,         // most packets through before done_credits_o says that they are forgotten
    parameter string       RamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // decision side: look, in the next cycle nothing, then the answer; later, before the queue's next look, what came of it
    input  logic [QueueIdWidth-1:0] s_look_queue_i,
    output logic [1:0]              look_count_o,       // with the answer: packets that are outstanding
    output logic                    look_slow_o,        // with the answer: the last one that got through had to wait at a gate, or none has
    output logic [2:0]              look_state_o,       // with the answer: to be given back with the result
    input  logic                    s_result_valid_i,
    input  logic                    s_result_sent_i,    // a packet was sent
    input  logic                    s_result_wants_i,   // the queue wants to be told when a packet is through
    input  logic [QueueIdWidth-1:0] s_result_queue_i,
    input  logic [2:0]              s_result_state_i,
    // gates: a queue's packet is through; the next one of the same queue three cycles later at the earliest
    input  logic                    s_done_valid_i,
    input  logic [QueueIdWidth-1:0] s_done_queue_i,
    input  logic                    s_done_slow_i,      // it had to wait
    output logic [             1:0] done_credits_o,     // of so many packets nothing is kept any more; of at most Depth there is
    // a queue that wanted to be told
    output logic                    m_again_valid_o,
    input  logic                    m_again_ready_i,
    output logic [QueueIdWidth-1:0] m_again_queue_o,
    output logic                    init_done_o
);

  typedef logic [QueueIdWidth-1:0] queue_t;

  typedef struct packed {
    logic [1:0] sent;
    logic       wants;
  } decision_t;

  typedef struct packed {
    logic [1:0] done;
    logic       slow;
  } hierarchy_t;

  logic init;
  queue_t init_queue;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_queue));

  assign init_done_o = !init;

  // --- the hierarchy's side: D0 read, D2 write

  logic d1_valid_q, d2_valid_q, d3_valid_q, d1_slow_q, d2_slow_q, again, d2_wants, d2_told;
  queue_t d1_queue_q, d2_queue_q, d3_queue_q;
  logic [1:0] d2_done;
  hierarchy_t d2_new, d3_new_q, d4_new_q;
  logic [$clog2(Depth+1)-1:0] unused_level;
  logic unused_ready;

  assign d2_new         = '{done: d2_done + 1'b1, slow: d2_slow_q};
  assign again          = d2_valid_q && d2_wants != d2_told;
  assign done_credits_o = 2'(d2_valid_q && !again) + 2'(m_again_valid_o && m_again_ready_i);

  // --- the decision side

  queue_t b1_queue_q;
  logic hit2_q, hit3_q, hit4_q;
  decision_t b2_decision, result;
  hierarchy_t b2_ram, b2_hierarchy;

  // What was in D0 when the look was made, or one or two cycles ahead of it, is in D2 to D4 now; the memory did not have it.
  always_comb begin
    b2_hierarchy = b2_ram;
    if (hit4_q) b2_hierarchy = d4_new_q;
    if (hit3_q) b2_hierarchy = d3_new_q;
    if (hit2_q) b2_hierarchy = d2_new;
  end

  assign look_count_o = b2_decision.sent - b2_hierarchy.done;
  assign look_slow_o  = b2_hierarchy.slow;
  assign look_state_o = b2_decision;

  always_comb begin
    result       = decision_t'(s_result_state_i);
    result.sent  = result.sent + 2'(s_result_sent_i);
    result.wants = result.wants ^ s_result_wants_i;
  end

  always_ff @(posedge clk_i) begin
    d1_valid_q <= s_done_valid_i;
    d1_queue_q <= s_done_queue_i;
    d1_slow_q  <= s_done_slow_i;
    d2_valid_q <= d1_valid_q;
    d2_queue_q <= d1_queue_q;
    d2_slow_q  <= d1_slow_q;
    d3_valid_q <= d2_valid_q;
    d3_queue_q <= d2_queue_q;
    d3_new_q   <= d2_new;
    d4_new_q   <= d3_new_q;
    b1_queue_q <= s_look_queue_i;
    hit2_q     <= d1_valid_q && d1_queue_q == b1_queue_q;
    hit3_q     <= d2_valid_q && d2_queue_q == b1_queue_q;
    hit4_q     <= d3_valid_q && d3_queue_q == b1_queue_q;
    if (rst_i) begin
      d1_valid_q <= 1'b0;
      d2_valid_q <= 1'b0;
      d3_valid_q <= 1'b0;
    end
  end

  pst_ram_1r1w #(
      .Width($bits(decision_t)), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_decision_look (
      .clk_i,
      .we_i(init || s_result_valid_i), .waddr_i(init ? init_queue : s_result_queue_i), .wdata_i(init ? '0 : result),
      .re_i(1'b1), .raddr_i(s_look_queue_i), .rdata_o(b2_decision)
  );

  pst_ram_1r1w #(
      .Width(1), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_wants (
      .clk_i,
      .we_i(init || (s_result_valid_i && s_result_wants_i)), .waddr_i(init ? init_queue : s_result_queue_i),
      .wdata_i(!init && result.wants),
      .re_i(1'b1), .raddr_i(s_done_queue_i), .rdata_o(d2_wants)
  );

  pst_ram_1r1w #(
      .Width($bits(hierarchy_t)), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_hierarchy_look (
      .clk_i,
      .we_i(init || d2_valid_q), .waddr_i(init ? init_queue : d2_queue_q),
      .wdata_i(init ? hierarchy_t'{done: '0, slow: 1'b1} : d2_new),
      .re_i(1'b1), .raddr_i(s_look_queue_i), .rdata_o(b2_ram)
  );

  pst_ram_1r1w #(
      .Width(3), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_hierarchy_done (
      .clk_i,
      .we_i(init || d2_valid_q), .waddr_i(init ? init_queue : d2_queue_q), .wdata_i(init ? '0 : {d2_new.done, d2_wants}),
      .re_i(1'b1), .raddr_i(s_done_queue_i), .rdata_o({d2_done, d2_told})
  );

  pst_fifo #(
      .Width(QueueIdWidth), .Depth(Depth), .RegisterOutput(1'b1)
  ) u_again (
      .clk_i, .rst_i,
      .s_valid_i(again), .s_ready_o(unused_ready), .s_data_i(d2_queue_q),
      .m_valid_o(m_again_valid_o), .m_ready_i(m_again_ready_i), .m_data_o(m_again_queue_o),
      .level_o(unused_level)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (again) a_told_fifo_has_room : assert (unused_ready) else $error("the FIFO of queues to be told overflows");
      if (s_done_valid_i) begin
        a_through_apart : assert (!(d1_valid_q && d1_queue_q == s_done_queue_i) && !(d2_valid_q && d2_queue_q == s_done_queue_i))
        else $error("two packets of queue %0d get through in a row", s_done_queue_i);
        a_wants_not_what_gets_through : assert (!(s_result_valid_i && s_result_wants_i && s_result_queue_i == s_done_queue_i))
        else $error("queue %0d wants to be told of what is getting through", s_done_queue_i);
      end
    end
  end
`endif

endmodule
