// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// For any delays, target and probability up to 1: five cycles later the base probability is that of RFC 9332 (A.1), bounded to 0 and 1, the
// coupled one k times as much, 1 at most; Classic packets are not marked from a square of 1 / k^2 on. The square itself is test_pst_dualpi2's:
// a product of 33 bits by 33 is too much for the solver.
module pst_dualpi2_update_proof #(
    localparam int unsigned DelayWidth = 3,
    localparam int unsigned Alpha = 800,
    localparam int unsigned Beta = 14993,
    localparam int unsigned Coupling = 2
) (
    input logic                  clk_i,
    input logic [          32:0] prob_i,
    input logic [DelayWidth-1:0] classic_i,
    input logic [DelayWidth-1:0] l4s_i,
    input logic [DelayWidth-1:0] delay_old_i,
    input logic [DelayWidth-1:0] target_i,
    input logic                  start_i
);

  localparam logic [32:0] One = {1'b1, 32'b0};

  typedef logic signed [35:0] wide_t;

  typedef struct packed {
    logic                  valid;
    logic [32:0]           prob;
    logic [DelayWidth-1:0] delay;
  } result_t;

  logic [32:0] prob, coupled, squared;
  logic [DelayWidth-1:0] delay;
  logic no_marks;

  pst_dualpi2_update #(
      .DelayWidth(DelayWidth), .Alpha(Alpha), .Beta(Beta), .Coupling(Coupling)
  ) u_dut (
      .clk_i, .prob_i, .classic_i, .l4s_i, .delay_old_i, .target_i, .start_i,
      .prob_o(prob), .delay_o(delay), .coupled_o(coupled), .squared_o(squared), .no_marks_o(no_marks)
  );

  // The reference, all at once, and then five registers.
  result_t now, past_q[5];
  wide_t greater, step, sum;

  always_comb begin
    greater   = wide_t'({1'b0, classic_i >= l4s_i ? classic_i : l4s_i});
    step      = wide_t'(Alpha) * (greater - wide_t'({1'b0, target_i})) + wide_t'(Beta) * (greater - wide_t'({1'b0, delay_old_i}));
    sum       = $signed({3'b0, prob_i}) + step;
    now.valid = 1'b1;
    now.prob  = start_i || sum < 0 ? '0 : sum > $signed({3'b0, One}) ? One : 33'(sum);
    now.delay = DelayWidth'(greater);
  end

  initial for (int i = 0; i < 5; i++) past_q[i].valid = 1'b0;

  always_ff @(posedge clk_i) begin
    past_q[0] <= now;
    for (int i = 1; i < 5; i++) past_q[i] <= past_q[i-1];
    m_a_probability : assume (prob_i <= One);
    if (past_q[4].valid) begin
      a_base : assert (prob == past_q[4].prob);
      a_greater_delay : assert (delay == past_q[4].delay);
      a_coupled : assert (coupled == (36'(prob) * 36'(Coupling) > 36'(One) ? One : 33'(36'(prob) * 36'(Coupling))));
      a_no_marks : assert (no_marks == (38'(squared) * 38'(Coupling * Coupling) >= 38'(One)));
      c_between : cover (prob > 33'd1000 && prob < One && no_marks && !start_i);
    end
  end

endmodule
