// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The contract of pst_lookup_mix for proofs: G and F are any functions at all, and never change.
//
// The proof assumes that both instances have the same ones. The keys inside are kept whole up to the last stage.
module pst_lookup_mix
  import pst_lookup_pkg::*;
#(
    parameter int unsigned KeyWidth   = 48,
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned ChunkBits  = 6,
    parameter string       WordStyle  = "block",
    parameter bit          SplitStages = 1'b0,    // not so here
    localparam int unsigned RestWidth = KeyWidth - IndexWidth,
    localparam int unsigned SeedWidth = RestWidth > Tables * IndexWidth ? RestWidth : Tables * IndexWidth
) (
    input  logic                              clk_i,
    input  logic                              seed_we_i,
    input  logic [                       7:0] seed_chunk_i,
    input  logic [             ChunkBits-1:0] seed_index_i,
    input  logic [             SeedWidth-1:0] seed_word_i,
    input  logic                              valid_i,
    input  logic                              mixed_i,
    input  logic [              KeyWidth-1:0] key_i,
    output logic                              valid_o,
    output logic [            IndexWidth-1:0] low_o,
    output logic [             RestWidth-1:0] rest_o,
    output logic [Tables-1:0][IndexWidth-1:0] index_o
);

  logic [2**IndexWidth-1:0][RestWidth-1:0] g_q;
  logic [2**RestWidth-1:0][Tables-1:0][IndexWidth-1:0] f_q;
  logic [3:1] valid_q, mixed_q;
  logic [3:1][KeyWidth-1:0] key_q;

  always_ff @(posedge clk_i) begin
    g_q     <= g_q;
    f_q     <= f_q;
    valid_q <= {valid_q[2:1], valid_i};
    mixed_q <= {mixed_q[2:1], mixed_i};
    key_q   <= {key_q[2:1], key_i};
  end

  assign valid_o = valid_q[3];
  assign low_o   = key_q[3][IndexWidth-1:0];
  assign rest_o  = mixed_q[3] ? key_q[3][KeyWidth-1:IndexWidth] : key_q[3][KeyWidth-1:IndexWidth] ^ g_q[low_o];
  for (genvar t = 0; t < int'(Tables); t++) begin : g_index
    assign index_o[t] = low_o ^ f_q[rest_o][t];
  end

endmodule
