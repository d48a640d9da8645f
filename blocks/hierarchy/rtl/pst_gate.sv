// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One level of the hierarchy: the shapers of all its parents, how many queues wait at each, and when a parent may let the next one go.
//
// An operation has five cycles. In cycle 0 its parent is named, in 2 the packet's length, in 4 what it is; in that cycle the state is
// looked at, changed, and the answer given. A packet that may pass does when the parent's time has come and none waits;
// else it waits. A packet that waits is known elsewhere (pst_subscriber_queues, pst_siblings, pst_fair_lists): here they are counted.
//
// A parent that is far behind its time lets a batch of packets go at once: so many that the last one would not be early were they all of
// the largest size. A parent with waiting queues is in exactly one place: in the wheel, in the due stages, outside (from m_due_o to the
// GateLeave or GateAgain of its batch's last packet, or, while it is held, to its wake-up), or parked because its gate is closed.
//
// Times are those of the parent's own clock, which stands still while its gate is closed: so it earns no credit then.
//
// A parent may be held back for what of it waits above (Holds) while it is less late than about half of what its burst makes up for.
//
// Throughput: one operation per cycle while room_o. Ordering: operations in order. Reset: forgets all; a walker clears the memories
// (`Parents` cycles), shapers are open and unshaped.
module pst_gate
  import pst_pkg::LenWidth, pst_pkg::len_t, pst_pkg::MantissaWidth, pst_pkg::ExponentWidth, pst_pkg::shaper_cfg_t;
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Parents = 16,              // >= 2
    parameter int unsigned MaxWaiting = 64,           // most queues that can wait at one parent
    parameter int unsigned Slots = 256,               // of the wheel, see pst_timing_wheel
    parameter int unsigned SlotCycles = 32,           // cycles
    parameter int unsigned ToleranceCycles = 1024,    // lateness that is made up for, below 2^(TimeWidth-4) cycles
    // less late than this a lower class may wait; below 2^13
    parameter int unsigned PatientCycles = ToleranceCycles < 8192 ? ToleranceCycles / 2 : 4096,
    parameter int unsigned TrainLog = 6,              // log2 of the longest batch, 0 .. 6
    parameter bit          Holds = 1'b0,              // parents hold back for what waits above
    parameter int unsigned NoteWidth = 1,             // bits that are kept with a parent's setting
    parameter int unsigned TimeWidth = 32,            // bits of a time in cycles
    parameter string       RamStyle = "auto",
    localparam int unsigned ParentWidth = Parents > 1 ? $clog2(Parents) : 1
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  logic [  TimeWidth-1:0] now_i,
    // operation: cycle 0, 2, 3 and 4
    input  logic                   s_op_valid_i,
    input  logic                   s_op_walk_i,       // the parent is the walk's, not s_op_parent_i
    input  logic [ParentWidth-1:0] s_op_parent_i,
    input  len_t                   s_op_len_i,
    input  logic                   s_op_behind_i,     // it waits in any case: it would go out of turn
    input  gate_op_e               s_op_i,
    input  logic                   s_op_last_i,       // GateLeave, GateAgain: of the parent's batch
    output logic                   pass_o,            // cycle 4: an asking packet goes on
    output logic                   wait_o,            // cycle 4: an asking packet waits here
    output logic                   room_o,            // 16 more operations may come
    // a parent that may let a queue go
    output logic                   m_due_valid_o,
    input  logic                   m_due_ready_i,
    output logic [ParentWidth-1:0] m_due_parent_o,
    output train_t                 m_due_train_o,     // in the cycle after it was taken: log2 of how many it may let go
    output logic                   m_due_patient_o,   // and whether it is less than PatientCycles late,
    output logic                   m_due_holds_o,     // or than half of its burst, or a little less
    // Holds: a parent outside, with queues that wait, is looked at again; at most 22 cycles after room_o
    input  logic                   s_wake_valid_i,
    input  logic [ParentWidth-1:0] s_wake_parent_i,
    // shaper of one parent
    input  logic                   s_cfg_valid_i,
    output logic                   s_cfg_ready_o,
    input  logic [ParentWidth-1:0] s_cfg_parent_i,
    input  shaper_cfg_t            s_cfg_shaper_i,
    input  logic [  NoteWidth-1:0] s_cfg_note_i,
    output logic [  NoteWidth-1:0] m_note_o,          // cycle 2: that of s_op_parent_i, valid operation or not
    // look: a walk needs no setting; two cycles after one starts that of s_look_parent_i is there
    input  logic [ParentWidth-1:0] s_look_parent_i,
    output shaper_cfg_t            m_look_shaper_o,
    output logic                   init_done_o
);

  localparam int unsigned CountWidth = $clog2(MaxWaiting + 1);
  localparam int unsigned IncrementWidth = TimeWidth - 3 + 16;
  localparam int unsigned PlaceDepth = 32;
  localparam int unsigned DueDepth = 8;
  localparam int unsigned WakeDepth = 64;

  if (Parents < 2 || MaxWaiting < 1) begin : g_bad_size
    $error("pst_gate: Parents (%0d) must be at least 2, MaxWaiting (%0d) at least 1", Parents, MaxWaiting);
  end
  if (TimeWidth < 16 || TimeWidth > 40 || longint'(ToleranceCycles) >= longint'(2) ** (TimeWidth - 4)) begin : g_bad_time
    $error("pst_gate: TimeWidth (%0d) must be 16 .. 40, ToleranceCycles (%0d) below 2^(TimeWidth-4)", TimeWidth, ToleranceCycles);
  end

  if (PatientCycles >= 2 ** 13) begin : g_bad_patience
    $error("pst_gate: PatientCycles is %0d, allowed: 0 .. 8191", PatientCycles);
  end

  typedef logic [ParentWidth-1:0] parent_t;
  typedef logic [TimeWidth+15:0] stamp_t;    // cycles, 16 bits of fraction
  typedef logic [TimeWidth-1:0] cycle_t;

  typedef struct packed {
    stamp_t                stamp;    // earliest departure of the next packet
    logic [CountWidth-1:0] count;    // queues that wait
  } state_t;

  typedef struct packed {
    parent_t parent;
    cycle_t  hold;                   // last cycle in which it has to wait, by now_i
  } place_t;

  // A parent's own clock: how far it is behind now_i, or the cycle in which it stands.
  typedef struct packed {
    logic   stands;
    cycle_t word;
  } clock_t;

  // log2 of how late a parent may get for the sake of what waits above, less HoldLeast - 2; 0: not at all. It is half of what its burst makes
  // up for, or less, but not less than a quarter: half of 2^(HoldLeast - 1 + hold_t) cycles. From a burst of 2^(HoldLeast + 14) on it is the same.
  localparam int unsigned HoldLeast = 11;
  typedef logic [3:0] hold_t;

  localparam cycle_t OldAge = cycle_t'(1) << (TimeWidth - 3);

  // --- clearing walk

  logic init, init_done_q, wheel_init_done, cfg_take;
  parent_t init_parent;
  logic set1_valid_q, set2_valid_q, set1_closed_q, set2_closed_q, clock_we;    // settings, one and two cycles ago
  parent_t set1_parent_q, set2_parent_q;
  clock_t set2_clock, set2_clock_new;

  pst_clear_walk #(.Depth(Parents)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_parent));

  always_ff @(posedge clk_i) init_done_q <= init_done_o && !rst_i;

  assign init_done_o = !init && wheel_init_done;

  // --- cycles 0 to 3: setting and state are read

  parent_t [7:1] c_parent_q;
  parent_t walk_parent_q, c0_parent, c0_setting;
  logic [7:1] c_valid_q;
  logic hit1_q;
  shaper_cfg_t c2_cfg;
  logic [27:0] c2_tolerance, c3_made_up_q;
  hold_t c4_holds_q, c5_holds_q;
  logic c5_hold_q;    // a walk, which has not read its parent's setting, writes what it finds old only
  cycle_t c3_tolerance_q;
  logic [4:1] c_walk_q;
  logic c3_closed_q, c4_closed_q;
  clock_t c2_clock;
  cycle_t c3_clock_q, c4_clock_q;    // the parent's own cycle, in cycle 4
  cycle_t c4_floor_q, c5_behind_q;   // c5_behind_q: what that is behind now_i, less one
  logic [IncrementWidth-1:0] c4_increment;
  state_t c3_ram, c3_state, c4_base_q, c4_state, c4_new, c5_state_q, c6_state_q, c7_state_q;
  stamp_t c4_from_floor, c4_sum;
  logic c4_early, c4_below, c4_last, c4_charge, c4_place, c5_place_q;
  // No queue waits: kept beside each state, so that no count is compared in front of the decision.
  logic c3_none, c4_none, c4_base_none_q, c4_new_none, c5_none_q, c6_none_q, c7_none_q;
  cycle_t c4_base_cycle, c5_cycle, c5_hold, c5_hold_now;    // c5_hold_now: by now_i

  assign c2_tolerance = c2_cfg.burst > 28'(ToleranceCycles) ? c2_cfg.burst : 28'(ToleranceCycles);

  assign c0_parent  = s_op_walk_i ? walk_parent_q : s_op_parent_i;
  assign c0_setting = s_op_walk_i ? s_look_parent_i : s_op_parent_i;
  assign m_look_shaper_o = c2_cfg;

  pst_ram_write_first #(
      .Width(NoteWidth + $bits(shaper_cfg_t)), .Depth(Parents), .Style(RamStyle)
  ) u_cfg (
      .clk_i,
      .we_i(init || cfg_take), .waddr_i(init ? init_parent : s_cfg_parent_i),
      .wdata_i(init ? {NoteWidth'(0), shaper_cfg_t'(1)} : {s_cfg_note_i, s_cfg_shaper_i}),
      .re_i(1'b1), .raddr_i(c0_setting), .rdata_o({m_note_o, c2_cfg})
  );

  pst_ram_write_first #(
      .Width($bits(clock_t)), .Depth(Parents), .Style(RamStyle)
  ) u_clock (
      .clk_i,
      .we_i(init || clock_we), .waddr_i(init ? init_parent : set2_parent_q), .wdata_i(init ? '0 : set2_clock_new),
      .re_i(1'b1), .raddr_i(c0_parent), .rdata_o(c2_clock)
  );

  pst_shaper_increment #(
      .TimeWidth(TimeWidth)
  ) u_increment (
      .clk_i, .len_i(s_op_len_i), .mantissa_i(c2_cfg.mantissa), .exponent_i(c2_cfg.exponent), .increment_o(c4_increment)
  );

  pst_ram_1r1w #(
      .Width($bits(state_t)), .Depth(Parents), .ReadLatency(2), .Style(RamStyle)
  ) u_state (
      .clk_i,
      .we_i(init || c_valid_q[5]), .waddr_i(init ? init_parent : c_parent_q[5]), .wdata_i(init ? '0 : c5_state_q),
      .re_i(1'b1), .raddr_i(c_parent_q[1]), .rdata_o(c3_ram)
  );

  // --- cycle 3: operations two to four cycles ahead have written, or write, after this one has read

  always_comb begin
    c3_state = c3_ram;
    c3_none  = c3_ram.count == '0;
    if (c_valid_q[7] && c_parent_q[7] == c_parent_q[3]) begin
      c3_state = c7_state_q;
      c3_none  = c7_none_q;
    end
    if (c_valid_q[6] && c_parent_q[6] == c_parent_q[3]) begin
      c3_state = c6_state_q;
      c3_none  = c6_none_q;
    end
    if (c_valid_q[5] && c_parent_q[5] == c_parent_q[3]) begin
      c3_state = c5_state_q;
      c3_none  = c5_none_q;
    end
  end

  // --- cycle 4: decide

  function automatic logic earlier(cycle_t a, cycle_t b);
    return $signed(a - b) < 0;
  endfunction

  // A time to come. One carry chain with the fraction: an equality beside it would be five LUTs in a row in front of the decision.
  function automatic logic early(stamp_t stamp, cycle_t now);
    return $signed({now, 16'b0} - stamp) < 0;
  endfunction

  function automatic hold_t hold_of(logic [27:0] made_up);
    hold_of = '0;
    for (int k = 1; k < 16; k++) if (made_up >> (int'(HoldLeast) + k - 1) != '0) hold_of = hold_t'(k);
  endfunction

  always_comb begin
    c4_state = hit1_q ? c5_state_q : c4_base_q;    // one cycle ahead; both are compared before it is known which one counts

    // max(stamp, floor) + increment; a walk does not let a stamp get older than its floor. Both sums are there before it is known which one
    // counts; clock and floor are whole cycles.
    c4_from_floor = {c4_floor_q, 16'b0} + (c_walk_q[4] ? '0 : stamp_t'(c4_increment));
    c4_sum        = c4_state.stamp + stamp_t'(c4_increment);
    c4_below      = hit1_q ? earlier(c5_cycle, c4_floor_q) : earlier(c4_base_cycle, c4_floor_q);
    c4_early      = hit1_q ? early(c5_state_q.stamp, c4_clock_q) : early(c4_base_q.stamp, c4_clock_q);
    c4_none       = hit1_q ? c5_none_q : c4_base_none_q;
    c4_last       = c4_state.count == CountWidth'(1);

    pass_o    = 1'b0;
    wait_o    = 1'b0;
    c4_place  = 1'b0;
    c4_charge = 1'b0;
    c4_new      = c4_state;
    c4_new_none = c4_none;
    case (s_op_i)
      GateAsk: begin
        pass_o = !c4_early && !c4_closed_q && c4_none;
        wait_o = !pass_o;
        if (wait_o) c4_new.count = c4_state.count + 1'b1;
        c4_new_none = pass_o;
        c4_charge   = pass_o;
        c4_place    = wait_o && c4_none;
      end
      GateLeave: begin
        c4_new.count = c4_state.count - 1'b1;
        c4_new_none  = c4_last;
        c4_charge    = 1'b1;
        c4_place     = s_op_last_i && !c4_last;
      end
      GateAgain: c4_place = s_op_last_i;
      GateWalk: c4_charge = c4_below;
      default: ;
    endcase
    case ({c4_charge, c4_below})
      2'b11:   c4_new.stamp = c4_from_floor;
      2'b10:   c4_new.stamp = c4_sum;
      default: ;
    endcase
  end

  assign c4_base_cycle = c4_base_q.stamp[TimeWidth+15:16];
  assign c5_cycle      = c5_state_q.stamp[TimeWidth+15:16];
  assign c5_hold       = cycle_t'((c5_state_q.stamp - 1'b1) >> 16);
  assign c5_hold_now   = cycle_t'((c5_state_q.stamp + {c5_behind_q, 16'hFFFF}) >> 16);    // c5_hold + c5_behind_q + 1

  always_ff @(posedge clk_i) begin
    c_valid_q[1]    <= s_op_valid_i;
    c_parent_q[1]   <= c0_parent;
    c_valid_q[7:2]  <= c_valid_q[6:1];
    c_parent_q[7:2] <= c_parent_q[6:1];

    c_walk_q[1]    <= s_op_walk_i;
    c_walk_q[4:2]  <= c_walk_q[3:1];
    c3_tolerance_q <= c_walk_q[2] ? OldAge : cycle_t'(c2_tolerance);
    c3_closed_q    <= c2_cfg.mantissa == '0;
    c4_closed_q    <= c3_closed_q || s_op_behind_i;
    c3_made_up_q   <= c2_tolerance;
    c4_holds_q     <= c_walk_q[3] ? '0 : hold_of(c3_made_up_q);
    c5_holds_q     <= c4_holds_q;
    c5_hold_q      <= c_valid_q[4] && (!c_walk_q[4] || c4_below);
    c3_clock_q     <= c2_clock.stands ? c2_clock.word : now_i + cycle_t'(2) - c2_clock.word;
    c4_clock_q     <= c3_clock_q;
    c4_floor_q     <= c3_clock_q - c3_tolerance_q;
    c5_behind_q    <= now_i - c4_clock_q - 1'b1;
    hit1_q         <= c_valid_q[4] && c_parent_q[4] == c_parent_q[3];

    c4_base_q      <= c3_state;
    c4_base_none_q <= c3_none;
    c5_state_q     <= c4_new;
    c5_none_q      <= c4_new_none;
    c6_state_q     <= c5_state_q;
    c6_none_q      <= c5_none_q;
    c7_state_q     <= c6_state_q;
    c7_none_q      <= c6_none_q;
    c5_place_q <= c_valid_q[4] && c4_place;
    if (s_op_valid_i && s_op_walk_i) walk_parent_q <= walk_parent_q == parent_t'(Parents - 1) ? '0 : walk_parent_q + 1'b1;
    if (rst_i) begin
      c_valid_q     <= '0;
      c5_hold_q     <= 1'b0;
      c5_place_q    <= 1'b0;
      walk_parent_q <= '0;
    end
  end

  // --- the parent's own clock: two cycles after a setting that closes or opens its gate it stops or goes on. The next operation finds it as if
  // it had gone on until that decides, or had stood until then.

  localparam int unsigned ClockCycles = 4;    // from the write until an operation that reads it decides

  assign clock_we       = set2_valid_q && set2_clock.stands != set2_closed_q;
  assign set2_clock_new = '{stands: set2_closed_q, word: now_i + cycle_t'(ClockCycles) - set2_clock.word};

  always_ff @(posedge clk_i) begin
    set1_valid_q  <= cfg_take && !rst_i;
    set1_parent_q <= s_cfg_parent_i;
    set1_closed_q <= s_cfg_shaper_i.mantissa == '0;
    set2_valid_q  <= set1_valid_q && !rst_i;
    set2_parent_q <= set1_parent_q;
    set2_closed_q <= set1_closed_q;
  end

  pst_ram_write_first #(
      .Width($bits(clock_t)), .Depth(Parents), .Style(RamStyle)
  ) u_set_clock (
      .clk_i,
      .we_i(init || clock_we), .waddr_i(init ? init_parent : set2_parent_q), .wdata_i(init ? '0 : set2_clock_new),
      .re_i(1'b1), .raddr_i(s_cfg_parent_i), .rdata_o(set2_clock)
  );

  // --- opening a gate: when no look at the old setting can be under way any more, a parked parent is placed again

  localparam int unsigned OpenCycles = 8;

  logic open_busy_q, parked_r, parked_q, park, unpark, unpark_take;
  logic [3:0] open_count_q;
  parent_t open_parent_q;
  logic d1_valid_q, d2_valid_q, d2_closed, d2_early;
  parent_t d1_parent_q, d2_parent_q;

  assign park   = d2_valid_q && d2_closed;
  assign unpark = open_busy_q && open_count_q == '0 && parked_q;
  assign s_cfg_ready_o = !open_busy_q && !set1_valid_q && init_done_q;
  assign cfg_take      = s_cfg_valid_i && s_cfg_ready_o;

  always_ff @(posedge clk_i) begin
    if (!open_busy_q) begin
      open_busy_q   <= cfg_take && s_cfg_shaper_i.mantissa != '0;
      open_parent_q <= s_cfg_parent_i;
      open_count_q  <= 4'(OpenCycles);
    end else if (open_count_q != '0) begin
      open_count_q <= open_count_q - 1'b1;
      parked_q     <= parked_r;    // read at count 3
    end else if (!parked_q || unpark_take) begin
      open_busy_q <= 1'b0;
    end
    if (rst_i) open_busy_q <= 1'b0;
  end

  pst_ram_1r1w #(
      .Width(1), .Depth(Parents), .ReadLatency(2), .Style(RamStyle)
  ) u_parked (
      .clk_i,
      .we_i(init || park || unpark_take), .waddr_i(init ? init_parent : park ? d2_parent_q : open_parent_q),
      .wdata_i(!init && park),
      .re_i(open_count_q == 4'd3), .raddr_i(open_parent_q), .rdata_o(parked_r)
  );

  // --- the wheel: parents come from cycle 5, from an opened gate, and from the due stages (it was too early)

  logic place_valid, place_ready, place_pick_back, main_valid, back_valid, back_ready, back_push, back_turn_q;
  logic unused_main_ready, unused_back_ready;
  place_t place, main_place, back_place;
  logic [$clog2(PlaceDepth+1)-1:0] main_level;
  logic [$clog2(DueDepth+1)-1:0] back_level, due_level;

  pst_fifo #(
      .Width($bits(place_t)), .Depth(PlaceDepth), .RegisterOutput(1'b1)
  ) u_main (
      .clk_i, .rst_i,
      .s_valid_i(c5_place_q), .s_ready_o(unused_main_ready), .s_data_i({c_parent_q[5], c5_hold_now}),
      .m_valid_o(main_valid), .m_ready_i(place_ready && !unpark && !place_pick_back), .m_data_o(main_place),
      .level_o(main_level)
  );

  // What is woken goes when nothing else is to be placed: it is due in any case.
  logic wake_valid, wake_take, wake_room;
  parent_t wake_parent;

  assign back_ready      = place_ready && !unpark && place_pick_back;
  assign place_pick_back = back_valid && (back_turn_q || !main_valid);
  assign wake_take       = wake_valid && !unpark && !main_valid && !back_valid;
  assign place_valid     = unpark || main_valid || back_valid || wake_valid;
  assign place           = place_pick_back ? back_place : main_place;
  assign unpark_take     = unpark && place_ready && !park;

  always_ff @(posedge clk_i) begin
    if (place_ready && !unpark) back_turn_q <= !place_pick_back;
    room_o <= int'(main_level) <= PlaceDepth - 16 && wake_room && init_done_q;
    if (rst_i) begin
      back_turn_q <= 1'b0;
      room_o      <= 1'b0;
    end
  end

  if (Holds) begin : g_wake
    logic wake_ready;
    logic [$clog2(WakeDepth+1)-1:0] wake_level;

    pst_fifo #(
        .Width(ParentWidth), .Depth(WakeDepth)
    ) u_wake (
        .clk_i, .rst_i,
        .s_valid_i(s_wake_valid_i), .s_ready_o(wake_ready), .s_data_i(s_wake_parent_i),
        .m_valid_o(wake_valid), .m_ready_i(wake_take && place_ready), .m_data_o(wake_parent),
        .level_o(wake_level)
    );

    assign wake_room = int'(wake_level) <= WakeDepth - 32;

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i && s_wake_valid_i) a_wake_fifo_has_room : assert (wake_ready) else $error("wake FIFO overflows");
    end
`endif
  end else begin : g_no_wake
    assign wake_valid  = 1'b0;
    assign wake_parent = '0;
    assign wake_room   = 1'b1;

    logic unused_wake;
    assign unused_wake = &{1'b0, s_wake_valid_i, s_wake_parent_i};
  end

  logic wheel_valid, wheel_ready, place_due, place_beyond;
  logic [$clog2(Slots)-1:0] place_slot;
  logic [TimeWidth-$clog2(SlotCycles)-1:0] cursor;
  parent_t wheel_parent;

  pst_wheel_when #(
      .Slots(Slots), .SlotCycles(SlotCycles), .TimeWidth(TimeWidth)
  ) u_when (
      .now_i, .cursor_i(cursor), .hold_i(place.hold), .due_o(place_due), .beyond_o(place_beyond),
      .slot_o(place_slot)
  );

  pst_timing_wheel #(
      .Entries(Parents), .Slots(Slots), .SlotCycles(SlotCycles), .TimeWidth(TimeWidth), .RamStyle(RamStyle)
  ) u_wheel (
      .clk_i, .rst_i, .now_slot_i(now_i[TimeWidth-1:$clog2(SlotCycles)]), .turn_i(1'b1), .cursor_o(cursor),
      .s_place_valid_i(place_valid && !(unpark && park)), .s_place_ready_o(place_ready),
      .s_place_id_i(unpark ? open_parent_q : wake_take ? wake_parent : place.parent),
      .s_place_due_i(unpark || wake_take || place_due), .s_place_beyond_i(place_beyond), .s_place_slot_i(place_slot),
      .m_due_valid_o(wheel_valid), .m_due_ready_i(wheel_ready), .m_due_id_o(wheel_parent),
      .init_done_o(wheel_init_done)
  );

  // --- due: is it time, is the gate open? And how long a batch?

  cycle_t d2_hold, d2_hold_now;    // d2_hold_now: by now_i
  cycle_t d2_sum, d2_carry, d2_ahead;    // d2_ahead: d2_hold_now - now_i, of a clock that does not stand
  hold_t d2_holds;
  clock_t d2_clock;
  logic due_push, unused_due_ready;

  assign wheel_ready = int'(due_level) <= DueDepth - 4 && int'(back_level) <= DueDepth - 4;
  // A clock that stands is that of a gate which has just opened: it goes on in a moment.
  assign d2_hold_now = d2_clock.stands ? now_i : d2_hold + d2_clock.word;
  // Three numbers are reduced to two before they are added: one carry chain in front of where the parent goes.
  assign d2_sum   = d2_hold ^ d2_clock.word ^ ~now_i;
  assign d2_carry = cycle_t'(((d2_hold & d2_clock.word) | ((d2_hold | d2_clock.word) & ~now_i)) << 1) | cycle_t'(1);
  assign d2_ahead = d2_sum + d2_carry;
  assign d2_early = d2_clock.stands || $signed(d2_ahead) >= 0;
  assign back_push   = d2_valid_q && !d2_closed && d2_early;
  assign due_push    = d2_valid_q && !d2_closed && !d2_early;

  always_ff @(posedge clk_i) begin
    d1_valid_q  <= wheel_valid && wheel_ready;
    d1_parent_q <= wheel_parent;
    d2_valid_q  <= d1_valid_q;
    d2_parent_q <= d1_parent_q;
    if (rst_i) begin
      d1_valid_q <= 1'b0;
      d2_valid_q <= 1'b0;
    end
  end

  pst_ram_write_first #(
      .Width($bits(hold_t) + TimeWidth), .Depth(Parents), .Style(RamStyle)
  ) u_hold (
      .clk_i,
      .we_i(init || c5_hold_q), .waddr_i(init ? init_parent : c_parent_q[5]),
      .wdata_i(init ? {hold_t'(0), {TimeWidth{1'b1}}} : {c5_holds_q, c5_hold}),
      .re_i(1'b1), .raddr_i(wheel_parent), .rdata_o({d2_holds, d2_hold})
  );

  pst_ram_write_first #(
      .Width(1), .Depth(Parents), .Style(RamStyle)
  ) u_closed (
      .clk_i,
      .we_i(init || cfg_take), .waddr_i(init ? init_parent : s_cfg_parent_i), .wdata_i(!init && s_cfg_shaper_i.mantissa == '0),
      .re_i(1'b1), .raddr_i(wheel_parent), .rdata_o(d2_closed)
  );

  pst_ram_write_first #(
      .Width($bits(clock_t)), .Depth(Parents), .Style(RamStyle)
  ) u_due_clock (
      .clk_i,
      .we_i(init || clock_we), .waddr_i(init ? init_parent : set2_parent_q), .wdata_i(init ? '0 : set2_clock_new),
      .re_i(1'b1), .raddr_i(wheel_parent), .rdata_o(d2_clock)
  );

  pst_fifo #(
      .Width($bits(place_t)), .Depth(DueDepth), .RegisterOutput(1'b1)
  ) u_back (
      .clk_i, .rst_i,
      .s_valid_i(back_push), .s_ready_o(unused_back_ready), .s_data_i({d2_parent_q, d2_hold_now}),
      .m_valid_o(back_valid), .m_ready_i(back_ready), .m_data_o(back_place),
      .level_o(back_level)
  );

  pst_fifo #(
      .Width(ParentWidth), .Depth(DueDepth)
  ) u_due (
      .clk_i, .rst_i,
      .s_valid_i(due_push), .s_ready_o(unused_due_ready), .s_data_i(d2_parent_q),
      .m_valid_o(m_due_valid_o), .m_ready_i(m_due_ready_i), .m_data_o(m_due_parent_o),
      .level_o(due_level)
  );

  // --- a cycle later: how late is the parent? Less than PatientCycles: it may wait for a higher class.

  localparam int unsigned SpanWidth = 13;
  localparam int unsigned LateWidth = SpanWidth + TrainLog;
  typedef logic [LateWidth-1:0] late_t;

  function automatic late_t late_of(logic [39:0] cycles);
    return |(cycles >> LateWidth) ? '1 : late_t'(cycles);
  endfunction

  cycle_t d2_late;    // modulo 2^TimeWidth
  late_t d3_late_q;
  cycle_t d3_whole_q;
  hold_t d3_holds_q;
  logic d3_push_q, d3_holds, given_q, unused_train_ready, unused_train_valid;
  train_t d3_train;
  logic [$clog2(DueDepth+2)-1:0] unused_train_level;

  assign d2_late = ~d2_ahead;

  always_ff @(posedge clk_i) begin
    d3_push_q <= due_push;
    d3_late_q <= late_of(40'(d2_late));
    d3_whole_q <= d2_late;
    d3_holds_q <= d2_holds;
    given_q   <= m_due_valid_o && m_due_ready_i;
    if (rst_i) begin
      d3_push_q <= 1'b0;
      given_q   <= 1'b0;
    end
  end

  assign d3_holds = Holds && d3_holds_q != '0 && d3_whole_q >> (32'(d3_holds_q) + HoldLeast - 2) == '0;

  // Filled a cycle after u_due, and emptied a cycle after it.
  pst_fifo #(
      .Width($bits(train_t) + 2), .Depth(DueDepth + 1)
  ) u_train (
      .clk_i, .rst_i,
      .s_valid_i(d3_push_q), .s_ready_o(unused_train_ready), .s_data_i({d3_holds, d3_late_q < late_t'(PatientCycles), d3_train}),
      .m_valid_o(unused_train_valid), .m_ready_i(given_q), .m_data_o({m_due_holds_o, m_due_patient_o, m_due_train_o}),
      .level_o(unused_train_level)
  );

  if (TrainLog == 0) begin : g_single
    assign d3_train = '0;
  end else begin : g_train
    // The largest packet's time at the parent's rate, for 2^LenWidth byte, in whole cycles and more than it is; and the longest batch that
    // the tolerance allows. A parent that needs 2^SpanWidth cycles or more is slow enough without batches.
    typedef struct packed {
      train_t               most;
      logic [SpanWidth-1:0] span;
    } rule_t;

    // log2 of the longest batch whose last packet is not early, were all before it of the largest size.
    function automatic train_t longest(logic [SpanWidth-1:0] span, late_t late);
      logic [LateWidth:0] next;    // (2^k - 1) * span <= late, and one more of both: it is added once, not subtracted from each
      next    = (LateWidth + 1)'(late) + (LateWidth + 1)'(span);
      longest = '0;
      for (int k = 1; k <= int'(TrainLog); k++) if ((LateWidth + 1)'(span) <= next >> k) longest = train_t'(k);
    endfunction

    localparam int unsigned ScaleShift = 31 - LenWidth;
    logic [ScaleShift+SpanWidth-1:0] scaled;
    logic t1_valid_q, t1_slow_q, t2_valid_q;
    logic [SpanWidth-1:0] t1_span_q;
    late_t t1_late_q;
    parent_t t1_parent_q, t2_parent_q;
    rule_t t2_rule_q, d2_rule, d3_rule_q;
    train_t d3_longest;

    // The largest packet takes 2^SpanWidth cycles or more: a bit of the mantissa is beyond them.
    function automatic logic slow(logic [MantissaWidth-1:0] mantissa, logic [ExponentWidth-1:0] exponent);
      slow = 1'b0;
      for (int b = 0; b < int'(MantissaWidth); b++) if (mantissa[b] && int'(exponent) >= int'(ScaleShift + SpanWidth) - b) slow = 1'b1;
    endfunction

    assign scaled = (ScaleShift + SpanWidth)'(s_cfg_shaper_i.mantissa) << s_cfg_shaper_i.exponent;

    always_ff @(posedge clk_i) begin
      t1_valid_q  <= cfg_take;
      t1_parent_q <= s_cfg_parent_i;
      t1_slow_q   <= slow(s_cfg_shaper_i.mantissa, s_cfg_shaper_i.exponent);
      t1_span_q   <= scaled[ScaleShift+:SpanWidth] + 1'b1;
      t1_late_q   <= late_of(s_cfg_shaper_i.burst > 28'(ToleranceCycles) ? 40'(s_cfg_shaper_i.burst) : 40'(ToleranceCycles));
      t2_valid_q  <= t1_valid_q;
      t2_parent_q <= t1_parent_q;
      t2_rule_q   <= '{most: t1_slow_q || t1_span_q == '0 ? '0 : longest(t1_span_q, t1_late_q), span: t1_span_q};
      d3_rule_q   <= d2_rule;
      if (rst_i) begin
        t1_valid_q <= 1'b0;
        t2_valid_q <= 1'b0;
      end
    end

    pst_ram_write_first #(
        .Width($bits(rule_t)), .Depth(Parents), .Style(RamStyle)
    ) u_rule (
        .clk_i,
        .we_i(init || t2_valid_q), .waddr_i(init ? init_parent : t2_parent_q),
        .wdata_i(init ? rule_t'{most: longest(SpanWidth'(1), late_of(40'(ToleranceCycles))), span: SpanWidth'(1)} : t2_rule_q),
        .re_i(1'b1), .raddr_i(wheel_parent), .rdata_o(d2_rule)
    );

    logic unused_scaled;
    assign unused_scaled = ^scaled[ScaleShift-1:0];

    assign d3_longest = longest(d3_rule_q.span, d3_late_q);
    assign d3_train   = d3_longest < d3_rule_q.most ? d3_longest : d3_rule_q.most;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (c5_place_q) a_place_fifo_has_room : assert (unused_main_ready) else $error("place FIFO overflows");
      if (back_push) a_back_fifo_has_room : assert (unused_back_ready) else $error("back FIFO overflows");
      if (due_push) a_due_fifo_has_room : assert (unused_due_ready) else $error("due FIFO overflows");
      if (c_valid_q[4] && (s_op_i == GateLeave || s_op_i == GateAgain))
        a_leaves_what_waits : assert (c4_state.count != '0) else $error("a queue leaves parent %0d, where none waits", c_parent_q[4]);
      if (c_valid_q[4] && s_op_i == GateAsk)
        a_waiting_in_range : assert (c4_state.count != CountWidth'(MaxWaiting))
        else $error("more than %0d queues wait at parent %0d", MaxWaiting, c_parent_q[4]);
      if (!c_valid_q[4]) a_operation_has_a_parent : assert (s_op_i == GateNone) else $error("an operation without a parent");
      if (s_op_valid_i) a_parent_in_range : assert (int'(c0_parent) < Parents) else $error("parent %0d of %0d", c0_parent, Parents);
    end
  end
`endif

endmodule
