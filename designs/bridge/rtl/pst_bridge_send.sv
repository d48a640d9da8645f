// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Two streams of frames to a MAC that must not be left without data in a frame: a control frame goes before all others that wait.
//
// Each stream has a store; a frame is offered when all of it is there, and then without a gap. A frame that is on offer is sent to its end.
// Latency 3 cycles from the last word of a frame. One word per cycle. The order within each stream is kept. Reset forgets everything.
module pst_bridge_send #(
    parameter int unsigned Bytes = 1,    // per cycle, a power of two; the first one is in the low bits
    parameter int unsigned Depth = 2048, // bytes in each store, a power of two; no frame may be longer
    localparam int unsigned CountWidth = Bytes > 1 ? $clog2(Bytes) : 1
) (
    input  logic       clk_i,
    input  logic       rst_i,
    // control frames; count is the bytes of a word less one, Bytes - 1 before the last word
    input  logic                  s_control_valid_i,
    output logic                  s_control_ready_o,
    input  logic [8*Bytes-1:0]    s_control_data_i,
    input  logic [CountWidth-1:0] s_control_count_i,
    input  logic                  s_control_last_i,
    // all other frames
    input  logic                  s_frame_valid_i,
    output logic                  s_frame_ready_o,
    input  logic [8*Bytes-1:0]    s_frame_data_i,
    input  logic [CountWidth-1:0] s_frame_count_i,
    input  logic                  s_frame_last_i,
    // to the MAC
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

  localparam int unsigned Stored = $bits(word_t) - 32'(Bytes == 1);    // a single byte needs no count

  logic control_valid, control_ready, frame_valid, frame_ready, control_overrun, frame_overrun;
  logic [Stored-1:0] control_word, frame_word;
  word_t sent;
  logic offered_q, control_q, control;  // a frame is on offer; it is a control frame; the choice of this cycle

  pst_ram_fifo #(
      .Width(Stored), .Depth(Depth / Bytes)
  ) u_control (
      .clk_i, .rst_i,
      .s_valid_i(s_control_valid_i), .s_ready_o(s_control_ready_o),
      .s_data_i(Stored'({s_control_count_i, s_control_last_i, s_control_data_i})),
      .s_commit_i(s_control_last_i), .s_rewind_i(1'b0), .s_overrun_o(control_overrun),
      .m_valid_o(control_valid), .m_ready_i(control_ready), .m_data_o(control_word)
  );

  pst_ram_fifo #(
      .Width(Stored), .Depth(Depth / Bytes)
  ) u_frames (
      .clk_i, .rst_i,
      .s_valid_i(s_frame_valid_i), .s_ready_o(s_frame_ready_o),
      .s_data_i(Stored'({s_frame_count_i, s_frame_last_i, s_frame_data_i})),
      .s_commit_i(s_frame_last_i), .s_rewind_i(1'b0), .s_overrun_o(frame_overrun),
      .m_valid_o(frame_valid), .m_ready_i(frame_ready), .m_data_o(frame_word)
  );

  assign control       = offered_q ? control_q : control_valid;
  assign m_valid_o     = control ? control_valid : frame_valid;
  assign sent          = control ? word_t'(control_word) : word_t'(frame_word);
  assign m_data_o      = sent.data;
  assign m_count_o     = sent.count;
  assign m_last_o      = sent.last;
  assign control_ready = m_ready_i && control;
  assign frame_ready   = m_ready_i && !control;

  always_ff @(posedge clk_i) begin
    if (m_valid_o) begin
      offered_q <= !(m_ready_i && m_last_o);
      control_q <= control;
    end
    if (rst_i) offered_q <= 1'b0;
  end

`ifndef SYNTHESIS
  logic within_q;
  always_ff @(posedge clk_i) begin
    if (m_valid_o && m_ready_i) within_q <= !m_last_o;
    if (rst_i) within_q <= 1'b0;
    else begin
      a_no_gap_in_a_frame : assert (m_valid_o || !within_q);
      a_frames_fit : assert (!control_overrun && !frame_overrun);
    end
  end
`endif

endmodule
