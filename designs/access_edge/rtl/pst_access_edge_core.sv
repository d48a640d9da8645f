// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Queue manager or flow queues, scheduler and AQM: descriptors go in with their queue, and come out when their queue may send.
//
// A packet that an AQM drops at the head was taken from its queue like any other; it goes through the output FIFO to m_drop_head instead of
// m_out. An AQM that judges arrivals drops a packet before it comes to its queue: its page goes to m_drop_head from there.
//
// Throughput: one packet in and one out per cycle less the scheduler's splices. Latency: see the README of the design.
// Ordering:   FIFO in each queue; with flow queues in each flow. Reset: forgets every packet; ready again when init_done_o rises (`Queues`
//             cycles; with flow queues `Flows / FlowLanes`, with an AQM behind them `Flows`).
module pst_access_edge_core
  import pst_pkg::LenWidth, pst_pkg::len_t, pst_pkg::drop_e, pst_pkg::DropNone, pst_pkg::DropAqm, pst_pkg::LimitPacketsWidth,
      pst_pkg::LimitBytesWidth, pst_pkg::aqm_cfg_t, pst_pkg::shaper_cfg_t;
  import pst_aqm_pkg::verdict_e, pst_aqm_pkg::VerdictPass, pst_aqm_pkg::backlog_t;
  import pst_hierarchy_pkg::class_t, pst_hierarchy_pkg::weight_t, pst_hierarchy_pkg::guarantee_t, pst_hierarchy_pkg::setting_e,
      pst_hierarchy_pkg::SetQueue;
