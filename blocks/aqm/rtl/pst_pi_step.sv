// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Step of a proportional-integral controller of a delay: Alpha * (delay - target) + Beta * (delay - delay before).
//
// Latency: 2 cycles and the sum at the output. Throughput: one per cycle. Reset: nothing to reset.
module pst_pi_step #(
    parameter int unsigned DelayWidth = 20,      // bits of a delay in ticks
    parameter int unsigned Alpha = 625,          // 2^-32 per tick, 1 .. 65,535
    parameter int unsigned Beta = 6247,          // 2^-32 per tick, 1 .. 65,535
    parameter int unsigned StepWidth = DelayWidth + 20    // of the sum of two products of a difference and 17 bits
) (
    input  logic                        clk_i,
    input  logic        [DelayWidth-1:0] delay_i,
    input  logic        [DelayWidth-1:0] delay_old_i,
    input  logic        [DelayWidth-1:0] target_i,
    output logic signed [ StepWidth-1:0] step_o         // 2^-32
);

  if (Alpha < 1 || Alpha > 65535 || Beta < 1 || Beta > 65535) begin : g_bad_gain
    $error("pst_pi_step: Alpha is %0d and Beta is %0d, allowed: 1 .. 65,535", Alpha, Beta);
  end
  if (StepWidth < DelayWidth + 20) begin : g_bad_width
    $error("pst_pi_step: StepWidth is %0d, must be at least DelayWidth + 20, %0d", StepWidth, DelayWidth + 20);
  end

  localparam int unsigned ProductWidth = DelayWidth + 19;

  logic signed [DelayWidth:0] error_q, change_q;
  logic signed [ProductWidth-1:0] alpha_q, beta_q;

  assign step_o = StepWidth'(alpha_q) + StepWidth'(beta_q);

  always_ff @(posedge clk_i) begin
    error_q  <= $signed({1'b0, delay_i}) - $signed({1'b0, target_i});
    change_q <= $signed({1'b0, delay_i}) - $signed({1'b0, delay_old_i});
    alpha_q  <= ProductWidth'(error_q) * ProductWidth'($signed(18'(Alpha)));
    beta_q   <= ProductWidth'(change_q) * ProductWidth'($signed(18'(Beta)));
  end

endmodule
