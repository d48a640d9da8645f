// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_memory_guard. The slave's master may do what AXI4 allows, data before their address too. The memory may stall, answer with
// errors or fall silent at any moment; until it is lost it answers what it was asked, from then on whatever it likes.
//
// Proved: each read gets as many beats as it asked for, the last one marked, and no other; each write whose address and data were taken
// gets one response, and no other; of a lost memory all of them are errors, and come without waiting for it; nothing that was on offer is
// withdrawn or changed, on either side; the memory gets the data of each address that was offered, with its last beat marked, and no other.
module pst_memory_guard_proof #(
    parameter int unsigned AddrWidth = 2,
    localparam int unsigned DataWidth = 8 * pst_axi_pkg::DataBytes
) (
    input logic                   clk_i,
    input logic                   rst_i,
    input logic [            2:0] timeout_i,
    input logic                   awvalid_i,
    input logic [  AddrWidth-1:0] awaddr_i,
    input logic [            7:0] awlen_i,
    input logic                   wvalid_i,
    input logic [  DataWidth-1:0] wdata_i,
    input logic [DataWidth/8-1:0] wstrb_i,
    input logic                   wlast_i,
    input logic                   bready_i,
    input logic                   arvalid_i,
    input logic [  AddrWidth-1:0] araddr_i,
    input logic [            7:0] arlen_i,
    input logic                   rready_i,
    input logic                   m_awready_i,
    input logic                   m_wready_i,
    input logic                   m_bvalid_i,
    input logic [            1:0] m_bresp_i,
    input logic                   m_arready_i,
    input logic                   m_rvalid_i,
    input logic [  DataWidth-1:0] m_rdata_i,
    input logic [            1:0] m_rresp_i,
    input logic                   m_rlast_i
);

  localparam int unsigned Most = 2;  // bursts under way
  localparam int unsigned LongestLen = 2;

  logic lost, awready, wready, bvalid, arready, rvalid, rlast;
  logic m_awvalid, m_wvalid, m_wlast, m_bready, m_arvalid, m_rready;
  logic [1:0] bresp, rresp;
  logic [DataWidth-1:0] rdata, m_wdata;
  logic [DataWidth/8-1:0] m_wstrb;
  logic [AddrWidth-1:0] m_awaddr, m_araddr;
  logic [7:0] m_awlen, m_arlen;

  pst_axi_pkg::write_req_t m_write;
  pst_axi_pkg::write_rsp_t write;
  pst_axi_pkg::read_req_t m_read;
  pst_axi_pkg::read_rsp_t read;

  pst_memory_guard #(
      .AddrWidth(AddrWidth), .MaxOutstanding(Most), .TimeoutWidth(3)
  ) u_dut (
      .clk_i, .rst_i, .timeout_i, .lost_o(lost),
      .s_axi_write_i('{
          awvalid: awvalid_i, awaddr: pst_axi_pkg::addr_t'(awaddr_i), awlen: awlen_i, wvalid: wvalid_i, wdata: wdata_i, wstrb: wstrb_i,
          wlast: wlast_i, bready: bready_i
      }),
      .s_axi_write_o(write),
      .s_axi_read_i('{arvalid: arvalid_i, araddr: pst_axi_pkg::addr_t'(araddr_i), arlen: arlen_i, rready: rready_i}),
      .s_axi_read_o(read),
      .m_axi_write_o(m_write),
      .m_axi_write_i('{awready: m_awready_i, wready: m_wready_i, bvalid: m_bvalid_i, bresp: m_bresp_i}),
      .m_axi_read_o(m_read),
      .m_axi_read_i('{arready: m_arready_i, rvalid: m_rvalid_i, rdata: m_rdata_i, rresp: m_rresp_i, rlast: m_rlast_i})
  );

  assign {awready, wready, bvalid, bresp} = {write.awready, write.wready, write.bvalid, write.bresp};
  assign {arready, rvalid, rdata, rresp, rlast} = {read.arready, read.rvalid, read.rdata, read.rresp, read.rlast};
  assign {m_awvalid, m_awlen, m_wvalid, m_wdata, m_wstrb, m_wlast, m_bready} =
         {m_write.awvalid, m_write.awlen, m_write.wvalid, m_write.wdata, m_write.wstrb, m_write.wlast, m_write.bready};
  assign {m_arvalid, m_arlen, m_rready} = {m_read.arvalid, m_read.arlen, m_read.rready};
  assign m_awaddr = AddrWidth'(m_write.awaddr);
  assign m_araddr = AddrWidth'(m_read.araddr);

  // ---- what each side has been asked, and has given: lists of burst lengths, the oldest first ----
  typedef struct packed {
    logic [2:0][7:0] len;
    logic [1:0]      level;
  } list_t;

  function automatic list_t changed(list_t list, logic add, logic [7:0] len, logic take);
    changed = list;
    if (add) begin
      changed.len[list.level] = len;
      changed.level           = list.level + 1'b1;
    end
    if (take) begin
      changed.len   = {8'd0, changed.len[2:1]};
      changed.level = changed.level - 1'b1;
    end
  endfunction

  list_t reads_q, writes_q, owed_q;   // reads without their last beat; addresses taken without response; data that the memory is owed
  list_t data_q;                      // addresses offered by the master whose data it has not sent
  logic [2:0] ahead_q;                // bursts whose data it has sent, and whose address it has not offered: a lost memory's are taken
  logic [2:0] ended_q;                // last beats taken from the master without response
  logic [2:0] m_writes_q, m_ended_q;  // addresses and last beats that the memory has taken without response
  list_t m_reads_q;                   // reads that the memory has taken, without their last beat
  logic [7:0] beat_q, m_beat_q, w_beat_q, m_w_beat_q;
  logic aw_seen_q, m_aw_seen_q, seen_q;
  logic early_q;                      // the beat on offer was so before its address
  initial seen_q = 1'b0;

  logic aw_begins, w_ends, w_ends_ahead;
  assign aw_begins    = awvalid_i && !aw_seen_q;
  assign w_ends       = wvalid_i && wready && wlast_i;
  assign w_ends_ahead = w_ends && data_q.level == 0;  // perhaps in the cycle in which its address is offered

  always_ff @(posedge clk_i) begin
    seen_q      <= 1'b1;
    reads_q     <= changed(reads_q, arvalid_i && arready, arlen_i, rvalid && rready_i && rlast);
    m_reads_q   <= changed(m_reads_q, m_arvalid && m_arready_i && !lost, m_arlen, m_rvalid_i && m_rready && m_rlast_i && !lost);
    writes_q    <= changed(writes_q, awvalid_i && awready, awlen_i, bvalid && bready_i);
    owed_q      <= changed(owed_q, m_awvalid && !m_aw_seen_q, m_awlen, m_wvalid && m_wready_i && m_wlast);
    data_q      <= changed(data_q, aw_begins && ahead_q == 0 && !w_ends_ahead, awlen_i, w_ends && !w_ends_ahead);
    ahead_q     <= ahead_q + 3'(w_ends_ahead && !(aw_begins && ahead_q == 0)) - 3'(aw_begins && ahead_q != 0);
    ended_q     <= ended_q + 3'(wvalid_i && wready && wlast_i) - 3'(bvalid && bready_i);
    m_writes_q  <= m_writes_q + 3'(m_awvalid && m_awready_i && !lost) - 3'(m_bvalid_i && m_bready && !lost);
    m_ended_q   <= m_ended_q + 3'(m_wvalid && m_wready_i && m_wlast && !lost) - 3'(m_bvalid_i && m_bready && !lost);
    aw_seen_q   <= awvalid_i && !awready;
    m_aw_seen_q <= m_awvalid && !m_awready_i;
    early_q     <= wvalid_i && !wready && (early_q || (data_q.level == 0 && !awvalid_i));
    if (rvalid && rready_i) beat_q <= rlast ? '0 : beat_q + 1'b1;
    if (m_rvalid_i && m_rready && !lost) m_beat_q <= m_rlast_i ? '0 : m_beat_q + 1'b1;
    if (wvalid_i && wready) w_beat_q <= wlast_i ? '0 : w_beat_q + 1'b1;
    if (m_wvalid && m_wready_i) m_w_beat_q <= m_wlast ? '0 : m_w_beat_q + 1'b1;
    if (rst_i) begin
      reads_q     <= '0;
      m_reads_q   <= '0;
      writes_q    <= '0;
      owed_q      <= '0;
      data_q      <= '0;
      ahead_q     <= '0;
      ended_q     <= '0;
      m_writes_q  <= '0;
      m_ended_q   <= '0;
      aw_seen_q   <= 1'b0;
      m_aw_seen_q <= 1'b0;
      early_q     <= 1'b0;
      beat_q      <= '0;
      m_beat_q    <= '0;
      w_beat_q    <= '0;
      m_w_beat_q  <= '0;
    end
  end

  // ---- what the master and the memory may do ----
  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i) begin
      m_lengths : assume (awlen_i <= LongestLen && arlen_i <= LongestLen);
      // The master has at most so many bursts under way. Its data may come before their address, which then fits them.
      m_few_writes : assume (!aw_begins || 32'(data_q.level) < Most);
      m_last_is_last : assume (!wvalid_i || data_q.level == 0 || wlast_i == (w_beat_q == data_q.len[0]));
      m_length_fits : assume (!aw_begins || data_q.level != 0 || ahead_q != 0 || awlen_i >= w_beat_q + 8'(wvalid_i && wready && !wlast_i));
      if (!lost) begin
        m_no_answer_unasked : assume (!m_rvalid_i || m_reads_q.level != 0);
        m_bursts_end : assume (!m_rvalid_i || m_rlast_i == (m_beat_q == m_reads_q.len[0]));
        m_no_response_unasked : assume (!m_bvalid_i || (m_writes_q != 0 && m_ended_q != 0));
      end
    end
    if (seen_q && !rst_i && !$past(rst_i)) begin
      if ($past(awvalid_i && !awready)) m_aw_holds : assume (awvalid_i && $stable({awaddr_i, awlen_i}));
      if ($past(wvalid_i && !wready)) m_w_holds : assume (wvalid_i && $stable({wdata_i, wstrb_i, wlast_i}));
      if ($past(arvalid_i && !arready)) m_ar_holds : assume (arvalid_i && $stable({araddr_i, arlen_i}));
      if ($past(m_bvalid_i && !m_bready)) m_b_holds : assume (m_bvalid_i && $stable(m_bresp_i));
      if ($past(m_rvalid_i && !m_rready)) m_r_holds : assume (m_rvalid_i && $stable({m_rdata_i, m_rresp_i, m_rlast_i}));
    end
  end

  // ---- what holds ----
  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      a_beat_was_asked_for : assert (!rvalid || reads_q.level != 0);
      a_last_beat_is_marked : assert (!rvalid || rlast == (beat_q == reads_q.len[0]));
      a_response_was_asked_for : assert (!bvalid || (writes_q.level != 0 && ended_q != 0));
      a_data_was_addressed : assert (!m_wvalid || owed_q.level != 0);
      a_last_data_is_marked : assert (!m_wvalid || m_wlast == (m_w_beat_q == owed_q.len[0]));
      if (lost) begin
        a_reads_are_answered : assert (rvalid == (reads_q.level != 0));
        a_writes_are_answered : assert (bvalid || writes_q.level == 0 || ended_q == 0);
        a_requests_are_taken : assert ((arready || 32'(reads_q.level) == Most) && (awready || 32'(writes_q.level) == Most));
        a_data_is_taken : assert (wready || 32'(ended_q) == Most);
        a_owed_data_is_sent : assert (m_wvalid == (owed_q.level != 0));
      end
    end
    if (seen_q && !rst_i && !$past(rst_i)) begin
      if ($past(lost)) a_lost_stays : assert (lost);
      if ($past(m_awvalid && !m_awready_i)) a_aw_holds : assert (m_awvalid && $stable({m_awaddr, m_awlen}));
      if ($past(m_wvalid && !m_wready_i)) a_w_holds : assert (m_wvalid && $stable({m_wdata, m_wstrb, m_wlast}));
      if ($past(m_arvalid && !m_arready_i)) a_ar_holds : assert (m_arvalid && $stable({m_araddr, m_arlen}));
      if ($past(bvalid && !bready_i)) a_b_holds : assert (bvalid && $stable(bresp));
      if ($past(rvalid && !rready_i)) a_r_holds : assert (rvalid && $stable({rdata, rresp, rlast}));
      // An answer of a lost memory is an error, but for one that was on offer already.
      if ($past(lost) && rvalid) a_lost_reads_fail : assert (rresp == 2'b10 || $past(rvalid && !rready_i));
      if ($past(lost) && bvalid) a_lost_writes_fail : assert (bresp == 2'b10 || $past(bvalid && !bready_i));
    end
  end

  // ---- what the induction needs: the lists are what the guard has in its FIFOs ----
  function automatic logic same(list_t list, logic [1:0][7:0] mem, logic first, logic [1:0] level);
    same = list.level == level;
    for (int unsigned k = 0; k < Most; k++) if (k < 32'(level)) same = same && list.len[k] == mem[first + 1'(k)];
  endfunction

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      a_own_reads : assert (same(reads_q, {u_dut.u_read.u_owed.mem[1], u_dut.u_read.u_owed.mem[0]}, u_dut.u_read.u_owed.raddr_q,
                             u_dut.u_read.u_owed.level_q) && 32'(reads_q.level) <= Most);
      a_own_owed : assert (same(owed_q, {u_dut.u_write.u_noted.mem[1], u_dut.u_write.u_noted.mem[0]}, u_dut.u_write.u_noted.raddr_q,
                            u_dut.u_write.u_noted.level_q) && 32'(owed_q.level) <= Most);
      a_own_flags : assert (u_dut.u_read.u_owed.valid_q == (reads_q.level != 0) && u_dut.u_write.u_noted.valid_q == (owed_q.level != 0));
      a_own_read_ring : assert (u_dut.u_read.u_owed.waddr_q == u_dut.u_read.u_owed.raddr_q + reads_q.level[0]);
      a_own_owed_ring : assert (u_dut.u_write.u_noted.waddr_q == u_dut.u_write.u_noted.raddr_q + owed_q.level[0]);
      a_own_open : assert (u_dut.u_write.aw_open_q == writes_q.level && 3'(u_dut.u_write.w_open_q) == ended_q
                       && 32'(writes_q.level) <= Most && 32'(ended_q) <= Most);
      a_own_beats : assert (u_dut.u_read.beat_q == beat_q && u_dut.u_write.beat_q == m_w_beat_q);
      a_own_beats_fit : assert ((reads_q.level == 0 ? beat_q == 0 : beat_q <= reads_q.len[0])
                            && (owed_q.level == 0 ? m_w_beat_q == 0 : m_w_beat_q <= owed_q.len[0])
                            && (data_q.level == 0 ? lost || w_beat_q == 0 : w_beat_q <= data_q.len[0]));
      a_own_ahead : assert (ahead_q == 0 || (lost && data_q.level == 0));
      a_own_balance : assert (4'(writes_q.level) + 4'(aw_seen_q) + 4'(ahead_q) == 4'(ended_q) + 4'(data_q.level));
      a_own_seen : assert (u_dut.u_write.aw_held_q == m_aw_seen_q);
      a_own_offered_len : assert (!aw_seen_q || data_q.level == 0 || data_q.len[data_q.level-1'b1] == awlen_i);
      a_own_sent : assert (32'(data_q.level) <= Most);
      if (!lost) begin
        a_own_memory_reads : assert (m_reads_q == reads_q && m_beat_q == beat_q);
        a_own_memory_writes : assert (m_writes_q == 3'(writes_q.level) && m_ended_q == ended_q);
        a_own_same_beat : assert (w_beat_q == m_w_beat_q);
        a_own_in_step : assert (m_aw_seen_q ? aw_seen_q : 1'b1);
        // Addresses of the master that it still owes data for: those that the memory is owed, and one that waits for room.
        a_own_data : assert (data_q.level == owed_q.level + 2'(aw_seen_q && !m_aw_seen_q));
        a_own_data_len : assert (same(data_q, owed_q.len[1:0], 1'b0, owed_q.level) || data_q.level != owed_q.level);
        a_own_data_len_of_first : assert (owed_q.level == 0 || data_q.len[0] == owed_q.len[0]);
        a_own_accounts : assert (3'(owed_q.level) + ended_q == 3'(writes_q.level) + 3'(m_aw_seen_q));
      end
    end
  end

  // ---- useful work is possible ----
  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      c_lost_with_work : cover (lost && 32'(reads_q.level) == Most && 32'(writes_q.level) == Most && owed_q.level != 0);
      c_answered_for : cover ($past(lost) && rvalid && rready_i && rlast && bvalid && bready_i);
      c_late_answer : cover (lost && m_rvalid_i && m_bvalid_i && $past(lost && m_rvalid_i));
      c_data_waits_for_its_address : cover (!lost && early_q && wvalid_i && wready);
      c_lost_before_its_address : cover (lost && ahead_q == 2 && awvalid_i);
      c_survived : cover (!lost && timeout_i != 0 && m_rvalid_i && $past(!m_rvalid_i && u_dut.read_waited_q >= 2));
    end
  end

endmodule
