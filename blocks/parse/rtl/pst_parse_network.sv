// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads the fixed header of IPv4 or IPv6, and steps over the options of IPv4.
//
// Throughput: a window per cycle. Latency: 2 cycles. Order: as they come. Reset: what is inside is forgotten.
module pst_parse_network
  import pst_parse_pkg::*;
#(
    parameter int unsigned WindowBytes = 128,
    localparam int unsigned RestBytes = WindowBytes - 14
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  logic                      valid_i,
    input  step_t                     step_i,
    input  logic [RestBytes-1:0][7:0] rest_i,     // from the IP header on
    output logic                      valid_o,
    output step_t                     step_o,     // NextUpper or NextNone
    output logic [5:0]                words_o,    // words of 4 bytes from the IP header to the next one
    output logic [RestBytes-1:0][7:0] rest_o      // as it came
);

  localparam logic [7:0] RestRoom = 8'(WindowBytes);

  logic [2:1] valid_q;
  step_t step1_d, step2_d, step1_q, step2_q;
  logic [RestBytes-1:0][7:0] rest1_q, rest2_q;
  logic [5:0] words1_d, words1_q, words2_q;
  logic later;

  // ---- 1: the fixed header

  logic [15:0] total;
  logic [13:0] offset;                  // with the flag that more fragments follow
  logic [5:0] header;                   // bytes of an IPv4 header

  always_comb begin
    step1_d  = step_i;
    words1_d = 6'd10;
    total    = {rest_i[2], rest_i[3]};
    offset   = {rest_i[6][5:0], rest_i[7]};
    header   = {rest_i[0][3:0], 2'b00};
    if (step_i.next == NextIpv4) begin
      words1_d     = 6'(rest_i[0][3:0]);
      step1_d.next = NextNone;
      step1_d.left = bounded(step_i.left, total);
      if (step_i.left < 12'd20) step1_d.headers.ending = EndCut;
      else if (step_i.room < 8'd20) step1_d.headers.ending = EndBeyond;
      else if (rest_i[0][7:4] != 4'd4) step1_d.headers.ending = EndBadVersion;
      else if (rest_i[0][3:0] < 4'd5 || total < 16'(header)) step1_d.headers.ending = EndBadLength;
      else begin
        step1_d.next                = NextIpv4;
        step1_d.headers.ip          = 3'd4;
        step1_d.headers.dscp        = rest_i[1][7:2];
        step1_d.headers.ecn         = rest_i[1][1:0];
        step1_d.headers.protocol    = rest_i[9];
        step1_d.headers.source      = 128'({rest_i[12], rest_i[13], rest_i[14], rest_i[15]});
        step1_d.headers.destination = 128'({rest_i[16], rest_i[17], rest_i[18], rest_i[19]});
        step1_d.headers.network_at  = RestRoom - step_i.room;
        if (offset[12:0] != '0) step1_d.headers.fragment = FragmentLater;
        else if (offset[13]) step1_d.headers.fragment = FragmentFirst;
      end
    end
    if (step_i.next == NextIpv6) begin
      step1_d.next = NextNone;
      step1_d.left = bounded(step_i.left - 12'd40, {rest_i[4], rest_i[5]});
      step1_d.room = step_i.room - 8'd40;
      if (step_i.left < 12'd40) step1_d.headers.ending = EndCut;
      else if (step_i.room < 8'd40) step1_d.headers.ending = EndBeyond;
      else if (rest_i[0][7:4] != 4'd6) step1_d.headers.ending = EndBadVersion;
      else begin
        step1_d.next               = NextUpper;
        step1_d.headers.ip         = 3'd6;
        step1_d.headers.dscp       = {rest_i[0][3:0], rest_i[1][7:6]};
        step1_d.headers.ecn        = rest_i[1][5:4];
        step1_d.headers.protocol   = rest_i[6];
        step1_d.headers.network_at = RestRoom - step_i.room;
        for (int unsigned i = 0; i < 16; i++) begin
          step1_d.headers.source[127-8*i-:8]      = rest_i[8+i];
          step1_d.headers.destination[127-8*i-:8] = rest_i[24+i];
        end
      end
    end
  end

  // ---- 2: options of IPv4

  always_comb begin
    step2_d = step1_q;
    later   = step1_q.headers.fragment == FragmentLater;
    if (step1_q.next == NextIpv4) begin
      step2_d.next = NextNone;
      step2_d.left = step1_q.left - 12'({words1_q, 2'b00});
      step2_d.room = step1_q.room - 8'({words1_q, 2'b00});
      if (step1_q.left < 12'({words1_q, 2'b00})) step2_d.headers.ending = EndCut;
      else if (step1_q.room < 8'({words1_q, 2'b00})) step2_d.headers.ending = EndBeyond;
      else if (!later) step2_d.next = NextUpper;
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q  <= {valid_q[1], valid_i};
    step1_q  <= step1_d;
    words1_q <= words1_d;
    rest1_q  <= rest_i;
    step2_q  <= step2_d;
    words2_q <= words1_q;
    rest2_q  <= rest1_q;
    if (rst_i) valid_q <= '0;
  end

  assign valid_o = valid_q[2];
  assign step_o  = step2_q;
  assign words_o = words2_q;
  assign rest_o  = rest2_q;

endmodule
