// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Two streams of frames to a MAC that must not be left without data in a frame: a control frame goes before all others that wait.
//
// Each stream has a store; a frame is offered when all of it is there, and then without a gap. A frame that is on offer is sent to its end.
// Latency 3 cycles from the last byte of a frame. One byte per cycle. The order within each stream is kept. Reset forgets everything.
module pst_bridge_send #(
    parameter int unsigned Depth = 2048  // bytes in each store, a power of two; no frame may be longer
) (
    input  logic       clk_i,
    input  logic       rst_i,
    // control frames
    input  logic       s_control_valid_i,
    output logic       s_control_ready_o,
    input  logic [7:0] s_control_data_i,
    input  logic       s_control_last_i,
    // all other frames
    input  logic       s_frame_valid_i,
    output logic       s_frame_ready_o,
    input  logic [7:0] s_frame_data_i,
    input  logic       s_frame_last_i,
    // to the MAC
    output logic       m_valid_o,
    input  logic       m_ready_i,
    output logic [7:0] m_data_o,
    output logic       m_last_o
);

  logic control_valid, control_ready, control_last, frame_valid, frame_ready, frame_last, control_overrun, frame_overrun;
  logic [7:0] control_data, frame_data;
  logic offered_q, control_q, control;  // a frame is on offer; it is a control frame; the choice of this cycle

  pst_ram_fifo #(
      .Width(9), .Depth(Depth)
  ) u_control (
      .clk_i, .rst_i,
      .s_valid_i(s_control_valid_i), .s_ready_o(s_control_ready_o), .s_data_i({s_control_last_i, s_control_data_i}),
      .s_commit_i(s_control_last_i), .s_rewind_i(1'b0), .s_overrun_o(control_overrun),
      .m_valid_o(control_valid), .m_ready_i(control_ready), .m_data_o({control_last, control_data})
  );

  pst_ram_fifo #(
      .Width(9), .Depth(Depth)
  ) u_frames (
      .clk_i, .rst_i,
      .s_valid_i(s_frame_valid_i), .s_ready_o(s_frame_ready_o), .s_data_i({s_frame_last_i, s_frame_data_i}),
      .s_commit_i(s_frame_last_i), .s_rewind_i(1'b0), .s_overrun_o(frame_overrun),
      .m_valid_o(frame_valid), .m_ready_i(frame_ready), .m_data_o({frame_last, frame_data})
  );

  assign control       = offered_q ? control_q : control_valid;
  assign m_valid_o     = control ? control_valid : frame_valid;
  assign m_data_o      = control ? control_data : frame_data;
  assign m_last_o      = control ? control_last : frame_last;
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
