// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Read half of the memory guard: passes a memory's read channels on, or, once it is lost, answers for it.
//
// Latency, throughput, reset: see pst_memory_guard.
module pst_guard_read #(
    parameter int unsigned AddrWidth      = 32,  // bits
    parameter int unsigned MaxOutstanding = 32   // bursts without their last beat, >= 2
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // the memory is lost; stays until reset
    input  logic                   lost_i,
    // the memory is waited for, and by no fault but its own; means nothing once it is lost
    output logic                   waiting_o,
    // AXI4 read slave
    input  pst_axi_pkg::read_req_t s_axi_read_i,
    output pst_axi_pkg::read_rsp_t s_axi_read_o,
    // AXI4 read master, to the memory
    output pst_axi_pkg::read_req_t m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t m_axi_read_i
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
      .s_valid_i(s_axi_read_i.arvalid && (lost_i || m_axi_read_i.arready)),
      .s_ready_o(ar_room),
      .s_data_i(s_axi_read_i.arlen),
      .m_valid_o(owed),
      .m_ready_i(r_end),
      .m_data_o(owed_len),
      .level_o()
  );

  // ---- The memory's side ----
  assign m_axi_read_o.arvalid = lost_i ? ar_held_q : s_axi_read_i.arvalid && ar_room;
  assign m_axi_read_o.araddr  = lost_i ? pst_axi_pkg::addr_t'(addr_q) : pst_axi_pkg::addr_t'(AddrWidth'(s_axi_read_i.araddr));
  assign m_axi_read_o.arlen   = lost_i ? len_q : s_axi_read_i.arlen;
  assign m_axi_read_o.rready  = !pass_r || s_axi_read_i.rready;

  // ---- The slave's side ----
  assign pass_r               = !lost_i || r_held_q;
  assign s_axi_read_o.arready = ar_room && (lost_i || m_axi_read_i.arready);
  assign s_axi_read_o.rvalid  = pass_r ? m_axi_read_i.rvalid : owed;
  assign s_axi_read_o.rdata   = pass_r ? m_axi_read_i.rdata : '0;
  assign s_axi_read_o.rresp   = pass_r ? m_axi_read_i.rresp : 2'b10;
  assign s_axi_read_o.rlast   = beat_q == owed_len;
  assign r_taken              = s_axi_read_o.rvalid && s_axi_read_i.rready;
  assign r_end                = r_taken && s_axi_read_o.rlast;
  assign beat_d               = r_end ? '0 : beat_q + 8'(r_taken);

  assign waiting_o = !m_axi_read_i.rvalid && (owed || (m_axi_read_o.arvalid && !m_axi_read_i.arready));

  always_ff @(posedge clk_i) begin
    beat_q    <= beat_d;
    ar_held_q <= m_axi_read_o.arvalid && !m_axi_read_i.arready;
    r_held_q  <= pass_r && m_axi_read_i.rvalid && !s_axi_read_i.rready;
    if (!lost_i) begin
      addr_q <= AddrWidth'(s_axi_read_i.araddr);
      len_q  <= s_axi_read_i.arlen;
    end
    if (rst_i) begin
      beat_q    <= '0;
      ar_held_q <= 1'b0;
      r_held_q  <= 1'b0;
    end
  end

  logic unused_address;    // bits above AddrWidth
  assign unused_address = ^s_axi_read_i.araddr;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !lost_i && m_axi_read_i.rvalid) begin
      a_data_has_a_request : assert (owed) else $error("pst_guard_read: data without request");
      a_burst_ends_where_it_should : assert (!owed || m_axi_read_i.rlast == s_axi_read_o.rlast)
      else $error("pst_guard_read: the memory ends a burst in the wrong place");
    end
  end
`endif

endmodule
