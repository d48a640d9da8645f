// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_subscriber_queues: a pick gives a queue that waited in the very cycle in which the pick was asked for; of those the one that
// none went before as of the last event. Whether its subscriber holds back goes with it.
//
// Beside the hardware stand the waiting queues of one subscriber, whichever it is, and which of them is first. They change with what is seen at
// the ports. The invariant says how memories and pipeline encode them. pst_ram_modify is its contract here. PROVE_ROOM is a proof of its own:
// picks come out in order, and the output FIFO has room, whatever is asked; nothing is assumed.
module pst_subscriber_queues_proof
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Indexes = 4,           // queues of a subscriber
    localparam int unsigned IndexWidth = $clog2(Indexes)
) (
    input logic                            clk_i,
    input logic                            rst_i,
    input logic                            op_valid_i,        // cycle 0
    input logic                            op_subscriber_i,
    input logic                            event_waits_i,     // cycle 3
    input logic                            event_left_i,
    input logic [IndexWidth-1:0]           event_index_i,
    input logic [Indexes-1:0][Indexes-1:0] event_before_i,
    input logic                            pick_valid_i,
    input logic                            pick_subscriber_i,
    input logic                            pick_holds_i,      // a cycle later
    input logic                            out_ready_i,
    input logic                            again_i,          // what the answer said does not go: it may be asked for again
    input logic                            follow_i           // this pick is followed on its way
);

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [Indexes-1:0][Indexes-1:0] before_t;

  typedef logic [Indexes-1:0] set_t;

  logic pick_ready, out_valid, out_subscriber, out_holds, init_done;
  index_t out_index;

  pst_subscriber_queues #(
      .Subscribers(2), .QueuesPerSubscriber(Indexes)
  ) u_dut (
      .clk_i, .rst_i,
      .s_op_valid_i(op_valid_i), .s_op_subscriber_i(op_subscriber_i),
      .s_event_waits_i(event_waits_i), .s_event_left_i(event_left_i), .s_event_index_i(event_index_i),
      .s_event_before_i(event_before_i),
      .s_pick_valid_i(pick_valid_i), .s_pick_ready_o(pick_ready), .s_pick_subscriber_i(pick_subscriber_i), .s_pick_holds_i(pick_holds_i),
      .m_pick_valid_o(out_valid), .m_pick_ready_i(out_ready_i), .m_pick_subscriber_o(out_subscriber), .m_pick_index_o(out_index),
      .m_pick_holds_o(out_holds),
      .init_done_o(init_done)
  );

  logic seen_q, ask, give;
  logic x_q;    // the subscriber, any
  initial seen_q = 1'b0;
  assign ask  = pick_valid_i && pick_ready;
  assign give = out_valid && out_ready_i;

  // --- where picks are: stages 1 to 4, then the FIFO, its words by address, and whether they are there

  localparam int unsigned OutBits = 2 + IndexWidth;    // subscriber, whether it holds back, queue
  logic [7:0][OutBits-1:0] out_bits;
  logic [7:0] out_there;
  logic [4:1] k_valid, k_subscriber;
  logic [4:0] under_way;
  assign k_valid      = u_dut.look_q;
  assign k_subscriber = u_dut.look_subscriber_q;

  always_comb begin
    under_way = 5'(u_dut.u_out.level_q);
    for (int k = 0; k < 8; k++) begin
      out_bits[k]  = u_dut.u_out.mem[k];
      out_there[k] = {1'b0, 3'(k) - u_dut.u_out.raddr_q} < u_dut.u_out.level_q;
    end
    for (int k = 1; k <= 4; k++) under_way += 5'(k_valid[k]);
  end

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    x_q    <= x_q;
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      a_room : assert (5'(u_dut.credit_q) + under_way == 5'd8 && under_way <= 5'd8);
      a_fifo : assert (u_dut.u_out.valid_q == (u_dut.u_out.level_q != '0)
                       && 3'(32'(u_dut.u_out.raddr_q) + 32'(u_dut.u_out.level_q)) == u_dut.u_out.waddr_q);
    end
  end

`ifdef PROVE_ROOM
  // One pick, any, is followed: so many are before it. What it holds is told a cycle after it was asked for.
  logic follow_q, followed_q, fresh_q, holds_q, holds, found_there;
  logic [4:1] k_holds;
  assign k_holds = {u_dut.look_holds_q, pick_holds_i};
  assign holds   = fresh_q ? pick_holds_i : holds_q;
  logic [4:0] before_q, place;

  always_comb begin
    found_there = 1'b0;
    place       = 5'(u_dut.u_out.level_q);
    for (int k = 0; k < 8; k++) begin
      if (out_there[k] && {2'b0, 3'(k) - u_dut.u_out.raddr_q} == before_q) found_there = out_bits[k][OutBits-1-:2] == {followed_q, holds};
    end
    for (int k = 4; k >= 1; k--) begin
      if (k_valid[k]) begin
        if (place == before_q) found_there = k_subscriber[k] == followed_q && k_holds[k] == holds && fresh_q == (k == 1);
        place += 1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (give) begin
      before_q <= before_q - 1'b1;
      if (before_q == '0) follow_q <= 1'b0;
    end
    fresh_q <= ask && follow_i && !follow_q;
    holds_q <= holds;
    if (ask && follow_i && !follow_q) begin
      follow_q   <= 1'b1;
      followed_q <= pick_subscriber_i;
      before_q   <= under_way - 5'(give);
    end
    if (rst_i) follow_q <= 1'b0;
    if (seen_q && !rst_i && follow_q) begin
      a_followed : assert (before_q < under_way && found_there);
      if (give && before_q == '0) a_order : assert (out_subscriber == followed_q && out_holds == holds && !fresh_q);
    end
  end
`else
  // --- which queues wait, and which is first

  set_t waits_q, waits_d;
  index_t first4_q, first_d, first5_q;    // as of the events of the last cycle and before; with this cycle's; of two cycles ago and before
  logic busy_q, given_q;                  // a pick is under way, until its queue leaves or may not go yet; its answer was taken
  index_t pick_q;                         // what the answer must be
  logic [3:1] valid_q, subscriber_q;
  logic happens, mine, mine4_q, mine5_q;
  before_t before4_q;

  // No queue goes before it.
  function automatic index_t first_of(set_t waits, before_t order);
    first_of = '0;
    for (int a = 0; a < Indexes; a++) begin
      logic first;
      first = waits[a];
      for (int b = 0; b < Indexes; b++) if (a != b && waits[b] && order[b][a]) first = 1'b0;
      if (first) first_of = index_t'(a);
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
    happens = event_waits_i || event_left_i;
    mine    = happens && subscriber_q[3] == x_q;
    waits_d = waits_q;
    first_d = first4_q;
    if (mine && event_waits_i) waits_d[event_index_i] = 1'b1;
    if (mine && event_left_i) waits_d[event_index_i] = 1'b0;
    if (mine) first_d = first_of(waits_d, event_before_i);
  end

  always_ff @(posedge clk_i) begin
    valid_q      <= {valid_q[2:1], op_valid_i};
    subscriber_q <= {subscriber_q[2:1], op_subscriber_i};
    waits_q   <= waits_d;
    first4_q  <= first_d;
    first5_q  <= first4_q;
    mine4_q   <= mine;
    mine5_q   <= mine4_q;
    before4_q <= event_before_i;
    if ((mine && event_left_i) || (again_i && given_q)) busy_q <= 1'b0;
    if (give && out_subscriber == x_q) given_q <= 1'b1;
    if (ask && pick_subscriber_i == x_q) begin
      busy_q  <= 1'b1;
      given_q <= 1'b0;
      pick_q  <= first_d;
    end
    if (rst_i) begin
      valid_q  <= '0;
      waits_q  <= '0;
      first4_q <= '0;
      first5_q <= '0;
      mine4_q  <= 1'b0;
      mine5_q  <= 1'b0;
      busy_q   <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (op_valid_i) m_init : assume (init_done);
      m_event : assume (!(event_waits_i && event_left_i) && (!happens || valid_q[3]));
      m_order : assume (ordered(event_before_i));
      // a queue waits when it does not; it leaves after its pick
      if (mine && event_waits_i) m_wait : assume (!waits_q[event_index_i]);
      if (mine && event_left_i) m_left : assume (busy_q && given_q && event_index_i == pick_q);
      // one pick of a subscriber at a time, when a queue waits there
      if (ask && pick_subscriber_i == x_q) m_ask : assume (!busy_q && waits_d[first_d]);
    end
  end

  // --- memories and pipeline

  index_t mem, answer;
  logic cleared;
  logic [4:1] at;
  logic [7:0] at_out;
  logic [3:0] places;

  assign mem = u_dut.g_queues.u_next.u_ram.mem[x_q];
  always_comb begin
    cleared = !u_dut.g_queues.init || x_q < u_dut.g_queues.init_subscriber;
    answer  = u_dut.g_queues.u_next.hit_q ? u_dut.g_queues.u_next.new_q : u_dut.g_queues.u_next.word;
    places  = '0;
    for (int k = 1; k <= 4; k++) begin
      at[k] = k_valid[k] && k_subscriber[k] == x_q;
      places += 4'(at[k]);
    end
    for (int k = 0; k < 8; k++) begin
      at_out[k] = out_there[k] && out_bits[k][OutBits-1] == x_q;
      places += 4'(at_out[k]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on: the answer is the one that was first when it was asked for, and it waits still
      if (out_valid && out_subscriber == x_q) a_pick : assert (busy_q && !given_q && out_index == pick_q && waits_q[out_index]);

      // what the induction needs
      a_place : assert (places == 4'(busy_q && !given_q));
      if (busy_q) a_busy : assert (waits_q[pick_q]);
      a_waits : assert (u_dut.g_queues.u_waiting.u_words.mem_q[x_q] == waits_q);
      a_valid : assert (u_dut.g_queues.u_waiting.u_words.valid_q == valid_q);
      for (int k = 1; k <= 3; k++) begin
        if (valid_q[k]) a_stage_subscriber : assert (u_dut.g_queues.u_waiting.u_words.addr_q[k] == subscriber_q[k]
            && u_dut.g_queues.subscriber_q[k] == subscriber_q[k]);
      end
      if (mine4_q) begin
        a_four : assert (u_dut.g_queues.c4_event_q && u_dut.g_queues.subscriber_q[4] == x_q && u_dut.g_queues.u_waiting.kept_q == waits_q
                         && u_dut.g_queues.c4_before_q == before4_q && ordered(before4_q) && first4_q == first_of(waits_q, before4_q));
      end else begin
        a_none4 : assert (!(u_dut.g_queues.c4_event_q && u_dut.g_queues.subscriber_q[4] == x_q) && first4_q == first5_q);
      end
      if (mine5_q) a_five : assert (u_dut.g_queues.c5_event_q && u_dut.g_queues.subscriber_q[5] == x_q
          && u_dut.g_queues.c5_index_q == first5_q);
      else a_none5 : assert (!(u_dut.g_queues.c5_event_q && u_dut.g_queues.subscriber_q[5] == x_q) && (!cleared || mem == first5_q));
      if (at[1]) a_at1 : assert (first4_q == pick_q);
      if (at[2]) a_at2 : assert (first5_q == pick_q);
      if (at[3]) a_at3 : assert (answer == pick_q);
      if (at[4]) a_at4 : assert (u_dut.look_index == pick_q);
      for (int k = 0; k < 8; k++) if (at_out[k]) a_out_index : assert (out_bits[k][IndexWidth-1:0] == pick_q);
      if (!init_done) begin
        a_init : assert (valid_q == '0 && waits_q == '0 && under_way == '0 && !busy_q && !mine4_q && !mine5_q
            && first4_q == '0 && first5_q == '0
                         && !u_dut.g_queues.c4_event_q && !u_dut.g_queues.c5_event_q);
      end

      // useful work is possible: the second queue goes because the order has it first
      c_order : cover (give && out_subscriber == x_q && out_index == index_t'(1) && waits_q[0]);
    end
  end
`endif

endmodule
