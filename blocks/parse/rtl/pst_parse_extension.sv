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
    input  step_t                     step_i,     // NextUpper or NextNone
    input  logic [5:0]                words_i,    // words of 4 bytes from the IP header to the next one
    input  logic [RestBytes-1:0][7:0] rest_i,     // from the IP header on
    output logic                      valid_o,
    output step_t                     step_o,
    output logic [5:0]                words_o,
    output logic [RestBytes-1:0][7:0] rest_o
);

  localparam logic [7:0] HopByHop = 8'd0, Routing = 8'd43, Fragment = 8'd44, Authentication = 8'd51, Options = 8'd60;
  localparam int unsigned Words = RestBytes / 4;

  logic valid_q, here;
  step_t step_d, step_q;
  logic [5:0] words_d, words_q;
  logic [RestBytes-1:0][7:0] rest_q;
  logic [31:0] head;                    // the first four bytes of the header
  logic [11:0] size;

  always_comb begin
    step_d  = step_i;
    words_d = words_i;
    head    = '0;
    for (int unsigned i = 10; i < Words; i++) begin
      if (words_i == 6'(i)) head = {rest_i[4*i], rest_i[4*i+1], rest_i[4*i+2], rest_i[4*i+3]};
    end
    here = 1'b0;
    size = {1'b0, head[23:16], 3'd0} + 12'd8;
    unique case (step_i.headers.protocol)
      HopByHop, Routing, Options: here = 1'b1;
      Fragment: begin
        here = 1'b1;
        size = 12'd8;
      end
      Authentication: begin
        here = 1'b1;
        size = {2'b00, head[23:16], 2'd0} + 12'd8;
      end
      default: ;
    endcase
    if (step_i.next == NextUpper && step_i.headers.ip == 3'd6 && here) begin
      step_d.left = step_i.left - size;
      step_d.room = step_i.room - size[7:0];
      words_d     = words_i + size[7:2];
      if (step_i.left < 12'd8) step_d.headers.ending = EndCut;
      else if (step_i.room < 8'd8) step_d.headers.ending = EndBeyond;
      else if (step_i.headers.protocol == Authentication && head[23:16] == '0) step_d.headers.ending = EndBadLength;
      else if (step_i.left < size) step_d.headers.ending = EndCut;
      else if (12'(step_i.room) < size) step_d.headers.ending = EndBeyond;
      else begin
        step_d.headers.protocol = head[31:24];
        if (step_i.headers.protocol == Fragment) begin
          if (head[15:3] != '0) step_d.headers.fragment = FragmentLater;
          else if (head[0]) step_d.headers.fragment = FragmentFirst;
        end
      end
      if (step_d.headers.ending != EndDone || step_d.headers.fragment == FragmentLater) step_d.next = NextNone;
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= valid_i;
    step_q  <= step_d;
    words_q <= words_d;
    rest_q  <= rest_i;
    if (rst_i) valid_q <= 1'b0;
  end

  logic unused;
  assign unused = &{1'b0, head[2:1]};

  assign valid_o = valid_q;
  assign step_o  = step_q;
  assign words_o = words_q;
  assign rest_o  = rest_q;

endmodule
