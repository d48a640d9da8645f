// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Which of a subscriber's queues goes before which: the one of the higher class; of one class the one that has had the least, in bytes by
// weight. The class of a queue is that of its last packet, which is the one that waits if one does.
//
// A queue has had what it has sent to the gates, the packet that waits there included. What is kept of it is by how much it is behind the one of
// its class that has had the most, in 1/52.5 byte at weight 1, and no more than 2^20 - 1 of these (20 kB): a packet either brings its queue
// closer to the first one, or makes it the first and all others of its class fall behind. So nothing wraps, and a queue that was idle is paid
// for a largest packet or so at most.
//
// A queue that has run empty and comes back is behind by 2^16 - 1 at most (1.2 kB): it was not there to be served. So what is kept of it is
// whether its last packet left it empty, and it is paid as start-time fair queueing would (Goyal, Vin and Cheng 1996), but for a packet.
//
// Guarantees (pst_sibling_guarantees): of one class a queue within its guaranteed rate goes before those beyond theirs, several in turn. A packet
// that comes then costs its queue nothing here; what one that waits has cost it gets back when it goes by the guarantee after all.
//
// Of the operation's own queue it also says which others are of its class, and before which of these it would go, had it one more packet such
// as this one.
//
// Latency: cycle 0 the queue, 2 class, weight and length, 5 before_o, of the state after this operation. Throughput: one operation per cycle.
// Reset: a walker clears the memory (`Subscribers` cycles): all queues have had the same.
module pst_sibling_order
  import pst_pkg::LenWidth, pst_pkg::len_t;
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Subscribers = 16,           // >= 2
    parameter int unsigned QueuesPerSubscriber = 4,    // 2, 4 or 8
    parameter int unsigned Classes = 8,                // 1 .. 8
    parameter int unsigned GuaranteeCycles = 0,        // lateness that guarantees make up for; 0: there are none
    parameter int unsigned ToleranceCycles = 1024,     // the same of a queue that was empty
    parameter int unsigned TimeWidth = 32,             // bits of a time in cycles
    parameter string       RamStyle = "auto",
    localparam int unsigned SubscriberWidth = $clog2(Subscribers),
    localparam int unsigned IndexWidth = $clog2(QueuesPerSubscriber)
) (
    input  logic                                                        clk_i,
    input  logic                                                        rst_i,
    input  logic [          TimeWidth-1:0]                              now_i,                // cycles
    // cycle 0
    input  logic                                                        s_op_valid_i,
    input  logic                                                        s_op_charge_i,        // a packet comes; else it is a look
    input  logic                                                        s_op_release_i,       // a look: the queue's packet may go
    input  logic                                                        s_op_walk_i,          // a look of no queue: refreshes old stamps
    input  logic [    SubscriberWidth-1:0]                              s_op_subscriber_i,
    input  logic [         IndexWidth-1:0]                              s_op_index_i,
    // cycle 2
    input  class_t                                                      s_op_class_i,
    input  weight_t                                                     s_op_weight_i,        // less one
    input  len_t                                                        s_op_len_i,
    input  logic                                                        s_op_empties_i,       // charge: it has left its queue empty
    input  guarantee_t                                                  s_op_guarantee_i,     // of the queue
    // cycle 5
    output logic [QueuesPerSubscriber-1:0][QueuesPerSubscriber-1:0] before_o,    // [a][b]: a before b
    output logic [QueuesPerSubscriber-1:0]                          alike_o,     // [b]: b is of the class of the operation's queue
    output logic [QueuesPerSubscriber-1:0]                          again_o,     // [b], of a look: with one more such packet still before b
    output logic                                                    idle_o,      // charge: the subscriber had no other packet of its class
    output logic                                                    init_done_o
);

  localparam int unsigned Q = QueuesPerSubscriber;
  localparam int unsigned PausedWidth = BehindWidth - 4;    // a packet
  localparam behind_t     Paused = behind_t'((1 << PausedWidth) - 1);

  if (Q != 2 && Q != 4 && Q != 8) begin : g_bad_queues
    $error("pst_sibling_order: QueuesPerSubscriber is %0d, allowed: 2, 4, 8", Q);
  end

  localparam int unsigned KeptClassWidth = kept_class_width(Classes);
  typedef logic [KeptClassWidth-1:0] kept_class_t;

  typedef struct packed {
    kept_class_t cls;       // of its last packet
    logic        empty;     // that packet has left it empty
    behind_t     behind;
  } word_t;

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

  typedef logic [BehindWidth:0] sum_t;
  typedef logic [KeptClassWidth+BehindWidth-1:0] rank_t;    // of a queue among the others: a higher one goes first

  // At most all ones.
  function automatic behind_t saturated(sum_t sum);
    return sum[BehindWidth-1:0] | {BehindWidth{sum[BehindWidth]}};
  endfunction

  logic [3:1] charge_q;
  logic [4:1][IndexWidth-1:0] index_q;
  kept_class_t c3_class_q;
  logic c3_empties_q;
  logic [LenWidth+9:0] c3_product_q;
  behind_t c3_cost, c3_own, c4_cost_q, c4_own_q, c4_own;
  logic c3_passes, c3_passes_paused, c3_was_empty, c3_paused;
  logic [Q-1:0] c3_is, c3_alike;
  behind_t [Q-1:0] c3_passed, c3_stays;
  sum_t [Q-1:0] c3_sum;
  word_t [Q-1:0] c3_words, c3_new, c3_written, c4_words;
  rank_t [Q-1:0] c4_ranks;

  assign c3_cost      = behind_t'(c3_product_q >> 4);
  assign c3_own       = c3_words[index_q[3]].behind;
  assign c3_was_empty = c3_words[index_q[3]].empty;

  // Of a queue that had run empty no more than Paused counts. Whether its packet makes it the first is known last, so that chooses last.
  assign c3_paused        = c3_was_empty && |(c3_own >> PausedWidth);
  assign c3_passes        = c3_cost > c3_own;
  assign c3_passes_paused = |(c3_cost >> PausedWidth);

  // Guarantees: the operation's packet goes by its queue's; which queues go first, in which order, and whether the next packet of a queue would.
  logic c3_pays, words_init_done, guarantees_init_done;
  logic [Q-1:0] c3_class, c4_first, c4_due;
  logic [Q-1:0][IndexWidth-1:0] c4_turn;

  assign init_done_o = words_init_done && guarantees_init_done;

  always_comb begin
    c3_new = c3_words;
    for (int i = 0; i < int'(Q); i++) begin
      c3_is[i]    = charge_q[3] && index_q[3] == IndexWidth'(i);
      c3_alike[i] = charge_q[3] && index_q[3] != IndexWidth'(i) && c3_words[i].cls == c3_class_q;
      if (c3_is[i]) begin
        c3_new[i].cls   = c3_class_q;
        c3_new[i].empty = c3_empties_q;
      end
      c3_sum[i] = sum_t'(c3_words[i].behind) + sum_t'(c3_cost);
      // Where a pause counts, and of queues that are not concerned, it is the same in both cases.
      c3_passed[i] = c3_words[i].behind;
      if (c3_is[i]) c3_passed[i] = c3_passes_paused ? '0 : Paused - c3_cost;
      if (c3_alike[i] && c3_passes_paused) c3_passed[i] = saturated(c3_sum[i] - sum_t'(Paused));
      c3_stays[i] = c3_passed[i];
      if (!c3_paused && (c3_is[i] || c3_alike[i])) begin
        c3_passed[i] = c3_is[i] ? '0 : saturated(c3_sum[i] - sum_t'(c3_own));
        c3_stays[i]  = c3_is[i] ? c3_own - c3_cost : c3_words[i].behind;
      end
      c3_new[i].behind = c3_passes ? c3_passed[i] : c3_stays[i];
    end
  end

  // What goes by a guarantee costs nothing.
  always_comb begin
    c3_written = c3_new;
    for (int i = 0; i < int'(Q); i++) begin
      c3_class[i] = c3_words[i].cls == c3_class_q;
      if (c3_pays) begin
        c3_written[i].behind = c3_words[i].behind;
        if (index_q[3] == IndexWidth'(i))
          c3_written[i].behind = !charge_q[3] ? saturated(c3_sum[i]) : c3_paused ? Paused : c3_own;
      end
    end
  end

  always_comb begin
    for (int i = 0; i < int'(Q); i++) c4_ranks[i] = {~c4_words[i].cls, c4_words[i].behind};
  end

  always_ff @(posedge clk_i) begin
    charge_q     <= {charge_q[2:1], s_op_valid_i && s_op_charge_i};
    index_q      <= {index_q[3:1], s_op_index_i};
    c3_class_q   <= kept_class_t'(s_op_class_i);
    c3_empties_q <= s_op_empties_i;
    c3_product_q <= s_op_len_i * per_weight(s_op_weight_i);
    c4_cost_q <= c3_cost;
    c4_own_q  <= c3_own;
    for (int b = 0; b < int'(Q); b++)
      again_o[b] <= !c4_first[b] && (c4_due[index_q[4]]
          || (BehindWidth + 1)'(c4_own) > (BehindWidth + 1)'(c4_words[b].behind) + (BehindWidth + 1)'(c4_cost_q));
    for (int a = 0; a < int'(Q); a++) begin
      for (int b = 0; b < int'(Q); b++) begin
        before_o[a][b] <= a < b ? c4_ranks[a] >= c4_ranks[b] : c4_ranks[a] > c4_ranks[b];
        if (c4_words[a].cls == c4_words[b].cls) begin
          if (c4_first[a] != c4_first[b]) before_o[a][b] <= c4_first[a];
          else if (c4_first[a]) before_o[a][b] <= c4_turn[a] < c4_turn[b];
        end
      end
      alike_o[a] <= c4_words[a].cls == c4_words[index_q[4]].cls;
    end
    if (rst_i) charge_q <= '0;
  end

  pst_ram_modify #(
      .Width($bits(c3_words)), .Depth(Subscribers), .Style(RamStyle)
  ) u_words (
      .clk_i, .rst_i,
      .valid_i(s_op_valid_i), .addr_i(s_op_subscriber_i), .word_o(c3_words), .we_i(charge_q[3] || c3_pays), .word_i(c3_written),
      .word_q_o(c4_words), .init_done_o(words_init_done)
  );

  if (GuaranteeCycles == 0) begin : g_no_guarantees
    assign c3_pays              = 1'b0;
    assign c4_first             = '0;
    assign c4_due               = '0;
    assign c4_turn              = '0;
    assign c4_own               = c4_own_q;
    assign idle_o               = 1'b0;
    assign guarantees_init_done = 1'b1;

    logic unused_guarantee;
    assign unused_guarantee = &{1'b0, now_i, s_op_release_i, s_op_walk_i, s_op_guarantee_i, c3_class};
  end else begin : g_guarantees
    logic unused_own;

    assign c4_own     = c4_words[index_q[4]].behind;
    assign unused_own = &{1'b0, c4_own_q};

    pst_sibling_guarantees #(
        .Subscribers(Subscribers), .QueuesPerSubscriber(Q), .GuaranteeCycles(GuaranteeCycles), .ToleranceCycles(ToleranceCycles),
        .TimeWidth(TimeWidth), .RamStyle(RamStyle)
    ) u_guarantees (
        .clk_i, .rst_i, .now_i,
        .s_op_valid_i, .s_op_charge_i, .s_op_release_i, .s_op_walk_i, .s_op_subscriber_i, .s_op_index_i,
        .s_op_guarantee_i, .s_op_len_i, .s_op_empties_i, .s_op_alike_i(c3_class), .pays_o(c3_pays),
        .first_o(c4_first), .due_o(c4_due), .turn_o(c4_turn), .idle_o, .init_done_o(guarantees_init_done)
    );
  end

  logic unused;
  assign unused = &{1'b0, s_op_class_i};

`ifndef SYNTHESIS
  // Of two queues at most one goes before the other.
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int a = 0; a < int'(Q); a++) begin
        for (int b = 0; b < a; b++) a_order_is_strict : assert (!(before_o[a][b] && before_o[b][a]));
      end
    end
  end
`endif

endmodule
