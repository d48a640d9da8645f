// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Read half of the memory fabric: one AXI4 read slave, one read master per memory.
//
// Latency, throughput, reset: see pst_memory_fabric.
module pst_fabric_read #(
    parameter int unsigned               Memories       = 2,                        // 1..32
    parameter logic [Memories-1:0][63:0] MemBytes       = {Memories{64'd2097152}},  // multiples of 4096
    parameter int unsigned               AddrWidth      = 32,                       // bits
    parameter int unsigned               MaxOutstanding = 32,                       // bursts without their last beat, >= 2
    parameter int unsigned               FifoBeats      = 32,                       // per memory, >= 2; with Reserve >= 64
    parameter bit                        Reserve        = 1'b0   // ask a memory only for what its FIFO has room for
) (
    input  logic                                  clk_i,
    input  logic                                  rst_i,
    // AXI4 read slave over the whole range
    input  pst_axi_pkg::read_req_t                s_axi_read_i,
    output pst_axi_pkg::read_rsp_t                s_axi_read_o,
    // AXI4 read masters
    output pst_axi_pkg::read_req_t [Memories-1:0] m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [Memories-1:0] m_axi_read_i
);

  if (Reserve && FifoBeats < pst_memory_pkg::BoundaryBytes / pst_memory_pkg::DataBytes) begin : g_bad_room
    $error("pst_fabric_read: FifoBeats is %0d; with Reserve the longest burst of 64 beats must fit", FifoBeats);
  end
  if (MaxOutstanding < 2 || FifoBeats < 2) begin : g_bad_depth
    $error("pst_fabric_read: MaxOutstanding (%0d) and FifoBeats (%0d) must be at least 2", MaxOutstanding, FifoBeats);
  end

  localparam int unsigned DataWidth   = pst_memory_pkg::DataWidth;
  localparam int unsigned MemoryWidth = Memories > 1 ? $clog2(Memories) : 1;
  // Bursts that may wait for one memory while another is served.
  localparam int unsigned AddressDepth = MaxOutstanding < 16 ? MaxOutstanding : 16;
  typedef logic [MemoryWidth-1:0] memory_t;

  typedef struct packed {
    logic                 last;
    logic [1:0]           resp;
    logic [DataWidth-1:0] data;
  } beat_t;

  logic route_in_valid, route_in_ready, route_valid;
  memory_t route_in, route;
  logic [Memories-1:0] beat_valid, pop;
  beat_t [Memories-1:0] beats;
  logic turn_valid, turn_ready;
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
      .s_valid_i(s_axi_read_i.arvalid),
      .s_ready_o(s_axi_read_o.arready),
      .s_addr_i(AddrWidth'(s_axi_read_i.araddr)),
      .s_len_i(s_axi_read_i.arlen),
      .m_route_valid_o(route_in_valid),
      .m_route_ready_i(route_in_ready),
      .m_route_memory_o(route_in),
      .m_valid_o(address_valid),
      .m_ready_i(address_ready),
      .m_addr_o(address),
      .m_len_o(len)
  );

  // Which memory answers next: a burst stays at the head until its last beat has gone.
  pst_fifo #(
      .Width(MemoryWidth),
      .Depth(MaxOutstanding)
  ) u_route (
      .clk_i,
      .rst_i,
      .s_valid_i(route_in_valid),
      .s_ready_o(route_in_ready),
      .s_data_i(route_in),
      .m_valid_o(route_valid),
      .m_ready_i(turn_valid && turn_ready && beats[route].last),
      .m_data_o(route),
      .level_o()
  );

  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    assign m_axi_read_o[m].araddr = pst_axi_pkg::addr_t'(address[m]);
    assign m_axi_read_o[m].arlen  = len[m];

    pst_fifo #(
        .Width($bits(beat_t)),
        .Depth(FifoBeats)
    ) u_data (
        .clk_i,
        .rst_i,
        .s_valid_i(m_axi_read_i[m].rvalid),
        .s_ready_o(m_axi_read_o[m].rready),
        .s_data_i({m_axi_read_i[m].rlast, m_axi_read_i[m].rresp, m_axi_read_i[m].rdata}),
        .m_valid_o(beat_valid[m]),
        .m_ready_i(pop[m]),
        .m_data_o(beats[m]),
        .level_o()
    );

    if (Reserve) begin : g_reserve
      // Beats of the FIFO that no burst has been promised. What a memory sends is always taken.
      logic [$clog2(FifoBeats+1)-1:0] room_q;
      logic roomy, asked;

      assign asked                   = m_axi_read_o[m].arvalid && m_axi_read_i[m].arready;
      assign roomy                   = 32'(room_q) > 32'(len[m]);
      assign m_axi_read_o[m].arvalid = address_valid[m] && roomy;
      assign address_ready[m]        = m_axi_read_i[m].arready && roomy;

      always_ff @(posedge clk_i) begin
        room_q <= room_q + $bits(room_q)'(pop[m]) - (asked ? $bits(room_q)'(len[m]) + 1'b1 : '0);
        if (rst_i) room_q <= $bits(room_q)'(FifoBeats);
      end

`ifndef SYNTHESIS
      always_ff @(posedge clk_i) begin
        if (!rst_i && m_axi_read_i[m].rvalid) begin
          a_room_was_reserved : assert (m_axi_read_o[m].rready) else $error("pst_fabric_read: no room for memory %0d", m);
        end
      end
`endif
    end else begin : g_direct
      assign m_axi_read_o[m].arvalid = address_valid[m];
      assign address_ready[m]        = m_axi_read_i[m].arready;
    end
  end

  assign turn_valid = route_valid && beat_valid[route];

  always_comb begin
    pop = '0;
    if (turn_valid && turn_ready) pop[route] = 1'b1;
  end

  pst_skid_buffer #(
      .Width($bits(beat_t))
  ) u_out (
      .clk_i,
      .rst_i,
      .s_valid_i(turn_valid),
      .s_ready_o(turn_ready),
      .s_data_i(beats[route]),
      .m_valid_o(s_axi_read_o.rvalid),
      .m_ready_i(s_axi_read_i.rready),
      .m_data_o({s_axi_read_o.rlast, s_axi_read_o.rresp, s_axi_read_o.rdata})
  );

  logic unused_address;    // bits above AddrWidth
  assign unused_address = ^s_axi_read_i.araddr;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_data_has_a_request : assert (beat_valid == '0 || route_valid) else $error("pst_fabric_read: data without request");
    end
  end
`endif

endmodule
