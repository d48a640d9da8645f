// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads an Ethernet header below MPLS and the fixed header of IPv4 or IPv6, and steps over the options of IPv4.
//
// Throughput: a window per cycle. Order: as they come.
// Latency: 2 cycles to the fixed header, 3 to the step behind the options; with SplitStages 4 and 5.
// Reset: what is inside is forgotten.
module pst_parse_network
  import pst_parse_pkg::*;
#(
    parameter int unsigned WindowBytes = 128,
    parameter bit          SplitStages = 1'b0,   // the second stage is three
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

  logic valid1_q, valid2_q, valid3_q, valid2, valid3;
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

  // ---- 2: an inner Ethernet header and the bytes of the fixed header behind it; what these say; what follows from it

  typedef struct packed {
    step_t                     step;
    logic [RestBytes-1:0][7:0] rest;
    logic                      inner_there;
    logic [53:0][7:0]          bytes;        // an inner Ethernet header, and the header of IP behind it; or that of IP
    logic [7:0]                at;           // where the IP header begins
    logic [LeftWidth-1:0]      left40;
  } bytes_t;

  bytes_t begun, t2;

  always_comb begin
    unique case (step1_q.words[1:0])
      2'd0:    begun.bytes = row_q[0+:54];
      2'd1:    begun.bytes = row_q[4+:54];
      2'd2:    begun.bytes = row_q[8+:54];
      default: begun.bytes = row_q[12+:54];
    endcase
    begun.step        = step1_q;
    begun.rest        = rest1_q;
    begun.inner_there = inner_q;
    begun.at          = 8'd14 + {2'b00, step1_q.words, 2'b00} + (inner_q ? 8'd14 : 8'd0);
    begun.left40      = left40_q;
  end

  pst_stage #(
      .Width($bits(bytes_t)),
      .Registered(SplitStages)
  ) u_bytes (
      .clk_i,
      .rst_i,
      .valid_i(valid1_q),
      .data_i (begun),
      .valid_o(valid2),
      .data_o (t2)
  );

  // What the bytes are if they are a header of IPv4, or of IPv6: why reading ends there, and what the header's length leaves.
  typedef struct packed {
    step_t                     step;
    logic [RestBytes-1:0][7:0] rest;
    logic [39:0][7:0]          head;
    logic [7:0]                at;
    next_e                     next;
    end_e                      ending4, ending6;
    logic [LeftWidth-1:0]      left4, left6;
  } fixed_t;

  fixed_t fixed, t3;
  logic [15:0] inner_ethertype, total;
  logic [5:0] size2;

  always_comb begin
    fixed.step      = t2.step;
    fixed.rest      = t2.rest;
    fixed.head      = t2.inner_there ? t2.bytes[14+:40] : t2.bytes[0+:40];
    fixed.at        = t2.at;
    fixed.next      = t2.step.next;
    inner_ethertype = {t2.bytes[12], t2.bytes[13]};
    if (t2.inner_there) begin
      fixed.step.headers.inner_destination_mac = {t2.bytes[0], t2.bytes[1], t2.bytes[2], t2.bytes[3], t2.bytes[4], t2.bytes[5]};
      fixed.step.headers.inner_source_mac      = {t2.bytes[6], t2.bytes[7], t2.bytes[8], t2.bytes[9], t2.bytes[10], t2.bytes[11]};
      fixed.step.headers.inner_ethertype       = inner_ethertype;
      if (inner_ethertype == 16'h0800) fixed.next = NextIpv4;
      else if (inner_ethertype == 16'h86DD) fixed.next = NextIpv6;
      else begin
        fixed.next                = NextNone;
        fixed.step.headers.ending = EndUnknown;
      end
    end
    total = {fixed.head[2], fixed.head[3]};
    size2 = {fixed.head[0][3:0], 2'b00};

    fixed.left4   = bounded(t2.step.left, total);
    fixed.ending4 = EndDone;
    if (t2.step.left < 12'd20) fixed.ending4 = EndCut;
    else if (t2.at > 8'(WindowBytes - 20)) fixed.ending4 = EndBeyond;
    else if (fixed.head[0][7:4] != 4'd4) fixed.ending4 = EndBadVersion;
    else if (fixed.head[0][3:0] < 4'd5 || total < 16'(size2)) fixed.ending4 = EndBadLength;

    fixed.left6   = bounded(t2.left40, {fixed.head[4], fixed.head[5]});
    fixed.ending6 = EndDone;
    if (t2.step.left < 12'd40) fixed.ending6 = EndCut;
    else if (t2.at > 8'(WindowBytes - 40)) fixed.ending6 = EndBeyond;
    else if (fixed.head[0][7:4] != 4'd6) fixed.ending6 = EndBadVersion;
  end

  pst_stage #(
      .Width($bits(fixed_t)),
      .Registered(SplitStages)
  ) u_fixed (
      .clk_i,
      .rst_i,
      .valid_i(valid2),
      .data_i (fixed),
      .valid_o(valid3),
      .data_o (t3)
  );

  logic [39:0][7:0] head;
  logic [7:0] at2_q;                    // where the IP header begins
  logic [5:0] size_d, size_q;           // bytes of an IPv4 header
  logic [13:0] offset;                  // with the flag that more fragments follow

  always_comb begin
    head         = t3.head;
    step2_d      = t3.step;
    offset       = {head[6][5:0], head[7]};
    size_d       = {head[0][3:0], 2'b00};
    step2_d.next = NextNone;
    if (t3.next == NextIpv4) begin
      step2_d.left = t3.left4;
      if (t3.ending4 != EndDone) step2_d.headers.ending = t3.ending4;
      else begin
        step2_d.next                = NextIpv4;
        step2_d.headers.ip          = 3'd4;
        step2_d.headers.dscp        = head[1][7:2];
        step2_d.headers.ecn         = head[1][1:0];
        step2_d.headers.protocol    = head[9];
        step2_d.headers.source      = 128'({head[12], head[13], head[14], head[15]});
        step2_d.headers.destination = 128'({head[16], head[17], head[18], head[19]});
        step2_d.headers.network_at  = t3.at;
        if (offset[12:0] != '0) step2_d.headers.fragment = FragmentLater;
        else if (offset[13]) step2_d.headers.fragment = FragmentFirst;
      end
    end
    if (t3.next == NextIpv6) begin
      step2_d.left = t3.left6;
      if (t3.ending6 != EndDone) step2_d.headers.ending = t3.ending6;
      else begin
        step2_d.next               = NextIpv6;
        step2_d.headers.ip         = 3'd6;
        step2_d.headers.dscp       = {head[0][3:0], head[1][7:6]};
        step2_d.headers.ecn        = head[1][5:4];
        step2_d.headers.protocol   = head[6];
        step2_d.headers.network_at = t3.at;
        for (int unsigned i = 0; i < 16; i++) begin
          step2_d.headers.source[127-8*i-:8]      = head[8+i];
          step2_d.headers.destination[127-8*i-:8] = head[24+i];
        end
      end
    end
  end

  // ---- 3: options of IPv4

  logic [8:0] ends;                     // behind an IPv4 header

  always_comb begin
    ends    = 9'(at2_q) + 9'(size_q);
    step3_d = '{ending: step2_q.headers.ending, going: step2_q.next == NextIpv6, six: step2_q.headers.ip == 3'd6,
                protocol: step2_q.headers.protocol, fragment: step2_q.headers.fragment, left: step2_q.left, at: at2_q + 8'd40,
                even: 6'd10 + at2_q[7:2] + 6'(at2_q[1])};
    if (step2_q.next == NextIpv4) begin
      step3_d.left = step2_q.left - 12'(size_q);
      step3_d.at   = ends[7:0];
      if (step2_q.left < 12'(size_q)) step3_d.ending = EndCut;
      else if (ends > 9'(WindowBytes)) step3_d.ending = EndBeyond;
      else step3_d.going = step2_q.headers.fragment != FragmentLater;
    end
  end

  always_ff @(posedge clk_i) begin
    valid1_q <= valid_i;
    valid2_q <= valid3;
    valid3_q <= valid2_q;
    if (valid_i) begin
      step1_q  <= step1_d;
      row_q    <= row_d;
      inner_q  <= inner_d;
      left40_q <= left40_d;
      rest1_q  <= rest_i;
    end
    if (valid3) begin
      step2_q <= step2_d;
      at2_q   <= t3.at;
      size_q  <= size_d;
      rest2_q <= t3.rest;
    end
    if (valid2_q) begin
      step3_q <= step3_d;
      rest3_q <= rest2_q;
    end
    if (rst_i) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, step2_q.words, head[0][7:4], head[1][3:0], head[5:2]};

  assign headers_valid_o = valid2_q;
  assign headers_o       = step2_q.headers;
  assign valid_o         = valid3_q;
  assign step_o          = step3_q;
  assign rest_o          = rest3_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && valid_o && step_o.going) a_what_goes_on_has_not_ended : assert (step_o.ending == EndDone);
  end
`endif

endmodule
