// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Active queue management as a plug: one set of ports for every algorithm; queue manager and scheduler do not know which one is in.
//
// Throughput: one arrival and one departure per cycle.
// Latency:    s_enq to m_enq_verdict 4 cycles. s_look, two cycles later s_take, then m_deq_verdict after 2 cycles, with Estimate 4.
//             Two looks at one queue are at least 9 cycles apart, with Estimate 11.
// Ordering:   in order on each side.
// Reset:      every queue disabled (all packets pass); `Queues` cycles, then init_done_o rises.
module pst_aqm
  import pst_pkg::*;
  import pst_aqm_pkg::*;
#(
    parameter int unsigned Queues = 64,               // >= 2
    parameter int unsigned Algorithm = 0,             // 0: CoDel (judges departures), 1: PIE (judges arrivals)
    parameter bit          Estimate = 1'b0,           // 0: sojourn time from time stamps; 1: delay from backlog and rate
    parameter int unsigned TimeWidth = 26,            // bits of a time in ticks, 16 .. 32
    parameter int unsigned TickShift = 8,             // a tick is 2^TickShift cycles (only Estimate needs to know)
    parameter int unsigned MaxPacketBytes = 1514,     // CoDel: no drop while no more than this is left behind the packet
    parameter int unsigned MeanPacketBytes = PieMeanPacketBytes, // PIE: no drop while no more than two of these are queued
    parameter int unsigned UpdateTicks = PieUpdateTicks, // PIE: T_UPDATE
    parameter int unsigned Alpha = PieAlpha,          // PIE: 2^-32 per tick
    parameter int unsigned Beta = PieBeta,            // PIE: 2^-32 per tick
    parameter string       RamStyle = "auto",         // per-queue memories, see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned SettingWidth = TimeWidth - 8
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [   TimeWidth-1:0] now_i,                  // ticks
    // a packet arrives at its queue
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
    // two cycles later: it does, unless the verdict is to drop it
    input  logic                    s_take_valid_i,
    input  logic [   TimeWidth-1:0] s_take_time_i,          // tick in which it was enqueued; Estimate: not read
    input  len_t                    s_take_len_i,           // its bytes; only Estimate reads this and the period
    input  backlog_t                s_take_left_i,          // bytes behind it in the queue
    input  logic                    s_take_ect_i,           // it may be marked
    input  logic [            15:0] s_take_mantissa_i,      // the queue's period, see pst_pkg::shaper_cfg_t
    input  logic [             4:0] s_take_exponent_i,
    output logic                    m_deq_verdict_valid_o,
    output logic [QueueIdWidth-1:0] m_deq_verdict_queue_o,
    output verdict_e                m_deq_verdict_o,           // VerdictPass when there is none
    // setting of one queue; taken at once
    input  logic                    s_cfg_valid_i,
    input  logic [QueueIdWidth-1:0] s_cfg_queue_i,
    input  logic                    s_cfg_enable_i,
    input  logic                    s_cfg_ecn_i,            // mark what may be marked
    input  logic [SettingWidth-1:0] s_cfg_target_i,         // ticks; CoDel: TARGET, PIE: QDELAY_REF
    input  logic [SettingWidth-1:0] s_cfg_interval_i,       // ticks; CoDel: INTERVAL, PIE: MAX_BURST
    // PIE: one pulse per periodic update, to be watched; the arrivals of this cycle and later see it
    output logic                    ev_update_valid_o,
    output logic [QueueIdWidth-1:0] ev_update_queue_o,
    output logic                    init_done_o
);

  if (Algorithm > 1) begin : g_bad_algorithm
    $error("pst_aqm: Algorithm is %0d, allowed: 0 (CoDel), 1 (PIE)", Algorithm);
  end

  // --- the departure side, two cycles later if the delay must be computed first

  logic look_valid, take_valid, take_ect;
  logic [QueueIdWidth-1:0] look_queue, take_queue;
  logic [TimeWidth-1:0] take_time;
  backlog_t take_left;

  if (Estimate) begin : g_estimate
    logic [1:0] look_valid_q, take_valid_q, take_ect_q;
    logic [QueueIdWidth-1:0] look_queue_q[2];
    backlog_t take_left_q[2];

    pst_delay_estimate #(
        .TimeWidth(TimeWidth),
        .TickShift(TickShift),
        .BacklogWidth(BacklogWidth + 1)
    ) u_delay (
        .clk_i,
        .backlog_i ((BacklogWidth + 1)'(s_take_left_i) + (BacklogWidth + 1)'(s_take_len_i)),
        .mantissa_i(s_take_mantissa_i),
        .exponent_i(s_take_exponent_i),
        .delay_o   (take_time)
    );

    always_ff @(posedge clk_i) begin
      look_valid_q    <= rst_i ? '0 : {look_valid_q[0], s_look_valid_i};
      take_valid_q    <= rst_i ? '0 : {take_valid_q[0], s_take_valid_i};
      take_ect_q      <= {take_ect_q[0], s_take_ect_i};
      look_queue_q[0] <= s_look_queue_i;
      look_queue_q[1] <= look_queue_q[0];
      take_left_q[0]  <= s_take_left_i;
      take_left_q[1]  <= take_left_q[0];
    end

    assign look_valid = look_valid_q[1];
    assign look_queue = look_queue_q[1];
    assign take_valid = take_valid_q[1];
    assign take_left  = take_left_q[1];
    assign take_ect   = take_ect_q[1];

    logic unused;
    assign unused = ^s_take_time_i;
  end else begin : g_sojourn
    assign look_valid = s_look_valid_i;
    assign look_queue = s_look_queue_i;
    assign take_valid = s_take_valid_i;
    assign take_time  = s_take_time_i;
    assign take_left  = s_take_left_i;
    assign take_ect   = s_take_ect_i;

    logic unused;
    assign unused = ^{s_take_len_i, s_take_mantissa_i, s_take_exponent_i};
  end

  logic [QueueIdWidth-1:0] look_queue_q;
  always_ff @(posedge clk_i) begin
    look_queue_q <= look_queue;
    take_queue   <= look_queue_q;
  end

  // --- the algorithm

  if (Algorithm == 0) begin : g_codel
    pst_codel #(
        .Queues(Queues),
        .TimeWidth(TimeWidth),
        .MaxPacketBytes(MaxPacketBytes),
        .Estimate(Estimate),
        .RamStyle(RamStyle)
    ) u_codel (
        .clk_i,
        .rst_i,
        .now_i,
        .s_look_valid_i   (look_valid),
        .s_look_queue_i   (look_queue),
        .s_take_valid_i   (take_valid),
        .s_take_time_i    (take_time),
        .s_take_left_i    (take_left),
        .s_take_ect_i     (take_ect),
        .m_verdict_valid_o(m_deq_verdict_valid_o),
        .m_verdict_queue_o(m_deq_verdict_queue_o),
        .m_verdict_o      (m_deq_verdict_o),
        .s_cfg_valid_i,
        .s_cfg_queue_i,
        .s_cfg_enable_i,
        .s_cfg_ecn_i,
        .s_cfg_target_i,
        .s_cfg_interval_i,
        .init_done_o
    );

    // Every arrival passes.
    logic [3:0] enq_valid_q;
    logic [QueueIdWidth-1:0] enq_queue_q[4];

    always_ff @(posedge clk_i) begin
      enq_valid_q    <= rst_i ? '0 : {enq_valid_q[2:0], s_enq_valid_i};
      enq_queue_q[0] <= s_enq_queue_i;
      for (int i = 1; i < 4; i++) enq_queue_q[i] <= enq_queue_q[i-1];
    end

    assign m_enq_verdict_valid_o = enq_valid_q[3];
    assign m_enq_verdict_queue_o = enq_queue_q[3];
    assign m_enq_verdict_o       = VerdictPass;
    assign ev_update_valid_o     = 1'b0;
    assign ev_update_queue_o     = '0;

    logic unused;
    assign unused = ^{s_enq_backlog_i, s_enq_ect_i, take_queue};
  end else begin : g_pie
    pst_pie #(
        .Queues(Queues),
        .TimeWidth(TimeWidth),
        .UpdateTicks(UpdateTicks),
        .Alpha(Alpha),
        .Beta(Beta),
        .MeanPacketBytes(MeanPacketBytes),
        .Estimate(Estimate),
        .RamStyle(RamStyle)
    ) u_pie (
        .clk_i,
        .rst_i,
        .now_i,
        .s_enq_valid_i,
        .s_enq_queue_i,
        .s_enq_ect_i,
        .s_enq_backlog_i,
        .m_verdict_valid_o(m_enq_verdict_valid_o),
        .m_verdict_queue_o(m_enq_verdict_queue_o),
        .m_verdict_o      (m_enq_verdict_o),
        .s_deq_valid_i    (take_valid),
        .s_deq_queue_i    (take_queue),
        .s_deq_time_i     (take_time),
        .s_deq_left_i     (take_left),
        .s_cfg_valid_i,
        .s_cfg_queue_i,
        .s_cfg_enable_i,
        .s_cfg_ecn_i,
        .s_cfg_target_i,
        .s_cfg_burst_i    (s_cfg_interval_i),
        .ev_update_valid_o,
        .ev_update_queue_o,
        .init_done_o
    );

    // Every departure passes.
    logic [1:0] deq_valid_q;
    logic [QueueIdWidth-1:0] deq_queue_q[2];

    always_ff @(posedge clk_i) begin
      deq_valid_q    <= rst_i ? '0 : {deq_valid_q[0], take_valid};
      deq_queue_q[0] <= take_queue;
      deq_queue_q[1] <= deq_queue_q[0];
    end

    assign m_deq_verdict_valid_o = deq_valid_q[1];
    assign m_deq_verdict_queue_o = deq_queue_q[1];
    assign m_deq_verdict_o       = VerdictPass;

    logic unused;
    assign unused = ^{take_ect, look_valid};
  end

endmodule
