// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Active queue management as a plug: one set of ports for every algorithm; queue manager and scheduler do not know which one is in.
//
// Throughput: one arrival and one departure per cycle.
// Latency:    s_enq to m_enq_verdict 4 cycles. s_look, two cycles later s_take, then m_deq_verdict after 2 cycles, with Estimate 4.
//             Two looks at one queue are at least 9 cycles apart, with Estimate 11.
// Ordering:   in order on each side.
// Reset:      every queue disabled (all packets pass); `Queues` cycles, then init_done_o rises.
module pst_aqm
  import pst_pkg::len_t, pst_pkg::aqm_cfg_t, pst_pkg::MantissaWidth, pst_pkg::ExponentWidth;
  import pst_aqm_pkg::*;
#(
    parameter int unsigned Queues = 64,               // >= 2
    parameter int unsigned Settings = 0,              // queues with settings, where s_look_setting_i says whose count; 0: all, their own
    parameter int unsigned Judges = 1,                // 1: departures (every arrival passes), 2: arrivals (every departure passes)
    parameter bit          Estimate = 1'b0,           // 0: sojourn time from time stamps; 1: delay from backlog and rate
    parameter int unsigned TimeWidth = 26,            // bits of a time in ticks, 16 .. 32
    parameter int unsigned TickShift = 8,             // a tick is 2^TickShift cycles
    parameter int unsigned MaxPacketBytes = 1514,     // the largest packet
    parameter string       RamStyle = "auto",         // per-queue memories, see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned SettingIdWidth = $clog2(Settings == 0 ? Queues : Settings)
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
    input  logic [SettingIdWidth-1:0] s_look_setting_i,     // Settings: whose settings count; with Estimate two cycles after the look
    // two cycles later: it does, unless the verdict is to drop it
    input  logic                    s_take_valid_i,
    input  logic [   TimeWidth-1:0] s_take_time_i,          // tick in which it was enqueued; Estimate: not read
    input  len_t                    s_take_len_i,           // its bytes
    input  backlog_t                s_take_left_i,          // bytes behind it in the queue
    input  logic                    s_take_ect_i,           // it may be marked
    input  logic [MantissaWidth-1:0] s_take_mantissa_i,      // the queue's period, see pst_pkg::shaper_cfg_t; Estimate reads it
    input  logic [ExponentWidth-1:0] s_take_exponent_i,
    output logic                    m_deq_verdict_valid_o,
    output logic [QueueIdWidth-1:0] m_deq_verdict_queue_o,
    output verdict_e                m_deq_verdict_o,           // VerdictPass when there is none
    // setting of one queue; taken at once
    input  logic                    s_cfg_valid_i,
    input  logic [SettingIdWidth-1:0] s_cfg_queue_i,
    input  aqm_cfg_t                s_cfg_i,
    // read-back of a setting, held until the answer, which comes in a cycle in which the algorithm does not need its settings
    input  logic                    s_read_valid_i,
    input  logic [SettingIdWidth-1:0] s_read_queue_i,
    output logic                    m_read_valid_o,
    output aqm_cfg_t                m_read_cfg_o,
    output logic                    init_done_o
);

  if (Judges < 1 || Judges > 2) begin : g_bad_judges
    $error("pst_aqm: Judges is %0d, allowed: 1 (departures), 2 (arrivals)", Judges);
  end

  // --- the departure side, two cycles later if the delay must be computed first

  logic look_valid, take_valid, take_ect;
  logic [QueueIdWidth-1:0] look_queue, take_queue;
  logic [SettingIdWidth-1:0] look_setting;
  logic [TimeWidth-1:0] take_time, take_delay;
  len_t take_len;
  backlog_t take_left;

  if (Estimate) begin : g_estimate
    logic [1:0] look_valid_q, take_valid_q, take_ect_q;
    logic [QueueIdWidth-1:0] look_queue_q[2];
    backlog_t take_left_q[2];
    len_t take_len_q[2];

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
      take_len_q[0]   <= s_take_len_i;
      take_len_q[1]   <= take_len_q[0];
    end

    assign look_valid = look_valid_q[1];
    assign look_queue = look_queue_q[1];
    assign look_setting = s_look_setting_i;
    assign take_valid = take_valid_q[1];
    assign take_left  = take_left_q[1];
    assign take_len   = take_len_q[1];
    assign take_delay = take_time;
    assign take_ect   = take_ect_q[1];

    logic unused;
    assign unused = ^s_take_time_i;
  end else begin : g_sojourn
    assign look_valid = s_look_valid_i;
    assign look_queue = s_look_queue_i;
    assign look_setting = s_look_setting_i;
    assign take_valid = s_take_valid_i;
    assign take_time  = s_take_time_i;
    assign take_left  = s_take_left_i;
    assign take_len   = s_take_len_i;
    assign take_delay = now_i - s_take_time_i;
    assign take_ect   = s_take_ect_i;

    logic unused;
    assign unused = ^{s_take_mantissa_i, s_take_exponent_i};
  end

  logic [QueueIdWidth-1:0] look_queue_q;
  always_ff @(posedge clk_i) begin
    look_queue_q <= look_queue;
    take_queue   <= look_queue_q;
  end

  // --- the algorithm

  logic enq_valid, deq_valid;
  logic [QueueIdWidth-1:0] enq_queue, deq_queue;
  verdict_e enq_verdict, deq_verdict;

  pst_aqm_algorithm #(
      .Queues(Queues), .Settings(Settings), .TimeWidth(TimeWidth), .TickShift(TickShift), .MaxPacketBytes(MaxPacketBytes),
      .Estimate(Estimate), .RamStyle(RamStyle)
  ) u_algorithm (
      .clk_i, .rst_i, .now_i,
      .s_enq_valid_i, .s_enq_queue_i, .s_enq_ect_i, .s_enq_backlog_i,
      .m_enq_verdict_valid_o(enq_valid), .m_enq_verdict_queue_o(enq_queue), .m_enq_verdict_o(enq_verdict),
      .s_look_valid_i(look_valid), .s_look_queue_i(look_queue), .s_look_setting_i(look_setting),
      .s_take_valid_i(take_valid), .s_take_queue_i(take_queue), .s_take_time_i(take_time), .s_take_delay_i(take_delay),
      .s_take_len_i(take_len), .s_take_left_i(take_left), .s_take_ect_i(take_ect),
      .m_deq_verdict_valid_o(deq_valid), .m_deq_verdict_queue_o(deq_queue), .m_deq_verdict_o(deq_verdict),
      .s_cfg_valid_i, .s_cfg_queue_i, .s_cfg_i,
      .s_read_valid_i, .s_read_queue_i, .m_read_valid_o, .m_read_cfg_o,
      .init_done_o
  );

  // --- the side that it does not judge: everything passes, in the same time

  if (Judges == 1) begin : g_arrivals_pass
    logic [3:0] valid_q;
    logic [QueueIdWidth-1:0] queue_q[4];

    always_ff @(posedge clk_i) begin
      valid_q    <= rst_i ? '0 : {valid_q[2:0], s_enq_valid_i};
      queue_q[0] <= s_enq_queue_i;
      for (int i = 1; i < 4; i++) queue_q[i] <= queue_q[i-1];
    end

    assign m_enq_verdict_valid_o = valid_q[3];
    assign m_enq_verdict_queue_o = queue_q[3];
    assign m_enq_verdict_o       = VerdictPass;
    assign m_deq_verdict_valid_o = deq_valid;
    assign m_deq_verdict_queue_o = deq_queue;
    assign m_deq_verdict_o       = deq_verdict;

    logic unused_arrivals;
    assign unused_arrivals = ^{enq_valid, enq_queue, enq_verdict};
  end else begin : g_departures_pass
    logic [1:0] valid_q;
    logic [QueueIdWidth-1:0] queue_q[2];

    always_ff @(posedge clk_i) begin
      valid_q    <= rst_i ? '0 : {valid_q[0], take_valid};
      queue_q[0] <= take_queue;
      queue_q[1] <= queue_q[0];
    end

    assign m_enq_verdict_valid_o = enq_valid;
    assign m_enq_verdict_queue_o = enq_queue;
    assign m_enq_verdict_o       = enq_verdict;
    assign m_deq_verdict_valid_o = valid_q[1];
    assign m_deq_verdict_queue_o = queue_q[1];
    assign m_deq_verdict_o       = VerdictPass;

    logic unused_departures;
    assign unused_departures = ^{deq_valid, deq_queue, deq_verdict};
  end

