// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Takes pause and PFC frames (IEEE 802.3 annex 31B, 802.1Qbb) out of a stream, and keeps the times that they say.
//
// All frames of the reserved address and EtherType 8808 are taken out; a damaged one goes on as such. Times count from its last beat on.
// Latency: none for frames, 1 cycle from the last beat of a control frame to pause_o. Throughput: 1 beat per cycle. Reset: nothing is paused.
module pst_pause_receive #(
    parameter int unsigned Quantum256 = 423    // 512 bit times in cycles, times 256, >= 256; 100 Gbit/s at 322.27 MHz: 423
) (
    input  logic         clk_i,
    input  logic         rst_i,
    // frames from the MAC, and those that are no control frames
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
    input  logic         m_axis_tready_i,
    // classes that are paused, bit 8: all of it
    output logic [  8:0] pause_o
);

  if (Quantum256 < 256) begin : g_bad_quantum
    $error("pst_pause_receive: Quantum256 is %0d, allowed: 256 and more; a quantum takes a cycle at least", Quantum256);
  end

  localparam int unsigned FractionWidth = $clog2(Quantum256 + 256);

  // Bytes of the beat, as a frame has them at its front.
  function automatic logic [15:0] word(int unsigned at);
    return {s_axis_tdata_i[8*at+:8], s_axis_tdata_i[8*at+8+:8]};
  endfunction

  typedef struct packed {
    logic [8:0]       load;
    logic [8:0][15:0] quanta;
  } said_t;

  said_t says, said, said_q;
  logic within_q, control_q, first_control, control, taken, applies;
  logic [FractionWidth-1:0] fraction_q;
  logic tick;
  logic [8:0][16:0] left_q;

  // ---- What the first beat says ----
  always_comb begin
    says = '0;
    if (word(14) == 16'h0001) begin
      says.load[8]   = 1'b1;
      says.quanta[8] = word(16);
    end
    if (word(14) == 16'h0101) begin
      says.load[7:0] = s_axis_tdata_i[8*17+:8];
      for (int unsigned c = 0; c < 8; c++) says.quanta[c] = word(18 + 2 * c);
    end
  end

  assign first_control = {word(0), word(2), word(4)} == 48'h0180_c200_0001 && word(12) == 16'h8808 && s_axis_tkeep_i[33]
                         && !(s_axis_tlast_i && s_axis_tuser_i);
  assign control       = within_q ? control_q : first_control;
  assign said          = within_q ? said_q : says;
  assign taken         = s_axis_tvalid_i && s_axis_tready_o;
  assign applies       = taken && s_axis_tlast_i && control && !s_axis_tuser_i;

  // A control frame goes nowhere; the end of a long one that is damaged stands for it, as a frame of one beat.
  assign m_axis_tvalid_o = s_axis_tvalid_i && (!control || (s_axis_tlast_i && s_axis_tuser_i));
  assign s_axis_tready_o = m_axis_tready_i || !m_axis_tvalid_o;
  assign m_axis_tdata_o  = s_axis_tdata_i;
  assign m_axis_tkeep_o  = s_axis_tkeep_i;
  assign m_axis_tlast_o  = s_axis_tlast_i;
  assign m_axis_tuser_o  = s_axis_tuser_i;

  // ---- Quanta: one more than was said, as the first one is under way ----
  assign tick = fraction_q >= FractionWidth'(Quantum256 - 256);

  always_ff @(posedge clk_i) begin
    if (taken) begin
      within_q  <= !s_axis_tlast_i;
      control_q <= control;
      said_q    <= said;
    end
    fraction_q <= tick ? fraction_q - FractionWidth'(Quantum256 - 256) : fraction_q + FractionWidth'(256);
    for (int unsigned c = 0; c < 9; c++) begin
      if (tick && left_q[c] != '0) left_q[c] <= left_q[c] - 1'b1;
      if (applies && said.load[c]) left_q[c] <= said.quanta[c] != '0 ? 17'(said.quanta[c]) + 1'b1 : '0;
    end
    if (rst_i) begin
      within_q   <= 1'b0;
      control_q  <= 1'b0;
      fraction_q <= '0;
      left_q     <= '0;
    end
  end

  always_comb for (int unsigned c = 0; c < 9; c++) pause_o[c] = left_q[c] != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int unsigned c = 0; c < 9; c++) begin
        a_pause_has_an_end : assert (left_q[c] <= 17'h1_0000) else $error("pst_pause_receive: class %0d is paused for too long", c);
      end
    end
  end
`endif

endmodule
