// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Whole frames between a MAC and a device: a frame comes out when all of it has come, and then without a gap.
//
// Waits = 0: from a MAC that cannot wait. s_axis_tready_o is 1; a frame that finds no room is dropped whole and counted.
// Waits = 1: to a MAC that must not be left without data in a frame. The input waits; only a frame that is longer than the store is dropped.
//
// Latency 3 cycles from the last beat. One beat per cycle in and out at once. Reset forgets everything.
module pst_mac_fifo #(
    parameter bit          Waits      = 1'b0,   // the source can wait
    parameter int unsigned DataBytes  = 64,     // bytes per beat, >= 1
    parameter int unsigned UserWidth  = 1,      // bits of tuser, >= 1
    parameter int unsigned DepthBeats = 512,    // beats in store, a power of two >= 2
    parameter string       Style      = "auto"  // RAM style, as in pst_ram_1r1w
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // frames in
    input  logic [8*DataBytes-1:0] s_axis_tdata_i,
    input  logic [  DataBytes-1:0] s_axis_tkeep_i,
    input  logic                   s_axis_tlast_i,
    input  logic [  UserWidth-1:0] s_axis_tuser_i,
    input  logic                   s_axis_tvalid_i,
    output logic                   s_axis_tready_o,
    // frames out
    output logic [8*DataBytes-1:0] m_axis_tdata_o,
    output logic [  DataBytes-1:0] m_axis_tkeep_o,
    output logic                   m_axis_tlast_o,
    output logic [  UserWidth-1:0] m_axis_tuser_o,
    output logic                   m_axis_tvalid_o,
    input  logic                   m_axis_tready_i,
    // pulse: a frame is dropped; how many were
    output logic                   overflow_o,
    output logic [31:0]            dropped_o
);

  typedef struct packed {
    logic [UserWidth-1:0]   user;
    logic                   last;
    logic [DataBytes-1:0]   keep;
    logic [8*DataBytes-1:0] data;
  } beat_t;

  beat_t s_beat, m_beat;
  logic room, overrun, dropping_q, take, give_up, overflow_q;
  logic [31:0] dropped_q;

  assign s_beat          = '{user: s_axis_tuser_i, last: s_axis_tlast_i, keep: s_axis_tkeep_i, data: s_axis_tdata_i};
  assign s_axis_tready_o = !Waits || room || overrun || dropping_q;
  assign take            = s_axis_tvalid_i && s_axis_tready_o;
  assign give_up         = take && !dropping_q && !room;

  pst_ram_fifo #(
      .Width($bits(beat_t)), .Depth(DepthBeats), .Style(Style)
  ) u_beats (
      .clk_i, .rst_i,
      .s_valid_i(take && !dropping_q && room), .s_ready_o(room), .s_data_i(s_beat), .s_commit_i(s_axis_tlast_i), .s_rewind_i(give_up),
      .s_overrun_o(overrun),
      .m_valid_o(m_axis_tvalid_o), .m_ready_i(m_axis_tready_i), .m_data_o(m_beat)
  );

  always_ff @(posedge clk_i) begin
    if (take) dropping_q <= (dropping_q || !room) && !s_axis_tlast_i;
    overflow_q <= give_up;
    dropped_q  <= dropped_q + 32'(give_up);
    if (rst_i) begin
      dropping_q <= 1'b0;
      overflow_q <= 1'b0;
      dropped_q  <= '0;
    end
  end

  assign {m_axis_tuser_o, m_axis_tlast_o, m_axis_tkeep_o, m_axis_tdata_o} = m_beat;
  assign overflow_o = overflow_q;
  assign dropped_o  = dropped_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i) && $past(m_axis_tvalid_o && !m_axis_tready_i)) begin
      a_offer_is_held : assert (m_axis_tvalid_o && m_axis_tlast_o == $past(m_axis_tlast_o) && m_axis_tdata_o == $past(m_axis_tdata_o))
      else $error("pst_mac_fifo: a beat on offer was changed before it was taken");
    end
  end
`endif

endmodule
