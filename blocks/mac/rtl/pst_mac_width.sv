// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Another width of an AXI4-Stream: parts are gathered into wider beats, or beats are cut into narrower ones. tuser counts at the last beat.
//
// tuser bit 0 at any part of a frame is bit 0 at its last beat; the other bits are those of the last part.
// Latency 1 cycle after the last part of a beat, or to the first part. Throughput: a beat of the narrower side per cycle.
// Reset forgets the beat that is inside.
module pst_mac_width #(
    parameter int unsigned InBytes   = 8,     // bytes per beat
    parameter int unsigned OutBytes  = 64,    // either is the other one times a power of two >= 2
    parameter int unsigned UserWidth = 1      // bits of tuser, >= 1
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic [ 8*InBytes-1:0] s_axis_tdata_i,
    input  logic [   InBytes-1:0] s_axis_tkeep_i,
    input  logic                  s_axis_tlast_i,
    input  logic [ UserWidth-1:0] s_axis_tuser_i,
    input  logic                  s_axis_tvalid_i,
    output logic                  s_axis_tready_o,
    output logic [8*OutBytes-1:0] m_axis_tdata_o,
    output logic [  OutBytes-1:0] m_axis_tkeep_o,
    output logic                  m_axis_tlast_o,
    output logic [ UserWidth-1:0] m_axis_tuser_o,
    output logic                  m_axis_tvalid_o,
    input  logic                  m_axis_tready_i
);

  localparam bit          Wider  = OutBytes > InBytes;
  localparam int unsigned Wide   = Wider ? OutBytes : InBytes;
  localparam int unsigned Narrow = Wider ? InBytes : OutBytes;
  localparam int unsigned Parts  = Wide / Narrow;
  localparam int unsigned AtWidth = Parts > 1 ? $clog2(Parts) : 1;

  if (Parts < 2 || Parts * Narrow != Wide || Parts != 2 ** $clog2(Parts)) begin : g_bad_ratio
    $error("pst_mac_width: InBytes is %0d, OutBytes is %0d; one must be the other times a power of two", InBytes, OutBytes);
  end

  logic [8*Wide-1:0] data_q;
  logic [Wide-1:0] keep_q;
  logic [UserWidth-1:0] user_q;
  logic last_q, full_q;
  logic [AtWidth-1:0] at_q;    // the part that comes or leaves next
  logic take, give;

  assign take = s_axis_tvalid_i && s_axis_tready_o;
  assign give = m_axis_tvalid_o && m_axis_tready_i;

  if (Wider) begin : g_wider
    logic ends, bad_q;
    assign ends            = s_axis_tlast_i || at_q == AtWidth'(Parts - 1);
    assign s_axis_tready_o = !full_q || m_axis_tready_i;
    assign m_axis_tvalid_o = full_q;
    assign m_axis_tdata_o  = data_q;
    assign m_axis_tkeep_o  = keep_q;
    assign m_axis_tlast_o  = last_q;
    assign m_axis_tuser_o  = user_q;

    always_ff @(posedge clk_i) begin
      if (give) full_q <= 1'b0;
      if (take) begin
        for (int unsigned p = 0; p < Parts; p++) begin
          if (at_q == AtWidth'(p)) begin
            data_q[8*Narrow*p+:8*Narrow] <= s_axis_tdata_i;
            keep_q[Narrow*p+:Narrow]     <= s_axis_tkeep_i;
          end else if (at_q == '0) begin
            keep_q[Narrow*p+:Narrow]     <= '0;
          end
        end
        at_q      <= ends ? '0 : at_q + 1'b1;
        full_q    <= ends;
        last_q    <= s_axis_tlast_i;
        user_q    <= s_axis_tuser_i;
        user_q[0] <= s_axis_tlast_i && (s_axis_tuser_i[0] || bad_q);
        bad_q     <= !s_axis_tlast_i && (s_axis_tuser_i[0] || bad_q);
      end
      if (rst_i) begin
        at_q   <= '0;
        full_q <= 1'b0;
        bad_q  <= 1'b0;
      end
    end
  end else begin : g_narrower
    logic [Wide-1:0] rest;
    logic at_end;
    assign rest            = keep_q >> Narrow;
    assign at_end          = at_q == AtWidth'(Parts - 1) || !rest[0];
    assign s_axis_tready_o = !full_q || (m_axis_tready_i && at_end);
    assign m_axis_tvalid_o = full_q;
    assign m_axis_tdata_o  = data_q[8*Narrow-1:0];
    assign m_axis_tkeep_o  = keep_q[Narrow-1:0];
    assign m_axis_tlast_o  = last_q && at_end;
    assign m_axis_tuser_o  = at_end ? user_q : '0;

    always_ff @(posedge clk_i) begin
      if (give) begin
        data_q <= data_q >> 8 * Narrow;
        keep_q <= rest;
        at_q   <= at_end ? '0 : at_q + 1'b1;
        if (at_end) full_q <= 1'b0;
      end
      if (take) begin
        data_q <= s_axis_tdata_i;
        keep_q <= s_axis_tkeep_i;
        last_q <= s_axis_tlast_i;
        user_q <= s_axis_tuser_i;
        at_q   <= '0;
        full_q <= 1'b1;
      end
      if (rst_i) full_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i) && $past(m_axis_tvalid_o && !m_axis_tready_i)) begin
      a_offer_is_held : assert (m_axis_tvalid_o && m_axis_tlast_o == $past(m_axis_tlast_o) && m_axis_tdata_o == $past(m_axis_tdata_o))
      else $error("pst_mac_width: a beat on offer was changed before it was taken");
    end
  end
`endif

endmodule