`ifndef SYNTHESIS
  // The algorithm keeps to the timing of its kind: a verdict on each packet, in its cycle, of its queue, and none beside.
  logic [4:1] enq_due_q;
  logic [2:1] take_due_q;
  logic [4:1][QueueIdWidth-1:0] enq_of_q;
  logic [2:1][QueueIdWidth-1:0] take_of_q;

  always_ff @(posedge clk_i) begin
    enq_due_q  <= rst_i ? '0 : {enq_due_q[3:1], s_enq_valid_i};
    enq_of_q   <= {enq_of_q[3:1], s_enq_queue_i};
    take_due_q <= rst_i ? '0 : {take_due_q[1], take_valid};
    take_of_q  <= {take_of_q[1], take_queue};
    if (!rst_i && init_done_o && Judges == 2) begin
      a_arrival_verdict_in_its_cycle : assert (enq_valid == enq_due_q[4] && (!enq_valid || enq_queue == enq_of_q[4]))
      else $error("pst_aqm: the algorithm's verdict on an arrival is not there 4 cycles after it, or there is one without it");
    end
    if (!rst_i && init_done_o && Judges == 1) begin
      a_departure_verdict_in_its_cycle : assert (deq_valid == take_due_q[2] && (!deq_valid || deq_queue == take_of_q[2]))
      else $error("pst_aqm: the algorithm's verdict on a departure is not there 2 cycles after it, or there is one without it");
    end
    if (!rst_i && init_done_o && enq_valid && Judges == 2) begin
      a_arrival_verdict_exists : assert (enq_verdict != verdict_e'(2'd3))
      else $error("pst_aqm: the algorithm's verdict is 3, which is none");
    end
    if (!rst_i && init_done_o && deq_valid && Judges == 1) begin
      a_departure_verdict_exists : assert (deq_verdict != verdict_e'(2'd3))
      else $error("pst_aqm: the algorithm's verdict is 3, which is none");
    end
  end
`endif

endmodule
