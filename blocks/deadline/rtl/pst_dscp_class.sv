// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Gives each frame its class: the one that a table has for its DSCP (RFC 2474), or one that was handed over beside it.
//
// The field is found in the frame's first beat: Ethernet II, IPv4 or IPv6, behind up to two VLAN tags (IEEE 802.1Q 0x8100, 802.1ad
// 0x88A8). All else has the default class: what is not IP, whose version does not fit its type, or that ends before the field does.
// All beats of a frame have its class. A write to the table counts for frames whose first beat comes in later cycles.
//
// Throughput: a beat per cycle. Latency: 2 cycles. Order: as they come.
// Reset: beats inside are lost, the next one begins a frame; every DSCP and the default have class 0.
module pst_dscp_class #(
    parameter int unsigned Classes       = 64,     // 2 .. 256
    parameter bit          ClassFromUser = 1'b0,   // s_class_i at the first beat is the class; the table is left out
    parameter int unsigned UserWidth     = 16,     // bits beside each beat
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    // the table
    input  logic                  set_valid_i,
    input  logic [           6:0] set_dscp_i,      // 64 and above: the default
    input  logic [ClassWidth-1:0] set_class_i,
    // frames in
    input  logic                  s_valid_i,
    output logic                  s_ready_o,
    input  logic [         511:0] s_data_i,        // byte 0 in s_data_i[7:0]
    input  logic [           6:0] s_bytes_i,       // 1 .. 64, counts at the last beat
    input  logic                  s_last_i,
    input  logic                  s_bad_i,
    input  logic [ClassWidth-1:0] s_class_i,       // with ClassFromUser, at the first beat
    input  logic [ UserWidth-1:0] s_user_i,        // goes through with each beat
    // frames out, with their class
    output logic                  m_valid_o,
    input  logic                  m_ready_i,
    output logic [         511:0] m_data_o,
    output logic [           6:0] m_bytes_o,
    output logic                  m_last_o,
    output logic                  m_bad_o,
    output logic [ClassWidth-1:0] m_class_o,
    output logic [ UserWidth-1:0] m_user_o
);

  localparam logic [15:0] TypeVlan = 16'h8100, TypeServiceVlan = 16'h88A8, TypeIpv4 = 16'h0800, TypeIpv6 = 16'h86DD;
  localparam int unsigned EthernetBytes = 14, TagBytes = 4;

  if (Classes < 2 || Classes > 256) begin : g_bad_classes
    $error("pst_dscp_class: Classes is %0d, allowed: 2..256", Classes);
  end

  typedef struct packed {
    logic [511:0] data;
    logic [6:0]   bytes;
    logic         last;
    logic         bad;
    logic [UserWidth-1:0] user;
  } beat_t;

  function automatic logic [15:0] word_at(input logic [511:0] beat, input int unsigned at);
    return {beat[8*at+:8], beat[8*(at+1)+:8]};
  endfunction

  function automatic logic is_tag(input logic [15:0] ethertype);
    return ethertype == TypeVlan || ethertype == TypeServiceVlan;
  endfunction

  beat_t beat_q, beat_q2;
  logic valid_q, valid_q2, ready, ready2, take, take2, first_q;
  logic [ClassWidth-1:0] looked_up, class_q2;    // of the frame whose beat is in beat_q; of the one in beat_q2
  logic start_q;                                 // beat_q is a frame's first

  assign ready2    = !valid_q2 || m_ready_i;
  assign ready     = !valid_q || ready2;
  assign s_ready_o = ready;
  assign take      = s_valid_i && ready;
  assign take2     = valid_q && ready2;

  always_ff @(posedge clk_i) begin
    if (take) begin
      beat_q  <= '{data: s_data_i, bytes: s_bytes_i, last: s_last_i, bad: s_bad_i, user: s_user_i};
      start_q <= first_q;
      first_q <= s_last_i;
    end
    if (take2) begin
      beat_q2 <= beat_q;
      if (start_q) class_q2 <= looked_up;
    end
    if (ready) valid_q <= s_valid_i;
    if (ready2) valid_q2 <= valid_q;
    if (rst_i) begin
      valid_q  <= 1'b0;
      valid_q2 <= 1'b0;
      first_q  <= 1'b1;
    end
  end

  assign m_valid_o = valid_q2;
  assign m_data_o  = beat_q2.data;
  assign m_bytes_o = beat_q2.bytes;
  assign m_last_o  = beat_q2.last;
  assign m_bad_o   = beat_q2.bad;
  assign m_user_o  = beat_q2.user;
  assign m_class_o = class_q2;

  if (ClassFromUser) begin : g_handed_over
    logic [ClassWidth-1:0] class_q;
    always_ff @(posedge clk_i) if (take) class_q <= s_class_i;
    assign looked_up = class_q;
    logic unused;
    assign unused = &{1'b0, set_valid_i, set_dscp_i, set_class_i};
  end else begin : g_table
    logic [15:0] ethertype;            // of what is behind the tags
    logic [15:2] lead;                 // the first 14 bits of its header: version and DSCP are among them
    logic [1:0] tags;
    logic whole, known, known_q;
    logic [5:0] dscp, dscp_q;
    logic [64:0][ClassWidth-1:0] table_q;  // the last one is the default

    always_comb begin
      tags = 2'd0;
      if (is_tag(word_at(s_data_i, 12))) tags = is_tag(word_at(s_data_i, 16)) ? 2'd2 : 2'd1;
      ethertype = '0;
      lead      = '0;
      whole     = 1'b0;
      for (int unsigned t = 0; t < 3; t++) begin
        if (tags == 2'(t)) begin
          ethertype = word_at(s_data_i, EthernetBytes - 2 + TagBytes * t);
          lead      = 14'(word_at(s_data_i, EthernetBytes + TagBytes * t) >> 2);
          whole     = !s_last_i || 32'(s_bytes_i) >= EthernetBytes + TagBytes * t + 2;
        end
      end
      dscp  = ethertype == TypeIpv4 ? lead[7:2] : lead[11:6];
      known = whole && ((ethertype == TypeIpv4 && lead[15:12] == 4'd4) || (ethertype == TypeIpv6 && lead[15:12] == 4'd6));
    end

    always_ff @(posedge clk_i) begin
      if (take) begin
        known_q <= known;
        dscp_q  <= dscp;
      end
      if (set_valid_i) table_q[set_dscp_i[6] ? 7'd64 : set_dscp_i] <= set_class_i;
      if (rst_i) table_q <= '0;
    end

    assign looked_up = table_q[known_q ? {1'b0, dscp_q} : 7'd64];
    logic unused;
    assign unused = &{1'b0, s_class_i};
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_bytes : assert (!(take && s_last_i) || (s_bytes_i >= 7'd1 && s_bytes_i <= 7'd64)) else $error("%0d bytes at the end", s_bytes_i);
      a_class_there : assert (!set_valid_i || 32'(set_class_i) < Classes) else $error("there is no class %0d", set_class_i);
    end
  end
`endif

endmodule
