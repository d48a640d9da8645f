// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Scheduler with one shaper per queue: no scan, every move O(1), the same cost for one queue and for a million.
//
// A queue is in exactly one place: idle (empty), on the ready list, in a slot of the timing wheel, parked at its closed
// gate, or in flight in this pipeline. It is placed by its earliest departure time; when it is popped from the ready list
// the time is looked at again, so a slot of the wheel may be nearer than the time (the wheel's horizon) at the cost of one more visit.
//
// Throughput: one decision per cycle less the splices (Stripes of SlotCycles cycles) and one walk per WalkCycles.
// Latency:    see the README's cycle table.
// Ordering:   queues leave in the order in which they became ready.
// Reset:      forgets all queues; a walker then clears the memories (`Queues` cycles). Shapers are open and unshaped.
module pst_schedule_shaped
  import pst_pkg::len_t, pst_pkg::MantissaWidth, pst_pkg::PeriodWidth, pst_pkg::shaper_cfg_t;
#(
    parameter int unsigned Queues = 64,               // >= 2
    parameter int unsigned Slots = 256,               // slots of the wheel, power of two
    parameter int unsigned SlotCycles = 32,           // width of a slot in cycles, power of two, >= 8
    parameter int unsigned ToleranceCycles = 1024,    // cell delay variation tolerance, below 2^(TimeWidth-4) cycles
    parameter int unsigned WalkCycles = 64,           // one time stamp is looked after per so many cycles
    parameter int unsigned TimeWidth = 32,            // bits of a time in cycles, see pst_shaper
    parameter int unsigned Credits = 32,              // packets that fit downstream
    parameter int unsigned VerdictStages = 0,         // cycles after R3 in which it is known whether the packet was dropped, 0 .. 5
    parameter bit          Hierarchy = 1'b0,          // a hierarchy behind the scheduler: a queue has one packet there, and one ahead
    parameter int unsigned DoneDepth = 32,            // Hierarchy: packets through before done_credits_o says that they are forgotten
    parameter int unsigned SettingProfiles = 0,       // profiles that queues have their shapers from, see pst_ram_profiled; 0: their own
    parameter string       QueueRamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // a queue that was empty has a packet
    input  logic                    s_active_valid_i,
    output logic                    s_active_ready_o,
    input  logic [QueueIdWidth-1:0] s_active_queue_i,
    // dequeue of one packet; whether it is taken is decided two cycles later, and what was taken is answered one cycle after that
    output logic                    m_deq_valid_o,
    output logic [QueueIdWidth-1:0] m_deq_queue_o,
    output logic                    m_deq_take_o,
    input  logic                    deq_ready_i,       // one cycle later a dequeue may come
    input  logic                    s_ret_valid_i,
    input  logic [QueueIdWidth-1:0] s_ret_queue_i,
    input  len_t                    s_ret_len_i,
    input  logic                    s_ret_backlogged_i,
    // VerdictStages + 3 cycles after the answer: the packet is not to be sent. It is not charged; downstream gives its credit back
    input  logic                    s_drop_i,
    output pst_schedule_ports_pkg::taken_t m_taken_o,  // with the answer
    input  logic                    credit_i,          // a packet was taken downstream
    // Hierarchy: with m_deq_take_o, the queue has a packet in the hierarchy that this one must follow (pst_send_ahead); only if one cycle before
    // there was room for it
    output logic                    m_ahead_o,
    output logic [QueueIdWidth-1:0] m_ahead_queue_o,
    input  logic                    s_ahead_room_i,
    // Hierarchy: a queue's packet is through the hierarchy; it had to wait there
    input  logic                    s_done_valid_i,
    input  logic [QueueIdWidth-1:0] s_done_queue_i,
    input  logic                    s_done_slow_i,
    input  logic [QueueIdWidth-1:0] s_done_next_queue_i,    // s_done_queue_i of the next cycle, if s_done_valid_i then
    output logic [             1:0] done_credits_o,    // of so many of them nothing is kept any more; of at most DoneDepth there is
    // shaper of one queue
    input  logic                    s_cfg_valid_i,
    output logic                    s_cfg_ready_o,
    input  logic [QueueIdWidth-1:0] s_cfg_queue_i,
    input  pst_schedule_ports_pkg::cfg_t s_cfg_i,
    // look at a queue's shaper, held until the answer: read by the next walk, which needs no setting; at most some WalkCycles
    input  logic                    s_look_valid_i,
    input  logic [QueueIdWidth-1:0] s_look_queue_i,
    output pst_schedule_ports_pkg::look_t m_look_o,
    output logic [   TimeWidth-1:0] now_o,
    output logic                    init_done_o
);

  localparam int unsigned SlotShift = $clog2(SlotCycles);
  localparam int unsigned SlotWidth = $clog2(Slots);
  localparam int unsigned PlaceDepth = 32;                   // FIFO before the lists; bounds the decisions in flight
  localparam int unsigned Last = 3 + VerdictStages;          // R stage that writes the time stamp and places the queue again
  localparam int unsigned OpenDelay = Last + 6;              // cycles after which no decision with a frozen stamp is in flight; below 32
  // Cycles until the next setting is taken, so that packets go between them: after an operation, and after a setting without one.
  localparam int unsigned PaceDelay = 7;
  localparam int unsigned KeptDelay = 14;

  if (longint'(ToleranceCycles) >= longint'(2) ** (TimeWidth - 4)) begin : g_bad_tolerance
    $error("pst_schedule_shaped: ToleranceCycles is %0d, allowed: below 2^(TimeWidth-4)", ToleranceCycles);
  end
  if (VerdictStages > 5) begin : g_bad_stages
    $error("pst_schedule_shaped: VerdictStages is %0d, allowed: 0 .. 5", VerdictStages);
  end
  if (Slots < 2 || Slots != 2 ** SlotWidth || SlotCycles < 8 || SlotCycles != 2 ** SlotShift) begin : g_bad_wheel
    $error("pst_schedule_shaped: Slots (%0d) and SlotCycles (%0d) must be powers of two, at least 2 and 8", Slots, SlotCycles);
  end
  if (longint'(Slots) * SlotCycles >= longint'(2) ** (TimeWidth - 2) || longint'(Queues) * WalkCycles >= longint'(2) ** (TimeWidth - 3))
  begin : g_bad_time
    $error("pst_schedule_shaped: Slots * SlotCycles must stay below 2^(TimeWidth-2) and Queues * WalkCycles below 2^(TimeWidth-3) cycles");
  end

  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [TimeWidth+15:0] time_t;    // cycles, 16 bits of fraction
  typedef logic [TimeWidth-1:0] cycle_t;

  typedef enum logic [2:0] {
    OpDequeue,    // the head packet leaves
    OpReplace,    // too early: back to the wheel
    OpPark,       // the gate is closed
    OpWalk,       // refresh of an old time stamp
    OpWait,       // Hierarchy: it may not send before another packet is through the hierarchy behind
    OpGate        // the gate has closed or opened: the time stamp is frozen or thawed
  } op_e;

  // What is outstanding in the hierarchy behind: from B2 on, but for `through`.
  typedef struct packed {
    logic       through;    // a packet has got through since the look
    logic       slow;       // the last one that got through before had to wait: do not send ahead
    logic [1:0] count;      // packets outstanding at the look
    logic [2:0] state;      // for pst_outstanding
  } hierarchy_t;

  typedef struct packed {
    logic       valid;
    op_e        op;
    logic       stale;         // walk: an older operation on this queue has the time stamp in its hands; or a gate's has
    logic       frozen;        // from B2 on: its gate is closed, and the stamp is the distance to that time
    hierarchy_t hierarchy; // Hierarchy
    queue_t     queue_id;
  } op_t;

  cycle_t now_q;
  logic init;
  queue_t init_queue;
  logic lists_init_done, hierarchy_init_done, init_done_q;

  always_ff @(posedge clk_i) begin
    init_done_q <= init_done_o && !rst_i;
    now_q <= now_q + 1'b1;
    if (rst_i) begin
      now_q        <= '0;
    end
  end

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_queue));

  assign now_o = now_q;
  assign init_done_o = !init && lists_init_done && hierarchy_init_done;

  function automatic logic through(queue_t queue_id);
    through = Hierarchy && s_done_valid_i && s_done_queue_i == queue_id;
  endfunction

  // --- decision pipeline: B0 pop or walk, B1, B2 words read (by the queue manager too), B3 decided, R0 answer, R1..R3 time stamp,
  // up to R[Last] while the packet is judged elsewhere

  logic ready_valid, ready_take;
  queue_t ready_queue;
  op_t b1_q, b2_q, b2_decided, b3_q, last;
  logic b3_take_q;                                    // b3_q takes a packet
  op_t [Last:0] r_q;
  hierarchy_t b2_hierarchy;
  shaper_cfg_t cfg_b2;
  logic [15:0] profile_b1;
  logic [3:1][15:0] profile_q;                        // of b2_q, b3_q and r_q[0]
  logic [PeriodWidth-1:0] period_b3_q, period_r0_q;   // exponent, mantissa
  logic [27:0] tolerance_q;                           // at B3
  cycle_t floor_q;                                    // at R0: decision less tolerance
  time_t time_b2, time_b3_q, time_r0_q, time_r3, time_last;
  // What is left of the stamp after R0: a walk looks at its cycle, a queue that is too early is placed by the last cycle of its wait.
  cycle_t [Last:1] cycle_q;
  cycle_t hold_r3, hold_last;
  logic [Last:1] backlogged_q;

  logic walk_due_q, walk, walk_stale, may_pop;
  queue_t walk_queue_q;
  logic [$clog2(WalkCycles)-1:0] walk_count_q;
  logic place_credit, out_credit;                     // a free place in the return FIFO less the operations in flight; one downstream
  logic cfg_take;
  logic gate_next, gate_op, gate_hazard;    // a gate's operation may start, starts, would come too early
  logic gate_wait_q, gate_pipe_q, gate_done;    // it waits, is in the pipeline, ends
  queue_t gate_queue_q;
  logic frozen_b2;
  logic hierarchy_slow, again_valid, again_take;
  logic [1:0] hierarchy_count;
  logic [2:0] hierarchy_state;
  queue_t again_queue;

  // The walk goes first, at its fixed share, then a gate's operation. A pop waits while a walk writes a time stamp, that operation writes
  // its queue's, or a setting is written: it might read that very word, which the memories do not define.
  assign may_pop    = ready_valid && !walk_due_q && !gate_next && out_credit && deq_ready_i && !(last.valid && last.op == OpWalk)
      && !(gate_done && ready_queue == gate_queue_q) && !cfg_take;
  assign gate_op    = place_credit && !walk_due_q && gate_next;
  assign walk       = place_credit && walk_due_q;
  assign ready_take = place_credit && may_pop;

  always_comb begin
    walk_stale = 1'b0;
    if (b1_q.valid && b1_q.queue_id == walk_queue_q) walk_stale = 1'b1;
    if (b2_q.valid && b2_q.queue_id == walk_queue_q) walk_stale = 1'b1;
    if (b3_q.valid && b3_q.queue_id == walk_queue_q) walk_stale = 1'b1;
    for (int k = 0; k <= int'(Last); k++) begin
      if (r_q[k].valid && r_q[k].queue_id == walk_queue_q) walk_stale = 1'b1;
    end
  end

  // A gate's operation waits until no other one on its queue is under way.
  always_comb begin
    gate_hazard = 1'b0;
    if (b1_q.valid && b1_q.queue_id == gate_queue_q) gate_hazard = 1'b1;
    if (b2_q.valid && b2_q.queue_id == gate_queue_q) gate_hazard = 1'b1;
    if (b3_q.valid && b3_q.queue_id == gate_queue_q) gate_hazard = 1'b1;
    for (int k = 0; k <= int'(Last); k++) begin
      if (r_q[k].valid && r_q[k].queue_id == gate_queue_q) gate_hazard = 1'b1;
    end
  end

  always_comb begin
    b2_decided = b2_q;
    b2_decided.frozen = frozen_b2;
    if (b2_q.op == OpDequeue) begin
      if (cfg_b2.mantissa == '0 || frozen_b2) b2_decided.op = OpPark;
      else if ($signed({now_q, 16'b0} - time_b2) < 0) b2_decided.op = OpReplace;
      else if (b2_hierarchy.count != '0 && (b2_hierarchy.count != 2'd1 || b2_hierarchy.slow || !s_ahead_room_i)) b2_decided.op = OpWait;
    end
    b2_decided.hierarchy = b2_hierarchy;
  end

  // Packets that get through are watched from the cycle after the look on; those of B1 come off the count.
  always_comb begin
    b2_hierarchy = '0;
    if (Hierarchy) begin
      b2_hierarchy.slow    = hierarchy_slow;
      b2_hierarchy.count   = hierarchy_count - 2'(b2_q.hierarchy.through);
      b2_hierarchy.state   = hierarchy_state;
      b2_hierarchy.through = through(b2_q.queue_id);
    end
  end

  always_ff @(posedge clk_i) begin
    walk_count_q <= walk_count_q + 1'b1;
    if (walk_count_q == $bits(walk_count_q)'(WalkCycles - 1)) begin
      walk_count_q <= '0;
      walk_due_q   <= init_done_o;
    end
    if (walk) begin
      walk_due_q   <= 1'b0;
      walk_queue_q <= walk_queue_q == queue_t'(Queues - 1) ? '0 : walk_queue_q + 1'b1;
    end

    b1_q <= '{
        valid: ready_take || walk || gate_op,
        op: walk ? OpWalk : gate_op ? OpGate : OpDequeue,
        stale: walk ? walk_stale : gate_pipe_q && ready_queue == gate_queue_q,
        frozen: 1'b0,
        hierarchy: '0,
        queue_id: walk ? walk_queue_q : gate_op ? gate_queue_q : ready_queue
    };
    b2_q <= b1_q;
    b3_q <= b2_decided;
    b3_take_q <= b2_q.valid && b2_decided.op == OpDequeue && !rst_i;
    r_q[0] <= b3_q;
    b2_q.hierarchy.through   <= through(b1_q.queue_id);
    r_q[0].hierarchy.through <= b3_q.hierarchy.through || through(b3_q.queue_id);
    time_b3_q  <= time_b2;
    time_r0_q  <= time_b3_q;
    cycle_q[1] <= r_q[0].op == OpWalk ? time_r0_q[TimeWidth+15:16] : cycle_t'((time_r0_q - 1'b1) >> 16);
    backlogged_q[1] <= s_ret_backlogged_i;
    for (int k = 1; k <= int'(Last); k++) begin
      r_q[k] <= r_q[k-1];
      r_q[k].hierarchy.through <= r_q[k-1].hierarchy.through || through(r_q[k-1].queue_id);
    end
    for (int k = 2; k <= int'(Last); k++) begin
      cycle_q[k]      <= cycle_q[k-1];
      backlogged_q[k] <= backlogged_q[k-1];
    end
    period_b3_q     <= {cfg_b2.exponent, cfg_b2.mantissa};
    period_r0_q     <= period_b3_q;
    tolerance_q     <= cfg_b2.burst > 28'(ToleranceCycles) ? cfg_b2.burst : 28'(ToleranceCycles);
    floor_q         <= now_q - cycle_t'(tolerance_q);

    if (rst_i) begin
      walk_count_q <= '0;
      walk_due_q   <= 1'b0;
      walk_queue_q <= '0;
      b1_q.valid   <= 1'b0;
      b2_q.valid   <= 1'b0;
      b3_q.valid   <= 1'b0;
      for (int k = 0; k <= int'(Last); k++) r_q[k].valid <= 1'b0;
    end
  end

  // --- the profile goes along with a packet that is taken: with the answer it is the one that the queue has in that cycle

  function automatic logic [15:0] profile_now(logic [15:0] profile, queue_t queue_id);
    profile_now = SettingProfiles != 0 && cfg_take && s_cfg_queue_i == queue_id ? s_cfg_i.profile : profile;
  endfunction

  always_ff @(posedge clk_i) begin
    profile_q[1] <= profile_now(profile_b1, b1_q.queue_id);
    profile_q[2] <= profile_now(profile_q[1], b2_q.queue_id);
    profile_q[3] <= profile_now(profile_q[2], b3_q.queue_id);
  end

  assign m_deq_valid_o = b1_q.valid && b1_q.op == OpDequeue;
  assign m_deq_queue_o = b1_q.queue_id;
  assign m_deq_take_o  = b3_take_q;
  assign m_ahead_o       = b3_q.hierarchy.count != '0 && !b3_q.hierarchy.through;
  assign m_ahead_queue_o = b3_q.queue_id;
  assign m_taken_o     = '{profile: profile_now(profile_q[3], r_q[0].queue_id), period: period_r0_q};
  assign last          = r_q[Last];

  pst_shaper #(
      .TimeWidth(TimeWidth)
  ) u_shaper (
      .clk_i,
      .time_i(time_r0_q), .floor_i(floor_q), .len_i(s_ret_len_i), .mantissa_i(period_r0_q[MantissaWidth-1:0]),
      .exponent_i(period_r0_q[PeriodWidth-1:MantissaWidth]),
      .time_o(time_r3), .hold_o(hold_r3)
  );

  if (VerdictStages == 0) begin : g_at_once
    assign time_last = time_r3;
    assign hold_last = hold_r3;
  end else begin : g_wait
    time_t [VerdictStages-1:0] time_q;
    cycle_t [VerdictStages-1:0] hold_q;
    always_ff @(posedge clk_i) begin
      time_q[0] <= time_r3;
      hold_q[0] <= hold_r3;
      for (int k = 1; k < int'(VerdictStages); k++) begin
        time_q[k] <= time_q[k-1];
        hold_q[k] <= hold_q[k-1];
      end
    end
    assign time_last = time_q[VerdictStages-1];
    assign hold_last = hold_q[VerdictStages-1];
  end

  // --- R[Last]: write the time stamp, place the queue again

  // A walk replaces stamps older than every burst by one that is exactly that old: nothing changes but the wrap-around is put off. So do
  // parking, waiting, a drop and a gate's operation, for a walk that meets the queue on its way here leaves the stamp to them. Of a frozen
  // stamp, which does not get old, they keep the last cycle of the wait in the past.
  localparam cycle_t OldAge = cycle_t'(1) << (TimeWidth - 3);
  logic walk_old_q, time_we, hold_we, no_place, no_place_q, ret_taken_q, place_ret_valid, place_ret_take, out_credit_back;
  logic sent, dropped;    // the packet was taken from its queue: it is charged, or not
  logic wants, ahead_next;
  // Known when the last stage begins: its stamp is old; it was too early; it waits for a packet to get through; it took a packet and there
  // are more.
  logic last_early_q, last_waits_q, last_more_q;
  logic last_done_q, last_through;    // last's queue is s_done_queue_i; a packet of its is through just now
  time_t time_wdata;
  cycle_t hold_wdata;

  // A gate's operation: the stamp as the distance to the cycle in which the setting was taken, or as a time again.
  logic gate_closed_q, gate_old_q, gate_write;
  cycle_t gate_now_q, gate_hold_q;
  time_t gate_time_q;

  always_ff @(posedge clk_i) begin
    if (r_q[0].valid && r_q[0].op == OpGate)
      gate_time_q <= gate_closed_q ? time_r0_q - {gate_now_q, 16'b0} : time_r0_q + {gate_now_q, 16'b0};
    if (r_q[1].valid && r_q[1].op == OpGate) begin
      gate_hold_q <= cycle_t'((gate_time_q - 1'b1) >> 16);
      gate_old_q  <= gate_closed_q && $signed(gate_time_q[TimeWidth+15:16] + OldAge) < 0;
    end
  end

  always_comb begin
    sent       = last.op == OpDequeue && !s_drop_i;
    dropped    = last.op == OpDequeue && s_drop_i;
    gate_write = last.op == OpGate;
    time_we    = last.valid
                 && (sent || gate_write || (last.op != OpDequeue && last.op != OpReplace && walk_old_q) || (dropped && walk_old_q));
    hold_we    = time_we || (last.valid && last.frozen && !last.stale);
    time_wdata = sent ? time_last : !gate_write ? {now_q - OldAge, 16'b0} : gate_old_q ? {-OldAge, 16'b0} : gate_time_q;
    hold_wdata = sent ? hold_last : gate_write && !gate_closed_q ? gate_hold_q : now_q - OldAge - 1'b1;
    // A queue is placed again if it may send its next packet ahead when it comes (the one before this is through by then, if there is
    // one); else it waits until one is through, unless that is just happening.
    ahead_next   = !last.hierarchy.slow && s_ahead_room_i;
    last_through = s_done_valid_i && last_done_q;
    wants        = Hierarchy && !last_through && ((last_waits_q && !last.hierarchy.through) || (last_more_q && !s_drop_i && !ahead_next));
    place_ret_valid = last_early_q || (last_waits_q && (last_through || last.hierarchy.through))
        || (last_more_q && (!Hierarchy || last_through || s_drop_i || ahead_next));
    no_place     = last.valid && !place_ret_valid;
    out_credit_back = last.valid && (last.op == OpReplace || last.op == OpPark || last.op == OpWait);
  end

  always_ff @(posedge clk_i) begin
    last_early_q <= !rst_i && r_q[Last-1].valid && r_q[Last-1].op == OpReplace;
    last_waits_q <= !rst_i && r_q[Last-1].valid && r_q[Last-1].op == OpWait;
    last_more_q  <= !rst_i && r_q[Last-1].valid && r_q[Last-1].op == OpDequeue && backlogged_q[Last-1];
    last_done_q  <= Hierarchy && s_done_next_queue_i == r_q[Last-1].queue_id;
    // At now_q + 1: ~now_q = -(now_q + 1).
    walk_old_q   <= $signed(cycle_q[Last-1] + OldAge + ~now_q) < 0 && !r_q[Last-1].stale && !r_q[Last-1].frozen;
    // Places come back a cycle later: that none is needed is known late.
    no_place_q   <= !rst_i && no_place;
    ret_taken_q  <= !rst_i && place_ret_take;
  end

  pst_credits #(
      .Credits(PlaceDepth)
  ) u_place_credit (
      .clk_i, .rst_i, .take_i(place_credit && (may_pop || gate_next || walk_due_q)),
      .give_i(2'(no_place_q) + 2'(ret_taken_q)), .any_o(place_credit)
  );

  pst_credits #(
      .Credits(Credits)
  ) u_out_credit (
      .clk_i, .rst_i, .take_i(ready_take), .give_i(2'(out_credit_back) + 2'(credit_i)), .any_o(out_credit)
  );

  pst_ram_1r1w #(
      .Width(1 + $bits(time_t)), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
  ) u_time (
      .clk_i,
      .we_i(init || time_we), .waddr_i(init ? init_queue : last.queue_id), .wdata_i(init ? '0 : {gate_write && gate_closed_q, time_wdata}),
      .re_i(1'b1), .raddr_i(walk ? walk_queue_q : gate_next ? gate_queue_q : ready_queue), .rdata_o({frozen_b2, time_b2})
  );

  pst_ram_profiled #(
      .Width($bits(shaper_cfg_t)), .Depth(Queues), .Profiles(SettingProfiles), .Style(QueueRamStyle)
  ) u_cfg (
      .clk_i,
      .we_i(init || cfg_take), .waddr_i(init ? init_queue : s_cfg_queue_i),
      .profile_i(init ? '0 : s_cfg_i.profile), .fresh_i(init || s_cfg_i.fresh),
      .wdata_i(init ? shaper_cfg_t'(1) : s_cfg_i.shaper),
      .raddr_i(walk ? s_look_queue_i : ready_queue), .profile_o(profile_b1), .rdata_o(cfg_b2)
  );

  logic look1_q, look2_q;
  logic [15:0] look_profile_q;

  always_ff @(posedge clk_i) begin
    look1_q <= walk && s_look_valid_i && !cfg_take && !rst_i;
    look2_q <= look1_q && !rst_i;
    look_profile_q <= profile_b1;
  end

  assign m_look_o = '{valid: look2_q, profile: look_profile_q, shaper: cfg_b2};

  // --- settings: an operation freezes the stamp of a gate that has closed, and thaws that of one that has opened; others want none. When no
  // decision with the frozen stamp can be in flight any more, a parked queue becomes active again.

  logic gate_busy_q, gate_opens_q, parked_r, parked_q, unpark, unpark_take, park;
  logic gate_look_q, gate_look2_q, gate_was_closed;    // which it is, is looked up
  logic [4:0] gate_count_q;    // after the operation

  assign park   = last.valid && last.op == OpPark;
  assign unpark = gate_busy_q && gate_count_q == '0 && parked_q;
  assign cfg_take = s_cfg_valid_i && s_cfg_ready_o;
  assign s_cfg_ready_o = !gate_busy_q && init_done_q;
  assign gate_done = last.valid && last.op == OpGate;
  assign gate_next = gate_wait_q && !gate_hazard;

  always_ff @(posedge clk_i) begin
    if (!gate_busy_q) begin
      gate_busy_q   <= cfg_take;
      gate_look_q   <= cfg_take;
      gate_queue_q  <= s_cfg_queue_i;
      gate_closed_q <= s_cfg_i.shaper.mantissa == '0;
      gate_now_q    <= now_q;
      gate_count_q  <= 5'(OpenDelay);
    end else if (gate_look_q) begin
      gate_look_q  <= 1'b0;
      gate_look2_q <= 1'b1;
    end else if (gate_look2_q) begin
      gate_look2_q <= 1'b0;
      gate_wait_q  <= gate_was_closed != gate_closed_q;
      gate_opens_q <= gate_was_closed && !gate_closed_q;
      gate_count_q <= gate_was_closed != gate_closed_q ? 5'(OpenDelay) : 5'(KeptDelay);
    end else if (gate_wait_q) begin
      gate_wait_q <= !gate_op;
      gate_pipe_q <= gate_op;
    end else if (gate_pipe_q) begin
      gate_pipe_q  <= !gate_done;
      gate_count_q <= gate_done && !gate_opens_q ? 5'(PaceDelay) : 5'(OpenDelay);
    end else if (gate_count_q != '0) begin
      gate_count_q <= gate_count_q - 1'b1;
      parked_q     <= parked_r && gate_opens_q;    // read at count 3
    end else if (!parked_q || unpark_take) begin
      gate_busy_q <= 1'b0;
    end
    if (rst_i) begin
      gate_busy_q  <= 1'b0;
      gate_look_q  <= 1'b0;
      gate_look2_q <= 1'b0;
      gate_wait_q  <= 1'b0;
      gate_pipe_q  <= 1'b0;
    end
  end

  pst_ram_1r1w #(
      .Width(1), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
  ) u_closed (
      .clk_i,
      .we_i(init || gate_look2_q), .waddr_i(init ? init_queue : gate_queue_q), .wdata_i(!init && gate_closed_q),
      .re_i(1'b1), .raddr_i(s_cfg_queue_i), .rdata_o(gate_was_closed)
  );

  pst_ram_1r1w #(
      .Width(1), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
  ) u_parked (
      .clk_i,
      .we_i(init || park || unpark_take), .waddr_i(init ? init_queue : park ? last.queue_id : gate_queue_q),
      .wdata_i(!init && park),
      .re_i(gate_count_q == 5'd3), .raddr_i(gate_queue_q), .rdata_o(parked_r)
  );

  // --- activation: until when the queue has to wait, from a memory of its own. That a stamp is before now, and which slot of the wheel
  // it is in, is known from its last waiting cycle: its fraction need not be stored here, nor carried to the wheel.

  localparam int unsigned ActiveDepth = 8;

  typedef struct packed {
    queue_t queue_id;
    cycle_t hold;
  } place_t;

  logic act_take, act_hazard, unpark_hazard, a1_valid_q, a2_valid_q;
  queue_t act_queue, a1_queue_q, a2_queue_q;
  cycle_t act_hold;
  logic [$clog2(ActiveDepth+1)-1:0] act_level;
  logic act_room_q, unused_act_ready, unused_ret_ready;
  logic place_act_valid, place_act_take;

  // The dequeue that emptied the queue may not have written its time stamp yet: wait for it. A walk or a gate's operation only must not
  // write it just now.
  always_comb begin
    act_hazard    = 1'b0;
    unpark_hazard = 1'b0;
    for (int k = 0; k <= int'(Last); k++) begin
      if (r_q[k].valid && ((r_q[k].op != OpWalk && r_q[k].op != OpGate) || k == int'(Last))) begin
        if (r_q[k].queue_id == s_active_queue_i) act_hazard = 1'b1;
        if (r_q[k].queue_id == gate_queue_q) unpark_hazard = 1'b1;
      end
    end
  end

  // Queues that were told and announced ones in turn.
  logic again, again_turn_q, again_hazard;

  // What it reads must not be what a walk or a gate's operation writes in this cycle.
  assign again_hazard     = last.valid && (last.op == OpWalk || last.op == OpGate) && last.queue_id == again_queue;
  assign again            = again_valid && (again_turn_q || !s_active_valid_i);
  assign act_queue        = unpark ? gate_queue_q : again ? again_queue : s_active_queue_i;
  assign unpark_take      = unpark && act_room_q && !unpark_hazard && !park;
  assign again_take       = again && act_room_q && !unpark && !again_hazard;
  assign s_active_ready_o = act_room_q && !act_hazard && !unpark && !again && init_done_q;
  assign act_take         = unpark_take || again_take || (s_active_valid_i && s_active_ready_o);

  always_ff @(posedge clk_i) begin
    again_turn_q <= !again_take;
    a1_valid_q <= act_take;
    a1_queue_q <= act_queue;
    a2_valid_q <= a1_valid_q;
    a2_queue_q <= a1_queue_q;
    act_room_q <= int'(act_level) <= ActiveDepth - 4;    // three may be on their way
    if (rst_i) begin
      a1_valid_q <= 1'b0;
      a2_valid_q <= 1'b0;
      act_room_q <= 1'b0;
      again_turn_q <= 1'b0;
    end
  end

  pst_ram_1r1w #(
      .Width(TimeWidth), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
  ) u_hold (
      .clk_i,
      .we_i(init || hold_we), .waddr_i(init ? init_queue : last.queue_id), .wdata_i(init ? '1 : hold_wdata),
      .re_i(1'b1), .raddr_i(act_queue), .rdata_o(act_hold)
  );

  // Both FIFOs are passed by when they are empty: a queue alone comes round sooner.
  place_t place_act_fifo, place_act_a2, place_ret_fifo, place_ret_last;
  logic act_fifo_valid, ret_fifo_valid, place_ret_any, place_room, ret_turn;
  logic [$clog2(PlaceDepth+1)-1:0] unused_ret_level;

  assign place_act_valid = act_fifo_valid || a2_valid_q;
  assign place_act_a2    = {a2_queue_q, act_hold};
  assign place_ret_last  = {last.queue_id, sent ? hold_last : cycle_q[Last]};
  assign place_ret_any   = ret_fifo_valid || place_ret_valid;

  pst_fifo #(
      .Width($bits(place_t)), .Depth(ActiveDepth), .RegisterOutput(1'b1)
  ) u_place_act (
      .clk_i, .rst_i,
      .s_valid_i(a2_valid_q && (act_fifo_valid || !place_act_take)), .s_ready_o(unused_act_ready), .s_data_i(place_act_a2),
      .m_valid_o(act_fifo_valid), .m_ready_i(place_act_take), .m_data_o(place_act_fifo),
      .level_o(act_level)
  );

  pst_fifo #(
      .Width($bits(place_t)), .Depth(PlaceDepth), .RegisterOutput(1'b1)
  ) u_place_ret (
      .clk_i, .rst_i,
      .s_valid_i(place_ret_valid && (ret_fifo_valid || !ret_turn)), .s_ready_o(unused_ret_ready), .s_data_i(place_ret_last),
      .m_valid_o(ret_fifo_valid), .m_ready_i(ret_turn), .m_data_o(place_ret_fifo),
      .level_o(unused_ret_level)
  );

  // --- placing: returns and activations in turn, into the wheel

  typedef struct packed {
    logic                 due;
    logic                 beyond;
    logic [SlotWidth-1:0] slot;
  } when_t;

  logic turn_q;    // the activation goes first
  logic pick_act, pick_valid;
  queue_t act_id, ret_id;
  when_t act_when, ret_when, pick_when;
  logic [TimeWidth-SlotShift-1:0] cursor;

  // In turn; but whether a queue returns in this very cycle is known late, so an activation does not wait for that.
  assign pick_act       = place_act_valid && (turn_q || !ret_fifo_valid);
  assign pick_valid     = place_act_valid || place_ret_any;
  assign ret_turn       = place_room && !pick_act;
  assign place_act_take = pick_act && place_room;
  assign place_ret_take = place_ret_any && ret_turn;

  always_ff @(posedge clk_i) begin
    if (place_room && pick_valid) turn_q <= !pick_act;
    if (rst_i) turn_q <= 1'b0;
  end

  // Of each that may be placed it is found out side by side when its turn is: which one it is is known late.
  cycle_t [4:0] hold;
  when_t [4:0] hold_when;

  assign hold = {cycle_q[Last], hold_last, place_ret_fifo.hold, act_hold, place_act_fifo.hold};

  for (genvar k = 0; k < 5; k++) begin : g_when
    pst_wheel_when #(
        .Slots(Slots), .SlotCycles(SlotCycles), .TimeWidth(TimeWidth)
    ) u_when (
        .now_i(now_q), .cursor_i(cursor), .hold_i(hold[k]), .due_o(hold_when[k].due), .beyond_o(hold_when[k].beyond),
        .slot_o(hold_when[k].slot)
    );
  end

  assign act_when  = act_fifo_valid ? hold_when[0] : hold_when[1];
  assign ret_when  = ret_fifo_valid ? hold_when[2] : sent ? hold_when[3] : hold_when[4];
  assign pick_when = pick_act ? act_when : ret_when;
  assign act_id    = act_fifo_valid ? place_act_fifo.queue_id : a2_queue_q;
  assign ret_id    = ret_fifo_valid ? place_ret_fifo.queue_id : last.queue_id;

  pst_timing_wheel #(
      .Entries(Queues), .Slots(Slots), .SlotCycles(SlotCycles), .TimeWidth(TimeWidth), .RamStyle(QueueRamStyle)
  ) u_wheel (
      .clk_i, .rst_i, .now_slot_i(now_q[TimeWidth-1:SlotShift]), .turn_i(init_done_o), .cursor_o(cursor),
      .s_place_valid_i(pick_valid), .s_place_ready_o(place_room), .s_place_id_i(pick_act ? act_id : ret_id),
      .s_place_due_i(pick_when.due), .s_place_beyond_i(pick_when.beyond), .s_place_slot_i(pick_when.slot),
      .m_due_valid_o(ready_valid), .m_due_ready_i(ready_take), .m_due_id_o(ready_queue),
      .init_done_o(lists_init_done)
  );

  // --- a hierarchy behind the scheduler: a queue that has to wait until a packet is through comes back as an activation

  if (Hierarchy) begin : g_hierarchy
    pst_outstanding #(
        .Queues(Queues), .Depth(DoneDepth), .RamStyle(QueueRamStyle)
    ) u_outstanding (
        .clk_i, .rst_i,
        .s_look_queue_i(ready_queue), .look_count_o(hierarchy_count), .look_slow_o(hierarchy_slow), .look_state_o(hierarchy_state),
        .s_result_valid_i(last.valid && (sent || wants)), .s_result_sent_i(sent), .s_result_wants_i(wants),
        .s_result_queue_i(last.queue_id), .s_result_state_i(last.hierarchy.state),
        .s_done_valid_i, .s_done_queue_i, .s_done_slow_i, .done_credits_o,
        .m_again_valid_o(again_valid), .m_again_ready_i(again_take), .m_again_queue_o(again_queue),
        .init_done_o(hierarchy_init_done)
    );
  end else begin : g_open
    assign hierarchy_count     = '0;
    assign hierarchy_slow      = 1'b0;
    assign hierarchy_state     = '0;
    assign hierarchy_init_done = 1'b1;
    assign again_valid         = 1'b0;
    assign again_queue         = '0;
    assign done_credits_o      = 2'(s_done_valid_i);
    logic unused_hierarchy;
    assign unused_hierarchy = &{1'b0, again_take, wants, last.hierarchy, s_done_valid_i, s_done_queue_i, s_done_slow_i,
                                s_done_next_queue_i};
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_answer_in_its_cycle : assert (s_ret_valid_i == (r_q[0].valid && r_q[0].op == OpDequeue))
      else $error("the queue manager's answer does not follow the decision by one cycle");
      if (s_ret_valid_i) a_answer_of_the_queue : assert (s_ret_queue_i == r_q[0].queue_id) else $error("answer for another queue");
      if (s_drop_i) a_drop_of_what_was_taken : assert (last.valid && last.op == OpDequeue)
        else $error("a packet is dropped that was not taken");
      if (a2_valid_q) a_activation_fifo_has_room : assert (unused_act_ready) else $error("activation FIFO overflows");
      if (place_ret_valid) a_return_fifo_has_room : assert (unused_ret_ready) else $error("return FIFO overflows");
      if (s_active_valid_i) a_active_in_range : assert (int'(s_active_queue_i) < Queues) else $error("active queue out of range");
    end
  end
`endif

endmodule
