// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Fetches frames from memory and sends them, in the order of s_deq; frees each page when its last beat has come.
//
// A frame whose first beat the memory answers with SLVERR or DECERR is not sent: in its place comes one beat without bytes (m_axis_tkeep_o is
// 0), with m_axis_tlast_o and m_axis_tuser_o, which the MAC behind it has to take out. After the first beat the frame is half sent:
// it is sent to its end, with m_axis_tuser_o at the last beat, and an Ethernet MAC spoils its FCS. Neither counts as sent.
//
// Throughput: one beat per cycle, one single-beat frame per cycle, as long as MaxOutstanding frames cover the time from
//             read address to data.
// Latency:    4 cycles from s_deq to the read address, 1 from read data to m_axis.
// Reset:      frames inside are forgotten; pages and memory have to be reset with it.
module pst_tx_handler
  import pst_memory_pkg::pages_t, pst_memory_pkg::beats_t;
#(
    parameter int unsigned                 Queues         = 1024,          // queue ids that travel with the frames, >= 1
    parameter int unsigned                 Memories       = 1,             // 1..32
    parameter logic [Memories-1:0][31:0]   MemPages       = {Memories{32'd1024}},      // pages in each memory, >= 1
    parameter logic [Memories-1:0][31:0]   MemPageBytes   = {Memories{32'd2048}},      // multiples of 64
    parameter logic [Memories-1:0][63:0]   MemBytes       = {Memories{64'd2097152}},   // multiples of 4096, all pages fit in
    parameter int unsigned                 AddrWidth      = 32,            // bits of a byte address of the whole range
    parameter int unsigned                 MaxOutstanding = 32,            // frames under way; >= 2
    localparam int unsigned QueueWidth  = Queues > 1 ? $clog2(Queues) : 1,
    localparam int unsigned Descriptors = pst_memory_pkg::desc_base(pages_t'(MemPages), Memories),
    localparam int unsigned DescWidth   = Descriptors > 1 ? $clog2(Descriptors) : 1,
    localparam int unsigned DataBytes   = pst_memory_pkg::DataBytes,
    localparam int unsigned DataWidth   = pst_memory_pkg::DataWidth
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // frames to send; length in bytes, at least 1
    input  logic                   s_deq_valid_i,
    output logic                   s_deq_ready_o,
    input  logic [QueueWidth-1:0]  s_deq_queue_i,
    input  logic [DescWidth-1:0]   s_deq_desc_i,
    input  pst_pkg::len_t          s_deq_len_i,
    // AXI4 read master
    output pst_axi_pkg::read_req_t m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t m_axi_read_i,
    // frames sent; tid is the queue, tuser at the last beat: the memory gave an error while the frame was read; tkeep = 0: it is not sent
    output logic                   m_axis_tvalid_o,
    input  logic                   m_axis_tready_i,
    output logic [DataWidth-1:0]   m_axis_tdata_o,
    output logic [DataBytes-1:0]   m_axis_tkeep_o,
    output logic                   m_axis_tlast_o,
    output logic                   m_axis_tuser_o,
    output logic [QueueWidth-1:0]  m_axis_tid_o,
    // one pulse per frame that is sent whole, with its last beat; its length stands beside every beat
    output logic                   ev_sent_valid_o,
    output logic [QueueWidth-1:0]  ev_sent_queue_o,
    output pst_pkg::len_t          ev_sent_len_o,
    // pages that are free again
    output logic                   m_free_valid_o,
    input  logic                   m_free_ready_i,
    output logic [DescWidth-1:0]   m_free_desc_o
);

  if (MaxOutstanding < 2) begin : g_bad_outstanding
    $error("pst_tx_handler: MaxOutstanding is %0d, must be at least 2", MaxOutstanding);
  end

  localparam int unsigned OffsetWidth = $clog2(DataBytes);

  typedef struct packed {
    logic [QueueWidth-1:0] queue_id;
    logic [DescWidth-1:0]  desc;
    pst_pkg::len_t         len;
  } frame_t;

  typedef struct packed {
    pst_pkg::len_t         len;
    logic [QueueWidth-1:0] queue_id;
    logic                  error;
    logic                  last;
    logic [DataBytes-1:0]  keep;
    logic [DataWidth-1:0]  data;
  } beat_t;

  // ---- Frames under way ----
  frame_t frame;
  logic order_ready, split_ready, frame_valid, frame_done;

  assign s_deq_ready_o = order_ready && split_ready;

  pst_fifo #(
      .Width($bits(frame_t)),
      .Depth(MaxOutstanding)
  ) u_order (
      .clk_i,
      .rst_i,
      .s_valid_i(s_deq_valid_i && split_ready),
      .s_ready_o(order_ready),
      .s_data_i({s_deq_queue_i, s_deq_desc_i, s_deq_len_i}),
      .m_valid_o(frame_valid),
      .m_ready_i(frame_done),
      .m_data_o(frame),
      .level_o()
  );

  // ---- Read addresses ----
  logic burst_valid, burst_ready, unused_ok, unused_last;
  logic [AddrWidth-1:0] burst_addr, address;
  logic [7:0] burst_len;

  pst_burst_splitter #(
      .Memories(Memories),
      .MemPages(MemPages),
      .MemPageBytes(MemPageBytes),
      .MemBytes(MemBytes),
      .AddrWidth(AddrWidth)
  ) u_splitter (
      .clk_i,
      .rst_i,
      .s_valid_i(s_deq_valid_i && order_ready),
      .s_ready_o(split_ready),
      .s_ok_i(1'b1),
      .s_desc_i(s_deq_desc_i),
      .s_len_i(s_deq_len_i),
      .m_valid_o(burst_valid),
      .m_ready_i(burst_ready),
      .m_ok_o(unused_ok),
      .m_addr_o(burst_addr),
      .m_len_o(burst_len),
      .m_last_o(unused_last)
  );

  pst_fifo #(
      .Width(AddrWidth + 8),
      .Depth(2)
  ) u_address (
      .clk_i,
      .rst_i,
      .s_valid_i(burst_valid),
      .s_ready_o(burst_ready),
      .s_data_i({burst_addr, burst_len}),
      .m_valid_o(m_axi_read_o.arvalid),
      .m_ready_i(m_axi_read_i.arready),
      .m_data_o({address, m_axi_read_o.arlen}),
      .level_o()
  );

  assign m_axi_read_o.araddr = pst_axi_pkg::addr_t'(address);

  // ---- Data: the beats of a frame count, not its bursts ----
  beats_t beat_d, beat_q;
  logic failed_d, failed_q, failed, skip, skip_d, skip_q, last, taken, out_ready, freed_ready;
  beat_t beat;

  assign last                = beat_q == pst_memory_pkg::beats(frame.len) - 1'b1;
  assign m_axi_read_o.rready = frame_valid && out_ready && freed_ready;
  assign taken               = m_axi_read_o.rready && m_axi_read_i.rvalid;

  always_comb begin
    failed     = failed_q || m_axi_read_i.rresp >= 2'b10;
    skip       = beat_q == '0 ? m_axi_read_i.rresp >= 2'b10 : skip_q;   // the frame is not sent
    frame_done = taken && last;
    beat_d     = frame_done ? '0 : beat_q + beats_t'(taken);
    failed_d   = frame_done ? 1'b0 : taken ? failed : failed_q;
    skip_d     = taken ? skip : skip_q;

    beat.len      = frame.len;
    beat.queue_id = frame.queue_id;
    beat.error    = last && failed;
    beat.last     = last;
    beat.data     = m_axi_read_i.rdata;
    for (int unsigned k = 0; k < DataBytes; k++) beat.keep[k] = !skip && (!last || OffsetWidth'(k) <= OffsetWidth'(frame.len - 1'b1));
  end

  pst_skid_buffer #(
      .Width($bits(beat_t))
  ) u_out (
      .clk_i,
      .rst_i,
      .s_valid_i(taken && (last || !skip)),
      .s_ready_o(out_ready),
      .s_data_i(beat),
      .m_valid_o(m_axis_tvalid_o),
      .m_ready_i(m_axis_tready_i),
      .m_data_o({ev_sent_len_o, m_axis_tid_o, m_axis_tuser_o, m_axis_tlast_o, m_axis_tkeep_o, m_axis_tdata_o})
  );

  assign ev_sent_valid_o = m_axis_tvalid_o && m_axis_tready_i && m_axis_tlast_o && !m_axis_tuser_o;
  assign ev_sent_queue_o = m_axis_tid_o;

  pst_fifo #(
      .Width(DescWidth),
      .Depth(4)
  ) u_freed (
      .clk_i,
      .rst_i,
      .s_valid_i(frame_done),
      .s_ready_o(freed_ready),
      .s_data_i(frame.desc),
      .m_valid_o(m_free_valid_o),
      .m_ready_i(m_free_ready_i),
      .m_data_o(m_free_desc_o),
      .level_o()
  );

  always_ff @(posedge clk_i) begin
    beat_q   <= beat_d;
    failed_q <= failed_d;
    skip_q   <= skip_d;
    if (rst_i) begin
      beat_q   <= '0;
      failed_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_frame_ends_with_its_burst : assert (!frame_done || m_axi_read_i.rlast) else $error("pst_tx_handler: the frame ends inside a burst");
      a_data_has_a_frame : assert (!m_axi_read_i.rvalid || frame_valid) else $error("pst_tx_handler: read data without a frame");
    end
  end
`endif

endmodule
