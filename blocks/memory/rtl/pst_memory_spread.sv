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
    localparam int unsigned AddrWidth = MemoryBits + $clog2(Memories),
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
    // AXI4 masters, one per memory; addresses count from its start
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

  pst_memory_fabric #(
      .Memories(Memories),
      .MemBytes({Memories{64'd1 << MemoryBits}}),
      .AddrWidth(AddrWidth),
      .MaxOutstanding(MaxOutstanding),
      .WriteFifoBeats(FifoBeats),
      .ReadFifoBeats(FifoBeats)
  ) u_fabric (
      .clk_i, .rst_i,
      .s_axi_awvalid_i, .s_axi_awready_o, .s_axi_awaddr_i(spread(s_axi_awaddr_i)), .s_axi_awlen_i,
      .s_axi_wvalid_i, .s_axi_wready_o, .s_axi_wdata_i, .s_axi_wstrb_i, .s_axi_wlast_i,
      .s_axi_bvalid_o, .s_axi_bready_i, .s_axi_bresp_o,
      .s_axi_arvalid_i, .s_axi_arready_o, .s_axi_araddr_i(spread(s_axi_araddr_i)), .s_axi_arlen_i,
      .s_axi_rvalid_o, .s_axi_rready_i, .s_axi_rdata_o, .s_axi_rresp_o, .s_axi_rlast_o,
      .m_axi_awvalid_o, .m_axi_awready_i, .m_axi_awaddr_o, .m_axi_awlen_o,
      .m_axi_wvalid_o, .m_axi_wready_i, .m_axi_wdata_o, .m_axi_wstrb_o, .m_axi_wlast_o,
      .m_axi_bvalid_i, .m_axi_bready_o, .m_axi_bresp_i,
      .m_axi_arvalid_o, .m_axi_arready_i, .m_axi_araddr_o, .m_axi_arlen_o,
      .m_axi_rvalid_i, .m_axi_rready_o, .m_axi_rdata_i, .m_axi_rresp_i, .m_axi_rlast_i
  );

endmodule
