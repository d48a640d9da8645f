// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The lists of new and of old flows of each queue, its limits, its fattest flow, and what comes next for it.
//
// Throughput: an operation per cycle, of any queues. Latency: 3 cycles from p1 to the result (p4). Ordering: each sees what those before it
// left. Reset: all lists are empty; `Queues` cycles.
module pst_fq_lists
  import pst_pkg::len_t, pst_pkg::LimitPacketsWidth, pst_pkg::LimitBytesWidth;
  import pst_fq_pkg::*;
#(
    parameter int unsigned Queues = 64,          // >= 2
    parameter int unsigned Flows = 1024,         // >= 2
    parameter int unsigned PacketsWidth = 9,     // bits of a number of packets
    parameter string       RamStyle = "auto",    // see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned FlowWidth = $clog2(Flows)
) (
    input  logic                         clk_i,
    input  logic                         rst_i,
    output logic                         init_done_o,
    input  logic                         pool_over_i,      // more packets in all queues than there may be
    // the operation
    input  logic                         p1_valid_i,       // of a queue
    input  logic [     QueueIdWidth-1:0] p1_queue_i,
    input  logic [        FlowWidth-1:0] p2_flow_i,
    input  op_e                          p3_op_i,
    input  len_t                         p3_len_i,         // of the packet that comes, or of the head
    input  logic [LimitPacketsWidth-1:0] p3_limit_packets_i,
    input  logic [  LimitBytesWidth-1:0] p3_limit_bytes_i,
    input  logic                         p4_valid_i,       // of a queue
    input  op_e                          p4_op_i,          // OpEnqueue that was accepted, OpVisit, OpDrop
    input  logic [        FlowWidth-1:0] p4_flow_i,
    input  logic                         p4_old_i,         // it is visited as the head of the old list
    input  logic                         p4_append_i,      // what pst_fq_flows has said of it
    input  logic                         p4_pop_i,
    input  logic                         p4_rotate_i,
    input  logic                         p4_remove_i,
    input  len_t                         p4_len_i,
    input  logic [   FlowBytesWidth-1:0] p4_bytes_i,
    // what comes next for the queue, in p4: a visit, or a drop
    output logic                         next_visit_o,
    output logic                         next_drop_o,
    output logic [        FlowWidth-1:0] next_flow_o,
    output logic                         next_old_o,
    // the new list
    output logic                         new_any_o,
    output logic [        FlowWidth-1:0] new_head_o,
    output logic                         more_o,           // packets are left in it
    output logic                         far_o,            // in p5: the queue is far above its limit
    // what its word said before, in p4, for a look that came with p1_valid_i and is no operation
    output logic [     PacketsWidth-1:0] packets_o,
    output logic [  QueueBytesWidth-1:0] bytes_o
);

  localparam int unsigned SlackPackets = 64;
  localparam int unsigned SlackBytes = 2 ** 17;

  typedef logic [FlowWidth-1:0] flow_t;
  typedef logic [QueueBytesWidth-1:0] bytes_t;

  typedef struct packed {
    logic                      awake;      // a visit is on its way, or a packet is staged
    logic                      dropping;   // a drop is on its way
    logic                      new_any;
    logic                      old_any;
    flow_t                     new_head;
    flow_t                     new_tail;
    flow_t                     old_head;
    flow_t                     old_tail;
    logic [PacketsWidth-1:0]   packets;    // in the flow queues
    bytes_t                    bytes;
    flow_t                     fat_flow;
    logic [FlowBytesWidth-1:0] fat_bytes;
  } word_t;

  // The most packets and bytes that a queue may have before the operation, to be within its limit after it.
  typedef logic signed [LimitPacketsWidth+1:0] most_packets_t;
  typedef logic signed [QueueBytesWidth:0] most_bytes_t;

  typedef struct packed {
    most_packets_t packets;
    most_bytes_t   bytes;
  } bound_t;

  bound_t p4_changed_q, p4_same_q, bound, p5_far_q;
  word_t word, word_new, unused_word_q;
  logic link_we, over, same_flow, fat_left;
  flow_t link_waddr, link_r;
  logic [PacketsWidth-1:0] p5_packets_q;
  bytes_t p5_bytes_q;

  pst_ram_modify #(
      .Width($bits(word_t)), .Depth(Queues), .Style(RamStyle)
  ) u_queue (
      .clk_i, .rst_i,
      .valid_i(p1_valid_i), .addr_i(p1_queue_i),
      .word_o(word), .we_i(p4_valid_i), .word_i(word_new), .word_q_o(unused_word_q),
      .init_done_o
  );

  // The flow behind each flow in its list. Written in p4, by operations one and two ahead of a read in its p2 and p3.
  pst_ram_write_first #(
      .Width(FlowWidth), .Depth(Flows), .Late(1'b1), .Style(RamStyle)
  ) u_link (
      .clk_i,
      .we_i(link_we), .waddr_i(link_waddr), .wdata_i(p4_flow_i),
      .re_i(1'b1), .raddr_i(p2_flow_i), .rdata_o(link_r)
  );

  // p3: bounds for an operation that brings or takes a packet, and for one that does not; which of them it is comes out late.
  // p5: the same with slack, from registers.
  always_ff @(posedge clk_i) begin
    p4_same_q.packets    <= most_packets_t'(p3_limit_packets_i);
    p4_same_q.bytes      <= most_bytes_t'(p3_limit_bytes_i);
    p4_changed_q.packets <= most_packets_t'(p3_limit_packets_i) + (p3_op_i == OpEnqueue ? most_packets_t'(-1) : most_packets_t'(1));
    p4_changed_q.bytes   <= p3_op_i == OpEnqueue ? most_bytes_t'(p3_limit_bytes_i) - most_bytes_t'(p3_len_i)
                                                 : most_bytes_t'(p3_limit_bytes_i) + most_bytes_t'(p3_len_i);
    p5_far_q.packets     <= bound.packets + most_packets_t'(SlackPackets);
    p5_far_q.bytes       <= bound.bytes + most_bytes_t'(SlackBytes);
    p5_packets_q         <= word.packets;
    p5_bytes_q           <= word.bytes;
  end

  function automatic logic above(logic [PacketsWidth-1:0] packets, bytes_t bytes, bound_t most);
    return int'(packets) > int'($signed(most.packets)) || $signed({1'b0, bytes}) > $signed(most.bytes);
  endfunction

  assign far_o = above(p5_packets_q, p5_bytes_q, p5_far_q);

  always_comb begin
    word_new     = word;
    link_we      = 1'b0;
    link_waddr   = word.new_tail;
    next_visit_o = 1'b0;
    next_drop_o  = 1'b0;
    next_flow_o  = p4_flow_i;
    next_old_o   = 1'b0;

    // packets, bytes, fattest
    if (p4_op_i == OpEnqueue) begin
      word_new.packets = word.packets + 1'b1;
      word_new.bytes   = word.bytes + bytes_t'(p4_len_i);
    end else if (p4_pop_i) begin
      word_new.packets = word.packets - 1'b1;
      word_new.bytes   = word.bytes - bytes_t'(p4_len_i);
    end
    same_flow = p4_flow_i == word.fat_flow;
    if (same_flow || p4_bytes_i > word.fat_bytes) begin
      word_new.fat_flow  = p4_flow_i;
      word_new.fat_bytes = p4_bytes_i;
    end
    bound    = p4_op_i == OpEnqueue || p4_pop_i ? p4_changed_q : p4_same_q;
    over     = above(word.packets, word.bytes, bound) || pool_over_i;
    fat_left = p4_bytes_i != '0 || (!same_flow && word.fat_bytes != '0);

    case (p4_op_i)
      OpEnqueue: begin
        if (p4_append_i) begin
          link_we           = word.new_any;
          word_new.new_tail = p4_flow_i;
          word_new.new_any  = 1'b1;
          if (!word.new_any) word_new.new_head = p4_flow_i;
        end
        word_new.awake = 1'b1;
        if (!word.awake) begin
          next_visit_o = 1'b1;
        end else if (over && !word.dropping) begin
          word_new.dropping = 1'b1;
          next_drop_o       = 1'b1;
          next_flow_o       = word_new.fat_flow;
        end
      end
      OpVisit: begin
        if (p4_rotate_i || p4_remove_i) begin
          if (p4_old_i) begin
            word_new.old_any  = word.old_head != word.old_tail;
            word_new.old_head = link_r;
          end else begin
            word_new.new_any  = word.new_head != word.new_tail;
            word_new.new_head = link_r;
          end
          if (p4_rotate_i) begin
            link_we    = word_new.old_any;
            link_waddr = word.old_tail;
            if (!word_new.old_any) word_new.old_head = p4_flow_i;
            word_new.old_tail = p4_flow_i;
            word_new.old_any  = 1'b1;
          end
          word_new.awake = word_new.new_any || word_new.old_any;
          next_visit_o   = word_new.awake;
          next_old_o     = !word_new.new_any;
          next_flow_o    = word_new.new_any ? word_new.new_head : word_new.old_head;
        end
      end
      default: begin    // OpDrop
        word_new.dropping = over && fat_left;
        next_drop_o       = word_new.dropping;
        next_flow_o       = word_new.fat_flow;
      end
    endcase
    if (!p4_valid_i) begin
      word_new     = word;
      link_we      = 1'b0;
      next_visit_o = 1'b0;
      next_drop_o  = 1'b0;
    end
    new_any_o  = word_new.new_any;
    new_head_o = word_new.new_head;
    more_o     = word_new.packets != '0;
    packets_o  = word.packets;
    bytes_o    = word.bytes;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && p4_valid_i) begin
      if (p4_op_i == OpVisit) begin
        a_awake : assert (word.awake) else $error("a queue without flows is visited");
        a_head : assert (p4_old_i ? word.old_any && word.old_head == p4_flow_i : word.new_any && word.new_head == p4_flow_i)
        else $error("flow %0d is visited, and is at the head of no list", p4_flow_i);
      end
      if (p4_pop_i) a_a_packet : assert (word.packets != '0 && word.bytes >= bytes_t'(p4_len_i))
      else $error("an empty queue loses a packet");
    end
  end
`endif

endmodule
