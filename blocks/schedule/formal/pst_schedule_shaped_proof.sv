// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_schedule_shaped with pst_shaper in it: a queue is always in exactly one place; the comparison of times modulo
// 2^TimeWidth agrees with that of the true times whatever happened before (idle times of any length, any number of wraps);
// no decision before the time or through a closed gate; a parked queue waits for a closed gate only; the first of the ready list waits two
// cycles at most for anything but the output and settings; the increments of the packets that leave in any window, the last one's not
// counted, are at most its length and the tolerance.
//
// Times of queue X, which stands for all, are followed beside the DUT with three bits more. That they stay so near to now that these never
// matter is a part of the proof, so they are true times; ages are now less such a time. The lists are any lists that keep a queue
// until they show it (pst_sched_lists.sby).
module pst_schedule_shaped_proof
  import pst_pkg::*;
#(
    parameter int unsigned TimeWidth = 16,
    parameter int unsigned WalkCycles = 16,
    parameter int unsigned ToleranceCycles = 100,
    parameter int unsigned VerdictStages = 0,            // with some, packets are dropped at will after they were taken
    parameter logic        X = 1'b0,                     // queue whose times are followed
    localparam int unsigned Queues = 2
) (
    input logic        clk_i,
    input logic        rst_i,
    input logic        active_valid_i,
    input logic        active_queue_i,
    input logic        backlogged_i,
    input len_t        len_i,
    input logic        credit_i,
    input logic        cfg_valid_i,
    input logic        cfg_queue_i,
    input shaper_cfg_t cfg_i,
    input logic        look_valid_i,
    input logic        look_queue_i,
    input logic        drop_i,           // the packet in the last stage is dropped
    input logic        pick_i            // a window of the rate begins with this packet
);

  localparam int unsigned Credits = 4;
  localparam int unsigned Last = 7 + VerdictStages;       // stage that writes the stamp: B1 is 1, R0 is 4
  localparam int unsigned AgeWidth = TimeWidth + 16 + 3;
  typedef logic signed [AgeWidth-1:0] age_t;         // 2^-16 cycles
  typedef logic [TimeWidth+15:0] stamp_t;
  typedef logic [TimeWidth-1:0] cycle_t;

  localparam age_t Cycle = age_t'(1) <<< 16;
  localparam age_t OldAge = age_t'(2 ** (TimeWidth - 3)) <<< 16;
  localparam int unsigned MaxBurst = 2 ** (TimeWidth - 4);
  localparam int unsigned Round = Queues * WalkCycles;
  // No stamp is older than this when the walk comes to it; see a_age.
  localparam int unsigned OpenDelay = Last + 2;           // of the DUT
  localparam int unsigned GateWait = 64;                  // a setting's operation is over so many cycles after it
  localparam age_t Oldest = OldAge + (age_t'(Round + 16 + GateWait) <<< 16);

  logic active_ready, active, deq_valid, deq_queue, deq_take, cfg_ready, cfg, ret, drop, sent, init_done;
  logic [31:0] unused_now;
  pst_schedule_ports_pkg::taken_t unused_taken;
  pst_schedule_ports_pkg::look_t unused_look;

  pst_schedule_shaped #(
      .Queues(Queues), .Slots(4), .SlotCycles(8), .ToleranceCycles(ToleranceCycles), .WalkCycles(WalkCycles), .TimeWidth(TimeWidth),
      .Credits(Credits), .VerdictStages(VerdictStages)
  ) u_dut (
      .clk_i, .rst_i,
      .s_active_valid_i(active_valid_i), .s_active_ready_o(active_ready), .s_active_queue_i(active_queue_i),
      .m_deq_valid_o(deq_valid), .m_deq_queue_o(deq_queue), .m_deq_take_o(deq_take),
      .s_ret_valid_i(ret), .s_ret_queue_i(u_dut.r_q[0].queue_id), .s_ret_len_i(len_i), .s_ret_backlogged_i(backlogged_i),
      .s_drop_i(drop), .m_taken_o(unused_taken), .credit_i,
      .s_cfg_valid_i(cfg_valid_i), .s_cfg_ready_o(cfg_ready), .s_cfg_queue_i(cfg_queue_i), .s_cfg_i('{shaper: cfg_i, default: '0}),
      .s_look_valid_i(look_valid_i), .s_look_queue_i(look_queue_i), .m_look_o(unused_look), .deq_ready_i(1'b1),
      .now_o(unused_now), .init_done_o(init_done)
  );

  localparam logic [2:0] Dequeue = 3'd0, Replace = 3'd1, Park = 3'd2, Walk = 3'd3, Wait = 3'd4, Gate = 3'd5;    // u_dut.op_e

  assign active = active_valid_i && active_ready;
  assign cfg    = cfg_valid_i && cfg_ready;

  // --- the pipeline as an array: stage 1 is B1, Last is the last R

  logic [Last:1] valid, queue_id, walk, gate, stale, pop;    // pop: an operation that was popped from the ready list
  logic [Last:1] frozen;                                     // it has read a frozen stamp
  logic [Last:1][2:0] op;
  logic [Last:5] left;                                 // an operation whose queue is not empty, or was not asked
  always_comb begin
    {valid[3], valid[2], valid[1]}          = {u_dut.b3_q.valid, u_dut.b2_q.valid, u_dut.b1_q.valid};
    {queue_id[3], queue_id[2], queue_id[1]} = {u_dut.b3_q.queue_id, u_dut.b2_q.queue_id, u_dut.b1_q.queue_id};
    {stale[3], stale[2], stale[1]}          = {u_dut.b3_q.stale, u_dut.b2_q.stale, u_dut.b1_q.stale};
    {op[3], op[2], op[1]}                   = {3'(u_dut.b3_q.op), 3'(u_dut.b2_q.op), 3'(u_dut.b1_q.op)};
    {frozen[3], frozen[2], frozen[1]}       = {u_dut.b3_q.frozen, u_dut.frozen_b2, u_dut.u_time.rdata_q[TimeWidth+16]};
    for (int k = 4; k <= Last; k++) begin
      valid[k]    = u_dut.r_q[k-4].valid;
      queue_id[k] = u_dut.r_q[k-4].queue_id;
      stale[k]    = u_dut.r_q[k-4].stale;
      frozen[k]   = u_dut.r_q[k-4].frozen;
      op[k]       = 3'(u_dut.r_q[k-4].op);
    end
    for (int k = 1; k <= Last; k++) begin
      walk[k] = valid[k] && op[k] == Walk;
      gate[k] = valid[k] && op[k] == Gate;
      pop[k]  = valid[k] && op[k] != Walk && op[k] != Gate;
    end
    for (int k = 5; k <= Last; k++) left[k] = op[k] != Dequeue || u_dut.backlogged_q[k-4];
  end
  assign ret  = pop[4] && op[4] == Dequeue;
  assign drop = drop_i && VerdictStages != 0 && pop[Last] && op[Last] == Dequeue;
  assign sent = pop[Last] && op[Last] == Dequeue && !drop;

  // --- the queue manager's side, the lists' side, and the picked queue

  logic seen_q, init_q;
  initial seen_q = 1'b0;
  logic [1:0] idle_q, listed_q;
  logic [2:0] downstream_q;
  logic [1:0] cleared, parked, is_frozen;
  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    init_q <= u_dut.lists_init_done;
    if (active) idle_q[active_queue_i] <= 1'b0;
    if (ret && !backlogged_i) idle_q[queue_id[4]] <= 1'b1;
    if (u_dut.u_wheel.u_lists.s_op_valid_i && u_dut.u_wheel.op_ready && !u_dut.u_wheel.u_lists.s_op_splice_i) begin
      listed_q[u_dut.u_wheel.u_lists.s_op_queue_i] <= 1'b1;
    end
    if (u_dut.ready_take) listed_q[u_dut.ready_queue] <= 1'b0;
    downstream_q <= downstream_q + 3'(deq_take) - 3'(credit_i);
    if (rst_i) begin
      idle_q       <= '1;
      listed_q     <= '0;
      downstream_q <= '0;
      init_q       <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i) begin
      // pst_sched_lists: a queue is shown only if it was placed and not popped since; the walk over the slots is short
      m_listed : assume (!u_dut.ready_valid || listed_q[u_dut.ready_queue]);
      m_lists_init : assume (u_dut.lists_init_done || (!init_q && u_dut.now_q < TimeWidth'(16)));
      m_lists_wait : assume (u_dut.lists_init_done || (!u_dut.u_wheel.op_ready && !u_dut.ready_valid));
      // pst_queue_manager: announced when it was empty; the output: no credit without a packet; software: a burst in range
      m_idle : assume (!active_valid_i || idle_q[active_queue_i]);
      m_credit : assume (!credit_i || downstream_q != '0);
      m_burst : assume (32'(cfg_i.burst) < MaxBurst);
      m_setting : assume (!cfg_valid_i || init_done);
    end
  end

  // --- one place

  logic [1:0] one_place, in_act, in_ret;
  always_comb begin
    for (int q = 0; q < 2; q++) begin
      cleared[q] = !u_dut.init || q < 32'(u_dut.init_queue);
      parked[q]  = cleared[q] && u_dut.u_parked.mem[q][0];
      is_frozen[q] = cleared[q] && u_dut.u_time.mem[q][TimeWidth+16];
    end
  end

  // Entries of the two FIFOs, counted from the head; there are never more than two queues.
  logic [1:0] act_queue, ret_queue, act_there, ret_there;
  cycle_t [1:0] act_hold, ret_hold;
  always_comb begin
    for (int k = 0; k < 2; k++) begin
      act_there[k] = 32'(u_dut.u_place_act.level_q) > k;
      ret_there[k] = 32'(u_dut.u_place_ret.level_q) > k;
      {act_queue[k], act_hold[k]} = k == 0 ? u_dut.place_act_fifo : u_dut.u_place_act.mem[u_dut.u_place_act.raddr_q];
      {ret_queue[k], ret_hold[k]} = k == 0 ? u_dut.place_ret_fifo : u_dut.u_place_ret.mem[u_dut.u_place_ret.raddr_q];
    end
  end

  always_comb begin
    for (int q = 0; q < 2; q++) begin
      logic [4:0] places;
      places = 5'(idle_q[q]) + 5'(listed_q[q]) + 5'(parked[q]);
      for (int k = 1; k < 5; k++) places += 5'(pop[k] && queue_id[k] == 1'(q));
      for (int k = 5; k <= Last; k++) places += 5'(pop[k] && queue_id[k] == 1'(q) && left[k]);
      places += 5'(u_dut.a1_valid_q && u_dut.a1_queue_q == 1'(q)) + 5'(u_dut.a2_valid_q && u_dut.a2_queue_q == 1'(q));
      places += 5'(u_dut.u_wheel.place_valid_q && u_dut.u_wheel.place_id_q == 1'(q));
      for (int k = 0; k < 2; k++) begin
        places += 5'(act_there[k] && act_queue[k] == 1'(q)) + 5'(ret_there[k] && ret_queue[k] == 1'(q));
      end
      one_place[q] = places == 5'd1;
    end
  end

  function automatic age_t whole(logic [TimeWidth-1:0] cycles);
    whole = age_t'({3'b0, cycles, 16'b0});
  endfunction

  // The last cycle of the wait for a time.
  function automatic cycle_t hold(age_t stamp);
    hold = cycle_t'((stamp - 1'b1) >> 16);
  endfunction

  // --- true times: of the stamp in the memory, of those that a popped operation and a walk carry, of the one on its way to the lists

  age_t stamp_q, pop_stamp_q, walk_stamp_q, place_stamp_q, new_stamp_q, increment_q, now, floor, base;
  age_t age, pop_age, walk_age, place_age, new_age;
  logic [2:0] wraps_q;                                    // of now_q
  logic write;
  logic [TimeWidth-1:0] tolerance_q, waited_q;            // of the operation in stage 4
  logic x_in_act, x_in_ret, x_in_path;

  // While the gate of X is closed the stamp in the memory is a distance; stamp_q is then that from which on X may be looked at. And the true
  // time of the setting, when its operation has not ended.
  age_t distance_q, gate_true_q, gate_left, gate_thawed;
  logic pop_frozen_q, gate_writes;
  logic [7:0] gate_age_q;    // cycles since the setting

  // What left in a window that began with a packet, as a time: that packet's decision less its tolerance, and all increments since.
  logic window_q, picked_q;     // the window began with the operation that has just passed stage 4
  age_t spent_q;

  assign now       = age_t'({wraps_q, u_dut.now_q, 16'b0});
  assign age       = now - stamp_q;
  assign pop_age   = now - pop_stamp_q;
  assign walk_age  = now - walk_stamp_q;
  assign place_age = now - place_stamp_q;
  assign new_age   = now - new_stamp_q;
  assign write     = u_dut.hold_we && queue_id[Last] == X;
  assign gate_writes = gate[Last] && u_dut.gate_write && queue_id[Last] == X;
  assign gate_left   = stamp_q - gate_true_q;
  assign gate_thawed = gate_true_q + distance_q;
  assign floor     = now - Cycle - whole(tolerance_q);
  assign base      = age_t'(pop_stamp_q - floor) < 0 ? floor : pop_stamp_q;

  always_ff @(posedge clk_i) begin
    if (u_dut.now_q == '1) wraps_q <= wraps_q + 1'b1;
    tolerance_q <= u_dut.tolerance_q[TimeWidth-1:0];
    if (u_dut.ready_take && u_dut.ready_queue == X) pop_stamp_q <= stamp_q;
    if (u_dut.ready_take && u_dut.ready_queue == X) pop_frozen_q <= is_frozen[X];
    if (cfg) gate_true_q <= now;
    gate_age_q <= cfg ? 8'd1 : gate_age_q + 8'(gate_age_q != '1);
    if (gate_writes) distance_q <= gate_left >= -OldAge ? gate_left : -OldAge;
    if (u_dut.walk && u_dut.walk_queue_q == X) walk_stamp_q <= stamp_q;
    // In a long pause the oldest times stop to count: less is spent then, and the claim is the stronger.
    spent_q <= spent_q + (age_t'(now - spent_q) >= 2 * Oldest ? Cycle : '0) + (write && sent ? increment_q : '0);
    if (pop[4] && op[4] == Dequeue && queue_id[4] == X) begin
      new_stamp_q <= base;
      picked_q    <= pick_i;
      if (pick_i) begin
        window_q <= 1'b1;
        spent_q  <= floor;
      end
    end
    if (pop[6] && op[6] == Dequeue && queue_id[6] == X) begin
      increment_q <= age_t'(u_dut.u_shaper.increment_q);
      new_stamp_q <= new_stamp_q + age_t'(u_dut.u_shaper.increment_q);
    end
    if (u_dut.act_take && u_dut.act_queue == X) place_stamp_q <= stamp_q;
    if (pop[Last] && queue_id[Last] == X) place_stamp_q <= sent ? new_stamp_q : pop_stamp_q;
    if (drop && queue_id[Last] == X && picked_q) window_q <= 1'b0;    // it did not leave: no window begins with it
    if (write) stamp_q <= sent ? new_stamp_q : gate_writes && !u_dut.gate_closed_q ? gate_thawed : now - OldAge;
    waited_q <= x_in_path ? waited_q + 1'b1 : '0;
    if (u_dut.init && u_dut.init_queue == X) stamp_q <= '0;
    if (rst_i) begin
      window_q <= 1'b0;
      wraps_q  <= '0;
      waited_q <= '0;
    end
  end

  assign x_in_act  = (act_there[0] && act_queue[0] == X) || (act_there[1] && act_queue[1] == X);
  assign x_in_ret  = (ret_there[0] && ret_queue[0] == X) || (ret_there[1] && ret_queue[1] == X);
  assign x_in_path = x_in_act || x_in_ret || (u_dut.a1_valid_q && u_dut.a1_queue_q == X) || (u_dut.a2_valid_q && u_dut.a2_queue_q == X);

  // Cycles until the walk comes to x, at most Round.
  logic [15:0] until_walk, ahead;
  always_comb begin
    ahead      = u_dut.walk_queue_q == X ? '0 : 16'(WalkCycles);
    until_walk = u_dut.walk_due_q ? ahead : ahead + 16'(WalkCycles) - 16'(u_dut.walk_count_q);
  end

  // Furthest stage in which an operation has the stamp in its hands, 0: none.
  logic [3:0] hands;
  logic [4:0] in_pipe, asked;
  always_comb begin
    hands   = '0;
    in_pipe = '0;
    asked   = '0;
    for (int k = 1; k <= Last; k++) begin
      if (valid[k] && queue_id[k] == X && !stale[k]) hands = 4'(k);
      in_pipe += 5'(valid[k]);
      if (k < 4 || op[k] != Dequeue) asked += 5'(pop[k]);
    end
  end

  // Settings; those that the operations in stage 1 and 2 read, and whether that in stage 3 read an open gate.
  shaper_cfg_t [1:0] cfg_q;
  shaper_cfg_t read1_q, read2_q;
  logic open3_q;
  always_ff @(posedge clk_i) begin
    if (u_dut.init) cfg_q[u_dut.init_queue] <= shaper_cfg_t'(1);
    if (cfg) cfg_q[cfg_queue_i] <= cfg_i;
    read1_q <= cfg_q[u_dut.ready_queue];
    read2_q <= read1_q;
    open3_q <= read2_q.mantissa != '0;
  end

  // A setting: it is looked up; its operation, if it has one, waits or is in the pipeline; or its gate has opened, and operations that were
  // popped so many cycles ago have seen that.
  logic [4:0] elapsed;
  logic [1:0] setting, unset, opening;    // of this queue
  logic [Last:1] parks, stays;             // an operation that has read a closed gate; one that has not
  assign setting = {u_dut.gate_busy_q && u_dut.gate_queue_q, u_dut.gate_busy_q && !u_dut.gate_queue_q};
  logic looking, acting;
  assign looking = u_dut.gate_look_q || u_dut.gate_look2_q;
  assign acting  = u_dut.gate_wait_q || u_dut.gate_pipe_q;
  assign unset  = setting & {2{looking || acting}};
  assign opening = setting & ~unset & {2{u_dut.gate_opens_q}};
  assign elapsed = 5'(OpenDelay) - u_dut.gate_count_q;

  always_comb begin
    for (int k = 1; k <= Last; k++) begin
      parks[k] = pop[k] && (k == 1 ? read1_q.mantissa == '0 || frozen[1] : k == 2 ? read2_q.mantissa == '0 || frozen[2] : op[k] == Park);
      stays[k] = pop[k] && !parks[k];
    end
  end

  // Places and gates: proved by themselves, then assumed where times are proved.
`ifdef PROVE_TIMES
`define PLACES(condition) assume (condition)
`else
`define PLACES(condition) assert (condition)
`endif

  // The ready list's first queue could have left, but for the walk; settings and their operations are left out.
  logic held, held_q;
  assign held = u_dut.ready_valid && u_dut.out_credit && !cfg && !u_dut.gate_next
      && !(u_dut.gate_done && u_dut.ready_queue == u_dut.gate_queue_q) && !u_dut.ready_take;
  always_ff @(posedge clk_i) held_q <= held && !rst_i;

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      `PLACES(!u_dut.u_wheel.u_lists.s_op_direct_i || (!u_dut.u_wheel.u_lists.s_op_wheel_i && !u_dut.u_wheel.u_lists.s_op_splice_i));
      `PLACES(!(held && held_q));
      `PLACES(one_place == '1);
      if (deq_take) `PLACES(open3_q);
      `PLACES(downstream_q <= 3'(Credits));
      for (int q = 0; q < 2; q++) begin
        `PLACES(!parked[q] || cfg_q[q].mantissa == '0 || opening[q] || (unset[q] && is_frozen[q]));
        // a stamp is frozen exactly while its gate is closed
        if (cleared[q]) `PLACES(unset[q] || is_frozen[q] == (cfg_q[q].mantissa == '0));
        if (cleared[q]) `PLACES(u_dut.u_closed.mem[q][0] == (is_frozen[q] != (acting && setting[q])));
      end

      // what the induction needs: credits and FIFOs
      `PLACES(u_dut.b3_take_q == (u_dut.b3_q.valid && u_dut.b3_q.op == Dequeue));
      // what is known when the last stage begins
      `PLACES(u_dut.last_early_q == (u_dut.last.valid && u_dut.last.op == Replace) && !u_dut.last_waits_q);
      `PLACES(u_dut.last.op != Wait || !u_dut.last.valid);
      `PLACES(!u_dut.walk_old_q || (!stale[Last] && !frozen[Last]));
      `PLACES(u_dut.last_more_q == (u_dut.last.valid && u_dut.last.op == Dequeue && u_dut.backlogged_q[Last-4]));
      `PLACES(!u_dut.init_done_q || u_dut.init_done_o);
      `PLACES(u_dut.place_credit == (u_dut.u_place_credit.count_q != '0) && u_dut.out_credit == (u_dut.u_out_credit.count_q != '0));
      `PLACES(32'(u_dut.u_place_credit.count_q) == 32 - 32'(in_pipe) - 32'(u_dut.u_place_ret.level_q)
                         - 32'(u_dut.no_place_q) - 32'(u_dut.ret_taken_q));
      `PLACES(32'(u_dut.u_out_credit.count_q) + 32'(downstream_q) + 32'(asked) == Credits);
      `PLACES(32'(u_dut.u_place_act.level_q) <= 2 && 32'(u_dut.u_place_ret.level_q) <= 2
                         && 3'(u_dut.u_place_act.waddr_q + 3'd1) == 3'(u_dut.u_place_act.raddr_q + 3'(u_dut.u_place_act.level_q))
                         && u_dut.act_fifo_valid == (u_dut.u_place_act.level_q != '0)
                         && u_dut.ret_fifo_valid == (u_dut.u_place_ret.level_q != '0)
                         && 5'(u_dut.u_place_ret.waddr_q + 5'd1) == 5'(u_dut.u_place_ret.raddr_q + 5'(u_dut.u_place_ret.level_q)));
      // without a hierarchy behind no queue waits for them
      for (int k = 1; k <= Last; k++) if (valid[k]) `PLACES(op[k] <= Gate && op[k] != Wait);
      for (int k = 1; k <= Last; k++) begin
        if (k < 3 && pop[k]) `PLACES(op[k] == Dequeue);
        // one setting at a time; its operation comes when no other one of its queue is under way
        if (gate[k]) begin
          `PLACES(u_dut.gate_pipe_q && queue_id[k] == u_dut.gate_queue_q && frozen[k] == is_frozen[queue_id[k]] && !stale[k]);
          for (int j = k + 1; j <= Last; j++) `PLACES(!gate[j] && !(valid[j] && queue_id[j] == queue_id[k]));
        end
        // what has come before it knows whether the stamp is frozen until it is over; what came behind it leaves old stamps to it
        if (pop[k] && !stale[k]) `PLACES(frozen[k] == is_frozen[queue_id[k]]);
        if (pop[k] && !stale[k]) for (int j = k + 1; j <= Last; j++) `PLACES(!(gate[j] && queue_id[j] == queue_id[k]));
        if (walk[k] && !stale[k]) begin
          for (int j = k + 1; j <= Last; j++) `PLACES(!(gate[j] && queue_id[j] == queue_id[k]));
          `PLACES(frozen[k] == is_frozen[queue_id[k]]);
        end
        if (frozen[k] && pop[k] && k > 2) `PLACES(op[k] == Park);
        // one walk at a time
        for (int j = k + 1; j <= Last; j++) `PLACES(!(walk[k] && walk[j]));
        if (walk[k]) `PLACES(32'(u_dut.walk_count_q) == k && !u_dut.walk_due_q);
      end
      if (!u_dut.init_done_o) begin
        `PLACES(valid == '0 && listed_q == '0 && idle_q == '1 && !u_dut.walk_due_q && u_dut.now_q < 32
                         && (!u_dut.init || u_dut.now_q == TimeWidth'(u_dut.init_queue)));
      end
      // what leaves empty stays idle until its stamp is written: its announcement waits
      for (int k = 5; k <= Last; k++) if (pop[k] && !left[k]) `PLACES(idle_q[queue_id[k]]);
      for (int k = 1; k <= Last; k++) for (int j = k + 1; j <= Last; j++) `PLACES(!(pop[k] && pop[j] && queue_id[k] == queue_id[j]));
      `PLACES(!u_dut.walk_due_q || u_dut.walk_count_q == '0);

      for (int k = 1; k <= Last; k++) begin
        // gates: what will park, or has parked, saw a closed gate
        if (pop[k]) begin
          if (k == 1) `PLACES(u_dut.u_cfg.g_own.u_words.rdata_q == read1_q);
          if (k == 2) `PLACES(u_dut.cfg_b2 == read2_q);
          if (k == 3 && op[3] == Dequeue) `PLACES(open3_q);
          if (parks[k]) begin
            `PLACES(cfg_q[queue_id[k]].mantissa == '0 || (unset[queue_id[k]] && is_frozen[queue_id[k]])
                               || (opening[queue_id[k]] && 32'(elapsed) + 1 < k));
          end
          if (stays[k])
            `PLACES(!is_frozen[queue_id[k]] && !(u_dut.gate_pipe_q && u_dut.gate_closed_q && queue_id[k] == u_dut.gate_queue_q));
        end
      end

      // settings and gates
      for (int q = 0; q < 2; q++) begin
        if (cleared[q]) `PLACES(u_dut.u_cfg.g_own.u_words.mem[q] == cfg_q[q] && 32'(cfg_q[q].burst) < MaxBurst);
      end
      `PLACES(!u_dut.gate_busy_q || u_dut.init_done_o);
      `PLACES($onehot0({u_dut.gate_look_q, u_dut.gate_look2_q, u_dut.gate_wait_q, u_dut.gate_pipe_q}));
      `PLACES(u_dut.gate_busy_q || !(looking || acting));
      if (u_dut.gate_look_q) `PLACES(u_dut.u_closed.rdata_q[0] == is_frozen[u_dut.gate_queue_q]);
      if (u_dut.gate_look2_q) `PLACES(u_dut.gate_was_closed == is_frozen[u_dut.gate_queue_q]);
      if (acting) `PLACES(is_frozen[u_dut.gate_queue_q] != u_dut.gate_closed_q && u_dut.gate_opens_q == !u_dut.gate_closed_q);
      `PLACES(u_dut.gate_pipe_q == (gate != '0));
      `PLACES(!u_dut.gate_busy_q || looking || acting || !u_dut.gate_opens_q || !u_dut.gate_closed_q);
      if (u_dut.gate_busy_q) begin
        `PLACES((cfg_q[u_dut.gate_queue_q].mantissa == '0) == u_dut.gate_closed_q);
        `PLACES(looking || acting ? u_dut.gate_count_q == 5'(OpenDelay)
                                          : u_dut.gate_count_q <= (u_dut.gate_opens_q ? 5'(OpenDelay) : 5'd14));
        if (!(looking || acting)) begin
          if (u_dut.gate_count_q == 5'd2 && u_dut.gate_opens_q) `PLACES(u_dut.u_parked.rdata_q[0] == parked[u_dut.gate_queue_q]);
          if (u_dut.gate_count_q == 5'd1 && u_dut.gate_opens_q) `PLACES(u_dut.parked_r == parked[u_dut.gate_queue_q]);
          if (u_dut.gate_count_q == 5'd0) `PLACES(u_dut.parked_q == (parked[u_dut.gate_queue_q] && u_dut.gate_opens_q));
        end
      end
    end
  end

`ifdef PROVE_TIMES
  // A packet of X between its decision and its stamp: the window may have begun with it.
  logic new_window;
  always_comb begin
    new_window = 1'b0;
    for (int k = 5; k <= Last; k++) if (pop[k] && op[k] == Dequeue && queue_id[k] == X) new_window = 1'b1;
  end

  // The new stamp waits for the verdict, stage by stage; of the first stage and the last it is said below.
  for (genvar k = 8; k < int'(Last); k++) begin : g_wait
    always_ff @(posedge clk_i) begin
      if (seen_q && !rst_i && pop[k] && op[k] == Dequeue && queue_id[k] == X) begin
        a_wait_stage : assert (u_dut.g_wait.time_q[k-8] == stamp_t'(new_stamp_q) && u_dut.g_wait.hold_q[k-8] == hold(new_stamp_q));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) m_prompt : assume (waited_q < TimeWidth'(2 ** (TimeWidth - 4)));
    if (seen_q && !rst_i) m_gate_prompt : assume (!acting || 32'(gate_age_q) < GateWait);
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (pop[2] && queue_id[2] == X && !pop_frozen_q) begin
        a_true_time : assert (($signed({u_dut.now_q, 16'b0} - u_dut.time_b2) < 0) == (pop_age < 0));
      end
      if (u_dut.pick_valid && u_dut.u_wheel.s_place_id_i == X) begin
        a_true_due : assert (u_dut.pick_when.due == ((x_in_path ? place_age : sent ? new_age : pop_age) >= 0));
      end
      if (deq_take && queue_id[3] == X) begin
        a_not_early : assert (pop_age >= Cycle);
        if (window_q) a_rate : assert (age_t'(now - spent_q) >= 0);
      end

      // what the induction needs: whether the stamp is old is known when the last stage begins
      if (valid[Last]) a_old : assert (u_dut.walk_old_q
          == ($signed(u_dut.cycle_q[Last-4] - (u_dut.now_q - TimeWidth'(2 ** (TimeWidth - 3)))) < 0 && !stale[Last] && !frozen[Last]));
      // where the stamps are
      if (!u_dut.init_done_o) a_no_wrap : assert (wraps_q == '0);
      if (cleared[X]) begin
        a_stamp : assert (stamp_t'(u_dut.u_time.mem[X]) == stamp_t'(is_frozen[X] ? distance_q : stamp_q)
                          && u_dut.u_hold.mem[X] == hold(stamp_q));
        if (is_frozen[X]) a_distance : assert (distance_q >= -OldAge && distance_q <= OldAge + 3 * Cycle && age >= OldAge);
        if (!u_dut.init_done_o) a_first : assert (stamp_q == '0);
        a_future : assert (age >= -OldAge);
        a_age : assert (age <= Oldest - (age_t'(until_walk) <<< 16) || (hands != '0 && age <= Oldest + (age_t'(hands) <<< 16)));
      end
      for (int k = 1; k <= Last; k++) begin
        if (pop[k] && queue_id[k] == X) begin
          a_pop_age : assert (pop_age >= -OldAge && pop_age <= Oldest + Cycle * age_t'(k + 8 + VerdictStages));
          if (!stale[k]) a_pop_older : assert (age <= pop_age);
          if (stale[k] && !(u_dut.gate_pipe_q && u_dut.gate_queue_q == X))
            a_pop_young : assert (age <= OldAge + Cycle * age_t'(32'(GateWait) + k));
          a_pop_frozen : assert (frozen[k] == pop_frozen_q);
          if (!pop_frozen_q) begin
            if (k == 1) a_pop_read : assert (stamp_t'(u_dut.u_time.rdata_q) == stamp_t'(pop_stamp_q));
            if (k == 2) a_pop_b2 : assert (u_dut.time_b2 == stamp_t'(pop_stamp_q));
            if (k == 3) a_pop_b3 : assert (u_dut.time_b3_q == stamp_t'(pop_stamp_q));
            if (k == 4) a_pop_r0 : assert (u_dut.time_r0_q == stamp_t'(pop_stamp_q));
            if (k > 4) a_pop_cycle : assert (u_dut.cycle_q[k-4] == hold(pop_stamp_q));
          end
          if (k >= 3 && op[k] == Dequeue) a_dequeue_in_time : assert (pop_age >= Cycle * age_t'(k - 2));
          if (k >= 3 && op[k] == Replace) a_replace_early : assert (pop_age < Cycle * age_t'(k - 2));
          // the new stamp
          if (k == 1) a_burst_read1 : assert (32'(read1_q.burst) < MaxBurst);
          if (k == 2) a_burst_read2 : assert (32'(read2_q.burst) < MaxBurst);
          if (k == 3) a_burst_tolerance : assert (32'(u_dut.tolerance_q) < MaxBurst);
          if (k == 4) a_burst_floor : assert (32'(tolerance_q) < MaxBurst && u_dut.floor_q == TimeWidth'(u_dut.now_q - 1'b1 - tolerance_q));
          if (k == 5 && op[5] == Dequeue) begin
            a_base : assert (u_dut.u_shaper.base_q == stamp_t'(new_stamp_q));
            a_base_age : assert (new_age >= 0 && new_age <= whole(TimeWidth'(MaxBurst + 2)));
          end
          if (k == 6 && op[6] == Dequeue) begin
            a_base2 : assert (u_dut.u_shaper.base_q2 == stamp_t'(new_stamp_q)
                && u_dut.u_shaper.base_before_q2 == stamp_t'(new_stamp_q - 1'b1));
            a_base2_age : assert (new_age >= 0 && new_age <= whole(TimeWidth'(MaxBurst + 3)));
          end
          if (k == 7 && op[7] == Dequeue)
            a_stamp_r3 : assert (u_dut.time_r3 == stamp_t'(new_stamp_q) && u_dut.hold_r3 == hold(new_stamp_q));
          if (k == Last && op[k] == Dequeue)
            a_stamp_last : assert (u_dut.time_last == stamp_t'(new_stamp_q) && u_dut.hold_last == hold(new_stamp_q));
          if (k >= 7 && op[k] == Dequeue) begin
            a_increment : assert (increment_q >= 0 && increment_q < OldAge && new_age > -OldAge
                && new_age <= whole(TimeWidth'(MaxBurst - 3 + k)));
          end
          // the window: a stamp is never before what is spent
          if (window_q) begin
            if (!pop_frozen_q) a_pop_spent : assert (age_t'(pop_stamp_q - spent_q) >= 0 || op[k] == Dequeue && k > 4 && picked_q);
            if (k > 4 && k < 7 && op[k] == Dequeue) a_new_spent : assert (age_t'(new_stamp_q - spent_q) >= 0);
            if (k >= 7 && op[k] == Dequeue) a_new_paid : assert (age_t'(new_stamp_q - spent_q) >= increment_q);
          end
        end
        if (walk[k] && queue_id[k] == X && !stale[k]) begin
          a_walk_stamp : assert (walk_stamp_q == stamp_q);
          for (int j = k + 1; j <= Last; j++) a_walk_alone : assert (!(pop[j] && queue_id[j] == X));
          if (!is_frozen[X]) begin
            if (k == 1) a_walk_read : assert (stamp_t'(u_dut.u_time.rdata_q) == stamp_t'(walk_stamp_q));
            if (k == 2) a_walk_b2 : assert (u_dut.time_b2 == stamp_t'(walk_stamp_q));
            if (k == 3) a_walk_b3 : assert (u_dut.time_b3_q == stamp_t'(walk_stamp_q));
            if (k == 4) a_walk_r0 : assert (u_dut.time_r0_q == stamp_t'(walk_stamp_q));
            if (k > 4) a_walk_cycle : assert (u_dut.cycle_q[k-4] == cycle_t'(walk_stamp_q >> 16));
          end
        end
        // a setting's operation
        if (gate[k] && queue_id[k] == X) begin
          a_gate_since : assert (32'(gate_age_q) > k);
          if (k == 1) a_gate_read : assert (stamp_t'(u_dut.u_time.rdata_q) == stamp_t'(is_frozen[X] ? distance_q : stamp_q));
          if (k == 2) a_gate_b2 : assert (u_dut.time_b2 == stamp_t'(is_frozen[X] ? distance_q : stamp_q));
          if (k == 3) a_gate_b3 : assert (u_dut.time_b3_q == stamp_t'(is_frozen[X] ? distance_q : stamp_q));
          if (k == 4) a_gate_r0 : assert (u_dut.time_r0_q == stamp_t'(is_frozen[X] ? distance_q : stamp_q));
          if (k > 4 && !is_frozen[X]) a_gate_cycle : assert (u_dut.cycle_q[k-4] == hold(stamp_q));
          if (k > 4 && is_frozen[X] != u_dut.gate_closed_q)
            a_gate_time : assert (u_dut.gate_time_q == stamp_t'(u_dut.gate_closed_q ? gate_left : gate_thawed));
          if (k > 5 && is_frozen[X] && !u_dut.gate_closed_q) a_gate_hold : assert (u_dut.gate_hold_q == hold(gate_thawed));
          if (k > 5 && !is_frozen[X] && u_dut.gate_closed_q) a_gate_old : assert (u_dut.gate_old_q == (gate_left < -OldAge));
          if (k > 5 && !u_dut.gate_closed_q) a_gate_young : assert (!u_dut.gate_old_q);
        end
      end
      if (window_q) begin
        a_window : assert (cleared[X] && age_t'(now - spent_q) < 2 * Oldest + Cycle && age_t'(now - spent_q) >= -OldAge);
        a_spent : assert (age_t'((is_frozen[X] ? now + distance_q : stamp_q) - spent_q) >= 0 || (new_window && picked_q));
      end

      // stamps on their way to the lists
      if (x_in_path) begin
        a_path : assert (place_age >= -OldAge && place_age <= Oldest + whole(waited_q) + age_t'(16 + 2 * VerdictStages) * Cycle);
      end
      if (u_dut.a1_valid_q && u_dut.a1_queue_q == X) a_a1 : assert (u_dut.u_hold.rdata_q == hold(place_stamp_q));
      if (u_dut.a2_valid_q && u_dut.a2_queue_q == X) a_a2 : assert (u_dut.act_hold == hold(place_stamp_q));
      for (int k = 0; k < 2; k++) begin
        if (act_there[k] && act_queue[k] == X) a_act_hold : assert (act_hold[k] == hold(place_stamp_q));
        if (ret_there[k] && ret_queue[k] == X) a_ret_hold : assert (ret_hold[k] == hold(place_stamp_q));
      end

      // what leaves while a gate closes was decided two cycles after the setting at most
      if (unset[X] && u_dut.gate_closed_q) begin
        if (!is_frozen[X]) a_gate_future : assert (gate_left <= OldAge + 3 * Cycle);
        for (int k = 1; k <= Last; k++) begin
          if (stays[k] && queue_id[k] == X) begin
            a_gate_last : assert (32'(gate_age_q) <= k);
            if (k > 4 && k < 7 && op[k] == Dequeue) a_gate_base : assert (age_t'(new_stamp_q - gate_true_q) <= 3 * Cycle);
            if (k >= 7 && op[k] == Dequeue) a_gate_new : assert (age_t'(new_stamp_q - gate_true_q) <= OldAge + 3 * Cycle);
          end
        end
      end

      // when the setting was
      if (looking || acting) begin
        if (window_q && unset[X] && is_frozen[X] && !u_dut.gate_closed_q) a_thaw_spent : assert (age_t'(gate_thawed - spent_q) >= 0);
        a_gate_now : assert (u_dut.gate_now_q == cycle_t'(gate_true_q >> 16) && age_t'(now - gate_true_q) == age_t'(gate_age_q) <<< 16);
        a_gate_age : assert (gate_age_q != '0);
      end

      // useful work is possible
      c_frozen : cover (u_dut.gate_write && u_dut.gate_closed_q && queue_id[Last] == X);
      c_thawed : cover (u_dut.gate_write && !u_dut.gate_closed_q && queue_id[Last] == X && gate[Last]);
      c_parked : cover (u_dut.unpark_take && u_dut.gate_queue_q == X);
      c_rate : cover (deq_take && queue_id[3] == X && window_q);
      c_meet : cover (u_dut.place_ret_any && u_dut.place_act_valid);
    end
  end
`endif

endmodule
