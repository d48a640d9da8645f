// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The access edge: frames of known queues come in, wait in external memory, and leave shaped, queue by queue.
//
// Ordering:   FIFO in each queue.
// Throughput: one 64-byte beat per cycle in and out; see the README for packets per second and latency.
// Reset:      forgets every frame, setting and counter. Until init_done_o no frame is taken and settings wait.
// Parameters come from designs/access_edge/configs.yaml through the wrapper that penstock.designs.configs writes.
module pst_access_edge
  import pst_pkg::LenWidth, pst_pkg::len_t, pst_pkg::drop_e, pst_pkg::DropNone, pst_pkg::DropNoPage, pst_pkg::DropTailDropBytes,
      pst_pkg::DropAqm, pst_pkg::DropNoShare, pst_pkg::DropReadError, pst_pkg::DropWriteError, pst_pkg::DropNoSubscriber,
      pst_pkg::DropFlowOverflow,
      pst_pkg::DropLast, pst_pkg::LimitPacketsWidth, pst_pkg::LimitBytesWidth, pst_pkg::aqm_cfg_t, pst_pkg::shaper_cfg_t,
      pst_pkg::AlphaWidth;
  import pst_hierarchy_pkg::class_t, pst_hierarchy_pkg::weight_t, pst_hierarchy_pkg::guarantee_t, pst_hierarchy_pkg::setting_e;
