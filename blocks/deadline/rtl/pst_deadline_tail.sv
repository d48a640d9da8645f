// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Packs frames into the chunk that their class fills, and closes chunks that are full or wanted at once.
//
// A frame begins where the last one of its class ended, if a header and a unit of data have room there, else in the next chunk; it goes on in
// further ones. A chunk is closed when the next one is begun, or when its class is dry and no frame of it is being written.
//
// Throughput: a beat per cycle at any alignment, a frame of one beat per cycle, also of one class. A frame waits (and all behind it) while both
// slots of its class are full; it is dropped whole, before its first beat is written, when the chunks that it needs are not there.
// Latency:    3 cycles from a beat to the memory, 6 from the beat that closes a chunk to m_chunk.
// Order:      kept in a class; chunks leave in the order in which they are closed.
// Reset:      all is forgotten; a walk of Classes cycles follows, then init_done_o.
module pst_deadline_tail
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes       = 64,    // 2..256
    parameter int unsigned ChunkBeats    = 64,    // 8..64, a power of two
    parameter int unsigned MinFrameBytes = 60,    // >= 8
    parameter int unsigned MaxFrameBytes = 9600,  // up to 65535
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned BeatWidth  = $clog2(ChunkBeats),
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    output logic                  init_done_o,
    // whole frames, none of them bad: what is known of each, and its beats
    input  logic                  s_meta_valid_i,
    output logic                  s_meta_ready_o,
    input  logic [ClassWidth-1:0] s_meta_class_i,
    input  header_t               s_meta_header_i,
    input  logic                  s_data_valid_i,
    output logic                  s_data_ready_o,
    input  logic [ DataWidth-1:0] s_data_i,
    // what became of each, after its last beat
    output logic                  m_fate_valid_o,
    output logic [ClassWidth-1:0] m_fate_class_o,
    output logic [          15:0] m_fate_bytes_o,
    output fate_e                 m_fate_reason_o,   // FateTaken, FateNoChunk
    output header_t               m_fate_header_o,
    // free chunks in memory
    input  logic                  s_number_valid_i,
    output logic                  s_number_ready_o,
    input  number_t               s_number_i,
    input  logic                  more_numbers_i,    // another one will be offered, without anything that a frame would have to wait for
    // classes whose frames are wanted at once
    input  logic [   Classes-1:0] dry_i,
    // closed chunks; their slots come back
    output logic                  m_chunk_valid_o,
    input  logic                  m_chunk_ready_i,
    output logic [ClassWidth-1:0] m_chunk_class_o,
    output serial_t               m_chunk_serial_o,  // its lowest bit is the slot
    output number_t               m_chunk_number_o,
    output meta_t                 m_chunk_meta_o,
    input  logic                  s_moved_valid_i,
    input  logic [ClassWidth-1:0] s_moved_class_i,
    input  logic                  s_moved_slot_i,
    input  logic                  s_moved_looped_i,  // its number is free for the class's next chunk
    // a beat of a closed chunk, 2 cycles later
    input  logic                  read_valid_i,
    input  logic [ClassWidth-1:0] read_class_i,
    input  logic                  read_slot_i,
    input  logic                  read_header_i,     // beat of meta and headers, without meta; else of data
    input  logic [ BeatWidth-1:0] read_beat_i,
    output logic [ DataWidth-1:0] read_data_o,
    // where a class is, 2 cycles later; any: it has taken a frame since the last look that said so, and has a chunk begun
    input  logic                  look_valid_i,
    input  logic [ClassWidth-1:0] look_class_i,
    output logic                  look_any_o,
    output stamp_t                look_o
);

  localparam int unsigned Room        = (ChunkBeats - 1) * BeatUnits;       // units of data in a chunk with few frames
  localparam int unsigned Frames      = most_frames(ChunkBeats, MinFrameBytes);
  localparam int unsigned HeaderBeats = Frames / BeatUnits + 1;
  localparam int unsigned FrameWidth  = $clog2(BeatUnits * HeaderBeats);
  localparam int unsigned Further     = most_further(ChunkBeats, MaxFrameBytes);
  localparam int unsigned Numbers     = Further + 1;                        // at hand
  localparam int unsigned LevelWidth  = $clog2(Numbers + 1);
  localparam int unsigned UnitsWidth  = BeatWidth + $clog2(BeatUnits);      // of data in a chunk: up to Room
  localparam int unsigned LengthWidth = $clog2(MaxFrameBytes / UnitBytes + 2);

  if (ChunkBeats < 8 || ChunkBeats > 64 || ChunkBeats != 2 ** BeatWidth) begin : g_bad_chunk
    $error("pst_deadline_tail: ChunkBeats is %0d, allowed: 8, 16, 32, 64", ChunkBeats);
  end
  if (Classes < 2 || Classes > 256) begin : g_bad_classes
    $error("pst_deadline_tail: Classes is %0d, allowed: 2..256", Classes);
  end

  if (Frames > 255) begin : g_bad_frames
    $error("pst_deadline_tail: %0d frames of %0d byte begin in a chunk, more than 255", Frames, MinFrameBytes);
  end

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [UnitsWidth-1:0] units_t;
  typedef logic [LengthWidth-1:0] length_t;

  typedef struct packed {
    logic [31:0] frames;
    logic [39:0] bytes;
  } count_t;

  // Of the chunk that a class fills, or of its last one when it has none begun.
  typedef struct packed {
    serial_t               serial;
    number_t               number;
    number_t               previous;
    logic [FrameWidth-1:0] frames;    // that begin in it
    units_t                filled;    // with data
    units_t                front;     // of these, of a frame from the chunk before
    units_t                room;      // units that may follow: of a further frame, and while one is written of that one
    count_t                earlier;   // since reset, in the chunks before it
    count_t                total;
  } state_t;

  // What looks and flushes need of it.
  typedef struct packed {
    stamp_t stamp;
    meta_t  meta;
  } view_t;

  typedef struct packed {
    class_t  class_id;
    serial_t serial;
    number_t number;
    meta_t   meta;
  } chunk_t;

  function automatic meta_t meta_of(logic goes_on, count_t earlier, units_t front, units_t filled, logic [FrameWidth-1:0] frames);
    return '{
        open: goes_on,
        frames_before: 11'(earlier.frames),
        bytes_before: 24'(earlier.bytes),
        front: 10'(front),
        data_units: 10'(filled),
        frames: 8'(frames)
    };
  endfunction

  // ---- Stage 0: the frame's class is read ----
  logic init_q, op_valid_q, op_done, op_next;
  class_t init_class_q, op_class_q;

  assign init_done_o    = !init_q;
  assign op_next        = s_meta_valid_i && s_meta_ready_o;
  assign s_meta_ready_o = !init_q && (!op_valid_q || op_done);

  // ---- Stage 1: a beat of the frame is placed ----
  header_t op_header_q;
  length_t op_units_q;      // of the frame, from this beat on
  logic op_first_q, op_same_q, op_dropping_q;
  state_t state_ram, state_q, state, next;
  logic open, spare, taken_slot, go, fire, place, drop, goes_on, enough, begins_here;
  logic [1:0] busy, kept;
  units_t room, rest;
  logic [3:0] beat_units, split;
  logic [LevelWidth:0] needed;
  logic number_valid;
  number_t number;
  logic [LevelWidth-1:0] number_level;
  count_t total;

  assign state      = op_first_q && !op_same_q ? state_ram : state_q;
  assign room       = op_first_q && !open ? '0 : state.room;
  assign taken_slot = busy[!state.serial[0]];
  assign spare      = kept[!state.serial[0]];   // the chunk before this one left its number there

  always_comb begin
    beat_units  = op_units_q > length_t'(BeatUnits) ? 4'(BeatUnits) : op_units_q[3:0];
    goes_on     = units_t'(beat_units) > room;
    split       = goes_on ? room[3:0] : beat_units;
    rest        = units_t'(beat_units) - units_t'(split);
    begins_here = op_first_q && room != '0;

    // The chunks that the whole frame needs are there before its first beat is written.
    needed = '0;
    for (int unsigned k = 0; k < Further; k++) begin
      if (32'(op_units_q) > 32'(room) + k * Room) needed++;
    end
    enough = (LevelWidth + 1)'(number_level) + (LevelWidth + 1)'(spare) >= needed;
    drop   = op_dropping_q;
    go     = op_valid_q;
    if (op_first_q && needed != '0) begin
      drop = !taken_slot && !enough && !s_number_valid_i && !more_numbers_i;
      if (taken_slot || (!enough && !drop)) go = 1'b0;
    end
    if (!op_first_q && !drop && goes_on && (taken_slot || (!spare && !number_valid))) go = 1'b0;
    fire    = go && s_data_valid_i;
    place   = fire && !drop;
    op_done = fire && op_units_q <= length_t'(BeatUnits);
  end

  always_comb begin
    total = state.total;
    if (op_first_q) begin
      total.frames = state.total.frames + 1'b1;
      total.bytes  = state.total.bytes + 40'(op_header_q.bytes);
    end

    // The chunk with what of this beat belongs into it,
    next        = state;
    next.frames = state.frames + FrameWidth'(begins_here);
    next.filled  = state.filled + units_t'(split);
    next.room   = room - units_t'(split);
    if (!op_first_q && state.frames == '0) next.front = state.front + units_t'(split);
    next.total  = total;
  end

  chunk_t full;
  assign full = '{
      class_id: op_class_q,
      serial: state.serial,
      number: state.number,
      meta: meta_of(!op_first_q || begins_here, state.earlier, next.front, next.filled, next.frames)
  };

  // ... or the next one, with the rest.
  state_t after;
  always_comb begin
    after = next;
    if (goes_on) begin
      after.serial   = state.serial + 1'b1;
      after.number   = spare ? state.previous : number;
      after.previous = state.number;
      after.frames   = FrameWidth'(op_first_q && !begins_here);
      after.filled   = rest;
      after.front    = op_first_q && !begins_here ? '0 : rest;
      after.room     = units_t'(Room) - rest;
      after.earlier  = op_first_q && !begins_here ? state.total : total;
    end
    // The header of a further frame would take a beat of its own.
    if (op_done && 3'(after.frames) == 3'd7) after.room = after.room > units_t'(BeatUnits) ? after.room - units_t'(BeatUnits) : '0;
  end

  assign s_data_ready_o = go;

  always_ff @(posedge clk_i) begin
    if (place) state_q <= after;
    if (fire) begin
      op_units_q    <= op_units_q - length_t'(BeatUnits);
      op_first_q    <= 1'b0;
      op_dropping_q <= drop;
    end
    if (op_next) begin
      op_class_q    <= s_meta_class_i;
      op_header_q   <= s_meta_header_i;
      op_units_q    <= length_t'(units_of(s_meta_header_i.bytes));
      op_first_q    <= 1'b1;
      op_same_q     <= op_valid_q && !drop && op_class_q == s_meta_class_i;
      op_dropping_q <= 1'b0;
    end
    op_valid_q <= op_next || (op_valid_q && !op_done);

    m_fate_valid_o  <= op_done;
    m_fate_class_o  <= op_class_q;
    m_fate_bytes_o  <= op_header_q.bytes;
    m_fate_reason_o <= drop ? FateNoChunk : FateTaken;
    m_fate_header_o <= op_header_q;

    if (init_q) init_class_q <= init_class_q + 1'b1;
    if (init_class_q == class_t'(Classes - 1)) init_q <= 1'b0;
    if (rst_i) begin
      op_valid_q     <= 1'b0;
      m_fate_valid_o <= 1'b0;
      init_q         <= 1'b1;
      init_class_q   <= '0;
    end
  end

  // ---- State of each class: for frames, and once more for looks and flushes ----
  logic state_we;
  class_t state_at;
  state_t state_in, blank;
  view_t view_in, view;

  always_comb begin
    blank        = '0;
    blank.serial = '1;    // the first chunk has serial 0
    state_we     = init_q || (op_done && !drop);
    state_at     = init_q ? init_class_q : op_class_q;
    state_in     = init_q ? blank : after;
    view_in      = '{
        stamp: '{
            serial: state_in.serial,
            number: state_in.number,
            previous: state_in.previous,
            frames: state_in.earlier.frames,
            bytes: state_in.earlier.bytes
        },
        meta: meta_of(1'b0, state_in.earlier, state_in.front, state_in.filled, state_in.frames)
    };
  end

  pst_ram_1r1w #(
      .Width($bits(state_t)),
      .Depth(Classes)
  ) u_state (
      .clk_i,
      .we_i   (state_we),
      .waddr_i(state_at),
      .wdata_i(state_in),
      .re_i   (op_next),
      .raddr_i(s_meta_class_i),
      .rdata_o(state_ram)
  );

  logic flush, flush_read;
  class_t flush_class;

  pst_ram_write_first #(
      .Width($bits(view_t)),
      .Depth(Classes)
  ) u_view (
      .clk_i,
      .we_i   (state_we),
      .waddr_i(state_at),
      .wdata_i(view_in),
      .re_i   (look_valid_i || flush_read),
      .raddr_i(look_valid_i ? look_class_i : flush_class),
      .rdata_o(view)
  );

  // ---- Slots, flushes, looks ----
  logic [Classes-1:0] open_classes, any_q;
  logic [1:0] look_any_q;
  logic look_now, close_valid, close_q, close_q2, chunk_ready;
  chunk_t close_chunk_q, close_chunk_q2, chunk;

  // While a frame is written its class has a chunk: the first beat has seen to it.
  assign close_valid = place && goes_on && (open || !op_first_q);

  pst_deadline_slots #(
      .Classes(Classes)
  ) u_slots (
      .clk_i,
      .rst_i,
      .op_valid_i      (op_valid_q),
      .op_class_i      (op_class_q),
      .op_open_o       (open),
      .op_busy_o       (busy),
      .op_kept_o       (kept),
      .op_close_i      (close_valid),
      .op_close_slot_i (state.serial[0]),
      .op_done_i       (op_done && !drop),
      .s_moved_valid_i,
      .s_moved_class_i,
      .s_moved_slot_i,
      .s_moved_looped_i,
      .dry_i,
      .m_read_valid_o  (flush_read),
      .m_read_ready_i  (!look_valid_i),
      .m_read_class_o  (flush_class),
      .flush_slot_i    (view.stamp.serial[0]),
      .flush_ready_i   (!close_q2),
      .flush_o         (flush),
      .open_o          (open_classes)
  );

  assign look_now   = any_q[look_class_i] && open_classes[look_class_i];
  assign look_any_o = look_any_q[1];
  assign look_o     = view.stamp;

  always_ff @(posedge clk_i) begin
    look_any_q <= {look_any_q[0], look_valid_i && look_now};
    if (look_valid_i && look_now) any_q[look_class_i] <= 1'b0;
    if (op_done && !drop) any_q[op_class_q] <= 1'b1;
    if (rst_i) begin
      any_q      <= '0;
      look_any_q <= '0;
    end
  end

  // ---- Numbers of free chunks at hand ----
  pst_fifo #(
      .Width(NumberWidth),
      .Depth(Numbers)
  ) u_numbers (
      .clk_i,
      .rst_i,
      .s_valid_i(s_number_valid_i),
      .s_ready_o(s_number_ready_o),
      .s_data_i (s_number_i),
      .m_valid_o(number_valid),
      .m_ready_i(place && goes_on && !spare),
      .m_data_o (number),
      .level_o  (number_level)
  );

  // ---- Beats and headers into the memory ----
  pst_deadline_lanes #(
      .Classes(Classes),
      .ChunkBeats(ChunkBeats),
      .HeaderBeats(HeaderBeats)
  ) u_lanes (
      .clk_i,
      .rst_i,
      .s_data_valid_i  (place),
      .s_class_i       (op_class_q),
      .s_slot_i        (state.serial[0]),
      .s_line_i        (state.filled[UnitsWidth-1:3]),
      .s_lane_i        (split == '0 ? '0 : state.filled[2:0]),
      .s_units_i       (beat_units),
      .s_split_i       (split),
      .s_data_i,
      .s_header_valid_i(place && op_first_q),
      .s_header_slot_i (state.serial[0] ^ !begins_here),
      .s_header_at_i   (begins_here ? state.frames : '0),
      .s_header_i      (op_header_q),
      .read_valid_i,
      .read_class_i,
      .read_slot_i,
      .read_header_i,
      .read_beat_i,
      .read_data_o
  );

  // ---- Closed chunks, as their last units enter the memory ----
  always_ff @(posedge clk_i) begin
    close_q        <= close_valid;
    close_q2       <= close_q;
    close_chunk_q  <= full;
    close_chunk_q2 <= close_chunk_q;
    if (rst_i) begin
      close_q  <= 1'b0;
      close_q2 <= 1'b0;
    end
  end

  chunk_t flushed;
  assign flushed = '{
      class_id: flush_class,
      serial: view.stamp.serial,
      number: view.stamp.number,
      meta: view.meta
  };

  // A chunk stands in here once, and a class has two: there is always room.
  pst_ram_fifo #(
      .Width($bits(chunk_t)),
      .Depth(2 ** (ClassWidth + 1))
  ) u_chunks (
      .clk_i,
      .rst_i,
      .s_valid_i  (close_q2 || flush),
      .s_ready_o  (chunk_ready),
      .s_data_i   (close_q2 ? close_chunk_q2 : flushed),
      .s_commit_i (1'b1),
      .s_rewind_i (1'b0),
      .s_overrun_o(),
      .m_valid_o  (m_chunk_valid_o),
      .m_ready_i  (m_chunk_ready_i),
      .m_data_o   (chunk)
  );

  assign m_chunk_class_o  = chunk.class_id;
  assign m_chunk_serial_o = chunk.serial;
  assign m_chunk_number_o = chunk.number;
  assign m_chunk_meta_o   = chunk.meta;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !init_q) begin
      a_chunks_have_room : assert (chunk_ready || !(close_q2 || flush));
      if (place) begin
        a_next_slot_is_free : assert (!goes_on || !taken_slot);
        a_number_is_there : assert (!goes_on || spare || number_valid);
        a_chunk_not_too_long : assert (32'(header_beats(16'(next.frames))) + (32'(next.filled) + 7) / 8 <= ChunkBeats);
        if (close_valid && full.meta.open) begin
          a_open_chunk_ends_a_beat : assert (next.filled[2:0] == '0);
          a_open_chunk_is_full : assert (32'(header_beats(16'(next.frames))) + 32'(next.filled) / 8 == ChunkBeats);
        end
      end
    end
  end
`endif

endmodule
