// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The stages that read headers: beats in, and for each frame its headers in two parts. Nothing waits.
//
// Throughput: a beat per cycle. Order: as they come. Reset: what is inside is forgotten; the next beat begins a frame.
// Latency: from the beat that ends the frame or fills the window 6 cycles to the headers up to IP, 10 + ExtensionHeaders to what is behind
// them; with SplitStages 12 and 17 + 2 * ExtensionHeaders.
module pst_parse_stages
  import pst_parse_pkg::*;
#(
    parameter int unsigned DataBytes        = 64,    // see pst_parse
    parameter int unsigned WindowBytes      = 128,
    parameter int unsigned ExtensionHeaders = 4,
    parameter bit          Tunnels          = 1'b1,
    parameter bit          SplitStages      = 1'b0
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  mpls_e                     mpls_i,
    // beats that are taken
    input  logic                      beat_valid_i,
    input  logic [DataBytes-1:0][7:0] beat_data_i,
    input  logic [DataBytes-1:0]      beat_keep_i,         // contiguous from bit 0, full before the last beat
    input  logic                      beat_last_i,
    // the headers up to the fixed one of IP; the fields of upper_t are not the last word
    output logic                      headers_valid_o,
    output headers_t                  headers_o,
    // and the last word on these
    output logic                      upper_valid_o,
    output upper_t                    upper_o
);

  localparam int unsigned LinkLast = 64;  // the link headers end at this byte at the latest (pst_parse_link)
  localparam int unsigned RestBytes = WindowBytes - 14;

  if (DataBytes != 8 && DataBytes != 16 && DataBytes != 32 && DataBytes != 64) begin : g_bad_data_bytes
    $error("pst_parse_stages: DataBytes is %0d, allowed: 8, 16, 32, 64", DataBytes);
  end
  if (WindowBytes < LinkLast || WindowBytes > 192 || WindowBytes % DataBytes != 0) begin : g_bad_window
    $error("pst_parse_stages: WindowBytes is %0d, must be a multiple of DataBytes (%0d) from 64 to 192", WindowBytes, DataBytes);
  end
  if (ExtensionHeaders > 8) begin : g_bad_extensions
    $error("pst_parse_stages: ExtensionHeaders is %0d, allowed: 0..8", ExtensionHeaders);
  end

  // A beat that is taken: whether it is comes from far away, and the window is large.
  typedef struct packed {
    logic                      last;
    logic [DataBytes-1:0]      keep;
    logic [DataBytes-1:0][7:0] data;
  } beat_t;

  beat_t beat;
  logic beat_valid;

  pst_stage #(
      .Width($bits(beat_t)),
      .Registered(SplitStages)
  ) u_beat (
      .clk_i,
      .rst_i,
      .valid_i(beat_valid_i),
      .data_i ({beat_last_i, beat_keep_i, beat_data_i}),
      .valid_o(beat_valid),
      .data_o (beat)
  );

  logic window_valid, link_valid;
  logic [WindowBytes-1:0][7:0] window;
  logic [LeftWidth-1:0] window_left;
  step_t link_step;
  logic [RestBytes-1:0][7:0] link_rest;

  pst_parse_window #(
      .DataBytes(DataBytes),
      .WindowBytes(WindowBytes)
  ) u_window (
      .clk_i,
      .rst_i,
      .beat_valid_i(beat_valid),
      .beat_data_i (beat.data),
      .beat_keep_i (beat.keep),
      .beat_last_i (beat.last),
      .valid_o     (window_valid),
      .window_o    (window),
      .left_o      (window_left)
  );

  pst_parse_link #(
      .WindowBytes(WindowBytes),
      .SplitStages(SplitStages)
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
  upper_step_t step[ExtensionHeaders+1];
  logic [RestBytes-1:0][7:0] rest[ExtensionHeaders+1];

  pst_parse_network #(
      .WindowBytes(WindowBytes),
      .SplitStages(SplitStages)
  ) u_network (
      .clk_i,
      .rst_i,
      .valid_i(link_valid),
      .step_i (link_step),
      .rest_i (link_rest),
      .headers_valid_o,
      .headers_o,
      .valid_o(valid[0]),
      .step_o (step[0]),
      .rest_o (rest[0])
  );

  for (genvar i = 0; i < int'(ExtensionHeaders); i++) begin : g_extension
    pst_parse_extension #(
        .WindowBytes(WindowBytes),
        .SplitStages(SplitStages)
    ) u_extension (
        .clk_i,
        .rst_i,
        .valid_i(valid[i]),
        .step_i (step[i]),
        .rest_i (rest[i]),
        .valid_o(valid[i+1]),
        .step_o (step[i+1]),
        .rest_o (rest[i+1])
    );
  end

  pst_parse_transport #(
      .WindowBytes(WindowBytes),
      .Tunnels(Tunnels),
      .SplitStages(SplitStages)
  ) u_transport (
      .clk_i,
      .rst_i,
      .valid_i(valid[ExtensionHeaders]),
      .step_i (step[ExtensionHeaders]),
      .rest_i (rest[ExtensionHeaders]),
      .valid_o(upper_valid_o),
      .upper_o
  );

endmodule
