// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The scheduler of a device: shaped queues, pass-through, or one of the user's own, chosen at elaboration. Wires, and for the latter the
// registers that bring what it is told into one order.
module pst_schedule
  import pst_pkg::len_t, pst_pkg::LimitBytesWidth;
#(
    parameter int unsigned Queues = 64,                                  // >= 2
    parameter bit          Shaping = 1'b1,                               // 0: pass-through, settings are ignored; or OwnScheduler
    parameter bit          OwnScheduler = 1'b0,                          // with Shaping = 0: what is in pst_schedule_own
    // The horizon is at least eight cycles per queue, so that visits to queues beyond it take at most 1/4 of the pops.
    parameter int unsigned Slots = Queues > 1024 ? 2 ** $clog2(Queues / 4) : 256,
    parameter int unsigned SlotCycles = 32,                              // cycles per slot
    parameter int unsigned ToleranceCycles = 1024,                       // cycles
    parameter int unsigned WalkCycles = 64,                              // cycles per time stamp looked after
    parameter int unsigned TimeWidth = 32,                               // bits of a time in cycles, see pst_shaper
    parameter int unsigned Credits = 32,                                 // packets that fit downstream
    parameter int unsigned VerdictStages = 0,                            // shaped: cycles that a verdict on each packet takes longer
    parameter bit          Hierarchy = 1'b0,                             // shaped: packets pass a hierarchy then, one of a queue at a time
    parameter int unsigned DoneDepth = 32,                               // packets through that are not given back by done_credits_o
    parameter int unsigned SettingProfiles = 0,                          // shaped: profiles of shapers, see pst_ram_profiled; 0: none
    parameter string       QueueRamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // a queue that was empty has a packet
    input  logic                    s_active_valid_i,
    output logic                    s_active_ready_o,
    input  logic [QueueIdWidth-1:0] s_active_queue_i,
    input  len_t                    s_active_len_i,      // own: of that packet
    // own: a packet was accepted; one cycle later, the bytes of its queue with it
    input  logic                    s_enq_valid_i,
    input  logic [QueueIdWidth-1:0] s_enq_queue_i,
    input  len_t                    s_enq_len_i,
    input  logic [LimitBytesWidth-1:0] s_enq_backlog_i,
    // decision, and the queue manager's answer
    output logic                    m_deq_valid_o,
    output logic [QueueIdWidth-1:0] m_deq_queue_o,
    output logic                    m_deq_take_o,
    input  logic                    deq_ready_i,         // shaped: one cycle later a dequeue may come
    input  logic                    s_ret_valid_i,
    input  logic [QueueIdWidth-1:0] s_ret_queue_i,
    input  len_t                    s_ret_len_i,
    input  logic                    s_ret_backlogged_i,
    input  logic [LimitBytesWidth-1:0] s_ret_left_i,     // own: one cycle later, bytes left in the queue
    input  len_t                    s_ret_head_i,        // own: two cycles later, length of the packet behind it
    input  logic                    s_drop_i,            // shaped: VerdictStages + 3 cycles after the answer, the packet was dropped
    output pst_schedule_ports_pkg::taken_t m_taken_o,    // shaped: with the answer
    input  logic                    credit_i,            // a packet was taken downstream
    // Hierarchy: with m_deq_take_o, the packet must follow one that is in the hierarchy; only if one cycle before there was room for it
    output logic                    m_ahead_o,
    output logic [QueueIdWidth-1:0] m_ahead_queue_o,     // queue of m_deq_take_o
    input  logic                    s_ahead_room_i,
    // Hierarchy: a queue's packet is through the hierarchy; it had to wait there
    input  logic                    s_done_valid_i,
    input  logic [QueueIdWidth-1:0] s_done_queue_i,
    input  logic                    s_done_slow_i,
    input  logic [QueueIdWidth-1:0] s_done_next_queue_i, // s_done_queue_i of the next cycle, if s_done_valid_i then
    output logic [             1:0] done_credits_o,      // of so many of them nothing is kept any more
    // shaper of one queue
    input  logic                    s_cfg_valid_i,
    output logic                    s_cfg_ready_o,
    input  logic [QueueIdWidth-1:0] s_cfg_queue_i,
    input  pst_schedule_ports_pkg::cfg_t s_cfg_i,
    // shaped: look at the shaper of one queue, held until the answer; others answer 0 at once
    input  logic                    s_look_valid_i,
    input  logic [QueueIdWidth-1:0] s_look_queue_i,
    output pst_schedule_ports_pkg::look_t m_look_o,
    output logic [   TimeWidth-1:0] now_o,               // cycles since reset, modulo 2^TimeWidth
    output logic                    init_done_o
);

  if (Shaping && OwnScheduler) begin : g_bad_own
    $error("pst_schedule: OwnScheduler needs Shaping = 0");
  end

  if (Shaping) begin : g_shaped
    pst_schedule_shaped #(
        .Queues(Queues), .Slots(Slots), .SlotCycles(SlotCycles), .ToleranceCycles(ToleranceCycles), .WalkCycles(WalkCycles),
        .TimeWidth(TimeWidth), .Credits(Credits), .VerdictStages(VerdictStages), .Hierarchy(Hierarchy),
        .DoneDepth(DoneDepth), .SettingProfiles(SettingProfiles), .QueueRamStyle(QueueRamStyle)
    ) u_schedule (
        .clk_i, .rst_i, .s_active_valid_i, .s_active_ready_o, .s_active_queue_i, .m_deq_valid_o, .m_deq_queue_o, .m_deq_take_o,
        .deq_ready_i, .s_ret_valid_i, .s_ret_queue_i, .s_ret_len_i, .s_ret_backlogged_i, .s_drop_i, .m_taken_o, .credit_i,
        .m_ahead_o, .m_ahead_queue_o, .s_ahead_room_i, .s_done_valid_i, .s_done_queue_i, .s_done_slow_i, .s_done_next_queue_i,
        .done_credits_o, .s_cfg_valid_i, .s_cfg_ready_o, .s_cfg_queue_i, .s_cfg_i,
        .s_look_valid_i, .s_look_queue_i, .m_look_o, .now_o, .init_done_o
    );

    logic unused;
    assign unused = &{1'b0, s_active_len_i, s_enq_valid_i, s_enq_queue_i, s_enq_len_i, s_enq_backlog_i, s_ret_left_i, s_ret_head_i};
  end else if (OwnScheduler) begin : g_own
    // The head behind a dequeue is known last, three cycles after the commit; all else waits for that.
    typedef struct packed {
      logic                    valid;
      logic [QueueIdWidth-1:0] queue_id;
      len_t                    len;
      logic                    backlogged;
    } told_t;

    told_t ret1_q, ret2_q, enq1_q, enq2_q;
    logic [LimitBytesWidth-1:0] left_q, backlog_q;
    logic [TimeWidth-1:0] now_q;

    always_ff @(posedge clk_i) begin
      now_q     <= now_q + 1'b1;
      ret1_q    <= '{valid: s_ret_valid_i, queue_id: s_ret_queue_i, len: s_ret_len_i, backlogged: s_ret_backlogged_i};
      enq1_q    <= '{valid: s_enq_valid_i, queue_id: s_enq_queue_i, len: s_enq_len_i, backlogged: 1'b1};
      ret2_q    <= ret1_q;
      enq2_q    <= enq1_q;
      left_q    <= s_ret_left_i;
      backlog_q <= s_enq_backlog_i;
      if (rst_i) begin
        now_q        <= '0;
        ret1_q.valid <= 1'b0;
        ret2_q.valid <= 1'b0;
        enq1_q.valid <= 1'b0;
        enq2_q.valid <= 1'b0;
      end
    end

    pst_schedule_own #(
        .Queues(Queues), .Credits(Credits), .QueueRamStyle(QueueRamStyle)
    ) u_schedule (
        .clk_i, .rst_i, .now_i(32'(now_q)),
        .s_active_valid_i, .s_active_ready_o, .s_active_queue_i, .s_active_len_i,
        .s_enq_valid_i(enq2_q.valid), .s_enq_queue_i(enq2_q.queue_id), .s_enq_len_i(enq2_q.len), .s_enq_backlog_i(backlog_q),
        .m_deq_valid_o, .m_deq_queue_o, .m_deq_take_o,
        .s_ret_valid_i(ret2_q.valid), .s_ret_queue_i(ret2_q.queue_id), .s_ret_len_i(ret2_q.len), .s_ret_backlogged_i(ret2_q.backlogged),
        .s_ret_left_i(left_q), .s_ret_head_i,
        .credit_i,
        .s_cfg_valid_i, .s_cfg_ready_o, .s_cfg_queue_i, .s_cfg_word_i(s_cfg_i.shaper),
        .init_done_o
    );

    assign now_o           = now_q;
    assign m_look_o        = '{valid: s_look_valid_i, default: '0};
    assign m_taken_o       = '0;
    assign m_ahead_o       = 1'b0;
    assign m_ahead_queue_o = '0;
    assign done_credits_o  = 2'(s_done_valid_i);

    logic unused;
    assign unused = &{1'b0, deq_ready_i, s_look_queue_i, enq2_q.backlogged, s_drop_i, s_done_valid_i, s_done_queue_i, s_done_slow_i,
                      s_done_next_queue_i, s_ahead_room_i, s_cfg_i};

