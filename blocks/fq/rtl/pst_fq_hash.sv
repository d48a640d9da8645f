// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The bucket of a packet's flow, and its hosts: a keyed hash of addresses, protocol and ports (or SPI); of MAC addresses and EtherType without IP.
//
// A host is the XOR of the words of an address alone.
//
// Simple tabulation (Zobrist 1970; Patrascu and Thorup, 2012): an exclusive sum of random words, which chunks of six bits of the key choose.
//
// Throughput: a packet per cycle. Latency: 3 cycles. Ordering: as they come. Reset: what is inside goes on; random words stay.
module pst_fq_hash
  import pst_parse_pkg::headers_t, pst_parse_pkg::FragmentNone, pst_parse_pkg::TransportTcp, pst_parse_pkg::TransportUdp,
      pst_parse_pkg::TransportSctp, pst_parse_pkg::TransportEsp;
  import pst_fq_pkg::*;
(
    input  logic        clk_i,
    // random words, one of each chunk for each of its values: 50 chunks from the low bits of the key on
    input  logic        seed_we_i,
    input  logic [5:0]  seed_chunk_i,
    input  logic [5:0]  seed_index_i,
    input  bucket_t     seed_word_i,
    input  logic        valid_i,
    input  headers_t    headers_i,
    output logic        valid_o,
    output hashes_t     hashes_o
);

  localparam int unsigned Chunks = 50;
  localparam int unsigned Group = 5;      // chunks that are summed up in one stage

  // Chunks of an address alone: whole ones, and two that it shares with what stands beside it in the key.
  localparam int unsigned SharedLow = 21;     // {4 bits of the source, 2 of the destination}
  localparam int unsigned SharedHigh = 42;    // {2 bits of the ports, 4 of the source}

  typedef struct packed {
    logic         unused;
    logic [2:0]   ip;
    logic [7:0]   protocol;
    logic [31:0]  ports;
    logic [127:0] source;
    logic [127:0] destination;
  } key_t;

  key_t key, key_q;
  bucket_t [Chunks-1:0] words;
  bucket_t [Chunks/Group-1:0] sums_q;
  bucket_t sum, source_low, source_high, destination_low, source_rest_q, destination_rest_q;
  logic valid1_q, valid2_q, valid3_q;
  hashes_t hashes_q;

  always_comb begin
    key = '0;
    if (headers_i.ip != '0) begin
      key.ip          = headers_i.ip;
      key.protocol    = headers_i.protocol;
      key.source      = headers_i.source;
      key.destination = headers_i.destination;
      if (headers_i.fragment == FragmentNone && headers_i.transport inside {TransportTcp, TransportUdp, TransportSctp, TransportEsp}) begin
        key.ports = headers_i.transport_word;
      end
    end else begin
      key.ports       = 32'(headers_i.ethertype);
      key.source      = 128'(headers_i.source_mac);
      key.destination = 128'(headers_i.destination_mac);
    end
  end

  for (genvar c = 0; c < int'(Chunks); c++) begin : g_chunk
    (* ram_style = "distributed" *) bucket_t mem[64];
    always_ff @(posedge clk_i) begin
      if (seed_we_i && 32'(seed_chunk_i) == c) mem[seed_index_i] <= seed_word_i;
    end
    assign words[c] = mem[key_q[6*c+:6]];
    if (c == int'(SharedLow)) begin : g_low
      assign source_low      = mem[{key_q[6*c+2+:4], 2'b00}];
      assign destination_low = mem[{4'b0000, key_q[6*c+:2]}];
    end
    if (c == int'(SharedHigh)) begin : g_high
      assign source_high = mem[{2'b00, key_q[6*c+:4]}];
    end
  end

  always_comb begin
    sum = '0;
    for (int unsigned g = 0; g < Chunks / Group; g++) sum ^= sums_q[g];
  end

  always_ff @(posedge clk_i) begin
    key_q    <= key;
    valid1_q <= valid_i;
    valid2_q <= valid1_q;
    valid3_q <= valid2_q;
    for (int unsigned g = 0; g < Chunks / Group; g++) begin
      sums_q[g] <= words[5*g] ^ words[5*g+1] ^ words[5*g+2] ^ words[5*g+3] ^ words[5*g+4];
    end
    hashes_q.bucket <= sum;
    destination_rest_q  <= words[20] ^ destination_low;
    source_rest_q       <= source_low ^ words[22] ^ words[23] ^ words[24] ^ words[40] ^ words[41] ^ source_high;
    hashes_q.destination <= MostHostBits'(sums_q[0] ^ sums_q[1] ^ sums_q[2] ^ sums_q[3] ^ destination_rest_q);
    hashes_q.source      <= MostHostBits'(sums_q[5] ^ sums_q[6] ^ sums_q[7] ^ source_rest_q);
  end

  logic unused_headers;
  assign unused_headers = ^headers_i;

  assign valid_o  = valid3_q;
  assign hashes_o = hashes_q;

endmodule
