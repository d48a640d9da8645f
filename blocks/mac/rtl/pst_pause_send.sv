// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Puts MAC control frames between the frames of a stream: pause (IEEE 802.3 annex 31B), or PFC (IEEE 802.1Qbb, opcode 0101).
//
// A request that begins is told at once, again as long as it lasts, and its end by a time of 0.
// Latency: none for frames; a control frame waits for the end of the frame that is under way. Throughput: 1 beat per cycle.
// Reset: nothing has been told.
module pst_pause_send #(
    parameter bit          Pfc           = 1'b1,   // PFC of bits 0 to 7 of the request; else pause of bit 8
    parameter int unsigned RefreshCycles = 1000    // after which a request that lasts is told again, >= 1; below the time that is told
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic [  8:0] request_i,       // see pst_pause_watch
    input  logic [ 15:0] quanta_i,        // for how long, in 512 bit times; >= 1
    input  logic [ 47:0] source_i,        // address of the port, first byte in the upper bits
    // frames in, and out with the others
    input  logic [511:0] s_axis_tdata_i,
    input  logic [ 63:0] s_axis_tkeep_i,
    input  logic         s_axis_tlast_i,
    input  logic         s_axis_tuser_i,
    input  logic         s_axis_tvalid_i,
    output logic         s_axis_tready_o,
    output logic [511:0] m_axis_tdata_o,
    output logic [ 63:0] m_axis_tkeep_o,
    output logic         m_axis_tlast_o,
    output logic         m_axis_tuser_o,
    output logic         m_axis_tvalid_o,
    input  logic         m_axis_tready_i
);

  localparam int unsigned Bytes      = 60;
  localparam int unsigned TimerWidth = $clog2(RefreshCycles + 1);

  logic [8:0] wanted, told_q, telling_q;
  logic [479:0] frame, frame_q;    // first byte in the upper bits
  logic [TimerWidth-1:0] timer_q;
  logic own_q, within_q, offered_q, own, due;

  assign wanted = Pfc ? {1'b0, request_i[7:0]} : {request_i[8], 8'd0};
  assign due    = wanted != told_q || (wanted != '0 && timer_q == '0);

  always_comb begin
    frame          = '0;
    frame[479:432] = 48'h0180_c200_0001;
    frame[431:384] = source_i;
    frame[383:368] = 16'h8808;
    if (Pfc) begin
      frame[367:352] = 16'h0101;
      frame[343:336] = wanted[7:0] | told_q[7:0];    // those that end have time 0
      for (int unsigned c = 0; c < 8; c++) frame[335-16*c-:16] = wanted[c] ? quanta_i : '0;
    end else begin
      frame[367:352] = 16'h0001;
      frame[351:336] = wanted[8] ? quanta_i : '0;
    end
  end

  // The frame that is on offer stays there until it is taken, and so does one of the others.
  assign own             = own_q && !within_q && !offered_q;
  assign m_axis_tvalid_o = own || s_axis_tvalid_i;
  assign s_axis_tready_o = m_axis_tready_i && !own;
  assign m_axis_tlast_o  = own || s_axis_tlast_i;
  assign m_axis_tuser_o  = !own && s_axis_tuser_i;
  assign m_axis_tkeep_o  = own ? 64'(60'hfff_ffff_ffff_ffff) : s_axis_tkeep_i;

  always_comb begin
    m_axis_tdata_o = s_axis_tdata_i;
    if (own) begin
      m_axis_tdata_o = '0;
      for (int unsigned b = 0; b < Bytes; b++) m_axis_tdata_o[8*b+:8] = frame_q[479-8*b-:8];
    end
  end

  always_ff @(posedge clk_i) begin
    offered_q <= s_axis_tvalid_i && !own && !m_axis_tready_i;
    if (s_axis_tvalid_i && s_axis_tready_o) within_q <= !s_axis_tlast_i;
    if (timer_q != '0) timer_q <= timer_q - 1'b1;
    if (!own_q && due) begin
      own_q     <= 1'b1;
      frame_q   <= frame;
      telling_q <= wanted;
    end
    if (own && m_axis_tready_i) begin
      own_q   <= 1'b0;
      told_q  <= telling_q;
      timer_q <= TimerWidth'(RefreshCycles);
    end
    if (rst_i) begin
      offered_q <= 1'b0;
      within_q  <= 1'b0;
      own_q     <= 1'b0;
      told_q    <= '0;
      timer_q   <= '0;
    end
  end

  logic unused;
  assign unused = ^request_i;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i)) begin
      a_offer_is_held : assert (!$past(m_axis_tvalid_o && !m_axis_tready_i) || own == $past(own))
      else $error("pst_pause_send: another frame stands where a beat was on offer");
      a_frames_are_whole : assert (!$past(s_axis_tvalid_i && s_axis_tready_o && !s_axis_tlast_i) || !own)
      else $error("pst_pause_send: a frame of its own within another one");
    end
  end
`endif

endmodule
