// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the parts of pst_control tell each other. Counters and indexes have the widths of their registers: what is narrower is 0 above.
package pst_control_pkg;
  import pst_pkg::LimitPacketsWidth, pst_pkg::LimitBytesWidth, pst_pkg::aqm_cfg_t, pst_pkg::shaper_cfg_t;
  import pst_hierarchy_pkg::class_t, pst_hierarchy_pkg::weight_t, pst_hierarchy_pkg::guarantee_t, pst_hierarchy_pkg::setting_e;

  typedef struct packed {
    logic [49:0] packets;
    logic [55:0] bytes;
  } count_t;

  typedef struct packed {
    logic [LimitPacketsWidth-1:0] packets;
    logic [LimitBytesWidth-1:0]   bytes;
    logic [31:0]                  age;    // of the head, cycles
  } look_t;

  // A snapshot of one queue.
  typedef struct packed {
    count_t      accepted;
    count_t      sent;
    count_t      lost;      // dropped by the AQM, too
    count_t      aqm;       // of them, those that the AQM dropped
    logic [49:0] marks;
    look_t       look;
  } snapshot_t;

  // Settings that were read back.
  typedef struct packed {
    shaper_cfg_t                  shaper;
    logic [LimitPacketsWidth-1:0] limit_packets;
    logic [LimitBytesWidth-1:0]   limit_bytes;
    logic [31:0]                  parent;
    class_t                       cls;
    weight_t                      weight;
    guarantee_t                   guarantee;
    class_t                       share_class;
    aqm_cfg_t                     aqm;
    pst_pkg::len_t                quantum;
    pst_fq_pkg::sides_t           sides;
  } now_t;

  // A setting of the hierarchy: of a queue, subscriber, node or port.
  typedef struct packed {
    setting_e    what;
    logic [31:0] id;
    shaper_cfg_t shaper;
    logic [31:0] parent;
    class_t      cls;
    weight_t     weight;
    guarantee_t  guarantee;
  } hierarchy_setting_t;

  // The scan for the busiest queues.
  localparam int unsigned ScanWidth = 38;    // 64 byte per cycle through 2^32 cycles

  typedef struct packed {
    logic                 busy;
    logic                 level;
    logic [15:0]          number;
    logic [31:0]          window;
    logic [31:0]          queue_id;    // of the place that is shown
    logic [ScanWidth-1:0] value;
  } scan_t;

  // What finds queues in headers, as the registers show it.
  typedef struct packed {
    logic [31:0] keys;
    logic [31:0] moves;
    logic [49:0] count;    // that find_item chooses
    logic [31:0] read;     // value of the key that was read last
    logic [31:0] flow_packets;    // in all flow queues
    logic [16:0] profiles_used;   // of settings
  } find_t;

  // What the status register says.
  typedef struct packed {
    logic       init_done;
    logic       busy;
    logic [2:0] reason;       // refusal_e: why the last command was refused
    logic       next_queue;   // the index steps in this cycle
    logic       next_hierarchy;
  } status_t;

  // Words of the window.
  typedef enum logic [4:0] {
    QueueRate         = 5'h11,
    QueueBurst        = 5'h12,
    QueueLimitPackets = 5'h13,
    QueueLimitBytes   = 5'h14,
    QueueAqm          = 5'h16,
    QueueAqmTarget    = 5'h17,
    QueueAqmInterval  = 5'h18,
    QueueClass        = 5'h19,
    HierarchyRate     = 5'h1b,
    HierarchyBurst    = 5'h1c,
    HierarchyParent   = 5'h1d,
    HierarchyClass    = 5'h1e
  } word_e;

endpackage
