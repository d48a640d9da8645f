// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Flow queues behind each queue, as RFC 8290 (FQ-CoDel): packets come with the hash of their flow, and leave queue by queue.
//
// Each queue offers one packet at a time, the one whose turn it is (m_active). The caller looks at the queue, takes the packet or not,
// and says later whether its AQM dropped it. Then the next packet of the queue is chosen.
//
// Throughput: an operation per cycle: an enqueue, a packet that is chosen, a visit to a flow that sends nothing, a drop.
// Latency:    18 cycles from an enqueue into an empty queue to m_active_o; 3 cycles from s_deq to m_left_o.
// Ordering:   FIFO in each flow queue; among those of a queue as the README says.
// Reset:      forgets every packet and flow; a walker then clears the memories (`Flows` cycles) and raises init_done_o.
module pst_fq_lane
  import pst_pkg::len_t, pst_pkg::LenWidth, pst_pkg::LimitPacketsWidth, pst_pkg::LimitBytesWidth;
  import pst_fq_pkg::*;
#(
    parameter int unsigned Queues = 64,          // 2 .. Flows / 8
    parameter int unsigned Flows = 1024,         // flow queues, a power of two, 32 and more
    parameter int unsigned Descriptors = 256,    // >= 2
    parameter int unsigned AgeCycles = 64,       // from one flow queue of the walk that releases to the next, >= 1
    parameter int unsigned HostBits = 0,         // hosts of a queue that are told apart, see pst_fq_hosts; 0: flows alone
    parameter string       RamStyle = "auto",    // memories by flow and by queue, see pst_ram_1r1w
    parameter string       DescRamStyle = "auto",    // memory by descriptor
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned FlowWidth = $clog2(Flows),
    localparam int unsigned DescIdWidth = $clog2(Descriptors),
    localparam int unsigned PacketsWidth = DescIdWidth + 1
) (
    input  logic                         clk_i,
    input  logic                         rst_i,
    output logic                         init_done_o,
    // packets with their queue, and the hashes of their flow and hosts
    input  logic                         s_enq_valid_i,
    output logic                         s_enq_ready_o,
    input  logic [     QueueIdWidth-1:0] s_enq_queue_i,
    input  hashes_t                      s_enq_hashes_i,
    input  logic [      DescIdWidth-1:0] s_enq_desc_i,
    input  len_t                         s_enq_len_i,          // 1 and more
    // a queue has a packet to send
    output logic                         m_active_valid_o,
    input  logic                         m_active_ready_i,
    output logic [     QueueIdWidth-1:0] m_active_queue_o,
    output len_t                         m_active_len_o,
    // that packet: of a queue that has one; it is taken two cycles later, or left where it is
    input  logic                         s_deq_valid_i,
    output logic                         s_deq_ready_o,        // s_deq_valid_i only if it was high one cycle before
    input  logic [     QueueIdWidth-1:0] s_deq_queue_i,
    input  logic                         s_deq_take_i,
    output pst_fq_ports_pkg::left_t      m_left_o,             // one cycle after the take; more: as it was two cycles before it
    output logic [     QueueIdWidth-1:0] m_left_queue_o,
    output logic [        FlowWidth-1:0] m_left_flow_o,
    output logic [      DescIdWidth-1:0] m_left_desc_o,
    // what became of it, in the order in which packets left, at any time after m_left
    input  pst_fq_ports_pkg::verdict_t   s_verdict_i,
    // a packet was dropped, at the tail or at the head of its flow: its page is free again
    output logic                         m_drop_valid_o,
    input  logic                         m_drop_ready_i,
    output logic [      DescIdWidth-1:0] m_drop_desc_o,
    output logic [     QueueIdWidth-1:0] m_drop_queue_o,
    output len_t                         m_drop_len_o,
    // one pulse for each packet that came in or was dropped
    output logic                         ev_valid_o,
    output event_e                       ev_event_o,
    output logic [     QueueIdWidth-1:0] ev_queue_o,
    output logic [        FlowWidth-1:0] ev_flow_o,
    output len_t                         ev_len_o,
    // settings of a queue, after init_done_o; taken at once
    input  pst_fq_ports_pkg::cfg_t       s_cfg_i,
    input  logic [     QueueIdWidth-1:0] s_cfg_queue_i,
    // a look into a queue, which goes where no operation is; answered 4 cycles later. What is staged is not in it
    input  logic                         s_look_valid_i,
    output logic                         s_look_ready_o,
    input  logic [     QueueIdWidth-1:0] s_look_queue_i,
    output pst_fq_ports_pkg::look_t      m_look_o,
    // the pool
    input  logic                         pool_over_i,          // there are more packets in all queues than there may be
    output logic [     PacketsWidth-1:0] pool_packets_o        // in the queues of this lane, without staged ones
);

  localparam int unsigned OutDepth = 16;       // announcements, dropped packets
  localparam int unsigned OutRoom = 8;         // in them when one more operation begins
  localparam int unsigned VisitDepth = 32;
  localparam int unsigned VisitRoom = 16;
  localparam int unsigned TakenDepth = 16;
  localparam int unsigned TakenRoom = 9;
  localparam int unsigned DefaultQuantum = 1514;

  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [FlowWidth-1:0] flow_t;
  typedef logic [DescIdWidth-1:0] desc_t;

  typedef struct packed {
    logic   valid;
    op_e    op;
    queue_t queue_id;
    flow_t  flow;
    logic   old;     // of a visit: the flow is the head of the old list
    hashes_t hashes;   // of a packet that comes
    desc_t  desc;
    len_t   len;     // of a visit: credits that are given back
  } op_t;

  typedef struct packed {
    len_t                         quantum;
    logic [LimitPacketsWidth-1:0] packets;
    logic [LimitBytesWidth-1:0]   bytes;
  } setting_t;

  typedef struct packed {
    desc_t                     desc;
    len_t                      len;
    flow_t                     flow;
    logic                      old;
    logic [FlowBytesWidth-1:0] bytes;
  } staged_t;

  // A packet whose verdict is awaited, and the head of the new list when it left.
  typedef struct packed {
    queue_t queue_id;
    flow_t  flow;
    logic   old;
    len_t   len;
    logic   new_any;
    flow_t  new_head;
  } taken_t;

  typedef struct packed {
    op_e    op;
    queue_t queue_id;
    flow_t  flow;
    logic   old;
  } visit_t;

  // --- clearing walk of what has a word for each queue

  logic walk, find_done, flows_done, lists_done, hosts_done;
  queue_t walk_queue;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(walk), .addr_o(walk_queue));

  assign init_done_o = !walk && find_done && flows_done && lists_done && hosts_done;

  // --- e0 to e5: the flow queue of a packet

  logic found_valid, found_ready, found_ask, idle_d, busy_q;
  queue_t found_queue;
  flow_t found_flow;
  hashes_t found_hashes;
  desc_t found_desc;
  len_t found_len;

  pst_fq_find #(
      .Queues(Queues), .Flows(Flows), .Descriptors(Descriptors), .AgeCycles(AgeCycles), .RamStyle(RamStyle)
  ) u_find (
      .clk_i, .rst_i, .go_i(init_done_o), .init_done_o(find_done),
      .s_enq_valid_i, .s_enq_ready_o, .s_enq_queue_i, .s_enq_hashes_i, .s_enq_desc_i, .s_enq_len_i,
      .m_valid_o(found_valid), .m_ready_i(found_ready), .m_ask_o(found_ask), .m_queue_o(found_queue), .m_flow_o(found_flow),
      .m_hashes_o(found_hashes), .m_desc_o(found_desc), .m_len_o(found_len),
      .idle_i(idle_d), .busy_i(busy_q)
  );

  // --- p0: an operation is chosen. Enqueues get three of four cycles when both sides want one.

  op_t p0, p1_q, p2_q, p3_q, p4_q;
  visit_t visit, visit_push_q;
  taken_t taken, taken_push;
  logic visit_valid, visit_ok, visit_take, resume_ok, resume_take, taken_valid, verdict_valid, verdict_drop, find_ok, visit_push_valid_q;
  logic visit_room_q, out_room_q;
  logic unused_visit_ready, unused_active_ready, unused_drop_ready, unused_taken_ready, unused_verdict_ready;
  logic [1:0] share_q;
  logic [$clog2(VisitDepth+1)-1:0] visit_level;
  logic [$clog2(TakenDepth+1)-1:0] taken_level, unused_verdict_level;
  logic [$clog2(OutDepth+1)-1:0] active_level, drop_level;

  logic [3:1] takes_out;    // of p1 to p3: it may take a packet out of its queue
  assign takes_out = {p3_q.valid && p3_q.op inside {OpVisit, OpDrop}, p2_q.valid && p2_q.op inside {OpVisit, OpDrop},
                      p1_q.valid && p1_q.op inside {OpVisit, OpDrop}};

  function automatic logic near(logic [3:1] which, queue_t p1, queue_t p2, queue_t p3, queue_t queue_id);
    return (which[1] && p1 == queue_id) || (which[2] && p2 == queue_id) || (which[3] && p3 == queue_id);
  endfunction

  always_comb begin
    visit_ok    = visit_valid && out_room_q && (visit.op == OpClear
                  || !near(takes_out, p1_q.queue_id, p2_q.queue_id, p3_q.queue_id, visit.queue_id));
    resume_ok   = taken_valid && verdict_valid && visit_room_q && out_room_q
                  && !near(takes_out, p1_q.queue_id, p2_q.queue_id, p3_q.queue_id, taken.queue_id);
    find_ok     = found_valid && visit_room_q && out_room_q;
    found_ready = visit_room_q && out_room_q && (!(visit_ok || resume_ok) || share_q != 2'd3);
    visit_take  = visit_ok && !(find_ok && found_ready);
    resume_take = resume_ok && !visit_ok && !(find_ok && found_ready);
    idle_d      = visit_take && visit.op == OpClear;
    p0 = '{
        valid: found_valid && found_ready, op: found_ask ? OpAsk : OpEnqueue, queue_id: found_queue, flow: found_flow, old: 1'b0,
        hashes: found_hashes, desc: found_desc, len: found_len
    };
    if (visit_take) begin
      p0 = '{
          valid: visit.op != OpClear, op: visit.op, queue_id: visit.queue_id, flow: visit.flow, old: visit.old, hashes: '0, desc: '0,
          len: '0
      };
    end
    if (resume_take) begin
      // After a drop the AQM goes on in the same flow; else a flow that is new goes first.
      p0 = '{
          valid: 1'b1, op: OpVisit, queue_id: taken.queue_id, flow: taken.flow, old: taken.old, hashes: '0, desc: '0,
          len: verdict_drop ? taken.len : '0
      };
      if (!verdict_drop && taken.old && taken.new_any) begin
        p0.flow = taken.new_head;
        p0.old  = 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    p1_q         <= p0;
    p2_q         <= p1_q;
    p3_q         <= p2_q;
    visit_room_q <= 32'(visit_level) <= VisitRoom;
    out_room_q   <= 32'(active_level) <= OutRoom && 32'(drop_level) <= OutRoom;
    if (find_ok && found_ready) begin
      if (visit_ok || resume_ok) share_q <= share_q + 1'b1;
    end else if (visit_take || resume_take) begin
      share_q <= '0;
    end
    if (rst_i) begin
      p1_q.valid   <= 1'b0;
      p2_q.valid   <= 1'b0;
      p3_q.valid   <= 1'b0;
      visit_room_q <= 1'b0;
      out_room_q   <= 1'b0;
      share_q      <= '0;
    end
  end

  pst_fifo #(
      .Width($bits(visit_t)), .Depth(VisitDepth), .RegisterOutput(1'b1)
  ) u_visits (
      .clk_i, .rst_i,
      .s_valid_i(visit_push_valid_q), .s_ready_o(unused_visit_ready), .s_data_i(visit_push_q),
      .m_valid_o(visit_valid), .m_ready_i(visit_take), .m_data_o(visit),
      .level_o(visit_level)
  );

  // --- p1 to p3: settings, valve, and what the operation does with its flow

  setting_t setting3, setting4_q;
  sides_t sides3, sides4_q;
  queue_t p1_queue;      // whose words are read: of the operation, or of a look where there is none
  logic look1, look2_q, look3_q, look4_q;
  logic valve3, far5, p5_we_q;
  queue_t p5_queue_q;
  logic accept3, append3, pop3, rotate3, spent3, remove3, release3;
  desc_t desc3;
  len_t len3, grant3;
  logic [FlowBytesWidth-1:0] bytes3, p4_bytes_q;

  pst_ram_write_first #(
      .Width($bits(setting_t)), .Depth(Queues), .Style(RamStyle)
  ) u_setting (
      .clk_i,
      .we_i(walk || s_cfg_i.valid), .waddr_i(walk ? walk_queue : s_cfg_queue_i),
      .wdata_i(walk ? setting_t'{quantum: len_t'(DefaultQuantum), packets: '1, bytes: '1}
               : setting_t'{quantum: s_cfg_i.quantum, packets: s_cfg_i.limit_packets, bytes: s_cfg_i.limit_bytes}),
      .re_i(1'b1), .raddr_i(p1_queue), .rdata_o(setting3)
  );

  assign s_look_ready_o = !p1_q.valid && init_done_o;
  assign look1          = s_look_valid_i && s_look_ready_o;
  assign p1_queue       = p1_q.valid ? p1_q.queue_id : s_look_queue_i;

  always_ff @(posedge clk_i) begin
    look2_q    <= look1 && !rst_i;
    look3_q    <= look2_q && !rst_i;
    look4_q    <= look3_q && !rst_i;
    setting4_q <= setting3;
    sides4_q   <= sides3;
  end

  pst_ram_write_first #(
      .Width(1), .Depth(Queues), .Style(RamStyle)
  ) u_valve (
      .clk_i,
      .we_i(walk || p5_we_q), .waddr_i(walk ? walk_queue : p5_queue_q), .wdata_i(!walk && far5),
      .re_i(1'b1), .raddr_i(p1_q.queue_id), .rdata_o(valve3)
  );

  pst_fq_flows #(
      .Flows(Flows), .Descriptors(Descriptors), .RamStyle(RamStyle), .DescRamStyle(DescRamStyle)
  ) u_flows (
      .clk_i, .rst_i, .init_done_o(flows_done),
      .p0_valid_i(p0.valid), .p0_flow_i(p0.flow), .p1_flow_i(p1_q.flow), .p2_flow_i(p2_q.flow),
      .p3_valid_i(p3_q.valid), .p3_op_i(p3_q.op), .p3_flow_i(p3_q.flow), .p3_old_i(p3_q.old), .p3_desc_i(p3_q.desc), .p3_len_i(p3_q.len),
      .p3_quantum_i(setting3.quantum), .p3_grant_i(grant3), .p3_valve_i(valve3),
      .accept_o(accept3), .append_o(append3), .pop_o(pop3), .rotate_o(rotate3), .spent_o(spent3), .remove_o(remove3),
      .release_o(release3),
      .desc_o(desc3), .len_o(len3), .bytes_o(bytes3)
  );

  if (HostBits > 0) begin : g_hosts
    pst_fq_hosts #(
        .Queues(Queues), .Flows(Flows), .HostBits(HostBits), .RamStyle(RamStyle)
    ) u_hosts (
        .clk_i, .rst_i, .init_done_o(hosts_done),
        .p0_valid_i(p0.valid), .p0_flow_i(p0.flow), .p1_flow_i(p1_q.flow), .p1_queue_i(p1_queue), .p3_queue_i(p3_q.queue_id),
        .p3_flow_i(p3_q.flow), .p3_hashes_i(p3_q.hashes), .p3_quantum_i(setting3.quantum), .p3_grant_o(grant3),
        .p3_sides_o(sides3), .append_i(append3), .spent_i(spent3), .remove_i(remove3),
        .set_valid_i(s_cfg_i.valid), .set_queue_i(s_cfg_queue_i), .set_sides_i(s_cfg_i.sides)
    );
  end else begin : g_flows_alone
    logic unused_hosts;
    assign unused_hosts = ^{p3_q.hashes, s_cfg_i.sides, spent3};
    assign grant3       = setting3.quantum;
    assign sides3       = '0;
    assign hosts_done   = 1'b1;
  end

  // --- p4: lists of the queue

  logic accept4_q, append4_q, pop4_q, rotate4_q, remove4_q, release4_q, of_queue4;
  logic next_visit4, next_drop4, next_old4, new_any4, more4;
  flow_t next_flow4, new_head4;
  logic [PacketsWidth-1:0] total_q, packets4;
  logic [QueueBytesWidth-1:0] bytes4;

  always_ff @(posedge clk_i) begin
    p4_q       <= p3_q;
    p4_q.desc  <= desc3;
    p4_q.len   <= len3;
    p4_bytes_q <= bytes3;
    accept4_q  <= accept3;
    append4_q  <= append3;
    pop4_q     <= pop3;
    rotate4_q  <= rotate3;
    remove4_q  <= remove3;
    release4_q <= release3;
    if (rst_i) begin
      p4_q.valid <= 1'b0;
      accept4_q  <= 1'b0;
      pop4_q     <= 1'b0;
      release4_q <= 1'b0;
    end
  end

  logic unused_hashes;    // pst_fq_hosts has them in p3
  assign unused_hashes = ^p4_q.hashes;

  assign of_queue4 = p4_q.valid && p4_q.op != OpAsk && (p4_q.op != OpEnqueue || accept4_q);

  pst_fq_lists #(
      .Queues(Queues), .Flows(Flows), .PacketsWidth(PacketsWidth), .RamStyle(RamStyle)
  ) u_lists (
      .clk_i, .rst_i, .init_done_o(lists_done), .pool_over_i,
      .p1_valid_i((p1_q.valid && p1_q.op != OpAsk) || look1), .p1_queue_i(p1_queue), .p2_flow_i(p2_q.flow),
      .p3_op_i(p3_q.op), .p3_len_i(len3), .p3_limit_packets_i(setting3.packets), .p3_limit_bytes_i(setting3.bytes),
      .p4_valid_i(of_queue4), .p4_op_i(p4_q.op), .p4_flow_i(p4_q.flow), .p4_old_i(p4_q.old),
      .p4_append_i(append4_q), .p4_pop_i(pop4_q), .p4_rotate_i(rotate4_q), .p4_remove_i(remove4_q),
      .p4_len_i(p4_q.len), .p4_bytes_i(p4_bytes_q),
      .next_visit_o(next_visit4), .next_drop_o(next_drop4), .next_flow_o(next_flow4), .next_old_o(next_old4),
      .new_any_o(new_any4), .new_head_o(new_head4), .more_o(more4), .far_o(far5), .packets_o(packets4), .bytes_o(bytes4)
  );

  // What is more than the widths of a queue's limits hold is their largest number.
  always_ff @(posedge clk_i) begin
    m_look_o.valid         <= look4_q && !rst_i;
    m_look_o.packets       <= 32'(packets4) >= 32'(2 ** LimitPacketsWidth) ? '1 : LimitPacketsWidth'(packets4);
    m_look_o.bytes         <= bytes4[QueueBytesWidth-1:LimitBytesWidth] != '0 ? '1 : bytes4[LimitBytesWidth-1:0];
    m_look_o.quantum       <= setting4_q.quantum;
    m_look_o.sides         <= sides4_q;
    m_look_o.limit_packets <= setting4_q.packets;
    m_look_o.limit_bytes   <= setting4_q.bytes;
  end

  // --- p5: results go out

  logic staged_we_q, drop_we_q, new_any_q, p5_more_q;
  flow_t new_head_q;
  staged_t staged_q;
  desc_t drop_desc_q;
  len_t drop_len_q;

  always_ff @(posedge clk_i) begin
    visit_push_valid_q <= next_visit4 || next_drop4 || release4_q;
    visit_push_q <= '{
        op: release4_q ? OpClear : next_visit4 ? OpVisit : OpDrop, queue_id: p4_q.queue_id, flow: next_flow4, old: next_visit4 && next_old4
    };
    busy_q      <= p4_q.valid && p4_q.op == OpAsk && !release4_q;
    staged_we_q <= p4_q.valid && p4_q.op == OpVisit && pop4_q;
    staged_q    <= '{desc: p4_q.desc, len: p4_q.len, flow: p4_q.flow, old: p4_q.old, bytes: p4_bytes_q};
    drop_we_q   <= p4_q.valid && ((p4_q.op == OpEnqueue && !accept4_q) || (p4_q.op == OpDrop && pop4_q));
    drop_desc_q <= p4_q.desc;
    drop_len_q  <= p4_q.len;
    p5_queue_q  <= p4_q.queue_id;
    p5_we_q     <= of_queue4;
    p5_more_q   <= more4;
    new_any_q   <= new_any4;
    new_head_q  <= new_head4;
    ev_valid_o  <= p4_q.valid && (p4_q.op == OpEnqueue || (p4_q.op == OpDrop && pop4_q));
    ev_event_o  <= p4_q.op == OpDrop ? EvHeadDrop : accept4_q ? EvAccepted : EvTailDrop;
    ev_queue_o  <= p4_q.queue_id;
    ev_flow_o   <= p4_q.flow;
    ev_len_o    <= p4_q.len;
    if (p4_q.valid && p4_q.op == OpEnqueue && accept4_q) total_q <= total_q + 1'b1;
    if (p4_q.valid && pop4_q) total_q <= total_q - 1'b1;
    if (rst_i) begin
      visit_push_valid_q <= 1'b0;
      busy_q             <= 1'b0;
      staged_we_q        <= 1'b0;
      drop_we_q          <= 1'b0;
      p5_we_q            <= 1'b0;
      ev_valid_o         <= 1'b0;
      total_q            <= '0;
    end
  end

  assign pool_packets_o = total_q;

  pst_fifo #(
      .Width(QueueIdWidth + LenWidth), .Depth(OutDepth), .RegisterOutput(1'b1)
  ) u_active (
      .clk_i, .rst_i,
      .s_valid_i(staged_we_q), .s_ready_o(unused_active_ready), .s_data_i({p5_queue_q, staged_q.len}),
      .m_valid_o(m_active_valid_o), .m_ready_i(m_active_ready_i), .m_data_o({m_active_queue_o, m_active_len_o}),
      .level_o(active_level)
  );

  pst_fifo #(
      .Width(DescIdWidth + QueueIdWidth + LenWidth), .Depth(OutDepth)
  ) u_drop (
      .clk_i, .rst_i,
      .s_valid_i(drop_we_q), .s_ready_o(unused_drop_ready), .s_data_i({drop_desc_q, p5_queue_q, drop_len_q}),
      .m_valid_o(m_drop_valid_o), .m_ready_i(m_drop_ready_i), .m_data_o({m_drop_desc_o, m_drop_queue_o, m_drop_len_o}),
      .level_o(drop_level)
  );

  // --- looks, takes, verdicts

  logic d1_valid_q, d2_valid_q, d3_valid_q, d4_valid_q, deq_ready_q, deq_ready1_q, taken2, new_any_d4, more2, more3_q;
  queue_t d1_queue_q, d2_queue_q, d3_queue_q, d4_queue_q;
  staged_t staged2, staged3_q;
  flow_t d4_flow_q;
  logic d4_old_q;
  len_t d4_len_q;
  flow_t new_head_d4;

  assign taken2 = d2_valid_q && s_deq_take_i;

  pst_ram_1r1w #(
      .Width($bits(staged_t)), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_staged (
      .clk_i,
      .we_i(staged_we_q), .waddr_i(p5_queue_q), .wdata_i(staged_q),
      .re_i(1'b1), .raddr_i(s_deq_queue_i), .rdata_o(staged2)
  );

  pst_ram_write_first #(
      .Width(1), .Depth(Queues), .Style(RamStyle)
  ) u_more (
      .clk_i,
      .we_i(walk || p5_we_q), .waddr_i(walk ? walk_queue : p5_queue_q), .wdata_i(!walk && p5_more_q),
      .re_i(1'b1), .raddr_i(s_deq_queue_i), .rdata_o(more2)
  );

  pst_ram_write_first #(
      .Width(1 + FlowWidth), .Depth(Queues), .Style(RamStyle)
  ) u_newest (
      .clk_i,
      .we_i(walk || p5_we_q), .waddr_i(walk ? walk_queue : p5_queue_q), .wdata_i(walk ? '0 : {new_any_q, new_head_q}),
      .re_i(1'b1), .raddr_i(d2_queue_q), .rdata_o({new_any_d4, new_head_d4})
  );

  always_ff @(posedge clk_i) begin
    d1_valid_q  <= s_deq_valid_i;
    d1_queue_q  <= s_deq_queue_i;
    d2_valid_q  <= d1_valid_q;
    d2_queue_q  <= d1_queue_q;
    d3_valid_q  <= taken2;
    d3_queue_q  <= d2_queue_q;
    staged3_q   <= staged2;
    more3_q     <= more2;
    d4_valid_q  <= d3_valid_q;
    d4_queue_q  <= d3_queue_q;
    d4_flow_q   <= staged3_q.flow;
    d4_old_q    <= staged3_q.old;
    d4_len_q    <= staged3_q.len;
    deq_ready_q <= 32'(taken_level) <= TakenRoom;
    deq_ready1_q <= deq_ready_q;
    if (rst_i) begin
      d1_valid_q  <= 1'b0;
      d2_valid_q  <= 1'b0;
      d3_valid_q  <= 1'b0;
      d4_valid_q  <= 1'b0;
      deq_ready_q <= 1'b0;
      deq_ready1_q <= 1'b0;
    end
  end

  assign s_deq_ready_o  = deq_ready_q;
  assign m_left_o       = '{valid: d3_valid_q, len: staged3_q.len, bytes: staged3_q.bytes, more: more3_q};
  assign m_left_queue_o = d3_queue_q;
  assign m_left_flow_o  = staged3_q.flow;
  assign m_left_desc_o  = staged3_q.desc;
  assign taken_push = '{
      queue_id: d4_queue_q, flow: d4_flow_q, old: d4_old_q, len: d4_len_q, new_any: new_any_d4, new_head: new_head_d4
  };

  pst_fifo #(
      .Width($bits(taken_t)), .Depth(TakenDepth), .RegisterOutput(1'b1)
  ) u_taken (
      .clk_i, .rst_i,
      .s_valid_i(d4_valid_q), .s_ready_o(unused_taken_ready), .s_data_i(taken_push),
      .m_valid_o(taken_valid), .m_ready_i(resume_take), .m_data_o(taken),
      .level_o(taken_level)
  );

  pst_fifo #(
      .Width(1), .Depth(TakenDepth)
  ) u_verdicts (
      .clk_i, .rst_i,
      .s_valid_i(s_verdict_i.valid), .s_ready_o(unused_verdict_ready), .s_data_i(s_verdict_i.drop),
      .m_valid_o(verdict_valid), .m_ready_i(resume_take), .m_data_o(verdict_drop),
      .level_o(unused_verdict_level)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (visit_push_valid_q) a_visits_have_room : assert (unused_visit_ready) else $error("visit FIFO overflows");
      if (staged_we_q) a_active_has_room : assert (unused_active_ready) else $error("FIFO of announcements overflows");
      if (drop_we_q) a_drop_has_room : assert (unused_drop_ready) else $error("FIFO of dropped packets overflows");
      if (d4_valid_q) a_taken_has_room : assert (unused_taken_ready) else $error("FIFO of taken packets overflows");
      if (s_verdict_i.valid) a_verdicts_have_room : assert (unused_verdict_ready) else $error("more verdicts than packets that left");
      if (s_deq_valid_i) a_look_when_ready : assert (deq_ready1_q) else $error("a look before s_deq_ready_o");
      if (s_cfg_i.valid) a_cleared_before_settings : assert (init_done_o) else $error("a setting before init_done_o");
    end
  end
`endif

endmodule
