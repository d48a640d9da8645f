// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Which of a subscriber's waiting queues is next: the one that goes before all others that wait (pst_sibling_order). A pick may ask for a
// batch of 2^n: it gets them one after the other, in that order, fewer if no more wait.
//
// The first 2^TrainLog are put in order anew whenever a queue begins to wait or leaves, so a pick reads them from a memory.
//
// Throughput: one event per cycle, one queue of a pick per cycle. Latency: pick to m_pick_o 5 cycles. Ordering: picks in order; a pick sees the
// events of its own cycle (3) and before; at most one of a subscriber may be under way, until its last queue has left or may not go yet, and
// only when a queue waits.
// Reset: a walker clears the memories (`Subscribers` cycles).
module pst_subscriber_queues #(
    parameter int unsigned Subscribers = 16,           // >= 2
    parameter int unsigned QueuesPerSubscriber = 4,    // 1, 2, 4 or 8
    parameter int unsigned TrainLog = 0,               // log2 of the longest batch, 2^TrainLog <= QueuesPerSubscriber
    parameter string       RamStyle = "auto",
    localparam int unsigned SubscriberWidth = $clog2(Subscribers),
    localparam int unsigned IndexWidth = QueuesPerSubscriber > 1 ? $clog2(QueuesPerSubscriber) : 1
) (
    input  logic                                                        clk_i,
    input  logic                                                        rst_i,
    // cycle 0
    input  logic                                                        s_op_valid_i,
    input  logic [    SubscriberWidth-1:0]                              s_op_subscriber_i,
    // cycle 3
    input  logic                                                        s_event_waits_i,     // a queue waits from now on
    input  logic                                                        s_event_left_i,      // or has left
    input  logic [         IndexWidth-1:0]                              s_event_index_i,
    input  logic [QueuesPerSubscriber-1:0][QueuesPerSubscriber-1:0] s_event_before_i,    // of pst_sibling_order
    // which is next?
    input  logic                                                        s_pick_valid_i,
    output logic                                                        s_pick_ready_o,
    input  logic [    SubscriberWidth-1:0]                              s_pick_subscriber_i,
    input  pst_hierarchy_pkg::train_t                                   s_pick_train_i,      // in the next cycle: log2 of how many,
    input  logic                                                        s_pick_holds_i,      // and 1: one alone; goes with the pick
    output logic                                                        m_pick_valid_o,
    input  logic                                                        m_pick_ready_i,
    output logic [    SubscriberWidth-1:0]                              m_pick_subscriber_o,
    output logic [         IndexWidth-1:0]                              m_pick_index_o,
    output logic                                                        m_pick_holds_o,
    output logic                                                        m_pick_last_o,       // of its batch
    output logic                                                        init_done_o
);

  localparam int unsigned Q = QueuesPerSubscriber;
  localparam int unsigned PickDepth = 8;

  typedef logic [SubscriberWidth-1:0] subscriber_t;
  typedef logic [IndexWidth-1:0] index_t;

  localparam int unsigned Most = 2 ** TrainLog;
  typedef logic [TrainLog:0] number_t;
  // The first queues in order.
  typedef struct packed {
    number_t           number;    // as many as wait, or Most
    index_t [Most-1:0] index;
  } order_t;

  if (Most > Q) begin : g_bad_train
    $error("pst_subscriber_queues: TrainLog is %0d, a batch has at most QueuesPerSubscriber (%0d)", TrainLog, Q);
  end
  if (Q != 1 && Q != 2 && Q != 4 && Q != 8) begin : g_bad_queues
    $error("pst_subscriber_queues: QueuesPerSubscriber is %0d, allowed: 1, 2, 4, 8", Q);
  end

  // --- a pick waits for two cycles, so that what was chosen after events until its own cycle is there; then it reads

  logic look, unused_ready;
  logic [4:1] look_q;
  logic [4:2] look_holds_q;
  subscriber_t [4:1] look_subscriber_q;
  number_t [4:2] look_most_q;    // of its batch
  number_t look_number, pick_number;
  order_t look_order;
  index_t [Most-1:0] pick_index;
  number_t given_q;              // of the batch that is given
  logic pick_pop;
  logic [$clog2(PickDepth+1)-1:0] credit_q, unused_level;

  assign s_pick_ready_o = credit_q != '0 && init_done_o;
  assign look           = s_pick_valid_i && s_pick_ready_o;
  assign look_number    = look_order.number < look_most_q[4] ? look_order.number : look_most_q[4];
  assign m_pick_last_o  = given_q + 1'b1 == pick_number;
  assign pick_pop       = m_pick_valid_o && m_pick_ready_i && m_pick_last_o;

  always_comb begin
    m_pick_index_o = '0;
    for (int k = 0; k < int'(Most); k++) if (given_q == number_t'(k)) m_pick_index_o = pick_index[k];
  end

  always_ff @(posedge clk_i) begin
    look_q            <= {look_q[3:1], look};
    look_subscriber_q <= {look_subscriber_q[3:1], s_pick_subscriber_i};
    look_holds_q      <= {look_holds_q[3:2], s_pick_holds_i};
    look_most_q       <= {look_most_q[3:2], s_pick_holds_i ? number_t'(1) : number_t'(1) << s_pick_train_i};
    credit_q          <= credit_q + $bits(credit_q)'(pick_pop) - $bits(credit_q)'(look);
    if (m_pick_valid_o && m_pick_ready_i) given_q <= m_pick_last_o ? '0 : given_q + 1'b1;
    if (rst_i) begin
      look_q   <= '0;
      given_q  <= '0;
      credit_q <= $bits(credit_q)'(PickDepth);
    end
  end

  pst_fifo #(
      .Width(SubscriberWidth + 1 + $bits(order_t)), .Depth(PickDepth)
  ) u_out (
      .clk_i, .rst_i,
      .s_valid_i(look_q[4]), .s_ready_o(unused_ready),
      .s_data_i({look_subscriber_q[4], look_holds_q[4], look_number, look_order.index}),
      .m_valid_o(m_pick_valid_o), .m_ready_i(m_pick_ready_i && m_pick_last_o),
      .m_data_o({m_pick_subscriber_o, m_pick_holds_o, pick_number, pick_index}),
      .level_o(unused_level)
  );

  // --- which queues are next, after each event

  if (Q == 1) begin : g_single
    assign look_order  = '{number: number_t'(1), index: '0};
    assign init_done_o = 1'b1;

    logic unused;
    assign unused = &{1'b0, s_op_valid_i, s_op_subscriber_i, s_event_waits_i, s_event_left_i, s_event_index_i, s_event_before_i};
  end else begin : g_queues
    logic [Q-1:0] unused_beside, c4_waits;
    logic [Most-1:0] c4_there;                 // so many wait
    logic [Q-1:0][$clog2(Q+1)-1:0] c4_rank;    // so many that wait go before it
    logic unused_alone, unused_parent;
    logic [Q-1:0][Q-1:0] c4_before_q;
    logic c4_event_q, c5_event_q;
    order_t c4_order, c5_order_q;
    subscriber_t [5:1] subscriber_q;
    logic init, waiting_init_done;
    subscriber_t init_subscriber;

    always_comb begin
      c4_order = '0;
      c4_there = '0;
      for (int a = 0; a < int'(Q); a++) begin
        c4_rank[a] = '0;
        for (int b = 0; b < int'(Q); b++) begin
          if (b != a && c4_waits[b] && c4_before_q[b][a]) c4_rank[a] += 1'b1;
        end
        for (int k = 0; k < int'(Most); k++) begin
          if (c4_waits[a] && int'(c4_rank[a]) == k) begin
            c4_order.index[k] |= index_t'(a);
            c4_there[k] = 1'b1;
          end
        end
      end
      for (int k = 0; k < int'(Most); k++) if (c4_there[k]) c4_order.number = number_t'(k + 1);
    end

    always_ff @(posedge clk_i) begin
      subscriber_q <= {subscriber_q[4:1], s_op_subscriber_i};
      c4_event_q   <= s_event_waits_i || s_event_left_i;
      c4_before_q  <= s_event_before_i;
      c5_event_q   <= c4_event_q;
      c5_order_q   <= c4_order;
      if (rst_i) begin
        c4_event_q        <= 1'b0;
        c5_event_q        <= 1'b0;
      end
    end

    assign init_done_o = !init && waiting_init_done;

    pst_clear_walk #(.Depth(Subscribers)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_subscriber));

    pst_waiting_queues #(
        .Subscribers(Subscribers), .QueuesPerSubscriber(Q), .RamStyle(RamStyle)
    ) u_waiting (
        .clk_i, .rst_i,
        .s_op_valid_i, .s_op_subscriber_i, .s_event_waits_i, .s_event_left_i, .s_event_index_i, .s_event_alike_i('0), .s_event_parent_i('0),
        .beside_o(unused_beside), .alone_o(unused_alone), .parent_o(unused_parent), .waits_o(c4_waits), .init_done_o(waiting_init_done)
    );

    pst_ram_write_first #(
        .Width($bits(order_t)), .Depth(Subscribers), .Style(RamStyle)
    ) u_next (
        .clk_i,
        .we_i(init || c5_event_q), .waddr_i(init ? init_subscriber : subscriber_q[5]), .wdata_i(init ? '0 : c5_order_q),
        .re_i(1'b1), .raddr_i(look_subscriber_q[2]), .rdata_o(look_order)
    );
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && look_q[4]) a_pick_has_its_place : assert (unused_ready) else $error("output FIFO overflows");
  end
`endif

endmodule
