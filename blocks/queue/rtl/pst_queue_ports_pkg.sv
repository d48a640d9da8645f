// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bundles at the ports of pst_queue_manager. Members have the names of the signals.
package pst_queue_ports_pkg;

  // Limits of a queue; with SettingProfiles as those of a profile, which is fresh or has them already.
  typedef struct packed {
    logic                                  valid;
    logic [15:0]                           profile;
    logic                                  fresh;
    logic                                  peek;             // its profile is asked for
    logic [pst_pkg::LimitPacketsWidth-1:0] limit_packets;
    logic [pst_pkg::LimitBytesWidth-1:0]   limit_bytes;
  } cfg_t;

  // First answer of a look: whether the queue is empty, and else whether m_deq_desc_o is its head.
  typedef struct packed {
    logic                                  valid;
    logic                                  empty;
    logic                                  known;
  } head_t;

  // Second answer of a look: packets and bytes in the queue, and its limits.
  typedef struct packed {
    logic                                  valid;
    logic [pst_pkg::LimitPacketsWidth-1:0] packets;
    logic [pst_pkg::LimitBytesWidth-1:0]   bytes;
    logic [pst_pkg::LimitPacketsWidth-1:0] limit_packets;
    logic [pst_pkg::LimitBytesWidth-1:0]   limit_bytes;
  } look_t;

endpackage
