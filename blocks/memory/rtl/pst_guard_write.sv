// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Write half of the memory guard: passes a memory's write channels on, or, once it is lost, answers for it.
//
// Data is offered when its address has been: so the memory never has data whose address is not to come. Everything else, latency and
// throughput included: see pst_memory_guard.
module pst_guard_write #(
    parameter int unsigned AddrWidth      = 32,  // bits
    parameter int unsigned MaxOutstanding = 32   // bursts without response, >= 2
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // the memory is lost; stays until reset
    input  logic                    lost_i,
    // the memory is waited for, and by no fault but its own; means nothing once it is lost
    output logic                    waiting_o,
    // AXI4 write slave
    input  pst_axi_pkg::write_req_t s_axi_write_i,
    output pst_axi_pkg::write_rsp_t s_axi_write_o,
    // AXI4 write master, to the memory
    output pst_axi_pkg::write_req_t m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t m_axi_write_i
);

  if (MaxOutstanding < 2) begin : g_bad_outstanding
    $error("pst_guard_write: MaxOutstanding is %0d, must be at least 2", MaxOutstanding);
  end

  localparam int unsigned CountWidth = $clog2(MaxOutstanding + 1);
  localparam logic [CountWidth-1:0] Most = CountWidth'(MaxOutstanding);
  typedef logic [CountWidth-1:0] count_t;

  // Of the slave's bursts without response: addresses taken, and last beats taken.
  count_t aw_open_d, aw_open_q, w_open_d, w_open_q;
  // What was on offer and not taken in the last cycle before the memory was lost, until it is; in all cycles before: in the cycle before.
  logic aw_held_q, w_held_q, b_held_q;
  logic [AddrWidth-1:0] addr_q;
  logic [7:0] len_q;
  logic [8*pst_axi_pkg::DataBytes-1:0] data_q;
  logic [pst_axi_pkg::DataBytes-1:0] strb_q;

  logic aw_room, note, noted, unused_note_ready, w_taken, w_end, answer, s_aw_taken, s_w_end, s_b_taken, pass_b;
  logic [7:0] noted_len, beat_d, beat_q;

  assign aw_room = aw_open_q != Most;

  // Bursts whose address has been offered to the memory, and whose last beat it has not taken.
  assign note = m_axi_write_o.awvalid && !aw_held_q && !lost_i;

  pst_fifo #(
      .Width(8),
      .Depth(MaxOutstanding)
  ) u_noted (
      .clk_i,
      .rst_i,
      .s_valid_i(note),
      .s_ready_o(unused_note_ready),
      .s_data_i(s_axi_write_i.awlen),
      .m_valid_o(noted),
      .m_ready_i(w_end),
      .m_data_o(noted_len),
      .level_o()
  );

  // ---- The memory's side ----
  assign m_axi_write_o.awvalid = lost_i ? aw_held_q : s_axi_write_i.awvalid && aw_room;
  assign m_axi_write_o.awaddr  = lost_i ? pst_axi_pkg::addr_t'(addr_q) : pst_axi_pkg::addr_t'(AddrWidth'(s_axi_write_i.awaddr));
  assign m_axi_write_o.awlen   = lost_i ? len_q : s_axi_write_i.awlen;
  // What is owed to a lost memory has no bytes that it would write, but for the beat that was on offer.
  assign m_axi_write_o.wvalid = noted && (lost_i || s_axi_write_i.wvalid);
  assign m_axi_write_o.wdata  = lost_i ? data_q : s_axi_write_i.wdata;
  assign m_axi_write_o.wstrb  = lost_i ? (w_held_q ? strb_q : '0) : s_axi_write_i.wstrb;
  assign m_axi_write_o.wlast  = beat_q == noted_len;
  assign w_taken              = m_axi_write_o.wvalid && m_axi_write_i.wready;
  assign w_end                = w_taken && m_axi_write_o.wlast;
  assign beat_d               = w_end ? '0 : beat_q + 8'(w_taken);
  assign m_axi_write_o.bready = !pass_b || s_axi_write_i.bready;

  // ---- The slave's side ----
  assign pass_b                = !lost_i || b_held_q;
  assign answer                = aw_open_q != '0 && w_open_q != '0;  // a response is owed
  assign s_axi_write_o.awready = aw_room && (lost_i || m_axi_write_i.awready);
  assign s_axi_write_o.wready  = lost_i ? w_open_q != Most : noted && m_axi_write_i.wready;
  assign s_axi_write_o.bvalid  = pass_b ? m_axi_write_i.bvalid : answer;
  assign s_axi_write_o.bresp   = pass_b ? m_axi_write_i.bresp : 2'b10;
  assign s_aw_taken            = s_axi_write_i.awvalid && s_axi_write_o.awready;
  assign s_w_end               = s_axi_write_i.wvalid && s_axi_write_o.wready && s_axi_write_i.wlast;
  assign s_b_taken             = s_axi_write_o.bvalid && s_axi_write_i.bready;
  assign aw_open_d             = aw_open_q + count_t'(s_aw_taken) - count_t'(s_b_taken);
  assign w_open_d              = w_open_q + count_t'(s_w_end) - count_t'(s_b_taken);

  // A memory may keep an address waiting while it is owed data: that is not its fault.
  assign waiting_o = !m_axi_write_i.bvalid
                     && (answer || (m_axi_write_o.wvalid && !m_axi_write_i.wready)
                         || (m_axi_write_o.awvalid && !m_axi_write_i.awready && (!noted || s_axi_write_i.wvalid)));

  always_ff @(posedge clk_i) begin
    aw_open_q <= aw_open_d;
    w_open_q  <= w_open_d;
    beat_q    <= beat_d;
    aw_held_q <= m_axi_write_o.awvalid && !m_axi_write_i.awready;
    w_held_q  <= (lost_i ? w_held_q : m_axi_write_o.wvalid) && !m_axi_write_i.wready;
    b_held_q  <= pass_b && m_axi_write_i.bvalid && !s_axi_write_i.bready;
    if (!lost_i) begin
      addr_q <= AddrWidth'(s_axi_write_i.awaddr);
      len_q  <= s_axi_write_i.awlen;
      data_q <= s_axi_write_i.wdata;
      strb_q <= s_axi_write_i.wstrb;
    end
    if (rst_i) begin
      aw_open_q <= '0;
      w_open_q  <= '0;
      beat_q    <= '0;
      aw_held_q <= 1'b0;
      w_held_q  <= 1'b0;
      b_held_q  <= 1'b0;
    end
  end

  logic unused_address;    // bits above AddrWidth
  assign unused_address = ^s_axi_write_i.awaddr;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_noted_has_room : assert (!note || unused_note_ready) else $error("pst_guard_write: more bursts than there is room for");
      a_data_and_address_agree : assert (lost_i || !w_taken || s_axi_write_i.wlast == m_axi_write_o.wlast)
      else $error("pst_guard_write: data and length of a burst disagree");
    end
  end
`endif

endmodule
