// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Arithmetic of one periodic update of PIE (RFC 8033, sections 4.2, 4.4 and 5.5): the next drop probability and burst allowance.
//
// Probabilities are in 2^-32. The controller's gains are in 2^-32 per tick of delay; what the auto-tuning shifts out is rounded down.
// Latency: 5 cycles. Throughput: one per cycle. Reset: nothing to reset.
module pst_pie_update
  import pst_pie_pkg::*;
#(
    parameter int unsigned DelayWidth = 20,      // bits of a delay in ticks
    parameter int unsigned BurstWidth = 18,      // bits of a burst allowance in ticks
    parameter int unsigned UpdateTicks = PieUpdateTicks,  // T_UPDATE in ticks, below 2^BurstWidth
    parameter int unsigned Alpha = PieAlpha,     // 2^-32 per tick, 1 .. 65,535
    parameter int unsigned Beta = PieBeta        // 2^-32 per tick, 1 .. 65,535
) (
    input  logic                  clk_i,
    input  logic [          31:0] prob_i,
    input  logic [DelayWidth-1:0] delay_i,
    input  logic [DelayWidth-1:0] delay_old_i,
    input  logic [DelayWidth-1:0] target_i,        // QDELAY_REF
    input  logic [BurstWidth-1:0] burst_i,
    input  logic [BurstWidth-1:0] max_burst_i,
    input  logic                  start_i,         // the queue's first update: forget what was
    output logic [          31:0] prob_o,
    output logic [BurstWidth-1:0] burst_o,
    output logic                  guarded_o        // the queue is calm: half of QDELAY_REF, probability below 0.2
);

  localparam int unsigned StepWidth = DelayWidth + 18 + 1;

  localparam int unsigned SumWidth = (StepWidth > 33 ? StepWidth : 33) + 2;

  // In 2^-32: 10^-6 .. 10^-1 and 0.2 rounded up (what is less is less than these), 0.02 rounded down.
  localparam logic [31:0] Tune[6] = '{32'd4295, 32'd42950, 32'd429497, 32'd4294968, 32'd42949673, 32'd429496730};
  localparam logic [31:0] Fifth = 32'd858993460, Fiftieth = 32'd85899345;

  typedef struct packed {
    logic [31:0]           prob;
    logic [BurstWidth-1:0] burst;
    logic [BurstWidth-1:0] max_burst;
    logic                  start;
    logic                  calm;      // this delay and the one before are below half of the target
    logic                  idle;      // both are 0
    logic                  low;       // this delay is below half of the target
  } carry_t;

  typedef struct packed {
    logic       cap;
    logic [3:0] scale;
  } tune_t;

  carry_t carry_q, carry_q2, carry_q3;
  tune_t tune_q, tune_q2;
  logic signed [StepWidth-1:0] scaled_q;
  logic signed [StepWidth:0] step;
  logic signed [SumWidth-1:0] sum_q;
  logic [31:0] bounded, decayed;
  logic [BurstWidth-1:0] burst_q, max_burst_q;
  logic start_q, calm_q, idle_q, low_q;

  pst_pi_step #(
      .DelayWidth(DelayWidth), .Alpha(Alpha), .Beta(Beta), .StepWidth(StepWidth + 1)
  ) u_step (
      .clk_i, .delay_i, .delay_old_i, .target_i, .step_o(step)
  );

  always_comb begin
    // Auto-tuning and cap were decided by the old probability; then decay, then the bounds.
    bounded = sum_q < 0 ? '0 : |sum_q[SumWidth-1:32] ? '1 : sum_q[31:0];
    decayed = start_q ? '0 : idle_q ? bounded - (bounded >> 6) : bounded;
  end

  always_ff @(posedge clk_i) begin
    // 1: the range that the probability is in
    carry_q.prob      <= prob_i;
    carry_q.burst     <= burst_i;
    carry_q.max_burst <= max_burst_i;
    carry_q.start     <= start_i;
    carry_q.low       <= {delay_i, 1'b0} < {1'b0, target_i};
    carry_q.calm      <= {delay_i, 1'b0} < {1'b0, target_i} && {delay_old_i, 1'b0} < {1'b0, target_i};
    carry_q.idle      <= delay_i == '0 && delay_old_i == '0;
    tune_q.scale      <= prob_i < Tune[0] ? 4'd11 : prob_i < Tune[1] ? 4'd9 : prob_i < Tune[2] ? 4'd7 : prob_i < Tune[3] ? 4'd5 :
                         prob_i < Tune[4] ? 4'd3 : prob_i < Tune[5] ? 4'd1 : 4'd0;
    tune_q.cap        <= prob_i >= Tune[5];
    // 2: the step's products are ready
    carry_q2          <= carry_q;
    tune_q2           <= tune_q;
    // 3: auto-tuning, and no step above 0.02 when the probability is high
    scaled_q          <= tune_q2.cap && step > $signed((StepWidth + 1)'(Fiftieth)) ? StepWidth'($signed({1'b0, Fiftieth})) :
                         StepWidth'(step >>> tune_q2.scale);
    carry_q3          <= carry_q2;
    // 4: new probability
    sum_q             <= SumWidth'($signed({1'b0, carry_q3.prob})) + SumWidth'(scaled_q);
    burst_q           <= carry_q3.burst;
    max_burst_q       <= carry_q3.max_burst;
    start_q           <= carry_q3.start;
    calm_q            <= carry_q3.calm;
    idle_q            <= carry_q3.idle;
    low_q             <= carry_q3.low;
    // 5: bounds, decay, burst allowance
    prob_o            <= decayed;
    guarded_o         <= low_q && decayed < Fifth;
    if (start_q || (calm_q && decayed == '0)) burst_o <= max_burst_q;
    else burst_o <= burst_q > BurstWidth'(UpdateTicks) ? burst_q - BurstWidth'(UpdateTicks) : '0;
  end

endmodule
