// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Several pairs of rx and tx handlers in front of the same memories: a way of its own from each pair to each memory, and at each memory the
// pairs take turns, burst by burst.
//
// Addresses are those of pst_memory_fabric. Each pair has its answers in the order of its own requests; between pairs there is no order.
// A pair that takes no read data, or has none to write, holds up no other pair, provided that the beats of a burst are offered in one go.
// Nothing can wait in a circle: README.md, "Several pairs".
//
// Latency:    of pst_memory_fabric, and 1 cycle more for addresses, write data and read data; of one pair alone no more.
// Throughput: one burst and one beat per cycle and direction for each pair, and for each memory.
// Reset:      what is under way is forgotten; the memories have to be reset with it.
module pst_shared_fabric #(
    parameter int unsigned               Pairs          = 2,                        // >= 1
    parameter int unsigned               Memories       = 2,                        // 1..32
    parameter logic [Memories-1:0][63:0] MemBytes       = {Memories{64'd2097152}},  // multiples of 4096
    parameter int unsigned               AddrWidth      = 32,                       // bits of a byte address of the whole range
    parameter int unsigned               MaxOutstanding = 32,   // bursts under way per direction, of each pair and at each memory; >= 2
    parameter int unsigned               WriteFifoBeats = 32,   // write data waiting, of each pair for each memory; >= 2
    parameter int unsigned               ReadFifoBeats  = 64,   // the same of read data under way; >= 64, of a single pair >= 2
    localparam int unsigned DataWidth = pst_memory_pkg::DataWidth,
    localparam int unsigned StrbWidth = pst_memory_pkg::DataBytes
) (
    input  logic clk_i,
    input  logic rst_i,
    // AXI4 slaves over the whole range, one per pair
    input  logic [Pairs-1:0]                         s_axi_awvalid_i,
    output logic [Pairs-1:0]                         s_axi_awready_o,
    input  logic [Pairs-1:0][AddrWidth-1:0]          s_axi_awaddr_i,
    input  logic [Pairs-1:0][7:0]                    s_axi_awlen_i,
    input  logic [Pairs-1:0]                         s_axi_wvalid_i,
    output logic [Pairs-1:0]                         s_axi_wready_o,
    input  logic [Pairs-1:0][DataWidth-1:0]          s_axi_wdata_i,
    input  logic [Pairs-1:0][StrbWidth-1:0]          s_axi_wstrb_i,
    input  logic [Pairs-1:0]                         s_axi_wlast_i,
    output logic [Pairs-1:0]                         s_axi_bvalid_o,
    input  logic [Pairs-1:0]                         s_axi_bready_i,
    output logic [Pairs-1:0][1:0]                    s_axi_bresp_o,
    input  logic [Pairs-1:0]                         s_axi_arvalid_i,
    output logic [Pairs-1:0]                         s_axi_arready_o,
    input  logic [Pairs-1:0][AddrWidth-1:0]          s_axi_araddr_i,
    input  logic [Pairs-1:0][7:0]                    s_axi_arlen_i,
    output logic [Pairs-1:0]                         s_axi_rvalid_o,
    input  logic [Pairs-1:0]                         s_axi_rready_i,
    output logic [Pairs-1:0][DataWidth-1:0]          s_axi_rdata_o,
    output logic [Pairs-1:0][1:0]                    s_axi_rresp_o,
    output logic [Pairs-1:0]                         s_axi_rlast_o,
    // AXI4 masters, one per memory
    output logic [Memories-1:0]                      m_axi_awvalid_o,
    input  logic [Memories-1:0]                      m_axi_awready_i,
    output logic [Memories-1:0][AddrWidth-1:0]       m_axi_awaddr_o,
    output logic [Memories-1:0][7:0]                 m_axi_awlen_o,
    output logic [Memories-1:0]                      m_axi_wvalid_o,
    input  logic [Memories-1:0]                      m_axi_wready_i,
    output logic [Memories-1:0][DataWidth-1:0]       m_axi_wdata_o,
    output logic [Memories-1:0][StrbWidth-1:0]       m_axi_wstrb_o,
    output logic [Memories-1:0]                      m_axi_wlast_o,
    input  logic [Memories-1:0]                      m_axi_bvalid_i,
    output logic [Memories-1:0]                      m_axi_bready_o,
    input  logic [Memories-1:0][1:0]                 m_axi_bresp_i,
    output logic [Memories-1:0]                      m_axi_arvalid_o,
    input  logic [Memories-1:0]                      m_axi_arready_i,
    output logic [Memories-1:0][AddrWidth-1:0]       m_axi_araddr_o,
    output logic [Memories-1:0][7:0]                 m_axi_arlen_o,
    input  logic [Memories-1:0]                      m_axi_rvalid_i,
    output logic [Memories-1:0]                      m_axi_rready_o,
    input  logic [Memories-1:0][DataWidth-1:0]       m_axi_rdata_i,
    input  logic [Memories-1:0][1:0]                 m_axi_rresp_i,
    input  logic [Memories-1:0]                      m_axi_rlast_i
);

  // Between the two: [pair][memory], and the same as [memory][pair].
  logic [Pairs-1:0][Memories-1:0] of_awvalid;
  logic [Memories-1:0][Pairs-1:0] at_awvalid;
  logic [Pairs-1:0][Memories-1:0] of_awready;
  logic [Memories-1:0][Pairs-1:0] at_awready;
  logic [Pairs-1:0][Memories-1:0][AddrWidth-1:0] of_awaddr;
  logic [Memories-1:0][Pairs-1:0][AddrWidth-1:0] at_awaddr;
  logic [Pairs-1:0][Memories-1:0][7:0] of_awlen;
  logic [Memories-1:0][Pairs-1:0][7:0] at_awlen;
  logic [Pairs-1:0][Memories-1:0] of_wvalid;
  logic [Memories-1:0][Pairs-1:0] at_wvalid;
  logic [Pairs-1:0][Memories-1:0] of_wready;
  logic [Memories-1:0][Pairs-1:0] at_wready;
  logic [Pairs-1:0][Memories-1:0][DataWidth-1:0] of_wdata;
  logic [Memories-1:0][Pairs-1:0][DataWidth-1:0] at_wdata;
  logic [Pairs-1:0][Memories-1:0][StrbWidth-1:0] of_wstrb;
  logic [Memories-1:0][Pairs-1:0][StrbWidth-1:0] at_wstrb;
  logic [Pairs-1:0][Memories-1:0] of_wlast;
  logic [Memories-1:0][Pairs-1:0] at_wlast;
  logic [Pairs-1:0][Memories-1:0] of_bvalid;
  logic [Memories-1:0][Pairs-1:0] at_bvalid;
  logic [Pairs-1:0][Memories-1:0] of_bready;
  logic [Memories-1:0][Pairs-1:0] at_bready;
  logic [Memories-1:0][1:0] at_bresp;
  logic [Pairs-1:0][Memories-1:0] of_arvalid;
  logic [Memories-1:0][Pairs-1:0] at_arvalid;
  logic [Pairs-1:0][Memories-1:0] of_arready;
  logic [Memories-1:0][Pairs-1:0] at_arready;
  logic [Pairs-1:0][Memories-1:0][AddrWidth-1:0] of_araddr;
  logic [Memories-1:0][Pairs-1:0][AddrWidth-1:0] at_araddr;
  logic [Pairs-1:0][Memories-1:0][7:0] of_arlen;
  logic [Memories-1:0][Pairs-1:0][7:0] at_arlen;
  logic [Pairs-1:0][Memories-1:0] of_rvalid;
  logic [Memories-1:0][Pairs-1:0] at_rvalid;
  logic [Pairs-1:0][Memories-1:0] of_rready;
  logic [Memories-1:0][Pairs-1:0] at_rready;
  logic [Memories-1:0][DataWidth-1:0] at_rdata;
  logic [Memories-1:0][1:0] at_rresp;
  logic [Memories-1:0] at_rlast;

  for (genvar p = 0; p < int'(Pairs); p++) begin : g_cross
    for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
      assign at_awvalid[m][p] = of_awvalid[p][m];
      assign of_awready[p][m] = at_awready[m][p];
      assign at_awaddr[m][p] = of_awaddr[p][m];
      assign at_awlen[m][p] = of_awlen[p][m];
      assign at_wvalid[m][p] = of_wvalid[p][m];
      assign of_wready[p][m] = at_wready[m][p];
      assign at_wdata[m][p] = of_wdata[p][m];
      assign at_wstrb[m][p] = of_wstrb[p][m];
      assign at_wlast[m][p] = of_wlast[p][m];
      assign of_bvalid[p][m] = at_bvalid[m][p];
      assign at_bready[m][p] = of_bready[p][m];
      assign at_arvalid[m][p] = of_arvalid[p][m];
      assign of_arready[p][m] = at_arready[m][p];
      assign at_araddr[m][p] = of_araddr[p][m];
      assign at_arlen[m][p] = of_arlen[p][m];
      assign of_rvalid[p][m] = at_rvalid[m][p];
      assign at_rready[m][p] = of_rready[p][m];
    end
  end

  for (genvar p = 0; p < int'(Pairs); p++) begin : g_pair
    pst_fabric_write #(
        .Memories(Memories),
        .MemBytes(MemBytes),
        .AddrWidth(AddrWidth),
        .MaxOutstanding(MaxOutstanding),
        .FifoBeats(WriteFifoBeats)
    ) u_write (
        .clk_i,
        .rst_i,
        .s_axi_awvalid_i(s_axi_awvalid_i[p]),
        .s_axi_awready_o(s_axi_awready_o[p]),
        .s_axi_awaddr_i(s_axi_awaddr_i[p]),
        .s_axi_awlen_i(s_axi_awlen_i[p]),
        .s_axi_wvalid_i(s_axi_wvalid_i[p]),
        .s_axi_wready_o(s_axi_wready_o[p]),
        .s_axi_wdata_i(s_axi_wdata_i[p]),
        .s_axi_wstrb_i(s_axi_wstrb_i[p]),
        .s_axi_wlast_i(s_axi_wlast_i[p]),
        .s_axi_bvalid_o(s_axi_bvalid_o[p]),
        .s_axi_bready_i(s_axi_bready_i[p]),
        .s_axi_bresp_o(s_axi_bresp_o[p]),
        .m_axi_awvalid_o(of_awvalid[p]),
        .m_axi_awready_i(of_awready[p]),
        .m_axi_awaddr_o(of_awaddr[p]),
        .m_axi_awlen_o(of_awlen[p]),
        .m_axi_wvalid_o(of_wvalid[p]),
        .m_axi_wready_i(of_wready[p]),
        .m_axi_wdata_o(of_wdata[p]),
        .m_axi_wstrb_o(of_wstrb[p]),
        .m_axi_wlast_o(of_wlast[p]),
        .m_axi_bvalid_i(of_bvalid[p]),
        .m_axi_bready_o(of_bready[p]),
        .m_axi_bresp_i(at_bresp)
    );

    pst_fabric_read #(
        .Memories(Memories),
        .MemBytes(MemBytes),
        .AddrWidth(AddrWidth),
        .MaxOutstanding(MaxOutstanding),
        .FifoBeats(ReadFifoBeats),
        .Reserve(Pairs > 1)
    ) u_read (
        .clk_i,
        .rst_i,
        .s_axi_arvalid_i(s_axi_arvalid_i[p]),
        .s_axi_arready_o(s_axi_arready_o[p]),
        .s_axi_araddr_i(s_axi_araddr_i[p]),
        .s_axi_arlen_i(s_axi_arlen_i[p]),
        .s_axi_rvalid_o(s_axi_rvalid_o[p]),
        .s_axi_rready_i(s_axi_rready_i[p]),
        .s_axi_rdata_o(s_axi_rdata_o[p]),
        .s_axi_rresp_o(s_axi_rresp_o[p]),
        .s_axi_rlast_o(s_axi_rlast_o[p]),
        .m_axi_arvalid_o(of_arvalid[p]),
        .m_axi_arready_i(of_arready[p]),
        .m_axi_araddr_o(of_araddr[p]),
        .m_axi_arlen_o(of_arlen[p]),
        .m_axi_rvalid_i(of_rvalid[p]),
        .m_axi_rready_o(of_rready[p]),
        .m_axi_rdata_i(at_rdata),
        .m_axi_rresp_i(at_rresp),
        .m_axi_rlast_i(at_rlast)
    );
  end

  // A pair that is alone shares with none.
  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    if (Pairs == 1) begin : g_alone
      assign m_axi_awvalid_o[m] = at_awvalid[m];
      assign m_axi_awaddr_o[m] = at_awaddr[m];
      assign m_axi_awlen_o[m] = at_awlen[m];
      assign m_axi_wvalid_o[m] = at_wvalid[m];
      assign m_axi_wdata_o[m] = at_wdata[m];
      assign m_axi_wstrb_o[m] = at_wstrb[m];
      assign m_axi_wlast_o[m] = at_wlast[m];
      assign m_axi_bready_o[m] = at_bready[m];
      assign m_axi_arvalid_o[m] = at_arvalid[m];
      assign m_axi_araddr_o[m] = at_araddr[m];
      assign m_axi_arlen_o[m] = at_arlen[m];
      assign m_axi_rready_o[m] = at_rready[m];
      assign at_awready[m] = m_axi_awready_i[m];
      assign at_wready[m] = m_axi_wready_i[m];
      assign at_bvalid[m] = m_axi_bvalid_i[m];
      assign at_bresp[m] = m_axi_bresp_i[m];
      assign at_arready[m] = m_axi_arready_i[m];
      assign at_rvalid[m] = m_axi_rvalid_i[m];
      assign at_rdata[m] = m_axi_rdata_i[m];
      assign at_rresp[m] = m_axi_rresp_i[m];
      assign at_rlast[m] = m_axi_rlast_i[m];
    end else begin : g_shared
      pst_share_write #(
          .Ports(Pairs),
          .AddrWidth(AddrWidth),
          .DataWidth(DataWidth),
          .MaxOutstanding(MaxOutstanding)
      ) u_write (
          .clk_i,
          .rst_i,
          .s_axi_awvalid_i(at_awvalid[m]),
          .s_axi_awready_o(at_awready[m]),
          .s_axi_awaddr_i(at_awaddr[m]),
          .s_axi_awlen_i(at_awlen[m]),
          .s_axi_wvalid_i(at_wvalid[m]),
          .s_axi_wready_o(at_wready[m]),
          .s_axi_wdata_i(at_wdata[m]),
          .s_axi_wstrb_i(at_wstrb[m]),
          .s_axi_wlast_i(at_wlast[m]),
          .s_axi_bvalid_o(at_bvalid[m]),
          .s_axi_bready_i(at_bready[m]),
          .s_axi_bresp_o(at_bresp[m]),
          .m_axi_awvalid_o(m_axi_awvalid_o[m]),
          .m_axi_awready_i(m_axi_awready_i[m]),
          .m_axi_awaddr_o(m_axi_awaddr_o[m]),
          .m_axi_awlen_o(m_axi_awlen_o[m]),
          .m_axi_wvalid_o(m_axi_wvalid_o[m]),
          .m_axi_wready_i(m_axi_wready_i[m]),
          .m_axi_wdata_o(m_axi_wdata_o[m]),
          .m_axi_wstrb_o(m_axi_wstrb_o[m]),
          .m_axi_wlast_o(m_axi_wlast_o[m]),
          .m_axi_bvalid_i(m_axi_bvalid_i[m]),
          .m_axi_bready_o(m_axi_bready_o[m]),
          .m_axi_bresp_i(m_axi_bresp_i[m])
      );

      pst_share_read #(
          .Ports(Pairs),
          .AddrWidth(AddrWidth),
          .DataWidth(DataWidth),
          .MaxOutstanding(MaxOutstanding)
      ) u_read (
          .clk_i,
          .rst_i,
          .s_axi_arvalid_i(at_arvalid[m]),
          .s_axi_arready_o(at_arready[m]),
          .s_axi_araddr_i(at_araddr[m]),
          .s_axi_arlen_i(at_arlen[m]),
          .s_axi_rvalid_o(at_rvalid[m]),
          .s_axi_rready_i(at_rready[m]),
          .s_axi_rdata_o(at_rdata[m]),
          .s_axi_rresp_o(at_rresp[m]),
          .s_axi_rlast_o(at_rlast[m]),
          .m_axi_arvalid_o(m_axi_arvalid_o[m]),
          .m_axi_arready_i(m_axi_arready_i[m]),
          .m_axi_araddr_o(m_axi_araddr_o[m]),
          .m_axi_arlen_o(m_axi_arlen_o[m]),
          .m_axi_rvalid_i(m_axi_rvalid_i[m]),
          .m_axi_rready_o(m_axi_rready_o[m]),
          .m_axi_rdata_i(m_axi_rdata_i[m]),
          .m_axi_rresp_i(m_axi_rresp_i[m]),
          .m_axi_rlast_i(m_axi_rlast_i[m])
      );
    end
  end

endmodule
