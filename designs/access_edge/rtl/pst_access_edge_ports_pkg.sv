// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bundles at the ports of the access edge: streams of frames, and what became of them. Members have the names of the signals.
package pst_access_edge_ports_pkg;

  typedef struct packed {
    logic [511:0] tdata;
    logic [63:0]  tkeep;
    logic         tlast;
    logic         tuser;     // at the last beat: the frame is damaged
    logic [31:0]  tdest;     // at the first beat, without Prefix: the queue id
    logic         tvalid;
  } frames_in_t;

  typedef struct packed {
    logic [511:0] tdata;
    logic [63:0]  tkeep;
    logic         tlast;
    logic         tuser;     // at the last beat: the memory gave an error while the frame was read
    logic [31:0]  tid;       // the queue
    logic [31:0]  tdest;     // the queue
    logic         tvalid;
  } frames_out_t;

  // At the input; what is too long has a length of its own.
  typedef struct packed {
    logic         valid;
    logic [3:0]   reason;    // drop_e
    logic [31:0]  queue_;
    logic [31:0]  len;
  } classified_t;

  // At a queue, or at the output.
  typedef struct packed {
    logic         valid;
    logic [3:0]   reason;    // drop_e
    logic [31:0]  queue_;
    logic [15:0]  len;
    logic [31:0]  page;      // with flow queues, at a queue: where it was stored; else 0
  } fate_t;

  // At the head of a queue.
  typedef struct packed {
    logic         valid;
    logic [3:0]   reason;    // drop_e
    logic         mark;
    logic [31:0]  queue_;
    logic [15:0]  len;
    logic [31:0]  page;      // with flow queues: where it was stored; else 0
  } dequeued_t;

  // ---- within: ids of queues, descriptors and places stand beside the bundles, as their widths are those of the device ----

  // Settings of a queue.
  typedef struct packed {
    logic                                  valid;
    pst_pkg::shaper_cfg_t                  shaper;
    logic [pst_pkg::LimitPacketsWidth-1:0] limit_packets;
    logic [pst_pkg::LimitBytesWidth-1:0]   limit_bytes;
    pst_pkg::aqm_cfg_t                     aqm;
    pst_pkg::len_t                         quantum;          // with flow queues: bytes of a flow's turn; 0: the largest packet
    pst_fq_pkg::sides_t                    sides;            // with hosts: those that share the queue before their flows do
    logic [15:0]                           profile;          // with SettingProfiles: which profile has these settings,
    logic                                  fresh;            // and whether they are new in it;
    logic                                  peek;             // in other cycles: which profile the queue has is asked for
  } queue_cfg_t;

  typedef struct packed {
    logic                                  ready;
    logic [15:0]                           old;              // one cycle after a peek
  } queue_cfg_rsp_t;

  // Settings of a class that shares memory, in one cycle; and what it has now. With settings of a queue: its class.
  typedef struct packed {
    pst_hierarchy_pkg::class_t             queue_class;
    logic                                  valid;
    pst_hierarchy_pkg::class_t             class_;
    logic [4:0]                            size;
    logic [pst_pkg::AlphaWidth-1:0]        alpha;
    logic [23:0]                           reserved;
  } share_cfg_t;

  typedef struct packed {
    logic [31:0]                           free;
    logic [31:0]                           used;
    logic [31:0]                           in_force;
  } share_t;

  // Settings of the hierarchy.
  typedef struct packed {
    logic                                  valid;
    pst_hierarchy_pkg::setting_e           what;
    pst_pkg::shaper_cfg_t                  shaper;
    pst_hierarchy_pkg::class_t             class_;
    pst_hierarchy_pkg::weight_t            weight;
    pst_hierarchy_pkg::guarantee_t         guarantee;
  } hierarchy_cfg_t;

  // What is asked for at an index: counters, a look into the queue (pst_access_edge_core), its class of memory.
  typedef struct packed {
    logic                                  out_valid;        // sent frames
    logic                                  in_drop_valid;    // all other counters, which answer together
    logic                                  node;             // counters of a class at a node
    logic                                  look_valid;
    logic                                  class_valid;
  } read_t;

  // Which request is taken in this cycle.
  typedef struct packed {
    logic                                  cfg;              // or refused:
    logic                                  cfg_full;         // no profile has these settings, and none is free
    logic                                  hierarchy_cfg;
    logic                                  out;
    logic                                  in_drop;
    logic                                  look;
    logic                                  class_;
    logic                                  find_op;
  } ready_t;

  // Answers of the counters.
  typedef struct packed {
    logic                                  out_valid;
    logic [49:0]                           out_packets;
    logic [55:0]                           out_bytes;
    logic                                  in_drop_valid;
    logic [49:0]                           in_packets;
    logic [55:0]                           in_bytes;
    logic [49:0]                           drop_packets;
    logic [55:0]                           drop_bytes;
    logic [49:0]                           aqm_packets;      // dropped by the AQM, not in "drop"
    logic [55:0]                           aqm_bytes;
    logic [49:0]                           mark_packets;
    logic                                  waits;            // a read waits for the memory of the counters, and for nothing else
    logic                                  wrong;            // counts are wrong until reset
  } counts_t;

  // Answer of a look.
  typedef struct packed {
    logic                                  valid;
    logic [pst_pkg::LimitPacketsWidth-1:0] packets;
    logic [pst_pkg::LimitBytesWidth-1:0]   bytes;
    logic [31:0]                           age;
    logic                                  age_known;
    logic [pst_pkg::LimitPacketsWidth-1:0] limit_packets;
    logic [pst_pkg::LimitBytesWidth-1:0]   limit_bytes;
    pst_pkg::len_t                         quantum;          // with flow queues
    pst_fq_pkg::sides_t                    sides;
  } look_t;

  // Class of memory of a queue.
  typedef struct packed {
    logic                                  valid;
    pst_hierarchy_pkg::class_t             class_;
  } share_class_t;

  // Read-back of settings, and what is in force.
  typedef struct packed {
    logic                                  valid;
    pst_hierarchy_pkg::setting_e           what;
  } back_ask_t;

  typedef struct packed {
    logic                                  valid;
    pst_pkg::shaper_cfg_t                  shaper;
    pst_hierarchy_pkg::class_t             class_;
    pst_hierarchy_pkg::weight_t            weight;
    pst_hierarchy_pkg::guarantee_t         guarantee;
    pst_pkg::aqm_cfg_t                     aqm;
  } back_t;

  // Scans, see pst_access_edge_scan.
  typedef struct packed {
    logic                                  valid;
    logic                                  level;
    logic [7:0]                            show;
  } scan_ask_t;

  // A setting of headers, in one cycle; a key that comes, goes or is read, and what became of it. Item, value and word are of both, see
  // pst_find_queue.
  typedef struct packed {
    logic                                  set;
    pst_profile_pkg::set_e                 what;
    logic [31:0]                           item;
    logic [31:0]                           value;
    logic [95:0]                           word;
    logic                                  op_valid;
    pst_lookup_pkg::op_e                   op;
    logic                                  flow_word;        // a random word of the hash of flows, in one cycle: item, value
    logic [31:0]                           flow_limit;       // most packets in all flow queues
  } find_ask_t;

  typedef struct packed {
    logic                                  valid;
    pst_profile_pkg::key_done_t            done;
  } find_done_t;

  // A frame that is stored, or was not; and one to send.
  typedef struct packed {
    logic                                  valid;
    pst_pkg::len_t                         len;
    pst_pkg::drop_e                        reason;
    logic                                  ect;              // it may be marked
    pst_fq_pkg::hashes_t                   hashes;           // with flow queues: of its flow and hosts
  } enqueue_t;

  typedef struct packed {
    logic                                  valid;
    pst_pkg::len_t                         len;
    logic                                  mark;             // with Congestion Experienced
  } send_t;

  // One enqueue decision; one packet that was taken from its queue: it is sent (DropNone), or dropped at the head.
  typedef struct packed {
    logic                                  valid;
    pst_pkg::drop_e                        reason;
    pst_pkg::len_t                         len;
    logic [23:0]                           page;             // with flow queues: its descriptor
  } decision_t;

  typedef struct packed {
    logic                                  valid;
    pst_pkg::drop_e                        reason;
    logic                                  mark;             // it is sent with a mark
    pst_pkg::len_t                         len;
    logic [23:0]                           page;             // its descriptor
  } verdict_t;

endpackage
