// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Earliest deadline first with reneging from skip-FIFOs in memory: frames in, frames out by deadline, none of which begins after it.
//
//   frames ─► class ─► due ─► intake ─► tail ─► mover ─┬─► AXI4 ─► memory ─► AXI4 ─┬─► head ─► frames
//             DSCP     cycles  whole    chunks         └────────── loop ───────────┘   ▲ │
//                                        │ looks                 lists of chunks       │ ▼
//                                        └─► stamps ── skips ──────────────────► head  encoder
//
// Throughput: a beat per cycle in and out, a frame of one beat per cycle; what waits in memory crosses the AXI4 port twice, in bursts of a chunk.
// Order:      FIFO in a class; by deadline among the heads of the classes.
// Conservation: each frame in is one of m_* (sent), ev_refused, ev_dropped, ev_expired, ev_late, ev_passed, or inside.
// Reset:      all is forgotten, settings too; memory has to be reset with it, or its answers awaited. Then init_done_o after some walks.
module pst_edfr
  import pst_deadline_pkg::*;
#(
    parameter int unsigned              Classes        = 64,       // 2..256
    parameter bit                       ClassFromUser  = 1'b0,     // s_class_i is the class; else a table says which one a DSCP has
    parameter bit                       ArrivedGiven   = 1'b0,     // frames wait from s_arrived_i on; else from their first beat here
    parameter int unsigned              ChunkBeats     = 64,       // beats of 64 byte of a chunk: 8, 16, 32, 64
    parameter int unsigned              Chunks         = 4096,     // in memory, up to 2^20; each class may keep two that are empty
    parameter int unsigned              Places         = 4,        // chunks of a class on the head side: 2, 4, 8, 16
    parameter int unsigned              Lines          = 16,       // headers of a class at hand: 4, 8, 16, 32, 64
    parameter int unsigned              Reads          = 16,       // chunks on their way from memory, 2..64
    parameter int unsigned              Writes         = 16,       // chunks on their way to memory, >= 2
    parameter int unsigned              Decided        = 4,        // frames between decision and data, 2..64
    parameter int unsigned              MinFrameBytes  = 60,       // >= 8
    parameter int unsigned              MaxFrameBytes  = 9600,     // 64..65535, and Places chunks hold it
    parameter int unsigned              StoreBeats     = 512,      // of frames whose end has not come, a power of two
    parameter int unsigned              TickCycles     = 3052,     // between two time stamps of a class; 2 * Classes and more
    parameter logic [Classes-1:0][15:0] Stamps         = {Classes{16'd64}},  // time stamps of each class, see pst_deadline_stamps
    parameter int unsigned              DefaultCycles  = 100000,   // for which frames of a class wait that was not set, below 2^30
    parameter bit                       NoDeadlines    = 1'b0,     // time stands still: a plain FIFO of each class, nothing is over
    parameter int unsigned              StartTime      = 0,        // of the clock, at reset; tests begin shortly before it wraps
    parameter int unsigned              Columns        = 1,        // of a wide port that this is a column of: 1 (it is none), 2, 4, 8
    parameter int unsigned              RunFrames      = 16,       // frames of a class in a row in one column, a power of two, 2..256
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned CountWidth = $clog2(Chunks + 1),
    localparam int unsigned AddrWidth  = $clog2(Chunks * ChunkBeats) + 6,
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    output logic                   init_done_o,
    output time_t                  now_o,               // this cycle's number: deadlines are on this clock
    // settings: class of a DSCP, 64 and above: of all else; for how many cycles frames of a class may wait, below 2^30
    input  logic                   set_dscp_valid_i,
    input  logic [            6:0] set_dscp_i,
    input  logic [ ClassWidth-1:0] set_dscp_class_i,
    input  logic                   s_set_valid_i,
    output logic                   s_set_ready_o,
    input  logic [ ClassWidth-1:0] s_set_class_i,
    input  logic [           31:0] s_set_cycles_i,
    input  logic [ CountWidth-1:0] limit_i,             // chunks in use at most: a frame that would take a further one is dropped; 0: all
    // frames in
    input  logic                   s_valid_i,
    output logic                   s_ready_o,
    input  logic [  DataWidth-1:0] s_data_i,
    input  logic [            6:0] s_bytes_last_i,      // 1..64, in the last beat
    input  logic                   s_last_i,
    input  logic                   s_bad_i,             // in the last beat
    input  logic [ ClassWidth-1:0] s_class_i,           // with ClassFromUser, at the first beat
    input  logic [           15:0] s_user_i,            // stands beside every beat, comes out with the frame
    input  time_t                  s_arrived_i,         // with ArrivedGiven, at the first beat: a cycle of now_o's that is over
    // frames out
    output logic                   m_valid_o,
    input  logic                   m_ready_i,
    output logic [  DataWidth-1:0] m_data_o,
    output logic [            6:0] m_bytes_last_o,
    output logic                   m_last_o,
    output logic [ ClassWidth-1:0] m_class_o,
    output time_t                  m_deadline_o,
    output logic [           15:0] m_user_o,
    // column of a wide port: which one; where a class's token comes from, and goes to; nothing is to be decided to be sent; what was
    input  logic [            2:0] column_i,            // constant; all of these inputs but hold_i are 0 where Columns is 1
    input  logic                   s_token_valid_i,
    input  logic [ ClassWidth-1:0] s_token_class_i,
    output logic                   m_token_valid_o,
    output logic [ ClassWidth-1:0] m_token_class_o,
    input  logic                   hold_i,
    output logic                   m_decided_valid_o,
    output logic [ ClassWidth-1:0] m_decided_class_o,
    output logic [           10:0] m_decided_segments_o,  // of 64 byte
    output logic                   m_void_o,            // with m_valid_o: the frame is over; a word of no data stands for it
    // AXI4 master: bursts of up to a chunk, one id each way
    output logic                   m_axi_awvalid_o,
    input  logic                   m_axi_awready_i,
    output logic [  AddrWidth-1:0] m_axi_awaddr_o,
    output logic [            7:0] m_axi_awlen_o,
    output logic                   m_axi_wvalid_o,
    input  logic                   m_axi_wready_i,
    output logic [  DataWidth-1:0] m_axi_wdata_o,
    output logic [DataWidth/8-1:0] m_axi_wstrb_o,
    output logic                   m_axi_wlast_o,
    input  logic                   m_axi_bvalid_i,
    output logic                   m_axi_bready_o,
    input  logic [            1:0] m_axi_bresp_i,
    output logic                   m_axi_arvalid_o,
    input  logic                   m_axi_arready_i,
    output logic [  AddrWidth-1:0] m_axi_araddr_o,
    output logic [            7:0] m_axi_arlen_o,
    input  logic                   m_axi_rvalid_i,
    output logic                   m_axi_rready_o,
    input  logic [  DataWidth-1:0] m_axi_rdata_i,
    input  logic [            1:0] m_axi_rresp_i,
    input  logic                   m_axi_rlast_i,
    // events: refused at the input (FateBad, FateLength); through the tail (FateTaken, FateNoChunk)
    output logic                   ev_refused_valid_o,
    output logic [ ClassWidth-1:0] ev_refused_class_o,
    output logic [           31:0] ev_refused_bytes_o,
    output fate_e                  ev_refused_reason_o,
    output logic [           15:0] ev_refused_user_o,
    output logic                   ev_fate_valid_o,
    output logic [ ClassWidth-1:0] ev_fate_class_o,
    output logic [           15:0] ev_fate_bytes_o,
    output fate_e                  ev_fate_reason_o,
    output logic [           15:0] ev_fate_user_o,
    output time_t                  ev_fate_deadline_o,
    // over: found by the encoder, by the last check; passed over by a skip, or lost by a memory error
    output logic                   ev_expired_valid_o,
    output logic [ ClassWidth-1:0] ev_expired_class_o,
    output logic [           15:0] ev_expired_bytes_o,
    output logic [           15:0] ev_expired_user_o,
    output logic                   ev_late_valid_o,
    output logic [ ClassWidth-1:0] ev_late_class_o,
    output logic [           15:0] ev_late_bytes_o,
    output logic [           15:0] ev_late_user_o,
    output logic                   ev_passed_valid_o,
    output logic                   ev_passed_lost_o,
    output logic [ ClassWidth-1:0] ev_passed_class_o,
    output logic [           31:0] ev_passed_frames_o,
    output logic [           39:0] ev_passed_bytes_o,
    // state: chunks that are free; a frame has been decided to be sent and has not left
    output logic [ CountWidth-1:0] free_o,
    output logic                   sending_o
);

  if (Chunks < 2 * Classes + 2 * (most_further(ChunkBeats, MaxFrameBytes) + 1)) begin : g_bad_chunks
    $error("pst_edfr: Chunks is %0d, too few for %0d classes and frames of %0d byte", Chunks, Classes, MaxFrameBytes);
  end
  // In each tick a look at each class goes before the chunks that wait to go to the memory: these have as many cycles.
  if (TickCycles < 2 * Classes) begin : g_bad_tick
    $error("pst_edfr: TickCycles is %0d, allowed: %0d and more, two for each of Classes", TickCycles, 2 * Classes);
  end

  localparam int unsigned BeatWidth   = $clog2(ChunkBeats);
  localparam int unsigned ChunksWidth = $clog2(Chunks);
  localparam int unsigned TickWidth   = $clog2(TickCycles);

  typedef logic [ClassWidth-1:0] class_t;

  // ---- Time ----
  time_t now_q;
  logic [TickWidth-1:0] tick_count_q;
  logic tick_q;

  assign now_o = now_q;

  always_ff @(posedge clk_i) begin
    now_q        <= now_q + time_t'(!NoDeadlines);
    tick_q       <= tick_count_q == TickWidth'(TickCycles - 1);
    tick_count_q <= tick_count_q == TickWidth'(TickCycles - 1) ? '0 : tick_count_q + 1'b1;
    if (rst_i) begin
      now_q        <= time_t'(StartTime);
      tick_count_q <= '0;
      tick_q       <= 1'b0;
    end
  end

  logic tail_done, head_done, stamps_done, lists_done, due_done;
  assign init_done_o = tail_done && head_done && stamps_done && lists_done && due_done;

  // ---- Class and deadline of a frame ----
  logic class_valid, class_ready, class_last, class_bad, due_valid, due_ready, due_last, due_bad;
  logic [DataWidth-1:0] class_data, due_data;
  logic [6:0] class_bytes, due_bytes;
  class_t class_class, due_class, set_class;
  logic [15:0] class_user, due_user;
  time_t class_arrived;
  time_t due_deadline;
  logic set_valid, set_ready;
  logic [31:0] set_cycles;

  pst_dscp_class #(
      .Classes(Classes), .ClassFromUser(ClassFromUser), .UserWidth(16 + $bits(time_t))
  ) u_class (
      .clk_i, .rst_i,
      .set_valid_i(set_dscp_valid_i), .set_dscp_i, .set_class_i(set_dscp_class_i),
      .s_valid_i, .s_ready_o, .s_data_i, .s_bytes_i(s_bytes_last_i), .s_last_i, .s_bad_i, .s_class_i,
      .s_user_i({s_arrived_i, s_user_i}),
      .m_valid_o(class_valid), .m_ready_i(class_ready), .m_data_o(class_data), .m_bytes_o(class_bytes), .m_last_o(class_last),
      .m_bad_o(class_bad), .m_class_o(class_class), .m_user_o({class_arrived, class_user})
  );

  pst_deadline_due #(
      .Classes(Classes), .DefaultCycles(DefaultCycles), .StoreFrames(StoreBeats + 16), .ArrivedGiven(ArrivedGiven)
  ) u_due (
      .clk_i, .rst_i, .init_done_o(due_done), .now_i(now_q),
      .s_set_valid_i, .s_set_ready_o, .s_set_class_i, .s_set_cycles_i,
      .m_set_valid_o(set_valid), .m_set_ready_i(set_ready), .m_set_class_o(set_class), .m_set_cycles_o(set_cycles),
      .s_valid_i(class_valid), .s_ready_o(class_ready), .s_data_i(class_data), .s_bytes_last_i(class_bytes), .s_last_i(class_last),
      .s_bad_i(class_bad), .s_class_i(class_class), .s_user_i(class_user), .s_arrived_i(class_arrived),
      .m_valid_o(due_valid), .m_ready_i(due_ready), .m_data_o(due_data), .m_bytes_last_o(due_bytes), .m_last_o(due_last),
      .m_bad_o(due_bad), .m_class_o(due_class), .m_deadline_o(due_deadline), .m_user_o(due_user),
      .refused_i(ev_refused_valid_o), .fate_i(ev_fate_valid_o)
  );

  // ---- Whole frames into chunks ----
  logic meta_valid, meta_ready, data_valid, data_ready;
  class_t meta_class;
  header_t meta_header;
  logic [DataWidth-1:0] data;

  pst_deadline_intake #(
      .Classes(Classes), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes), .StoreBeats(StoreBeats)
  ) u_intake (
      .clk_i, .rst_i,
      .s_valid_i(due_valid), .s_ready_o(due_ready), .s_data_i(due_data), .s_bytes_last_i(due_bytes), .s_last_i(due_last),
      .s_bad_i(due_bad), .s_class_i(due_class), .s_deadline_i(due_deadline), .s_user_i(due_user),
      .m_refused_valid_o(ev_refused_valid_o), .m_refused_class_o(ev_refused_class_o), .m_refused_bytes_o(ev_refused_bytes_o),
      .m_refused_reason_o(ev_refused_reason_o), .m_refused_user_o(ev_refused_user_o),
      .m_meta_valid_o(meta_valid), .m_meta_ready_i(meta_ready), .m_meta_class_o(meta_class), .m_meta_header_o(meta_header),
      .m_data_valid_o(data_valid), .m_data_ready_i(data_ready), .m_data_o(data)
  );

  logic number_valid, number_ready, chunk_valid, chunk_ready, moved_valid, moved_slot, moved_looped, look_valid, look_any;
  logic read_valid, read_slot, read_header;
  logic [ChunksWidth-1:0] number;
  class_t chunk_class, moved_class, read_class, look_class;
  serial_t chunk_serial;
  number_t chunk_number;
  meta_t chunk_meta;
  logic [BeatWidth-1:0] read_beat;
  logic [DataWidth-1:0] read_data;
  stamp_t look;
  logic [Classes-1:0] dry, busy, loop_ok;
  header_t fate_header;
  logic below_limit, unused_fate;

  assign ev_fate_user_o     = fate_header.user;
  assign ev_fate_deadline_o = fate_header.deadline;
  assign unused_fate        = ^fate_header.bytes;
  assign below_limit        = limit_i == '0 || CountWidth'(Chunks) - free_o < limit_i;

  // A class is dry when neither the head side nor the mover has anything of it to come. Then its chunk is flushed, if it can take the loop:
  // so what comes last of a class never goes through memory, and its meta tells what was lost there.
  pst_deadline_tail #(
      .Classes(Classes), .ChunkBeats(ChunkBeats), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes)
  ) u_tail (
      .clk_i, .rst_i, .init_done_o(tail_done),
      .s_meta_valid_i(meta_valid), .s_meta_ready_o(meta_ready), .s_meta_class_i(meta_class), .s_meta_header_i(meta_header),
      .s_data_valid_i(data_valid), .s_data_ready_o(data_ready), .s_data_i(data),
      .m_fate_valid_o(ev_fate_valid_o), .m_fate_class_o(ev_fate_class_o), .m_fate_bytes_o(ev_fate_bytes_o),
      .m_fate_reason_o(ev_fate_reason_o), .m_fate_header_o(fate_header),
      .s_number_valid_i(number_valid && below_limit), .s_number_ready_o(number_ready), .s_number_i(number_t'(number)),
      .more_numbers_i(free_o != '0 && below_limit),
      .dry_i(dry & loop_ok & ~busy),
      .m_chunk_valid_o(chunk_valid), .m_chunk_ready_i(chunk_ready), .m_chunk_class_o(chunk_class), .m_chunk_serial_o(chunk_serial),
      .m_chunk_number_o(chunk_number), .m_chunk_meta_o(chunk_meta),
      .s_moved_valid_i(moved_valid), .s_moved_class_i(moved_class), .s_moved_slot_i(moved_slot), .s_moved_looped_i(moved_looped),
      .read_valid_i(read_valid), .read_class_i(read_class), .read_slot_i(read_slot), .read_header_i(read_header),
      .read_beat_i(read_beat), .read_data_o(read_data),
      .look_valid_i(look_valid), .look_class_i(look_class), .look_any_o(look_any), .look_o(look)
  );

  // ---- Chunks out of the tail ----
  logic loop_valid, loop_ready, loop_last, moved_push_valid, moved_push_ready, moved_push_bad;
  class_t loop_class, moved_push_class;
  serial_t loop_serial;
  logic [DataWidth-1:0] loop_data;
  number_t moved_push_number;

  pst_deadline_mover #(
      .Classes(Classes), .ChunkBeats(ChunkBeats), .AddrWidth(AddrWidth), .MaxOutstanding(Writes)
  ) u_mover (
      .clk_i, .rst_i,
      .s_chunk_valid_i(chunk_valid), .s_chunk_ready_o(chunk_ready), .s_chunk_class_i(chunk_class), .s_chunk_serial_i(chunk_serial),
      .s_chunk_number_i(chunk_number), .s_chunk_meta_i(chunk_meta),
      .m_moved_valid_o(moved_valid), .m_moved_class_o(moved_class), .m_moved_slot_o(moved_slot), .m_moved_looped_o(moved_looped),
      .m_read_valid_o(read_valid), .m_read_class_o(read_class), .m_read_slot_o(read_slot), .m_read_header_o(read_header),
      .m_read_beat_o(read_beat), .m_read_data_i(read_data),
      .loop_ok_i(loop_ok),
      .m_loop_valid_o(loop_valid), .m_loop_ready_i(loop_ready), .m_loop_class_o(loop_class), .m_loop_serial_o(loop_serial),
      .m_loop_data_o(loop_data), .m_loop_last_o(loop_last),
      .m_axi_awvalid_o, .m_axi_awready_i, .m_axi_awaddr_o, .m_axi_awlen_o, .m_axi_wvalid_o, .m_axi_wready_i, .m_axi_wdata_o,
      .m_axi_wstrb_o, .m_axi_wlast_o, .m_axi_bvalid_i, .m_axi_bready_o, .m_axi_bresp_i,
      .m_push_valid_o(moved_push_valid), .m_push_ready_i(moved_push_ready), .m_push_class_o(moved_push_class),
      .m_push_number_o(moved_push_number), .m_push_bad_o(moved_push_bad),
      .busy_o(busy)
  );

  // ---- Lists of chunks in memory ----
  logic push_valid, push_ready, push_bad, pop_valid, pop_ready, popped_valid, popped_bad, free_valid, free_ready;
  logic splice_valid, splice_ready, splice_all;
  class_t push_class, pop_class, splice_class;
  number_t push_number, free_number, splice_number, splice_previous;
  logic [ChunksWidth-1:0] popped_number;
  logic [20:0] splice_count;

  pst_chunk_lists #(
      .Classes(Classes), .Chunks(Chunks)
  ) u_lists (
      .clk_i, .rst_i,
      .m_number_valid_o(number_valid), .m_number_ready_i(number_ready && below_limit), .m_number_o(number),
      .s_push_valid_i(push_valid), .s_push_ready_o(push_ready), .s_push_class_i(push_class),
      .s_push_number_i(ChunksWidth'(push_number)), .s_push_bad_i(push_bad),
      .s_pop_valid_i(pop_valid), .s_pop_ready_o(pop_ready), .s_pop_class_i(pop_class),
      .m_popped_valid_o(popped_valid), .m_popped_number_o(popped_number), .m_popped_bad_o(popped_bad),
      .s_free_valid_i(free_valid), .s_free_ready_o(free_ready), .s_free_number_i(ChunksWidth'(free_number)),
      .s_splice_valid_i(splice_valid), .s_splice_ready_o(splice_ready), .s_splice_class_i(splice_class), .s_splice_all_i(splice_all),
      .s_splice_number_i(ChunksWidth'(splice_number)), .s_splice_previous_i(ChunksWidth'(splice_previous)),
      .s_splice_count_i(CountWidth'(splice_count)),
      .empty_o(), .free_o, .init_done_o(lists_done)
  );

  // ---- Time stamps ----
  logic skip_valid, skip_ready;
  class_t skip_class;
  stamp_t skip;

  if (NoDeadlines) begin : g_no_stamps
    logic unused_stamps;
    assign stamps_done   = 1'b1;
    assign set_ready     = 1'b1;
    assign look_valid    = 1'b0;
    assign look_class    = '0;
    assign skip_valid    = 1'b0;
    assign skip_class    = '0;
    assign skip          = '0;
    assign unused_stamps = ^{set_valid, set_class, set_cycles, look_any, look, skip_ready, tick_q};
  end else begin : g_stamps
    pst_deadline_stamps #(
        .Classes(Classes), .Stamps(Stamps)
    ) u_stamps (
        .clk_i, .rst_i, .init_done_o(stamps_done), .now_i(now_q), .tick_i(tick_q),
        .s_set_valid_i(set_valid), .s_set_ready_o(set_ready), .s_set_class_i(set_class), .s_set_cycles_i(set_cycles),
        .look_valid_o(look_valid), .look_class_o(look_class), .look_any_i(look_any), .look_i(look),
        .m_skip_valid_o(skip_valid), .m_skip_ready_i(skip_ready), .m_skip_class_o(skip_class), .m_skip_o(skip)
    );
  end

  // ---- Head side, and which class is next ----
  logic head_valid, head_ready, take_valid, take_ready, take_drop, next_valid;
  class_t head_class, take_class;
  time_t head_deadline, next_deadline;

  pst_deadline_head #(
      .Classes(Classes), .ChunkBeats(ChunkBeats), .Places(Places), .Chunks(Chunks), .MinFrameBytes(MinFrameBytes),
      .MaxFrameBytes(MaxFrameBytes), .Lines(Lines), .Reads(Reads), .Decided(Decided), .NoDeadlines(NoDeadlines),
      .Columns(Columns), .RunFrames(RunFrames)
  ) u_head (
      .clk_i, .rst_i, .init_done_o(head_done), .now_i(now_q),
      .s_loop_valid_i(loop_valid), .s_loop_ready_o(loop_ready), .s_loop_class_i(loop_class), .s_loop_serial_i(loop_serial),
      .s_loop_data_i(loop_data), .s_loop_last_i(loop_last), .loop_ok_o(loop_ok), .dry_o(dry),
      .s_push_valid_i(moved_push_valid), .s_push_ready_o(moved_push_ready), .s_push_class_i(moved_push_class),
      .s_push_number_i(moved_push_number), .s_push_bad_i(moved_push_bad),
      .m_push_valid_o(push_valid), .m_push_ready_i(push_ready), .m_push_class_o(push_class), .m_push_number_o(push_number),
      .m_push_bad_o(push_bad),
      .m_pop_valid_o(pop_valid), .m_pop_ready_i(pop_ready), .m_pop_class_o(pop_class),
      .s_popped_valid_i(popped_valid), .s_popped_number_i(number_t'(popped_number)), .s_popped_bad_i(popped_bad),
      .m_free_valid_o(free_valid), .m_free_ready_i(free_ready), .m_free_number_o(free_number),
      .m_splice_valid_o(splice_valid), .m_splice_ready_i(splice_ready), .m_splice_class_o(splice_class), .m_splice_all_o(splice_all),
      .m_splice_number_o(splice_number), .m_splice_previous_o(splice_previous), .m_splice_count_o(splice_count),
      .m_axi_arvalid_o, .m_axi_arready_i, .m_axi_araddr_o, .m_axi_arlen_o, .m_axi_rvalid_i, .m_axi_rready_o, .m_axi_rdata_i,
      .m_axi_rresp_i, .m_axi_rlast_i,
      .s_skip_valid_i(skip_valid), .s_skip_ready_o(skip_ready), .s_skip_class_i(skip_class), .s_skip_i(skip),
      .column_i, .s_token_valid_i, .s_token_class_i, .m_token_valid_o, .m_token_class_o, .hold_i,
      .m_decided_valid_o, .m_decided_class_o, .m_decided_segments_o,
      .m_head_valid_o(head_valid), .m_head_ready_i(head_ready), .m_head_class_o(head_class), .m_head_deadline_o(head_deadline),
      .take_ready_o(take_ready), .take_valid_i(take_valid), .take_class_i(take_class), .take_drop_i(take_drop),
      .next_valid_o(next_valid), .next_deadline_o(next_deadline),
      .m_valid_o, .m_ready_i, .m_data_o, .m_last_o, .m_void_o, .m_bytes_last_o, .m_class_o, .m_user_o, .m_deadline_o,
      .ev_expired_valid_o, .ev_expired_class_o, .ev_expired_bytes_o, .ev_expired_user_o,
      .ev_late_valid_o, .ev_late_class_o, .ev_late_bytes_o, .ev_late_user_o,
      .ev_passed_valid_o, .ev_passed_lost_o, .ev_passed_class_o, .ev_passed_frames_o, .ev_passed_bytes_o,
      .sending_o
  );

  pst_deadline_encoder #(
      .Classes(Classes)
  ) u_encoder (
      .clk_i, .rst_i, .now_i(now_q),
      .s_head_valid_i(head_valid), .s_head_ready_o(head_ready), .s_head_class_i(head_class), .s_head_deadline_i(head_deadline),
      .take_ready_i(take_ready), .take_valid_o(take_valid), .take_drop_o(take_drop), .take_pending_o(), .take_class_o(take_class),
      .take_deadline_o(), .next_valid_i(next_valid), .next_deadline_i(next_deadline), .pending_class_o(), .first_class_o()
  );

endmodule
