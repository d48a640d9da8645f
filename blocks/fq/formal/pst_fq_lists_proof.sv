// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// For two queues, four flows and any operations: the lists are those of a reference, in which they are written down flow by flow. Each flow
// is in one list, once; every visit that is announced goes to the head of a list when it is done, however late, and however often the
// queue's packet waits in between. A queue has one visit, one packet or one verdict under way, or no flow.
//
// Assumed: a flow is of one queue as long as it is in a list, and an enqueue appends a flow that is in none (pst_fq_flows and pst_fq_find);
// what leaves a queue was in it.
module pst_fq_lists_proof
  import pst_pkg::len_t, pst_pkg::LimitPacketsWidth, pst_pkg::LimitBytesWidth;
  import pst_fq_pkg::*;
#(
    localparam int unsigned Queues = 2,
    localparam int unsigned Flows = 4,
    localparam int unsigned PacketsWidth = 3
) (
    input logic                         clk_i,
    input logic                         rst_i,
    // an operation that comes to p1
    input logic                         valid_i,
    input op_e                          op_i,
    input logic                         queue_i,
    input logic [1:0]                   flow_i,
    input logic                         old_i,
    // what pst_fq_flows has found: in p3 for limits (any), in p4 for the rest
    input len_t                         len3_i,
    input logic                         accept_i,
    input logic                         pop_i,
    input logic                         rotate_i,
    input len_t                         len_i,
    input logic [   FlowBytesWidth-1:0] bytes_i,
    input logic [LimitPacketsWidth-1:0] limit_packets_i,
    input logic [  LimitBytesWidth-1:0] limit_bytes_i,
    input logic                         pool_over_i
);

  localparam int unsigned New = 0, Old = 1;

  typedef logic [1:0] flow_t;

  typedef enum logic [1:0] {
    None,       // no flow
    Pending,    // a visit is announced
    Flight,     // it is under way
    Staged      // a packet waits, or its verdict
  } state_e;

  typedef struct packed {
    logic  valid;
    op_e   op;
    logic  queue_id;
    flow_t flow;
    logic  old;
  } op_t;

  op_t p1, p2_q, p3_q, p4_q;
  logic init_done, next_visit, next_drop, next_old, new_any, far, of_queue4;
  flow_t next_flow, new_head;
  logic append4, pop4, rotate4, remove4;

  // --- the reference

  flow_t [Queues-1:0][1:0][Flows-1:0] list_q, list_d;
  logic [Queues-1:0][1:0][2:0] count_q, count_d;
  state_e [Queues-1:0] state_q, state_d;
  flow_t [Queues-1:0] turn_q, turn_d;
  logic [Queues-1:0] turn_old_q, turn_old_d, drops_q, drops_d;
  logic [Queues-1:0][Flows-1:0] listed;
  logic seen_q;

  always_comb begin
    listed = '0;
    for (int q = 0; q < Queues; q++) begin
      for (int side = 0; side < 2; side++) begin
        for (int i = 0; i < Flows; i++) if (i < 32'(count_q[q][side])) listed[q][list_q[q][side][i]] = 1'b1;
      end
    end
  end

  assign p1        = '{valid: valid_i, op: op_i, queue_id: queue_i, flow: flow_i, old: old_i};
  assign of_queue4 = p4_q.valid && (p4_q.op != OpEnqueue || accept_i);
  assign append4   = p4_q.op == OpEnqueue && !listed[p4_q.queue_id][p4_q.flow];
  assign pop4      = p4_q.op == OpVisit ? pop_i : p4_q.op == OpDrop && pop_i;
  assign rotate4   = p4_q.op == OpVisit && !pop_i && (rotate_i || !p4_q.old);
  assign remove4   = p4_q.op == OpVisit && !pop_i && !rotate4;

  pst_fq_lists #(
      .Queues(Queues), .Flows(Flows), .PacketsWidth(PacketsWidth)
  ) u_dut (
      .clk_i, .rst_i, .init_done_o(init_done), .pool_over_i,
      .p1_valid_i(p1.valid), .p1_queue_i(p1.queue_id), .p2_flow_i(p2_q.flow),
      .p3_op_i(p3_q.op), .p3_len_i(len3_i), .p3_limit_packets_i(limit_packets_i), .p3_limit_bytes_i(limit_bytes_i),
      .p4_valid_i(of_queue4), .p4_op_i(p4_q.op), .p4_flow_i(p4_q.flow), .p4_old_i(p4_q.old), .p4_append_i(append4), .p4_pop_i(pop4),
      .p4_rotate_i(rotate4), .p4_remove_i(remove4), .p4_len_i(len_i), .p4_bytes_i(bytes_i),
      .next_visit_o(next_visit), .next_drop_o(next_drop), .next_flow_o(next_flow), .next_old_o(next_old),
      .new_any_o(new_any), .new_head_o(new_head), .more_o(), .far_o(far), .packets_o(), .bytes_o()
  );

  always_comb begin
    list_d     = list_q;
    count_d    = count_q;
    state_d    = state_q;
    turn_d     = turn_q;
    turn_old_d = turn_old_q;
    drops_d    = drops_q;
    if (p1.valid && p1.op == OpVisit) state_d[p1.queue_id] = Flight;
    if (p1.valid && p1.op == OpDrop) drops_d[p1.queue_id] = 1'b0;
    for (int q = 0; q < Queues; q++) begin
      if (of_queue4 && p4_q.queue_id == 1'(q)) begin
        if (append4) begin
          list_d[q][New][count_q[q][New][1:0]] = p4_q.flow;
          count_d[q][New] = count_q[q][New] + 1'b1;
        end
        if (rotate4 || remove4) begin
          for (int i = 0; i < Flows - 1; i++) list_d[q][p4_q.old][i] = list_q[q][p4_q.old][i+1];
          count_d[q][p4_q.old] = count_q[q][p4_q.old] - 1'b1;
          if (rotate4) begin
            list_d[q][Old][count_d[q][Old][1:0]] = p4_q.flow;
            count_d[q][Old] = count_d[q][Old] + 1'b1;
          end
        end
        if (p4_q.op == OpVisit) begin
          state_d[q]    = pop4 ? Staged : next_visit ? Pending : None;
          turn_d[q]     = pop4 ? p4_q.flow : next_flow;
          turn_old_d[q] = pop4 ? p4_q.old : next_old;
        end else if (next_visit) begin
          state_d[q]    = Pending;
          turn_d[q]     = next_flow;
          turn_old_d[q] = next_old;
        end
        if (next_drop) drops_d[q] = 1'b1;
      end
    end
  end

  initial seen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    seen_q     <= 1'b1;
    p2_q       <= p1;
    p3_q       <= p2_q;
    p4_q       <= p3_q;
    list_q     <= list_d;
    count_q    <= count_d;
    state_q    <= state_d;
    turn_q     <= turn_d;
    turn_old_q <= turn_old_d;
    drops_q    <= drops_d;
    if (rst_i) begin
      p2_q.valid <= 1'b0;
      p3_q.valid <= 1'b0;
      p4_q.valid <= 1'b0;
      count_q    <= '0;
      state_q    <= {Queues{None}};
      drops_q    <= '0;
    end
  end

  // The words of the memories, without their packets and bytes.
  logic [Queues-1:0] awake, dropping;
  logic [Queues-1:0][1:0] any;
  flow_t [Queues-1:0][1:0] head, tail;
  logic [Queues-1:0][PacketsWidth-1:0] packets;
  logic [Queues-1:0][QueueBytesWidth-1:0] bytes;
  logic [Queues-1:0][FlowBytesWidth-1:0] fat_bytes;
  flow_t [Queues-1:0] fat_flow;
  flow_t [Flows-1:0] link;

  for (genvar q = 0; q < int'(Queues); q++) begin : g_word
    assign {awake[q], dropping[q], any[q][New], any[q][Old], head[q][New], tail[q][New], head[q][Old], tail[q][Old], packets[q], bytes[q],
            fat_flow[q], fat_bytes[q]} = u_dut.u_queue.mem_q[q];
  end
  for (genvar f = 0; f < int'(Flows); f++) begin : g_link
    assign link[f] = u_dut.u_link.u_ram.mem[f];
  end

  // Operations of a kind in p2 to p4.
  logic [Queues-1:0][1:0] visits, drops;
  always_comb begin
    visits = '0;
    drops  = '0;
    for (int q = 0; q < Queues; q++) begin
      if (p2_q.valid && p2_q.queue_id == 1'(q)) begin
        visits[q] += 2'(p2_q.op == OpVisit);
        drops[q] += 2'(p2_q.op == OpDrop);
      end
      if (p3_q.valid && p3_q.queue_id == 1'(q)) begin
        visits[q] += 2'(p3_q.op == OpVisit);
        drops[q] += 2'(p3_q.op == OpDrop);
      end
      if (p4_q.valid && p4_q.queue_id == 1'(q)) begin
        visits[q] += 2'(p4_q.op == OpVisit);
        drops[q] += 2'(p4_q.op == OpDrop);
      end
    end
  end

  function automatic logic at_head(op_t op);
    return !(op.valid && op.op == OpVisit) || (count_q[op.queue_id][op.old] != '0 && list_q[op.queue_id][op.old][0] == op.flow);
  endfunction

  // --- what is assumed

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (valid_i) begin
      m_cleared_first : assume (init_done);
      m_operations : assume (op_i inside {OpEnqueue, OpVisit, OpDrop});
      if (op_i == OpVisit) begin
        m_visit_as_announced : assume ((state_q[queue_i] inside {Pending, Staged} && flow_i == turn_q[queue_i]
                && old_i == turn_old_q[queue_i])
            || (state_q[queue_i] == Staged && turn_old_q[queue_i] && count_q[queue_i][New] != '0 && !old_i
                && flow_i == list_q[queue_i][New][0]));
      end
      if (op_i == OpDrop) m_drop_as_announced : assume (drops_q[queue_i]);
    end
    if (of_queue4) begin
      m_of_one_queue : assume (!listed[!p4_q.queue_id][p4_q.flow]);
      if (pop4) m_was_there : assume (packets[p4_q.queue_id] != '0 && bytes[p4_q.queue_id] >= QueueBytesWidth'(len_i));
    end
  end

  // --- what must be

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      for (int q = 0; q < Queues; q++) begin
        a_awake : assert (awake[q] == (state_q[q] != None) && awake[q] == (count_q[q] != '0));
        a_one_visit : assert (32'(visits[q]) == 32'(state_q[q] == Flight));
        a_one_drop : assert (32'(drops[q]) + 32'(drops_q[q]) == 32'(dropping[q]));
        if (state_q[q] inside {Pending, Staged}) begin
          a_turn : assert (count_q[q][turn_old_q[q]] != '0 && list_q[q][turn_old_q[q]][0] == turn_q[q]);
        end
        for (int side = 0; side < 2; side++) begin
          a_count : assert (32'(count_q[q][side]) <= Flows);
          a_any : assert (any[q][side] == (count_q[q][side] != '0));
          if (count_q[q][side] != '0) begin
            a_head : assert (head[q][side] == list_q[q][side][0]);
            a_tail : assert (tail[q][side] == list_q[q][side][2'(count_q[q][side] - 1'b1)]);
          end
          for (int i = 0; i < Flows - 1; i++) begin
            if (i + 1 < 32'(count_q[q][side])) a_link : assert (link[list_q[q][side][i]] == list_q[q][side][i+1]);
          end
          // Once: no flow stands behind itself, or in another list.
          for (int i = 0; i < Flows; i++) begin
            for (int p = 0; p < Queues; p++) begin
              for (int other = 0; other < 2; other++) begin
                for (int j = 0; j < Flows; j++) begin
                  if ((p != q || other != side || i != j) && i < 32'(count_q[q][side]) && j < 32'(count_q[p][other])) begin
                    a_once : assert (list_q[q][side][i] != list_q[p][other][j]);
                  end
                end
              end
            end
          end
        end
      end
      a_p2 : assert (at_head(p2_q));
      a_p3 : assert (at_head(p3_q));
      a_p4 : assert (at_head(p4_q));
      if (next_visit) begin
        a_next : assert (of_queue4 && count_d[p4_q.queue_id][next_old] != '0 && list_d[p4_q.queue_id][next_old][0] == next_flow);
        a_new_first : assert (next_old == (count_d[p4_q.queue_id][New] == '0));
      end

      if (p2_q.valid) a_op2 : assert (p2_q.op inside {OpEnqueue, OpVisit, OpDrop});
      if (p3_q.valid) a_op3 : assert (p3_q.op inside {OpEnqueue, OpVisit, OpDrop});
      if (p4_q.valid) a_op4 : assert (p4_q.op inside {OpEnqueue, OpVisit, OpDrop});

      // the pipelines of the memories are those of the operations
      a_valid : assert (u_dut.u_queue.valid_q == {p4_q.valid, p3_q.valid, p2_q.valid});
      if (p2_q.valid) a_addr2 : assert (u_dut.u_queue.addr_q[1] == p2_q.queue_id);
      if (p3_q.valid) a_addr3 : assert (u_dut.u_queue.addr_q[2] == p3_q.queue_id);
      if (p4_q.valid) a_addr4 : assert (u_dut.u_queue.addr_q[3] == p4_q.queue_id);
      if (p2_q.valid || p3_q.valid || p4_q.valid) a_after_init : assert (init_done);
      if (p3_q.valid) begin
        a_link3 : assert (u_dut.u_link.raddr_q == p3_q.flow
                          && (u_dut.u_link.hit_q ? u_dut.u_link.new_q : u_dut.u_link.word) == link[p3_q.flow]);
      end
      if (p4_q.valid) a_link4 : assert (u_dut.u_link.word_q == link[p4_q.flow]);

      c_turns : cover (of_queue4 && rotate4 && count_q[p4_q.queue_id][Old] == 3'd2 && count_q[p4_q.queue_id][New] == 3'd1);
      c_asleep : cover (of_queue4 && remove4 && !next_visit);
      c_new_after_old : cover (of_queue4 && p4_q.op == OpVisit && !p4_q.old && pop4 && count_q[p4_q.queue_id][Old] != '0);
    end
  end

endmodule
