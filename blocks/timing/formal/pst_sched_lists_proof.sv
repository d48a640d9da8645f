// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_sched_lists: every queue is always in exactly one place (outside, with an operation under way, on the ready
// list or in one slot), lists are FIFO, a splice keeps all and their order, the ready list shows its first queue at once, and a peek at a slot
// says whether it has a queue.
//
// Each list is kept beside the DUT as an array in its order, the ready list as a ring whose positions have the stripe as their lower
// bits, and each queue's place as a map back into these arrays. The inductive invariant says how links, heads and tails encode
// them. An operation takes effect once and in the order of the handshakes: at once when direct, else two cycles later.
// Three proofs, for one would take too long. Part 0: the arrays and the map agree. Part 1: the numbers of queues add up. Each of these assumes
// the other, and that nothing was popped from an empty list, in earlier cycles only. Part 2: the DUT is what the arrays say, where 0 and 1 are assumed.
module pst_sched_lists_proof #(
    parameter int unsigned Queues = 6,    // 5 .. 8; with 4 stripes more than 4, or no link is ever used
    parameter int unsigned Slots = 2,     // 0: no wheel
    parameter int unsigned Part = 2,
    parameter int unsigned Picked = 0,    // part 0 looks at this queue; ids are compared and stored there and nothing else, so any will do
    localparam int unsigned QueueIdWidth = 3,
    localparam int unsigned SlotWidth = Slots > 1 ? $clog2(Slots) : 1
) (
    input logic                    clk_i,
    input logic                    rst_i,
    input logic                    op_valid_i,
    input logic                    op_splice_i,
    input logic                    op_wheel_i,
    input logic                    op_direct_i,
    input logic [QueueIdWidth-1:0] op_queue_i,
    input logic [   SlotWidth-1:0] op_slot_i,
    input logic [   SlotWidth-1:0] peek_slot_i,
    input logic                    ready_i
);

  localparam int unsigned Lists = Slots > 0 ? Slots : 1;

  typedef logic [2:0] queue_t;
  typedef logic [2:0] place_t;
  typedef logic [3:0] count_t;
  typedef logic [1:0] stripe_t;

  typedef enum logic [2:0] {
    Outside,
    Op1,        // an operation that places it is in stage 1, 2
    Op2,
    Ready,      // place: position in the ring
    InSlot      // place: from the slot's first
  } where_e;

  typedef struct packed {
    where_e               where;
    logic [SlotWidth-1:0] slot;
    place_t               place;
  } at_t;

  typedef struct packed {
    queue_t [3:0] head;
    queue_t [3:0] tail;
    stripe_t      fill;
    logic         full;
  } slot_t;

  logic op_ready, ready_valid, peek_any, take, pop, init_done;
  queue_t ready_queue;

  pst_sched_lists #(
      .Queues(Queues), .Slots(Slots)
  ) u_dut (
      .clk_i, .rst_i,
      .s_op_valid_i(op_valid_i), .s_op_ready_o(op_ready), .s_op_splice_i(op_splice_i), .s_op_wheel_i(op_wheel_i),
      .s_op_direct_i(op_direct_i), .s_op_queue_i(op_queue_i), .s_op_slot_i(op_slot_i), .s_peek_slot_i(peek_slot_i), .peek_any_o(peek_any),
      .m_ready_valid_o(ready_valid), .m_ready_ready_i(ready_i), .m_ready_queue_o(ready_queue), .init_done_o(init_done)
  );

  assign take = op_valid_i && op_ready;
  assign pop  = ready_valid && ready_i;

  // --- the lists as they should be

  logic seen_q;
  initial seen_q = 1'b0;
  at_t [7:0] at_q, at_d;                    // by queue; ids from Queues on are never used
  queue_t [7:0] ready_q, ready_d;           // the ring
  logic [7:0] linked_q, linked_d;           // by position; 0 while a splice has its stripe still to do
  place_t first_q, first_d, last;           // first position; position behind the last
  count_t count_q, count_d;
  queue_t [Lists-1:0][7:0] slot_q, slot_d;
  count_t [Lists-1:0] level_q, level_d;

  logic effect_splice, effect_wheel, effect_ready;
  logic [SlotWidth-1:0] slot;
  assign effect_splice = u_dut.op2_q.valid && u_dut.op2_q.splice;
  assign effect_wheel  = u_dut.op2_q.valid && !u_dut.op2_q.splice && u_dut.op2_q.wheel;
  assign effect_ready  = (u_dut.op2_q.valid && !u_dut.op2_q.splice && !u_dut.op2_q.wheel) || u_dut.op_direct;
  assign slot = u_dut.op2_q.slot;
  assign last = first_q + place_t'(count_q);

  always_comb begin
    at_d     = at_q;
    ready_d  = ready_q;
    linked_d = linked_q;
    first_d  = first_q + place_t'(pop);
    count_d  = count_q - count_t'(pop);
    slot_d   = slot_q;
    level_d  = level_q;
    if (pop) at_d[ready_q[first_q]].where = Outside;
    for (int p = 0; p < 8; p++) if (u_dut.splice_q && stripe_t'(p) - u_dut.append_q == u_dut.splice_index_q) linked_d[p] = 1'b1;
    if (u_dut.op1_q.valid && !u_dut.op1_q.splice) at_d[u_dut.op1_q.queue_id].where = Op2;
    if (take && !op_splice_i && !u_dut.op_direct) at_d[op_queue_i].where = Op1;
    if (effect_ready) begin
      ready_d[last]         = u_dut.op_queue;
      linked_d[last]        = 1'b1;
      at_d[u_dut.op_queue]  = '{where: Ready, slot: '0, place: last};
      count_d               = count_d + 1'b1;
    end
    if (Slots > 0 && effect_splice) begin
      for (int p = 0; p < 8; p++) begin
        if (count_t'(place_t'(place_t'(p) - last)) < level_q[slot]) begin
          ready_d[p]  = slot_q[slot][place_t'(place_t'(p) - last)];
          linked_d[p] = stripe_t'(place_t'(p) - last) == '0;
        end
        if (at_q[p].where == InSlot && at_q[p].slot == slot) at_d[p] = '{where: Ready, slot: '0, place: last + at_q[p].place};
      end
      count_d       = count_d + level_q[slot];
      level_d[slot] = '0;
    end
    if (Slots > 0 && effect_wheel) begin
      slot_d[slot][place_t'(level_q[slot])] = u_dut.op2_q.queue_id;
      at_d[u_dut.op2_q.queue_id] = '{where: InSlot, slot: slot, place: place_t'(level_q[slot])};
      level_d[slot] = level_q[slot] + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    seen_q   <= 1'b1;
    at_q     <= at_d;
    ready_q  <= ready_d;
    linked_q <= linked_d;
    first_q  <= first_d;
    count_q  <= count_d;
    slot_q   <= slot_d;
    level_q  <= level_d;
    if (rst_i) begin
      for (int q = 0; q < 8; q++) at_q[q].where <= Outside;
      first_q <= '0;
      count_q <= '0;
      level_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (op_valid_i && !rst_i) begin
      if (!op_splice_i) m_from_outside : assume (32'(op_queue_i) < Queues && at_q[op_queue_i].where == Outside);
      if (op_direct_i) m_direct : assume (!op_splice_i && !op_wheel_i);
      if (Slots == 0) m_no_wheel : assume (!op_splice_i && !op_wheel_i);
    end
  end

  function automatic logic looked_at(queue_t queue_id);
    looked_at = Part != 0 || 32'(queue_id) == Picked;
  endfunction

  // Whatever stands in a place has that place in the map, so nothing is in two places; and places and queues are equally many, so nothing is in
  // none.
  logic one_place;
  count_t sum;
  always_comb begin
    one_place = 1'b1;
    sum       = count_q + count_t'(u_dut.op1_q.valid && !u_dut.op1_q.splice) + count_t'(u_dut.op2_q.valid && !u_dut.op2_q.splice);
    for (int s = 0; s < Slots; s++) sum += level_q[s];
    for (int q = 0; q < 8; q++) begin
      if (q < Queues) sum += count_t'(at_q[q].where == Outside);
      if (q >= Queues && looked_at(queue_t'(q))) one_place &= at_q[q].where == Outside;
    end
    if (u_dut.op1_q.valid && !u_dut.op1_q.splice && looked_at(u_dut.op1_q.queue_id)) one_place &= at_q[u_dut.op1_q.queue_id].where == Op1;
    if (u_dut.op2_q.valid && !u_dut.op2_q.splice && looked_at(u_dut.op2_q.queue_id)) one_place &= at_q[u_dut.op2_q.queue_id].where == Op2;
    for (int p = 0; p < 8; p++) begin
      if (count_t'(place_t'(place_t'(p) - first_q)) < count_q && looked_at(ready_q[p])) begin
        one_place &= at_q[ready_q[p]].where == Ready && at_q[ready_q[p]].place == place_t'(p);
      end
      for (int s = 0; s < Slots; s++) begin
        if (count_t'(p) < level_q[s] && looked_at(slot_q[s][p])) begin
          one_place &= at_q[slot_q[s][p]] == at_t'({InSlot, SlotWidth'(s), place_t'(p)});
        end
      end
    end
  end

  // What the DUT's memories and registers say of each stripe of the ready list.
  place_t [3:0] head, second;                 // positions of the stripe
  logic [3:0] has, has_second, link1, link2;
  stripe_t [3:0] turn;                        // counted from the stripe of a splice's first element
  logic [3:0] waiting;                        // by turn: something is not linked yet
  always_comb begin
    waiting = '0;
    for (int i = 0; i < 4; i++) begin
      turn[i]       = stripe_t'(i) - u_dut.append_q;
      head[i]       = {3'(place_t'(i) - first_q) >= 3'd4, stripe_t'(i)};
      second[i]     = head[i] ^ 3'd4;
      has[i]        = count_t'(place_t'(head[i] - first_q)) < count_q;
      has_second[i] = count_t'(place_t'(second[i] - first_q)) < count_q;
      link1[i]      = u_dut.link1_q && u_dut.link_stripe1_q == stripe_t'(i);
      link2[i]      = u_dut.link2_q && u_dut.link_stripe2_q == stripe_t'(i);
      if ((has[i] && !linked_q[head[i]]) || (has_second[i] && !linked_q[second[i]])) waiting[turn[i]] = 1'b1;
    end
  end

  logic only_ready, adds_up, order_q, one_place_q, adds_up_q;
  initial {order_q, one_place_q, adds_up_q} = '1;
  assign only_ready = Slots > 0 || !(u_dut.op1_q.valid && (u_dut.op1_q.splice || u_dut.op1_q.wheel))
      && !(u_dut.op2_q.valid && (u_dut.op2_q.splice || u_dut.op2_q.wheel));
  assign adds_up = sum == count_t'(Queues) && count_q <= count_t'(Queues);

  always_ff @(posedge clk_i) begin
    order_q     <= rst_i || !ready_valid || count_q != '0;
    one_place_q <= rst_i || !seen_q || (one_place && only_ready);
    adds_up_q   <= rst_i || !seen_q || adds_up;
    if (Part != 2) m_order : assume (order_q);
    if (Part == 0) m_added_up : assume (adds_up_q);
    if (Part == 1) m_was_one_place : assume (one_place_q);
    if (seen_q && !rst_i) begin
      if (Part == 0) a_one_place : assert (one_place && only_ready);
      if (Part == 1) a_adds_up : assert (adds_up);
      if (Part == 2) m_places : assume (one_place && only_ready && adds_up);
    end
    if (seen_q && !rst_i && Part == 2) begin
      // what a user relies on
      a_order : assert (!ready_valid || (count_q != '0 && ready_queue == ready_q[first_q]));
      a_prompt : assert (ready_valid == (count_q != '0 && linked_q[first_q]));
      a_in_order : assert (!(u_dut.op_direct && (u_dut.op1_q.valid || u_dut.op2_q.valid || u_dut.splice_q)));
      a_splice_alone : assert (!(u_dut.splice_q && (u_dut.op2_q.valid || u_dut.op_direct)));
      a_splice_ends : assert (u_dut.splice_q || count_q == '0 || linked_q[first_q]);
      // what the induction needs: the ready list
      a_pop : assert (u_dut.pop_q == stripe_t'(first_q));
      a_append : assert (stripe_t'(u_dut.append_q + (u_dut.splice_q ? u_dut.splice_slot_q.fill : 2'd0)) == stripe_t'(last));
      if (u_dut.link1_q) a_link1 : assert (u_dut.link_stripe1_q == u_dut.pop_q - 2'd1);
      if (u_dut.link2_q) a_link2 : assert (u_dut.link_stripe2_q == u_dut.pop_q - 2'd2
                                           || (!u_dut.link1_q && u_dut.link_stripe2_q == u_dut.pop_q - 2'd1));
      for (int i = 0; i < 4; i++) begin
        a_nonempty : assert (u_dut.nonempty_q[i] == (has[i] && linked_q[head[i]]));
        a_head_once : assert (2'(u_dut.head_valid_q[i]) + 2'(link1[i]) + 2'(link2[i]) == 2'(u_dut.nonempty_q[i]));
        if (u_dut.head_valid_q[i]) a_head : assert (u_dut.head_q[i] == ready_q[head[i]]);
        if (link1[i]) a_head_link1 : assert (u_dut.u_link.rdata_q == ready_q[head[i]]);
        if (link2[i]) a_head_link2 : assert (u_dut.link_r == ready_q[head[i]]);
        if (has_second[i]) begin
          if (linked_q[second[i]]) a_linked_in_order : assert (linked_q[head[i]]);
          if (linked_q[head[i]] == linked_q[second[i]]) a_linked : assert (u_dut.u_link.mem[ready_q[head[i]]] == ready_q[second[i]]);
        end
        if (u_dut.nonempty_q[i]) begin
          a_tail : assert (u_dut.tail_q[i] == ready_q[has_second[i] && linked_q[second[i]] ? second[i] : head[i]]);
        end
        // What is not linked yet is in the splice under way.
        if (waiting[turn[i]]) begin
          a_waits_for_the_splice : assert (u_dut.splice_q && turn[i] >= u_dut.splice_index_q);
          a_splice_head : assert (u_dut.splice_slot_q.head[turn[i]] == ready_q[linked_q[head[i]] ? second[i] : head[i]]);
          a_splice_tail : assert (u_dut.splice_slot_q.tail[turn[i]] == ready_q[has_second[i] ? second[i] : head[i]]);
        end
      end
    end
  end

  // --- the wheel

  if (Slots > 0) begin : g_wheel

    // The word of a slot says what the list is; what stands in empty stripes means nothing.
    function automatic logic encodes(slot_t word, queue_t [7:0] list, count_t level);
      encodes = word.fill == stripe_t'(level) && word.full == (level >= count_t'(4)) && level <= count_t'(Queues);
      for (int i = 0; i < 8; i++) begin
        if (count_t'(i) < level && i < 4 && word.head[i%4] != list[i]) encodes = 1'b0;
        if (count_t'(i) < level && count_t'(i + 4) >= level && word.tail[i%4] != list[i]) encodes = 1'b0;
      end
    endfunction

    slot_t word1;    // what the operation in stage 1 would find: its read, or the write that the read did not see
    assign word1 = slot_t'(u_dut.g_wheel.we1_q && u_dut.g_wheel.slot_id1_q == u_dut.op1_q.slot ? u_dut.g_wheel.slot1_q
                                                                                             : u_dut.g_wheel.u_slots.rdata_q);

    // Whether a queue is in a slot when the operations under way have taken effect.
    logic [Slots-1:0] any;
    always_comb begin
      for (int s = 0; s < Slots; s++) begin
        any[s] = level_q[s] != '0;
        if (u_dut.op2_q.valid && u_dut.op2_q.slot == SlotWidth'(s)) any[s] = !u_dut.op2_q.splice && (u_dut.op2_q.wheel || any[s]);
        if (u_dut.op1_q.valid && u_dut.op1_q.slot == SlotWidth'(s)) any[s] = !u_dut.op1_q.splice && (u_dut.op1_q.wheel || any[s]);
      end
    end

    logic peeked_q, any_q;    // a peek's answer counts; what it has to be
    always_ff @(posedge clk_i) begin
      peeked_q <= !rst_i && init_done && !(take && (op_splice_i || op_wheel_i) && op_slot_i == peek_slot_i);
      any_q    <= any[peek_slot_i];
      if (seen_q && !rst_i && Part == 2 && peeked_q) a_peek : assert (peek_any == any_q);
    end

    always_ff @(posedge clk_i) begin
      if (seen_q && !rst_i && Part == 2) begin
        for (int s = 0; s < Slots; s++) begin
          if (u_dut.g_wheel.init) begin
            a_any_cleared : assert (SlotWidth'(s) >= u_dut.g_wheel.init_slot || !u_dut.g_wheel.u_any.mem[s]);
          end else begin
            a_any : assert (u_dut.g_wheel.u_any.mem[s] == any[s]);
          end
          if (u_dut.g_wheel.init) begin
            a_slot_cleared : assert (level_q[s] == '0 && (SlotWidth'(s) >= u_dut.g_wheel.init_slot
                || u_dut.g_wheel.u_slots.mem[s] == '0));
          end else begin
            a_slot : assert (encodes(slot_t'(u_dut.g_wheel.u_slots.mem[s]), slot_q[s], level_q[s]));
          end
          for (int i = 0; i < 4; i++) begin
            if (count_t'(i + 4) < level_q[s]) a_slot_linked : assert (u_dut.u_link.mem[slot_q[s][i]] == slot_q[s][i+4]);
          end
          if (u_dut.op1_q.valid && u_dut.op1_q.slot == SlotWidth'(s)) a_slot1 : assert (encodes(word1, slot_q[s], level_q[s]));
          if (u_dut.op2_q.valid && u_dut.op2_q.slot == SlotWidth'(s)) begin
            a_slot2 : assert (encodes(slot_t'(u_dut.slot_now), slot_q[s], level_q[s]));
          end
        end
        if (u_dut.g_wheel.init) begin
          a_idle : assert (!u_dut.op1_q.valid && !u_dut.op2_q.valid && !u_dut.splice_q && count_q == '0 && u_dut.g_wheel.hold_q == '0);
        end
        // A splice has stage 2 alone.
        if (u_dut.op1_q.valid && u_dut.op1_q.splice) a_hold1 : assert (u_dut.g_wheel.hold_q == 2'd3);
        if (effect_splice) a_hold2 : assert (u_dut.g_wheel.hold_q == 2'd2 && !u_dut.op1_q.valid);
        if (u_dut.splice_q) begin
          a_index : assert (u_dut.splice_index_q != '0);
          if (u_dut.splice_index_q != 2'd3) a_hold3 : assert (u_dut.g_wheel.hold_q == 2'd2 - u_dut.splice_index_q && !u_dut.op1_q.valid);
          // A stripe of the spliced slot that has elements is one of those that are not linked yet.
          for (int j = 1; j < 4; j++) begin
            if (stripe_t'(j) >= u_dut.splice_index_q) begin
              a_splice_left : assert ((u_dut.splice_slot_q.full || stripe_t'(j) < u_dut.splice_slot_q.fill) == waiting[j]);
            end
          end
        end
        c_spliced : cover (u_dut.splice_q && u_dut.splice_index_q == 2'd1 && count_q == count_t'(Queues));
        c_chain : cover (pop && u_dut.link2_q && count_q >= count_t'(5));
      end
    end
  end

endmodule
