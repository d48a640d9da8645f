// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the modules of the fq block agree on.
package pst_fq_pkg;

  localparam int unsigned Tables = 2;         // a flow has a place in each
  localparam int unsigned Ways = 7;           // flow queues of a set; the eighth is a queue's own
  localparam int unsigned BucketWidth = 10;   // of the hash of a flow
  localparam int unsigned CreditWidth = 16;   // signed: one packet below 0 to one quantum
  localparam int unsigned FlowBytesWidth = 25;    // a queue's limit and what the valve lets in above it
  localparam int unsigned QueueBytesWidth = 26;   // the same, and a quantum for each flow

  localparam int unsigned MostHostBits = 10;  // of a hash of an address
  localparam int unsigned Sides = 2;          // of a flow: each has a host

  typedef logic [BucketWidth-1:0] bucket_t;

  // Hashes of a packet: of its flow, and of each address alone.
  typedef struct packed {
    logic [MostHostBits-1:0] destination;
    logic [MostHostBits-1:0] source;
    bucket_t                 bucket;
  } hashes_t;

  localparam int unsigned SideSource = 0;
  localparam int unsigned SideDestination = 1;
  typedef logic [Sides-1:0] sides_t;

  typedef enum logic [2:0] {
    OpEnqueue,
    OpAsk,      // the walk asks whether a flow queue is idle
    OpVisit,    // a turn of the RFC's loop
    OpDrop,     // the head of a flow is dropped
    OpClear     // a release that goes back to the walk
  } op_e;

  typedef enum logic [1:0] {
    EvAccepted = 2'd0,
    EvTailDrop = 2'd1,
    EvHeadDrop = 2'd2
  } event_e;

endpackage
