// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The keyed hash: a key is mixed into as many bits, of which each table's address follows, and of which a table stores only a part.
//
// A key is {rest, low}; low has as many bits as an address. rest' = rest ^ G(low); the address in table t is low ^ F_t(rest'). G and F are
// sums (exclusive or) of words that chunks of ChunkBits bits choose in memories of random words (simple tabulation). Each table's address
// and rest' give low back, so a word of a table has rest' alone, and a key that is moved is never mixed anew.
//
// Throughput: a key per cycle. Latency: 3 cycles. Order: as they come. Reset: what is inside goes on; random words stay.
module pst_lookup_mix
  import pst_lookup_pkg::*;
#(
    parameter int unsigned KeyWidth   = 48,
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned ChunkBits  = 6,        // bits of a key that choose one random word
    parameter string       WordStyle  = "block",  // memory of the random words, see pst_ram_1r1w
    localparam int unsigned RestWidth = KeyWidth - IndexWidth,
    localparam int unsigned SeedWidth = RestWidth > Tables * IndexWidth ? RestWidth : Tables * IndexWidth
) (
    input  logic                              clk_i,
    // random words: first the chunks of low (RestWidth bits of a word), then those of rest' (IndexWidth bits for each table)
    input  logic                              seed_we_i,
    input  logic [                       7:0] seed_chunk_i,
    input  logic [             ChunkBits-1:0] seed_index_i,
    input  logic [             SeedWidth-1:0] seed_word_i,
    // keys in
    input  logic                              valid_i,
    input  logic                              mixed_i,     // the upper bits are rest' already
    input  logic [              KeyWidth-1:0] key_i,
    // addresses out
    output logic                              valid_o,
    output logic [            IndexWidth-1:0] low_o,
    output logic [             RestWidth-1:0] rest_o,      // rest'
    output logic [Tables-1:0][IndexWidth-1:0] index_o
);

  localparam int unsigned LowChunks  = (IndexWidth + ChunkBits - 1) / ChunkBits;
  localparam int unsigned RestChunks = (RestWidth + ChunkBits - 1) / ChunkBits;

  logic valid_q, valid_q2, valid_q3, mixed_q;
  logic [KeyWidth-1:0] key_q;
  logic [LowChunks*ChunkBits-1:0] low_chunks;
  logic [RestChunks*ChunkBits-1:0] rest_chunks;
  logic [LowChunks-1:0][RestWidth-1:0] g;
  logic [RestChunks-1:0][Tables-1:0][IndexWidth-1:0] f;
  logic [RestWidth-1:0] rest, rest_q2, rest_q3;
  logic [IndexWidth-1:0] low_q2, low_q3;
  logic [Tables-1:0][IndexWidth-1:0] index, index_q;

  assign low_chunks  = (LowChunks*ChunkBits)'(key_i[IndexWidth-1:0]);
  assign rest_chunks = (RestChunks*ChunkBits)'(rest);

  for (genvar c = 0; c < int'(LowChunks); c++) begin : g_low
    pst_ram_1r1w #(
        .Width(RestWidth),
        .Depth(2 ** ChunkBits),
        .Style(WordStyle)
    ) u_words (
        .clk_i,
        .we_i   (seed_we_i && seed_chunk_i == 8'(c)),
        .waddr_i(seed_index_i),
        .wdata_i(seed_word_i[RestWidth-1:0]),
        .re_i   (1'b1),
        .raddr_i(low_chunks[ChunkBits*c+:ChunkBits]),
        .rdata_o(g[c])
    );
  end

  for (genvar c = 0; c < int'(RestChunks); c++) begin : g_rest
    pst_ram_1r1w #(
        .Width(Tables * IndexWidth),
        .Depth(2 ** ChunkBits),
        .Style(WordStyle)
    ) u_words (
        .clk_i,
        .we_i   (seed_we_i && seed_chunk_i == 8'(int'(LowChunks) + c)),
        .waddr_i(seed_index_i),
        .wdata_i(seed_word_i[Tables*IndexWidth-1:0]),
        .re_i   (1'b1),
        .raddr_i(rest_chunks[ChunkBits*c+:ChunkBits]),
        .rdata_o(f[c])
    );
  end

  always_comb begin
    rest = key_q[KeyWidth-1:IndexWidth];
    for (int unsigned c = 0; c < LowChunks; c++) if (!mixed_q) rest ^= g[c];
    for (int unsigned t = 0; t < Tables; t++) begin
      index[t] = low_q2;
      for (int unsigned c = 0; c < RestChunks; c++) index[t] ^= f[c][t];
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q  <= valid_i;
    mixed_q  <= mixed_i;
    key_q    <= key_i;
    valid_q2 <= valid_q;
    low_q2   <= key_q[IndexWidth-1:0];
    rest_q2  <= rest;
    valid_q3 <= valid_q2;
    low_q3   <= low_q2;
    rest_q3  <= rest_q2;
    index_q  <= index;
  end

  assign valid_o = valid_q3;
  assign low_o   = low_q3;
  assign rest_o  = rest_q3;
  assign index_o = index_q;

endmodule
