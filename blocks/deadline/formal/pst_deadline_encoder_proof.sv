// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_deadline_encoder: every head that was handed over is in the list or pending, once, until it is taken; the list is
// sorted; each decision is the earliest of all heads, of equal ones the oldest; nothing waits without a reason, or for long.
//
// Beside the DUT stand the head of each class and which of two came first. Assumed of the surroundings: a class with a head offers no other;
// an offer holds; deadlines that come are at most Late cycles over, and not more than half of all times less 2 * Late ahead. What answers for it: the head
// side, see README.md. That entries which wait stay in that window is proved: from Late + 1 on nothing passes them any more.
module pst_deadline_encoder_proof #(
    parameter int unsigned Classes = 3,     // 3 or 4
    parameter int unsigned Patience = 4,
    parameter bit Bounded = 1'b1,
    parameter int unsigned TimeWidth = 9    // times are compared, and nothing else: their width changes nothing
) (
    input logic                 clk_i,
    input logic        rst_i,
    input logic [TimeWidth-1:0] now_i,
    input logic        head_valid_i,
    input logic [1:0]  head_class_i,
    input logic [TimeWidth-1:0] head_deadline_i,
    input logic        take_ready_i,
    input logic        bound_valid_i,
    input logic [TimeWidth-1:0] bound_i,
    input logic        next_valid_i,
    input logic [TimeWidth-1:0] next_deadline_i
);

  localparam int signed Late = 32;
  localparam int signed Ahead = 2 ** (TimeWidth - 1) - 2 * Late;

  logic head_ready, take_valid, take_drop, take_pending, front_valid;
  logic [1:0] take_class, pending_class, first_class;
  logic [TimeWidth-1:0] take_deadline;

  pst_deadline_encoder #(
      .Classes(Classes), .Patience(Patience), .TimeWidth(TimeWidth), .Bounded(Bounded)
  ) u_dut (
      .clk_i, .rst_i, .now_i,
      .s_head_valid_i(head_valid_i), .s_head_ready_o(head_ready), .s_head_class_i(head_class_i), .s_head_deadline_i(head_deadline_i),
      .take_ready_i, .bound_valid_i, .bound_i, .front_valid_o(front_valid),
      .take_valid_o(take_valid), .take_drop_o(take_drop), .take_pending_o(take_pending), .take_class_o(take_class),
      .take_deadline_o(take_deadline), .next_valid_i, .next_deadline_i, .pending_class_o(pending_class), .first_class_o(first_class)
  );

  // --- the heads as they should be

  logic seen_q;
  initial seen_q = 1'b0;
  logic [3:0] there_q, there_d;
  logic [3:0][TimeWidth-1:0] deadline_q, deadline_d;
  logic [3:0][3:0] older_q, older_d;          // [a][b]: a came before b; means nothing where one is not there
  logic [TimeWidth-1:0] now_q, offered_deadline_q;
  logic waits_q;
  logic [1:0] offered_class_q;
  logic [3:0] waited_q;

  logic come, head_taken;
  logic [1:0] come_class;
  assign head_taken = head_valid_i && head_ready;
  assign come       = head_taken || (take_valid && next_valid_i);
  assign come_class = head_taken ? head_class_i : take_class;

  always_comb begin
    there_d    = there_q;
    deadline_d = deadline_q;
    older_d    = older_q;
    if (take_valid) there_d[take_class] = 1'b0;
    if (come) begin
      there_d[come_class]    = 1'b1;
      deadline_d[come_class] = head_taken ? head_deadline_i : next_deadline_i;
      older_d[come_class]    = '0;
      for (int c = 0; c < 4; c++) if (2'(c) != come_class) older_d[c][come_class] = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    seen_q             <= 1'b1;
    there_q            <= there_d;
    deadline_q         <= deadline_d;
    older_q            <= older_d;
    now_q              <= now_i;
    waits_q            <= head_valid_i && !head_ready;
    offered_class_q    <= head_class_i;
    offered_deadline_q <= head_deadline_i;
    waited_q           <= head_valid_i && !head_ready ? waited_q + 1'b1 : '0;
    if (rst_i) begin
      there_q  <= '0;
      waits_q  <= 1'b0;
      waited_q <= '0;
    end
  end

  function automatic logic earlier(input logic [TimeWidth-1:0] a, input logic [TimeWidth-1:0] b);
    logic [TimeWidth-1:0] difference;
    difference = a - b;
    return difference[TimeWidth-1];
  endfunction

  // Cycles for which a deadline is over.
  function automatic int signed late(input logic [TimeWidth-1:0] deadline);
    logic signed [TimeWidth-1:0] difference;
    difference = signed'(now_i - deadline);
    return 32'(difference);
  endfunction

  function automatic logic in_window(input logic [TimeWidth-1:0] deadline);
    return late(deadline) <= Late && late(deadline) >= -Ahead;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q) m_time_goes_on : assume (now_i == now_q + 1'b1);
    if (!rst_i && head_valid_i) begin
      m_no_head_yet : assume (32'(head_class_i) < Classes && !there_q[head_class_i]);
      m_head_in_window : assume (in_window(head_deadline_i));
    end
    if (!rst_i && waits_q) begin
      m_head_held : assume (head_valid_i && head_class_i == offered_class_q && head_deadline_i == offered_deadline_q);
    end
    if (!rst_i && take_valid && next_valid_i) m_next_in_window : assume (in_window(next_deadline_i));
  end

  // --- what users rely on

  logic hold, over_any, may;
  assign may = take_ready_i && !(Bounded && bound_valid_i && earlier(bound_i, take_deadline));
  assign hold = u_dut.waited_q == 4'(Patience);
  always_comb begin
    over_any = 1'b0;
    for (int c = 0; c < Classes; c++) if (there_q[c] && late(deadline_q[c]) > 0) over_any = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      if (take_valid) begin
        a_taken_is_there : assert (there_q[take_class] && take_deadline == deadline_q[take_class]);
        for (int c = 0; c < Classes; c++) begin
          if (there_q[c] && 2'(c) != take_class) begin
            a_earliest : assert (!earlier(deadline_q[c], take_deadline));
            a_oldest : assert (deadline_q[c] != take_deadline || older_q[take_class][c]);
          end
        end
        a_over_is_dropped : assert (take_drop == (late(take_deadline) > 0));
        a_sent_when_ready : assert (take_drop || may);
        a_early_class : assert (take_class == (take_pending ? pending_class : first_class));
      end
      if (!hold) begin
        a_work_conserving : assert (take_valid || there_q == '0 || !may);
        a_over_leaves : assert (take_valid || !over_any);
      end
      a_front : assert (front_valid == (there_q != '0 && late(take_deadline) <= 0));
      for (int c = 0; c < Classes; c++) if (there_q[c]) a_front_first : assert (!earlier(deadline_q[c], take_deadline));
      a_one_comes : assert (!(head_taken && take_valid && next_valid_i));
      a_head_gets_in : assert (waited_q <= 4'(Patience));
      if (hold) a_hold_lets_in : assert (head_taken && !take_valid);
    end
  end

  // --- what the induction needs: the list and pending are the heads

  logic [3:0] found;
  logic once;
  always_comb begin
    found = '0;
    once  = 1'b1;
    if (u_dut.pending_q.valid) found[u_dut.pending_q.id] = 1'b1;
    for (int i = 0; i < Classes; i++) begin
      if (u_dut.list_q[i].valid) begin
        if (found[u_dut.list_q[i].id]) once = 1'b0;
        found[u_dut.list_q[i].id] = 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      a_waited : assert (waited_q == u_dut.waited_q && (waited_q != '0) == waits_q);
      a_each_once : assert (once && found == there_q && (there_q >> Classes) == '0);
      if (u_dut.pending_q.valid) begin
        a_pending : assert (u_dut.pending_q.deadline == deadline_q[u_dut.pending_q.id]);
        a_pending_window : assert (late(u_dut.pending_q.deadline) <= Late + 1 && late(u_dut.pending_q.deadline) >= -Ahead);
      end
      for (int i = 0; i < Classes; i++) begin
        if (u_dut.list_q[i].valid) begin
          a_entry : assert (u_dut.list_q[i].deadline == deadline_q[u_dut.list_q[i].id]);
          a_entry_window : assert (late(u_dut.list_q[i].deadline) >= -Ahead
                                   && late(u_dut.list_q[i].deadline) <= Late + 1 + 2 * int'(Classes - i) - (hold ? 1 : 0));
          if (u_dut.pending_q.valid) a_pending_youngest : assert (older_q[u_dut.list_q[i].id][u_dut.pending_q.id]);
          for (int k = i + 1; k < Classes; k++) begin
            if (u_dut.list_q[k].valid) begin
              a_sorted : assert (!earlier(u_dut.list_q[k].deadline, u_dut.list_q[i].deadline));
              a_by_age : assert (u_dut.list_q[k].deadline != u_dut.list_q[i].deadline || older_q[u_dut.list_q[i].id][u_dut.list_q[k].id]);
            end
          end
        end else if (i + 1 < Classes) begin
          a_no_gap : assert (!u_dut.list_q[i+1].valid);
        end
      end
    end
  end

  // --- it does something: a full list whose heads leave by sending, dropping, and in favour of a head that waited

  logic [1:0] sent_q, dropped_q;
  logic full_q, held_q;
  always_ff @(posedge clk_i) begin
    if (take_valid && !take_drop && sent_q != '1) sent_q <= sent_q + 1'b1;
    if (take_valid && take_drop && dropped_q != '1) dropped_q <= dropped_q + 1'b1;
    if (u_dut.list_q[Classes-1].valid) full_q <= 1'b1;
    if (hold) held_q <= 1'b1;
    if (rst_i) begin
      sent_q    <= '0;
      dropped_q <= '0;
      full_q    <= 1'b0;
      held_q    <= 1'b0;
    end
    c_all : cover (seen_q && !rst_i && full_q && held_q && sent_q == '1 && dropped_q == '1 && there_q == '0);
  end

endmodule
