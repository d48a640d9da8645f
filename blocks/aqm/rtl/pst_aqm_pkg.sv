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

endpackage
