// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Write half of the memory fabric: one AXI4 write slave, one write master per memory.
//
// Write data follows the addresses: a burst's data is routed when its address has been accepted. At a memory's port
// data may stand before its address does, as AXI4 allows.
// Latency, throughput, reset: see pst_memory_fabric.
module pst_fabric_write #(
    parameter int unsigned               Memories       = 2,                        // 1..32
    parameter logic [Memories-1:0][63:0] MemBytes       = {Memories{64'd2097152}},  // multiples of 4096
    parameter int unsigned               AddrWidth      = 32,                       // bits
    parameter int unsigned               MaxOutstanding = 32,                       // bursts without response, >= 2
    parameter int unsigned               FifoBeats      = 32                        // per memory, >= 2
) (
    input  logic                                   clk_i,
    input  logic                                   rst_i,
    // AXI4 write slave over the whole range
    input  pst_axi_pkg::write_req_t                s_axi_write_i,
    output pst_axi_pkg::write_rsp_t                s_axi_write_o,
    // AXI4 write masters
    output pst_axi_pkg::write_req_t [Memories-1:0] m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [Memories-1:0] m_axi_write_i
);

  if (MaxOutstanding < 2 || FifoBeats < 2) begin : g_bad_depth
    $error("pst_fabric_write: MaxOutstanding (%0d) and FifoBeats (%0d) must be at least 2", MaxOutstanding, FifoBeats);
  end

  localparam int unsigned DataWidth   = pst_memory_pkg::DataWidth;
  localparam int unsigned StrbWidth   = pst_memory_pkg::DataBytes;
  localparam int unsigned MemoryWidth = Memories > 1 ? $clog2(Memories) : 1;
  // Bursts that may wait for one memory while another is served.
  localparam int unsigned AddressDepth = MaxOutstanding < 16 ? MaxOutstanding : 16;
  typedef logic [MemoryWidth-1:0] memory_t;

  typedef struct packed {
    logic                 last;
    logic [StrbWidth-1:0] strb;
    logic [DataWidth-1:0] data;
  } beat_t;

  // ---- Address: each burst is noted for its data and for its response ----
  logic route_valid, data_route_ready, response_route_ready, routed;
  memory_t route;
  logic [Memories-1:0] address_valid, address_ready;
  logic [Memories-1:0][AddrWidth-1:0] address;
  logic [Memories-1:0][7:0] len;

  pst_fabric_address #(
      .Memories(Memories),
      .MemBytes(MemBytes),
      .AddrWidth(AddrWidth),
      .Depth(AddressDepth)
  ) u_address (
      .clk_i,
      .rst_i,
      .s_valid_i(s_axi_write_i.awvalid),
      .s_ready_o(s_axi_write_o.awready),
      .s_addr_i(AddrWidth'(s_axi_write_i.awaddr)),
      .s_len_i(s_axi_write_i.awlen),
      .m_route_valid_o(route_valid),
      .m_route_ready_i(data_route_ready && response_route_ready),
      .m_route_memory_o(route),
      .m_valid_o(address_valid),
      .m_ready_i(address_ready),
      .m_addr_o(address),
      .m_len_o(len)
  );

  assign routed = route_valid && data_route_ready && response_route_ready;

  // ---- Data ----
  beat_t beat;
  logic beat_valid, beat_ready, beat_taken, data_route_valid;
  memory_t data_route;
  logic [Memories-1:0] fifo_ready, push;

  pst_skid_buffer #(
      .Width($bits(beat_t))
  ) u_data (
      .clk_i,
      .rst_i,
      .s_valid_i(s_axi_write_i.wvalid),
      .s_ready_o(s_axi_write_o.wready),
      .s_data_i({s_axi_write_i.wlast, s_axi_write_i.wstrb, s_axi_write_i.wdata}),
      .m_valid_o(beat_valid),
      .m_ready_i(beat_ready),
      .m_data_o(beat)
  );

  pst_fifo #(
      .Width(MemoryWidth),
      .Depth(MaxOutstanding)
  ) u_data_route (
      .clk_i,
      .rst_i,
      .s_valid_i(routed),
      .s_ready_o(data_route_ready),
      .s_data_i(route),
      .m_valid_o(data_route_valid),
      .m_ready_i(beat_taken && beat.last),
      .m_data_o(data_route),
      .level_o()
  );

  assign beat_ready = data_route_valid && fifo_ready[data_route];
  assign beat_taken = beat_valid && beat_ready;

  always_comb begin
    push = '0;
    if (beat_taken) push[data_route] = 1'b1;
  end

  // ---- Responses, in the order of the addresses ----
  logic [Memories-1:0] response_valid, response_pop;
  logic [Memories-1:0][1:0] response;
  logic response_route_valid;
  memory_t response_route;

  pst_fifo #(
      .Width(MemoryWidth),
      .Depth(MaxOutstanding)
  ) u_response_route (
      .clk_i,
      .rst_i,
      .s_valid_i(routed),
      .s_ready_o(response_route_ready),
      .s_data_i(route),
      .m_valid_o(response_route_valid),
      .m_ready_i(s_axi_write_o.bvalid && s_axi_write_i.bready),
      .m_data_o(response_route),
      .level_o()
  );

  assign s_axi_write_o.bvalid = response_route_valid && response_valid[response_route];
  assign s_axi_write_o.bresp  = response[response_route];

  always_comb begin
    response_pop = '0;
    if (s_axi_write_o.bvalid && s_axi_write_i.bready) response_pop[response_route] = 1'b1;
  end

  logic [Memories-1:0] response_ready;

  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    assign m_axi_write_o[m].awvalid = address_valid[m];
    assign m_axi_write_o[m].awaddr  = pst_axi_pkg::addr_t'(address[m]);
    assign m_axi_write_o[m].awlen   = len[m];
    assign address_ready[m]         = m_axi_write_i[m].awready;
    assign m_axi_write_o[m].bready  = response_ready[m];

    pst_fifo #(
        .Width($bits(beat_t)),
        .Depth(FifoBeats)
    ) u_data (
        .clk_i,
        .rst_i,
        .s_valid_i(push[m]),
        .s_ready_o(fifo_ready[m]),
        .s_data_i(beat),
        .m_valid_o(m_axi_write_o[m].wvalid),
        .m_ready_i(m_axi_write_i[m].wready),
        .m_data_o({m_axi_write_o[m].wlast, m_axi_write_o[m].wstrb, m_axi_write_o[m].wdata}),
        .level_o()
    );

    // Never full: not more than MaxOutstanding responses are owed. A memory never waits with a response.
    pst_fifo #(
        .Width(2),
        .Depth(MaxOutstanding)
    ) u_response (
        .clk_i,
        .rst_i,
        .s_valid_i(m_axi_write_i[m].bvalid),
        .s_ready_o(response_ready[m]),
        .s_data_i(m_axi_write_i[m].bresp),
        .m_valid_o(response_valid[m]),
        .m_ready_i(response_pop[m]),
        .m_data_o(response[m]),
        .level_o()
    );
  end

  logic unused_address;    // bits above AddrWidth
  assign unused_address = ^s_axi_write_i.awaddr;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_response_has_room : assert (&response_ready) else $error("pst_fabric_write: more responses than requests");
      a_response_has_a_request : assert (response_valid == '0 || response_route_valid)
      else $error("pst_fabric_write: a response without request");
    end
  end
`endif

endmodule
