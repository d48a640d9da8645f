// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The contract of pst_lookup_ram for proofs: a word that is read in the cycle in which it is written is any word at all.
module pst_lookup_ram #(
    parameter int unsigned Width = 65,
    parameter int unsigned Depth = 65536,
    parameter string       Style = "auto",
    localparam int unsigned AddrWidth = Depth > 1 ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 re_i,
    input  logic [AddrWidth-1:0] raddr_i,
    output logic [Width-1:0]     rdata_o,
    input  logic                 b_valid_i,
    input  logic                 b_write_i,
    input  logic [AddrWidth-1:0] b_addr_i,
    input  logic [Width-1:0]     b_wdata_i,
    output logic [Width-1:0]     b_rdata_o
);

  logic [Width-1:0] mem[Depth];
  logic [Width-1:0] rdata_q, rdata_q2, b_rdata_q, b_rdata_q2, any;

  always_ff @(posedge clk_i) begin
    if (re_i) rdata_q <= b_valid_i && b_write_i && b_addr_i == raddr_i ? any : mem[raddr_i];
    if (b_valid_i && b_write_i) mem[b_addr_i] <= b_wdata_i;
    if (b_valid_i && !b_write_i) b_rdata_q <= mem[b_addr_i];
    rdata_q2   <= rdata_q;
    b_rdata_q2 <= b_rdata_q;
  end

  assign rdata_o   = rdata_q2;
  assign b_rdata_o = b_rdata_q2;

endmodule
