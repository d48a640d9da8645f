// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Spreads an address range over several memories of one size, piece by piece: piece n lies in memory n modulo Memories, where it is piece
// n / Memories. So pieces that follow each other are written and read side by side. A burst lies in one piece.
//
// Latency and throughput: those of pst_memory_fabric, behind it. Order: answers in the order of the requests, in each direction.
// Reset: what is under way is forgotten; the memories have to be reset with it.
module pst_memory_spread #(
    parameter int unsigned Memories       = 2,       // a power of two, 1..32
    parameter int unsigned PieceBytes     = 4096,    // a power of two, 64..4096
    parameter int unsigned MemoryBits     = 17,      // each has 2^MemoryBits bytes, 12..40
    parameter int unsigned MaxOutstanding = 16,      // bursts under way per direction; >= 2
    parameter int unsigned FifoBeats      = 128,     // that wait for each memory, or behind it, per direction; >= 2
    localparam int unsigned AddrWidth = MemoryBits + $clog2(Memories)
) (
    input  logic                                   clk_i,
    input  logic                                   rst_i,
    // AXI4 slave over the whole range
    input  pst_axi_pkg::write_req_t                s_axi_write_i,
    output pst_axi_pkg::write_rsp_t                s_axi_write_o,
    input  pst_axi_pkg::read_req_t                 s_axi_read_i,
    output pst_axi_pkg::read_rsp_t                 s_axi_read_o,
    // AXI4 masters, one per memory; addresses count from its start
    output pst_axi_pkg::write_req_t [Memories-1:0] m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [Memories-1:0] m_axi_write_i,
    output pst_axi_pkg::read_req_t [Memories-1:0]  m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [Memories-1:0]  m_axi_read_i
);

  localparam int unsigned PieceBits = $clog2(PieceBytes);
  localparam int unsigned TurnBits  = $clog2(Memories);

  if (Memories != 2 ** TurnBits || Memories > 32) begin : g_bad_memories
    $error("pst_memory_spread: Memories is %0d, allowed: 1, 2, 4, 8, 16, 32", Memories);
  end
  if (PieceBytes != 2 ** PieceBits || PieceBytes < 64 || PieceBytes > 4096) begin : g_bad_piece
    $error("pst_memory_spread: PieceBytes is %0d, allowed: powers of two, 64..4096", PieceBytes);
  end
  if (MemoryBits < 12 || MemoryBits > 40) begin : g_bad_bytes
    $error("pst_memory_spread: MemoryBits is %0d, allowed: 12..40", MemoryBits);
  end

  typedef logic [AddrWidth-1:0] addr_t;

  function automatic addr_t spread(addr_t address);
    addr_t piece;
    piece = address >> PieceBits;
    return (piece & addr_t'(Memories - 1)) << MemoryBits | (piece >> TurnBits) << PieceBits
           | (address & addr_t'(PieceBytes - 1));
  endfunction

  // The same requests, at the addresses behind which the fabric has the pieces.
  pst_axi_pkg::write_req_t write;
  pst_axi_pkg::read_req_t read;

  logic unused_address;    // bits above AddrWidth
  assign unused_address = ^{s_axi_write_i.awaddr, s_axi_read_i.araddr};

  always_comb begin
    write        = s_axi_write_i;
    write.awaddr = pst_axi_pkg::addr_t'(spread(addr_t'(s_axi_write_i.awaddr)));
    read         = s_axi_read_i;
    read.araddr  = pst_axi_pkg::addr_t'(spread(addr_t'(s_axi_read_i.araddr)));
  end

  pst_memory_fabric #(
      .Memories(Memories),
      .MemBytes({Memories{64'd1 << MemoryBits}}),
      .AddrWidth(AddrWidth),
      .MaxOutstanding(MaxOutstanding),
      .WriteFifoBeats(FifoBeats),
      .ReadFifoBeats(FifoBeats)
  ) u_fabric (
      .clk_i, .rst_i,
      .s_axi_write_i(write), .s_axi_write_o, .s_axi_read_i(read), .s_axi_read_o,
      .m_axi_write_o, .m_axi_write_i, .m_axi_read_o, .m_axi_read_i
  );

endmodule
