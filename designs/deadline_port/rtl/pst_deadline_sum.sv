// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Sum of two, four or eight numbers, a level of the tree in each cycle.
//
// Throughput: a sum per cycle. Latency: $clog2(Inputs) cycles. Sums wrap around at Width. Reset: what is under way becomes 0.
module pst_deadline_sum #(
    parameter int unsigned Inputs = 8,   // 2, 4, 8
    parameter int unsigned Width  = 50   // bits, of sums too
) (
    input  logic                         clk_i,
    input  logic                         rst_i,
    input  logic [Inputs-1:0][Width-1:0] s_i,
    output logic [Width-1:0]             m_o
);

  localparam int unsigned Levels = $clog2(Inputs);

  if (Inputs < 2 || Inputs != 2 ** Levels) begin : g_bad_inputs
    $error("pst_deadline_sum: Inputs is %0d, allowed: 2, 4, 8", Inputs);
  end

  logic [Inputs-1:0][Width-1:0] level_q[Levels];

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Inputs / 2; i++) level_q[0][i] <= s_i[2*i] + s_i[2*i+1];
    for (int unsigned k = 1; k < Levels; k++) begin
      for (int unsigned i = 0; i < Inputs >> (k + 1); i++) level_q[k][i] <= level_q[k-1][2*i] + level_q[k-1][2*i+1];
    end
    if (rst_i) for (int unsigned k = 0; k < Levels; k++) level_q[k] <= '0;
  end

  assign m_o = level_q[Levels-1][0];

endmodule
