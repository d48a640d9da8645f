// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads the headers in the first WindowBytes bytes of each frame: frames pass unchanged, and each has one header vector.
//
// Read are Ethernet and 802.3 with LLC and SNAP, two VLAN tags, PPPoE, four MPLS labels with what is below them, IPv4, IPv6 with
// ExtensionHeaders extension headers, TCP, UDP, SCTP, ICMP, ESP, GTP-U and L2TP. A vector has the fields of all headers that were read
// whole, and why reading ended there (pst_parse_pkg::end_e). No frame is dropped.
//
// Throughput: a beat per cycle, hence with beats of 64 bytes a frame of 60 bytes in each cycle.
// Latency:    frames 0 cycles; a vector 14 + ExtensionHeaders cycles after the beat that ends the frame or fills the window.
// Ordering:   vectors in the order of the frames. A vector may come before the frame's last beat, if that is behind the window.
// Reset:      frames and vectors inside are forgotten; the next beat begins a frame.
module pst_parse
  import pst_parse_pkg::*;
#(
    parameter int unsigned DataBytes        = 64,    // bytes of a beat: 8, 16, 32 or 64
    parameter int unsigned WindowBytes      = 128,   // 64 .. 192, a multiple of DataBytes; headers that end behind it are not read
    parameter int unsigned ExtensionHeaders = 4,     // of IPv6, 0 .. 8; each is a stage
    parameter bit          Tunnels          = 1'b1,  // GTP-U and L2TP are read
    parameter int unsigned Vectors          = 32     // room for vectors that are not taken, >= ExtensionHeaders + 16 for full rate
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

  localparam int unsigned LinkLast = 64;  // the link headers end at this byte at the latest (pst_parse_link)
  localparam int unsigned RestBytes = WindowBytes - 14;
  localparam int unsigned CountWidth = $clog2(Vectors + 1);

  if (DataBytes != 8 && DataBytes != 16 && DataBytes != 32 && DataBytes != 64) begin : g_bad_data_bytes
    $error("pst_parse: DataBytes is %0d, allowed: 8, 16, 32, 64", DataBytes);
  end
  if (WindowBytes < LinkLast || WindowBytes > 192 || WindowBytes % DataBytes != 0) begin : g_bad_window
    $error("pst_parse: WindowBytes is %0d, must be a multiple of DataBytes (%0d) from 64 to 192", WindowBytes, DataBytes);
  end
  if (ExtensionHeaders > 8) begin : g_bad_extensions
    $error("pst_parse: ExtensionHeaders is %0d, allowed: 0..8", ExtensionHeaders);
  end
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

  // ---- the stages

  logic window_valid, link_valid, transport_valid;
  logic [WindowBytes-1:0][7:0] window;
  logic [LeftWidth-1:0] window_left;
  step_t link_step;
  logic [RestBytes-1:0][7:0] link_rest;
  headers_t headers;

  pst_parse_window #(
      .DataBytes(DataBytes),
      .WindowBytes(WindowBytes)
  ) u_window (
      .clk_i,
      .rst_i,
      .beat_valid_i(take),
      .beat_data_i (s_axis_tdata_i),
      .beat_keep_i (s_axis_tkeep_i),
      .beat_last_i (s_axis_tlast_i),
      .valid_o     (window_valid),
      .window_o    (window),
      .left_o      (window_left)
  );

  pst_parse_link #(
      .WindowBytes(WindowBytes)
  ) u_link (
      .clk_i,
      .rst_i,
      .mpls_i,
      .valid_i (window_valid),
      .window_i(window),
      .left_i  (window_left),
      .valid_o (link_valid),
      .step_o  (link_step),
      .rest_o  (link_rest)
  );

  logic valid[ExtensionHeaders+1];
  step_t step[ExtensionHeaders+1];
  logic [5:0] words[ExtensionHeaders+1];
  logic [RestBytes-1:0][7:0] rest[ExtensionHeaders+1];

  pst_parse_network #(
      .WindowBytes(WindowBytes)
  ) u_network (
      .clk_i,
      .rst_i,
      .valid_i(link_valid),
      .step_i (link_step),
      .rest_i (link_rest),
      .valid_o(valid[0]),
      .step_o (step[0]),
      .words_o(words[0]),
      .rest_o (rest[0])
  );

  for (genvar i = 0; i < int'(ExtensionHeaders); i++) begin : g_extension
    pst_parse_extension #(
        .WindowBytes(WindowBytes)
    ) u_extension (
        .clk_i,
        .rst_i,
        .valid_i(valid[i]),
        .step_i (step[i]),
        .words_i(words[i]),
        .rest_i (rest[i]),
        .valid_o(valid[i+1]),
        .step_o (step[i+1]),
        .words_o(words[i+1]),
        .rest_o (rest[i+1])
    );
  end

  pst_parse_transport #(
      .WindowBytes(WindowBytes),
      .Tunnels(Tunnels)
  ) u_transport (
      .clk_i,
      .rst_i,
      .valid_i  (valid[ExtensionHeaders]),
      .step_i   (step[ExtensionHeaders]),
      .words_i  (words[ExtensionHeaders]),
      .rest_i   (rest[ExtensionHeaders]),
      .valid_o  (transport_valid),
      .headers_o(headers)
  );

  logic vector_ready;

  pst_fifo #(
      .Width($bits(headers_t)),
      .Depth(Vectors)
  ) u_vectors (
      .clk_i,
      .rst_i,
      .s_valid_i(transport_valid),
      .s_ready_o(vector_ready),
      .s_data_i (headers),
      .m_valid_o(m_headers_valid_o),
      .m_ready_i(m_headers_ready_i),
      .m_data_o (m_headers_o),
      .level_o  ()
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_vector_has_room : assert (!transport_valid || vector_ready);
      a_keep_contiguous : assert (!take || (s_axis_tkeep_i & (s_axis_tkeep_i + 1'b1)) == '0);
      a_keep_full : assert (!take || s_axis_tlast_i || (&s_axis_tkeep_i));
    end
  end
`endif

endmodule
