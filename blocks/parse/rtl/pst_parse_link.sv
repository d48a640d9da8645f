// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads Ethernet, VLAN tags, LLC and SNAP, PPPoE and MPLS, and says where the header behind them begins; the window stays where it is.
//
// Throughput: a window per cycle. Latency: 3 cycles. Order: as they come. Reset: what is inside is forgotten.
// All of these headers and an Ethernet header below MPLS take LinkLast bytes at the most, so none of them ends behind the window.
module pst_parse_link
  import pst_parse_pkg::*;
#(
    parameter int unsigned WindowBytes = 128,
    localparam int unsigned RestBytes = WindowBytes - 14
) (
    input  logic                        clk_i,
    input  logic                        rst_i,
    input  mpls_e                       mpls_i,      // what is below MPLS labels
    input  logic                        valid_i,
    input  logic [WindowBytes-1:0][7:0] window_i,
    input  logic [LeftWidth-1:0]        left_i,
    output logic                        valid_o,
    output step_t                       step_o,      // NextInner, NextIpv4, NextIpv6 or NextNone
    output logic [RestBytes-1:0][7:0]   rest_o       // the window from byte 14 on
);

  localparam int unsigned Behind = 25;  // bytes behind the tags: 8 of SNAP or PPPoE, 16 of labels, one below them
  localparam int unsigned Below  = 17;

  logic [3:1] valid_q;
  step_t step1_d, step2_d, step3_d, step1_q, step2_q, step3_q;
  logic [RestBytes-1:0][7:0] rest1_q, rest2_q, rest3_q;

  // ---- 1: Ethernet, tags, and what the EtherType behind them says

  typedef struct packed {
    logic length;   // of an 802.3 frame
    logic pppoe;
  } kind_t;

  logic [2:0][15:0] types;              // where an EtherType stands behind 0, 1 and 2 tags
  logic going;                          // the EtherType says what follows
  logic [1:0] tags;
  logic [15:0] ethertype;
  kind_t kind_d, kind_q;
  logic [Behind-1:0][7:0] behind_d, behind_q;
  logic [LeftWidth-1:0] left6_d, left6_q;     // bytes behind the six up to the length of a PPPoE session, if there are so many

  always_comb begin
    step1_d = '0;
    for (int unsigned i = 0; i < 3; i++) types[i] = {window_i[12+4*i], window_i[13+4*i]};
    tags = 2'd0;
    if (is_tag(types[0]) && left_i >= 12'd18) tags = is_tag(types[1]) && left_i >= 12'd22 ? 2'd2 : 2'd1;
    unique case (tags)
      2'd0: begin
        ethertype    = types[0];
        step1_d.left = left_i - 12'd14;
        left6_d      = left_i - 12'd20;
        behind_d     = window_i[14+:Behind];
      end
      2'd1: begin
        ethertype    = types[1];
        step1_d.left = left_i - 12'd18;
        left6_d      = left_i - 12'd24;
        behind_d     = window_i[18+:Behind];
      end
      default: begin
        ethertype    = types[2];
        step1_d.left = left_i - 12'd22;
        left6_d      = left_i - 12'd28;
        behind_d     = window_i[22+:Behind];
      end
    endcase
    going         = left_i >= 12'd14 && !is_tag(ethertype);
    kind_d.length = going && ethertype <= 16'd1500;
    kind_d.pppoe  = going && ethertype == 16'h8864;
    step1_d.next  = going ? next_of(ethertype) : NextNone;
    step1_d.words = 4'(tags);
    if (left_i >= 12'd14) begin
      step1_d.headers.ethernet        = 1'b1;
      step1_d.headers.destination_mac = {window_i[0], window_i[1], window_i[2], window_i[3], window_i[4], window_i[5]};
      step1_d.headers.source_mac      = {window_i[6], window_i[7], window_i[8], window_i[9], window_i[10], window_i[11]};
      step1_d.headers.ethertype       = ethertype;
      step1_d.headers.tags            = tags;
      if (tags != 2'd0) step1_d.headers.outer_tag = tag(types[0], {window_i[14], window_i[15]});
      if (tags == 2'd2) step1_d.headers.inner_tag = tag(types[1], {window_i[18], window_i[19]});
    end
    if (!going) step1_d.headers.ending = tags == 2'd2 ? EndDeep : EndCut;
    else if (ethertype > 16'd1500 && ethertype < 16'h0600) step1_d.headers.ending = EndBadLength;
    else if (step1_d.next == NextNone) step1_d.headers.ending = EndUnknown;
  end

  // ---- 2: SNAP, PPPoE; both are of 8 bytes

  logic eight;
  logic [Below-1:0][7:0] below_d, below_q;
  logic [15:0] length, last;            // of a PPPoE session; the last two of the 8 bytes

  always_comb begin
    step2_d = step1_q;
    eight   = 1'b0;
    length  = {behind_q[4], behind_q[5]};
    last    = {behind_q[6], behind_q[7]};
    if (kind_q.length) begin
      step2_d.left           = bounded(step1_q.left, step1_q.headers.ethertype) - 12'd8;
      step2_d.headers.ending = EndUnknown;
      if (step1_q.left < 12'd8 || step1_q.headers.ethertype < 16'd8) begin
        step2_d.headers.ending = EndCut;
      end else if (behind_q[0] == 8'hAA && behind_q[1] == 8'hAA && behind_q[2] == 8'h03 && {behind_q[3], behind_q[4]} == 16'h0000
                   && (behind_q[5] == 8'h00 || behind_q[5] == 8'hF8)) begin
        eight                     = 1'b1;
        step2_d.headers.snap      = 1'b1;
        step2_d.headers.ethertype = last;
        step2_d.next              = next_of(last);
        if (step2_d.next != NextNone) step2_d.headers.ending = EndDone;
      end
    end
    if (kind_q.pppoe) begin
      step2_d.left = bounded(left6_q, length) - 12'd2;
      if (step1_q.left < 12'd6) begin
        step2_d.headers.ending = EndCut;
      end else if ({behind_q[0], behind_q[1]} != 16'h1100) begin
        step2_d.headers.ending = EndBadPppoe;
      end else begin
        step2_d.headers.pppoe   = 1'b1;
        step2_d.headers.session = {behind_q[2], behind_q[3]};
        if (step1_q.left < 12'd8 || length < 16'd2) begin
          step2_d.headers.ending = EndCut;
        end else begin
          eight               = 1'b1;
          step2_d.headers.ppp = last;
          step2_d.next        = next_of_ppp(last);
          if (step2_d.next != NextNone) step2_d.headers.ending = EndDone;
        end
      end
    end
    if (eight) step2_d.words = step1_q.words + 4'd2;
    below_d = kind_q != '0 ? behind_q[8+:Below] : behind_q[0+:Below];  // without the 8 bytes no header follows that needs them
  end

  // ---- 3: MPLS labels, and what is below them

  logic [4:0] more, whole;              // behind so many labels there is a byte; there are four
  logic [2:0] labels, taken;            // taken: words, five at most
  logic [7:0][LeftWidth-3:0] lefts;     // words that are left behind so many
  logic bottom, word;                   // a control word
  logic [3:0] nibble;

  always_comb begin
    step3_d = step2_q;
    labels  = 3'd0;
    bottom  = 1'b0;
    word    = 1'b0;
    nibble  = '0;
    for (int unsigned i = 0; i < 5; i++) begin
      more[i]  = step2_q.left > 12'(4 * i);
      whole[i] = step2_q.left >= 12'(4 * (i + 1));
    end
    for (int unsigned i = 0; i < 8; i++) lefts[i] = step2_q.left[LeftWidth-1:2] - (LeftWidth-2)'(i < 6 ? i : i - 4);
    if (step2_q.next == NextMpls) begin
      for (int unsigned i = 0; i < 4; i++) begin
        if (!bottom && labels == 3'(i) && whole[i]) begin
          labels                   = 3'(i + 1);
          step3_d.headers.label[i] = {below_q[4*i], below_q[4*i+1], below_q[4*i+2], below_q[4*i+3]};
          bottom                   = below_q[4*i+2][0];
          nibble                   = below_q[4*i+4][7:4];
        end
      end
      step3_d.headers.labels = labels;
      step3_d.next           = NextNone;
      if (!bottom) step3_d.headers.ending = labels == 3'd4 ? EndDeep : EndCut;
      else if (!more[labels]) step3_d.headers.ending = EndCut;
      else if (mpls_i == MplsEthernet) step3_d.next = NextInner;
      else if (nibble == 4'd4 && mpls_i != MplsControlWord) step3_d.next = NextIpv4;
      else if (nibble == 4'd6 && mpls_i != MplsControlWord) step3_d.next = NextIpv6;
      else if (nibble != 4'd0 || mpls_i == MplsIp) step3_d.headers.ending = EndUnknown;
      else if (!whole[labels]) step3_d.headers.ending = EndCut;
      else begin
        word                         = 1'b1;
        step3_d.next                 = NextInner;
        step3_d.headers.control_word = 1'b1;
      end
    end
    taken         = labels + 3'(word);
    step3_d.words = step2_q.words + 4'(taken);
    step3_d.left  = {lefts[taken], step2_q.left[1:0]};
  end

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[2:1], valid_i};
    if (valid_i) begin
      step1_q  <= step1_d;
      kind_q   <= kind_d;
      behind_q <= behind_d;
      left6_q  <= left6_d;
      rest1_q  <= window_i[WindowBytes-1:14];
    end
    if (valid_q[1]) begin
      step2_q <= step2_d;
      below_q <= below_d;
      rest2_q <= rest1_q;
    end
    if (valid_q[2]) begin
      step3_q <= step3_d;
      rest3_q <= rest2_q;
    end
    if (rst_i) valid_q <= '0;
  end

  assign valid_o = valid_q[3];
  assign step_o  = step3_q;
  assign rest_o  = rest3_q;

endmodule
