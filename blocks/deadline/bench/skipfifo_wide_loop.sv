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
    input  logic                                   clk_i,
    input  logic                                   rst_i,
    output logic                                   init_done_o,
    input  logic                                   s_valid_i,
    output logic                                   s_ready_o,
    input  logic [Columns-1:0]                     s_used_i,
    input  logic [Columns-1:0][511:0]              s_data_i,
    input  logic [Columns-1:0]                     s_last_i,
    input  logic [Columns-1:0][6:0]                s_bytes_last_i,
    input  logic [Columns-1:0][ClassWidth-1:0]     s_class_i,
    output logic                                   m_valid_o,
    input  logic                                   m_ready_i,
    output logic [Columns-1:0]                     m_used_o,
    output logic [Columns-1:0][511:0]              m_data_o,
    output logic [Columns-1:0]                     m_first_o,
    output logic [Columns-1:0]                     m_last_o,
    output logic [Columns-1:0][6:0]                m_bytes_last_o,
    output logic [Columns-1:0][ClassWidth-1:0]     m_class_o,
    output logic                                   ev_lost_o,         // a frame is gone, for whatever reason
    output pst_axi_pkg::write_req_t [Memories-1:0] m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [Memories-1:0] m_axi_write_i,
    output pst_axi_pkg::read_req_t [Memories-1:0]  m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [Memories-1:0]  m_axi_read_i
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

  pst_deadline_ports_pkg::segment_in_t [Columns-1:0] in;
  pst_deadline_ports_pkg::segment_out_t [Columns-1:0] out;
  pst_deadline_ports_pkg::refusal_t [Columns-1:0] refused;
  pst_deadline_ports_pkg::gone_t [Columns-1:0] dropped, expired, late, overdue;
  pst_deadline_ports_pkg::passed_t [Columns-1:0] passed;
  pst_axi_pkg::write_req_t [Columns-1:0] write_req;
  pst_axi_pkg::write_rsp_t [Columns-1:0] write_rsp;
  pst_axi_pkg::read_req_t [Columns-1:0] read_req;
  pst_axi_pkg::read_rsp_t [Columns-1:0] read_rsp;

  always_comb begin
    ev_lost_o = 1'b0;
    for (int unsigned c = 0; c < Columns; c++) begin
      ev_lost_o |= refused[c].valid || dropped[c].valid || expired[c].valid || late[c].valid || passed[c].valid || overdue[c].valid;
    end
  end

  for (genvar s = 0; s < Columns; s++) begin : g_segment
    assign in[s] = '{
        used: s_used_i[s], data: s_data_i[s], last: s_last_i[s], bytes_last: s_bytes_last_i[s], bad: 1'b0, class_: 8'(s_class_i[s]),
        user: '0
    };
    assign m_used_o[s]       = out[s].used;
    assign m_data_o[s]       = out[s].data;
    assign m_first_o[s]      = out[s].first;
    assign m_last_o[s]       = out[s].last;
    assign m_bytes_last_o[s] = out[s].bytes_last;
    assign m_class_o[s]      = ClassWidth'(out[s].class_);
  end

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
      .s_set_i('0),
      .s_set_ready_o(),
      .limit_i('0),
      .hold_i(1'b0),
      .sending_o(),
      .s_valid_i,
      .s_ready_o,
      .s_i(in),
      .m_valid_o,
      .m_ready_i,
      .m_o(out),
      .ev_refused_o(refused),
      .ev_dropped_o(dropped),
      .ev_taken_o(),
      .ev_expired_o(expired),
      .ev_late_o(late),
      .ev_passed_o(passed),
      .ev_overdue_o(overdue),
      .free_o(),
      .m_axi_write_o(write_req),
      .m_axi_write_i(write_rsp),
      .m_axi_read_o(read_req),
      .m_axi_read_i(read_rsp)
  );

  for (genvar c = 0; c < Columns; c++) begin : g_memories
    pst_axi_pkg::write_req_t at_write;
    pst_axi_pkg::read_req_t at_read;

    always_comb begin
      at_write        = write_req[c];
      at_write.awaddr = pst_axi_pkg::addr_t'(spread(AddrWidth'(write_req[c].awaddr)));
      at_read         = read_req[c];
      at_read.araddr  = pst_axi_pkg::addr_t'(spread(AddrWidth'(read_req[c].araddr)));
    end

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
        .s_axi_write_i(at_write),
        .s_axi_write_o(write_rsp[c]),
        .s_axi_read_i(at_read),
        .s_axi_read_o(read_rsp[c]),
        .m_axi_write_o(m_axi_write_o[Each*c+:Each]),
        .m_axi_write_i(m_axi_write_i[Each*c+:Each]),
        .m_axi_read_o(m_axi_read_o[Each*c+:Each]),
        .m_axi_read_i(m_axi_read_i[Each*c+:Each])
    );
  end

endmodule
