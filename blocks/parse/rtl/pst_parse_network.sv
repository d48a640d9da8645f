// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads an Ethernet header below MPLS and the fixed header of IPv4 or IPv6, and steps over the options of IPv4.
//
// Throughput: a window per cycle. Latency: 2 cycles to the fixed header, 3 to the step behind the options. Order: as they come.
// Reset: what is inside is forgotten.
module pst_parse_network
  import pst_parse_pkg::*;
#(
    parameter int unsigned WindowBytes = 128,
    localparam int unsigned RestBytes = WindowBytes - 14
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  logic                      valid_i,
    input  step_t                     step_i,           // NextInner, NextIpv4, NextIpv6 or NextNone
    input  logic [RestBytes-1:0][7:0] rest_i,           // the window from byte 14 on
    // up to the fixed header
    output logic                      headers_valid_o,
    output headers_t                  headers_o,
    // a cycle later
    output logic                      valid_o,
    output upper_step_t               step_o,
    output logic [RestBytes-1:0][7:0] rest_o            // as it came
);

  localparam int unsigned Row = 66;     // bytes that are looked at from the row of 16 bytes on in which the header begins

  logic [3:1] valid_q;
  step_t step1_d, step1_q, step2_d, step2_q;
  upper_step_t step3_d, step3_q;
  logic [RestBytes-1:0][7:0] rest1_q, rest2_q, rest3_q;

  // ---- 1: the row of 16 bytes

  logic [Row+31:0][7:0] padded;
  logic [Row-1:0][7:0] row_d, row_q;
  logic inner_d, inner_q;               // there is an inner Ethernet header
  logic [LeftWidth-1:0] left40_d, left40_q;   // bytes behind a header of IPv6, if there are so many

  always_comb begin
    padded = '0;
    for (int unsigned i = 0; i < RestBytes && i < Row + 32; i++) padded[i] = rest_i[i];
    unique case (step_i.words[3:2])
      2'd0:    row_d = padded[0+:Row];
      2'd1:    row_d = padded[16+:Row];
      default: row_d = padded[32+:Row];
    endcase
    step1_d = step_i;
    inner_d = 1'b0;
    if (step_i.next == NextInner) begin
      step1_d.left = step_i.left - 12'd14;
      if (step_i.left < 12'd14) begin
        step1_d.next           = NextNone;
        step1_d.headers.ending = EndCut;
      end else begin
        inner_d                        = 1'b1;
        step1_d.headers.inner_ethernet = 1'b1;
      end
    end
    left40_d = step_i.left - (step_i.next == NextInner ? 12'd54 : 12'd40);
  end

  // ---- 2: the inner Ethernet header, and the fixed header behind it

  logic [13:0][7:0] inner;
  logic [39:0][7:0] head;
  logic [15:0] inner_ethertype;
  next_e next;
  logic [7:0] at2_d, at2_q;             // where the IP header begins
  logic [5:0] size_d, size_q;           // bytes of an IPv4 header
  logic [15:0] total;
  logic [13:0] offset;                  // with the flag that more fragments follow

  always_comb begin
    unique case (step1_q.words[1:0])
      2'd0: begin
        inner = row_q[0+:14];
        head  = inner_q ? row_q[14+:40] : row_q[0+:40];
      end
      2'd1: begin
        inner = row_q[4+:14];
        head  = inner_q ? row_q[18+:40] : row_q[4+:40];
      end
      2'd2: begin
        inner = row_q[8+:14];
        head  = inner_q ? row_q[22+:40] : row_q[8+:40];
      end
      default: begin
        inner = row_q[12+:14];
        head  = inner_q ? row_q[26+:40] : row_q[12+:40];
      end
    endcase
    step2_d         = step1_q;
    at2_d           = 8'd14 + {2'b00, step1_q.words, 2'b00} + (inner_q ? 8'd14 : 8'd0);
    inner_ethertype = {inner[12], inner[13]};
    next            = step1_q.next;
    if (inner_q) begin
      step2_d.headers.inner_destination_mac = {inner[0], inner[1], inner[2], inner[3], inner[4], inner[5]};
      step2_d.headers.inner_source_mac      = {inner[6], inner[7], inner[8], inner[9], inner[10], inner[11]};
      step2_d.headers.inner_ethertype       = inner_ethertype;
      if (inner_ethertype == 16'h0800) next = NextIpv4;
      else if (inner_ethertype == 16'h86DD) next = NextIpv6;
      else begin
        next                   = NextNone;
        step2_d.headers.ending = EndUnknown;
      end
    end

    total        = {head[2], head[3]};
    offset       = {head[6][5:0], head[7]};
    size_d       = {head[0][3:0], 2'b00};
    step2_d.next = NextNone;
    if (next == NextIpv4) begin
      step2_d.left = bounded(step1_q.left, total);
      if (step1_q.left < 12'd20) step2_d.headers.ending = EndCut;
      else if (at2_d > 8'(WindowBytes - 20)) step2_d.headers.ending = EndBeyond;
      else if (head[0][7:4] != 4'd4) step2_d.headers.ending = EndBadVersion;
      else if (head[0][3:0] < 4'd5 || total < 16'(size_d)) step2_d.headers.ending = EndBadLength;
      else begin
        step2_d.next                = NextIpv4;
        step2_d.headers.ip          = 3'd4;
        step2_d.headers.dscp        = head[1][7:2];
        step2_d.headers.ecn         = head[1][1:0];
        step2_d.headers.protocol    = head[9];
        step2_d.headers.source      = 128'({head[12], head[13], head[14], head[15]});
        step2_d.headers.destination = 128'({head[16], head[17], head[18], head[19]});
        step2_d.headers.network_at  = at2_d;
        if (offset[12:0] != '0) step2_d.headers.fragment = FragmentLater;
        else if (offset[13]) step2_d.headers.fragment = FragmentFirst;
      end
    end
    if (next == NextIpv6) begin
      step2_d.left = bounded(left40_q, {head[4], head[5]});
      if (step1_q.left < 12'd40) step2_d.headers.ending = EndCut;
      else if (at2_d > 8'(WindowBytes - 40)) step2_d.headers.ending = EndBeyond;
      else if (head[0][7:4] != 4'd6) step2_d.headers.ending = EndBadVersion;
      else begin
        step2_d.next               = NextIpv6;
        step2_d.headers.ip         = 3'd6;
        step2_d.headers.dscp       = {head[0][3:0], head[1][7:6]};
        step2_d.headers.ecn        = head[1][5:4];
        step2_d.headers.protocol   = head[6];
        step2_d.headers.network_at = at2_d;
        for (int unsigned i = 0; i < 16; i++) begin
          step2_d.headers.source[127-8*i-:8]      = head[8+i];
          step2_d.headers.destination[127-8*i-:8] = head[24+i];
        end
      end
    end
  end

  // ---- 3: options of IPv4

  always_comb begin
    step3_d = '{ending: step2_q.headers.ending, going: step2_q.next == NextIpv6, six: step2_q.headers.ip == 3'd6,
                protocol: step2_q.headers.protocol, fragment: step2_q.headers.fragment, left: step2_q.left, at: at2_q + 8'd40,
                even: 6'd10 + at2_q[7:2] + 6'(at2_q[1])};
    if (step2_q.next == NextIpv4) begin
      step3_d.left = step2_q.left - 12'(size_q);
      step3_d.at   = at2_q + 8'(size_q);
      if (step2_q.left < 12'(size_q)) step3_d.ending = EndCut;
      else if (at2_q > 8'(WindowBytes) - 8'(size_q)) step3_d.ending = EndBeyond;
      else step3_d.going = step2_q.headers.fragment != FragmentLater;
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[2:1], valid_i};
    if (valid_i) begin
      step1_q  <= step1_d;
      row_q    <= row_d;
      inner_q  <= inner_d;
      left40_q <= left40_d;
      rest1_q  <= rest_i;
    end
    if (valid_q[1]) begin
      step2_q <= step2_d;
      at2_q   <= at2_d;
      size_q  <= size_d;
      rest2_q <= rest1_q;
    end
    if (valid_q[2]) begin
      step3_q <= step3_d;
      rest3_q <= rest2_q;
    end
    if (rst_i) valid_q <= '0;
  end

  logic unused;
  assign unused = &{1'b0, step2_q.words};

  assign headers_valid_o = valid_q[2];
  assign headers_o       = step2_q.headers;
  assign valid_o         = valid_q[3];
  assign step_o          = step3_q;
  assign rest_o          = rest3_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && valid_o && step_o.going) a_what_goes_on_has_not_ended : assert (step_o.ending == EndDone);
  end
`endif

endmodule
