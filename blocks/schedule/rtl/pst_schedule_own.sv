// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The ports of every scheduler that is added as a folder of its own (docs/how-to/own-scheduler.md), and the place where it is put in: for a
// configuration with `scheduler: NAME` the workbench writes this module anew, with an instance of NAME's in it. Here it is pass-through.
//
// What a queue's packets do is told in one order: everything three cycles after the queue manager has committed it, a dequeue before the
// enqueue of the same cycle. So the last number that was told is the queue's backlog as of three cycles ago, and in a cycle in which both
// speak of one queue the enqueue's is the later one.
module pst_schedule_own
  import pst_pkg::len_t, pst_pkg::LimitBytesWidth, pst_pkg::shaper_cfg_t;
#(
    parameter int unsigned Queues = 64,    // >= 2
    parameter int unsigned Credits = 32,   // packets that fit downstream
    parameter string       QueueRamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned WordWidth = $bits(shaper_cfg_t)
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    input  logic [               31:0] now_i,              // cycles since reset, modulo 2^32
    // a queue that was empty has a packet, of so many bytes: it may be asked for from the next cycle on, even if the answer that its last
    // packet was taken is still to come
    input  logic                       s_active_valid_i,
    output logic                       s_active_ready_o,
    input  logic [   QueueIdWidth-1:0] s_active_queue_i,
    input  len_t                       s_active_len_i,
    // a packet was accepted: its length, and all bytes of its queue with it; two cycles or more after the queue was announced
    input  logic                       s_enq_valid_i,
    input  logic [   QueueIdWidth-1:0] s_enq_queue_i,
    input  len_t                       s_enq_len_i,
    input  logic [LimitBytesWidth-1:0] s_enq_backlog_i,
    // decision: a queue that has packets, none of them asked for; two cycles later, whether its head is taken
    output logic                       m_deq_valid_o,
    output logic [   QueueIdWidth-1:0] m_deq_queue_o,
    output logic                       m_deq_take_o,
    // a packet was taken: its length, whether packets are left, how many bytes, and the length of the first of them (0: none is left);
    // the queue may be asked for again two cycles later
    input  logic                       s_ret_valid_i,
    input  logic [   QueueIdWidth-1:0] s_ret_queue_i,
    input  len_t                       s_ret_len_i,
    input  logic                       s_ret_backlogged_i,
    input  logic [LimitBytesWidth-1:0] s_ret_left_i,
    input  len_t                       s_ret_head_i,
    input  logic                       credit_i,           // a packet was taken downstream
    // setting word of one queue; not before init_done_o of everything
    input  logic                       s_cfg_valid_i,
    output logic                       s_cfg_ready_o,
    input  logic [   QueueIdWidth-1:0] s_cfg_queue_i,
    input  logic [      WordWidth-1:0] s_cfg_word_i,
    output logic                       init_done_o         // at most `Queues` cycles after the reset
);

  pst_schedule_passthrough #(
      .Queues(Queues), .Credits(Credits), .QueueRamStyle(QueueRamStyle)
  ) u_schedule (
      .clk_i, .rst_i, .s_active_valid_i, .s_active_ready_o, .s_active_queue_i, .m_deq_valid_o, .m_deq_queue_o, .m_deq_take_o,
      .s_ret_valid_i, .s_ret_queue_i, .s_ret_backlogged_i, .credit_i, .now_o(), .init_done_o
  );

  assign s_cfg_ready_o = 1'b1;

  logic unused;
  assign unused = &{1'b0, now_i, s_active_len_i, s_enq_valid_i, s_enq_queue_i, s_enq_len_i, s_enq_backlog_i, s_ret_len_i, s_ret_left_i,
                    s_ret_head_i, s_cfg_valid_i, s_cfg_queue_i, s_cfg_word_i};

endmodule
