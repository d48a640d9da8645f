// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// RAM with one write port and one read port on one clock.
//
// Latency:  ReadLatency cycles from re_i to rdata_o. With ReadLatency = 1 rdata_o holds while re_i is low; with 2
//           the second register always moves on, so a stalled reader stalls before it reads.
// Read during write of the same address: undefined. Simulation returns the inverted new word, so that a reader
// that forgot to forward is caught. A write is seen by a read issued in any later cycle.
// Reset: none; a module that needs cleared contents walks through them.
//
// Deep memories are made of UltraRAM: 4,096 words of 72 bits, nine bytes of 8 or eight of 9, each of which serves any byte of any block
// of 4,096 words. With Style = "auto" the lowest few bits of a word, or all of a narrow one, go to block RAM where that saves UltraRAM cheaply.
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

  // UltraRAMs for words of `bits` bits.
  function automatic int unsigned ultra_rams(int unsigned bits);
    int unsigned blocks, eights, nines;
    blocks = (Depth + 4095) / 4096;
    eights = ((bits + 7) / 8 * blocks + 8) / 9;
    nines  = ((bits + 8) / 9 * blocks + 7) / 8;
    return eights < nines ? eights : nines;
  endfunction

  // The fewest bits for whose removal an UltraRAM costs seven block RAMs at most; it holds as much as eight.
  function automatic int unsigned bits_to_block();
    for (int unsigned bits = 1; bits <= 5 && bits <= Width; bits++) begin
      if (bits * Depth <= 7 * 32768 * (ultra_rams(Width) - ultra_rams(Width - bits))) return bits;
    end
    return 0;
  endfunction

  localparam int unsigned Given = Style == "auto" && Depth >= 32768 ? bits_to_block() : 0;
  localparam int unsigned BlockBits = Given < Width ? Given : 0;
  localparam int unsigned MainBits = Width - BlockBits;

  logic [Width-1:0] word;

  // --- the memory, or all but the lowest bits of it

  (* ram_style = Given == Width ? "block" : Style, no_rw_check *) logic [MainBits-1:0] mem[Depth];
  logic [MainBits-1:0] rdata_q;

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i[Width-1:BlockBits];
  end

  always_ff @(posedge clk_i) begin
    if (re_i) begin
      rdata_q <= mem[raddr_i];
`ifndef SYNTHESIS
      if (we_i && waddr_i == raddr_i) rdata_q <= ~wdata_i[Width-1:BlockBits];
`endif
    end
  end

  // --- the lowest bits

  if (BlockBits > 0) begin : g_low
    (* ram_style = "block", no_rw_check *) logic [BlockBits-1:0] low_mem[Depth];
    logic [BlockBits-1:0] low_q;

    always_ff @(posedge clk_i) begin
      if (we_i) low_mem[waddr_i] <= wdata_i[BlockBits-1:0];
    end

    always_ff @(posedge clk_i) begin
      if (re_i) begin
        low_q <= low_mem[raddr_i];
`ifndef SYNTHESIS
        if (we_i && waddr_i == raddr_i) low_q <= ~wdata_i[BlockBits-1:0];
`endif
      end
    end

    assign word = {rdata_q, low_q};
  end else begin : g_whole
    assign word = rdata_q;
  end

  if (ReadLatency == 2) begin : g_out
    logic [Width-1:0] rdata_q2;
    always_ff @(posedge clk_i) rdata_q2 <= word;
    assign rdata_o = rdata_q2;
  end else begin : g_out
    assign rdata_o = word;
  end

endmodule
