// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Types that every block shares. Tunable sizes are parameters of the modules, never constants here.
package pst_pkg;

  // Frame length in bytes, without queue-id prefix and FCS.
  localparam int unsigned LenWidth = 14;
  typedef logic [LenWidth-1:0] len_t;

  // What became of a frame; docs/architecture.md has the order of precedence and the JSON names.
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

  // Per-queue limits: wide enough for every legal limit, so that occupancy cannot overflow.
  localparam int unsigned LimitPacketsWidth = 16;
  localparam int unsigned LimitBytesWidth   = 24;

  // A queue's active queue management (blocks/aqm). Times in ticks of 2^TickShift cycles.
  localparam int unsigned AqmTimeWidth = 26;
  localparam int unsigned AqmSettingWidth = AqmTimeWidth - 8;

  typedef struct packed {
    logic                       enable;
    logic                       ecn;         // mark what may be marked instead of dropping it
    logic [AqmSettingWidth-1:0] target;      // CoDel: TARGET, PIE: QDELAY_REF
    logic [AqmSettingWidth-1:0] interval;    // CoDel: INTERVAL, PIE: MAX_BURST
  } aqm_cfg_t;

  // A shaper's setting: period = mantissa * 2^(exponent - 15) in 2^-16 cycles per byte; burst in cycles.
  typedef struct packed {
    logic [27:0] burst;
    logic [4:0]  exponent;
    logic [15:0] mantissa;
  } shaper_cfg_t;

endpackage
