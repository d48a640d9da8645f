// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_round_credit: what a queue may still send is exact, in bytes, through any number of rounds and packets; a quantum once in
// a round, divided by those that share when the queue is looked up; it goes exactly when its credit is positive then; more than four quanta are
// never kept; credit never wraps.
//
// One queue, any, is followed: beside the hardware stands its credit as a wide number, and round and class of all queues of its subscriber. They
// change in cycle 6 of a pick. The invariant says how memory and pipeline encode them. An operation whose queue was picked since it was looked
// up is stale: nothing is said of it, and it is not picked.
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
  typedef logic signed [31:0] bytes_t;

  localparam bytes_t Quantum = 2048;
  localparam bytes_t Most = 4 * 8 * Quantum;         // four quanta at weight 8
  localparam bytes_t Least = 2 - (1 << LenWidth);    // the last byte of credit, and the longest packet

  typedef struct packed {
    round_t round;
    class_t cls;
  } turn_t;                                          // the round a queue was picked in last, and its class then

  typedef struct packed {    // as pst_round_credit has it
    credit_t credit;
    round_t  round;
    class_t  cls;
  } word_t;

  typedef turn_t [Indexes-1:0] turns_t;

  logic go, credit_left, more, init_done;
  round_t round_last;

  pst_round_credit #(
      .Subscribers(2), .QueuesPerSubscriber(Indexes)
  ) u_dut (
      .clk_i, .rst_i,
      .s_op_subscriber_i(op_subscriber_i), .s_op_index_i(op_index_i),
      .s_op_class_i(op_class_i), .s_op_weight_i(op_weight_i), .s_op_round_i(op_round_i),
      .s_op_picked_i(op_picked_i), .s_op_len_i(op_len_i),
      .go_o(go), .round_o(round_last), .credit_o(credit_left), .more_o(more), .init_done_o(init_done)
  );

  logic seen_q, x_q;    // the subscriber, any
  index_t y_q;          // the queue's index
  initial seen_q = 1'b0;

  // --- what a pick is worth

  // A quantum's part, rounded: half up.
  function automatic bytes_t part(logic [3:0] sharers);
    part = '0;
    for (int n = 1; n <= 8; n++) if (32'(sharers) == n) part = (2 * Quantum + n) / (2 * n);
  endfunction

  logic [6:1] subscriber_q, fresh_q, stale_q;    // by cycle; fresh: looked up when the memory was cleared
  logic [6:1][IndexWidth-1:0] index_q;
  logic [6:0] own, old;                          // of the queue that is followed; it was picked since
  turns_t turns_q, read1_q, read2_q;             // as they are; as they were when the operation was looked up
  bytes_t credit_q;
  logic [3:0] sharers, sharers3_q;
  bytes_t part4_q, quantum5_q, quantum6_q, refilled, credit, rest;
  weight_t weight3_q, weight4_q;
  turn_t turn3_q, turn4_q, turn5_q, turn6_q;
  logic refill, may_go, picked;

  always_comb begin
    own[0] = op_subscriber_i == x_q && op_index_i == y_q;
    old[0] = 1'b0;
    for (int k = 1; k <= 6; k++) begin
      own[k] = subscriber_q[k] == x_q && index_q[k] == y_q;
      old[k] = stale_q[k];
    end
    sharers = 4'd1;
    for (int i = 0; i < Indexes; i++) begin
      if (index_t'(i) != index_q[2] && read2_q[i].cls == op_class_i
          && (read2_q[i].round == op_round_i || read2_q[i].round == round_t'(op_round_i - 1'b1))) sharers += 1;
    end
    refill   = turns_q[y_q].round != turn6_q.round;
    refilled = credit_q + quantum6_q > 4 * quantum6_q ? 4 * quantum6_q : credit_q + quantum6_q;
    credit   = refill ? refilled : credit_q;
    may_go   = credit > 0;
    rest     = may_go ? credit - bytes_t'({1'b0, op_len_i}) : credit;
    picked   = op_picked_i && own[6];
  end

  logic went_q;             // the queue was picked, and went, in the last cycle
  logic given_q;            // the queue was given a quantum,
  round_t given_round_q;    // in this round last

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    x_q    <= x_q;
    y_q    <= y_q;
    subscriber_q <= {subscriber_q[5:1], op_subscriber_i};
    index_q      <= {index_q[5:1], op_index_i};
    fresh_q      <= {fresh_q[5:1], init_done};
    for (int k = 1; k <= 6; k++) stale_q[k] <= own[k-1] && (old[k-1] || picked);
    read1_q    <= turns_q;
    read2_q    <= read1_q;
    sharers3_q <= sharers;
    part4_q    <= part(sharers3_q);
    quantum5_q <= part4_q * bytes_t'({1'b0, weight4_q} + 4'd1);
    quantum6_q <= quantum5_q;
    weight3_q  <= op_weight_i;
    weight4_q  <= weight3_q;
    turn3_q    <= '{round: op_round_i, cls: op_class_i};
    turn4_q    <= turn3_q;
    turn5_q    <= turn4_q;
    turn6_q    <= turn5_q;
    if (op_picked_i && subscriber_q[6] == x_q) turns_q[index_q[6]] <= turn6_q;
    went_q <= picked && may_go;
    if (picked) begin
      credit_q <= rest;
      if (refill) begin
        given_q       <= 1'b1;
        given_round_q <= turn6_q.round;
      end
    end
    if (rst_i) begin
      turns_q  <= '0;
      credit_q <= '0;
      fresh_q  <= '0;
      given_q  <= 1'b0;
      went_q   <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i && op_picked_i) m_fresh : assume (fresh_q[6]);
    if (!rst_i && picked) m_apart : assume (!stale_q[6]);
  end

  // --- memory and pipeline

  word_t [Indexes-1:0] mem, read;
  logic [Indexes-1:0] written;    // in this cycle
  logic cleared;

  for (genvar i = 0; i < Indexes; i++) begin : g_memories
    assign mem[i]  = u_dut.g_index[i].u_word.u_ram.mem[x_q];
    assign read[i] = u_dut.g_index[i].u_word.hit_q ? u_dut.g_index[i].u_word.new_q : u_dut.g_index[i].u_word.word;
  end

  word_t [Indexes-1:0] words2;
  word_t word3, word4, word5, word7, own_word;
  assign words2 = u_dut.r2_words;
  assign word3  = u_dut.r3_own_q;
  assign word4  = u_dut.r4_own_q;
  assign word5  = u_dut.r5_own_q;
  assign word7  = u_dut.r7_word_q;

  always_comb begin
    cleared  = !u_dut.init_q || x_q < u_dut.init_subscriber_q;
    own_word = '{credit: credit_t'(credit_q), round: turns_q[y_q].round, cls: turns_q[y_q].cls};
    for (int i = 0; i < Indexes; i++) written[i] = u_dut.r7_we_q && u_dut.r7_subscriber_q == x_q && u_dut.r7_index_q == index_t'(i);
  end

  logic [6:1] r_subscriber;
  logic [6:1][IndexWidth-1:0] r_index;
  assign r_subscriber = {u_dut.r6_subscriber_q, u_dut.r5_subscriber_q, u_dut.r4_subscriber_q, u_dut.r3_subscriber_q, u_dut.r2_subscriber_q,
                         u_dut.r1_subscriber_q};
  assign r_index = {u_dut.r6_index_q, u_dut.r5_index_q, u_dut.r4_index_q, u_dut.r3_index_q, u_dut.r2_index_q, u_dut.r1_index_q};

  // Operation k is of the followed queue and can be relied on.
  logic [6:1] sure;
  assign sure = own[6:1] & fresh_q & ~stale_q;

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (sure[6]) begin
        a_answer : assert (round_last == turns_q[y_q].round && credit_left == (credit_q > 0));
        a_go : assert (go == may_go);
      end
      // a queue that went may send more in its round, or has sent just what it might
      if (went_q) a_more : assert (more == (credit_q >= 0));
      a_bounds : assert (credit_q <= Most && credit_q >= Least);
      if (picked && refill) begin
        a_once : assert (!given_q || given_round_q != turn6_q.round);
        a_most : assert (credit <= 4 * quantum6_q && credit <= credit_q + quantum6_q);
      end

      // what the induction needs
      if (given_q) a_given : assert (given_round_q == turns_q[y_q].round);
      if (cleared) begin
        for (int i = 0; i < Indexes; i++) begin
          if (written[i]) assert (word7[RoundWidth+ClassWidth-1:0] == turns_q[i] && (index_t'(i) != y_q || word7 == own_word));
          else assert (mem[i][RoundWidth+ClassWidth-1:0] == turns_q[i] && (index_t'(i) != y_q || mem[i] == own_word));
        end
      end
      for (int i = 0; i < Indexes; i++) begin
        if (own[1] && fresh_q[1]) assert (read[i][RoundWidth+ClassWidth-1:0] == read1_q[i]);
        if (own[2] && fresh_q[2]) assert (words2[i][RoundWidth+ClassWidth-1:0] == read2_q[i]);
      end
      if (sure[1]) a_read1 : assert (read[y_q] == own_word);
      if (sure[2]) a_read2 : assert (words2[y_q] == own_word);
      if (sure[3]) a_word3 : assert (word3 == own_word);
      if (sure[4]) a_word4 : assert (word4 == own_word);
      if (sure[5]) a_word5 : assert (word5 == own_word);
      if (own[3] && fresh_q[3]) a_sharers : assert (u_dut.r3_sharers == sharers3_q);
      if (fresh_q[3]) a_least : assert (sharers3_q != '0 && 32'(sharers3_q) <= Indexes);
      if (own[4] && fresh_q[4]) a_part : assert (bytes_t'({1'b0, u_dut.r4_part_q}) == part4_q);
      if (fresh_q[4]) a_part_range : assert (part4_q > 0 && part4_q <= Quantum);
      if (own[5] && fresh_q[5]) a_quantum : assert (bytes_t'({1'b0, u_dut.r5_quantum_q}) == quantum5_q);
      if (fresh_q[5]) a_quantum5 : assert (quantum5_q > 0 && quantum5_q <= 8 * Quantum);
      if (fresh_q[6]) a_quantum6 : assert (quantum6_q > 0 && quantum6_q <= 8 * Quantum);
      if (sure[6]) a_credit : assert (bytes_t'(u_dut.r6_credit_q) == credit);
      for (int k = 1; k <= 6; k++) if (fresh_q[k]) assert (r_subscriber[k] == subscriber_q[k] && r_index[k] == index_q[k]);
      if (fresh_q[3]) a_stage3 : assert ({u_dut.r3_round_q, u_dut.r3_class_q} == turn3_q && u_dut.r3_weight_q == weight3_q);
      if (fresh_q[4]) a_stage4 : assert ({u_dut.r4_round_q, u_dut.r4_class_q} == turn4_q && u_dut.r4_weight_q == weight4_q);
      if (fresh_q[5]) a_stage5 : assert ({u_dut.r5_round_q, u_dut.r5_class_q} == turn5_q);
      if (fresh_q[6]) a_stage6 : assert ({u_dut.r6_round_q, u_dut.r6_class_q} == turn6_q);
      // nothing happens before the memory is cleared
      if (!init_done) a_init : assert (fresh_q == '0 && turns_q == '0 && credit_q == '0 && !u_dut.r7_we_q && !given_q);

      // useful work is possible: a debt is paid back over a round, in company
      c_debt : cover (picked && given_q && credit_q < 0 && may_go && quantum6_q < Quantum);
      c_stay : cover (picked && given_q && !refill && !may_go);
    end
  end

endmodule
