// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Judges every packet that was taken from its queue: the AQM, what it has to know of each packet, and the packets that wait for it.
//
// Of each packet the tick of its enqueueing and its ECN bit are kept by descriptor: 27 bits, with Estimate one. An AQM that judges departures
// has in the bit whether the packet may be marked; one that judges arrivals has done so (s_arrive), before the packet came to its queue, and
// the bit is whether it is marked.
//
// Throughput: one packet per cycle. Latency: departures 4 cycles from s_ret to m_judged, with Estimate 6; arrivals 2, and 4 from s_arrive.
// Ordering:   in order.
// Reset:      forgets all packets and settings; `Queues` cycles, then init_done_o rises.
module pst_access_edge_judge
  import pst_pkg::len_t, pst_pkg::LimitBytesWidth, pst_pkg::AqmTimeWidth, pst_pkg::aqm_cfg_t, pst_pkg::MantissaWidth, pst_pkg::PeriodWidth;
  import pst_aqm_pkg::verdict_e, pst_aqm_pkg::VerdictMark, pst_aqm_pkg::VerdictDrop, pst_aqm_pkg::backlog_t;
#(
    parameter int unsigned Queues = 64,              // >= 2
    parameter int unsigned Descriptors = 256,        // >= 2
    parameter int unsigned Flows = 0,                // flow queues, each with a state of its own; 0: each queue has one
    parameter int unsigned Judges = 1,               // the AQM judges 1: departures, 2: arrivals
    parameter bit          Estimate = 1'b0,          // delay from backlog and rate, no time stamp per packet
    parameter int unsigned TickShift = 8,            // a tick is 2^TickShift cycles
    parameter int unsigned MaxPacketBytes = 1514,    // the largest packet
    parameter int unsigned SettingProfiles = 0,      // settings are those of profiles; 0: of queues
    parameter string       QueueRamStyle = "auto",   // per-queue memories, see pst_ram_1r1w
    parameter string       DescRamStyle = "auto",    // per-descriptor memory
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned StateWidth = $clog2(Flows != 0 ? Flows : Queues),
    localparam int unsigned SettingWidth = $clog2(SettingProfiles != 0 ? SettingProfiles : Queues),
    localparam int unsigned DescIdWidth = $clog2(Descriptors)
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    // Judges = 2: a packet arrives, and 4 cycles later its verdict comes
    input  logic                       s_arrive_valid_i,
    input  logic [QueueIdWidth-1:0]    s_arrive_queue_i,
    input  logic                       s_arrive_ect_i,      // it may be marked
    input  backlog_t                   s_arrive_backlog_i,  // two cycles later: bytes in its queue before it
    output verdict_e                   m_arrive_verdict_o,
    // a packet is offered to its queue, and taken there
    input  logic                       s_enq_valid_i,
    input  logic [DescIdWidth-1:0]     s_enq_desc_i,
    input  logic                       s_enq_ecn_i,         // Judges = 1: it may be marked; 2: it is
    // the queue manager's answer: a packet leaves its queue
    input  logic                       s_ret_valid_i,
    input  logic [QueueIdWidth-1:0]    s_ret_queue_i,
    input  logic [StateWidth-1:0]      s_ret_state_i,       // its flow queue, or with Flows = 0 its queue: whose state counts
    input  logic [SettingWidth-1:0]    s_ret_setting_i,     // its queue, or that one's profile: whose setting counts
    input  logic [DescIdWidth-1:0]     s_ret_desc_i,
    input  len_t                       s_ret_len_i,
    input  logic                       s_ret_empties_i,     // it has left its queue empty
    input  logic [LimitBytesWidth-1:0] s_ret_left_i,        // one cycle later: the bytes that it leaves behind
    input  logic [PeriodWidth-1:0]     s_ret_period_i,      // exponent and mantissa of its queue's shaper
    output logic                       m_judged_valid_o,
    output logic [QueueIdWidth-1:0]    m_judged_queue_o,
    output logic [DescIdWidth-1:0]     m_judged_desc_o,
    output len_t                       m_judged_len_o,
    output logic                       m_judged_empties_o,
    output logic                       m_judged_drop_o,
    output logic                       m_judged_mark_o,
    // two cycles after a descriptor at s_ret, taken from its queue or not: cycles since its packet came, and those since its tick began, in all;
    // the most that there is when it is more; 0 with Estimate
    output logic [31:0]                m_age_o,
    // setting of one queue; taken at once. With SettingProfiles it has this profile, whose setting it is: it is new in it, or there already
    input  logic                       s_cfg_valid_i,
    input  logic [QueueIdWidth-1:0]    s_cfg_queue_i,
    input  logic [SettingWidth-1:0]    s_cfg_setting_i,     // its queue, or the profile
    input  logic                       s_cfg_fresh_i,
    input  aqm_cfg_t                   s_cfg_aqm_i,
    // read-back of a setting, held until the answer
    input  logic                       s_read_valid_i,
    input  logic [SettingWidth-1:0]    s_read_setting_i,
    output logic                       m_read_valid_o,
    output aqm_cfg_t                   m_read_aqm_o,
    output logic                       init_done_o
);

  localparam int unsigned Take = 2;                          // cycles after s_ret in which the packet is shown to the AQM
  localparam int unsigned Judged = Take + (Judges == 2 ? 0 : Estimate ? 4 : 2);    // in which what becomes of it is known

  // --- time

  typedef logic [AqmTimeWidth+TickShift-1:0] cycle_t;
  cycle_t cycle_q;
  logic [AqmTimeWidth-1:0] now;

  always_ff @(posedge clk_i) begin
    cycle_q <= cycle_q + 1'b1;
    if (rst_i) cycle_q <= '0;
  end

  assign now = cycle_q[AqmTimeWidth+TickShift-1:TickShift];

  // --- what is known of a packet: written a cycle after it came, before it is in its queue; read when it has left it, so never both at once

  logic ecn, enq_valid_q, enq_ecn_q;
  logic [DescIdWidth-1:0] enq_desc_q;
  logic [AqmTimeWidth-1:0] enqueued;

  always_ff @(posedge clk_i) begin
    enq_valid_q <= s_enq_valid_i && !rst_i;
    enq_desc_q  <= s_enq_desc_i;
    enq_ecn_q   <= s_enq_ecn_i;
  end

  if (Estimate) begin : g_ecn
    pst_ram_1r1w #(
        .Width(1), .Depth(Descriptors), .ReadLatency(2), .Style(DescRamStyle)
    ) u_ecn (
        .clk_i,
        .we_i(enq_valid_q), .waddr_i(enq_desc_q), .wdata_i(enq_ecn_q),
        .re_i(1'b1), .raddr_i(s_ret_desc_i), .rdata_o(ecn)
    );
    assign enqueued = '0;
    assign m_age_o  = '0;
  end else begin : g_tick
    logic [AqmTimeWidth-1:0] enq_now_q;
    localparam logic [63:0] Most = 64'hFFFF_FFFF;
    logic [63:0] age;

    always_ff @(posedge clk_i) enq_now_q <= now;

    assign age     = 64'(cycle_t'(cycle_q - (cycle_t'(enqueued) << TickShift)));
    assign m_age_o = age > Most ? '1 : 32'(age);

    pst_ram_1r1w #(
        .Width(1 + AqmTimeWidth), .Depth(Descriptors), .ReadLatency(2), .Style(DescRamStyle)
    ) u_tick (
        .clk_i,
        .we_i(enq_valid_q), .waddr_i(enq_desc_q), .wdata_i({enq_ecn_q, enq_now_q}),
        .re_i(1'b1), .raddr_i(s_ret_desc_i), .rdata_o({ecn, enqueued})
    );
  end

  // --- packets on their way to their verdict

  typedef struct packed {
    logic [QueueIdWidth-1:0] queue_id;
    logic [DescIdWidth-1:0]  desc;
    len_t                    len;
    logic                    empties;
  } packet_t;

  packet_t [Judged:1] packet_q;
  logic [Take:1] valid_q;
  logic [PeriodWidth-1:0] period_q, period_take_q;
  logic [LimitBytesWidth-1:0] left_q;

  always_ff @(posedge clk_i) begin
    packet_q[1] <= {s_ret_queue_i, s_ret_desc_i, s_ret_len_i, s_ret_empties_i};
    for (int k = 2; k <= int'(Judged); k++) packet_q[k] <= packet_q[k-1];
    period_q      <= s_ret_period_i;
    period_take_q <= period_q;
    left_q        <= s_ret_left_i;
    valid_q       <= rst_i ? '0 : {valid_q[Take-1:1], s_ret_valid_i};
  end

  // --- whose setting counts: when the AQM looks, which with Estimate is two cycles later; a profile is the one that the queue has then

  logic [SettingWidth-1:0] look_setting;

  if (SettingProfiles != 0 && Estimate) begin : g_look_later
    logic [2:1][SettingWidth-1:0] setting_q;

    function automatic logic [SettingWidth-1:0] setting_now(logic [SettingWidth-1:0] setting, logic [QueueIdWidth-1:0] queue_id);
      setting_now = s_cfg_valid_i && s_cfg_queue_i == queue_id ? s_cfg_setting_i : setting;
    endfunction

    always_ff @(posedge clk_i) begin
      setting_q[1] <= s_ret_setting_i;
      setting_q[2] <= setting_now(setting_q[1], packet_q[1].queue_id);
    end

    assign look_setting = setting_now(setting_q[2], packet_q[2].queue_id);
  end else begin : g_look
    assign look_setting = s_ret_setting_i;

    logic unused_queue;
    assign unused_queue = ^s_cfg_queue_i;
  end

  // --- the verdict

  verdict_e verdict;
  logic verdict_valid;
  logic [StateWidth-1:0] verdict_state, unused_enq_queue;
  logic unused_enq_valid;

  pst_aqm #(
      .Queues(Flows != 0 ? Flows : Queues), .Settings(SettingProfiles != 0 ? SettingProfiles : Flows != 0 ? Queues : 0),
      .Judges(Judges), .Estimate(Estimate),
      .TimeWidth(AqmTimeWidth), .TickShift(TickShift), .MaxPacketBytes(MaxPacketBytes), .RamStyle(QueueRamStyle)
  ) u_aqm (
      .clk_i, .rst_i, .now_i(now),
      .s_enq_valid_i(s_arrive_valid_i), .s_enq_queue_i(StateWidth'(s_arrive_queue_i)), .s_enq_ect_i(s_arrive_ect_i),
      .s_enq_backlog_i(s_arrive_backlog_i),
      .m_enq_verdict_valid_o(unused_enq_valid), .m_enq_verdict_queue_o(unused_enq_queue), .m_enq_verdict_o(m_arrive_verdict_o),
      .s_look_valid_i(s_ret_valid_i), .s_look_queue_i(s_ret_state_i), .s_look_setting_i(look_setting),
      .s_take_valid_i(valid_q[Take]), .s_take_time_i(enqueued), .s_take_len_i(packet_q[Take].len), .s_take_left_i(left_q),
      .s_take_ect_i(ecn), .s_take_mantissa_i(period_take_q[MantissaWidth-1:0]),
      .s_take_exponent_i(period_take_q[PeriodWidth-1:MantissaWidth]),
      .m_deq_verdict_valid_o(verdict_valid), .m_deq_verdict_queue_o(verdict_state), .m_deq_verdict_o(verdict),
      .s_cfg_valid_i(s_cfg_valid_i && (SettingProfiles == 0 || s_cfg_fresh_i)), .s_cfg_queue_i(s_cfg_setting_i), .s_cfg_i(s_cfg_aqm_i),
      .s_read_valid_i, .s_read_queue_i(s_read_setting_i), .m_read_valid_o, .m_read_cfg_o(m_read_aqm_o),
      .init_done_o
  );

  // What was let in goes: of its departure the AQM only takes note.
  assign m_judged_valid_o   = Judges == 2 ? valid_q[Take] : verdict_valid;
  assign m_judged_queue_o   = packet_q[Judged].queue_id;
  assign m_judged_desc_o    = packet_q[Judged].desc;
  assign m_judged_len_o     = packet_q[Judged].len;
  assign m_judged_empties_o = packet_q[Judged].empties;
  assign m_judged_drop_o    = verdict == VerdictDrop;
  assign m_judged_mark_o    = m_judged_valid_o && (Judges == 2 ? ecn : verdict == VerdictMark);

`ifndef SYNTHESIS
  logic [Judged:1][StateWidth-1:0] state_q;

  always_ff @(posedge clk_i) begin
    state_q <= {state_q[Judged-1:1], s_ret_state_i};
    if (!rst_i && Judges == 1 && verdict_valid) a_verdict_of_the_queue : assert (verdict_state == state_q[Judged])
      else $error("verdict for another queue");
    if (!rst_i) a_descriptor_has_one_owner : assert (!(enq_valid_q && s_ret_valid_i && enq_desc_q == s_ret_desc_i))
      else $error("a descriptor has two owners");
  end
`endif

endmodule
