// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_fair_lists: every queue is in exactly one place, lists are FIFO, and priority: what a pick gives is of the highest class
// that waited at its parent when the pick was asked for, the oldest of the list whose turn it is. Only what was appended less than three cycles
// before may have come too late.
//
// Beside the hardware stand the lists as plain arrays. An append or a pick takes effect in stage 2, in the order of stage 0; the word of a list
// (`word_q`), the classes that wait (`mask_q`) and the arrays change there. The invariant says how words, links and pipeline encode the arrays.
module pst_fair_lists_proof
  import pst_hierarchy_pkg::*;
#(
    localparam int unsigned Queues = 3,
    localparam int unsigned Lists = 4      // parent, class; each with two sides
) (
    input logic        clk_i,
    input logic        rst_i,
    input logic [12:0] now_i,
    input logic        append_valid_i,
    input logic        append_again_i,
    input logic        append_parent_i,
    input class_t      append_class_i,
    input logic [1:0]  append_queue_i,
    input round_t      append_round_i,
    input logic        append_credit_i,
    input logic        pick_valid_i,
    input logic        pick_parent_i,
    input logic        out_ready_i
);

  typedef logic [1:0] queue_t;
  typedef logic [1:0] list_t;
  typedef logic [1:0] count_t;

  typedef enum logic [1:0] {
    Outside,
    InStage1,
    InStage2,
    InList
  } where_e;

  typedef struct packed {
    where_e where;
    list_t  list;
    logic   side;
    queue_t place;    // from the list's first
  } at_t;

  typedef struct packed {
    logic   busy;      // a pick is under way: from its handshake to its answer's
    logic   done;      // it has taken effect
    class_t cls;       // what it must give
    queue_t queue_id;
    logic   none;
    round_t round;
  } pick_t;

  typedef struct packed {    // as pst_fair_lists has it
    queue_t [1:0]    head;
    queue_t [1:0]    tail;
    logic [1:0][2:0] count;
    logic [1:0]      nonempty;
    round_t          round;
    logic [9:0]      last;
  } lists_t;

  // as pst_fair_lists has them
  localparam logic [1:0] OpAppend = 2'd0;
  localparam logic [1:0] OpPick = 2'd1;
  localparam logic [1:0] OpHead = 2'd2;
  localparam lists_t Cleared = lists_t'({16'b0, round_t'(2), 10'b0});

  logic pick_ready, out_valid, out_parent, out_none, init_done;
  queue_t out_queue;
  round_t out_round;

  pst_fair_lists #(
      .Parents(2), .Queues(Queues), .Classes(2), .GraceCycles(64)
  ) u_dut (
      .clk_i, .rst_i, .now_i,
      .s_append_valid_i(append_valid_i), .s_append_again_i(append_again_i), .s_append_parent_i(append_parent_i),
      .s_append_class_i(append_class_i), .s_append_queue_i(append_queue_i), .s_append_round_i(append_round_i),
      .s_append_credit_i(append_credit_i),
      .s_pick_valid_i(pick_valid_i), .s_pick_ready_o(pick_ready), .s_pick_parent_i(pick_parent_i),
      .m_pick_valid_o(out_valid), .m_pick_ready_i(out_ready_i), .m_pick_parent_o(out_parent), .m_pick_queue_o(out_queue),
      .m_pick_round_o(out_round), .m_pick_none_o(out_none), .init_done_o(init_done)
  );

  logic seen_q, ask, give;
  initial seen_q = 1'b0;
  assign ask  = pick_valid_i && pick_ready;
  assign give = out_valid && out_ready_i;

  // --- the lists as they should be


  at_t [3:0] at_q, at_d;
  queue_t [Lists-1:0][1:0][3:0] list_q, list_d;    // list, side, place
  count_t [Lists-1:0][1:0] count_q, count_d;
  round_t [Lists-1:0] round_q, round_d;
  lists_t [Lists-1:0] word_q;
  logic [1:0][1:0] mask_q, mask;                   // parent, class
  pick_t [1:0] pick_q, pick_d;                     // parent
  logic [1:0] pending_q, pending_d;                // parent: the next head of a list is on its way
  list_t [1:0] pending_list_q, pending_list_d;
  logic [1:0] pending_side_q, pending_side_d;

  logic effect, side, turn, none;
  list_t l2;
  assign effect = u_dut.p2_q.valid;
  assign l2     = {u_dut.p2_q.parent, u_dut.p2_q.cls[0]};
  assign turn   = round_q[l2][0];

  always_comb begin
    at_d           = at_q;
    list_d         = list_q;
    count_d        = count_q;
    round_d        = round_q;
    pick_d         = pick_q;
    pending_d      = pending_q;
    pending_list_d = pending_list_q;
    pending_side_d = pending_side_q;
    side           = turn;
    none           = 1'b0;
    if (give) pick_d[out_parent].busy = 1'b0;
    if (u_dut.p1_q.valid && u_dut.p1_q.op == OpAppend) at_d[u_dut.p1_q.queue_id].where = InStage2;
    if (append_valid_i) at_d[append_queue_i].where = InStage1;
    if (ask) begin
      pick_d[pick_parent_i] = '{busy: 1'b1, done: 1'b0, cls: mask_q[pick_parent_i][0] ? class_t'(0) : class_t'(1), default: '0};
    end
    if (effect && u_dut.p2_q.op == OpAppend) begin
      if (u_dut.p2_q.again || (u_dut.p2_q.round == round_q[l2] && !u_dut.p2_q.credit)) side = !turn;
      list_d[l2][side][count_q[l2][side]] = u_dut.p2_q.queue_id;
      at_d[u_dut.p2_q.queue_id] = '{where: InList, list: l2, side: side, place: count_q[l2][side]};
      count_d[l2][side] = count_q[l2][side] + 1'b1;
    end
    if (effect && u_dut.p2_q.op == OpPick) begin
      none = count_q[l2][turn] == '0 && 10'(now_i[12:3] - word_q[l2].last) < 10'd8;
      side = count_q[l2][turn] != '0 ? turn : !turn;
      if (!none) begin
        if (side != turn) round_d[l2] = round_q[l2] + 1'b1;
        for (int k = 0; k < 3; k++) list_d[l2][side][k] = list_q[l2][side][k+1];
        for (int q = 0; q < Queues; q++) begin
          if (at_q[q].where == InList && at_q[q].list == l2 && at_q[q].side == side) begin
            if (at_q[q].place == '0) at_d[q].where = Outside;
            else at_d[q].place = at_q[q].place - 1'b1;
          end
        end
        count_d[l2][side] = count_q[l2][side] - 1'b1;
        pending_d[u_dut.p2_q.parent]      = count_q[l2][side] != count_t'(1);
        pending_list_d[u_dut.p2_q.parent] = l2;
        pending_side_d[u_dut.p2_q.parent] = side;
      end
      pick_d[u_dut.p2_q.parent].done     = 1'b1;
      pick_d[u_dut.p2_q.parent].none     = none;
      pick_d[u_dut.p2_q.parent].queue_id = list_q[l2][side][0];
      pick_d[u_dut.p2_q.parent].round    = round_d[l2];
    end
    if (effect && u_dut.p2_q.op == OpHead) pending_d[u_dut.p2_q.parent] = 1'b0;
  end

  always_comb begin
    for (int p = 0; p < 2; p++) for (int c = 0; c < 2; c++) mask[p][c] = count_q[2*p+c] != '0;
  end

  logic [1:0] read1_q, read2_q;    // classes that waited when a pick was asked for

  always_ff @(posedge clk_i) begin
    seen_q         <= 1'b1;
    at_q           <= at_d;
    list_q         <= list_d;
    count_q        <= count_d;
    round_q        <= round_d;
    pick_q         <= pick_d;
    pending_q      <= pending_d;
    pending_list_q <= pending_list_d;
    pending_side_q <= pending_side_d;
    read1_q        <= mask_q[pick_parent_i];
    read2_q        <= read1_q;
    if (effect) begin
      word_q[l2] <= u_dut.p2_new;
      mask_q[u_dut.p2_q.parent][u_dut.p2_q.cls[0]] <= count_d[l2] != '0;
    end
    if (rst_i) begin
      for (int q = 0; q < 4; q++) at_q[q].where <= Outside;
      count_q   <= '0;
      mask_q    <= '0;
      pick_q    <= '0;
      pending_q <= '0;
      for (int l = 0; l < Lists; l++) begin
        round_q[l] <= round_t'(2);
        word_q[l]  <= Cleared;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (append_valid_i && !rst_i) begin
      m_append : assume (init_done && 32'(append_queue_i) < Queues && at_q[append_queue_i].where == Outside
                         && append_class_i < class_t'(2));
    end
    // pst_gate: one pick of a parent at a time, and only when somebody waits there
    if (ask && !rst_i) m_ask : assume (!pick_q[pick_parent_i].busy && mask_q[pick_parent_i] != '0);
  end

  // --- where picks and heads are

  function automatic list_t list_of(logic parent, class_t cls);
    list_of = {parent, cls[0]};
  endfunction

  localparam int unsigned OpBits = 1 + 2 + 1 + ClassWidth + 2 + RoundWidth + 2;
  logic [1:0] ask_there, head_there, out_there;
  logic [1:0][3:0] ask_word;                       // FIFO place: parent, class
  logic [1:0][OpBits-1:0] head_bits;
  logic [1:0][1+2+RoundWidth+1-1:0] out_bits;
  logic [1:0][3:0] picks, heads;                   // parent

  // fields of a head in its FIFO
  function automatic logic head_parent(logic [OpBits-1:0] bits);
    head_parent = bits[OpBits-4];
  endfunction
  function automatic class_t head_class(logic [OpBits-1:0] bits);
    head_class = bits[OpBits-5-:3];
  endfunction
  function automatic queue_t head_queue(logic [OpBits-1:0] bits);
    head_queue = bits[OpBits-8-:2];
  endfunction
  function automatic logic head_side(logic [OpBits-1:0] bits);
    head_side = bits[2];
  endfunction

  always_comb begin
    for (int k = 0; k < 2; k++) begin
      ask_there[k]  = 32'(u_dut.u_pick.level_q) > k;
      head_there[k] = 32'(u_dut.u_head.level_q) > k;
      out_there[k]  = 32'(u_dut.u_out.level_q) > k;
      ask_word[k]   = u_dut.u_pick.mem[3'(32'(u_dut.u_pick.raddr_q) + k)];
      head_bits[k]  = u_dut.u_head.mem[3'(32'(u_dut.u_head.raddr_q) + k)];
      out_bits[k]   = u_dut.u_out.mem[3'(32'(u_dut.u_out.raddr_q) + k)];
    end
    for (int p = 0; p < 2; p++) begin
      picks[p] = 4'(u_dut.look1_q && u_dut.look1_parent_q == 1'(p)) + 4'(u_dut.look2_q && u_dut.look2_parent_q == 1'(p))
          + 4'(u_dut.p1_q.valid && u_dut.p1_q.op == OpPick && u_dut.p1_q.parent == 1'(p))
          + 4'(u_dut.p2_q.valid && u_dut.p2_q.op == OpPick && u_dut.p2_q.parent == 1'(p))
          + 4'(u_dut.p3_q.valid && u_dut.p3_q.op == OpPick && u_dut.p3_q.parent == 1'(p));
      heads[p] = 4'(u_dut.p3_left_q && u_dut.p3_q.parent == 1'(p)) + 4'(u_dut.p4_left_q && u_dut.p4_q.parent == 1'(p))
          + 4'(u_dut.p5_left_q && u_dut.p5_q.parent == 1'(p))
          + 4'(u_dut.p1_q.valid && u_dut.p1_q.op == OpHead && u_dut.p1_q.parent == 1'(p))
          + 4'(u_dut.p2_q.valid && u_dut.p2_q.op == OpHead && u_dut.p2_q.parent == 1'(p));
      for (int k = 0; k < 2; k++) begin
        picks[p] += 4'(ask_there[k] && ask_word[k][3] == 1'(p)) + 4'(out_there[k] && out_bits[k][RoundWidth+3] == 1'(p));
        heads[p] += 4'(head_there[k] && head_parent(head_bits[k]) == 1'(p));
      end
    end
  end

  // What a queue's link must be: in the memory, or about to be written there.
  function automatic logic linked(queue_t from, queue_t to);
    linked = u_dut.p3_link_we_q && u_dut.p3_link_waddr_q == from ? u_dut.p3_q.queue_id == to : u_dut.u_link.mem[from] == to;
  endfunction

  logic [4:0] lists_cleared;
  always_comb begin
    for (int l = 0; l < Lists; l++) lists_cleared[l] = !u_dut.init_q || l < 32'(u_dut.init_list_q);
    lists_cleared[4] = 1'b1;
  end

  list_t l1, l3, l4, l5;
  logic valid5;
  assign l1 = list_of(u_dut.p1_q.parent, u_dut.p1_q.cls);
  assign l3 = list_of(u_dut.p3_q.parent, u_dut.p3_q.cls);
  assign l4 = list_of(u_dut.p4_q.parent, u_dut.p4_q.cls);
  assign l5 = list_of(u_dut.p5_q.parent, u_dut.p5_q.cls);
  assign valid5 = u_dut.p5_q.valid;

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on: the answer is of the highest class that waited, the first of its list
      for (int k = 0; k < 2; k++) begin
        if (out_there[k]) begin
          assert (pick_q[out_bits[k][RoundWidth+3]].done && out_bits[k][0] == pick_q[out_bits[k][RoundWidth+3]].none
                             && out_bits[k][RoundWidth:1] == pick_q[out_bits[k][RoundWidth+3]].round);
          if (!out_bits[k][0]) assert (out_bits[k][RoundWidth+2:RoundWidth+1] == pick_q[out_bits[k][RoundWidth+3]].queue_id);
        end
      end
      if (effect && u_dut.p2_q.op == OpPick) begin
        a_priority : assert (u_dut.p2_q.cls == pick_q[u_dut.p2_q.parent].cls);
        a_first : assert (u_dut.p2_none == none && (none || (u_dut.p2_head == list_q[l2][side][0] && count_q[l2][side] != '0)));
      end

      // one place: the arrays and the map agree
      for (int q = 0; q < Queues; q++) begin
        if (at_q[q].where == InList) begin
          assert (at_q[q].place < count_q[at_q[q].list][at_q[q].side]
                            && list_q[at_q[q].list][at_q[q].side][at_q[q].place] == queue_t'(q));
        end
        assert ((at_q[q].where == InStage1)
                == (u_dut.p1_q.valid && u_dut.p1_q.op == OpAppend && u_dut.p1_q.queue_id == queue_t'(q)));
        assert ((at_q[q].where == InStage2)
                == (u_dut.p2_q.valid && u_dut.p2_q.op == OpAppend && u_dut.p2_q.queue_id == queue_t'(q)));
      end
      assert (at_q[3].where == Outside);
      for (int l = 0; l < Lists; l++) begin
        for (int s = 0; s < 2; s++) begin
          for (int k = 0; k < 3; k++) begin
            if (count_t'(k) < count_q[l][s]) begin
              assert (at_q[list_q[l][s][k]] == at_t'({InList, list_t'(l), 1'(s), queue_t'(k)}));
              if (count_t'(k + 1) < count_q[l][s]) assert (linked(list_q[l][s][k], list_q[l][s][k+1]));
            end
          end
          // the word
          assert (word_q[l].count[s] == 3'(count_q[l][s]) && word_q[l].nonempty[s] == (count_q[l][s] != '0));
          if (count_q[l][s] != '0) assert (word_q[l].tail[s] == list_q[l][s][count_q[l][s]-1'b1]);
          if (count_q[l][s] != '0 && !(pending_q[l/2] && pending_list_q[l/2] == list_t'(l) && pending_side_q[l/2] == 1'(s))) begin
            assert (word_q[l].head[s] == list_q[l][s][0]);
          end
        end
        assert (word_q[l].round == round_q[l]);
        // words and masks: in the memory, or on their way there
        if (lists_cleared[l] && !(u_dut.p3_q.valid && l3 == list_t'(l))) assert (u_dut.u_lists.mem[l] == word_q[l]);
      end
      if (u_dut.p3_q.valid) assert (u_dut.p3_lists_q == word_q[l3] && u_dut.p3_mask == mask_q[u_dut.p3_q.parent]);
      if (u_dut.p4_q.valid && !(u_dut.p3_q.valid && l3 == l4)) assert (u_dut.p4_lists_q == word_q[l4]);
      if (u_dut.p4_q.valid && !(u_dut.p3_q.valid && u_dut.p3_q.parent == u_dut.p4_q.parent)) begin
        assert (u_dut.p4_mask_q == mask_q[u_dut.p4_q.parent]);
      end
      for (int p = 0; p < 2; p++) begin
        assert (mask_q[p] == mask[p]);
        if ((!u_dut.init_q || p < 32'(u_dut.init_list_q)) && !(u_dut.p3_q.valid && u_dut.p3_q.parent == 1'(p))) begin
          assert (u_dut.u_mask.mem[p] == mask_q[p] && u_dut.u_look.u_ram.mem[p] == mask_q[p]);
        end
      end
      // reads
      if (u_dut.p1_q.valid) begin
        if (!(u_dut.p3_q.valid && l3 == l1) && !(u_dut.p4_q.valid && l4 == l1)) assert (u_dut.u_lists.rdata_q == word_q[l1]);
        if (!(u_dut.p3_q.valid && u_dut.p3_q.parent == u_dut.p1_q.parent)
            && !(u_dut.p4_q.valid && u_dut.p4_q.parent == u_dut.p1_q.parent)) begin
          assert (u_dut.u_mask.rdata_q == mask_q[u_dut.p1_q.parent]);
        end
      end
      if (effect) begin
        assert (u_dut.hit1_q == (u_dut.p3_q.valid && l3 == l2));
        assert (u_dut.hit23_q == ((u_dut.p4_q.valid && l4 == l2) || (valid5 && l5 == l2)));
        if (u_dut.p4_q.valid && l4 == l2) assert (u_dut.p2_ahead_q == u_dut.p4_lists_q);
        else if (valid5 && l5 == l2 && !(u_dut.p3_q.valid && l3 == l2)) assert (u_dut.p2_ahead_q == word_q[l2]);
        assert (u_dut.mask_hit1_q == (u_dut.p3_q.valid && u_dut.p3_q.parent == u_dut.p2_q.parent)
                && u_dut.mask_hit23_q == ((u_dut.p4_q.valid && u_dut.p4_q.parent == u_dut.p2_q.parent)
                                          || (valid5 && u_dut.p5_q.parent == u_dut.p2_q.parent)));
        if (u_dut.p4_q.valid && u_dut.p4_q.parent == u_dut.p2_q.parent) assert (u_dut.p2_mask_ahead_q == u_dut.p4_mask_q);
        else if (valid5 && u_dut.p5_q.parent == u_dut.p2_q.parent && !(u_dut.p3_q.valid && u_dut.p3_q.parent == u_dut.p2_q.parent)) begin
          assert (u_dut.p2_mask_ahead_q == mask_q[u_dut.p2_q.parent]);
        end
        a_word : assert (u_dut.p2_lists == word_q[l2] && u_dut.p2_mask == mask_q[u_dut.p2_q.parent]);
      end
      if (u_dut.look1_q) begin
        assert ((u_dut.u_look.hit_q ? u_dut.u_look.new_q : u_dut.u_look.word) == read1_q && read1_q != '0);
        assert (pick_q[u_dut.look1_parent_q].cls == (read1_q[0] ? class_t'(0) : class_t'(1)));
      end
      if (u_dut.look2_q) begin
        assert (u_dut.look2_mask == read2_q && read2_q != '0);
        assert (pick_q[u_dut.look2_parent_q].cls == (read2_q[0] ? class_t'(0) : class_t'(1)));
      end
      for (int k = 0; k < 2; k++) if (ask_there[k]) assert (ask_word[k][2:0] == pick_q[ask_word[k][3]].cls);
      if (u_dut.p1_q.valid && u_dut.p1_q.op == OpPick) assert (u_dut.p1_q.cls == pick_q[u_dut.p1_q.parent].cls);
      if (u_dut.p3_q.valid && u_dut.p3_q.op == OpPick) begin
        assert (u_dut.p3_none_q == pick_q[u_dut.p3_q.parent].none && u_dut.p3_round_q == pick_q[u_dut.p3_q.parent].round);
        if (!u_dut.p3_none_q) assert (u_dut.p3_picked_q == pick_q[u_dut.p3_q.parent].queue_id);
      end
      // operations are of classes and queues that there are
      if (u_dut.p1_q.valid) assert (u_dut.p1_q.cls < class_t'(2) && u_dut.p1_q.op <= OpHead);
      if (u_dut.p2_q.valid) assert (u_dut.p2_q.cls < class_t'(2) && u_dut.p2_q.op <= OpHead);
      if (u_dut.p3_q.valid) assert (u_dut.p3_q.cls < class_t'(2) && u_dut.p3_q.op <= OpHead);
      if (u_dut.p4_q.valid) assert (u_dut.p4_q.cls < class_t'(2));
      if (valid5) assert (u_dut.p5_q.cls < class_t'(2));
      if (u_dut.p1_q.valid && u_dut.p1_q.op == OpAppend) assert (32'(u_dut.p1_q.queue_id) < Queues);
      if (u_dut.p2_q.valid && u_dut.p2_q.op == OpAppend) assert (32'(u_dut.p2_q.queue_id) < Queues);
      if (u_dut.p3_link_we_q) assert (u_dut.init_q || (u_dut.p3_q.valid && u_dut.p3_q.op == OpAppend));
      for (int p = 0; p < 2; p++) begin
        assert (pick_q[p].cls < class_t'(2));
        // picks and heads: each in one place
        assert (picks[p] == 4'(pick_q[p].busy));
        assert (heads[p] == 4'(pending_q[p]));
        if (pending_q[p]) assert (pending_list_q[p][1] == 1'(p) && count_q[pending_list_q[p]][pending_side_q[p]] != '0);
        if (pick_q[p].busy && !pick_q[p].done) begin
          assert (count_q[list_of(1'(p), pick_q[p].cls)] != '0);
        end
        assert (pick_q[p].done == !((u_dut.look1_q && u_dut.look1_parent_q == 1'(p)) || (u_dut.look2_q && u_dut.look2_parent_q == 1'(p))
                || (u_dut.p1_q.valid && u_dut.p1_q.op == OpPick && u_dut.p1_q.parent == 1'(p))
                || (u_dut.p2_q.valid && u_dut.p2_q.op == OpPick && u_dut.p2_q.parent == 1'(p))
                || (ask_there[0] && ask_word[0][3] == 1'(p)) || (ask_there[1] && ask_word[1][3] == 1'(p))) || !pick_q[p].busy);
        // a pick never overtakes the head that the one before it has uncovered
        if (u_dut.look1_q && u_dut.look1_parent_q == 1'(p)) begin
          assert (!(u_dut.p3_left_q && u_dut.p3_q.parent == 1'(p)) && !(u_dut.p4_left_q && u_dut.p4_q.parent == 1'(p)));
        end
        if ((u_dut.look2_q && u_dut.look2_parent_q == 1'(p)) || (ask_there[0] && ask_word[0][3] == 1'(p))
            || (ask_there[1] && ask_word[1][3] == 1'(p))) begin
          assert (!(u_dut.p3_left_q && u_dut.p3_q.parent == 1'(p)) && !(u_dut.p4_left_q && u_dut.p4_q.parent == 1'(p))
                  && !(u_dut.p5_left_q && u_dut.p5_q.parent == 1'(p)));
        end
        if (u_dut.p1_q.valid && u_dut.p1_q.op == OpPick && u_dut.p1_q.parent == 1'(p)) begin
          assert (!pending_q[p] || (u_dut.p2_q.valid && u_dut.p2_q.op == OpHead && u_dut.p2_q.parent == 1'(p)));
        end
        if (effect && u_dut.p2_q.op == OpPick && u_dut.p2_q.parent == 1'(p)) assert (!pending_q[p]);
        if (out_there[0] && out_bits[0][RoundWidth+3] == 1'(p)) assert (!(u_dut.p3_left_q && u_dut.p3_q.parent == 1'(p)));
        if (out_there[1] && out_bits[1][RoundWidth+3] == 1'(p)) assert (!(u_dut.p3_left_q && u_dut.p3_q.parent == 1'(p)));
      end
      // a head on its way is the first of its list
      if (u_dut.p3_left_q) begin
        assert (u_dut.p3_q.valid && u_dut.p3_q.op == OpPick && l3 == pending_list_q[u_dut.p3_q.parent]
                && u_dut.p3_side_q[0] == pending_side_q[u_dut.p3_q.parent]);
        assert (u_dut.u_link.mem[u_dut.p3_picked_q] == list_q[l3][u_dut.p3_side_q[0]][0]);
      end
      if (u_dut.p4_left_q) begin
        assert (u_dut.p4_q.valid && l4 == pending_list_q[u_dut.p4_q.parent] && u_dut.p4_side_q[0] == pending_side_q[u_dut.p4_q.parent]);
        assert (u_dut.u_link.rdata_q == list_q[l4][u_dut.p4_side_q[0]][0]);
      end
      if (u_dut.p5_left_q) begin
        assert (valid5 && l5 == pending_list_q[u_dut.p5_q.parent] && u_dut.p5_side_q[0] == pending_side_q[u_dut.p5_q.parent]);
        assert (u_dut.link_r == list_q[l5][u_dut.p5_side_q[0]][0]);
      end
      for (int k = 0; k < 2; k++) begin
        if (head_there[k]) begin
          assert (head_bits[k][OpBits-1] && head_bits[k][OpBits-2-:2] == OpHead && head_class(head_bits[k]) < class_t'(2));
          assert (list_of(head_parent(head_bits[k]), head_class(head_bits[k])) == pending_list_q[head_parent(head_bits[k])]
                  && head_side(head_bits[k]) == pending_side_q[head_parent(head_bits[k])]);
          assert (head_queue(head_bits[k]) == list_q[pending_list_q[head_parent(head_bits[k])]][head_side(head_bits[k])][0]);
        end
      end
      if (u_dut.p1_q.valid && u_dut.p1_q.op == OpHead) begin
        assert (l1 == pending_list_q[u_dut.p1_q.parent] && u_dut.p1_q.round[0] == pending_side_q[u_dut.p1_q.parent]
                && u_dut.p1_q.queue_id == list_q[l1][u_dut.p1_q.round[0]][0]);
      end
      if (effect && u_dut.p2_q.op == OpHead) begin
        assert (l2 == pending_list_q[u_dut.p2_q.parent] && u_dut.p2_q.round[0] == pending_side_q[u_dut.p2_q.parent]
                && u_dut.p2_q.queue_id == list_q[l2][u_dut.p2_q.round[0]][0]);
      end
      // FIFOs: two parents, so two at most
      assert (u_dut.u_pick.valid_q == (u_dut.u_pick.level_q != '0) && u_dut.u_head.valid_q == (u_dut.u_head.level_q != '0)
              && u_dut.u_out.valid_q == (u_dut.u_out.level_q != '0));
      assert (u_dut.u_pick.level_q <= 2 && u_dut.u_head.level_q <= 2 && u_dut.u_out.level_q <= 2);
      assert (3'(32'(u_dut.u_pick.raddr_q) + 32'(u_dut.u_pick.level_q)) == u_dut.u_pick.waddr_q
              && 3'(32'(u_dut.u_head.raddr_q) + 32'(u_dut.u_head.level_q)) == u_dut.u_head.waddr_q
              && 3'(32'(u_dut.u_out.raddr_q) + 32'(u_dut.u_out.level_q)) == u_dut.u_out.waddr_q);
      assert (32'(u_dut.credit_q) + 32'(pick_q[0].busy) + 32'(pick_q[1].busy) == 8);
      // nothing happens before the memories are cleared
      if (!init_done) begin
        assert (count_q == '0 && !u_dut.p1_q.valid && !u_dut.p2_q.valid && !u_dut.p3_q.valid && !u_dut.p4_q.valid && !valid5
                && !pick_q[0].busy && !pick_q[1].busy && pending_q == '0);
        for (int l = 0; l < Lists; l++) assert (word_q[l] == Cleared);
      end
    end
    c_both : cover (give && out_queue == 2'd2 && count_q[0][0] == 2'd1 && count_q[1][1] == 2'd1);
    c_chain : cover (effect && u_dut.p2_q.op == OpHead && count_q[2][1] == 2'd2);
  end

endmodule
