// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Takes turns among classes that ask: the next one behind the one that was taken last. Combinational; reset: class 0 is last in turn.
module pst_deadline_pick #(
    parameter int unsigned Classes = 64,  // >= 2
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic [   Classes-1:0] request_i,
    input  logic                  take_i,    // class_o has had its turn
    output logic                  valid_o,
    output logic [ClassWidth-1:0] class_o
);

  // One for each class behind the one that was taken last, in the order of numbers.
  logic [Classes-1:0] behind_q, chosen;

  assign valid_o = request_i != '0;
  assign chosen  = (request_i & behind_q) != '0 ? request_i & behind_q : request_i;

  always_comb begin
    class_o = '0;
    for (int k = int'(Classes) - 1; k >= 0; k--) if (chosen[k]) class_o = ClassWidth'(unsigned'(k));
  end

  always_ff @(posedge clk_i) begin
    if (take_i) for (int unsigned k = 0; k < Classes; k++) behind_q[k] <= k > 32'(class_o);
    if (rst_i) behind_q <= '1;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && valid_o) a_the_class_asks : assert (request_i[class_o]);
  end
`endif

endmodule
