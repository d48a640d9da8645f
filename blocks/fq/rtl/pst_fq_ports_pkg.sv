// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bundles at the ports of pst_fq. Members have the names of the signals.
package pst_fq_ports_pkg;

  // Settings of a queue.
  typedef struct packed {
    logic                                  valid;
    pst_pkg::len_t                         quantum;    // bytes, 1 and more; 1,514 after reset
    pst_fq_pkg::sides_t                    sides;      // hosts that share the queue first: 0 those of sources, 1 of destinations; none
    logic [pst_pkg::LimitPacketsWidth-1:0] limit_packets;
    logic [pst_pkg::LimitBytesWidth-1:0]   limit_bytes;
  } cfg_t;

  // A packet that has left, beside its queue, flow and descriptor; and what became of it.
  typedef struct packed {
    logic                                  valid;
    pst_pkg::len_t                         len;
    logic [pst_fq_pkg::FlowBytesWidth-1:0] bytes;      // left behind in its flow
    logic                                  more;       // packets are left in its queue
  } left_t;

  typedef struct packed {
    logic                                  valid;
    logic                                  drop;
  } verdict_t;

  // Answer of a look into a queue: packets and bytes in its flow queues, as far as the numbers go, and its settings.
  typedef struct packed {
    logic                                  valid;
    logic [pst_pkg::LimitPacketsWidth-1:0] packets;
    logic [pst_pkg::LimitBytesWidth-1:0]   bytes;
    pst_pkg::len_t                         quantum;
    pst_fq_pkg::sides_t                    sides;
    logic [pst_pkg::LimitPacketsWidth-1:0] limit_packets;
    logic [pst_pkg::LimitBytesWidth-1:0]   limit_bytes;
  } look_t;

endpackage
