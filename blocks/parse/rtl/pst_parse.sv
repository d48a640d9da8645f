// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads the headers in the first WindowBytes bytes of each frame: frames pass unchanged, and each has one header vector.
//
// Read are Ethernet and 802.3 with LLC and SNAP, two VLAN tags, PPPoE, four MPLS labels with what is below them, IPv4, IPv6 with
// ExtensionHeaders extension headers, TCP, UDP, SCTP, ICMP, ESP, GTP-U and L2TP. A vector has the fields of all headers that were read
// whole, and why reading ended there (pst_parse_pkg::end_e). No frame is dropped.
//
// Throughput: a beat per cycle, hence with beats of 64 bytes a frame of 60 bytes in each cycle.
// Latency:    frames 0 cycles; a vector 11 + ExtensionHeaders cycles after the beat that ends the frame or fills the window, with SplitStages
//             18 + 2 * ExtensionHeaders.
// Ordering:   vectors in the order of the frames. A vector may come before the frame's last beat, if that is behind the window.
// Reset:      frames and vectors inside are forgotten; the next beat begins a frame.
module pst_parse
  import pst_parse_pkg::*;
#(
    parameter int unsigned DataBytes        = 64,    // bytes of a beat: 8, 16, 32 or 64
    parameter int unsigned WindowBytes      = 128,   // 64 .. 192, a multiple of DataBytes; headers that end behind it are not read
    parameter int unsigned ExtensionHeaders = 4,     // of IPv6, 0 .. 8; each is a stage
    parameter bit          Tunnels          = 1'b1,  // GTP-U and L2TP are read
    parameter bit          SplitStages      = 1'b0,  // stages are two or three, for a slow technology
    parameter int unsigned Vectors          = 32     // room for vectors that are not taken; for full rate two more than the latency
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  mpls_e                  mpls_i,           // what is below MPLS labels; may change at any time, between two frames
    // frames in
    input  logic [8*DataBytes-1:0] s_axis_tdata_i,   // byte 0 in the low bits
    input  logic [  DataBytes-1:0] s_axis_tkeep_i,   // contiguous from bit 0, full before the last beat
    input  logic                   s_axis_tlast_i,
    input  logic                   s_axis_tuser_i,
    input  logic                   s_axis_tvalid_i,
    output logic                   s_axis_tready_o,
    // the same frames out, in the same cycle
    output logic [8*DataBytes-1:0] m_axis_tdata_o,
    output logic [  DataBytes-1:0] m_axis_tkeep_o,
    output logic                   m_axis_tlast_o,
    output logic                   m_axis_tuser_o,
    output logic                   m_axis_tvalid_o,
    input  logic                   m_axis_tready_i,
    // one vector for each frame
    output logic                   m_headers_valid_o,
    input  logic                   m_headers_ready_i,
    output headers_t               m_headers_o
);

  localparam int unsigned CountWidth = $clog2(Vectors + 1);

  if (Vectors < 1) begin : g_bad_vectors
    $error("pst_parse: Vectors is %0d, must be at least 1", Vectors);
  end

  // ---- frames pass; one whose vector would have no room waits at its first beat

  logic first_q, room, take;
  logic [CountWidth-1:0] frames_q;      // that have begun and whose vector was not taken

  assign room            = !first_q || frames_q != CountWidth'(Vectors);
  assign s_axis_tready_o = m_axis_tready_i && room;
  assign m_axis_tvalid_o = s_axis_tvalid_i && room;
  assign m_axis_tdata_o  = s_axis_tdata_i;
  assign m_axis_tkeep_o  = s_axis_tkeep_i;
  assign m_axis_tlast_o  = s_axis_tlast_i;
  assign m_axis_tuser_o  = s_axis_tuser_i;
  assign take            = s_axis_tvalid_i && s_axis_tready_o;

  always_ff @(posedge clk_i) begin
    if (take) first_q <= s_axis_tlast_i;
    frames_q <= frames_q + CountWidth'(take && first_q) - CountWidth'(m_headers_valid_o && m_headers_ready_i);
    if (rst_i) begin
      first_q  <= 1'b1;
      frames_q <= '0;
    end
  end

  // ---- the stages; each part of a vector has a FIFO, and the last part comes last

  logic headers_valid, upper_valid, headers_ready, upper_ready, headers_there;
  headers_t stage_headers, kept, vector;
  upper_t stage_upper, upper;

  pst_parse_stages #(
      .DataBytes(DataBytes),
      .WindowBytes(WindowBytes),
      .ExtensionHeaders(ExtensionHeaders),
      .Tunnels(Tunnels),
      .SplitStages(SplitStages)
  ) u_stages (
      .clk_i,
      .rst_i,
      .mpls_i,
      .beat_valid_i   (take),
      .beat_data_i    (s_axis_tdata_i),
      .beat_keep_i    (s_axis_tkeep_i),
      .beat_last_i    (s_axis_tlast_i),
      .headers_valid_o(headers_valid),
      .headers_o      (stage_headers),
      .upper_valid_o  (upper_valid),
      .upper_o        (stage_upper)
  );

  always_comb begin
    kept                = stage_headers;
    kept.ending         = EndDone;
    kept.protocol       = '0;
    kept.fragment       = FragmentNone;
    kept.transport      = TransportNone;
    kept.transport_word = '0;
    kept.transport_at   = '0;
    kept.tunnel         = TunnelNone;
    kept.tunnel_control = 1'b0;
    kept.tunnel_id      = '0;
  end

  pst_fifo #(
      .Width($bits(headers_t)),
      .Depth(Vectors)
  ) u_headers (
      .clk_i,
      .rst_i,
      .s_valid_i(headers_valid),
      .s_ready_o(headers_ready),
      .s_data_i (kept),
      .m_valid_o(headers_there),
      .m_ready_i(m_headers_valid_o && m_headers_ready_i),
      .m_data_o (vector),
      .level_o  ()
  );

  pst_fifo #(
      .Width($bits(upper_t)),
      .Depth(Vectors)
  ) u_upper (
      .clk_i,
      .rst_i,
      .s_valid_i(upper_valid),
      .s_ready_o(upper_ready),
      .s_data_i (stage_upper),
      .m_valid_o(m_headers_valid_o),
      .m_ready_i(m_headers_ready_i),
      .m_data_o (upper),
      .level_o  ()
  );

  always_comb begin
    m_headers_o                = vector;
    m_headers_o.ending         = upper.ending;
    m_headers_o.protocol       = upper.protocol;
    m_headers_o.fragment       = upper.fragment;
    m_headers_o.transport      = upper.transport;
    m_headers_o.transport_word = upper.transport_word;
    m_headers_o.transport_at   = upper.transport_at;
    m_headers_o.tunnel         = upper.tunnel;
    m_headers_o.tunnel_control = upper.tunnel_control;
    m_headers_o.tunnel_id      = upper.tunnel_id;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_headers_have_room : assert (!headers_valid || headers_ready);
      a_upper_has_room : assert (!upper_valid || upper_ready);
      a_upper_comes_last : assert (!m_headers_valid_o || headers_there);
      a_keep_contiguous : assert (!take || (s_axis_tkeep_i & (s_axis_tkeep_i + 1'b1)) == '0);
      a_keep_full : assert (!take || s_axis_tlast_i || (&s_axis_tkeep_i));
    end
  end
`endif

endmodule
