// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_waits_above: a parent is held only while a packet of it that it waits for waits above, and woken up as soon as none does or
// a packet arrives that it may let go; no wake-up is lost or doubled; a look says which classes wait, and what left last. A packet that asks at a
// node has to wait exactly when that held back when it was looked at last, and one of its class or a higher one waits above.
//
// One parent, any, is followed. Beside the hardware stand the packets that wait, by class and place: as many of them as there are begin to wait
// and leave in any of two places, in any order, as the parent moves from one to the other. pst_ram_modify is its contract here.
module pst_waits_above_proof
  import pst_hierarchy_pkg::*;
#(
    parameter  bit          Same = 1'b0,  // a class waits for its own packets always, and not for those that arrive
    localparam int unsigned Classes = 3,
    localparam int unsigned Queues = 3    // packets of the parent that wait at most
) (
    input logic        clk_i,
    input logic        rst_i,
    input logic [12:0] now_i,
    input logic        op_valid_i,    // cycle 0
    input logic        op_parent_i,
    input above_e      event_i,       // cycle 3
    input logic        event_anew_i,
    input class_t      event_class_i,
    input logic        event_own_i,
    input logic        event_above_i,
    input logic        look_parent_i,
    input logic        holds_valid_i,
    input logic        holds_parent_i,
    input logic        holds_i,
    input logic        ask_parent_i,
    input class_t      ask_class_i
);

  typedef logic [1:0] count_t;

  localparam int unsigned RankWidth = Same ? 2 : 3;
  localparam int unsigned Top = Same ? 3 : 4;    // rank of class 0

  typedef struct packed {    // as pst_waits_above has it
    count_t [Classes-1:0] counts;
    logic                 above;
    logic                 held;
    logic [1:0]           held_class;
    logic                 held_own;
    logic [RankWidth-1:0] arrived;
  } word_t;

  logic wake_valid, wake_parent, ask_waits, init_done;
  above_t look;

  pst_waits_above #(
      .Parents(2), .AboveWidth(1), .Same(Same), .Queues(Queues), .Classes(Classes)
  ) u_dut (
      .clk_i, .rst_i, .now_i,
      .s_op_valid_i(op_valid_i), .s_op_parent_i(op_parent_i), .s_event_i(event_i), .s_event_class_i(event_class_i),
      .s_event_own_i(event_own_i), .s_holds_valid_i(holds_valid_i), .s_holds_parent_i(holds_parent_i), .s_holds_i(holds_i),
      .s_ask_parent_i(ask_parent_i), .s_ask_class_i(ask_class_i), .m_ask_waits_o(ask_waits),
      .s_event_above_i(event_above_i), .s_event_anew_i(event_anew_i), .m_wake_valid_o(wake_valid), .m_wake_parent_o(wake_parent),
      .s_look_parent_i(look_parent_i), .m_look_o(look), .init_done_o(init_done)
  );

  logic seen_q, x_q;    // the parent, any
  logic [12:0] clock_q;
  initial seen_q = 1'b0;

  // --- the parent as it should be

  count_t [1:0][Classes-1:0] waits_q, waits_d;    // place, class
  logic here_q, here_d;                           // in this place a packet of it has begun to wait last
  logic asleep_q, asleep_d;                       // a pick was refused, and it has not been woken up since
  class_t asleep_class_q, asleep_class_d;
  logic asleep_own_q, asleep_own_d;               // for its own class, too
  logic [3:0] arrived_q, arrived_d;               // highest class that arrived since a pick was refused last, while none slept; 8: none
  logic overtaken_q;                              // a pick is refused although one has arrived that goes before
  logic holds_q, holds_d;                         // it held back when it was looked at last
  logic ask_mine_q, ask_waits_q;                  // one asks, and has to wait
  logic [3:1] valid_q, parent_q;
  logic mine, mine4_q, look_mine_q, left4, left4_q;
  class_t held_class, left_class_q;    // of the packet that left last,
  logic [9:0] left_q;                  // and when
  above_e event4_q;
  class_t class4_q;
  logic above4_q;
  logic [4:0] sum;
  word_t word;
  above_t told_q, told4;    // what a look in this cycle has to give in the next

  // A packet that this class waits for is there: of a class before it, or, at a subscriber, of its own.
  function automatic logic waited_for(count_t [Classes-1:0] waits, class_t cls, logic own);
    waited_for = 1'b0;
    for (int c = 0; c < Classes; c++)
      if ((class_t'(c) < cls || ((Same || own) && class_t'(c) == cls)) && waits[c] != '0) waited_for = 1'b1;
  endfunction

  // One of class `cls` that arrives goes before what `of` waits for: of a node that waits for its own class one of that does.
  function automatic logic goes_before(logic [3:0] cls, class_t of, logic own);
    goes_before = cls < 4'(of) || (!Same && own && cls == 4'(of));
  endfunction

  assign word = u_dut.u_words.mem_q[x_q];
  assign mine = event_i != AboveNone && parent_q[3] == x_q;
  assign left4 = mine && ((event_i == AboveLeft && event_above_i == here_q && !event_anew_i) || event_i == AbovePassed);
  assign held_class = class_t'(word.held_class);

  always_comb begin
    waits_d        = waits_q;
    here_d         = here_q;
    asleep_d       = asleep_q;
    asleep_class_d = asleep_class_q;
    arrived_d      = arrived_q;
    asleep_own_d   = asleep_own_q;
    holds_d        = holds_valid_i && holds_parent_i == x_q ? holds_i : holds_q;
    sum            = '0;
    for (int p = 0; p < 2; p++) for (int c = 0; c < Classes; c++) sum += 5'(waits_q[p][c]);
    if (wake_valid && wake_parent == x_q) asleep_d = 1'b0;
    if (mine) begin
      case (event_i)
        AboveWaits: begin
          waits_d[event_above_i][event_class_i[1:0]] = waits_q[event_above_i][event_class_i[1:0]] + 1'b1;
          here_d = event_above_i;
        end
        AbovePassed: here_d = event_above_i;
        AboveLeft: waits_d[event_above_i][event_class_i[1:0]] = waits_q[event_above_i][event_class_i[1:0]] - 1'b1;
        AboveHeld: begin
          asleep_d       = 1'b1;
          asleep_class_d = event_class_i;
          asleep_own_d   = event_own_i;
          arrived_d      = 4'd8;
          here_d         = event_above_i;
        end
        AboveArrives: if (!asleep_d && 4'(event_class_i) < arrived_q) arrived_d = 4'(event_class_i);
        default: ;
      endcase
    end
    told4 = '0;
    for (int c = 0; c < Classes; c++) told4.waits[c] = word.counts[c] != '0;
    told4.left_class = left_class_q;
    told4.left       = left_q;
  end

  always_ff @(posedge clk_i) begin
    seen_q  <= 1'b1;
    x_q     <= x_q;
    clock_q <= now_i + 1'b1;
    valid_q <= {valid_q[2:1], op_valid_i};
    parent_q  <= {parent_q[2:1], op_parent_i};
    waits_q        <= waits_d;
    here_q         <= here_d;
    asleep_q       <= asleep_d;
    asleep_class_q <= asleep_class_d;
    asleep_own_q   <= asleep_own_d;
    holds_q        <= holds_d;
    ask_mine_q     <= ask_parent_i == x_q && init_done;
    ask_waits_q    <= holds_d && (told4.waits & ((8'd2 << ask_class_i) - 8'd1)) != '0;
    arrived_q      <= arrived_d;
    overtaken_q    <= mine && event_i == AboveHeld && goes_before(arrived_q, event_class_i, event_own_i);
    mine4_q     <= mine;
    left4_q     <= left4;
    if (left4) begin
      left_class_q <= event_class_i;
      left_q       <= 10'((now_i + 13'd1) >> 3);
    end
    event4_q    <= event_i;
    class4_q    <= event_class_i;
    above4_q     <= event_above_i;
    look_mine_q <= look_parent_i == x_q && init_done;
    told_q      <= told4;
    if (rst_i) begin
      valid_q  <= '0;
      waits_q  <= '0;
      here_q   <= 1'b0;
      asleep_q <= 1'b0;
      arrived_q   <= 4'd8;
      holds_q     <= 1'b0;
      ask_mine_q  <= 1'b0;
      overtaken_q <= 1'b0;
      mine4_q  <= 1'b0;
      left4_q  <= 1'b0;
      left_class_q <= '1;
      left_q       <= '0;
      look_mine_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    else m_clock : assume (now_i == clock_q);
    if (!rst_i) begin
      if (op_valid_i || holds_valid_i) m_init : assume (init_done);
      m_event : assume ((event_i == AboveNone || valid_q[3]) && event_class_i < class_t'(Classes));
      // pst_hierarchy: no more wait than there are; what leaves has waited; a parent is asked once at a time
      if (mine && event_i == AboveWaits) m_most : assume (32'(sum) < Queues);
      // of what its parent has let go a packet passes before the next one is asked for
      if (mine && (event_i == AbovePassed || event_anew_i)) m_passed : assume (!asleep_q);
      m_anew : assume (!event_anew_i || event_i == AboveWaits || event_i == AbovePassed);
      if (mine && event_i == AboveLeft) m_left : assume (waits_q[event_above_i][event_class_i[1:0]] != '0);
      if (mine && event_i == AboveHeld) m_held : assume (!asleep_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on: held is what was refused, until it is woken up, once
      a_asleep : assert (asleep_q == (word.held || (wake_valid && wake_parent == x_q)));
      if (word.held) a_woken_once : assert (!(wake_valid && wake_parent == x_q) && held_class == asleep_class_q
                                          && (Same || word.held_own == asleep_own_q));
      // a parent that is held has a packet above that it waits for, which will leave: no more are counted than there are; as many, without moves
      for (int c = 0; c < Classes; c++) a_count : assert (word.counts[c] <= waits_q[here_q][c]);
      if (word.held) a_held : assert (waited_for(word.counts, held_class, word.held_own)
                                    && waited_for(waits_q[here_q], asleep_class_q, asleep_own_q));
      // nor is one held whose port is another one, or at which one has arrived that goes before
      if (mine4_q && event4_q == AboveArrives && word.held) a_arrives : assert (!goes_before(4'(class4_q), held_class, word.held_own)
                                                                                && above4_q == here_q);
      if (mine4_q && (event4_q == AboveMoved || (event4_q == AboveLeft && above4_q != here_q))) a_moved : assert (!word.held);
      // nor is one whose pick was asked for before that class arrived
      if (overtaken_q) a_overtaken : assert (!word.held);
      // nor is one woken up for anything else
      if (wake_valid && wake_parent == x_q) begin
        a_not_early : assert (!waited_for(word.counts, asleep_class_q, asleep_own_q) || overtaken_q
                              || (event4_q == AboveArrives && goes_before(4'(class4_q), asleep_class_q, asleep_own_q))
                              || ((event4_q == AboveArrives || event4_q == AboveLeft) && above4_q != here_q)
                              || event4_q == AboveMoved);
      end
      // a look, a cycle later: as all events up to its cycle 4 have left it
      if (look_mine_q) a_look : assert (look == told_q);
      // and one that asks waits for its own class and all before it, if its parent holds back
      if (!Same && ask_mine_q) a_asks : assert (ask_waits == ask_waits_q);

      // what the induction needs
      a_above : assert (word.above == here_q);
      a_arrived : assert (32'(word.arrived) == (32'(arrived_q) < Top ? Top - 32'(arrived_q) : 0));
      if (overtaken_q) a_refused : assert (mine4_q && event4_q == AboveHeld);
      a_sum : assert (32'(sum) <= Queues);
      a_valid : assert (u_dut.u_words.valid_q == valid_q);
      for (int k = 1; k <= 3; k++) begin
        if (valid_q[k]) a_parent : assert (u_dut.u_words.addr_q[k] == parent_q[k] && u_dut.parent_q[k] == parent_q[k]);
      end
      if (mine4_q) a_mine4 : assert (u_dut.event_q && u_dut.parent_q[4] == x_q && u_dut.c4_word == word);
      if (u_dut.event_q && u_dut.parent_q[4] == x_q) a_event4 : assert (mine4_q);
      if (wake_valid && wake_parent == x_q) a_wake4 : assert (mine4_q);
      if (left4_q) a_left4 : assert (mine4_q && u_dut.leaves_q && u_dut.c4_left_q == {left_class_q, left_q});
      if (u_dut.leaves_q && u_dut.parent_q[4] == x_q) a_leaves : assert (left4_q);
      if (!u_dut.init || 32'(u_dut.init_parent) > 32'(x_q)) begin
        if (!mine4_q) a_memory : assert (u_dut.u_waits.mem[x_q] == told4.waits[Classes-1:0]);
        if (!left4_q) a_memory_left : assert (u_dut.u_left.mem[x_q] == {left_class_q, left_q});
      end
      if (!init_done) a_init : assert (valid_q == '0 && waits_q == '0 && word == '0 && !mine4_q && !asleep_q && !holds_q
                                      && left_class_q == '1 && left_q == '0);

      // useful work is possible
      if (!Same) c_asks : cover (ask_mine_q && ask_waits);
      c_held : cover (word.held && word.counts[0] == 2'd2);
      c_woken : cover (wake_valid && wake_parent == x_q && word.counts[0] == '0);
      c_moved : cover (word.held && word.counts[0] < waits_q[here_q][0]);
    end
  end

  if (!Same) begin : g_asks
    always_ff @(posedge clk_i) begin
      if (seen_q && !rst_i && (!u_dut.init || 32'(u_dut.init_parent) > 32'(x_q))) begin
        a_memory_holds : assert (u_dut.g_asks.u_holds.mem[x_q] == holds_q);
        if (!mine4_q) a_memory_asks : assert (u_dut.g_asks.u_asks.mem[x_q] == told4.waits[Classes-1:0]);
      end
    end
  end

endmodule
