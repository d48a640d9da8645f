// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The wide deadline port: one logical port of 2, 4 or 8 columns, each with memories of its own, for more than 512 bit per cycle. It does with
// frames what pst_deadline_port does, and has its registers; a word of its streams has several segments of 64 byte.
//
//   s_axis ─► segments ─► deal ─► columns ─► spread ─► memories of each column ─► columns ─► gather ─► m_axis
//   s_axil ─► control ◄── counters by column and by segment ◄── events
//
// Ordering:   FIFO in each class; by deadline among the heads that each column may decide on.
// Throughput: a word of Columns segments per cycle in and out, as far as columns are equally busy.
// Reset:      forgets every frame, setting and counter; the memories have to be reset with it. Until init_done_o no frame is taken.
module pst_deadline_wide
  import pst_deadline_pkg::FateLength;
  import pst_deadline_port_drop_pkg::*;
#(
    parameter int unsigned Columns       = 4,            // segments of a word: 2, 4, 8
    parameter int unsigned RunFrames     = 16,           // frames of a class in a column in a row: a power of two, >= Columns
    parameter int unsigned Classes       = 64,           // 2..256
    parameter bit          ClassFromUser = 1'b0,         // tuser has the class; else a table says which one a DSCP has
    parameter int unsigned ChunkBeats    = 64,           // beats of 64 byte of a chunk: 8, 16, 32, 64
    parameter int unsigned Memories      = 4,            // Columns times 1, 2, 4 or 8: memory m is column m / (Memories / Columns)'s
    parameter int unsigned Chunks        = 4096,         // in the memories of each column, a power of two up to 2^20
    parameter int unsigned Places        = 4,            // chunks of a class on the head side of a column: 2, 4, 8, 16
    parameter int unsigned Lines         = 16,           // headers of a class at hand in a column: 4, 8, 16, 32, 64
    parameter int unsigned Reads         = 16,           // chunks of a column on their way from memory, 2..64
    parameter int unsigned Writes        = 16,           // chunks of a column on their way to memory, 2..64
    parameter int unsigned MinFrameBytes = 60,           // >= 8
    parameter int unsigned MaxFrameBytes = 1522,         // 64..16383, and Places chunks hold it
    parameter int unsigned DealRows      = 4096,         // words that wait to be dealt or to enter a column, a power of two
    parameter int unsigned DealLists     = 1024,         // of these, those of which a column has to read, a power of two
    parameter int unsigned DealRecords   = 512,          // words that wait for the end of a frame, a power of two
    parameter int unsigned GatherRows    = 4096,         // words between decision and output, a power of two
    parameter int unsigned GatherAhead   = 256,          // of these so many are decided ahead, half of them in any order; 0: all
    parameter int unsigned StoreBeats    = 512,          // of frames at the door of a column, a power of two
    parameter int unsigned TickCycles    = 3662,         // between two time stamps of a class; 2 * Classes and more
    parameter int unsigned Stamps        = 64,           // time stamps of each class, 2..65535
    parameter int unsigned DefaultCycles = 100000,       // deadline of a class that was not set, below 2^30
    parameter int unsigned ClockHz       = 300_000_000,  // for software, Hz
    localparam int unsigned DataWidth   = 512 * Columns,
    localparam int unsigned KeepWidth   = 64 * Columns,
    localparam int unsigned UserWidth   = pst_deadline_wide_ports_pkg::SegmentUser * Columns,
    localparam int unsigned AddrWidth   = $clog2(Chunks * ChunkBeats) + 6
) (
    input  logic                                                clk_i,
    input  logic                                                rst_i,
    // words in and out: segment s has the bits from 512 * s on; of tuser, pst_deadline_wide_ports_pkg::segment_t
    input  pst_deadline_wide_ports_pkg::words_in_t              s_axis_i,
    output pst_axi_pkg::stream_rsp_t                            s_axis_o,
    output pst_deadline_wide_ports_pkg::words_out_t             m_axis_o,
    input  pst_axi_pkg::stream_rsp_t                            m_axis_i,
    // packet memories, AXI4; addresses are local to each memory, one id, responses in order
    output pst_axi_pkg::write_req_t [Memories-1:0]              m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [Memories-1:0]              m_axi_write_i,
    output pst_axi_pkg::read_req_t [Memories-1:0]               m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [Memories-1:0]               m_axi_read_i,
    // registers, AXI4-Lite
    input  pst_axi_pkg::lite_req_t                              s_axil_i,
    output pst_axi_pkg::lite_rsp_t                              s_axil_o,
    // by segment: frames that were refused at the input; that were dropped for want of memory; that were over when they were about to leave
    output pst_deadline_wide_ports_pkg::refused_t [Columns-1:0] ev_in_o,
    output pst_deadline_wide_ports_pkg::gone_t [Columns-1:0]    ev_dropped_o,
    output pst_deadline_wide_ports_pkg::gone_t [Columns-1:0]    ev_overdue_o,
    // by column: taken, with their deadline; over, found when they came to the head, and by the column's last check; skipped as their
    // deadline was over, or lost by a memory error
    output pst_deadline_wide_ports_pkg::taken_t [Columns-1:0]   ev_taken_o,
    output pst_deadline_wide_ports_pkg::gone_t [Columns-1:0]    ev_expired_o,
    output pst_deadline_wide_ports_pkg::gone_t [Columns-1:0]    ev_late_o,
    output pst_deadline_wide_ports_pkg::passed_t [Columns-1:0]  ev_passed_o,
    // pulse: a FIFO in front of the device has lost a frame; interrupt, a level
    input  logic                                                overflow_i,
    output logic                                                irq_o,
    // state
    output logic [31:0]                                         now_o,            // this cycle's number: deadlines are on this clock
    output logic                                                init_done_o
);

  localparam int unsigned ClassWidth  = $clog2(Classes);
  localparam int unsigned Each        = Memories / Columns;       // memories of a column
  localparam int unsigned CountWidth  = $clog2(Chunks + 1);
  localparam int unsigned AllWidth    = $clog2(Columns * Chunks + 1);
  localparam int unsigned BeginsWidth = $clog2(Columns + 1);
  localparam int unsigned MemoryBits  = AddrWidth - $clog2(Each);
  localparam int unsigned Outstanding = Reads > Writes ? Reads : Writes;
  localparam int unsigned FrameWidth  = 50;
  localparam int unsigned ByteWidth   = 56;

  if (Chunks != 2 ** $clog2(Chunks)) begin : g_bad_chunks
    $error("pst_deadline_wide: Chunks is %0d, must be a power of two", Chunks);
  end
  if (!ClassFromUser && Classes > 64) begin : g_bad_classes
    $error("pst_deadline_wide: Classes is %0d, but DSCP has 64 values", Classes);
  end
  if (Columns * Each != Memories || Memories > 32) begin : g_bad_memories
    $error("pst_deadline_wide: Memories is %0d, must be a multiple of Columns (%0d), 32 at most", Memories, Columns);
  end

  typedef logic [ClassWidth-1:0] class_t;
  typedef pst_deadline_wide_ports_pkg::segment_t segment_t;

  // ---- Words in ----
  logic init_q, in_open, in_take, in_ready, half, busy;
  logic word_valid, word_ready;
  logic [Columns-1:0] word_used, word_last, word_bad;
  logic [Columns-1:0][511:0] word_data;
  logic [Columns-1:0][6:0] word_bytes;
  logic [Columns-1:0][7:0] word_class;
  logic [Columns-1:0][15:0] word_user;
  logic [BeginsWidth-1:0] begins;

  assign in_take         = s_axis_i.tvalid && init_q && in_open;
  assign s_axis_o.tready = in_ready && init_q && in_open;

  pst_deadline_segments #(
      .Classes(Classes), .ClassFromUser(ClassFromUser), .Columns(Columns)
  ) u_segments (
      .clk_i, .rst_i,
      .s_valid_i(in_take), .s_ready_o(in_ready), .s_data_i(s_axis_i.tdata[DataWidth-1:0]), .s_keep_i(s_axis_i.tkeep[KeepWidth-1:0]),
      .s_user_i(s_axis_i.tuser[UserWidth-1:0]), .half_o(half), .busy_o(busy),
      .m_valid_o(word_valid), .m_ready_i(word_ready), .m_used_o(word_used), .m_data_o(word_data), .m_last_o(word_last),
      .m_bytes_last_o(word_bytes), .m_bad_o(word_bad), .m_class_o(word_class), .m_user_o(word_user), .m_begins_o(begins)
  );

  // ---- The port ----
  // As the port has it, and as the memories do: closed while all is at rest.
  pst_axi_pkg::write_req_t [Columns-1:0] write_req, open_write_req;
  pst_axi_pkg::write_rsp_t [Columns-1:0] write_rsp, open_write_rsp;
  pst_axi_pkg::read_req_t [Columns-1:0] read_req, open_read_req;
  pst_axi_pkg::read_rsp_t [Columns-1:0] read_rsp, open_read_rsp;
  pst_deadline_ports_pkg::refusal_t [Columns-1:0] refused;
  pst_deadline_ports_pkg::gone_t [Columns-1:0] dropped, overdue, expired, late;
  pst_deadline_ports_pkg::fate_t [Columns-1:0] taken;
  pst_deadline_ports_pkg::passed_t [Columns-1:0] passed;
  logic port_done, stop, drained, sending;
  logic class_valid, class_ready, dscp_valid;
  class_t class_id, dscp_class;
  logic [31:0] class_cycles;
  logic [6:0] dscp;
  logic [AllWidth-1:0] limit, free_q, free;
  logic [CountWidth-1:0] port_limit;
  logic [Columns-1:0][CountWidth-1:0] port_free;
  logic out_valid;
  pst_deadline_ports_pkg::segment_in_t [Columns-1:0] word;
  pst_deadline_ports_pkg::segment_out_t [Columns-1:0] out;

  for (genvar s = 0; s < int'(Columns); s++) begin : g_word
    assign word[s] = '{
        used: word_used[s], data: word_data[s], last: word_last[s], bytes_last: word_bytes[s], bad: word_bad[s], class_: word_class[s],
        user: word_user[s]
    };
  end

  // A limit for all columns, an equal part of it for each: at least a chunk, as 0 is none.
  assign port_limit = limit == '0 ? '0 : limit < AllWidth'(Columns) ? CountWidth'(1) : CountWidth'(limit / AllWidth'(Columns));

  pst_edfr_wide #(
      .Columns(Columns), .RunFrames(RunFrames), .Classes(Classes), .ClassFromUser(ClassFromUser), .ChunkBeats(ChunkBeats), .Chunks(Chunks),
      .Places(Places), .Lines(Lines), .Reads(Reads), .Writes(Writes), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes),
      .DealRows(DealRows), .DealLists(DealLists), .DealRecords(DealRecords), .GatherRows(GatherRows), .GatherAhead(GatherAhead),
      .StoreBeats(StoreBeats), .TickCycles(TickCycles), .Stamps({Classes{16'(Stamps)}}), .DefaultCycles(DefaultCycles)
  ) u_port (
      .clk_i, .rst_i, .init_done_o(port_done), .now_o,
      .set_dscp_valid_i(dscp_valid), .set_dscp_i(dscp), .set_dscp_class_i(dscp_class),
      .s_set_i('{valid: class_valid, class_: 8'(class_id), cycles: class_cycles}), .s_set_ready_o(class_ready),
      .limit_i(port_limit), .hold_i(stop), .sending_o(sending),
      .s_valid_i(word_valid), .s_ready_o(word_ready), .s_i(word), .m_valid_o(out_valid), .m_ready_i(m_axis_i.tready), .m_o(out),
      .m_axi_write_o(write_req), .m_axi_write_i(write_rsp), .m_axi_read_o(read_req), .m_axi_read_i(read_rsp),
      .ev_refused_o(refused), .ev_dropped_o(dropped), .ev_taken_o(taken), .ev_expired_o(expired), .ev_late_o(late), .ev_passed_o(passed),
      .ev_overdue_o(overdue), .free_o(port_free)
  );

  // ---- Memories ----
  pst_axi_pkg::moves_t [Columns-1:0] column_moves;
  pst_axi_pkg::moves_t [Memories-1:0] moves;
  logic [Memories-1:0] outstanding;

  for (genvar c = 0; c < int'(Columns); c++) begin : g_column
    pst_memory_spread #(
        .Memories(Each), .PieceBytes(64 * ChunkBeats), .MemoryBits(MemoryBits), .MaxOutstanding(Outstanding), .FifoBeats(2 * ChunkBeats)
    ) u_spread (
        .clk_i, .rst_i,
        .s_axi_write_i(open_write_req[c]), .s_axi_write_o(open_write_rsp[c]), .s_axi_read_i(open_read_req[c]),
        .s_axi_read_o(open_read_rsp[c]),
        .m_axi_write_o(m_axi_write_o[Each*c+:Each]), .m_axi_write_i(m_axi_write_i[Each*c+:Each]),
        .m_axi_read_o(m_axi_read_o[Each*c+:Each]), .m_axi_read_i(m_axi_read_i[Each*c+:Each])
    );

    always_comb begin
      open_write_req[c]         = write_req[c];
      open_write_req[c].awvalid = write_req[c].awvalid && !drained;
      open_write_req[c].wvalid  = write_req[c].wvalid && !drained;
      write_rsp[c]              = open_write_rsp[c];
      write_rsp[c].awready      = open_write_rsp[c].awready && !drained;
      write_rsp[c].wready       = open_write_rsp[c].wready && !drained;
      open_read_req[c]          = read_req[c];
      open_read_req[c].arvalid  = read_req[c].arvalid && !drained;
      read_rsp[c]               = open_read_rsp[c];
      read_rsp[c].arready       = open_read_rsp[c].arready && !drained;
    end

    assign column_moves[c] = '{
        awvalid: open_write_req[c].awvalid, awready: open_write_rsp[c].awready, wvalid: open_write_req[c].wvalid,
        bvalid: open_write_rsp[c].bvalid, bready: open_write_req[c].bready, arvalid: open_read_req[c].arvalid,
        arready: open_read_rsp[c].arready, rvalid: open_read_rsp[c].rvalid, rready: open_read_req[c].rready, rlast: open_read_rsp[c].rlast
    };
  end

  for (genvar m = 0; m < int'(Memories); m++) begin : g_moves
    assign moves[m] = '{
        awvalid: m_axi_write_o[m].awvalid, awready: m_axi_write_i[m].awready, wvalid: m_axi_write_o[m].wvalid,
        bvalid: m_axi_write_i[m].bvalid, bready: m_axi_write_o[m].bready, arvalid: m_axi_read_o[m].arvalid,
        arready: m_axi_read_i[m].arready, rvalid: m_axi_read_i[m].rvalid, rready: m_axi_read_o[m].rready, rlast: m_axi_read_i[m].rlast
    };
  end

  // ---- Events ----
  logic [Columns-1:0] refused_valid, dropped_valid, taken_valid;

  for (genvar i = 0; i < int'(Columns); i++) begin : g_events
    drop_e reason;

    always_comb begin
      reason = DropBadFrame;
      if (refused[i].reason == FateLength) reason = refused[i].bytes < 16'(MinFrameBytes) ? DropRunt : DropOversize;
    end

    assign ev_in_o[i] = '{
        valid: refused[i].valid, reason: reason, class_: refused[i].class_, len: refused[i].bytes, user: refused[i].user
    };
    assign ev_dropped_o[i] = '{valid: dropped[i].valid, class_: dropped[i].class_, len: dropped[i].bytes, user: dropped[i].user};
    assign ev_overdue_o[i] = '{valid: overdue[i].valid, class_: overdue[i].class_, len: overdue[i].bytes, user: overdue[i].user};
    assign ev_taken_o[i] = '{
        valid: taken[i].valid, class_: taken[i].class_, len: taken[i].bytes, user: taken[i].user, deadline: taken[i].deadline
    };
    assign ev_expired_o[i]  = '{valid: expired[i].valid, class_: expired[i].class_, len: expired[i].bytes, user: expired[i].user};
    assign ev_late_o[i]     = '{valid: late[i].valid, class_: late[i].class_, len: late[i].bytes, user: late[i].user};
    assign ev_passed_o[i]   = '{
        valid: passed[i].valid, lost: passed[i].lost, class_: passed[i].class_, frames: passed[i].frames, bytes: passed[i].bytes
    };
    assign refused_valid[i] = refused[i].valid;
    assign dropped_valid[i] = dropped[i].valid;
    assign taken_valid[i]   = taken[i].valid;
  end

  // What is under way, from the input to the memories and the line; it closes the columns' AXI4 while all is at rest.
  pst_deadline_wide_drain #(
      .Columns(Columns), .Memories(Memories), .MaxOutstanding(2 * Outstanding + 64)
  ) u_drain (
      .clk_i, .rst_i, .stop_i(stop),
      .half_i(half), .busy_i(busy), .open_o(in_open),
      .begins_i(word_valid && word_ready ? begins : '0), .refused_i(refused_valid), .dropped_i(dropped_valid), .taken_i(taken_valid),
      .sending_i(sending), .column_i(column_moves), .axi_i(moves),
      .outstanding_o(outstanding), .done_o(drained)
  );

  // ---- Words out; what has left: where a frame ends, class and length are those of the segment in which it began ----
  pst_deadline_wide_ports_pkg::gone_t [Columns-1:0] left;
  logic [7:0] left_class, left_class_q;
  logic [15:0] left_bytes, left_bytes_q, left_user, left_user_q;

  always_comb begin
    m_axis_o        = '0;
    m_axis_o.tvalid = out_valid;
    m_axis_o.tlast  = 1'b1;
    left_class      = left_class_q;
    left_bytes      = left_bytes_q;
    left_user       = left_user_q;
    for (int unsigned s = 0; s < Columns; s++) begin
      segment_t user;
      user = '0;
      if (out[s].used) begin
        user.last = out[s].last;
        if (out[s].first) begin
          user.first  = 1'b1;
          user.class_ = out[s].class_;
          user.user   = out[s].user;
          left_class  = out[s].class_;
          left_bytes  = out[s].bytes;
          left_user   = out[s].user;
        end
        m_axis_o.tkeep[64*s+:64] = out[s].last ? {64{1'b1}} >> (7'd64 - out[s].bytes_last) : '1;
      end
      m_axis_o.tuser[$bits(segment_t)*s+:$bits(segment_t)] = user;
      m_axis_o.tdata[512*s+:512] = out[s].data;
      left[s] = '{
          valid: out_valid && m_axis_i.tready && out[s].used && out[s].last, class_: left_class, len: left_bytes, user: left_user
      };
    end
  end

  always_ff @(posedge clk_i) begin
    if (out_valid && m_axis_i.tready) begin
      left_class_q <= left_class;
      left_bytes_q <= left_bytes;
      left_user_q  <= left_user;
    end
  end

  // ---- Counters and registers ----
  logic read_valid, answer_valid, counters_done;
  class_t read_class;
  logic [FrameWidth-1:0] in_frames, out_frames, missed_frames, lost_frames, no_page_frames;
  logic [ByteWidth-1:0] in_bytes, sent_bytes, missed_bytes, lost_bytes, no_page_bytes;
  logic [15:1][FrameWidth-1:0] dropped_frames;
  logic [15:1][ByteWidth-1:0] dropped_bytes;
  logic [31:0] lost_now;

  pst_deadline_wide_counters #(
      .Classes(Classes), .Columns(Columns), .FrameWidth(FrameWidth), .ByteWidth(ByteWidth)
  ) u_counters (
      .clk_i, .rst_i, .init_done_o(counters_done),
      .refused_i(ev_in_o), .dropped_i(ev_dropped_o), .out_i(left), .overdue_i(ev_overdue_o),
      .taken_i(ev_taken_o), .expired_i(ev_expired_o), .late_i(ev_late_o), .passed_i(ev_passed_o),
      .read_valid_i(read_valid), .read_class_i(read_class), .read_valid_o(answer_valid),
      .in_frames_o(in_frames), .in_bytes_o(in_bytes), .out_frames_o(out_frames), .out_bytes_o(sent_bytes),
      .missed_frames_o(missed_frames), .missed_bytes_o(missed_bytes), .lost_frames_o(lost_frames), .lost_bytes_o(lost_bytes),
      .no_page_frames_o(no_page_frames), .no_page_bytes_o(no_page_bytes),
      .dropped_frames_o(dropped_frames), .dropped_bytes_o(dropped_bytes), .lost_now_o(lost_now)
  );

  pst_deadline_control #(
      .Classes(Classes), .ClassFromUser(ClassFromUser), .ChunkBytes(64 * ChunkBeats), .Chunks(Columns * Chunks),
      .Memories(Memories), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes), .TickCycles(TickCycles), .Stamps(Stamps),
      .DefaultCycles(DefaultCycles), .ClockHz(ClockHz), .FrameWidth(FrameWidth), .ByteWidth(ByteWidth)
  ) u_control (
      .clk_i, .rst_i,
      .s_axil_i, .s_axil_o,
      .m_class_valid_o(class_valid), .m_class_ready_i(class_ready), .m_class_o(class_id), .m_class_cycles_o(class_cycles),
      .m_dscp_valid_o(dscp_valid), .m_dscp_o(dscp), .m_dscp_class_o(dscp_class), .limit_o(limit),
      .read_valid_o(read_valid), .read_class_o(read_class), .read_valid_i(answer_valid),
      .in_frames_i(in_frames), .in_bytes_i(in_bytes), .out_frames_i(out_frames), .out_bytes_i(sent_bytes),
      .missed_frames_i(missed_frames), .missed_bytes_i(missed_bytes), .lost_frames_i(lost_frames), .lost_bytes_i(lost_bytes),
      .no_page_frames_i(no_page_frames), .no_page_bytes_i(no_page_bytes),
      .dropped_frames_i(dropped_frames), .dropped_bytes_i(dropped_bytes),
      .overflow_i, .lost_now_i(lost_now), .irq_o, .drain_stop_o(stop), .drain_done_i(drained), .drain_outstanding_i(outstanding),
      .free_i(free_q), .init_done_i(init_q)
  );

  always_comb begin
    free = '0;
    for (int unsigned c = 0; c < Columns; c++) free += AllWidth'(port_free[c]);
  end

  always_ff @(posedge clk_i) begin
    init_q <= !rst_i && port_done && counters_done;
    free_q <= free;
  end

  assign init_done_o = init_q;

  // Deadlines of frames that leave.
  logic unused;
  assign unused = ^{s_axis_i, out};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && m_axis_o.tvalid) a_no_empty_word : assert (m_axis_o.tkeep != '0);
  end
`endif

endmodule
