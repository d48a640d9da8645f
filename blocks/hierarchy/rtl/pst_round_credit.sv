// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What each queue may still send in its round at one level (deficit round robin with overdraft, after Shreedhar and Varghese, 1995).
//
// A queue that is picked in a round it has not sent in gets a quantum: weight * 2,048 byte, divided by the number of its subscriber's queues
// that share in this round or shared in the last, so that shares are those of subscribers. It goes if it may send anything at all, and what it
// sends beyond that it owes. Credit that was not used is kept, up to four quanta: a queue has one packet at the gates at a time, so it is often on
// its way back when a round ends, and would lose its share bit by bit if the rest of it were forfeited.
//
// Latency: cycle 0 the queue, 2 class, weight and round, 6 the answer and the length. One operation per cycle; two of one queue at least
// 8 cycles apart. Reset: a walker clears the memory (`Subscribers` cycles).
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
    input  weight_t                    s_op_weight_i,
    input  round_t                     s_op_round_i,       // of the pick
    // cycle 6
    input  logic                       s_op_picked_i,      // a pick, not somebody who asks
    input  len_t                       s_op_len_i,
    output logic                       go_o,               // a pick may go
    output round_t                     round_o,            // round in which the queue was picked last
    output logic                       credit_o,           // it may send more in that round
    // cycle 7
    output logic                       more_o,             // a pick that went: the queue may send more in its round, or owes nothing
    output logic                       init_done_o
);

  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    credit_t credit;    // bytes
    round_t  round;
    class_t  cls;
  } word_t;

  localparam int unsigned Quantum = 2048;
  localparam int unsigned PartWidth = 12;

  // Quantum / sharers, rounded.
  function automatic logic [PartWidth-1:0] part(logic [3:0] sharers);
    case (sharers)
      4'd1: return PartWidth'(Quantum);
      4'd2: return PartWidth'(Quantum / 2);
      4'd3: return PartWidth'((Quantum * 2 + 3) / 6);
      4'd4: return PartWidth'(Quantum / 4);
      4'd5: return PartWidth'((Quantum * 2 + 5) / 10);
      4'd6: return PartWidth'((Quantum * 2 + 6) / 12);
      4'd7: return PartWidth'((Quantum * 2 + 7) / 14);
      default: return PartWidth'(Quantum / 8);
    endcase
  endfunction

  logic init_q;
  logic [SubscriberWidth-1:0] init_subscriber_q;

  always_ff @(posedge clk_i) begin
    if (init_q) init_subscriber_q <= init_subscriber_q + 1'b1;
    if (init_q && init_subscriber_q == SubscriberWidth'(Subscribers - 1)) init_q <= 1'b0;
    if (rst_i) begin
      init_q            <= 1'b1;
      init_subscriber_q <= '0;
    end
  end

  assign init_done_o = !init_q;

  // --- cycle 0: read; 2: own word, who else shares

  logic [SubscriberWidth-1:0] r1_subscriber_q, r2_subscriber_q, r3_subscriber_q, r4_subscriber_q, r5_subscriber_q, r6_subscriber_q;
  logic [SubscriberWidth-1:0] r7_subscriber_q;
  index_t r1_index_q, r2_index_q, r3_index_q, r4_index_q, r5_index_q, r6_index_q, r7_index_q;
  word_t [QueuesPerSubscriber-1:0] r2_words;
  word_t r3_own_q, r4_own_q, r5_own_q;
  logic [QueuesPerSubscriber-1:0] r2_shares, r3_shares_q;
  logic [3:0] r3_sharers;
  logic [PartWidth-1:0] r4_part_q;
  logic [PartWidth+2:0] r5_quantum_q;
  class_t r3_class_q, r4_class_q, r5_class_q, r6_class_q;
  weight_t r3_weight_q, r4_weight_q;
  round_t r3_round_q, r4_round_q, r5_round_q, r6_round_q;
  credit_t r5_raised, r5_most, r5_refilled, r6_credit_q, r6_rest;
  logic r7_we_q;
  word_t r7_word_q;

  always_comb begin
    for (int i = 0; i < QueuesPerSubscriber; i++) begin
      r2_shares[i] = index_t'(i) != r2_index_q && r2_words[i].cls == s_op_class_i
          && (r2_words[i].round == s_op_round_i || r2_words[i].round == s_op_round_i - 1'b1);
    end
    r3_sharers = 4'd1;
    for (int i = 0; i < QueuesPerSubscriber; i++) r3_sharers = r3_sharers + 4'(r3_shares_q[i]);

    // A new round: a quantum more, but no more than four are kept.
    r5_raised   = r5_own_q.credit + credit_t'(r5_quantum_q);
    r5_most     = credit_t'({r5_quantum_q, 2'b00});
    r5_refilled = r5_raised > r5_most ? r5_most : r5_raised;

    r6_rest = go_o ? r6_credit_q - credit_t'(s_op_len_i) : r6_credit_q;
    if (r6_credit_q < 0 && r6_rest >= 0) r6_rest = {1'b1, {CreditWidth-1{1'b0}}};
  end

  always_ff @(posedge clk_i) begin
    r1_subscriber_q <= s_op_subscriber_i;
    r2_subscriber_q <= r1_subscriber_q;
    r3_subscriber_q <= r2_subscriber_q;
    r4_subscriber_q <= r3_subscriber_q;
    r5_subscriber_q <= r4_subscriber_q;
    r6_subscriber_q <= r5_subscriber_q;
    r7_subscriber_q <= r6_subscriber_q;
    r1_index_q <= s_op_index_i;
    r2_index_q <= r1_index_q;
    r3_index_q <= r2_index_q;
    r4_index_q <= r3_index_q;
    r5_index_q <= r4_index_q;
    r6_index_q <= r5_index_q;
    r7_index_q <= r6_index_q;

    r3_own_q    <= r2_words[QueuesPerSubscriber > 1 ? r2_index_q : '0];
    r3_shares_q <= r2_shares;
    r3_class_q  <= s_op_class_i;
    r3_weight_q <= s_op_weight_i;
    r3_round_q  <= s_op_round_i;

    r4_own_q    <= r3_own_q;
    r4_part_q   <= part(r3_sharers);
    r4_class_q  <= r3_class_q;
    r4_weight_q <= r3_weight_q;
    r4_round_q  <= r3_round_q;

    r5_own_q     <= r4_own_q;
    r5_quantum_q <= (PartWidth + 3)'(r4_part_q) * (PartWidth + 3)'({1'b0, r4_weight_q} + 4'd1);
    r5_class_q   <= r4_class_q;
    r5_round_q   <= r4_round_q;

    r6_credit_q <= r5_own_q.round != r5_round_q ? r5_refilled : r5_own_q.credit;
    // credit + quantum > 0, without waiting for the sum
    go_o        <= r5_own_q.round != r5_round_q ? r5_own_q.credit > -credit_t'(r5_quantum_q) : r5_own_q.credit > 0;
    round_o     <= r5_own_q.round;
    credit_o    <= r5_own_q.credit > 0;
    r6_class_q  <= r5_class_q;
    r6_round_q  <= r5_round_q;

    r7_we_q   <= s_op_picked_i;
    r7_word_q <= '{credit: r6_rest, round: r6_round_q, cls: r6_class_q};
    if (rst_i) r7_we_q <= 1'b0;
  end

  for (genvar i = 0; i < QueuesPerSubscriber; i++) begin : g_index
    pst_ram_write_first #(
        .Width($bits(word_t)), .Depth(Subscribers), .Style(RamStyle)
    ) u_word (
        .clk_i,
        .we_i(init_q || (r7_we_q && (QueuesPerSubscriber == 1 || r7_index_q == index_t'(i)))),
        .waddr_i(init_q ? init_subscriber_q : r7_subscriber_q), .wdata_i(init_q ? '0 : r7_word_q),
        .re_i(1'b1), .raddr_i(s_op_subscriber_i), .rdata_o(r2_words[i])
    );
  end

  assign more_o = !r7_word_q.credit[CreditWidth-1];

  logic unused;
  assign unused = &{1'b0, r5_own_q.cls};

endmodule
