// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Packets that were sent while their queue's last one was still in the hierarchy: each waits in a place of its own until that one is through.
//
// A place is taken when the packet is decided on, so the packet never meets a full house; it knows its place by its turn, for packets come in
// the order of the decisions. One packet of a queue is in the hierarchy and one here at most (pst_outstanding), so a place waits for one event.
//
// Latency: 0 for a packet that goes straight on, 1 cycle through a place whose queue is through already; else 1 cycle after s_done.
// Throughput: one packet per cycle; packets from the places and straight ones in turn. Ordering: FIFO in each queue.
// Reset: forgets all packets.
module pst_send_ahead #(
    parameter int unsigned Queues = 64,          // >= 2
    parameter int unsigned Width = 8,            // bits that go with a packet
    parameter int unsigned Places = 8,           // >= 2
    parameter int unsigned Depth = 32,           // most packets between s_decide and s_packet
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // decisions: each packet that is taken from its queue
    input  logic                    s_decide_valid_i,
    input  logic                    s_decide_ahead_i,    // it follows one that is in the hierarchy; only if room_o was high a cycle before
    input  logic [QueueIdWidth-1:0] s_decide_queue_i,
    output logic                    room_o,
    // the same packets, in the same order, later
    input  logic                    s_packet_valid_i,
    output logic                    s_packet_ready_o,
    input  logic [QueueIdWidth-1:0] s_packet_queue_i,
    input  logic [Width-1:0]        s_packet_data_i,
    input  logic                    s_packet_gone_i,     // instead of s_packet_valid_i: it was dropped, its turn is over
    // to the hierarchy: one of a queue at a time
    output logic                    m_packet_valid_o,
    input  logic                    m_packet_ready_i,
    output logic [QueueIdWidth-1:0] m_packet_queue_o,
    output logic [Width-1:0]        m_packet_data_o,
    // a queue's packet is through the hierarchy
    input  logic                    s_done_valid_i,
    input  logic [QueueIdWidth-1:0] s_done_queue_i,
    input  logic [QueueIdWidth-1:0] s_done_next_queue_i     // s_done_queue_i of the next cycle, if s_done_valid_i then
);

  localparam int unsigned PlaceWidth = $clog2(Places);

  if (Places < 2 || Depth < 2) begin : g_bad_size
    $error("pst_send_ahead: Places (%0d) and Depth (%0d) must be at least 2", Places, Depth);
  end

  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [PlaceWidth-1:0] place_t;
  typedef logic [Places-1:0] set_t;

  typedef struct packed {
    logic   ahead;
    place_t place;
  } turn_t;

  set_t taken_q, here_q, through_q;    // the place is taken; its packet is here; the one before it is through
  set_t match_q;                       // s_done_queue_i is its queue
  queue_t queue_q[Places];
  logic [Width-1:0] data_q[Places];

  function automatic place_t first(set_t set);
    first = '0;
    for (int k = int'(Places) - 1; k >= 0; k--) if (set[k]) first = place_t'(k);
  endfunction

  // Round robin.
  function automatic place_t next(set_t set, place_t last);
    next = first((set & (set_t'(-2) << last)) != '0 ? set & (set_t'(-2) << last) : set);
  endfunction

  // --- decisions: a place is taken

  logic reserve, turn_valid, come, leave, dropped;
  logic [$clog2(Places+1)-1:0] used_q;
  logic [$clog2(Depth+1)-1:0] unused_level;
  logic unused_turn_ready;
  place_t free;
  turn_t turn;

  assign reserve = s_decide_valid_i && s_decide_ahead_i;
  assign free    = first(~taken_q);
  assign room_o  = int'(used_q) <= int'(Places) - 2;    // one may be taken in this very cycle

  pst_fifo #(
      .Width($bits(turn_t)), .Depth(Depth), .RegisterOutput(1'b1)
  ) u_turns (
      .clk_i, .rst_i,
      .s_valid_i(s_decide_valid_i), .s_ready_o(unused_turn_ready), .s_data_i({s_decide_ahead_i, free}),
      .m_valid_o(turn_valid), .m_ready_i((s_packet_valid_i && s_packet_ready_o) || s_packet_gone_i), .m_data_o(turn),
      .level_o(unused_level)
  );

  // --- packets: into their place, or straight on in turn with those that may leave theirs

  logic straight, from_place, place_turn_q, pick_valid_q;
  place_t last_q, pick_q;    // the place that left last; that may leave next
  set_t go, go_others;       // may leave in the next cycle; others than pick_q

  assign straight   = s_packet_valid_i && !turn.ahead;
  assign from_place = pick_valid_q && (place_turn_q || !straight);
  assign come       = s_packet_valid_i && turn.ahead;
  assign leave      = from_place && m_packet_ready_i;
  assign dropped    = s_packet_gone_i && turn.ahead;

  assign m_packet_valid_o = from_place || straight;
  assign m_packet_queue_o = from_place ? queue_q[pick_q] : s_packet_queue_i;
  assign m_packet_data_o  = from_place ? data_q[pick_q] : s_packet_data_i;
  assign s_packet_ready_o = turn.ahead || (!from_place && m_packet_ready_i);

  // Which one leaves next is known when the cycle begins: whether the last pick leaves, known late, only chooses.
  assign go        = (here_q | (set_t'(come) << turn.place)) & (through_q | (s_done_valid_i ? match_q : '0));
  assign go_others = go & ~(set_t'(1) << pick_q);

  always_ff @(posedge clk_i) begin
    pick_valid_q <= (leave ? go_others : go) != '0;
    pick_q       <= leave ? next(go_others, pick_q) : next(go, last_q);
    if (s_done_valid_i) through_q <= through_q | match_q;
    for (int k = 0; k < int'(Places); k++) begin
      match_q[k] <= s_done_next_queue_i == (reserve && free == place_t'(k) ? s_decide_queue_i : queue_q[k]);
    end
    if (reserve) begin
      taken_q[free]   <= 1'b1;
      here_q[free]    <= 1'b0;
      through_q[free] <= s_done_valid_i && s_done_queue_i == s_decide_queue_i;
      queue_q[free]   <= s_decide_queue_i;
    end
    if (come) begin
      here_q[turn.place] <= 1'b1;
      data_q[turn.place] <= s_packet_data_i;
    end
    if (leave) begin
      taken_q[pick_q] <= 1'b0;
      here_q[pick_q]  <= 1'b0;
      last_q          <= pick_q;
    end
    if (dropped) taken_q[turn.place] <= 1'b0;
    used_q <= used_q + $bits(used_q)'(reserve) - $bits(used_q)'(leave) - $bits(used_q)'(dropped);
    if (m_packet_valid_o && m_packet_ready_i) place_turn_q <= !from_place;
    if (rst_i) begin
      taken_q      <= '0;
      here_q       <= '0;
      used_q       <= '0;
      last_q       <= '0;
      pick_valid_q <= 1'b0;
      place_turn_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (s_decide_valid_i) a_on_their_way_in_range : assert (unused_turn_ready)
        else $error("more than %0d packets are on their way", Depth);
      if (reserve) a_place_free : assert (taken_q != '1) else $error("queue %0d sends ahead and all places are taken", s_decide_queue_i);
      if (s_packet_valid_i || s_packet_gone_i) a_packet_was_decided : assert (turn_valid)
        else $error("a packet comes that was not decided on");
      if (come) a_packet_at_its_place : assert (queue_q[turn.place] == s_packet_queue_i)
        else $error("queue %0d: a packet at another's place", s_packet_queue_i);
    end
  end
`endif

endmodule
