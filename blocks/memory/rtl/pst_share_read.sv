// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Lets several AXI4 read masters share one memory, burst by burst, the ports taking turns.
//
// A port asks only for what it has room for: data that a port does not take would hold up all others.
//
// Latency:    address 1 cycle, data 1. Throughput: one burst and one beat per cycle.
// Ordering:   each port's bursts as they came; data to a port in the order of its bursts.
// Reset:      what is under way is forgotten; the memory has to be reset with it.
module pst_share_read #(
    parameter int unsigned Ports          = 2,   // >= 1
    parameter int unsigned AddrWidth      = 32,  // bits
    parameter int unsigned MaxOutstanding = 32   // bursts of all ports without their last beat, >= 2
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    // AXI4 read slaves; its rready must be high when data may come
    input  pst_axi_pkg::read_req_t [Ports-1:0] s_axi_read_i,
    output pst_axi_pkg::read_rsp_t [Ports-1:0] s_axi_read_o,
    // AXI4 read master
    output pst_axi_pkg::read_req_t             m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t             m_axi_read_i
);

  if (Ports < 1 || MaxOutstanding < 2) begin : g_bad_size
    $error("pst_share_read: Ports (%0d) must be at least 1, MaxOutstanding (%0d) at least 2", Ports, MaxOutstanding);
  end

  typedef struct packed {
    logic [AddrWidth-1:0] addr;
    logic [7:0]           len;
  } address_t;

  logic [Ports-1:0] later_d, later_q;    // ports behind the one whose burst was taken last
  logic [Ports-1:0] turn, winner, reader;
  logic start, address_ready, order_ready, order_valid, beat_valid, beat_taken;
  logic [Ports-1:0] arvalid, rready;
  address_t address, m_address;
  logic [8*pst_axi_pkg::DataBytes-1:0] data;
  logic [1:0] resp;
  logic last;

  for (genvar p = 0; p < int'(Ports); p++) begin : g_port
    assign arvalid[p] = s_axi_read_i[p].arvalid;
    assign rready[p]  = s_axi_read_i[p].rready;

    logic unused_address;    // bits above AddrWidth
    assign unused_address = ^s_axi_read_i[p].araddr;

    assign s_axi_read_o[p] = '{
        arready: start && winner[p], rvalid: beat_valid && order_valid && reader[p], rdata: data, rresp: resp, rlast: last
    };
  end

  always_comb begin
    turn    = (arvalid & later_q) != '0 ? arvalid & later_q : arvalid;
    winner  = turn & (~turn + 1'b1);
    start   = winner != '0 && address_ready && order_ready;
    address = '0;
    later_d = later_q;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (winner[p]) address |= {AddrWidth'(s_axi_read_i[p].araddr), s_axi_read_i[p].arlen};
      if (winner[p] && start) for (int unsigned k = 0; k < Ports; k++) later_d[k] = k > p;
    end
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
      .m_valid_o(m_axi_read_o.arvalid),
      .m_ready_i(m_axi_read_i.arready),
      .m_data_o(m_address),
      .level_o()
  );

  // Whose data is next; a burst stays at the head until its last beat has gone.
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
      .m_ready_i(beat_taken && last),
      .m_data_o(reader),
      .level_o()
  );

  pst_skid_buffer #(
      .Width(8 * pst_axi_pkg::DataBytes + 3)
  ) u_data (
      .clk_i,
      .rst_i,
      .s_valid_i(m_axi_read_i.rvalid),
      .s_ready_o(m_axi_read_o.rready),
      .s_data_i({m_axi_read_i.rlast, m_axi_read_i.rresp, m_axi_read_i.rdata}),
      .m_valid_o(beat_valid),
      .m_ready_i(beat_taken),
      .m_data_o({last, resp, data})
  );

  assign beat_taken          = beat_valid && order_valid && (reader & rready) != '0;
  assign m_axi_read_o.araddr = pst_axi_pkg::addr_t'(m_address.addr);
  assign m_axi_read_o.arlen  = m_address.len;

  always_ff @(posedge clk_i) begin
    later_q <= later_d;
    if (rst_i) later_q <= '0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_data_has_a_burst : assert (!beat_valid || order_valid) else $error("pst_share_read: data without a burst");
    end
  end
`endif

endmodule
