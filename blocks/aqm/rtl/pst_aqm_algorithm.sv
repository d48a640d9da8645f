// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The AQM that is in: one instance of the algorithm's module. This one, of a device without an AQM, lets every packet pass.
//
// A build with an AQM has a file of this name in place of this one: penstock.hardware.plugs writes it from the AQM's part.yaml, with the ports
// below, those of them that the algorithm has, and its numbers. blocks/aqm/README.md has the ports and their timing.
module pst_aqm_algorithm
  import pst_pkg::len_t, pst_pkg::aqm_cfg_t;
  import pst_aqm_pkg::*;
#(
    parameter int unsigned Queues = 64,               // >= 2
    parameter int unsigned Settings = 0,              // queues with settings, where s_look_setting_i says whose count; 0: all, their own
    parameter int unsigned TimeWidth = 26,            // bits of a time in ticks, 16 .. 32
    parameter int unsigned TickShift = 8,             // a tick is 2^TickShift cycles
    parameter int unsigned MaxPacketBytes = 1514,     // the largest packet
    parameter bit          Estimate = 1'b0,           // 1: s_take_time_i is the delay itself
    parameter string       RamStyle = "auto",         // per-queue memories, see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned SettingIdWidth = $clog2(Settings == 0 ? Queues : Settings)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [   TimeWidth-1:0] now_i,                  // ticks
    // a packet arrives at its queue; its verdict 4 cycles later
    input  logic                    s_enq_valid_i,
    input  logic [QueueIdWidth-1:0] s_enq_queue_i,
    input  logic                    s_enq_ect_i,            // it may be marked
    input  backlog_t                s_enq_backlog_i,        // two cycles later: bytes in its queue before it
    output logic                    m_enq_verdict_valid_o,
    output logic [QueueIdWidth-1:0] m_enq_verdict_queue_o,
    output verdict_e                m_enq_verdict_o,
    // the packet at the head of this queue may leave
    input  logic                    s_look_valid_i,
    input  logic [QueueIdWidth-1:0] s_look_queue_i,
    input  logic [SettingIdWidth-1:0] s_look_setting_i,     // Settings: whose settings count
    // two cycles later: it does, unless the verdict, 2 cycles later, is to drop it
    input  logic                    s_take_valid_i,
    input  logic [QueueIdWidth-1:0] s_take_queue_i,
    input  logic [   TimeWidth-1:0] s_take_time_i,          // tick in which it was enqueued; Estimate: its delay
    input  logic [   TimeWidth-1:0] s_take_delay_i,         // its sojourn time in ticks, measured or estimated
    input  len_t                    s_take_len_i,           // its bytes
    input  backlog_t                s_take_left_i,          // bytes behind it in the queue
    input  logic                    s_take_ect_i,           // it may be marked
    output logic                    m_deq_verdict_valid_o,
    output logic [QueueIdWidth-1:0] m_deq_verdict_queue_o,
    output verdict_e                m_deq_verdict_o,
    // setting of one queue
    input  logic                    s_cfg_valid_i,
    input  logic [SettingIdWidth-1:0] s_cfg_queue_i,
    input  aqm_cfg_t                s_cfg_i,
    // read-back of a setting, held until the answer; an algorithm without these ports answers 0
    input  logic                    s_read_valid_i,
    input  logic [SettingIdWidth-1:0] s_read_queue_i,
    output logic                    m_read_valid_o,
    output aqm_cfg_t                m_read_cfg_o,
    output logic                    init_done_o
);

  logic [3:0] enq_valid_q;
  logic [1:0] take_valid_q;
  logic [QueueIdWidth-1:0] enq_queue_q[4], take_queue_q[2];

  always_ff @(posedge clk_i) begin
    enq_valid_q     <= rst_i ? '0 : {enq_valid_q[2:0], s_enq_valid_i};
    take_valid_q    <= rst_i ? '0 : {take_valid_q[0], s_take_valid_i};
    enq_queue_q[0]  <= s_enq_queue_i;
    for (int i = 1; i < 4; i++) enq_queue_q[i] <= enq_queue_q[i-1];
    take_queue_q[0] <= s_take_queue_i;
    take_queue_q[1] <= take_queue_q[0];
  end

  assign m_enq_verdict_valid_o = enq_valid_q[3];
  assign m_enq_verdict_queue_o = enq_queue_q[3];
  assign m_enq_verdict_o       = VerdictPass;
  assign m_deq_verdict_valid_o = take_valid_q[1];
  assign m_deq_verdict_queue_o = take_queue_q[1];
  assign m_deq_verdict_o       = VerdictPass;
  assign m_read_valid_o        = s_read_valid_i;
  assign m_read_cfg_o          = '0;
  assign init_done_o           = 1'b1;

  logic unused;
  assign unused = ^{now_i, s_enq_ect_i, s_enq_backlog_i, s_look_valid_i, s_look_queue_i, s_look_setting_i, s_take_time_i, s_take_delay_i,
                    s_take_len_i, s_take_left_i, s_take_ect_i, s_cfg_valid_i, s_cfg_queue_i, s_cfg_i, s_read_queue_i};

endmodule
