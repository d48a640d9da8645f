// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Arithmetic of one periodic update of DualPI2 (RFC 9332, figures 6 and 8): the base probability p', and what the two queues make of it.
//
// Probabilities are in 2^-32, 0 to 1 inclusive. Latency: 5 cycles. Throughput: one per cycle. Reset: nothing to reset.
module pst_dualpi2_update #(
    parameter int unsigned DelayWidth = 20,      // bits of a delay in ticks
    parameter int unsigned Alpha = 800,          // 2^-32 per tick, 1 .. 65,535
    parameter int unsigned Beta = 14993,         // 2^-32 per tick, 1 .. 65,535
    parameter int unsigned Coupling = 2          // k, 1 .. 4
) (
    input  logic                  clk_i,
    input  logic [          32:0] prob_i,
    input  logic [DelayWidth-1:0] classic_i,       // latest delay of the Classic queue
    input  logic [DelayWidth-1:0] l4s_i,           // and of the L4S queue
    input  logic [DelayWidth-1:0] delay_old_i,     // prevq: delay_o of the update before
    input  logic [DelayWidth-1:0] target_i,
    input  logic                  start_i,         // the pair's first update: forget what was
    output logic [          32:0] prob_o,          // p'
    output logic [DelayWidth-1:0] delay_o,         // curq: the greater of both delays
    output logic [          32:0] coupled_o,       // p_CL = k p', 1 at most
    output logic [          32:0] squared_o,       // p_C = p'^2
    output logic                  no_marks_o       // overload: p_C is 1 / k^2 or more, so Classic packets are dropped only
);

  localparam int unsigned StepWidth = DelayWidth + 20;
  localparam int unsigned SumWidth = (StepWidth > 34 ? StepWidth : 34) + 1;
  localparam logic [32:0] One = {1'b1, 32'b0};

  typedef struct packed {
    logic [32:0]           prob;
    logic [DelayWidth-1:0] delay;
    logic                  start;
  } carry_t;

  carry_t carry, carry_q[4];
  logic [DelayWidth-1:0] delay;
  logic signed [StepWidth-1:0] step;
  logic signed [SumWidth-1:0] sum;
  logic [32:0] bounded, coupled_q;
  logic [35:0] coupled;
  logic [65:0] square_q;
  logic [37:0] scaled;

  assign delay = classic_i > l4s_i ? classic_i : l4s_i;
  assign carry = '{prob: prob_i, delay: delay, start: start_i};

  pst_pi_step #(
      .DelayWidth(DelayWidth), .Alpha(Alpha), .Beta(Beta)
  ) u_step (
      .clk_i, .delay_i(delay), .delay_old_i, .target_i, .step_o(step)
  );

  always_comb begin
    sum     = SumWidth'($signed({1'b0, carry_q[1].prob})) + SumWidth'(step);
    bounded = sum < 0 || carry_q[1].start ? '0 : sum > SumWidth'($signed({1'b0, One})) ? One : sum[32:0];
    coupled = 36'(carry_q[2].prob) * 36'(Coupling);
    scaled  = 38'(square_q[64:32]) * 38'(Coupling * Coupling);
  end

  always_ff @(posedge clk_i) begin
    carry_q[0] <= carry;      // 1, 2: the step's differences and products
    carry_q[1] <= carry_q[0];
    carry_q[2] <= '{prob: bounded, delay: carry_q[1].delay, start: carry_q[1].start};    // 3: p'
    carry_q[3] <= carry_q[2];                                                            // 4: its square and its multiple
    square_q   <= 66'(carry_q[2].prob) * 66'(carry_q[2].prob);
    coupled_q  <= coupled > 36'(One) ? One : coupled[32:0];
    prob_o     <= carry_q[3].prob;                                                       // 5: is it too much?
    delay_o    <= carry_q[3].delay;
    coupled_o  <= coupled_q;
    squared_o  <= square_q[64:32];
    no_marks_o <= scaled >= 38'(One);
  end

  logic unused;
  assign unused = ^{square_q[65], square_q[31:0], carry_q[3].start};

endmodule
