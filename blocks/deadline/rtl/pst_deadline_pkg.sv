// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Words of the deadline block that more than one of its modules knows: what a chunk holds, and what a time stamp says.
package pst_deadline_pkg;

  localparam int unsigned UnitWidth = 64;                                    // alignment of everything in a chunk
  localparam int unsigned UnitBytes = UnitWidth / 8;
  localparam int unsigned BeatUnits = pst_memory_pkg::DataWidth / UnitWidth;  // unit k of a beat is its bits [64k +: 64]

  localparam int unsigned SerialWidth = 24;  // chunks of a class, counted modulo 2^24
  localparam int unsigned NumberWidth = 20;  // chunks in memory; a module takes the low bits that its number of chunks needs

  // Deadlines are absolute times in cycles modulo 2^32; the sign of the difference says which is earlier.
  typedef logic [31:0] time_t;

  typedef logic [SerialWidth-1:0] serial_t;
  typedef logic [NumberWidth-1:0] number_t;

  // Header of a frame: a unit.
  typedef struct packed {
    logic [15:0] user;      // what the design carries beside the frame
    time_t       deadline;
    logic [15:0] bytes;
  } header_t;

  // Unit 0 of a chunk. What came before it tells how much is lost with chunks that cannot be read.
  typedef struct packed {
    logic        open;           // the last frame in it goes on in the next chunk: its data end with its last beat
    logic [10:0] frames_before;  // of the class since reset, in chunks before this one, modulo 2^11
    logic [23:0] bytes_before;   // of them, modulo 2^24
    logic [ 9:0] front;          // units of data at its beginning that belong to a frame from the chunk before
    logic [ 9:0] data_units;     // those at the front included
    logic [ 7:0] frames;         // that begin here; so many headers follow
  } meta_t;

  // Which chunk a class is filling, and what came before it.
  typedef struct packed {
    serial_t     serial;
    number_t     number;    // where that chunk goes, should it get into memory,
    number_t     previous;  // and the one before it
    logic [31:0] frames;    // since reset, in chunks before that one
    logic [39:0] bytes;     // of them
  } stamp_t;

  // What became of a frame at the tail.
  typedef enum logic [1:0] {
    FateTaken   = 2'd0,
    FateNoChunk = 2'd1,     // tail drop: no chunk was left
    FateBad     = 2'd2,     // the source said so
    FateLength  = 2'd3      // shorter than MinFrameBytes or longer than MaxFrameBytes
  } fate_e;

  // Signed difference: a is later than b.
  function automatic logic later(time_t a, time_t b);
    return $signed(b - a) < 0;
  endfunction

  // Beats that meta and headers of `frames` frames take.
  function automatic logic [15:0] header_beats(logic [15:0] frames);
    return (frames + 16'(BeatUnits)) >> $clog2(BeatUnits);
  endfunction

  // Units that `bytes` bytes take.
  function automatic logic [15:0] units_of(logic [15:0] bytes);
    return (bytes + 16'(UnitBytes - 1)) >> $clog2(UnitBytes);
  endfunction

  // Frames that can begin in a chunk: all but the last one have their whole length in it.
  function automatic int unsigned most_frames(int unsigned chunk_beats, int unsigned min_frame_bytes);
    int unsigned frames, data_units;
    frames     = 1;
    data_units = 0;
    for (int unsigned n = 1; n <= BeatUnits * chunk_beats; n++) begin
      data_units = (n - 1) * ((min_frame_bytes + UnitBytes - 1) / UnitBytes) + 1;
      if (n / BeatUnits + 1 + (data_units + BeatUnits - 1) / BeatUnits <= chunk_beats) frames = n;
    end
    return frames;
  endfunction

  // Chunks that the longest frame can reach into, the one that it begins in not counted.
  function automatic int unsigned most_further(int unsigned chunk_beats, int unsigned max_frame_bytes);
    int unsigned room;
    room = (chunk_beats - 1) * BeatUnits;
    return ((max_frame_bytes + UnitBytes - 1) / UnitBytes + room - 1) / room;
  endfunction

endpackage
