// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Lets several AXI4 write masters share one memory, burst by burst, the ports taking turns.
//
// A burst is taken when the first beat of its data stands beside its address, and then to its last beat: so a memory is never held for data
// that is stuck behind another memory. The rest of the data must come without waiting for anything but this memory.
//
// Latency:    address and data 1 cycle, response 0. Throughput: one beat per cycle, bursts of a single beat included.
// Ordering:   each port's bursts as they came; responses to a port in the order of its bursts.
// Reset:      what is under way is forgotten; the memory has to be reset with it.
module pst_share_write #(
    parameter int unsigned Ports          = 2,   // >= 1
    parameter int unsigned AddrWidth      = 32,  // bits
    parameter int unsigned MaxOutstanding = 32   // bursts of all ports without response, >= 2
) (
    input  logic                                clk_i,
    input  logic                                rst_i,
    // AXI4 write slaves; its bready must be high when a response may come
    input  pst_axi_pkg::write_req_t [Ports-1:0] s_axi_write_i,
    output pst_axi_pkg::write_rsp_t [Ports-1:0] s_axi_write_o,
    // AXI4 write master
    output pst_axi_pkg::write_req_t             m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t             m_axi_write_i
);

  if (Ports < 1 || MaxOutstanding < 2) begin : g_bad_size
    $error("pst_share_write: Ports (%0d) must be at least 1, MaxOutstanding (%0d) at least 2", Ports, MaxOutstanding);
  end

  typedef struct packed {
    logic [AddrWidth-1:0] addr;
    logic [7:0]           len;
  } address_t;

  typedef struct packed {
    logic                                last;
    logic [pst_axi_pkg::DataBytes-1:0]   strb;
    logic [8*pst_axi_pkg::DataBytes-1:0] data;
  } beat_t;

  logic [Ports-1:0] later_d, later_q;    // ports behind the one whose burst was taken last
  logic [Ports-1:0] owner_d, owner_q;    // whose burst is under way; none: 0
  logic [Ports-1:0] offered, turn, winner, source, responder;
  logic start, taken, address_ready, data_ready, order_ready, order_valid;
  logic [Ports-1:0] awvalid, wvalid, bready;
  address_t address, m_address;
  beat_t beat;

  for (genvar p = 0; p < int'(Ports); p++) begin : g_port
    assign awvalid[p] = s_axi_write_i[p].awvalid;
    assign wvalid[p]  = s_axi_write_i[p].wvalid;
    assign bready[p]  = s_axi_write_i[p].bready;

    logic unused_address;    // bits above AddrWidth
    assign unused_address = ^s_axi_write_i[p].awaddr;

    assign s_axi_write_o[p] = '{
        awready: start && winner[p], wready: taken && source[p],
        bvalid: order_valid && m_axi_write_i.bvalid && responder[p], bresp: m_axi_write_i.bresp
    };
  end

  always_comb begin
    offered = owner_q == '0 ? awvalid & wvalid : '0;
    turn    = (offered & later_q) != '0 ? offered & later_q : offered;
    winner  = turn & (~turn + 1'b1);
    source  = owner_q | winner;
    start   = winner != '0 && address_ready && data_ready && order_ready;
    taken   = start || ((owner_q & wvalid) != '0 && data_ready);

    address = '0;
    beat    = '0;
    later_d = later_q;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (winner[p]) address |= {AddrWidth'(s_axi_write_i[p].awaddr), s_axi_write_i[p].awlen};
      if (source[p]) beat |= {s_axi_write_i[p].wlast, s_axi_write_i[p].wstrb, s_axi_write_i[p].wdata};
      if (winner[p] && start) for (int unsigned k = 0; k < Ports; k++) later_d[k] = k > p;
    end
    owner_d = taken ? (beat.last ? '0 : source) : owner_q;
  end

  pst_fifo #(
      .Width($bits(address_t)),
      .Depth(2)
  ) u_address (
      .clk_i,
      .rst_i,
      .s_valid_i(start),
      .s_ready_o(address_ready),
      .s_data_i(address),
      .m_valid_o(m_axi_write_o.awvalid),
      .m_ready_i(m_axi_write_i.awready),
      .m_data_o(m_address),
      .level_o()
  );

  pst_skid_buffer #(
      .Width($bits(beat_t))
  ) u_data (
      .clk_i,
      .rst_i,
      .s_valid_i(taken),
      .s_ready_o(data_ready),
      .s_data_i(beat),
      .m_valid_o(m_axi_write_o.wvalid),
      .m_ready_i(m_axi_write_i.wready),
      .m_data_o({m_axi_write_o.wlast, m_axi_write_o.wstrb, m_axi_write_o.wdata})
  );

  // Whose response is next.
  pst_fifo #(
      .Width(Ports),
      .Depth(MaxOutstanding)
  ) u_order (
      .clk_i,
      .rst_i,
      .s_valid_i(start),
      .s_ready_o(order_ready),
      .s_data_i(winner),
      .m_valid_o(order_valid),
      .m_ready_i(m_axi_write_i.bvalid && m_axi_write_o.bready),
      .m_data_o(responder),
      .level_o()
  );

  assign m_axi_write_o.bready = order_valid && (responder & bready) != '0;
  assign m_axi_write_o.awaddr = pst_axi_pkg::addr_t'(m_address.addr);
  assign m_axi_write_o.awlen  = m_address.len;

  always_ff @(posedge clk_i) begin
    owner_q <= owner_d;
    later_q <= later_d;
    if (rst_i) begin
      owner_q <= '0;
      later_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_one_owner : assert ($onehot0(owner_q)) else $error("pst_share_write: two bursts at once");
      a_response_has_a_burst : assert (!m_axi_write_i.bvalid || order_valid) else $error("pst_share_write: a response without a burst");
    end
  end
`endif

endmodule
