// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Types of the active queue management block.
package pst_aqm_pkg;

  // What becomes of a packet. Mark: it goes on with CE in its IP header.
  typedef enum logic [1:0] {
    VerdictPass = 2'd0,
    VerdictMark = 2'd1,
    VerdictDrop = 2'd2
  } verdict_e;

  // Bytes in a queue, as the queue manager counts them.
  localparam int unsigned BacklogWidth = 24;
  typedef logic [BacklogWidth-1:0] backlog_t;

  // PIE as RFC 8033 recommends it (sections 4.2 and 5.1), where a tick is 2^8 cycles at 220 MHz: the defaults of its parameters.
  // test_pie_defaults.py computes them from the RFC's numbers.
  localparam int unsigned PieUpdateTicks = 12891;      // T_UPDATE: 15 ms
  localparam int unsigned PieAlpha = 625;              // 0.125 Hz, in 2^-32 per tick
  localparam int unsigned PieBeta = 6247;              // 1.25 Hz, in 2^-32 per tick
  localparam int unsigned PieMeanPacketBytes = 1024;   // MEAN_PKTSIZE: nothing is dropped while no more than two of these are queued

endpackage
