// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The head side of all classes: fetches chunks ahead, offers the frames at the classes' heads to the encoder, and sends those that it takes.
//
// Chunks of a class come from memory (AXI4 reads of a whole chunk, one id) or from the loop, in order, into its places; headers go on to a
// short queue of each class, whose front the encoder sees; the data of a frame that it takes are read and sent at once, or not at all when
// its deadline is over by then. A skip gives back what the class has in memory before the stamp's chunk by one splice, and passes over
// what stands in its places; what is in its queue already (Lines frames at most) the encoder drops.
//
// Throughput: a beat per cycle in and out at any alignment, a frame per cycle, also of one class.
// Latency:    9 cycles from a chunk's last beat to m_head, 7 from a take to the frame's first beat, when nothing is before it.
// Order:      FIFO in each class; frames leave in the order in which they are taken.
// Reset:      all is forgotten; memory, lists and tail have to be reset with it. A walk of Classes cycles follows, then init_done_o.
module pst_deadline_head
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes       = 64,    // 2..256
    parameter int unsigned ChunkBeats    = 64,    // beats of 64 byte of a chunk: 8, 16, 32, 64
    parameter int unsigned Places        = 4,     // chunks of a class on the head side, a power of two, 2..16; the longest frame has room in them
    parameter int unsigned Chunks        = 4096,  // in memory, up to 2^20
    parameter int unsigned MinFrameBytes = 60,    // >= 8
    parameter int unsigned MaxFrameBytes = 9600,
    parameter int unsigned Lines         = 16,    // headers of a class that are at hand, a power of two, 4..64
    parameter int unsigned Reads         = 16,    // chunks on their way from memory, 2..64
    parameter int unsigned Decided       = 4,     // frames between decision and data, 2..64
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned AddrWidth  = $clog2(Chunks * ChunkBeats) + 6,
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    output logic                  init_done_o,
    input  time_t                 now_i,               // this cycle's number
    // chunks that pass by memory
    input  logic                  s_loop_valid_i,
    output logic                  s_loop_ready_o,
    input  logic [ClassWidth-1:0] s_loop_class_i,
    input  serial_t               s_loop_serial_i,
    input  logic [ DataWidth-1:0] s_loop_data_i,
    input  logic                  s_loop_last_i,
    output logic [   Classes-1:0] loop_ok_o,           // nothing in memory or on its way from there, and a place is free; 3 cycles behind
    output logic [   Classes-1:0] dry_o,               // nothing in memory, on its way from there, or here that is not at the class's head yet
    // chunks that are in memory now, on their way to the lists
    input  logic                  s_push_valid_i,
    output logic                  s_push_ready_o,
    input  logic [ClassWidth-1:0] s_push_class_i,
    input  number_t               s_push_number_i,
    input  logic                  s_push_bad_i,
    output logic                  m_push_valid_o,
    input  logic                  m_push_ready_i,
    output logic [ClassWidth-1:0] m_push_class_o,
    output number_t               m_push_number_o,
    output logic                  m_push_bad_o,
    // lists: the first chunk of a class, answered in order; a chunk comes back; the first `count` of a class do
    output logic                  m_pop_valid_o,
    input  logic                  m_pop_ready_i,
    output logic [ClassWidth-1:0] m_pop_class_o,
    input  logic                  s_popped_valid_i,
    input  number_t               s_popped_number_i,
    input  logic                  s_popped_bad_i,      // its write failed: it is not read, its frames are lost
    output logic                  m_free_valid_o,
    input  logic                  m_free_ready_i,
    output number_t               m_free_number_o,
    output logic                  m_splice_valid_o,
    input  logic                  m_splice_ready_i,
    output logic [ClassWidth-1:0] m_splice_class_o,
    output logic                  m_splice_all_o,
    output number_t               m_splice_number_o,
    output number_t               m_splice_previous_o,
    output logic [           20:0] m_splice_count_o,
    // AXI4 read master: a burst is a chunk
    output logic                  m_axi_arvalid_o,
    input  logic                  m_axi_arready_i,
    output logic [ AddrWidth-1:0] m_axi_araddr_o,
    output logic [           7:0] m_axi_arlen_o,
    input  logic                  m_axi_rvalid_i,
    output logic                  m_axi_rready_o,
    input  logic [ DataWidth-1:0] m_axi_rdata_i,
    input  logic [           1:0] m_axi_rresp_i,
    input  logic                  m_axi_rlast_i,
    // what is over: all frames that begin in chunks before the stamp's serial
    input  logic                  s_skip_valid_i,
    output logic                  s_skip_ready_o,
    input  logic [ClassWidth-1:0] s_skip_class_i,
    input  stamp_t                s_skip_i,
    // encoder
    output logic                  m_head_valid_o,      // a class that the encoder does not have has a frame at its head
    input  logic                  m_head_ready_i,
    output logic [ClassWidth-1:0] m_head_class_o,
    output time_t                 m_head_deadline_o,
    output logic                  take_ready_o,        // a frame may be taken to be sent
    input  logic                  take_valid_i,        // the head of a class is taken
    input  logic [ClassWidth-1:0] take_class_i,
    input  logic                  take_drop_i,         // it is over
    output logic                  next_valid_o,        // in the same cycle: the one behind it, if it is at hand
    output time_t                 next_deadline_o,
    // frames out
    output logic                  m_valid_o,
    input  logic                  m_ready_i,
    output logic [ DataWidth-1:0] m_data_o,
    output logic                  m_last_o,
    output logic [           6:0] m_bytes_last_o,      // of the last beat, 1..64
    output logic [ClassWidth-1:0] m_class_o,
    output logic [          15:0] m_user_o,
    output time_t                 m_deadline_o,
    // frames that are gone: dropped by the encoder; by the last check; skipped; lost by a memory error
    output logic                  ev_expired_valid_o,
    output logic [ClassWidth-1:0] ev_expired_class_o,
    output logic [          15:0] ev_expired_bytes_o,
    output logic                  ev_late_valid_o,
    output logic [ClassWidth-1:0] ev_late_class_o,
    output logic [          15:0] ev_late_bytes_o,
    output logic                  ev_passed_valid_o,
    output logic                  ev_passed_lost_o,    // lost; else skipped
    output logic [ClassWidth-1:0] ev_passed_class_o,
    output logic [          31:0] ev_passed_frames_o,
    output logic [          39:0] ev_passed_bytes_o
);
endmodule
