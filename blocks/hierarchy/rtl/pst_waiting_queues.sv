// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Which of a subscriber's queues wait at one level, and at nodes and ports at which parent. Of which class they are, pst_sibling_order knows.
//
// Queues of a subscriber wait at two parents only after it has moved, while packets wait at the old one. The parent is kept once for those
// that wait together; a queue that comes to another one meanwhile waits alone until it leaves.
//
// Latency: cycle 0 the subscriber, 3 the event and which queues wait beside that one, 4 all that wait after it. Throughput: one event per cycle.
// Reset: a walker clears the memory (`Subscribers` cycles): no queue waits.
module pst_waiting_queues #(
    parameter int unsigned Subscribers = 16,           // >= 2
    parameter int unsigned QueuesPerSubscriber = 4,    // 2, 4 or 8
    parameter int unsigned ParentWidth = 0,            // bits of a parent's number; 0: each subscriber has one parent of its own here
    parameter string       RamStyle = "auto",
    localparam int unsigned SubscriberWidth = $clog2(Subscribers),
    localparam int unsigned IndexWidth = $clog2(QueuesPerSubscriber),
    localparam int unsigned ParentPort = ParentWidth > 0 ? ParentWidth : 1
) (
    input  logic                           clk_i,
    input  logic                           rst_i,
    // cycle 0
    input  logic                           s_op_valid_i,
    input  logic [    SubscriberWidth-1:0] s_op_subscriber_i,
    // cycle 3: a queue begins to wait, or leaves, or (neither) its queue and parent are looked up
    input  logic                           s_event_waits_i,
    input  logic                           s_event_left_i,
    input  logic [         IndexWidth-1:0] s_event_index_i,
    input  logic [QueuesPerSubscriber-1:0] s_event_alike_i,      // queues of its class
    input  logic [         ParentPort-1:0] s_event_parent_i,
    output logic [QueuesPerSubscriber-1:0] beside_o,             // other queues that wait in its class at its parent
    output logic                           alone_o,              // it waits, or waited, at a parent of its own
    output logic [         ParentPort-1:0] parent_o,             // else: at this one
    // cycle 4
    output logic [QueuesPerSubscriber-1:0] waits_o,
    output logic                           init_done_o
);

  localparam int unsigned Q = QueuesPerSubscriber;

  typedef struct packed {
    logic alone;    // not kept where there is one parent
    logic waits;
  } word_t;

  localparam int unsigned KeptWidth = $bits(word_t) - (ParentWidth > 0 ? 0 : 1);
  typedef logic [KeptWidth-1:0] kept_t;

  typedef struct packed {
    logic [ParentPort-1:0] parent;    // of those that wait, but for those that wait alone
    kept_t [Q-1:0]         queues;
  } group_t;

  localparam int unsigned GroupWidth = $bits(kept_t) * Q + ParentWidth;

  logic [GroupWidth-1:0] kept, kept_q;
  group_t group, group_new, group_q;
  word_t [Q-1:0] words, words_new, words_q;
  logic together, alone;    // any other waits with the group; this one would wait alone

  assign alone_o  = s_event_waits_i ? alone : words[s_event_index_i].alone;
  assign parent_o = group_new.parent;
  assign group    = group_t'(kept);
  assign group_q  = group_t'(kept_q);

  always_comb begin
    together = 1'b0;
    for (int i = 0; i < int'(Q); i++) begin
      words[i] = word_t'(group.queues[i]);
      if (words[i].waits && !words[i].alone) together = 1'b1;
    end
    alone = ParentWidth != 0 && together && group.parent != s_event_parent_i;
    group_new = group;
    if (s_event_waits_i && !together) group_new.parent = s_event_parent_i;
    for (int i = 0; i < int'(Q); i++) begin
      beside_o[i]  = words[i].waits && !words[i].alone && s_event_index_i != IndexWidth'(i) && s_event_alike_i[i] && !alone_o;
      words_new[i] = words[i];
      if (s_event_index_i == IndexWidth'(i)) begin
        if (s_event_waits_i) words_new[i] = '{alone: alone, waits: 1'b1};
        if (s_event_left_i) words_new[i].waits = 1'b0;
      end
      group_new.queues[i] = kept_t'(words_new[i]);
      words_q[i]   = word_t'(group_q.queues[i]);
      waits_o[i]   = words_q[i].waits;
    end
  end

  pst_ram_modify #(
      .Width(GroupWidth), .Depth(Subscribers), .Style(RamStyle)
  ) u_words (
      .clk_i, .rst_i,
      .valid_i(s_op_valid_i), .addr_i(s_op_subscriber_i), .word_o(kept), .we_i(s_event_waits_i || s_event_left_i),
      .word_i(GroupWidth'(group_new)), .word_q_o(kept_q), .init_done_o
  );

  logic unused;
  assign unused = &{1'b0, group_q, group_new};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (s_event_waits_i) a_waits_once : assert (!words[s_event_index_i].waits) else $error("a queue waits twice");
      if (s_event_left_i) a_leaves_what_waits : assert (words[s_event_index_i].waits) else $error("a queue leaves that does not wait");
    end
  end
`endif

endmodule
