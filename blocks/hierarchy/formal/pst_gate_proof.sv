// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_gate: a packet passes exactly when it may, the parent's time has come, its gate was open when it was read and none waits; every
// packet that passes or leaves moves the newest stamp to max(stamp, floor) + its increment; a parent with waiting queues is in exactly one
// place, and parked at a closed or just opening gate only; with true times beside the hardware (as in pst_schedule_shaped_proof): comparisons
// modulo 2^TimeWidth agree with true ones, no packet leaves before the parent's time, and the increments of the packets that go on in any window,
// the last one's not counted, are at most its length and the tolerance.
//
// A parent's own clock counts the cycles in which its gate is open, from two cycles after a setting on: an operation decides by the count of four
// cycles before, when it is read. The proof of times is about gates that do not close.
//
// A parent holds back while it is less late than the code says that its last operation kept, of its setting then.
//
// Batches: a parent gets its own batch, as long as its rule, its lateness when it was looked at and its tolerance allow, and no longer; so
// no packet leaves before the parent's time within a batch either, while the parent keeps its setting.
//
// Three proofs: PROVE_PLACES asserts places and states; PROVE_TIMES takes these for granted and asserts times; with neither, the rooms of the
// FIFOs are proved, whatever is pushed. A search from reset has SINGLES: without batches it is done in seconds, not minutes.
module pst_gate_proof
  import pst_pkg::*;
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned TimeWidth = 16,
    parameter int unsigned WalkCycles = 16,
    parameter int unsigned ToleranceCycles = 100,
    parameter int unsigned MaxWaiting = 3,
    parameter int unsigned TrainLog = 2,
    parameter logic        X = 1'b0,                 // parent whose true times are followed
    localparam int unsigned Parents = 2
) (
    input logic        clk_i,
    input logic        rst_i,
    input logic        op_valid_i,
    input logic        op_walk_i,
    input logic        op_parent_i,
    input len_t        op_len_i,
    input logic        op_behind_i,      // it may not pass
    input gate_op_e    op_i,
    input logic        op_last_i,
    input logic        due_ready_i,
    input logic        cfg_valid_i,
    input logic        cfg_parent_i,
    input shaper_cfg_t cfg_i,
    input logic        look_parent_i,
    input logic        pick_i,           // a window of the rate begins with this packet
    input logic        held_i,           // what is looked at again is held: its parent waits to be woken up
    input logic        wake_valid_i,
    input logic        wake_parent_i
);

  localparam int unsigned RoomCycles = 7;    // operations come for so many cycles after room was seen
  localparam int unsigned WakeCycles = 23;   // so do wake-ups
`ifdef PROVE_PLACES
  localparam bit AnyWakes = 1'b0;
`elsif PROVE_TIMES
  localparam bit AnyWakes = 1'b0;
