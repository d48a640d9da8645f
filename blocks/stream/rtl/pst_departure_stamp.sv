// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Puts the time at which a frame is first offered at the output into tuser, beside what stands there.
//
// The stamp is time_i as it is at the clock edge with which the frame's first beat appears at m_axis; all beats of the frame have it. A
// receiver that takes the beat later has it later; one that is always ready has it in that cycle.
// Latency: 1 cycle. Throughput: 1 beat per cycle. Reset: loses the beat that is inside.
module pst_departure_stamp #(
    parameter int unsigned DataBytes = 64,   // bytes per beat, >= 1
    parameter int unsigned IdWidth   = 32,   // bits of tid, >= 1
    parameter int unsigned UserWidth = 1,    // bits of tuser at the input, >= 1
    parameter int unsigned TimeWidth = 96    // bits of a time, >= 1
) (
    input  logic                           clk_i,
    input  logic                           rst_i,
    input  logic [          TimeWidth-1:0] time_i,
    input  logic [        8*DataBytes-1:0] s_axis_tdata_i,
    input  logic [          DataBytes-1:0] s_axis_tkeep_i,
    input  logic                           s_axis_tlast_i,
    input  logic [            IdWidth-1:0] s_axis_tid_i,
    input  logic [          UserWidth-1:0] s_axis_tuser_i,
    input  logic                           s_axis_tvalid_i,
    output logic                           s_axis_tready_o,
    // tuser: the time above what came in
    output logic [        8*DataBytes-1:0] m_axis_tdata_o,
    output logic [          DataBytes-1:0] m_axis_tkeep_o,
    output logic                           m_axis_tlast_o,
    output logic [            IdWidth-1:0] m_axis_tid_o,
    output logic [TimeWidth+UserWidth-1:0] m_axis_tuser_o,
    output logic                           m_axis_tvalid_o,
    input  logic                           m_axis_tready_i
);

  logic valid_q, last_q, first_q, take;    // first_q: the next beat that comes is a frame's first one
  logic [8*DataBytes-1:0] data_q;
  logic [DataBytes-1:0] keep_q;
  logic [IdWidth-1:0] id_q;
  logic [UserWidth-1:0] user_q;
  logic [TimeWidth-1:0] time_q;

  assign s_axis_tready_o = !valid_q || m_axis_tready_i;
  assign take            = s_axis_tvalid_i && s_axis_tready_o;

  always_ff @(posedge clk_i) begin
    if (m_axis_tready_i) valid_q <= 1'b0;
    if (take) begin
      valid_q <= 1'b1;
      data_q  <= s_axis_tdata_i;
      keep_q  <= s_axis_tkeep_i;
      last_q  <= s_axis_tlast_i;
      id_q    <= s_axis_tid_i;
      user_q  <= s_axis_tuser_i;
      first_q <= s_axis_tlast_i;
      if (first_q) time_q <= time_i;
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      first_q <= 1'b1;
    end
  end

  assign m_axis_tvalid_o = valid_q;
  assign m_axis_tdata_o  = data_q;
  assign m_axis_tkeep_o  = keep_q;
  assign m_axis_tlast_o  = last_q;
  assign m_axis_tid_o    = id_q;
  assign m_axis_tuser_o  = {time_q, user_q};

`ifndef SYNTHESIS
  logic waits_q;
  logic [9*DataBytes+1+IdWidth+TimeWidth+UserWidth-1:0] beat, waiting_q;
  assign beat = {m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o, m_axis_tid_o, m_axis_tuser_o};
  always_ff @(posedge clk_i) begin
    waits_q   <= m_axis_tvalid_o && !m_axis_tready_i && !rst_i;
    waiting_q <= beat;
    if (waits_q && !rst_i) a_beat_waits : assert (m_axis_tvalid_o && beat == waiting_q);
  end
`endif

endmodule
