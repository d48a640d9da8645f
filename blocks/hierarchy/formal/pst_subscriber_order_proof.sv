// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_subscriber_order: a pick gives a queue that waited, of the highest class that waited, in the very cycle in which the pick
// was asked for; of those the one whose tag is the least ahead of virtual time (the lowest index if several are), and its tag.
//
// Beside the hardware stand the waiting queues of one subscriber, whichever it is, and how far each queue's tag is ahead of virtual time: a
// distance, 0 for all of the past, so there is nothing that wraps. They change with what is seen at the ports: events, the question, the
// answer. The invariant says how memories and pipeline encode them.
//
// Three proofs. PROVE_TAGS: tags that wrap, with marks of who is in the past, say the same as the distances. A tag without a mark is less than a
// packet's greatest cost before or behind virtual time, and has two bits more than that. With neither: memories and pipeline hold these tags,
// and the pick is the first by distance. PROVE_ROOM: picks come out in order, and the output FIFO has room, whoever is asked; nothing is
// assumed.
module pst_subscriber_order_proof
  import pst_pkg::*;
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Indexes = 4,           // queues of a subscriber
    localparam int unsigned IndexWidth = $clog2(Indexes)
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic                  event_valid_i,
    input logic                  event_left_i,
    input logic                  event_subscriber_i,
    input logic [IndexWidth-1:0] event_index_i,
    input class_t                event_class_i,
    input weight_t               event_weight_i,
    input len_t                  event_len_i,
    input tag_t                  event_tag_i,
    input logic                  pick_valid_i,
    input logic                  pick_subscriber_i,
    input logic                  out_ready_i,
    input logic [IndexWidth-1:0] first_i,             // who comes first of those that wait: assumed to be right
    input logic                  follow_i             // this pick is followed on its way
);

  localparam int unsigned AheadWidth = LenWidth + 6;    // bits of what a packet costs
  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [AheadWidth-1:0] ahead_t;

  typedef struct packed {    // as pst_subscriber_order has it
    logic   waits;
    class_t cls;
  } wait_t;

  typedef struct packed {
    logic       valid;
    logic [2:0] index;
    tag_t       ahead;
  } leaf_t;

  typedef struct packed {
    logic   busy;     // under way: from the question to the leaving of the queue
    logic   given;    // the answer was taken
    index_t index;    // what the answer must be
    class_t cls;
    ahead_t ahead;
  } pick_t;

  typedef wait_t [Indexes-1:0] waits_t;

  logic pick_ready, out_valid, out_subscriber, init_done;
  index_t out_index;
  tag_t out_tag;

  pst_subscriber_order #(
      .Subscribers(2), .QueuesPerSubscriber(Indexes)
  ) u_dut (
      .clk_i, .rst_i,
      .s_event_valid_i(event_valid_i), .s_event_left_i(event_left_i), .s_event_subscriber_i(event_subscriber_i),
      .s_event_index_i(event_index_i), .s_event_class_i(event_class_i), .s_event_weight_i(event_weight_i), .s_event_len_i(event_len_i),
      .s_event_tag_i(event_tag_i),
      .s_pick_valid_i(pick_valid_i), .s_pick_ready_o(pick_ready), .s_pick_subscriber_i(pick_subscriber_i),
      .m_pick_valid_o(out_valid), .m_pick_ready_i(out_ready_i), .m_pick_subscriber_o(out_subscriber), .m_pick_index_o(out_index),
      .m_pick_tag_o(out_tag), .init_done_o(init_done)
  );

  logic seen_q, ask, give, left;
  logic x_q;    // the subscriber, any

  initial seen_q = 1'b0;
  assign ask  = pick_valid_i && pick_ready;
  assign give = out_valid && out_ready_i;
  assign left = event_valid_i && event_left_i && event_subscriber_i == x_q;

  // --- who waits, and how far ahead tags are

  // 840 / weight for weights of 1 to 8, times the length, in 1/16.
  function automatic ahead_t cost(len_t len, weight_t weight);
    logic [LenWidth+9:0] product;
    case (weight)
      3'd0: product = len * 10'd840;
      3'd1: product = len * 10'd420;
      3'd2: product = len * 10'd280;
      3'd3: product = len * 10'd210;
      3'd4: product = len * 10'd168;
      3'd5: product = len * 10'd140;
      3'd6: product = len * 10'd120;
      default: product = len * 10'd105;
    endcase
    cost = ahead_t'(product >> 4);
  endfunction

  // Who waits at index i comes after the pick, or is it: a lower class, or a greater distance, or a higher index.
  function automatic logic after(wait_t who, ahead_t ahead, index_t i, pick_t pick);
    after = !who.waits || {who.cls, ahead, i} >= {pick.cls, pick.ahead, pick.index};
  endfunction

  function automatic ahead_t less(ahead_t ahead, ahead_t by);
    less = ahead <= by ? '0 : ahead - by;
  endfunction

  waits_t waits_q, waits_d;
  ahead_t [Indexes-1:0] ahead_q, ahead_d;
  // the same as tags that wrap: virtual time, tags, who was found in the past
  tag_t now_q, tag;                // tag: of the pick
  tag_t [Indexes-1:0] finish_q;
  logic [Indexes-1:0] past_q, past, past_after;    // past: as a pick finds it; after: as it leaves it
  pick_t pick_q, pick_d, first;

  assign tag = now_q + tag_t'(pick_q.ahead);

  always_comb begin
    for (int i = 0; i < Indexes; i++) past[i] = past_q[i] || $signed(finish_q[i] - now_q) < 0;
    past_after               = past;
    past_after[pick_q.index] = 1'b0;
  end

  always_comb begin
    waits_d = waits_q;
    ahead_d = ahead_q;
    pick_d  = pick_q;
    if (event_valid_i && event_subscriber_i == x_q) waits_d[event_index_i] = '{waits: !event_left_i, cls: event_class_i};
    if (left) begin
      for (int i = 0; i < Indexes; i++) ahead_d[i] = less(ahead_q[i], pick_q.ahead);
      ahead_d[event_index_i] = cost(event_len_i, event_weight_i);
      pick_d.busy = 1'b0;
    end
    first = '{busy: 1'b1, given: 1'b0, index: first_i, cls: waits_d[first_i].cls, ahead: ahead_q[first_i]};
    if (give && out_subscriber == x_q) pick_d.given = 1'b1;
    if (ask && pick_subscriber_i == x_q) pick_d = first;
  end

  waits_t read1_q, read2_q;    // who waited when a pick was asked for
  logic left_q;

  always_ff @(posedge clk_i) begin
    seen_q  <= 1'b1;
    x_q     <= x_q;
    waits_q <= waits_d;
    ahead_q <= ahead_d;
    pick_q  <= pick_d;
    read1_q <= waits_d;
    read2_q <= read1_q;
    left_q  <= left;
    if (left) begin
      now_q                   <= tag;
      past_q                  <= past_after;
      finish_q[event_index_i] <= tag + tag_t'(cost(event_len_i, event_weight_i));
    end
    if (rst_i) begin
      waits_q  <= '0;
      ahead_q  <= '0;
      now_q    <= '0;
      finish_q <= '0;
      past_q   <= '0;
      pick_q   <= '0;
      left_q   <= 1'b0;
    end
  end

  // --- order and room

  logic [4:0] k_valid, k_subscriber;    // stages 5 to 1
  logic [4:0] under_way;
  assign k_valid      = {u_dut.k1_valid_q, u_dut.k2_valid_q, u_dut.k3_valid_q, u_dut.k4_valid_q, u_dut.k5_valid_q};
  assign k_subscriber = {u_dut.k1_subscriber_q, u_dut.k2_subscriber_q, u_dut.k3_subscriber_q, u_dut.k4_subscriber_q, u_dut.k5_subscriber_q};

  // the FIFO: its words by address, and whether they are there
  localparam int unsigned OutBits = 1 + IndexWidth + FairTagWidth;
  logic [7:0][OutBits-1:0] out_bits;
  logic [7:0] out_there;
  always_comb begin
    for (int k = 0; k < 8; k++) begin
      out_bits[k]  = u_dut.u_out.mem[k];
      out_there[k] = {1'b0, 3'(k) - u_dut.u_out.raddr_q} < u_dut.u_out.level_q;
    end
    under_way = 5'(u_dut.u_out.level_q);
    for (int k = 0; k < 5; k++) under_way += 5'(k_valid[k]);
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      a_room : assert (5'(u_dut.credit_q) + under_way == 5'd8 && under_way <= 5'd8);
      a_fifo : assert (u_dut.u_out.valid_q == (u_dut.u_out.level_q != '0)
                       && 3'(32'(u_dut.u_out.raddr_q) + 32'(u_dut.u_out.level_q)) == u_dut.u_out.waddr_q);
    end
  end

`ifdef PROVE_ROOM
  // One pick, any, is followed: so many are before it.
  logic follow_q, followed_q, found_there;
  logic [4:0] before_q, place;

  always_comb begin
    found_there = 1'b0;
    place       = 5'(u_dut.u_out.level_q);
    for (int k = 0; k < 8; k++) begin
      if (out_there[k] && {2'b0, 3'(k) - u_dut.u_out.raddr_q} == before_q) found_there = out_bits[k][OutBits-1] == followed_q;
    end
    for (int k = 0; k < 5; k++) begin
      if (k_valid[k]) begin
        if (place == before_q) found_there = k_subscriber[k] == followed_q;
        place += 1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (give) begin
      before_q <= before_q - 1'b1;
      if (before_q == '0) follow_q <= 1'b0;
    end
    if (ask && follow_i && !follow_q) begin
      follow_q   <= 1'b1;
      followed_q <= pick_subscriber_i;
      before_q   <= under_way - 5'(give);
    end
    if (rst_i) follow_q <= 1'b0;
    if (seen_q && !rst_i && follow_q) begin
      a_followed : assert (before_q < under_way && found_there);
      if (give && before_q == '0) a_order : assert (out_subscriber == followed_q);
    end
  end
`else
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      // a queue waits when it does not; it leaves after its pick, and brings its tag back
      if (event_valid_i) m_init : assume (init_done);
      if (event_valid_i && !event_left_i && event_subscriber_i == x_q) m_wait : assume (!waits_q[event_index_i].waits);
      if (left) m_left : assume (pick_q.busy && pick_q.given && event_index_i == pick_q.index && event_tag_i == tag);
      // one pick of a subscriber at a time, when somebody waits there, two cycles after the last has left or later
      if (ask && pick_subscriber_i == x_q) begin
        m_ask : assume (!pick_q.busy && !left_q && waits_d[first_i].waits);
        for (int i = 0; i < Indexes; i++) assume (after(waits_d[i], ahead_q[i], index_t'(i), first));
      end
    end
  end

  // A tag that is not marked is near virtual time, and as far ahead of it as it should be; one that is marked is in the past.
  function automatic logic encodes(tag_t finish, tag_t now, logic past, ahead_t ahead);
    tag_t distance;
    distance = finish - now;
    if (past) encodes = ahead == '0;
    else if (distance[FairTagWidth-1]) encodes = ahead == '0 && distance[FairTagWidth-2:AheadWidth] == '1;
    else encodes = distance == tag_t'(ahead);
  endfunction

  // Tags that wrap say the same as distances: of one queue, any, whoever is picked. The proof of order builds on it.
`ifdef PROVE_TAGS
  index_t y_q;
  always_ff @(posedge clk_i) begin
    y_q <= y_q;
    if (seen_q && !rst_i) a_tags : assert (encodes(finish_q[y_q], now_q, past_q[y_q], ahead_q[y_q]));
  end
`else
  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) for (int i = 0; i < Indexes; i++) assume (encodes(finish_q[i], now_q, past_q[i], ahead_q[i]));
  end

  // --- what is in the memories, and where the pick is

  waits_t wait_mem, wait_read;                   // read: on its way out
  tag_t [Indexes-1:0] finish_mem, finish_read;
  tag_t now_mem, now_read;
  logic [Indexes-1:0] past_mem, past_read;

  for (genvar i = 0; i < Indexes; i++) begin : g_memories
    assign wait_mem[i]    = u_dut.g_index[i].u_wait.u_ram.mem[x_q];
    assign finish_mem[i]  = u_dut.g_index[i].u_finish.u_ram.mem[x_q];
    assign wait_read[i]   = u_dut.g_index[i].u_wait.hit_q ? u_dut.g_index[i].u_wait.new_q : u_dut.g_index[i].u_wait.word;
    assign finish_read[i] = u_dut.g_index[i].u_finish.hit_q ? u_dut.g_index[i].u_finish.new_q : u_dut.g_index[i].u_finish.word;
  end
  assign {now_mem, past_mem}   = u_dut.u_now.u_ram.mem[x_q];
  assign {now_read, past_read} = u_dut.u_now.hit_q ? u_dut.u_now.new_q : u_dut.u_now.word;

  logic [5:1] at;                                // stages
  logic [7:0] at_out;
  logic e1, e2, moved, cleared;
  logic [3:0] places;

  always_comb begin
    for (int k = 1; k <= 5; k++) at[k] = k_valid[5-k] && k_subscriber[5-k] == x_q;
    places = '0;
    for (int k = 0; k < 8; k++) begin
      at_out[k] = out_there[k] && out_bits[k][OutBits-1] == x_q;
      places += 4'(at_out[k]);
    end
    for (int k = 1; k <= 5; k++) places += 4'(at[k]);
    moved   = pick_q.busy && at == '0;           // the answer is known: virtual time has been moved in the memory
    e1      = u_dut.e1_left_q && u_dut.e1_subscriber_q == x_q;
    e2      = u_dut.e2_left_q && u_dut.e2_subscriber_q == x_q;
    cleared = !u_dut.init_q || x_q < u_dut.init_subscriber_q;
  end

  // A leaf that is the first of all, or comes after it.
  function automatic logic is_it(leaf_t leaf, pick_t pick);
    is_it = leaf.valid && leaf.ahead == tag_t'(pick.ahead) && leaf.index == 3'(pick.index);
  endfunction
  function automatic logic fits(leaf_t leaf, pick_t pick);
    fits = !leaf.valid || leaf.ahead > tag_t'(pick.ahead) || (leaf.ahead == tag_t'(pick.ahead) && leaf.index >= 3'(pick.index));
  endfunction

  leaf_t [7:0] leaf2, leaf3;
  leaf_t [1:0] leaf4;
  leaf_t leaf5;
  assign leaf2 = u_dut.k2_leaf;
  assign leaf3 = u_dut.k3_leaf_q;
  assign leaf4 = u_dut.k4_leaf_q;
  assign leaf5 = u_dut.k5_leaf_q;

  // Tags as they are when time has come to the pick in the pipeline: nobody is behind time who is not marked.
  tag_t now_k;
  logic [Indexes-1:0] past_k;
  always_comb begin
    now_k  = u_dut.k5_now_q;
    past_k = u_dut.k5_past_q;
    if (at[4]) begin
      now_k  = u_dut.k4_now_q;
      past_k = u_dut.k4_past_q;
    end
    if (at[3]) begin
      now_k  = u_dut.k3_now_q;
      past_k = u_dut.k3_past_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (out_valid && out_subscriber == x_q) begin
        a_pick : assert (pick_q.busy && !pick_q.given && out_index == pick_q.index && out_tag == tag);
        a_waits : assert (waits_q[out_index].waits);
      end

      // the pick is in one place
      a_place : assert (places == 4'(pick_q.busy && !pick_q.given));
      if (pick_q.busy) a_busy : assert (waits_q[pick_q.index].waits && pick_q.ahead == ahead_q[pick_q.index] && !e1 && !e2);

      // memories
      if (cleared) begin
        a_now : assert (now_mem == (moved ? tag : now_q) && past_mem == (moved ? past_after : past_q));
        for (int i = 0; i < Indexes; i++) begin
          assert (wait_mem[i].waits == waits_q[i].waits && (!waits_q[i].waits || wait_mem[i].cls == waits_q[i].cls));
          if (!(e1 && u_dut.e1_index_q == index_t'(i)) && !(e2 && u_dut.e2_index_q == index_t'(i))) assert (finish_mem[i] == finish_q[i]);
        end
      end

      // tags on their way
      a_e1 : assert (e1 == left_q && !(e1 && e2));
      if (e1) a_e1_tag : assert (u_dut.e1_tag_q + tag_t'(u_dut.e1_product_q >> 4) == finish_q[u_dut.e1_index_q]);
      if (e2) a_e2_tag : assert (u_dut.e2_finish_q == finish_q[u_dut.e2_index_q]);

      // reads
      if (at[1]) begin
        a_k1 : assert (now_read == now_q && past_read == past_q && finish_read == finish_q && read1_q[pick_q.index] == {1'b1, pick_q.cls});
        for (int i = 0; i < Indexes; i++) begin
          assert (after(read1_q[i], ahead_q[i], index_t'(i), pick_q));
          assert (wait_read[i].waits == read1_q[i].waits && (!read1_q[i].waits || wait_read[i].cls == read1_q[i].cls));
        end
      end
      if (at[2]) begin
        a_k2 : assert (u_dut.k2_now == now_q && u_dut.k2_marked == past_q && u_dut.k2_finish == finish_q
                       && read2_q[pick_q.index] == {1'b1, pick_q.cls});
        for (int i = 0; i < Indexes; i++) begin
          assert (after(read2_q[i], ahead_q[i], index_t'(i), pick_q));
          assert (leaf2[i].valid == (read2_q[i] == {1'b1, pick_q.cls}));
          assert (u_dut.k2_waits[i].waits == read2_q[i].waits && (!read2_q[i].waits || u_dut.k2_waits[i].cls == read2_q[i].cls));
        end
      end
      // the least of the leaves
      if (at[3]) begin
        for (int i = 0; i < 8; i++) assert (fits(leaf3[i], pick_q) && (!leaf3[i].valid || leaf3[i].index == 3'(i)));
        a_k3 : assert (is_it(leaf3[pick_q.index], pick_q));
      end
      if (at[4]) begin
        for (int h = 0; h < 2; h++) begin
          assert (fits(leaf4[h], pick_q) && (!leaf4[h].valid || (32'(leaf4[h].index) >= Indexes / 2) == (h == 1)));
        end
        a_k4 : assert (is_it(leaf4[32'(pick_q.index) >= Indexes / 2], pick_q));
      end
      if (at[5]) a_k5 : assert (is_it(leaf5, pick_q));
      if (at[5:3] != '0) a_now_k : assert (now_k == now_q && past_k == past);
      // the answer in the FIFO
      for (int k = 0; k < 8; k++) begin
        if (at_out[k]) assert (out_bits[k][FairTagWidth+:IndexWidth] == pick_q.index && out_bits[k][FairTagWidth-1:0] == tag);
      end

      // nothing happens before the memories are cleared
      if (!init_done) begin
        a_init : assert (under_way == '0 && !u_dut.e1_left_q && !u_dut.e2_left_q && !pick_q.busy);
        a_first : assert (waits_q == '0 && ahead_q == '0 && now_q == '0 && finish_q == '0 && past_q == '0);
      end
    end
    // useful work is possible: the second queue goes because its tag is less; somebody is found in the past
    if (seen_q && !rst_i) begin
      c_ahead : cover (give && out_subscriber == x_q && pick_q.index == index_t'(1) && waits_q[0].waits && ahead_q[0] != '0);
      c_past : cover (at[3] && past[1] && pick_q.index == index_t'(1));
    end
  end
`endif
`endif

endmodule
