// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The end of a pipeline stage: a register, or a wire where registers are removed (paper, section 4.2).
//
// Latency Enable cycles, no stalls. Reset clears the highest ResetWidth bits.
module pst_fabric_register #(
    parameter int unsigned Width = 8,       // bits, >= 1
    parameter int unsigned ResetWidth = 0,  // bits with a reset, 0..Width
    parameter bit Enable = 1'b1             // 1: a register; 0: a wire
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);

  if (Width < 1 || ResetWidth > Width) begin : g_bad_width
    $error("pst_fabric_register: Width is %0d (at least 1), ResetWidth %0d (at most Width)", Width, ResetWidth);
  end

  if (!Enable) begin : g_wire
    assign q_o = d_i;
    logic unused;
    assign unused = &{1'b0, clk_i, rst_i};
  end else if (ResetWidth == 0) begin : g_register
    logic [Width-1:0] word_q;
    always_ff @(posedge clk_i) word_q <= d_i;
    assign q_o = word_q;
    logic unused;
    assign unused = &{1'b0, rst_i};
  end else begin : g_register
    logic [Width-1:0] word_q;
    always_ff @(posedge clk_i) begin
      word_q <= d_i;
      if (rst_i) word_q[Width-1-:ResetWidth] <= '0;
    end
    assign q_o = word_q;
  end

endmodule
