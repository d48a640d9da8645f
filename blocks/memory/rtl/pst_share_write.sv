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
    parameter int unsigned DataWidth      = 512, // bits, a multiple of 8
    parameter int unsigned MaxOutstanding = 32,  // bursts of all ports without response, >= 2
    localparam int unsigned StrbWidth = DataWidth / 8
) (
    input  logic                            clk_i,
    input  logic                            rst_i,
    // AXI4 write slaves; s_axi_bready_i must be high when a response may come
    input  logic [Ports-1:0]                s_axi_awvalid_i,
    output logic [Ports-1:0]                s_axi_awready_o,
    input  logic [Ports-1:0][AddrWidth-1:0] s_axi_awaddr_i,
    input  logic [Ports-1:0][7:0]           s_axi_awlen_i,
    input  logic [Ports-1:0]                s_axi_wvalid_i,
    output logic [Ports-1:0]                s_axi_wready_o,
    input  logic [Ports-1:0][DataWidth-1:0] s_axi_wdata_i,
    input  logic [Ports-1:0][StrbWidth-1:0] s_axi_wstrb_i,
    input  logic [Ports-1:0]                s_axi_wlast_i,
    output logic [Ports-1:0]                s_axi_bvalid_o,
    input  logic [Ports-1:0]                s_axi_bready_i,
    output logic [1:0]                      s_axi_bresp_o,
    // AXI4 write master
    output logic                            m_axi_awvalid_o,
    input  logic                            m_axi_awready_i,
    output logic [AddrWidth-1:0]            m_axi_awaddr_o,
    output logic [7:0]                      m_axi_awlen_o,
    output logic                            m_axi_wvalid_o,
    input  logic                            m_axi_wready_i,
    output logic [DataWidth-1:0]            m_axi_wdata_o,
    output logic [StrbWidth-1:0]            m_axi_wstrb_o,
    output logic                            m_axi_wlast_o,
    input  logic                            m_axi_bvalid_i,
    output logic                            m_axi_bready_o,
    input  logic [1:0]                      m_axi_bresp_i
);

  if (Ports < 1 || MaxOutstanding < 2) begin : g_bad_size
    $error("pst_share_write: Ports (%0d) must be at least 1, MaxOutstanding (%0d) at least 2", Ports, MaxOutstanding);
  end

  typedef struct packed {
    logic [AddrWidth-1:0] addr;
    logic [7:0]           len;
  } address_t;

  typedef struct packed {
    logic                 last;
    logic [StrbWidth-1:0] strb;
    logic [DataWidth-1:0] data;
  } beat_t;

  logic [Ports-1:0] later_d, later_q;    // ports behind the one whose burst was taken last
  logic [Ports-1:0] owner_d, owner_q;    // whose burst is under way; none: 0
  logic [Ports-1:0] offered, turn, winner, source, responder;
  logic start, taken, address_ready, data_ready, order_ready, order_valid;
  address_t address;
  beat_t beat;

  always_comb begin
    offered = owner_q == '0 ? s_axi_awvalid_i & s_axi_wvalid_i : '0;
    turn    = (offered & later_q) != '0 ? offered & later_q : offered;
    winner  = turn & (~turn + 1'b1);
    source  = owner_q | winner;
    start   = winner != '0 && address_ready && data_ready && order_ready;
    taken   = start || ((owner_q & s_axi_wvalid_i) != '0 && data_ready);

    address = '0;
    beat    = '0;
    later_d = later_q;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (winner[p]) address |= {s_axi_awaddr_i[p], s_axi_awlen_i[p]};
      if (source[p]) beat |= {s_axi_wlast_i[p], s_axi_wstrb_i[p], s_axi_wdata_i[p]};
      if (winner[p] && start) for (int unsigned k = 0; k < Ports; k++) later_d[k] = k > p;
    end
    owner_d = taken ? (beat.last ? '0 : source) : owner_q;
  end

  assign s_axi_awready_o = start ? winner : '0;
  assign s_axi_wready_o  = taken ? source : '0;

  pst_fifo #(
      .Width($bits(address_t)),
      .Depth(2)
  ) u_address (
      .clk_i,
      .rst_i,
      .s_valid_i(start),
      .s_ready_o(address_ready),
      .s_data_i(address),
      .m_valid_o(m_axi_awvalid_o),
      .m_ready_i(m_axi_awready_i),
      .m_data_o({m_axi_awaddr_o, m_axi_awlen_o}),
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
      .m_valid_o(m_axi_wvalid_o),
      .m_ready_i(m_axi_wready_i),
      .m_data_o({m_axi_wlast_o, m_axi_wstrb_o, m_axi_wdata_o})
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
      .m_ready_i(m_axi_bvalid_i && m_axi_bready_o),
      .m_data_o(responder),
      .level_o()
  );

  assign m_axi_bready_o = order_valid && (responder & s_axi_bready_i) != '0;
  assign s_axi_bvalid_o = order_valid && m_axi_bvalid_i ? responder : '0;
  assign s_axi_bresp_o  = m_axi_bresp_i;

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
      a_response_has_a_burst : assert (!m_axi_bvalid_i || order_valid) else $error("pst_share_write: a response without a burst");
    end
  end
`endif

endmodule
