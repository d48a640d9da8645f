// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Puts several memories, each behind its own AXI4 port, into one address range.
//
// Memory 0 starts at address 0, each further one where the one before it ends; the address at a memory's port counts
// from its own start. Requests go to their memories side by side, and a FIFO per memory and channel lets a fast memory
// run ahead of a slow one; responses and read data come back in the order of the requests, whatever the latencies.
// Writes and reads are two separate modules and know nothing of each other: to read what was written, wait for
// the response (the rx handler does).
//
// Latency:    write address 2 cycles, write data 2 (3 when it comes with its address), response 1, read address 2,
//             read data 2.
// Throughput: one burst and one beat per cycle and direction, bursts of a single beat included.
// Reset:      what is under way is forgotten; the memories have to be reset with it.
module pst_memory_fabric #(
    parameter int unsigned               Memories        = 2,              // 1..32
    parameter logic [Memories-1:0][63:0] MemBytes        = {Memories{64'd2097152}},  // multiples of 4096
    parameter int unsigned               AddrWidth       = 32,             // bits of a byte address of the whole range
    parameter int unsigned               MaxOutstanding  = 32,             // bursts under way per direction; >= 2
    parameter int unsigned               WriteFifoBeats  = 32,             // write data waiting for each memory; >= 2
    parameter int unsigned               ReadFifoBeats   = 32,             // read data waiting for its turn, per memory; >= 2
    localparam int unsigned DataWidth = pst_memory_pkg::DataWidth,
    localparam int unsigned StrbWidth = pst_memory_pkg::DataBytes
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    // AXI4 slave over the whole range
    input  logic                               s_axi_awvalid_i,
    output logic                               s_axi_awready_o,
    input  logic [AddrWidth-1:0]               s_axi_awaddr_i,
    input  logic [7:0]                         s_axi_awlen_i,
    input  logic                               s_axi_wvalid_i,
    output logic                               s_axi_wready_o,
    input  logic [DataWidth-1:0]               s_axi_wdata_i,
    input  logic [StrbWidth-1:0]               s_axi_wstrb_i,
    input  logic                               s_axi_wlast_i,
    output logic                               s_axi_bvalid_o,
    input  logic                               s_axi_bready_i,
    output logic [1:0]                         s_axi_bresp_o,
    input  logic                               s_axi_arvalid_i,
    output logic                               s_axi_arready_o,
    input  logic [AddrWidth-1:0]               s_axi_araddr_i,
    input  logic [7:0]                         s_axi_arlen_i,
    output logic                               s_axi_rvalid_o,
    input  logic                               s_axi_rready_i,
    output logic [DataWidth-1:0]               s_axi_rdata_o,
    output logic [1:0]                         s_axi_rresp_o,
    output logic                               s_axi_rlast_o,
    // AXI4 masters, one per memory
    output logic [Memories-1:0]                m_axi_awvalid_o,
    input  logic [Memories-1:0]                m_axi_awready_i,
    output logic [Memories-1:0][AddrWidth-1:0] m_axi_awaddr_o,
    output logic [Memories-1:0][7:0]           m_axi_awlen_o,
    output logic [Memories-1:0]                m_axi_wvalid_o,
    input  logic [Memories-1:0]                m_axi_wready_i,
    output logic [Memories-1:0][DataWidth-1:0] m_axi_wdata_o,
    output logic [Memories-1:0][StrbWidth-1:0] m_axi_wstrb_o,
    output logic [Memories-1:0]                m_axi_wlast_o,
    input  logic [Memories-1:0]                m_axi_bvalid_i,
    output logic [Memories-1:0]                m_axi_bready_o,
    input  logic [Memories-1:0][1:0]           m_axi_bresp_i,
    output logic [Memories-1:0]                m_axi_arvalid_o,
    input  logic [Memories-1:0]                m_axi_arready_i,
    output logic [Memories-1:0][AddrWidth-1:0] m_axi_araddr_o,
    output logic [Memories-1:0][7:0]           m_axi_arlen_o,
    input  logic [Memories-1:0]                m_axi_rvalid_i,
    output logic [Memories-1:0]                m_axi_rready_o,
    input  logic [Memories-1:0][DataWidth-1:0] m_axi_rdata_i,
    input  logic [Memories-1:0][1:0]           m_axi_rresp_i,
    input  logic [Memories-1:0]                m_axi_rlast_i
);

  pst_fabric_write #(
      .Memories(Memories),
      .MemBytes(MemBytes),
      .AddrWidth(AddrWidth),
      .MaxOutstanding(MaxOutstanding),
      .FifoBeats(WriteFifoBeats)
  ) u_write (
      .clk_i,
      .rst_i,
      .s_axi_awvalid_i,
      .s_axi_awready_o,
      .s_axi_awaddr_i,
      .s_axi_awlen_i,
      .s_axi_wvalid_i,
      .s_axi_wready_o,
      .s_axi_wdata_i,
      .s_axi_wstrb_i,
      .s_axi_wlast_i,
      .s_axi_bvalid_o,
      .s_axi_bready_i,
      .s_axi_bresp_o,
      .m_axi_awvalid_o,
      .m_axi_awready_i,
      .m_axi_awaddr_o,
      .m_axi_awlen_o,
      .m_axi_wvalid_o,
      .m_axi_wready_i,
      .m_axi_wdata_o,
      .m_axi_wstrb_o,
      .m_axi_wlast_o,
      .m_axi_bvalid_i,
      .m_axi_bready_o,
      .m_axi_bresp_i
  );

  pst_fabric_read #(
      .Memories(Memories),
      .MemBytes(MemBytes),
      .AddrWidth(AddrWidth),
      .MaxOutstanding(MaxOutstanding),
      .FifoBeats(ReadFifoBeats)
  ) u_read (
      .clk_i,
      .rst_i,
      .s_axi_arvalid_i,
      .s_axi_arready_o,
      .s_axi_araddr_i,
      .s_axi_arlen_i,
      .s_axi_rvalid_o,
      .s_axi_rready_i,
      .s_axi_rdata_o,
      .s_axi_rresp_o,
      .s_axi_rlast_o,
      .m_axi_arvalid_o,
      .m_axi_arready_i,
      .m_axi_araddr_o,
      .m_axi_arlen_o,
      .m_axi_rvalid_i,
      .m_axi_rready_o,
      .m_axi_rdata_i,
      .m_axi_rresp_i,
      .m_axi_rlast_i
  );

endmodule
