// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads Ethernet, VLAN tags, LLC and SNAP, PPPoE and MPLS, and says where the header behind them begins; the window stays where it is.
//
// Throughput: a window per cycle. Latency: 3 cycles, 6 with SplitStages. Order: as they come. Reset: what is inside is forgotten.
// All of these headers and an Ethernet header below MPLS take LinkLast bytes at the most, so none of them ends behind the window.
module pst_parse_link
  import pst_parse_pkg::*;
#(
    parameter int unsigned WindowBytes = 128,
    parameter bit          SplitStages = 1'b0,   // each stage is two
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

  logic valid1, valid2, valid3, valid1_q, valid2_q, valid3_q;
  step_t step1_d, step2_d, step3_d, step1_q, step2_q, step3_q;
  logic [RestBytes-1:0][7:0] rest1_q, rest2_q, rest3_q;

  // ---- 1: Ethernet and tags; then what the EtherType behind them says

  typedef struct packed {
    logic length;   // of an 802.3 frame
    logic pppoe;
  } kind_t;

  // What an EtherType says. All three are read while it is found out which one counts.
  typedef struct packed {
    logic  tag;
    logic  bad;     // neither a length nor an EtherType
    kind_t kind;
    next_e next;
  } meaning_t;

  typedef struct packed {
    logic [2:0][15:0]            types;   // where an EtherType stands behind 0, 1 and 2 tags
    meaning_t [2:0]              meanings;
    logic                        whole;   // the Ethernet header is there
    logic [1:0]                  tags;
    logic [LeftWidth-1:0]        left;
    logic [WindowBytes-1:0][7:0] window;
  } begun_t;

  begun_t begun, t1;
  meaning_t meaning;
  logic going;                          // the EtherType says what follows
  logic [15:0] ethertype;
  kind_t kind_d, kind_q;
  logic [Behind-1:0][7:0] behind_d, behind_q;
  logic [LeftWidth-1:0] left6_d, left6_q;     // bytes behind the six up to the length of a PPPoE session, if there are so many

  always_comb begin
    for (int unsigned i = 0; i < 3; i++) begin
      begun.types[i]                = {window_i[12+4*i], window_i[13+4*i]};
      begun.meanings[i].tag         = is_tag(begun.types[i]);
      begun.meanings[i].bad         = begun.types[i] > 16'd1500 && begun.types[i] < 16'h0600;
      begun.meanings[i].kind.length = begun.types[i] <= 16'd1500;
      begun.meanings[i].kind.pppoe  = begun.types[i] == 16'h8864;
      begun.meanings[i].next        = next_of(begun.types[i]);
    end
    begun.tags   = 2'd0;
    if (begun.meanings[0].tag && left_i >= 12'd18) begun.tags = begun.meanings[1].tag && left_i >= 12'd22 ? 2'd2 : 2'd1;
    begun.whole  = left_i >= 12'd14;
    begun.left   = left_i;
    begun.window = window_i;
  end

  pst_stage #(
      .Width($bits(begun_t)),
      .Registered(SplitStages)
  ) u_stage1 (
      .clk_i,
      .rst_i,
      .valid_i,
      .data_i (begun),
      .valid_o(valid1),
      .data_o (t1)
  );

  always_comb begin
    step1_d = '0;
    unique case (t1.tags)
      2'd0: begin
        ethertype    = t1.types[0];
        meaning      = t1.meanings[0];
        step1_d.left = t1.left - 12'd14;
        left6_d      = t1.left - 12'd20;
        behind_d     = t1.window[14+:Behind];
      end
      2'd1: begin
        ethertype    = t1.types[1];
        meaning      = t1.meanings[1];
        step1_d.left = t1.left - 12'd18;
        left6_d      = t1.left - 12'd24;
        behind_d     = t1.window[18+:Behind];
      end
      default: begin
        ethertype    = t1.types[2];
        meaning      = t1.meanings[2];
        step1_d.left = t1.left - 12'd22;
        left6_d      = t1.left - 12'd28;
        behind_d     = t1.window[22+:Behind];
      end
    endcase
    going         = t1.whole && !meaning.tag;
    kind_d        = going ? meaning.kind : '0;
    step1_d.next  = going ? meaning.next : NextNone;
    step1_d.words = 4'(t1.tags);
    if (t1.whole) begin
      step1_d.headers.ethernet        = 1'b1;
      step1_d.headers.destination_mac = {t1.window[0], t1.window[1], t1.window[2], t1.window[3], t1.window[4], t1.window[5]};
      step1_d.headers.source_mac      = {t1.window[6], t1.window[7], t1.window[8], t1.window[9], t1.window[10], t1.window[11]};
      step1_d.headers.ethertype       = ethertype;
      step1_d.headers.tags            = t1.tags;
      if (t1.tags != 2'd0) step1_d.headers.outer_tag = tag(t1.types[0], {t1.window[14], t1.window[15]});
      if (t1.tags == 2'd2) step1_d.headers.inner_tag = tag(t1.types[1], {t1.window[18], t1.window[19]});
    end
    if (!going) step1_d.headers.ending = t1.tags == 2'd2 ? EndDeep : EndCut;
    else if (meaning.bad) step1_d.headers.ending = EndBadLength;
    else if (meaning.next == NextNone) step1_d.headers.ending = EndUnknown;
  end

  // ---- 2: SNAP, PPPoE; both are of 8 bytes

  typedef struct packed {
    step_t                     step;
    logic [RestBytes-1:0][7:0] rest;
    kind_t                     kind;
    logic [Behind-1:0][7:0]    behind;
    logic [LeftWidth-1:0]      bound;        // what the length of the frame or session leaves
    logic                      less6, less8; // fewer bytes are left
    logic                      less_length;  // that length ends before these 8 bytes do
    logic                      snap, session;   // they are what is read
    next_e                     next;
  } eight_t;

  eight_t found8, t2;
  logic eight;
  logic [Below-1:0][7:0] below_d, below_q;
  logic [15:0] length, last;            // of a PPPoE session; the last two of the 8 bytes
  logic [15:0] last2;

  always_comb begin
    length             = {behind_q[4], behind_q[5]};
    last               = {behind_q[6], behind_q[7]};
    found8.step        = step1_q;
    found8.rest        = rest1_q;
    found8.kind        = kind_q;
    found8.behind      = behind_q;
    found8.less6       = step1_q.left < 12'd6;
    found8.less8       = step1_q.left < 12'd8;
    found8.bound       = kind_q.length ? bounded(step1_q.left, step1_q.headers.ethertype) : bounded(left6_q, length);
    found8.less_length = kind_q.length ? step1_q.headers.ethertype < 16'd8 : length < 16'd2;
    found8.next        = kind_q.length ? next_of(last) : next_of_ppp(last);
    found8.snap        = behind_q[0] == 8'hAA && behind_q[1] == 8'hAA && behind_q[2] == 8'h03 && {behind_q[3], behind_q[4]} == 16'h0000
                         && (behind_q[5] == 8'h00 || behind_q[5] == 8'hF8);
    found8.session     = {behind_q[0], behind_q[1]} == 16'h1100;
  end

  pst_stage #(
      .Width($bits(eight_t)),
      .Registered(SplitStages)
  ) u_stage2 (
      .clk_i,
      .rst_i,
      .valid_i(valid1_q),
      .data_i (found8),
      .valid_o(valid2),
      .data_o (t2)
  );

  always_comb begin
    step2_d = t2.step;
    eight   = 1'b0;
    last2   = {t2.behind[6], t2.behind[7]};
    if (t2.kind.length) begin
      step2_d.left           = t2.bound - 12'd8;
      step2_d.headers.ending = EndUnknown;
      if (t2.less8 || t2.less_length) begin
        step2_d.headers.ending = EndCut;
      end else if (t2.snap) begin
        eight                     = 1'b1;
        step2_d.headers.snap      = 1'b1;
        step2_d.headers.ethertype = last2;
      end
    end
    if (t2.kind.pppoe) begin
      step2_d.left = t2.bound - 12'd2;
      if (t2.less6) begin
        step2_d.headers.ending = EndCut;
      end else if (!t2.session) begin
        step2_d.headers.ending = EndBadPppoe;
      end else begin
        step2_d.headers.pppoe   = 1'b1;
        step2_d.headers.session = {t2.behind[2], t2.behind[3]};
        if (t2.less8 || t2.less_length) begin
          step2_d.headers.ending = EndCut;
        end else begin
          eight               = 1'b1;
          step2_d.headers.ppp = last2;
        end
      end
    end
    if (eight) begin
      step2_d.words = t2.step.words + 4'd2;
      step2_d.next  = t2.next;
      if (t2.next != NextNone) step2_d.headers.ending = EndDone;
    end
    below_d = t2.kind != '0 ? t2.behind[8+:Below] : t2.behind[0+:Below];  // without the 8 bytes no header follows that needs them
  end

  // ---- 3: MPLS labels; then what is below them

  typedef struct packed {
    step_t                     step;
    logic [RestBytes-1:0][7:0] rest;
    logic                      mpls;
    logic [2:0]                labels;
    logic                      bottom;       // the last label was read
    logic                      more, whole;  // behind it there is a byte; there are four
    logic [3:0]                nibble;       // the first four bits of it
  } labelled_t;

  labelled_t labelled, t3;
  logic [3:0] whole, bottoms, taken;    // four bytes are there; the bottom of the stack; the label is read
  logic [3:0] more, whole_behind;       // behind label i
  logic word;                           // a control word
  logic [LeftWidth-3:0] left_words;
  logic [3:0] words;

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      whole[i]        = step2_q.left >= 12'(4 * (i + 1));
      more[i]         = step2_q.left > 12'(4 * (i + 1));
      whole_behind[i] = step2_q.left >= 12'(4 * (i + 2));
      bottoms[i]      = below_q[4*i+2][0];
    end
    labelled        = '0;
    labelled.step   = step2_q;
    labelled.rest   = rest2_q;
    labelled.mpls   = step2_q.next == NextMpls;
    for (int unsigned i = 0; i < 4; i++) begin
      taken[i] = labelled.mpls && whole[i] && (bottoms & ((4'd1 << i) - 4'd1)) == '0;
      if (taken[i]) labelled.step.headers.label[i] = {below_q[4*i], below_q[4*i+1], below_q[4*i+2], below_q[4*i+3]};
      if (taken[i]) labelled.labels = 3'(i + 1);
      if (taken[i] && bottoms[i]) begin
        labelled.bottom = 1'b1;
        labelled.nibble |= below_q[4*i+4][7:4];
        labelled.more |= more[i];
        labelled.whole |= whole_behind[i];
      end
    end
  end

  pst_stage #(
      .Width($bits(labelled_t)),
      .Registered(SplitStages)
  ) u_stage3 (
      .clk_i,
      .rst_i,
      .valid_i(valid2_q),
      .data_i (labelled),
      .valid_o(valid3),
      .data_o (t3)
  );

  always_comb begin
    step3_d = t3.step;
    word    = 1'b0;
    if (t3.mpls) begin
      step3_d.headers.labels = t3.labels;
      step3_d.next           = NextNone;
      if (!t3.bottom) step3_d.headers.ending = t3.labels == 3'd4 ? EndDeep : EndCut;
      else if (!t3.more) step3_d.headers.ending = EndCut;
      else if (mpls_i == MplsEthernet) step3_d.next = NextInner;
      else if (t3.nibble == 4'd4 && mpls_i != MplsControlWord) step3_d.next = NextIpv4;
      else if (t3.nibble == 4'd6 && mpls_i != MplsControlWord) step3_d.next = NextIpv6;
      else if (t3.nibble != 4'd0 || mpls_i == MplsIp) step3_d.headers.ending = EndUnknown;
      else if (!t3.whole) step3_d.headers.ending = EndCut;
      else begin
        word                         = 1'b1;
        step3_d.next                 = NextInner;
        step3_d.headers.control_word = 1'b1;
      end
    end
    left_words    = t3.step.left[LeftWidth-1:2] - (LeftWidth-2)'(t3.labels);
    words         = t3.step.words + 4'(t3.labels);
    step3_d.words = word ? words + 1'b1 : words;
    step3_d.left  = {word ? left_words - 1'b1 : left_words, t3.step.left[1:0]};
  end

  always_ff @(posedge clk_i) begin
    valid1_q <= valid1;
    valid2_q <= valid2;
    valid3_q <= valid3;
    if (valid1) begin
      step1_q  <= step1_d;
      kind_q   <= kind_d;
      behind_q <= behind_d;
      left6_q  <= left6_d;
      rest1_q  <= t1.window[WindowBytes-1:14];
    end
    if (valid2) begin
      step2_q <= step2_d;
      below_q <= below_d;
      rest2_q <= t2.rest;
    end
    if (valid3) begin
      step3_q <= step3_d;
      rest3_q <= t3.rest;
    end
    if (rst_i) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
    end
  end

  assign valid_o = valid3_q;
  assign step_o  = step3_q;
  assign rest_o  = rest3_q;

endmodule
