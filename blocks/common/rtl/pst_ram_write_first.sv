// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pst_ram_1r1w in which a read of the word that is written in the same cycle, or with Late in the cycle after, returns the new word.
//
// Latency:    2 cycles from re_i to rdata_o. Throughput: one read and one write per cycle.
// Reset:      none; a module that needs cleared contents walks through them.
module pst_ram_write_first #(
    parameter int unsigned Width = 32,        // bits per word, >= 1
    parameter int unsigned Depth = 512,       // words, >= 1
    parameter bit          Late = 1'b0,       // a word written in the cycle after the read is returned, too
    parameter string       Style = "auto",    // see pst_ram_1r1w
    localparam int unsigned AddrWidth = Depth > 1 ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 we_i,
    input  logic [AddrWidth-1:0] waddr_i,
    input  logic [    Width-1:0] wdata_i,
    input  logic                 re_i,
    input  logic [AddrWidth-1:0] raddr_i,
    output logic [    Width-1:0] rdata_o
);

  logic hit_q, late_hit;
  logic [AddrWidth-1:0] raddr_q;
  logic [Width-1:0] new_q, word, word_q;

  pst_ram_1r1w #(
      .Width(Width),
      .Depth(Depth),
      .Style(Style)
  ) u_ram (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i,
      .re_i,
      .raddr_i,
      .rdata_o(word)
  );

  assign late_hit = Late && we_i && waddr_i == raddr_q;

  always_ff @(posedge clk_i) begin
    raddr_q <= raddr_i;
    hit_q   <= we_i && re_i && waddr_i == raddr_i;
    new_q   <= wdata_i;
    word_q  <= late_hit ? wdata_i : hit_q ? new_q : word;
  end

  assign rdata_o = word_q;

endmodule
