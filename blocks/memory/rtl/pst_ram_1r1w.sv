// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// RAM with one write port and one read port on one clock.
//
// Latency:  ReadLatency cycles from re_i to rdata_o. With ReadLatency = 1 rdata_o holds while re_i is low; with 2
//           the second register always moves on, so a stalled reader stalls before it reads.
// Read during write of the same address: undefined. Simulation returns the inverted new word, so that a reader
// that forgot to forward is caught. A write is seen by a read issued in any later cycle.
// Reset: none; whoever needs cleared contents walks through them.
module pst_ram_1r1w #(
    parameter int unsigned Width = 32,        // bits per word, >= 1
    parameter int unsigned Depth = 512,       // words, >= 1
    parameter int unsigned ReadLatency = 1,   // cycles, 1 or 2
    parameter string       Style = "auto",    // "auto", "block", "ultra" or "distributed"
    localparam int unsigned AddrWidth = Depth > 1 ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    // write port
    input  logic                 we_i,
    input  logic [AddrWidth-1:0] waddr_i,
    input  logic [Width-1:0]     wdata_i,
    // read port
    input  logic                 re_i,
    input  logic [AddrWidth-1:0] raddr_i,
    output logic [Width-1:0]     rdata_o
);

  if (ReadLatency != 1 && ReadLatency != 2) begin : g_bad_latency
    $error("pst_ram_1r1w: ReadLatency is %0d, allowed: 1, 2", ReadLatency);
  end
  if (Depth < 1 || Width < 1) begin : g_bad_size
    $error("pst_ram_1r1w: Depth (%0d) and Width (%0d) must be at least 1", Depth, Width);
  end

  logic [Width-1:0] rdata_q;

  (* ram_style = Style, no_rw_check *) logic [Width-1:0] mem[Depth];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
  end

  always_ff @(posedge clk_i) begin
    if (re_i) begin
      rdata_q <= mem[raddr_i];
`ifndef SYNTHESIS
      if (we_i && waddr_i == raddr_i) rdata_q <= ~wdata_i;
`endif
    end
  end

  if (ReadLatency == 2) begin : g_out
    logic [Width-1:0] rdata_q2;
    always_ff @(posedge clk_i) rdata_q2 <= rdata_q;
    assign rdata_o = rdata_q2;
  end else begin : g_out
    assign rdata_o = rdata_q;
  end

endmodule
