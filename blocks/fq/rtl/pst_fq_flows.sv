// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Flow queues as linked lists of packets, with their credits: what an operation does with a flow.
//
// Throughput: an operation per cycle, of any flows. Latency: 3 cycles from p0 to the result (p3). Operations that take packets out of one
// flow are four cycles apart. Ordering: each sees what those before it left.
// Reset: all flow queues are empty and in no list; `Flows` cycles.
module pst_fq_flows
  import pst_pkg::len_t;
  import pst_fq_pkg::*;
#(
    parameter int unsigned Flows = 1024,         // >= 2
    parameter int unsigned Descriptors = 256,    // >= 2
    parameter string       RamStyle = "auto",    // of memories by flow, see pst_ram_1r1w
    parameter string       DescRamStyle = "auto",
    localparam int unsigned FlowWidth = $clog2(Flows),
    localparam int unsigned DescIdWidth = $clog2(Descriptors)
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    output logic                      init_done_o,
    // the operation
    input  logic                      p0_valid_i,
    input  logic [     FlowWidth-1:0] p0_flow_i,
    input  logic [     FlowWidth-1:0] p1_flow_i,
    input  logic [     FlowWidth-1:0] p2_flow_i,
    input  logic                      p3_valid_i,
    input  op_e                       p3_op_i,
    input  logic [     FlowWidth-1:0] p3_flow_i,
    input  logic                      p3_old_i,       // the flow is in the old list
    input  logic [   DescIdWidth-1:0] p3_desc_i,      // of a packet that comes
    input  len_t                      p3_len_i,       // of a packet that comes; credits that are given back
    input  len_t                      p3_quantum_i,
    input  len_t                      p3_grant_i,     // of a flow whose credits are used up
    input  logic                      p3_valve_i,     // the queue is far above its limit
    // its result, in p3
    output logic                      accept_o,       // the packet came in
    output logic                      append_o,       // and its flow was in no list
    output logic                      pop_o,          // the head packet goes out
    output logic                      rotate_o,       // the flow goes to the tail of the old list
    output logic                      spent_o,        // because its credits were used up
    output logic                      remove_o,       // it leaves the old list
    output logic                      release_o,      // it was idle for the second time
    output logic [   DescIdWidth-1:0] desc_o,         // of the packet that comes or goes out
    output len_t                      len_o,
    output logic [FlowBytesWidth-1:0] bytes_o         // in the flow, after the operation
);

  typedef logic [FlowWidth-1:0] flow_t;
  typedef logic [DescIdWidth-1:0] desc_t;
  typedef logic [FlowBytesWidth-1:0] bytes_t;
  typedef logic signed [CreditWidth-1:0] credit_t;

  typedef enum logic [1:0] {
    Unlisted,      // in no list, so empty
    Idle,          // the same, and the walk has found it so
    Empty,         // in a list, without packets
    Backlogged
  } state_e;

  // What decides an operation is written into the word, so that the next one need not compare first: whether the flow has packets, and
  // as the sign of credits - 1 whether they are used up.
  typedef struct packed {
    state_e  state;
    credit_t credits;    // less one
    bytes_t  bytes;
    desc_t   tail;
  } word_t;

  typedef struct packed {
    desc_t desc;
    len_t  len;
  } packet_t;

  word_t word, word_new, unused_word_q;
  packet_t head_r, head, next_r, p4_packet_q, p5_packet_q, p6_packet_q;
  bytes_t after, p4_bytes_q;
  logic signed [FlowBytesWidth:0] room;    // bytes that a flow may have before a packet comes, if the valve is closed
  logic listed, empty, spent, we, first, p4_next_we_q, p4_pop_q, p5_fetch_q, p6_fetch_q, p4_first_q, p5_first_q, p6_first_q;
  logic p3_hit1_q, p3_hit2_q, p3_hit3_q;    // the operations one to three ahead are of the same flow
  desc_t p4_tail_q;
  flow_t p4_flow_q, p5_flow_q, p6_flow_q;

  pst_ram_modify #(
      .Width($bits(word_t)), .Depth(Flows), .Style(RamStyle)
  ) u_flow (
      .clk_i, .rst_i,
      .valid_i(p0_valid_i), .addr_i(p0_flow_i),
      .word_o(word), .we_i(we), .word_i(word_new), .word_q_o(unused_word_q),
      .init_done_o
  );

  // --- p3

  always_comb begin
    head = head_r;
    if (p3_hit3_q && p6_first_q) head = p6_packet_q;
    if (p3_hit2_q && p5_first_q) head = p5_packet_q;
    if (p3_hit1_q && p4_first_q) head = p4_packet_q;
    listed    = word.state inside {Empty, Backlogged};
    empty     = word.state != Backlogged;
    after     = word.bytes + bytes_t'(p3_len_i);
    room      = (FlowBytesWidth + 1)'(p3_quantum_i) - (FlowBytesWidth + 1)'(p3_len_i);
    // Credits that are given back have been taken from more than 0: the flow has more again.
    spent     = word.credits < 0 && p3_len_i == '0;
    word_new  = word;
    we        = 1'b0;
    accept_o  = 1'b0;
    append_o  = 1'b0;
    pop_o     = 1'b0;
    rotate_o  = 1'b0;
    spent_o   = 1'b0;
    remove_o  = 1'b0;
    release_o = 1'b0;
    bytes_o   = word.bytes;
    desc_o    = p3_op_i == OpEnqueue ? p3_desc_i : head.desc;
    len_o     = p3_op_i == OpEnqueue ? p3_len_i : head.len;
    case (p3_op_i)
      OpEnqueue: begin
        accept_o = !(p3_valve_i && $signed({1'b0, word.bytes}) > room);
        append_o = accept_o && !listed;
        if (accept_o) begin
          we             = 1'b1;
          bytes_o        = after;
          word_new.state = Backlogged;
          word_new.bytes = after;
          word_new.tail  = p3_desc_i;
          if (!listed) word_new.credits = credit_t'({2'b00, p3_quantum_i}) - credit_t'(1);
        end
      end
      OpAsk: begin
        release_o = word.state == Idle;
        if (!listed) begin
          we             = 1'b1;
          word_new.state = Idle;
        end
      end
      OpVisit: begin
        we               = 1'b1;
        word_new.credits = word.credits + credit_t'({2'b00, p3_len_i});
        if (spent) begin
          word_new.credits = word.credits + credit_t'({2'b00, p3_grant_i});
          rotate_o         = 1'b1;
          spent_o          = 1'b1;
        end else if (empty) begin
          rotate_o = !p3_old_i;
          remove_o = p3_old_i;
          if (p3_old_i) word_new.state = Unlisted;
        end else begin
          pop_o            = 1'b1;
          word_new.credits = word.credits + (credit_t'({2'b00, p3_len_i}) - credit_t'({2'b00, head.len}));
        end
      end
      OpDrop: begin
        we    = !empty;
        pop_o = !empty;
      end
      default: ;
    endcase
    if (pop_o) begin
      word_new.bytes = word.bytes - bytes_t'(head.len);
      word_new.state = word.bytes == bytes_t'(head.len) ? Empty : Backlogged;
      bytes_o        = word_new.bytes;
    end
    if (!p3_valid_i) begin
      we        = 1'b0;
      accept_o  = 1'b0;
      append_o  = 1'b0;
      pop_o     = 1'b0;
      rotate_o  = 1'b0;
      spent_o   = 1'b0;
      remove_o  = 1'b0;
      release_o = 1'b0;
    end
    if (!we) word_new = word;
    first = p3_valid_i && p3_op_i == OpEnqueue && empty;
  end

  // --- p4 to p6: the packet behind one that came, and the next head: that of an operation that took one out, or a packet that came to an
  // empty flow (whether or not the valve took it)

  always_ff @(posedge clk_i) begin
    p3_hit1_q    <= p2_flow_i == p3_flow_i;
    p3_hit2_q    <= p2_flow_i == p4_flow_q;
    p3_hit3_q    <= p2_flow_i == p5_flow_q;
    p4_first_q   <= first;
    p5_first_q   <= p4_first_q;
    p6_first_q   <= p5_first_q;
    p5_packet_q  <= p4_packet_q;
    p6_packet_q  <= p5_packet_q;
    p4_next_we_q <= accept_o && !empty;
    p4_tail_q    <= word.tail;
    p4_packet_q  <= '{desc: desc_o, len: len_o};
    p4_pop_q     <= pop_o;
    p4_bytes_q   <= bytes_o;
    p4_flow_q    <= p3_flow_i;
    p5_fetch_q   <= p4_pop_q && p4_bytes_q != '0;
    p5_flow_q    <= p4_flow_q;
    p6_fetch_q   <= p5_fetch_q;
    p6_flow_q    <= p5_flow_q;
    if (rst_i) begin
      p4_first_q   <= 1'b0;
      p5_first_q   <= 1'b0;
      p6_first_q   <= 1'b0;
      p4_next_we_q <= 1'b0;
      p4_pop_q     <= 1'b0;
      p5_fetch_q   <= 1'b0;
      p6_fetch_q   <= 1'b0;
    end
  end

  pst_ram_1r1w #(
      .Width($bits(packet_t)), .Depth(Descriptors), .ReadLatency(2), .Style(DescRamStyle)
  ) u_next (
      .clk_i,
      .we_i(p4_next_we_q), .waddr_i(p4_tail_q), .wdata_i(p4_packet_q),
      .re_i(1'b1), .raddr_i(p4_packet_q.desc), .rdata_o(next_r)
  );

  pst_ram_write_first #(
      .Width($bits(packet_t)), .Depth(Flows), .Late(1'b1), .Style(RamStyle)
  ) u_head (
      .clk_i,
      .we_i(p6_fetch_q || p6_first_q), .waddr_i(p6_flow_q), .wdata_i(p6_first_q ? p6_packet_q : next_r),
      .re_i(1'b1), .raddr_i(p1_flow_i), .rdata_o(head_r)
  );

`ifndef SYNTHESIS
  logic p5_pop_q, p6_pop_q;

  always_ff @(posedge clk_i) begin
    p5_pop_q <= p4_pop_q;
    p6_pop_q <= p5_pop_q;
    if (!rst_i) begin
      if (p3_valid_i && p3_op_i == OpVisit) a_visited_is_listed : assert (listed) else $error("a flow in no list is visited");
      if (p3_valid_i && p3_op_i == OpEnqueue) a_quantum : assert (p3_quantum_i != '0) else $error("a quantum of 0");
      if (p3_valid_i) a_state_is_that_of_bytes : assert (empty == (word.bytes == '0))
      else $error("a flow that is empty has bytes, or another has none");
      if (pop_o) begin
        a_head_is_whole : assert (bytes_t'(head.len) <= word.bytes && head.len != '0) else $error("a head is longer than its flow");
        a_pops_are_apart : assert (!(p4_pop_q && p4_flow_q == p3_flow_i) && !(p5_pop_q && p5_flow_q == p3_flow_i)
                                   && !(p6_pop_q && p6_flow_q == p3_flow_i))
        else $error("two packets of flow %0d too close together", p3_flow_i);
      end
    end
  end
`endif

endmodule