#(
    parameter int unsigned               Queues = 16,                           // >= 2
    parameter int unsigned               Memories = 1,                          // 1..32
    parameter logic [Memories-1:0][31:0] MemPages = {Memories{32'd64}},         // one page holds one frame
    parameter logic [Memories-1:0][31:0] MemPageBytes = {Memories{32'd2048}},   // multiples of 64
    parameter logic [Memories-1:0][63:0] MemBytes = {Memories{64'd131072}},     // multiples of 4096
    parameter int unsigned               AddrWidth = 17,                        // bits of a byte address over all memories
    parameter int unsigned               MaxFrameBytes = 1522,                  // without prefix and FCS
    parameter int unsigned               MinFrameBytes = 14,                    // without prefix and FCS, >= 1
    parameter int unsigned               ClockHz = 220_000_000,                 // for software, Hz
    parameter bit                        Shaping = 1'b1,                        // 0: queues take turns, rates are ignored
    parameter bit                        OwnScheduler = 1'b0,                   // with Shaping = 0: the scheduler in pst_schedule_own
    parameter int unsigned               ToleranceCycles = 1024,                // Shaping: lateness made up for, cycles; below 2^28
    parameter int unsigned               Aqm = 0,                               // AQM: 0 none; judges 1 departures, 2 arrivals
    parameter bit                        AqmEstimate = 1'b0,                    // its delay from backlog and rate, not from time stamps
    parameter int unsigned               TickShift = 8,                         // its ticks are 2^TickShift cycles
    parameter int unsigned               AqmKind = Aqm != 0 ? 3 : 0,            // for software: which one it is (aqm_kind_e)
    parameter int unsigned               AqmGuardBytes = 0,                     // Aqm = 2: see pst_access_edge_arrivals
    parameter bit                        Hierarchy = 1'b0,                      // subscribers, nodes and ports; wants Shaping
    parameter int unsigned               QueuesPerSubscriber = 4,               // Hierarchy: 1, 2, 4 or 8
    parameter int unsigned               Nodes = 2,                             // Hierarchy: power of two, >= 2
    parameter int unsigned               Ports = 2,                             // Hierarchy: power of two, >= 2
    parameter int unsigned               Classes = 4,                           // Hierarchy: 1 .. 8
    parameter int unsigned               GuaranteeCycles = 0,                   // Hierarchy: lateness of guaranteed rates; 0: none
    parameter int unsigned               ShareClasses = 0,                      // classes that share memory, 0: it is not shared; 0..8
    parameter int unsigned               Busiest = 0,                           // places for the busiest queues, 0: no scans; 0..64
    parameter bit                        NodeCounters = 1'b0,                   // counters by node and class; wants Hierarchy
    parameter bit                        Prefix = 1'b1,                         // the queue id is in front of a frame, else in tdest
    parameter int unsigned               FindProfiles = 0,                      // queues are found in headers, by so many profiles; 0..15
    parameter int unsigned               FindEntries = 1024,                    // FindProfiles > 0: places for keys, see pst_lookup
    parameter int unsigned               FindPrefixLevels = 0,                  // FindProfiles > 0: of pst_lookup_prefix; 0: no prefixes
    parameter int unsigned               Flows = 0,                             // flow queues (pst_fq) behind queues; 0: none
    parameter int unsigned               FlowLanes = 2,                         // Flows > 0: lanes, 1, 2 or 4
    parameter int unsigned               FlowAgeCycles = 64,                    // Flows > 0: see pst_access_edge_core
    parameter int unsigned               FlowHostBits = 0,                      // Flows > 0: see pst_access_edge_core
    parameter int unsigned               SettingProfiles = 0,                   // settings by profile (pst_setting_profiles); 0: by queue
    parameter bit                        CounterMemory = 1'b0,                  // the last memory port has the counters by queue
    parameter int unsigned               MaxOutstanding = 64,                   // bursts under way at the memories, >= 2
    parameter string                     QueueRamStyle = "auto",                // per-queue memories, see pst_ram_1r1w
    parameter string                     DescRamStyle = "auto",                 // per-descriptor memories
    localparam int unsigned              MemoryPorts = Memories + 32'(CounterMemory),
    localparam int unsigned              DataBytes = 64,
    localparam int unsigned              DataWidth = 8 * DataBytes
) (
    input  logic                                   clk_i,
    input  logic                                   rst_i,
    // frames in, with Prefix and no FindProfiles each behind its 32-bit queue id; tuser at the last beat, or a hole in tkeep: the frame is damaged
    input  pst_access_edge_ports_pkg::frames_in_t  s_axis_i,
    output pst_axi_pkg::stream_rsp_t               s_axis_o,
    // frames out; one with tuser is counted as lost
    output pst_access_edge_ports_pkg::frames_out_t m_axis_o,
    input  pst_axi_pkg::stream_rsp_t               m_axis_i,
    // packet memories, and behind them that of the counters, AXI4; addresses are local to each memory, one id, responses in order
    output pst_axi_pkg::write_req_t [MemoryPorts-1:0] m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [MemoryPorts-1:0] m_axi_write_i,
    output pst_axi_pkg::read_req_t [MemoryPorts-1:0] m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [MemoryPorts-1:0] m_axi_read_i,
    // registers, AXI4-Lite
    input  pst_axi_pkg::lite_req_t                 s_axil_i,
    output pst_axi_pkg::lite_rsp_t                 s_axil_o,
    // fate of every frame at the input, and of every frame that passed there at its queue
    output pst_access_edge_ports_pkg::classified_t ev_classify_o,
    output pst_access_edge_ports_pkg::fate_t       ev_enqueue_o,
    // with an AQM: every frame that was taken from its queue is sent, marked or not, or dropped at the head
    output pst_access_edge_ports_pkg::dequeued_t   ev_dequeue_o,
    // frames that were taken from their queue and could not be read: not sent at all, or (with the last beat) sent with tuser
    output pst_access_edge_ports_pkg::fate_t       ev_output_o,
    // pulse: a FIFO in front of the device has lost a frame; interrupt, a level
    input  logic                                   overflow_i,
    output logic                                   irq_o,
    // time in cycles
    output logic [31:0]                            now_o,
    output logic                                   init_done_o
);

  localparam int unsigned Descriptors  = pst_memory_pkg::desc_base(pst_memory_pkg::pages_t'(MemPages), Memories);
  localparam logic [63:0] TotalBytes   = pst_memory_pkg::byte_base(pst_memory_pkg::bytes_t'(MemBytes), Memories);
  localparam int unsigned QueueIdWidth = Queues > 1 ? $clog2(Queues) : 1;
  localparam int unsigned DescIdWidth  = Descriptors > 1 ? $clog2(Descriptors) : 1;
  // Room for two of the largest frames with their prefix: one is passed on while the next one comes.
  localparam int unsigned BufferBeats  = 1 << $clog2(2 * ((MaxFrameBytes + 4 + DataBytes - 1) / DataBytes) + 2);
  // With an AQM a bit goes along with the queue id: through the rx handler whether the frame may be marked, through the tx handler whether it is.
  localparam int unsigned TagWidth     = QueueIdWidth + (Aqm != 0 ? 1 : 0);
  localparam int unsigned Tags         = Aqm != 0 ? 2 << QueueIdWidth : Queues;
  // With an admission the rx handler has one more: that a frame without a page had no share of those that there were.
  localparam int unsigned RxTagWidth   = ShareClasses != 0 ? QueueIdWidth + 2 : TagWidth;
  localparam int unsigned RxTags       = ShareClasses != 0 ? 4 << QueueIdWidth : Tags;
  localparam int unsigned EctBit       = Aqm != 0 ? QueueIdWidth : 0;
  localparam int unsigned NoShareBit   = ShareClasses != 0 ? QueueIdWidth + 1 : 0;
  localparam int unsigned ShareSizes   = pst_memory_pkg::page_sizes(pst_memory_pkg::pages_t'(MemPageBytes), Memories);
  // Bursts under way at a memory, in one direction.
  localparam int unsigned CounterSlots = 16;
  localparam int unsigned MostBursts   = CounterMemory && MaxOutstanding < CounterSlots ? CounterSlots : MaxOutstanding;
  localparam int unsigned PacketWidth  = 50;    // 87 days of the smallest frames at 100 Gbit/s
  localparam int unsigned ByteWidth    = 56;    // 66 days at 100 Gbit/s

  if (Queues < 2 || Descriptors < 2) begin : g_bad_size
    $error("pst_access_edge: Queues (%0d) and the pages of all memories (%0d) must be at least 2", Queues, Descriptors);
  end
  if (NodeCounters && !Hierarchy) begin : g_bad_node_counters
    $error("pst_access_edge: NodeCounters wants Hierarchy");
  end
  if (AddrWidth < 64 && ((TotalBytes - 1) >> AddrWidth) != 0) begin : g_bad_addr_width
    $error("pst_access_edge: AddrWidth is %0d, too small for the %0d bytes of the memories", AddrWidth, TotalBytes);
  end

  typedef logic [QueueIdWidth-1:0] queue_id_t;
  typedef logic [DescIdWidth-1:0] desc_id_t;
  typedef logic [TagWidth-1:0] tag_t;
  typedef logic [RxTagWidth-1:0] rx_tag_t;
  typedef logic [PacketWidth-1:0] packets_t;
  typedef logic [ByteWidth-1:0] bytes_t;

  if (FindProfiles != 0 && Prefix) begin : g_bad_find
    $error("pst_access_edge: FindProfiles wants Prefix = 0");
  end

  // ---- initialisation -------------------------------------------------------------------------------------------------

  logic core_init_done, counters_init_done, admission_init_done, node_init_done, find_init_done, profiles_init_done;
  logic init_done_q;

  always_ff @(posedge clk_i) begin
    init_done_q <= core_init_done && counters_init_done && admission_init_done && node_init_done && find_init_done
                   && profiles_init_done;
    if (rst_i) init_done_q <= 1'b0;
  end

  assign init_done_o = init_done_q;

  // ---- input ----------------------------------------------------------------------------------------------------------

  logic meta_valid, meta_ready, data_valid, data_ready, data_last, classify_ready;
  logic hold;    // a register access has waited long: no frame goes on
  queue_id_t meta_queue;
  len_t meta_len;
  logic meta_ect;
  logic [DataWidth-1:0] data;
  drop_e ev_classify_reason;

  // Between the device's outside and what is within: nothing new while the registers want it drained.
  logic open_valid, stop, drained, ready_deq_ready, in_open, counters_busy;
  logic [MemoryPorts-1:0] outstanding;

  assign s_axis_o.tready = in_open && init_done_q;

  // Frames with their queue: as they come, or found in their headers.
  logic [DataWidth-1:0] known_data;
  logic [DataBytes-1:0] known_keep;
  logic known_last, known_user, known_drop, known_valid, known_ready;
  logic [31:0] known_dest;

  logic find_op_ready;
  pst_access_edge_ports_pkg::find_ask_t find_ask;
  pst_access_edge_ports_pkg::find_done_t find_done;
  pst_control_pkg::find_t find, find_shown;

  if (FindProfiles != 0) begin : g_find
    pst_find_queue #(
        .DataBytes(DataBytes), .Profiles(FindProfiles), .Entries(FindEntries), .PrefixLevels(FindPrefixLevels)
    ) u_find (
        .clk_i, .rst_i, .init_done_o(find_init_done),
        .s_axis_tdata_i(s_axis_i.tdata), .s_axis_tkeep_i(s_axis_i.tkeep), .s_axis_tlast_i(s_axis_i.tlast),
        .s_axis_tuser_i(s_axis_i.tuser), .s_axis_tvalid_i(open_valid), .s_axis_tready_o(classify_ready),
        .m_axis_tdata_o(known_data), .m_axis_tkeep_o(known_keep), .m_axis_tlast_o(known_last), .m_axis_tuser_o(known_user),
        .m_axis_tdest_o(known_dest), .m_axis_tdrop_o(known_drop), .m_axis_tvalid_o(known_valid), .m_axis_tready_i(known_ready),
        .set_valid_i(find_ask.set), .set_what_i(find_ask.what), .set_index_i(find_ask.item), .set_value_i(find_ask.value),
        .set_word_i(find_ask.word),
        .s_op_valid_i(find_ask.op_valid), .s_op_ready_o(find_op_ready), .s_op_i(find_ask.op),
        .s_op_key_i(find_ask.word[pst_profile_pkg::KeyWidth-1:0]), .s_op_value_i(pst_profile_pkg::subscriber_t'(find_ask.value)),
        .m_done_valid_o(find_done.valid), .m_done_o(find_done.done), .keys_o(find.keys), .moves_o(find.moves),
        .count_index_i(find_ask.item[7:0]), .count_o(find.count)
    );
    assign find.flow_packets  = '0;    // of others, see find_shown
    assign find.profiles_used = '0;

    always_ff @(posedge clk_i) begin
      if (find_done.valid && find_done.done.done == pst_lookup_pkg::DoneRead) find.read <= find_done.done.value;
      if (rst_i) find.read <= '0;
    end

    logic unused_in_dest;
    assign unused_in_dest = ^s_axis_i.tdest;
  end else begin : g_no_find
    assign known_data      = s_axis_i.tdata;
    assign known_keep      = s_axis_i.tkeep;
    assign known_last      = s_axis_i.tlast;
    assign known_user      = s_axis_i.tuser;
    assign known_dest      = s_axis_i.tdest;
    assign known_drop      = 1'b0;
    assign known_valid     = open_valid;
    assign classify_ready  = known_ready;
    assign find_init_done  = 1'b1;
    assign find_op_ready   = 1'b0;
    assign find_done.valid = 1'b0;
    assign find_done.done  = '{done: pst_lookup_pkg::DoneAdded, value: '0};
    assign find            = '0;

    logic unused_find;
    assign unused_find = ^find_ask;
  end

  pst_classify #(
      .Queues(Queues), .DataBytes(DataBytes), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes), .BufferBeats(BufferBeats),
      .DetectEcn(Aqm != 0), .Prefix(Prefix)
  ) u_classify (
      .clk_i, .rst_i,
      .s_axis_tdata_i(known_data), .s_axis_tkeep_i(known_keep), .s_axis_tlast_i(known_last), .s_axis_tuser_i(known_user),
      .s_axis_tdest_i(known_dest), .s_axis_tdrop_i(known_drop), .s_axis_tvalid_i(known_valid), .s_axis_tready_o(known_ready),
      .m_meta_valid_o(meta_valid), .m_meta_ready_i(meta_ready), .m_meta_queue_o(meta_queue), .m_meta_len_o(meta_len),
      .m_meta_ect_o(meta_ect),
      .m_data_valid_o(data_valid), .m_data_ready_i(data_ready), .m_data_o(data), .m_data_last_o(data_last),
      .ev_valid_o(ev_classify_o.valid), .ev_reason_o(ev_classify_reason), .ev_queue_o(ev_classify_o.queue_),
      .ev_len_o(ev_classify_o.len)
  );

  assign ev_classify_o.reason = ev_classify_reason;

  // ---- pages ----------------------------------------------------------------------------------------------------------

  logic req_valid, req_ready, gnt_valid, gnt_ready, gnt_ok;
  len_t req_len;
  desc_id_t gnt_desc, free_desc;
  logic free_valid, free_ready;
  logic rx_free_valid, rx_free_ready, tx_free_valid, tx_free_ready, drop_valid, drop_ready, head_valid, head_ready;
  desc_id_t rx_free_desc, tx_free_desc, drop_desc, head_desc;

  // Frames that come to the rx handler, and the memories that may give them a page.
  logic rx_in_valid, rx_in_ready, rx_in_ect, rx_in_no_share;
  queue_id_t rx_in_queue;
  len_t rx_in_len;
  logic [Memories-1:0] rx_in_memories;

  // Memories that do not answer any more: none of their pages is given out.
  logic [MemoryPorts-1:0] lost;
  logic [31:0] memory_timeout;

  pst_access_edge_ports_pkg::queue_cfg_t cfg;
  pst_access_edge_ports_pkg::share_cfg_t share_cfg;
  pst_access_edge_ports_pkg::share_t share;
  pst_access_edge_ports_pkg::read_t read;
  pst_access_edge_ports_pkg::ready_t ready;
  pst_access_edge_ports_pkg::share_class_t share_class;
  queue_id_t read_index;
  queue_id_t cfg_queue;

  if (ShareClasses != 0) begin : g_admission
    localparam int unsigned CountWidth = $clog2(Descriptors + 1);
    localparam int unsigned ShareClassWidth = ShareClasses > 1 ? $clog2(ShareClasses) : 1;
    localparam int unsigned ShareSizeWidth = ShareSizes > 1 ? $clog2(ShareSizes) : 1;
    logic [CountWidth-1:0] free_pages, used, in_force;
    logic [ShareClassWidth-1:0] class_look;
    logic class_look_ready, asks_valid, asks_ready;

    pst_hold u_hold_meta (
        .clk_i, .rst_i, .hold_i(hold),
        .s_valid_i(meta_valid), .s_ready_o(meta_ready), .m_valid_o(asks_valid), .m_ready_i(asks_ready)
    );

    pst_page_admission #(
        .Queues(Queues), .Memories(Memories), .MemPages(MemPages), .MemPageBytes(MemPageBytes), .Classes(ShareClasses),
        .QueueRamStyle(QueueRamStyle), .DescRamStyle(DescRamStyle)
    ) u_admission (
        .clk_i, .rst_i,
        .s_meta_valid_i(asks_valid), .s_meta_ready_o(asks_ready), .s_meta_queue_i(meta_queue), .s_meta_len_i(meta_len),
        .s_meta_user_i(meta_ect),
        .m_meta_valid_o(rx_in_valid), .m_meta_ready_i(rx_in_ready), .m_meta_queue_o(rx_in_queue), .m_meta_len_o(rx_in_len),
        .m_meta_user_o(rx_in_ect),
        .m_meta_memories_o(rx_in_memories), .m_meta_no_share_o(rx_in_no_share),
        .given_valid_i(gnt_valid && gnt_ready), .given_ok_i(gnt_ok), .given_desc_i(gnt_desc),
        .free_valid_i(free_valid && free_ready), .free_desc_i(free_desc), .lost_i(lost[Memories-1:0]),
        .cfg_valid_i(cfg.valid && ready.cfg && !ready.cfg_full), .cfg_queue_i(cfg_queue),
        .cfg_class_i(share_cfg.queue_class[ShareClassWidth-1:0]),
        .share_valid_i(share_cfg.valid), .share_class_i(share_cfg.class_[ShareClassWidth-1:0]),
        .share_size_i(share_cfg.size[ShareSizeWidth-1:0]),
        .share_alpha_i(share_cfg.alpha),
        .share_reserved_i(32'(share_cfg.reserved) > Descriptors ? CountWidth'(Descriptors) : CountWidth'(share_cfg.reserved)),
        .s_look_valid_i(read.class_valid && init_done_q), .s_look_ready_o(class_look_ready), .s_look_queue_i(read_index),
        .m_look_valid_o(share_class.valid), .m_look_class_o(class_look),
        .shown_free_o(free_pages), .shown_used_o(used), .shown_reserved_o(in_force),
        .init_done_o(admission_init_done)
    );

    assign ready.class_    = class_look_ready && init_done_q;
    assign share_class.class_    = class_t'(class_look);
    assign share.free     = 32'(free_pages);
    assign share.used     = 32'(used);
    assign share.in_force = 32'(in_force);

    logic unused_widths;
    assign unused_widths = ^{share_cfg.queue_class, share_cfg.class_, share_cfg.size};
  end else begin : g_no_admission
    assign rx_in_valid         = meta_valid;
    assign meta_ready          = rx_in_ready;
    assign rx_in_queue         = meta_queue;
    assign rx_in_len           = meta_len;
    assign rx_in_ect           = meta_ect;
    assign rx_in_memories      = '1;
    assign rx_in_no_share      = 1'b0;
    assign share.free          = '0;
    assign share.used          = '0;
    assign share.in_force      = '0;
    assign admission_init_done = 1'b1;
    assign ready.class_         = 1'b1;
    assign share_class.valid        = 1'b0;
    assign share_class.class_         = '0;

    logic unused_share;
    assign unused_share = ^{read.class_valid, share_cfg};
  end

  // ---- buckets of flows -----------------------------------------------------------------------------------------------

  logic bucket_valid, bucket_ready;
  pst_fq_pkg::hashes_t hashes;

  if (Flows != 0) begin : g_buckets
    pst_access_edge_buckets #(
        .Frames(MaxOutstanding + 8), .Hosts(FlowHostBits != 0)
    ) u_buckets (
        .clk_i, .rst_i,
        .len_valid_i(rx_in_valid && rx_in_ready), .len_i(rx_in_len),
        .beat_valid_i(data_valid && data_ready), .beat_data_i(data), .beat_last_i(data_last),
        .seed_we_i(find_ask.flow_word), .seed_chunk_i(find_ask.item[11:6]), .seed_index_i(find_ask.item[5:0]),
        .seed_word_i(pst_fq_pkg::bucket_t'(find_ask.value)),
        .m_bucket_valid_o(bucket_valid), .m_bucket_ready_i(bucket_ready), .m_hashes_o(hashes)
    );
  end else begin : g_no_buckets
    assign bucket_valid = 1'b1;
    assign hashes       = '0;

    logic unused_buckets;
    assign unused_buckets = ^{bucket_ready, find_ask.flow_word};
  end

  pst_page_pools #(
      .Memories(Memories), .MemPages(MemPages), .MemPageBytes(MemPageBytes)
  ) u_pools (
      .clk_i, .rst_i,
      .s_req_valid_i(req_valid), .s_req_ready_o(req_ready), .s_req_len_i(req_len), .s_req_memories_i(rx_in_memories & ~lost[Memories-1:0]),
      .m_gnt_valid_o(gnt_valid), .m_gnt_ready_i(gnt_ready), .m_gnt_ok_o(gnt_ok), .m_gnt_desc_o(gnt_desc),
      .s_free_valid_i(free_valid), .s_free_ready_o(free_ready), .s_free_desc_i(free_desc)
  );

  // Pages come back from frames that were sent, dropped at the tail, refused by the memory, or dropped by the AQM.
  localparam int unsigned FreePorts = Aqm != 0 ? 4 : 3;
  logic [FreePorts-1:0] frees_valid, frees_ready;
  logic [FreePorts-1:0][DescIdWidth-1:0] frees_desc;

  assign frees_valid[2:0] = {rx_free_valid, drop_valid, tx_free_valid};
  assign frees_desc[2:0]  = {rx_free_desc, drop_desc, tx_free_desc};
  assign {rx_free_ready, drop_ready, tx_free_ready} = frees_ready[2:0];

  if (Aqm != 0) begin : g_free_head
    assign frees_valid[3] = head_valid;
    assign frees_desc[3]  = head_desc;
    assign head_ready     = frees_ready[3];
  end else begin : g_no_free_head
    logic unused_head;
    assign head_ready  = 1'b0;
    assign unused_head = ^{head_valid, head_desc};
  end

  pst_free_merge #(
      .Ports(FreePorts), .Width(DescIdWidth)
  ) u_free (
      .clk_i, .rst_i,
      .s_free_valid_i(frees_valid), .s_free_ready_o(frees_ready), .s_free_desc_i(frees_desc),
      .m_free_valid_o(free_valid), .m_free_ready_i(free_ready), .m_free_desc_o(free_desc)
  );

  // ---- frames to and from the memories --------------------------------------------------------------------------------

  pst_access_edge_ports_pkg::decision_t decision;    // of the core on an arrival
  pst_axi_pkg::write_req_t write_req;
  pst_axi_pkg::write_rsp_t write_rsp;
  pst_axi_pkg::read_req_t read_req;
  pst_axi_pkg::read_rsp_t read_rsp;

  logic enq_valid, enq_ready, deq_valid, deq_ready;
  pst_access_edge_ports_pkg::send_t out;
  queue_id_t enq_queue, deq_queue, tid;
  rx_tag_t enq_tag;
  tag_t tx_tag, sent_tag;
  logic sent, tx_valid, tx_ready, tx_last, tx_user;
  logic [DataWidth-1:0] tx_data;
  logic [DataBytes-1:0] tx_keep;
  len_t sent_len;
  desc_id_t enq_desc, deq_desc;
  len_t enq_len;
  drop_e rx_reason, enq_reason;

  pst_rx_handler #(
      .Queues(RxTags), .Memories(Memories), .MemPages(MemPages), .MemPageBytes(MemPageBytes), .MemBytes(MemBytes),
      .AddrWidth(AddrWidth), .MaxOutstanding(MaxOutstanding)
  ) u_rx (
      .clk_i, .rst_i,
      .s_meta_valid_i(rx_in_valid), .s_meta_ready_o(rx_in_ready), .s_meta_queue_i(RxTagWidth'({rx_in_no_share, rx_in_ect, rx_in_queue})),
      .s_meta_len_i(rx_in_len),
      .s_data_valid_i(data_valid), .s_data_ready_o(data_ready), .s_data_i(data), .s_data_last_i(data_last),
      .m_req_valid_o(req_valid), .m_req_ready_i(req_ready), .m_req_len_o(req_len),
      .s_gnt_valid_i(gnt_valid), .s_gnt_ready_o(gnt_ready), .s_gnt_ok_i(gnt_ok), .s_gnt_desc_i(gnt_desc),
      .m_axi_write_o(write_req), .m_axi_write_i(write_rsp),
      .m_enq_valid_o(enq_valid), .m_enq_ready_i(enq_ready), .m_enq_queue_o(enq_tag), .m_enq_desc_o(enq_desc),
      .m_enq_len_o(enq_len), .m_enq_reason_o(rx_reason),
      .m_free_valid_o(rx_free_valid), .m_free_ready_i(rx_free_ready), .m_free_desc_o(rx_free_desc)
  );

  assign enq_queue  = enq_tag[QueueIdWidth-1:0];
  assign enq_reason = ShareClasses != 0 && rx_reason == DropNoPage && enq_tag[NoShareBit] ? DropNoShare : rx_reason;

  logic unused_sent_mark;
  assign unused_sent_mark = ^sent_tag;

  pst_tx_handler #(
      .Queues(Tags), .Memories(Memories), .MemPages(MemPages), .MemPageBytes(MemPageBytes), .MemBytes(MemBytes),
      .AddrWidth(AddrWidth), .MaxOutstanding(MaxOutstanding)
  ) u_tx (
      .clk_i, .rst_i,
      .s_deq_valid_i(deq_valid), .s_deq_ready_o(deq_ready), .s_deq_queue_i(TagWidth'({out.mark, deq_queue})), .s_deq_desc_i(deq_desc),
      .s_deq_len_i(out.len),
      .m_axi_read_o(read_req), .m_axi_read_i(read_rsp),
      .m_axis_tvalid_o(tx_valid), .m_axis_tready_i(tx_ready), .m_axis_tdata_o(tx_data), .m_axis_tkeep_o(tx_keep),
      .m_axis_tlast_o(tx_last), .m_axis_tuser_o(tx_user), .m_axis_tid_o(tx_tag),
      .ev_sent_valid_o(sent), .ev_sent_queue_o(sent_tag), .ev_sent_len_o(sent_len),
      .m_free_valid_o(tx_free_valid), .m_free_ready_i(tx_free_ready), .m_free_desc_o(tx_free_desc)
  );

  // What comes to the output, each beat with the length of its frame. A beat without bytes stands for a frame that is not sent.
  logic leave_valid, leave_ready, leave_last, leave_user, leave_bytes;
  len_t leave_len;

  if (Aqm != 0) begin : g_mark
    pst_ecn_mark #(
        .UserWidth(LenWidth + 1 + QueueIdWidth)
    ) u_mark (
        .clk_i, .rst_i,
        .s_mark_i(tx_tag[TagWidth-1]),
        .s_axis_tdata_i(tx_data), .s_axis_tkeep_i(tx_keep), .s_axis_tlast_i(tx_last),
        .s_axis_tuser_i({sent_len, tx_user, tx_tag[QueueIdWidth-1:0]}), .s_axis_tvalid_i(tx_valid), .s_axis_tready_o(tx_ready),
        .m_axis_tdata_o(m_axis_o.tdata), .m_axis_tkeep_o(m_axis_o.tkeep), .m_axis_tlast_o(leave_last),
        .m_axis_tuser_o({leave_len, leave_user, tid}),
        .m_axis_tvalid_o(leave_valid), .m_axis_tready_i(leave_ready)
    );
  end else begin : g_no_mark
    assign leave_valid    = tx_valid;
    assign tx_ready       = leave_ready;
    assign m_axis_o.tdata = tx_data;
    assign m_axis_o.tkeep = tx_keep;
    assign leave_last     = tx_last;
    assign leave_user     = tx_user;
    assign leave_len      = sent_len;
    assign tid            = tx_tag[QueueIdWidth-1:0];
  end

  assign leave_bytes     = m_axis_o.tkeep[0];
  assign leave_ready     = m_axis_i.tready || !leave_bytes;
  assign m_axis_o.tvalid = leave_valid && leave_bytes;
  assign m_axis_o.tlast  = leave_last;
  assign m_axis_o.tuser  = leave_user;
  assign m_axis_o.tid    = 32'(tid);
  assign m_axis_o.tdest  = 32'(tid);

  assign ev_output_o.valid  = leave_valid && leave_ready && leave_last && leave_user;
  assign ev_output_o.reason = DropReadError;
  assign ev_output_o.queue_  = 32'(tid);
  assign ev_output_o.len    = 16'(leave_len);
  assign ev_output_o.page   = '0;

  // Between the fabric and the guards, as m_axi; and between the counters and theirs.
  pst_axi_pkg::write_req_t [MemoryPorts-1:0] f_write_req;
  pst_axi_pkg::write_rsp_t [MemoryPorts-1:0] f_write_rsp;
  pst_axi_pkg::read_req_t [MemoryPorts-1:0] f_read_req;
  pst_axi_pkg::read_rsp_t [MemoryPorts-1:0] f_read_rsp;
  pst_axi_pkg::moves_t [MemoryPorts-1:0] moves;

  pst_memory_fabric #(
      .Memories(Memories), .MemBytes(MemBytes), .AddrWidth(AddrWidth), .MaxOutstanding(MaxOutstanding)
  ) u_fabric (
      .clk_i, .rst_i,
      .s_axi_write_i(write_req), .s_axi_write_o(write_rsp), .s_axi_read_i(read_req), .s_axi_read_o(read_rsp),
      .m_axi_write_o(f_write_req[Memories-1:0]), .m_axi_write_i(f_write_rsp[Memories-1:0]),
      .m_axi_read_o(f_read_req[Memories-1:0]), .m_axi_read_i(f_read_rsp[Memories-1:0])
  );

  for (genvar m = 0; m < int'(MemoryPorts); m++) begin : g_guard
    pst_memory_guard #(
        .AddrWidth(AddrWidth), .MaxOutstanding(m < int'(Memories) ? MaxOutstanding : CounterSlots)
    ) u_guard (
        .clk_i, .rst_i,
        .timeout_i(memory_timeout), .lost_o(lost[m]),
        .s_axi_write_i(f_write_req[m]), .s_axi_write_o(f_write_rsp[m]), .s_axi_read_i(f_read_req[m]), .s_axi_read_o(f_read_rsp[m]),
        .m_axi_write_o(m_axi_write_o[m]), .m_axi_write_i(m_axi_write_i[m]), .m_axi_read_o(m_axi_read_o[m]), .m_axi_read_i(m_axi_read_i[m])
    );

    assign moves[m] = '{
        awvalid: m_axi_write_o[m].awvalid, awready: m_axi_write_i[m].awready, wvalid: m_axi_write_o[m].wvalid,
        bvalid: m_axi_write_i[m].bvalid, bready: m_axi_write_o[m].bready, arvalid: m_axi_read_o[m].arvalid,
        arready: m_axi_read_i[m].arready, rvalid: m_axi_read_i[m].rvalid, rready: m_axi_read_o[m].rready, rlast: m_axi_read_i[m].rlast
    };
  end

  // What is under way, from the input to the memories and the line; and the two places where the traffic is stopped to be drained.
  pst_access_edge_drain #(
      .Memories(MemoryPorts), .CounterMemory(CounterMemory), .MaxOutstanding(MostBursts)
  ) u_drain (
      .clk_i, .rst_i, .stop_i(stop),
      .in_valid_i(s_axis_i.tvalid && init_done_q), .in_last_i(s_axis_i.tlast), .in_ready_o(in_open),
      .in_valid_o(open_valid), .in_ready_i(classify_ready),
      .refused_i(ev_classify_o.valid && ev_classify_reason != DropNone),
      .enqueued_i(ev_enqueue_o.valid && decision.reason != DropFlowOverflow),
      .deq_valid_i(out.valid), .deq_ready_o(ready_deq_ready), .deq_valid_o(deq_valid), .deq_ready_i(deq_ready),
      .left_i(leave_valid && leave_ready && leave_last),
      .counting_i(counters_busy), .axi_i(moves),
      .outstanding_o(outstanding), .done_o(drained)
  );

  // ---- queues and scheduler -------------------------------------------------------------------------------------------

  logic core_enq_ready;
  logic [31:0] flow_packets;
  queue_id_t ev_queue, ev_deq_queue;

  pst_access_edge_ports_pkg::hierarchy_cfg_t hierarchy_cfg;
  queue_id_t hierarchy_cfg_id, hierarchy_cfg_parent;
  logic core_hierarchy_cfg_ready;

  logic core_look_ready, ask_look_valid, look_for_control;
  pst_access_edge_ports_pkg::queue_cfg_t core_cfg;
  pst_access_edge_ports_pkg::queue_cfg_rsp_t core_cfg_rsp;
  logic [16:0] profiles_used;
  pst_access_edge_ports_pkg::hierarchy_cfg_t core_hierarchy_cfg;
  pst_access_edge_ports_pkg::look_t core_look;
  pst_access_edge_ports_pkg::verdict_t verdict;
  queue_id_t look_index;
  pst_access_edge_ports_pkg::look_t look;
  pst_access_edge_ports_pkg::back_ask_t back_ask;
  pst_access_edge_ports_pkg::back_t back;
  queue_id_t back_id, back_parent;

  always_comb begin
    find_shown              = find;
    find_shown.flow_packets = flow_packets;
    find_shown.profiles_used = profiles_used;
  end

  // A frame waits for its bucket.
  assign enq_ready           = core_enq_ready && bucket_valid;
  assign bucket_ready        = enq_valid && core_enq_ready;
  assign ready.hierarchy_cfg = core_hierarchy_cfg_ready && init_done_q;
  assign ready.find_op       = find_op_ready;

  // While memories are cleared no setting goes in; with profiles none before it is known which one has it.
  if (SettingProfiles != 0) begin : g_profiles
    localparam int unsigned SettingsWidth = $bits(shaper_cfg_t) + LimitPacketsWidth + LimitBytesWidth + $bits(aqm_cfg_t);
    localparam logic [SettingsWidth-1:0] ResetSettings = {shaper_cfg_t'(1), {(LimitPacketsWidth + LimitBytesWidth){1'b1}}, aqm_cfg_t'(0)};
    logic full, found, fresh, peek;
    logic [15:0] profile;
    aqm_cfg_t aqm;

    assign aqm = Aqm != 0 ? cfg.aqm : '0;

    pst_setting_profiles #(
        .Queues(Queues), .Profiles(SettingProfiles), .Width(SettingsWidth), .ResetWord(ResetSettings), .RamStyle(QueueRamStyle)
    ) u_profiles (
        .clk_i, .rst_i,
        .s_valid_i(cfg.valid && init_done_q), .s_word_i({cfg.shaper, cfg.limit_packets, cfg.limit_bytes, aqm}), .full_o(full),
        .m_valid_o(found), .m_ready_i(core_cfg_rsp.ready), .m_profile_o(profile), .m_fresh_o(fresh), .m_peek_o(peek),
        .old_i(core_cfg_rsp.old),
        .used_o(profiles_used), .init_done_o(profiles_init_done)
    );

    always_comb begin
      core_cfg         = cfg;
      core_cfg.valid   = found;
      core_cfg.profile = profile;
      core_cfg.fresh   = fresh;
      core_cfg.peek    = peek;
    end

    assign ready.cfg      = (found && core_cfg_rsp.ready) || full;
    assign ready.cfg_full = full;
  end else begin : g_own_settings
    always_comb begin
      core_cfg       = cfg;
      core_cfg.valid = cfg.valid && init_done_q;
    end

    assign ready.cfg          = core_cfg_rsp.ready && init_done_q;
    assign ready.cfg_full     = 1'b0;
    assign profiles_used      = '0;
    assign profiles_init_done = 1'b1;

    logic unused_profiles;
    assign unused_profiles = ^core_cfg_rsp.old;
  end

  always_comb begin
    core_hierarchy_cfg       = hierarchy_cfg;
    core_hierarchy_cfg.valid = hierarchy_cfg.valid && init_done_q;
  end

  pst_access_edge_core #(
      .Queues(Queues), .Descriptors(Descriptors), .Shaping(Shaping), .OwnScheduler(OwnScheduler),
      .ToleranceCycles(ToleranceCycles), .Aqm(Aqm),
      .AqmEstimate(AqmEstimate), .TickShift(TickShift), .AqmGuardBytes(AqmGuardBytes), .MaxPacketBytes(MaxFrameBytes),
      .Hierarchy(Hierarchy), .QueuesPerSubscriber(QueuesPerSubscriber), .Nodes(Nodes), .Ports(Ports),
      .Classes(Classes), .GuaranteeCycles(GuaranteeCycles), .Flows(Flows), .FlowLanes(FlowLanes), .FlowAgeCycles(FlowAgeCycles),
      .FlowHostBits(FlowHostBits), .SettingProfiles(SettingProfiles), .QueueRamStyle(QueueRamStyle), .DescRamStyle(DescRamStyle)
  ) u_core (
      .clk_i, .rst_i,
      .s_enq_i('{
          valid: enq_valid && bucket_valid, len: enq_len, reason: enq_reason, ect: Aqm != 0 && enq_tag[EctBit], hashes: hashes
      }),
      .s_enq_ready_o(core_enq_ready),
      .s_enq_queue_i(enq_queue), .s_enq_desc_i(enq_desc),
      .m_out_o(out), .m_out_ready_i(ready_deq_ready), .m_out_queue_o(deq_queue), .m_out_desc_o(deq_desc),
      .m_drop_valid_o(drop_valid), .m_drop_ready_i(drop_ready), .m_drop_desc_o(drop_desc),
      .m_drop_head_valid_o(head_valid), .m_drop_head_ready_i(head_ready), .m_drop_head_desc_o(head_desc),
      .ev_o(decision), .ev_queue_o(ev_queue), .ev_deq_o(verdict), .ev_deq_queue_o(ev_deq_queue),
      .s_cfg_i(core_cfg), .s_cfg_o(core_cfg_rsp), .s_cfg_queue_i(cfg_queue),
      .s_look_valid_i(ask_look_valid && init_done_q), .s_look_ready_o(core_look_ready), .s_look_queue_i(look_index), .m_look_o(core_look),
      .s_read_i('{valid: back_ask.valid && init_done_q, what: back_ask.what}), .s_read_id_i(back_id),
      .m_read_o(back), .m_read_parent_o(back_parent),
      .s_hierarchy_cfg_i(core_hierarchy_cfg), .s_hierarchy_cfg_ready_o(core_hierarchy_cfg_ready),
      .s_hierarchy_cfg_id_i(hierarchy_cfg_id), .s_hierarchy_cfg_parent_i(hierarchy_cfg_parent),
      .flow_limit_i(find_ask.flow_limit), .flow_packets_o(flow_packets),
      .hold_i(hold), .now_o, .init_done_o(core_init_done)
  );

  assign ev_enqueue_o = '{
      valid: decision.valid, reason: decision.reason, queue_: 32'(ev_queue), len: 16'(decision.len), page: 32'(decision.page)
  };
  assign ev_dequeue_o = '{
      valid: verdict.valid, reason: verdict.reason, mark: verdict.mark, queue_: 32'(ev_deq_queue), len: 16'(verdict.len),
      page: 32'(verdict.page)
  };

  // What a look finds goes to who has asked for it.
  always_comb begin
    look       = core_look;
    look.valid = look_for_control;
  end

  // ---- counters -------------------------------------------------------------------------------------------------------

  logic read_out_ready, read_others_ready, out_valid, others_valid;
  packets_t in_packets, out_packets, drop_packets;
  bytes_t in_bytes, out_bytes, drop_bytes;
  logic [DropLast:1][PacketWidth-1:0] dropped_packets;
  logic [DropLast:1][ByteWidth-1:0] dropped_bytes;
  packets_t aqm_packets, mark_packets, marked_packets;
  bytes_t aqm_bytes;
  logic counters_wrong, counters_wait;
  pst_axi_pkg::write_req_t counters_write_req;
  pst_axi_pkg::write_rsp_t counters_write_rsp;
  pst_axi_pkg::read_req_t counters_read_req;
  pst_axi_pkg::read_rsp_t counters_read_rsp;

  if (CounterMemory) begin : g_counter_memory
    assign f_write_req[MemoryPorts-1] = counters_write_req;
    assign f_read_req[MemoryPorts-1]  = counters_read_req;
    assign counters_write_rsp         = f_write_rsp[MemoryPorts-1];
    assign counters_read_rsp          = f_read_rsp[MemoryPorts-1];
  end else begin : g_no_counter_memory
    assign counters_write_rsp = '0;
    assign counters_read_rsp  = '0;

    logic unused_counters;
    assign unused_counters = ^{counters_write_req, counters_read_req};
  end

  // The scan for the busiest queues stands between pst_control and what it reads.
  logic ask_out_valid, ask_out_ready, out_for_control;
  pst_access_edge_ports_pkg::scan_ask_t scan_ask;
  pst_control_pkg::scan_t scan;
  queue_id_t out_index;

  pst_access_edge_scan #(
      .Queues(Queues), .Busiest(Busiest), .ByteWidth(ByteWidth), .ValueWidth(pst_control_pkg::ScanWidth), .RamStyle(QueueRamStyle)
  ) u_scan (
      .clk_i, .rst_i,
      .s_start_valid_i(scan_ask.valid), .s_start_level_i(scan_ask.level), .show_i(scan_ask.show),
      .busy_o(scan.busy), .level_o(scan.level), .number_o(scan.number), .window_o(scan.window), .shown_queue_o(scan.queue_id),
      .shown_value_o(scan.value),
      .s_index_i(read_index),
      .s_out_valid_i(read.out_valid && !read.node), .s_out_ready_o(read_out_ready), .m_out_valid_o(out_for_control),
      .s_look_valid_i(read.look_valid), .s_look_ready_o(ready.look), .m_look_valid_o(look_for_control),
      .m_out_index_o(out_index), .m_read_out_valid_o(ask_out_valid), .m_read_out_ready_i(ask_out_ready),
      .s_answer_out_valid_i(out_valid), .s_answer_out_bytes_i(out_bytes),
      .m_look_index_o(look_index), .m_ask_look_valid_o(ask_look_valid), .m_ask_look_ready_i(core_look_ready && init_done_q),
      .s_answer_look_valid_i(core_look.valid), .s_answer_look_bytes_i(core_look.bytes)
  );

  // Counters by node and class. pst_control reads those of a queue or these, one at a time.
  localparam int unsigned PlaceWidth = $clog2(Nodes) + (Classes > 1 ? $clog2(Classes) : 1);
  logic node_left_ready, node_left_valid, node_others_ready, node_others_valid;
  logic [PlaceWidth-1:0] read_place;
  packets_t node_left_packets, node_in_packets, node_drop_packets, node_aqm_packets, node_mark_packets;
  bytes_t node_left_bytes, node_in_bytes, node_drop_bytes, node_aqm_bytes;

  if (NodeCounters) begin : g_nodes
    pst_access_edge_nodes #(
        .Queues(Queues), .QueuesPerSubscriber(QueuesPerSubscriber), .Nodes(Nodes), .Classes(Classes), .Aqm(Aqm),
        .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .RamStyle(QueueRamStyle)
    ) u_nodes (
        .clk_i, .rst_i,
        .cfg_valid_i(hierarchy_cfg.valid && ready.hierarchy_cfg), .cfg_what_i(hierarchy_cfg.what), .cfg_id_i(hierarchy_cfg_id),
        .cfg_parent_i(hierarchy_cfg_parent), .cfg_class_i(hierarchy_cfg.class_),
        .ev_come_valid_i(ev_enqueue_o.valid), .ev_come_reason_i(decision.reason), .ev_come_queue_i(ev_queue), .ev_come_len_i(decision.len),
        .ev_left_valid_i(sent), .ev_left_queue_i(sent_tag[QueueIdWidth-1:0]), .ev_left_len_i(sent_len),
        .ev_judged_valid_i(Aqm != 0 && ev_dequeue_o.valid), .ev_judged_reason_i(verdict.reason), .ev_judged_mark_i(ev_dequeue_o.mark),
        .ev_judged_queue_i(ev_deq_queue), .ev_judged_len_i(verdict.len),
        .s_read_place_i(read_place),
        .s_read_left_valid_i(read.out_valid && read.node), .s_read_left_ready_o(node_left_ready),
        .s_read_others_valid_i(read.in_drop_valid && read.node), .s_read_others_ready_o(node_others_ready),
        .m_left_valid_o(node_left_valid), .m_left_packets_o(node_left_packets), .m_left_bytes_o(node_left_bytes),
        .m_others_valid_o(node_others_valid), .m_in_packets_o(node_in_packets), .m_in_bytes_o(node_in_bytes),
        .m_drop_packets_o(node_drop_packets), .m_drop_bytes_o(node_drop_bytes),
        .m_aqm_packets_o(node_aqm_packets), .m_aqm_bytes_o(node_aqm_bytes), .m_mark_packets_o(node_mark_packets),
        .init_done_o(node_init_done)
    );
  end else begin : g_no_nodes
    assign node_left_ready   = 1'b0;
    assign node_left_valid   = 1'b0;
    assign node_left_packets = '0;
    assign node_left_bytes   = '0;
    assign node_others_ready = 1'b0;
    assign node_others_valid = 1'b0;
    assign node_in_packets   = '0;
    assign node_in_bytes     = '0;
    assign node_drop_packets = '0;
    assign node_drop_bytes   = '0;
    assign node_aqm_packets  = '0;
    assign node_aqm_bytes    = '0;
    assign node_mark_packets = '0;
    assign node_init_done    = 1'b1;

    logic unused_place;
    assign unused_place = ^read_place;
  end

  pst_access_edge_counters #(
      .Queues(Queues), .Aqm(Aqm), .Folded(CounterMemory), .MaxFrameBytes(MaxFrameBytes), .Slots(CounterSlots),
      .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .AddrWidth(AddrWidth),
      .RamStyle(QueueRamStyle)
  ) u_counters (
      .clk_i, .rst_i,
      .ev_come_valid_i(ev_enqueue_o.valid), .ev_come_reason_i(decision.reason), .ev_come_queue_i(ev_queue),
      .ev_come_len_i(16'(decision.len)),
      .ev_left_valid_i(sent), .ev_left_queue_i(sent_tag[QueueIdWidth-1:0]), .ev_left_len_i(16'(sent_len)),
      .ev_judged_valid_i(Aqm != 0 && ev_dequeue_o.valid), .ev_judged_reason_i(verdict.reason), .ev_judged_mark_i(ev_dequeue_o.mark),
      .ev_judged_queue_i(ev_deq_queue), .ev_judged_len_i(16'(verdict.len)),
      .s_out_valid_i(ask_out_valid), .s_out_ready_o(ask_out_ready), .s_out_index_i(out_index),
      .s_others_valid_i(read.in_drop_valid && !read.node), .s_others_ready_o(read_others_ready), .s_others_index_i(read_index),
      .m_out_valid_o(out_valid), .m_out_packets_o(out_packets), .m_out_bytes_o(out_bytes),
      .m_others_valid_o(others_valid), .m_in_packets_o(in_packets), .m_in_bytes_o(in_bytes),
      .m_drop_packets_o(drop_packets), .m_drop_bytes_o(drop_bytes), .m_aqm_packets_o(aqm_packets), .m_aqm_bytes_o(aqm_bytes),
      .m_mark_packets_o(mark_packets),
      .m_axi_write_o(counters_write_req), .m_axi_write_i(counters_write_rsp),
      .m_axi_read_o(counters_read_req), .m_axi_read_i(counters_read_rsp),
      .wrong_o(counters_wrong), .memory_o(counters_wait), .busy_o(counters_busy), .init_done_o(counters_init_done)
  );

  // Frames that were marked, of all queues.
  if (Aqm != 0) begin : g_marked
    packets_t marked_q;

    always_ff @(posedge clk_i) begin
      marked_q <= marked_q + packets_t'(ev_dequeue_o.valid && ev_dequeue_o.mark);
      if (rst_i) marked_q <= '0;
    end

    assign marked_packets = marked_q;
  end else begin : g_no_marked
    assign marked_packets = '0;
  end

  localparam logic [15:0] Counted = (16'd2 << DropTailDropBytes) - 16'd1 | 16'(Aqm != 0) << DropAqm | 16'(ShareClasses != 0) << DropNoShare
                                    | 16'd1 << DropReadError | 16'd1 << DropWriteError | 16'(FindProfiles != 0) << DropNoSubscriber
                                    | 16'(Flows != 0) << DropFlowOverflow;

  pst_drop_counters #(
      .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .Reasons(DropLast), .Counted(Counted)
  ) u_dropped (
      .clk_i, .rst_i,
      .ev_a_valid_i(ev_classify_o.valid), .ev_a_reason_i(ev_classify_reason), .ev_a_len_i(ev_classify_o.len),
      .ev_b_valid_i(ev_enqueue_o.valid), .ev_b_reason_i(decision.reason), .ev_b_len_i(16'(decision.len)),
      .ev_c_valid_i(ev_dequeue_o.valid), .ev_c_reason_i(verdict.reason), .ev_c_len_i(16'(verdict.len)),
      .ev_d_valid_i(ev_output_o.valid), .ev_d_reason_i(DropReadError), .ev_d_len_i(ev_output_o.len),
      .packets_o(dropped_packets), .bytes_o(dropped_bytes)
  );

  // Frames lost in the cycle before, for any reason.
  logic [2:0] lost_frames_q;

  always_ff @(posedge clk_i) begin
    lost_frames_q <= 3'(ev_classify_o.valid && ev_classify_reason != DropNone) + 3'(ev_enqueue_o.valid && decision.reason != DropNone)
                     + 3'(ev_dequeue_o.valid && verdict.reason != DropNone) + 3'(ev_output_o.valid);
    if (rst_i) lost_frames_q <= '0;
  end

  // ---- registers ------------------------------------------------------------------------------------------------------

  // Counters of a queue, or those by node and class.
  pst_access_edge_ports_pkg::counts_t counts;

  assign ready.out     = read.node ? node_left_ready : read_out_ready;
  assign ready.in_drop = read.node ? node_others_ready : read_others_ready;

  always_comb begin
    counts = '{
        out_valid: out_for_control || node_left_valid, out_packets: out_packets, out_bytes: out_bytes,
        in_drop_valid: others_valid || node_others_valid, in_packets: in_packets, in_bytes: in_bytes,
        drop_packets: drop_packets, drop_bytes: drop_bytes, aqm_packets: aqm_packets, aqm_bytes: aqm_bytes, mark_packets: mark_packets,
        waits: counters_wait, wrong: counters_wrong
    };
    if (read.node) begin
      counts.out_packets  = node_left_packets;
      counts.out_bytes    = node_left_bytes;
      counts.in_packets   = node_in_packets;
      counts.in_bytes     = node_in_bytes;
      counts.drop_packets = node_drop_packets;
      counts.drop_bytes   = node_drop_bytes;
      counts.aqm_packets  = node_aqm_packets;
      counts.aqm_bytes    = node_aqm_bytes;
      counts.mark_packets = node_mark_packets;
    end
  end

  pst_control #(
      .Queues(Queues), .Descriptors(Descriptors), .Memories(Memories), .CounterMemory(CounterMemory), .MaxFrameBytes(MaxFrameBytes),
      .ClockHz(ClockHz), .Shaping(Shaping), .AqmKind(AqmKind), .AqmEstimate(AqmEstimate), .TickShift(TickShift), .Hierarchy(Hierarchy),
      .QueuesPerSubscriber(QueuesPerSubscriber), .Nodes(Nodes), .Ports(Ports), .Classes(Classes), .ShareClasses(ShareClasses),
      .ShareSizes(ShareSizes), .Busiest(Busiest), .NodeCounters(NodeCounters), .Guarantees(GuaranteeCycles != 0),
      .FindProfiles(FindProfiles), .FindEntries(FindEntries), .FindPrefixLevels(FindPrefixLevels), .Flows(Flows),
      .FlowHostBits(FlowHostBits), .SettingProfiles(SettingProfiles), .PacketWidth(PacketWidth), .ByteWidth(ByteWidth)
  ) u_control (
      .clk_i, .rst_i,
      .s_axil_i, .s_axil_o,
      .m_cfg_o(cfg), .m_cfg_queue_o(cfg_queue), .m_share_o(share_cfg), .s_share_i(share),
      .m_hierarchy_cfg_o(hierarchy_cfg), .m_hierarchy_cfg_id_o(hierarchy_cfg_id), .m_hierarchy_cfg_parent_o(hierarchy_cfg_parent),
      .m_read_o(read), .m_read_index_o(read_index), .m_read_place_o(read_place), .s_counts_i(counts), .s_look_i(look),
      .s_class_i(share_class), .ready_i(ready),
      .m_back_o(back_ask), .m_back_id_o(back_id), .s_back_i(back), .s_back_parent_i(back_parent),
      .m_scan_o(scan_ask), .s_scan_i(scan), .m_find_o(find_ask), .s_find_done_i(find_done), .s_find_i(find_shown),
      .dropped_packets_i(dropped_packets), .dropped_bytes_i(dropped_bytes), .marked_packets_i(marked_packets),
      .memory_timeout_o(memory_timeout), .memory_lost_i(lost), .hold_o(hold),
      .drain_stop_o(stop), .drain_done_i(drained), .drain_outstanding_i(outstanding),
      .overflow_i, .lost_frames_i(lost_frames_q), .irq_o,
      .init_done_i(init_done_q)
  );

endmodule
