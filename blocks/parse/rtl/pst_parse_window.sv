// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Gathers the first bytes of each frame: a window of WindowBytes, once for each frame.
//
// Throughput: a beat per cycle. Latency: 1 cycle from the beat that ends the frame or fills the window. Order: as they come.
// Reset: the beats inside are forgotten, the next one begins a frame.
module pst_parse_window
  import pst_parse_pkg::*;
#(
    parameter int unsigned DataBytes   = 64,    // bytes of a beat: 8, 16, 32 or 64
    parameter int unsigned WindowBytes = 128    // a multiple of DataBytes
) (
    input  logic                        clk_i,
    input  logic                        rst_i,
    // beats that are taken
    input  logic                        beat_valid_i,
    input  logic [DataBytes-1:0][7:0]   beat_data_i,
    input  logic [DataBytes-1:0]        beat_keep_i,
    input  logic                        beat_last_i,
    // one window for each frame; bytes behind its end mean nothing
    output logic                        valid_o,
    output logic [WindowBytes-1:0][7:0] window_o,
    output logic [LeftWidth-1:0]        left_o       // bytes of the frame; all ones: it goes on behind the window
);

  localparam int unsigned Beats = WindowBytes / DataBytes;
  localparam int unsigned IndexWidth = Beats > 1 ? $clog2(Beats) : 1;

  logic [Beats-1:0][DataBytes-1:0][7:0] window_q;
  logic [Beats-1:0] place_q;            // of the next beat in the window, as one bit that is set; none: the window is full
  logic [IndexWidth-1:0] index_q;       // the same as a number; of a full window the last one
  logic valid_q, fills;
  logic [LeftWidth-1:0] bytes, left_q;

  always_comb begin
    bytes = '0;
    for (int unsigned i = 0; i < DataBytes; i++) if (beat_keep_i[i]) bytes = LeftWidth'(i + 1);
    fills = place_q[Beats-1];
  end

  always_ff @(posedge clk_i) begin
    valid_q <= beat_valid_i && place_q != '0 && (beat_last_i || fills);
    if (beat_valid_i) begin
      for (int unsigned i = 0; i < Beats; i++) if (place_q[i]) window_q[i] <= beat_data_i;
      left_q  <= beat_last_i ? LeftWidth'(32'(index_q) * DataBytes) + bytes : '1;
      place_q <= beat_last_i ? Beats'(1) : place_q << 1;
      index_q <= beat_last_i ? '0 : index_q == IndexWidth'(Beats - 1) ? index_q : index_q + 1'b1;
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      place_q <= Beats'(1);
      index_q <= '0;
    end
  end

  assign valid_o  = valid_q;
  assign window_o = window_q;
  assign left_o   = left_q;

`ifndef SYNTHESIS
  // Behind the window nothing moves until the frame's end.
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_index_in_range : assert (32'(index_q) < Beats);
      if (beat_valid_i && place_q != '0) a_place_is_the_index : assert (place_q == Beats'(1) << index_q);
      if (beat_valid_i && place_q == '0) a_full_at_the_last_beat : assert (index_q == IndexWidth'(Beats - 1));
    end
  end
`endif

endmodule
