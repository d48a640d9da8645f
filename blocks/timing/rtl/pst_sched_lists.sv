// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The scheduler's lists: one ready list and a timing wheel, all of them in one link word per queue.
//
// A list is `Stripes` interleaved linked lists: its element i is in stripe i mod Stripes. One stripe can be popped once
// per Stripes cycles (its next head must be read from the link memory), so the list as a whole gives one queue per
// cycle and stays strictly FIFO.
//
// Throughput: one operation and one pop per cycle; a splice takes Stripes cycles.
// Latency:    operation to m_ready_valid_o 3 cycles; 1 for a direct place when no operation is under way.
// Ordering:   operations take effect in the order in which they are taken.
// Reset:      empties all lists; a walker then clears the wheel (`Slots` cycles).
module pst_sched_lists #(
    parameter int unsigned Queues = 64,          // >= 2
    parameter int unsigned Slots = 256,          // slots of the wheel, a power of two >= 2; 0: no wheel, only the ready list
    parameter int unsigned Stripes = 4,          // power of two, >= 4 (read latency of the link memory + 2)
    parameter string       LinkRamStyle = "auto",
    parameter string       SlotRamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned SlotWidth = Slots > 1 ? $clog2(Slots) : 1
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // operation: place a queue at the end of the ready list or of a slot, or splice a slot onto the ready list
    input  logic                    s_op_valid_i,
    output logic                    s_op_ready_o,
    input  logic                    s_op_splice_i,    // splice slot s_op_slot_i; else place s_op_queue_i
    input  logic                    s_op_wheel_i,     // place in slot s_op_slot_i; else on the ready list
    input  logic                    s_op_direct_i,    // on the ready list, at once when no operation is under way
    input  logic [QueueIdWidth-1:0] s_op_queue_i,
    input  logic [   SlotWidth-1:0] s_op_slot_i,
    // one cycle later: an entry was placed in this slot before and it has not been spliced since; undefined if one of these was in that very cycle
    input  logic [   SlotWidth-1:0] s_peek_slot_i,
    output logic                    peek_any_o,
    // first queue of the ready list
    output logic                    m_ready_valid_o,
    input  logic                    m_ready_ready_i,
    output logic [QueueIdWidth-1:0] m_ready_queue_o,
    output logic                    init_done_o
);

  localparam int unsigned StripeWidth = $clog2(Stripes);

  if (Stripes < 4 || Stripes != 2 ** StripeWidth) begin : g_bad_stripes
    $error("pst_sched_lists: Stripes is %0d, allowed: a power of two from 4", Stripes);
  end
  if (Slots == 1 || Slots != (Slots == 0 ? 0 : 2 ** SlotWidth)) begin : g_bad_slots
    $error("pst_sched_lists: Slots is %0d, allowed: 0 or a power of two from 2", Slots);
  end

  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [StripeWidth-1:0] stripe_t;

  // A slot's stripes are filled round robin from stripe 0: stripe i has an element when full or i < fill.
  typedef struct packed {
    queue_t [Stripes-1:0] head;
    queue_t [Stripes-1:0] tail;
    stripe_t              fill;    // stripe that takes the next element
    logic                 full;    // every stripe has an element
  } slot_t;

  typedef struct packed {
    logic                 valid;
    logic                 splice;
    logic                 wheel;
    queue_t               queue_id;
    logic [SlotWidth-1:0] slot;
  } op_t;

  op_t op1_q, op2_q;
  logic op_take, op_direct;
  queue_t op_queue;                  // of the operation that takes effect

  // --- stage 2: what the operation does to slot, ready list and links

  slot_t slot_now, slot_new;
  logic slot_we;
  logic splice_q;                    // stripes 1.. of a splice are under way
  stripe_t splice_index_q;
  slot_t splice_slot_q;

  logic append;                      // to the ready list, one stripe in this cycle
  stripe_t append_stripe;
  queue_t append_head, append_tail;
  logic link_we;
  queue_t link_waddr, link_wdata;

  // The ready list, a set of registers per stripe.
  logic [Stripes-1:0] nonempty_q, head_valid_q;
  queue_t [Stripes-1:0] head_q, tail_q;
  stripe_t append_q, pop_q;          // stripe of the next element to append, to pop
  stripe_t append_d;

  // The ready list needs no slot word: with nothing under way the operation at the port takes effect at once.
  assign op_direct = s_op_valid_i && s_op_ready_o && s_op_direct_i && !op1_q.valid && !op2_q.valid && !splice_q;

  always_comb begin
    op_queue      = op_direct ? s_op_queue_i : op2_q.queue_id;
    slot_new      = slot_now;
    slot_we       = 1'b0;
    append        = 1'b0;
    append_stripe = append_q;
    append_head   = op_queue;
    append_tail   = op_queue;
    append_d      = append_q;
    link_we       = 1'b0;
    link_waddr    = tail_q[append_q];
    link_wdata    = op_queue;

    if (splice_q) begin
      append        = splice_slot_q.full || splice_index_q < splice_slot_q.fill;
      append_stripe = append_q + splice_index_q;
      append_head   = splice_slot_q.head[splice_index_q];
      append_tail   = splice_slot_q.tail[splice_index_q];
      if (splice_index_q == '1) append_d = append_q + splice_slot_q.fill;
    end else if (op2_q.valid && op2_q.splice) begin
      slot_new    = '0;
      slot_we     = 1'b1;
      append      = slot_now.full || slot_now.fill != '0;
      append_head = slot_now.head[0];
      append_tail = slot_now.tail[0];
    end else if (op2_q.valid && op2_q.wheel) begin
      slot_we = 1'b1;
      slot_new.tail[slot_now.fill] = op2_q.queue_id;
      if (!slot_now.full) slot_new.head[slot_now.fill] = op2_q.queue_id;
      slot_new.fill = slot_now.fill + 1'b1;
      slot_new.full = slot_now.full || slot_now.fill == '1;
      link_we    = slot_now.full;
      link_waddr = slot_now.tail[slot_now.fill];
    end else if (op2_q.valid || op_direct) begin
      append   = 1'b1;
      append_d = append_q + 1'b1;
    end

    if (append) begin
      link_we    = nonempty_q[append_stripe];
      link_waddr = tail_q[append_stripe];
      link_wdata = append_head;
    end
  end

  // --- pop; the link of the popped queue leads to its stripe's next head, two cycles later

  logic pop, pop_last;
  logic [Stripes-1:0] last;          // the stripe's head is its only element
  logic link1_q, link2_q;
  stripe_t link_stripe1_q, link_stripe2_q;
  queue_t link_r;

  assign m_ready_valid_o = head_valid_q[pop_q];
  assign m_ready_queue_o = head_q[pop_q];
  assign pop      = m_ready_valid_o && m_ready_ready_i;
  assign pop_last = last[pop_q];

  always_comb begin
    for (int i = 0; i < Stripes; i++) last[i] = head_q[i] == tail_q[i];
  end

  always_ff @(posedge clk_i) begin
    link1_q        <= pop && !pop_last;
    link2_q        <= link1_q;
    link_stripe1_q <= pop_q;
    link_stripe2_q <= link_stripe1_q;
    if (link2_q) begin
      head_q[link_stripe2_q]       <= link_r;
      head_valid_q[link_stripe2_q] <= 1'b1;
    end
    if (pop) begin
      pop_q               <= pop_q + 1'b1;
      head_valid_q[pop_q] <= 1'b0;
      if (pop_last) nonempty_q[pop_q] <= 1'b0;
    end
    // An append to a stripe that is empty, or that the pop of this cycle empties, is its new head.
    if (append) begin
      tail_q[append_stripe]     <= append_tail;
      nonempty_q[append_stripe] <= 1'b1;
      if (!nonempty_q[append_stripe] || (pop && pop_last && pop_q == append_stripe)) begin
        head_q[append_stripe]       <= append_head;
        head_valid_q[append_stripe] <= 1'b1;
      end
    end
    append_q <= append_d;
    if (rst_i) begin
      link1_q      <= 1'b0;
      link2_q      <= 1'b0;
      nonempty_q   <= '0;
      head_valid_q <= '0;
      append_q     <= '0;
      pop_q        <= '0;
    end
  end

  pst_ram_1r1w #(
      .Width(QueueIdWidth), .Depth(Queues), .ReadLatency(2), .Style(LinkRamStyle)
  ) u_link (
      .clk_i,
      .we_i(link_we), .waddr_i(link_waddr), .wdata_i(link_wdata),
      .re_i(1'b1), .raddr_i(m_ready_queue_o), .rdata_o(link_r)
  );

  // --- stages 0 and 1, the wheel's memory

  assign op_take = s_op_valid_i && s_op_ready_o;

  always_ff @(posedge clk_i) begin
    op1_q <= '{valid: op_take && !op_direct, splice: s_op_splice_i, wheel: s_op_wheel_i, queue_id: s_op_queue_i, slot: s_op_slot_i};
    op2_q <= op1_q;
    if (rst_i) begin
      op1_q.valid <= 1'b0;
      op2_q.valid <= 1'b0;
    end
  end

  if (Slots > 0) begin : g_wheel
    logic init;
    logic [SlotWidth-1:0] init_slot;
    logic [StripeWidth-1:0] hold_q;           // cycles for which no operation is taken, so that a splice has stage 2 alone
    logic hit1_q, hit2_q, we1_q;
    logic [SlotWidth-1:0] slot_id1_q;
    slot_t slot_r, slot1_q, slot2_q;

    // Slot words written one and two cycles ago are not yet what a read of then has seen.
    always_comb begin
      slot_now = slot_r;
      if (hit2_q) slot_now = slot2_q;
      if (hit1_q) slot_now = slot1_q;
    end

    always_ff @(posedge clk_i) begin
      slot1_q    <= slot_new;
      slot2_q    <= slot1_q;
      slot_id1_q <= op2_q.slot;
      we1_q      <= slot_we;
      hit1_q     <= slot_we && op2_q.slot == op1_q.slot;
      hit2_q     <= we1_q && slot_id1_q == op1_q.slot;

      if (op2_q.valid && op2_q.splice && !splice_q) begin
        splice_q       <= 1'b1;
        splice_index_q <= stripe_t'(1);
        splice_slot_q  <= slot_now;
      end else if (splice_q) begin
        splice_index_q <= splice_index_q + 1'b1;
        if (splice_index_q == '1) splice_q <= 1'b0;
      end

      if (op_take && s_op_splice_i) hold_q <= StripeWidth'(Stripes - 1);
      else if (hold_q != '0) hold_q <= hold_q - 1'b1;

      if (rst_i) begin
        we1_q       <= 1'b0;
        splice_q    <= 1'b0;
        hold_q      <= '0;
      end
    end

    pst_clear_walk #(.Depth(Slots)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_slot));

    assign init_done_o  = !init;
    assign s_op_ready_o = hold_q == '0 && !init;

    pst_ram_1r1w #(
        .Width($bits(slot_t)), .Depth(Slots), .ReadLatency(2), .Style(SlotRamStyle)
    ) u_slots (
        .clk_i,
        .we_i(init || slot_we), .waddr_i(init ? init_slot : op2_q.slot), .wdata_i(init ? '0 : slot_new),
        .re_i(1'b1), .raddr_i(s_op_slot_i), .rdata_o(slot_r)
    );

    pst_ram_1r1w #(
        .Width(1), .Depth(Slots), .Style(SlotRamStyle)
    ) u_any (
        .clk_i,
        .we_i(init || (op_take && (s_op_splice_i || s_op_wheel_i))), .waddr_i(init ? init_slot : s_op_slot_i),
        .wdata_i(!init && !s_op_splice_i),
        .re_i(1'b1), .raddr_i(s_peek_slot_i), .rdata_o(peek_any_o)
    );
  end else begin : g_no_wheel
    assign slot_now       = '0;
    assign splice_q       = 1'b0;
    assign splice_index_q = '0;
    assign splice_slot_q  = '0;
    assign init_done_o    = 1'b1;
    assign s_op_ready_o   = 1'b1;
    assign peek_any_o     = 1'b0;
    logic unused;
    assign unused = &{1'b0, slot_new, slot_we, op2_q.slot, s_peek_slot_i};
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_no_operation_in_a_splice : assert (!(splice_q && op2_q.valid)) else $error("an operation meets a splice under way");
      for (int i = 0; i < Stripes; i++) begin
        a_head_has_an_element : assert (!head_valid_q[i] || nonempty_q[i]) else $error("stripe %0d has a head but no element", i);
      end
      if (op_take && s_op_direct_i) a_direct_is_to_the_ready_list : assert (!s_op_wheel_i && !s_op_splice_i)
        else $error("only a place on the ready list can be direct");
      if (Slots == 0 && op_take) a_wheel_there : assert (!s_op_wheel_i && !s_op_splice_i) else $error("there is no wheel");
    end
  end
`endif

endmodule
