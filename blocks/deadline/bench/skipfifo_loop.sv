// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The deadline port as a device uses it, in front of several memories of one size: top of `bench skipfifo`. Chunks whose numbers follow each
// other lie in different memories, so all of them carry the same.
module skipfifo_loop
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes        = 3,
    parameter int unsigned ChunkBeats     = 64,
    parameter int unsigned Places         = 8,
    parameter int unsigned MinFrameBytes  = 60,
    parameter int unsigned MaxFrameBytes  = 9600,
    parameter int unsigned Memories       = 1,     // a power of two
    parameter int unsigned ChunksOfMemory = 1024,  // a power of two
    parameter int unsigned MaxOutstanding = 16,
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned Chunks     = Memories * ChunksOfMemory,
    localparam int unsigned AddrWidth  = $clog2(Chunks * ChunkBeats) + 6
) (
    input  logic                                   clk_i,
    input  logic                                   rst_i,
    output logic                                   init_done_o,
    input  logic                                   s_valid_i,
    output logic                                   s_ready_o,
    input  logic [511:0]                           s_data_i,
    input  logic [6:0]                             s_bytes_last_i,
    input  logic                                   s_last_i,
    input  logic [ClassWidth-1:0]                  s_class_i,
    output logic                                   m_valid_o,
    input  logic                                   m_ready_i,
    output logic [511:0]                           m_data_o,
    output logic                                   m_last_o,
    output logic [6:0]                             m_bytes_last_o,
    output logic [ClassWidth-1:0]                  m_class_o,
    output logic                                   ev_lost_o,         // a frame is gone, for whatever reason
    output pst_axi_pkg::write_req_t [Memories-1:0] m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [Memories-1:0] m_axi_write_i,
    output pst_axi_pkg::read_req_t [Memories-1:0]  m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [Memories-1:0]  m_axi_read_i
);

  localparam int unsigned Longest = 2 ** 30 - 1;  // that a frame may wait

  pst_deadline_ports_pkg::frame_out_t out;
  pst_deadline_ports_pkg::refused_t refused;
  pst_deadline_ports_pkg::fate_t fate;
  pst_deadline_ports_pkg::gone_t expired, late;
  pst_deadline_ports_pkg::passed_t passed;

  pst_axi_pkg::write_req_t write_req;
  pst_axi_pkg::write_rsp_t write_rsp;
  pst_axi_pkg::read_req_t read_req;
  pst_axi_pkg::read_rsp_t read_rsp;

  assign ev_lost_o      = refused.valid || expired.valid || late.valid || passed.valid || (fate.valid && fate.reason != FateTaken);
  assign m_valid_o      = out.valid;
  assign m_data_o       = out.data;
  assign m_last_o       = out.last;
  assign m_bytes_last_o = out.bytes_last;
  assign m_class_o      = ClassWidth'(out.class_);

  pst_edfr #(
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
      .s_i('{
          valid: s_valid_i, data: s_data_i, bytes_last: s_bytes_last_i, last: s_last_i, bad: 1'b0, class_: 8'(s_class_i), user: '0,
          arrived: '0
      }),
      .s_ready_o,
      .m_o(out),
      .m_ready_i,
      .column_i('0),
      .s_token_i('0),
      .m_token_o(),
      .hold_i(1'b0),
      .bound_i('0),
      .m_decided_o(),
      .front_o(),
      .ev_refused_o(refused),
      .ev_fate_o(fate),
      .ev_expired_o(expired),
      .ev_late_o(late),
      .ev_passed_o(passed),
      .free_o(),
      .sending_o(),
      .m_axi_write_o(write_req),
      .m_axi_write_i(write_rsp),
      .m_axi_read_o(read_req),
      .m_axi_read_i(read_rsp)
  );

  pst_memory_spread #(
      .Memories(Memories),
      .PieceBytes(ChunkBeats * 64),
      .MemoryBits($clog2(ChunksOfMemory * ChunkBeats) + 6),
      .MaxOutstanding(MaxOutstanding),
      .FifoBeats(2 * ChunkBeats)
  ) u_spread (
      .clk_i,
      .rst_i,
      .s_axi_write_i(write_req),
      .s_axi_write_o(write_rsp),
      .s_axi_read_i(read_req),
      .s_axi_read_o(read_rsp),
      .m_axi_write_o,
      .m_axi_write_i,
      .m_axi_read_o,
      .m_axi_read_i
  );

endmodule
