// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The wide deadline port in front of several memories of one size: top of `bench skipfifo` for more memories than one stream of 512 bit
// can use. Each column has its share of them; chunks whose numbers follow each other lie in different ones.
module skipfifo_wide_loop
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Columns        = 8,     // 2, 4, 8
    parameter bit          Ordered        = 1'b1,  // 0: no order between columns, segment c of a word out is column c's
    parameter int unsigned RunFrames      = 16,
    parameter int unsigned Classes        = 3,
    parameter int unsigned ChunkBeats     = 64,
    parameter int unsigned Places         = 8,
    parameter int unsigned MinFrameBytes  = 60,
    parameter int unsigned MaxFrameBytes  = 9600,
    parameter int unsigned Memories       = 16,    // a power of two, at least Columns
    parameter int unsigned ChunksOfMemory = 1024,  // a power of two
    parameter int unsigned MaxOutstanding = 16,
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned Each       = Memories / Columns,
    localparam int unsigned Chunks     = Each * ChunksOfMemory,    // of a column
    localparam int unsigned AddrWidth  = $clog2(Chunks * ChunkBeats) + 6
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    output logic                               init_done_o,
    input  logic                               s_valid_i,
    output logic                               s_ready_o,
    input  logic [Columns-1:0]                 s_used_i,
    input  logic [Columns-1:0][511:0]          s_data_i,
    input  logic [Columns-1:0]                 s_last_i,
    input  logic [Columns-1:0][6:0]            s_bytes_last_i,
    input  logic [Columns-1:0][ClassWidth-1:0] s_class_i,
    output logic                               m_valid_o,
    input  logic                               m_ready_i,
    output logic [Columns-1:0]                 m_used_o,
    output logic [Columns-1:0][511:0]          m_data_o,
    output logic [Columns-1:0]                 m_first_o,
    output logic [Columns-1:0]                 m_last_o,
    output logic [Columns-1:0][6:0]            m_bytes_last_o,
    output logic [Columns-1:0][ClassWidth-1:0] m_class_o,
    output logic                               ev_lost_o,       // a frame is gone, for whatever reason
    output logic [Memories-1:0]                m_axi_awvalid_o,
    input  logic [Memories-1:0]                m_axi_awready_i,
    output logic [Memories-1:0][AddrWidth-1:0] m_axi_awaddr_o,
    output logic [Memories-1:0][7:0]           m_axi_awlen_o,
    output logic [Memories-1:0]                m_axi_wvalid_o,
    input  logic [Memories-1:0]                m_axi_wready_i,
    output logic [Memories-1:0][511:0]         m_axi_wdata_o,
    output logic [Memories-1:0][63:0]          m_axi_wstrb_o,
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
    input  logic [Memories-1:0][511:0]         m_axi_rdata_i,
    input  logic [Memories-1:0][1:0]           m_axi_rresp_i,
    input  logic [Memories-1:0]                m_axi_rlast_i
);

  localparam int unsigned ChunkBits  = $clog2(ChunkBeats) + 6;
  localparam int unsigned MemoryBits = $clog2(Each);
  localparam int unsigned Longest    = 2 ** 30 - 1;  // that a frame may wait

  // Chunk n of a column is in its memory n modulo Each, where it is number n / Each.
  function automatic logic [AddrWidth-1:0] spread(logic [AddrWidth-1:0] address);
    logic [AddrWidth-1:0] offset, chunk;
    offset = address & AddrWidth'((1 << ChunkBits) - 1);
    chunk  = address >> ChunkBits;
    return (chunk & AddrWidth'(Each - 1)) << (AddrWidth - MemoryBits) | (chunk >> MemoryBits) << ChunkBits | offset;
  endfunction

  logic [Columns-1:0] refused, dropped, expired, late, passed, overdue;
  logic [Columns-1:0] awvalid, awready, wvalid, wready, wlast, bvalid, bready, arvalid, arready, rvalid, rready, rlast;
  logic [Columns-1:0][AddrWidth-1:0] awaddr, araddr;
  logic [Columns-1:0][7:0] awlen, arlen;
  logic [Columns-1:0][511:0] wdata, rdata;
  logic [Columns-1:0][63:0] wstrb;
  logic [Columns-1:0][1:0] bresp, rresp;

  assign ev_lost_o = (refused | dropped | expired | late | passed | overdue) != '0;

  pst_edfr_wide #(
      .Columns(Columns),
      .Ordered(Ordered),
      .RunFrames(RunFrames),
      .Classes(Classes),
      .ClassFromUser(1'b1),
      .ChunkBeats(ChunkBeats),
      .Places(Places),
      .Chunks(Chunks),
      .MinFrameBytes(MinFrameBytes),
      .MaxFrameBytes(MaxFrameBytes),
      .Reads(MaxOutstanding),
      .Writes(MaxOutstanding),
      .DefaultCycles(Longest)
  ) u_port (
      .clk_i,
      .rst_i,
      .init_done_o,
      .now_o(),
      .set_dscp_valid_i(1'b0),
      .set_dscp_i('0),
      .set_dscp_class_i('0),
      .s_set_valid_i(1'b0),
      .s_set_ready_o(),
      .s_set_class_i('0),
      .s_set_cycles_i('0),
      .s_valid_i,
      .s_ready_o,
      .s_used_i,
      .s_data_i,
      .s_last_i,
      .s_bytes_last_i,
      .s_bad_i('0),
      .s_class_i,
      .s_user_i('0),
      .m_valid_o,
      .m_ready_i,
      .m_used_o,
      .m_data_o,
      .m_first_o,
      .m_last_o,
      .m_bytes_last_o,
      .m_class_o,
      .m_deadline_o(),
      .m_user_o(),
      .ev_refused_valid_o(refused),
      .ev_refused_class_o(),
      .ev_refused_bytes_o(),
      .ev_refused_reason_o(),
      .ev_dropped_valid_o(dropped),
      .ev_dropped_class_o(),
      .ev_dropped_bytes_o(),
      .ev_taken_valid_o(),
      .ev_taken_class_o(),
      .ev_taken_bytes_o(),
      .ev_expired_valid_o(expired),
      .ev_expired_class_o(),
      .ev_expired_bytes_o(),
      .ev_late_valid_o(late),
      .ev_late_class_o(),
      .ev_late_bytes_o(),
      .ev_passed_valid_o(passed),
      .ev_passed_lost_o(),
      .ev_passed_class_o(),
      .ev_passed_frames_o(),
      .ev_passed_bytes_o(),
      .ev_overdue_valid_o(overdue),
      .ev_overdue_class_o(),
      .ev_overdue_bytes_o(),
      .free_o(),
      .m_axi_awvalid_o(awvalid),
      .m_axi_awready_i(awready),
      .m_axi_awaddr_o(awaddr),
      .m_axi_awlen_o(awlen),
      .m_axi_wvalid_o(wvalid),
      .m_axi_wready_i(wready),
      .m_axi_wdata_o(wdata),
      .m_axi_wstrb_o(wstrb),
      .m_axi_wlast_o(wlast),
      .m_axi_bvalid_i(bvalid),
      .m_axi_bready_o(bready),
      .m_axi_bresp_i(bresp),
      .m_axi_arvalid_o(arvalid),
      .m_axi_arready_i(arready),
      .m_axi_araddr_o(araddr),
      .m_axi_arlen_o(arlen),
      .m_axi_rvalid_i(rvalid),
      .m_axi_rready_o(rready),
      .m_axi_rdata_i(rdata),
      .m_axi_rresp_i(rresp),
      .m_axi_rlast_i(rlast)
  );

  for (genvar c = 0; c < Columns; c++) begin : g_memories
    pst_memory_fabric #(
        .Memories(Each),
        .MemBytes({Each{64'(ChunksOfMemory * ChunkBeats * 64)}}),
        .AddrWidth(AddrWidth),
        .MaxOutstanding(MaxOutstanding),
        .WriteFifoBeats(2 * ChunkBeats),
        .ReadFifoBeats(2 * ChunkBeats)
    ) u_fabric (
        .clk_i,
        .rst_i,
        .s_axi_awvalid_i(awvalid[c]),
        .s_axi_awready_o(awready[c]),
        .s_axi_awaddr_i(spread(awaddr[c])),
        .s_axi_awlen_i(awlen[c]),
        .s_axi_wvalid_i(wvalid[c]),
        .s_axi_wready_o(wready[c]),
        .s_axi_wdata_i(wdata[c]),
        .s_axi_wstrb_i(wstrb[c]),
        .s_axi_wlast_i(wlast[c]),
        .s_axi_bvalid_o(bvalid[c]),
        .s_axi_bready_i(bready[c]),
        .s_axi_bresp_o(bresp[c]),
        .s_axi_arvalid_i(arvalid[c]),
        .s_axi_arready_o(arready[c]),
        .s_axi_araddr_i(spread(araddr[c])),
        .s_axi_arlen_i(arlen[c]),
        .s_axi_rvalid_o(rvalid[c]),
        .s_axi_rready_i(rready[c]),
        .s_axi_rdata_o(rdata[c]),
        .s_axi_rresp_o(rresp[c]),
        .s_axi_rlast_o(rlast[c]),
        .m_axi_awvalid_o(m_axi_awvalid_o[Each*c+:Each]),
        .m_axi_awready_i(m_axi_awready_i[Each*c+:Each]),
        .m_axi_awaddr_o(m_axi_awaddr_o[Each*c+:Each]),
        .m_axi_awlen_o(m_axi_awlen_o[Each*c+:Each]),
        .m_axi_wvalid_o(m_axi_wvalid_o[Each*c+:Each]),
        .m_axi_wready_i(m_axi_wready_i[Each*c+:Each]),
        .m_axi_wdata_o(m_axi_wdata_o[Each*c+:Each]),
        .m_axi_wstrb_o(m_axi_wstrb_o[Each*c+:Each]),
        .m_axi_wlast_o(m_axi_wlast_o[Each*c+:Each]),
        .m_axi_bvalid_i(m_axi_bvalid_i[Each*c+:Each]),
        .m_axi_bready_o(m_axi_bready_o[Each*c+:Each]),
        .m_axi_bresp_i(m_axi_bresp_i[Each*c+:Each]),
        .m_axi_arvalid_o(m_axi_arvalid_o[Each*c+:Each]),
        .m_axi_arready_i(m_axi_arready_i[Each*c+:Each]),
        .m_axi_araddr_o(m_axi_araddr_o[Each*c+:Each]),
        .m_axi_arlen_o(m_axi_arlen_o[Each*c+:Each]),
        .m_axi_rvalid_i(m_axi_rvalid_i[Each*c+:Each]),
        .m_axi_rready_o(m_axi_rready_o[Each*c+:Each]),
        .m_axi_rdata_i(m_axi_rdata_i[Each*c+:Each]),
        .m_axi_rresp_i(m_axi_rresp_i[Each*c+:Each]),
        .m_axi_rlast_i(m_axi_rlast_i[Each*c+:Each])
    );
  end

endmodule
