// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The deadline port: frames of up to 256 classes, each with a deadline, wait in memory and leave by deadline; what has missed its own does not.
//
//   s_axis ─► class, deadline ─► chunks ─► memories ─► by deadline ─► m_axis          blocks/deadline (pst_edfr)
//                  ▲                           │              │
//   s_axil ─► control ◄── counters ◄───────────┴─ events ─────┘
//
// Ordering:   FIFO in each class; by deadline among the heads of the classes. With PlainFifo as they came, all of them.
// Throughput: one 64-byte beat per cycle in and out.
// Reset:      forgets every frame, setting and counter; the memories have to be reset with it. Until init_done_o no frame is taken.
// Parameters come from designs/deadline_port/configs.yaml through the wrapper that penstock.designs.configs writes.
module pst_deadline_port
  import pst_deadline_pkg::time_t, pst_deadline_pkg::fate_e, pst_deadline_pkg::FateTaken, pst_deadline_pkg::FateLength;
  import pst_deadline_port_drop_pkg::*;
#(
    parameter int unsigned Classes       = 64,           // 2..256
    parameter bit          ClassFromUser = 1'b0,         // s_axis_tuser has the class; else a table says which one a DSCP has
    parameter bit          PlainFifo     = 1'b0,         // all frames wait in one FIFO, deadlines do not count
    parameter int unsigned ChunkBeats    = 64,           // beats of 64 byte of a chunk: 8, 16, 32, 64
    parameter int unsigned Memories      = 1,            // 1, 2, 4
    parameter int unsigned Chunks        = 4096,         // in all memories, a power of two up to 2^20
    parameter int unsigned Places        = 4,            // chunks of a class on the head side: 2, 4, 8, 16
    parameter int unsigned Lines         = 16,           // headers of a class at hand: 4, 8, 16, 32, 64
    parameter int unsigned Reads         = 16,           // chunks on their way from memory, 2..64
    parameter int unsigned Writes        = 16,           // chunks on their way to memory, 2..64
    parameter int unsigned Decided       = 4,            // frames between decision and data, 2..64
    parameter int unsigned MinFrameBytes = 60,           // >= 8
    parameter int unsigned MaxFrameBytes = 1522,         // 64..16383, and Places chunks hold it
    parameter int unsigned StoreBeats    = 512,          // of frames whose end has not come, a power of two
    parameter int unsigned TickCycles    = 3662,         // between two time stamps of a class; 2 * Classes and more
    parameter int unsigned Stamps        = 64,           // time stamps of each class, 2..65535
    parameter int unsigned DefaultCycles = 100000,       // deadline of a class that was not set, below 2^30
    parameter int unsigned ClockHz       = 300_000_000,  // for software, Hz
    localparam int unsigned DataBytes = 64,
    localparam int unsigned DataWidth = 8 * DataBytes,
    localparam int unsigned AddrWidth = $clog2(Chunks * ChunkBeats) + 6
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    // frames in; tuser: class (at the first beat, with ClassFromUser), 16 bits that come out with the frame (at the last beat), and at the
    // last beat: the frame is damaged
    input  logic [DataWidth-1:0]               s_axis_tdata_i,
    input  logic [DataBytes-1:0]               s_axis_tkeep_i,
    input  logic                               s_axis_tlast_i,
    input  logic [24:0]                        s_axis_tuser_i,
    input  logic                               s_axis_tvalid_i,
    output logic                               s_axis_tready_o,
    // frames out; tid is the class, tuser what came with the frame; with PlainFifo the upper 8 of its bits are 0
    output logic [DataWidth-1:0]               m_axis_tdata_o,
    output logic [DataBytes-1:0]               m_axis_tkeep_o,
    output logic                               m_axis_tlast_o,
    output logic [15:0]                        m_axis_tuser_o,
    output logic [7:0]                         m_axis_tid_o,
    output logic                               m_axis_tvalid_o,
    input  logic                               m_axis_tready_i,
    // packet memories, AXI4; addresses are local to each memory, one id, responses in order
    output logic [Memories-1:0]                m_axi_awvalid_o,
    input  logic [Memories-1:0]                m_axi_awready_i,
    output logic [Memories-1:0][AddrWidth-1:0] m_axi_awaddr_o,
    output logic [Memories-1:0][7:0]           m_axi_awlen_o,
    output logic [Memories-1:0]                m_axi_awid_o,
    output logic [Memories-1:0][2:0]           m_axi_awsize_o,
    output logic [Memories-1:0][1:0]           m_axi_awburst_o,
    output logic [Memories-1:0]                m_axi_awlock_o,
    output logic [Memories-1:0][3:0]           m_axi_awcache_o,
    output logic [Memories-1:0][2:0]           m_axi_awprot_o,
    output logic [Memories-1:0]                m_axi_wvalid_o,
    input  logic [Memories-1:0]                m_axi_wready_i,
    output logic [Memories-1:0][DataWidth-1:0] m_axi_wdata_o,
    output logic [Memories-1:0][DataBytes-1:0] m_axi_wstrb_o,
    output logic [Memories-1:0]                m_axi_wlast_o,
    input  logic [Memories-1:0]                m_axi_bvalid_i,
    output logic [Memories-1:0]                m_axi_bready_o,
    input  logic [Memories-1:0][1:0]           m_axi_bresp_i,
    input  logic [Memories-1:0]                m_axi_bid_i,
    output logic [Memories-1:0]                m_axi_arvalid_o,
    input  logic [Memories-1:0]                m_axi_arready_i,
    output logic [Memories-1:0][AddrWidth-1:0] m_axi_araddr_o,
    output logic [Memories-1:0][7:0]           m_axi_arlen_o,
    output logic [Memories-1:0]                m_axi_arid_o,
    output logic [Memories-1:0][2:0]           m_axi_arsize_o,
    output logic [Memories-1:0][1:0]           m_axi_arburst_o,
    output logic [Memories-1:0]                m_axi_arlock_o,
    output logic [Memories-1:0][3:0]           m_axi_arcache_o,
    output logic [Memories-1:0][2:0]           m_axi_arprot_o,
    input  logic [Memories-1:0]                m_axi_rvalid_i,
    output logic [Memories-1:0]                m_axi_rready_o,
    input  logic [Memories-1:0][DataWidth-1:0] m_axi_rdata_i,
    input  logic [Memories-1:0][1:0]           m_axi_rresp_i,
    input  logic [Memories-1:0]                m_axi_rlast_i,
    input  logic [Memories-1:0]                m_axi_rid_i,
    // registers, AXI4-Lite
    input  logic                               s_axil_awvalid_i,
    output logic                               s_axil_awready_o,
    input  logic [11:0]                        s_axil_awaddr_i,
    input  logic [2:0]                         s_axil_awprot_i,
    input  logic                               s_axil_wvalid_i,
    output logic                               s_axil_wready_o,
    input  logic [31:0]                        s_axil_wdata_i,
    input  logic [3:0]                         s_axil_wstrb_i,
    output logic                               s_axil_bvalid_o,
    input  logic                               s_axil_bready_i,
    output logic [1:0]                         s_axil_bresp_o,
    input  logic                               s_axil_arvalid_i,
    output logic                               s_axil_arready_o,
    input  logic [11:0]                        s_axil_araddr_i,
    input  logic [2:0]                         s_axil_arprot_i,
    output logic                               s_axil_rvalid_o,
    input  logic                               s_axil_rready_i,
    output logic [31:0]                        s_axil_rdata_o,
    output logic [1:0]                         s_axil_rresp_o,
    // frames that were refused at the input: damaged, too short, too long
    output logic                               ev_in_valid_o,
    output logic [3:0]                         ev_in_reason_o,
    output logic [7:0]                         ev_in_class_o,
    output logic [31:0]                        ev_in_len_o,
    // all others, in the order in which they came: taken, with their deadline, or dropped for want of memory
    output logic                               ev_fate_valid_o,
    output logic [3:0]                         ev_fate_reason_o,
    output logic [7:0]                         ev_fate_class_o,
    output logic [15:0]                        ev_fate_len_o,
    output logic [31:0]                        ev_fate_deadline_o,
    // frames that missed their deadline: found when they came to the head; by the last check
    output logic                               ev_expired_valid_o,
    output logic [7:0]                         ev_expired_class_o,
    output logic [15:0]                        ev_expired_len_o,
    output logic [15:0]                        ev_expired_user_o,
    output logic                               ev_late_valid_o,
    output logic [7:0]                         ev_late_class_o,
    output logic [15:0]                        ev_late_len_o,
    output logic [15:0]                        ev_late_user_o,
    // frames of a class that were skipped as their deadline was over, or were lost by a memory error; with PlainFifo of any class
    output logic                               ev_passed_valid_o,
    output logic                               ev_passed_lost_o,
    output logic [7:0]                         ev_passed_class_o,
    output logic [31:0]                        ev_passed_frames_o,
    output logic [39:0]                        ev_passed_bytes_o,
    // pulse: a FIFO in front of the device has lost a frame; interrupt, a level
    input  logic                               overflow_i,
    output logic                               irq_o,
    // state
    output logic [31:0]                        now_o,           // this cycle's number: deadlines are on this clock; 0 with PlainFifo
    output logic                               init_done_o
);

  localparam int unsigned ClassWidth  = $clog2(Classes);
  localparam int unsigned Inner       = PlainFifo ? 2 : Classes;    // classes of pst_edfr
  localparam int unsigned InnerWidth  = $clog2(Inner);
  localparam int unsigned CountWidth  = $clog2(Chunks + 1);
  localparam int unsigned MemoryBits  = AddrWidth - $clog2(Memories);
  localparam int unsigned FrameWidth  = 50;
  localparam int unsigned ByteWidth   = 56;

  if (Chunks != 2 ** $clog2(Chunks)) begin : g_bad_chunks
    $error("pst_deadline_port: Chunks is %0d, must be a power of two", Chunks);
  end
  if (!ClassFromUser && Classes > 64) begin : g_bad_classes
    $error("pst_deadline_port: Classes is %0d, but DSCP has 64 values", Classes);
  end

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [InnerWidth-1:0] inner_t;

  // ---- Frames in ----
  logic in_valid, in_ready, in_last, in_bad, init_q;
  logic [DataWidth-1:0] in_data;
  logic [6:0] in_bytes_last;
  logic [7:0] in_class;
  logic [15:0] in_user;
  logic known;

  function automatic logic [6:0] count_ones(logic [DataBytes-1:0] keep);
    count_ones = '0;
    for (int unsigned i = 0; i < DataBytes; i++) count_ones += 7'(keep[i]);
  endfunction

  // A frame of a class that there is not goes as a damaged one of class 0. Its first beat says so; what stands beside the others is no class.
  if (ClassFromUser) begin : g_known
    logic first_q, known_q;
    assign known = first_q ? 32'(s_axis_tuser_i[24:17]) < Classes : known_q;
    always_ff @(posedge clk_i) begin
      if (in_valid && in_ready) begin
        first_q <= in_last;
        known_q <= known;
      end
      if (rst_i) first_q <= 1'b1;
    end
  end else begin : g_table
    assign known = 1'b1;
  end

  // A hole in tkeep, and a beat that is not full before the last one, damage the frame. A beat with a hole counts as a full one.
  logic hole, holes_q;

  always_comb begin
    hole = !s_axis_tlast_i && !s_axis_tkeep_i[DataBytes-1];
    for (int unsigned i = 0; i + 1 < DataBytes; i++) if (!s_axis_tkeep_i[i] && s_axis_tkeep_i[i+1]) hole = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (in_valid && in_ready) holes_q <= !in_last && (hole || holes_q);
    if (rst_i) holes_q <= 1'b0;
  end

  logic in_open;    // frames may come in, or the rest of one

  assign in_valid        = s_axis_tvalid_i && init_q && in_open;
  assign s_axis_tready_o = in_ready && init_q && in_open;
  assign in_data         = s_axis_tdata_i;
  assign in_last         = s_axis_tlast_i;
  assign in_bytes_last   = hole ? 7'(DataBytes) : count_ones(s_axis_tkeep_i);
  assign in_bad          = s_axis_tuser_i[0] || !known || hole || holes_q;
  assign in_class        = known ? s_axis_tuser_i[24:17] : '0;
  assign in_user         = s_axis_tuser_i[16:1];

  // ---- Settings ----
  logic class_valid, class_ready, dscp_valid;
  class_t class_id, dscp_class;
  logic [31:0] class_cycles;
  logic [6:0] dscp;
  logic [CountWidth-1:0] limit, free;

  // ---- With PlainFifo the class is found before the port, and rides through it beside 8 bits of the frame's own ----
  logic port_valid, port_ready, port_last, port_bad, port_set_ready;
  logic [DataWidth-1:0] port_data;
  logic [6:0] port_bytes_last;
  inner_t port_class;
  logic [15:0] port_user;

  if (PlainFifo) begin : g_fifo
    class_t found;
    logic [15:0] found_user;
    logic unused_fifo;

    pst_dscp_class #(
        .Classes(Classes), .ClassFromUser(ClassFromUser)
    ) u_class (
        .clk_i, .rst_i,
        .set_valid_i(dscp_valid), .set_dscp_i(dscp), .set_class_i(dscp_class),
        .s_valid_i(in_valid), .s_ready_o(in_ready), .s_data_i(in_data), .s_bytes_i(in_bytes_last), .s_last_i(in_last), .s_bad_i(in_bad),
        .s_class_i(class_t'(in_class)), .s_user_i(in_user),
        .m_valid_o(port_valid), .m_ready_i(port_ready), .m_data_o(port_data), .m_bytes_o(port_bytes_last), .m_last_o(port_last),
        .m_bad_o(port_bad), .m_class_o(found), .m_user_o(found_user)
    );

    assign port_class  = '0;
    assign port_user   = {8'(found), found_user[7:0]};
    assign class_ready = 1'b1;
    assign unused_fifo = ^{class_valid, class_id, class_cycles, found_user[15:8], port_set_ready};
  end else begin : g_edfr
    assign port_valid      = in_valid;
    assign in_ready        = port_ready;
    assign port_data       = in_data;
    assign port_bytes_last = in_bytes_last;
    assign port_last       = in_last;
    assign port_bad        = in_bad;
    assign port_class      = inner_t'(in_class);
    assign port_user       = in_user;
    assign class_ready     = port_set_ready;
  end

  // ---- The port ----
  logic awvalid, awready, wvalid, wready, wlast, bvalid, bready, arvalid, arready, rvalid, rready, rlast, port_done;
  logic [AddrWidth-1:0] awaddr, araddr;
  logic [7:0] awlen, arlen;
  logic [DataWidth-1:0] wdata, rdata;
  logic [DataBytes-1:0] wstrb;
  logic [1:0] bresp, rresp;
  logic out_valid, out_last, stop, drained, sending;
  logic [Memories-1:0] outstanding;
  logic [6:0] out_bytes_last;
  inner_t out_class, refused_class, fate_class, expired_class, late_class, passed_class;
  logic [15:0] out_user, refused_user, fate_user;
  logic [31:0] refused_bytes;
  fate_e refused_reason, fate_reason;
  logic refused_valid;
  time_t unused_deadline;
  logic unused_bits;

  pst_edfr #(
      .Classes(Inner), .ClassFromUser(ClassFromUser || PlainFifo), .ChunkBeats(ChunkBeats), .Chunks(Chunks), .Places(Places),
      .Lines(Lines), .Reads(Reads), .Writes(Writes), .Decided(Decided), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes),
      .StoreBeats(StoreBeats), .TickCycles(TickCycles), .Stamps({Inner{16'(Stamps)}}), .DefaultCycles(DefaultCycles),
      .NoDeadlines(PlainFifo)
  ) u_port (
      .clk_i, .rst_i, .init_done_o(port_done), .now_o,
      .set_dscp_valid_i(dscp_valid && !PlainFifo), .set_dscp_i(dscp), .set_dscp_class_i(inner_t'(dscp_class)),
      .s_set_valid_i(class_valid && !PlainFifo), .s_set_ready_o(port_set_ready), .s_set_class_i(inner_t'(class_id)),
      .s_set_cycles_i(class_cycles), .limit_i(limit),
      .s_valid_i(port_valid), .s_ready_o(port_ready), .s_data_i(port_data), .s_bytes_last_i(port_bytes_last), .s_last_i(port_last),
      .s_bad_i(port_bad), .s_class_i(port_class), .s_user_i(port_user), .s_arrived_i('0),
      .column_i('0), .s_token_valid_i(1'b0), .s_token_class_i('0), .m_token_valid_o(), .m_token_class_o(), .hold_i(stop),
      .m_decided_valid_o(), .m_decided_class_o(), .m_decided_segments_o(), .m_void_o(),
      .m_valid_o(out_valid), .m_ready_i(m_axis_tready_i), .m_data_o(m_axis_tdata_o), .m_bytes_last_o(out_bytes_last), .m_last_o(out_last),
      .m_class_o(out_class), .m_deadline_o(unused_deadline), .m_user_o(out_user),
      .m_axi_awvalid_o(awvalid), .m_axi_awready_i(awready && !drained), .m_axi_awaddr_o(awaddr), .m_axi_awlen_o(awlen),
      .m_axi_wvalid_o(wvalid), .m_axi_wready_i(wready && !drained), .m_axi_wdata_o(wdata), .m_axi_wstrb_o(wstrb), .m_axi_wlast_o(wlast),
      .m_axi_bvalid_i(bvalid), .m_axi_bready_o(bready), .m_axi_bresp_i(bresp),
      .m_axi_arvalid_o(arvalid), .m_axi_arready_i(arready && !drained), .m_axi_araddr_o(araddr), .m_axi_arlen_o(arlen),
      .m_axi_rvalid_i(rvalid), .m_axi_rready_o(rready), .m_axi_rdata_i(rdata), .m_axi_rresp_i(rresp), .m_axi_rlast_i(rlast),
      .ev_refused_valid_o(refused_valid), .ev_refused_class_o(refused_class), .ev_refused_bytes_o(refused_bytes),
      .ev_refused_reason_o(refused_reason), .ev_refused_user_o(refused_user),
      .ev_fate_valid_o, .ev_fate_class_o(fate_class), .ev_fate_bytes_o(ev_fate_len_o), .ev_fate_reason_o(fate_reason),
      .ev_fate_user_o(fate_user), .ev_fate_deadline_o,
      .ev_expired_valid_o, .ev_expired_class_o(expired_class), .ev_expired_bytes_o(ev_expired_len_o), .ev_expired_user_o,
      .ev_late_valid_o, .ev_late_class_o(late_class), .ev_late_bytes_o(ev_late_len_o), .ev_late_user_o,
      .ev_passed_valid_o, .ev_passed_lost_o, .ev_passed_class_o(passed_class), .ev_passed_frames_o, .ev_passed_bytes_o,
      .free_o(free), .sending_o(sending)
  );

  // ---- Memories ----
  pst_memory_spread #(
      .Memories(Memories), .PieceBytes(64 * ChunkBeats), .MemoryBits(MemoryBits), .MaxOutstanding(Reads > Writes ? Reads : Writes),
      .FifoBeats(2 * ChunkBeats)
  ) u_spread (
      .clk_i, .rst_i,
      .s_axi_awvalid_i(awvalid && !drained), .s_axi_awready_o(awready), .s_axi_awaddr_i(awaddr), .s_axi_awlen_i(awlen),
      .s_axi_wvalid_i(wvalid && !drained), .s_axi_wready_o(wready), .s_axi_wdata_i(wdata), .s_axi_wstrb_i(wstrb), .s_axi_wlast_i(wlast),
      .s_axi_bvalid_o(bvalid), .s_axi_bready_i(bready), .s_axi_bresp_o(bresp),
      .s_axi_arvalid_i(arvalid && !drained), .s_axi_arready_o(arready), .s_axi_araddr_i(araddr), .s_axi_arlen_i(arlen),
      .s_axi_rvalid_o(rvalid), .s_axi_rready_i(rready), .s_axi_rdata_o(rdata), .s_axi_rresp_o(rresp), .s_axi_rlast_o(rlast),
      .m_axi_awvalid_o, .m_axi_awready_i, .m_axi_awaddr_o, .m_axi_awlen_o,
      .m_axi_wvalid_o, .m_axi_wready_i, .m_axi_wdata_o, .m_axi_wstrb_o, .m_axi_wlast_o,
      .m_axi_bvalid_i, .m_axi_bready_o, .m_axi_bresp_i,
      .m_axi_arvalid_o, .m_axi_arready_i, .m_axi_araddr_o, .m_axi_arlen_o,
      .m_axi_rvalid_i, .m_axi_rready_o, .m_axi_rdata_i, .m_axi_rresp_i, .m_axi_rlast_i
  );

  // What is under way, from the input to the memories and the line; it closes the port's AXI4 while all is at rest.
  pst_deadline_drain #(
      .Memories(Memories), .MaxOutstanding(2 * (Reads > Writes ? Reads : Writes) + 64)
  ) u_drain (
      .clk_i, .rst_i, .stop_i(stop),
      .take_i(in_valid && in_ready), .last_i(in_last), .open_o(in_open),
      .refused_i(refused_valid), .fate_i(ev_fate_valid_o), .sending_i(sending),
      .port_i({awvalid && !drained, awready, wvalid && !drained, bvalid, bready, arvalid && !drained, arready, rvalid, rready, rlast}),
      .awvalid_i(m_axi_awvalid_o), .awready_i(m_axi_awready_i), .wvalid_i(m_axi_wvalid_o),
      .bvalid_i(m_axi_bvalid_i), .bready_i(m_axi_bready_o), .arvalid_i(m_axi_arvalid_o), .arready_i(m_axi_arready_i),
      .rvalid_i(m_axi_rvalid_i), .rready_i(m_axi_rready_o), .rlast_i(m_axi_rlast_i),
      .outstanding_o(outstanding), .done_o(drained)
  );

  // Whole beats, INCR bursts, normal memory, secure data accesses.
  assign m_axi_awid_o    = '0;
  assign m_axi_awsize_o  = {Memories{3'd6}};
  assign m_axi_awburst_o = {Memories{2'b01}};
  assign m_axi_awlock_o  = '0;
  assign m_axi_awcache_o = {Memories{4'b0011}};
  assign m_axi_awprot_o  = '0;
  assign m_axi_arid_o    = '0;
  assign m_axi_arsize_o  = {Memories{3'd6}};
  assign m_axi_arburst_o = {Memories{2'b01}};
  assign m_axi_arlock_o  = '0;
  assign m_axi_arcache_o = {Memories{4'b0011}};
  assign m_axi_arprot_o  = '0;

  // ---- Frames out ----
  assign m_axis_tvalid_o = out_valid;
  assign m_axis_tlast_o  = out_last;
  assign m_axis_tkeep_o  = out_last ? {DataBytes{1'b1}} >> (7'd64 - out_bytes_last) : '1;
  assign m_axis_tid_o    = PlainFifo ? out_user[15:8] : 8'(out_class);
  assign m_axis_tuser_o  = PlainFifo ? 16'(out_user[7:0]) : out_user;

  logic sent;
  logic [9:0] sent_beats_q;    // of the frame that leaves, before this one
  logic [15:0] sent_bytes;

  assign sent       = out_valid && m_axis_tready_i && out_last;
  assign sent_bytes = {sent_beats_q, 6'd0} + 16'(out_bytes_last);

  always_ff @(posedge clk_i) begin
    if (out_valid && m_axis_tready_i) sent_beats_q <= out_last ? '0 : sent_beats_q + 1'b1;
    if (rst_i) sent_beats_q <= '0;
  end

  // ---- Events ----
  drop_e in_reason;

  always_comb begin
    in_reason = DropBadFrame;
    if (refused_reason == FateLength) in_reason = refused_bytes < MinFrameBytes ? DropRunt : DropOversize;
  end

  assign ev_in_valid_o      = refused_valid;
  assign ev_in_reason_o     = in_reason;
  assign ev_in_class_o      = PlainFifo ? refused_user[15:8] : 8'(refused_class);
  assign ev_in_len_o        = refused_bytes;
  assign ev_fate_reason_o   = fate_reason == FateTaken ? DropNone : DropNoPage;
  assign ev_fate_class_o    = PlainFifo ? fate_user[15:8] : 8'(fate_class);
  assign ev_expired_class_o = 8'(expired_class);
  assign ev_late_class_o    = 8'(late_class);
  assign ev_passed_class_o  = 8'(passed_class);

  assign unused_bits = ^{in_class, refused_user, fate_user};

  // ---- Counters and registers ----
  logic read_valid, answer_valid, counters_done;
  class_t read_class;
  logic [FrameWidth-1:0] in_frames, out_frames, missed_frames, lost_frames, no_page_frames;
  logic [ByteWidth-1:0] in_bytes, out_bytes, missed_bytes, lost_bytes, no_page_bytes;
  logic [15:1][FrameWidth-1:0] dropped_frames;
  logic [15:1][ByteWidth-1:0] dropped_bytes;
  logic [31:0] lost_now;

  pst_deadline_counters #(
      .Classes(Classes), .FrameWidth(FrameWidth), .ByteWidth(ByteWidth)
  ) u_counters (
      .clk_i, .rst_i, .init_done_o(counters_done),
      .in_valid_i(refused_valid), .in_reason_i(in_reason), .in_bytes_i(refused_bytes),
      .fate_valid_i(ev_fate_valid_o), .fate_dropped_i(fate_reason != FateTaken), .fate_class_i(class_t'(ev_fate_class_o)),
      .fate_bytes_i(ev_fate_len_o),
      .out_valid_i(sent), .out_class_i(class_t'(m_axis_tid_o)), .out_bytes_i(sent_bytes),
      .expired_valid_i(ev_expired_valid_o), .expired_class_i(class_t'(ev_expired_class_o)), .expired_bytes_i(ev_expired_len_o),
      .late_valid_i(ev_late_valid_o), .late_class_i(class_t'(ev_late_class_o)), .late_bytes_i(ev_late_len_o),
      .passed_valid_i(ev_passed_valid_o), .passed_lost_i(ev_passed_lost_o), .passed_class_i(class_t'(ev_passed_class_o)),
      .passed_frames_i(ev_passed_frames_o), .passed_bytes_i(ev_passed_bytes_o),
      .read_valid_i(read_valid), .read_class_i(read_class), .read_valid_o(answer_valid),
      .in_frames_o(in_frames), .in_bytes_o(in_bytes), .out_frames_o(out_frames), .out_bytes_o(out_bytes),
      .missed_frames_o(missed_frames), .missed_bytes_o(missed_bytes), .lost_frames_o(lost_frames), .lost_bytes_o(lost_bytes),
      .no_page_frames_o(no_page_frames), .no_page_bytes_o(no_page_bytes),
      .dropped_frames_o(dropped_frames), .dropped_bytes_o(dropped_bytes), .lost_now_o(lost_now)
  );

  pst_deadline_control #(
      .Classes(Classes), .ClassFromUser(ClassFromUser), .PlainFifo(PlainFifo), .ChunkBytes(64 * ChunkBeats), .Chunks(Chunks),
      .Memories(Memories), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes), .TickCycles(TickCycles), .Stamps(Stamps),
      .DefaultCycles(DefaultCycles), .ClockHz(ClockHz), .FrameWidth(FrameWidth), .ByteWidth(ByteWidth)
  ) u_control (
      .clk_i, .rst_i,
      .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_awaddr_i, .s_axil_awprot_i,
      .s_axil_wvalid_i, .s_axil_wready_o, .s_axil_wdata_i, .s_axil_wstrb_i,
      .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_bresp_o,
      .s_axil_arvalid_i, .s_axil_arready_o, .s_axil_araddr_i, .s_axil_arprot_i,
      .s_axil_rvalid_o, .s_axil_rready_i, .s_axil_rdata_o, .s_axil_rresp_o,
      .m_class_valid_o(class_valid), .m_class_ready_i(class_ready), .m_class_o(class_id), .m_class_cycles_o(class_cycles),
      .m_dscp_valid_o(dscp_valid), .m_dscp_o(dscp), .m_dscp_class_o(dscp_class), .limit_o(limit),
      .read_valid_o(read_valid), .read_class_o(read_class), .read_valid_i(answer_valid),
      .in_frames_i(in_frames), .in_bytes_i(in_bytes), .out_frames_i(out_frames), .out_bytes_i(out_bytes),
      .missed_frames_i(missed_frames), .missed_bytes_i(missed_bytes), .lost_frames_i(lost_frames), .lost_bytes_i(lost_bytes),
      .no_page_frames_i(no_page_frames), .no_page_bytes_i(no_page_bytes),
      .dropped_frames_i(dropped_frames), .dropped_bytes_i(dropped_bytes),
      .overflow_i, .lost_now_i(lost_now), .irq_o, .drain_stop_o(stop), .drain_done_i(drained), .drain_outstanding_i(outstanding),
      .free_i(free), .init_done_i(init_q)
  );

  always_ff @(posedge clk_i) init_q <= !rst_i && port_done && counters_done;

  assign init_done_o = init_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_one_id : assert ((m_axi_bvalid_i & m_axi_bid_i) == '0 && (m_axi_rvalid_i & m_axi_rid_i) == '0)
      else $error("pst_deadline_port: a memory answers with an id that was not asked with");
    end
  end
`endif

endmodule
