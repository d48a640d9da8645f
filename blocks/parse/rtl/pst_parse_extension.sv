// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Steps over one extension header of IPv6: hop-by-hop options, routing, fragment, authentication (RFC 4302) or destination options.
//
// Throughput: a window per cycle. Latency: 1 cycle, 2 with SplitStages. Order: as they come.
// Reset: what is inside is forgotten.
module pst_parse_extension
  import pst_parse_pkg::*;
#(
    parameter int unsigned WindowBytes = 128,
    parameter bit          SplitStages = 1'b0,   // the stage is two
    localparam int unsigned RestBytes = WindowBytes - 14
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  logic                      valid_i,
    input  upper_step_t               step_i,
    input  logic [RestBytes-1:0][7:0] rest_i,     // the window from byte 14 on
    output logic                      valid_o,
    output upper_step_t               step_o,
    output logic [RestBytes-1:0][7:0] rest_o
);

  localparam logic [7:0] HopByHop = 8'd0, Routing = 8'd43, Fragment = 8'd44, Authentication = 8'd51, Options = 8'd60;
  localparam int unsigned Words = WindowBytes / 4;
  localparam int unsigned IndexWidth = $clog2(Words);
  localparam int unsigned Half = 2 ** (IndexWidth - 1);
  localparam int unsigned Never = Half < 13 ? Half : 13;   // so many words are in front of all extension headers, or more

  // The header's first bytes, and what does not depend on them.
  typedef struct packed {
    upper_step_t               step;
    logic [RestBytes-1:0][7:0] rest;
    logic [31:0]               head;       // the first four bytes of the header
    logic                      here;       // a header that is stepped over
    logic                      fragment, authentication;
    logic                      less8;      // fewer than eight bytes are left
    logic                      beyond;     // they end behind the window
    logic [LeftWidth-3:0]      left2, room2;   // words behind the first two: in the frame, in the window
  } begun_t;

  logic valid, valid_q;
  begun_t begun, t;
  upper_step_t step_d, step_q;
  logic [RestBytes-1:0][7:0] rest_q;
  logic [2**IndexWidth-1:0][15:0] odd, even;        // half words of the window: the second and the first one of each word
  logic [8:0] more;                     // words of the header behind the first two

  // The first words are never chosen: others in their place keep the multiplexers small.
  for (genvar i = 0; i < int'(2 ** IndexWidth); i++) begin : g_half
    localparam int unsigned Word = input_of(i < int'(Never) ? i + int'(Half) : i, Words);
    assign odd[i]  = {rest_i[4*Word-12], rest_i[4*Word-11]};
    assign even[i] = {rest_i[4*Word-14], rest_i[4*Word-13]};
  end

  // The header is two half words. Its first one is the second one of a word, but behind an inner Ethernet header the first one.
  always_comb begin
    begun.step           = step_i;
    begun.rest           = rest_i;
    begun.head           = step_i.at[1] ? {odd[step_i.at[2+:IndexWidth]], even[step_i.even[IndexWidth-1:0]]}
                           : {even[step_i.even[IndexWidth-1:0]], odd[step_i.at[2+:IndexWidth]]};
    begun.fragment       = step_i.protocol == Fragment;
    begun.authentication = step_i.protocol == Authentication;
    begun.here           = step_i.going && step_i.six && step_i.protocol inside {HopByHop, Routing, Options, Fragment, Authentication};
    begun.less8          = step_i.left < 12'd8;
    begun.beyond         = step_i.at > 8'(WindowBytes - 8);
    begun.left2          = step_i.left[LeftWidth-1:2] - (LeftWidth-2)'(2);
    begun.room2          = (LeftWidth-2)'(8'(WindowBytes - 8) - step_i.at) >> 2;
  end

  pst_stage #(
      .Width($bits(begun_t)),
      .Registered(SplitStages)
  ) u_stage (
      .clk_i,
      .rst_i,
      .valid_i,
      .data_i (begun),
      .valid_o(valid),
      .data_o (t)
  );

  always_comb begin
    step_d = t.step;
    more   = t.fragment ? '0 : t.authentication ? {1'b0, t.head[23:16]} : {t.head[23:16], 1'b0};
    if (t.here) begin
      step_d.left = {t.left2 - (LeftWidth-2)'(more), t.step.left[1:0]};
      step_d.at   = {t.step.at[7:2] + 6'd2 + more[5:0], t.step.at[1:0]};
      step_d.even = t.step.even + 6'd2 + more[5:0];
      if (t.less8) step_d.ending = EndCut;
      else if (t.beyond) step_d.ending = EndBeyond;
      else if (t.authentication && t.head[23:16] == '0) step_d.ending = EndBadLength;
      else if (t.left2 < (LeftWidth-2)'(more)) step_d.ending = EndCut;
      else if (t.room2 < (LeftWidth-2)'(more)) step_d.ending = EndBeyond;
      else begin
        step_d.protocol = t.head[31:24];
        if (t.fragment) begin
          if (t.head[15:3] != '0) step_d.fragment = FragmentLater;
          else if (t.head[0]) step_d.fragment = FragmentFirst;
        end
      end
      if (step_d.ending != EndDone || step_d.fragment == FragmentLater) step_d.going = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= valid;
    if (valid) begin
      step_q <= step_d;
      rest_q <= t.rest;
    end
    if (rst_i) valid_q <= 1'b0;
  end

  logic unused;
  assign unused = &{1'b0, t.head[2:1]};

  assign valid_o = valid_q;
  assign step_o  = step_q;
  assign rest_o  = rest_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && valid_o && step_o.going) a_what_goes_on_has_not_ended : assert (step_o.ending == EndDone);
  end
`endif

endmodule
