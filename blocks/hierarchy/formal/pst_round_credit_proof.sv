// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_round_credit: what a subscriber may still send of a class is exact, in bytes, through any number of rounds and packets; a
// quantum of its weight once in a round; a pick goes exactly when the credit is positive then; four quanta are never kept; credit never
// wraps. It is said whether a quantum covers what is owed after the operation.
//
// One subscriber, any, is followed: beside the hardware stand its words, with credit as a wide number. A pick changes one of them in its cycle 6:
// that of its class, or if there is none that of its queue's number. What an operation finds (`found*_q`) is of its cycle 0. The invariant says how
// memory and pipeline encode both. An operation is stale if its class was picked since, or its word was taken by another class.
module pst_round_credit_proof
  import pst_pkg::*;
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Indexes = 4,           // queues of a subscriber
    localparam int unsigned IndexWidth = $clog2(Indexes)
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic                  op_subscriber_i,    // cycle 0
    input logic [IndexWidth-1:0] op_index_i,
    input class_t                op_class_i,         // cycle 2
    input weight_t               op_weight_i,
    input round_t                op_round_i,
    input logic                  op_picked_i,        // cycle 6
    input len_t                  op_len_i
);

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic signed [23:0] bytes_t;

  localparam bytes_t Quantum = 2048;
  localparam bytes_t Most = 4 * 8 * Quantum - 1;     // four quanta at weight 8, less a byte
  localparam bytes_t Least = 2 - (1 << LenWidth);    // the last byte of credit, and the longest packet

  typedef struct packed {
    bytes_t credit;
    round_t round;     // in which the class was picked last
    class_t cls;
  } account_t;
  typedef account_t [Indexes-1:0] accounts_t;

  typedef struct packed {
    logic   known;     // the class has a word
    index_t place;     // which; else the one that it takes
    bytes_t credit;
    round_t round;
  } found_t;

  typedef struct packed {    // as pst_round_credit has it
    credit_t credit;
    round_t  round;
    class_t  cls;
  } word_t;

  logic go, credit_left, front, left_front, far, left_credit, more, covered, init_done;
  round_t round_last;

  pst_round_credit #(
      .Subscribers(2), .QueuesPerSubscriber(Indexes)
  ) u_dut (
      .clk_i, .rst_i, .now_i('0), .s_op_walk_i(1'b0), .s_op_guarantee_i('0), .s_op_early_len_i('0), .s_op_fresh_i(1'b0),
      .s_op_subscriber_i(op_subscriber_i), .s_op_index_i(op_index_i),
      .s_op_class_i(op_class_i), .s_op_weight_i(op_weight_i), .s_op_round_i(op_round_i),
      .s_op_picked_i(op_picked_i), .s_op_len_i(op_len_i),
      .go_o(go), .round_o(round_last), .credit_o(credit_left), .front_o(front), .left_front_o(left_front), .far_o(far),
      .left_credit_o(left_credit), .more_o(more), .covered_o(covered), .init_done_o(init_done)
  );

  logic seen_q, x_q;    // the subscriber, any
  class_t y_q;          // a class, any
  initial seen_q = 1'b0;

  // --- what is found, and what a pick is worth

  function automatic found_t find(accounts_t accounts, class_t cls, index_t index);
    find = '{known: 1'b0, place: index, credit: '0, round: '0};
    for (int i = Indexes - 1; i >= 0; i--) begin
      if (accounts[i].cls == cls) find = '{known: 1'b1, place: index_t'(i), credit: accounts[i].credit, round: accounts[i].round};
    end
  endfunction

  logic [6:1] own, fresh_q;     // of the subscriber that is followed; looked up when the memory was cleared
  logic [6:4] stale_q, again_q; // its class was picked, or its word taken, since it was looked up; its class was picked
  logic [6:1][IndexWidth-1:0] index_q;
  accounts_t accounts_q, accounts_d, read1_q, read2_q, read3_q;
  found_t found3_q, found4_q, found5_q, found6_q;
  class_t [6:3] class_q;
  round_t [6:3] round_q;
  weight_t [6:3] weight_q;
  bytes_t quantum, refilled, credit, rest;
  logic refill, may_go, picked;

  always_comb begin
    quantum  = Quantum * (bytes_t'({1'b0, weight_q[6]}) + 1);
    refill   = !found6_q.known || found6_q.round != round_q[6];
    refilled = found6_q.credit + quantum >= 4 * quantum ? 4 * quantum - 1 : found6_q.credit + quantum;
    credit   = refill ? refilled : found6_q.credit;
    may_go   = credit > 0;
    rest     = may_go ? credit - bytes_t'({1'b0, op_len_i}) : credit;
    picked   = op_picked_i && own[6];
    accounts_d = accounts_q;
    if (picked) accounts_d[found6_q.place] = '{credit: rest, round: round_q[6], cls: class_q[6]};
  end

  // The class is known in cycle 3: it may have been picked in any of the three cycles before.
  class_t [2:0] last_class_q;
  index_t [2:0] last_place_q;
  logic [2:0] last_picked_q;
  logic [5:3] hits, takes;      // the pick of this cycle is of the operation's class; has its word
  logic again3, stale3;

  always_comb begin
    again3 = 1'b0;
    stale3 = 1'b0;
    for (int k = 0; k < 3; k++) begin
      if (last_picked_q[k] && last_class_q[k] == class_q[3]) again3 = 1'b1;
      if (last_picked_q[k] && found3_q.known && found3_q.place == last_place_q[k]) stale3 = 1'b1;
    end
    for (int k = 3; k <= 5; k++) hits[k] = picked && class_q[k] == class_q[6];
    takes[3] = picked && found3_q.known && found3_q.place == found6_q.place;
    takes[4] = picked && found4_q.known && found4_q.place == found6_q.place;
    takes[5] = picked && found5_q.known && found5_q.place == found6_q.place;
  end

  logic picked_q;           // the subscriber was picked in the last cycle,
  bytes_t rest_q;           // and may still send so much
  logic sure7_q;            // an operation of the subscriber was there in the last cycle,
  bytes_t rest7_q;          // which has left so much,
  weight_t weight7_q;       // of this weight
  logic given_q;            // the class was given a quantum,
  round_t given_round_q;    // in this round last; and its word was not taken since
  found_t now;              // what the class finds now

  assign now = find(accounts_q, y_q, '0);

  always_ff @(posedge clk_i) begin
    seen_q  <= 1'b1;
    x_q     <= x_q;
    y_q     <= y_q;
    own     <= {own[5:1], op_subscriber_i == x_q};
    index_q <= {index_q[5:1], op_index_i};
    fresh_q <= {fresh_q[5:1], init_done};
    again_q <= {again_q[5:4], again3} | hits;
    stale_q <= {stale_q[5:4], again3 || stale3} | hits | takes;
    last_picked_q <= {last_picked_q[1:0], picked};
    last_class_q  <= {last_class_q[1:0], class_q[6]};
    last_place_q  <= {last_place_q[1:0], found6_q.place};
    read1_q <= accounts_q;
    read2_q <= read1_q;
    read3_q <= read2_q;
    found3_q <= find(read2_q, op_class_i, index_q[2]);
    found4_q <= found3_q;
    found5_q <= found4_q;
    found6_q <= found5_q;
    class_q  <= {class_q[5:3], op_class_i};
    round_q  <= {round_q[5:3], op_round_i};
    weight_q <= {weight_q[5:3], op_weight_i};
    accounts_q <= accounts_d;
    picked_q   <= picked;
    rest_q     <= rest;
    sure7_q    <= own[6] && fresh_q[6];
    rest7_q    <= op_picked_i ? rest : found6_q.credit;
    weight7_q  <= weight_q[6];
    if (picked && class_q[6] == y_q && refill) begin
      given_q       <= 1'b1;
      given_round_q <= round_q[6];
    end else if (picked && class_q[6] != y_q && now.known && now.place == found6_q.place) begin
      given_q <= 1'b0;
    end
    if (rst_i) begin
      accounts_q    <= '0;
      fresh_q       <= '0;
      given_q       <= 1'b0;
      picked_q      <= 1'b0;
      sure7_q       <= 1'b0;
      last_picked_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i && op_picked_i) m_fresh : assume (fresh_q[6]);
    if (!rst_i && picked) m_apart : assume (!again_q[6]);
  end

  // --- memory and pipeline

  function automatic word_t encoded(account_t account);
    encoded = '{credit: credit_t'(account.credit), round: account.round, cls: account.cls};
  endfunction

  word_t [Indexes-1:0] mem, read, words2, words3;
  logic [Indexes-1:0] written;    // in this cycle
  word_t word4, word5, word7;
  logic cleared;

  for (genvar i = 0; i < Indexes; i++) begin : g_memories
    assign mem[i]  = u_dut.g_index[i].u_word.u_ram.mem[x_q];
    assign read[i] = u_dut.g_index[i].u_word.hit_q ? u_dut.g_index[i].u_word.new_q : u_dut.g_index[i].u_word.word;
  end
  assign words2 = u_dut.r2_words;
  assign words3 = u_dut.r3_words_q;
  assign word4  = u_dut.r4_own_q;
  assign word5  = u_dut.r5_own_q;
  assign word7  = u_dut.r7_word_q;

  always_comb begin
    cleared = !u_dut.init || x_q < u_dut.init_subscriber;
    for (int i = 0; i < Indexes; i++) written[i] = u_dut.r7_we_q && u_dut.r_subscriber_q[7] == x_q && u_dut.r_place_q[7] == index_t'(i);
  end

  logic [6:1] r_subscriber, sure;
  assign r_subscriber = {u_dut.r_subscriber_q[6], u_dut.r_subscriber_q[5], u_dut.r_subscriber_q[4], u_dut.r_subscriber_q[3],
                         u_dut.r_subscriber_q[2],
                         u_dut.r_subscriber_q[1]};
  assign sure = own & fresh_q;    // operation k is of the subscriber and can be relied on

  // What is found is in bounds, and one of the words.
  function automatic logic good(found_t found);
    good = found.credit <= Most && found.credit >= Least && (found.known || found.credit == '0);
  endfunction

  function automatic logic same(found_t a, found_t b);
    same = a.known == b.known && (!a.known || a == b);
  endfunction

  // A class that was not picked since has no word that was not found; if its word was taken, it has not been given a quantum since.
  function automatic logic kept(found_t found, class_t cls, logic again, logic stale);
    kept = 1'b1;
    if (!again) begin
      for (int i = 0; i < Indexes; i++) if (accounts_q[i].cls == cls && !(found.known && index_t'(i) >= found.place)) kept = 1'b0;
      if (stale && cls == y_q && given_q) kept = 1'b0;
    end
  endfunction

  // The same of the class that is followed, for an operation in cycle `cycle` whose class is not known yet.
  function automatic logic kept_yet(accounts_t read, int cycle);
    found_t found;
    logic again, stale;
    found = find(read, y_q, '0);
    again = 1'b0;
    stale = 1'b0;
    for (int k = 0; k < 3; k++) begin
      if (k < cycle && last_picked_q[k]) begin
        if (last_class_q[k] == y_q) again = 1'b1;
        if (found.known && last_place_q[k] == found.place) stale = 1'b1;
      end
    end
    kept_yet = kept(found, y_q, again, stale);
  endfunction

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (sure[6]) begin
        a_answer : assert (credit_left == (found6_q.credit > 0 || !found6_q.known) && front == (found6_q.credit > 0)
            && (!found6_q.known || round_last == found6_q.round));
        a_go : assert (go == may_go);
        // what was found is still true
        if (!stale_q[6]) a_now : assert (same(found6_q, find(accounts_q, class_q[6], found6_q.place)));
      end
      if (sure7_q) a_covered : assert (covered == (rest7_q + Quantum * (bytes_t'({1'b0, weight7_q}) + 1) > 0));
      if (picked_q) a_left : assert (more == (rest_q >= 0) && left_credit == (rest_q > 0) && left_front == (rest_q > 0)
          && far == (rest_q >= 2 * Quantum * (bytes_t'({1'b0, weight7_q}) + 1)));
      if (picked) begin
        a_bounds : assert (rest <= Most && rest >= Least);
        if (refill) a_most : assert (credit < 4 * quantum && credit <= found6_q.credit + quantum);
        if (refill && class_q[6] == y_q) a_once : assert (!given_q || given_round_q != round_q[6]);
        // other classes' words are left alone, unless the class has none and takes one; it has one from now on
        for (int i = 0; i < Indexes; i++) begin
          if (accounts_d[i] != accounts_q[i]) a_others_kept : assert (index_t'(i) == found6_q.place);
        end
        if (!found6_q.known) a_takes : assert (found6_q.place == index_q[6]);
      end

      // what the induction needs
      if (given_q) a_given : assert (now.known && given_round_q == now.round);
      for (int i = 0; i < Indexes; i++) begin
        a_credit_in_range : assert (accounts_q[i].credit <= Most && accounts_q[i].credit >= Least);
        if (cleared) begin
          if (written[i]) a_word_written : assert (word7 == encoded(accounts_q[i]));
          else a_word_kept : assert (mem[i] == encoded(accounts_q[i]));
        end
        if (sure[1]) a_read1_word : assert (read[i] == encoded(read1_q[i]) && read1_q[i].credit <= Most && read1_q[i].credit >= Least);
        if (sure[2]) a_read2_word : assert (words2[i] == encoded(read2_q[i]) && read2_q[i].credit <= Most && read2_q[i].credit >= Least);
        if (sure[3]) a_read3_word : assert (words3[i] == encoded(read3_q[i]) && u_dut.r3_match_q[i] == (read3_q[i].cls == class_q[3]));
        // what has changed since is known
        if (sure[1] && read1_q[i] != accounts_q[i]) a_read1_changed : assert (last_picked_q[0] && last_place_q[0] == index_t'(i));
        if (sure[2] && read2_q[i] != accounts_q[i]) begin
          a_read2_changed : assert ((last_picked_q[0] && last_place_q[0] == index_t'(i)) || (last_picked_q[1]
              && last_place_q[1] == index_t'(i)));
        end
        if (sure[3] && read3_q[i] != accounts_q[i]) begin
          a_read3_changed : assert ((last_picked_q[0] && last_place_q[0] == index_t'(i)) || (last_picked_q[1]
              && last_place_q[1] == index_t'(i))
                  || (last_picked_q[2] && last_place_q[2] == index_t'(i)));
        end
      end
      if (last_picked_q[0]) a_last0_class : assert (accounts_q[last_place_q[0]].cls == last_class_q[0]);
      if (last_picked_q[1] && !(last_picked_q[0] && last_place_q[0] == last_place_q[1])) begin
        a_last1_class : assert (accounts_q[last_place_q[1]].cls == last_class_q[1]);
      end
      if (last_picked_q[2] && !(last_picked_q[0] && last_place_q[0] == last_place_q[2])
          && !(last_picked_q[1] && last_place_q[1] == last_place_q[2])) begin
        a_last2_class : assert (accounts_q[last_place_q[2]].cls == last_class_q[2]);
      end
      if (sure[1]) a_kept1 : assert (kept_yet(read1_q, 1));
      if (sure[2]) a_kept2 : assert (kept_yet(read2_q, 2));
      if (sure[3]) a_kept3 : assert (kept_yet(read3_q, 3));
      if (sure[4]) a_kept4 : assert (kept(found4_q, class_q[4], again_q[4], stale_q[4]));
      if (sure[5]) a_kept5 : assert (kept(found5_q, class_q[5], again_q[5], stale_q[5]));
      if (sure[6]) a_kept6 : assert (kept(found6_q, class_q[6], again_q[6], stale_q[6]));
      for (int k = 1; k <= 6; k++) if (fresh_q[k]) a_own : assert (own[k] == (r_subscriber[k] == x_q));
      if (sure[1]) a_index1 : assert (u_dut.r1_index_q == index_q[1]);
      if (sure[2]) a_index2 : assert (u_dut.r2_index_q == index_q[2]);
      if (sure[3]) a_index3 : assert (u_dut.r3_index_q == index_q[3] && found3_q == find(read3_q, class_q[3], index_q[3])
          && good(found3_q));
      if (sure[4]) begin
        a_word4 : assert (u_dut.r4_known_q == found4_q.known && u_dut.r_place_q[4] == found4_q.place
                          && (found4_q.known || found4_q.place == index_q[4]) && good(found4_q)
                          && (!found4_q.known || word4 == encoded('{credit: found4_q.credit, round: found4_q.round, cls: class_q[4]})));
      end
      if (sure[5]) begin
        a_word5 : assert (u_dut.r5_known_q == found5_q.known && u_dut.r_place_q[5] == found5_q.place
                          && (found5_q.known || found5_q.place == index_q[5]) && good(found5_q)
                          && word5.credit == credit_t'(found5_q.credit) && (!found5_q.known || word5.round == found5_q.round)
                          && u_dut.r5_again_q == (found5_q.known && found5_q.round == round_q[5]));
      end
      if (sure[6]) begin
        a_word6 : assert (bytes_t'(u_dut.r6_credit_q) == credit && bytes_t'(u_dut.r6_own_q) == found6_q.credit
                          && u_dut.r6_weight_q == weight_q[6] && u_dut.r_place_q[6] == found6_q.place && good(found6_q)
                          && (found6_q.known || found6_q.place == index_q[6]));
      end
      if (sure7_q) a_word7 : assert (bytes_t'(u_dut.r7_rest_q) == rest7_q && u_dut.r7_weight_q == weight7_q && rest7_q <= Most
          && rest7_q >= Least);
      // stale or still true
      if (sure[4] && !stale_q[4]) a_now4 : assert (same(found4_q, find(accounts_q, class_q[4], found4_q.place)));
      if (sure[5] && !stale_q[5]) a_now5 : assert (same(found5_q, find(accounts_q, class_q[5], found5_q.place)));
      if (fresh_q[3]) a_stage3 : assert (u_dut.r_round_q[3] == round_q[3] && u_dut.r_class_q[3] == class_q[3]
          && u_dut.r3_weight_q == weight_q[3]);
      if (fresh_q[4]) a_stage4 : assert (u_dut.r_round_q[4] == round_q[4] && u_dut.r_class_q[4] == class_q[4]
                                         && u_dut.r4_weight_q == weight_q[4] && 32'(u_dut.r4_quantum_q) == (32'(weight_q[4]) + 1) * 2048);
      if (fresh_q[5]) a_stage5 : assert (u_dut.r_round_q[5] == round_q[5] && u_dut.r_class_q[5] == class_q[5]
                                         && u_dut.r5_weight_q == weight_q[5] && 32'(u_dut.r5_quantum_q) == (32'(weight_q[5]) + 1) * 2048);
      if (fresh_q[6]) a_stage6 : assert (u_dut.r_round_q[6] == round_q[6] && u_dut.r_class_q[6] == class_q[6]);
      // nothing happens before the memory is cleared
      if (!init_done) begin
        a_init : assert (fresh_q == '0 && accounts_q == '0 && !u_dut.r7_we_q && !given_q && !picked_q && last_picked_q == '0);
      end

      // useful work is possible: a debt is paid back over a round; a word is taken; two classes have one each
      c_debt : cover (picked && given_q && class_q[6] == y_q && found6_q.credit < 0 && may_go);
      c_owes : cover (sure7_q && !covered);
      c_stay : cover (picked && given_q && class_q[6] == y_q && !refill && !may_go);
      c_two : cover (picked && given_q && y_q == class_t'(1) && class_q[6] == class_t'(2) && found6_q.known);
    end
  end

endmodule
