// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bundles at the ports of pst_fq. Members have the names of the signals.
package pst_fq_ports_pkg;

  // Settings of a queue.
  typedef struct packed {
    logic                                  valid;
    pst_pkg::len_t                         quantum;    // bytes, 1 and more; 1,514 after reset
    logic [pst_pkg::LimitPacketsWidth-1:0] limit_packets;
    logic [pst_pkg::LimitBytesWidth-1:0]   limit_bytes;
  } cfg_t;

endpackage
