// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Holds every stored frame back until the AQM has judged its arrival: a delay line in front of the queue manager.
//
// A frame that is dropped here goes on as a mere report (DropAqm), so that all decisions stand in order; its page goes to m_drop.
// The backlog that the AQM is told is what the queue's latest departure left behind: never more than what is there now. An AQM that only asks
// whether it is above GuardBytes (so that nothing is dropped that its guard protects) needs one bit per queue for that; others have the number.
//
// Throughput: one frame per cycle. Latency: 5 cycles. Ordering: in order.
// Reset:      forgets all frames; `Queues` cycles, then init_done_o rises.
module pst_access_edge_arrivals
  import pst_pkg::len_t, pst_pkg::drop_e, pst_pkg::DropNone, pst_pkg::DropAqm, pst_pkg::LimitBytesWidth;
  import pst_aqm_pkg::verdict_e, pst_aqm_pkg::VerdictMark, pst_aqm_pkg::VerdictDrop, pst_aqm_pkg::BacklogWidth, pst_aqm_pkg::backlog_t;
#(
    parameter int unsigned Queues = 64,              // >= 2
    parameter int unsigned Descriptors = 256,        // >= 2
    parameter int unsigned GuardBytes = 0,           // 0: the backlog is a number; else 0, or the largest one when it is above this
    parameter string       QueueRamStyle = "auto",   // per-queue memory, see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned DescIdWidth = $clog2(Descriptors)
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    // stored frames; a reason other than DropNone: only reported, not judged
    input  logic                       s_enq_valid_i,
    output logic                       s_enq_ready_o,
    input  logic [QueueIdWidth-1:0]    s_enq_queue_i,
    input  logic [DescIdWidth-1:0]     s_enq_desc_i,
    input  len_t                       s_enq_len_i,
    input  drop_e                      s_enq_reason_i,
    input  logic                       s_enq_ect_i,         // it may be marked
    // to the AQM, which never stalls; its verdict comes 4 cycles later
    output logic                       m_judge_valid_o,
    output logic [QueueIdWidth-1:0]    m_judge_queue_o,
    output logic                       m_judge_ect_o,
    output backlog_t                   m_judge_backlog_o,   // two cycles later
    input  verdict_e                   s_verdict_i,
    // to the queue manager
    output logic                       m_enq_valid_o,
    input  logic                       m_enq_ready_i,
    output logic [QueueIdWidth-1:0]    m_enq_queue_o,
    output logic [DescIdWidth-1:0]     m_enq_desc_o,
    output len_t                       m_enq_len_o,
    output drop_e                      m_enq_reason_o,
    output logic                       m_enq_mark_o,
    // pages of the frames that were dropped
    output logic                       m_drop_valid_o,
    input  logic                       m_drop_ready_i,
    output logic [DescIdWidth-1:0]     m_drop_desc_o,
    // the queue manager's answer: a packet leaves its queue, and one cycle later the bytes that it leaves behind
    input  logic                       s_ret_valid_i,
    input  logic [QueueIdWidth-1:0]    s_ret_queue_i,
    input  logic [LimitBytesWidth-1:0] s_ret_left_i,
    output logic                       init_done_o
);

  localparam int unsigned Judged = 4;               // cycles until the verdict is there
  localparam int unsigned OutDepth = 16;
  localparam int unsigned OutReserve = Judged + 2;  // frames that may still come after ready has gone low
  localparam int unsigned PageDepth = 4;
  localparam int unsigned KeptWidth = GuardBytes != 0 ? 1 : BacklogWidth;

  typedef struct packed {
    logic [QueueIdWidth-1:0] queue_id;
    logic [DescIdWidth-1:0]  desc;
    len_t                    len;
    drop_e                   reason;
  } frame_t;

  typedef struct packed {
    logic [QueueIdWidth-1:0] queue_id;
    logic [DescIdWidth-1:0]  desc;
    len_t                    len;
    drop_e                   reason;
    logic                    mark;
  } judged_t;

  // --- what the latest departure of a queue left behind

  logic init_q, left_valid_q;
  logic [KeptWidth-1:0] left, kept;
  logic [QueueIdWidth-1:0] init_queue_q, left_queue_q;

  always_ff @(posedge clk_i) begin
    if (init_q) init_queue_q <= init_queue_q + 1'b1;
    if (init_q && init_queue_q == QueueIdWidth'(Queues - 1)) init_q <= 1'b0;
    left_valid_q <= s_ret_valid_i && !rst_i;
    left_queue_q <= s_ret_queue_i;
    if (rst_i) begin
      init_q       <= 1'b1;
      init_queue_q <= '0;
    end
  end

  assign init_done_o = !init_q;
  assign left        = GuardBytes != 0 ? KeptWidth'(s_ret_left_i > LimitBytesWidth'(GuardBytes)) : KeptWidth'(s_ret_left_i);

  pst_ram_write_first #(
      .Width(KeptWidth), .Depth(Queues), .Style(QueueRamStyle)
  ) u_left (
      .clk_i,
      .we_i(init_q || left_valid_q), .waddr_i(init_q ? init_queue_q : left_queue_q),
      .wdata_i(init_q ? '0 : left),
      .re_i(1'b1), .raddr_i(s_enq_queue_i), .rdata_o(kept)
  );

  // --- the delay line

  frame_t [Judged:1] line_q;
  logic [Judged:1] valid_q;
  logic room_q, judged;

  assign s_enq_ready_o = room_q;

  always_ff @(posedge clk_i) begin
    line_q[1] <= '{queue_id: s_enq_queue_i, desc: s_enq_desc_i, len: s_enq_len_i, reason: s_enq_reason_i};
    for (int k = 2; k <= int'(Judged); k++) line_q[k] <= line_q[k-1];
    valid_q <= rst_i ? '0 : {valid_q[Judged-1:1], s_enq_valid_i && s_enq_ready_o};
  end

  assign m_judge_valid_o   = s_enq_valid_i && s_enq_ready_o && s_enq_reason_i == DropNone;
  assign m_judge_queue_o   = s_enq_queue_i;
  assign m_judge_ect_o     = s_enq_ect_i;
  assign m_judge_backlog_o = {(BacklogWidth / KeptWidth) {kept}};

  // --- frames with their verdict

  judged_t in, out;
  logic out_valid, out_take, drop, page_ready, unused_out_ready;
  logic [$clog2(OutDepth+1)-1:0] out_level;
  logic [$clog2(PageDepth+1)-1:0] unused_page_level;

  assign judged = line_q[Judged].reason == DropNone;

  always_comb begin
    in = '{queue_id: line_q[Judged].queue_id, desc: line_q[Judged].desc, len: line_q[Judged].len, reason: line_q[Judged].reason,
           mark: judged && s_verdict_i == VerdictMark};
    if (judged && s_verdict_i == VerdictDrop) in.reason = DropAqm;
  end

  pst_fifo #(
      .Width($bits(judged_t)), .Depth(OutDepth)
  ) u_out (
      .clk_i, .rst_i,
      .s_valid_i(valid_q[Judged]), .s_ready_o(unused_out_ready), .s_data_i(in),
      .m_valid_o(out_valid), .m_ready_i(out_take), .m_data_o(out),
      .level_o(out_level)
  );

  always_ff @(posedge clk_i) room_q <= !rst_i && !init_q && int'(out_level) <= OutDepth - OutReserve;

  // A dropped frame leaves when its report and its page can.
  assign drop           = out.reason == DropAqm;
  assign m_enq_valid_o  = out_valid && (!drop || page_ready);
  assign out_take       = m_enq_ready_i && (!drop || page_ready);
  assign m_enq_queue_o  = out.queue_id;
  assign m_enq_desc_o   = out.desc;
  assign m_enq_len_o    = out.len;
  assign m_enq_reason_o = out.reason;
  assign m_enq_mark_o   = out.mark;

  pst_fifo #(
      .Width(DescIdWidth), .Depth(PageDepth)
  ) u_pages (
      .clk_i, .rst_i,
      .s_valid_i(out_valid && drop && m_enq_ready_i), .s_ready_o(page_ready), .s_data_i(out.desc),
      .m_valid_o(m_drop_valid_o), .m_ready_i(m_drop_ready_i), .m_data_o(m_drop_desc_o),
      .level_o(unused_page_level)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && valid_q[Judged]) a_out_fifo_has_room : assert (unused_out_ready) else $error("frames overflow behind the AQM");
  end
`endif

endmodule