`ifndef SYNTHESIS
    // What a scheduler must keep to, in words for its author.
    logic [Queues-1:0] has_q;         // announced, and not empty since
    logic [Queues-1:0] asked_q;       // not yet taken or left
    logic [TimeWidth-1:0] from_q[Queues];    // cycle from which it may be asked for
    logic ask1_q, ask2_q, init_late_q;
    logic [QueueIdWidth-1:0] queue1_q, queue2_q;
    logic [$clog2(Credits+2)-1:0] out_q;    // packets on their way out

    always_ff @(posedge clk_i) begin
      ask1_q      <= m_deq_valid_o;
      queue1_q    <= m_deq_queue_o;
      ask2_q      <= ask1_q;
      queue2_q    <= queue1_q;
      out_q       <= out_q + $bits(out_q)'(ask2_q && m_deq_take_o) - $bits(out_q)'(credit_i);
      init_late_q <= now_q >= TimeWidth'(Queues) && !init_done_o;
      if (m_deq_valid_o) asked_q[m_deq_queue_o] <= 1'b1;
      if (ask2_q) begin
        asked_q[queue2_q] <= 1'b0;
        from_q[queue2_q]  <= now_q + TimeWidth'(m_deq_take_o ? 5 : 1);    // two cycles after the answer, which comes three cycles from now
      end
      if (s_ret_valid_i && !s_ret_backlogged_i) has_q[s_ret_queue_i] <= 1'b0;
      if (s_active_valid_i && s_active_ready_o) begin    // the later one, if both in one cycle
        has_q[s_active_queue_i]  <= 1'b1;
        from_q[s_active_queue_i] <= now_q + 1'b1;
      end
      if (rst_i) begin
        ask1_q      <= 1'b0;
        ask2_q      <= 1'b0;
        has_q       <= '0;
        asked_q     <= '0;
        out_q       <= '0;
        init_late_q <= 1'b0;
      end else begin
        if (m_deq_valid_o) begin
          a_cleared_before_dequeues : assert (init_done_o) else $error("scheduler: asks for a queue before its init_done_o");
          a_dequeue_in_range : assert (int'(m_deq_queue_o) < Queues)
          else $error("scheduler: asks for queue %0d of %0d", m_deq_queue_o, Queues);
          a_dequeue_finds_a_packet : assert (has_q[m_deq_queue_o])
          else $error("scheduler: asks for queue %0d, which is empty or not yet announced", m_deq_queue_o);
          a_asked_once : assert (!asked_q[m_deq_queue_o] && $signed(now_q - from_q[m_deq_queue_o]) >= 0)
          else $error("scheduler: asks for queue %0d less than two cycles after its last answer", m_deq_queue_o);
        end
        a_credits_kept : assert (int'(out_q) <= Credits)
        else $error("scheduler: has taken more than the %0d packets that fit downstream", Credits);
        a_init_done_in_time : assert (!init_late_q)
        else $error("scheduler: init_done_o must rise %0d cycles after the reset at most", Queues);
      end
    end
`endif
  end else begin : g_passthrough
    pst_schedule_passthrough #(
        .Queues(Queues), .TimeWidth(TimeWidth), .Credits(Credits), .QueueRamStyle(QueueRamStyle)
    ) u_schedule (
        .clk_i, .rst_i, .s_active_valid_i, .s_active_ready_o, .s_active_queue_i, .m_deq_valid_o, .m_deq_queue_o, .m_deq_take_o,
        .s_ret_valid_i, .s_ret_queue_i, .s_ret_backlogged_i, .credit_i, .now_o, .init_done_o
    );
    assign s_cfg_ready_o = init_done_o;
    assign m_look_o        = '{valid: s_look_valid_i, default: '0};
    assign m_taken_o     = '0;
    assign m_ahead_o     = 1'b0;
    assign m_ahead_queue_o = '0;
    assign done_credits_o = 2'(s_done_valid_i);
    logic unused;
    assign unused = &{1'b0, deq_ready_i, s_look_queue_i, s_ret_len_i, s_cfg_valid_i, s_cfg_queue_i, s_drop_i,
                      s_done_valid_i, s_done_queue_i, s_done_slow_i, s_done_next_queue_i, s_ahead_room_i, s_active_len_i, s_enq_valid_i,
                      s_enq_queue_i, s_enq_len_i, s_enq_backlog_i, s_ret_left_i, s_ret_head_i, s_cfg_i};
  end

endmodule
