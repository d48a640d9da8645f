// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Which of a subscriber's waiting queues is next: of the highest class, the one that has had the least (start-time fair queueing).
//
// A queue's tag is where its last packet ended in the subscriber's virtual time, which is where the last packet that was let go began. A tag
// in the past counts as now. Tags wrap, so who was found in the past is marked, and stays there until it is picked: virtual time only goes on.
//
// Throughput: one event and one pick per cycle. Latency: pick to m_pick_o 7 cycles. Ordering: picks in order; at most one of a subscriber may
// be under way, until its queue has left. Reset: a walker clears the memories (`Subscribers` cycles).
module pst_subscriber_order
  import pst_pkg::*;
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Subscribers = 16,           // >= 2
    parameter int unsigned QueuesPerSubscriber = 4,    // 1, 2, 4 or 8
    parameter string       RamStyle = "auto",
    localparam int unsigned SubscriberWidth = Subscribers > 1 ? $clog2(Subscribers) : 1,
    localparam int unsigned IndexWidth = QueuesPerSubscriber > 1 ? $clog2(QueuesPerSubscriber) : 1
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    // a queue waits from now on, or has left
    input  logic                       s_event_valid_i,
    input  logic                       s_event_left_i,
    input  logic [SubscriberWidth-1:0] s_event_subscriber_i,
    input  logic [     IndexWidth-1:0] s_event_index_i,
    input  class_t                     s_event_class_i,
    input  weight_t                    s_event_weight_i,     // left
    input  len_t                       s_event_len_i,        // left
    input  tag_t                       s_event_tag_i,        // left: of its pick
    // whose turn is it?
    input  logic                       s_pick_valid_i,
    output logic                       s_pick_ready_o,
    input  logic [SubscriberWidth-1:0] s_pick_subscriber_i,
    output logic                       m_pick_valid_o,
    input  logic                       m_pick_ready_i,
    output logic [SubscriberWidth-1:0] m_pick_subscriber_o,
    output logic [     IndexWidth-1:0] m_pick_index_o,
    output tag_t                       m_pick_tag_o,
    output logic                       init_done_o
);

  localparam int unsigned PickDepth = 8;
  localparam int unsigned Full = 8;    // the tree below has this many leaves
  localparam int unsigned Half = QueuesPerSubscriber > 2 ? QueuesPerSubscriber / 2 : 1;

  if (QueuesPerSubscriber != 1 && QueuesPerSubscriber != 2 && QueuesPerSubscriber != 4 && QueuesPerSubscriber != 8) begin : g_bad_queues
    $error("pst_subscriber_order: QueuesPerSubscriber is %0d, allowed: 1, 2, 4, 8", QueuesPerSubscriber);
  end

  typedef logic [SubscriberWidth-1:0] subscriber_t;
  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    logic   waits;
    class_t cls;
  } wait_t;

  typedef struct packed {
    logic       valid;
    logic [2:0] index;
    tag_t       ahead;    // tag less virtual time
  } leaf_t;

  // 840 / weight is whole for 1..8.
  function automatic logic [9:0] per_weight(weight_t weight);
    case (weight)
      3'd0: return 10'd840;
      3'd1: return 10'd420;
      3'd2: return 10'd280;
      3'd3: return 10'd210;
      3'd4: return 10'd168;
      3'd5: return 10'd140;
      3'd6: return 10'd120;
      default: return 10'd105;
    endcase
  endfunction

  function automatic leaf_t first(leaf_t a, leaf_t b);
    return a.valid && (!b.valid || a.ahead <= b.ahead) ? a : b;
  endfunction

  // Of half of the leaves, from this one on.
  function automatic leaf_t first_of(leaf_t [Full-1:0] leaf, int from);
    if (Half == 4) return first(first(leaf[from], leaf[from+1]), first(leaf[from+2], leaf[from+3]));
    if (Half == 2) return first(leaf[from], leaf[from+1]);
    return leaf[from];
  endfunction

  logic init_q;
  subscriber_t init_subscriber_q;

  always_ff @(posedge clk_i) begin
    if (init_q) init_subscriber_q <= init_subscriber_q + 1'b1;
    if (init_q && init_subscriber_q == subscriber_t'(Subscribers - 1)) init_q <= 1'b0;
    if (rst_i) begin
      init_q            <= 1'b1;
      init_subscriber_q <= '0;
    end
  end

  assign init_done_o = !init_q;

  // --- events: the length is turned into virtual time

  logic e1_left_q, e2_left_q;
  subscriber_t e1_subscriber_q, e2_subscriber_q;
  index_t e1_index_q, e2_index_q;
  tag_t e1_tag_q, e2_finish_q;
  logic [LenWidth+9:0] e1_product_q;

  always_ff @(posedge clk_i) begin
    e1_left_q       <= s_event_valid_i && s_event_left_i;
    e1_subscriber_q <= s_event_subscriber_i;
    e1_index_q      <= s_event_index_i;
    e1_tag_q        <= s_event_tag_i;
    e1_product_q    <= s_event_len_i * per_weight(s_event_weight_i);
    e2_left_q       <= e1_left_q;
    e2_subscriber_q <= e1_subscriber_q;
    e2_index_q      <= e1_index_q;
    e2_finish_q     <= e1_tag_q + tag_t'(e1_product_q >> 4);
    if (rst_i) begin
      e1_left_q <= 1'b0;
      e2_left_q <= 1'b0;
    end
  end

  // --- a pick: read, the highest class, the least tag

  logic look, k1_valid_q, k2_valid_q, k3_valid_q, k4_valid_q, k5_valid_q;
  subscriber_t k1_subscriber_q, k2_subscriber_q, k3_subscriber_q, k4_subscriber_q, k5_subscriber_q;
  wait_t [QueuesPerSubscriber-1:0] k2_waits;
  tag_t [QueuesPerSubscriber-1:0] k2_finish;
  tag_t k2_now, k3_now_q, k4_now_q, k5_now_q, k5_tag;
  logic [QueuesPerSubscriber-1:0] k2_marked, k2_past, k3_past_q, k4_past_q, k5_past_q, k5_past;    // tags in the past
  logic [7:0] k2_classes;
  leaf_t [Full-1:0] k2_leaf, k3_leaf_q;
  leaf_t [1:0] k4_leaf_q;
  leaf_t k5_leaf_q;
  logic [$clog2(PickDepth+1)-1:0] credit_q, unused_level;
  logic unused_ready;

  assign s_pick_ready_o = credit_q != '0 && init_done_o;
  assign look           = s_pick_valid_i && s_pick_ready_o;

  always_comb begin
    k2_classes = '0;
    for (int i = 0; i < QueuesPerSubscriber; i++) if (k2_waits[i].waits) k2_classes[k2_waits[i].cls] = 1'b1;
    k2_leaf = '0;
    for (int i = 0; i < QueuesPerSubscriber; i++) begin
      k2_leaf[i].valid = k2_waits[i].waits && (k2_classes & ~(8'hff << k2_waits[i].cls)) == '0;    // no higher class waits
      k2_leaf[i].index = 3'(i);
      k2_past[i]       = k2_marked[i] || $signed(k2_finish[i] - k2_now) < 0;
      k2_leaf[i].ahead = k2_past[i] ? '0 : k2_finish[i] - k2_now;
    end
    // The queue that was picked gets a new tag when it leaves.
    k5_tag  = k5_now_q + k5_leaf_q.ahead;
    k5_past = k5_past_q;
    for (int i = 0; i < QueuesPerSubscriber; i++) if (k5_leaf_q.index == 3'(i)) k5_past[i] = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    k1_valid_q      <= look;
    k1_subscriber_q <= s_pick_subscriber_i;
    k2_valid_q      <= k1_valid_q;
    k2_subscriber_q <= k1_subscriber_q;
    k3_valid_q      <= k2_valid_q;
    k3_subscriber_q <= k2_subscriber_q;
    k3_now_q        <= k2_now;
    k3_past_q       <= k2_past;
    k3_leaf_q       <= k2_leaf;
    k4_valid_q      <= k3_valid_q;
    k4_subscriber_q <= k3_subscriber_q;
    k4_now_q        <= k3_now_q;
    k4_past_q       <= k3_past_q;
    k4_leaf_q[0]    <= first_of(k3_leaf_q, 0);
    k4_leaf_q[1]    <= first_of(k3_leaf_q, Half);
    k5_valid_q      <= k4_valid_q;
    k5_subscriber_q <= k4_subscriber_q;
    k5_now_q        <= k4_now_q;
    k5_past_q       <= k4_past_q;
    k5_leaf_q       <= first(k4_leaf_q[0], k4_leaf_q[1]);
    credit_q <= credit_q + $bits(credit_q)'(m_pick_valid_o && m_pick_ready_i) - $bits(credit_q)'(look);
    if (rst_i) begin
      k1_valid_q <= 1'b0;
      k2_valid_q <= 1'b0;
      k3_valid_q <= 1'b0;
      k4_valid_q <= 1'b0;
      k5_valid_q <= 1'b0;
      credit_q   <= $bits(credit_q)'(PickDepth);
    end
  end

  for (genvar i = 0; i < QueuesPerSubscriber; i++) begin : g_index
    pst_ram_write_first #(
        .Width($bits(wait_t)), .Depth(Subscribers), .Style(RamStyle)
    ) u_wait (
        .clk_i,
        .we_i(init_q || (s_event_valid_i && (QueuesPerSubscriber == 1 || s_event_index_i == index_t'(i)))),
        .waddr_i(init_q ? init_subscriber_q : s_event_subscriber_i),
        .wdata_i(init_q ? '0 : {!s_event_left_i, s_event_class_i}),
        .re_i(1'b1), .raddr_i(s_pick_subscriber_i), .rdata_o(k2_waits[i])
    );

    pst_ram_write_first #(
        .Width(FairTagWidth), .Depth(Subscribers), .Style(RamStyle)
    ) u_finish (
        .clk_i,
        .we_i(init_q || (e2_left_q && (QueuesPerSubscriber == 1 || e2_index_q == index_t'(i)))),
        .waddr_i(init_q ? init_subscriber_q : e2_subscriber_q), .wdata_i(init_q ? '0 : e2_finish_q),
        .re_i(1'b1), .raddr_i(s_pick_subscriber_i), .rdata_o(k2_finish[i])
    );
  end

  pst_ram_write_first #(
      .Width(FairTagWidth + QueuesPerSubscriber), .Depth(Subscribers), .Style(RamStyle)
  ) u_now (
      .clk_i,
      .we_i(init_q || k5_valid_q), .waddr_i(init_q ? init_subscriber_q : k5_subscriber_q), .wdata_i(init_q ? '0 : {k5_tag, k5_past}),
      .re_i(1'b1), .raddr_i(s_pick_subscriber_i), .rdata_o({k2_now, k2_marked})
  );

  pst_fifo #(
      .Width(SubscriberWidth + IndexWidth + FairTagWidth), .Depth(PickDepth)
  ) u_out (
      .clk_i, .rst_i,
      .s_valid_i(k5_valid_q), .s_ready_o(unused_ready), .s_data_i({k5_subscriber_q, index_t'(k5_leaf_q.index), k5_tag}),
      .m_valid_o(m_pick_valid_o), .m_ready_i(m_pick_ready_i), .m_data_o({m_pick_subscriber_o, m_pick_index_o, m_pick_tag_o}),
      .level_o(unused_level)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && k5_valid_q) begin
      assert (k5_leaf_q.valid) else $error("a pick from subscriber %0d, where nobody waits", k5_subscriber_q);
      assert (unused_ready) else $error("output FIFO overflows");
    end
  end
`endif

endmodule
