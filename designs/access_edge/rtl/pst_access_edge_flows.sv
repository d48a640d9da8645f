// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Flow queues (pst_fq) in the place of the queue manager: the same descriptor ports, hashes beside the queue.
//
// A packet that comes in is reported as accepted, one that was lost upstream with its reason, both in the order in which they came. A packet
// that flow queues drop, at whatever time, is reported as DropFlowOverflow in the cycle in which its page is given back; such a report goes
// first, and the next packet waits for it.
//
// Throughput: an event per cycle: a packet that comes in, or one that is dropped. A dequeue per cycle.
// Latency:    22 cycles from an enqueue into an empty queue to m_active_o; dequeue to m_ret_o 3 cycles, 1 after s_deq_take_i.
// Ordering:   as pst_fq. Reset: forgets every packet; `Flows / Lanes` cycles, then init_done_o rises.
module pst_access_edge_flows
  import pst_pkg::LenWidth, pst_pkg::len_t, pst_pkg::drop_e, pst_pkg::DropNone, pst_pkg::DropFlowOverflow, pst_pkg::LimitBytesWidth;
  import pst_fq_pkg::hashes_t, pst_fq_pkg::event_e, pst_fq_pkg::FlowBytesWidth;
#(
    parameter int unsigned Queues = 64,          // 2 * Lanes .. Flows / 8, a multiple of Lanes
    parameter int unsigned Descriptors = 256,    // >= 2
    parameter int unsigned Flows = 1024,         // flow queues, a power of two, 32 * Lanes and more
    parameter int unsigned Lanes = 2,            // 1, 2 or 4
    parameter int unsigned AgeCycles = 64,       // from one flow queue of a lane's walk that releases to the next, >= 1
    parameter int unsigned HostBits = 0,         // 2 ** HostBits hosts of a queue are told apart; 0: flows alone
    parameter int unsigned Quantum = 1514,       // bytes of a flow's turn where a queue's setting is 0, 1 and more
    parameter string       QueueRamStyle = "auto",    // memories by flow and by queue, see pst_ram_1r1w
    parameter string       DescRamStyle = "auto",     // memories by descriptor
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned FlowWidth = $clog2(Flows),
    localparam int unsigned DescIdWidth = $clog2(Descriptors)
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    // enqueue; a reason other than DropNone: the frame was lost upstream and is only reported, in order
    input  logic                              s_enq_valid_i,
    output logic                              s_enq_ready_o,
    input  logic [QueueIdWidth-1:0]           s_enq_queue_i,
    input  hashes_t                           s_enq_hashes_i,
    input  logic [DescIdWidth-1:0]            s_enq_desc_i,
    input  len_t                              s_enq_len_i,
    input  drop_e                             s_enq_reason_i,
    // a queue has a packet to send: after each packet that left it once more
    output logic                              m_active_valid_o,
    input  logic                              m_active_ready_i,
    output logic [QueueIdWidth-1:0]           m_active_queue_o,
    // descriptor of a packet dropped here: its page is free again
    output logic                              m_drop_valid_o,
    input  logic                              m_drop_ready_i,
    output logic [DescIdWidth-1:0]            m_drop_desc_o,
    // one pulse per packet that came in, and one per packet dropped
    output pst_access_edge_ports_pkg::decision_t ev_o,
    output logic [QueueIdWidth-1:0]           ev_queue_o,
    // dequeue of the packet that was announced; two cycles later it is taken, or left. One cycle before, deq_ready_o was high
    output logic                              deq_ready_o,
    input  logic                              s_deq_valid_i,
    input  logic [QueueIdWidth-1:0]           s_deq_queue_i,
    input  logic                              s_deq_take_i,
    output logic                              m_ret_valid_o,
    output logic [QueueIdWidth-1:0]           m_ret_queue_o,
    output logic [FlowWidth-1:0]              m_ret_flow_o,
    output logic [DescIdWidth-1:0]            m_ret_desc_o,
    output len_t                              m_ret_len_o,
    output logic                              m_ret_more_o,    // packets are left in its queue
    output logic [LimitBytesWidth-1:0]        m_ret_left_o,    // one cycle later: bytes left in its flow, at most so many
    // what became of it, in the order in which packets left, after m_ret_o: it is sent or dropped
    input  pst_fq_ports_pkg::verdict_t        s_verdict_i,
    // settings of one queue; taken at once, holds enqueues back for this cycle
    input  pst_fq_ports_pkg::cfg_t            s_cfg_i,
    input  logic [QueueIdWidth-1:0]           s_cfg_queue_i,
    // a look into a queue, answered 4 cycles later, see pst_fq
    input  logic                              s_look_valid_i,
    output logic                              s_look_ready_o,
    input  logic [QueueIdWidth-1:0]           s_look_queue_i,
    output pst_fq_ports_pkg::look_t           m_look_o,
    // packets in all flow queues: most there may be, and are
    input  logic [31:0]                       pool_limit_i,
    output logic [31:0]                       pool_packets_o,
    output logic                              init_done_o
);

  localparam int unsigned InDepth = 4;

  typedef struct packed {
    logic [QueueIdWidth-1:0] queue_id;
    hashes_t                 hashes;
    logic [DescIdWidth-1:0]  desc;
    len_t                    len;
    drop_e                   reason;
  } packet_t;

  packet_t in, out;
  logic in_ready, out_valid, out_take, lost, fq_ready, drop_valid, drop_take;
  logic [QueueIdWidth-1:0] drop_queue;
  len_t drop_len, unused_active_len;
  pst_fq_ports_pkg::left_t left;
  pst_fq_ports_pkg::cfg_t cfg;
  logic [DescIdWidth:0] pool_packets;
  logic [$clog2(InDepth+1)-1:0] unused_level;
  logic [Lanes-1:0] unused_ev_valid;
  event_e [Lanes-1:0] unused_event;
  logic [Lanes-1:0][QueueIdWidth-1:0] unused_ev_queue;
  logic [Lanes-1:0][FlowWidth-1:0] unused_ev_flow;
  logic [Lanes-1:0][LenWidth-1:0] unused_ev_len;

  assign in = '{queue_id: s_enq_queue_i, hashes: s_enq_hashes_i, desc: s_enq_desc_i, len: s_enq_len_i, reason: s_enq_reason_i};
  assign s_enq_ready_o = in_ready && init_done_o && !s_cfg_i.valid;

  pst_fifo #(
      .Width($bits(packet_t)), .Depth(InDepth), .RegisterOutput(1'b1)
  ) u_in (
      .clk_i, .rst_i,
      .s_valid_i(s_enq_valid_i && init_done_o && !s_cfg_i.valid), .s_ready_o(in_ready), .s_data_i(in),
      .m_valid_o(out_valid), .m_ready_i(out_take), .m_data_o(out),
      .level_o(unused_level)
  );

  assign lost           = out.reason != DropNone;
  assign drop_take      = drop_valid && m_drop_ready_i;
  assign out_take       = out_valid && !drop_take && (lost || fq_ready);
  assign m_drop_valid_o = drop_valid;

  pst_fq #(
      .Lanes(Lanes), .Queues(Queues), .Flows(Flows), .Descriptors(Descriptors), .AgeCycles(AgeCycles), .HostBits(HostBits),
      .RamStyle(QueueRamStyle), .DescRamStyle(DescRamStyle)
  ) u_fq (
      .clk_i, .rst_i, .init_done_o,
      .s_enq_valid_i(out_valid && !drop_take && !lost), .s_enq_ready_o(fq_ready), .s_enq_queue_i(out.queue_id),
      .s_enq_hashes_i(out.hashes), .s_enq_desc_i(out.desc), .s_enq_len_i(out.len),
      .m_active_valid_o, .m_active_ready_i, .m_active_queue_o, .m_active_len_o(unused_active_len),
      .s_deq_valid_i, .s_deq_ready_o(deq_ready_o), .s_deq_queue_i, .s_deq_take_i,
      .m_left_o(left), .m_left_queue_o(m_ret_queue_o), .m_left_flow_o(m_ret_flow_o), .m_left_desc_o(m_ret_desc_o),
      .s_verdict_i,
      .m_drop_valid_o(drop_valid), .m_drop_ready_i, .m_drop_desc_o, .m_drop_queue_o(drop_queue), .m_drop_len_o(drop_len),
      .ev_valid_o(unused_ev_valid), .ev_event_o(unused_event), .ev_queue_o(unused_ev_queue), .ev_flow_o(unused_ev_flow),
      .ev_len_o(unused_ev_len),
      .s_cfg_i(cfg), .s_cfg_queue_i,
      .s_look_valid_i(s_look_valid_i && init_done_o), .s_look_ready_o, .s_look_queue_i, .m_look_o,
      .pool_limit_i(32'(pool_limit_i) > Descriptors ? '1 : (DescIdWidth + 1)'(pool_limit_i)), .pool_packets_o(pool_packets)
  );

  always_comb begin
    cfg = s_cfg_i;
    if (s_cfg_i.quantum == '0) cfg.quantum = len_t'(Quantum);
  end

  assign pool_packets_o = 32'(pool_packets);
  assign m_ret_valid_o  = left.valid;
  assign m_ret_len_o    = left.len;
  assign m_ret_more_o   = left.more;

  always_ff @(posedge clk_i) begin
    ev_o.valid   <= out_take || drop_take;
    ev_o.reason  <= drop_take ? DropFlowOverflow : out.reason;
    ev_queue_o   <= drop_take ? drop_queue : out.queue_id;
    ev_o.len     <= drop_take ? drop_len : out.len;
    ev_o.page    <= 24'(drop_take ? m_drop_desc_o : out.desc);
    m_ret_left_o <= left.bytes[FlowBytesWidth-1:LimitBytesWidth] != '0 ? '1 : left.bytes[LimitBytesWidth-1:0];
    if (rst_i) ev_o.valid <= 1'b0;
  end

  logic unused;
  assign unused = ^{unused_active_len, unused_level, unused_ev_valid, unused_event, unused_ev_queue, unused_ev_flow,
                    unused_ev_len};

endmodule
