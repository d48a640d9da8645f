// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What waits at the parents of one level, by class and round: picks the next queue of a parent, the highest class first.
//
// Each class of a parent has a round and two FIFO lists, of this round and of the next. When the list of this round is empty, the next
// round begins; but not within GraceCycles of a queue's leaving with credit for more, for it may be on its way back, and would lose the
// rest of its round: such a pick finds none, and the parent asks again. For the same reason a class does not get its turn within
// GraceCycles of a packet of a higher class, while the parent is patient: not so late that its shaper would not make up for the wait. If
// the parent holds back, nor does it while one of a higher class waits above (pst_waits_above): its burst makes up for that; and a round
// does not end while one of the class itself waits there. A parent that neither is patient nor holds back is behind: it waits for none of
// these, and at the end of a round only for a subscriber that would miss too many. Which list a queue joins, and so its share, is decided
// by what it may still send in its round (pst_round_credit). It joins at the end; but in front of this round's list, if it has credit left
// and its parent is not patient: no wait is made for it, so it goes on with its turn as soon as it is back.
//
// A pick may ask for a batch of 2^n queues. It gets them one after the other, in parts of 2^PartLog, fewer if the list has no more. A part
// is one operation on the lists: the links lead from one of its queues to the next. If the parent is behind, the batch continues with the
// class that is the highest when the part's last queue leaves its list, by another operation. With a lower class only if all of its
// queues are clear: each goes, and leaves no other packet of its subscriber and class here. Else such a packet, which joins the list when
// the queue has gone, would wait for a lower class.
//
// A queue in a list may stand for several that wait together (pst_siblings): which of them goes is looked up when it leaves the list.
//
// Throughput: one append per cycle (never stalls); picks use the cycles in between, a part gives a queue every two cycles, two parts side by
// side one per cycle. Latency: pick to m_pick_o 10 cycles.
// Ordering: FIFO in each list; the queues of a batch in the list's order; singles in the order of picks. At most one pick of a parent may be
// under way, until the last queue of its batch has left or was appended again.
// Reset: empties the lists; a walker then clears the memories (`Parents * Classes` cycles).
module pst_fair_lists
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Parents = 16,       // >= 2
    parameter int unsigned Queues = 64,        // >= 2
    parameter int unsigned Classes = 4,        // 1 .. 8
    parameter int unsigned GraceCycles = 64,   // in which a queue comes back with its next packet, a multiple of 8, below 4,096
    parameter int unsigned TrainLog = 6,       // log2 of the longest batch, 0 .. 6
    parameter int unsigned PartLog = TrainLog < 4 ? TrainLog : 4,    // log2 of its largest part, 0 .. TrainLog
    parameter string       RamStyle = "auto",
    localparam int unsigned ParentWidth = Parents > 1 ? $clog2(Parents) : 1,
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [            12:0] now_i,                // cycles, modulo 2^13: one more in each
    // a queue waits from now on
    input  logic                    s_append_valid_i,
    input  logic                    s_append_front_i,     // its subscriber has credit left
    input  logic [ ParentWidth-1:0] s_append_parent_i,
    input  class_t                  s_append_class_i,
    input  logic [QueueIdWidth-1:0] s_append_queue_i,
    input  round_t                  s_append_round_i,     // round in which it was picked last
    input  logic                    s_append_credit_i,    // it may send more in that round
    // a packet of s_append_parent_i and s_append_class_i left
    input  logic                    s_left_valid_i,
    input  logic                    s_left_credit_i,      // and its subscriber may send more in its round,
    input  logic                    s_left_far_i,         // and has so much left that it must not miss another round
    // whose turn is it?
    input  logic                    s_pick_valid_i,
    output logic                    s_pick_ready_o,
    input  logic [ ParentWidth-1:0] s_pick_parent_i,
    input  train_t                  s_pick_train_i,       // in the next cycle: log2 of how many
    input  logic                    s_pick_patient_i,     // in the next cycle: it may wait for a higher class
    input  logic                    s_pick_holds_i,       // in the next cycle: also for one that waits above
    // a pick starts: in the next cycle what of its parent waits above
    output logic [ ParentWidth-1:0] m_start_parent_o,
    input  above_t                  s_start_above_i,
    // a queue leaves its list: in the next cycle which one goes for it, and whether that one still holds back
    output logic [QueueIdWidth-1:0] m_look_queue_o,
    input  logic [QueueIdWidth-1:0] m_look_queue_i,
    input  patience_t               m_look_hold_i,
    input  logic                    m_look_clear_i,       // it goes, and leaves no other packet of its subscriber and class
    output logic                    m_pick_valid_o,
    input  logic                    m_pick_ready_i,
    output logic [ ParentWidth-1:0] m_pick_parent_o,
    output logic [QueueIdWidth-1:0] m_pick_queue_o,
    output round_t                  m_pick_round_o,
    output logic                    m_pick_none_o,        // none yet: ask again,
    output logic                    m_pick_held_o,        // when what waits above has left,
    output class_t                  m_pick_class_o,       // for this class,
    output logic                    m_pick_own_o,         // which waits for its own packets, too
    output logic                    m_pick_last_o,        // of the batch
    output patience_t               m_pick_hold_o,        // as looked up
    output logic                    init_done_o
);

  localparam int unsigned CountWidth = (QueueIdWidth > PartLog ? QueueIdWidth : PartLog) + 1;    // PartMost is compared with counts
  localparam int unsigned Lists = Parents * (2 ** $clog2(Classes));
  localparam int unsigned ListWidth = ParentWidth + $clog2(Classes);
  localparam int unsigned PickDepth = 8;
  localparam int unsigned PartMost = 2 ** PartLog;
  localparam int unsigned OutDepth = PartLog > 2 ? 4 * PartMost : 8;

  if (Classes < 1 || Classes > 8) begin : g_bad_classes
    $error("pst_fair_lists: Classes is %0d, allowed: 1 .. 8", Classes);
  end
  if (TrainLog > 6 || PartLog > TrainLog) begin : g_bad_train
    $error("pst_fair_lists: TrainLog is %0d, allowed: 0 .. 6; PartLog is %0d, allowed: 0 .. TrainLog", TrainLog, PartLog);
  end

  typedef logic [ParentWidth-1:0] parent_t;
  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [Classes-1:0] mask_t;
  typedef logic [PartLog:0] number_t;     // of queues in a part,
  typedef logic [TrainLog:0] total_t;     // and in a batch
  typedef logic [$clog2(OutDepth+1)-1:0] credit_count_t;

  // Lists 0 and 1 are of even and odd rounds.
  typedef struct packed {
    queue_t [1:0]                 head;
    queue_t [1:0]                 tail;
    logic [1:0][CountWidth-1:0]   count;
    logic [1:0]                   nonempty; // count is not 0: is looked at first
    logic [1:0]                   opens;    // between a pick and its OpHead
    logic                         late;     // the parent was not patient when the class was picked last
    number_t [1:0]                most;     // the largest part: as many as there are, or PartMost; not between a pick and its OpHead
    logic [1:0]                   all;      // that is all of them
    round_t                       round;
  } lists_t;

  typedef enum logic [1:0] {
    OpAppend,
    OpPick,     // the head leaves its list
    OpHead      // the next head, read from the link, is known
  } op_e;

  typedef struct packed {
    logic    valid;
    op_e     op;
    parent_t parent;
    class_t  cls;
    queue_t  queue_id;
    round_t  round;     // append: picked last; head: the list's
    logic    credit;    // append
    logic    front;     // append
    number_t wanted;    // pick: how many,
    total_t  beyond;    // and by how many more the batch may continue
    logic    patient;   // pick
    logic    holds;     // pick
    logic    clear;     // pick: all queues that its batch has had
  } op_t;

  // When a packet left, in eight cycles, and its class. None goes before the lowest class.
  typedef struct packed {
    class_t     cls;
    logic [9:0] eighths;
  } recent_t;

  localparam recent_t NoRecent = '{cls: '1, eighths: '0};

  function automatic logic [ListWidth-1:0] list_of(parent_t parent, class_t cls);
    return ListWidth'(((ListWidth + ClassWidth)'(parent) << $clog2(Classes)) | (ListWidth + ClassWidth)'(cls));
  endfunction

  // --- clearing walk

  logic init;
  logic [ListWidth-1:0] init_list;

  pst_clear_walk #(.Depth(Lists), .AddrWidth(ListWidth)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_list));

  assign init_done_o = !init;

  // A queue that was never picked is of round 0, so that its word looks old.
  localparam lists_t Cleared = lists_t'({{$bits(lists_t) - RoundWidth{1'b0}}, round_t'(2)});

  typedef struct packed {
    logic    valid;
    parent_t parent;
    class_t  cls;
    logic    side;
    round_t  round;
    number_t links;     // that are still to be read
    logic    head;      // the last one is the list's next head
    total_t  rest;      // not 0: the batch may continue with so many
    logic    same;      // its class or a higher one waits
    logic    clear;     // all its queues so far are clear
  } walk_t;             // along the links of a part

  // What is left of a batch that continues.
  typedef struct packed {
    parent_t parent;
    class_t  cls;
    number_t wanted;
    total_t  beyond;
    logic    clear;
  } rest_t;

  op_t p0, p1_q, p2_q, p3_q, p4_q, head_op, head_fifo;
  walk_t p3_walk, p4_walk_q, p5_walk_q, p5_next;
  logic p1_pick_q, p3_pick_q, p3_side_q, p3_none_q, p5_more_q, p5_ends_q, p5_continues;
  number_t p3_number_q, p5_wanted, pick_wanted;
  total_t p3_rest;
  logic p3_same;

  // --- a pick first learns the parent's highest class

  logic look, look1_q, look2_q, pick_valid, pick_take, pick_start, pick_room_q;
  parent_t look1_parent_q, look2_parent_q;
  mask_t look2_mask;
  class_t look2_class, pick_class;
  parent_t pick_parent;
  train_t look2_train_q, pick_train;
  logic look2_patient_q, pick_patient, look2_holds_q, pick_holds;
  credit_count_t credit_q, back_q, unused_out_level;    // places in u_out; those that come back
  logic [$clog2(PickDepth+1)-1:0] pick_level, unused_head_level;
  logic unused_pick_ready, unused_head_ready, unused_out_ready, pick_given;

  assign s_pick_ready_o = pick_room_q && init_done_o;
  assign look           = s_pick_valid_i && s_pick_ready_o;

  always_comb begin
    look2_class = '0;
    for (int c = Classes - 1; c >= 0; c--) if (look2_mask[c]) look2_class = class_t'(c);
  end

  always_ff @(posedge clk_i) begin
    look1_q        <= look;
    look1_parent_q <= s_pick_parent_i;
    look2_q        <= look1_q;
    look2_parent_q <= look1_parent_q;
    look2_train_q   <= s_pick_train_i;
    look2_patient_q <= s_pick_patient_i;
    look2_holds_q   <= s_pick_holds_i;
    // As many as the part wants, until it is known how many there are.
    credit_q    <= credit_q + back_q - (p1_pick_q ? credit_count_t'(p1_q.wanted) : '0);
    back_q      <= (p3_pick_q ? credit_count_t'(p3_q.wanted) - credit_count_t'(p3_number_q) : '0) + credit_count_t'(pick_given);
    pick_room_q <= int'(pick_level) <= PickDepth - 4;
    if (rst_i) begin
      look1_q     <= 1'b0;
      look2_q     <= 1'b0;
      credit_q    <= credit_count_t'(OutDepth);
      back_q      <= '0;
      pick_room_q <= 1'b0;
    end
  end

  pst_fifo #(
      .Width(ParentWidth + ClassWidth + $bits(train_t) + 2), .Depth(PickDepth)
  ) u_pick (
      .clk_i, .rst_i,
      .s_valid_i(look2_q), .s_ready_o(unused_pick_ready),
      .s_data_i({look2_parent_q, look2_class, look2_train_q, look2_patient_q, look2_holds_q}),
      .m_valid_o(pick_valid), .m_ready_i(pick_take), .m_data_o({pick_parent, pick_class, pick_train, pick_patient, pick_holds}),
      .level_o(pick_level)
  );

  // --- operations: an append first, it cannot wait; then heads, then what batches continue with, then picks

  assign m_start_parent_o = p0.parent;

  // No pick starts while a batch waits to continue, so these are no more than were under way before: five in stages 1 to 5, and the first
  // one that waits.
  localparam int unsigned RestDepth = 8;
  logic head_valid, head_take, rest_valid, rest_take, rest_ready, rest_start, stage3_free, part_room, p4_clear;
  logic [$clog2(RestDepth+1)-1:0] unused_rest_level;
  rest_t rest;
  logic p1_hit2, p1_hit3, p1_mask_hit2, p1_mask_hit3;    // two or three operations ahead there is one on the same list, the same parent
  logic hit1_q, hit23_q, mask_hit1_q, mask_hit23_q;
  lists_t p2_ram, p2_lists, p2_ahead_q, p2_new, p3_lists_q, p3_lists, p4_lists_q;
  mask_t p2_mask_ram, p2_mask, p2_mask_ahead_q, p3_mask_q, p3_mask, p4_mask_q;

  always_comb begin
    p0 = '{
        valid: s_append_valid_i, op: OpAppend, parent: s_append_parent_i, cls: s_append_class_i, queue_id: s_append_queue_i,
        round: s_append_round_i, credit: s_append_credit_i, front: s_append_front_i, wanted: '0, beyond: '0, patient: 1'b0,
        holds: 1'b0, clear: 1'b0
    };
    head_take = 1'b0;
    rest_take = 1'b0;
    pick_take = 1'b0;
    if (!s_append_valid_i) begin
      if (head_valid) begin
        p0        = head_fifo;
        head_take = 1'b1;
      end else if (rest_valid) begin
        p0        = '{
            valid: rest_start, op: OpPick, parent: rest.parent, cls: rest.cls, wanted: rest.wanted, beyond: rest.beyond, clear: rest.clear,
            default: '0
        };
        rest_take = rest_start;
      end else begin
        p0        = '{
            valid: pick_valid && pick_start, op: OpPick, parent: pick_parent, cls: pick_class, wanted: pick_wanted,
            beyond: (total_t'(1) << pick_train) - total_t'(pick_wanted), patient: pick_patient, holds: pick_holds, clear: 1'b1, default: '0
        };
        pick_take = pick_start;
      end
    end
  end

  // --- stage 2: change the lists

  logic side, nonempty, front, waits, p3_waits_q, p3_held_q, p3_own_q, link_we, p2_left, p2_none, p2_held;
  number_t p2_wanted, p2_number;
  logic [1:0] p2_leaves;
  logic more_than_part, head_side, head_all, grows;
  logic [CountWidth-1:0] known_count, ahead_count;
  number_t head_number;
  queue_t link_waddr, link_wdata, p2_head, link_r;
  logic [9:0] p1_last, p1_far;
  logic p1_far_hit_q;
  logic [12:0] p1_next_q;    // the clock of the next cycle
  logic p2_higher_q;         // a packet of a higher class left within GraceCycles, and the parent is patient
  logic p2_held_q;           // one waits above, and the parent holds back for it
  logic p2_own_q;            // one of its own class waits above, and the parent holds back for it when the round would end
  logic p2_stays_q;          // the round may not end, for this reason or another
  recent_t p1_recent;
  logic p1_own;              // one of the class waits above

  // How many there are is added up a stage later: a pick does not look at it.
  always_comb begin
    p3_lists = p3_lists_q;
    case (p3_q.op)
      OpAppend: p3_lists.count[p3_side_q] = p3_lists_q.count[p3_side_q] + 1'b1;
      OpPick:   p3_lists.count[p3_side_q] = p3_lists_q.count[p3_side_q] - (p3_none_q ? '0 : CountWidth'(p3_number_q));
      default: ;
    endcase
  end

  always_comb begin
    p3_mask = p3_mask_q;
    for (int c = 0; c < Classes; c++) if (p3_q.cls == class_t'(c)) p3_mask[c] = p3_waits_q;
  end

  // OpHead: how many there are now. Of those ahead of it in stage 3 only an append may be to its list; that is not added up yet.
  always_comb begin
    head_side   = p2_q.round[0];
    known_count = hit23_q ? p2_ahead_q.count[head_side] : p2_ram.count[head_side];
    ahead_count = p3_lists_q.count[head_side];
    grows       = p3_q.op == OpAppend && p3_side_q == head_side;
    if (hit1_q) begin
      head_all    = grows ? ahead_count < CountWidth'(PartMost) : ahead_count <= CountWidth'(PartMost);
      head_number = number_t'(ahead_count) + number_t'(grows);
    end else begin
      head_all    = known_count <= CountWidth'(PartMost);
      head_number = number_t'(known_count);
    end
  end

  always_comb begin
    p2_lists = hit1_q ? p3_lists : hit23_q ? p2_ahead_q : p2_ram;
    p2_mask  = mask_hit1_q ? p3_mask : mask_hit23_q ? p2_mask_ahead_q : p2_mask_ram;

    p2_new     = p2_lists;
    link_we    = 1'b0;
    link_waddr = p2_lists.tail[0];
    link_wdata = p2_q.queue_id;
    front      = 1'b0;
    side       = p2_lists.round[0];
    p2_left    = 1'b0;
    p2_none    = 1'b0;
    p2_held    = 1'b0;
    p2_wanted  = p2_q.wanted;
    p2_number  = number_t'(1);
    // Of the lists that it might be, before it is known which: is a queue left?
    for (int i = 0; i < 2; i++) p2_leaves[i] = p2_lists.nonempty[i] && !(p2_lists.all[i] && p2_wanted >= p2_lists.most[i]);
    more_than_part = 1'b0;
    case (p2_q.op)
      OpAppend: begin
        // It has had its part of this round: it waits for the next one.
        if (p2_q.round == p2_lists.round && !p2_q.credit) side = !side;
        nonempty        = p2_lists.nonempty[side];
        // While the next head is being read, it joins at the end.
        front           = p2_q.front && p2_lists.late && !p2_lists.opens[side];
        more_than_part = p2_lists.most[side] == number_t'(PartMost);
        link_we    = p2_q.valid && nonempty;
        link_waddr = front ? p2_q.queue_id : p2_lists.tail[side];
        link_wdata = front ? p2_lists.head[side] : p2_q.queue_id;
        if (!nonempty || front) p2_new.head[side] = p2_q.queue_id;
        if (!nonempty || !front) p2_new.tail[side] = p2_q.queue_id;
        p2_new.nonempty[side] = 1'b1;
        p2_new.most[side]     = !nonempty ? number_t'(1) : more_than_part ? number_t'(PartMost) : p2_lists.most[side] + 1'b1;
        p2_new.all[side]      = !nonempty || (p2_lists.all[side] && !more_than_part);
      end
      OpPick: begin
        nonempty = p2_lists.nonempty[side];
        p2_none  = p2_higher_q || p2_held_q || (!nonempty && p2_stays_q);
        p2_held  = p2_held_q || (!nonempty && p2_own_q);
        if (!nonempty) side = !side;
        p2_new.late = !p2_q.patient;
        if (!p2_none) begin
          if (!nonempty) p2_new.round = p2_lists.round + 1'b1;
          p2_number             = p2_wanted >= p2_lists.most[side] ? p2_lists.most[side] : p2_wanted;
          p2_left               = p2_leaves[side];
          p2_new.nonempty[side] = p2_left;
          p2_new.opens[side]    = p2_left;
        end
      end
      default: begin
        nonempty          = 1'b1;
        side              = p2_q.round[0];
        p2_new.head[side] = p2_q.queue_id;
        p2_new.opens[side] = 1'b0;
        p2_new.all[side]  = head_all;
        p2_new.most[side] = head_all ? head_number : number_t'(PartMost);
      end
    endcase
    p2_head = p2_lists.head[side];
    // A queue still waits in the class: one that was not picked.
    waits = p2_q.op == OpAppend || p2_leaves != '0 || p2_lists.nonempty == '1 || p2_q.op == OpHead || p2_none;
  end

  logic p3_left_q;
  queue_t p3_picked_q;
  round_t p3_round_q;

  assign p1_hit2      = p3_q.valid && list_of(p3_q.parent, p3_q.cls) == list_of(p1_q.parent, p1_q.cls);
  assign p1_hit3      = p4_q.valid && list_of(p4_q.parent, p4_q.cls) == list_of(p1_q.parent, p1_q.cls);
  assign p1_mask_hit2 = p3_q.valid && p3_q.parent == p1_q.parent;
  assign p1_mask_hit3 = p4_q.valid && p4_q.parent == p1_q.parent;

  always_ff @(posedge clk_i) begin
    p1_q      <= p0;
    p1_pick_q <= p0.valid && p0.op == OpPick;
    p2_q <= p1_q;
    p3_q <= p2_q;
    p4_q <= p3_q;
    p3_lists_q <= p2_new;
    p4_lists_q <= p3_lists;
    p3_mask_q  <= p2_mask;
    p3_waits_q <= waits;
    p4_mask_q  <= p3_mask;
    hit1_q       <= p2_q.valid && list_of(p2_q.parent, p2_q.cls) == list_of(p1_q.parent, p1_q.cls);
    hit23_q      <= p1_hit2 || p1_hit3;
    mask_hit1_q  <= p2_q.valid && p2_q.parent == p1_q.parent;
    mask_hit23_q <= p1_mask_hit2 || p1_mask_hit3;
    p2_ahead_q      <= p1_hit2 ? p3_lists : p4_lists_q;
    p2_mask_ahead_q <= p1_mask_hit2 ? p3_mask : p4_mask_q;
    p3_pick_q   <= p2_q.valid && p2_q.op == OpPick;
    p3_left_q   <= p2_left;
    p3_side_q   <= side;
    p3_number_q <= p2_number;
    p3_picked_q <= p2_head;
    p3_none_q   <= p2_none;
    p3_held_q   <= p2_held;
    p3_own_q    <= !p2_lists.nonempty[p2_lists.round[0]];
    p3_round_q  <= p2_new.round;
    p4_walk_q   <= p5_more_q ? p5_next : p3_walk;
    p5_walk_q   <= p4_walk_q;
    p5_walk_q.clear <= p4_clear;
    p5_more_q   <= p4_walk_q.valid && p4_walk_q.links != number_t'(1);
    p5_ends_q   <= p4_walk_q.valid && p4_walk_q.links == number_t'(1) && p4_walk_q.rest != '0;
    if (rst_i) begin
      p1_q.valid <= 1'b0;
      p1_pick_q  <= 1'b0;
      p2_q.valid <= 1'b0;
      p3_q.valid <= 1'b0;
      p4_q.valid <= 1'b0;
      p3_pick_q  <= 1'b0;
      p4_walk_q.valid <= 1'b0;
      p5_walk_q.valid <= 1'b0;
      p5_more_q       <= 1'b0;
      p5_ends_q       <= 1'b0;
    end
  end

  pst_ram_1r1w #(
      .Width($bits(lists_t)), .Depth(Lists), .ReadLatency(2), .Style(RamStyle)
  ) u_lists (
      .clk_i,
      .we_i(init || p3_q.valid), .waddr_i(init ? init_list : list_of(p3_q.parent, p3_q.cls)),
      .wdata_i(init ? Cleared : p3_lists),
      .re_i(1'b1), .raddr_i(list_of(p0.parent, p0.cls)), .rdata_o(p2_ram)
  );

  // When a queue left that may be on its way back, in eight cycles. It left some cycles before its parent's next pick.
  pst_ram_1r1w #(
      .Width(10), .Depth(Lists), .Style(RamStyle)
  ) u_last (
      .clk_i,
      .we_i(init || (s_left_valid_i && s_left_credit_i)),
      .waddr_i(init ? init_list : list_of(s_append_parent_i, s_append_class_i)),
      .wdata_i(init ? '0 : now_i[12:3]),
      .re_i(1'b1), .raddr_i(list_of(p0.parent, p0.cls)), .rdata_o(p1_last)
  );

  // The same of a subscriber that is far behind. One of the pick's own batch may leave as that continues.
  pst_ram_1r1w #(
      .Width(10), .Depth(Lists), .Style(RamStyle)
  ) u_far (
      .clk_i,
      .we_i(init || (s_left_valid_i && s_left_far_i)),
      .waddr_i(init ? init_list : list_of(s_append_parent_i, s_append_class_i)),
      .wdata_i(init ? '0 : now_i[12:3]),
      .re_i(1'b1), .raddr_i(list_of(p0.parent, p0.cls)), .rdata_o(p1_far)
  );

  // The latest packet that left the parent.
  pst_ram_1r1w #(
      .Width($bits(recent_t)), .Depth(Parents), .Style(RamStyle)
  ) u_recent (
      .clk_i,
      .we_i(init || s_left_valid_i), .waddr_i(init ? parent_t'(init_list) : s_append_parent_i),
      .wdata_i(init ? NoRecent : recent_t'{cls: s_append_class_i, eighths: now_i[12:3]}),
      .re_i(1'b1), .raddr_i(p0.parent), .rdata_o(p1_recent)
  );

  always_comb begin
    p1_own = 1'b0;
    for (int c = 0; c < Classes; c++) if (p1_q.cls == class_t'(c)) p1_own = s_start_above_i.waits[c];
  end

  function automatic logic in_grace(logic [9:0] since);
    return 10'(p1_next_q[12:3] - since) < 10'(GraceCycles / 8);
  endfunction

  always_ff @(posedge clk_i) begin
    p1_next_q   <= now_i + 13'd2;
    p1_far_hit_q <= s_left_valid_i && s_left_far_i && list_of(s_append_parent_i, s_append_class_i) == list_of(p0.parent, p0.cls);
    p2_stays_q  <= (p1_q.patient || p1_q.holds ? in_grace(p1_last) : p1_far_hit_q || in_grace(p1_far))
        || (p1_q.holds && (p1_own || (s_start_above_i.left_class == p1_q.cls && in_grace(s_start_above_i.left))));
    p2_own_q    <= p1_q.holds && p1_own;
    p2_higher_q <= (p1_q.patient && p1_recent.cls < p1_q.cls && in_grace(p1_recent.eighths))
        || (p1_q.holds && s_start_above_i.left_class < p1_q.cls && in_grace(s_start_above_i.left));
    p2_held_q   <= p1_q.holds && (s_start_above_i.waits & ~('1 << p1_q.cls)) != '0;
  end

  // Which classes wait: for the operation, for the look before a pick, and for that of a batch that may continue.
  mask_t p5_mask;
  class_t p5_class;
  parent_t p3_walk_parent;
  pst_ram_1r1w #(
      .Width(Classes), .Depth(Parents), .ReadLatency(2), .Style(RamStyle)
  ) u_mask (
      .clk_i,
      .we_i(init || p3_q.valid), .waddr_i(init ? parent_t'(init_list) : p3_q.parent), .wdata_i(init ? '0 : p3_mask),
      .re_i(1'b1), .raddr_i(p0.parent), .rdata_o(p2_mask_ram)
  );

  pst_ram_write_first #(
      .Width(Classes), .Depth(Parents), .Style(RamStyle)
  ) u_look (
      .clk_i,
      .we_i(init || p3_q.valid), .waddr_i(init ? parent_t'(init_list) : p3_q.parent), .wdata_i(init ? '0 : p3_mask),
      .re_i(1'b1), .raddr_i(s_pick_parent_i), .rdata_o(look2_mask)
  );

  pst_ram_write_first #(
      .Width(Classes), .Depth(Parents), .Style(RamStyle)
  ) u_rest_look (
      .clk_i,
      .we_i(init || p3_q.valid), .waddr_i(init ? parent_t'(init_list) : p3_q.parent), .wdata_i(init ? '0 : p3_mask),
      .re_i(1'b1), .raddr_i(p3_walk_parent), .rdata_o(p5_mask)
  );

  // --- stages 3 to 5: the link of the picked queue leads to the next one of its batch, which goes through stage 3 again, or to its list's
  // next head

  logic p3_link_we_q;
  queue_t p3_link_waddr_q, p3_link_wdata_q, p3_given;

  // A pick starts when its part has its places in u_out, and stage 3 three cycles later. The places of one that has started in the cycle
  // before are not taken yet: as many as a part's at most.
  assign stage3_free = !(p2_q.valid && p2_q.op == OpPick && p2_q.wanted != number_t'(1))
      && !(p4_walk_q.valid && p4_walk_q.links > number_t'(2));
  assign part_room   = credit_q >> PartLog > credit_count_t'(p1_pick_q);
  assign pick_start  = (part_room || (pick_train == '0 && !p1_pick_q && credit_q != '0)) && stage3_free;
  assign rest_start  = part_room && stage3_free;
  assign pick_wanted = int'(pick_train) < int'(PartLog) ? number_t'(1) << pick_train : number_t'(PartMost);
  assign p5_wanted   = p5_walk_q.rest < total_t'(PartMost) ? number_t'(p5_walk_q.rest) : number_t'(PartMost);

  // A batch may continue if any queue waits: one still does when its turn comes.
  always_comb begin
    p3_rest = '0;
    if (p3_pick_q && !p3_none_q && !p3_q.patient && !p3_q.holds && p3_mask != '0) begin
      p3_rest = p3_q.beyond + total_t'(p3_q.wanted) - total_t'(p3_number_q);
    end
    p3_same = 1'b0;
    for (int c = 0; c < Classes; c++) if (p3_mask[c] && class_t'(c) <= p3_q.cls) p3_same = 1'b1;
    p5_class = '0;
    for (int c = Classes - 1; c >= 0; c--) if (p5_mask[c]) p5_class = class_t'(c);
  end

  always_comb begin
    p5_continues  = p5_ends_q && (p5_walk_q.clear || p5_walk_q.same);
    p5_next       = p5_walk_q;
    p5_next.links = p5_walk_q.links - 1'b1;
    p3_walk       = '{
        valid: p3_pick_q, parent: p3_q.parent, cls: p3_q.cls, side: p3_side_q, round: p3_round_q, links: p3_number_q, head: p3_left_q,
        rest: p3_rest, same: p3_same, clear: p3_q.clear
    };
    p3_walk_parent = p5_more_q ? p5_walk_q.parent : p3_q.parent;
    p3_given      = p5_more_q ? link_r : p3_picked_q;
    head_op       = '{
        valid: 1'b1, op: OpHead, parent: p5_walk_q.parent, cls: p5_walk_q.cls, queue_id: link_r, round: round_t'(p5_walk_q.side),
        default: '0
    };
  end

  // What was picked, without the queue that goes.
  typedef struct packed {
    parent_t parent;
    round_t  round;
    class_t  cls;
    logic    none;
    logic    held;
    logic    own;
    logic    last;
  } pick_t;

  pick_t p4_pick_q;
  logic p4_given_q;

  always_ff @(posedge clk_i) begin
    p3_link_we_q    <= link_we;
    p3_link_waddr_q <= link_waddr;
    p3_link_wdata_q <= link_wdata;
    p4_given_q      <= (p3_pick_q || p5_more_q) && !rst_i;
    p4_pick_q       <= p5_more_q ? '{parent: p5_walk_q.parent, round: p5_walk_q.round, cls: p5_walk_q.cls,
                                   none: 1'b0, held: 1'b0, own: 1'b0, last: p5_walk_q.links == number_t'(2)}
                               : '{parent: p3_q.parent, round: p3_round_q, cls: p3_q.cls,
                                   none: p3_none_q, held: p3_held_q, own: p3_own_q, last: p3_number_q == number_t'(1)};
  end

  // The last queue of a part is not the batch's last one if that continues.
  pick_t p4_pick;

  always_comb begin
    p4_clear     = p4_walk_q.clear && m_look_clear_i;
    p4_pick      = p4_pick_q;
    p4_pick.last = p4_pick_q.last && !(p4_walk_q.rest != '0 && (p4_clear || p4_walk_q.same));
  end

  assign m_look_queue_o = p3_given;

  pst_ram_1r1w #(
      .Width(QueueIdWidth), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_link (
      .clk_i,
      .we_i(p3_link_we_q), .waddr_i(p3_link_waddr_q), .wdata_i(p3_link_wdata_q),
      .re_i(1'b1), .raddr_i(p3_given), .rdata_o(link_r)
  );

  pst_fifo #(
      .Width($bits(op_t)), .Depth(PickDepth)
  ) u_head (
      .clk_i, .rst_i,
      .s_valid_i(p5_walk_q.valid && p5_walk_q.head && !p5_more_q), .s_ready_o(unused_head_ready), .s_data_i(head_op),
      .m_valid_o(head_valid), .m_ready_i(head_take), .m_data_o(head_fifo),
      .level_o(unused_head_level)
  );

  pst_fifo #(
      .Width($bits(rest_t)), .Depth(RestDepth)
  ) u_rest (
      .clk_i, .rst_i,
      .s_valid_i(p5_continues), .s_ready_o(rest_ready),
      .s_data_i({p5_walk_q.parent, p5_class, p5_wanted, p5_walk_q.rest - total_t'(p5_wanted), p5_walk_q.clear}),
      .m_valid_o(rest_valid), .m_ready_i(rest_take), .m_data_o(rest),
      .level_o(unused_rest_level)
  );

  pst_fifo #(
      .Width($bits(pick_t) + QueueIdWidth + $bits(patience_t)), .Depth(OutDepth), .Style("distributed")
  ) u_out (
      .clk_i, .rst_i,
      .s_valid_i(p4_given_q), .s_ready_o(unused_out_ready), .s_data_i({p4_pick, m_look_hold_i, m_look_queue_i}),
      .m_valid_o(m_pick_valid_o), .m_ready_i(m_pick_ready_i),
      .m_data_o({
          m_pick_parent_o, m_pick_round_o, m_pick_class_o, m_pick_none_o, m_pick_held_o, m_pick_own_o, m_pick_last_o,
          m_pick_hold_o, m_pick_queue_o
      }),
      .level_o(unused_out_level)
  );

  assign pick_given = m_pick_valid_o && m_pick_ready_i;

  logic unused;
  assign unused = &{1'b0, p4_q, p1_next_q[2:0]};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (look2_q) a_look_finds_a_class : assert (look2_mask != '0) else $error("a pick from parent %0d, where none waits", look2_parent_q);
      if (p2_q.valid && p2_q.op == OpPick)
        a_pick_finds_a_queue : assert (p2_lists.nonempty != '0) else $error("a pick from an empty class of parent %0d", p2_q.parent);
      if (p2_q.valid && p2_q.op == OpHead && hit1_q) a_no_head_behind_a_pick : assert (p3_q.op != OpPick)
        else $error("a next head follows a pick at once");
      if (look2_q) a_pick_fifo_has_room : assert (unused_pick_ready) else $error("pick FIFO overflows");
      if (p5_walk_q.valid && p5_walk_q.head && !p5_more_q) a_head_fifo_has_room : assert (unused_head_ready)
        else $error("head FIFO overflows");
      if (p5_continues) begin
        a_rest_fifo_has_room : assert (rest_ready) else $error("FIFO of batches that continue overflows");
        a_rest_finds_a_class : assert (p5_mask != '0) else $error("a batch of parent %0d continues, where none waits", p5_walk_q.parent);
      end
      if (p4_given_q) a_out_fifo_has_room : assert (unused_out_ready) else $error("output FIFO overflows");
      a_pick_meets_no_train : assert (!(p3_pick_q && p5_more_q)) else $error("a pick meets a batch");
      if (s_append_valid_i) a_class_in_range : assert (int'(s_append_class_i) < Classes)
        else $error("class %0d of %0d", s_append_class_i, Classes);
    end
  end
`endif

endmodule
