// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The node and the class of a queue: copies of two settings of the hierarchy, for the counters by node and class.
//
// Throughput: a lookup and a setting per cycle. Latency: 2 cycles.
// Ordering:   a lookup sees the settings of its own cycle and of all before, and none of a later one.
// Reset:      every queue has class 0, every subscriber is at node 0; init_done_o rises after `Queues` cycles. No setting is taken before.
module pst_hierarchy_place
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Queues = 64,              // >= 2
    parameter int unsigned QueuesPerSubscriber = 4,  // 1, 2, 4 or 8
    parameter int unsigned Nodes = 2,                // power of two, >= 2
    parameter int unsigned Classes = 4,              // 1..8
    parameter string       RamStyle = "auto",        // see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned NodeWidth = $clog2(Nodes),
    localparam int unsigned TypeWidth = kept_class_width(Classes),
    localparam int unsigned PlaceWidth = NodeWidth + TypeWidth
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // settings of the hierarchy, when they are taken
    input  logic                    cfg_valid_i,
    input  setting_e                cfg_what_i,
    input  logic [QueueIdWidth-1:0] cfg_id_i,
    input  logic [QueueIdWidth-1:0] cfg_parent_i,
    input  class_t                  cfg_class_i,
    // lookups
    input  logic                    s_valid_i,
    input  logic [QueueIdWidth-1:0] s_queue_i,
    output logic                    m_valid_o,
    output logic [  PlaceWidth-1:0] m_place_o,    // node above class
    output logic                    init_done_o
);

  localparam int unsigned Subscribers = Queues / QueuesPerSubscriber;
  localparam int unsigned SubscriberWidth = Subscribers > 1 ? $clog2(Subscribers) : 1;
  localparam int unsigned IndexWidth = $clog2(QueuesPerSubscriber);

  if (Queues < 2 || Queues % QueuesPerSubscriber != 0) begin : g_bad_queues
    $error("pst_hierarchy_place: Queues (%0d) must be at least 2 and a multiple of QueuesPerSubscriber (%0d)", Queues, QueuesPerSubscriber);
  end
  if (Nodes < 2 || (Nodes & (Nodes - 1)) != 0 || NodeWidth > QueueIdWidth) begin : g_bad_nodes
    $error("pst_hierarchy_place: Nodes is %0d, allowed: powers of two from 2 to Queues (%0d)", Nodes, Queues);
  end
  if (Classes < 1 || Classes > 8) begin : g_bad_classes
    $error("pst_hierarchy_place: Classes is %0d, allowed: 1 to 8", Classes);
  end

  typedef logic [SubscriberWidth-1:0] subscriber_t;
  typedef logic [TypeWidth-1:0] type_t;
  typedef logic [NodeWidth-1:0] node_t;

  logic init;
  logic [QueueIdWidth-1:0] init_index;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_index));

  assign init_done_o = !init;

  logic set_class, set_node;
  assign set_class = cfg_valid_i && cfg_what_i == SetQueue;
  assign set_node  = cfg_valid_i && cfg_what_i == SetSubscriber;

  subscriber_t subscriber;
  assign subscriber = subscriber_t'(s_queue_i >> IndexWidth);

  type_t class_word;
  node_t node_word;

  pst_ram_1r1w #(
      .Width(TypeWidth), .Depth(Queues), .ReadLatency(2), .Style(RamStyle)
  ) u_class (
      .clk_i,
      .we_i(init || set_class), .waddr_i(init ? init_index : cfg_id_i), .wdata_i(init ? '0 : type_t'(cfg_class_i)),
      .re_i(s_valid_i), .raddr_i(s_queue_i), .rdata_o(class_word)
  );

  // The walk comes to each subscriber with the first of its queues.
  pst_ram_1r1w #(
      .Width(NodeWidth), .Depth(Subscribers), .ReadLatency(2), .Style(RamStyle)
  ) u_node (
      .clk_i,
      .we_i(init || set_node), .waddr_i(init ? subscriber_t'(init_index >> IndexWidth) : subscriber_t'(cfg_id_i)),
      .wdata_i(init ? '0 : node_t'(cfg_parent_i)),
      .re_i(s_valid_i), .raddr_i(subscriber), .rdata_o(node_word)
  );

  // What is written in the cycle of the lookup comes from the setting itself: the memory does not tell.
  logic [2:1] valid_q, class_hit_q, node_hit_q;
  type_t [2:1] class_q;
  node_t [2:1] node_q;

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[1], s_valid_i};
    if (rst_i) valid_q <= '0;
  end

  always_ff @(posedge clk_i) begin
    class_hit_q <= {class_hit_q[1], set_class && cfg_id_i == s_queue_i};
    node_hit_q  <= {node_hit_q[1], set_node && subscriber_t'(cfg_id_i) == subscriber};
    class_q     <= {class_q[1], type_t'(cfg_class_i)};
    node_q      <= {node_q[1], node_t'(cfg_parent_i)};
  end

  assign m_valid_o = valid_q[2];
  assign m_place_o = {node_hit_q[2] ? node_q[2] : node_word, class_hit_q[2] ? class_q[2] : class_word};

  logic unused_high;
  assign unused_high = ^{cfg_parent_i, cfg_class_i};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_cleared_first : assert (!init || !(s_valid_i || cfg_valid_i))
      else $error("pst_hierarchy_place: a lookup or a setting before init_done_o");
    end
  end
`endif

endmodule
