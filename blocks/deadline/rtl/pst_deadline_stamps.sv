// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Time-stamp FIFO of each class: notes at each tick how far a class has come, and says when all that was before that is over.
//
// Every round (of 2^n >= max(8, Classes) cycles) each class is visited once. If its oldest stamp is over, it leaves as a skip; in the round
// after a tick the tail is asked where the class is, and if that is another chunk than the last stamp's, a stamp is put into its ring: over
// at the next round behind the longest deadline that any frame before it can have, and never before the stamp ahead of it.
// Two stamps that are over in the same round are one, the later; so is what comes while a ring is full: what it holds then waits for the
// later moment, so nothing is forgotten early, and frames that are over by then are dropped one by one.
//
// A ring of (longest deadline / tick + 2) is never full; shorter ones do, as a stamp is made only when a class has begun another chunk.
// Latency: a skip is offered less than two rounds and 5 cycles after the deadline that it waits for, if Skips have room.
// Order:   FIFO in each class. Reset: all stamps and settings are forgotten; a walk of Classes cycles follows, then init_done_o.
module pst_deadline_stamps
  import pst_deadline_pkg::*;
#(
    parameter int unsigned              Classes = 64,                  // 2..256
    parameter logic [Classes-1:0][15:0] Stamps  = {Classes{16'd64}},   // of each class's ring, >= 2
    parameter int unsigned              Skips   = 4,                   // skips that wait for the head, >= 2
    parameter int unsigned              TimeBits = 32,                 // of the time that count: waits are below a quarter of its range
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    output logic                  init_done_o,
    input  time_t                 now_i,            // this cycle's number; counts in every cycle
    input  logic                  tick_i,           // pulse: each class is noted once, in the next round
    // how long frames of a class may wait: those whose first beat comes after the handshake have it
    input  logic                  s_set_valid_i,
    output logic                  s_set_ready_o,    // not for a round after a tick
    input  logic [ClassWidth-1:0] s_set_class_i,
    input  logic [          31:0] s_set_cycles_i,   // below 2^(TimeBits - 2)
    // the tail's look port: answered 2 cycles later
    output logic                  look_valid_o,
    output logic [ClassWidth-1:0] look_class_o,
    input  logic                  look_any_i,
    input  stamp_t                look_i,
    // what is over: all frames that begin in chunks before the stamp's
    output logic                  m_skip_valid_o,
    input  logic                  m_skip_ready_i,
    output logic [ClassWidth-1:0] m_skip_class_o,
    output stamp_t                m_skip_o
);

  localparam int unsigned RoundBits  = ClassWidth > 3 ? ClassWidth : 3;
  localparam int unsigned RoundWidth = TimeBits - RoundBits;             // rounds, modulo the time's range

  // First word of a class's ring; with Classes: the number of words.
  function automatic int unsigned base_of(int unsigned class_id);
    base_of = 0;
    for (int unsigned c = 0; c < Classes; c++) if (c < class_id) base_of += 32'(Stamps[c]);
  endfunction

  function automatic int unsigned largest();
    largest = 0;
    for (int unsigned c = 0; c < Classes; c++) if (32'(Stamps[c]) > largest) largest = 32'(Stamps[c]);
  endfunction

  localparam int unsigned Words      = base_of(Classes);
  localparam int unsigned IndexWidth = $clog2(largest() + 1);   // of a ring, or number of its stamps
  localparam int unsigned WordWidth = $clog2(Words);

  typedef logic [Classes-1:0][WordWidth-1:0] bases_t;
  function automatic bases_t bases();
    for (int unsigned c = 0; c < Classes; c++) bases[c] = WordWidth'(base_of(c));
  endfunction
  localparam bases_t Bases = bases();

  if (Classes < 2 || Classes > 256) begin : g_bad_classes
    $error("pst_deadline_stamps: Classes is %0d, allowed: 2..256", Classes);
  end
  for (genvar g = 0; g < Classes; g++) begin : g_check
    if (Stamps[g] < 2) begin : g_bad_stamps
      $error("pst_deadline_stamps: Stamps of class %0d is %0d, must be at least 2", g, Stamps[g]);
    end
  end

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [RoundWidth-1:0] round_t;
  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [TimeBits-1:0] wait_t;

  typedef struct packed {
    round_t over;        // from this round on
    stamp_t stamp;
  } word_t;

  typedef struct packed {
    index_t      first;  // of the ring: the oldest stamp
    index_t      count;
    logic        any;    // there was a stamp since reset:
    serial_t     serial; //   of the last one
    logic        live;   // the last one is not over yet
    round_t      over;
  } state_t;

  // ---- Clearing walk ----
  logic init_q;
  class_t init_class_q;

  assign init_done_o = !init_q;

  always_ff @(posedge clk_i) begin
    if (init_q) init_class_q <= init_class_q + 1'b1;
    if (init_class_q == class_t'(Classes - 1)) init_q <= 1'b0;
    if (rst_i) begin
      init_q       <= 1'b1;
      init_class_q <= '0;
    end
  end

  // ---- Cycle 0: the visit; a look at the tail, in the round after a tick ----
  logic [RoundBits-1:0] turn;
  logic tick_q, noting_q, noting, visit;

  assign turn         = now_i[RoundBits-1:0];
  assign noting       = turn == '0 ? tick_q : noting_q;
  assign visit        = !init_q && 32'(turn) < Classes;
  assign look_valid_o = visit && noting;
  assign look_class_o = class_t'(turn);

  always_ff @(posedge clk_i) begin
    noting_q <= noting;
    if (turn == '0) tick_q <= 1'b0;
    if (tick_i) tick_q <= 1'b1;
    if (rst_i) begin
      tick_q   <= 1'b0;
      noting_q <= 1'b0;
    end
  end

  // ---- Cycle 1: its oldest stamp is read; cycle 3: that and the look are there ----
  state_t state_mem[Classes];
  wait_t wait_mem[Classes];            // the setting of each class
  wait_t longest_mem[Classes];         // since its last stamp

  typedef struct packed {
    logic   valid;
    logic   noting;
    class_t class_id;
    round_t round;
  } visit_t;

  visit_t [3:1] visit_q;
  logic any_q;
  stamp_t look_q;
  word_t oldest;

  always_ff @(posedge clk_i) begin
    visit_q <= {visit_q[2:1], visit_t'({visit, visit && noting, look_class_o, now_i[TimeBits-1:RoundBits]})};
    any_q   <= look_any_i;
    look_q  <= look_i;
    if (rst_i) visit_q <= '0;
  end

  // ---- Cycle 3: the oldest leaves if it is over; a new one is put behind the others, or takes the place of the last ----
  class_t at;
  state_t state, state_new;
  logic leaves, note, same, skip_ready;
  round_t late, ended, over, sooner;
  wait_t until_when;
  logic unused_cycles;                 // a stamp is over with a round
  index_t size, first, left, place;

  assign at    = visit_q[3].class_id;
  assign state = state_mem[at];
  assign size  = index_t'(Stamps[at]);

  assign unused_cycles = ^until_when[RoundBits-1:0];

  // An index of a ring, from one that may be a size too large.
  function automatic index_t in_ring(logic [IndexWidth:0] index, index_t length);
    return index_t'(index >= (IndexWidth + 1)'(length) ? index - (IndexWidth + 1)'(length) : index);
  endfunction

  always_comb begin
    late   = visit_q[3].round - oldest.over;
    leaves = visit_q[3].valid && state.count != '0 && !late[RoundWidth-1] && skip_ready;
    first  = leaves ? in_ring((IndexWidth + 1)'(state.first) + 1'b1, size) : state.first;
    left   = state.count - index_t'(leaves);

    note       = visit_q[3].noting && any_q && !(state.any && look_q.serial == state.serial);
    until_when = wait_t'(now_i) + longest_mem[at];
    over       = until_when[TimeBits-1:RoundBits] + 1'b1;
    sooner     = over - state.over;
    if (state.live && sooner[RoundWidth-1]) over = state.over;
    same       = left != '0 && (over == state.over || left == size);
    place      = in_ring((IndexWidth + 1)'(first) + (IndexWidth + 1)'(left) - (IndexWidth + 1)'(same), size);

    state_new       = state;
    state_new.first = first;
    state_new.count = left + index_t'(note && !same);
    ended           = visit_q[3].round - state.over;
    if (!ended[RoundWidth-1]) state_new.live = 1'b0;
    if (note) begin
      state_new.any    = 1'b1;
      state_new.serial = look_q.serial;
      state_new.live   = 1'b1;
      state_new.over   = over;
    end
  end


  always_ff @(posedge clk_i) begin
    if (init_q || visit_q[3].valid) state_mem[init_q ? init_class_q : at] <= init_q ? '0 : state_new;
  end

  pst_ram_1r1w #(
      .Width($bits(word_t)),
      .Depth(Words),
      .ReadLatency(2)
  ) u_ring (
      .clk_i,
      .we_i   (note),
      .waddr_i(Bases[at] + WordWidth'(place)),
      .wdata_i({over, look_q}),
      .re_i   (visit_q[1].valid),
      .raddr_i(Bases[visit_q[1].class_id] + WordWidth'(state_mem[visit_q[1].class_id].first)),
      .rdata_o(oldest)
  );

  // ---- Settings: not while stamps are made, which begin the longest one anew ----
  logic set;
  class_t set_at;
  wait_t longest, set_to;

  assign s_set_ready_o = !init_q && !visit_q[3].noting;
  assign set           = s_set_valid_i && s_set_ready_o;
  assign set_at        = set ? s_set_class_i : at;
  assign longest       = longest_mem[s_set_class_i];
  assign set_to        = wait_t'(s_set_cycles_i);

  always_ff @(posedge clk_i) begin
    if (init_q || set) wait_mem[init_q ? init_class_q : s_set_class_i] <= init_q ? '0 : set_to;
    if (init_q || set || note) begin
      longest_mem[init_q ? init_class_q : set_at] <= init_q ? '0 : !set ? wait_mem[at] : set_to > longest ? set_to : longest;
    end
  end

  pst_fifo #(
      .Width(ClassWidth + $bits(stamp_t)),
      .Depth(Skips)
  ) u_skips (
      .clk_i,
      .rst_i,
      .s_valid_i(leaves),
      .s_ready_o(skip_ready),
      .s_data_i ({at, oldest.stamp}),
      .m_valid_o(m_skip_valid_o),
      .m_ready_i(m_skip_ready_i),
      .m_data_o ({m_skip_class_o, m_skip_o}),
      .level_o  ()
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !init_q) begin
      if (visit_q[3].valid) a_ring_in_bounds : assert (state.count <= size && state.first < size);
      if (set) a_set_below_half : assert (s_set_cycles_i < 2 ** (TimeBits - 2)) else $error("a deadline of %0d cycles", s_set_cycles_i);
    end
  end
`endif

endmodule
