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
  import pst_deadline_pkg::FateTaken, pst_deadline_pkg::FateLength;
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
    input  logic                                     clk_i,
    input  logic                                     rst_i,
    // frames in; tuser: class (at the first beat, with ClassFromUser), 16 bits that come out with the frame (at the last beat), and at the
    // last beat: the frame is damaged
    input  pst_deadline_port_ports_pkg::frames_in_t  s_axis_i,
    output pst_axi_pkg::stream_rsp_t                 s_axis_o,
    // frames out; tid is the class, tuser what came with the frame; with PlainFifo the upper 8 of its bits are 0
    output pst_deadline_port_ports_pkg::frames_out_t m_axis_o,
    input  pst_axi_pkg::stream_rsp_t                 m_axis_i,
    // packet memories, AXI4; addresses are local to each memory, one id, responses in order
    output pst_axi_pkg::write_req_t [Memories-1:0]   m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [Memories-1:0]   m_axi_write_i,
    output pst_axi_pkg::read_req_t [Memories-1:0]    m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [Memories-1:0]    m_axi_read_i,
    // registers, AXI4-Lite
    input  pst_axi_pkg::lite_req_t                   s_axil_i,
    output pst_axi_pkg::lite_rsp_t                   s_axil_o,
    // frames that were refused at the input: damaged, too short, too long
    output pst_deadline_port_ports_pkg::refused_t    ev_in_o,
    // all others, in the order in which they came: taken, with their deadline, or dropped for want of memory
    output pst_deadline_port_ports_pkg::fate_t       ev_fate_o,
    // frames that missed their deadline: found when they came to the head; by the last check
    output pst_deadline_port_ports_pkg::missed_t     ev_expired_o,
    output pst_deadline_port_ports_pkg::missed_t     ev_late_o,
    // frames of a class that were skipped as their deadline was over, or were lost by a memory error; with PlainFifo of any class
    output pst_deadline_port_ports_pkg::passed_t     ev_passed_o,
    // pulse: a FIFO in front of the device has lost a frame; interrupt, a level
    input  logic                                     overflow_i,
    output logic                                     irq_o,
    // state
    output logic [31:0]                              now_o,            // this cycle's number: deadlines are on this clock; 0 with PlainFifo
    output logic                                     init_done_o
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
    assign known = first_q ? 32'(s_axis_i.tuser[24:17]) < Classes : known_q;
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
    hole = !s_axis_i.tlast && !s_axis_i.tkeep[DataBytes-1];
    for (int unsigned i = 0; i + 1 < DataBytes; i++) if (!s_axis_i.tkeep[i] && s_axis_i.tkeep[i+1]) hole = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (in_valid && in_ready) holes_q <= !in_last && (hole || holes_q);
    if (rst_i) holes_q <= 1'b0;
  end

  logic in_open;    // frames may come in, or the rest of one

  assign in_valid        = s_axis_i.tvalid && init_q && in_open;
  assign s_axis_o.tready = in_ready && init_q && in_open;
  assign in_data         = s_axis_i.tdata;
  assign in_last         = s_axis_i.tlast;
  assign in_bytes_last   = hole ? 7'(DataBytes) : count_ones(s_axis_i.tkeep);
  assign in_bad          = s_axis_i.tuser[0] || !known || hole || holes_q;
  assign in_class        = known ? s_axis_i.tuser[24:17] : '0;
  assign in_user         = s_axis_i.tuser[16:1];

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
  // As the port has it, and as the memories do: closed while all is at rest.
  pst_axi_pkg::write_req_t write_req, open_write_req;
  pst_axi_pkg::write_rsp_t write_rsp, open_write_rsp;
  pst_axi_pkg::read_req_t read_req, open_read_req;
  pst_axi_pkg::read_rsp_t read_rsp, open_read_rsp;
  pst_axi_pkg::moves_t [Memories-1:0] moves;
  logic port_done;
  logic stop, drained, sending;
  logic [Memories-1:0] outstanding;
  pst_deadline_ports_pkg::frame_out_t out;
  pst_deadline_ports_pkg::refused_t refused;
  pst_deadline_ports_pkg::fate_t fate;
  pst_deadline_ports_pkg::gone_t expired, late;
  pst_deadline_ports_pkg::passed_t passed;
  logic unused_bits;

  pst_edfr #(
      .Classes(Inner), .ClassFromUser(ClassFromUser || PlainFifo), .ChunkBeats(ChunkBeats), .Chunks(Chunks), .Places(Places),
      .Lines(Lines), .Reads(Reads), .Writes(Writes), .Decided(Decided), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes),
      .StoreBeats(StoreBeats), .TickCycles(TickCycles), .Stamps({Inner{16'(Stamps)}}), .DefaultCycles(DefaultCycles),
      .NoDeadlines(PlainFifo)
  ) u_port (
      .clk_i, .rst_i, .init_done_o(port_done), .now_o,
      .set_dscp_valid_i(dscp_valid && !PlainFifo), .set_dscp_i(dscp), .set_dscp_class_i(inner_t'(dscp_class)),
      .s_set_i('{valid: class_valid && !PlainFifo, class_: 8'(class_id), cycles: class_cycles}), .s_set_ready_o(port_set_ready),
      .limit_i(limit),
      .s_i('{
          valid: port_valid, data: port_data, bytes_last: port_bytes_last, last: port_last, bad: port_bad, class_: 8'(port_class),
          user: port_user, arrived: '0
      }),
      .s_ready_o(port_ready), .column_i('0), .s_token_i('0), .m_token_o(), .bound_i('0), .hold_i(stop), .m_decided_o(), .front_o(),
      .m_o(out), .m_ready_i(m_axis_i.tready),
      .m_axi_write_o(write_req), .m_axi_write_i(write_rsp), .m_axi_read_o(read_req), .m_axi_read_i(read_rsp),
      .ev_refused_o(refused), .ev_fate_o(fate), .ev_expired_o(expired), .ev_late_o(late), .ev_passed_o(passed),
      .free_o(free), .sending_o(sending)
  );

  // ---- Memories ----
  pst_memory_spread #(
      .Memories(Memories), .PieceBytes(64 * ChunkBeats), .MemoryBits(MemoryBits), .MaxOutstanding(Reads > Writes ? Reads : Writes),
      .FifoBeats(2 * ChunkBeats)
  ) u_spread (
      .clk_i, .rst_i,
      .s_axi_write_i(open_write_req), .s_axi_write_o(open_write_rsp), .s_axi_read_i(open_read_req), .s_axi_read_o(open_read_rsp),
      .m_axi_write_o, .m_axi_write_i, .m_axi_read_o, .m_axi_read_i
  );

  always_comb begin
    open_write_req         = write_req;
    open_write_req.awvalid = write_req.awvalid && !drained;
    open_write_req.wvalid  = write_req.wvalid && !drained;
    write_rsp              = open_write_rsp;
    write_rsp.awready      = open_write_rsp.awready && !drained;
    write_rsp.wready       = open_write_rsp.wready && !drained;
    open_read_req          = read_req;
    open_read_req.arvalid  = read_req.arvalid && !drained;
    read_rsp               = open_read_rsp;
    read_rsp.arready       = open_read_rsp.arready && !drained;
  end

  for (genvar m = 0; m < int'(Memories); m++) begin : g_moves
    assign moves[m] = '{
        awvalid: m_axi_write_o[m].awvalid, awready: m_axi_write_i[m].awready, wvalid: m_axi_write_o[m].wvalid,
        bvalid: m_axi_write_i[m].bvalid, bready: m_axi_write_o[m].bready, arvalid: m_axi_read_o[m].arvalid,
        arready: m_axi_read_i[m].arready, rvalid: m_axi_read_i[m].rvalid, rready: m_axi_read_o[m].rready, rlast: m_axi_read_i[m].rlast
    };
  end

  // What is under way, from the input to the memories and the line; it closes the port's AXI4 while all is at rest.
  pst_deadline_drain #(
      .Memories(Memories), .MaxOutstanding(2 * (Reads > Writes ? Reads : Writes) + 64)
  ) u_drain (
      .clk_i, .rst_i, .stop_i(stop),
      .take_i(in_valid && in_ready), .last_i(in_last), .open_o(in_open),
      .refused_i(refused.valid), .fate_i(ev_fate_o.valid), .sending_i(sending),
      .port_i('{
          awvalid: open_write_req.awvalid, awready: open_write_rsp.awready, wvalid: open_write_req.wvalid, bvalid: open_write_rsp.bvalid,
          bready: open_write_req.bready, arvalid: open_read_req.arvalid, arready: open_read_rsp.arready, rvalid: open_read_rsp.rvalid,
          rready: open_read_req.rready, rlast: open_read_rsp.rlast
      }),
      .axi_i(moves),
      .outstanding_o(outstanding), .done_o(drained)
  );

  // ---- Frames out ----
  assign m_axis_o.tvalid = out.valid;
  assign m_axis_o.tlast  = out.last;
  assign m_axis_o.tkeep  = out.last ? {DataBytes{1'b1}} >> (7'd64 - out.bytes_last) : '1;
  assign m_axis_o.tdata  = out.data;
  assign m_axis_o.tid    = PlainFifo ? out.user[15:8] : out.class_;
  assign m_axis_o.tuser  = PlainFifo ? 16'(out.user[7:0]) : out.user;

  logic sent;
  logic [9:0] sent_beats_q;    // of the frame that leaves, before this one
  logic [15:0] sent_bytes;

  assign sent       = out.valid && m_axis_i.tready && out.last;
  assign sent_bytes = {sent_beats_q, 6'd0} + 16'(out.bytes_last);

  always_ff @(posedge clk_i) begin
    if (out.valid && m_axis_i.tready) sent_beats_q <= out.last ? '0 : sent_beats_q + 1'b1;
    if (rst_i) sent_beats_q <= '0;
  end

  // ---- Events ----
  drop_e in_reason;

  always_comb begin
    in_reason = DropBadFrame;
    if (refused.reason == FateLength) in_reason = refused.bytes < MinFrameBytes ? DropRunt : DropOversize;
  end

  assign ev_in_o = '{
      valid: refused.valid, reason: in_reason, class_: PlainFifo ? refused.user[15:8] : refused.class_, len: refused.bytes
  };
  assign ev_fate_o = '{
      valid: fate.valid, reason: fate.reason == FateTaken ? DropNone : DropNoPage, class_: PlainFifo ? fate.user[15:8] : fate.class_,
      len: fate.bytes, deadline: fate.deadline
  };
  assign ev_expired_o = '{valid: expired.valid, class_: expired.class_, len: expired.bytes, user: expired.user};
  assign ev_late_o    = '{valid: late.valid, class_: late.class_, len: late.bytes, user: late.user};
  assign ev_passed_o  = '{
      valid: passed.valid, lost: passed.lost, class_: passed.class_, frames: passed.frames, bytes: passed.bytes
  };

  assign unused_bits = ^{in_class, refused.user, fate.user, out.void_, out.deadline};

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
      .in_valid_i(refused.valid), .in_reason_i(in_reason), .in_bytes_i(refused.bytes),
      .fate_valid_i(ev_fate_o.valid), .fate_dropped_i(fate.reason != FateTaken), .fate_class_i(class_t'(ev_fate_o.class_)),
      .fate_bytes_i(ev_fate_o.len),
      .out_valid_i(sent), .out_class_i(class_t'(m_axis_o.tid)), .out_bytes_i(sent_bytes),
      .expired_valid_i(ev_expired_o.valid), .expired_class_i(class_t'(ev_expired_o.class_)), .expired_bytes_i(ev_expired_o.len),
      .late_valid_i(ev_late_o.valid), .late_class_i(class_t'(ev_late_o.class_)), .late_bytes_i(ev_late_o.len),
      .passed_valid_i(ev_passed_o.valid), .passed_lost_i(ev_passed_o.lost), .passed_class_i(class_t'(ev_passed_o.class_)),
      .passed_frames_i(ev_passed_o.frames), .passed_bytes_i(ev_passed_o.bytes),
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
      .s_axil_i, .s_axil_o,
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

endmodule
