// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Finds the ECN field (RFC 3168) of a frame in its first 64 bytes: IPv4 or IPv6, behind up to two VLAN tags.
//
// Throughput: one first beat per cycle. Latency: none, combinational. Reset: nothing to reset.
// A frame that is not IP, whose version does not fit its type, or that ends before the fixed IP header does is not ECN-capable.
module pst_ecn_detect (
    input  logic [511:0] data_i,         // first beat, byte 0 in data_i[7:0]
    input  logic [ 63:0] keep_i,         // bytes that are there, contiguous from bit 0
    output logic         ect_o,          // ECT(0) or ECT(1): may be marked
    output logic         ce_o,           // is marked
    output logic         ipv4_o,         // the field is an IPv4 header's
    output logic [  1:0] tags_o          // VLAN tags in front of the IP header, 0 .. 2
);

  localparam logic [15:0] TypeVlan = 16'h8100, TypeServiceVlan = 16'h88A8, TypeIpv4 = 16'h0800, TypeIpv6 = 16'h86DD;
  localparam int unsigned EthernetBytes = 14, TagBytes = 4, Ipv4Bytes = 20, Ipv6Bytes = 40;

  function automatic logic [15:0] word_at(input logic [511:0] data, input int unsigned at);
    return {data[8*at+:8], data[8*(at+1)+:8]};
  endfunction

  function automatic logic is_tag(input logic [15:0] ethertype);
    return ethertype == TypeVlan || ethertype == TypeServiceVlan;
  endfunction

  logic [15:0] ethertype;              // of what is behind the tags
  logic [7:0] lead;                    // first byte of its header
  logic [1:0] low, high;               // where the second byte has the field: IPv4, IPv6
  logic whole_ipv4, whole_ipv6, ipv6;
  logic [1:0] ecn;

  always_comb begin
    tags_o = 2'd0;
    if (is_tag(word_at(data_i, 12))) tags_o = is_tag(word_at(data_i, 16)) ? 2'd2 : 2'd1;

    ethertype  = '0;
    lead       = '0;
    low        = '0;
    high       = '0;
    whole_ipv4 = 1'b0;
    whole_ipv6 = 1'b0;
    for (int unsigned t = 0; t < 3; t++) begin
      if (tags_o == 2'(t)) begin
        ethertype  = word_at(data_i, EthernetBytes - 2 + TagBytes * t);
        lead       = data_i[8*(EthernetBytes+TagBytes*t)+:8];
        low        = data_i[8*(EthernetBytes+TagBytes*t+1)+:2];
        high       = data_i[8*(EthernetBytes+TagBytes*t+1)+4+:2];
        whole_ipv4 = keep_i[EthernetBytes+TagBytes*t+Ipv4Bytes-1];
        whole_ipv6 = keep_i[EthernetBytes+TagBytes*t+Ipv6Bytes-1];
      end
    end

    ipv4_o = ethertype == TypeIpv4 && lead[7:4] == 4'd4 && lead[3:0] >= 4'd5 && whole_ipv4;
    ipv6   = ethertype == TypeIpv6 && lead[7:4] == 4'd6 && whole_ipv6;
    ecn    = ipv4_o ? low : high;
    ect_o  = (ipv4_o || ipv6) && (ecn == 2'b01 || ecn == 2'b10);
    ce_o   = (ipv4_o || ipv6) && ecn == 2'b11;
  end

endmodule
