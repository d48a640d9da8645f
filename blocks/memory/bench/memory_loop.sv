// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The whole block as a device uses it: top of its tests and of `bench memory`, with one pair of rx and tx handler or with several in front
// of the same memories and page pools. The test bench stands for classify, queue manager and scheduler (it decides in which order what came
// out of an m_enq goes back in at an s_deq, or is dropped at s_drop), and for the memories.
module memory_loop
  import pst_memory_pkg::pages_t;
#(
    parameter int unsigned               Pairs          = 1,
    parameter int unsigned               Queues         = 1024,
    parameter int unsigned               Memories       = 1,
    parameter logic [Memories-1:0][31:0] MemPages       = {Memories{32'd1024}},
    parameter logic [Memories-1:0][31:0] MemPageBytes   = {Memories{32'd2048}},
    parameter logic [Memories-1:0][63:0] MemBytes       = {Memories{64'd2097152}},
    parameter int unsigned               AddrWidth      = 32,
    parameter int unsigned               MaxOutstanding = 32,
    parameter int unsigned               WriteFifoBeats = 32,
    parameter int unsigned               ReadFifoBeats  = 32,
    localparam int unsigned QueueWidth  = Queues > 1 ? $clog2(Queues) : 1,
    localparam int unsigned Descriptors = pst_memory_pkg::desc_base(pages_t'(MemPages), Memories),
    localparam int unsigned DescWidth   = Descriptors > 1 ? $clog2(Descriptors) : 1
) (
    input  logic                                   clk_i,
    input  logic                                   rst_i,
    input  logic [Pairs-1:0]                       s_meta_valid_i,
    output logic [Pairs-1:0]                       s_meta_ready_o,
    input  logic [Pairs-1:0][QueueWidth-1:0]       s_meta_queue_i,
    input  pst_pkg::len_t [Pairs-1:0]              s_meta_len_i,
    input  logic [Pairs-1:0]                       s_data_valid_i,
    output logic [Pairs-1:0]                       s_data_ready_o,
    input  logic [Pairs-1:0][511:0]                s_data_i,
    input  logic [Pairs-1:0]                       s_data_last_i,
    output logic [Pairs-1:0]                       m_enq_valid_o,
    input  logic [Pairs-1:0]                       m_enq_ready_i,
    output logic [Pairs-1:0][QueueWidth-1:0]       m_enq_queue_o,
    output logic [Pairs-1:0][DescWidth-1:0]        m_enq_desc_o,
    output pst_pkg::len_t [Pairs-1:0]              m_enq_len_o,
    output pst_pkg::drop_e [Pairs-1:0]             m_enq_reason_o,
    input  logic                                   s_drop_valid_i,
    output logic                                   s_drop_ready_o,
    input  logic [DescWidth-1:0]                   s_drop_desc_i,
    input  logic [Pairs-1:0]                       s_deq_valid_i,
    output logic [Pairs-1:0]                       s_deq_ready_o,
    input  logic [Pairs-1:0][QueueWidth-1:0]       s_deq_queue_i,
    input  logic [Pairs-1:0][DescWidth-1:0]        s_deq_desc_i,
    input  pst_pkg::len_t [Pairs-1:0]              s_deq_len_i,
    output logic [Pairs-1:0]                       m_axis_tvalid_o,
    input  logic [Pairs-1:0]                       m_axis_tready_i,
    output logic [Pairs-1:0][511:0]                m_axis_tdata_o,
    output logic [Pairs-1:0][63:0]                 m_axis_tkeep_o,
    output logic [Pairs-1:0]                       m_axis_tlast_o,
    output logic [Pairs-1:0]                       m_axis_tuser_o,
    output logic [Pairs-1:0][QueueWidth-1:0]       m_axis_tid_o,
    output pst_axi_pkg::write_req_t [Memories-1:0] m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [Memories-1:0] m_axi_write_i,
    output pst_axi_pkg::read_req_t [Memories-1:0]  m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [Memories-1:0]  m_axi_read_i
);

  // Of each pair.
  logic [Pairs-1:0] req_valid, req_ready, gnt_valid, gnt_ready, gnt_ok;
  pst_pkg::len_t [Pairs-1:0] req_len;
  logic [Pairs-1:0][DescWidth-1:0] gnt_desc;
  logic [Pairs-1:0] rx_free_valid, rx_free_ready, tx_free_valid, tx_free_ready;
  logic [Pairs-1:0][DescWidth-1:0] rx_free_desc, tx_free_desc;

  pst_axi_pkg::write_req_t [Pairs-1:0] write_req;
  pst_axi_pkg::write_rsp_t [Pairs-1:0] write_rsp;
  pst_axi_pkg::read_req_t [Pairs-1:0] read_req;
  pst_axi_pkg::read_rsp_t [Pairs-1:0] read_rsp;

  // At the pools: with several pairs each has a port for what it frees, and drops have one of their own.
  localparam int unsigned FreePorts = Pairs == 1 ? 1 : Pairs + 1;
  logic [FreePorts-1:0] free_valid, free_ready;
  logic [FreePorts-1:0][DescWidth-1:0] free_desc;

  pst_page_pools #(
      .Ports(Pairs),
      .FreePorts(FreePorts),
      .Memories(Memories),
      .MemPages(MemPages),
      .MemPageBytes(MemPageBytes)
  ) u_pools (
      .clk_i,
      .rst_i,
      .s_req_valid_i(req_valid),
      .s_req_ready_o(req_ready),
      .s_req_len_i(req_len),
      .s_req_memories_i('1),
      .m_gnt_valid_o(gnt_valid),
      .m_gnt_ready_i(gnt_ready),
      .m_gnt_ok_o(gnt_ok),
      .m_gnt_desc_o(gnt_desc),
      .s_free_valid_i(free_valid),
      .s_free_ready_o(free_ready),
      .s_free_desc_i(free_desc)
  );

  if (Pairs == 1) begin : g_one
    pst_free_merge #(
        .Ports(3),
        .Width(DescWidth)
    ) u_free (
        .clk_i,
        .rst_i,
        .s_free_valid_i({s_drop_valid_i, rx_free_valid, tx_free_valid}),
        .s_free_ready_o({s_drop_ready_o, rx_free_ready, tx_free_ready}),
        .s_free_desc_i({s_drop_desc_i, rx_free_desc, tx_free_desc}),
        .m_free_valid_o(free_valid),
        .m_free_ready_i(free_ready),
        .m_free_desc_o(free_desc)
    );
  end else begin : g_several
    for (genvar p = 0; p < int'(Pairs); p++) begin : g_free
      pst_free_merge #(
          .Ports(2),
          .Width(DescWidth)
      ) u_free (
          .clk_i,
          .rst_i,
          .s_free_valid_i({rx_free_valid[p], tx_free_valid[p]}),
          .s_free_ready_o({rx_free_ready[p], tx_free_ready[p]}),
          .s_free_desc_i({rx_free_desc[p], tx_free_desc[p]}),
          .m_free_valid_o(free_valid[p]),
          .m_free_ready_i(free_ready[p]),
          .m_free_desc_o(free_desc[p])
      );
    end

    assign free_valid[Pairs] = s_drop_valid_i;
    assign free_desc[Pairs]  = s_drop_desc_i;
    assign s_drop_ready_o    = free_ready[Pairs];
  end

  for (genvar p = 0; p < int'(Pairs); p++) begin : g_pair
    pst_rx_handler #(
        .Queues(Queues),
        .Memories(Memories),
        .MemPages(MemPages),
        .MemPageBytes(MemPageBytes),
        .MemBytes(MemBytes),
        .AddrWidth(AddrWidth),
        .MaxOutstanding(MaxOutstanding)
    ) u_rx (
        .clk_i,
        .rst_i,
        .s_meta_valid_i(s_meta_valid_i[p]),
        .s_meta_ready_o(s_meta_ready_o[p]),
        .s_meta_queue_i(s_meta_queue_i[p]),
        .s_meta_len_i(s_meta_len_i[p]),
        .s_data_valid_i(s_data_valid_i[p]),
        .s_data_ready_o(s_data_ready_o[p]),
        .s_data_i(s_data_i[p]),
        .s_data_last_i(s_data_last_i[p]),
        .m_req_valid_o(req_valid[p]),
        .m_req_ready_i(req_ready[p]),
        .m_req_len_o(req_len[p]),
        .s_gnt_valid_i(gnt_valid[p]),
        .s_gnt_ready_o(gnt_ready[p]),
        .s_gnt_ok_i(gnt_ok[p]),
        .s_gnt_desc_i(gnt_desc[p]),
        .m_axi_write_o(write_req[p]),
        .m_axi_write_i(write_rsp[p]),
        .m_enq_valid_o(m_enq_valid_o[p]),
        .m_enq_ready_i(m_enq_ready_i[p]),
        .m_enq_queue_o(m_enq_queue_o[p]),
        .m_enq_desc_o(m_enq_desc_o[p]),
        .m_enq_len_o(m_enq_len_o[p]),
        .m_enq_reason_o(m_enq_reason_o[p]),
        .m_free_valid_o(rx_free_valid[p]),
        .m_free_ready_i(rx_free_ready[p]),
        .m_free_desc_o(rx_free_desc[p])
    );

    pst_tx_handler #(
        .Queues(Queues),
        .Memories(Memories),
        .MemPages(MemPages),
        .MemPageBytes(MemPageBytes),
        .MemBytes(MemBytes),
        .AddrWidth(AddrWidth),
        .MaxOutstanding(MaxOutstanding)
    ) u_tx (
        .clk_i,
        .rst_i,
        .ev_sent_valid_o(),
        .ev_sent_queue_o(),
        .ev_sent_len_o(),
        .s_deq_valid_i(s_deq_valid_i[p]),
        .s_deq_ready_o(s_deq_ready_o[p]),
        .s_deq_queue_i(s_deq_queue_i[p]),
        .s_deq_desc_i(s_deq_desc_i[p]),
        .s_deq_len_i(s_deq_len_i[p]),
        .m_axi_read_o(read_req[p]),
        .m_axi_read_i(read_rsp[p]),
        .m_axis_tvalid_o(m_axis_tvalid_o[p]),
        .m_axis_tready_i(m_axis_tready_i[p]),
        .m_axis_tdata_o(m_axis_tdata_o[p]),
        .m_axis_tkeep_o(m_axis_tkeep_o[p]),
        .m_axis_tlast_o(m_axis_tlast_o[p]),
        .m_axis_tuser_o(m_axis_tuser_o[p]),
        .m_axis_tid_o(m_axis_tid_o[p]),
        .m_free_valid_o(tx_free_valid[p]),
        .m_free_ready_i(tx_free_ready[p]),
        .m_free_desc_o(tx_free_desc[p])
    );
  end

  pst_shared_fabric #(
      .Pairs(Pairs),
      .Memories(Memories),
      .MemBytes(MemBytes),
      .AddrWidth(AddrWidth),
      .MaxOutstanding(MaxOutstanding),
      .WriteFifoBeats(WriteFifoBeats),
      .ReadFifoBeats(ReadFifoBeats)
  ) u_fabric (
      .clk_i,
      .rst_i,
      .s_axi_write_i(write_req),
      .s_axi_write_o(write_rsp),
      .s_axi_read_i(read_req),
      .s_axi_read_o(read_rsp),
      .m_axi_write_o,
      .m_axi_write_i,
      .m_axi_read_o,
      .m_axi_read_i
  );

endmodule
