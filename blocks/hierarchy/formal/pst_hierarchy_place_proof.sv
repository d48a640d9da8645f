// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_hierarchy_place: a lookup gives class and node of its queue as the settings of its own cycle and before left them.
//
// One queue, any, is followed: `class_q` and `node_q` are what it should have. The invariant says that the memories hold them.
module pst_hierarchy_place_proof
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Queues = 8,
    parameter int unsigned QueuesPerSubscriber = 2,
    parameter int unsigned Nodes = 4,
    parameter int unsigned Classes = 3,
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned NodeWidth = $clog2(Nodes),
    localparam int unsigned TypeWidth = Classes > 1 ? $clog2(Classes) : 1,
    localparam int unsigned IndexWidth = $clog2(QueuesPerSubscriber)
) (
    input logic                    clk_i,
    input logic                    rst_i,
    input logic                    cfg_valid_i,
    input setting_e                cfg_what_i,
    input logic [QueueIdWidth-1:0] cfg_id_i,
    input logic [QueueIdWidth-1:0] cfg_parent_i,
    input class_t                  cfg_class_i,
    input logic                    s_valid_i,
    input logic [QueueIdWidth-1:0] s_queue_i
);

  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [NodeWidth+TypeWidth-1:0] place_t;

  logic valid, init_done;
  place_t place;

  pst_hierarchy_place #(
      .Queues(Queues), .QueuesPerSubscriber(QueuesPerSubscriber), .Nodes(Nodes), .Classes(Classes)
  ) u_dut (
      .clk_i, .rst_i, .cfg_valid_i, .cfg_what_i, .cfg_id_i, .cfg_parent_i, .cfg_class_i,
      .s_valid_i, .s_queue_i, .m_valid_o(valid), .m_place_o(place), .init_done_o(init_done)
  );

  logic seen_q;
  queue_t x_q, subscriber;            // the queue that is followed, any; and its subscriber
  logic [TypeWidth-1:0] class_q, class_d;
  logic [NodeWidth-1:0] node_q, node_d;
  logic [2:1] asked_q, own_q;         // a lookup came one and two cycles ago; it was of the queue that is followed
  place_t [2:1] wanted_q;             // what it must give, if it was
  initial seen_q = 1'b0;

  assign subscriber = x_q >> IndexWidth;
  assign class_d    = cfg_valid_i && cfg_what_i == SetQueue && cfg_id_i == x_q ? cfg_class_i[TypeWidth-1:0] : class_q;
  assign node_d     = cfg_valid_i && cfg_what_i == SetSubscriber && cfg_id_i == subscriber ? cfg_parent_i[NodeWidth-1:0] : node_q;

  always_ff @(posedge clk_i) begin
    seen_q   <= 1'b1;
    x_q      <= x_q;
    class_q  <= class_d;
    node_q   <= node_d;
    asked_q  <= {asked_q[1], s_valid_i};
    own_q    <= {own_q[1], s_valid_i && s_queue_i == x_q};
    wanted_q <= {wanted_q[1], {node_d, class_d}};
    if (rst_i) begin
      class_q <= '0;
      node_q  <= '0;
      asked_q <= '0;
      own_q   <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    m_queue_exists : assume (32'(x_q) < Queues);
    if (!rst_i) begin
      if (s_valid_i || cfg_valid_i) m_after_clearing : assume (init_done);
      if (s_valid_i) m_lookup_exists : assume (32'(s_queue_i) < Queues);
      if (cfg_valid_i && cfg_what_i == SetQueue) m_setting_of_a_queue : assume (32'(cfg_id_i) < Queues && 32'(cfg_class_i) < Classes);
      if (cfg_valid_i && cfg_what_i == SetSubscriber) begin
        m_setting_of_a_subscriber : assume (32'(cfg_id_i) < Queues / QueuesPerSubscriber && 32'(cfg_parent_i) < Nodes);
      end
    end
  end

  // What the memories have read one and two cycles ago, but for what was written just then.
  logic [TypeWidth-1:0] class1, class2;
  logic [NodeWidth-1:0] node1, node2;
  assign class1 = u_dut.class_hit_q[1] ? u_dut.class_q[1] : u_dut.u_class.rdata_q;
  assign class2 = u_dut.class_hit_q[2] ? u_dut.class_q[2] : u_dut.u_class.rdata_q2;
  assign node1  = u_dut.node_hit_q[1] ? u_dut.node_q[1] : u_dut.u_node.rdata_q;
  assign node2  = u_dut.node_hit_q[2] ? u_dut.node_q[2] : u_dut.u_node.rdata_q2;

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_answered : assert (valid == asked_q[2]);
      if (own_q[2]) a_place : assert (place == wanted_q[2]);

      // what the induction needs
      a_pipe : assert (u_dut.valid_q == asked_q && (own_q & ~asked_q) == '0);
      if (own_q[1]) a_read1 : assert ({node1, class1} == wanted_q[1]);
      if (own_q[2]) a_read2 : assert ({node2, class2} == wanted_q[2]);
      if (!u_dut.init || x_q < u_dut.init_index) a_class : assert (u_dut.u_class.mem[x_q] == class_q);
      if (!u_dut.init || subscriber < u_dut.init_index >> IndexWidth) a_node : assert (u_dut.u_node.mem[subscriber] == node_q);
      if (u_dut.init) a_clear : assert (class_q == '0 && node_q == '0 && own_q == '0 && 32'(u_dut.init_index) < Queues);

      // useful work is possible: a lookup in the cycle in which both change
      c_both_change : cover (own_q[2] && u_dut.node_hit_q[2] && place[TypeWidth-1:0] != '0 && place[NodeWidth+TypeWidth-1:TypeWidth] != '0);
    end
  end

endmodule
