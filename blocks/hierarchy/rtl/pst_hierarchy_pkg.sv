// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Types of the hierarchy. Sizes are parameters of its modules.
package pst_hierarchy_pkg;

  // Class of a queue: 0 goes first. Weight less one, of a queue in its subscriber or of a subscriber: shares are proportional to 1..8.
  localparam int unsigned ClassWidth = pst_pkg::TrafficClassWidth;
  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [pst_pkg::WeightWidth-1:0] weight_t;

  // Guaranteed rate of a queue or a subscriber: the period, coded as a shaper's; mantissa 0: there is none.
  typedef struct packed {
    logic [pst_pkg::ExponentWidth-1:0] exponent;
    logic [pst_pkg::MantissaWidth-1:0] mantissa;
  } guarantee_t;

  // Bits of a class in a memory, where there are so many classes.
  function automatic int unsigned kept_class_width(int unsigned classes);
    return classes > 1 ? $clog2(classes) : 1;
  endfunction

  // What happens at one gate.
  typedef enum logic [2:0] {
    GateNone,     // nothing: the packet waits below, or has passed already
    GateAsk,      // may the packet pass?
    GateLeave,    // a packet that waited goes on
    GateAgain,    // it was looked at and goes on waiting
    GateWalk      // an old time stamp is refreshed
  } gate_op_e;

  // log2 of how many packets a parent may let go at once.
  typedef logic [2:0] train_t;

  // What of a parent, a subscriber or a node, waits above, and what has become of it (pst_waits_above).
  typedef enum logic [2:0] {
    AboveNone,       // nothing
    AboveWaits,      // a packet of the parent begins to wait above
    AboveLeft,       // one of them has left there
    AboveHeld,       // a pick at the parent was refused for the sake of one of them
    AboveArrives,    // a packet begins to wait at the parent
    AboveMoved,      // what is above may be another one: it is looked at again
    AbovePassed      // a packet that the parent has let go has left without waiting above
  } above_e;

  // What a pick has to know of what is above: which classes wait there, and of the packet that left last the class and the time, in eight
  // cycles.
  typedef struct packed {
    logic [2**ClassWidth-1:0] waits;
    class_t                   left_class;
    logic [9:0]               left;
  } above_t;

  // Fair order at nodes and ports: rounds of a parent's class, and what a queue may still send in its round, in bytes.
  localparam int unsigned RoundWidth = 6;
  localparam int unsigned CreditWidth = 17;
  typedef logic [RoundWidth-1:0] round_t;
  typedef logic signed [CreditWidth-1:0] credit_t;

  // Fair order within a subscriber: how far a queue is behind the one of its class that has had the most, in 1/52.5 byte (at weight 1).
  localparam int unsigned BehindWidth = 20;
  typedef logic [BehindWidth-1:0] behind_t;

  // How often a subscriber whose turn it is still lets others go first, because that of its queues which has had the least has just left.
  typedef logic [1:0] patience_t;

  // What a setting is about.
  typedef enum logic [1:0] {
    SetQueue,         // class and weight
    SetSubscriber,    // shaper, node and weight
    SetNode,          // shaper and port
    SetPort           // shaper
  } setting_e;

endpackage
