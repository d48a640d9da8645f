// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The contract of pst_dualpi2_update for proofs: any probabilities up to 1, in any cycle. pst_dualpi2_update_proof shows it of p' and k p';
// the square of a number up to 1 is one. The `any_*` are not driven: the solver picks them.
module pst_dualpi2_update #(
    parameter int unsigned DelayWidth = 20,
    parameter int unsigned Alpha = 800,
    parameter int unsigned Beta = 14993,
    parameter int unsigned Coupling = 2
) (
    input  logic                  clk_i,
    input  logic [          32:0] prob_i,
    input  logic [DelayWidth-1:0] classic_i,
    input  logic [DelayWidth-1:0] l4s_i,
    input  logic [DelayWidth-1:0] delay_old_i,
    input  logic [DelayWidth-1:0] target_i,
    input  logic                  start_i,
    output logic [          32:0] prob_o,
    output logic [DelayWidth-1:0] delay_o,
    output logic [          32:0] coupled_o,
    output logic [          32:0] squared_o,
    output logic                  no_marks_o
);

  localparam logic [32:0] One = {1'b1, 32'b0};

  logic [32:0] any_prob, any_coupled, any_squared;
  logic [DelayWidth-1:0] any_delay;
  logic any_no_marks;

  // Registers, for an undriven wire might be something else for each of its readers.
  always_ff @(posedge clk_i) begin
    prob_o     <= any_prob;
    delay_o    <= any_delay;
    coupled_o  <= any_coupled;
    squared_o  <= any_squared;
    no_marks_o <= any_no_marks;
    m_at_most_one : assume (prob_o <= One && coupled_o <= One && squared_o <= One);
  end

endmodule
