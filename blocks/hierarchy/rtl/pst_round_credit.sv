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
// Latency: cycle 0 the queue, 2 class, weight and round, 6 the answer and the length. One operation per cycle; two picks of a subscriber and
// class that are less than 7 cycles apart do not see each other's. Reset: a walker clears the memory (`Subscribers` cycles).
module pst_round_credit
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
    // cycle 0
    input  logic [SubscriberWidth-1:0] s_op_subscriber_i,
    input  logic [     IndexWidth-1:0] s_op_index_i,
    // cycle 2
    input  class_t                     s_op_class_i,
    input  weight_t                    s_op_weight_i,      // of the subscriber
    input  round_t                     s_op_round_i,       // of the pick
    // cycle 6
    input  logic                       s_op_picked_i,      // a pick, not a packet that asks
    input  len_t                       s_op_len_i,
    output logic                       go_o,               // a pick may go
    output round_t                     round_o,            // round in which the subscriber was picked last in this class
    output logic                       credit_o,           // it may send more in that round
    // cycle 7, of a pick
    output logic                       left_credit_o,      // the subscriber may send more in its round
    output logic                       more_o,             // or owes nothing
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
  weight_t r4_weight_q, r5_weight_q;
  credit_t r5_most, r5_refilled, r6_credit_q, r6_rest;
  logic r7_we_q;
  word_t r7_word_q;

  always_comb begin
    r3_place = r3_index_q;
    for (int i = int'(Q) - 1; i >= 0; i--) if (r3_match_q[i]) r3_place = index_t'(i);
    if (Q == 1) r3_place = '0;

    // A new round: a quantum more, but less than four of them are kept.
    r5_raised   = (CreditWidth + 1)'(r5_own_q.credit) + (CreditWidth + 1)'(r5_quantum_q);
    r5_most     = credit_t'({r5_weight_q, {QuantumLog + 2{1'b1}}});
    r5_refilled = r5_raised > (CreditWidth + 1)'(r5_most) ? r5_most : credit_t'(r5_raised);

    r6_rest = go_o ? r6_credit_q - credit_t'(s_op_len_i) : r6_credit_q;
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
    go_o        <= r5_again_q ? r5_own_q.credit > 0 : r5_own_q.credit > -credit_t'(r5_quantum_q);
    round_o     <= r5_own_q.round;
    credit_o    <= r5_own_q.credit > 0 || !r5_known_q;

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

  assign more_o        = !r7_word_q.credit[CreditWidth-1];
  assign left_credit_o = more_o && r7_word_q.credit != '0;

  logic unused;
  assign unused = &{1'b0, r5_own_q.cls};

endmodule
