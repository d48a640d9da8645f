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
    parameter int unsigned DataWidth      = 512, // bits
    parameter int unsigned MaxOutstanding = 32   // bursts of all ports without their last beat, >= 2
) (
    input  logic                            clk_i,
    input  logic                            rst_i,
    // AXI4 read slaves; s_axi_rready_i must be high when data may come
    input  logic [Ports-1:0]                s_axi_arvalid_i,
    output logic [Ports-1:0]                s_axi_arready_o,
    input  logic [Ports-1:0][AddrWidth-1:0] s_axi_araddr_i,
    input  logic [Ports-1:0][7:0]           s_axi_arlen_i,
    output logic [Ports-1:0]                s_axi_rvalid_o,
    input  logic [Ports-1:0]                s_axi_rready_i,
    output logic [DataWidth-1:0]            s_axi_rdata_o,
    output logic [1:0]                      s_axi_rresp_o,
    output logic                            s_axi_rlast_o,
    // AXI4 read master
    output logic                            m_axi_arvalid_o,
    input  logic                            m_axi_arready_i,
    output logic [AddrWidth-1:0]            m_axi_araddr_o,
    output logic [7:0]                      m_axi_arlen_o,
    input  logic                            m_axi_rvalid_i,
    output logic                            m_axi_rready_o,
    input  logic [DataWidth-1:0]            m_axi_rdata_i,
    input  logic [1:0]                      m_axi_rresp_i,
    input  logic                            m_axi_rlast_i
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
  address_t address;

  always_comb begin
    turn    = (s_axi_arvalid_i & later_q) != '0 ? s_axi_arvalid_i & later_q : s_axi_arvalid_i;
    winner  = turn & (~turn + 1'b1);
    start   = winner != '0 && address_ready && order_ready;
    address = '0;
    later_d = later_q;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (winner[p]) address |= {s_axi_araddr_i[p], s_axi_arlen_i[p]};
      if (winner[p] && start) for (int unsigned k = 0; k < Ports; k++) later_d[k] = k > p;
    end
  end

  assign s_axi_arready_o = start ? winner : '0;

  pst_fifo #(
      .Width($bits(address_t)),
      .Depth(2)
  ) u_address (
      .clk_i,
      .rst_i,
      .s_valid_i(start),
      .s_ready_o(address_ready),
      .s_data_i(address),
      .m_valid_o(m_axi_arvalid_o),
      .m_ready_i(m_axi_arready_i),
      .m_data_o({m_axi_araddr_o, m_axi_arlen_o}),
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
      .m_ready_i(beat_taken && s_axi_rlast_o),
      .m_data_o(reader),
      .level_o()
  );

  pst_skid_buffer #(
      .Width(DataWidth + 3)
  ) u_data (
      .clk_i,
      .rst_i,
      .s_valid_i(m_axi_rvalid_i),
      .s_ready_o(m_axi_rready_o),
      .s_data_i({m_axi_rlast_i, m_axi_rresp_i, m_axi_rdata_i}),
      .m_valid_o(beat_valid),
      .m_ready_i(beat_taken),
      .m_data_o({s_axi_rlast_o, s_axi_rresp_o, s_axi_rdata_o})
  );

  assign s_axi_rvalid_o = beat_valid && order_valid ? reader : '0;
  assign beat_taken     = (s_axi_rvalid_o & s_axi_rready_i) != '0;

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
