// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_siblings: of the queues of a subscriber that wait together, at one parent in one class, exactly one stands in the parent's
// list, is picked, or is being appended; none is appended twice. A look gives a queue that waits there, and when it was chosen none of the others
// went before it; and it is said to hold back when one that has left would go again before it, so often as it was told; and whether others wait
// beside it. A queue that begins to
// wait while others of its subscriber wait at another parent waits alone. Its parent is said when it begins to wait, and the same one when it
// leaves, wherever its subscriber is then.
//
// One group, any, is followed: of a subscriber those of a class that wait at a parent together, or one queue while it waits alone. Beside the hardware stand the subscriber's queues that wait, which of them
// stands in the list, and which is to go. They change with what is seen at the ports. The invariant says how memories and pipeline encode them.
// pst_ram_modify is its contract here.
module pst_siblings_proof
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Indexes = 4,           // queues of a subscriber
    localparam int unsigned IndexWidth = $clog2(Indexes)
) (
    input logic                            clk_i,
    input logic                            rst_i,
    input logic                            op_valid_i,         // cycle 0
    input logic                            op_subscriber_i,
    input logic                            event_waits_i,      // cycle 3
    input logic                            event_left_i,
    input logic                            event_again_i,
    input logic [IndexWidth-1:0]           event_index_i,
    input class_t                          event_class_i,
    input logic [Indexes-1:0]              event_alike_i,
    input logic                            event_parent_i,
    input logic [Indexes-1:0][Indexes-1:0] event_before_i,
    input logic [Indexes-1:0]              event_repeat_i,
    input patience_t                       event_hold_i,
    input logic                            look_i,             // the one that stands in the group's list leaves it
    input logic                            look_subscriber_i,
    input logic [IndexWidth-1:0]           look_index_i
);

  localparam patience_t Patience = 2'd2;    // of pst_siblings

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [Indexes-1:0] set_t;
  typedef logic [Indexes-1:0][Indexes-1:0] before_t;

  typedef struct packed {    // as pst_waiting_queues has it
    logic alone;
    logic waits;
  } word_t;

  typedef enum logic [1:0] {
    Nothing,
    Listed,
    Looking,    // a look is under way
    Picked      // until its event
  } stands_e;

  logic append, told_alone, told_parent, init_done;
  index_t append_index, look_index;
  patience_t look_hold;
  logic look_beside;

  pst_siblings #(
      .Subscribers(2), .QueuesPerSubscriber(Indexes), .ParentWidth(1)
  ) u_dut (
      .clk_i, .rst_i,
      .s_op_valid_i(op_valid_i), .s_op_subscriber_i(op_subscriber_i),
      .s_event_waits_i(event_waits_i), .s_event_left_i(event_left_i), .s_event_again_i(event_again_i), .s_event_index_i(event_index_i),
      .s_event_alike_i(event_alike_i), .s_event_parent_i(event_parent_i), .s_event_before_i(event_before_i),
      .s_event_repeat_i(event_repeat_i), .s_event_hold_i(event_hold_i),
      .m_append_valid_o(append), .m_append_index_o(append_index), .m_alone_o(told_alone), .m_parent_o(told_parent),
      .s_look_subscriber_i(look_subscriber_i), .s_look_index_i(look_index_i), .m_look_index_o(look_index),
      .m_look_hold_o(look_hold), .m_look_beside_o(look_beside), .init_done_o(init_done)
  );

  logic seen_q, x_q, parent_q;    // subscriber,
  class_t class_q;                // class and parent, any;
  logic alone_q;                  // or it is one that waits alone:
  index_t single_q;               // this one, any
  initial seen_q = 1'b0;

  // --- the group as it should be

  word_t [Indexes-1:0] words_q, words_d;
  class_t [Indexes-1:0] classes_q, classes_d;    // of each that waits
  set_t parents_q, parents_d;             // of each that waits
  logic together_q, together_d;           // parent of those that do not wait alone
  logic alone, parent;                    // the queue of this event waits alone, or will; its parent
  logic alone4_q, parent4_q;              // the same, a cycle later
  set_t group_q, group_d, group5_q;       // that wait together: now; as of the events two cycles ago and before
  stands_e stands_q, stands_d;
  index_t who_q, who_d;                   // stands, or was picked
  index_t first4_q, first5_q, first6_q;   // the one that goes: chosen by an event of the last cycle or before, of two cycles ago, three
  patience_t hold_d, hold4_q, hold5_q, hold6_q;    // and so often it holds back
  logic beside4_q, beside5_q, beside6_q;           // and others wait beside it
  logic [3:1] valid_q, subscriber_q;
  logic happens, mine, group_event, e4_q, e5_q, any4_q, mine4_q, mine5_q;
  before_t before4_q;
  logic left4_q;
  set_t repeat4_q;

  function automatic index_t first_of(set_t set, before_t order);
    first_of = '0;
    for (int a = 0; a < Indexes; a++) begin
      logic first;
      first = set[a];
      for (int b = 0; b < Indexes; b++) if (a != b && set[b] && order[b][a]) first = 1'b0;
      if (first) first_of = index_t'(a);
    end
  endfunction

  function automatic set_t group_of(word_t [Indexes-1:0] words, class_t [Indexes-1:0] classes, set_t parents);
    for (int i = 0; i < Indexes; i++) begin
      group_of[i] = words[i].waits && words[i].alone == alone_q
          && (alone_q ? index_t'(i) == single_q : classes[i] == class_q && parents[i] == parent_q);
    end
  endfunction

  // Of any two one goes before the other, and there is no ring.
  function automatic logic ordered(before_t order);
    ordered = 1'b1;
    for (int a = 0; a < Indexes; a++) begin
      for (int b = 0; b < Indexes; b++) begin
        if (a != b && order[a][b] == order[b][a]) ordered = 1'b0;
        for (int c = 0; c < Indexes; c++) begin
          if (a != b && b != c && a != c && order[a][b] && order[b][c] && !order[a][c]) ordered = 1'b0;
        end
      end
    end
  endfunction

  always_comb begin
    happens     = event_waits_i || event_left_i || event_again_i;
    mine        = happens && subscriber_q[3] == x_q;
    alone       = words_q[event_index_i].alone;
    parent      = event_waits_i ? event_parent_i : parents_q[event_index_i];
    together_d  = together_q;
    if (event_waits_i) begin
      alone = 1'b0;
      if (mine) together_d = event_parent_i;
      for (int i = 0; i < Indexes; i++) begin
        if (words_q[i].waits && !words_q[i].alone) begin
          if (parents_q[i] != event_parent_i) alone = 1'b1;
          together_d = together_q;
        end
      end
    end
    group_event = mine && alone == alone_q
        && (alone_q ? event_index_i == single_q : event_class_i == class_q && parent == parent_q);
    words_d   = words_q;
    classes_d = classes_q;
    parents_d = parents_q;
    stands_d = stands_q;
    who_d    = who_q;
    if (mine && event_waits_i) begin
      words_d[event_index_i]   = '{alone: alone, waits: 1'b1};
      classes_d[event_index_i] = event_class_i;
      parents_d[event_index_i] = event_parent_i;
    end
    if (mine && event_left_i) words_d[event_index_i].waits = 1'b0;
    group_d = group_of(words_d, classes_d, parents_d);
    // what is seen at the ports
    if (e4_q && append) begin
      stands_d = Listed;
      who_d    = append_index;
    end
    if (look_i) stands_d = Looking;
    if (stands_q == Looking) begin
      stands_d = Picked;
      who_d    = look_index;
    end
    if (group_event && !event_waits_i) stands_d = Nothing;
    hold_d = '0;
    if (event_left_i && event_repeat_i[first_of(group_d, event_before_i)]) hold_d = Patience;
    if (event_again_i && event_hold_i != '0) hold_d = event_hold_i - 1'b1;
  end

  always_ff @(posedge clk_i) begin
    seen_q   <= 1'b1;
    x_q      <= x_q;
    class_q  <= class_q;
    parent_q <= parent_q;
    alone_q  <= alone_q;
    single_q <= single_q;
    valid_q      <= {valid_q[2:1], op_valid_i};
    subscriber_q <= {subscriber_q[2:1], op_subscriber_i};
    words_q  <= words_d;
    classes_q <= classes_d;
    parents_q  <= parents_d;
    together_q <= together_d;
    group_q  <= group_d;
    group5_q <= group_q;
    stands_q <= stands_d;
    who_q    <= who_d;
    e4_q     <= group_event;
    e5_q     <= e4_q;
    any4_q   <= happens;
    mine4_q  <= mine;
    alone4_q  <= alone;
    parent4_q <= parent;
    mine5_q  <= mine4_q;
    before4_q <= event_before_i;
    if (group_event) begin
      first4_q <= first_of(group_d, event_before_i);
      hold4_q  <= hold_d;
      beside4_q <= $countones(group_d) > 1;
    end
    first5_q <= first4_q;
    first6_q <= first5_q;
    hold5_q  <= hold4_q;
    hold6_q  <= hold5_q;
    beside5_q <= beside4_q;
    beside6_q <= beside5_q;
    left4_q  <= event_left_i;
    repeat4_q <= event_repeat_i;
    if (rst_i) begin
      valid_q  <= '0;
      words_q  <= '0;
      together_q <= 1'b0;
      group_q  <= '0;
      group5_q <= '0;
      stands_q <= Nothing;
      e4_q     <= 1'b0;
      e5_q     <= 1'b0;
      any4_q   <= 1'b0;
      mine4_q  <= 1'b0;
      mine5_q  <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i) begin
      if (op_valid_i) m_init : assume (init_done);
      m_event : assume (2'(event_waits_i) + 2'(event_left_i) + 2'(event_again_i) <= 2'd1 && (!happens || valid_q[3]));
      if (mine && event_waits_i) m_wait : assume (!words_q[event_index_i].waits);
      if (mine && !event_waits_i) begin
        m_left : assume (words_q[event_index_i].waits && classes_q[event_index_i] == event_class_i);
        if (group_event) m_picked : assume (stands_q == Picked && event_index_i == who_q);
      end
      // of pst_sibling_order: of those that wait it has the classes that they came with
      m_order : assume (ordered(event_before_i));
      for (int i = 0; i < Indexes; i++) begin
        if (mine && words_q[i].waits) m_alike : assume (event_alike_i[i] == (classes_q[i] == event_class_i));
      end
      if (look_i) m_look : assume (stands_q == Listed && look_subscriber_i == x_q && look_index_i == who_q);
    end
  end

  // --- memories and pipeline

  typedef struct packed {    // as pst_siblings has it
    logic      beside;
    patience_t hold;
    index_t    first;
  } next_t;

  next_t [Indexes-1:0] mem, read;
  set_t waiting4, waiting5;
  for (genvar i = 0; i < Indexes; i++) begin : g_memories
    assign mem[i]  = u_dut.g_siblings.g_next[i].u_next.mem[x_q];
    assign read[i] = u_dut.g_siblings.g_next[i].u_next.rdata_q;
  end
  assign waiting4 = u_dut.g_siblings.c4_waiting_q;
  assign waiting5 = u_dut.g_siblings.c5_waiting_q;

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on: one of those that wait stands or is picked; it is appended when there is none, and only then
      if (e4_q) a_append : assert (append == (group_q != '0 && stands_q == Nothing) && (!append || group_q[append_index]));
      else a_one : assert ((group_q != '0) == (stands_q != Nothing));
      if (append) a_only : assert (any4_q);
      if (mine4_q) a_told : assert (told_alone == alone4_q && (told_alone || told_parent == parent4_q));
      // a look gives one that waits in the group, the one that goes before all others
      if (stands_q == Looking) a_look : assert (look_index == first6_q && look_hold == hold6_q && look_beside == beside6_q
          && group_q[look_index]);

      // what the induction needs
      a_words : assert (u_dut.g_siblings.u_waiting.u_words.mem_q[x_q] == {together_q, words_q});
      a_group : assert (group_q == group_of(words_q, classes_q, parents_q));
      for (int i = 0; i < Indexes; i++) begin
        if (words_q[i].waits && !words_q[i].alone) a_together : assert (parents_q[i] == together_q);
        if (group5_q[i] && !e5_q) a_next : assert (mem[i] == next_t'({beside5_q, hold5_q, first5_q}));
      end
      a_valid : assert (u_dut.g_siblings.u_waiting.u_words.valid_q == valid_q);
      for (int k = 1; k <= 3; k++) begin
        if (valid_q[k]) a_stage_subscriber : assert (u_dut.g_siblings.u_waiting.u_words.addr_q[k] == subscriber_q[k]
                                && u_dut.g_siblings.subscriber_q[k] == subscriber_q[k]);
      end
      if (any4_q) a_ordered : assert (ordered(before4_q));
      if (e4_q) a_e4 : assert (any4_q && mine4_q && waiting4 == group_q && u_dut.g_siblings.c4_before_q == before4_q
                               && (group_q == '0 || (first4_q == first_of(group_q, before4_q) && beside4_q == ($countones(group_q) > 1)))
                               && u_dut.g_siblings.c4_repeat_q == (left4_q ? repeat4_q : '0)
                               && hold4_q == (left4_q && repeat4_q[first4_q] ? Patience : u_dut.g_siblings.c4_hold_q));
      if (mine4_q) a_mine4 : assert (any4_q && u_dut.g_siblings.subscriber_q[4] == x_q && (e4_q || (waiting4 & group_q) == '0));
      else if (u_dut.g_siblings.subscriber_q[4] == x_q) a_none4 : assert (waiting4 == '0);
      if (e5_q) a_e5 : assert (mine5_q && waiting5 == group5_q && (group5_q == '0
          || u_dut.g_siblings.c5_next_q == {beside5_q, hold5_q, first5_q}));
      if (mine5_q) a_mine5 : assert (u_dut.g_siblings.subscriber_q[5] == x_q && (e5_q || (waiting5 & group5_q) == '0));
      else if (u_dut.g_siblings.subscriber_q[5] == x_q) a_none5 : assert (waiting5 == '0);
      if (!e4_q) a_unchanged : assert (group_q == group5_q
          && (group_q == '0 || (first4_q == first5_q && hold4_q == hold5_q && beside4_q == beside5_q)));
      if (group_q != '0) a_first4 : assert (group_q[first4_q]);
      if (group5_q != '0) a_first5 : assert (group5_q[first5_q]);
      if (stands_q == Listed) a_listed : assert (group_q[who_q] && group5_q[who_q] && group_q[first5_q]);
      if (stands_q == Looking) begin
        a_looking : assert (group_q[first6_q]
            && (u_dut.g_siblings.hit_q[who_q] ? u_dut.g_siblings.new_q : read[who_q]) == {beside6_q, hold6_q, first6_q}
                            && u_dut.g_siblings.look_index_q == who_q);
      end
      if (stands_q == Picked) a_picked : assert (group_q[who_q]);
      if (!init_done) begin
        a_init : assert (valid_q == '0 && words_q == '0 && !together_q && stands_q == Nothing && !e4_q && !e5_q && !mine4_q && !mine5_q);
      end

      // useful work is possible: another one goes than the one that stands; the next one is appended when it has left
      c_alone : cover (alone_q && stands_q == Looking);
      c_hold : cover (stands_q == Looking && look_hold == Patience);
      c_beside : cover (stands_q == Looking && look_beside);
      c_other : cover (stands_q == Looking && look_index != who_q);
      c_next : cover (e4_q && append && stands_q == Nothing && group5_q != group_q && (group5_q & ~group_q) != '0);
    end
  end

endmodule
