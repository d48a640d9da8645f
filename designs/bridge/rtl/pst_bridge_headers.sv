// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads the headers of frames two bytes at a time: the id of the first VLAN tag, and a keyed hash of the frame's flow.
//
// Read are Ethernet II, up to two VLAN tags, PPPoE sessions, IPv4 and IPv6. The flow of an IP packet is both addresses, the protocol, and the
// ports of TCP, UDP and SCTP or the SPI of ESP, unless it is a fragment; of any other frame it is both MAC addresses and the EtherType. An IPv6
// extension header counts as the protocol. The hash is simple tabulation of half bytes (pst_fq_hash says why): an exclusive sum of random words.
//
// These words are made of Seed after reset, which takes 1,024 cycles; no byte may come before init_done_o. Who knows Seed can choose flows that
// share a bucket.
//
// All fields begin at an even byte. Latency 5 cycles from the last bytes. Two bytes per cycle. The order is kept. Reset forgets the frame inside.
module pst_bridge_headers
  import pst_fq_pkg::bucket_t;
#(
    parameter logic [31:0] Seed = 32'h2545_f491  // of the random words, not 0
) (
    input  logic    clk_i,
    input  logic    rst_i,
    // bytes of frames, the first one in the low bits; all pairs are whole but the last one of a frame
    input  logic    valid_i,
    input  logic [1:0][7:0] data_i,
    input  logic    whole_i,
    input  logic    last_i,
    // one for each frame
    output logic    found_o,
    output logic [11:0] vlan_o,
    output bucket_t bucket_o,
    output logic    init_done_o
);

  localparam int unsigned ChunkWidth = 6;  // places of the key, a byte each
  localparam logic [ChunkWidth-1:0] Protocol = 32, Ports = 33, Macs = 40;  // addresses are from 0 on; EtherType is behind both MACs

  if (Seed == '0) begin : g_bad_seed
    $error("pst_bridge_headers: Seed is 0, from which only words of 0 come");
  end

  typedef enum logic [2:0] {
    AtMac,      // 12 bytes of addresses, 2 of EtherType
    AtTag,      // 2 bytes behind a VLAN EtherType, and the next EtherType
    AtPppoe,    // 6 bytes of PPPoE, 2 of the PPP protocol
    AtIp4,
    AtIp6,
    AtPorts,
    AtRest
  } at_e;

  // --- which bytes these are

  at_e at_q, at_d;
  logic [4:0] pos_q, pos_d;           // of the header, in pairs
  logic [7:0] protocol_q;             // of the IP header
  logic [1:0] tags_q;                 // VLAN tags so far
  logic [11:0] vlan_q, vlan_d;
  logic [3:0] words_q;                // length of the IPv4 header
  logic fragment_q, ip_q, ip_d, begins, last_address, has_ports;
  logic [15:0] type_;

  // --- one cycle later: their places in the key

  typedef enum logic [1:0] {
    KeyNone,
    KeyMac,
    KeyIp
  } key_e;

  typedef struct packed {
    logic                  valid;
    logic                  last;
    logic                  ip;      // with last: all of the addresses were read
    logic [11:0]           vlan;
    key_e                  key;
    logic [1:0]            of_key;  // of both bytes: it belongs to the key
    logic [1:0][ChunkWidth-1:0] chunk;
    logic [1:0][7:0]       data;
  } place_t;

  place_t place_d, place_q, place_q2, place_q3;

  assign type_        = {data_i[0], data_i[1]};
  assign has_ports    = protocol_q inside {8'd6, 8'd17, 8'd132, 8'd50};
  assign last_address = whole_i && (at_q == AtIp4 ? pos_q == 5'd9 : at_q == AtIp6 && pos_q == 5'd19);

  always_comb begin
    at_d    = at_q;
    pos_d   = pos_q + 5'd1;
    begins  = 1'b0;
    vlan_d  = vlan_q;
    ip_d    = ip_q || last_address;
    place_d = '{valid: valid_i, last: last_i, ip: ip_d, vlan: '0, key: KeyNone, of_key: {whole_i, 1'b1}, chunk: '0,
                data: data_i};
    unique case (at_q)
      AtMac: begin
        place_d.key      = KeyMac;
        place_d.chunk[0] = Macs + {pos_q, 1'b0};
        begins           = pos_q == 5'd6;
      end
      AtTag: begin
        if (pos_q == 5'd0 && tags_q == 2'd1) vlan_d = type_[11:0];
        if (pos_q == 5'd1) begin
          place_d.key      = KeyMac;
          place_d.chunk[0] = Macs + 6'd12;
        end
        begins = pos_q == 5'd1;
      end
      AtPppoe: begin
        if (pos_q == 5'd3) begin
          at_d  = type_ == 16'h0021 ? AtIp4 : type_ == 16'h0057 ? AtIp6 : AtRest;
          pos_d = '0;
        end
      end
      AtIp4: begin
        if (pos_q == 5'd4) {place_d.key, place_d.of_key[0]} = {KeyIp, 1'b0};    // time to live, protocol
        if (pos_q >= 5'd6 && pos_q < 5'd10) {place_d.key, place_d.chunk[0]} = {KeyIp, pos_q - 5'd6, 1'b0};
        if (pos_q == 5'd0 && (data_i[0][7:4] != 4'd4 || data_i[0][3:0] < 4'd5)) at_d = AtRest;
        if (pos_q == {words_q, 1'b1}) begin
          at_d  = has_ports && !fragment_q ? AtPorts : AtRest;
          pos_d = '0;
        end
      end
      AtIp6: begin
        if (pos_q == 5'd3) {place_d.key, place_d.of_key[1], place_d.chunk[0]} = {KeyIp, 1'b0, Protocol};    // and the hop limit
        if (pos_q >= 5'd4) {place_d.key, place_d.chunk[0]} = {KeyIp, pos_q - 5'd4, 1'b0};
        if (pos_q == 5'd0 && data_i[0][7:4] != 4'd6) at_d = AtRest;
        if (pos_q == 5'd19) begin
          at_d  = has_ports ? AtPorts : AtRest;
          pos_d = '0;
        end
      end
      AtPorts: begin
        {place_d.key, place_d.chunk[0]} = {KeyIp, Ports + {pos_q, 1'b0}};
        if (pos_q == 5'd1) at_d = AtRest;
      end
      default: ;
    endcase
    if (begins) begin
      pos_d = '0;
      unique case (type_)
        16'h8100, 16'h88a8: at_d = tags_q == 2'd2 ? AtRest : AtTag;
        16'h8864:           at_d = AtPppoe;
        16'h0800:           at_d = AtIp4;
        16'h86dd:           at_d = AtIp6;
        default:            at_d = AtRest;
      endcase
    end
    place_d.vlan     = vlan_d;
    place_d.chunk[1] = at_q == AtIp4 && pos_q == 5'd4 ? Protocol : place_d.chunk[0] + 6'd1;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      at_q     <= at_d;
      pos_q    <= pos_d;
      vlan_q   <= vlan_d;
      ip_q     <= ip_d;
      if (begins && at_d == AtTag) tags_q <= tags_q + 2'd1;
      if (at_q == AtIp4 && pos_q == 5'd0) words_q <= data_i[0][3:0] - 4'd1;
      if (at_q == AtIp4 && pos_q == 5'd3) fragment_q <= type_[13:0] != '0;
      if (at_q == AtIp4 && pos_q == 5'd4) protocol_q <= data_i[1];
      if (at_q == AtIp6 && pos_q == 5'd3) protocol_q <= data_i[0];
    end
    if (rst_i || (valid_i && last_i)) begin
      at_q     <= AtMac;
      pos_q    <= '0;
      vlan_q   <= '0;
      ip_q     <= 1'b0;
      tags_q   <= '0;
    end
    place_q  <= place_d;
    place_q2 <= place_q;
    place_q3 <= place_q2;
    if (rst_i) begin
      place_q.valid  <= 1'b0;
      place_q2.valid <= 1'b0;
      place_q3.valid <= 1'b0;
    end
  end

  // --- random words: two by place, one for each half of a byte; both bytes read them at once

  logic fill;
  logic [ChunkWidth+3:0] fill_at;
  logic [31:0] random_d, random_q;
  bucket_t [1:0][1:0] word;

  pst_clear_walk #(.Depth(2 ** (ChunkWidth + 4))) u_fill_walk (.clk_i, .rst_i, .busy_o(fill), .addr_o(fill_at));

  // Marsaglia's xorshift of 32 bits.
  always_comb begin
    random_d = random_q ^ (random_q << 13);
    random_d = random_d ^ (random_d >> 17);
    random_d = random_d ^ (random_d << 5);
  end

  always_ff @(posedge clk_i) random_q <= rst_i ? Seed : random_d;

  for (genvar b = 0; b < 2; b++) begin : g_byte
    for (genvar h = 0; h < 2; h++) begin : g_half
      pst_ram_1r1w #(
          .Width($bits(bucket_t)), .Depth(2 ** (ChunkWidth + 4))
      ) u_words (
          .clk_i, .we_i(fill), .waddr_i(fill_at), .wdata_i(random_q[16*h+:$bits(bucket_t)]),
          .re_i(1'b1), .raddr_i({place_q.chunk[b], place_q.data[b][4*h+:4]}), .rdata_o(word[b][h])
      );
    end
  end

  assign init_done_o = !fill;

  // --- the sums

  bucket_t mac_q, ip_sum_q, mac_d, ip_sum_d;
  bucket_t sum_q;
  logic unused_place;
  assign unused_place = ^{place_q2.chunk, place_q2.data, place_q3.of_key, place_q3.chunk, place_q3.data};

  assign mac_d    = mac_q ^ (place_q3.key == KeyMac ? sum_q : '0);
  assign ip_sum_d = ip_sum_q ^ (place_q3.key == KeyIp ? sum_q : '0);

  always_ff @(posedge clk_i) begin
    sum_q <= (place_q2.of_key[0] ? word[0][0] ^ word[0][1] : '0) ^ (place_q2.of_key[1] ? word[1][0] ^ word[1][1] : '0);
    if (place_q3.valid) begin
      mac_q    <= place_q3.last ? '0 : mac_d;
      ip_sum_q <= place_q3.last ? '0 : ip_sum_d;
      vlan_o   <= place_q3.vlan;
      bucket_o <= place_q3.ip ? ip_sum_d : mac_d;
    end
    found_o <= place_q3.valid && place_q3.last;
    if (rst_i) begin
      mac_q    <= '0;
      ip_sum_q <= '0;
      found_o  <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) a_words_are_there : assert (!valid_i || init_done_o);
  end
`endif

endmodule
