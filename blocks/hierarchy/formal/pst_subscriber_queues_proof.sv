// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_subscriber_queues: a pick gives queues that waited in the very cycle in which the pick was asked for: as many as were asked
// for, or all that waited, in order as of the last event: before the n-th one just n others go that waited. The last one, no other, is marked.
// Whether its subscriber holds back goes with it; such a pick gives one.
//
// Beside the hardware stand the waiting queues of one subscriber, whichever it is, and which of them are first. They change with what is seen at
// the ports. The invariant says how memories and pipeline encode them. pst_ram_modify is its contract here. PROVE_ROOM is a proof of its own:
// picks come out in order, and the output FIFO has room, whatever is asked; nothing is assumed.
module pst_subscriber_queues_proof
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Indexes = 4,           // queues of a subscriber
    parameter int unsigned TrainLog = 1,          // log2 of the longest batch
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
    input logic                            pick_holds_i,      // a cycle later,
    input train_t                          pick_train_i,      // and this
    input logic                            out_ready_i,
    input logic                            again_i,          // what the answer said does not go: it may be asked for again
    input logic                            follow_i           // this pick is followed on its way
);

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [Indexes-1:0][Indexes-1:0] before_t;

  typedef logic [Indexes-1:0] set_t;

  localparam int unsigned Most = 2 ** TrainLog;
  typedef logic [TrainLog:0] number_t;
  typedef struct packed {
    number_t           number;
    index_t [Most-1:0] index;
  } order_t;

  logic pick_ready, out_valid, out_subscriber, out_holds, out_last, init_done;
  index_t out_index;

  pst_subscriber_queues #(
      .Subscribers(2), .QueuesPerSubscriber(Indexes), .TrainLog(TrainLog)
  ) u_dut (
      .clk_i, .rst_i,
      .s_op_valid_i(op_valid_i), .s_op_subscriber_i(op_subscriber_i),
      .s_event_waits_i(event_waits_i), .s_event_left_i(event_left_i), .s_event_index_i(event_index_i),
      .s_event_before_i(event_before_i),
      .s_pick_valid_i(pick_valid_i), .s_pick_ready_o(pick_ready), .s_pick_subscriber_i(pick_subscriber_i), .s_pick_holds_i(pick_holds_i),
      .s_pick_train_i(pick_train_i),
      .m_pick_valid_o(out_valid), .m_pick_ready_i(out_ready_i), .m_pick_subscriber_o(out_subscriber), .m_pick_index_o(out_index),
      .m_pick_holds_o(out_holds), .m_pick_last_o(out_last),
      .init_done_o(init_done)
  );

  logic seen_q, ask, give;
  logic x_q;    // the subscriber, any
  initial seen_q = 1'b0;
  assign ask  = pick_valid_i && pick_ready;
  assign give = out_valid && out_ready_i;

  // --- where picks are: stages 1 to 4, then the FIFO, its words by address, and whether they are there

  localparam int unsigned OutBits = 2 + $bits(order_t);    // subscriber, whether it holds back, how many, queues
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
    if (give && out_last) begin
      before_q <= before_q - 1'b1;
      if (before_q == '0) follow_q <= 1'b0;
    end
    fresh_q <= ask && follow_i && !follow_q;
    holds_q <= holds;
    if (ask && follow_i && !follow_q) begin
      follow_q   <= 1'b1;
      followed_q <= pick_subscriber_i;
      before_q   <= under_way - 5'(give && out_last);
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
  order_t first4_q, first_d, first5_q;    // as of the events of the last cycle and before; with this cycle's; of two cycles ago and before
  logic busy_q, told_q;                   // a pick is under way, until its last queue leaves or may not go yet; how many it gets is known
  order_t pick_q, pick;                   // what the answer must be
  number_t given_q, left_q;               // so many queues of it were taken, so many have left
  logic [3:1] valid_q, subscriber_q;
  logic happens, mine, mine4_q, mine5_q;
  before_t before4_q;

  // So many that wait go before it.
  function automatic int unsigned rank(set_t waits, before_t order, int a);
    rank = 0;
    for (int b = 0; b < Indexes; b++) if (a != b && waits[b] && order[b][a]) rank += 1;
  endfunction

  function automatic order_t first_of(set_t waits, before_t order);
    first_of = '0;
    for (int a = 0; a < Indexes; a++) begin
      for (int k = 0; k < Most; k++) if (waits[a] && rank(waits, order, a) == k) first_of.index[k] = index_t'(a);
    end
    first_of.number = $countones(waits) < Most ? number_t'($countones(waits)) : number_t'(Most);
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
    pick_q   <= pick;
    if (mine && event_left_i) left_q <= left_q + 1'b1;
    if ((mine && event_left_i && left_q + 1'b1 == pick_q.number) || (again_i && given_q == pick_q.number)) busy_q <= 1'b0;
    if (give && out_subscriber == x_q) given_q <= given_q + 1'b1;
    told_q <= 1'b1;
    if (ask && pick_subscriber_i == x_q) begin
      busy_q  <= 1'b1;
      told_q  <= 1'b0;
      given_q <= '0;
      left_q  <= '0;
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
      told_q   <= 1'b1;
    end
  end

  // How many, which is said a cycle after it was asked for.
  always_comb begin
    pick = pick_q;
    if (!told_q && pick_holds_i) pick.number = number_t'(1);
    else if (!told_q && 32'(pick_q.number) > 1 << pick_train_i) pick.number = number_t'(1) << pick_train_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (op_valid_i) m_init : assume (init_done);
      m_event : assume (!(event_waits_i && event_left_i) && (!happens || valid_q[3]));
      m_order : assume (ordered(event_before_i));
      // a queue waits when it does not; it leaves after its pick
      if (mine && event_waits_i) m_wait : assume (!waits_q[event_index_i]);
      if (mine && event_left_i) m_left : assume (busy_q && left_q < given_q && event_index_i == pick_q.index[TrainLog'(left_q)]);
      if (!told_q) m_train : assume (32'(pick_train_i) <= TrainLog);
      // one pick of a subscriber at a time, when a queue waits there
      if (ask && pick_subscriber_i == x_q) m_ask : assume (!busy_q && waits_d != '0);
    end
  end

  // --- memories and pipeline

  order_t mem, answer;

  function automatic number_t least(number_t a, number_t b);
    least = a < b ? a : b;
  endfunction
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
      if (out_valid && out_subscriber == x_q) begin
        a_pick : assert (busy_q && told_q && given_q < pick_q.number && out_index == pick_q.index[TrainLog'(given_q)] && waits_q[out_index]
                         && out_last == (given_q + 1'b1 == pick_q.number));
      end

      // what the induction needs
      a_place : assert (places == 4'(busy_q && given_q != pick_q.number));
      a_first : assert (32'(first4_q.number) == ($countones(waits_q) < Most ? $countones(waits_q) : Most));
      for (int k = 0; k < Most; k++) begin
        if (k < 32'(first4_q.number)) a_first_waits : assert (waits_q[first4_q.index[k]]);
        for (int l = 0; l < k; l++) if (k < 32'(first4_q.number)) a_first_differ : assert (first4_q.index[k] != first4_q.index[l]);
      end
      if (busy_q) begin
        a_number : assert (pick_q.number != '0 && 32'(pick_q.number) <= Most && left_q <= given_q && given_q <= pick_q.number
                           && left_q != pick_q.number);
        for (int k = 0; k < Most; k++) begin
          if (k >= 32'(left_q) && k < 32'(pick_q.number)) a_busy : assert (waits_q[pick_q.index[k]]);
          for (int l = 0; l < k; l++) if (k < 32'(pick_q.number)) a_differ : assert (pick_q.index[k] != pick_q.index[l]);
        end
      end
      a_told : assert (told_q == !at[1]);
      if (out_valid && out_subscriber == x_q) a_given : assert (u_dut.given_q == given_q);
      else if (busy_q && given_q != pick_q.number) a_not_given : assert (given_q == '0);
      if (!out_valid) a_none_given : assert (u_dut.given_q == '0);
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
          && u_dut.g_queues.c5_order_q == first5_q);
      else a_none5 : assert (!(u_dut.g_queues.c5_event_q && u_dut.g_queues.subscriber_q[5] == x_q) && (!cleared || mem == first5_q));
      if (at[1]) a_at1 : assert (first4_q == pick_q);
      if (at[2]) a_at2 : assert (first5_q.index == pick_q.index && pick_q.number == least(first5_q.number, u_dut.look_most_q[2]));
      if (at[3]) a_at3 : assert (answer.index == pick_q.index && pick_q.number == least(answer.number, u_dut.look_most_q[3]));
      if (at[4]) a_at4 : assert (u_dut.look_order.index == pick_q.index && u_dut.look_number == pick_q.number);
      for (int k = 0; k < 8; k++) if (at_out[k]) a_out_index : assert (out_bits[k][$bits(order_t)-1:0] == pick_q);
      if (!init_done) begin
        a_init : assert (valid_q == '0 && waits_q == '0 && under_way == '0 && !busy_q && !mine4_q && !mine5_q
            && first4_q == '0 && first5_q == '0
                         && !u_dut.g_queues.c4_event_q && !u_dut.g_queues.c5_event_q);
      end

      // useful work is possible: the second queue goes because the order has it first
      c_order : cover (give && out_subscriber == x_q && out_index == index_t'(1) && waits_q[0]);
      c_batch : cover (give && out_subscriber == x_q && out_last && given_q == number_t'(Most - 1));
    end
  end
`endif

endmodule
