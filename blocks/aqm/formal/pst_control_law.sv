// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The contract of pst_control_law for proofs: any step. `any` is not driven: the solver picks it.
module pst_control_law #(
    parameter int unsigned IntervalWidth = 18
) (
    input  logic                     clk_i,
    input  logic [             15:0] count_i,
    input  logic [IntervalWidth-1:0] interval_i,
    input  logic                     apply_i,
    output logic [  IntervalWidth:0] twice_o
);

  logic [IntervalWidth:0] any;

  // A register, for an undriven wire might be something else for each of its readers.
  always_ff @(posedge clk_i) twice_o <= any;

endmodule
