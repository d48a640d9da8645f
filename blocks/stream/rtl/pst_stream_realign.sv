// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Removes the first StripBytes bytes of each frame of an AXI4-Stream and closes the gap.
//
// Every frame in gives one frame out, in order. A frame of at most StripBytes bytes becomes one beat with tkeep = 0 and
// tlast, so that a counter of frames still sees it. tuser counts at the last beat and is moved to the last beat.
// Needs tkeep as AXI4-Stream frames have it here: all ones but on the last beat, there contiguous from bit 0.
// Bytes whose tkeep is 0 mean nothing.
//
// The input is taken in every cycle in which the output is free. A beat leaves when the next one of its frame, which
// fills its upper bytes, is there; the last beat leaves one cycle after it came, or at once when it is merged away.
// tdata, tkeep, tvalid run through one multiplexer from input to output, tready from output to input.
// Reset forgets the beat inside.
module pst_stream_realign #(
    parameter int unsigned DataBytes = 64,  // bytes per beat, >= 2
    parameter int unsigned StripBytes = 4   // bytes to remove, 1..DataBytes-1
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // frames in
    input  logic [8*DataBytes-1:0] s_axis_tdata_i,
    input  logic [  DataBytes-1:0] s_axis_tkeep_i,
    input  logic                   s_axis_tlast_i,
    input  logic                   s_axis_tuser_i,
    input  logic                   s_axis_tvalid_i,
    output logic                   s_axis_tready_o,
    // frames out
    output logic [8*DataBytes-1:0] m_axis_tdata_o,
    output logic [  DataBytes-1:0] m_axis_tkeep_o,
    output logic                   m_axis_tlast_o,
    output logic                   m_axis_tuser_o,
    output logic                   m_axis_tvalid_o,
    input  logic                   m_axis_tready_i
);

  if (StripBytes < 1 || StripBytes >= DataBytes) begin : g_bad_strip
    $error("pst_stream_realign: StripBytes is %0d, allowed: 1..DataBytes-1 (%0d)", StripBytes, int'(DataBytes) - 1);
  end

  localparam int unsigned HeldBytes = DataBytes - StripBytes;

  // What is left of the beat before: the lower bytes of the next beat out.
  typedef struct packed {
    logic [8*HeldBytes-1:0] data;
    logic [HeldBytes-1:0]   keep;
    logic                   last;
    logic                   user;
  } held_t;

  logic held_valid_d, held_valid_q;
  held_t held_q;
  logic take, merges_away;

  // Whether the arriving last beat fits completely into the upper bytes of the one before.
  assign merges_away     = s_axis_tlast_i && !s_axis_tkeep_i[StripBytes];
  assign s_axis_tready_o = !held_valid_q || m_axis_tready_i;
  assign take            = s_axis_tvalid_i && s_axis_tready_o;

  always_comb begin
    m_axis_tvalid_o = held_valid_q && (held_q.last || s_axis_tvalid_i);
    // The upper bytes are masked after the last beat: a stalled output must not follow the input.
    m_axis_tdata_o  = {held_q.last ? {8 * StripBytes{1'b0}} : s_axis_tdata_i[8*StripBytes-1:0], held_q.data};
    m_axis_tkeep_o  = {held_q.last ? {StripBytes{1'b0}} : s_axis_tkeep_i[StripBytes-1:0], held_q.keep};
    m_axis_tlast_o  = held_q.last || merges_away;
    m_axis_tuser_o  = held_q.last ? held_q.user : s_axis_tuser_i;

    held_valid_d = held_valid_q;
    if (m_axis_tvalid_o && m_axis_tready_i) held_valid_d = 1'b0;
    // A beat is held unless it is used up by the merge. The first beat of a frame is always held, also when
    // nothing is left of it.
    if (take && !(merges_away && held_valid_q && !held_q.last)) held_valid_d = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      held_q.data <= s_axis_tdata_i[8*DataBytes-1:8*StripBytes];
      held_q.keep <= s_axis_tkeep_i[DataBytes-1:StripBytes];
      held_q.last <= s_axis_tlast_i;
      held_q.user <= s_axis_tuser_i;
    end
    held_valid_q <= held_valid_d;
    if (rst_i) held_valid_q <= 1'b0;
  end

`ifndef SYNTHESIS
  logic waits_q;
  logic [9*DataBytes+2-1:0] beat, waiting_q;
  assign beat = {m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o, m_axis_tuser_o};
  always_ff @(posedge clk_i) begin
    waits_q   <= m_axis_tvalid_o && !m_axis_tready_i && !rst_i;
    waiting_q <= beat;
    if (waits_q && !rst_i) a_beat_waits : assert (m_axis_tvalid_o && beat == waiting_q);
  end
`endif

endmodule
