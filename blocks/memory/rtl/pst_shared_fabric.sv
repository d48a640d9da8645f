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
    parameter int unsigned               ReadFifoBeats  = 64    // the same of read data under way; >= 64, of a single pair >= 2
) (
    input  logic                                   clk_i,
    input  logic                                   rst_i,
    // AXI4 slaves over the whole range, one per pair
    input  pst_axi_pkg::write_req_t [Pairs-1:0]    s_axi_write_i,
    output pst_axi_pkg::write_rsp_t [Pairs-1:0]    s_axi_write_o,
    input  pst_axi_pkg::read_req_t [Pairs-1:0]     s_axi_read_i,
    output pst_axi_pkg::read_rsp_t [Pairs-1:0]     s_axi_read_o,
    // AXI4 masters, one per memory
    output pst_axi_pkg::write_req_t [Memories-1:0] m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [Memories-1:0] m_axi_write_i,
    output pst_axi_pkg::read_req_t [Memories-1:0]  m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [Memories-1:0]  m_axi_read_i
);

  // Between the two: [pair][memory], and the same as [memory][pair].
  pst_axi_pkg::write_req_t [Pairs-1:0][Memories-1:0] of_write_req;
  pst_axi_pkg::write_rsp_t [Pairs-1:0][Memories-1:0] of_write_rsp;
  pst_axi_pkg::read_req_t [Pairs-1:0][Memories-1:0] of_read_req;
  pst_axi_pkg::read_rsp_t [Pairs-1:0][Memories-1:0] of_read_rsp;
  pst_axi_pkg::write_req_t [Memories-1:0][Pairs-1:0] at_write_req;
  pst_axi_pkg::write_rsp_t [Memories-1:0][Pairs-1:0] at_write_rsp;
  pst_axi_pkg::read_req_t [Memories-1:0][Pairs-1:0] at_read_req;
  pst_axi_pkg::read_rsp_t [Memories-1:0][Pairs-1:0] at_read_rsp;

  for (genvar p = 0; p < int'(Pairs); p++) begin : g_cross
    for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
      assign at_write_req[m][p] = of_write_req[p][m];
      assign of_write_rsp[p][m] = at_write_rsp[m][p];
      assign at_read_req[m][p]  = of_read_req[p][m];
      assign of_read_rsp[p][m]  = at_read_rsp[m][p];
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
        .s_axi_write_i(s_axi_write_i[p]),
        .s_axi_write_o(s_axi_write_o[p]),
        .m_axi_write_o(of_write_req[p]),
        .m_axi_write_i(of_write_rsp[p])
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
        .s_axi_read_i(s_axi_read_i[p]),
        .s_axi_read_o(s_axi_read_o[p]),
        .m_axi_read_o(of_read_req[p]),
        .m_axi_read_i(of_read_rsp[p])
    );
  end

  // A pair that is alone shares with none.
  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    if (Pairs == 1) begin : g_alone
      assign m_axi_write_o[m] = at_write_req[m];
      assign at_write_rsp[m]  = m_axi_write_i[m];
      assign m_axi_read_o[m]  = at_read_req[m];
      assign at_read_rsp[m]   = m_axi_read_i[m];
    end else begin : g_shared
      pst_share_write #(
          .Ports(Pairs),
          .AddrWidth(AddrWidth),
          .MaxOutstanding(MaxOutstanding)
      ) u_write (
          .clk_i,
          .rst_i,
          .s_axi_write_i(at_write_req[m]),
          .s_axi_write_o(at_write_rsp[m]),
          .m_axi_write_o(m_axi_write_o[m]),
          .m_axi_write_i(m_axi_write_i[m])
      );

      pst_share_read #(
          .Ports(Pairs),
          .AddrWidth(AddrWidth),
          .MaxOutstanding(MaxOutstanding)
      ) u_read (
          .clk_i,
          .rst_i,
          .s_axi_read_i(at_read_req[m]),
          .s_axi_read_o(at_read_rsp[m]),
          .m_axi_read_o(m_axi_read_o[m]),
          .m_axi_read_i(m_axi_read_i[m])
      );
    end
  end

endmodule
