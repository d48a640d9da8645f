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

  // The next random number of an AQM that draws some: xorshift32 (Marsaglia). 0 would stay 0.
  function automatic logic [31:0] xorshift32(input logic [31:0] number);
    logic [31:0] mixed;
    mixed = number ^ (number << 13);
    mixed = mixed ^ (mixed >> 17);
    return mixed ^ (mixed << 5);
  endfunction

endpackage
