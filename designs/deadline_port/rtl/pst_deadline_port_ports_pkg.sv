// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bundles at the ports of the deadline port: streams of frames, and what became of them. Members have the names of the signals.
package pst_deadline_port_ports_pkg;

  typedef struct packed {
    logic [511:0] tdata;
    logic [63:0]  tkeep;
    logic         tlast;
    logic [24:0]  tuser;     // class (first beat, with ClassFromUser), 16 bits that come out with the frame, damaged (last beat)
    logic         tvalid;
  } frames_in_t;

  typedef struct packed {
    logic [511:0] tdata;
    logic [63:0]  tkeep;
    logic         tlast;
    logic [15:0]  tuser;     // what came with the frame; with PlainFifo the upper 8 bits are 0
    logic [7:0]   tid;       // the class
    logic         tvalid;
  } frames_out_t;

  // Refused at the input.
  typedef struct packed {
    logic         valid;
    logic [3:0]   reason;    // drop_e
    logic [7:0]   class_;
    logic [31:0]  len;
  } refused_t;

  // Taken, or dropped for want of memory.
  typedef struct packed {
    logic         valid;
    logic [3:0]   reason;    // drop_e
    logic [7:0]   class_;
    logic [15:0]  len;
    logic [31:0]  deadline;
  } fate_t;

  // A deadline was missed.
  typedef struct packed {
    logic         valid;
    logic [7:0]   class_;
    logic [15:0]  len;
    logic [15:0]  user;
  } missed_t;

  // Frames that were passed over, or were lost by a memory error.
  typedef struct packed {
    logic         valid;
    logic         lost;
    logic [7:0]   class_;
    logic [31:0]  frames;
    logic [39:0]  bytes;
  } passed_t;

endpackage
