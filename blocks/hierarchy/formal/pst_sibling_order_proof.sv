// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_sibling_order: by how much each queue is behind the one of its class that has had the most, against whole numbers that
// cannot wrap; which queue goes before which, and which are of one class; and of a look, before which its queue would still go with one more
// packet.
//
// One subscriber, any, is followed. A packet brings its queue closer to the first, by what it costs; or it makes its queue the first, and all
// others of its class fall behind by the rest, to as much as its word can say. Of a queue whose last packet left it empty less counts when
// its next one comes. pst_ram_modify is its contract here.
module pst_sibling_order_proof
  import pst_pkg::*;
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Indexes = 4,           // queues of a subscriber
    localparam int unsigned IndexWidth = $clog2(Indexes)
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic                  op_valid_i,         // cycle 0
    input logic                  op_charge_i,
    input logic                  op_subscriber_i,
    input logic [IndexWidth-1:0] op_index_i,
    input class_t                op_class_i,         // cycle 2
    input weight_t               op_weight_i,
    input len_t                  op_len_i,
    input logic                  op_empties_i
);

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [Indexes-1:0][Indexes-1:0] before_t;
  typedef logic signed [23:0] number_t;
  typedef number_t [Indexes-1:0] numbers_t;

  localparam number_t Most = (1 << BehindWidth) - 1;
  localparam number_t MostPaused = (1 << (BehindWidth - 4)) - 1;

  typedef struct packed {    // as pst_sibling_order has it
    class_t  cls;
    logic    empty;
    behind_t behind;
  } word_t;

  before_t order;
  logic [Indexes-1:0] again, alike;
  logic init_done;

  logic unused_idle;    // there are no guarantees

  pst_sibling_order #(
      .Subscribers(2), .QueuesPerSubscriber(Indexes)
  ) u_dut (
      .clk_i, .rst_i, .now_i('0), .s_op_release_i(1'b0), .s_op_walk_i(1'b0), .s_op_guarantee_i('0), .idle_o(unused_idle),
      .s_op_valid_i(op_valid_i), .s_op_charge_i(op_charge_i), .s_op_subscriber_i(op_subscriber_i), .s_op_index_i(op_index_i),
      .s_op_class_i(op_class_i), .s_op_weight_i(op_weight_i), .s_op_len_i(op_len_i), .s_op_empties_i(op_empties_i), .before_o(order),
      .alike_o(alike), .again_o(again), .init_done_o(init_done)
  );

  logic seen_q, x_q;    // the subscriber, any
  initial seen_q = 1'b0;

  // 840 / weight, for weights of 1 to 8, times the length, in sixteenths: 1/52.5 byte.
  function automatic number_t at_most(number_t number);
    return number > Most ? Most : number;
  endfunction

  function automatic number_t cost_of(len_t len, weight_t weight);
    logic [LenWidth+9:0] product;
    case (weight)
      3'd0: product = len * 10'd840;
      3'd1: product = len * 10'd420;
      3'd2: product = len * 10'd280;
      3'd3: product = len * 10'd210;
      3'd4: product = len * 10'd168;
      3'd5: product = len * 10'd140;
      3'd6: product = len * 10'd120;
      default: product = len * 10'd105;
    endcase
    cost_of = number_t'(product >> 4);
  endfunction

  // a goes before b: it is of a higher class; or of the same and farther behind; of two that are equal the lower one.
  function automatic before_t order_of(class_t [Indexes-1:0] classes, numbers_t behind);
    for (int a = 0; a < Indexes; a++) begin
      for (int b = 0; b < Indexes; b++) begin
        if (classes[a] != classes[b]) order_of[a][b] = classes[a] < classes[b];
        else order_of[a][b] = behind[a] > behind[b] || (behind[a] == behind[b] && a < b);
      end
    end
  endfunction

  // Of any two one goes before the other, and there is no ring.
  function automatic logic ordered(before_t before_all);
    ordered = 1'b1;
    for (int a = 0; a < Indexes; a++) begin
      for (int b = 0; b < Indexes; b++) begin
        if (a != b && before_all[a][b] == before_all[b][a]) ordered = 1'b0;
        for (int c = 0; c < Indexes; c++) begin
          if (a != b && b != c && a != c && before_all[a][b] && before_all[b][c] && !before_all[a][c]) ordered = 1'b0;
        end
      end
    end
  endfunction

  numbers_t behind_q, behind_d, behind5_q;    // behind5_q: as of the cycle before
  class_t [Indexes-1:0] classes_q, classes_d, classes5_q;
  logic [Indexes-1:0] empty_q, empty_d;
  logic [5:1] valid_q, charge_q, own;
  logic [5:1] subscriber_q;
  logic [5:1][IndexWidth-1:0] index_q;
  class_t class3_q;
  logic empties3_q, paused;
  logic [Indexes-1:0] others;
  number_t own_behind, counts;    // of what the queue of cycle 3 is behind
  number_t cost3_q, cost4_q, cost5_q, rest;    // rest: by so much the queue is behind after its packet, or before all others

  always_comb begin
    for (int k = 1; k <= 5; k++) own[k] = valid_q[k] && subscriber_q[k] == x_q;
    behind_d  = behind_q;
    others    = '0;
    classes_d = classes_q;
    empty_d   = empty_q;
    own_behind = behind_q[index_q[3]];
    paused     = empty_q[index_q[3]] && own_behind > MostPaused;
    counts     = paused ? MostPaused : own_behind;
    rest       = counts - cost3_q;
    if (own[3] && charge_q[3]) begin
      for (int i = 0; i < Indexes; i++) begin
        others[i] = index_q[3] != index_t'(i) && classes_q[i] == class3_q;
        if (others[i] && paused && cost3_q > MostPaused) behind_d[i] = at_most((behind_q[i] + cost3_q) - MostPaused);
        if (others[i] && !paused && cost3_q > own_behind) behind_d[i] = at_most((behind_q[i] + cost3_q) - own_behind);
      end
      behind_d[index_q[3]]  = rest < 0 ? '0 : rest;
      classes_d[index_q[3]] = class3_q;
      empty_d[index_q[3]]   = empties3_q;
    end
  end

  always_ff @(posedge clk_i) begin
    seen_q  <= 1'b1;
    x_q     <= x_q;
    valid_q      <= {valid_q[4:1], op_valid_i};
    charge_q     <= {charge_q[4:1], op_charge_i};
    subscriber_q <= {subscriber_q[4:1], op_subscriber_i};
    index_q      <= {index_q[4:1], op_index_i};
    class3_q     <= op_class_i;
    empties3_q   <= op_empties_i;
    cost3_q      <= cost_of(op_len_i, op_weight_i);
    behind_q     <= behind_d;
    classes_q    <= classes_d;
    empty_q      <= empty_d;
    behind5_q    <= behind_q;
    classes5_q   <= classes_q;
    cost4_q      <= cost3_q;
    cost5_q      <= cost4_q;
    if (rst_i) begin
      valid_q   <= '0;
      behind_q  <= '0;
      behind5_q <= '0;
      classes_q <= '0;
      classes5_q <= '0;
      empty_q   <= '0;
    end
  end

  word_t [Indexes-1:0] words, words4;
  assign words  = u_dut.u_words.mem_q[x_q];
  assign words4 = u_dut.c4_words;

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i && op_valid_i) m_init : assume (init_done);
    if (seen_q && !rst_i) begin
      // what a user relies on: five cycles after an operation its subscriber's queues are in order
      if (own[5]) a_order : assert (order == order_of(classes5_q, behind5_q));
      if (own[5]) for (int i = 0; i < Indexes; i++) a_alike : assert (alike[i] == (classes5_q[i] == classes5_q[index_q[5]]));
      if (own[5]) a_ordered : assert (ordered(order));
      if (own[5] && !charge_q[5]) begin
        for (int i = 0; i < Indexes; i++) a_again : assert (again[i] == (behind5_q[index_q[5]] > behind5_q[i] + cost5_q));
      end
      for (int i = 0; i < Indexes; i++) begin
        a_behind_in_range : assert (behind_q[i] >= 0 && behind_q[i] <= Most && behind5_q[i] >= 0 && behind5_q[i] <= Most);
        // what the induction needs
        a_word : assert (words[i] == word_t'({classes_q[i], empty_q[i], behind_t'(behind_q[i])}));
        if (own[4]) a_word4 : assert (words4[i].behind == behind_t'(behind_q[i]) && words4[i].cls == classes_q[i]);
      end
      a_valid : assert (u_dut.u_words.valid_q == valid_q[3:1]);
      for (int k = 1; k <= 3; k++) begin
        if (valid_q[k]) a_stage_queue : assert (u_dut.u_words.addr_q[k] == subscriber_q[k] && u_dut.index_q[k] == index_q[k]);
        a_stage_charge : assert (u_dut.charge_q[k] == (valid_q[k] && charge_q[k]));
      end
      if (own[4]) a_stage_4 : assert (u_dut.index_q[4] == index_q[4]);
      if (own[4] && !charge_q[4]) a_look : assert (number_t'(u_dut.c4_own_q) == behind_q[index_q[4]]
          && number_t'(u_dut.c4_cost_q) == cost4_q);
      if (valid_q[3]) a_cost : assert (u_dut.c3_class_q == class3_q && u_dut.c3_empties_q == empties3_q
          && number_t'(u_dut.c3_product_q >> 4) == cost3_q && cost3_q >= 0 && cost3_q <= Most);
      if (!init_done) a_init : assert (valid_q == '0 && behind_q == '0 && classes_q == '0 && empty_q == '0);

      // useful work is possible: one goes before the first, another is as far behind as can be
      c_behind : cover (own[5] && order[Indexes-1][0] && behind5_q[0] != '0);
      c_most : cover (own[5] && behind5_q[0] == Most);
      c_paused : cover (own[3] && charge_q[3] && counts < behind_q[index_q[3]]);
    end
  end

endmodule
