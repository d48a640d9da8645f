// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What each subscriber may still send of one class in its round at one level (deficit round robin with overdraft, after Shreedhar and
// Varghese, 1995), whichever of its queues sends it.
//
// A subscriber that is picked in a round it has not sent in gets a quantum: its weight * 2,048 byte. A queue of it goes if it may send anything
// at all, and what that sends beyond it owes. Credit that was not used is kept, up to four quanta: a queue has one packet at the gates at a
// time, so it is often on its way back when a round ends, and would lose its share bit by bit if the rest of it were forfeited.
//
// A subscriber has as many words as queues, for it cannot have more classes; a word says of which class it is. A class that has none takes the
// word with the number of the queue that asks, and begins with nothing owed.
//
// Guarantees: a subscriber may have a guaranteed rate. A queue that may send nothing more in its round goes all the same while its subscriber is
// within the guarantee in this class; that packet is charged to the guarantee (GCRA, as a shaper) and not to the credit. What was late is made
// up for: up to GuaranteeCycles, and up to ToleranceCycles of a subscriber that was idle.
//
// Latency: cycle 0 the queue, 2 class, weight and round, 6 the answer and the length. One operation per cycle; two picks of a subscriber and
// class that are less than 7 cycles apart do not see each other's. Reset: a walker clears the memory (`Subscribers` cycles).
module pst_round_credit
  import pst_pkg::len_t;
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Subscribers = 16,           // >= 2
    parameter int unsigned QueuesPerSubscriber = 4,    // 1, 2, 4 or 8
    parameter int unsigned GuaranteeCycles = 0,        // lateness that guarantees make up for, below 2^(TimeWidth-4); 0: there are none
    parameter int unsigned ToleranceCycles = 1024,     // the same after a pause
    parameter int unsigned TimeWidth = 32,             // bits of a time in cycles
    parameter string       RamStyle = "auto",
    localparam int unsigned SubscriberWidth = Subscribers > 1 ? $clog2(Subscribers) : 1,
    localparam int unsigned IndexWidth = QueuesPerSubscriber > 1 ? $clog2(QueuesPerSubscriber) : 1
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    input  logic [      TimeWidth-1:0] now_i,              // cycles
    // cycle 0
    input  logic                       s_op_walk_i,        // no queue: an old time stamp is refreshed
    input  logic [SubscriberWidth-1:0] s_op_subscriber_i,
    input  logic [     IndexWidth-1:0] s_op_index_i,
    // cycle 2
    input  class_t                     s_op_class_i,
    input  weight_t                    s_op_weight_i,      // of the subscriber
    input  round_t                     s_op_round_i,       // of the pick
    // cycle 3
    input  guarantee_t                 s_op_guarantee_i,   // of the subscriber
    input  len_t                       s_op_early_len_i,   // s_op_len_i
    // cycle 4
    input  logic                       s_op_fresh_i,       // a pick: the subscriber was idle before it began to wait
    // cycle 6
    input  logic                       s_op_picked_i,      // a pick, not a packet that asks
    input  len_t                       s_op_len_i,
    output logic                       go_o,               // a pick may go
    output round_t                     round_o,            // round in which the subscriber was picked last in this class
    output logic                       credit_o,           // it may send more in that round
    output logic                       front_o,            // by what is left of its quanta
    // cycle 7, of a pick
    output logic                       left_credit_o,      // the subscriber may send more in its round
    output logic                       more_o,             // or owes nothing
    output logic                       left_front_o,       // left_credit_o without its guarantee
    output logic                       far_o,              // it has two quanta left: rounds have ended without it
    // cycle 7, of any operation
    output logic                       covered_o,          // a quantum is more than what it owes: the next pick of a round to come goes
    output logic                       init_done_o
);

  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    credit_t credit;    // bytes
    round_t  round;
    class_t  cls;
  } word_t;

  localparam int unsigned QuantumLog = 11;
  localparam int unsigned Q = QueuesPerSubscriber;

  logic init;
  logic [SubscriberWidth-1:0] init_subscriber;

  pst_clear_walk #(.Depth(Subscribers)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_subscriber));

  assign init_done_o = !init;

  // --- cycle 0: read; 2: which word is it; 3: that word

  logic [7:1][SubscriberWidth-1:0] r_subscriber_q;
  index_t [7:4] r_place_q;
  index_t r1_index_q, r2_index_q, r3_index_q, r3_place;
  word_t [Q-1:0] r2_words, r3_words_q;
  word_t r4_own_q, r5_own_q;
  logic [Q-1:0] r3_match_q;
  logic r4_known_q, r5_again_q, r5_known_q;
  logic [QuantumLog+3:0] r4_quantum_q, r5_quantum_q;
  class_t [6:3] r_class_q;
  weight_t r3_weight_q;
  round_t [6:3] r_round_q;
  logic signed [CreditWidth:0] r5_raised;
  weight_t r4_weight_q, r5_weight_q, r6_weight_q, r7_weight_q;
  credit_t r5_most, r5_refilled, r6_credit_q, r6_rest, r6_own_q, r7_rest_q;
  logic r6_go_q, r6_left_q, r6_may_q, r6_due, r7_due, r7_we_q;
  word_t r7_word_q;

  always_comb begin
    r3_place = r3_index_q;
    for (int i = int'(Q) - 1; i >= 0; i--) if (r3_match_q[i]) r3_place = index_t'(i);
    if (Q == 1) r3_place = '0;

    // A new round: a quantum more, but less than four of them are kept.
    r5_raised   = (CreditWidth + 1)'(r5_own_q.credit) + (CreditWidth + 1)'(r5_quantum_q);
    r5_most     = credit_t'({r5_weight_q, {QuantumLog + 2{1'b1}}});
    r5_refilled = r5_raised > (CreditWidth + 1)'(r5_most) ? r5_most : credit_t'(r5_raised);

    r6_rest = r6_go_q ? r6_credit_q - credit_t'(s_op_len_i) : r6_credit_q;
    if (r6_credit_q < 0 && r6_rest >= 0) r6_rest = {1'b1, {CreditWidth-1{1'b0}}};
  end

  always_ff @(posedge clk_i) begin
    r_subscriber_q[1]   <= s_op_subscriber_i;
    r_subscriber_q[7:2] <= r_subscriber_q[6:1];
    r1_index_q          <= s_op_index_i;
    r2_index_q          <= r1_index_q;
    r3_index_q          <= r2_index_q;
    r_place_q[4]        <= r3_place;
    r_place_q[7:5]      <= r_place_q[6:4];

    r3_words_q  <= r2_words;
    for (int i = 0; i < int'(Q); i++) r3_match_q[i] <= r2_words[i].cls == s_op_class_i;
    r_class_q[3] <= s_op_class_i;
    r3_weight_q  <= s_op_weight_i;
    r_round_q[3] <= s_op_round_i;

    // A word of another class counts as one of long ago that owes nothing.
    r4_known_q     <= r3_match_q != '0;
    r4_own_q       <= r3_words_q[r3_place];
    r4_quantum_q   <= ((QuantumLog + 4)'(r3_weight_q) + 1'b1) << QuantumLog;
    r4_weight_q    <= r3_weight_q;
    r_class_q[6:4] <= r_class_q[5:3];
    r_round_q[6:4] <= r_round_q[5:3];

    r5_own_q     <= r4_own_q;
    if (!r4_known_q) r5_own_q.credit <= '0;
    r5_known_q   <= r4_known_q;
    r5_again_q   <= r4_known_q && r4_own_q.round == r_round_q[4];
    r5_quantum_q <= r4_quantum_q;
    r5_weight_q  <= r4_weight_q;

    r6_credit_q <= r5_again_q ? r5_own_q.credit : r5_refilled;
    // credit + quantum > 0, without waiting for the sum
    r6_go_q     <= r5_again_q ? r5_own_q.credit > 0 : r5_own_q.credit > -credit_t'(r5_quantum_q);
    round_o     <= r5_own_q.round;
    r6_left_q   <= r5_own_q.credit > 0;
    r6_may_q    <= r5_own_q.credit > 0 || !r5_known_q;

    // A packet that asks leaves the credit as it is.
    r6_own_q    <= r5_own_q.credit;
    r6_weight_q <= r5_weight_q;
    r7_rest_q   <= s_op_picked_i ? r6_rest : r6_own_q;
    r7_weight_q <= r6_weight_q;

    r7_we_q   <= s_op_picked_i;
    r7_word_q <= '{credit: r6_rest, round: r_round_q[6], cls: r_class_q[6]};
    if (rst_i) r7_we_q <= 1'b0;
  end

  for (genvar i = 0; i < Q; i++) begin : g_index
    pst_ram_write_first #(
        .Width($bits(word_t)), .Depth(Subscribers), .Style(RamStyle)
    ) u_word (
        .clk_i,
        .we_i(init || (r7_we_q && (Q == 1 || r_place_q[7] == index_t'(i)))),
        .waddr_i(init ? init_subscriber : r_subscriber_q[7]), .wdata_i(init ? '0 : r7_word_q),
        .re_i(1'b1), .raddr_i(s_op_subscriber_i), .rdata_o(r2_words[i])
    );
  end

  assign go_o          = r6_go_q || r6_due;
  assign credit_o      = r6_may_q || r6_due;
  assign front_o       = r6_left_q;
  assign more_o        = !r7_word_q.credit[CreditWidth-1] || r7_due;
  assign far_o         = r7_word_q.credit >= credit_t'({{1'b0, r7_weight_q} + 1'b1, (QuantumLog + 1)'(0)});
  assign left_front_o  = !r7_word_q.credit[CreditWidth-1] && r7_word_q.credit != '0;
  assign left_credit_o = left_front_o || r7_due;

  assign covered_o     = r7_rest_q > -credit_t'({{1'b0, r7_weight_q} + 1'b1, QuantumLog'(0)});

  // --- guarantees: a time stamp for each word, of when the next packet is within the guarantee

  if (GuaranteeCycles == 0) begin : g_no_guarantees
    assign r6_due = 1'b0;
    assign r7_due = 1'b0;

    logic unused_guarantee;
    assign unused_guarantee = &{1'b0, now_i, s_op_walk_i, s_op_guarantee_i, s_op_early_len_i, s_op_fresh_i};
  end else begin : g_guarantees
    typedef logic [TimeWidth+15:0] stamp_t;    // cycles, 16 bits of fraction
    typedef logic [TimeWidth-1:0] cycle_t;

    localparam cycle_t OldAge = cycle_t'(1) << (TimeWidth - 3);

    if (longint'(GuaranteeCycles) >= longint'(2) ** (TimeWidth - 4) || ToleranceCycles > GuaranteeCycles) begin : g_bad_time
      $error("pst_round_credit: GuaranteeCycles (%0d) must be below 2^(TimeWidth-4) and not below ToleranceCycles (%0d)", GuaranteeCycles,
             ToleranceCycles);
    end

    function automatic logic earlier(cycle_t a, cycle_t b);
      return $signed(a - b) < 0;
    endfunction

    function automatic logic early(stamp_t stamp, cycle_t now);
      return earlier(now, stamp[TimeWidth+15:16]) || (now == stamp[TimeWidth+15:16] && stamp[15:0] != '0);
    endfunction

    // A stamp is made no older than this one.
    function automatic stamp_t limited(stamp_t stamp, cycle_t oldest);
      return earlier(stamp[TimeWidth+15:16], oldest) ? {oldest, 16'b0} : stamp;
    endfunction

    localparam int unsigned IncrementWidth = TimeWidth - 3 + 16;
    logic [7:1] walk_q;
    logic [6:5] old_q;
    logic [6:4] some_q;
    logic r6_due_q, r7_due_q, r7_stamp_we_q;
    index_t walk_place_q, c3_place;
    index_t [7:4] place_q;
    logic [SubscriberWidth-1:0] walk_subscriber_q, r0_subscriber;
    logic [7:1][SubscriberWidth-1:0] subscriber_q;
    stamp_t [Q-1:0] r2_stamps, r3_stamps_q;
    stamp_t r4_stamp_q, r5_stamp_q, r5_sum, r6_stamp_q, r6_charged_q, r6_new, r7_stamp_q;
    logic [IncrementWidth-1:0] r5_increment;
    cycle_t r4_oldest;

    assign r6_due = r6_due_q;
    assign r7_due = r7_due_q;

    pst_shaper_increment #(
        .TimeWidth(TimeWidth)
    ) u_increment (
        .clk_i, .len_i(s_op_early_len_i), .mantissa_i(s_op_guarantee_i.mantissa), .exponent_i(s_op_guarantee_i.exponent),
        .increment_o(r5_increment)
    );

    always_comb begin
      r0_subscriber = s_op_walk_i ? walk_subscriber_q : s_op_subscriber_i;
      c3_place      = Q == 1 ? '0 : walk_q[3] ? walk_place_q : r3_place;
      r4_oldest     = now_i - (walk_q[4] ? OldAge : cycle_t'(ToleranceCycles));
      r5_sum        = r5_stamp_q + stamp_t'(r5_increment);
      // Credit first; only what it does not let go is charged.
      r6_new        = !r6_go_q && r6_due_q && !walk_q[6] ? r6_charged_q : r6_stamp_q;
    end

    always_ff @(posedge clk_i) begin
      walk_q       <= {walk_q[6:1], s_op_walk_i};
      subscriber_q <= {subscriber_q[6:1], r0_subscriber};
      if (s_op_walk_i) begin
        // All words of a subscriber, then those of the next one. The place is looked at three cycles later; walks are farther apart.
        walk_place_q <= walk_place_q + 1'b1;
        if (int'(walk_place_q) >= int'(Q) - 1) begin
          walk_place_q      <= '0;
          walk_subscriber_q <= int'(walk_subscriber_q) == int'(Subscribers) - 1 ? '0 : walk_subscriber_q + 1'b1;
        end
      end
      r3_stamps_q <= r2_stamps;
      r4_stamp_q  <= r3_stamps_q[c3_place];
      place_q     <= {place_q[6:4], c3_place};
      some_q      <= {some_q[5:4], s_op_guarantee_i.mantissa != '0};

      // A class without a word is just within its guarantee.
      r5_stamp_q <= r4_stamp_q;
      if (s_op_fresh_i || walk_q[4]) r5_stamp_q <= limited(r4_stamp_q, r4_oldest);
      if (!r4_known_q && !walk_q[4]) r5_stamp_q <= {now_i, 16'b0};
      old_q <= {old_q[5], walk_q[4] && earlier(r4_stamp_q[TimeWidth+15:16], r4_oldest)};

      r6_stamp_q   <= r5_stamp_q;
      r6_charged_q <= limited(r5_sum, now_i - cycle_t'(GuaranteeCycles));
      r6_due_q     <= some_q[5] && !early(r5_stamp_q, now_i);

      r7_stamp_q    <= r6_new;
      r7_due_q      <= some_q[6] && !early(r6_new, now_i);
      r7_stamp_we_q <= s_op_picked_i || old_q[6];
      if (rst_i) begin
        walk_q            <= '0;
        old_q             <= '0;
        walk_place_q      <= '0;
        walk_subscriber_q <= '0;
        r7_stamp_we_q     <= 1'b0;
      end
    end

    for (genvar i = 0; i < Q; i++) begin : g_index
      pst_ram_write_first #(
          .Width($bits(stamp_t)), .Depth(Subscribers), .Style(RamStyle)
      ) u_stamp (
          .clk_i,
          .we_i(init || (r7_stamp_we_q && (Q == 1 || place_q[7] == index_t'(i)))),
          .waddr_i(init ? init_subscriber : subscriber_q[7]), .wdata_i(init ? '0 : r7_stamp_q),
          .re_i(1'b1), .raddr_i(r0_subscriber), .rdata_o(r2_stamps[i])
      );
    end

    logic unused_guarantee;
    assign unused_guarantee = walk_q[7];

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i) a_walk_in_range : assert (32'(walk_place_q) < Q && 32'(walk_subscriber_q) < Subscribers);
    end
`endif
  end

  logic unused;
  assign unused = &{1'b0, r5_own_q.cls};

endmodule
