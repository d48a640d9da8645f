// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// RAM with a port that reads in every cycle and a second one that reads or writes, on one clock.
//
// Latency: 2 cycles from re_i, and from a read at the second port, to the word. The first register holds what was read last.
// A word that the first port reads in the cycle in which it is written is undefined: simulation returns the inverted new word, so that a
// reader that forgot to forward is caught. A write is seen by a read of either port in any later cycle. Reset: none.
// Deep ones are made of UltraRAM, which has two such ports.
module pst_lookup_ram #(
    parameter int unsigned Width = 65,        // bits per word
    parameter int unsigned Depth = 65536,     // words
    parameter string       Style = "auto",    // "auto", "block", "ultra" or "distributed"
    localparam int unsigned AddrWidth = Depth > 1 ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    // reads
    input  logic                 re_i,
    input  logic [AddrWidth-1:0] raddr_i,
    output logic [Width-1:0]     rdata_o,
    // reads or writes
    input  logic                 b_valid_i,
    input  logic                 b_write_i,
    input  logic [AddrWidth-1:0] b_addr_i,
    input  logic [Width-1:0]     b_wdata_i,
    output logic [Width-1:0]     b_rdata_o
);

  (* ram_style = Style, no_rw_check *) logic [Width-1:0] mem[Depth];
  logic [Width-1:0] rdata_q, rdata_q2, b_rdata_q, b_rdata_q2;

  always_ff @(posedge clk_i) begin
    if (re_i) begin
      rdata_q <= mem[raddr_i];
`ifndef SYNTHESIS
      if (b_valid_i && b_write_i && b_addr_i == raddr_i) rdata_q <= ~b_wdata_i;
`endif
    end
    rdata_q2 <= rdata_q;
  end

  always_ff @(posedge clk_i) begin
    if (b_valid_i) begin
      if (b_write_i) mem[b_addr_i] <= b_wdata_i;
      else b_rdata_q <= mem[b_addr_i];
    end
    b_rdata_q2 <= b_rdata_q;
  end

  assign rdata_o   = rdata_q2;
  assign b_rdata_o = b_rdata_q2;

endmodule
