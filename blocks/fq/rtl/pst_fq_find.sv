// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Finds the flow queue of a packet by {queue, bucket}, claims one for a flow that has none, and releases those that are idle.
//
// A key has a set in each of two tables; a set has seven ways, and a way is a flow queue. Without a free way the flow goes to its queue's own
// flow queue. A walk asks of one flow queue after the other whether it is idle (its question goes behind the packets before it), and
// clears the way of one that is, unless a packet came to its set meanwhile.
//
// Throughput: a packet per cycle. Latency: 6 cycles to m_valid_o. Ordering: as they came.
// Reset: no way is in use; `Flows / 16` cycles.
module pst_fq_find
  import pst_pkg::len_t;
  import pst_fq_pkg::*;
#(
    parameter int unsigned Queues = 64,          // 2 .. Flows / 8
    parameter int unsigned Flows = 1024,         // flow queues, a power of two, 32 and more
    parameter int unsigned Descriptors = 256,    // >= 2
    parameter int unsigned AgeCycles = 64,       // from one flow queue of the walk to the next, >= 1
    parameter string       RamStyle = "auto",    // see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned FlowWidth = $clog2(Flows),
    localparam int unsigned DescIdWidth = $clog2(Descriptors)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic                    go_i,           // all memories are cleared
    output logic                    init_done_o,
    // packets
    input  logic                    s_enq_valid_i,
    output logic                    s_enq_ready_o,
    input  logic [QueueIdWidth-1:0] s_enq_queue_i,
    input  hashes_t                 s_enq_hashes_i,
    input  logic [ DescIdWidth-1:0] s_enq_desc_i,
    input  len_t                    s_enq_len_i,
    // packets with their flow queue, and the walk's questions
    output logic                    m_valid_o,
    input  logic                    m_ready_i,
    output logic                    m_ask_o,
    output logic [QueueIdWidth-1:0] m_queue_o,
    output logic [   FlowWidth-1:0] m_flow_o,
    output hashes_t                 m_hashes_o,
    output logic [ DescIdWidth-1:0] m_desc_o,
    output len_t                    m_len_o,
    // answers to the walk: it is idle, and no drop is on its way to it; it is not
    input  logic                    idle_i,
    input  logic                    busy_i
);

  localparam int unsigned IndexWidth = FlowWidth - 4;
  localparam int unsigned RestWidth = QueueIdWidth + BucketWidth - IndexWidth;
  localparam int unsigned WayWidth = $clog2(Ways + 1);
  localparam int unsigned Depth = 16;          // of the FIFO
  localparam int unsigned Room = 8;            // words in it at which one more is taken
  localparam int unsigned Patience = 64;       // cycles that the walk waits for a cycle without a packet
  localparam int unsigned AgeWidth = $clog2(AgeCycles + 1);

  if (Flows < 32 || Flows != 2 ** FlowWidth) begin : g_bad_flows
    $error("pst_fq_find: Flows is %0d, must be a power of two, 32 and more", Flows);
  end
  if (Queues < 2 || Queues * 8 > Flows) begin : g_bad_queues
    $error("pst_fq_find: Queues is %0d, allowed: 2..%0d", Queues, Flows / 8);
  end
  if (QueueIdWidth + BucketWidth <= IndexWidth) begin : g_bad_key
    $error("pst_fq_find: %0d flow queues are more than %0d queues can use", Flows, Queues);
  end
  if (AgeCycles < 1) begin : g_bad_age
    $error("pst_fq_find: AgeCycles is %0d, must be at least 1", AgeCycles);
  end

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [RestWidth-1:0] rest_t;
  typedef logic [WayWidth-1:0] way_t;

  typedef struct packed {
    logic  used;
    rest_t rest;
  } word_t;

  typedef struct packed {
    way_t   way;
    logic   table_id;
    index_t set;
  } place_t;

  typedef struct packed {
    logic                    valid;
    op_e                     op;       // OpEnqueue, OpAsk, OpClear
    logic [QueueIdWidth-1:0] queue_id;
    hashes_t                 hashes;
    logic [DescIdWidth-1:0]  desc;
    len_t                    len;
    place_t                  place;    // of the walk
  } op_t;

  // A bit of the rest changes the set by this: a fixed random word.
  function automatic index_t column(int unsigned from);
    logic [31:0] x;
    x = 32'(from) * 32'h9E3779B9;
    x ^= x >> 16;
    x *= 32'h85EBCA6B;
    x ^= x >> 13;
    x *= 32'hC2B2AE35;
    x ^= x >> 16;
    return index_t'(x);
  endfunction

  // --- the walk

  typedef enum logic [1:0] {
    StepWait,
    StepAsk,
    StepAsked,
    StepClear
  } step_e;

  step_e step_q;
  logic [AgeWidth-1:0] timer_q;
  logic [$clog2(Patience+1)-1:0] waited_q;
  place_t walk_q, walk_next;
  logic touched_q, forced, pending, wants, unused_way, advance;

  assign walk_next = &{walk_q.way == way_t'(Ways - 1), walk_q.table_id, walk_q.set} ? '0 : walk_q + 1'b1;
  assign forced    = waited_q == Patience[$bits(waited_q)-1:0];
  assign wants     = step_q == StepAsk || step_q == StepClear;

  // --- e0: a packet, or else the walk

  logic room_q, take;
  op_t e1_q, e2_q, e3_q, e4_q;
  logic [$clog2(Depth+1)-1:0] level;

  assign s_enq_ready_o = room_q && !forced;
  assign take          = s_enq_valid_i && s_enq_ready_o;
  assign pending       = wants && room_q && !take;

  always_ff @(posedge clk_i) begin
    e1_q <= '{
        valid: take || pending, op: take ? OpEnqueue : step_q == StepAsk ? OpAsk : OpClear, queue_id: s_enq_queue_i,
        hashes: s_enq_hashes_i, desc: s_enq_desc_i, len: s_enq_len_i, place: walk_q
    };
    if (rst_i) e1_q.valid <= 1'b0;
  end

  // --- e1: the sets; the tables are read

  rest_t rest1, rest2_q, rest3_q, rest4_q;
  index_t low1;
  index_t [Tables-1:0] set1, set2_q, set3_q, set4_q;
  logic clears2_q, clears3_q, clears4_q;

  assign {rest1, low1} = {e1_q.hashes.bucket, e1_q.queue_id};

  always_comb begin
    for (int unsigned t = 0; t < Tables; t++) begin
      set1[t] = low1;
      for (int unsigned i = 0; i < RestWidth; i++) if (rest1[i]) set1[t] ^= column(2 * i + t + 1);
      if (e1_q.op != OpEnqueue) set1[t] = e1_q.place.set;
    end
  end

  always_ff @(posedge clk_i) begin
    e2_q      <= e1_q;
    e3_q      <= e2_q;
    e4_q      <= e3_q;
    rest2_q   <= rest1;
    rest3_q   <= rest2_q;
    rest4_q   <= rest3_q;
    set2_q    <= set1;
    set3_q    <= set2_q;
    set4_q    <= set3_q;
    clears2_q <= !touched_q;
    clears3_q <= clears2_q;
    clears4_q <= clears3_q;
    if (rst_i) begin
      e2_q.valid <= 1'b0;
      e3_q.valid <= 1'b0;
      e4_q.valid <= 1'b0;
    end
  end

  // --- e4: hit, claim, or the queue's own

  word_t [Tables-1:0][Ways-1:0] words, words_new;
  logic [Tables-1:0] table_we, table_done, hit_in;
  logic [Tables-1:0][WayWidth-1:0] free_count, free_way, hit_way;
  logic to_second, any_free;
  logic [FlowWidth-1:0] flow4;

  for (genvar t = 0; t < int'(Tables); t++) begin : g_table
    logic [$bits(word_t)*Ways-1:0] unused_word;

    pst_ram_modify #(
        .Width($bits(word_t) * Ways), .Depth(2 ** IndexWidth), .Style(RamStyle)
    ) u_ways (
        .clk_i, .rst_i,
        .valid_i(e1_q.valid), .addr_i(set1[t]),
        .word_o(words[t]), .we_i(table_we[t]), .word_i(words_new[t]), .word_q_o(unused_word),
        .init_done_o(table_done[t])
    );
  end

  assign init_done_o = table_done == '1;

  always_comb begin
    hit_in     = '0;
    hit_way    = '0;
    free_count = '0;
    free_way   = '0;
    for (int unsigned t = 0; t < Tables; t++) begin
      for (int unsigned w = Ways; w-- > 0;) begin
        if (words[t][w].used && words[t][w].rest == rest4_q) begin
          hit_in[t]  = 1'b1;
          hit_way[t] = hit_way[t] | way_t'(w);
        end
        if (!words[t][w].used) begin
          free_count[t] = free_count[t] + 1'b1;
          free_way[t]   = way_t'(w);
        end
      end
    end
    any_free  = free_count != '0;
    to_second = free_count[1] > free_count[0];

    words_new  = words;
    table_we   = '0;
    unused_way = 1'b0;
    flow4      = FlowWidth'({way_t'(Ways), (FlowWidth - WayWidth)'(e4_q.queue_id)});
    if (e4_q.op == OpEnqueue) begin
      if (hit_in != '0) flow4 = {hit_in[1] ? hit_way[1] : hit_way[0], hit_in[1], hit_in[1] ? set4_q[1] : set4_q[0]};
      else if (any_free) flow4 = {to_second ? free_way[1] : free_way[0], to_second, to_second ? set4_q[1] : set4_q[0]};
      for (int unsigned t = 0; t < Tables; t++) begin
        if (e4_q.valid && hit_in == '0 && any_free && to_second == (t == 1)) begin
          table_we[t] = 1'b1;
          for (int unsigned w = 0; w < Ways; w++) if (free_way[t] == way_t'(w)) words_new[t][w] = '{used: 1'b1, rest: rest4_q};
        end
      end
    end else begin
      flow4 = e4_q.place;
      for (int unsigned t = 0; t < Tables; t++) begin
        for (int unsigned w = 0; w < Ways; w++) begin
          if (e4_q.place.table_id == (t == 1) && e4_q.place.way == way_t'(w)) begin
            if (e4_q.valid && e4_q.op == OpAsk && !words[t][w].used) unused_way = 1'b1;
            if (e4_q.valid && e4_q.op == OpClear && clears4_q) begin
              table_we[t]     = 1'b1;
              words_new[t][w] = '0;
            end
          end
        end
      end
    end
  end

  // --- e5: into the FIFO

  typedef struct packed {
    logic                    ask;
    logic [QueueIdWidth-1:0] queue_id;
    logic [FlowWidth-1:0]    flow;
    hashes_t                 hashes;
    logic [DescIdWidth-1:0]  desc;
    len_t                    len;
  } found_t;

  logic e5_valid_q, unused_ready;
  found_t e5_q;

  always_ff @(posedge clk_i) begin
    e5_valid_q <= e4_q.valid && e4_q.op != OpClear && !unused_way;
    e5_q       <= '{ask: e4_q.op == OpAsk, queue_id: e4_q.queue_id, flow: flow4, hashes: e4_q.hashes, desc: e4_q.desc, len: e4_q.len};
    room_q     <= go_i && 32'(level) <= Room;
    if (rst_i) begin
      e5_valid_q <= 1'b0;
      room_q     <= 1'b0;
    end
  end

  pst_fifo #(
      .Width($bits(found_t)), .Depth(Depth), .RegisterOutput(1'b1)
  ) u_found (
      .clk_i, .rst_i,
      .s_valid_i(e5_valid_q), .s_ready_o(unused_ready), .s_data_i(e5_q),
      .m_valid_o, .m_ready_i, .m_data_o({m_ask_o, m_queue_o, m_flow_o, m_hashes_o, m_desc_o, m_len_o}),
      .level_o(level)
  );

  // --- the walk goes on

  assign advance = (step_q == StepAsked && (unused_way || busy_i)) || (e1_q.valid && e1_q.op == OpClear);

  always_ff @(posedge clk_i) begin
    waited_q <= wants && !pending ? (forced ? waited_q : waited_q + 1'b1) : '0;
    if (advance) walk_q <= walk_next;
    if (e1_q.valid) begin
      if (e1_q.op == OpAsk) touched_q <= 1'b0;
      if (e1_q.op == OpEnqueue && (walk_q.table_id ? set1[1] : set1[0]) == walk_q.set) touched_q <= 1'b1;
    end
    case (step_q)
      StepWait: begin
        timer_q <= timer_q + 1'b1;
        if (timer_q == AgeWidth'(AgeCycles - 1)) step_q <= StepAsk;
      end
      StepAsk:   if (pending) step_q <= StepAsked;
      StepAsked: begin
        if (idle_i) step_q <= StepClear;
        if (unused_way || busy_i) begin
          step_q  <= StepWait;
          timer_q <= '0;
        end
      end
      StepClear: begin
        if (pending) begin
          step_q  <= StepWait;
          timer_q <= '0;
        end
      end
      default: step_q <= StepWait;
    endcase
    if (rst_i) begin
      step_q    <= StepWait;
      timer_q   <= '0;
      waited_q  <= '0;
      walk_q    <= '0;
      touched_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (take) a_queue_in_range : assert (32'(s_enq_queue_i) < Queues) else $error("enqueue to queue %0d of %0d", s_enq_queue_i, Queues);
      if (e5_valid_q) a_found_has_room : assert (unused_ready) else $error("FIFO of found flow queues overflows");
      if (e4_q.valid && e4_q.op == OpEnqueue) a_found_once : assert (hit_in != '1) else $error("a flow has two flow queues");
    end
  end
`endif

endmodule
