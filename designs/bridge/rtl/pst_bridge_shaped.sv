// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One direction of a bridge with shaped queues, between three clocks: of the receiver, of the queues, of the transmitter.
//
// Frames go unchanged. Control frames pass by the queues and before all others; what is not sent is told by pulses. The three resets are those
// of one pst_crossing_reset. Latency and throughput: the README of the design.
module pst_bridge_shaped
  import pst_pkg::len_t;
  import pst_bridge_pkg::in_word_t, pst_bridge_pkg::out_word_t, pst_bridge_pkg::setting_t, pst_bridge_pkg::access_t;
#(
    parameter int unsigned LongestBytes = 1536,      // longest frame without FCS, 60 to 2047
    parameter int unsigned Depth = 4096,             // bytes in store before the crossing, a power of two > LongestBytes
    parameter int unsigned Queues = 16,              // 2 .. Flows / 8, a power of two
    parameter int unsigned Flows = 1024,             // flow queues of all queues, a power of two, >= 32
    parameter int unsigned Cells = 512,              // of 64 bytes, a power of two; see pst_bridge_queues
    parameter int unsigned TickShift = 6,            // CoDel: a tick is 2^TickShift cycles of clk_i
    parameter int unsigned AgeCycles = 6103,         // cycles of clk_i; see pst_access_edge_core: FlowAgeCycles
    parameter setting_t    Setting = pst_bridge_pkg::unshaped(),    // of each queue, until it is set
    parameter logic [31:0] Seed = 32'h2545_f491      // of the hash of flows, not 0
) (
    // from the receiver
    input  logic       rx_clk_i,
    input  logic       rx_rst_i,
    input  logic       s_valid_i,
    input  logic [7:0] s_data_i,
    input  logic       s_last_i,
    input  logic       s_error_i,
    // pulses of rx_clk_i, one for each frame: as in pst_bridge_receive
    output logic       kept_o,
    output logic       damaged_o,
    output logic       short_o,
    output logic       long_o,
    output logic       no_room_o,
    output logic       control_o,
    output logic [11:0] len_o,
    // clock of the queues; pulses, one for each frame that is no control frame: as in pst_bridge_queues
    input  logic       clk_i,
    input  logic       rst_i,
    output logic       queued_o,
    output logic       no_cell_o,
    output logic       overflow_o,
    output logic       codel_o,
    output len_t       no_cell_len_o,
    output len_t       overflow_len_o,
    output len_t       codel_len_o,
    // clock of the queues: settings, as in pst_bridge_settings
    input  logic       settings_rst_i,
    input  logic       shape_i,
    input  access_t    access_i,
    output logic       back_valid_o,
    output setting_t   back_o,
    // to the transmitter
    input  logic       tx_clk_i,
    input  logic       tx_rst_i,
    output logic       m_valid_o,
    input  logic       m_ready_i,
    output logic [7:0] m_data_o,
    output logic       m_last_o
);

  localparam int unsigned Frame = 2048;    // bytes; each store of one frame

  // --- clock of the receiver

  logic frame_valid, frame_ready, frame_last, packed_valid, packed_ready, control_valid, control_ready;
  logic [7:0] frame_data;
  logic [8:0] control;
  in_word_t packed_word;

  pst_bridge_receive #(
      .LongestBytes(LongestBytes), .Depth(Depth), .ControlDepth(Frame)
  ) u_receive (
      .clk_i(rx_clk_i), .rst_i(rx_rst_i), .s_valid_i, .s_data_i, .s_last_i, .s_error_i,
      .m_control_valid_o(control_valid), .m_control_ready_i(control_ready), .m_control_data_o(control[7:0]), .m_control_last_o(control[8]),
      .m_frame_valid_o(frame_valid), .m_frame_ready_i(frame_ready), .m_frame_data_o(frame_data), .m_frame_last_o(frame_last),
      .kept_o, .damaged_o, .short_o, .long_o, .no_room_o, .control_o, .len_o
  );

  pst_bridge_pack #(
      .Seed(Seed)
  ) u_pack (
      .clk_i(rx_clk_i), .rst_i(rx_rst_i), .s_valid_i(frame_valid), .s_ready_o(frame_ready), .s_data_i(frame_data), .s_last_i(frame_last),
      .m_valid_o(packed_valid), .m_ready_i(packed_ready), .m_word_o(packed_word)
  );

  // --- clock of the queues

  logic in_valid, in_ready, out_valid, out_ready, unused_init_done;
  in_word_t in_word;
  out_word_t out_word;

  pst_async_fifo #(
      .Width($bits(in_word_t)), .Depth(16)
  ) u_in (
      .s_clk_i(rx_clk_i), .s_rst_i(rx_rst_i), .s_valid_i(packed_valid), .s_ready_o(packed_ready), .s_data_i(packed_word),
      .m_clk_i(clk_i), .m_rst_i(rst_i), .m_valid_o(in_valid), .m_ready_i(in_ready), .m_data_o(in_word)
  );

  logic setting_valid;
  logic [$clog2(Queues)-1:0] setting_queue;
  setting_t setting;

  pst_bridge_settings #(
      .Queues(Queues), .Setting(Setting)
  ) u_settings (
      .clk_i, .rst_i(settings_rst_i), .shape_i, .access_i, .back_valid_o, .back_o,
      .queue_i(setting_queue), .setting_valid_o(setting_valid), .setting_o(setting)
  );

  pst_bridge_queues #(
      .Queues(Queues), .Flows(Flows), .Cells(Cells), .LongestBytes(LongestBytes), .TickShift(TickShift), .AgeCycles(AgeCycles)
  ) u_queues (
      .clk_i, .rst_i, .s_word_valid_i(in_valid), .s_word_ready_o(in_ready), .s_word_i(in_word),
      .m_word_valid_o(out_valid), .m_word_ready_i(out_ready), .m_word_o(out_word),
      .setting_queue_o(setting_queue), .setting_valid_i(setting_valid), .setting_i(setting),
      .queued_o, .no_room_o(no_cell_o), .overflow_o, .codel_o, .no_room_len_o(no_cell_len_o), .overflow_len_o, .codel_len_o,
      .init_done_o(unused_init_done)
  );

  // --- clock of the transmitter

  logic word_valid, word_ready, byte_valid, byte_ready, byte_last, sent_control_valid, sent_control_ready;
  logic [7:0] byte_data;
  logic [8:0] sent_control;
  logic unused_keep, unused_user;
  out_word_t word;

  pst_async_fifo #(
      .Width($bits(out_word_t)), .Depth(16)
  ) u_out (
      .s_clk_i(clk_i), .s_rst_i(rst_i), .s_valid_i(out_valid), .s_ready_o(out_ready), .s_data_i(out_word),
      .m_clk_i(tx_clk_i), .m_rst_i(tx_rst_i), .m_valid_o(word_valid), .m_ready_i(word_ready), .m_data_o(word)
  );

  pst_async_fifo #(
      .Width(9), .Depth(16)
  ) u_control (
      .s_clk_i(rx_clk_i), .s_rst_i(rx_rst_i), .s_valid_i(control_valid), .s_ready_o(control_ready), .s_data_i(control),
      .m_clk_i(tx_clk_i), .m_rst_i(tx_rst_i), .m_valid_o(sent_control_valid), .m_ready_i(sent_control_ready), .m_data_o(sent_control)
  );

  pst_mac_width #(
      .InBytes(8), .OutBytes(1)
  ) u_bytes (
      .clk_i(tx_clk_i), .rst_i(tx_rst_i),
      .s_axis_tdata_i(word.data), .s_axis_tkeep_i(8'((9'd2 << word.count) - 9'd1)), .s_axis_tlast_i(word.last), .s_axis_tuser_i(1'b0),
      .s_axis_tvalid_i(word_valid), .s_axis_tready_o(word_ready),
      .m_axis_tdata_o(byte_data), .m_axis_tkeep_o(unused_keep), .m_axis_tlast_o(byte_last), .m_axis_tuser_o(unused_user),
      .m_axis_tvalid_o(byte_valid), .m_axis_tready_i(byte_ready)
  );

  pst_bridge_send #(
      .Depth(Frame)
  ) u_send (
      .clk_i(tx_clk_i), .rst_i(tx_rst_i),
      .s_control_valid_i(sent_control_valid), .s_control_ready_o(sent_control_ready), .s_control_data_i(sent_control[7:0]),
      .s_control_last_i(sent_control[8]),
      .s_frame_valid_i(byte_valid), .s_frame_ready_o(byte_ready), .s_frame_data_i(byte_data), .s_frame_last_i(byte_last),
      .m_valid_o, .m_ready_i, .m_data_o, .m_last_o
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
