// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One direction of a bridge with shaped queues, between three clocks: of the receiver, of the queues, of the transmitter.
//
// Frames go unchanged. Control frames pass by the queues and before all others; what is not sent is told by pulses. The three resets are those
// of one pst_crossing_reset. Latency and throughput: the README of the design.
module pst_bridge_shaped
  import pst_pkg::len_t;
  import pst_bridge_pkg::in_word_t, pst_bridge_pkg::out_word_t, pst_bridge_pkg::setting_t, pst_bridge_pkg::access_t;
#(
    parameter int unsigned Bytes = 1,                // per cycle, 1 or 4; the first one is in the low bits
    parameter int unsigned LongestBytes = 1536,      // longest frame without FCS, 60 to 2047
    parameter int unsigned Depth = 4096,             // bytes in store before the crossing, a power of two > LongestBytes
    parameter int unsigned Queues = 16,              // 2 .. Flows / 8, a power of two
    parameter int unsigned Flows = 1024,             // flow queues of all queues, a power of two, >= 32
    parameter int unsigned Cells = 512,              // of 64 bytes, a power of two; see pst_bridge_queues
    parameter int unsigned TickShift = 6,            // CoDel: a tick is 2^TickShift cycles of clk_i
    parameter int unsigned AgeCycles = 6103,         // cycles of clk_i; see pst_access_edge_core: FlowAgeCycles
    parameter setting_t    Setting = pst_bridge_pkg::unshaped(),    // of each queue, until it is set
    parameter logic [31:0] Seed = 32'h2545_f491,     // of the hash of flows, not 0
    localparam int unsigned CountWidth = Bytes > 1 ? $clog2(Bytes) : 1
) (
    // from the receiver; count is the bytes of a word less one
    input  logic       rx_clk_i,
    input  logic       rx_rst_i,
    input  logic       s_valid_i,
    input  logic [8*Bytes-1:0] s_data_i,
    input  logic [CountWidth-1:0] s_count_i,
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
    output logic [8*Bytes-1:0] m_data_o,
    output logic [CountWidth-1:0] m_count_o,
    output logic       m_last_o
);

  localparam int unsigned Frame = 2048;    // bytes; each store of one frame

  // --- clock of the receiver

  typedef struct packed {
    logic [CountWidth-1:0] count;
    logic                  last;
    logic [8*Bytes-1:0]    data;
  } word_t;

  // Bytes of a word less one, as AXI4-Stream says it.
  function automatic logic [Bytes-1:0] keep_of(input logic [CountWidth-1:0] count);
    return Bytes'((2 << count) - 1);
  endfunction

  logic frame_valid, frame_ready, pair_valid, pair_ready, pair_last, packed_valid, packed_ready, control_valid, control_ready;
  logic [1:0] pair_keep;
  logic [15:0] pair_data;
  word_t frame, control;
  in_word_t packed_word;
  logic [1:0] unused_user;
  logic unused_keep;  // a pair has its first byte always
  assign unused_keep = pair_keep[0];

  pst_bridge_receive #(
      .Bytes(Bytes), .LongestBytes(LongestBytes), .Depth(Depth), .ControlDepth(Frame)
  ) u_receive (
      .clk_i(rx_clk_i), .rst_i(rx_rst_i), .s_valid_i, .s_data_i, .s_count_i, .s_last_i, .s_error_i,
      .m_control_valid_o(control_valid), .m_control_ready_i(control_ready), .m_control_data_o(control.data),
      .m_control_count_o(control.count), .m_control_last_o(control.last),
      .m_frame_valid_o(frame_valid), .m_frame_ready_i(frame_ready), .m_frame_data_o(frame.data), .m_frame_count_o(frame.count),
      .m_frame_last_o(frame.last),
      .kept_o, .damaged_o, .short_o, .long_o, .no_room_o, .control_o, .len_o
  );

  pst_mac_width #(
      .InBytes(Bytes), .OutBytes(2)
  ) u_pairs (
      .clk_i(rx_clk_i), .rst_i(rx_rst_i),
      .s_axis_tdata_i(frame.data), .s_axis_tkeep_i(keep_of(frame.count)), .s_axis_tlast_i(frame.last), .s_axis_tuser_i(1'b0),
      .s_axis_tvalid_i(frame_valid), .s_axis_tready_o(frame_ready),
      .m_axis_tdata_o(pair_data), .m_axis_tkeep_o(pair_keep), .m_axis_tlast_o(pair_last), .m_axis_tuser_o(unused_user[0]),
      .m_axis_tvalid_o(pair_valid), .m_axis_tready_i(pair_ready)
  );

  pst_bridge_pack #(
      .Seed(Seed)
  ) u_pack (
      .clk_i(rx_clk_i), .rst_i(rx_rst_i), .s_valid_i(pair_valid), .s_ready_o(pair_ready), .s_data_i(pair_data), .s_whole_i(pair_keep[1]),
      .s_last_i(pair_last), .m_valid_o(packed_valid), .m_ready_i(packed_ready), .m_word_o(packed_word)
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

  logic word_valid, word_ready, sent_valid, sent_ready, sent_control_valid, sent_control_ready;
  logic [Bytes-1:0] sent_keep;
  word_t sent, sent_control;
  out_word_t word;

  pst_async_fifo #(
      .Width($bits(out_word_t)), .Depth(16)
  ) u_out (
      .s_clk_i(clk_i), .s_rst_i(rst_i), .s_valid_i(out_valid), .s_ready_o(out_ready), .s_data_i(out_word),
      .m_clk_i(tx_clk_i), .m_rst_i(tx_rst_i), .m_valid_o(word_valid), .m_ready_i(word_ready), .m_data_o(word)
  );

  pst_async_fifo #(
      .Width($bits(word_t)), .Depth(16)
  ) u_control (
      .s_clk_i(rx_clk_i), .s_rst_i(rx_rst_i), .s_valid_i(control_valid), .s_ready_o(control_ready), .s_data_i(control),
      .m_clk_i(tx_clk_i), .m_rst_i(tx_rst_i), .m_valid_o(sent_control_valid), .m_ready_i(sent_control_ready), .m_data_o(sent_control)
  );

  pst_mac_width #(
      .InBytes(8), .OutBytes(Bytes)
  ) u_bytes (
      .clk_i(tx_clk_i), .rst_i(tx_rst_i),
      .s_axis_tdata_i(word.data), .s_axis_tkeep_i(8'((9'd2 << word.count) - 9'd1)), .s_axis_tlast_i(word.last), .s_axis_tuser_i(1'b0),
      .s_axis_tvalid_i(word_valid), .s_axis_tready_o(word_ready),
      .m_axis_tdata_o(sent.data), .m_axis_tkeep_o(sent_keep), .m_axis_tlast_o(sent.last), .m_axis_tuser_o(unused_user[1]),
      .m_axis_tvalid_o(sent_valid), .m_axis_tready_i(sent_ready)
  );

  always_comb begin
    sent.count = '0;
    for (int unsigned n = 1; n < Bytes; n++) if (sent_keep[n]) sent.count = CountWidth'(n);
  end

  pst_bridge_send #(
      .Bytes(Bytes), .Depth(Frame)
  ) u_send (
      .clk_i(tx_clk_i), .rst_i(tx_rst_i),
      .s_control_valid_i(sent_control_valid), .s_control_ready_o(sent_control_ready), .s_control_data_i(sent_control.data),
      .s_control_count_i(sent_control.count), .s_control_last_i(sent_control.last),
      .s_frame_valid_i(sent_valid), .s_frame_ready_o(sent_ready), .s_frame_data_i(sent.data), .s_frame_count_i(sent.count),
      .s_frame_last_i(sent.last), .m_valid_o, .m_ready_i, .m_data_o, .m_count_o, .m_last_o
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
