// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bundles at the ports of pst_schedule. Members have the names of the signals.
package pst_schedule_ports_pkg;

  // Answer of a look at a queue's shaper.
  typedef struct packed {
    logic                 valid;
    pst_pkg::shaper_cfg_t shaper;
  } look_t;

endpackage
