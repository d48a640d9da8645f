// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The shared package with counters so narrow that they wrap after a few packets; for the queue manager's proof only.
//
// What the widths must keep to one another is kept: a limit fits its counter, and a length is shorter than the byte limit's width.
package pst_pkg;

  localparam int unsigned LenWidth = 2;
  typedef logic [LenWidth-1:0] len_t;

  typedef enum logic [3:0] {
    DropNone            = 4'd0,
    DropRunt            = 4'd1,
    DropOversize        = 4'd2,
    DropBadQueueId      = 4'd3,
    DropBadFrame        = 4'd4,
    DropNoPage          = 4'd5,
    DropTailDropPackets = 4'd6,
    DropTailDropBytes   = 4'd7,
    DropAqm             = 4'd8
  } drop_e;

  localparam int unsigned LimitPacketsWidth = 2;
  localparam int unsigned LimitBytesWidth   = 3;

endpackage