#(
    parameter int unsigned Queues = 64,            // >= 2
    parameter int unsigned Descriptors = 256,      // >= 2
    parameter bit          Shaping = 1'b1,         // 0: pass-through scheduler, or OwnScheduler
    parameter bit          OwnScheduler = 1'b0,    // with Shaping = 0: the one in pst_schedule_own
    parameter int unsigned ToleranceCycles = 1024, // Shaping: lateness that the shapers make up for, cycles; below 2^28
    parameter int unsigned Aqm = 0,                // 0: none; what it judges: 1 departures, 2 arrivals
    parameter bit          AqmEstimate = 1'b0,     // delay from backlog and rate, no time stamp per packet
    parameter int unsigned TickShift = 8,          // AQM: a tick is 2^TickShift cycles
    parameter int unsigned AqmGuardBytes = 0,      // Aqm = 2: see pst_access_edge_arrivals
    parameter int unsigned MaxPacketBytes = 1514,  // the largest packet
    parameter bit          Hierarchy = 1'b0,       // subscribers, nodes and ports; wants Shaping
    parameter int unsigned QueuesPerSubscriber = 4,    // Hierarchy: 1, 2, 4 or 8
    parameter int unsigned Nodes = 2,              // Hierarchy: power of two, >= 2
    parameter int unsigned Ports = 2,              // Hierarchy: power of two, >= 2
    parameter int unsigned Classes = 4,            // Hierarchy: 1 .. 8
    parameter int unsigned GuaranteeCycles = 0,    // Hierarchy: lateness that guaranteed rates make up for; 0: there are none
    parameter int unsigned Flows = 0,              // flow queues behind the queues (pst_access_edge_flows); 0: a queue manager
    parameter int unsigned FlowLanes = 2,          // Flows: 1, 2 or 4
    parameter int unsigned FlowAgeCycles = 64,     // Flows: from one flow queue of a lane's walk that releases to the next, >= 1
    parameter int unsigned FlowHostBits = 0,       // Flows: 2 ** FlowHostBits hosts of a queue are told apart; 0: flows alone
    parameter int unsigned SettingProfiles = 0,    // profiles that queues have their settings from (pst_setting_profiles); 0: their own
    parameter int unsigned Credits = 32,           // packets that may be chosen before the one at m_out is taken, >= 2
    parameter string       QueueRamStyle = "auto", // per-queue memories, see pst_ram_1r1w
    parameter string       DescRamStyle = "auto",  // per-descriptor memory
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned DescIdWidth = $clog2(Descriptors)
) (
    input  logic                                      clk_i,
    input  logic                                      rst_i,
    // stored frames
    input  pst_access_edge_ports_pkg::enqueue_t       s_enq_i,
    output logic                                      s_enq_ready_o,
    input  logic [QueueIdWidth-1:0]                   s_enq_queue_i,
    input  logic [DescIdWidth-1:0]                    s_enq_desc_i,
    // frames to send
    output pst_access_edge_ports_pkg::send_t          m_out_o,
    input  logic                                      m_out_ready_i,
    output logic [QueueIdWidth-1:0]                   m_out_queue_o,
    output logic [DescIdWidth-1:0]                    m_out_desc_o,
    // pages of frames dropped at the tail
    output logic                                      m_drop_valid_o,
    input  logic                                      m_drop_ready_i,
    output logic [DescIdWidth-1:0]                    m_drop_desc_o,
    // pages of frames dropped by the AQM
    output logic                                      m_drop_head_valid_o,
    input  logic                                      m_drop_head_ready_i,
    output logic [DescIdWidth-1:0]                    m_drop_head_desc_o,
    // one pulse per enqueue decision
    output pst_access_edge_ports_pkg::decision_t      ev_o,
    output logic [QueueIdWidth-1:0]                   ev_queue_o,
    // with an AQM, one pulse per packet that was taken from its queue: it is sent (DropNone), or dropped at the head
    output pst_access_edge_ports_pkg::verdict_t       ev_deq_o,
    output logic [QueueIdWidth-1:0]                   ev_deq_queue_o,
    // all settings of one queue at once, every other cycle at most: a packet can come in after each
    input  pst_access_edge_ports_pkg::queue_cfg_t     s_cfg_i,
    output pst_access_edge_ports_pkg::queue_cfg_rsp_t s_cfg_o,
    input  logic [QueueIdWidth-1:0]                   s_cfg_queue_i,
    // Look: what a queue holds, answered 5 cycles later: packets and bytes, its limits, and how long its head has been in it (cycles, to a tick;
    // 0 without time stamps, or without a packet). Of a queue whose head changes just then the latter is not known. With Flows: what is in its
    // flow queues, and its quantum; they have many heads, so it is 0
    input  logic                                      s_look_valid_i,
    output logic                                      s_look_ready_o,
    input  logic [QueueIdWidth-1:0]                   s_look_queue_i,
    output pst_access_edge_ports_pkg::look_t          m_look_o,
    // Read-back of the settings of a queue (shaper, AQM; with Hierarchy class and weight), subscriber, node or port, as they are in the memories
    // that are worked with: held until the answer, which has what the setting has; it comes with a walk, see pst_schedule and pst_hierarchy
    input  pst_access_edge_ports_pkg::back_ask_t      s_read_i,
    input  logic [QueueIdWidth-1:0]                   s_read_id_i,
    output pst_access_edge_ports_pkg::back_t          m_read_o,
    output logic [QueueIdWidth-1:0]                   m_read_parent_o,
    // Hierarchy: settings of the hierarchy, see pst_hierarchy
    input  pst_access_edge_ports_pkg::hierarchy_cfg_t s_hierarchy_cfg_i,
    output logic                                      s_hierarchy_cfg_ready_o,
    input  logic [QueueIdWidth-1:0]                   s_hierarchy_cfg_id_i,
    input  logic [QueueIdWidth-1:0]                   s_hierarchy_cfg_parent_i,
    // Flows: packets in all flow queues, most there may be, and are
    input  logic [31:0]                               flow_limit_i,
    output logic [31:0]                               flow_packets_o,
    // nothing is enqueued, taken from its queue or sent any more: for what waits in vain for a cycle without (README: what it promises)
    input  logic                                      hold_i,
    output logic [31:0]                               now_o,
    output logic                                      init_done_o
);

  // Bits of a time in cycles: a packet of the largest size takes an eighth of that at 2^18 cycles per byte or more (pst_shaper), which is 8 kbit/s
  // at up to 262 MHz.
  localparam int unsigned LeastTimeWidth = $clog2(MaxPacketBytes) + 18 + 3;
  localparam int unsigned TimeWidth = LeastTimeWidth > 32 ? LeastTimeWidth : 32;

  localparam int unsigned StateWidth = $clog2(Flows != 0 ? Flows : Queues);    // of an AQM: by queue or by flow queue
  localparam int unsigned SettingWidth = $clog2(SettingProfiles != 0 ? SettingProfiles : Queues);    // of an AQM's setting
  localparam int unsigned DoneCredits = 32;    // packets through the hierarchy that the scheduler can keep until it has told their queues
  // Stages until a verdict is there: look with the queue manager's answer (R0), take at R2, verdict at R4 or R6. The scheduler waits so long, and with
  // a hierarchy behind it one longer than R4: a queue that comes round faster than that takes its packets, every 11 cycles, has to wait to be told.
  localparam int unsigned JudgedStages = Aqm != 1 ? 0 : AqmEstimate ? 3 : 1;
  localparam int unsigned VerdictStages = Hierarchy && JudgedStages == 1 ? 2 : JudgedStages;

  if (Aqm > 2) begin : g_bad_aqm
    $error("pst_access_edge_core: Aqm is %0d, allowed: 0 (none), 1 (departures), 2 (arrivals)", Aqm);
  end
  if (Hierarchy && !Shaping) begin : g_bad_hierarchy
    $error("pst_access_edge_core: Hierarchy wants Shaping");
  end
  if (Aqm != 0 && !Shaping) begin : g_bad_shaping
    $error("pst_access_edge_core: an AQM needs the shaped scheduler");
  end
  if (Flows != 0 && (!Shaping || Aqm == 2)) begin : g_bad_flows
    $error("pst_access_edge_core: Flows needs Shaping, and no AQM that judges arrivals");
  end
  if (SettingProfiles != 0 && (!Shaping || Flows != 0 || Aqm == 2 || SettingProfiles > Queues)) begin : g_bad_profiles
    $error("pst_access_edge_core: SettingProfiles (%0d) needs Shaping, no Flows, no AQM that judges arrivals, and as many queues",
           SettingProfiles);
  end
  if (Credits < 2) begin : g_bad_credits
    $error("pst_access_edge_core: Credits is %0d, allowed: 2 and more", Credits);
  end
  if (OwnScheduler && Shaping) begin : g_bad_own
    $error("pst_access_edge_core: OwnScheduler needs Shaping = 0");
  end

  typedef struct packed {
    logic                    drop;
    logic                    mark;
    logic [QueueIdWidth-1:0] queue_id;
    logic [DescIdWidth-1:0]  desc;
    len_t                    len;
    logic                    empties;    // it has left its queue empty
  } out_t;

  logic active_valid, active_ready, deq_valid, deq_take, ret_valid, ret_backlogged;
  logic [QueueIdWidth-1:0] active_queue, deq_queue, ret_queue;
  logic [DescIdWidth-1:0] ret_desc;
  len_t ret_len, ret_head, active_len;
  logic [LimitBytesWidth-1:0] ret_left, ev_backlog;
  pst_schedule_ports_pkg::taken_t ret_taken;
  logic [15:0] queue_profile, read_profile_q;
  logic [TimeWidth-1:0] now;
  logic queue_init_done, schedule_init_done, aqm_init_done, cfg_ready, cfg_take, cfg_may_q;
  logic judged_valid, judged_drop, judged_drop_q, judged_mark, judged_empties;
  logic [QueueIdWidth-1:0] judged_queue;
  logic [DescIdWidth-1:0] judged_desc;
  len_t judged_len;
  logic kept_valid, kept_ready, out_valid, out_take, credit, out_ready, hierarchy_init_done, done_valid, done_slow, ahead, ahead_room;
  logic [1:0] done_credits;
  logic [QueueIdWidth-1:0] done_queue, done_next_queue, ahead_queue;
  logic unused_out_ready;
  logic [$clog2(Credits+1)-1:0] unused_level;
  out_t out;
  logic enq_valid, enq_ready, enq_ecn, arrive_valid, arrive_ect, arrivals_init_done, head_ready;
  logic [QueueIdWidth-1:0] enq_queue, arrive_queue;
  logic [DescIdWidth-1:0] enq_desc;
  len_t enq_len;
  drop_e enq_reason;
  pst_queue_ports_pkg::head_t head;
  pst_queue_ports_pkg::look_t look, look_q;
  len_t look_quantum, look_quantum_q;
  pst_fq_pkg::sides_t look_sides, look_sides_q;
  logic unused_head_valid;
  assign unused_head_valid = head.valid;
  logic unused_profile;  // as many of its bits as there are profiles are used, by an AQM
  assign unused_profile = ^read_profile_q;
  logic [1:0] head_empty_q, head_known_q;
  logic [31:0] age;
  logic queue_read, queue_read_q, aqm_read, aqm_read_q, hierarchy_read, hierarchy_read_q;
  aqm_cfg_t aqm_found;
  shaper_cfg_t queue_shaper, hierarchy_shaper;
  logic [QueueIdWidth-1:0] hierarchy_parent;
  class_t hierarchy_class;
  weight_t hierarchy_weight;
  guarantee_t hierarchy_guarantee;
  logic read_valid;
  shaper_cfg_t read_shaper_q;
  class_t read_class_q;
  weight_t read_weight_q;
  guarantee_t read_guarantee_q;
  aqm_cfg_t read_aqm_q;
  backlog_t arrive_backlog;
  verdict_e arrive_verdict;

  always_ff @(posedge clk_i) begin
    init_done_o <= !rst_i && arrivals_init_done && queue_init_done && schedule_init_done && aqm_init_done && hierarchy_init_done;
    cfg_may_q   <= !cfg_take;
  end

  // No packet comes in while a setting is taken, so the cycle after a setting is one for packets.
  assign s_cfg_o.ready = cfg_ready && init_done_o && cfg_may_q;
  assign cfg_take      = s_cfg_i.valid && s_cfg_o.ready;

  // --- what hold_i stops: enqueues here, dequeues by the credits of the output FIFO, and what a hierarchy has left

  logic in_valid, in_ready;

  pst_hold u_hold_enq (
      .clk_i, .rst_i, .hold_i,
      .s_valid_i(s_enq_i.valid), .s_ready_o(s_enq_ready_o), .m_valid_o(in_valid), .m_ready_i(in_ready)
  );

  // --- an AQM that judges arrivals

  if (Aqm == 2) begin : g_arrivals
    pst_access_edge_arrivals #(
        .Queues(Queues), .Descriptors(Descriptors), .GuardBytes(AqmGuardBytes), .QueueRamStyle(QueueRamStyle)
    ) u_arrivals (
        .clk_i, .rst_i,
        .s_enq_valid_i(in_valid), .s_enq_ready_o(in_ready), .s_enq_queue_i, .s_enq_desc_i, .s_enq_len_i(s_enq_i.len),
        .s_enq_reason_i(s_enq_i.reason), .s_enq_ect_i(s_enq_i.ect),
        .m_judge_valid_o(arrive_valid), .m_judge_queue_o(arrive_queue), .m_judge_ect_o(arrive_ect), .m_judge_backlog_o(arrive_backlog),
        .s_verdict_i(arrive_verdict),
        .m_enq_valid_o(enq_valid), .m_enq_ready_i(enq_ready), .m_enq_queue_o(enq_queue), .m_enq_desc_o(enq_desc), .m_enq_len_o(enq_len),
        .m_enq_reason_o(enq_reason), .m_enq_mark_o(enq_ecn),
        .m_drop_valid_o(m_drop_head_valid_o), .m_drop_ready_i(m_drop_head_ready_i), .m_drop_desc_o(m_drop_head_desc_o),
        .s_ret_valid_i(ret_valid), .s_ret_queue_i(ret_queue), .s_ret_left_i(ret_left),
        .init_done_o(arrivals_init_done)
    );
    assign head_ready = 1'b1;    // nothing is dropped there
  end else begin : g_no_arrivals
    assign enq_valid           = in_valid;
    assign in_ready            = enq_ready;
    assign enq_queue           = s_enq_queue_i;
    assign enq_desc            = s_enq_desc_i;
    assign enq_len             = s_enq_i.len;
    assign enq_reason          = s_enq_i.reason;
    assign enq_ecn             = s_enq_i.ect;
    assign arrive_valid        = 1'b0;
    assign arrive_queue        = '0;
    assign arrive_backlog      = '0;
    assign arrive_ect          = 1'b0;
    assign m_drop_head_valid_o = out_valid && out.drop;
    assign m_drop_head_desc_o  = out.desc;
    assign head_ready          = m_drop_head_ready_i;
    assign arrivals_init_done  = 1'b1;

    logic unused_verdict;
    assign unused_verdict = ^arrive_verdict;
  end

  pst_queue_ports_pkg::cfg_t limit_cfg;
  logic [StateWidth-1:0] ret_state;
  logic deq_ready, ret_empties;

  assign limit_cfg = '{
      valid: cfg_take, profile: s_cfg_i.profile, fresh: s_cfg_i.fresh, peek: s_cfg_i.peek, limit_packets: s_cfg_i.limit_packets,
      limit_bytes: s_cfg_i.limit_bytes
  };

  if (Flows == 0) begin : g_queues
    pst_queue_manager #(
        .Queues(Queues), .Descriptors(Descriptors), .QueueRamStyle(QueueRamStyle), .DescRamStyle(DescRamStyle),
        .ReportLeft(Aqm != 0 || OwnScheduler), .ReportHead(OwnScheduler), .Look(1'b1),
        .SettingProfiles(SettingProfiles)
    ) u_queue (
        .clk_i, .rst_i,
        .s_enq_valid_i(enq_valid), .s_enq_ready_o(enq_ready), .s_enq_queue_i(enq_queue), .s_enq_desc_i(enq_desc), .s_enq_len_i(enq_len),
        .s_enq_reason_i(enq_reason),
        .m_active_valid_o(active_valid), .m_active_ready_i(active_ready), .m_active_queue_o(active_queue),
        .m_active_len_o(active_len),
        .m_drop_valid_o, .m_drop_ready_i, .m_drop_desc_o,
        .ev_valid_o(ev_o.valid), .ev_reason_o(ev_o.reason), .ev_queue_o, .ev_len_o(ev_o.len), .ev_backlog_o(ev_backlog),
        .s_deq_valid_i(deq_valid), .s_deq_queue_i(deq_queue), .s_deq_take_i(deq_take),
        .m_deq_valid_o(ret_valid), .m_deq_queue_o(ret_queue), .m_deq_desc_o(ret_desc), .m_deq_len_o(ret_len),
        .m_deq_backlogged_o(ret_backlogged), .m_deq_left_o(ret_left), .m_deq_head_o(ret_head),
        .s_look_valid_i, .s_look_ready_o, .s_look_queue_i,
        .m_head_o(head), .m_look_o(look),
        .s_cfg_i(limit_cfg), .s_cfg_queue_i, .cfg_old_o(s_cfg_o.old),
        .init_done_o(queue_init_done)
    );

    assign deq_ready      = 1'b1;
    assign ret_state      = ret_queue;
    assign ret_empties    = !ret_backlogged;
    assign ev_o.page      = '0;
    assign look_quantum   = '0;
    assign look_sides     = '0;
    assign flow_packets_o = '0;

    logic unused_flows;
    assign unused_flows = ^{s_enq_i.hashes, s_cfg_i.quantum, s_cfg_i.sides, flow_limit_i};
  end else begin : g_flows
    logic verdict_valid_q, verdict_drop_q, ret_more;
    pst_fq_ports_pkg::look_t flow_look;

    // What was taken is sent: known with the answer, said one cycle later. An AQM says it when it knows.
    always_ff @(posedge clk_i) begin
      verdict_valid_q <= ret_valid && !rst_i;
      verdict_drop_q  <= 1'b0;
    end

    pst_access_edge_flows #(
        .Queues(Queues), .Descriptors(Descriptors), .Flows(Flows), .Lanes(FlowLanes), .AgeCycles(FlowAgeCycles),
        .HostBits(FlowHostBits), .Quantum(MaxPacketBytes), .QueueRamStyle(QueueRamStyle), .DescRamStyle(DescRamStyle)
    ) u_flows (
        .clk_i, .rst_i,
        .s_enq_valid_i(enq_valid), .s_enq_ready_o(enq_ready), .s_enq_queue_i(enq_queue), .s_enq_hashes_i(s_enq_i.hashes),
        .s_enq_desc_i(enq_desc), .s_enq_len_i(enq_len), .s_enq_reason_i(enq_reason),
        .m_active_valid_o(active_valid), .m_active_ready_i(active_ready), .m_active_queue_o(active_queue),
        .m_drop_valid_o, .m_drop_ready_i, .m_drop_desc_o,
        .ev_o, .ev_queue_o,
        .deq_ready_o(deq_ready), .s_deq_valid_i(deq_valid), .s_deq_queue_i(deq_queue), .s_deq_take_i(deq_take),
        .m_ret_valid_o(ret_valid), .m_ret_queue_o(ret_queue), .m_ret_flow_o(ret_state), .m_ret_desc_o(ret_desc), .m_ret_len_o(ret_len),
        .m_ret_more_o(ret_more), .m_ret_left_o(ret_left),
        .s_verdict_i(Aqm != 0 ? {judged_valid, judged_drop} : {verdict_valid_q, verdict_drop_q}),
        .s_cfg_i('{
            valid: cfg_take, quantum: s_cfg_i.quantum, sides: s_cfg_i.sides, limit_packets: s_cfg_i.limit_packets,
            limit_bytes: s_cfg_i.limit_bytes
        }),
        .s_cfg_queue_i, .s_look_valid_i, .s_look_ready_o, .s_look_queue_i, .m_look_o(flow_look),
        .pool_limit_i(flow_limit_i), .pool_packets_o(flow_packets_o),
        .init_done_o(queue_init_done)
    );

    // A queue that has sent its packet is idle until the next one is announced.
    assign ret_backlogged = 1'b0;
    assign ret_empties    = !ret_more;
    assign active_len     = '0;
    assign ev_backlog     = '0;
    assign ret_head       = '0;
    assign head           = '{valid: flow_look.valid, empty: 1'b1, known: 1'b1, default: '0};
    assign look           = '{
        valid: flow_look.valid, packets: flow_look.packets, bytes: flow_look.bytes, limit_packets: flow_look.limit_packets,
        limit_bytes: flow_look.limit_bytes
    };
    assign look_quantum   = flow_look.quantum;
    assign look_sides     = flow_look.sides;
    assign s_cfg_o.old    = '0;

    logic unused_limits;
    assign unused_limits = ^limit_cfg;
  end

  // A look comes by where dequeues do: the time stamp of a head is read as if it had been taken.
  localparam bit Stamps = Aqm != 0 && !AqmEstimate;

  always_ff @(posedge clk_i) begin
    head_empty_q <= {head_empty_q[0], head.empty};
    head_known_q <= {head_known_q[0], head.known};
    look_q       <= look;
    look_q.valid <= look.valid && !rst_i;
    look_quantum_q <= look_quantum;
    look_sides_q   <= look_sides;
  end

  assign now_o = 32'(now);

  logic unused_now;
  assign unused_now = ^now;

  assign m_look_o = '{
      valid: look_q.valid, packets: look_q.packets, bytes: look_q.bytes, age: Stamps && !head_empty_q[1] ? age : '0,
      age_known: !Stamps || head_known_q[1], limit_packets: look_q.limit_packets, limit_bytes: look_q.limit_bytes,
      quantum: look_quantum_q, sides: look_sides_q
  };

  pst_schedule #(
      .Queues(Queues), .Shaping(Shaping), .OwnScheduler(OwnScheduler), .ToleranceCycles(ToleranceCycles), .Credits(Credits),
      .TimeWidth(TimeWidth), .VerdictStages(VerdictStages), .Hierarchy(Hierarchy), .DoneDepth(DoneCredits),
      .SettingProfiles(SettingProfiles), .QueueRamStyle(QueueRamStyle)
  ) u_schedule (
      .clk_i, .rst_i,
      .s_active_valid_i(active_valid), .s_active_ready_o(active_ready), .s_active_queue_i(active_queue),
      .s_active_len_i(active_len),
      .s_enq_valid_i(ev_o.valid && ev_o.reason == DropNone), .s_enq_queue_i(ev_queue_o), .s_enq_len_i(ev_o.len),
      .s_enq_backlog_i(ev_backlog),
      .m_deq_valid_o(deq_valid), .m_deq_queue_o(deq_queue), .m_deq_take_o(deq_take),
      .deq_ready_i(deq_ready), .s_ret_valid_i(ret_valid), .s_ret_queue_i(ret_queue), .s_ret_len_i(ret_len),
      .s_ret_backlogged_i(ret_backlogged), .s_ret_left_i(ret_left), .s_ret_head_i(ret_head),
      .s_drop_i(VerdictStages == JudgedStages ? judged_drop : judged_drop_q), .m_taken_o(ret_taken), .credit_i(credit),
      .m_ahead_o(ahead), .m_ahead_queue_o(ahead_queue), .s_ahead_room_i(ahead_room),
      .s_done_valid_i(done_valid), .s_done_queue_i(done_queue), .s_done_slow_i(done_slow),
      .s_done_next_queue_i(done_next_queue), .done_credits_o(done_credits),
      .s_cfg_valid_i(s_cfg_i.valid && init_done_o && cfg_may_q), .s_cfg_ready_o(cfg_ready), .s_cfg_queue_i,
      .s_cfg_i('{shaper: s_cfg_i.shaper, profile: s_cfg_i.profile, fresh: s_cfg_i.fresh}),
      .s_look_valid_i(s_read_i.valid && s_read_i.what == SetQueue && !queue_read_q), .s_look_queue_i(s_read_id_i),
      .m_look_o({queue_read, queue_profile, queue_shaper}),
      .now_o(now), .init_done_o(schedule_init_done)
  );

  // --- read-back: of a queue the scheduler has one part, the AQM another, the hierarchy the third

  always_ff @(posedge clk_i) begin
    if (queue_read) begin
      queue_read_q   <= 1'b1;
      read_shaper_q  <= queue_shaper;
      read_profile_q <= queue_profile;
    end
    if (aqm_read) begin
      aqm_read_q <= 1'b1;
      read_aqm_q <= aqm_found;
    end
    if (hierarchy_read) begin
      hierarchy_read_q      <= 1'b1;
      m_read_parent_o       <= hierarchy_parent;
      read_class_q          <= hierarchy_class;
      read_weight_q         <= hierarchy_weight;
      read_guarantee_q      <= hierarchy_guarantee;
      if (s_read_i.what != SetQueue) read_shaper_q <= hierarchy_shaper;
    end
    if (read_valid || rst_i) begin
      queue_read_q     <= 1'b0;
      aqm_read_q       <= 1'b0;
      hierarchy_read_q <= 1'b0;
    end
  end

  assign read_valid = ((queue_read_q && aqm_read_q) || s_read_i.what != SetQueue) && (hierarchy_read_q || !Hierarchy)
                    && s_read_i.valid;

  assign m_read_o = '{
      valid: read_valid, shaper: read_shaper_q, class_: read_class_q, weight: read_weight_q, guarantee: read_guarantee_q, aqm: read_aqm_q
  };

  // --- AQM: every packet that was taken from its queue is judged before the scheduler charges it

  if (Aqm == 0) begin : g_no_aqm
    assign aqm_init_done   = 1'b1;
    assign judged_valid    = ret_valid;
    assign judged_queue    = ret_queue;
    assign judged_desc     = ret_desc;
    assign judged_len      = ret_len;
    assign judged_empties  = ret_empties;
    assign judged_drop     = 1'b0;
    assign judged_mark     = 1'b0;
    assign ev_deq_o.valid  = 1'b0;
    assign ev_deq_o.reason = DropNone;
    assign ev_deq_o.mark   = 1'b0;
    assign ev_deq_queue_o  = '0;
    assign ev_deq_o.len    = '0;
    assign ev_deq_o.page   = '0;
    assign arrive_verdict  = VerdictPass;
    assign age             = '0;
    assign aqm_read        = s_read_i.valid && !aqm_read_q;
    assign aqm_found       = '0;

    logic unused_aqm;
    assign unused_aqm = ^{enq_ecn, s_cfg_i.aqm, ret_state, ret_left, ret_taken, arrive_valid, arrive_queue, arrive_backlog, arrive_ect};
  end else begin : g_aqm
    // Of a profile the AQM's setting can be read when it is known which one the queue has.
    logic read_aqm;
    logic [SettingWidth-1:0] ret_setting, read_setting, cfg_setting;
    assign read_aqm = s_read_i.valid && s_read_i.what == SetQueue && !aqm_read_q && (SettingProfiles == 0 || queue_read_q);
    assign ret_setting  = SettingProfiles != 0 ? SettingWidth'(ret_taken.profile) : SettingWidth'(ret_queue);
    assign read_setting = SettingProfiles != 0 ? SettingWidth'(read_profile_q) : SettingWidth'(s_read_id_i);
    assign cfg_setting  = SettingProfiles != 0 ? SettingWidth'(s_cfg_i.profile) : SettingWidth'(s_cfg_queue_i);

    pst_access_edge_judge #(
        .Queues(Queues), .Descriptors(Descriptors), .Flows(Flows), .Judges(Aqm), .Estimate(AqmEstimate), .TickShift(TickShift),
        .MaxPacketBytes(MaxPacketBytes), .SettingProfiles(SettingProfiles), .QueueRamStyle(QueueRamStyle), .DescRamStyle(DescRamStyle)
    ) u_judge (
        .clk_i, .rst_i,
        .s_arrive_valid_i(arrive_valid), .s_arrive_queue_i(arrive_queue), .s_arrive_ect_i(arrive_ect),
        .s_arrive_backlog_i(arrive_backlog), .m_arrive_verdict_o(arrive_verdict),
        .s_enq_valid_i(enq_valid && enq_ready && enq_reason == DropNone), .s_enq_desc_i(enq_desc), .s_enq_ecn_i(enq_ecn),
        .s_ret_valid_i(ret_valid), .s_ret_queue_i(ret_queue), .s_ret_state_i(ret_state), .s_ret_setting_i(ret_setting),
        .s_ret_desc_i(ret_desc), .s_ret_len_i(ret_len), .s_ret_empties_i(ret_empties), .s_ret_left_i(ret_left),
        .s_ret_period_i(ret_taken.period),
        .m_judged_valid_o(judged_valid), .m_judged_queue_o(judged_queue), .m_judged_desc_o(judged_desc), .m_judged_len_o(judged_len),
        .m_judged_empties_o(judged_empties), .m_judged_drop_o(judged_drop), .m_judged_mark_o(judged_mark), .m_age_o(age),
        .s_cfg_valid_i(cfg_take), .s_cfg_queue_i, .s_cfg_setting_i(cfg_setting), .s_cfg_fresh_i(s_cfg_i.fresh), .s_cfg_aqm_i(s_cfg_i.aqm),
        .s_read_valid_i(read_aqm), .s_read_setting_i(read_setting),
        .m_read_valid_o(aqm_read), .m_read_aqm_o(aqm_found),
        .init_done_o(aqm_init_done)
    );

    assign ev_deq_o.valid  = judged_valid;
    assign ev_deq_o.reason = judged_drop ? DropAqm : DropNone;
    assign ev_deq_o.mark   = judged_mark;
    assign ev_deq_queue_o  = judged_queue;
    assign ev_deq_o.len    = judged_len;
    assign ev_deq_o.page   = Flows != 0 ? 24'(judged_desc) : '0;
  end

  always_ff @(posedge clk_i) judged_drop_q <= judged_drop && !rst_i;

  // The scheduler counts credits, so this never overflows.
  pst_fifo #(
      .Width($bits(out_t)), .Depth(Credits), .RegisterOutput(1'b1)
  ) u_out (
      .clk_i, .rst_i,
      .s_valid_i(judged_valid), .s_ready_o(unused_out_ready),
      .s_data_i({judged_drop, judged_mark, judged_queue, judged_desc, judged_len, judged_empties}),
      .m_valid_o(kept_valid), .m_ready_i(kept_ready), .m_data_o(out),
      .level_o(unused_level)
  );

  pst_hold u_hold_out (
      .clk_i, .rst_i, .hold_i,
      .s_valid_i(kept_valid), .s_ready_o(kept_ready), .m_valid_o(out_valid), .m_ready_i(out.drop ? head_ready : out_ready)
  );

  assign out_take = out_valid && (out.drop ? head_ready : out_ready);

  // --- the hierarchy above the queue

  if (!Hierarchy) begin : g_queues_alone
    assign out_ready               = m_out_ready_i;
    assign m_out_o.valid           = out_valid && !out.drop;
    assign m_out_o.mark            = out.mark;
    assign m_out_queue_o           = out.queue_id;
    assign m_out_desc_o            = out.desc;
    assign m_out_o.len             = out.len;
    assign done_valid              = 1'b0;
    assign done_queue              = '0;
    assign done_slow               = 1'b0;
    assign done_next_queue         = '0;
    assign ahead_room              = 1'b0;
    assign credit                  = out_take;
    assign s_hierarchy_cfg_ready_o = 1'b1;
    assign hierarchy_read          = 1'b0;
    assign hierarchy_shaper        = '0;
    assign hierarchy_parent        = '0;
    assign hierarchy_class         = '0;
    assign hierarchy_weight        = '0;
    assign hierarchy_guarantee     = '0;
    assign hierarchy_init_done     = 1'b1;

    logic unused_hierarchy;
    assign unused_hierarchy = ^{s_hierarchy_cfg_i.valid, s_hierarchy_cfg_i.what, s_hierarchy_cfg_id_i, s_hierarchy_cfg_i.shaper,
                                s_hierarchy_cfg_parent_i,
                           s_hierarchy_cfg_i.class_, s_hierarchy_cfg_i.weight, s_hierarchy_cfg_i.guarantee, done_credits,
                           ahead, ahead_queue, out.empties};
  end else begin : g_hierarchy
    logic packet_valid, packet_ready, packet_mark, packet_empties, sends, sends_ready;
    logic [QueueIdWidth-1:0] packet_queue;
    logic [DescIdWidth-1:0] packet_desc;
    len_t packet_len;

    // Whether the hierarchy takes a packet is known late.
    always_ff @(posedge clk_i) credit <= out_take && !rst_i;

    // A queue has one packet in the hierarchy at a time; one that was sent ahead of its being through waits here.
    pst_send_ahead #(
        .Queues(Queues), .Width(2 + DescIdWidth + LenWidth), .Depth(Credits)
    ) u_send_ahead (
        .clk_i, .rst_i,
        .s_decide_valid_i(deq_take), .s_decide_ahead_i(ahead), .s_decide_queue_i(ahead_queue), .room_o(ahead_room),
        .s_packet_valid_i(out_valid && !out.drop), .s_packet_ready_o(out_ready), .s_packet_queue_i(out.queue_id),
        .s_packet_data_i({out.mark, out.desc, out.len, out.empties}), .s_packet_gone_i(out_take && out.drop),
        .m_packet_valid_o(packet_valid), .m_packet_ready_i(packet_ready), .m_packet_queue_o(packet_queue),
        .m_packet_data_o({packet_mark, packet_desc, packet_len, packet_empties}),
        .s_done_valid_i(done_valid), .s_done_queue_i(done_queue), .s_done_next_queue_i(done_next_queue)
    );

    pst_hierarchy #(
        .Queues(Queues), .QueuesPerSubscriber(QueuesPerSubscriber), .Nodes(Nodes), .Ports(Ports), .Classes(Classes),
        .ToleranceCycles(ToleranceCycles), .PayloadWidth(1 + DescIdWidth), .DoneCredits(DoneCredits), .GuaranteeCycles(GuaranteeCycles),
        .TimeWidth(TimeWidth), .RamStyle(QueueRamStyle)
    ) u_hierarchy (
        .clk_i, .rst_i, .now_i(now),
        .s_packet_valid_i(packet_valid), .s_packet_ready_o(packet_ready), .s_packet_queue_i(packet_queue),
        .s_packet_payload_i({packet_mark, packet_desc}), .s_packet_len_i(packet_len), .s_packet_empties_i(packet_empties),
        .m_out_valid_o(sends), .m_out_ready_i(sends_ready), .m_out_queue_o, .m_out_payload_o({m_out_o.mark, m_out_desc_o}),
        .m_out_len_o(m_out_o.len),
        .m_done_valid_o(done_valid), .m_done_queue_o(done_queue), .m_done_slow_o(done_slow),
        .m_done_next_queue_o(done_next_queue), .done_credits_i(done_credits),
        .s_cfg_valid_i(s_hierarchy_cfg_i.valid), .s_cfg_ready_o(s_hierarchy_cfg_ready_o), .s_cfg_what_i(s_hierarchy_cfg_i.what),
        .s_cfg_id_i(s_hierarchy_cfg_id_i), .s_cfg_shaper_i(s_hierarchy_cfg_i.shaper), .s_cfg_parent_i(s_hierarchy_cfg_parent_i),
        .s_cfg_class_i(s_hierarchy_cfg_i.class_), .s_cfg_weight_i(s_hierarchy_cfg_i.weight),
        .s_cfg_guarantee_i(s_hierarchy_cfg_i.guarantee),
        .s_look_valid_i(s_read_i.valid && !hierarchy_read_q), .s_look_what_i(s_read_i.what), .s_look_id_i(s_read_id_i),
        .m_look_valid_o(hierarchy_read), .m_look_shaper_o(hierarchy_shaper), .m_look_parent_o(hierarchy_parent),
        .m_look_class_o(hierarchy_class), .m_look_weight_o(hierarchy_weight), .m_look_guarantee_o(hierarchy_guarantee),
        .init_done_o(hierarchy_init_done)
    );

    pst_hold u_hold_sends (
        .clk_i, .rst_i, .hold_i,
        .s_valid_i(sends), .s_ready_o(sends_ready), .m_valid_o(m_out_o.valid), .m_ready_i(m_out_ready_i)
    );
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && judged_valid) a_out_fifo_has_room : assert (unused_out_ready) else $error("output FIFO overflows");
  end
`endif

endmodule
