// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Address channel of the memory fabric: decides which memory a burst is for, makes its address local to that memory,
// and puts it into that memory's FIFO. Used for writes and for reads.
//
// Latency:    2 cycles. Throughput: one burst per cycle.
// Ordering:   m_route tells, in the cycle in which a burst enters a FIFO, which one; m_route_ready_i low holds it back.
// Reset:      forgets what is inside.
module pst_fabric_address
  import pst_memory_pkg::bytes_t;
#(
    parameter int unsigned               Memories  = 2,                        // 1..32
    parameter logic [Memories-1:0][63:0] MemBytes  = {Memories{64'd2097152}},  // multiples of 4096
    parameter int unsigned               AddrWidth = 32,                       // bits
    parameter int unsigned               Depth     = 4,                        // bursts in each memory's FIFO, >= 2
    localparam int unsigned MemoryWidth = Memories > 1 ? $clog2(Memories) : 1
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    // bursts of the whole range: byte address, beats - 1
    input  logic                               s_valid_i,
    output logic                               s_ready_o,
    input  logic [AddrWidth-1:0]               s_addr_i,
    input  logic [7:0]                         s_len_i,
    // which memory; ready must not depend on valid
    output logic                               m_route_valid_o,
    input  logic                               m_route_ready_i,
    output logic [MemoryWidth-1:0]             m_route_memory_o,
    // each memory's bursts
    output logic [Memories-1:0]                m_valid_o,
    input  logic [Memories-1:0]                m_ready_i,
    output logic [Memories-1:0][AddrWidth-1:0] m_addr_o,
    output logic [Memories-1:0][7:0]           m_len_o
);

  if (Memories < 1 || Memories > pst_memory_pkg::MaxMemories) begin : g_bad_memories
    $error("pst_fabric_address: Memories is %0d, allowed: 1..%0d", Memories, pst_memory_pkg::MaxMemories);
  end
  // Without this a burst that respects 4 KiB in the whole range could cross it in the memory.
  for (genvar m = 0; m < int'(Memories); m++) begin : g_check
    if (MemBytes[m] == 0 || MemBytes[m] % 64'(pst_memory_pkg::BoundaryBytes) != 0) begin : g_bad_multiple
      $error("pst_fabric_address: memory %0d has %0d byte, must be a multiple of 4096", m, MemBytes[m]);
    end
  end

  typedef struct packed {
    logic [MemoryWidth-1:0] memory;
    logic [AddrWidth-1:0]   addr;
    logic [7:0]             len;
  } burst_t;

  burst_t burst_in, burst;
  logic burst_valid, burst_ready;
  logic [Memories-1:0] fifo_ready, push;

  always_comb begin
    burst_in     = '0;
    burst_in.len = s_len_i;
    for (int unsigned m = 0; m < Memories; m++) begin
      if (64'(s_addr_i) >= pst_memory_pkg::byte_base(bytes_t'(MemBytes), m)) begin
        burst_in.memory = MemoryWidth'(m);
        burst_in.addr   = s_addr_i - AddrWidth'(pst_memory_pkg::byte_base(bytes_t'(MemBytes), m));
      end
    end
  end

  pst_skid_buffer #(
      .Width($bits(burst_t))
  ) u_in (
      .clk_i,
      .rst_i,
      .s_valid_i,
      .s_ready_o,
      .s_data_i(burst_in),
      .m_valid_o(burst_valid),
      .m_ready_i(burst_ready),
      .m_data_o(burst)
  );

  assign burst_ready = m_route_ready_i && fifo_ready[burst.memory];

  always_comb begin
    push = '0;
    if (burst_valid && burst_ready) push[burst.memory] = 1'b1;
  end

  assign m_route_valid_o  = burst_valid && fifo_ready[burst.memory];
  assign m_route_memory_o = burst.memory;

  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    pst_fifo #(
        .Width(AddrWidth + 8),
        .Depth(Depth)
    ) u_fifo (
        .clk_i,
        .rst_i,
        .s_valid_i(push[m]),
        .s_ready_o(fifo_ready[m]),
        .s_data_i({burst.addr, burst.len}),
        .m_valid_o(m_valid_o[m]),
        .m_ready_i(m_ready_i[m]),
        .m_data_o({m_addr_o[m], m_len_o[m]}),
        .level_o()
    );
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && s_valid_i) begin
      a_address_in_a_memory : assert (64'(s_addr_i) < pst_memory_pkg::byte_base(bytes_t'(MemBytes), Memories))
      else $error("pst_fabric_address: address 0x%0h is behind the last memory", s_addr_i);
    end
  end
`endif

endmodule
