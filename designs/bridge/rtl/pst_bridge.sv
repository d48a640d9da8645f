// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One direction of a transparent bridge: frames of one MAC's receiver, in its clock, to another MAC's transmitter, in that one's clock.
//
// Frames go unchanged and unshaped, control frames before all others; what is not sent is told by pulses (pst_bridge_receive).
// Each stream crosses the clocks by a pst_async_fifo. The two resets are those of pst_crossing_reset. Both clocks may be one.
// Latency from the last byte in to the first byte out: the time of the whole frame, once more, to cross, and 10 to 12 cycles.
// One word per cycle.
module pst_bridge #(
    parameter int unsigned Bytes = 1,            // per cycle, 1, 2 or 4; the first one is in the low bits
    parameter int unsigned LongestBytes = 1536,  // longest frame without FCS, 60 to 2047
    parameter int unsigned Depth = 16384,        // bytes in store before the crossing, a power of two > LongestBytes
    localparam int unsigned CountWidth = Bytes > 1 ? $clog2(Bytes) : 1
) (
    // from the receiver; count is the bytes of a word less one
    input  logic                  rx_clk_i,
    input  logic                  rx_rst_i,
    input  logic                  s_valid_i,
    input  logic [8*Bytes-1:0]    s_data_i,
    input  logic [CountWidth-1:0] s_count_i,
    input  logic                  s_last_i,
    input  logic                  s_error_i,
    // pulses of rx_clk_i, one for each frame: as in pst_bridge_receive
    output logic                  kept_o,
    output logic                  damaged_o,
    output logic                  short_o,
    output logic                  long_o,
    output logic                  no_room_o,
    output logic                  control_o,
    output logic [11:0]           len_o,
    // to the transmitter
    input  logic                  tx_clk_i,
    input  logic                  tx_rst_i,
    output logic                  m_valid_o,
    input  logic                  m_ready_i,
    output logic [8*Bytes-1:0]    m_data_o,
    output logic [CountWidth-1:0] m_count_o,
    output logic                  m_last_o
);

  typedef struct packed {
    logic [CountWidth-1:0] count;
    logic                  last;
    logic [8*Bytes-1:0]    data;
  } word_t;

  localparam int unsigned Frame = 2048;  // bytes; each store of one frame

  logic [1:0] rx_valid, rx_ready, tx_valid, tx_ready;  // control frames are 1, all others 0
  word_t [1:0] rx_word, tx_word;

  pst_bridge_receive #(
      .Bytes(Bytes), .LongestBytes(LongestBytes), .Depth(Depth), .ControlDepth(Frame)
  ) u_receive (
      .clk_i(rx_clk_i), .rst_i(rx_rst_i), .s_valid_i, .s_data_i, .s_count_i, .s_last_i, .s_error_i,
      .m_control_valid_o(rx_valid[1]), .m_control_ready_i(rx_ready[1]), .m_control_data_o(rx_word[1].data),
      .m_control_count_o(rx_word[1].count), .m_control_last_o(rx_word[1].last),
      .m_frame_valid_o(rx_valid[0]), .m_frame_ready_i(rx_ready[0]), .m_frame_data_o(rx_word[0].data),
      .m_frame_count_o(rx_word[0].count), .m_frame_last_o(rx_word[0].last),
      .kept_o, .damaged_o, .short_o, .long_o, .no_room_o, .control_o, .len_o
  );

  for (genvar k = 0; k < 2; k++) begin : g_crossing
    pst_async_fifo #(
        .Width($bits(word_t)), .Depth(16)
    ) u_crossing (
        .s_clk_i(rx_clk_i), .s_rst_i(rx_rst_i), .s_valid_i(rx_valid[k]), .s_ready_o(rx_ready[k]), .s_data_i(rx_word[k]),
        .m_clk_i(tx_clk_i), .m_rst_i(tx_rst_i), .m_valid_o(tx_valid[k]), .m_ready_i(tx_ready[k]), .m_data_o(tx_word[k])
    );
  end

  pst_bridge_send #(
      .Bytes(Bytes), .Depth(Frame)
  ) u_send (
      .clk_i(tx_clk_i), .rst_i(tx_rst_i),
      .s_control_valid_i(tx_valid[1]), .s_control_ready_o(tx_ready[1]), .s_control_data_i(tx_word[1].data),
      .s_control_count_i(tx_word[1].count), .s_control_last_i(tx_word[1].last),
      .s_frame_valid_i(tx_valid[0]), .s_frame_ready_o(tx_ready[0]), .s_frame_data_i(tx_word[0].data),
      .s_frame_count_i(tx_word[0].count), .s_frame_last_i(tx_word[0].last),
      .m_valid_o, .m_ready_i, .m_data_o, .m_count_o, .m_last_o
  );

`ifndef SYNTHESIS
  // Frames stay whole across the clocks: the transmitter is never left without data in one.
  logic within_q;
  always_ff @(posedge tx_clk_i) begin
    if (m_valid_o && m_ready_i) within_q <= !m_last_o;
    if (tx_rst_i) within_q <= 1'b0;
    else a_frame_is_whole : assert (m_valid_o || !within_q);
  end
`endif

endmodule
