// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The keyed hash: a key is mixed into as many bits, of which each table's address follows, and of which a table stores only a part.
//
// A key is {rest, low}; low has as many bits as an address. rest' = rest ^ G(low); the address in table t is low ^ F_t(rest'). G and F are
// sums (exclusive or) of words that chunks of ChunkBits bits choose in memories of random words (simple tabulation). Each table's address
// and rest' give low back, so a word of a table has rest' alone, and a key that is moved is never mixed anew.
//
// Throughput: a key per cycle. Latency: 3 cycles, 5 with SplitStages. Order: as they come. Reset: what is inside goes on; random words stay.
module pst_lookup_mix
  import pst_lookup_pkg::*;
#(
    parameter int unsigned KeyWidth   = 48,
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned ChunkBits  = 6,        // bits of a key that choose one random word
    parameter string       WordStyle  = "block",  // memory of the random words, see pst_ram_1r1w
    parameter bit          SplitStages = 1'b0,    // a random word is there a cycle later
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

  localparam int unsigned Read = SplitStages ? 2 : 1;    // cycles from an address to its random word

  // Beside the words of low, and beside those of rest'.
  typedef struct packed {
    logic                valid;
    logic                mixed;
    logic [KeyWidth-1:0] key;
  } low_stage_t;

  typedef struct packed {
    logic                  valid;
    logic [IndexWidth-1:0] low;
    logic [RestWidth-1:0]  rest;
  } rest_stage_t;

  low_stage_t [Read:1] low_stage_q;
  rest_stage_t [Read:1] rest_stage_q;
  rest_stage_t out_q;
  low_stage_t there;
  logic [LowChunks*ChunkBits-1:0] low_chunks;
  logic [RestChunks*ChunkBits-1:0] rest_chunks;
  logic [LowChunks-1:0][RestWidth-1:0] g;
  logic [RestChunks-1:0][Tables-1:0][IndexWidth-1:0] f;
  logic [RestWidth-1:0] rest;
  logic [Tables-1:0][IndexWidth-1:0] index, index_q;

  assign low_chunks  = (LowChunks*ChunkBits)'(key_i[IndexWidth-1:0]);
  assign rest_chunks = (RestChunks*ChunkBits)'(rest);

  for (genvar c = 0; c < int'(LowChunks); c++) begin : g_low
    pst_ram_1r1w #(
        .Width(RestWidth),
        .Depth(2 ** ChunkBits),
        .ReadLatency(Read),
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
        .ReadLatency(Read),
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
    there = low_stage_q[Read];
    rest  = there.key[KeyWidth-1:IndexWidth];
    for (int unsigned c = 0; c < LowChunks; c++) if (!there.mixed) rest ^= g[c];
    for (int unsigned t = 0; t < Tables; t++) begin
      index[t] = rest_stage_q[Read].low;
      for (int unsigned c = 0; c < RestChunks; c++) index[t] ^= f[c][t];
    end
  end

  always_ff @(posedge clk_i) begin
    low_stage_q[1]  <= '{valid: valid_i, mixed: mixed_i, key: key_i};
    rest_stage_q[1] <= '{valid: there.valid, low: there.key[IndexWidth-1:0], rest: rest};
    for (int unsigned i = 2; i <= Read; i++) begin
      low_stage_q[i]  <= low_stage_q[i-1];
      rest_stage_q[i] <= rest_stage_q[i-1];
    end
    out_q   <= rest_stage_q[Read];
    index_q <= index;
  end

  assign valid_o = out_q.valid;
  assign low_o   = out_q.low;
  assign rest_o  = out_q.rest;
  assign index_o = index_q;

endmodule