`else
  localparam bit AnyWakes = 1'b1;            // rooms are proved for any wake-ups
`endif
  localparam int unsigned AgeWidth = TimeWidth + 16 + 3;
  typedef logic signed [AgeWidth-1:0] age_t;    // 2^-16 cycles
  typedef logic [TimeWidth+15:0] stamp_t;
  typedef logic [TimeWidth-1:0] cycle_t;

  localparam age_t Cycle = age_t'(1) <<< 16;
  localparam age_t OldAge = age_t'(2 ** (TimeWidth - 3)) <<< 16;
  localparam int unsigned MaxBurst = 2 ** (TimeWidth - 4);
  localparam int unsigned Round = Parents * WalkCycles;
  localparam age_t Oldest = OldAge + (age_t'(Round + 16) <<< 16);

  logic pass, waits, room, due_valid, due_parent, cfg_ready, cfg, init_done;
  cycle_t now_q;
  train_t due_train;
  logic due_patient, due_holds;

  pst_gate #(
      .Parents(Parents), .MaxWaiting(MaxWaiting), .Slots(4), .SlotCycles(8), .ToleranceCycles(ToleranceCycles), .TrainLog(TrainLog),
      .Holds(1'b1), .TimeWidth(TimeWidth)
  ) u_dut (
      .clk_i, .rst_i, .now_i(now_q),
      .s_op_valid_i(op_valid_i), .s_op_walk_i(op_walk_i), .s_op_parent_i(op_parent_i), .s_op_len_i(op_len_i), .s_op_behind_i(op_behind_i),
      .s_op_i(op_i),
      .s_op_last_i(op_last_i), .pass_o(pass), .wait_o(waits), .room_o(room),
      .m_due_valid_o(due_valid), .m_due_ready_i(due_ready_i), .m_due_parent_o(due_parent),
      .m_due_train_o(due_train), .m_due_patient_o(due_patient), .m_due_holds_o(due_holds),
      .s_wake_valid_i(wake_valid_i), .s_wake_parent_i(wake_parent_i),
      .s_cfg_valid_i(cfg_valid_i), .s_cfg_ready_o(cfg_ready), .s_cfg_parent_i(cfg_parent_i), .s_cfg_shaper_i(cfg_i),
      .s_cfg_note_i(1'b0), .m_note_o(),
      .s_look_parent_i(look_parent_i), .m_look_shaper_o(), .init_done_o(init_done)
  );

  assign cfg = cfg_valid_i && cfg_ready;

  // --- operations: what they read, and in stage 4 what they are

  shaper_cfg_t [1:0] cfg_q;
  shaper_cfg_t read1_q, read2_q, read3_q, read4_q;
  logic [4:1] walk_q;
  logic [RoomCycles-1:0] room_q;    // room in the last cycles
  logic [WakeCycles-1:0] wake_room_q;
  len_t len3_q, len4_q;
  logic seen_q, op4, p4;
  initial seen_q = 1'b0;
  assign op4 = u_dut.c_valid_q[4];
  assign p4  = u_dut.c_parent_q[4];

  function automatic logic [TimeWidth+12:0] increment(len_t len, shaper_cfg_t setting);
    logic [LenWidth+15:0] product;
    logic [LenWidth+15+2**ExponentWidth-1:0] scaled;
    product   = len * setting.mantissa;
    scaled    = ($bits(scaled)'(product) << setting.exponent) >> 15;
    increment = |(scaled >> (TimeWidth + 13)) ? '1 : scaled[TimeWidth+12:0];
  endfunction

  // Bits of a product that are beyond the longest increment.
  function automatic logic [LenWidth+15:0] beyond(logic [ExponentWidth-1:0] exponent);
    for (int i = 0; i < LenWidth + 16; i++) beyond[i] = i + int'(exponent) >= TimeWidth + 13 + 15;
  endfunction

  function automatic cycle_t tolerance(shaper_cfg_t setting);
    tolerance = 32'(setting.burst) > ToleranceCycles ? setting.burst[TimeWidth-1:0] : cycle_t'(ToleranceCycles);
  endfunction

  // --- batches as they should be

  localparam int unsigned SpanWidth = 13;
  typedef logic [31:0] whole_t;    // cycles

  typedef struct packed {
    train_t               most;
    logic [SpanWidth-1:0] span;
  } rule_t;

  // More than any packet takes at the parent's rate: what 2^LenWidth byte take, less its fraction, and a cycle.
  function automatic logic [63:0] long_span(shaper_cfg_t setting);
    logic [LenWidth+16+2**ExponentWidth-1:0] product;
    product   = $bits(product)'(setting.mantissa) << LenWidth;
    long_span = 64'((product << setting.exponent) >> 31) + 1;
  endfunction

  function automatic whole_t span(shaper_cfg_t setting);
    span = whole_t'(long_span(setting));
  endfunction

  // All but the last packet of a batch of 2^result take so long at most, and no longer batch does.
  function automatic train_t longest(whole_t span, whole_t cycles);
    longest = '0;
    for (int k = 1; k <= TrainLog; k++) if ((2 ** k - 1) * span <= cycles) longest = train_t'(k);
  endfunction

  function automatic logic slow(shaper_cfg_t setting);
    slow = long_span(setting) >= 2 ** SpanWidth;
  endfunction

  function automatic rule_t rule(shaper_cfg_t setting);
    rule = '{most: slow(setting) ? '0 : longest(span(setting), whole_t'(tolerance(setting))), span: SpanWidth'(span(setting))};
  endfunction

  // --- how late a parent may get for the sake of what waits above

  localparam int unsigned HoldLeast = 11;
  typedef logic [3:0] hold_t;

  function automatic logic [27:0] made_up(shaper_cfg_t setting);
    made_up = 32'(setting.burst) > ToleranceCycles ? setting.burst : 28'(ToleranceCycles);
  endfunction

  // The code of what is made up for: its highest bit, counted from HoldLeast on.
  function automatic hold_t code_of(logic [27:0] made_up);
    code_of = '0;
    for (int b = HoldLeast; b < 28; b++) if (made_up[b]) code_of = b - int'(HoldLeast) < 15 ? hold_t'(b - int'(HoldLeast) + 1) : '1;
  endfunction

  // A parent with this code that is so late holds back: half a burst of just 2^(HoldLeast - 1 + code) cycles is more.
  function automatic logic holds(hold_t code, whole_t late);
    holds = '0;
    for (int k = 1; k < 16; k++) if (32'(code) == k) holds = 64'(late) < 64'(1) << (HoldLeast - 2 + k);
  endfunction

  // As the last operation of each parent left it; as of the look at a parent, and what was found then; what is made up for, of the last cycle.
  hold_t [1:0] code_q;
  hold_t d1_code_q, d2_code_q, d3_code_q;
  logic [27:0] made_up_q;
  logic old4;    // a walk finds a stamp old

  always_ff @(posedge clk_i) begin
    d1_code_q <= code_q[u_dut.wheel_parent];
    d2_code_q <= d1_code_q;
    d3_code_q <= d2_code_q;
    made_up_q <= u_dut.c3_made_up_q;
    if (u_dut.init) code_q[u_dut.init_parent] <= '0;
    else if (op4 && op_i != GateWalk) code_q[p4] <= code_of(made_up(read4_q));
    else if (old4) code_q[p4] <= '0;
  end

  // Settings: their rules, cycles since the last one (to 7); steady, if none came after the parent was looked at last, and none so late before
  // that the rule was an older one's.
  rule_t [1:0] rule_q;
  logic [1:0][2:0] quiet_q;
  logic [1:0] steady_q;

  always_ff @(posedge clk_i) begin
    for (int p = 0; p < 2; p++) begin
      if (quiet_q[p] != '1) quiet_q[p] <= quiet_q[p] + 1'b1;
    end
    if (u_dut.wheel_valid && u_dut.wheel_ready) steady_q[u_dut.wheel_parent] <= quiet_q[u_dut.wheel_parent] != '0;
    if (u_dut.init) rule_q[u_dut.init_parent] <= rule(shaper_cfg_t'(1));
    if (cfg) begin
      rule_q[cfg_parent_i]   <= rule(cfg_i);
      quiet_q[cfg_parent_i]  <= '0;
      steady_q[cfg_parent_i] <= 1'b0;
    end
    if (rst_i) quiet_q <= '1;
  end

  logic d3_parent_q, given_parent_q;
  logic [1:0][TrainLog:0] members_q;    // of the batch that is outside, that have left or been looked at
  train_t [1:0] granted_q;              // batches, as they were found
  logic [1:0] patient_q, holds_q;       // and whether the parent was patient then, or held back
  logic [1:0] held_q;                   // the parent waits to be woken up
  logic held4;
  train_t [1:0] told_q, told;           // batches, as users are told
  assign held4 = op4 && op_i == GateAgain && !op_last_i && held_i;

  always_comb begin
    told = told_q;
    if (u_dut.given_q) told[given_parent_q] = due_train;
  end

  always_ff @(posedge clk_i) begin
    d3_parent_q    <= u_dut.d2_parent_q;
    given_parent_q <= due_parent;
    told_q         <= told;
    if (u_dut.d3_push_q) {holds_q[d3_parent_q], patient_q[d3_parent_q], granted_q[d3_parent_q]} <= u_dut.u_train.s_data_i;
    if (op4 && (op_i == GateLeave || op_i == GateAgain) && !held4) members_q[p4] <= op_last_i ? '0 : members_q[p4] + 1'b1;
    if (held4) held_q[p4] <= 1'b1;
    if (wake_valid_i) held_q[wake_parent_i] <= 1'b0;
    if (rst_i) begin
      members_q <= '0;
      held_q    <= '0;
    end
  end

  // --- states as they should be

  stamp_t [1:0] stamp_q;
  logic [1:0][1:0] count_q;
  logic [1:0] outside_q, wheel_q;
  stamp_t floor, charged;
  logic early, shall_pass, charge, init_q, behind4_q;
  logic [TimeWidth+12:0] increment4;

`ifdef PROVE_TIMES
  assign increment4 = u_dut.c4_increment;    // times need not know how it is computed
`else
  assign increment4 = increment(len4_q, read4_q);
`endif

  // --- parents' own clocks: what they count, four cycles ahead, as they are read; and that of the operations in cycles 1 to 4

  cycle_t [1:0] count_open_q;
  logic [1:0] stands, stands_q;
  cycle_t own1_q, own2_q, own3_q, own4_q;
  logic set1_q, set2_q, set1_parent_q, set2_parent_q, set1_closed_q, set2_closed_q;

  // The clock that a memory's word is, read so many cycles ago.
  function automatic cycle_t clock(logic [TimeWidth:0] word, cycle_t ago);
    clock = word[TimeWidth] ? word[TimeWidth-1:0] : now_q + cycle_t'(4) - ago - word[TimeWidth-1:0];
  endfunction

  always_comb begin
    stands = stands_q;
    if (set2_q) stands[set2_parent_q] = set2_closed_q;
  end

  always_ff @(posedge clk_i) begin
    set1_q        <= cfg && !rst_i;
    set1_parent_q <= cfg_parent_i;
    set1_closed_q <= cfg_i.mantissa == '0;
    set2_q        <= set1_q && !rst_i;
    set2_parent_q <= set1_parent_q;
    set2_closed_q <= set1_closed_q;
    stands_q      <= stands;
    for (int p = 0; p < 2; p++) if (!stands[p]) count_open_q[p] <= count_open_q[p] + 1'b1;
    own1_q <= count_open_q[u_dut.c0_parent];
    own2_q <= own1_q;
    own3_q <= own2_q;
    own4_q <= own3_q;
    if (rst_i) begin
      stands_q     <= '0;
      count_open_q <= {2{cycle_t'(4)}};
    end
  end

  always_comb begin
    floor      = {own4_q - tolerance(read4_q), 16'b0};
    charged    = ($signed(stamp_q[p4] - floor) < 0 ? floor : stamp_q[p4]) + stamp_t'(increment4);
    early      = $signed({own4_q, 16'b0} - stamp_q[p4]) < 0;
    shall_pass = op4 && op_i == GateAsk && !early && read4_q.mantissa != '0 && count_q[p4] == '0 && !behind4_q;
    old4       = op4 && op_i == GateWalk && $signed(stamp_q[p4][TimeWidth+15:16] - (own4_q - OldAge[TimeWidth+15:16])) < 0;
    charge     = shall_pass || (op4 && op_i == GateLeave);
  end

  always_ff @(posedge clk_i) begin
    seen_q  <= 1'b1;
    now_q   <= now_q + 1'b1;
    room_q  <= {room_q[RoomCycles-2:0], room};
    wake_room_q <= {wake_room_q[WakeCycles-2:0], room};
    walk_q  <= {walk_q[3:1], op_walk_i && op_valid_i};
    read1_q <= cfg && cfg_parent_i == u_dut.c0_setting ? cfg_i : cfg_q[u_dut.c0_setting];
    read2_q <= read1_q;
    read3_q <= read2_q;
    read4_q <= read3_q;
    behind4_q <= op_behind_i;
    len3_q  <= op_len_i;
    len4_q  <= len3_q;
    init_q      <= u_dut.wheel_init_done && !rst_i;
    if (u_dut.init) cfg_q[u_dut.init_parent] <= shaper_cfg_t'(1);
    if (cfg) cfg_q[cfg_parent_i] <= cfg_i;

    if (charge) stamp_q[p4] <= charged;
    if (old4) begin
      stamp_q[p4] <= {own4_q - OldAge[TimeWidth+15:16], 16'b0};
    end
    if (op4 && op_i == GateAsk && !shall_pass) count_q[p4] <= count_q[p4] + 1'b1;
    if (op4 && op_i == GateLeave) count_q[p4] <= count_q[p4] - 1'b1;

    if (op4 && (op_i == GateLeave || op_i == GateAgain) && op_last_i) outside_q[p4] <= 1'b0;
    if (due_valid && due_ready_i) outside_q[due_parent] <= 1'b1;
    if (wake_valid_i) outside_q[wake_parent_i] <= 1'b0;
    if (u_dut.u_wheel.s_place_valid_i && u_dut.place_ready) wheel_q[u_dut.u_wheel.s_place_id_i] <= 1'b1;
    if (u_dut.wheel_valid && u_dut.wheel_ready) wheel_q[u_dut.wheel_parent] <= 1'b0;
    if (rst_i) begin
      now_q      <= '0;
      room_q     <= '0;
      wake_room_q <= '0;
      walk_q     <= '0;
      stamp_q    <= '0;
      count_q    <= '0;
      outside_q  <= '0;
      wheel_q    <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i) begin
      // pst_hierarchy: room is looked at up to six cycles before
      m_room : assume (!op_valid_i || room || room_q[RoomCycles-2:0] != '0);
      m_walk : assume (!op_walk_i || op_valid_i);
      m_op : assume (op4 ? (op_i <= GateWalk && (op_i == GateWalk) == walk_q[4]) : op_i == GateNone);
      // queues: no more than there are; what leaves, or looks again, was let go; so many as the batch is long, or fewer, and those that are
      // still to come wait
      if (op4 && op_i == GateAsk) m_most : assume (32'(count_q[p4]) < MaxWaiting);
      if (op4 && (op_i == GateLeave || op_i == GateAgain)) begin
        m_outside : assume (outside_q[p4] && !held_q[p4]);
`ifdef SINGLES
        m_single : assume (op_last_i || held_i);
`endif
        m_held : assume (!held4 || members_q[p4] == '0);
        m_train : assume (op_last_i || held4 || 32'(members_q[p4]) + 1 < 1 << told[p4]);
        m_next : assume (op_last_i || op_i == GateAgain || count_q[p4] != 2'd1);
      end
      // pst_waits_above: what is held is woken up, once
      m_wake : assume (!wake_valid_i || AnyWakes || held_q[wake_parent_i]);
      m_wake_room : assume (!wake_valid_i || room || wake_room_q[WakeCycles-2:0] != '0);
      // pst_sched_lists: only what was placed is shown; the walk over the slots is short
      m_wheel : assume (!u_dut.wheel_valid || wheel_q[u_dut.wheel_parent]);
      m_wheel_init : assume (u_dut.wheel_init_done ? 1'b1 : !u_dut.wheel_valid && !u_dut.place_ready && !init_q && now_q < cycle_t'(16));
      // software
      m_burst : assume (32'(cfg_i.burst) < MaxBurst);
`ifdef PROVE_TIMES
      m_open : assume (cfg_i.mantissa != '0);
`endif
    end
  end

  // --- places

  logic [1:0] cleared, parked, closed, opening, main_there, back_there, out_there, main_parent, back_parent, out_parent;
  logic [1:0] wake_there, wake_parent;
  logic [1:0][4:0] places;
  logic [3:0] elapsed;
  assign elapsed = 4'd8 - u_dut.open_count_q;
  assign opening = {u_dut.open_busy_q && u_dut.open_parent_q, u_dut.open_busy_q && !u_dut.open_parent_q};

  always_comb begin
    for (int k = 0; k < 2; k++) begin
      main_there[k]  = 32'(u_dut.main_level) > k;
      back_there[k]  = 32'(u_dut.back_level) > k;
      out_there[k]   = 32'(u_dut.due_level) > k;
      // the oldest word is in a register
      main_parent[k] = k == 0 ? u_dut.main_place.parent : u_dut.u_main.mem[5'(32'(u_dut.u_main.raddr_q) + k - 1)][TimeWidth];
      back_parent[k] = k == 0 ? u_dut.back_place.parent : u_dut.u_back.mem[3'(32'(u_dut.u_back.raddr_q) + k - 1)][TimeWidth];
      out_parent[k]  = u_dut.u_due.mem[3'(32'(u_dut.u_due.raddr_q) + k)];
      wake_there[k]  = 32'(u_dut.g_wake.wake_level) > k;
      wake_parent[k] = u_dut.g_wake.u_wake.mem[6'(32'(u_dut.g_wake.u_wake.raddr_q) + k)];
    end
    for (int p = 0; p < 2; p++) begin
      cleared[p] = !u_dut.init || p < 32'(u_dut.init_parent);
      parked[p]  = cleared[p] && u_dut.u_parked.mem[p][0];
      closed[p]  = cfg_q[p].mantissa == '0;
      places[p]  = 5'(parked[p]) + 5'(outside_q[p]) + 5'(wheel_q[p]) + 5'(u_dut.c5_place_q && u_dut.c_parent_q[5] == 1'(p))
          + 5'(u_dut.d1_valid_q && u_dut.d1_parent_q == 1'(p)) + 5'(u_dut.d2_valid_q && u_dut.d2_parent_q == 1'(p));
      for (int k = 0; k < 2; k++) begin
        places[p] += 5'(main_there[k] && main_parent[k] == 1'(p)) + 5'(back_there[k] && back_parent[k] == 1'(p))
            + 5'(out_there[k] && out_parent[k] == 1'(p)) + 5'(wake_there[k] && wake_parent[k] == 1'(p));
      end
    end
  end

  // --- rooms of the FIFOs

  logic [7:0] under_way;
  assign under_way = 8'(u_dut.main_level) + 8'($countones(u_dut.c_valid_q[4:1]))
      + 8'(u_dut.c5_place_q);

`ifdef PROVE_TIMES
`define PLACES(condition) assume (condition)
`else
`ifdef PROVE_PLACES
`define PLACES(condition) assert (condition)
`endif
`endif

`ifndef PLACES
  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      a_main : assert (32'(under_way) <= 22 + RoomCycles && 32'(u_dut.main_level) <= u_dut.PlaceDepth);
      if (u_dut.c5_place_q) a_main_room : assert (32'(u_dut.main_level) < u_dut.PlaceDepth);
      if (room) a_room : assert (32'(under_way) <= 22);
      for (int k = 0; k < RoomCycles; k++) if (room_q[k]) a_room_later : assert (32'(under_way) <= 23 + k);
      // so many more wake-ups than room was seen for
      a_wake : assert (32'(u_dut.g_wake.wake_level) <= 33 + WakeCycles);
      if (room) a_wake_room : assert (32'(u_dut.g_wake.wake_level) <= 33);
      for (int k = 0; k < WakeCycles; k++) if (wake_room_q[k]) a_wake_later : assert (32'(u_dut.g_wake.wake_level) <= 34 + k);
      a_wake_flag : assert (u_dut.wake_valid == (u_dut.g_wake.wake_level != '0));
      a_due : assert (32'(u_dut.due_level) + 32'(u_dut.d1_valid_q) + 32'(u_dut.d2_valid_q) <= u_dut.DueDepth);
      a_back : assert (32'(u_dut.back_level) + 32'(u_dut.d1_valid_q) + 32'(u_dut.d2_valid_q) <= u_dut.DueDepth);
      a_train : assert (8'(u_dut.unused_train_level) + 8'(u_dut.d3_push_q)
                        == 8'(u_dut.due_level) + 8'(u_dut.given_q));
      if (u_dut.d3_push_q) a_train_room : assert (u_dut.unused_train_ready && u_dut.due_level != '0);
      if (u_dut.given_q) a_train_there : assert (u_dut.unused_train_valid);
      a_train_flag : assert (u_dut.unused_train_valid == (u_dut.unused_train_level != '0));
      a_flags : assert (u_dut.main_valid == (u_dut.main_level != '0) && u_dut.back_valid == (u_dut.back_level != '0)
                        && due_valid == (u_dut.due_level != '0));
    end
  end
`else
  // Settings on their way to the rules; where the batches are that have been found, and of which parent.
  logic [1:0] ruling1, ruling2, train_parent;
  logic [2:0][3:0] train_addr;
  train_t d3_longest;
  always_comb begin
    for (int p = 0; p < 2; p++) begin
      ruling1[p] = u_dut.g_train.t1_valid_q && u_dut.g_train.t1_parent_q == 1'(p);
      ruling2[p] = u_dut.g_train.t2_valid_q && u_dut.g_train.t2_parent_q == 1'(p);
    end
    train_addr[0] = u_dut.u_train.raddr_q;
    for (int k = 1; k < 3; k++) train_addr[k] = 32'(train_addr[k-1]) == u_dut.DueDepth ? '0 : train_addr[k-1] + 1'b1;
    d3_longest   = longest(whole_t'(u_dut.g_train.d3_rule_q.span), whole_t'(u_dut.d3_late_q));
    train_parent = u_dut.given_q ? {out_parent[0], given_parent_q} : out_parent;
  end

  logic [$bits(hold_t)+TimeWidth-1:0] d1_hold;
  assign d1_hold = u_dut.u_hold.hit_q ? u_dut.u_hold.new_q : u_dut.u_hold.word;

  // A read of a state gives the newest but for what the operations ahead of it change.
  logic ahead2, ahead3;
  always_comb begin
    ahead2 = (u_dut.c_valid_q[5] && u_dut.c_parent_q[5] == u_dut.c_parent_q[2]) || (u_dut.c_valid_q[6] &&
                                                                                  u_dut.c_parent_q[6] == u_dut.c_parent_q[2]);
    ahead3 = (u_dut.c_valid_q[5] && u_dut.c_parent_q[5] == u_dut.c_parent_q[3]) || (u_dut.c_valid_q[6] &&
                                                                                  u_dut.c_parent_q[6] == u_dut.c_parent_q[3])
        || (u_dut.c_valid_q[7] && u_dut.c_parent_q[7] == u_dut.c_parent_q[3]);
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (op4) begin
        `PLACES(pass == shall_pass && waits == (op_i == GateAsk && !shall_pass));
        `PLACES(u_dut.c4_state == {stamp_q[p4], count_q[p4]});
        if (charge) `PLACES(u_dut.c4_new.stamp == charged);
      end
      for (int p = 0; p < 2; p++) begin
        `PLACES(places[p] == 5'(count_q[p] != '0));
        if (parked[p]) `PLACES(closed[p] || opening[p]);
        `PLACES(32'(count_q[p]) <= MaxWaiting);
      end
      if (u_dut.due_push) `PLACES(!u_dut.d2_closed);

`ifndef SINGLES
      // a parent's batch is the one that was found for it
      if (u_dut.given_q) `PLACES(u_dut.unused_train_valid && due_train == granted_q[given_parent_q]
                                   && due_patient == patient_q[given_parent_q] && due_holds == holds_q[given_parent_q]);
      for (int p = 0; p < 2; p++) begin
        if (outside_q[p]) `PLACES(told[p] == granted_q[p] && 32'(granted_q[p]) <= TrainLog && 32'(members_q[p]) < 1 << granted_q[p]);
        if (!outside_q[p]) `PLACES(members_q[p] == '0);
      end

      // the rule a parent is looked at by is the setting's, and long enough for each of its packets; the batch is the longest within it
      for (int p = 0; p < 2; p++) begin
        if (cleared[p]) begin
`ifdef PROVE_PLACES
          a_rule : assert (rule_q[p] == rule(cfg_q[p]));
`endif
          `PLACES(rule_q[p].most <= longest(whole_t'(rule_q[p].span), whole_t'(tolerance(cfg_q[p]))));
        end
      end
      if (op4 && !walk_q[4] && quiet_q[p4] >= 3'd3 && rule_q[p4].most != '0) `PLACES(increment4 <= {rule_q[p4].span, 16'b0});
      if (u_dut.d3_push_q && steady_q[d3_parent_q]) `PLACES(u_dut.g_train.d3_rule_q == rule_q[d3_parent_q]);
      `PLACES(u_dut.d3_train == (d3_longest < u_dut.g_train.d3_rule_q.most ? d3_longest : u_dut.g_train.d3_rule_q.most));
      `PLACES(u_dut.u_train.s_data_i == {holds(u_dut.d3_holds_q, whole_t'(u_dut.d3_whole_q)), 32'(u_dut.d3_late_q) < u_dut.PatientCycles,
                                         u_dut.d3_train});

`ifdef PROVE_PLACES
      // what a parent is held by is as its last operation found its setting, and a walk only if it found the stamp old
      if (u_dut.d3_push_q) a_code : assert (u_dut.d3_holds_q == d3_code_q);
      a_code_of : assert (u_dut.c4_holds_q == (u_dut.c_walk_q[4] ? '0 : code_of(made_up_q)));

      // what the induction needs
      if (u_dut.c_valid_q[3]) a_made_up3 : assert (u_dut.c3_made_up_q == made_up(read3_q));
      if (op4) a_made_up4 : assert (made_up_q == made_up(read4_q));
      if (u_dut.c5_hold_q) a_code5 : assert (u_dut.c_valid_q[5] && u_dut.c5_holds_q == code_q[u_dut.c_parent_q[5]]);
      for (int p = 0; p < 2; p++) begin
        if (cleared[p] && !(u_dut.c5_hold_q && u_dut.c_parent_q[5] == 1'(p))) begin
          a_code_kept : assert (u_dut.u_hold.u_ram.mem[p][TimeWidth+:$bits(hold_t)] == code_q[p]);
        end
      end
      if (u_dut.d1_valid_q) a_code1 : assert (d1_hold[TimeWidth+:$bits(hold_t)] == d1_code_q);
      if (u_dut.d2_valid_q) a_code2 : assert (u_dut.d2_holds == d2_code_q);
`endif

      // what the induction needs: rules on their way to the memory and from there, settings on their way
      for (int p = 0; p < 2; p++) begin
        `PLACES(ruling1[p] == (quiet_q[p] == 3'd0) && (ruling1[p] || ruling2[p] == (quiet_q[p] == 3'd1)));
`ifdef PROVE_PLACES
        if (ruling1[p]) begin
          a_rule_times : assert (u_dut.g_train.t1_span_q == SpanWidth'(span(cfg_q[p]))
              && 32'(u_dut.g_train.t1_late_q) == 32'(tolerance(cfg_q[p])));
          a_rule_slow : assert ((u_dut.g_train.t1_slow_q || u_dut.g_train.t1_span_q == '0) == slow(cfg_q[p]));
        end
`endif
        if (ruling2[p] && !ruling1[p]) `PLACES(u_dut.g_train.t2_rule_q == rule_q[p]);
        if (cleared[p] && !ruling1[p] && !ruling2[p]) `PLACES(u_dut.g_train.u_rule.u_ram.mem[p] == rule_q[p]);
        if (u_dut.d1_valid_q && u_dut.d1_parent_q == 1'(p) && steady_q[p]) begin
          `PLACES((u_dut.g_train.u_rule.hit_q ? u_dut.g_train.u_rule.new_q : u_dut.g_train.u_rule.word) == rule_q[p] && quiet_q[p] >= 3'd2);
        end
        if (u_dut.d2_valid_q && u_dut.d2_parent_q == 1'(p) && steady_q[p]) begin
          `PLACES(u_dut.g_train.d2_rule == rule_q[p] && quiet_q[p] >= 3'd3);
        end
        if ((outside_q[p] || (out_there[0] && out_parent[0] == 1'(p)) || (out_there[1] && out_parent[1] == 1'(p))) && steady_q[p]) begin
          `PLACES(quiet_q[p] >= 3'd4);
        end
      end
      // a walk reads the setting of any parent, for a look
      if (u_dut.c_valid_q[1] && !walk_q[1]) `PLACES(read1_q == cfg_q[u_dut.c_parent_q[1]]);
      if (u_dut.c_valid_q[2] && !walk_q[2] && quiet_q[u_dut.c_parent_q[2]] >= 3'd1) `PLACES(read2_q == cfg_q[u_dut.c_parent_q[2]]);
      if (u_dut.c_valid_q[3] && !walk_q[3] && quiet_q[u_dut.c_parent_q[3]] >= 3'd2) `PLACES(read3_q == cfg_q[u_dut.c_parent_q[3]]);
      if (op4 && !walk_q[4] && quiet_q[p4] >= 3'd3) `PLACES(read4_q == cfg_q[p4]);

      // what the induction needs: the FIFO of batches goes with that of parents
      if (u_dut.given_q) `PLACES(outside_q[given_parent_q]);
      if (u_dut.d3_push_q) `PLACES(u_dut.due_level != '0 && out_parent[1'(32'(u_dut.due_level) - 1)] == d3_parent_q);
      `PLACES(u_dut.unused_train_valid == (u_dut.unused_train_level != '0));
      `PLACES(8'(u_dut.unused_train_level) + 8'(u_dut.d3_push_q) == 8'(u_dut.due_level) + 8'(u_dut.given_q));
      `PLACES(u_dut.u_train.waddr_q == train_addr[2'(u_dut.unused_train_level)] && 32'(train_addr[0]) <= u_dut.DueDepth);
      for (int k = 0; k < 2; k++) begin
        if (32'(u_dut.unused_train_level) > k) begin
          `PLACES(u_dut.u_train.mem[train_addr[k]]
                      == {holds_q[train_parent[k]], patient_q[train_parent[k]], granted_q[train_parent[k]]}
                  && 32'(granted_q[train_parent[k]]) <= TrainLog);
        end
      end
`endif

      // what the induction needs: FIFOs
      `PLACES(u_dut.main_valid == (u_dut.main_level != '0) && u_dut.back_valid == (u_dut.back_level != '0)
              && due_valid == (u_dut.due_level != '0));
      `PLACES(u_dut.main_level <= 2 && u_dut.back_level <= 2 && u_dut.due_level <= 2 && u_dut.g_wake.wake_level <= 2);
      `PLACES(u_dut.wake_valid == (u_dut.g_wake.wake_level != '0)
              && 6'(32'(u_dut.g_wake.u_wake.raddr_q) + 32'(u_dut.g_wake.wake_level)) == u_dut.g_wake.u_wake.waddr_q);
      for (int p = 0; p < 2; p++) if (held_q[p]) `PLACES(outside_q[p] && members_q[p] == '0);
      `PLACES(5'(32'(u_dut.u_main.raddr_q) + 32'(u_dut.main_level) - 1) == u_dut.u_main.waddr_q
              && 3'(32'(u_dut.u_back.raddr_q) + 32'(u_dut.back_level) - 1) == u_dut.u_back.waddr_q
              && 3'(32'(u_dut.u_due.raddr_q) + 32'(u_dut.due_level)) == u_dut.u_due.waddr_q);

      // nothing happens before the memories are cleared
      if (!init_done) begin
        `PLACES(!u_dut.init_done_q);
        `PLACES(!u_dut.c_valid_q[1] && !u_dut.c_valid_q[2] && !u_dut.c_valid_q[3] && !op4 && !u_dut.c_valid_q[5] && !u_dut.c_valid_q[6]
                && !u_dut.c_valid_q[7]);
        `PLACES(count_q == '0 && stamp_q == '0 && !room && room_q == '0 && held_q == '0 && now_q < 32
                && !u_dut.open_busy_q && !u_dut.c5_place_q);
        `PLACES(!u_dut.init || now_q == cycle_t'(u_dut.init_parent));
        `PLACES(!u_dut.g_train.t1_valid_q && !u_dut.g_train.t2_valid_q);
      end

      // states: in the memory, or about to be written
      for (int p = 0; p < 2; p++) begin
        if (cleared[p] && !(u_dut.c_valid_q[5] && u_dut.c_parent_q[5] == 1'(p))) `PLACES(u_dut.u_state.mem[p] == {stamp_q[p], count_q[p]});
        if (cleared[p]) begin
          `PLACES(u_dut.u_cfg.u_ram.mem[p] == cfg_q[p] && u_dut.u_closed.u_ram.mem[p][0] == closed[p] && 32'(cfg_q[p].burst) < MaxBurst);
        end
      end
      if (u_dut.c_valid_q[5]) begin
        `PLACES(u_dut.c5_state_q == {stamp_q[u_dut.c_parent_q[5]], count_q[u_dut.c_parent_q[5]]});
        `PLACES(u_dut.c5_none_q == (count_q[u_dut.c_parent_q[5]] == '0));
      end
      if (u_dut.c_valid_q[6] && !(u_dut.c_valid_q[5] && u_dut.c_parent_q[5] == u_dut.c_parent_q[6])) begin
        `PLACES(u_dut.c6_state_q == {stamp_q[u_dut.c_parent_q[6]], count_q[u_dut.c_parent_q[6]]});
        `PLACES(u_dut.c6_none_q == (count_q[u_dut.c_parent_q[6]] == '0));
      end
      if (u_dut.c_valid_q[7] && !(u_dut.c_valid_q[5] && u_dut.c_parent_q[5] == u_dut.c_parent_q[7])
          && !(u_dut.c_valid_q[6] && u_dut.c_parent_q[6] == u_dut.c_parent_q[7])) begin
        `PLACES(u_dut.c7_state_q == {stamp_q[u_dut.c_parent_q[7]], count_q[u_dut.c_parent_q[7]]});
        `PLACES(u_dut.c7_none_q == (count_q[u_dut.c_parent_q[7]] == '0));
      end
      `PLACES(!u_dut.c5_place_q || u_dut.c_valid_q[5]);
      if (u_dut.c_valid_q[2] && !ahead2) begin
        `PLACES(u_dut.u_state.rdata_q == {stamp_q[u_dut.c_parent_q[2]], count_q[u_dut.c_parent_q[2]]});
      end
      if (u_dut.c_valid_q[3] && !ahead3) `PLACES(u_dut.c3_ram == {stamp_q[u_dut.c_parent_q[3]], count_q[u_dut.c_parent_q[3]]});
      if (op4) begin
        `PLACES(u_dut.hit1_q == (u_dut.c_valid_q[5] && u_dut.c_parent_q[5] == p4));
        if (!u_dut.hit1_q) begin
          `PLACES(u_dut.c4_base_q == {stamp_q[p4], count_q[p4]} && u_dut.c4_base_none_q == (count_q[p4] == '0));
        end
      end

      // the parents' own clocks: in the memories, and read
      `PLACES(u_dut.set1_valid_q == set1_q && u_dut.set2_valid_q == set2_q && !(set1_q && set2_q));
      if (set1_q) `PLACES(u_dut.set1_parent_q == set1_parent_q && u_dut.set1_closed_q == set1_closed_q);
      if (set2_q) `PLACES(u_dut.set2_parent_q == set2_parent_q && u_dut.set2_closed_q == set2_closed_q);
      if (!init_done) `PLACES(!set1_q && !set2_q && stands_q == '0);
      for (int p = 0; p < 2; p++) begin
        if (!(set1_q && set1_parent_q == 1'(p)) && !(set2_q && set2_parent_q == 1'(p)) && cleared[p]) `PLACES(stands_q[p] == closed[p]);
        if (set1_q && set1_parent_q == 1'(p)) `PLACES(set1_closed_q == closed[p]);
        if (set2_q && set2_parent_q == 1'(p)) `PLACES(set2_closed_q == closed[p]);
        if (cleared[p]) begin
          `PLACES(clock(u_dut.u_clock.u_ram.mem[p], '0) == count_open_q[p] && u_dut.u_clock.u_ram.mem[p][TimeWidth] == stands_q[p]);
          `PLACES(u_dut.u_due_clock.u_ram.mem[p] == u_dut.u_clock.u_ram.mem[p]
                  && u_dut.u_set_clock.u_ram.mem[p] == u_dut.u_clock.u_ram.mem[p]);
        end else begin
          `PLACES(count_open_q[p] == now_q + cycle_t'(4) && !stands_q[p]);
        end
      end
      if (set1_q) begin
        `PLACES((u_dut.u_set_clock.hit_q ? u_dut.u_set_clock.new_q : u_dut.u_set_clock.word) == u_dut.u_clock.u_ram.mem[set1_parent_q]);
      end
      if (set2_q) `PLACES(u_dut.set2_clock == u_dut.u_clock.u_ram.mem[set2_parent_q]);
      if (u_dut.c_valid_q[1]) `PLACES(clock(u_dut.u_clock.hit_q ? u_dut.u_clock.new_q : u_dut.u_clock.word, cycle_t'(1)) == own1_q);
      if (u_dut.c_valid_q[2]) `PLACES(clock(u_dut.c2_clock, cycle_t'(2)) == own2_q);
      if (u_dut.c_valid_q[3]) `PLACES(u_dut.c3_clock_q == own3_q);
`ifdef PROVE_TIMES
      `PLACES(stands_q == '0 && !(set1_q && set1_closed_q) && !(set2_q && set2_closed_q));
      for (int p = 0; p < 2; p++) `PLACES(count_open_q[p] == now_q + cycle_t'(4));
      if (u_dut.c_valid_q[1]) `PLACES(own1_q == now_q + cycle_t'(3));
      if (u_dut.c_valid_q[2]) `PLACES(own2_q == now_q + cycle_t'(2));
      if (u_dut.c_valid_q[3]) `PLACES(own3_q == now_q + cycle_t'(1));
      if (op4) `PLACES(own4_q == now_q);
      if (u_dut.d1_valid_q) `PLACES((u_dut.u_due_clock.hit_q ? u_dut.u_due_clock.new_q : u_dut.u_due_clock.word) == '0);
      if (u_dut.d2_valid_q) `PLACES(u_dut.d2_clock == '0);
`endif

      // walks
      `PLACES((!u_dut.c_valid_q[1] || u_dut.c_walk_q[1] == walk_q[1]) && (!u_dut.c_valid_q[2] || u_dut.c_walk_q[2] == walk_q[2])
              && (!u_dut.c_valid_q[3] || u_dut.c_walk_q[3] == walk_q[3]) && (!op4 || u_dut.c_walk_q[4] == walk_q[4]));

      // settings on their way
      if (u_dut.c_valid_q[1]) `PLACES((u_dut.u_cfg.hit_q ? u_dut.u_cfg.new_q : u_dut.u_cfg.word) == read1_q &&
                                      32'(read1_q.burst) < MaxBurst);
      if (u_dut.c_valid_q[2]) `PLACES(u_dut.c2_cfg == read2_q && 32'(read2_q.burst) < MaxBurst);
      if (u_dut.c_valid_q[3]) begin
        `PLACES(u_dut.c3_tolerance_q == (walk_q[3] ? OldAge[TimeWidth+15:16] : tolerance(read3_q)));
        `PLACES(u_dut.c3_closed_q == (read3_q.mantissa == '0) && 32'(read3_q.burst) < MaxBurst);
`ifdef PROVE_PLACES
        a_product : assert (u_dut.u_increment.product_q == len3_q * read3_q.mantissa && u_dut.u_increment.exponent_q == read3_q.exponent
                            && u_dut.u_increment.beyond_q == beyond(read3_q.exponent));
`endif
      end
      if (op4) begin
        `PLACES(u_dut.c4_clock_q == own4_q && u_dut.c4_floor_q == own4_q - (walk_q[4] ? OldAge[TimeWidth+15:16] : tolerance(read4_q)));
        `PLACES(u_dut.c4_closed_q == (read4_q.mantissa == '0 || behind4_q) && 32'(read4_q.burst) < MaxBurst);
        `PLACES(u_dut.c4_increment == increment4);
      end

      // gates: a parent that parks saw a closed gate, in this cycle or the one before
      if (u_dut.d1_valid_q) begin
        `PLACES((u_dut.u_closed.hit_q ? u_dut.u_closed.new_q : u_dut.u_closed.word) == closed[u_dut.d1_parent_q]);
      end
      if (u_dut.park) `PLACES(closed[u_dut.d2_parent_q] || (opening[u_dut.d2_parent_q] && elapsed == '0));
      if (u_dut.open_busy_q) begin
        `PLACES(u_dut.open_count_q <= 4'd8 && !closed[u_dut.open_parent_q]);
        if (u_dut.open_count_q == 4'd2) `PLACES(u_dut.u_parked.rdata_q[0] == parked[u_dut.open_parent_q]);
        if (u_dut.open_count_q == 4'd1) `PLACES(u_dut.parked_r == parked[u_dut.open_parent_q]);
        if (u_dut.open_count_q == 4'd0) `PLACES(u_dut.parked_q == parked[u_dut.open_parent_q]);
      end

`ifdef PROVE_PLACES
      // useful work is possible
      c_leave : cover (op4 && op_i == GateLeave && count_q[p4] == 2'd2);
      c_forward : cover (shall_pass && u_dut.hit1_q);
      c_unpark : cover (u_dut.unpark_take);
      c_clock : cover (charge && own4_q != now_q);
      c_wake : cover (u_dut.wake_take && u_dut.place_ready);
      if (u_dut.given_q) c_holds : cover (due_holds);
      c_train : cover (op4 && op_i == GateLeave && op_last_i && members_q[p4] == 1);
`endif
    end
  end
`endif

`ifdef PROVE_TIMES
  // --- true times of parent X: its stamp, the one whose hold the due stages read, and what went on in a window that began with a packet, as
  // a time: that packet's decision less its tolerance, and all increments since

  age_t true_q, d1_true_q, d2_true_q, spent_q, now, age, true_floor, base, charged4;
  logic [2:0] wraps_q;    // of now_q
  logic window_q;
  logic [15:0] since_q, until_walk;    // cycles since the last walk, and until that of X at most

  assign now        = age_t'({wraps_q, now_q, 16'b0});
  assign age        = now - true_q;
  assign true_floor = now - age_t'({3'b0, tolerance(read4_q), 16'b0});
  assign base       = age_t'(true_q - true_floor) < 0 ? true_floor : true_q;
  assign charged4   = age_t'(increment4);
  assign until_walk = (u_dut.walk_parent_q == X ? 16'd0 : 16'(WalkCycles)) + 16'(WalkCycles) - since_q;

  always_ff @(posedge clk_i) begin
    if (now_q == '1) wraps_q <= wraps_q + 1'b1;
    since_q   <= op_walk_i || !init_done ? '0 : since_q + 1'b1;
    d1_true_q <= true_q;
    d2_true_q <= d1_true_q;
    // In a long pause the oldest times stop to count: less is spent then, and the claim is the stronger.
    spent_q <= spent_q + (age_t'(now - spent_q) >= 2 * Oldest ? Cycle : '0) + (charge && p4 == X ? charged4 : '0);
    if (charge && p4 == X) begin
      true_q <= base + charged4;
      if (pick_i) begin
        window_q <= 1'b1;
        spent_q  <= true_floor + charged4;
      end
    end
    if (op4 && op_i == GateWalk && p4 == X && age > OldAge) true_q <= now - OldAge;
    if (rst_i) begin
      wraps_q  <= '0;
      true_q   <= '0;
      since_q  <= '0;
      window_q <= 1'b0;
    end
  end

  // The last cycle of the wait for a time.
  function automatic cycle_t hold(age_t stamp);
    hold = cycle_t'((stamp - 1'b1) >> 16);
  endfunction

  // Furthest stage in which a walk comes to X.
  logic [2:0] walk_at;
  logic due_there;    // X was found due and has not been let go
  always_comb begin
    walk_at = '0;
    if (walk_q[1] && u_dut.c_parent_q[1] == X) walk_at = 3'd1;
    if (walk_q[2] && u_dut.c_parent_q[2] == X) walk_at = 3'd2;
    if (walk_q[3] && u_dut.c_parent_q[3] == X) walk_at = 3'd3;
    if (walk_q[4] && u_dut.c_parent_q[4] == X) walk_at = 3'd4;
    due_there = outside_q[X] || (out_there[0] && out_parent[0] == X) || (out_there[1] && out_parent[1] == X);
  end

  // Batches of X: the lateness that was found; what those packets of a batch that have not left take at most.
  logic d3_there;
  age_t d3_age_q, to_come;
  assign d3_there = u_dut.d3_push_q && d3_parent_q == X;
  assign to_come  = age_t'((1 << granted_q[X]) - 1 - 32'(members_q[X])) * age_t'({rule_q[X].span, 16'b0});

  always_ff @(posedge clk_i) d3_age_q <= now - d2_true_q;

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // software: a setting that comes while a batch is outside, or so late before that it may have been found by the old one, is not looked
      // at: its later packets may be early, by what they take at the new rate. First ones never are.
      if (charge && p4 == X && op_i == GateLeave && members_q[X] != '0) m_steady : assume (steady_q[X]);
      m_walks : assume (32'(since_q) < WalkCycles && (op_walk_i || 32'(since_q) < WalkCycles - 1));
      // what a user relies on
      if (op4 && p4 == X) a_true_time : assert (u_dut.c4_early == (age < 0));
      if (op4 && p4 == X && op_i != GateWalk) begin
        a_true_floor : assert (u_dut.c4_below == (age_t'(true_q - true_floor) < 0));
      end
      if (u_dut.d2_valid_q && u_dut.d2_parent_q == X) a_true_due : assert (u_dut.d2_early == (now - d2_true_q < 0));
      if (charge && p4 == X) begin
        a_not_early : assert (age >= 0);
        if (window_q) a_rate : assert (age_t'(now - spent_q) >= 0);
      end

      // what the induction needs
      if (!init_done) a_first : assert (true_q == '0 && wraps_q == '0 && since_q == '0 && u_dut.walk_parent_q == '0 && !window_q);
      a_stamp : assert (stamp_q[X] == stamp_t'(true_q));
      a_future : assert (age >= -OldAge);
      a_age : assert (age <= Oldest - (age_t'(until_walk) <<< 16) || (walk_at != '0 && age <= Oldest + (age_t'(walk_at) <<< 16)));
      for (int k = 1; k <= 4; k++) begin
        if (walk_q[k]) a_walk_stage : assert (u_dut.c_valid_q[k]);
      end
      if (cleared[X] && !(u_dut.c5_hold_q && u_dut.c_parent_q[5] == X)) begin
        a_hold : assert (u_dut.u_hold.u_ram.mem[X][TimeWidth-1:0] == hold(true_q));
      end
      if (u_dut.c5_hold_q) a_c5_valid : assert (u_dut.c_valid_q[5]);
      if (u_dut.c_valid_q[5] && u_dut.c_parent_q[5] == X) a_c5_hold : assert (u_dut.c5_hold == hold(true_q));
      if (due_there && members_q[X] == '0) a_due : assert (age >= 0);

      // batches: the lateness is what it was found to be, and has room for all that are to come
      if (u_dut.d1_valid_q && u_dut.d1_parent_q == X) a_d1_same : assert (d1_true_q == true_q || age >= OldAge);
      if (u_dut.d2_valid_q && u_dut.d2_parent_q == X) a_d2_same : assert (d2_true_q == true_q || age >= OldAge);
      if (d3_there) begin
        a_d3_age : assert (d3_age_q >= 0 && (d3_age_q <= age || age >= OldAge) && d3_age_q <= Oldest + 10 * Cycle);
        a_d3_late : assert (age_t'(u_dut.d3_late_q) == d3_age_q >>> 16 && age_t'(u_dut.d3_whole_q) == d3_age_q >>> 16);
      end
      if (due_there && !d3_there && steady_q[X]) begin
        a_granted : assert (granted_q[X] <= rule_q[X].most);
        a_to_come : assert (to_come <= age && to_come <= age_t'({tolerance(cfg_q[X]), 16'b0}));
      end
      if (u_dut.d1_valid_q && u_dut.d1_parent_q == X) begin
        a_d1 : assert (d1_hold[TimeWidth-1:0] == hold(d1_true_q));
        a_d1_true : assert ((d1_true_q == true_q || (age >= 0 && age_t'(true_q - d1_true_q) >= 0)) && now - d1_true_q <= Oldest + 8 * Cycle
                            && now - d1_true_q >= -OldAge);
      end
      if (u_dut.d2_valid_q && u_dut.d2_parent_q == X) begin
        a_d2 : assert (u_dut.d2_hold == hold(d2_true_q));
        a_d2_true : assert ((d2_true_q == true_q || (age >= 0 && age_t'(true_q - d2_true_q) >= 0)) && now - d2_true_q <= Oldest + 9 * Cycle
                            && now - d2_true_q >= -OldAge);
      end
      if (window_q) begin
        a_window : assert (age_t'(now - spent_q) < 2 * Oldest + Cycle && age_t'(now - spent_q) >= -OldAge);
        a_spent : assert (age_t'(true_q - spent_q) >= 0);
      end

      c_rate : cover (charge && p4 == X && window_q);
    end
  end
`endif

endmodule
