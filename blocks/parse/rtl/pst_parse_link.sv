// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads Ethernet, VLAN tags, LLC and SNAP, PPPoE, MPLS, and an Ethernet header below MPLS; moves what follows to the front of the window.
//
// Throughput: a window per cycle. Latency: 7 cycles. Order: as they come. Reset: what is inside is forgotten.
// All of these headers together take LinkLast bytes at the most, so none of them ends behind the window.
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
    output step_t                       step_o,      // NextIpv4, NextIpv6 or NextNone
    output logic [RestBytes-1:0][7:0]   rest_o       // from the next header on
);

  typedef logic [RestBytes-1:0][7:0] rest_t;

  function automatic logic [15:0] word(input rest_t rest, input int unsigned at);
    return {rest[at], rest[at+1]};
  endfunction

  logic [7:1] valid_q;
  step_t step1_d, step2_d, step3_d, step4_d, step5_d, step6_d, step7_d;
  step_t step1_q, step2_q, step3_q, step4_q, step5_q, step6_q, step7_q;
  rest_t rest1_q, rest2_d, rest2_q, rest3_q, rest4_d, rest4_q, rest5_q, rest6_d, rest6_q, rest7_d, rest7_q;

  // ---- 1: Ethernet and the number of tags

  logic [2:0][15:0] types;              // where an EtherType stands behind 0, 1 and 2 tags
  logic going1_d, going1_q;             // the EtherType says what follows
  logic [1:0] tags;

  always_comb begin
    step1_d = '0;
    for (int unsigned i = 0; i < 3; i++) types[i] = {window_i[12+4*i], window_i[13+4*i]};
    tags = 2'd0;
    if (is_tag(types[0]) && left_i >= 12'd18) tags = is_tag(types[1]) && left_i >= 12'd22 ? 2'd2 : 2'd1;
    going1_d = left_i >= 12'd14 && !is_tag(types[tags]);
    step1_d.left = left_i - 12'd14 - 12'({tags, 2'b00});
    step1_d.room = 8'(WindowBytes - 14) - 8'({tags, 2'b00});
    if (left_i >= 12'd14) begin
      step1_d.headers.ethernet        = 1'b1;
      step1_d.headers.destination_mac = {window_i[0], window_i[1], window_i[2], window_i[3], window_i[4], window_i[5]};
      step1_d.headers.source_mac      = {window_i[6], window_i[7], window_i[8], window_i[9], window_i[10], window_i[11]};
      step1_d.headers.ethertype       = types[tags];
      step1_d.headers.tags            = tags;
      if (tags != 2'd0) step1_d.headers.outer_tag = tag(types[0], {window_i[14], window_i[15]});
      if (tags == 2'd2) step1_d.headers.inner_tag = tag(types[1], {window_i[18], window_i[19]});
    end
    if (!going1_d) step1_d.headers.ending = tags == 2'd2 ? EndDeep : EndCut;
  end

  // ---- 2: behind the tags; what the EtherType says

  typedef struct packed {
    logic length;   // of an 802.3 frame
    logic odd;      // neither a length nor an EtherType
    logic pppoe;
  } kind_t;
  kind_t kind_d, kind_q;

  always_comb begin
    step2_d = step1_q;
    kind_d  = '0;
    rest2_d = rest1_q;
    for (int unsigned i = 0; i < 3; i++) if (step1_q.headers.tags == 2'(i)) rest2_d = rest1_q >> (32 * i);
    if (going1_q) begin
      kind_d.length = step1_q.headers.ethertype <= 16'd1500;
      kind_d.odd    = step1_q.headers.ethertype > 16'd1500 && step1_q.headers.ethertype < 16'h0600;
      kind_d.pppoe  = step1_q.headers.ethertype == 16'h8864;
      step2_d.next  = next_of(step1_q.headers.ethertype);
      if (step2_d.next == NextNone) step2_d.headers.ending = EndUnknown;
    end
  end

  // ---- 3: SNAP, PPPoE; both are of 8 bytes

  logic eight_d, eight_q;

  always_comb begin
    step3_d = step2_q;
    eight_d = 1'b0;
    if (kind_q.odd) step3_d.headers.ending = EndBadLength;
    if (kind_q.length) begin
      step3_d.left           = bounded(step2_q.left, step2_q.headers.ethertype) - 12'd8;
      step3_d.headers.ending = EndUnknown;
      if (step2_q.left < 12'd8 || step2_q.headers.ethertype < 16'd8) begin
        step3_d.headers.ending = EndCut;
      end else if (rest2_q[0] == 8'hAA && rest2_q[1] == 8'hAA && rest2_q[2] == 8'h03 && word(rest2_q, 3) == 16'h0000
                   && (rest2_q[5] == 8'h00 || rest2_q[5] == 8'hF8)) begin
        eight_d                   = 1'b1;
        step3_d.headers.snap      = 1'b1;
        step3_d.headers.ethertype = word(rest2_q, 6);
        step3_d.next              = next_of(word(rest2_q, 6));
        if (step3_d.next != NextNone) step3_d.headers.ending = EndDone;
      end
    end
    if (kind_q.pppoe) begin
      step3_d.left = bounded(step2_q.left - 12'd8, word(rest2_q, 4) - 16'd2);
      if (step2_q.left < 12'd6) begin
        step3_d.headers.ending = EndCut;
      end else if (word(rest2_q, 0) != 16'h1100) begin
        step3_d.headers.ending = EndBadPppoe;
      end else begin
        step3_d.headers.pppoe   = 1'b1;
        step3_d.headers.session = word(rest2_q, 2);
        if (step2_q.left < 12'd8 || word(rest2_q, 4) < 16'd2) begin
          step3_d.headers.ending = EndCut;
        end else begin
          eight_d             = 1'b1;
          step3_d.headers.ppp = word(rest2_q, 6);
          step3_d.next        = next_of_ppp(word(rest2_q, 6));
          if (step3_d.next != NextNone) step3_d.headers.ending = EndDone;
        end
      end
    end
    if (eight_d) step3_d.room = step2_q.room - 8'd8;
  end

  // ---- 4: behind the 8 bytes; MPLS labels

  logic [2:0] labels4;
  logic bottom4;

  always_comb begin
    step4_d = step3_q;
    rest4_d = eight_q ? rest3_q >> 64 : rest3_q;
    labels4 = 3'd0;
    bottom4 = 1'b0;
    if (step3_q.next == NextMpls) begin
      for (int unsigned i = 0; i < 4; i++) begin
        if (!bottom4 && labels4 == 3'(i) && step3_q.left >= 12'(4 * (i + 1))) begin
          labels4                  = 3'(i + 1);
          step4_d.headers.label[i] = {word(rest4_d, 4 * i), word(rest4_d, 4 * i + 2)};
          bottom4                  = rest4_d[4*i+2][0];
        end
      end
      step4_d.headers.labels = labels4;
      step4_d.left           = step3_q.left - 12'({labels4, 2'b00});
      step4_d.room           = step3_q.room - 8'({labels4, 2'b00});
      if (!bottom4) begin
        step4_d.next           = NextNone;
        step4_d.headers.ending = labels4 == 3'd4 ? EndDeep : EndCut;
      end
    end
  end

  // ---- 5: what is below the labels

  logic [3:0] nibble;
  logic word5_d, word5_q;               // a control word

  always_comb begin
    step5_d = step4_q;
    word5_d = 1'b0;
    nibble  = '0;
    for (int unsigned i = 1; i <= 4; i++) if (step4_q.headers.labels == 3'(i)) nibble = rest4_q[4*i][7:4];
    if (step4_q.next == NextMpls) begin
      step5_d.next = NextNone;
      if (step4_q.left == '0) step5_d.headers.ending = EndCut;
      else if (mpls_i == MplsEthernet) step5_d.next = NextInner;
      else if (nibble == 4'd4 && mpls_i != MplsControlWord) step5_d.next = NextIpv4;
      else if (nibble == 4'd6 && mpls_i != MplsControlWord) step5_d.next = NextIpv6;
      else if (nibble != 4'd0 || mpls_i == MplsIp) step5_d.headers.ending = EndUnknown;
      else if (step4_q.left < 12'd4) step5_d.headers.ending = EndCut;
      else begin
        word5_d                      = 1'b1;
        step5_d.next                 = NextInner;
        step5_d.headers.control_word = 1'b1;
        step5_d.left                 = step4_q.left - 12'd4;
        step5_d.room                 = step4_q.room - 8'd4;
      end
    end
  end

  // ---- 6: behind labels and control word; the inner Ethernet header

  logic fourteen_d, fourteen_q;

  always_comb begin
    step6_d    = step5_q;
    fourteen_d = 1'b0;
    rest6_d    = rest5_q;
    for (int unsigned i = 1; i <= 5; i++) if (step5_q.headers.labels + 3'(word5_q) == 3'(i)) rest6_d = rest5_q >> (32 * i);
    if (step5_q.next == NextInner) begin
      step6_d.next = NextNone;
      if (step5_q.left < 12'd14) begin
        step6_d.headers.ending = EndCut;
      end else begin
        fourteen_d                             = 1'b1;
        step6_d.headers.inner_ethernet         = 1'b1;
        step6_d.headers.inner_destination_mac  = {word(rest6_d, 0), word(rest6_d, 2), word(rest6_d, 4)};
        step6_d.headers.inner_source_mac       = {word(rest6_d, 6), word(rest6_d, 8), word(rest6_d, 10)};
        step6_d.headers.inner_ethertype        = word(rest6_d, 12);
        step6_d.left                           = step5_q.left - 12'd14;
        step6_d.room                           = step5_q.room - 8'd14;
      end
    end
  end

  // ---- 7: behind the inner Ethernet header

  always_comb begin
    step7_d = step6_q;
    rest7_d = fourteen_q ? rest6_q >> 112 : rest6_q;
    if (fourteen_q) begin
      if (step6_q.headers.inner_ethertype == 16'h0800) step7_d.next = NextIpv4;
      else if (step6_q.headers.inner_ethertype == 16'h86DD) step7_d.next = NextIpv6;
      else step7_d.headers.ending = EndUnknown;
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q    <= {valid_q[6:1], valid_i};
    step1_q    <= step1_d;
    going1_q   <= going1_d;
    rest1_q    <= window_i[WindowBytes-1:14];
    step2_q    <= step2_d;
    kind_q     <= kind_d;
    rest2_q    <= rest2_d;
    step3_q    <= step3_d;
    eight_q    <= eight_d;
    rest3_q    <= rest2_q;
    step4_q    <= step4_d;
    rest4_q    <= rest4_d;
    step5_q    <= step5_d;
    word5_q    <= word5_d;
    rest5_q    <= rest4_q;
    step6_q    <= step6_d;
    fourteen_q <= fourteen_d;
    rest6_q    <= rest6_d;
    step7_q    <= step7_d;
    rest7_q    <= rest7_d;
    if (rst_i) valid_q <= '0;
  end

  assign valid_o = valid_q[7];
  assign step_o  = step7_q;
  assign rest_o  = rest7_q;

endmodule
