// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Flow queues behind each queue, as RFC 8290 (FQ-CoDel), in lanes that work side by side: a queue is in the lane that its low bits say.
//
// The ports are those of pst_fq_lane; a flow queue's number is {flow queue of the lane, lane}.
//
// Throughput: an enqueue and a dequeue per cycle; each lane an operation per cycle.
// Latency:    20 cycles from an enqueue into an empty queue to m_active_o; 3 cycles from s_deq to m_left_o.
// Ordering:   FIFO in each flow queue; among those of a queue as the README says. Queues of different lanes may overtake each other.
// Reset:      forgets every packet and flow; init_done_o rises `Flows / Lanes` cycles later.
module pst_fq
  import pst_pkg::len_t, pst_pkg::LenWidth;
  import pst_fq_pkg::*;
#(
    parameter int unsigned Lanes = 2,            // 1, 2 or 4
    parameter int unsigned Queues = 32768,       // 2 * Lanes .. Flows / 8, a multiple of Lanes
    parameter int unsigned Flows = 262144,       // flow queues, a power of two, 32 * Lanes and more
    parameter int unsigned Descriptors = 131072, // >= 2
    parameter int unsigned AgeCycles = 64,       // from one flow queue of a lane's walk that releases to the next, >= 1
    parameter int unsigned HostBits = 0,         // hosts of a queue that are told apart, see pst_fq_hosts; 0: flows alone
    parameter string       RamStyle = "auto",    // memories by flow and by queue, see pst_ram_1r1w
    parameter string       DescRamStyle = "auto",    // memory by descriptor, one for each lane
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned FlowWidth = $clog2(Flows),
    localparam int unsigned DescIdWidth = $clog2(Descriptors),
    localparam int unsigned PacketsWidth = DescIdWidth + 1
) (
    input  logic                                clk_i,
    input  logic                                rst_i,
    output logic                                init_done_o,
    // packets with their queue, and the hashes of their flow and hosts
    input  logic                                s_enq_valid_i,
    output logic                                s_enq_ready_o,
    input  logic [            QueueIdWidth-1:0] s_enq_queue_i,
    input  hashes_t                             s_enq_hashes_i,       // those of hosts are unused where HostBits is 0
    input  logic [             DescIdWidth-1:0] s_enq_desc_i,
    input  len_t                                s_enq_len_i,          // 1 and more
    // a queue has a packet to send
    output logic                                m_active_valid_o,
    input  logic                                m_active_ready_i,
    output logic [            QueueIdWidth-1:0] m_active_queue_o,
    output len_t                                m_active_len_o,
    // that packet: of a queue that has one; it is taken two cycles later, or left where it is
    input  logic                                s_deq_valid_i,
    output logic                                s_deq_ready_o,        // s_deq_valid_i only if it was high one cycle before
    input  logic [            QueueIdWidth-1:0] s_deq_queue_i,
    input  logic                                s_deq_take_i,
    output pst_fq_ports_pkg::left_t             m_left_o,             // one cycle after the take
    output logic [            QueueIdWidth-1:0] m_left_queue_o,
    output logic [               FlowWidth-1:0] m_left_flow_o,
    output logic [             DescIdWidth-1:0] m_left_desc_o,
    // what became of it, in the order in which packets left, at any time after m_left
    input  pst_fq_ports_pkg::verdict_t          s_verdict_i,
    // a packet was dropped, at the tail or at the head of its flow: its page is free again
    output logic                                m_drop_valid_o,
    input  logic                                m_drop_ready_i,
    output logic [             DescIdWidth-1:0] m_drop_desc_o,
    output logic [            QueueIdWidth-1:0] m_drop_queue_o,
    output len_t                                m_drop_len_o,
    // of each lane one pulse for each packet that came in or was dropped
    output logic [Lanes-1:0]                    ev_valid_o,
    output event_e [Lanes-1:0]                  ev_event_o,
    output logic [Lanes-1:0][ QueueIdWidth-1:0] ev_queue_o,
    output logic [Lanes-1:0][    FlowWidth-1:0] ev_flow_o,
    output logic [Lanes-1:0][     LenWidth-1:0] ev_len_o,
    // settings of a queue, after init_done_o; taken at once
    input  pst_fq_ports_pkg::cfg_t              s_cfg_i,
    input  logic [            QueueIdWidth-1:0] s_cfg_queue_i,
    // a look into a queue, answered 4 cycles later; what is chosen and stands ready is not in it
    input  logic                                s_look_valid_i,
    output logic                                s_look_ready_o,
    input  logic [            QueueIdWidth-1:0] s_look_queue_i,
    output pst_fq_ports_pkg::look_t             m_look_o,
    // packets in all queues: most there may be, and are; without staged ones
    input  logic [            PacketsWidth-1:0] pool_limit_i,
    output logic [            PacketsWidth-1:0] pool_packets_o
);

  localparam int unsigned LaneWidth = $clog2(Lanes);
  localparam int unsigned LaneIdWidth = Lanes > 1 ? LaneWidth : 1;
  localparam int unsigned LaneQueues = Queues / Lanes;
  localparam int unsigned LaneFlows = Flows / Lanes;
  localparam int unsigned LaneQueueWidth = $clog2(LaneQueues);
  localparam int unsigned LaneFlowWidth = $clog2(LaneFlows);
  localparam int unsigned EnqDepth = 8;
  localparam int unsigned OrderDepth = 16 * Lanes;    // packets that left and whose verdict is awaited: as many as the lanes take

  if (Lanes != 1 && Lanes != 2 && Lanes != 4) begin : g_bad_lanes
    $error("pst_fq: Lanes is %0d, allowed: 1, 2, 4", Lanes);
  end
  if (Queues % Lanes != 0 || Queues < 2 * Lanes) begin : g_bad_queues
    $error("pst_fq: Queues is %0d, must be a multiple of Lanes (%0d), and %0d at least", Queues, Lanes, 2 * Lanes);
  end

  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [LaneIdWidth-1:0] lane_t;

  typedef struct packed {
    logic [LaneQueueWidth-1:0] queue_id;
    hashes_t                   hashes;
    logic [DescIdWidth-1:0]    desc;
    len_t                      len;
  } enq_t;

  function automatic lane_t lane_of(queue_t queue_id);
    return Lanes > 1 ? lane_t'(queue_id & queue_t'(Lanes - 1)) : '0;
  endfunction

  function automatic logic [LaneQueueWidth-1:0] in_lane(queue_t queue_id);
    return LaneQueueWidth'(queue_id >> LaneWidth);
  endfunction

  function automatic queue_t queue_of(logic [LaneQueueWidth-1:0] queue_id, lane_t lane);
    return queue_t'((QueueIdWidth + 1)'(queue_id) << LaneWidth) | queue_t'(lane);
  endfunction

  function automatic logic [FlowWidth-1:0] flow_of(logic [LaneFlowWidth-1:0] flow, lane_t lane);
    return FlowWidth'((FlowWidth + 1)'(flow) << LaneWidth) | FlowWidth'(lane);
  endfunction

  pst_fq_ports_pkg::look_t [Lanes-1:0] looks;
  logic [Lanes-1:0] look_ready;
  logic [Lanes-1:0] done, enq_ready, active_valid, active_take, deq_ready, drop_valid, drop_take, verdict_valid;
  pst_fq_ports_pkg::left_t [Lanes-1:0] lane_left;
  queue_t [Lanes-1:0] active_queue, left_queue, drop_queue;
  logic [Lanes-1:0][LenWidth-1:0] active_len, drop_len;
  logic [Lanes-1:0][FlowWidth-1:0] left_flow;
  logic [Lanes-1:0][DescIdWidth-1:0] left_desc, drop_desc;
  logic [Lanes-1:0][PacketsWidth-1:0] packets;
  logic [PacketsWidth-1:0] sum;
  logic pool_over_q;

  for (genvar l = 0; l < int'(Lanes); l++) begin : g_lane
    logic lane_valid, lane_ready, lane_init;
    enq_t lane_enq;
    logic [LaneQueueWidth-1:0] lane_active_queue, lane_left_queue, lane_drop_queue, lane_ev_queue;
    logic [LaneFlowWidth-1:0] lane_left_flow, lane_ev_flow;
    len_t lane_active_len, lane_drop_len, lane_ev_len;
    pst_fq_ports_pkg::cfg_t lane_cfg;
    pst_fq_ports_pkg::verdict_t lane_verdict;
    logic [$clog2(EnqDepth+1)-1:0] unused_level;

    pst_fifo #(
        .Width($bits(enq_t)), .Depth(EnqDepth), .RegisterOutput(1'b1)
    ) u_enq (
        .clk_i, .rst_i,
        .s_valid_i(s_enq_valid_i && lane_of(s_enq_queue_i) == lane_t'(l)), .s_ready_o(enq_ready[l]),
        .s_data_i({in_lane(s_enq_queue_i), s_enq_hashes_i, s_enq_desc_i, s_enq_len_i}),
        .m_valid_o(lane_valid), .m_ready_i(lane_ready), .m_data_o(lane_enq), .level_o(unused_level)
    );

    pst_fq_lane #(
        .Queues(LaneQueues), .Flows(LaneFlows), .Descriptors(Descriptors), .AgeCycles(AgeCycles), .HostBits(HostBits),
        .RamStyle(RamStyle), .DescRamStyle(DescRamStyle)
    ) u_lane (
        .clk_i, .rst_i, .init_done_o(lane_init),
        .s_enq_valid_i(lane_valid), .s_enq_ready_o(lane_ready), .s_enq_queue_i(lane_enq.queue_id), .s_enq_hashes_i(lane_enq.hashes),
        .s_enq_desc_i(lane_enq.desc), .s_enq_len_i(lane_enq.len),
        .m_active_valid_o(active_valid[l]), .m_active_ready_i(active_take[l]), .m_active_queue_o(lane_active_queue),
        .m_active_len_o(lane_active_len),
        .s_deq_valid_i(s_deq_valid_i && lane_of(s_deq_queue_i) == lane_t'(l)), .s_deq_ready_o(deq_ready[l]),
        .s_deq_queue_i(in_lane(s_deq_queue_i)), .s_deq_take_i,
        .m_left_o(lane_left[l]), .m_left_queue_o(lane_left_queue), .m_left_flow_o(lane_left_flow), .m_left_desc_o(left_desc[l]),
        .s_verdict_i(lane_verdict),
        .m_drop_valid_o(drop_valid[l]), .m_drop_ready_i(drop_take[l]), .m_drop_desc_o(drop_desc[l]),
        .m_drop_queue_o(lane_drop_queue), .m_drop_len_o(lane_drop_len),
        .ev_valid_o(ev_valid_o[l]), .ev_event_o(ev_event_o[l]), .ev_queue_o(lane_ev_queue), .ev_flow_o(lane_ev_flow),
        .ev_len_o(lane_ev_len),
        .s_cfg_i(lane_cfg), .s_cfg_queue_i(in_lane(s_cfg_queue_i)),
        .s_look_valid_i(s_look_valid_i && lane_of(s_look_queue_i) == lane_t'(l)), .s_look_ready_o(look_ready[l]),
        .s_look_queue_i(in_lane(s_look_queue_i)), .m_look_o(looks[l]),
        .pool_over_i(pool_over_q), .pool_packets_o(packets[l])
    );

    always_comb begin
      lane_cfg       = s_cfg_i;
      lane_cfg.valid = s_cfg_i.valid && lane_of(s_cfg_queue_i) == lane_t'(l);
      lane_verdict   = '{valid: verdict_valid[l], drop: s_verdict_i.drop};
    end

    assign done[l]         = lane_init;
    assign active_queue[l] = queue_of(lane_active_queue, lane_t'(l));
    assign active_len[l]   = lane_active_len;
    assign left_queue[l]   = queue_of(lane_left_queue, lane_t'(l));
    assign drop_queue[l]   = queue_of(lane_drop_queue, lane_t'(l));
    assign drop_len[l]     = lane_drop_len;
    assign left_flow[l]    = flow_of(lane_left_flow, lane_t'(l));
    assign ev_queue_o[l]   = queue_of(lane_ev_queue, lane_t'(l));
    assign ev_flow_o[l]    = flow_of(lane_ev_flow, lane_t'(l));
    assign ev_len_o[l]     = lane_ev_len;
  end

  assign init_done_o    = done == '1;
  assign s_enq_ready_o  = enq_ready[lane_of(s_enq_queue_i)];
  assign s_look_ready_o = look_ready[lane_of(s_look_queue_i)];
  assign s_deq_ready_o  = deq_ready == '1;

  // Looks are one at a time and take as long in each lane, so one packet leaves in a cycle.
  always_comb begin
    m_left_queue_o = '0;
    m_left_flow_o  = '0;
    m_left_desc_o  = '0;
    m_left_o       = '0;
    m_look_o       = '0;
    sum            = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (lane_left[l].valid) begin
        m_left_o       |= lane_left[l];
        m_left_queue_o |= left_queue[l];
        m_left_flow_o  |= left_flow[l];
        m_left_desc_o  |= left_desc[l];
      end
      if (looks[l].valid) m_look_o = looks[l];
      sum += packets[l];
    end
  end

  // --- announcements and dropped packets of the lanes take turns

  lane_t turn_q, active_lane, drop_lane;
  logic active_any, active_ready, drop_any, drop_ready;
  logic [2:0] unused_active_level, unused_drop_level;

  always_comb begin
    active_lane = turn_q;
    drop_lane   = turn_q;
    for (int unsigned i = Lanes; i-- > 0;) begin
      if (active_valid[lane_t'(32'(turn_q) + i)]) active_lane = lane_t'(32'(turn_q) + i);
      if (drop_valid[lane_t'(32'(turn_q) + i)]) drop_lane = lane_t'(32'(turn_q) + i);
    end
    active_any  = active_valid != '0;
    drop_any    = drop_valid != '0;
    active_take = '0;
    drop_take   = '0;
    active_take[active_lane] = active_ready;
    drop_take[drop_lane]     = drop_ready;
  end

  pst_fifo #(
      .Width(QueueIdWidth + LenWidth), .Depth(4), .RegisterOutput(1'b1)
  ) u_active (
      .clk_i, .rst_i,
      .s_valid_i(active_any), .s_ready_o(active_ready), .s_data_i({active_queue[active_lane], active_len[active_lane]}),
      .m_valid_o(m_active_valid_o), .m_ready_i(m_active_ready_i), .m_data_o({m_active_queue_o, m_active_len_o}),
      .level_o(unused_active_level)
  );

  pst_fifo #(
      .Width(DescIdWidth + QueueIdWidth + LenWidth), .Depth(4)
  ) u_drop (
      .clk_i, .rst_i,
      .s_valid_i(drop_any), .s_ready_o(drop_ready), .s_data_i({drop_desc[drop_lane], drop_queue[drop_lane], drop_len[drop_lane]}),
      .m_valid_o(m_drop_valid_o), .m_ready_i(m_drop_ready_i), .m_data_o({m_drop_desc_o, m_drop_queue_o, m_drop_len_o}),
      .level_o(unused_drop_level)
  );

  // --- a verdict goes to the lane from which its packet left

  logic d1_q, d2_q, order_valid, unused_order_ready;
  lane_t d1_lane_q, d2_lane_q, order_lane;
  logic [$clog2(OrderDepth+1)-1:0] unused_order_level;

  always_comb begin
    verdict_valid = '0;
    verdict_valid[order_lane] = s_verdict_i.valid;
  end

  pst_fifo #(
      .Width(LaneIdWidth), .Depth(OrderDepth), .RegisterOutput(1'b1)
  ) u_order (
      .clk_i, .rst_i,
      .s_valid_i(d2_q && s_deq_take_i), .s_ready_o(unused_order_ready), .s_data_i(d2_lane_q),
      .m_valid_o(order_valid), .m_ready_i(s_verdict_i.valid), .m_data_o(order_lane),
      .level_o(unused_order_level)
  );

  always_ff @(posedge clk_i) begin
    turn_q         <= 32'(turn_q) == Lanes - 1 ? '0 : turn_q + 1'b1;
    d1_q           <= s_deq_valid_i;
    d1_lane_q      <= lane_of(s_deq_queue_i);
    d2_q           <= d1_q;
    d2_lane_q      <= d1_lane_q;
    pool_packets_o <= sum;
    pool_over_q    <= sum > pool_limit_i;
    if (rst_i) begin
      turn_q         <= '0;
      d1_q           <= 1'b0;
      d2_q           <= 1'b0;
      pool_packets_o <= '0;
      pool_over_q    <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  logic [Lanes-1:0] left_valid;
  always_comb for (int unsigned l = 0; l < Lanes; l++) left_valid[l] = lane_left[l].valid;

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_one_leaves : assert ($countones(left_valid) <= 1);
      if (s_verdict_i.valid) a_a_packet_left : assert (order_valid) else $error("a verdict before its packet left");
      if (d2_q && s_deq_take_i) a_order_has_room : assert (unused_order_ready) else $error("too many packets wait for their verdict");
    end
  end
`endif

endmodule
