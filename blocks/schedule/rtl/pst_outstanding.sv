// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Whose packet has left its queue but not yet the gates behind it: such a queue must wait, and is told when its packet is through.
//
// The decision side owns `sent` and `wants`, the gates' side owns `done` and `told`; all are single bits that toggle. A packet is outstanding
// while sent differs from done; a queue wants to be told while wants differs from told. So each memory has one writer.
//
// Latency: a look 2 cycles; a packet that is through to m_again_o 4 cycles. Throughput: one look, one write, one packet through per cycle.
// Reset: nothing is outstanding; a walker clears the memories (`Queues` cycles).
module pst_outstanding #(
    parameter int unsigned Queues = 64,        // >= 2
    parameter string       RamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // decision side: look, in the next cycle nothing, then the answer; later, before the queue's next look, what came of it
    input  logic [QueueIdWidth-1:0] s_look_queue_i,
    output logic                    look_out_o,         // with the answer: a packet is outstanding
    output logic                    look_unsure_o,      // with the answer: it is just getting through; look again later
    output logic [1:0]              look_state_o,       // with the answer: to be given back with the result
    input  logic                    s_result_valid_i,
    input  logic                    s_result_sent_i,    // a packet was sent; else the queue wants to be told
    input  logic [QueueIdWidth-1:0] s_result_queue_i,
    input  logic [1:0]              s_result_state_i,
    input  logic                    s_busy_i,           // the decision side has queue done_queue_o between look and result
    output logic [QueueIdWidth-1:0] done_queue_o,
    // gates: a queue's packet is through
    input  logic                    s_done_valid_i,
    output logic                    s_done_ready_o,
    input  logic [QueueIdWidth-1:0] s_done_queue_i,
    // a queue that wanted to be told
    output logic                    m_again_valid_o,
    input  logic                    m_again_ready_i,
    output logic [QueueIdWidth-1:0] m_again_queue_o,
    output logic                    init_done_o
);

  localparam int unsigned Depth = 8;

  typedef logic [QueueIdWidth-1:0] queue_t;

  typedef struct packed {
    logic sent;
    logic wants;
  } decision_t;

  typedef struct packed {
    logic done;
    logic told;
  } gates_t;

  logic init_q;
  queue_t init_queue_q;

  always_ff @(posedge clk_i) begin
    if (init_q) init_queue_q <= init_queue_q + 1'b1;
    if (init_q && init_queue_q == queue_t'(Queues - 1)) init_q <= 1'b0;
    if (rst_i) begin
      init_q       <= 1'b1;
      init_queue_q <= '0;
    end
  end

  assign init_done_o = !init_q;

  // --- the gates' side: D0 read, D2 write

  logic d0_take, d1_valid_q, d2_valid_q, d3_valid_q, again;
  queue_t d1_queue_q, d2_queue_q, d3_queue_q;
  decision_t d2_decision;
  gates_t d2_gates, d2_new;
  logic [$clog2(Depth+1)-1:0] level;
  logic unused_ready;

  assign done_queue_o   = s_done_queue_i;
  assign s_done_ready_o = int'(level) <= Depth - 4 && !s_busy_i && init_done_o;
  assign d0_take        = s_done_valid_i && s_done_ready_o;
  assign d2_new         = '{done: d2_decision.sent, told: d2_decision.wants};
  assign again          = d2_valid_q && d2_decision.wants != d2_gates.told;

  // --- the decision side

  queue_t b1_queue_q;
  decision_t b2_decision, result;
  gates_t b2_gates;
  logic b2_unsure_q;

  assign look_out_o    = b2_decision.sent != b2_gates.done;
  assign look_unsure_o = b2_unsure_q;
  assign look_state_o  = b2_decision;

  always_comb begin
    result = decision_t'(s_result_state_i);
    if (s_result_sent_i) result.sent = !result.sent;
    else result.wants = !result.wants;
  end

  always_ff @(posedge clk_i) begin
    d1_valid_q <= d0_take;
    d1_queue_q <= s_done_queue_i;
    d2_valid_q <= d1_valid_q;
    d2_queue_q <= d1_queue_q;
    d3_valid_q <= d2_valid_q;
    d3_queue_q <= d2_queue_q;
    b1_queue_q <= s_look_queue_i;
    // What D0 to D2 were about to write when the look was made, it has not seen.
    b2_unsure_q <= (d1_valid_q && d1_queue_q == b1_queue_q) || (d2_valid_q && d2_queue_q == b1_queue_q)
        || (d3_valid_q && d3_queue_q == b1_queue_q);
    if (rst_i) begin
      d1_valid_q <= 1'b0;
      d2_valid_q <= 1'b0;
      d3_valid_q <= 1'b0;
    end
  end

  pst_ram_1r1w #(
      .Width(2), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_decision_look (
      .clk_i,
      .we_i(init_q || s_result_valid_i), .waddr_i(init_q ? init_queue_q : s_result_queue_i), .wdata_i(init_q ? '0 : result),
      .re_i(1'b1), .raddr_i(s_look_queue_i), .rdata_o(b2_decision)
  );

  pst_ram_1r1w #(
      .Width(2), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_decision_done (
      .clk_i,
      .we_i(init_q || s_result_valid_i), .waddr_i(init_q ? init_queue_q : s_result_queue_i), .wdata_i(init_q ? '0 : result),
      .re_i(1'b1), .raddr_i(s_done_queue_i), .rdata_o(d2_decision)
  );

  pst_ram_1r1w #(
      .Width(2), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_gates_look (
      .clk_i,
      .we_i(init_q || d2_valid_q), .waddr_i(init_q ? init_queue_q : d2_queue_q), .wdata_i(init_q ? '0 : d2_new),
      .re_i(1'b1), .raddr_i(s_look_queue_i), .rdata_o(b2_gates)
  );

  pst_ram_1r1w #(
      .Width(2), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_gates_done (
      .clk_i,
      .we_i(init_q || d2_valid_q), .waddr_i(init_q ? init_queue_q : d2_queue_q), .wdata_i(init_q ? '0 : d2_new),
      .re_i(1'b1), .raddr_i(s_done_queue_i), .rdata_o(d2_gates)
  );

  pst_fifo #(
      .Width(QueueIdWidth), .Depth(Depth)
  ) u_again (
      .clk_i, .rst_i,
      .s_valid_i(again), .s_ready_o(unused_ready), .s_data_i(d2_queue_q),
      .m_valid_o(m_again_valid_o), .m_ready_i(m_again_ready_i), .m_data_o(m_again_queue_o),
      .level_o(level)
  );

  logic unused;
  assign unused = &{1'b0, b2_gates.told};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (again) assert (unused_ready) else $error("the FIFO of queues to be told overflows");
      if (d2_valid_q) assert (d2_decision.sent != d2_gates.done) else $error("queue %0d has no packet outstanding", d2_queue_q);
    end
  end
`endif

endmodule
