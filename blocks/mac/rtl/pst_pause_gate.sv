// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Stops a stream between frames while it is paused: all of it, or while the frame at its head is of a class that is. Data go past the module.
//
// A beat that was on offer when pause began goes, and so does the rest of its frame.
// Latency: none. Throughput: 1 beat per cycle. Reset: between frames.
module pst_pause_gate (
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic [8:0] pause_i,     // of each class, bit 8: of all
    input  logic       s_valid_i,
    output logic       s_ready_o,
    input  logic       s_last_i,
    input  logic [2:0] s_class_i,   // at the first beat
    output logic       m_valid_o,
    input  logic       m_ready_i
);

  logic within_q, offered_q, open;

  assign open      = within_q || offered_q || !(pause_i[8] || pause_i[4'(s_class_i)]);
  assign m_valid_o = s_valid_i && open;
  assign s_ready_o = m_ready_i && open;

  always_ff @(posedge clk_i) begin
    offered_q <= m_valid_o && !m_ready_i;
    if (m_valid_o && m_ready_i) within_q <= !s_last_i;
    if (rst_i) begin
      offered_q <= 1'b0;
      within_q  <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i)) begin
      a_offer_is_held : assert (!$past(m_valid_o && !m_ready_i) || m_valid_o || !s_valid_i)
      else $error("pst_pause_gate: a beat on offer was taken back");
      a_frames_are_whole : assert (!$past(m_valid_o && m_ready_i && !s_last_i) || open)
      else $error("pst_pause_gate: a frame was stopped in its middle");
    end
  end
`endif

endmodule
