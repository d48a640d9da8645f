// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Tracks, for each parent (a subscriber or a node), which classes wait at the next level, so that the parent does not send a packet that should
// go after one of these.
//
// A queue has one packet in the hierarchy. While that waits above, for instance for the end of a long packet of another parent, its own parent
// finds the packets of other queues only, and would let go of as many of their bytes as its rate allows. Lower classes go behind the higher one
// above anyway, and what they have had is missing when its next packet comes. So a pick at a node does not give a class while a higher one
// waits at its port, nor shortly after that has left, and a class's round does not end while a packet of its own waits there, whose queue may
// have credit for more; and a pick at a subscriber (`Same`) does not give a class while another packet of it waits at node or port: which of
// its queues is next is decided where their rate is used up. A parent whose pick was refused is held: it is in no wheel, until what it waits
// for has left or another packet arrives at it.
//
// Nor may a packet pass a node that held back when it was looked at last, while one of its class or a higher one waits at the port: it would
// go out of turn.
//
// Of each class the packets that wait above are counted. A parent that moves begins anew with the first packet that waits at another place or
// passes there, or the first pick that is refused; what still waits at the old one counts no more. A parent that has become too late to wait
// any longer begins anew, too: stale counts are discarded, because the packet may have left from another place than it was counted at. Each operation of the hierarchy brings
// one event at most. All of a parent is one word, so that nothing comes between a look and a change: a wake-up is neither lost nor doubled.
//
// Latency: cycle 0 the parent, 3 the event, 4 m_wake_o; a look takes a cycle and sees what is at cycle 4. Throughput: one event and one look per
// cycle. Reset: a walker clears the memories (`Parents` cycles): nothing waits.
module pst_waits_above
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Parents = 16,       // >= 2
    parameter int unsigned AboveWidth = 1,     // bits of the number of what is above, >= 1
    parameter bit          Same = 1'b0,        // a class waits for its own packets above always, and not for those that arrive
    parameter int unsigned Queues = 64,        // >= 2: no more packets wait
    parameter int unsigned Classes = 4,        // 1 .. 8
    parameter string       RamStyle = "auto",
    localparam int unsigned ParentWidth = $clog2(Parents)
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  logic [           12:0] now_i,              // cycles, modulo 2^13: one more in each
    // cycle 0
    input  logic                   s_op_valid_i,
    input  logic [ParentWidth-1:0] s_op_parent_i,
    // cycle 3
    input  above_e                 s_event_i,
    input  class_t                 s_event_class_i,
    input  logic                   s_event_own_i,      // AboveHeld: it waits for packets of its own class, too
    input  logic [ AboveWidth-1:0] s_event_above_i,    // what is above: of a node its port; of a subscriber node and port
    input  logic                   s_event_anew_i,     // AboveWaits, AbovePassed: what was counted before counts no more
    // cycle 4: a parent that was held is to be looked at
    output logic                   m_wake_valid_o,
    output logic [ParentWidth-1:0] m_wake_parent_o,
    // what a pick has to know; in the next cycle
    input  logic [ParentWidth-1:0] s_look_parent_i,
    output above_t                 m_look_o,
    // a parent was looked at: does it hold back?
    input  logic                   s_holds_valid_i,
    input  logic [ParentWidth-1:0] s_holds_parent_i,
    input  logic                   s_holds_i,
    // a packet is about to ask at a parent; in the next cycle whether it has to wait
    input  logic [ParentWidth-1:0] s_ask_parent_i,
    input  class_t                 s_ask_class_i,
    output logic                   m_ask_waits_o,
    output logic                   init_done_o
);

  localparam int unsigned CountWidth = $clog2(Queues + 1);
  localparam int unsigned KeptClassWidth = kept_class_width(Classes);

  typedef logic [ParentWidth-1:0] parent_t;
  typedef logic [CountWidth-1:0] count_t;
  typedef logic [KeptClassWidth-1:0] kept_class_t;

  // A higher class has a higher rank, none has 0. With Same the lowest class, for which none waits, is as none.
  localparam int unsigned RankWidth = Same ? KeptClassWidth : KeptClassWidth + 1;
  typedef logic [RankWidth-1:0] rank_t;

  function automatic rank_t rank(class_t cls);
    return rank_t'(2 ** KeptClassWidth - 32'(Same) - 32'(cls));
  endfunction

  typedef struct packed {
    count_t [Classes-1:0]  counts;        // packets that wait above
    logic [AboveWidth-1:0] above;         // at this one
    logic                  held;          // the parent waits to be woken up,
    kept_class_t           held_class;    // with packets of this class and lower ones
    logic                  held_own;      // for those of this class, too
    rank_t                 arrived;       // of the highest class that has arrived since it was held or was to be
  } word_t;

  // The packet that left there last.
  typedef struct packed {
    class_t     cls;
    logic [9:0] eighths;    // when, in eight cycles
  } left_t;

  localparam left_t NoneLeft = '{cls: '1, eighths: '0};    // none goes before the lowest class

  word_t c3_word, c3_new, c4_word;
  logic [Classes-1:0] c3_is, c3_waited, c3_waits, c3_waits_on;
  logic c3_here, c3_held_own, c3_wakes, c3_leaves, wake_q, event_q, leaves_q, words_init_done;
  class_t c3_held_class;
  parent_t [4:1] parent_q;
  logic [Classes-1:0] c4_waits;
  left_t c4_left_q;
  rank_t c3_rank;

  // One of these classes is waited for by `cls`; `own`: for itself, too.
  function automatic logic waited_for(logic [Classes-1:0] waits, class_t cls, logic own);
    waited_for = 1'b0;
    for (int c = 0; c < int'(Classes); c++) if ((class_t'(c) < cls || (own && class_t'(c) == cls)) && waits[c]) waited_for = 1'b1;
  endfunction

  assign c3_held_own   = Same || c3_word.held_own;
  assign c3_held_class = class_t'(c3_word.held_class);

  assign c3_here = c3_word.above == s_event_above_i && !s_event_anew_i;
  assign c3_rank = rank(s_event_class_i) - rank_t'(!Same && s_event_own_i);    // more than this may not have arrived

  // Which classes wait is known beside the counts that say so, not after them.
  always_comb begin
    for (int c = 0; c < int'(Classes); c++) begin
      c3_is[c]       = s_event_class_i == class_t'(c);
      c3_waited[c]   = c3_word.counts[c] != '0;
      c3_waits[c]    = c3_is[c] || (c3_here && c3_waited[c]);                        // when one more does,
      c3_waits_on[c] = c3_waited[c] && !(c3_is[c] && c3_word.counts[c] == count_t'(1));    // and when one has left
    end
  end

  always_comb begin
    c3_new   = c3_word;
    c3_wakes = 1'b0;
    case (s_event_i)
      AboveWaits: begin
        c3_new.above = s_event_above_i;
        for (int c = 0; c < int'(Classes); c++) begin
          // As many as there are: the others have left from another place than they were counted at.
          if (c3_is[c]) c3_new.counts[c] = c3_here && c3_word.counts[c] != count_t'(Queues) ? c3_word.counts[c] + 1'b1 : count_t'(1);
          else if (!c3_here) c3_new.counts[c] = '0;
        end
        c3_wakes = c3_word.held && !waited_for(c3_waits, c3_held_class, c3_held_own);
      end
      AboveLeft: begin
        for (int c = 0; c < int'(Classes); c++) if (c3_here && c3_is[c] && c3_waited[c]) c3_new.counts[c] = c3_word.counts[c] - 1'b1;
        // One that leaves from another place tells of a move: what it is held for may be gone.
        c3_wakes = c3_word.held && !(c3_here && waited_for(c3_waits_on, c3_held_class, c3_held_own));
      end
      AboveHeld: begin
        // One that arrived while the pick was on its way has woken none up: it does now. One from before does so, too, once.
        c3_new.held       = c3_here && waited_for(c3_waited, s_event_class_i, Same || s_event_own_i) && c3_word.arrived <= c3_rank;
        c3_new.held_class = kept_class_t'(s_event_class_i);
        c3_new.held_own   = !Same && s_event_own_i;
        c3_new.arrived    = '0;
        c3_wakes          = !c3_new.held;
        c3_new.above      = s_event_above_i;
        if (!c3_here) c3_new.counts = '0;
      end
      AboveArrives: begin
        c3_wakes = c3_word.held
            && (s_event_class_i < c3_held_class || (!Same && c3_word.held_own && s_event_class_i == c3_held_class) || !c3_here);
        if (!c3_word.held && c3_word.arrived < rank(s_event_class_i)) c3_new.arrived = rank(s_event_class_i);
      end
      AboveMoved: c3_wakes = c3_word.held;
      AbovePassed: if (!c3_here) begin
        c3_new.above  = s_event_above_i;
        c3_new.counts = '0;
      end
      default: ;
    endcase
    if (c3_wakes) c3_new.held = 1'b0;
  end

  assign c3_leaves = (s_event_i == AboveLeft && c3_here) || s_event_i == AbovePassed;

  pst_ram_modify #(
      .Width($bits(word_t)), .Depth(Parents), .Style(RamStyle)
  ) u_words (
      .clk_i, .rst_i,
      .valid_i(s_op_valid_i), .addr_i(s_op_parent_i), .word_o(c3_word), .we_i(s_event_i != AboveNone), .word_i(c3_new),
      .word_q_o(c4_word), .init_done_o(words_init_done)
  );

  always_ff @(posedge clk_i) begin
    parent_q  <= {parent_q[3:1], s_op_parent_i};
    event_q   <= s_event_i != AboveNone && !rst_i;
    leaves_q  <= c3_leaves && !rst_i;
    c4_left_q <= '{cls: s_event_class_i, eighths: 10'((now_i + 13'd1) >> 3)};    // as it is in cycle 4
    wake_q    <= c3_wakes && !rst_i;
  end

  assign m_wake_valid_o  = wake_q;
  assign m_wake_parent_o = parent_q[4];

  // --- for picks: which classes wait, and what left last

  logic hit_q, left_hit_q, init;
  parent_t init_parent;
  logic [Classes-1:0] waits, waits_q;
  left_t left, left_q;

  always_comb for (int c = 0; c < int'(Classes); c++) c4_waits[c] = c4_word.counts[c] != '0;

  always_ff @(posedge clk_i) begin
    hit_q      <= event_q && parent_q[4] == s_look_parent_i;
    left_hit_q <= leaves_q && parent_q[4] == s_look_parent_i;
    waits_q    <= c4_waits;
    left_q     <= c4_left_q;
  end

  pst_clear_walk #(.Depth(Parents)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_parent));

  pst_ram_1r1w #(
      .Width(Classes), .Depth(Parents), .Style(RamStyle)
  ) u_waits (
      .clk_i,
      .we_i(init || event_q), .waddr_i(init ? init_parent : parent_q[4]), .wdata_i(init ? '0 : c4_waits),
      .re_i(1'b1), .raddr_i(s_look_parent_i), .rdata_o(waits)
  );

  pst_ram_1r1w #(
      .Width($bits(left_t)), .Depth(Parents), .Style(RamStyle)
  ) u_left (
      .clk_i,
      .we_i(init || leaves_q), .waddr_i(init ? init_parent : parent_q[4]), .wdata_i(init ? NoneLeft : c4_left_q),
      .re_i(1'b1), .raddr_i(s_look_parent_i), .rdata_o(left)
  );

  // --- for packets that ask

  if (Same) begin : g_no_asks
    assign m_ask_waits_o = 1'b0;

    logic unused_asks;
    assign unused_asks = &{1'b0, s_holds_valid_i, s_holds_parent_i, s_holds_i, s_ask_parent_i, s_ask_class_i};
  end else begin : g_asks
    logic ask_hit_q, holds_hit_q, holds_q, holds_ram;
    logic [Classes-1:0] waits_ram, ask_waits, most_q;

    always_ff @(posedge clk_i) begin
      ask_hit_q   <= event_q && parent_q[4] == s_ask_parent_i;
      holds_hit_q <= s_holds_valid_i && s_holds_parent_i == s_ask_parent_i;
      holds_q     <= s_holds_i;
      for (int c = 0; c < int'(Classes); c++) most_q[c] <= class_t'(c) <= s_ask_class_i;
    end

    pst_ram_1r1w #(
        .Width(Classes), .Depth(Parents), .Style(RamStyle)
    ) u_asks (
        .clk_i,
        .we_i(init || event_q), .waddr_i(init ? init_parent : parent_q[4]), .wdata_i(init ? '0 : c4_waits),
        .re_i(1'b1), .raddr_i(s_ask_parent_i), .rdata_o(waits_ram)
    );

    pst_ram_1r1w #(
        .Width(1), .Depth(Parents), .Style(RamStyle)
    ) u_holds (
        .clk_i,
        .we_i(init || s_holds_valid_i), .waddr_i(init ? init_parent : s_holds_parent_i), .wdata_i(!init && s_holds_i),
        .re_i(1'b1), .raddr_i(s_ask_parent_i), .rdata_o(holds_ram)
    );

    assign ask_waits     = ask_hit_q ? waits_q : waits_ram;
    assign m_ask_waits_o = (holds_hit_q ? holds_q : holds_ram) && (ask_waits & most_q) != '0;
  end

  assign init_done_o = words_init_done && !init;

  logic [Classes-1:0] looked;    // before it is widened: Verilator 5.006 wants both sides of a choice as wide as the cast
  assign looked         = hit_q ? waits_q : waits;
  assign m_look_o.waits = (2 ** ClassWidth)'(looked);
  assign {m_look_o.left_class, m_look_o.left} = left_hit_q ? left_q : left;

  logic unused;
  assign unused = &{1'b0, c4_word};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (s_event_i == AboveHeld) a_held_once : assert (!c3_word.held) else $error("parent %0d is held twice", parent_q[3]);
      if (s_event_i == AboveWaits)
        a_waiting_in_range : assert (c3_new.counts[s_event_class_i] <= count_t'(Queues))
        else $error("parent %0d: more packets wait above than it has queues", parent_q[3]);
    end
  end
`endif

endmodule
