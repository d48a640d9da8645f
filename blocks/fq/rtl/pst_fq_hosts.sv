// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What a flow gets for its next turn where hosts share a queue: the quantum, divided by the flows that its host has in the old list.
//
// A host is the low bits of a keyed hash of an address; its flows are counted for each queue. A flow counts from the turn that finds its
// credits used up to the one that takes it off the old list. Of the two sides of a flow, source and destination, those of its queue's setting
// count, and of them the one with more flows (CAKE's dual-srchost, dual-dsthost and triple-isolate).
//
// Throughput: an operation per cycle. Latency: a grant counts for operations that are in p3 nine cycles after the one that changed it.
// Ordering: each operation sees what those before it left. Reset: no flow counts; `Queues << HostBits` cycles, or `Flows` where that is more.
module pst_fq_hosts
  import pst_pkg::len_t, pst_pkg::LenWidth;
  import pst_fq_pkg::*;
#(
    parameter int unsigned Queues = 64,          // >= 2
    parameter int unsigned Flows = 1024,         // >= 2
    parameter int unsigned HostBits = 4,         // 1..10: hosts of a queue that are told apart, 2 ** HostBits on each side
    parameter string       RamStyle = "auto",    // see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned FlowWidth = $clog2(Flows)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    output logic                    init_done_o,
    // the operation
    input  logic                    p0_valid_i,
    input  logic [   FlowWidth-1:0] p0_flow_i,
    input  logic [   FlowWidth-1:0] p1_flow_i,
    input  logic [QueueIdWidth-1:0] p1_queue_i,
    input  logic [QueueIdWidth-1:0] p3_queue_i,
    input  logic [   FlowWidth-1:0] p3_flow_i,
    input  hashes_t                 p3_hashes_i,     // of a packet that comes
    input  len_t                    p3_quantum_i,
    output len_t                    p3_grant_o,      // what the flow gets if its credits are used up
    output sides_t                  p3_sides_o,      // setting of the queue
    // what became of it, in p3
    input  logic                    append_i,        // the flow was in no list
    input  logic                    spent_i,         // its credits were used up
    input  logic                    remove_i,        // it leaves the old list
    // setting of a queue: sides that count; a walk clears all after reset
    input  logic                    set_valid_i,
    input  logic [QueueIdWidth-1:0] set_queue_i,
    input  sides_t                  set_sides_i
);

  localparam int unsigned CountWidth = BucketWidth + 1;    // flows of a queue: one for each bucket, and its own
  localparam int unsigned MostFlows = 63;                  // more count as this
  localparam len_t LeastGrant = len_t'(16);                // bytes, or the quantum: a packet takes so many turns less
  localparam int unsigned LoadWidth = $clog2(MostFlows + 1);
  localparam int unsigned Counts = Queues << HostBits;

  if (HostBits < 1 || HostBits > MostHostBits) begin : g_bad_hosts
    $error("pst_fq_hosts: HostBits is %0d, allowed: 1..%0d", HostBits, MostHostBits);
  end

  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [FlowWidth-1:0] flow_t;
  typedef logic [CountWidth-1:0] count_t;
  typedef logic [LoadWidth-1:0] load_t;
  typedef logic [16:0] part_t;    // of 2 ** 16

  typedef struct packed {
    logic                           bulk;     // it counts
    logic [Sides-1:0][HostBits-1:0] hosts;
  } word_t;

  typedef struct packed {
    logic                           valid;
    logic                           more;     // a flow more, a flow less
    logic                           less;
    logic                           grants;
    queue_t                         queue_id;
    flow_t                          flow;
    logic [Sides-1:0][HostBits-1:0] hosts;
    sides_t                         sides;
    len_t                           quantum;
  } change_t;

  function automatic part_t part_of(load_t load);
    return load < load_t'(2) ? part_t'(17'h10000) : part_t'(32'h10000 / 32'(load));
  endfunction

  // --- p0 to p3: hosts of the flow, and its grant

  word_t word, word_new, unused_word_q;
  logic host_we, host_done;

  pst_ram_modify #(
      .Width($bits(word_t)), .Depth(Flows), .Style(RamStyle)
  ) u_host (
      .clk_i, .rst_i,
      .valid_i(p0_valid_i), .addr_i(p0_flow_i),
      .word_o(word), .we_i(host_we), .word_i(word_new), .word_q_o(unused_word_q),
      .init_done_o(host_done)
  );

  logic walk;
  queue_t walk_queue;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(walk), .addr_o(walk_queue));

  pst_ram_write_first #(
      .Width($bits(sides_t)), .Depth(Queues), .Style(RamStyle)
  ) u_sides (
      .clk_i,
      .we_i(walk || set_valid_i), .waddr_i(walk ? walk_queue : set_queue_i), .wdata_i(walk ? '0 : set_sides_i),
      .re_i(1'b1), .raddr_i(p1_queue_i), .rdata_o(p3_sides_o)
  );

  assign host_we = append_i || spent_i || remove_i;

  always_comb begin
    word_new = word;
    if (append_i) begin
      word_new.hosts[SideSource]      = p3_hashes_i.source[HostBits-1:0];
      word_new.hosts[SideDestination] = p3_hashes_i.destination[HostBits-1:0];
    end
    if (remove_i) word_new.bulk = 1'b0;
    if (spent_i) word_new.bulk = 1'b1;
  end

  // --- c0 to c3: its host's flows

  change_t c0_q, c1_q, c2_q, c3_q;
  count_t [Sides-1:0] counts, counts_new;
  logic [Sides-1:0] count_done;

  logic unused_fields;    // the hash of the flow itself; what addressed the counts
  assign unused_fields = ^{p3_hashes_i, c3_q.queue_id, c3_q.hosts};

  always_ff @(posedge clk_i) begin
    c0_q <= '{
        valid: host_we, more: spent_i && !word.bulk, less: remove_i && word.bulk, grants: append_i || spent_i, queue_id: p3_queue_i,
        flow: p3_flow_i, hosts: word_new.hosts, sides: p3_sides_o, quantum: p3_quantum_i
    };
    c1_q <= c0_q;
    c2_q <= c1_q;
    c3_q <= c2_q;
    if (rst_i) begin
      c0_q.valid <= 1'b0;
      c1_q.valid <= 1'b0;
      c2_q.valid <= 1'b0;
      c3_q.valid <= 1'b0;
    end
  end

  for (genvar s = 0; s < int'(Sides); s++) begin : g_side
    count_t unused_count_q;

    pst_ram_modify #(
        .Width(CountWidth), .Depth(Counts), .Style(RamStyle)
    ) u_count (
        .clk_i, .rst_i,
        .valid_i(c0_q.valid), .addr_i({c0_q.queue_id, c0_q.hosts[s]}),
        .word_o(counts[s]), .we_i(c3_q.valid && (c3_q.more || c3_q.less)), .word_i(counts_new[s]), .word_q_o(unused_count_q),
        .init_done_o(count_done[s])
    );
    assign counts_new[s] = counts[s] + count_t'(c3_q.more) - count_t'(c3_q.less);
  end

  assign init_done_o = !walk && host_done && count_done == '1;

  // --- c3 to c6: the larger count, and the quantum divided by it

  count_t most;
  load_t c4_load_q;
  part_t c5_part_q;
  len_t c4_quantum_q, c5_quantum_q, c5_grant, c6_grant_q;
  flow_t c4_flow_q, c5_flow_q, c6_flow_q;
  logic c4_valid_q, c5_valid_q, c6_valid_q;
  logic [LenWidth+16:0] c5_product;

  always_comb begin
    most = '0;
    for (int unsigned s = 0; s < Sides; s++) if (c3_q.sides[s] && counts_new[s] > most) most = counts_new[s];
    c5_product = (LenWidth + 17)'(c5_quantum_q) * (LenWidth + 17)'(c5_part_q);
    c5_grant   = len_t'(c5_product >> 16);
    if (c5_grant < LeastGrant) c5_grant = c5_quantum_q < LeastGrant ? c5_quantum_q : LeastGrant;
  end

  always_ff @(posedge clk_i) begin
    c4_load_q    <= most > count_t'(MostFlows) ? load_t'(MostFlows) : load_t'(most);
    c4_quantum_q <= c3_q.quantum;
    c4_flow_q    <= c3_q.flow;
    c4_valid_q   <= c3_q.valid && c3_q.grants;
    c5_part_q    <= part_of(c4_load_q);
    c5_quantum_q <= c4_quantum_q;
    c5_flow_q    <= c4_flow_q;
    c5_valid_q   <= c4_valid_q;
    c6_grant_q   <= c5_grant;
    c6_flow_q    <= c5_flow_q;
    c6_valid_q   <= c5_valid_q;
    if (rst_i) begin
      c4_valid_q <= 1'b0;
      c5_valid_q <= 1'b0;
      c6_valid_q <= 1'b0;
    end
  end

  pst_ram_write_first #(
      .Width(LenWidth), .Depth(Flows), .Style(RamStyle)
  ) u_grant (
      .clk_i,
      .we_i(c6_valid_q), .waddr_i(c6_flow_q), .wdata_i(c6_grant_q),
      .re_i(1'b1), .raddr_i(p1_flow_i), .rdata_o(p3_grant_o)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (c3_q.valid && c3_q.less) begin
        for (int unsigned s = 0; s < Sides; s++) begin
          a_counted_before : assert (counts[s] != '0) else $error("a flow less than none, of side %0d", s);
        end
      end
      if (host_we) a_one_thing : assert ($countones({append_i, spent_i, remove_i}) == 1);
    end
  end
`endif

endmodule
