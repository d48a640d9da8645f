// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bundles at the ports of the wide deadline port: streams of segments, and what became of frames. Members have the names of the signals.
package pst_deadline_wide_ports_pkg;

  localparam int unsigned MaxColumns  = 8;
  localparam int unsigned SegmentUser = 28;                          // bits of tuser of a segment
  localparam int unsigned DataWidth   = 512 * MaxColumns;
  localparam int unsigned KeepWidth   = 64 * MaxColumns;
  localparam int unsigned UserWidth   = SegmentUser * MaxColumns;

  // Bits of tuser of a segment.
  typedef struct packed {
    logic        zero;
    logic        first;      // out: a frame begins here
    logic [7:0]  class_;     // first segment: in with ClassFromUser, out always
    logic [15:0] user;       // first segment: comes out with the frame
    logic        damaged;    // last segment, in
    logic        last;       // the frame ends here
  } segment_t;

  typedef struct packed {
    logic [DataWidth-1:0] tdata;
    logic [KeepWidth-1:0] tkeep;
    logic                 tlast;     // not looked at
    logic [UserWidth-1:0] tuser;     // segment_t of each segment
    logic                 tvalid;
  } words_in_t;

  typedef struct packed {
    logic [DataWidth-1:0] tdata;
    logic [KeepWidth-1:0] tkeep;
    logic                 tlast;     // 1
    logic [UserWidth-1:0] tuser;     // segment_t of each segment
    logic                 tvalid;
  } words_out_t;

  // Refused at the input, by the segment in which it ended.
  typedef struct packed {
    logic        valid;
    logic [3:0]  reason;     // drop_e
    logic [7:0]  class_;
    logic [15:0] len;        // 65535: so many or more
    logic [15:0] user;
  } refused_t;

  // Taken by a column.
  typedef struct packed {
    logic        valid;
    logic [7:0]  class_;
    logic [15:0] len;
    logic [15:0] user;
    logic [31:0] deadline;
  } taken_t;

  // Dropped for want of memory, or over.
  typedef struct packed {
    logic        valid;
    logic [7:0]  class_;
    logic [15:0] len;
    logic [15:0] user;
  } gone_t;

  // Frames that were passed over, or were lost by a memory error.
  typedef struct packed {
    logic        valid;
    logic        lost;
    logic [7:0]  class_;
    logic [31:0] frames;
    logic [39:0] bytes;
  } passed_t;

endpackage
