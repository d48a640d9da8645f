// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The head side of all classes: fetches chunks ahead, offers the frames at the classes' heads to the encoder, and sends those that it takes.
//
// Chunks of a class come from memory (AXI4 reads of a whole chunk, one id) or from the loop, in order, into its places; headers go on to a
// short queue of each class, whose front the encoder sees; the data of a frame that it takes are read and sent at once, or not at all when
// its deadline is over by then. A skip gives back what the class has in memory before the stamp's chunk by one splice, and passes over
// what stands in its places; what is in its queue already (Lines frames at most) the encoder drops.
//
// Throughput: a beat per cycle in and out at any alignment, a frame per cycle, also of one class.
// Latency:    9 cycles from a chunk's last beat to m_head, 7 from a take to the frame's first beat, when nothing is before it.
// Order:      FIFO in each class; frames leave in the order in which they are taken.
// Reset:      all is forgotten; memory, lists and tail have to be reset with it. A walk of Classes cycles follows, then init_done_o.
module pst_deadline_head
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes       = 64,    // 2..256
    parameter int unsigned ChunkBeats    = 64,    // beats of 64 byte of a chunk: 8, 16, 32, 64
    parameter int unsigned Places        = 4,     // chunks of a class on the head side: 2, 4, 8, 16; the longest frame fits
    parameter int unsigned Chunks        = 4096,  // in memory, up to 2^20
    parameter int unsigned MinFrameBytes = 60,    // >= 8
    parameter int unsigned MaxFrameBytes = 9600,
    parameter int unsigned Lines         = 16,    // headers of a class that are at hand, a power of two, 4..64
    parameter int unsigned Reads         = 16,    // chunks on their way from memory, 2..64
    parameter int unsigned Decided       = 4,     // frames between decision and data, 2..64
    parameter bit          NoDeadlines   = 1'b0,  // now_i stands still
    parameter int unsigned Columns       = 1,     // of a wide port that this is a column of: 1 (it is none), 2, 4, 8
    parameter int unsigned RunFrames     = 16,    // frames of a class in a row in one column, a power of two, 2..256
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned AddrWidth  = $clog2(Chunks * ChunkBeats) + 6,
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    output logic                               init_done_o,
    input  time_t                              now_i,               // this cycle's number
    // chunks that pass by memory
    input  pst_deadline_ports_pkg::loop_t      s_loop_i,
    output logic                               s_loop_ready_o,
    output logic [Classes-1:0]                 loop_ok_o,           // nothing in memory or on its way from there, and a place is free
    output logic [Classes-1:0]                 dry_o,               // nothing in memory, on its way, or here and not handed over yet
    // chunks that are in memory now, on their way to the lists
    input  pst_deadline_ports_pkg::push_t      s_push_i,
    output logic                               s_push_ready_o,
    output pst_deadline_ports_pkg::push_t      m_push_o,
    input  logic                               m_push_ready_i,
    // lists: the first chunk of a class, answered in order; a chunk comes back; the first `count` of a class do
    output pst_deadline_ports_pkg::of_class_t  m_pop_o,
    input  logic                               m_pop_ready_i,
    input  pst_deadline_ports_pkg::popped_t    s_popped_i,
    output pst_deadline_ports_pkg::free_t      m_free_o,
    input  logic                               m_free_ready_i,
    output pst_deadline_ports_pkg::splice_t    m_splice_o,
    input  logic                               m_splice_ready_i,
    // AXI4 read master: a burst is a chunk
    output pst_axi_pkg::read_req_t             m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t             m_axi_read_i,
    // what is over: all frames that begin in chunks before the stamp's serial
    input  pst_deadline_ports_pkg::skip_t      s_skip_i,
    output logic                               s_skip_ready_o,
    // column of a wide port, see pst_edfr: all of these inputs but hold_i are 0 where Columns is 1
    input  logic [2:0]                         column_i,
    input  pst_deadline_ports_pkg::of_class_t  s_token_i,
    output pst_deadline_ports_pkg::of_class_t  m_token_o,
    input  logic                               hold_i,              // nothing is to be taken to be sent
    output pst_deadline_ports_pkg::decided_t   m_decided_o,
    // encoder
    output pst_deadline_ports_pkg::head_t      m_head_o,
    input  logic                               m_head_ready_i,
    output logic                               take_ready_o,        // a frame may be taken to be sent
    input  pst_deadline_ports_pkg::take_t      take_i,
    output pst_deadline_ports_pkg::next_t      next_o,
    // frames out
    output pst_deadline_ports_pkg::frame_out_t m_o,
    input  logic                               m_ready_i,
    // frames that are gone: dropped by the encoder; by the last check; skipped; lost by a memory error
    output pst_deadline_ports_pkg::gone_t      ev_expired_o,
    output pst_deadline_ports_pkg::gone_t      ev_late_o,
    output pst_deadline_ports_pkg::passed_t    ev_passed_o,
    // a frame has been decided to be sent and has not left
    output logic                               sending_o
);

  localparam int unsigned PtrWidth    = $clog2(Places) + 1;
  localparam int unsigned FillWidth   = $clog2(Lines) + 1;
  localparam int unsigned PlaceWidth  = ClassWidth + PtrWidth - 1;
  localparam int unsigned RowWidth    = PlaceWidth + $clog2(ChunkBeats) - 1;
  localparam int unsigned HeaderBeats = most_frames(ChunkBeats, MinFrameBytes) / BeatUnits + 1;
  localparam int unsigned LineWidth   = HeaderBeats > 1 ? $clog2(HeaderBeats) : 1;
  localparam int unsigned LevelWidth  = $clog2(Decided + 1);
  localparam int unsigned MarkWidth   = 16;

  if (Classes < 2 || Classes > 256) begin : g_bad_classes
    $error("pst_deadline_head: Classes is %0d, allowed: 2..256", Classes);
  end
  if (ChunkBeats < 8 || ChunkBeats > 64 || ChunkBeats != 2 ** $clog2(ChunkBeats)) begin : g_bad_chunk
    $error("pst_deadline_head: ChunkBeats is %0d, allowed: 8, 16, 32, 64", ChunkBeats);
  end
  if (Places < 2 || Places > 16 || Places != 2 ** $clog2(Places)) begin : g_bad_places
    $error("pst_deadline_head: Places is %0d, allowed: 2, 4, 8, 16", Places);
  end
  if (Places < most_further(ChunkBeats, MaxFrameBytes) + 1) begin : g_bad_frame
    $error("pst_deadline_head: a frame of %0d byte can lie in %0d chunks, more than Places (%0d)", MaxFrameBytes,
           most_further(ChunkBeats, MaxFrameBytes) + 1, Places);
  end
  if (Chunks < 4 || Chunks > 2 ** NumberWidth) begin : g_bad_chunks
    $error("pst_deadline_head: Chunks is %0d, allowed: 4..1048576", Chunks);
  end
  if (Lines < 4 || Lines > 64 || Lines != 2 ** $clog2(Lines)) begin : g_bad_lines
    $error("pst_deadline_head: Lines is %0d, allowed: 4, 8, 16, 32, 64", Lines);
  end
  if (Reads < 2 || Reads > 64 || Decided < 2 || Decided > 64) begin : g_bad_queues
    $error("pst_deadline_head: Reads (%0d) and Decided (%0d) must be 2..64", Reads, Decided);
  end

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [PtrWidth-1:0] ptr_t;

  logic unused_classes;    // bits above ClassWidth
  assign unused_classes = ^{s_loop_i.class_, s_skip_i.class_, take_i.class_};

  // ---- Clearing walk ----
  logic init_q;
  class_t init_class_q;

  assign init_done_o = !init_q;

  always_ff @(posedge clk_i) begin
    if (init_q) init_class_q <= init_class_q + 1'b1;
    if (init_class_q == class_t'(Classes - 1)) init_q <= 1'b0;
    if (rst_i) begin
      init_q       <= 1'b1;
      init_class_q <= '0;
    end
  end

  // ---- A skip at a time: it is counted first, then what the class has in memory goes ----
  typedef enum logic [1:0] {SkipIdle, SkipCount, SkipCut} skip_e;
  skip_e skip_step_q;
  class_t skip_class_q;
  stamp_t skip_q;
  logic skip_done, skip_hit, cut_done;

  assign s_skip_ready_o      = skip_step_q == SkipIdle && !init_q;
  assign m_splice_o.number   = skip_q.number;
  assign m_splice_o.previous = skip_q.previous;

  always_ff @(posedge clk_i) begin
    case (skip_step_q)
      SkipIdle:  if (s_skip_i.valid && !init_q) skip_step_q <= SkipCount;
      SkipCount: if (skip_done) skip_step_q <= skip_hit ? SkipCut : SkipIdle;
      default:   if (cut_done) skip_step_q <= SkipIdle;
    endcase
    if (skip_step_q == SkipIdle) begin
      skip_class_q <= class_t'(s_skip_i.class_);
      skip_q       <= s_skip_i.stamp;
    end
    if (rst_i) skip_step_q <= SkipIdle;
  end

  // ---- Fetch ----
  ptr_t [Classes-1:0] given, landed, whole;
  logic [Classes-1:0] in_memory, loop_ok, read_out;
  logic release_valid, loop_wanted, loop_given, read_valid, read_ready, read_bad, loop_ready;
  class_t release_class, read_class;
  ptr_t loop_place, read_place;
  serial_t read_serial;

  class_t splice_class;

  assign m_push_o.class_   = s_push_i.class_;
  assign m_push_o.number   = s_push_i.number;
  assign m_push_o.bad      = s_push_i.bad;
  assign m_splice_o.class_ = 8'(splice_class);

  logic [AddrWidth-1:0] read_address;

  pst_deadline_fetch #(
      .Classes(Classes), .ChunkBeats(ChunkBeats), .Places(Places), .Chunks(Chunks), .Reads(Reads)
  ) u_fetch (
      .clk_i, .rst_i, .init_i(init_q), .init_class_i(init_class_q),
      .given_o(given), .landed_i(landed), .release_valid_i(release_valid), .release_class_i(release_class),
      .in_memory_o(in_memory), .loop_ok_o(loop_ok),
      .loop_i('{valid: loop_wanted, class_: s_loop_i.class_, serial: s_loop_i.serial}),
      .loop_given_o(loop_given), .loop_place_o(loop_place),
      .s_push_i('{valid: s_push_i.valid, class_: s_push_i.class_}), .s_push_ready_o, .m_push_valid_o(m_push_o.valid), .m_push_ready_i,
      .m_pop_o, .m_pop_ready_i, .s_popped_i,
      .m_splice_valid_o(m_splice_o.valid), .m_splice_ready_i, .m_splice_class_o(splice_class), .m_splice_all_o(m_splice_o.all),
      .m_splice_count_o(m_splice_o.count),
      .cut_i('{valid: skip_step_q == SkipCut, class_: 8'(skip_class_q), serial: skip_q.serial}), .cut_done_o(cut_done),
      .m_axi_arvalid_o(m_axi_read_o.arvalid), .m_axi_arready_i(m_axi_read_i.arready), .m_axi_araddr_o(read_address),
      .m_axi_arlen_o(m_axi_read_o.arlen),
      .m_read_valid_o(read_valid), .m_read_ready_i(read_ready), .m_read_class_o(read_class), .m_read_place_o(read_place),
      .m_read_serial_o(read_serial), .m_read_bad_o(read_bad),
      .m_free_o, .m_free_ready_i
  );

  assign m_axi_read_o.araddr = pst_axi_pkg::addr_t'(read_address);

  // ---- Landing ----
  logic landed_valid, word_read, word_bad, word_bank, word_cut, line_read, data_read;
  class_t landed_class;
  logic [PlaceWidth-1:0] word_place, line_place;
  meta_t word_meta;
  serial_t word_serial;
  logic [LineWidth-1:0] line_beat;
  logic [DataWidth-1:0] line;
  logic [1:0][RowWidth-1:0] data_row;
  logic [1:0][DataWidth-1:0] data;

  assign s_loop_ready_o = loop_ready;

  pst_deadline_land #(
      .Classes(Classes), .ChunkBeats(ChunkBeats), .Places(Places), .HeaderBeats(HeaderBeats)
  ) u_land (
      .clk_i, .rst_i,
      .s_read_valid_i(read_valid), .s_read_ready_o(read_ready), .s_read_class_i(read_class), .s_read_place_i(read_place),
      .s_read_serial_i(read_serial), .s_read_bad_i(read_bad),
      .m_axi_rvalid_i(m_axi_read_i.rvalid), .m_axi_rready_o(m_axi_read_o.rready), .m_axi_rdata_i(m_axi_read_i.rdata),
      .m_axi_rresp_i(m_axi_read_i.rresp), .m_axi_rlast_i(m_axi_read_i.rlast),
      .s_loop_valid_i(s_loop_i.valid), .s_loop_ready_o(loop_ready), .s_loop_class_i(class_t'(s_loop_i.class_)),
      .s_loop_serial_i(s_loop_i.serial), .s_loop_data_i(s_loop_i.data), .s_loop_last_i(s_loop_i.last),
      .loop_wanted_o(loop_wanted), .loop_given_i(loop_given), .loop_place_i(loop_place),
      .landed_valid_o(landed_valid), .landed_class_o(landed_class), .landed_o(landed), .whole_o(whole),
      .word_read_i(word_read), .word_place_i(word_place), .word_meta_o(word_meta), .word_serial_o(word_serial), .word_bad_o(word_bad),
      .word_bank_o(word_bank), .word_cut_o(word_cut),
      .line_read_i(line_read), .line_place_i(line_place), .line_beat_i(line_beat), .line_o(line),
      .data_read_i(data_read), .data_row_i(data_row), .data_o(data)
  );

  always_comb begin
    for (int unsigned c = 0; c < Classes; c++) dry_o[c] = read_out[c] && !in_memory[c] && landed[c] == given[c];
  end
  assign loop_ok_o = loop_ok;

  // ---- Headers, one by one ----
  logic line_valid, line_skip, line_bare, line_bank, line_first, line_last, passed_valid, passed_ready;
  class_t line_class, asked_class, passed_class;
  logic [PtrWidth-2:0] line_at;
  header_t line_header;
  meta_t line_meta;
  logic [FillWidth-1:0] taken_count;

  pst_deadline_lines #(
      .Classes(Classes), .Places(Places), .HeaderBeats(HeaderBeats), .Lines(Lines)
  ) u_lines (
      .clk_i, .rst_i, .init_i(init_q), .init_class_i(init_class_q),
      .landed_valid_i(landed_valid), .landed_class_i(landed_class), .landed_i(landed), .whole_i(whole), .read_o(read_out),
      .word_read_o(word_read), .word_place_o(word_place), .word_meta_i(word_meta), .word_serial_i(word_serial), .word_bad_i(word_bad),
      .word_bank_i(word_bank), .word_cut_i(word_cut),
      .line_read_o(line_read), .line_place_o(line_place), .line_beat_o(line_beat), .line_i(line),
      .taken_valid_i(take_i.valid), .taken_class_i(class_t'(take_i.class_)), .asked_class_o(asked_class), .taken_count_i(taken_count),
      .passed_valid_o(passed_valid), .passed_ready_i(passed_ready), .passed_class_o(passed_class),
      .skip_i('{valid: skip_step_q == SkipCount, class_: 8'(skip_class_q), serial: skip_q.serial}),
      .skip_done_i(skip_done), .skip_hit_i(skip_hit),
      .m_valid_o(line_valid), .m_skip_o(line_skip), .m_bare_o(line_bare), .m_class_o(line_class), .m_place_o(line_at),
      .m_header_o(line_header), .m_meta_o(line_meta), .m_bank_o(line_bank), .m_first_o(line_first), .m_last_o(line_last)
  );

  pst_deadline_ports_pkg::taken_t taken;
  class_t frame_class;
  logic [LevelWidth-1:0] waiting;
  logic frame_sent, unused_taken;

  assign frame_class  = class_t'(taken.class_);
  assign frame_sent   = taken.valid && !taken.drop;
  assign unused_taken = ^{taken.class_, taken.place};    // bits above their widths

  pst_deadline_queues #(
      .Classes(Classes), .Places(Places), .Lines(Lines), .Decided(Decided), .Columns(Columns), .RunFrames(RunFrames),
      .Pairs(Columns > 1 && MaxFrameBytes > 64)
  ) u_queues (
      .clk_i, .rst_i, .init_i(init_q), .init_class_i(init_class_q),
      .s_valid_i(line_valid), .s_skip_i(line_skip), .s_bare_i(line_bare), .s_class_i(line_class), .s_place_i(line_at),
      .s_header_i(line_header), .s_meta_i(line_meta), .s_bank_i(line_bank), .s_first_i(line_first), .s_last_i(line_last),
      .skip_frames_i(skip_q.frames), .skip_bytes_i(skip_q.bytes), .skip_done_o(skip_done), .skip_hit_o(skip_hit),
      .ev_passed_o, .column_i, .s_token_i, .m_token_o, .hold_i, .m_head_o, .m_head_ready_i, .take_ready_o, .take_i, .next_o,
      .asked_class_i(asked_class), .taken_count_o(taken_count), .m_frame_o(taken), .waiting_i(waiting)
  );

  assign ev_expired_o = '{
      valid: taken.valid && taken.drop, class_: taken.class_, bytes: taken.header.bytes, user: taken.header.user
  };
  assign m_decided_o  = '{
      valid: frame_sent, class_: taken.class_, segments: taken.pair ? 11'd2 : 11'((17'(taken.header.bytes) + 17'd63) >> 6),
      pair: taken.pair
  };

  // ---- Frames to send ----
  typedef struct packed {
    class_t              class_id;
    logic [PtrWidth-2:0] place;
    logic [9:0]          start;
    logic [6:0]          beats;
    logic                bank;
    header_t             header;
    logic                pair;
    header_t             second;
  } frame_t;

  frame_t deciding, frame;
  class_t out_class, late_class;
  logic send_valid, send_done, send_busy, unused_room;

  assign deciding  = '{
      class_id: frame_class, place: (PtrWidth-1)'(taken.place), start: taken.start, beats: taken.beats, bank: taken.bank,
      header: taken.header, pair: taken.pair, second: taken.second
  };
  assign sending_o = frame_sent || send_valid || send_busy;

  pst_fifo #(
      .Width($bits(frame_t)), .Depth(Decided)
  ) u_decided (
      .clk_i, .rst_i,
      .s_valid_i(frame_sent), .s_ready_o(unused_room), .s_data_i(deciding),
      .m_valid_o(send_valid), .m_ready_i(send_done), .m_data_o(frame), .level_o(waiting)
  );

  pst_deadline_sender #(
      .Classes(Classes), .ChunkBeats(ChunkBeats), .Places(Places), .Voids(Columns > 1), .NoDeadlines(NoDeadlines)
  ) u_sender (
      .clk_i, .rst_i, .now_i,
      .s_frame_valid_i(send_valid), .s_frame_ready_o(send_done), .s_frame_class_i(frame.class_id), .s_frame_place_i(frame.place),
      .s_frame_start_i(frame.start), .s_frame_beats_i(frame.beats), .s_frame_bank_i(frame.bank), .s_frame_header_i(frame.header),
      .s_frame_pair_i(frame.pair), .s_frame_second_i(frame.second),
      .data_read_o(data_read), .data_row_o(data_row), .data_i(data),
      .m_valid_o(m_o.valid), .m_ready_i, .m_data_o(m_o.data), .m_last_o(m_o.last), .m_void_o(m_o.void_), .m_bytes_last_o(m_o.bytes_last),
      .m_class_o(out_class), .m_user_o(m_o.user), .m_deadline_o(m_o.deadline),
      .ev_late_valid_o(ev_late_o.valid), .ev_late_class_o(late_class), .ev_late_bytes_o(ev_late_o.bytes), .ev_late_user_o(ev_late_o.user),
      .busy_o(send_busy)
  );

  assign m_o.class_       = 8'(out_class);
  assign ev_late_o.class_ = 8'(late_class);

  // ---- Places come back when the frames that were decided before have been read: a mark says how many that were ----
  typedef logic [MarkWidth-1:0] mark_t;
  mark_t decided_q, sent_q, back_mark, back_ahead;
  logic back_valid, back_room, give_back;

  assign give_back     = taken.valid && taken.last;
  assign passed_ready  = !give_back;
  assign back_ahead    = sent_q - back_mark;
  assign release_valid = back_valid && !back_ahead[MarkWidth-1];

  always_ff @(posedge clk_i) begin
    decided_q <= decided_q + mark_t'(take_i.valid && !take_i.drop);
    sent_q    <= sent_q + mark_t'(send_valid && send_done);
    if (rst_i) begin
      decided_q <= '0;
      sent_q    <= '0;
    end
  end

  pst_ram_fifo #(
      .Width(ClassWidth + MarkWidth), .Depth(2 ** $clog2(Classes * Places))
  ) u_back (
      .clk_i, .rst_i,
      .s_valid_i(give_back || passed_valid), .s_ready_o(back_room), .s_data_i({give_back ? frame_class : passed_class, decided_q}),
      .s_commit_i(1'b1), .s_rewind_i(1'b0), .s_overrun_o(),
      .m_valid_o(back_valid), .m_ready_i(release_valid), .m_data_o({release_class, back_mark})
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_decided_has_room : assert (unused_room || !frame_sent);
      a_back_has_room : assert (back_room || !(give_back || passed_valid));
    end
  end
`endif

endmodule
