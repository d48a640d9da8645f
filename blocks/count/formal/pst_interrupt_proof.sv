// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof of pst_interrupt: causes, count and level against what its README promises, for any inputs and resets.
module pst_interrupt_proof #(
    parameter int unsigned Events    = 3,
    parameter int unsigned LostWidth = 4
) (
    input logic                 clk_i,
    input logic                 rst_i,
    input logic [   Events-1:0] event_i,
    input logic [LostWidth-1:0] lost_i,
    input logic [LostWidth-1:0] most_i,
    input logic [     Events:0] clear_i,
    input logic [     Events:0] mask_i
);

  logic [Events:0] cause_o;
  logic [LostWidth-1:0] lost_o;
  logic irq_o;

  pst_interrupt #(.Events(Events), .LostWidth(LostWidth)) u_dut (.*);

  // The inputs of the cycle before, and what was shown in it.
  logic past_q = 1'b0, rst_q, irq_due_q;
  logic [Events-1:0] event_q;
  logic [Events:0] clear_q, cause_q;
  logic [LostWidth-1:0] most_q, lost_q, came_q;
  logic [LostWidth:0] sum;

  always_ff @(posedge clk_i) begin
    past_q    <= 1'b1;
    rst_q     <= rst_i;
    event_q   <= event_i;
    clear_q   <= clear_i;
    cause_q   <= cause_o;
    most_q    <= most_i;
    lost_q    <= lost_o;
    came_q    <= lost_i;
    irq_due_q <= |(cause_o & mask_i);
  end

  assign sum = {1'b0, clear_q[Events] ? '0 : lost_q} + {1'b0, came_q};

  always_ff @(posedge clk_i) begin
    m_begins_with_reset : assume (past_q || rst_i);
    if (past_q && rst_q) begin
      a_reset : assert (cause_o == '0 && lost_o == '0 && !irq_o);
    end
    if (past_q && !rst_q) begin
      for (int unsigned e = 0; e < Events; e++) begin
        a_event_stands : assert (!event_q[e] || cause_o[e]);
        a_stands_until_cleared : assert (!(cause_q[e] && !clear_q[e]) || cause_o[e]);
        a_comes_of_an_event : assert (!cause_o[e] || event_q[e] || (cause_q[e] && !clear_q[e]));
      end
      a_cleared : assert (!clear_q[Events] || !cause_o[Events]);
      a_drops : assert (clear_q[Events] || cause_o[Events] == (cause_q[Events] || (most_q != '0 && lost_q >= most_q)));
      a_count : assert (lost_o == (sum[LostWidth] ? '1 : sum[LostWidth-1:0]));
      a_level : assert (irq_o == irq_due_q);
      c_drops : cover (cause_o[Events] && irq_o && most_q == 4'd5);
      c_cleared_and_back : cover (clear_q[0] && cause_q[0] && event_q[0] && cause_o[0]);
      c_level_falls : cover (!irq_o && !irq_due_q && lost_o == '1);
    end
  end

endmodule
