// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Read half of the memory guard: passes a memory's read channels on, or, once it is lost, answers for it.
//
// Latency, throughput, reset: see pst_memory_guard.
module pst_guard_read #(
    parameter int unsigned AddrWidth      = 32,  // bits
    parameter int unsigned MaxOutstanding = 32,  // bursts without their last beat, >= 2
    parameter int unsigned DataWidth      = pst_memory_pkg::DataWidth  // bits; others than this for proofs alone
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    // the memory is lost; stays until reset
    input  logic                 lost_i,
    // the memory is waited for, and by no fault but its own; means nothing once it is lost
    output logic                 waiting_o,
    // AXI4 read slave
    input  logic                 s_axi_arvalid_i,
    output logic                 s_axi_arready_o,
    input  logic [AddrWidth-1:0] s_axi_araddr_i,
    input  logic [7:0]           s_axi_arlen_i,
    output logic                 s_axi_rvalid_o,
    input  logic                 s_axi_rready_i,
    output logic [DataWidth-1:0] s_axi_rdata_o,
    output logic [1:0]           s_axi_rresp_o,
    output logic                 s_axi_rlast_o,
    // AXI4 read master, to the memory
    output logic                 m_axi_arvalid_o,
    input  logic                 m_axi_arready_i,
    output logic [AddrWidth-1:0] m_axi_araddr_o,
    output logic [7:0]           m_axi_arlen_o,
    input  logic                 m_axi_rvalid_i,
    output logic                 m_axi_rready_o,
    input  logic [DataWidth-1:0] m_axi_rdata_i,
    input  logic [1:0]           m_axi_rresp_i,
    input  logic                 m_axi_rlast_i
);

  if (MaxOutstanding < 2) begin : g_bad_outstanding
    $error("pst_guard_read: MaxOutstanding is %0d, must be at least 2", MaxOutstanding);
  end

  // What was on offer and not taken in the last cycle before the memory was lost, until it is; in all cycles before: in the cycle before.
  logic ar_held_q, r_held_q;
  logic [AddrWidth-1:0] addr_q;
  logic [7:0] len_q;

  logic ar_room, owed, pass_r, r_taken, r_end;
  logic [7:0] owed_len, beat_d, beat_q;

  // Bursts that were taken from the slave, and whose last beat it has not got.
  pst_fifo #(
      .Width(8),
      .Depth(MaxOutstanding)
  ) u_owed (
      .clk_i,
      .rst_i,
      .s_valid_i(s_axi_arvalid_i && (lost_i || m_axi_arready_i)),
      .s_ready_o(ar_room),
      .s_data_i(s_axi_arlen_i),
      .m_valid_o(owed),
      .m_ready_i(r_end),
      .m_data_o(owed_len),
      .level_o()
  );

  // ---- The memory's side ----
  assign m_axi_arvalid_o = lost_i ? ar_held_q : s_axi_arvalid_i && ar_room;
  assign m_axi_araddr_o  = lost_i ? addr_q : s_axi_araddr_i;
  assign m_axi_arlen_o   = lost_i ? len_q : s_axi_arlen_i;
  assign m_axi_rready_o  = !pass_r || s_axi_rready_i;

  // ---- The slave's side ----
  assign pass_r          = !lost_i || r_held_q;
  assign s_axi_arready_o = ar_room && (lost_i || m_axi_arready_i);
  assign s_axi_rvalid_o  = pass_r ? m_axi_rvalid_i : owed;
  assign s_axi_rdata_o   = pass_r ? m_axi_rdata_i : '0;
  assign s_axi_rresp_o   = pass_r ? m_axi_rresp_i : 2'b10;
  assign s_axi_rlast_o   = beat_q == owed_len;
  assign r_taken         = s_axi_rvalid_o && s_axi_rready_i;
  assign r_end           = r_taken && s_axi_rlast_o;
  assign beat_d          = r_end ? '0 : beat_q + 8'(r_taken);

  assign waiting_o = !m_axi_rvalid_i && (owed || (m_axi_arvalid_o && !m_axi_arready_i));

  always_ff @(posedge clk_i) begin
    beat_q    <= beat_d;
    ar_held_q <= m_axi_arvalid_o && !m_axi_arready_i;
    r_held_q  <= pass_r && m_axi_rvalid_i && !s_axi_rready_i;
    if (!lost_i) begin
      addr_q <= s_axi_araddr_i;
      len_q  <= s_axi_arlen_i;
    end
    if (rst_i) begin
      beat_q    <= '0;
      ar_held_q <= 1'b0;
      r_held_q  <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !lost_i && m_axi_rvalid_i) begin
      a_data_has_a_request : assert (owed) else $error("pst_guard_read: data without request");
      a_burst_ends_where_it_should : assert (!owed || m_axi_rlast_i == s_axi_rlast_o)
      else $error("pst_guard_read: the memory ends a burst in the wrong place");
    end
  end
`endif

endmodule
