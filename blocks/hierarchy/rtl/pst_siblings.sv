// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One of a subscriber's queues stands in a list for all that wait at a node or port: when it is appended, and which of them goes when it is picked.
//
// Of the queues of one subscriber that wait at one parent in one class, one stands in the parent's list (or was picked there) and the others wait
// beside it. So a subscriber has one turn in a round, however many queues it has. Which of them goes is chosen whenever one of them begins to
// wait, leaves or may not go yet: the one that has had the least. When it has left, another that waits stands in the list. A queue that has left
// and would go before those that wait, were it back with such a packet, is waited for: the next `Patience` picks of its subscriber hold back.
//
// Latency: cycle 0 the queue, 3 the event, 4 m_append_o; what is chosen then counts for looks from cycle 5 on. A look takes a cycle.
// Throughput: one event and one look per cycle. Reset: as pst_waiting_queues.
module pst_siblings
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Subscribers = 16,           // >= 2
    parameter int unsigned QueuesPerSubscriber = 4,    // 1, 2, 4 or 8
    parameter int unsigned ParentWidth = 4,            // bits of a parent's number
    parameter string       RamStyle = "auto",
    localparam int unsigned SubscriberWidth = $clog2(Subscribers),
    localparam int unsigned IndexWidth = QueuesPerSubscriber > 1 ? $clog2(QueuesPerSubscriber) : 1
) (
    input  logic                                                    clk_i,
    input  logic                                                    rst_i,
    // cycle 0
    input  logic                                                    s_op_valid_i,
    input  logic [    SubscriberWidth-1:0]                          s_op_subscriber_i,
    // cycle 3: at most one of
    input  logic                                                    s_event_waits_i,     // a queue begins to wait
    input  logic                                                    s_event_left_i,      // one that was picked leaves
    input  logic                                                    s_event_again_i,     // one that was picked may not go yet
    input  logic [         IndexWidth-1:0]                          s_event_index_i,
    input  logic [QueuesPerSubscriber-1:0]                          s_event_alike_i,     // of pst_sibling_order: queues of its class
    input  logic [        ParentWidth-1:0]                          s_event_parent_i,
    input  logic [QueuesPerSubscriber-1:0][QueuesPerSubscriber-1:0] s_event_before_i,    // of pst_sibling_order
    input  logic [QueuesPerSubscriber-1:0]                          s_event_repeat_i,    // the same: it would go again before these
    input  patience_t                                               s_event_hold_i,      // of one that may not go yet: as looked up
    // cycle 4
    output logic                                                    m_append_valid_o,
    output logic [         IndexWidth-1:0]                          m_append_index_o,
    output logic                                                    m_alone_o,           // the event's queue waits, or waited, at a parent
    output logic [        ParentWidth-1:0]                          m_parent_o,          // of its own; else at this one
    // of a queue that stands in a list, in the next cycle: which one goes, how often it still holds back, whether others wait beside it
    input  logic [    SubscriberWidth-1:0]                          s_look_subscriber_i,
    input  logic [         IndexWidth-1:0]                          s_look_index_i,
    output logic [         IndexWidth-1:0]                          m_look_index_o,
    output patience_t                                               m_look_hold_o,
    output logic                                                    m_look_beside_o,
    output logic                                                    init_done_o
);

  localparam int unsigned Q = QueuesPerSubscriber;
  localparam patience_t Patience = 2'd2;

  if (Q == 1) begin : g_single
    logic [3:1][SubscriberWidth-1:0] subscriber_q;
    logic [ParentWidth-1:0] c2_parent, c3_parent_q;

    always_ff @(posedge clk_i) begin
      m_append_valid_o <= (s_event_waits_i || s_event_again_i) && !rst_i;
      subscriber_q     <= {subscriber_q[2:1], s_op_subscriber_i};
      c3_parent_q      <= c2_parent;
      m_parent_o       <= s_event_waits_i ? s_event_parent_i : c3_parent_q;
    end

    // Written when the queue begins to wait, long before it leaves.
    pst_ram_1r1w #(
        .Width(ParentWidth), .Depth(Subscribers), .ReadLatency(2), .Style(RamStyle)
    ) u_parent (
        .clk_i,
        .we_i(s_event_waits_i), .waddr_i(subscriber_q[3]), .wdata_i(s_event_parent_i),
        .re_i(1'b1), .raddr_i(s_op_subscriber_i), .rdata_o(c2_parent)
    );

    assign m_append_index_o = '0;
    assign m_alone_o        = 1'b0;
    assign m_look_index_o   = '0;
    assign m_look_hold_o    = '0;
    assign m_look_beside_o  = 1'b0;
    assign init_done_o      = 1'b1;

    logic unused;
    assign unused = &{1'b0, s_op_valid_i, s_event_left_i, s_event_index_i, s_event_alike_i,
                      s_event_before_i, s_event_repeat_i, s_event_hold_i, s_look_subscriber_i, s_look_index_i};
  end else begin : g_siblings
    typedef logic [IndexWidth-1:0] index_t;
    typedef logic [SubscriberWidth-1:0] subscriber_t;

    logic [Q-1:0] c3_beside, c3_waiting, c4_waiting_q, c5_waiting_q, unused_waits;
    logic c3_alone;
    logic [ParentWidth-1:0] c3_parent;
    logic [Q-1:0][Q-1:0] c4_before_q;
    logic [Q-1:0] c4_repeat_q;
    index_t c3_stands, c4_first;
    patience_t c4_hold_q;
    subscriber_t [5:1] subscriber_q;

    typedef struct packed {
      logic      beside;
      patience_t hold;
      index_t    first;
    } next_t;

    next_t c5_next_q;

    // Those that wait together after the event. Any of them may stand in the list.
    always_comb begin
      c3_waiting = c3_beside;
      if (!s_event_left_i) c3_waiting[s_event_index_i] = 1'b1;
      c3_stands = '0;
      for (int i = int'(Q) - 1; i >= 0; i--) if (c3_waiting[i]) c3_stands = index_t'(i);
      if (s_event_waits_i) c3_stands = s_event_index_i;
    end

    // The one that no other goes before. (c4_repeat_q is of a queue that has left, 0 otherwise; c4_hold_q of one that may not go.)
    always_comb begin
      c4_first = '0;
      for (int a = 0; a < int'(Q); a++) begin
        logic first;
        first = c4_waiting_q[a];
        for (int b = 0; b < int'(Q); b++) if (b != a && c4_waiting_q[b] && c4_before_q[b][a]) first = 1'b0;
        if (first) c4_first |= index_t'(a);
      end
    end

    always_ff @(posedge clk_i) begin
      m_append_valid_o <= s_event_again_i || (s_event_waits_i && c3_beside == '0) || (s_event_left_i && c3_beside != '0);
      m_append_index_o <= c3_stands;
      m_alone_o        <= c3_alone;
      m_parent_o       <= c3_parent;
      c4_waiting_q     <= s_event_waits_i || s_event_left_i || s_event_again_i ? c3_waiting : '0;
      c4_before_q      <= s_event_before_i;
      c4_repeat_q      <= s_event_left_i ? s_event_repeat_i : '0;
      c4_hold_q        <= s_event_again_i && s_event_hold_i != '0 ? s_event_hold_i - 1'b1 : '0;
      c5_waiting_q     <= c4_waiting_q;
      c5_next_q        <= '{
          beside: (c4_waiting_q & (c4_waiting_q - 1'b1)) != '0, hold: c4_repeat_q[c4_first] ? Patience : c4_hold_q, first: c4_first
      };
      subscriber_q     <= {subscriber_q[4:1], s_op_subscriber_i};
      if (rst_i) begin
        m_append_valid_o <= 1'b0;
        c4_waiting_q     <= '0;
        c5_waiting_q     <= '0;
      end
    end

    pst_waiting_queues #(
        .Subscribers(Subscribers), .QueuesPerSubscriber(Q), .ParentWidth(ParentWidth), .RamStyle(RamStyle)
    ) u_waiting (
        .clk_i, .rst_i,
        .s_op_valid_i, .s_op_subscriber_i, .s_event_waits_i, .s_event_left_i, .s_event_index_i, .s_event_alike_i, .s_event_parent_i,
        .beside_o(c3_beside), .alone_o(c3_alone), .parent_o(c3_parent), .waits_o(unused_waits), .init_done_o
    );

    // Which one goes: a word for each queue, all of those that wait together written at once. What does not wait is never looked up.
    next_t [Q-1:0] next;
    logic [Q-1:0] hit_q;
    next_t new_q;
    index_t look_index_q;

    for (genvar i = 0; i < Q; i++) begin : g_next
      pst_ram_1r1w #(
          .Width($bits(next_t)), .Depth(Subscribers), .Style(RamStyle)
      ) u_next (
          .clk_i,
          .we_i(c5_waiting_q[i]), .waddr_i(subscriber_q[5]), .wdata_i(c5_next_q),
          .re_i(1'b1), .raddr_i(s_look_subscriber_i), .rdata_o(next[i])
      );
    end

    always_ff @(posedge clk_i) begin
      look_index_q <= s_look_index_i;
      new_q        <= c5_next_q;
      hit_q        <= subscriber_q[5] == s_look_subscriber_i ? c5_waiting_q : '0;
    end

    assign {m_look_beside_o, m_look_hold_o, m_look_index_o} = hit_q[look_index_q] ? new_q : next[look_index_q];

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i && m_append_valid_o) a_the_appended_waits : assert (c4_waiting_q[m_append_index_o]);
    end
`endif
  end

endmodule
