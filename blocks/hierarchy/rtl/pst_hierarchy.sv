// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The hierarchy: a packet whose queue may send passes three gates in a row, its subscriber, the subscriber's node, the node's port.
//
// A gate that is open, and where none waits, lets the packet pass and charges it to the parent's shaper. Else the packet waits there. When
// the parent's time comes it lets one go: of the highest class, the one next in fair order. See the README.
//
// One pipeline of eleven cycles serves all: packets that ask, and packets that go on from where they waited. A queue has one packet here at most.
//
// Throughput: one operation per cycle; a packet that waits costs one more at each level. Latency: 12 cycles when all gates are open.
// Ordering:   FIFO in each queue, since it has one packet here at most. Reset: forgets all packets; init_done_o rises when the memories are
// cleared (max(Queues, Nodes * Classes, slots) cycles); everything is unshaped, of class 0, at node 0 and port 0.
module pst_hierarchy
  import pst_pkg::LenWidth, pst_pkg::len_t, pst_pkg::shaper_cfg_t;
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Queues = 64,                  // power of two, >= 2 * QueuesPerSubscriber
    parameter int unsigned QueuesPerSubscriber = 4,      // 1, 2, 4 or 8
    parameter int unsigned Nodes = 16,                   // power of two, >= 2
    parameter int unsigned Ports = 2,                    // power of two, >= 2
    parameter int unsigned Classes = 4,                  // 1 .. 8
    parameter int unsigned PayloadWidth = 8,             // bits that go with a packet: its descriptor, its mark
    parameter int unsigned SlotCycles = 32,              // of the timing wheels
    parameter int unsigned ToleranceCycles = 1024,
    parameter int unsigned TrainLog = 6,                 // log2 of the packets that a node or port that is behind its time lets go at once
    parameter int unsigned WalkCycles = 64,              // one time stamp of each level is looked after per so many cycles
    parameter int unsigned DoneCredits = 32,             // packets through that their receiver can keep
    parameter int unsigned TimeWidth = 32,
    parameter int unsigned GuaranteeCycles = 0,          // lateness that guaranteed rates make up for; 0: there are none
    parameter string       RamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned NodeWidth = $clog2(Nodes),
    localparam int unsigned PortWidth = $clog2(Ports)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [   TimeWidth-1:0] now_i,                // cycles; one more in each cycle
    // packets whose queue may send
    input  logic                    s_packet_valid_i,
    output logic                    s_packet_ready_o,
    input  logic [QueueIdWidth-1:0] s_packet_queue_i,
    input  logic [PayloadWidth-1:0] s_packet_payload_i,
    input  len_t                    s_packet_len_i,
    input  logic                    s_packet_empties_i,   // it has left its queue empty
    // packets that leave
    output logic                    m_out_valid_o,
    input  logic                    m_out_ready_i,
    output logic [QueueIdWidth-1:0] m_out_queue_o,
    output logic [PayloadWidth-1:0] m_out_payload_o,
    output len_t                    m_out_len_o,
    // a cycle before each of them: its queue may send the next one
    output logic                    m_done_valid_o,
    output logic [QueueIdWidth-1:0] m_done_queue_o,
    output logic                    m_done_slow_o,        // it had to wait at a gate
    output logic [QueueIdWidth-1:0] m_done_next_queue_o,  // m_done_queue_o of the next cycle, if m_done_valid_o then
    input  logic [             1:0] done_credits_i,       // places that are free again for as many of these, of the DoneCredits at reset
    // settings, each atomic
    input  logic                    s_cfg_valid_i,
    output logic                    s_cfg_ready_o,
    input  setting_e                s_cfg_what_i,
    input  logic [QueueIdWidth-1:0] s_cfg_id_i,           // queue, subscriber, node or port
    input  shaper_cfg_t             s_cfg_shaper_i,       // subscriber, node, port
    input  logic [QueueIdWidth-1:0] s_cfg_parent_i,       // of a subscriber: node; of a node: port
    input  class_t                  s_cfg_class_i,        // queue
    input  weight_t                 s_cfg_weight_i,       // queue, subscriber: weight less one
    input  guarantee_t              s_cfg_guarantee_i,    // queue, subscriber
    // look at a setting, held until the answer, which has what the setting has and else anything: read by the next walk; at most some
    // WalkCycles
    input  logic                    s_look_valid_i,
    input  setting_e                s_look_what_i,
    input  logic [QueueIdWidth-1:0] s_look_id_i,
    output logic                    m_look_valid_o,
    output shaper_cfg_t             m_look_shaper_o,
    output logic [QueueIdWidth-1:0] m_look_parent_o,
    output class_t                  m_look_class_o,
    output weight_t                 m_look_weight_o,
    output guarantee_t              m_look_guarantee_o,
    output logic                    init_done_o
);

  localparam int unsigned Subscribers = Queues / QueuesPerSubscriber;
  localparam int unsigned SubscriberWidth = $clog2(Subscribers);
  localparam int unsigned IndexBits = $clog2(QueuesPerSubscriber);
  localparam int unsigned IndexWidth = IndexBits > 0 ? IndexBits : 1;
  // log2 of the packets that a subscriber that is behind its time lets go at once.
  localparam int unsigned SubscriberTrainLog = TrainLog == 0 ? 0 : IndexBits < 2 ? IndexBits : 2;
  // Narrow words of few subscribers would leave a block RAM nearly empty.
  localparam string NarrowStyle = RamStyle == "auto" && Subscribers <= 512 ? "distributed" : RamStyle;
  localparam int unsigned OutDepth = 32;
  localparam int unsigned GraceCycles = 64;    // in which a queue comes back with its next packet
  localparam bit Guarantees = GuaranteeCycles != 0;
  localparam int unsigned GuaranteeWidth = Guarantees ? $bits(guarantee_t) : 0;    // in a memory

  // The horizon is at least eight cycles per parent, so that visits to parents beyond it stay below 1/8 of the cycles.
  function automatic int unsigned slots(int unsigned parents);
    return parents > 1024 ? 2 ** $clog2(parents / 4) : 256;
  endfunction

  if (Queues != 2 ** QueueIdWidth || Subscribers < 2) begin : g_bad_queues
    $error("pst_hierarchy: Queues (%0d) must be a power of two and at least twice QueuesPerSubscriber (%0d)", Queues, QueuesPerSubscriber);
  end
  if (Nodes < 2 || Nodes > Queues || Ports < 2 || Ports > Queues || Nodes != 2 ** NodeWidth || Ports != 2 ** PortWidth) begin : g_bad_nodes
    $error("pst_hierarchy: Nodes (%0d) and Ports (%0d) must be powers of two, 2 .. Queues", Nodes, Ports);
  end
  if (longint'(WalkCycles) * Subscribers >= longint'(2) ** (TimeWidth - 3)
      || longint'(WalkCycles) * Nodes >= longint'(2) ** (TimeWidth - 3)) begin : g_bad_walk
    $error("pst_hierarchy: WalkCycles (%0d) times the parents of a level must stay below 2^(TimeWidth-3)", WalkCycles);
  end
  if (Guarantees && longint'(WalkCycles) * Queues >= longint'(2) ** (TimeWidth - 3)) begin : g_bad_guarantee_walk
    $error("pst_hierarchy: WalkCycles (%0d) times Queues must stay below 2^(TimeWidth-3) with guarantees", WalkCycles);
  end

  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [SubscriberWidth-1:0] subscriber_t;
  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [NodeWidth-1:0] node_t;
  typedef logic [PortWidth-1:0] port_t;
  typedef logic [kept_class_width(Classes)-1:0] kept_class_t;    // a class in a memory

  typedef enum logic [2:0] {
    OpNew,            // asks at all levels
    OpSubscriber,     // let go by its subscriber, asks at node and port
    OpNode,           // let go by its node, asks at the port
    OpPort,           // let go by its port
    OpWalk            // refreshes an old time stamp of each level
  } op_e;

  typedef struct packed {
    logic [PayloadWidth-1:0] payload;
    len_t                    len;
    class_t                  cls;
    logic                    idle;    // from stage 6 on: its subscriber had no other packet of its class when it came
  } packet_t;

  typedef struct packed {
    logic    valid;
    op_e     op;
    queue_t  queue_id;
    node_t   node;       // OpNode: where it waited; from stage 3 on: where it asks
    port_t   port;       // OpPort, and from stage 5 on
    round_t  round;      // OpNode, OpPort: of the pick
    logic    none;       // OpNode, OpPort; of OpSubscriber from stage 3 on: the pick found none yet
    logic    last;       // of its parent's batch
    patience_t hold;     // OpNode, OpPort: not 0: it holds back
    logic    fresh;      // OpNode, OpPort: its subscriber was idle before it began to wait
    guarantee_t guarantee;    // from stage 3 on: of the subscriber
    logic    holds;      // OpSubscriber: its subscriber waits for what is above
    logic    held;       // OpNode; of OpSubscriber from stage 3 on: the pick found none for the sake of what waits above,
    class_t  held_class; // of this class
    logic    held_own;   // nor after one of its own class
    logic    moved;      // OpWalk: `node` may have another port
    logic    empties;    // OpNew: it has left its queue empty
    weight_t weight;     // from stage 3 on: of the subscriber
    packet_t packet;     // OpNew: payload and length; from stage 3 on
  } op_t;

  // A queue that joins the lists of a node or port, or one that has left.
  typedef struct packed {
    logic        left;          // its packet left,
    logic        more;          // and its subscriber may send more in its round,
    logic        left_far;      // and is far behind
    queue_t      parent;
    class_t      cls;
    subscriber_t subscriber;
    round_t      round;         // in which its subscriber was picked last
    logic        credit;        // and may send more
    logic        front;         // by what is left of its quanta
    logic        covered;       // a quantum covers what it owes
  } list_op_t;

  function automatic subscriber_t subscriber_of(queue_t queue_id);
    return subscriber_t'(queue_id >> IndexBits);
  endfunction

  function automatic index_t index_of(index_t low);
    return IndexBits > 0 ? low : '0;
  endfunction

  function automatic queue_t queue_of(subscriber_t subscriber, index_t index);
    return IndexBits > 0 ? queue_t'({subscriber, index}) : queue_t'(subscriber);
  endfunction

  // In place of a patience: it has none, but stands in the list since it was idle; with guarantees only.
  localparam patience_t FreshTurn = 2'd3;

  function automatic patience_t hold_of(patience_t looked);
    return Guarantees && looked == FreshTurn ? '0 : looked;
  endfunction

  function automatic logic fresh_of(patience_t looked);
    return Guarantees && looked == FreshTurn;
  endfunction

  function automatic patience_t looked_of(patience_t hold, logic fresh);
    return Guarantees && fresh && hold == '0 ? FreshTurn : hold;
  endfunction

  // --- clearing walk of the memories here

  logic init, init_done_q;
  queue_t init_queue;
  logic [11:0] part_init_done;
  logic [2:0] gate_room;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_queue));

  always_ff @(posedge clk_i) init_done_q <= init_done_o && !rst_i;

  assign init_done_o = !init && part_init_done == '1;

  // The parts lie far from what tells the time: a register on the way.
  logic [TimeWidth-1:0] now_q;
  always_ff @(posedge clk_i) now_q <= now_i + 1'b1;

  // --- settings: into a register first, as their memories lie far apart; from there when their level takes one

  typedef struct packed {
    setting_e    what;
    queue_t      id;
    shaper_cfg_t shaper;
    queue_t      parent;
    class_t      cls;
    weight_t     weight;
    guarantee_t  guarantee;
  } setting_t;

  setting_t cfg_q;
  logic cfg_valid_q, cfg_ready, subscriber_cfg_ready, node_cfg_ready, port_cfg_ready;
  logic set_queue, set_subscriber, set_node, set_port;
  // Nodes with settings, of which walks are to tell, one each. Of the first one it is known which; when another one comes before that has
  // been told, all are told of in turn, from this one on.
  logic moved_q;
  node_t moved_node_q, moved_more_q;    // the next one; how many come after it

  always_comb begin
    case (cfg_q.what)
      SetQueue:      cfg_ready = 1'b1;
      SetSubscriber: cfg_ready = subscriber_cfg_ready;
      SetNode:       cfg_ready = node_cfg_ready;
      default:       cfg_ready = port_cfg_ready;
    endcase
  end

  assign s_cfg_ready_o  = init_done_q && !cfg_valid_q;
  assign set_queue      = cfg_valid_q && cfg_q.what == SetQueue;
  assign set_subscriber = cfg_valid_q && cfg_q.what == SetSubscriber;
  assign set_node       = cfg_valid_q && cfg_q.what == SetNode;
  assign set_port       = cfg_valid_q && cfg_q.what == SetPort;

  always_ff @(posedge clk_i) begin
    if (cfg_valid_q) begin
      cfg_valid_q <= !cfg_ready;
    end else begin
      cfg_valid_q <= s_cfg_valid_i && init_done_q;
      cfg_q       <= '{s_cfg_what_i, s_cfg_id_i, s_cfg_shaper_i, s_cfg_parent_i, s_cfg_class_i, s_cfg_weight_i,
                        s_cfg_guarantee_i};
    end
    if (rst_i) cfg_valid_q <= 1'b0;
  end

  // --- which operation is next?

  op_t [9:0] h_q;
  op_t next, h2, h4;
  logic issue, room_q, walk_due_q, new_turn, new_take, turn_new_q, any_release;
  logic released_q;    // a packet that waited has gone on since the last new one
  logic [$clog2(WalkCycles)-1:0] walk_count_q;
  logic looks;    // not before what has been set is in place
  logic tells;    // the walk is of a node that may have moved
  logic out_credit, done_credit;              // a place in the FIFO at the end less the operations under way; the same for m_done
  logic [2:0] release_valid, release_take;    // subscriber, node, port
  logic node_pick_none, port_pick_none, node_pick_last, port_pick_last, node_pick_held, node_pick_own, unused_port_held,
      unused_port_own;
  class_t node_pick_class, unused_port_class;
  patience_t node_pick_hold, port_pick_hold;
  subscriber_t subscriber_pick;
  index_t subscriber_pick_index;
  logic subscriber_pick_holds, subscriber_pick_last;
  node_t node_pick;
  queue_t node_pick_queue, port_pick_queue;
  round_t node_pick_round, port_pick_round;
  port_t port_pick;
  logic credit_back, back_q, out_taken_q;    // places that are free again: known at the end of the pipeline, counted a cycle later
  logic [1:0] done_credits_q;
  logic [$clog2(OutDepth+1)-1:0] unused_out_level;
  logic unused_out_ready;

  // Of packets that waited two for each new one, so that a backlog at a gate that keeps up with what comes goes away; of these the farthest
  // first. From here to the addresses of the memories is a cycle.
  always_comb begin
    any_release  = release_valid != '0;
    looks        = s_look_valid_i && !cfg_valid_q;
    issue        = room_q && out_credit && done_credit;
    new_turn     = issue && !walk_due_q && (turn_new_q || !any_release);
    new_take     = 1'b0;
    release_take = '0;
    next = '{valid: 1'b0, op: OpWalk, default: '0};
    next.queue_id       = s_packet_queue_i;
    next.packet.payload = s_packet_payload_i;
    next.packet.len     = s_packet_len_i;
    next.empties        = s_packet_empties_i;
    next.node           = node_pick;
    next.port           = port_pick;
    next.round          = node_pick_round;
    if (walk_due_q) begin
      next.valid = room_q;
      // What it reads of queue, subscriber and node is for a look.
      next.queue_id = s_look_what_i == SetSubscriber ? queue_of(subscriber_t'(s_look_id_i), '0) : s_look_id_i;
      next.moved    = moved_q && !(looks && s_look_what_i == SetNode);
      next.node     = next.moved ? moved_node_q : node_t'(s_look_id_i);
    end else if (new_turn && s_packet_valid_i) begin
      next.valid = 1'b1;
      next.op    = OpNew;
      new_take = 1'b1;
    end else if (issue && release_valid[2]) begin
      next.valid        = 1'b1;
      next.op           = OpPort;
      next.queue_id     = port_pick_queue;
      next.round        = port_pick_round;
      next.none         = port_pick_none;
      next.last         = port_pick_last;
      next.hold         = hold_of(port_pick_hold);
      next.fresh        = fresh_of(port_pick_hold);
      release_take[2] = 1'b1;
    end else if (issue && release_valid[1]) begin
      next.valid        = 1'b1;
      next.op           = OpNode;
      next.queue_id     = node_pick_queue;
      next.none         = node_pick_none;
      next.held         = node_pick_held;
      next.held_class   = node_pick_class;
      next.held_own     = node_pick_own;
      next.last         = node_pick_last && !node_pick_held;    // it is not placed
      next.hold         = hold_of(node_pick_hold);
      next.fresh        = fresh_of(node_pick_hold);
      release_take[1] = 1'b1;
    end else if (issue && release_valid[0]) begin
      next.valid        = 1'b1;
      next.op           = OpSubscriber;
      next.queue_id     = queue_of(subscriber_pick, subscriber_pick_index);
      next.holds        = subscriber_pick_holds;
      next.last         = subscriber_pick_last;
      release_take[0] = 1'b1;
    end
  end

  assign tells = walk_due_q && next.valid && next.moved;
  assign s_packet_ready_o = new_turn;    // whether there is a packet is known later

  pst_credits #(
      .Credits(OutDepth), .Late(1'b1)
  ) u_out_credit (
      .clk_i, .rst_i, .take_i(h_q[0].valid && h_q[0].op != OpWalk), .give_i(2'(back_q) + 2'(out_taken_q)),
      .any_o(out_credit)
  );

  pst_credits #(
      .Credits(DoneCredits), .Late(1'b1)
  ) u_done_credit (
      .clk_i, .rst_i, .take_i(h_q[0].valid && h_q[0].op != OpWalk), .give_i(2'(back_q) + done_credits_q), .any_o(done_credit)
  );

  always_ff @(posedge clk_i) begin
    walk_count_q <= walk_count_q + 1'b1;
    if (walk_count_q == $bits(walk_count_q)'(WalkCycles - 1)) begin
      walk_count_q <= '0;
      walk_due_q   <= init_done_o;
    end
    if (walk_due_q && next.valid) walk_due_q <= 1'b0;
    if (tells) begin
      moved_q      <= moved_more_q != '0;
      moved_node_q <= moved_node_q == node_t'(Nodes - 1) ? '0 : moved_node_q + 1'b1;
      moved_more_q <= moved_more_q - 1'b1;
    end
    if (set_node && node_cfg_ready) begin
      moved_q <= 1'b1;
      if (moved_q && !(tells && moved_more_q == '0)) begin
        moved_more_q <= node_t'(Nodes - 1);
      end else begin
        moved_more_q <= '0;
        moved_node_q <= node_t'(cfg_q.id);
      end
    end
    if (new_take || release_take != '0) begin
      turn_new_q <= !new_take && released_q;
      released_q <= !new_take;
    end
    room_q <= gate_room == '1 && init_done_q;
    back_q         <= credit_back;
    out_taken_q    <= m_out_valid_o && m_out_ready_i;
    done_credits_q <= done_credits_i;
    if (rst_i) begin
      walk_count_q  <= '0;
      walk_due_q    <= 1'b0;
      moved_q       <= 1'b0;
      turn_new_q    <= 1'b0;
      released_q    <= 1'b0;
      room_q        <= 1'b0;
      back_q         <= 1'b0;
      out_taken_q    <= 1'b0;
      done_credits_q <= '0;
    end
  end

  // --- stage 0 to 2: what is known of queue, subscriber and packet; 2 to 4: of the node

  packet_t h2_held;
  above_t h2_above_q;    // what of the subscriber waits above
  logic h2_waits, h2_left;
  logic h2_new_q;
  class_t h2_class;
  weight_t h2_weight, h2_subscriber_weight;
  guarantee_t h2_guarantee, h2_subscriber_guarantee;    // of the queue, of the subscriber
  node_t h2_node;
  port_t h4_port;

  localparam int unsigned ClassAt = $bits(weight_t);
  localparam int unsigned GuaranteeAt = ClassAt + $bits(kept_class_t);
  logic [GuaranteeAt+GuaranteeWidth-1:0] h2_queue;

  assign h2_weight = h2_queue[ClassAt-1:0];
  assign h2_class  = class_t'(h2_queue[GuaranteeAt-1:ClassAt]);

  pst_ram_write_first #(
      .Width($bits(h2_queue)), .Depth(Queues), .Style(RamStyle)
  ) u_queue (
      .clk_i,
      .we_i(init || set_queue), .waddr_i(init ? init_queue : cfg_q.id),
      .wdata_i(init ? '0 : $bits(h2_queue)'({cfg_q.guarantee, kept_class_t'(cfg_q.cls), cfg_q.weight})),
      .re_i(1'b1), .raddr_i(h_q[0].queue_id), .rdata_o(h2_queue)
  );

  // Packets that wait, written when they begin to.
  logic [9:5] h_waits_q;
  localparam int unsigned HeldWidth = PayloadWidth + LenWidth + $bits(kept_class_t);
  localparam int unsigned KeptWidth = HeldWidth + (Guarantees ? 1 : 0);
  kept_class_t h2_held_class;
  logic [KeptWidth-1:0] h2_kept;
  assign h2_held.cls  = class_t'(h2_held_class);
  assign h2_held.idle = Guarantees && h2_kept[KeptWidth-1];
  assign {h2_held.payload, h2_held.len, h2_held_class} = h2_kept[HeldWidth-1:0];

  pst_ram_1r1w #(
      .Width(KeptWidth), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_held (
      .clk_i,
      .we_i(h_waits_q[9]), .waddr_i(h_q[9].queue_id),
      .wdata_i(KeptWidth'({h_q[9].packet.idle, h_q[9].packet.payload, h_q[9].packet.len, kept_class_t'(h_q[9].packet.cls)})),
      .re_i(1'b1), .raddr_i(h_q[0].queue_id), .rdata_o(h2_kept)
  );

  always_comb begin
    h2 = h_q[2];
    h2.weight = h2_subscriber_weight;
    h2.guarantee = h2_subscriber_guarantee;
    if (h2_new_q)
      h2.packet.cls = h2_class;
    else
      h2.packet = h2_held;
    if (h_q[2].op != OpNode && h_q[2].op != OpWalk) h2.node = h2_node;
    // A class waits for the ones before it and for its own packets, above and shortly after they have left there.
    h2_waits = '0;
    for (int c = 0; c < int'(Classes); c++) if (class_t'(c) <= h2_held.cls && h2_above_q.waits[c]) h2_waits = 1'b1;
    h2_left = h2_above_q.left_class <= h2_held.cls && 10'(now_q[12:3] - h2_above_q.left) < 10'(GraceCycles / 8);
    if (h_q[2].op == OpSubscriber) begin
      h2.none       = h_q[2].holds && (h2_waits || h2_left);
      h2.held       = h_q[2].holds && h2_waits;
      h2.last       = h_q[2].last && !h2.held;    // it is not placed
      h2.held_class = h2_held.cls;
    end
    h4 = h_q[4];
    if (h_q[4].op != OpPort) h4.port = h4_port;
  end

  // --- stage 4, 6, 8: the gates of subscriber, node and port

  gate_op_e h4_op, h6_op, h8_op;
  logic subscriber_pass, subscriber_wait, node_pass, node_wait, port_pass, port_wait;
  logic [8:5] h_alive_q;               // asks at the next gate
  logic h6_stays_q, h8_stays_q;    // a pick that found no queue yet, or that holds back
  logic h5_idle;    // of a packet that comes: its subscriber has no other of its class
  logic h5_wait_q, h5_left_q, h7_wait_q, h7_again_q, h7_left_q, h9_wait_q, h9_again_q, h9_left_q, h9_out_q;
  logic node_go, port_go, node_credit, port_credit, h7_credit_q, h9_credit_q, node_more, port_more, node_left_credit, port_left_credit;
  logic node_covered, port_covered, node_front, port_front, h7_front_q, h9_front_q, node_left_front, port_left_front, node_far, port_far;
  round_t node_round, port_round, h7_round_q, h9_round_q;
  list_op_t h8_node_q, h10_port_q;

  always_comb begin
    h4_op = GateNone;
    h6_op = GateNone;
    h8_op = GateNone;
    if (h_q[4].valid) begin
      case (h_q[4].op)
        OpNew:        h4_op = GateAsk;
        OpSubscriber: h4_op = h_q[4].none ? GateAgain : GateLeave;
        OpWalk:       h4_op = GateWalk;
        default: ;
      endcase
    end
    if (h_q[6].valid) begin
      if (h_alive_q[6]) h6_op = GateAsk;
      if (h_q[6].op == OpNode) h6_op = node_go && !h6_stays_q ? GateLeave : GateAgain;
      if (h_q[6].op == OpWalk) h6_op = GateWalk;
    end
    if (h_q[8].valid) begin
      if (h_alive_q[8]) h8_op = GateAsk;
      if (h_q[8].op == OpPort) h8_op = port_go && !h8_stays_q ? GateLeave : GateAgain;
      if (h_q[8].op == OpWalk) h8_op = GateWalk;
    end
  end

  always_ff @(posedge clk_i) begin
    h_q[0]   <= next;
    h_q[2:1] <= h_q[1:0];
    h2_new_q <= h_q[1].op == OpNew;
    h_q[3]   <= h2;
    h_q[4]   <= h_q[3];
    h_q[5]   <= h4;
    h_q[9:6] <= h_q[8:5];
    if (h_q[5].op == OpNew) h_q[6].packet.idle <= h5_idle;

    h_alive_q[5] <= h4_op == GateAsk ? subscriber_pass : h4_op == GateLeave;
    h_alive_q[6] <= h_alive_q[5];
    h_alive_q[7] <= h6_op == GateAsk ? node_pass : h6_op == GateLeave;
    h_alive_q[8] <= h_alive_q[7];

    h6_stays_q  <= h_q[5].none || h_q[5].hold != '0;
    h8_stays_q  <= h_q[7].none || h_q[7].hold != '0;
    h5_wait_q   <= h4_op == GateAsk && subscriber_wait;
    h5_left_q   <= h4_op == GateLeave;
    h7_wait_q   <= h6_op == GateAsk && node_wait;
    h7_again_q  <= h6_op == GateAgain && !h_q[6].none;
    h7_left_q   <= h6_op == GateLeave;
    h9_wait_q   <= h8_op == GateAsk && port_wait;
    h9_again_q  <= h8_op == GateAgain && !h_q[8].none;
    h9_left_q   <= h8_op == GateLeave;
    h7_round_q  <= node_round;
    h7_credit_q <= node_credit;
    h7_front_q  <= node_front;
    h9_round_q  <= port_round;
    h9_credit_q <= port_credit;
    h9_front_q  <= port_front;
    h9_out_q    <= h8_op == GateLeave || (h8_op == GateAsk && port_pass);

    // To the lists, a cycle after the event: what a pick has left counts for the queue that follows it.
    h8_node_q <= '{
        left: h7_left_q, more: node_more, left_far: node_far, parent: queue_t'(h_q[7].node), cls: h_q[7].packet.cls,
        subscriber: subscriber_of(h_q[7].queue_id), round: h7_left_q || h7_again_q ? h_q[7].round : h7_round_q,
        credit: h7_left_q ? node_left_credit : h7_again_q ? h_q[7].hold != '0 : h7_credit_q,
        front: h7_left_q ? node_left_front : !h7_again_q && h7_front_q, covered: node_covered
    };
    h10_port_q <= '{
        left: h9_left_q, more: port_more, left_far: port_far, parent: queue_t'(h_q[9].port), cls: h_q[9].packet.cls,
        subscriber: subscriber_of(h_q[9].queue_id), round: h9_left_q || h9_again_q ? h_q[9].round : h9_round_q,
        credit: h9_left_q ? port_left_credit : h9_again_q ? h_q[9].hold != '0 : h9_credit_q,
        front: h9_left_q ? port_left_front : !h9_again_q && h9_front_q, covered: port_covered
    };

    h_waits_q[5] <= h4_op == GateAsk && subscriber_wait;
    h_waits_q[6] <= h_waits_q[5];
    h_waits_q[7] <= h_waits_q[6] || (h_q[6].op == OpNew && h6_op == GateAsk && node_wait);
    h_waits_q[8] <= h_waits_q[7];
    h_waits_q[9] <= h_waits_q[8] || (h_q[8].op == OpNew && h8_op == GateAsk && port_wait);
    if (rst_i) begin
      for (int k = 0; k <= 9; k++) h_q[k].valid <= 1'b0;
      h5_wait_q       <= 1'b0;
      h5_left_q       <= 1'b0;
      h7_wait_q       <= 1'b0;
      h7_again_q      <= 1'b0;
      h7_left_q       <= 1'b0;
      h9_wait_q       <= 1'b0;
      h9_again_q      <= 1'b0;
      h9_left_q       <= 1'b0;
      h9_out_q        <= 1'b0;
      h8_node_q.left  <= 1'b0;
      h10_port_q.left <= 1'b0;
      h_waits_q       <= '0;
    end
  end

  // --- looks: a walk brings class and weight, and a subscriber's node and shaper, to stage 2, a node's port and shaper to 4, a port's to 6

  logic [6:0] look_q;
  shaper_cfg_t look_subscriber, look_node, look_port;

  // One look at a time: what is answered does not answer the next one of a level farther on.
  always_ff @(posedge clk_i) look_q <= rst_i || m_look_valid_o ? '0 : {look_q[5:0], walk_due_q && next.valid && looks};

  always_comb begin
    m_look_class_o  = h2_class;
    m_look_weight_o = s_look_what_i == SetQueue ? h2_weight : h2_subscriber_weight;
    m_look_guarantee_o = s_look_what_i == SetQueue ? h2_guarantee : h2_subscriber_guarantee;
    m_look_parent_o = s_look_what_i == SetNode ? QueueIdWidth'(h4_port) : QueueIdWidth'(h2_node);
    case (s_look_what_i)
      SetNode: begin
        m_look_valid_o  = look_q[4];
        m_look_shaper_o = look_node;
      end
      SetPort: begin
        m_look_valid_o  = look_q[6];
        m_look_shaper_o = look_port;
      end
      default: begin
        m_look_valid_o  = look_q[2];
        m_look_shaper_o = look_subscriber;
      end
    endcase
  end

  localparam int unsigned NoteAt = NodeWidth + $bits(weight_t);
  logic [NoteAt+GuaranteeWidth-1:0] h2_note;    // of the subscriber

  assign {h2_node, h2_subscriber_weight} = h2_note[NoteAt-1:0];

  if (Guarantees) begin : g_guarantee
    assign h2_guarantee            = guarantee_t'(h2_queue >> GuaranteeAt);
    assign h2_subscriber_guarantee = guarantee_t'(h2_note >> NoteAt);
  end else begin : g_no_guarantee
    assign h2_guarantee            = '0;
    assign h2_subscriber_guarantee = '0;
  end

  logic [2:0] due_valid, due_ready;
  subscriber_t due_subscriber;
  node_t due_node;
  port_t due_port;
  train_t subscriber_train, node_train, port_train;
  logic node_patient, port_patient, unused_patient, subscriber_holds, node_holds, unused_port_holds, unused_note;
  logic subscriber_wake, node_wake;
  subscriber_t wake_subscriber;
  node_t wake_node;
  logic h5_behind;    // a packet that asks at its node would go out of turn

  pst_gate #(
      .Parents(Subscribers), .MaxWaiting(QueuesPerSubscriber), .Slots(slots(Subscribers)), .SlotCycles(SlotCycles),
      .ToleranceCycles(ToleranceCycles), .TrainLog(SubscriberTrainLog), .Holds(QueuesPerSubscriber > 1),
      .NoteWidth($bits(h2_note)), .TimeWidth(TimeWidth), .RamStyle(RamStyle)
  ) u_subscriber (
      .clk_i, .rst_i, .now_i(now_q),
      .s_op_valid_i(h_q[0].valid && (h_q[0].op == OpNew || h_q[0].op == OpSubscriber || h_q[0].op == OpWalk)),
      .s_op_walk_i(h_q[0].op == OpWalk),
      .s_op_parent_i(subscriber_of(h_q[0].queue_id)), .s_op_len_i(h2.packet.len), .s_op_behind_i(1'b0),
      .s_op_i(h4_op), .s_op_last_i(h_q[4].last),
      .pass_o(subscriber_pass), .wait_o(subscriber_wait), .room_o(gate_room[0]),
      .m_due_valid_o(due_valid[0]), .m_due_ready_i(due_ready[0]), .m_due_parent_o(due_subscriber),
      .m_due_train_o(subscriber_train), .m_due_patient_o(unused_patient), .m_due_holds_o(subscriber_holds),
      .s_wake_valid_i(subscriber_wake), .s_wake_parent_i(wake_subscriber),
      .s_cfg_valid_i(set_subscriber), .s_cfg_ready_o(subscriber_cfg_ready),
      .s_cfg_parent_i(subscriber_t'(cfg_q.id)), .s_cfg_shaper_i(cfg_q.shaper),
      .s_cfg_note_i($bits(h2_note)'({cfg_q.guarantee, node_t'(cfg_q.parent), cfg_q.weight})), .m_note_o(h2_note),
      .s_look_parent_i(subscriber_t'(s_look_id_i)), .m_look_shaper_o(look_subscriber), .init_done_o(part_init_done[0])
  );

  pst_gate #(
      .Parents(Nodes), .MaxWaiting(Queues), .Slots(slots(Nodes)), .SlotCycles(SlotCycles), .ToleranceCycles(ToleranceCycles),
      .TrainLog(TrainLog), .Holds(TrainLog > 0), .NoteWidth(PortWidth), .TimeWidth(TimeWidth), .RamStyle(RamStyle)
  ) u_node (
      .clk_i, .rst_i, .now_i(now_q),
      .s_op_valid_i(h_q[2].valid && h_q[2].op != OpPort), .s_op_walk_i(h_q[2].op == OpWalk), .s_op_parent_i(h2.node),
      .s_op_len_i(h_q[4].packet.len), .s_op_behind_i(h5_behind), .s_op_i(h6_op), .s_op_last_i(h_q[6].last),
      .pass_o(node_pass), .wait_o(node_wait),
      .room_o(gate_room[1]),
      .m_due_valid_o(due_valid[1]), .m_due_ready_i(due_ready[1]), .m_due_parent_o(due_node),
      .m_due_train_o(node_train), .m_due_patient_o(node_patient), .m_due_holds_o(node_holds),
      .s_wake_valid_i(node_wake), .s_wake_parent_i(wake_node),
      .s_cfg_valid_i(set_node), .s_cfg_ready_o(node_cfg_ready),
      .s_cfg_parent_i(node_t'(cfg_q.id)), .s_cfg_shaper_i(cfg_q.shaper),
      .s_cfg_note_i(port_t'(cfg_q.parent)), .m_note_o(h4_port),
      .s_look_parent_i(h2.node), .m_look_shaper_o(look_node), .init_done_o(part_init_done[1])
  );

  pst_gate #(
      .Parents(Ports), .MaxWaiting(Queues), .Slots(slots(Ports)), .SlotCycles(SlotCycles), .ToleranceCycles(ToleranceCycles),
      .TrainLog(TrainLog), .TimeWidth(TimeWidth), .RamStyle(RamStyle)
  ) u_port (
      .clk_i, .rst_i, .now_i(now_q),
      .s_op_valid_i(h_q[4].valid), .s_op_walk_i(h_q[4].op == OpWalk), .s_op_parent_i(h4.port), .s_op_len_i(h_q[6].packet.len),
      .s_op_behind_i(1'b0), .s_op_i(h8_op), .s_op_last_i(h_q[8].last), .pass_o(port_pass), .wait_o(port_wait), .room_o(gate_room[2]),
      .m_due_valid_o(due_valid[2]), .m_due_ready_i(due_ready[2]), .m_due_parent_o(due_port),
      .m_due_train_o(port_train), .m_due_patient_o(port_patient), .m_due_holds_o(unused_port_holds),
      .s_wake_valid_i(1'b0), .s_wake_parent_i('0),
      .s_cfg_valid_i(set_port), .s_cfg_ready_o(port_cfg_ready),
      .s_cfg_parent_i(port_t'(cfg_q.id)), .s_cfg_shaper_i(cfg_q.shaper), .s_cfg_note_i(1'b0), .m_note_o(unused_note),
      .s_look_parent_i(port_t'(s_look_id_i)), .m_look_shaper_o(look_port), .init_done_o(part_init_done[2])
  );

  // --- which is next

  // Which of a subscriber's queues goes before which, for each operation: at its subscriber (stage 5), node (7) and port (9).
  typedef logic [QueuesPerSubscriber-1:0][QueuesPerSubscriber-1:0] before_t;
  before_t h5_before;
  before_t [9:6] before_q;
  logic [QueuesPerSubscriber-1:0] h5_repeat, h5_alike;
  logic [9:6][QueuesPerSubscriber-1:0] repeat_q, alike_q;

  // A packet that waits may go; where a pick has found none there is no packet.
  logic releases;
  assign releases = h_q[0].valid && h_q[0].op != OpNew && h_q[0].op != OpWalk && !h_q[0].none;

  if (QueuesPerSubscriber == 1) begin : g_no_siblings
    assign h5_before         = '0;
    assign h5_alike          = '0;
    assign h5_repeat         = '0;
    assign part_init_done[7] = 1'b1;

    logic unused_weight;
    assign unused_weight = &{1'b0, h2_weight, h2_guarantee, releases};

    if (Guarantees) begin : g_idle
      // Whether the queue's last packet has not left it empty. The next one comes long after this one.
      logic h2_busy;
      logic [5:3] idle_q;

      pst_ram_1r1w #(
          .Width(1), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
      ) u_busy (
          .clk_i,
          .we_i(init || (h_q[2].valid && h_q[2].op == OpNew)), .waddr_i(init ? init_queue : h_q[2].queue_id),
          .wdata_i(!init && !h_q[2].empties), .re_i(1'b1), .raddr_i(h_q[0].queue_id), .rdata_o(h2_busy)
      );

      always_ff @(posedge clk_i) idle_q <= {idle_q[4:3], !h2_busy};

      assign h5_idle = idle_q[5];
    end else begin : g_no_idle
      assign h5_idle = 1'b0;
    end
  end else begin : g_siblings
    pst_sibling_order #(
        .Subscribers(Subscribers), .QueuesPerSubscriber(QueuesPerSubscriber), .Classes(Classes), .GuaranteeCycles(GuaranteeCycles),
        .ToleranceCycles(ToleranceCycles), .TimeWidth(TimeWidth), .RamStyle(RamStyle)
    ) u_sibling_order (
        .clk_i, .rst_i, .now_i(now_q),
        .s_op_valid_i(h_q[0].valid), .s_op_charge_i(h_q[0].op == OpNew), .s_op_release_i(releases),
        .s_op_walk_i(h_q[0].op == OpWalk), .s_op_guarantee_i(h2_guarantee), .idle_o(h5_idle),
        .s_op_subscriber_i(subscriber_of(h_q[0].queue_id)),
        .s_op_index_i(index_of(index_t'(h_q[0].queue_id))), .s_op_class_i(h2.packet.cls), .s_op_weight_i(h2_weight),
        .s_op_len_i(h2.packet.len), .s_op_empties_i(h_q[2].empties),
        .before_o(h5_before), .alike_o(h5_alike), .again_o(h5_repeat), .init_done_o(part_init_done[7])
    );
  end

  always_ff @(posedge clk_i) begin
    before_q <= {before_q[8:6], h5_before};
    alike_q  <= {alike_q[8:6], h5_alike};
    repeat_q <= {repeat_q[8:6], h5_repeat};
  end

  pst_subscriber_queues #(
      .Subscribers(Subscribers), .QueuesPerSubscriber(QueuesPerSubscriber), .TrainLog(SubscriberTrainLog), .RamStyle(NarrowStyle)
  ) u_subscriber_queues (
      .clk_i, .rst_i,
      .s_op_valid_i(h_q[2].valid), .s_op_subscriber_i(subscriber_of(h_q[2].queue_id)),
      .s_event_waits_i(h5_wait_q), .s_event_left_i(h5_left_q), .s_event_index_i(index_of(index_t'(h_q[5].queue_id))),
      .s_event_before_i(h5_before),
      .s_pick_valid_i(due_valid[0]), .s_pick_ready_o(due_ready[0]), .s_pick_subscriber_i(due_subscriber),
      .s_pick_train_i(subscriber_train), .s_pick_holds_i(subscriber_holds),
      .m_pick_valid_o(release_valid[0]), .m_pick_ready_i(release_take[0]), .m_pick_subscriber_o(subscriber_pick),
      .m_pick_index_o(subscriber_pick_index), .m_pick_holds_o(subscriber_pick_holds),
      .m_pick_last_o(subscriber_pick_last), .init_done_o(part_init_done[3])
  );

  logic node_append, port_append;
  index_t node_append_index, port_append_index, node_look_index, port_look_index;
  patience_t node_look_hold, port_look_hold;
  logic node_look_beside, port_look_beside, node_look_covered, port_look_covered, node_look_clear, port_look_clear;
  queue_t node_look, port_look;
  subscriber_t node_look_q, port_look_q;
  logic unused_node_alone, h10_alone;
  node_t unused_node_parent, node_start, h10_group_node;
  port_t unused_port_start, h10_group_port;
  above_t node_above;

  always_ff @(posedge clk_i) begin
    node_look_q <= subscriber_of(node_look);
    port_look_q <= subscriber_of(port_look);
  end

  pst_siblings #(
      .Subscribers(Subscribers), .QueuesPerSubscriber(QueuesPerSubscriber), .ParentWidth(NodeWidth), .RamStyle(RamStyle)
  ) u_node_siblings (
      .clk_i, .rst_i,
      .s_op_valid_i(h_q[4].valid), .s_op_subscriber_i(subscriber_of(h_q[4].queue_id)),
      .s_event_waits_i(h7_wait_q), .s_event_left_i(h7_left_q), .s_event_again_i(h7_again_q),
      .s_event_index_i(index_of(index_t'(h_q[7].queue_id))), .s_event_alike_i(alike_q[7]), .s_event_parent_i(h_q[7].node),
      .s_event_before_i(before_q[7]), .s_event_repeat_i(repeat_q[7]), .s_event_hold_i(h_q[7].hold),
      .m_append_valid_o(node_append), .m_append_index_o(node_append_index), .m_alone_o(unused_node_alone), .m_parent_o(unused_node_parent),
      .s_look_subscriber_i(subscriber_of(node_look)), .s_look_index_i(index_of(index_t'(node_look))), .m_look_index_o(node_look_index),
      .m_look_hold_o(node_look_hold), .m_look_beside_o(node_look_beside),
      .init_done_o(part_init_done[8])
  );

  pst_siblings #(
      .Subscribers(Subscribers), .QueuesPerSubscriber(QueuesPerSubscriber), .ParentWidth(NodeWidth + PortWidth), .RamStyle(RamStyle)
  ) u_port_siblings (
      .clk_i, .rst_i,
      .s_op_valid_i(h_q[6].valid), .s_op_subscriber_i(subscriber_of(h_q[6].queue_id)),
      .s_event_waits_i(h9_wait_q), .s_event_left_i(h9_left_q), .s_event_again_i(h9_again_q),
      .s_event_index_i(index_of(index_t'(h_q[9].queue_id))), .s_event_alike_i(alike_q[9]), .s_event_parent_i({h_q[9].node, h_q[9].port}),
      .s_event_before_i(before_q[9]), .s_event_repeat_i(repeat_q[9]), .s_event_hold_i(h_q[9].hold),
      .m_append_valid_o(port_append), .m_append_index_o(port_append_index), .m_alone_o(h10_alone),
      .m_parent_o({h10_group_node, h10_group_port}),
      .s_look_subscriber_i(subscriber_of(port_look)), .s_look_index_i(index_of(index_t'(port_look))), .m_look_index_o(port_look_index),
      .m_look_hold_o(port_look_hold), .m_look_beside_o(port_look_beside),
      .init_done_o(part_init_done[9])
  );

  // Of each queue that stands in a list: a quantum covers what its subscriber owes. Then it goes when its turn has come, and if no other waits
  // beside it nothing of its subscriber and class is left.
  pst_ram_1r1w #(
      .Width(1), .Depth(Queues), .Style(RamStyle)
  ) u_node_covered (
      .clk_i,
      .we_i(node_append), .waddr_i(queue_of(h8_node_q.subscriber, node_append_index)), .wdata_i(h8_node_q.covered),
      .re_i(1'b1), .raddr_i(node_look), .rdata_o(node_look_covered)
  );

  pst_ram_1r1w #(
      .Width(1), .Depth(Queues), .Style(RamStyle)
  ) u_port_covered (
      .clk_i,
      .we_i(port_append), .waddr_i(queue_of(h10_port_q.subscriber, port_append_index)), .wdata_i(h10_port_q.covered),
      .re_i(1'b1), .raddr_i(port_look), .rdata_o(port_look_covered)
  );

  assign node_look_clear = node_look_covered && !node_look_beside && node_look_hold == '0;
  assign port_look_clear = port_look_covered && !port_look_beside && port_look_hold == '0;

  // Of each queue that stands in a list: it came after its subscriber had been idle.
  logic node_look_fresh, port_look_fresh;

  if (Guarantees) begin : g_fresh
    logic h8_waits_q, h10_waits_q, h10_idle_q;    // begins to wait

    always_ff @(posedge clk_i) begin
      h8_waits_q  <= h7_wait_q;
      h10_waits_q <= h9_wait_q;
      h10_idle_q  <= h_q[9].packet.idle;
    end

    pst_ram_1r1w #(
        .Width(1), .Depth(Queues), .Style(RamStyle)
    ) u_node_fresh (
        .clk_i,
        .we_i(node_append), .waddr_i(queue_of(h8_node_q.subscriber, node_append_index)),
        .wdata_i(h8_waits_q && h_q[8].packet.idle),
        .re_i(1'b1), .raddr_i(node_look), .rdata_o(node_look_fresh)
    );

    pst_ram_1r1w #(
        .Width(1), .Depth(Queues), .Style(RamStyle)
    ) u_port_fresh (
        .clk_i,
        .we_i(port_append), .waddr_i(queue_of(h10_port_q.subscriber, port_append_index)), .wdata_i(h10_waits_q && h10_idle_q),
        .re_i(1'b1), .raddr_i(port_look), .rdata_o(port_look_fresh)
    );
  end else begin : g_never_fresh
    assign node_look_fresh = 1'b0;
    assign port_look_fresh = 1'b0;
  end

  pst_fair_lists #(
      .Parents(Nodes), .Queues(Queues), .Classes(Classes), .TrainLog(TrainLog), .RamStyle(RamStyle)
  ) u_node_lists (
      .clk_i, .rst_i, .now_i(13'(now_q)),
      .s_append_valid_i(node_append), .s_append_front_i(h8_node_q.front), .s_append_parent_i(node_t'(h8_node_q.parent)),
      .s_append_class_i(h8_node_q.cls), .s_append_queue_i(queue_of(h8_node_q.subscriber, node_append_index)),
      .s_append_round_i(h8_node_q.round), .s_append_credit_i(h8_node_q.credit),
      .s_left_valid_i(h8_node_q.left), .s_left_credit_i(h8_node_q.more), .s_left_far_i(h8_node_q.left_far),
      .s_pick_valid_i(due_valid[1]), .s_pick_ready_o(due_ready[1]), .s_pick_parent_i(due_node),
      .s_pick_train_i(node_train), .s_pick_patient_i(node_patient), .s_pick_holds_i(node_holds),
      .m_start_parent_o(node_start), .s_start_above_i(node_above),
      .m_look_queue_o(node_look), .m_look_queue_i(queue_of(node_look_q, node_look_index)),
      .m_look_hold_i(looked_of(node_look_hold, node_look_fresh)), .m_look_clear_i(node_look_clear),
      .m_pick_valid_o(release_valid[1]), .m_pick_ready_i(release_take[1]), .m_pick_parent_o(node_pick),
      .m_pick_queue_o(node_pick_queue), .m_pick_round_o(node_pick_round), .m_pick_none_o(node_pick_none),
      .m_pick_held_o(node_pick_held), .m_pick_class_o(node_pick_class), .m_pick_own_o(node_pick_own), .m_pick_last_o(node_pick_last),
      .m_pick_hold_o(node_pick_hold),
      .init_done_o(part_init_done[4])
  );

  pst_fair_lists #(
      .Parents(Ports), .Queues(Queues), .Classes(Classes), .TrainLog(TrainLog), .RamStyle(RamStyle)
  ) u_port_lists (
      .clk_i, .rst_i, .now_i(13'(now_q)),
      .s_append_valid_i(port_append), .s_append_front_i(h10_port_q.front), .s_append_parent_i(port_t'(h10_port_q.parent)),
      .s_append_class_i(h10_port_q.cls), .s_append_queue_i(queue_of(h10_port_q.subscriber, port_append_index)),
      .s_append_round_i(h10_port_q.round), .s_append_credit_i(h10_port_q.credit),
      .s_left_valid_i(h10_port_q.left), .s_left_credit_i(h10_port_q.more), .s_left_far_i(h10_port_q.left_far),
      .s_pick_valid_i(due_valid[2]), .s_pick_ready_o(due_ready[2]), .s_pick_parent_i(due_port),
      .s_pick_train_i(port_train), .s_pick_patient_i(port_patient), .s_pick_holds_i(1'b0),
      .m_start_parent_o(unused_port_start), .s_start_above_i('0),
      .m_look_queue_o(port_look), .m_look_queue_i(queue_of(port_look_q, port_look_index)),
      .m_look_hold_i(looked_of(port_look_hold, port_look_fresh)), .m_look_clear_i(port_look_clear),
      .m_pick_valid_o(release_valid[2]), .m_pick_ready_i(release_take[2]), .m_pick_parent_o(port_pick),
      .m_pick_queue_o(port_pick_queue), .m_pick_round_o(port_pick_round), .m_pick_none_o(port_pick_none),
      .m_pick_held_o(unused_port_held), .m_pick_class_o(unused_port_class), .m_pick_own_o(unused_port_own), .m_pick_last_o(port_pick_last),
      .m_pick_hold_o(port_pick_hold),
      .init_done_o(part_init_done[5])
  );

  // --- stages 9 to 15: what of a node waits at its port, of a subscriber at node or port. An operation begins to wait or leaves in one place.

  typedef struct packed {
    above_e what;
    class_t cls;
    logic   own;
    node_t  node;
    port_t  port;
  } above_op_t;

  logic h8_node_wait_q, h9_node_wait_q, node_given_q;
  node_t node_given_parent_q;
  above_op_t h9_above, h10_above_q, h10_above;
  above_op_t [14:11] above_q;

  always_comb begin
    h9_above = '{what: AboveNone, cls: h_q[9].packet.cls, own: h_q[9].held_own, node: h_q[9].node, port: h_q[9].port};
    if (h9_node_wait_q) h9_above.what = AboveArrives;
    if (h9_wait_q) h9_above.what = AboveWaits;
    if (h9_left_q) h9_above.what = AboveLeft;
    if (h_q[9].valid && h_q[9].op == OpWalk && h_q[9].moved) h9_above.what = AboveMoved;
    if (h_q[9].valid && h_q[9].op == OpNode && h_q[9].held) begin
      h9_above.what = AboveHeld;
      h9_above.cls  = h_q[9].held_class;
    end
    // One that waits or waited at the port counts for the node that its subscriber's packets there are of; while others of it are at
    // another one, for none.
    h10_above = h10_above_q;
    if (h10_above_q.what == AboveWaits || h10_above_q.what == AboveLeft) begin
      h10_above.node = h10_group_node;
      h10_above.port = h10_group_port;
      if (h10_alone) h10_above.what = AboveNone;
    end
  end

  always_ff @(posedge clk_i) begin
    h8_node_wait_q <= h7_wait_q;
    h9_node_wait_q <= h8_node_wait_q;
    h10_above_q    <= h9_above;
    above_q        <= {above_q[13:11], h10_above};
    node_given_q        <= due_valid[1] && due_ready[1];
    node_given_parent_q <= due_node;
    if (rst_i) begin
      h8_node_wait_q   <= 1'b0;
      h9_node_wait_q   <= 1'b0;
      node_given_q     <= 1'b0;
      h10_above_q.what <= AboveNone;
      for (int k = 11; k <= 14; k++) above_q[k].what <= AboveNone;
    end
  end

  pst_waits_above #(
      .Parents(Nodes), .AboveWidth(PortWidth), .Queues(Queues), .Classes(Classes), .RamStyle(RamStyle)
  ) u_node_above (
      .clk_i, .rst_i, .now_i(13'(now_q)),
      .s_op_valid_i(above_q[11].what != AboveNone), .s_op_parent_i(above_q[11].node),
      .s_event_i(above_q[14].what), .s_event_class_i(above_q[14].cls), .s_event_own_i(above_q[14].own),
      .s_event_above_i(above_q[14].port), .s_event_anew_i(1'b0),
      .m_wake_valid_o(node_wake), .m_wake_parent_o(wake_node),
      .s_look_parent_i(node_start), .m_look_o(node_above),
      .s_holds_valid_i(node_given_q), .s_holds_parent_i(node_given_parent_q), .s_holds_i(node_holds),
      .s_ask_parent_i(h_q[4].node), .s_ask_class_i(h_q[4].packet.cls), .m_ask_waits_o(h5_behind), .init_done_o(part_init_done[10])
  );

  if (QueuesPerSubscriber == 1) begin : g_none_above
    assign h2_above_q         = '{waits: '0, left_class: '1, left: '0};
    assign subscriber_wake    = 1'b0;
    assign wake_subscriber    = '0;
    assign part_init_done[11] = 1'b1;
  end else begin : g_above
    typedef struct packed {
      above_e      what;
      class_t      cls;
      subscriber_t subscriber;
      node_t       node;
      port_t       port;
      logic        anew;
    } event_t;

    logic [9:6] arrives_q;
    logic unused_ask;
    event_t h9_event;
    event_t [14:10] event_q;
    above_t h1_above;

    always_comb begin
      h9_event = '{
          what: AboveNone, cls: h_q[9].packet.cls, subscriber: subscriber_of(h_q[9].queue_id), node: h_q[9].node, port: h_q[9].port,
          anew: h_q[9].op == OpSubscriber && !h_q[9].holds
      };
      if (arrives_q[9]) h9_event.what = AboveArrives;
      if (h9_node_wait_q || (h9_wait_q && h_q[9].op != OpNode)) h9_event.what = AboveWaits;
      if (h9_out_q && h_q[9].op != OpNew) h9_event.what = h_q[9].op == OpSubscriber ? AbovePassed : AboveLeft;
      if (h_q[9].valid && h_q[9].op == OpSubscriber && h_q[9].held) begin
        h9_event.what = AboveHeld;
        h9_event.cls  = h_q[9].held_class;
      end
      // A subscriber, or its node, may have moved: each in turn is looked at again, if it is held.
      if (h_q[9].valid && h_q[9].op == OpWalk) begin
        h9_event.what       = AboveMoved;
        h9_event.subscriber = subscriber_t'(now_q >> $clog2(WalkCycles));
      end
    end

    always_ff @(posedge clk_i) begin
      arrives_q  <= {arrives_q[8:6], h5_wait_q};
      event_q    <= {event_q[13:10], h9_event};
      h2_above_q <= h1_above;
      if (rst_i) begin
        arrives_q <= '0;
        for (int k = 10; k <= 14; k++) event_q[k].what <= AboveNone;
      end
    end

    pst_waits_above #(
        .Parents(Subscribers), .AboveWidth(NodeWidth + PortWidth), .Same(1'b1), .Queues(QueuesPerSubscriber), .Classes(Classes),
        .RamStyle(NarrowStyle)
    ) u_subscriber_above (
        .clk_i, .rst_i, .now_i(13'(now_q)),
        .s_op_valid_i(event_q[11].what != AboveNone), .s_op_parent_i(event_q[11].subscriber),
        .s_event_i(event_q[14].what), .s_event_class_i(event_q[14].cls), .s_event_own_i(1'b1),
        .s_event_above_i({event_q[14].node, event_q[14].port}), .s_event_anew_i(event_q[14].anew),
        .m_wake_valid_o(subscriber_wake), .m_wake_parent_o(wake_subscriber),
        .s_look_parent_i(subscriber_of(h_q[0].queue_id)), .m_look_o(h1_above),
        .s_holds_valid_i(1'b0), .s_holds_parent_i('0), .s_holds_i(1'b0), .s_ask_parent_i('0), .s_ask_class_i('0),
        .m_ask_waits_o(unused_ask), .init_done_o(part_init_done[11])
    );
  end

  logic port_credit_init_done, node_credit_init_done;
  assign part_init_done[6] = port_credit_init_done && node_credit_init_done;

  pst_round_credit #(
      .Subscribers(Subscribers), .QueuesPerSubscriber(QueuesPerSubscriber), .GuaranteeCycles(GuaranteeCycles),
      .ToleranceCycles(ToleranceCycles), .TimeWidth(TimeWidth), .RamStyle(RamStyle)
  ) u_node_credit (
      .clk_i, .rst_i, .now_i(now_q), .s_op_walk_i(h_q[0].valid && h_q[0].op == OpWalk), .s_op_guarantee_i(h_q[3].guarantee),
      .s_op_early_len_i(h_q[3].packet.len), .s_op_fresh_i(h_q[4].fresh),
      .s_op_subscriber_i(subscriber_of(h_q[0].queue_id)), .s_op_index_i(index_of(index_t'(h_q[0].queue_id))),
      .s_op_class_i(h2.packet.cls), .s_op_weight_i(h2.weight), .s_op_round_i(h_q[2].round),
      .s_op_picked_i(h_q[6].valid && h_q[6].op == OpNode && !h6_stays_q), .s_op_len_i(h_q[6].packet.len),
      .go_o(node_go), .round_o(node_round), .credit_o(node_credit), .front_o(node_front), .left_front_o(node_left_front), .far_o(node_far),
      .left_credit_o(node_left_credit),
      .more_o(node_more), .covered_o(node_covered), .init_done_o(node_credit_init_done)
  );

  pst_round_credit #(
      .Subscribers(Subscribers), .QueuesPerSubscriber(QueuesPerSubscriber), .GuaranteeCycles(GuaranteeCycles),
      .ToleranceCycles(ToleranceCycles), .TimeWidth(TimeWidth), .RamStyle(RamStyle)
  ) u_port_credit (
      .clk_i, .rst_i, .now_i(now_q), .s_op_walk_i(h_q[2].valid && h_q[2].op == OpWalk), .s_op_guarantee_i(h_q[5].guarantee),
      .s_op_early_len_i(h_q[5].packet.len), .s_op_fresh_i(h_q[6].fresh),
      .s_op_subscriber_i(subscriber_of(h_q[2].queue_id)), .s_op_index_i(index_of(index_t'(h_q[2].queue_id))),
      .s_op_class_i(h_q[4].packet.cls), .s_op_weight_i(h_q[4].weight), .s_op_round_i(h_q[4].round),
      .s_op_picked_i(h_q[8].valid && h_q[8].op == OpPort && !h8_stays_q), .s_op_len_i(h_q[8].packet.len),
      .go_o(port_go), .round_o(port_round), .credit_o(port_credit), .front_o(port_front), .left_front_o(port_left_front), .far_o(port_far),
      .left_credit_o(port_left_credit),
      .more_o(port_more), .covered_o(port_covered), .init_done_o(port_credit_init_done)
  );

  // --- stage 9: out

  assign credit_back = h_q[9].valid && h_q[9].op != OpWalk && !h9_out_q;

  // Credits see to it that it never overflows.
  pst_fifo #(
      .Width(QueueIdWidth + PayloadWidth + LenWidth), .Depth(OutDepth)
  ) u_out (
      .clk_i, .rst_i,
      .s_valid_i(h9_out_q), .s_ready_o(unused_out_ready), .s_data_i({h_q[9].queue_id, h_q[9].packet.payload, h_q[9].packet.len}),
      .m_valid_o(m_out_valid_o), .m_ready_i(m_out_ready_i), .m_data_o({m_out_queue_o, m_out_payload_o, m_out_len_o}),
      .level_o(unused_out_level)
  );

  assign m_done_valid_o = h9_out_q;
  assign m_done_queue_o = h_q[9].queue_id;
  assign m_done_slow_o  = h_q[9].op != OpNew;
  assign m_done_next_queue_o = h_q[8].queue_id;

  logic unused;
  assign unused = &{1'b0, h_q[9]};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (h9_out_q) a_out_fifo_has_room : assert (unused_out_ready) else $error("output FIFO overflows");
    end
  end
`endif

endmodule
