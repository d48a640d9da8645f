// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bundles at the ports of the deadline block. Members have the names of the signals; a class has as many bits as 256 classes need, of which a
// module takes as many as it has classes for, and drives the others with 0.
package pst_deadline_ports_pkg;

  localparam int unsigned ClassWidth = 8;

  // Chunks: a beat that passes by memory; a chunk that is in memory; the first one of a class, and its number; one that comes back; the first
  // `count` of a class.
  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    pst_deadline_pkg::serial_t serial;
    logic [511:0]              data;
    logic                      last;
  } loop_t;

  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    pst_deadline_pkg::number_t number;
    logic                      bad;
  } push_t;

  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
  } of_class_t;

  typedef struct packed {
    logic                      valid;
    pst_deadline_pkg::number_t number;
    logic                      bad;           // its write failed: it is not read, its frames are lost
  } popped_t;

  typedef struct packed {
    logic                      valid;
    pst_deadline_pkg::number_t number;
  } free_t;

  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    logic                      all;
    pst_deadline_pkg::number_t number;
    pst_deadline_pkg::number_t previous;
    logic [20:0]               count;
  } splice_t;

  // All of a class that begins in chunks before a serial: the stamp's; or the serial alone.
  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    pst_deadline_pkg::stamp_t  stamp;
  } skip_t;

  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    pst_deadline_pkg::serial_t serial;
  } cut_t;

  // Encoder: a class has a frame at its head; the head is taken; the frame behind it, if it is at hand.
  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    pst_deadline_pkg::time_t   deadline;
  } head_t;

  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    logic                      drop;          // it is over
    logic                      pair;          // else the frame behind it may go with it, in a column of a wide port
  } take_t;

  typedef struct packed {
    logic                      valid;
    pst_deadline_pkg::time_t   deadline;
  } next_t;

  // Columns of a wide port: the earliest deadline at hand.
  typedef struct packed {
    logic                      valid;
    pst_deadline_pkg::time_t   deadline;
  } front_t;

  // What was taken, to be sent or dropped, and where its data are: a frame, or with `pair` two that follow each other in one chunk.
  typedef struct packed {
    logic                      valid;
    logic                      drop;
    logic                      last;          // the chunk's last frame: the place comes back
    logic [ClassWidth-1:0]     class_;
    logic [3:0]                place;
    logic [9:0]                start;         // unit of the chunk's data
    logic [6:0]                beats;         // of data in the chunk
    logic                      bank;          // of the chunk's first data beat
    pst_deadline_pkg::header_t header;
    logic                      pair;
    pst_deadline_pkg::header_t second;        // of the pair's second frame
  } taken_t;

  // A frame has been decided to be sent, or two of a segment each have; in the cycle after the take.
  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    logic [10:0]               segments;      // of 64 byte
    logic                      pair;
  } decided_t;

  // Settings of a class: cycles that its frames may wait, below 2^30.
  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    logic [31:0]               cycles;
  } set_t;

  // Beats of frames.
  typedef struct packed {
    logic                      valid;
    logic [511:0]              data;
    logic [6:0]                bytes_last;    // 1..64, in the last beat
    logic                      last;
    logic                      bad;           // in the last beat
    logic [ClassWidth-1:0]     class_;        // with ClassFromUser, at the first beat
    logic [15:0]               user;          // stands beside every beat, comes out with the frame
    pst_deadline_pkg::time_t   arrived;       // with ArrivedGiven, at the first beat: a cycle of now_o's that is over
  } frame_in_t;

  typedef struct packed {
    logic                      valid;
    logic [511:0]              data;
    logic [6:0]                bytes_last;
    logic                      last;
    logic                      void_;         // the frame is over, a word of no data stands for it; in a column of a wide port only
    logic [ClassWidth-1:0]     class_;
    pst_deadline_pkg::time_t   deadline;
    logic [15:0]               user;
  } frame_out_t;

  // A segment of a word of a wide port.
  typedef struct packed {
    logic                      used;
    logic [511:0]              data;
    logic                      last;
    logic [6:0]                bytes_last;    // 1..64, in the last segment
    logic                      bad;           // in the last segment
    logic [ClassWidth-1:0]     class_;        // in the first one, with ClassFromUser
    logic [15:0]               user;          // in the first one, comes out with the frame
  } segment_in_t;

  typedef struct packed {
    logic                      used;
    logic [511:0]              data;
    logic                      first;
    logic                      last;
    logic [6:0]                bytes_last;    // 1..64, in the last segment
    logic [15:0]               bytes;         // of the frame, in the first segment, as are class, deadline and user
    logic [ClassWidth-1:0]     class_;
    pst_deadline_pkg::time_t   deadline;
    logic [15:0]               user;
  } segment_out_t;

  // Of a wide port, by segment: a frame that was refused.
  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    logic [15:0]               bytes;
    pst_deadline_pkg::fate_e   reason;        // FateBad, FateLength
    logic [15:0]               user;
  } refusal_t;

  // What became of a frame: at the input; at the tail; gone, with its user bits or without; passed over by a skip, or lost.
  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    logic [31:0]               bytes;
    pst_deadline_pkg::fate_e   reason;        // FateBad, FateLength
    logic [15:0]               user;
  } refused_t;

  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    logic [15:0]               bytes;
    pst_deadline_pkg::fate_e   reason;        // FateTaken, FateNoChunk
    logic [15:0]               user;
    pst_deadline_pkg::time_t   deadline;
  } fate_t;

  typedef struct packed {
    logic                      valid;
    logic [ClassWidth-1:0]     class_;
    logic [15:0]               bytes;
    logic [15:0]               user;
  } gone_t;

  typedef struct packed {
    logic                      valid;
    logic                      lost;          // lost; else skipped
    logic [ClassWidth-1:0]     class_;
    logic [31:0]               frames;
    logic [39:0]               bytes;
  } passed_t;

endpackage
