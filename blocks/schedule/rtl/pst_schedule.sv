// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The scheduler of a device: shaped queues or pass-through, chosen at elaboration. Wires only.
module pst_schedule
  import pst_pkg::*;
#(
    parameter int unsigned Queues = 64,                                  // >= 2
    parameter bit          Shaping = 1'b1,                               // 0: pass-through, settings are ignored
    // The horizon is at least eight cycles per queue, so that visits to queues beyond it stay below 1/8 of the cycles.
    parameter int unsigned Slots = Queues > 1024 ? 2 ** $clog2(Queues / 4) : 256,
    parameter int unsigned SlotCycles = 32,                              // cycles per slot
    parameter int unsigned ToleranceCycles = 1024,                       // cycles
    parameter int unsigned WalkCycles = 64,                              // cycles per time stamp looked after
    parameter int unsigned TimeWidth = 32,                               // bits of a time in cycles, see pst_shaper
    parameter int unsigned Credits = 32,                                 // packets that fit downstream
    parameter int unsigned VerdictStages = 0,                            // shaped: cycles that a verdict on each packet takes longer
    parameter bit          Gated = 1'b0,                                 // shaped: gates behind it, one packet of a queue there, one ahead
    parameter int unsigned DoneDepth = 32,                               // Gated: packets through that are not given back by done_credits_o
    parameter string       QueueRamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // a queue that was empty has a packet
    input  logic                    s_active_valid_i,
    output logic                    s_active_ready_o,
    input  logic [QueueIdWidth-1:0] s_active_queue_i,
    // decision, and the queue manager's answer
    output logic                    m_deq_valid_o,
    output logic [QueueIdWidth-1:0] m_deq_queue_o,
    output logic                    m_deq_take_o,
    input  logic                    s_ret_valid_i,
    input  logic [QueueIdWidth-1:0] s_ret_queue_i,
    input  len_t                    s_ret_len_i,
    input  logic                    s_ret_backlogged_i,
    input  logic                    s_drop_i,            // shaped: VerdictStages + 3 cycles after the answer, the packet was dropped
    output logic [            20:0] m_period_o,          // shaped: with the answer, exponent and mantissa of the queue's period
    input  logic                    credit_i,            // a packet was taken downstream
    // Gated: with m_deq_take_o, the packet must follow one that is at the gates; only if one cycle before there was room for it
    output logic                    m_ahead_o,
    output logic [QueueIdWidth-1:0] m_ahead_queue_o,     // queue of m_deq_take_o
    input  logic                    s_ahead_room_i,
    // Gated: a queue's packet is through the gates; it had to wait there
    input  logic                    s_done_valid_i,
    input  logic [QueueIdWidth-1:0] s_done_queue_i,
    input  logic                    s_done_slow_i,
    input  logic [QueueIdWidth-1:0] s_done_next_queue_i, // s_done_queue_i of the next cycle, if s_done_valid_i then
    output logic [             1:0] done_credits_o,      // of so many of them nothing is kept any more
    // shaper of one queue
    input  logic                    s_cfg_valid_i,
    output logic                    s_cfg_ready_o,
    input  logic [QueueIdWidth-1:0] s_cfg_queue_i,
    input  shaper_cfg_t             s_cfg_shaper_i,
    output logic [31:0]             now_o,               // cycles since reset, modulo 2^32
    output logic                    init_done_o
);

  if (Shaping) begin : g_shaped
    pst_schedule_shaped #(
        .Queues(Queues), .Slots(Slots), .SlotCycles(SlotCycles), .ToleranceCycles(ToleranceCycles), .WalkCycles(WalkCycles),
        .TimeWidth(TimeWidth), .Credits(Credits), .VerdictStages(VerdictStages), .Gated(Gated),
        .DoneDepth(DoneDepth), .QueueRamStyle(QueueRamStyle)
    ) u_schedule (.*);
  end else begin : g_passthrough
    pst_schedule_passthrough #(
        .Queues(Queues), .Credits(Credits), .QueueRamStyle(QueueRamStyle)
    ) u_schedule (
        .clk_i, .rst_i, .s_active_valid_i, .s_active_ready_o, .s_active_queue_i, .m_deq_valid_o, .m_deq_queue_o, .m_deq_take_o,
        .s_ret_valid_i, .s_ret_queue_i, .s_ret_backlogged_i, .credit_i, .now_o, .init_done_o
    );
    assign s_cfg_ready_o = init_done_o;
    assign m_period_o    = '0;
    assign m_ahead_o     = 1'b0;
    assign m_ahead_queue_o = '0;
    assign done_credits_o = 2'(s_done_valid_i);
    logic unused;
    assign unused = &{1'b0, s_ret_len_i, s_cfg_valid_i, s_cfg_queue_i, s_cfg_shaper_i, s_drop_i, s_done_valid_i, s_done_queue_i,
                      s_done_slow_i, s_done_next_queue_i, s_ahead_room_i};
  end

endmodule
