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
    parameter int unsigned               ReadFifoBeats   = 32              // read data waiting for its turn, per memory; >= 2
) (
    input  logic                                   clk_i,
    input  logic                                   rst_i,
    // AXI4 slave over the whole range
    input  pst_axi_pkg::write_req_t                s_axi_write_i,
    output pst_axi_pkg::write_rsp_t                s_axi_write_o,
    input  pst_axi_pkg::read_req_t                 s_axi_read_i,
    output pst_axi_pkg::read_rsp_t                 s_axi_read_o,
    // AXI4 masters, one per memory
    output pst_axi_pkg::write_req_t [Memories-1:0] m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [Memories-1:0] m_axi_write_i,
    output pst_axi_pkg::read_req_t [Memories-1:0]  m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [Memories-1:0]  m_axi_read_i
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
      .s_axi_write_i,
      .s_axi_write_o,
      .m_axi_write_o,
      .m_axi_write_i
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
      .s_axi_read_i,
      .s_axi_read_o,
      .m_axi_read_o,
      .m_axi_read_i
  );

endmodule
