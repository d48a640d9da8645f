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
    input  logic                               clk_i,
    input  logic                               rst_i,
    output logic                               init_done_o,
    output time_t                              now_o,               // this cycle's number: deadlines are on this clock
    // settings: class of a DSCP, 64 and above: of all else; for how many cycles frames of a class may wait, below 2^30
    input  logic                               set_dscp_valid_i,
    input  logic [6:0]                         set_dscp_i,
    input  logic [ClassWidth-1:0]              set_dscp_class_i,
    input  pst_deadline_ports_pkg::set_t       s_set_i,
    output logic                               s_set_ready_o,
    input  logic [CountWidth-1:0]              limit_i,             // chunks in use at most, else frames are dropped; 0: all
    // frames in
    input  pst_deadline_ports_pkg::frame_in_t  s_i,
    output logic                               s_ready_o,
    // frames out
    output pst_deadline_ports_pkg::frame_out_t m_o,
    input  logic                               m_ready_i,
    // column of a wide port: which one; where a class's token comes from, and goes to; nothing is to be decided to be sent, or nothing that
    // is later than the bound; what was; what is at hand
    input  logic [2:0]                         column_i,            // constant; all of these inputs but hold_i are 0 where Columns is 1
    input  pst_deadline_ports_pkg::of_class_t  s_token_i,
    output pst_deadline_ports_pkg::of_class_t  m_token_o,
    input  logic                               hold_i,
    input  pst_deadline_ports_pkg::front_t     bound_i,
    output pst_deadline_ports_pkg::decided_t   m_decided_o,
    output pst_deadline_ports_pkg::front_t     front_o,
    // AXI4 master: bursts of up to a chunk, one id each way
    output pst_axi_pkg::write_req_t            m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t            m_axi_write_i,
    output pst_axi_pkg::read_req_t             m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t             m_axi_read_i,
    // events: refused at the input (FateBad, FateLength); through the tail (FateTaken, FateNoChunk)
    output pst_deadline_ports_pkg::refused_t   ev_refused_o,
    output pst_deadline_ports_pkg::fate_t      ev_fate_o,
    // over: found by the encoder, by the last check; passed over by a skip, or lost by a memory error
    output pst_deadline_ports_pkg::gone_t      ev_expired_o,
    output pst_deadline_ports_pkg::gone_t      ev_late_o,
    output pst_deadline_ports_pkg::passed_t    ev_passed_o,
    // state: chunks that are free; a frame has been decided to be sent and has not left
    output logic [CountWidth-1:0]              free_o,
    output logic                               sending_o
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
  class_t class_class, due_class, set_class, refused_class, fate_class;
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
      .s_valid_i(s_i.valid), .s_ready_o, .s_data_i(s_i.data), .s_bytes_i(s_i.bytes_last), .s_last_i(s_i.last), .s_bad_i(s_i.bad),
      .s_class_i(class_t'(s_i.class_)), .s_user_i({s_i.arrived, s_i.user}),
      .m_valid_o(class_valid), .m_ready_i(class_ready), .m_data_o(class_data), .m_bytes_o(class_bytes), .m_last_o(class_last),
      .m_bad_o(class_bad), .m_class_o(class_class), .m_user_o({class_arrived, class_user})
  );

  pst_deadline_due #(
      .Classes(Classes), .DefaultCycles(DefaultCycles), .StoreFrames(StoreBeats + 16), .ArrivedGiven(ArrivedGiven)
  ) u_due (
      .clk_i, .rst_i, .init_done_o(due_done), .now_i(now_q),
      .s_set_valid_i(s_set_i.valid), .s_set_ready_o, .s_set_class_i(class_t'(s_set_i.class_)), .s_set_cycles_i(s_set_i.cycles),
      .m_set_valid_o(set_valid), .m_set_ready_i(set_ready), .m_set_class_o(set_class), .m_set_cycles_o(set_cycles),
      .s_valid_i(class_valid), .s_ready_o(class_ready), .s_data_i(class_data), .s_bytes_last_i(class_bytes), .s_last_i(class_last),
      .s_bad_i(class_bad), .s_class_i(class_class), .s_user_i(class_user), .s_arrived_i(class_arrived),
      .m_valid_o(due_valid), .m_ready_i(due_ready), .m_data_o(due_data), .m_bytes_last_o(due_bytes), .m_last_o(due_last),
      .m_bad_o(due_bad), .m_class_o(due_class), .m_deadline_o(due_deadline), .m_user_o(due_user),
      .refused_i(ev_refused_o.valid), .fate_i(ev_fate_o.valid)
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
      .m_refused_valid_o(ev_refused_o.valid), .m_refused_class_o(refused_class), .m_refused_bytes_o(ev_refused_o.bytes),
      .m_refused_reason_o(ev_refused_o.reason), .m_refused_user_o(ev_refused_o.user),
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

  assign ev_refused_o.class_ = 8'(refused_class);
  assign ev_fate_o.class_    = 8'(fate_class);
  assign ev_fate_o.user      = fate_header.user;
  assign ev_fate_o.deadline  = fate_header.deadline;
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
      .m_fate_valid_o(ev_fate_o.valid), .m_fate_class_o(fate_class), .m_fate_bytes_o(ev_fate_o.bytes),
      .m_fate_reason_o(ev_fate_o.reason), .m_fate_header_o(fate_header),
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
      .m_axi_write_o, .m_axi_write_i,
      .m_push_valid_o(moved_push_valid), .m_push_ready_i(moved_push_ready), .m_push_class_o(moved_push_class),
      .m_push_number_o(moved_push_number), .m_push_bad_o(moved_push_bad),
      .busy_o(busy)
  );

  // ---- Lists of chunks in memory ----
  logic push_ready, pop_ready, free_ready, splice_ready;
  pst_deadline_ports_pkg::push_t push;
  pst_deadline_ports_pkg::of_class_t pop;
  pst_deadline_ports_pkg::popped_t popped;
  pst_deadline_ports_pkg::free_t free_chunk;
  pst_deadline_ports_pkg::splice_t splice;
  logic [ChunksWidth-1:0] popped_number;

  assign popped.number = number_t'(popped_number);

  pst_chunk_lists #(
      .Classes(Classes), .Chunks(Chunks)
  ) u_lists (
      .clk_i, .rst_i,
      .m_number_valid_o(number_valid), .m_number_ready_i(number_ready && below_limit), .m_number_o(number),
      .s_push_valid_i(push.valid), .s_push_ready_o(push_ready), .s_push_class_i(class_t'(push.class_)),
      .s_push_number_i(ChunksWidth'(push.number)), .s_push_bad_i(push.bad),
      .s_pop_valid_i(pop.valid), .s_pop_ready_o(pop_ready), .s_pop_class_i(class_t'(pop.class_)),
      .m_popped_valid_o(popped.valid), .m_popped_number_o(popped_number), .m_popped_bad_o(popped.bad),
      .s_free_valid_i(free_chunk.valid), .s_free_ready_o(free_ready), .s_free_number_i(ChunksWidth'(free_chunk.number)),
      .s_splice_valid_i(splice.valid), .s_splice_ready_o(splice_ready), .s_splice_class_i(class_t'(splice.class_)),
      .s_splice_all_i(splice.all), .s_splice_number_i(ChunksWidth'(splice.number)), .s_splice_previous_i(ChunksWidth'(splice.previous)),
      .s_splice_count_i(CountWidth'(splice.count)),
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
  logic head_ready, take_ready;
  class_t take_class;
  pst_deadline_ports_pkg::head_t head;
  pst_deadline_ports_pkg::take_t take;
  pst_deadline_ports_pkg::next_t next;

  assign take.class_ = 8'(take_class);
  assign take.pair   = !bound_i.valid;    // what goes with another is compared with none

  pst_deadline_head #(
      .Classes(Classes), .ChunkBeats(ChunkBeats), .Places(Places), .Chunks(Chunks), .MinFrameBytes(MinFrameBytes),
      .MaxFrameBytes(MaxFrameBytes), .Lines(Lines), .Reads(Reads), .Decided(Decided), .NoDeadlines(NoDeadlines),
      .Columns(Columns), .RunFrames(RunFrames)
  ) u_head (
      .clk_i, .rst_i, .init_done_o(head_done), .now_i(now_q),
      .s_loop_i('{valid: loop_valid, class_: 8'(loop_class), serial: loop_serial, data: loop_data, last: loop_last}),
      .s_loop_ready_o(loop_ready), .loop_ok_o(loop_ok), .dry_o(dry),
      .s_push_i('{valid: moved_push_valid, class_: 8'(moved_push_class), number: moved_push_number, bad: moved_push_bad}),
      .s_push_ready_o(moved_push_ready), .m_push_o(push), .m_push_ready_i(push_ready), .m_pop_o(pop), .m_pop_ready_i(pop_ready),
      .s_popped_i(popped), .m_free_o(free_chunk), .m_free_ready_i(free_ready), .m_splice_o(splice), .m_splice_ready_i(splice_ready),
      .m_axi_read_o, .m_axi_read_i,
      .s_skip_i('{valid: skip_valid, class_: 8'(skip_class), stamp: skip}), .s_skip_ready_o(skip_ready),
      .column_i, .s_token_i, .m_token_o, .hold_i, .m_decided_o,
      .m_head_o(head), .m_head_ready_i(head_ready), .take_ready_o(take_ready), .take_i(take), .next_o(next),
      .m_o, .m_ready_i, .ev_expired_o, .ev_late_o, .ev_passed_o,
      .sending_o
  );

  pst_deadline_encoder #(
      .Classes(Classes), .Bounded(Columns > 1)
  ) u_encoder (
      .clk_i, .rst_i, .now_i(now_q),
      .s_head_valid_i(head.valid), .s_head_ready_o(head_ready), .s_head_class_i(class_t'(head.class_)), .s_head_deadline_i(head.deadline),
      .take_ready_i(take_ready), .bound_valid_i(bound_i.valid), .bound_i(bound_i.deadline),
      .take_valid_o(take.valid), .take_drop_o(take.drop), .take_pending_o(), .take_class_o(take_class),
      .take_deadline_o(front_o.deadline), .front_valid_o(front_o.valid),
      .next_valid_i(next.valid), .next_deadline_i(next.deadline), .pending_class_o(), .first_class_o()
  );

  logic unused_bits;    // above the widths of classes, numbers and counts
  assign unused_bits = ^{s_i.class_, s_set_i.class_, push, pop, splice, free_chunk, head};

endmodule
