// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads and writes registers through AXI4-Lite. Its outputs change at the falling edge, so nothing races with the rising one.
module pst_sim_registers (
    input  logic        clk_i,
    output logic        awvalid_o,
    input  logic        awready_i,
    output logic [11:0] awaddr_o,
    output logic        wvalid_o,
    input  logic        wready_i,
    output logic [31:0] wdata_o,
    input  logic        bvalid_i,
    output logic        bready_o,
    input  logic [1:0]  bresp_i,
    output logic        arvalid_o,
    input  logic        arready_i,
    output logic [11:0] araddr_o,
    input  logic        rvalid_i,
    output logic        rready_o,
    input  logic [31:0] rdata_i,
    input  logic [1:0]  rresp_i
);

  initial begin
    awvalid_o = 1'b0;
    wvalid_o  = 1'b0;
    bready_o  = 1'b0;
    arvalid_o = 1'b0;
    rready_o  = 1'b0;
    awaddr_o  = '0;
    wdata_o   = '0;
    araddr_o  = '0;
  end

  task automatic read(input logic [11:0] address, output logic [31:0] data);
    @(negedge clk_i);
    araddr_o  = address;
    arvalid_o = 1'b1;
    rready_o  = 1'b1;
    do @(posedge clk_i); while (!arready_i);
    @(negedge clk_i);
    arvalid_o = 1'b0;
    while (!rvalid_i) @(negedge clk_i);
    if (rresp_i != 2'b00) $fatal(1, "FAIL: register 0x%03h: error response", address);
    data = rdata_i;
    @(negedge clk_i);
    rready_o = 1'b0;
  endtask

  // A register of 8 bytes: the lower word is read first, and the hardware holds the upper one of that moment.
  task automatic read_long(input logic [11:0] address, output logic [63:0] data);
    read(address, data[31:0]);
    read(address + 12'd4, data[63:32]);
  endtask

  task automatic write(input logic [11:0] address, input logic [31:0] data);
    @(negedge clk_i);
    awaddr_o  = address;
    wdata_o   = data;
    awvalid_o = 1'b1;
    wvalid_o  = 1'b1;
    bready_o  = 1'b1;
    while (awvalid_o || wvalid_o) begin
      @(posedge clk_i);
      withdraw(awready_i, wready_i);
    end
    while (!bvalid_i) @(negedge clk_i);
    if (bresp_i != 2'b00) $fatal(1, "FAIL: register 0x%03h: error response", address);
    @(negedge clk_i);
    bready_o = 1'b0;
  endtask

  // What was taken at the rising edge is withdrawn at the falling one.
  task automatic withdraw(input logic aw_taken, input logic w_taken);
    @(negedge clk_i);
    if (aw_taken) awvalid_o = 1'b0;
    if (w_taken) wvalid_o = 1'b0;
  endtask

endmodule
