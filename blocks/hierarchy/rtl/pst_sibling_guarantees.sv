// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Guaranteed rates of a subscriber's queues: which of them are within theirs, and which packet is charged to one (GCRA, as a shaper).
//
// A packet is charged to its queue's guarantee once: when it comes, or when it may go, if the queue is within the guarantee then. What was late is
// made up for: up to GuaranteeCycles, and up to ToleranceCycles of a queue that was empty. Queues within their guarantees go in turn, from the one
// after that which was charged last.
//
// Latency: cycle 0 the queue, 3 pays_o, 4 which queues go first, of the state after this operation, 5 idle_o. Throughput: one operation per cycle.
// Reset: a walker clears the memory (`Subscribers` cycles): no queue has a guarantee, none has sent anything.
module pst_sibling_guarantees
  import pst_pkg::LenWidth, pst_pkg::len_t, pst_pkg::MantissaWidth, pst_pkg::ExponentWidth;
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Subscribers = 16,              // >= 2
    parameter int unsigned QueuesPerSubscriber = 4,       // 2, 4 or 8
    parameter int unsigned GuaranteeCycles = 1_000_000,   // lateness that is made up for, below 2^(TimeWidth-4)
    parameter int unsigned ToleranceCycles = 1024,        // the same of a queue that was empty, not above GuaranteeCycles
    parameter int unsigned TimeWidth = 32,                // bits of a time in cycles, 16 .. 40
    parameter string       RamStyle = "auto",
    localparam int unsigned SubscriberWidth = $clog2(Subscribers),
    localparam int unsigned IndexWidth = $clog2(QueuesPerSubscriber)
) (
    input  logic                                           clk_i,
    input  logic                                           rst_i,
    input  logic [          TimeWidth-1:0]                 now_i,               // cycles
    // cycle 0
    input  logic                                           s_op_valid_i,
    input  logic                                           s_op_charge_i,       // a packet comes; else it is a look
    input  logic                                           s_op_release_i,      // a look: the queue's packet may go
    input  logic                                           s_op_walk_i,         // a look of no queue: old time stamps are refreshed
    input  logic [    SubscriberWidth-1:0]                 s_op_subscriber_i,
    input  logic [         IndexWidth-1:0]                 s_op_index_i,
    // cycle 2
    input  guarantee_t                                     s_op_guarantee_i,    // of the queue
    input  len_t                                           s_op_len_i,
    input  logic                                           s_op_empties_i,      // charge: it has left its queue empty
    // cycle 3
    input  logic [QueuesPerSubscriber-1:0]                 s_op_alike_i,        // charge: queues whose last packet was of its class
    output logic                                           pays_o,              // the packet goes by the guarantee from now on
    // cycle 4
    output logic [QueuesPerSubscriber-1:0]                 first_o,             // their packets go first
    output logic [QueuesPerSubscriber-1:0]                 due_o,               // a next packet would
    output logic [QueuesPerSubscriber-1:0][IndexWidth-1:0] turn_o,              // their order, from 0 on
    // cycle 5
    output logic                                           idle_o,              // charge: no queue of the class was busy
    output logic                                           init_done_o
);

  localparam int unsigned Q = QueuesPerSubscriber;
  localparam int unsigned ProductWidth = LenWidth + MantissaWidth;
  localparam int unsigned IncrementWidth = TimeWidth - 3 + 16;

  if (TimeWidth < 16 || TimeWidth > 40 || longint'(GuaranteeCycles) >= longint'(2) ** (TimeWidth - 4)
      || ToleranceCycles > GuaranteeCycles) begin : g_bad_time
    $error("pst_sibling_guarantees: GuaranteeCycles (%0d) must be below 2^(TimeWidth-4) and not below ToleranceCycles (%0d)",
           GuaranteeCycles, ToleranceCycles);
  end

  typedef logic [TimeWidth+15:0] stamp_t;    // cycles, 16 bits of fraction
  typedef logic [TimeWidth-1:0] cycle_t;
  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    stamp_t stamp;    // when its next packet is within the guarantee
    logic   some;     // it had a guarantee when it was looked at last
    logic   paid;     // its packet that is here goes by it
    logic   busy;     // its last packet has not left it empty
  } word_t;

  typedef struct packed {
    index_t        last;      // queue of which one has begun to go by its guarantee last
    word_t [Q-1:0] queues;
  } group_t;

  localparam cycle_t OldAge = cycle_t'(1) << (TimeWidth - 3);

  function automatic logic earlier(cycle_t a, cycle_t b);
    return $signed(a - b) < 0;
  endfunction

  function automatic logic early(stamp_t stamp, cycle_t now);
    return earlier(now, stamp[TimeWidth+15:16]) || (now == stamp[TimeWidth+15:16] && stamp[15:0] != '0);
  endfunction

  // A stamp is made no older than this one.
  function automatic stamp_t limited(stamp_t stamp, cycle_t oldest);
    return earlier(stamp[TimeWidth+15:16], oldest) ? {oldest, 16'b0} : stamp;
  endfunction

  // Bits of a product that the shift takes out of the increment (pst_shaper_increment).
  function automatic logic [ProductWidth-1:0] beyond(logic [ExponentWidth-1:0] exponent);
    for (int b = 0; b < int'(ProductWidth); b++) beyond[b] = int'(exponent) >= int'(IncrementWidth) + 15 - b;
  endfunction

  logic [3:1] charge_q, release_q, walk_q;
  index_t [3:1] index_q;
  logic [SubscriberWidth-1:0] walk_subscriber_q;
  group_t c3_group, c3_new, c4_group;
  stamp_t c3_stamp, c3_base;
  logic c3_paid, c3_busy;
  logic [ProductWidth-1:0] c3_product_q, c3_beyond_q;
  logic [IncrementWidth+14:0] c3_scaled;
  logic [IncrementWidth-1:0] c3_increment;
  logic [ExponentWidth-1:0] c3_exponent_q;
  logic c3_some_q, c3_empties_q, c3_idle, c4_idle_q;

  // --- cycle 3: is the packet charged?

  assign c3_stamp     = c3_group.queues[index_q[3]].stamp;
  assign c3_paid      = c3_group.queues[index_q[3]].paid;
  assign c3_busy      = c3_group.queues[index_q[3]].busy;
  assign c3_scaled    = (IncrementWidth + 15)'(c3_product_q) << c3_exponent_q;
  assign c3_increment = (c3_product_q & c3_beyond_q) != '0 ? '1 : c3_scaled[15+:IncrementWidth];

  always_comb begin
    c3_base = charge_q[3] && !c3_busy ? limited(c3_stamp, now_i - cycle_t'(ToleranceCycles)) : c3_stamp;
    pays_o  = (charge_q[3] || (release_q[3] && !c3_paid)) && c3_some_q && !early(c3_stamp, now_i);
    c3_idle = 1'b1;
    for (int i = 0; i < int'(Q); i++)
      if (c3_group.queues[i].busy && (s_op_alike_i[i] || index_q[3] == index_t'(i))) c3_idle = 1'b0;

    c3_new = c3_group;
    if (pays_o) c3_new.last = index_q[3];
    for (int i = 0; i < int'(Q); i++) begin
      if (walk_q[3]) c3_new.queues[i].stamp = limited(c3_group.queues[i].stamp, now_i - OldAge);
      if ((charge_q[3] || release_q[3]) && index_q[3] == index_t'(i)) begin
        c3_new.queues[i].some  = c3_some_q;
        c3_new.queues[i].stamp = pays_o ? limited(c3_base + stamp_t'(c3_increment), now_i - cycle_t'(GuaranteeCycles)) : c3_base;
        c3_new.queues[i].paid  = pays_o || (c3_paid && !charge_q[3]);
        if (charge_q[3]) c3_new.queues[i].busy = !c3_empties_q;
      end
    end
  end

  // --- cycle 4: which go first?

  always_comb begin
    for (int i = 0; i < int'(Q); i++) begin
      due_o[i]   = c4_group.queues[i].some && !early(c4_group.queues[i].stamp, now_i);
      first_o[i] = c4_group.queues[i].paid || due_o[i];
      turn_o[i]  = index_t'(i) - c4_group.last - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    charge_q      <= {charge_q[2:1], s_op_valid_i && s_op_charge_i};
    release_q     <= {release_q[2:1], s_op_valid_i && s_op_release_i};
    walk_q        <= {walk_q[2:1], s_op_valid_i && s_op_walk_i};
    index_q       <= {index_q[2:1], s_op_index_i};
    c3_product_q  <= s_op_len_i * s_op_guarantee_i.mantissa;
    c3_exponent_q <= s_op_guarantee_i.exponent;
    c3_beyond_q   <= beyond(s_op_guarantee_i.exponent);
    c3_some_q     <= s_op_guarantee_i.mantissa != '0;
    c3_empties_q  <= s_op_empties_i;
    c4_idle_q     <= c3_idle;
    idle_o        <= c4_idle_q;
    if (s_op_valid_i && s_op_walk_i)
      walk_subscriber_q <= int'(walk_subscriber_q) == int'(Subscribers) - 1 ? '0 : walk_subscriber_q + 1'b1;
    if (rst_i) begin
      charge_q          <= '0;
      release_q         <= '0;
      walk_q            <= '0;
      walk_subscriber_q <= '0;
    end
  end

  pst_ram_modify #(
      .Width($bits(group_t)), .Depth(Subscribers), .Style(RamStyle)
  ) u_groups (
      .clk_i, .rst_i,
      .valid_i(s_op_valid_i), .addr_i(s_op_walk_i ? walk_subscriber_q : s_op_subscriber_i), .word_o(c3_group),
      .we_i(charge_q[3] || release_q[3] || walk_q[3]), .word_i(c3_new), .word_q_o(c4_group), .init_done_o
  );

  logic unused;
  assign unused = ^c3_scaled[14:0];

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) a_walk_in_range : assert (32'(walk_subscriber_q) < Subscribers);
  end
`endif

endmodule
