// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A register between two parts of a pipeline, or wires: so a module has a stage more where its clock needs one.
//
// Latency: 1 cycle with Registered, else 0. Throughput: a word per cycle. Order: as they come. Reset: no word is inside.
module pst_stage #(
    parameter int unsigned Width      = 32,  // bits of a word, >= 1
    parameter bit          Registered = 1'b1
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             valid_i,
    input  logic [Width-1:0] data_i,
    output logic             valid_o,
    output logic [Width-1:0] data_o       // without valid_o any
);

  if (Width < 1) begin : g_bad_width
    $error("pst_stage: Width is %0d, must be at least 1", Width);
  end

  if (Registered) begin : g_register
    logic valid_q;
    logic [Width-1:0] data_q;

    always_ff @(posedge clk_i) begin
      valid_q <= valid_i;
      data_q  <= data_i;
      if (rst_i) valid_q <= 1'b0;
    end

    assign valid_o = valid_q;
    assign data_o  = data_q;
  end else begin : g_wires
    logic unused;
    assign unused  = &{1'b0, clk_i, rst_i};
    assign valid_o = valid_i;
    assign data_o  = data_i;
  end

endmodule
