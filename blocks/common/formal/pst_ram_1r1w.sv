// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The contract of pst_ram_1r1w for proofs: a word that is read in the cycle in which it is written is any word at all.
//
// The simulation model of rtl/pst_ram_1r1w.sv returns one wrong word; here the solver picks. Proofs of modules that forward over
// their memories read this file instead. `any` is not driven: sby lets it be anything, anew in each cycle.
module pst_ram_1r1w #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    parameter int unsigned ReadLatency = 1,
    parameter string       Style = "auto",
    localparam int unsigned AddrWidth = Depth > 1 ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 we_i,
    input  logic [AddrWidth-1:0] waddr_i,
    input  logic [Width-1:0]     wdata_i,
    input  logic                 re_i,
    input  logic [AddrWidth-1:0] raddr_i,
    output logic [Width-1:0]     rdata_o
);

  logic [Width-1:0] mem[Depth];
  logic [Width-1:0] rdata_q, rdata_q2, any;

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
    if (re_i) rdata_q <= we_i && waddr_i == raddr_i ? any : mem[raddr_i];
    rdata_q2 <= rdata_q;
  end

  assign rdata_o = ReadLatency == 2 ? rdata_q2 : rdata_q;

endmodule
