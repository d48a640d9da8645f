// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// PIE as RFC 8033 recommends it (sections 4.2 and 5.1), where a tick is 2^8 cycles at 220 MHz: the defaults of its parameters.
// test_pie_defaults.py computes them from the RFC's numbers.
package pst_pie_pkg;

  localparam int unsigned PieUpdateTicks = 12891;      // T_UPDATE: 15 ms
  localparam int unsigned PieAlpha = 625;              // 0.125 Hz, in 2^-32 per tick
  localparam int unsigned PieBeta = 6247;              // 1.25 Hz, in 2^-32 per tick
  localparam int unsigned PieMeanPacketBytes = 1024;   // MEAN_PKTSIZE: nothing is dropped while no more than two of these are queued

endpackage
