// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Steps over one extension header of IPv6: hop-by-hop options, routing, fragment, authentication (RFC 4302) or destination options.
//
// Throughput: a window per cycle. Latency: 1 cycle. Order: as they come. Reset: what is inside is forgotten.
module pst_parse_extension
  import pst_parse_pkg::*;
#(
    parameter int unsigned WindowBytes = 128,
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

  logic valid_q, here;
  upper_step_t step_d, step_q;
  logic [RestBytes-1:0][7:0] rest_q;
  logic [2**IndexWidth-1:0][15:0] odd, even;        // half words of the window: the second and the first one of each word
  logic [31:0] head;                    // the first four bytes of the header
  logic [8:0] more;                     // words of the header behind the first two
  logic [LeftWidth-3:0] left2, room2;   // words behind the first two: in the frame, in the window

  // The first words are never chosen: others in their place keep the multiplexers small.
  for (genvar i = 0; i < int'(2 ** IndexWidth); i++) begin : g_half
    localparam int unsigned Word = input_of(i < int'(Never) ? i + int'(Half) : i, Words);
    assign odd[i]  = {rest_i[4*Word-12], rest_i[4*Word-11]};
    assign even[i] = {rest_i[4*Word-14], rest_i[4*Word-13]};
  end

  // The header is two half words. Its first one is the second one of a word, but behind an inner Ethernet header the first one.
  assign head = step_i.at[1] ? {odd[step_i.at[2+:IndexWidth]], even[step_i.even[IndexWidth-1:0]]}
                : {even[step_i.even[IndexWidth-1:0]], odd[step_i.at[2+:IndexWidth]]};

  always_comb begin
    step_d = step_i;
    here   = 1'b0;
    more   = {head[23:16], 1'b0};
    unique case (step_i.protocol)
      HopByHop, Routing, Options: here = 1'b1;
      Fragment: begin
        here = 1'b1;
        more = '0;
      end
      Authentication: begin
        here = 1'b1;
        more = {1'b0, head[23:16]};
      end
      default: ;
    endcase
    left2 = step_i.left[LeftWidth-1:2] - (LeftWidth-2)'(2);
    room2 = (LeftWidth-2)'(8'(WindowBytes - 8) - step_i.at) >> 2;
    if (step_i.going && step_i.six && here) begin
      step_d.left = {left2 - (LeftWidth-2)'(more), step_i.left[1:0]};
      step_d.at   = {step_i.at[7:2] + 6'd2 + more[5:0], step_i.at[1:0]};
      step_d.even = step_i.even + 6'd2 + more[5:0];
      if (step_i.left < 12'd8) step_d.ending = EndCut;
      else if (step_i.at > 8'(WindowBytes - 8)) step_d.ending = EndBeyond;
      else if (step_i.protocol == Authentication && head[23:16] == '0) step_d.ending = EndBadLength;
      else if (left2 < (LeftWidth-2)'(more)) step_d.ending = EndCut;
      else if (room2 < (LeftWidth-2)'(more)) step_d.ending = EndBeyond;
      else begin
        step_d.protocol = head[31:24];
        if (step_i.protocol == Fragment) begin
          if (head[15:3] != '0) step_d.fragment = FragmentLater;
          else if (head[0]) step_d.fragment = FragmentFirst;
        end
      end
      if (step_d.ending != EndDone || step_d.fragment == FragmentLater) step_d.going = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= valid_i;
    if (valid_i) begin
      step_q <= step_d;
      rest_q <= rest_i;
    end
    if (rst_i) valid_q <= 1'b0;
  end

  logic unused;
  assign unused = &{1'b0, head[2:1]};

  assign valid_o = valid_q;
  assign step_o  = step_q;
  assign rest_o  = rest_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && valid_o && step_o.going) a_what_goes_on_has_not_ended : assert (step_o.ending == EndDone);
  end
`endif

endmodule
