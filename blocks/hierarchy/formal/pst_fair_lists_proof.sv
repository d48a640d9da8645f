// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_fair_lists: every queue is in exactly one place, lists are FIFO, and priority: what a pick gives is of the highest class
// that waited at its parent when the pick was asked for, the oldest of the list whose turn it is, a batch as many as were asked for or all that
// there are, in the list's order. Only what was appended less than three cycles before may have come too late. Which queue goes for one that leaves
// its list is looked up outside, and whether that one holds back and is clear: any at all, and that is handed out in its place. A batch comes in
// parts. After each it continues if its parent is behind and any queue waits, with the class that is the highest when the last queue leaves its
// list; with a lower class only if all queues of the batch are clear. Of each part all of this is true. A queue joins its list at the end; in
// front if it may and the parent was not patient when the class was picked last, but not while the next head of the list is being read.
//
// Beside the hardware stand the lists as plain arrays. An append or a pick takes effect in stage 2, in the order of stage 0; the word of a list
// (`word_q`), the classes that wait (`mask_q`) and the arrays change there. A pick's queues stand in `pick_q` from then on, until each is given.
// The invariant says how words, links and pipeline encode the arrays.
module pst_fair_lists_proof
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned TrainLog = 2,    // 1 or 2
    parameter int unsigned PartLog = TrainLog,
    localparam int unsigned Lists = 4,      // parent, class; each with two sides
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input logic                    clk_i,
    input logic                    rst_i,
    input logic [            12:0] now_i,
    input logic                    append_valid_i,
    input logic                    append_front_i,
    input logic                    append_parent_i,
    input class_t                  append_class_i,
    input logic [QueueIdWidth-1:0] append_queue_i,
    input round_t                  append_round_i,
    input logic                    append_credit_i,
    input logic                    left_valid_i,
    input logic                    left_credit_i,
    input logic                    left_far_i,
    input logic                    pick_valid_i,
    input logic                    pick_parent_i,
    input train_t                  pick_train_i,
    input logic                    pick_patient_i,
    input logic                    pick_holds_i,
    input above_t                  start_above_i,
    input logic [QueueIdWidth-1:0] look_queue_i,
    input patience_t               look_hold_i,
    input logic                    look_clear_i,
    input logic                    out_ready_i
);

  localparam int unsigned TrainMost = 2 ** TrainLog, PartMost = 2 ** PartLog;

  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [1:0] list_t;
  typedef logic [QueueIdWidth:0] count_t;
  typedef logic [TrainLog:0] number_t;    // of queues in a batch,
  typedef logic [PartLog:0] part_t;       // and in a part

  typedef enum logic [2:0] {
    Outside,
    InStage1,
    InStage2,
    InList,
    InTrain
  } where_e;

  typedef struct packed {
    where_e where;
    list_t  list;     // or parent
    logic   side;
    queue_t place;    // from the first of list or batch
  } at_t;

  typedef struct packed {
    logic                   busy;      // a pick is under way: from its handshake to that of its last queue
    train_t                 asked;     // log2 of how many
    logic                   patient;   // it may wait for a higher class,
    logic                   keeps;     // also for one that waits above
    class_t                 cls;       // what it must give
    logic                   done;      // it has taken effect,
    logic                   walk;      // and its links are being read
    logic                   none;
    logic                   held;      // for what waits above,
    logic                   own;       // of its own class, too
    round_t                 round;
    number_t                base;      // queues of the parts before
    logic                   rest;      // the last of its queues is not known to be the batch's last one,
    logic                   same;      // and its class or a higher one waits behind it;
    logic                   clear;     // all of those that were looked at are clear, those of the parts before included,
    class_t                 next_cls;  // and when the last one was looked at this class was the highest;
    logic                   goes;      // it continues
    number_t                number;    // of its queues, those before included,
    number_t                pushed;    // these are in the FIFO, the last one perhaps on its way there,
    number_t                given;     // and these have left it
    queue_t [TrainMost-1:0] queues;    // that leave the list,
    queue_t [TrainMost-1:0] looked;    // and what goes for each,
    patience_t [TrainMost-1:0] holds;  // and holds back,
    round_t [TrainMost-1:0] rounds;    // and each one's round
  } pick_t;

  // as pst_fair_lists has them
  typedef struct packed {
    queue_t [1:0]  head;
    queue_t [1:0]  tail;
    count_t [1:0]  count;
    logic [1:0]    nonempty;
    logic [1:0]    opens;
    logic          late;
    part_t [1:0]   most;
    logic [1:0]    all;
    round_t        round;
  } lists_t;

  typedef struct packed {
    logic       valid;
    logic [1:0] op;
    logic       parent;
    class_t     cls;
    queue_t     queue_id;
    round_t     round;
    logic       credit;
    logic       front;
    part_t      wanted;
    number_t    beyond;
    logic       patient;
    logic       holds;
    logic       clear;
  } op_t;

  typedef struct packed {
    logic    parent;
    class_t  cls;
    part_t   wanted;
    number_t beyond;
    logic    clear;
  } rest_t;

  typedef struct packed {
    logic   parent;
    class_t cls;
    train_t train;
    logic   patient;
    logic   holds;
  } ask_t;

  typedef struct packed {
    logic   parent;
    round_t round;
    class_t cls;
    logic   none;
    logic   held;
    logic   own;
    logic   last;
    patience_t hold;
    queue_t queue_id;
  } out_t;

  typedef struct packed {
    class_t     cls;
    logic [9:0] eighths;
  } recent_t;

  localparam recent_t NoRecent = '{cls: '1, eighths: '0};
  localparam logic [1:0] OpAppend = 2'd0;
  localparam logic [1:0] OpPick = 2'd1;
  localparam logic [1:0] OpHead = 2'd2;
  localparam lists_t Cleared = lists_t'({{$bits(lists_t) - RoundWidth{1'b0}}, round_t'(2)});
  localparam int unsigned OutDepth = 8;

  function automatic count_t few(count_t count, count_t most);
    few = count < most ? count : most;
  endfunction

  // So many of a batch are not picked yet.
  function automatic number_t left_of(pick_t pick);
    left_of = (number_t'(1) << pick.asked) - pick.base;
  endfunction

  // So many of them its next part wants.
  function automatic part_t part_of(pick_t pick);
    part_of = 32'(left_of(pick)) < PartMost ? part_t'(left_of(pick)) : part_t'(PartMost);
  endfunction

  function automatic number_t beyond_of(pick_t pick);
    beyond_of = left_of(pick) - number_t'(part_of(pick));
  endfunction

  // The batch's word at this place says that it is none, or that it is the last.
  function automatic logic none_at(pick_t pick, number_t place);
    none_at = pick.none && pick.done && place + 1'b1 == pick.number;
  endfunction

  function automatic logic last_at(pick_t pick, number_t place);
    last_at = pick.done && !pick.goes && 32'(place) + 1 == 32'(pick.number);
  endfunction

  function automatic list_t list_of(logic parent, class_t cls);
    list_of = {parent, cls[0]};
  endfunction

  logic pick_ready, out_valid, out_parent, out_none, out_held, out_own, out_last, init_done, unused_start;
  class_t out_class;
  queue_t out_queue, look;
  patience_t out_hold;
  round_t out_round;

  pst_fair_lists #(
      .Parents(2), .Queues(Queues), .Classes(2), .GraceCycles(64), .TrainLog(TrainLog), .PartLog(PartLog)
  ) u_dut (
      .clk_i, .rst_i, .now_i,
      .s_append_valid_i(append_valid_i), .s_append_front_i(append_front_i), .s_append_parent_i(append_parent_i),
      .s_append_class_i(append_class_i), .s_append_queue_i(append_queue_i), .s_append_round_i(append_round_i),
      .s_append_credit_i(append_credit_i), .s_left_valid_i(left_valid_i), .s_left_credit_i(left_credit_i), .s_left_far_i(left_far_i),
      .s_pick_valid_i(pick_valid_i), .s_pick_ready_o(pick_ready), .s_pick_parent_i(pick_parent_i), .s_pick_train_i(pick_train_i),
      .s_pick_patient_i(pick_patient_i), .s_pick_holds_i(pick_holds_i), .m_start_parent_o(unused_start), .s_start_above_i(start_above_i),
      .m_pick_held_o(out_held), .m_pick_class_o(out_class), .m_pick_own_o(out_own),
      .m_look_queue_o(look), .m_look_queue_i(look_queue_i), .m_look_hold_i(look_hold_i), .m_look_clear_i(look_clear_i),
      .m_pick_hold_o(out_hold),
      .m_pick_valid_o(out_valid), .m_pick_ready_i(out_ready_i), .m_pick_parent_o(out_parent), .m_pick_queue_o(out_queue),
      .m_pick_round_o(out_round), .m_pick_none_o(out_none), .m_pick_last_o(out_last), .init_done_o(init_done)
  );

  logic seen_q, ask, give;
  logic [12:0] clock_q;    // what it will be
  initial seen_q = 1'b0;
  assign ask  = pick_valid_i && pick_ready;
  assign give = out_valid && out_ready_i;

  // --- the lists as they should be

  at_t [2**QueueIdWidth-1:0] at_q, at_d;
  queue_t [Lists-1:0][1:0][Queues-1:0] list_q, list_d;    // list, side, place
  count_t [Lists-1:0][1:0] count_q, count_d;
  round_t [Lists-1:0] round_q, round_d;
  logic [Lists-1:0] late_q, late_d;                       // the parent was not patient when it was picked last
  logic in_front;                                         // an append joins its list there
  logic [Lists-1:0][9:0] last_q, far_q;                   // when a queue left that may be on its way back; whose subscriber is far behind
  recent_t [1:0] recent_q;                                // parent: the latest packet that left
  lists_t [Lists-1:0] word_q;
  logic [1:0][1:0] mask_q, mask;                          // parent, class
  pick_t [1:0] pick_q, pick_d;                            // parent
  logic [1:0] pending_q, pending_d;                       // parent: the next head of a list is on its way
  list_t [1:0] pending_list_q, pending_list_d;
  logic [1:0] pending_side_q, pending_side_d;
  number_t [OutDepth-1:0] out_index_q, out_index_d;       // output FIFO's address: of a pick's queues it is this one
  logic [1:0][TrainMost-1:0][2:0] out_at_q, out_at_d;     // and the way back

  logic higher;    // a packet of a higher class than the pick's left of late
  logic above, above_higher;    // one waits above, and the parent holds back; one has left there of late
  logic own, own_left;          // the same of the pick's class
  logic recent;                 // a packet left of late with credit for more, or if the parent is behind of a subscriber that is far behind
  logic [9:0] far_seen, far_seen_q;    // when that was, as the pick in stage 1 has found it
  logic waits_at_all;           // the parent is not behind
  logic ends;                   // the round ends with this pick
  above_t above_q;              // as the pick in stage 2 has found it
  logic effect, side, turn, none, p2, p3, p4, p5, p_out, p_look;  // parents of the stages
  list_t l1, l2, l3, l4, l5_q;
  logic valid5_q, walk5_more;
  count_t wanted, number;
  assign l1 = list_of(u_dut.p1_q.parent, u_dut.p1_q.cls);
  assign l2 = list_of(u_dut.p2_q.parent, u_dut.p2_q.cls);
  assign l3 = list_of(u_dut.p3_q.parent, u_dut.p3_q.cls);
  assign l4 = list_of(u_dut.p4_q.parent, u_dut.p4_q.cls);
  assign effect     = u_dut.p2_q.valid;
  assign turn       = round_q[l2][0];
  assign p2         = u_dut.p2_q.parent;
  assign p3         = u_dut.p3_q.parent;
  assign p4         = u_dut.p4_walk_q.parent;
  assign p5         = u_dut.p5_walk_q.parent;
  assign p_out      = walk5_more ? p5 : p3;
  assign p_look     = u_dut.p4_pick_q.parent;
  assign walk5_more = u_dut.p5_walk_q.valid && u_dut.p5_walk_q.links != part_t'(1);

  assign higher = recent_q[p2].cls < pick_q[p2].cls && 10'(now_i[12:3] - recent_q[p2].eighths) < 10'd8;

  assign above        = pick_q[p2].keeps && (above_q.waits & ((8'd1 << pick_q[p2].cls) - 8'd1)) != '0;
  assign above_higher = pick_q[p2].keeps && above_q.left_class < pick_q[p2].cls && 10'(now_i[12:3] - above_q.left) < 10'd8;

  assign own      = pick_q[p2].keeps && above_q.waits[pick_q[p2].cls];
  assign own_left = pick_q[p2].keeps && above_q.left_class == pick_q[p2].cls && 10'(now_i[12:3] - above_q.left) < 10'd8;
  assign waits_at_all = pick_q[p2].patient || pick_q[p2].keeps;
  assign far_seen = far_q[l1];
  assign recent   = 10'(now_i[12:3] - (waits_at_all ? last_q[l2] : far_seen_q)) < 10'd8;
  assign ends     = count_q[l2][turn] == '0;

  // Those in the FIFO: one may be being looked up.
  number_t [1:0] stored;
  always_comb begin
    for (int p = 0; p < 2; p++) stored[p] = pick_q[p].pushed - number_t'(u_dut.p4_given_q && p_look == 1'(p));
  end

  always_comb begin
    at_d           = at_q;
    list_d         = list_q;
    count_d        = count_q;
    round_d        = round_q;
    late_d         = late_q;
    in_front       = 1'b0;
    pick_d         = pick_q;
    pending_d      = pending_q;
    pending_list_d = pending_list_q;
    pending_side_d = pending_side_q;
    out_index_d    = out_index_q;
    out_at_d       = out_at_q;
    side           = turn;
    none           = 1'b0;
    wanted         = count_t'(part_of(pick_q[p2]));
    number         = count_t'(1);
    if (give) begin
      if (!none_at(pick_q[out_parent], pick_q[out_parent].given))
        at_d[pick_q[out_parent].queues[TrainLog'(pick_q[out_parent].given)]].where = Outside;
      pick_d[out_parent].given = pick_q[out_parent].given + 1'b1;
      if (last_at(pick_q[out_parent], pick_q[out_parent].given)) pick_d[out_parent].busy = 1'b0;
    end
    if (u_dut.p1_q.valid && u_dut.p1_q.op == OpAppend) at_d[u_dut.p1_q.queue_id].where = InStage2;
    if (append_valid_i) at_d[append_queue_i].where = InStage1;
    if (u_dut.look1_q) begin
      pick_d[u_dut.look1_parent_q].asked   = pick_train_i;
      pick_d[u_dut.look1_parent_q].patient = pick_patient_i;
      pick_d[u_dut.look1_parent_q].keeps   = pick_holds_i;
    end
    if (ask) pick_d[pick_parent_i] = '{busy: 1'b1, clear: 1'b1, cls: mask_q[pick_parent_i][0] ? class_t'(0) : class_t'(1), default: '0};
    if (effect && u_dut.p2_q.op == OpAppend) begin
      if (u_dut.p2_q.round == round_q[l2] && !u_dut.p2_q.credit) side = !turn;
      in_front = u_dut.p2_q.front && late_q[l2] && !(pending_q[p2] && pending_list_q[p2] == l2 && pending_side_q[p2] == side);
      if (in_front) begin
        for (int k = 1; k < Queues; k++) list_d[l2][side][k] = list_q[l2][side][k-1];
        list_d[l2][side][0] = u_dut.p2_q.queue_id;
        for (int q = 0; q < Queues; q++) begin
          if (at_q[q].where == InList && at_q[q].list == l2 && at_q[q].side == side) at_d[q].place = at_q[q].place + 1'b1;
        end
      end else begin
        list_d[l2][side][count_q[l2][side]] = u_dut.p2_q.queue_id;
      end
      at_d[u_dut.p2_q.queue_id] = '{where: InList, list: l2, side: side, place: in_front ? '0 : queue_t'(count_q[l2][side])};
      count_d[l2][side] = count_q[l2][side] + 1'b1;
    end
    if (effect && u_dut.p2_q.op == OpPick) begin
      none = above || above_higher || (pick_q[p2].patient && higher) || (ends && (recent || own || own_left));
      side = count_q[l2][turn] != '0 ? turn : !turn;
      if (!none) begin
        number = few(count_q[l2][side], wanted);
        if (side != turn) round_d[l2] = round_q[l2] + 1'b1;
        for (int k = 0; k < TrainMost; k++) begin
          if (k >= 32'(pick_q[p2].base)) begin
            pick_d[p2].queues[k] = k - 32'(pick_q[p2].base) < Queues ? list_q[l2][side][k-32'(pick_q[p2].base)] : '0;
          end
        end
        for (int k = 0; k < Queues; k++) list_d[l2][side][k] = list_q[l2][side][k+32'(number)];
        for (int q = 0; q < Queues; q++) begin
          if (at_q[q].where == InList && at_q[q].list == l2 && at_q[q].side == side) begin
            if (count_t'(at_q[q].place) < number) at_d[q] = '{where: InTrain, list: list_t'(p2), side: 1'b0,
                                                            place: at_q[q].place + queue_t'(pick_q[p2].base)};
            else at_d[q].place = queue_t'(at_q[q].place - number);
          end
        end
        count_d[l2][side]  = count_q[l2][side] - number;
        pending_d[p2]      = count_q[l2][side] != number;
        pending_list_d[p2] = l2;
        pending_side_d[p2] = side;
      end
      pick_d[p2].done   = 1'b1;
      pick_d[p2].walk   = 1'b1;
      pick_d[p2].none   = none;
      pick_d[p2].held   = above || (ends && own);
      pick_d[p2].own    = ends;
      pick_d[p2].number = pick_q[p2].base + number_t'(number);
      pick_d[p2].round  = round_d[l2];
      late_d[l2]        = !pick_q[p2].patient;
      pick_d[p2].same   = count_d[{p2, 1'b0}] != '0 || (l2[0] && count_d[{p2, 1'b1}] != '0);
      pick_d[p2].rest   = !none && !waits_at_all && 32'(number) != 32'(left_of(pick_q[p2]))
          && (count_d[{p2, 1'b0}] != '0 || count_d[{p2, 1'b1}] != '0);
      for (int k = 0; k < TrainMost; k++) if (k >= 32'(pick_q[p2].base)) pick_d[p2].rounds[k] = round_d[l2];
    end
    if (u_dut.p3_pick_q || walk5_more) begin
      pick_d[p_out].pushed = pick_q[p_out].pushed + 1'b1;
      pick_d[p_out].next_cls = mask_q[p_out][0] ? class_t'(0) : class_t'(1);
    end
    if (u_dut.p4_given_q) begin
      pick_d[p_look].looked[TrainLog'(stored[p_look])] = look_queue_i;
      pick_d[p_look].holds[TrainLog'(stored[p_look])] = look_hold_i;
      pick_d[p_look].clear = pick_q[p_look].clear && look_clear_i;
      pick_d[p_look].goes = pick_q[p_look].rest && (pick_d[p_look].clear || pick_q[p_look].same)
          && pick_q[p_look].pushed == pick_q[p_look].number;
      out_index_d[u_dut.u_out.waddr_q] = stored[p_look];
      out_at_d[p_look][TrainLog'(stored[p_look])] = u_dut.u_out.waddr_q;
    end
    if (u_dut.p5_walk_q.valid && !walk5_more) begin
      pick_d[p5].walk = 1'b0;
      pick_d[p5].rest = 1'b0;
      pick_d[p5].goes = 1'b0;
      if (pick_q[p5].goes) begin
        pick_d[p5].done = 1'b0;
        pick_d[p5].base = pick_q[p5].number;
        pick_d[p5].cls  = pick_q[p5].next_cls;
      end
    end
    if (effect && u_dut.p2_q.op == OpHead) pending_d[p2] = 1'b0;
  end

  always_comb begin
    for (int p = 0; p < 2; p++) for (int c = 0; c < 2; c++) mask[p][c] = count_q[2*p+c] != '0;
  end

  logic [1:0] read1_q, read2_q;    // classes that waited when a pick was asked for,
  logic [1:0] rest1_q, rest2_q;    // or when a queue of a batch left its list

  always_ff @(posedge clk_i) begin
    seen_q         <= 1'b1;
    above_q        <= start_above_i;
    clock_q        <= now_i + 1'b1;
    at_q           <= at_d;
    list_q         <= list_d;
    count_q        <= count_d;
    round_q        <= round_d;
    late_q         <= late_d;
    pick_q         <= pick_d;
    pending_q      <= pending_d;
    pending_list_q <= pending_list_d;
    pending_side_q <= pending_side_d;
    out_index_q    <= out_index_d;
    out_at_q       <= out_at_d;
    read1_q        <= mask_q[pick_parent_i];
    read2_q        <= read1_q;
    rest1_q        <= mask_q[p_out];
    rest2_q        <= rest1_q;
    l5_q           <= l4;
    valid5_q       <= u_dut.p4_q.valid;
    if (effect) begin
      word_q[l2]       <= u_dut.p2_new;
      word_q[l2].count <= count_d[l2];    // added up in stage 3
      mask_q[p2][u_dut.p2_q.cls[0]] <= count_d[l2] != '0;
    end
    far_seen_q <= far_seen;
    if (left_valid_i && left_far_i) far_q[list_of(append_parent_i, append_class_i)] <= now_i[12:3];
    if (left_valid_i && left_credit_i) last_q[list_of(append_parent_i, append_class_i)] <= now_i[12:3];
    if (left_valid_i) recent_q[append_parent_i] <= '{cls: append_class_i, eighths: now_i[12:3]};
    if (rst_i) begin
      for (int q = 0; q < 2 ** QueueIdWidth; q++) at_q[q].where <= Outside;
      count_q   <= '0;
      late_q    <= '0;
      mask_q    <= '0;
      pick_q    <= '0;
      pending_q <= '0;
      last_q    <= '0;
      far_q     <= '0;
      recent_q  <= {2{NoRecent}};
      valid5_q  <= 1'b0;
      for (int l = 0; l < Lists; l++) begin
        round_q[l] <= round_t'(2);
        word_q[l]  <= Cleared;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    else m_clock : assume (now_i == clock_q);
    if (append_valid_i && !rst_i) begin
      m_append : assume (init_done && 32'(append_queue_i) < Queues && at_q[append_queue_i].where == Outside
                         && append_class_i < class_t'(2));
    end
    // pst_gate: one pick of a parent at a time, and only when a queue waits there; batches that are allowed
    if (ask && !rst_i) m_ask : assume (!pick_q[pick_parent_i].busy && mask_q[pick_parent_i] != '0);
    if (u_dut.look1_q && !rst_i) m_train : assume (32'(pick_train_i) <= TrainLog);
    // a queue leaves when it was given, and before its parent is asked again
    if (left_valid_i && !rst_i) begin
      m_left : assume (init_done && append_class_i < class_t'(2) && !(ask && pick_parent_i == append_parent_i)
                       && !(pick_q[append_parent_i].busy && pick_q[append_parent_i].given == '0));
    end
  end

  // --- where picks and heads are

  // Words before an address of the output FIFO.
  function automatic logic [2:0] ahead(logic [2:0] address);
    ahead = address - u_dut.u_out.raddr_q;
  endfunction

  logic [1:0] ask_there, head_there, rest_there;
  rest_t [1:0] rest_word;
  logic [OutDepth-1:0] out_there;
  ask_t [1:0] ask_word;                // place in the FIFO
  op_t [1:0] head_word;
  out_t [OutDepth-1:0] out_word;       // by address
  logic [1:0][3:0] picks, walks, heads;    // parent
  logic [1:0][31:0] reserved;

  always_comb begin
    for (int k = 0; k < 2; k++) begin
      ask_there[k]  = 32'(u_dut.u_pick.level_q) > k;
      rest_there[k] = 32'(u_dut.u_rest.level_q) > k;
      rest_word[k]  = u_dut.u_rest.mem[3'(32'(u_dut.u_rest.raddr_q) + k)];
      head_there[k] = 32'(u_dut.u_head.level_q) > k;
      ask_word[k]   = u_dut.u_pick.mem[3'(32'(u_dut.u_pick.raddr_q) + k)];
      head_word[k]  = u_dut.u_head.mem[3'(32'(u_dut.u_head.raddr_q) + k)];
    end
    for (int k = 0; k < OutDepth; k++) begin
      out_there[k] = {1'b0, ahead(3'(k))} < u_dut.u_out.level_q;
      out_word[k]  = u_dut.u_out.mem[k];
    end
    for (int p = 0; p < 2; p++) begin
      picks[p] = 4'(u_dut.look1_q && u_dut.look1_parent_q == 1'(p)) + 4'(u_dut.look2_q && u_dut.look2_parent_q == 1'(p))
          + 4'(ask_there[0] && ask_word[0].parent == 1'(p)) + 4'(ask_there[1] && ask_word[1].parent == 1'(p))
          + 4'(rest_there[0] && rest_word[0].parent == 1'(p)) + 4'(rest_there[1] && rest_word[1].parent == 1'(p))
          + 4'(u_dut.p1_q.valid && u_dut.p1_q.op == OpPick && u_dut.p1_q.parent == 1'(p))
          + 4'(u_dut.p2_q.valid && u_dut.p2_q.op == OpPick && p2 == 1'(p));
      walks[p] = 4'(u_dut.p3_pick_q && p3 == 1'(p)) + 4'(u_dut.p4_walk_q.valid && p4 == 1'(p)) + 4'(u_dut.p5_walk_q.valid && p5 == 1'(p));
      heads[p] = 4'(u_dut.p3_pick_q && u_dut.p3_left_q && p3 == 1'(p))
          + 4'(u_dut.p4_walk_q.valid && u_dut.p4_walk_q.head && p4 == 1'(p))
          + 4'(u_dut.p5_walk_q.valid && u_dut.p5_walk_q.head && p5 == 1'(p))
          + 4'(head_there[0] && head_word[0].parent == 1'(p)) + 4'(head_there[1] && head_word[1].parent == 1'(p))
          + 4'(u_dut.p1_q.valid && u_dut.p1_q.op == OpHead && u_dut.p1_q.parent == 1'(p))
          + 4'(u_dut.p2_q.valid && u_dut.p2_q.op == OpHead && p2 == 1'(p));
      // places in the output FIFO that a pick holds: from stage 2 on, as many as its part wants, until it is known how many there are
      reserved[p] = pick_q[p].busy ? 32'(pick_q[p].number) - 32'(pick_q[p].given) : '0;
      if ((u_dut.p2_q.valid && u_dut.p2_q.op == OpPick && p2 == 1'(p)) || (u_dut.p3_pick_q && p3 == 1'(p))) begin
        reserved[p] = 32'(pick_q[p].base) + 32'(part_of(pick_q[p])) - 32'(pick_q[p].given);
      end
    end
  end

  // The batch may continue with so many.
  function automatic number_t rest_of(pick_t pick);
    rest_of = pick.rest ? (number_t'(1) << pick.asked) - pick.number : '0;
  endfunction

  // What a queue's link must be: in the memory, or about to be written there.
  function automatic logic linked(queue_t from, queue_t to);
    linked = u_dut.p3_link_we_q && u_dut.p3_link_waddr_q == from ? u_dut.p3_link_wdata_q == to : u_dut.u_link.mem[from] == to;
  endfunction

  // Where a walk's link leads: to its next queue, or to the list's next head.
  queue_t [1:0] next;
  always_comb begin
    for (int p = 0; p < 2; p++) begin
      next[p] = pick_q[p].pushed < pick_q[p].number ? pick_q[p].queues[TrainLog'(pick_q[p].pushed)]
          : list_q[pending_list_q[p]][pending_side_q[p]][0];
    end
  end

  logic [4:0] lists_cleared;
  always_comb begin
    for (int l = 0; l < Lists; l++) lists_cleared[l] = !u_dut.init || l < 32'(u_dut.init_list);
    lists_cleared[4] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on: the queues are of the highest class that waited, in the list's order; none only alone; one of them is the last
      if (give) begin
        a_given : assert (pick_q[out_parent].busy && out_none == none_at(pick_q[out_parent], pick_q[out_parent].given)
                          && out_held == (pick_q[out_parent].held && out_none)
                          && (!out_held || (out_class == pick_q[out_parent].cls && out_own == pick_q[out_parent].own))
                          && out_round == pick_q[out_parent].rounds[TrainLog'(pick_q[out_parent].given)]
                          && out_queue == pick_q[out_parent].looked[TrainLog'(pick_q[out_parent].given)]
                          && out_hold == pick_q[out_parent].holds[TrainLog'(pick_q[out_parent].given)]);
        a_last : assert (out_last == last_at(pick_q[out_parent], pick_q[out_parent].given) && (!out_none || out_last));
      end
      if ((u_dut.p3_pick_q && !pick_q[p3].none) || walk5_more) begin
        a_look : assert (look == pick_q[p_out].queues[TrainLog'(pick_q[p_out].pushed)] && pick_q[p_out].pushed < pick_q[p_out].number);
      end
      if (effect && u_dut.p2_q.op == OpPick) begin
        a_priority : assert (u_dut.p2_q.cls == pick_q[p2].cls);
        a_first : assert (u_dut.p2_none == none && (none || (u_dut.p2_head == list_q[l2][side][0] && count_q[l2][side] != '0)));
        a_number : assert (count_t'(u_dut.p2_number) == number && number != '0 && number <= wanted && (!none || number == 1));
        if (!none) a_most : assert (u_dut.p2_lists.most[side] == few(count_q[l2][side], count_t'(PartMost))
                                    && u_dut.p2_lists.all[side] == (count_q[l2][side] <= count_t'(PartMost)));
        a_waits : assert (u_dut.waits == (count_d[l2] != '0));
      end
      a_meet : assert (!(u_dut.p3_pick_q && walk5_more));
      if (u_dut.look2_q) a_pick_room : assert (32'(u_dut.u_pick.level_q) < 8);
      if (u_dut.p5_walk_q.valid && u_dut.p5_walk_q.head && !walk5_more) a_head_room : assert (32'(u_dut.u_head.level_q) < 8);
      if (u_dut.p4_given_q) a_out_room : assert (32'(u_dut.u_out.level_q) < OutDepth);

      // one place: the arrays and the map agree
      for (int q = 0; q < Queues; q++) begin
        if (at_q[q].where == InList) begin
          a_place_in_list : assert (count_t'(at_q[q].place) < count_q[at_q[q].list][at_q[q].side]
                  && list_q[at_q[q].list][at_q[q].side][at_q[q].place] == queue_t'(q));
        end
        if (at_q[q].where == InTrain) begin
          a_place_in_train : assert (at_q[q].list < 2 && pick_q[at_q[q].list[0]].busy
              && !none_at(pick_q[at_q[q].list[0]], number_t'(at_q[q].place))
                  && 32'(at_q[q].place) >= 32'(pick_q[at_q[q].list[0]].given) && 32'(at_q[q].place) < 32'(pick_q[at_q[q].list[0]].number)
                  && pick_q[at_q[q].list[0]].queues[TrainLog'(at_q[q].place)] == queue_t'(q));
        end
        a_place_exists : assert (at_q[q].where <= InTrain);
        a_place_in_stage1 : assert ((at_q[q].where == InStage1)
                == (u_dut.p1_q.valid && u_dut.p1_q.op == OpAppend && u_dut.p1_q.queue_id == queue_t'(q)));
        a_place_in_stage2 : assert ((at_q[q].where == InStage2)
                == (u_dut.p2_q.valid && u_dut.p2_q.op == OpAppend && u_dut.p2_q.queue_id == queue_t'(q)));
      end
      for (int q = Queues; q < 2 ** QueueIdWidth; q++) a_no_other_queue : assert (at_q[q].where == Outside);
      for (int p = 0; p < 2; p++) begin
        for (int k = 0; k < TrainMost; k++) begin
          if (pick_q[p].busy && !none_at(pick_q[p], number_t'(k)) && k >= 32'(pick_q[p].given) && k < 32'(pick_q[p].number)) begin
            a_train_has_its_queues : assert (at_q[pick_q[p].queues[k]] == at_t'({InTrain, list_t'(p), 1'b0, queue_t'(k)}));
          end
        end
      end
      for (int l = 0; l < Lists; l++) begin
        for (int s = 0; s < 2; s++) begin
          a_list_level : assert (32'(count_q[l][s]) <= Queues);
          for (int k = 0; k < Queues; k++) begin
            if (count_t'(k) < count_q[l][s]) begin
              a_list_has_its_queues : assert (at_q[list_q[l][s][k]] == at_t'({InList, list_t'(l), 1'(s), queue_t'(k)}));
              if (k + 1 < Queues && count_t'(k + 1) < count_q[l][s]) a_list_is_linked : assert (linked(list_q[l][s][k], list_q[l][s][k+1]));
            end
          end
          // the word
          a_word_counts : assert (word_q[l].count[s] == count_q[l][s] && word_q[l].nonempty[s] == (count_q[l][s] != '0));
          a_word_opens : assert (word_q[l].opens[s]
            == (pending_q[l/2] && pending_list_q[l/2] == list_t'(l) && pending_side_q[l/2] == 1'(s)));
          if (count_q[l][s] != '0) a_word_tail : assert (word_q[l].tail[s] == list_q[l][s][count_q[l][s]-1'b1]);
          if (count_q[l][s] != '0 && !(pending_q[l/2] && pending_list_q[l/2] == list_t'(l) && pending_side_q[l/2] == 1'(s))) begin
            a_word_head : assert (word_q[l].head[s] == list_q[l][s][0]);
            a_word_most : assert (word_q[l].most[s] == few(count_q[l][s], count_t'(PartMost))
                    && word_q[l].all[s] == (count_q[l][s] <= count_t'(PartMost)));
          end
        end
        a_word_round : assert (word_q[l].round == round_q[l] && word_q[l].late == late_q[l]);
        // words and masks: in the memory, or on their way there
        if (lists_cleared[l] && !(u_dut.p3_q.valid && l3 == list_t'(l))) a_memory_word : assert (u_dut.u_lists.mem[l] == word_q[l]);
        if (lists_cleared[l]) a_memory_last : assert (u_dut.u_last.mem[l] == last_q[l] && u_dut.u_far.mem[l] == far_q[l]);
      end
      if (u_dut.p3_q.valid) a_stage3_word : assert (u_dut.p3_lists == word_q[l3] && u_dut.p3_mask == mask_q[p3]);
      if (u_dut.p4_q.valid && !(u_dut.p3_q.valid && l3 == l4)) a_stage4_word : assert (u_dut.p4_lists_q == word_q[l4]);
      if (u_dut.p4_q.valid && !(u_dut.p3_q.valid && p3 == l4[1])) a_stage4_mask : assert (u_dut.p4_mask_q == mask_q[l4[1]]);
      for (int p = 0; p < 2; p++) begin
        a_mask_says : assert (mask_q[p] == mask[p]);
        if ((!u_dut.init || p < 32'(u_dut.init_list)) && !(u_dut.p3_q.valid && p3 == 1'(p))) begin
          a_memory_mask : assert (u_dut.u_mask.mem[p] == mask_q[p] && u_dut.u_look.u_ram.mem[p] == mask_q[p]
              && u_dut.u_rest_look.u_ram.mem[p] == mask_q[p]);
        end
        if (!u_dut.init || p < 32'(u_dut.init_list)) a_memory_recent : assert (u_dut.u_recent.mem[p] == recent_q[p]);
      end
      // reads
      if (u_dut.p1_q.valid) begin
        if (!(u_dut.p3_q.valid && l3 == l1) && !(u_dut.p4_q.valid && l4 == l1)) a_read1_word : assert (u_dut.u_lists.rdata_q == word_q[l1]);
        if (!(u_dut.p3_q.valid && p3 == l1[1]) && !(u_dut.p4_q.valid && l4[1] == l1[1]))
          a_read1_mask : assert (u_dut.u_mask.rdata_q == mask_q[l1[1]]);
        if (u_dut.p1_q.op == OpPick && (pick_q[l1[1]].patient || pick_q[l1[1]].keeps))
          a_read1_recent : assert (u_dut.u_last.rdata_q == last_q[l1] && u_dut.u_recent.rdata_q == recent_q[l1[1]]);
        if (u_dut.p1_far_hit_q) a_read1_far_hit : assert (far_q[l1] == 10'((now_i - 1'b1) >> 3));
        else a_read1_far : assert (u_dut.u_far.rdata_q == far_q[l1]);
        a_read1_time : assert (u_dut.p1_next_q == now_i + 1'b1);
      end
      if (effect) begin
        a_hit1 : assert (u_dut.hit1_q == (u_dut.p3_q.valid && l3 == l2));
        a_hit23 : assert (u_dut.hit23_q == ((u_dut.p4_q.valid && l4 == l2) || (valid5_q && l5_q == l2)));
        if (u_dut.p4_q.valid && l4 == l2) a_ahead_stage4 : assert (u_dut.p2_ahead_q == u_dut.p4_lists_q);
        else if (valid5_q && l5_q == l2 && !(u_dut.p3_q.valid && l3 == l2)) a_ahead_stage5 : assert (u_dut.p2_ahead_q == word_q[l2]);
        a_mask_hits : assert (u_dut.mask_hit1_q == (u_dut.p3_q.valid && p3 == p2)
                && u_dut.mask_hit23_q == ((u_dut.p4_q.valid && l4[1] == p2) || (valid5_q && l5_q[1] == p2)));
        if (u_dut.p4_q.valid && l4[1] == p2) a_mask_ahead_stage4 : assert (u_dut.p2_mask_ahead_q == u_dut.p4_mask_q);
        else if (valid5_q && l5_q[1] == p2 && !(u_dut.p3_q.valid && p3 == p2))
          a_mask_ahead_stage5 : assert (u_dut.p2_mask_ahead_q == mask_q[p2]);
        a_word : assert (u_dut.p2_lists == word_q[l2] && u_dut.p2_mask == mask_q[p2]);
        if (u_dut.p2_q.op == OpPick) a_grace : assert (u_dut.p2_stays_q == (recent || own || own_left) && u_dut.p2_own_q == own);
        if (u_dut.p2_q.op == OpPick) a_higher : assert (u_dut.p2_higher_q == ((pick_q[p2].patient && higher) || above_higher));
        if (u_dut.p2_q.op == OpPick) a_above : assert (u_dut.p2_held_q == above);
      end
      if (u_dut.look1_q) begin
        a_look_mask : assert ((u_dut.u_look.hit_q ? u_dut.u_look.new_q : u_dut.u_look.word) == read1_q && read1_q != '0);
        a_look_class : assert (pick_q[u_dut.look1_parent_q].cls == (read1_q[0] ? class_t'(0) : class_t'(1)));
      end
      if (u_dut.look2_q) begin
        a_look_train : assert (u_dut.look2_mask == read2_q && read2_q != '0 && u_dut.look2_train_q == pick_q[u_dut.look2_parent_q].asked
                && u_dut.look2_patient_q == pick_q[u_dut.look2_parent_q].patient
                && u_dut.look2_holds_q == pick_q[u_dut.look2_parent_q].keeps);
        a_look_highest : assert (pick_q[u_dut.look2_parent_q].cls == (read2_q[0] ? class_t'(0) : class_t'(1)));
      end
      for (int k = 0; k < 2; k++) begin
        if (ask_there[k]) a_ask_word : assert (ask_word[k].cls == pick_q[ask_word[k].parent].cls
                                  && ask_word[k].train == pick_q[ask_word[k].parent].asked
                                  && ask_word[k].patient == pick_q[ask_word[k].parent].patient
                                  && ask_word[k].holds == pick_q[ask_word[k].parent].keeps);
      end
      for (int k = 0; k < 2; k++) begin
        if (rest_there[k]) a_rest_word : assert (rest_word[k].cls == pick_q[rest_word[k].parent].cls
            && rest_word[k].wanted == part_of(pick_q[rest_word[k].parent])
            && rest_word[k].beyond == beyond_of(pick_q[rest_word[k].parent])
            && rest_word[k].clear == pick_q[rest_word[k].parent].clear && pick_q[rest_word[k].parent].base != '0);
        if (ask_there[k]) a_ask_first : assert (pick_q[ask_word[k].parent].base == '0 && pick_q[ask_word[k].parent].clear);
      end
      if (u_dut.look1_q) a_look1_first : assert (pick_q[u_dut.look1_parent_q].base == '0 && pick_q[u_dut.look1_parent_q].clear);
      if (u_dut.look2_q) a_look2_first : assert (pick_q[u_dut.look2_parent_q].base == '0 && pick_q[u_dut.look2_parent_q].clear);
      if (u_dut.p1_q.valid && u_dut.p1_q.op == OpPick) begin
        a_pick1_word : assert (u_dut.p1_q.cls == pick_q[l1[1]].cls && u_dut.p1_q.wanted == part_of(pick_q[l1[1]])
                && u_dut.p1_q.beyond == beyond_of(pick_q[l1[1]]) && u_dut.p1_q.clear == pick_q[l1[1]].clear
                && u_dut.p1_q.patient == pick_q[l1[1]].patient && u_dut.p1_q.holds == pick_q[l1[1]].keeps);
      end
      if (effect && u_dut.p2_q.op == OpPick) a_pick2_train : assert (u_dut.p2_q.wanted == part_of(pick_q[p2])
          && u_dut.p2_q.beyond == beyond_of(pick_q[p2]) && u_dut.p2_q.clear == pick_q[p2].clear
          && u_dut.p2_q.patient == pick_q[p2].patient && u_dut.p2_q.holds == pick_q[p2].keeps);
      // operations are of classes and queues that there are
      if (u_dut.p1_q.valid) a_op1_exists : assert (u_dut.p1_q.cls < class_t'(2) && u_dut.p1_q.op <= OpHead);
      if (u_dut.p2_q.valid) a_op2_exists : assert (u_dut.p2_q.cls < class_t'(2) && u_dut.p2_q.op <= OpHead);
      if (u_dut.p3_q.valid) a_op3_exists : assert (u_dut.p3_q.cls < class_t'(2) && u_dut.p3_q.op <= OpHead);
      if (u_dut.p4_q.valid) a_op4_exists : assert (u_dut.p4_q.cls < class_t'(2));
      if (u_dut.p1_q.valid && u_dut.p1_q.op == OpAppend) a_append1_exists : assert (32'(u_dut.p1_q.queue_id) < Queues);
      if (u_dut.p2_q.valid && u_dut.p2_q.op == OpAppend) a_append2_exists : assert (32'(u_dut.p2_q.queue_id) < Queues);
      a_pick1_flag : assert (u_dut.p1_pick_q == (u_dut.p1_q.valid && u_dut.p1_q.op == OpPick));
      a_pick3_flag : assert (u_dut.p3_pick_q == (u_dut.p3_q.valid && u_dut.p3_q.op == OpPick));
      if (u_dut.p3_link_we_q && !u_dut.init) begin
        a_link_of_an_append : assert (u_dut.p3_q.valid && u_dut.p3_q.op == OpAppend && at_q[u_dut.p3_link_waddr_q].where == InList);
      end

      // picks, walks and heads: each in one place
      for (int p = 0; p < 2; p++) begin
        a_pick_once : assert (picks[p] == 4'(pick_q[p].busy && !pick_q[p].done));
        a_walk_once : assert (walks[p] == 4'(pick_q[p].walk));
        a_head_once : assert (heads[p] == 4'(pending_q[p]));
        a_pick_in_range : assert (pick_q[p].cls < class_t'(2) && 32'(pick_q[p].asked) <= TrainLog);
        a_train_in_order : assert (pick_q[p].given <= stored[p] && stored[p] <= pick_q[p].pushed && pick_q[p].pushed <= pick_q[p].number
                && 32'(pick_q[p].number) <= 32'd1 << pick_q[p].asked);
        a_train_after_another : assert (pick_q[p].base <= pick_q[p].pushed && (pick_q[p].base == '0
                || (!pick_q[p].patient && !pick_q[p].keeps && (!pick_q[p].busy || 32'(pick_q[p].base) < 32'd1 << pick_q[p].asked))));
        if (pick_q[p].goes) begin
          a_train_continues : assert (pick_q[p].rest && (pick_q[p].clear || pick_q[p].same) && pick_q[p].pushed == pick_q[p].number
              && u_dut.p5_walk_q.valid && p5 == 1'(p) && !walk5_more);
        end
        for (int k = 0; k < TrainMost; k++) begin
          if (pick_q[p].busy && pick_q[p].done && k >= 32'(pick_q[p].base)) a_rounds : assert (pick_q[p].rounds[k] == pick_q[p].round);
        end
        if (pick_q[p].rest) begin
          a_rest : assert (pick_q[p].busy && pick_q[p].done && pick_q[p].walk && !pick_q[p].none && !pick_q[p].patient && !pick_q[p].keeps
              && mask_q[p] != '0 && 32'(pick_q[p].number) < 32'd1 << pick_q[p].asked);
          if (pick_q[p].pushed == pick_q[p].number)
            a_rest_class : assert (pick_q[p].next_cls < class_t'(2) && count_q[list_of(1'(p), pick_q[p].next_cls)] != '0);
        end
        if (!pick_q[p].busy) a_train_all_given : assert (pick_q[p].given == pick_q[p].number && !(u_dut.p4_walk_q.valid && p4 == 1'(p)));
        if (pick_q[p].busy && pick_q[p].done) begin
          a_train_under_way : assert ((pick_q[p].given != pick_q[p].number || pick_q[p].goes)
              && pick_q[p].base != pick_q[p].number && (pick_q[p].walk || pick_q[p].pushed == pick_q[p].number));
          if (pick_q[p].none) a_none_is_one : assert (pick_q[p].number == pick_q[p].base + 1'b1);
          if (pick_q[p].held) a_held_is_none : assert (pick_q[p].none);
        end
        if (pick_q[p].busy && !pick_q[p].done) begin
          // so that a pick never overtakes the head that the one before it has uncovered
          a_pick_finds_a_queue : assert (!pick_q[p].walk && !pick_q[p].goes && pick_q[p].number == pick_q[p].base
              && pick_q[p].pushed == pick_q[p].base && count_q[list_of(1'(p), pick_q[p].cls)] != '0);
        end
        if (pick_q[p].walk && pick_q[p].none) a_none_leaves_no_head : assert (!pending_q[p]);
        if (pick_q[p].walk && !pick_q[p].none) begin
          for (int k = 0; k < TrainMost; k++) begin
            if (k >= 32'(pick_q[p].pushed) && k + 1 < 32'(pick_q[p].number)) begin
              a_link_inside_the_train : assert (u_dut.u_link.mem[pick_q[p].queues[k]] == pick_q[p].queues[(k+1)%TrainMost]);
            end
            if (k >= 32'(pick_q[p].pushed) && k + 1 == 32'(pick_q[p].number) && pending_q[p]) begin
              a_link_to_the_head : assert (u_dut.u_link.mem[pick_q[p].queues[k]] == list_q[pending_list_q[p]][pending_side_q[p]][0]);
            end
          end
        end
        if (pending_q[p])
          a_head_has_a_queue : assert (pending_list_q[p][1] == 1'(p) && count_q[pending_list_q[p]][pending_side_q[p]] != '0);
        if (u_dut.p1_q.valid && u_dut.p1_q.op == OpPick && l1[1] == 1'(p)) begin
          a_head_before_the_pick : assert (!pending_q[p] || (u_dut.p2_q.valid && u_dut.p2_q.op == OpHead && p2 == 1'(p)));
        end
        if (effect && u_dut.p2_q.op == OpPick && p2 == 1'(p)) a_no_head_at_a_pick : assert (!pending_q[p]);
      end
      // a pick comes to stage 3 when no batch does
      if (u_dut.p1_q.valid && u_dut.p1_q.op == OpPick) begin
        a_pick1_meets_no_walk : assert (!(walk5_more && u_dut.p5_walk_q.links != part_t'(2)) && !(u_dut.p3_pick_q
            && u_dut.p3_number_q != part_t'(1)));
      end
      if (effect && u_dut.p2_q.op == OpPick)
        a_pick2_meets_no_walk : assert (!(u_dut.p4_walk_q.valid && u_dut.p4_walk_q.links != part_t'(1)));
      // walks
      if (u_dut.p3_pick_q) begin
        a_walk3 : assert (pick_q[p3].busy && pick_q[p3].pushed == pick_q[p3].base
            && number_t'(u_dut.p3_number_q) == pick_q[p3].number - pick_q[p3].base && u_dut.p3_number_q <= part_of(pick_q[p3])
            && u_dut.p3_q.wanted == part_of(pick_q[p3]) && u_dut.p3_q.beyond == beyond_of(pick_q[p3])
            && u_dut.p3_rest == rest_of(pick_q[p3])
            && u_dut.p3_q.clear == pick_q[p3].clear && u_dut.p3_same == pick_q[p3].same
                && u_dut.p3_none_q == pick_q[p3].none && u_dut.p3_held_q == pick_q[p3].held && u_dut.p3_own_q == pick_q[p3].own
                && u_dut.p3_q.cls == pick_q[p3].cls
                && u_dut.p3_round_q == pick_q[p3].round && u_dut.p3_left_q == pending_q[p3]);
        if (!u_dut.p3_none_q) a_walk3_queue : assert (u_dut.p3_picked_q == pick_q[p3].queues[TrainLog'(pick_q[p3].base)]);
        if (u_dut.p3_left_q) a_walk3_list : assert (l3 == pending_list_q[p3] && u_dut.p3_side_q == pending_side_q[p3]);
      end
      if (u_dut.p4_walk_q.valid) begin
        a_walk4 : assert (pick_q[p4].busy && u_dut.p4_walk_q.links != '0 && pick_q[p4].pushed != pick_q[p4].base
                && u_dut.p4_walk_q.rest == rest_of(pick_q[p4]) && u_dut.p4_walk_q.clear == pick_q[p4].clear
                && u_dut.p4_walk_q.same == pick_q[p4].same
                && 32'(u_dut.p4_walk_q.links) + 32'(pick_q[p4].pushed) == 32'(pick_q[p4].number) + 1
                && u_dut.p4_walk_q.round == pick_q[p4].round && u_dut.p4_walk_q.head == pending_q[p4] && u_dut.p4_walk_q.cls < class_t'(2));
        if (pending_q[p4])
          a_walk4_list : assert (list_of(p4, u_dut.p4_walk_q.cls) == pending_list_q[p4] && u_dut.p4_walk_q.side == pending_side_q[p4]);
        if (u_dut.p4_walk_q.links != part_t'(1) || pending_q[p4]) a_walk4_link : assert (u_dut.u_link.rdata_q == next[p4]);
      end
      if (u_dut.p5_walk_q.valid) begin
        a_walk5 : assert (u_dut.p5_walk_q.links != '0 && pick_q[p5].pushed != pick_q[p5].base
                && u_dut.p5_walk_q.rest == rest_of(pick_q[p5]) && u_dut.p5_walk_q.clear == pick_q[p5].clear
                && u_dut.p5_walk_q.same == pick_q[p5].same
                && pick_q[p5].goes == (pick_q[p5].rest && (pick_q[p5].clear || pick_q[p5].same) && !walk5_more)
                && 32'(u_dut.p5_walk_q.links) + 32'(pick_q[p5].pushed) == 32'(pick_q[p5].number) + 1
                && u_dut.p5_walk_q.round == pick_q[p5].round && u_dut.p5_walk_q.head == pending_q[p5] && u_dut.p5_walk_q.cls < class_t'(2));
        if (pending_q[p5])
          a_walk5_list : assert (list_of(p5, u_dut.p5_walk_q.cls) == pending_list_q[p5] && u_dut.p5_walk_q.side == pending_side_q[p5]);
        if (u_dut.p5_walk_q.links != part_t'(1) || pending_q[p5]) a_walk5_link : assert (u_dut.link_r == next[p5]);
      end
      a_walk5_goes_on : assert (u_dut.p5_more_q == walk5_more
              && u_dut.p5_ends_q == (u_dut.p5_walk_q.valid && !walk5_more && u_dut.p5_walk_q.rest != '0));
      a_walk4_given : assert (u_dut.p4_given_q == u_dut.p4_walk_q.valid && (!u_dut.p4_given_q || p_look == p4));
      // the classes that waited when the last queue of a batch left its list
      if (u_dut.p4_walk_q.valid && pick_q[p4].rest && u_dut.p4_walk_q.links == part_t'(1)) begin
        a_rest_mask4 : assert ((u_dut.u_rest_look.hit_q ? u_dut.u_rest_look.new_q : u_dut.u_rest_look.word) == rest1_q
            && rest1_q != '0 && pick_q[p4].next_cls == (rest1_q[0] ? class_t'(0) : class_t'(1)));
      end
      if (u_dut.p5_walk_q.valid && pick_q[p5].rest && !walk5_more) begin
        a_rest_mask5 : assert (u_dut.p5_mask == rest2_q && rest2_q != '0
            && pick_q[p5].next_cls == (rest2_q[0] ? class_t'(0) : class_t'(1)));
      end
      // a head on its way is the first of its list
      for (int k = 0; k < 2; k++) begin
        if (head_there[k]) begin
          a_head_exists : assert (head_word[k].valid && head_word[k].op == OpHead && head_word[k].cls < class_t'(2));
          a_head_list : assert (list_of(head_word[k].parent, head_word[k].cls) == pending_list_q[head_word[k].parent]
                  && head_word[k].round[0] == pending_side_q[head_word[k].parent]);
          a_head_queue : assert (head_word[k].queue_id == list_q[pending_list_q[head_word[k].parent]][head_word[k].round[0]][0]);
        end
      end
      if (u_dut.p1_q.valid && u_dut.p1_q.op == OpHead) begin
        a_head1 : assert (l1 == pending_list_q[l1[1]] && u_dut.p1_q.round[0] == pending_side_q[l1[1]]
                && u_dut.p1_q.queue_id == list_q[l1][u_dut.p1_q.round[0]][0]);
      end
      if (effect && u_dut.p2_q.op == OpHead) begin
        a_head2 : assert (l2 == pending_list_q[p2] && u_dut.p2_q.round[0] == pending_side_q[p2]
                && u_dut.p2_q.queue_id == list_q[l2][u_dut.p2_q.round[0]][0]);
      end
      // FIFOs: two parents, so two at most, and two batches
      a_fifo_flags : assert (u_dut.u_pick.valid_q == (u_dut.u_pick.level_q != '0) && u_dut.u_head.valid_q == (u_dut.u_head.level_q != '0)
              && u_dut.u_out.valid_q == (u_dut.u_out.level_q != '0) && u_dut.u_rest.valid_q == (u_dut.u_rest.level_q != '0));
      a_fifo_levels : assert (u_dut.u_rest.level_q <= 2
              && u_dut.u_pick.level_q <= 2 && u_dut.u_head.level_q <= 2 && 32'(u_dut.u_out.level_q) <= 2 * TrainMost);
      a_fifo_ends : assert (3'(32'(u_dut.u_rest.raddr_q) + 32'(u_dut.u_rest.level_q)) == u_dut.u_rest.waddr_q
              && 3'(32'(u_dut.u_pick.raddr_q) + 32'(u_dut.u_pick.level_q)) == u_dut.u_pick.waddr_q
              && 3'(32'(u_dut.u_head.raddr_q) + 32'(u_dut.u_head.level_q)) == u_dut.u_head.waddr_q
              && 3'(32'(u_dut.u_out.raddr_q) + 32'(u_dut.u_out.level_q)) == u_dut.u_out.waddr_q);
      for (int k = 0; k < OutDepth; k++) begin
        if (out_there[k]) begin
          a_out_of_a_train : assert (pick_q[out_word[k].parent].busy
                  && out_index_q[k] >= pick_q[out_word[k].parent].given && out_index_q[k] < stored[out_word[k].parent]
                  && out_at_q[out_word[k].parent][TrainLog'(out_index_q[k])] == 3'(k));
          a_out_held : assert (out_word[k].held == (pick_q[out_word[k].parent].held && out_word[k].none)
                  && (!out_word[k].held || (out_word[k].cls == pick_q[out_word[k].parent].cls
                                         && out_word[k].own == pick_q[out_word[k].parent].own)));
          a_out_last : assert (out_word[k].none == none_at(pick_q[out_word[k].parent], out_index_q[k])
                  && out_word[k].round == pick_q[out_word[k].parent].rounds[TrainLog'(out_index_q[k])]
                  && out_word[k].last == last_at(pick_q[out_word[k].parent], out_index_q[k]));
          a_out_queue : assert (out_word[k].queue_id == pick_q[out_word[k].parent].looked[TrainLog'(out_index_q[k])]
                  && out_word[k].hold == pick_q[out_word[k].parent].holds[TrainLog'(out_index_q[k])]);
        end
      end
      for (int p = 0; p < 2; p++) begin
        for (int k = 0; k < TrainMost; k++) begin
          if (k >= 32'(pick_q[p].given) && k < 32'(stored[p])) begin
            a_out_at : assert (out_there[out_at_q[p][k]] && out_word[out_at_q[p][k]].parent == 1'(p)
                && 32'(out_index_q[out_at_q[p][k]]) == k);
            if (k + 1 < 32'(stored[p])) a_out_in_order : assert (ahead(out_at_q[p][k]) < ahead(out_at_q[p][(k+1)%TrainMost]));
          end
        end
      end
      a_out_level : assert (32'(u_dut.u_out.level_q) == 32'(stored[0]) - 32'(pick_q[0].given) + 32'(stored[1]) - 32'(pick_q[1].given));
      if (u_dut.p4_given_q) begin
        a_look_given : assert (pick_q[p_look].busy && pick_q[p_look].done && !pick_q[p_look].goes
            && pick_q[p_look].pushed != pick_q[p_look].base
            && pick_q[p_look].rounds[TrainLog'(stored[p_look])] == pick_q[p_look].round && u_dut.p4_pick_q.round == pick_q[p_look].round
                && u_dut.p4_pick_q.held == pick_q[p_look].held && (!u_dut.p4_pick_q.held || (u_dut.p4_pick_q.cls == pick_q[p_look].cls
                && u_dut.p4_pick_q.own == pick_q[p_look].own))
                && u_dut.p4_pick_q.none == pick_q[p_look].none && u_dut.p4_pick_q.last == (pick_q[p_look].pushed == pick_q[p_look].number));
      end
      if (u_dut.p1_pick_q) a_room_for_the_pick : assert (u_dut.credit_q >= 4'(u_dut.p1_q.wanted));
      a_credits : assert (32'(u_dut.credit_q) + 32'(u_dut.back_q) + reserved[0] + reserved[1] == OutDepth);
      // nothing happens before the memories are cleared
      if (!init_done) begin
        a_init : assert (count_q == '0 && !u_dut.p1_q.valid && !u_dut.p2_q.valid && !u_dut.p3_q.valid && !u_dut.p4_q.valid && !valid5_q
                && !u_dut.p4_walk_q.valid && !u_dut.p5_walk_q.valid && !u_dut.p4_given_q && !pick_q[0].busy
                    && !pick_q[1].busy && pending_q == '0
                && last_q == '0 && far_q == '0 && recent_q == {2{NoRecent}});
        for (int l = 0; l < Lists; l++) a_init_word : assert (word_q[l] == Cleared);
      end
    end
    if (seen_q && !rst_i && init_done) begin
      // a batch of two, and a queue is left
      c_chain : cover (effect && u_dut.p2_q.op == OpHead && 32'(pick_q[p2].number) == 2);
      // a batch continues with the lower class
      c_lower : cover (give && pick_q[out_parent].base != '0
          && pick_q[out_parent].cls == class_t'(1) && !out_none && pick_q[out_parent].done);
      // another pick's queue between those of a batch
      if (TrainLog > 1) c_between : cover (u_dut.p4_walk_q.valid && walk5_more && p4 != p5);
    end
  end

endmodule
