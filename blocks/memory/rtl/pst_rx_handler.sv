// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Stores frames in memory: asks for a page, writes the frame to it, and hands the descriptor on when the memory has
// confirmed every write.
//
// Frames leave in the order of arrival, stored or not:
//   DropNone      stored: desc holds the frame
//   DropNoPage    no page held it; the data was swallowed, desc means nothing
//   DropWriteError the memory answered a write with SLVERR or DECERR; the page goes back by m_free, desc means nothing
//
// Throughput: one beat per cycle, one single-beat frame per cycle, as long as MaxOutstanding bursts cover the time from
//             write address to response.
// Latency:    5 cycles from s_meta to the write address (with a grant after one), 1 from the write response to m_enq.
// Reset:      frames inside are forgotten; pages, memory and upstream have to be reset with it.
module pst_rx_handler
  import pst_memory_pkg::pages_t;
#(
    parameter int unsigned                 Queues         = 1024,          // queue ids that travel with the frames, >= 1
    parameter int unsigned                 Memories       = 1,             // 1..32
    parameter logic [Memories-1:0][31:0]   MemPages       = {Memories{32'd1024}},      // pages in each memory, >= 1
    parameter logic [Memories-1:0][31:0]   MemPageBytes   = {Memories{32'd2048}},      // multiples of 64
    parameter logic [Memories-1:0][63:0]   MemBytes       = {Memories{64'd2097152}},   // multiples of 4096, all pages fit in
    parameter int unsigned                 AddrWidth      = 32,            // bits of a byte address of the whole range
    parameter int unsigned                 MaxOutstanding = 32,            // frames, and bursts, under way; >= 2
    localparam int unsigned QueueWidth  = Queues > 1 ? $clog2(Queues) : 1,
    localparam int unsigned Descriptors = pst_memory_pkg::desc_base(pages_t'(MemPages), Memories),
    localparam int unsigned DescWidth   = Descriptors > 1 ? $clog2(Descriptors) : 1,
    localparam int unsigned DataWidth   = pst_memory_pkg::DataWidth
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // frames: queue and length, and the data in the same order
    input  logic                    s_meta_valid_i,
    output logic                    s_meta_ready_o,
    input  logic [QueueWidth-1:0]   s_meta_queue_i,
    input  pst_pkg::len_t           s_meta_len_i,
    input  logic                    s_data_valid_i,
    output logic                    s_data_ready_o,
    input  logic [DataWidth-1:0]    s_data_i,
    input  logic                    s_data_last_i,
    // request for a page, and the grant
    output logic                    m_req_valid_o,
    input  logic                    m_req_ready_i,
    output pst_pkg::len_t           m_req_len_o,
    input  logic                    s_gnt_valid_i,
    output logic                    s_gnt_ready_o,
    input  logic                    s_gnt_ok_i,
    input  logic [DescWidth-1:0]    s_gnt_desc_i,
    // AXI4 write master
    output pst_axi_pkg::write_req_t m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t m_axi_write_i,
    // stored frames, and those that were not, in order of arrival
    output logic                    m_enq_valid_o,
    input  logic                    m_enq_ready_i,
    output logic [QueueWidth-1:0]   m_enq_queue_o,
    output logic [DescWidth-1:0]    m_enq_desc_o,
    output pst_pkg::len_t           m_enq_len_o,
    output pst_pkg::drop_e          m_enq_reason_o,
    // pages of frames that the memory refused
    output logic                    m_free_valid_o,
    input  logic                    m_free_ready_i,
    output logic [DescWidth-1:0]    m_free_desc_o
);

  if (MaxOutstanding < 2) begin : g_bad_outstanding
    $error("pst_rx_handler: MaxOutstanding is %0d, must be at least 2", MaxOutstanding);
  end

  typedef struct packed {
    logic [QueueWidth-1:0] queue_id;
    pst_pkg::len_t         len;
  } meta_t;

  typedef struct packed {
    logic [QueueWidth-1:0] queue_id;
    logic [DescWidth-1:0]  desc;
    pst_pkg::len_t         len;
  } frame_t;

  typedef struct packed {
    logic [AddrWidth-1:0] addr;
    logic [7:0]           len;
  } address_t;

  typedef struct packed {
    logic       ok;    // a burst; otherwise a frame without page
    logic       last;  // of its frame
    logic [7:0] len;   // beats - 1
  } job_t;

  typedef struct packed {
    logic ok;
    logic last;
  } pending_t;

  typedef struct packed {
    frame_t         frame;
    pst_pkg::drop_e reason;
  } enq_t;

  // ---- Page: a request, and the frame's data wait for the grant ----
  meta_t meta;
  logic meta_in_ready, meta_valid, granted, order_ready, split_ready;

  assign m_req_valid_o  = s_meta_valid_i && meta_in_ready;
  assign m_req_len_o    = s_meta_len_i;
  assign s_meta_ready_o = m_req_ready_i && meta_in_ready;

  pst_fifo #(
      .Width($bits(meta_t)),
      .Depth(4)
  ) u_meta (
      .clk_i,
      .rst_i,
      .s_valid_i(s_meta_valid_i && m_req_ready_i),
      .s_ready_o(meta_in_ready),
      .s_data_i({s_meta_queue_i, s_meta_len_i}),
      .m_valid_o(meta_valid),
      .m_ready_i(granted),
      .m_data_o(meta),
      .level_o()
  );

  assign s_gnt_ready_o = meta_valid && order_ready && split_ready;
  assign granted       = s_gnt_valid_i && s_gnt_ready_o;

  // ---- Frames under way, in order of arrival ----
  frame_t frame;
  logic frame_valid, frame_done;

  pst_fifo #(
      .Width($bits(frame_t)),
      .Depth(MaxOutstanding)
  ) u_order (
      .clk_i,
      .rst_i,
      .s_valid_i(granted),
      .s_ready_o(order_ready),
      .s_data_i({meta.queue_id, s_gnt_desc_i, meta.len}),
      .m_valid_o(frame_valid),
      .m_ready_i(frame_done),
      .m_data_o(frame),
      .level_o()
  );

  // ---- Bursts: address, data and response have their own pace; each burst goes to all three at once ----
  logic burst_valid, burst_taken, burst_ok, burst_last;
  address_t burst, address;
  logic address_ready, job_in_ready, pending_ready;

  pst_burst_splitter #(
      .Memories(Memories),
      .MemPages(MemPages),
      .MemPageBytes(MemPageBytes),
      .MemBytes(MemBytes),
      .AddrWidth(AddrWidth)
  ) u_splitter (
      .clk_i,
      .rst_i,
      .s_valid_i(granted),
      .s_ready_o(split_ready),
      .s_ok_i(s_gnt_ok_i),
      .s_desc_i(s_gnt_desc_i),
      .s_len_i(meta.len),
      .m_valid_o(burst_valid),
      .m_ready_i(address_ready && job_in_ready && pending_ready),
      .m_ok_o(burst_ok),
      .m_addr_o(burst.addr),
      .m_len_o(burst.len),
      .m_last_o(burst_last)
  );

  assign burst_taken = burst_valid && address_ready && job_in_ready && pending_ready;

  pst_fifo #(
      .Width($bits(address_t)),
      .Depth(2)
  ) u_address (
      .clk_i,
      .rst_i,
      .s_valid_i(burst_taken && burst_ok),
      .s_ready_o(address_ready),
      .s_data_i(burst),
      .m_valid_o(m_axi_write_o.awvalid),
      .m_ready_i(m_axi_write_i.awready),
      .m_data_o(address),
      .level_o()
  );

  assign m_axi_write_o.awaddr = pst_axi_pkg::addr_t'(address.addr);
  assign m_axi_write_o.awlen  = address.len;

  job_t job;
  logic job_valid, job_done;

  pst_fifo #(
      .Width($bits(job_t)),
      .Depth(4)
  ) u_jobs (
      .clk_i,
      .rst_i,
      .s_valid_i(burst_taken),
      .s_ready_o(job_in_ready),
      .s_data_i({burst_ok, burst_last, burst.len}),
      .m_valid_o(job_valid),
      .m_ready_i(job_done),
      .m_data_o(job),
      .level_o()
  );

  pending_t pending;
  logic pending_valid, pending_done;

  pst_fifo #(
      .Width($bits(pending_t)),
      .Depth(MaxOutstanding)
  ) u_pending (
      .clk_i,
      .rst_i,
      .s_valid_i(burst_taken),
      .s_ready_o(pending_ready),
      .s_data_i({burst_ok, burst_last}),
      .m_valid_o(pending_valid),
      .m_ready_i(pending_done),
      .m_data_o(pending),
      .level_o()
  );

  // ---- Data: whole lines are written, as a page is a multiple of a line; nothing reads behind the frame's end ----
  logic [7:0] beat_d, beat_q;
  logic write_ready, beat_taken, burst_end;

  assign s_data_ready_o = job_valid && (write_ready || !job.ok);
  assign beat_taken     = s_data_valid_i && s_data_ready_o;
  assign burst_end      = job.ok ? beat_q == job.len : s_data_last_i;
  assign job_done       = beat_taken && burst_end;
  assign beat_d         = job_done ? '0 : beat_q + 8'(beat_taken && job.ok);

  pst_skid_buffer #(
      .Width(DataWidth + 1)
  ) u_write (
      .clk_i,
      .rst_i,
      .s_valid_i(s_data_valid_i && job_valid && job.ok),
      .s_ready_o(write_ready),
      .s_data_i({burst_end, s_data_i}),
      .m_valid_o(m_axi_write_o.wvalid),
      .m_ready_i(m_axi_write_i.wready),
      .m_data_o({m_axi_write_o.wlast, m_axi_write_o.wdata})
  );

  assign m_axi_write_o.wstrb = '1;

  // ---- Responses: a frame is done with the response to its last burst ----
  logic enq_ready, refused_ready, answered, failed_d, failed_q, failed;
  enq_t enq, enq_out;

  assign m_axi_write_o.bready = pending_valid && pending.ok && (!pending.last || (enq_ready && refused_ready));
  assign answered             = m_axi_write_o.bready && m_axi_write_i.bvalid;

  always_comb begin
    failed       = pending.ok && (failed_q || m_axi_write_i.bresp >= 2'b10);
    pending_done = answered || (pending_valid && !pending.ok && enq_ready);
    frame_done   = pending_done && pending.last;
    failed_d     = frame_done ? 1'b0 : answered ? failed : failed_q;

    enq.frame    = frame;
    enq.reason   = !pending.ok ? pst_pkg::DropNoPage : failed ? pst_pkg::DropWriteError : pst_pkg::DropNone;
  end

  pst_fifo #(
      .Width($bits(enq_t)),
      .Depth(4)
  ) u_enq (
      .clk_i,
      .rst_i,
      .s_valid_i(frame_done),
      .s_ready_o(enq_ready),
      .s_data_i(enq),
      .m_valid_o(m_enq_valid_o),
      .m_ready_i(m_enq_ready_i),
      .m_data_o(enq_out),
      .level_o()
  );

  assign m_enq_queue_o  = enq_out.frame.queue_id;
  assign m_enq_desc_o   = enq_out.frame.desc;
  assign m_enq_len_o    = enq_out.frame.len;
  assign m_enq_reason_o = enq_out.reason;

  pst_fifo #(
      .Width(DescWidth),
      .Depth(2)
  ) u_refused (
      .clk_i,
      .rst_i,
      .s_valid_i(frame_done && failed),
      .s_ready_o(refused_ready),
      .s_data_i(frame.desc),
      .m_valid_o(m_free_valid_o),
      .m_ready_i(m_free_ready_i),
      .m_data_o(m_free_desc_o),
      .level_o()
  );

  always_ff @(posedge clk_i) begin
    beat_q   <= beat_d;
    failed_q <= failed_d;
    if (rst_i) begin
      beat_q   <= '0;
      failed_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_response_has_a_frame : assert (!frame_done || frame_valid) else $error("pst_rx_handler: a response without its frame");
      a_data_and_length_agree : assert (!(beat_taken && job.ok) || s_data_last_i == (burst_end && job.last))
      else $error("pst_rx_handler: data and length of a frame disagree");
    end
  end
`endif

endmodule
