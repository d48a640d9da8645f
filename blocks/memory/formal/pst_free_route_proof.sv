// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_free_route, by induction, of two ports and two memories: any one page that comes back is in exactly one place until it
// has come to the memory that it is of, and comes there once; a page waits for Ports * Slots - 1 cycles at most.
module pst_free_route_proof #(
    parameter int unsigned Slots = 2
) (
    input logic            clk_i,
    input logic            rst_i,
    input logic [1:0]      valid_i,
    input logic [1:0][2:0] desc_i,
    input logic [2:0]      watched_i
);

  localparam int unsigned Ports = 2;
  localparam int unsigned Memories = 2;
  localparam int unsigned First = 3;    // pages 0 to 2 are of memory 0, 3 to 7 of memory 1
  localparam int unsigned Places = Ports * Slots;

  logic [1:0] ready, valid;
  logic [1:0][2:0] desc;

  pst_free_route #(
      .Ports(Ports),
      .Memories(Memories),
      .MemPages({32'd5, 32'(First)}),
      .Slots(Slots)
  ) u_dut (
      .clk_i,
      .rst_i,
      .s_free_valid_i(valid_i),
      .s_free_ready_o(ready),
      .s_free_desc_i(desc_i),
      .m_free_valid_o(valid),
      .m_free_desc_o(desc)
  );

  logic seen_q, inside_q;
  logic [2:0] watched_q;
  initial seen_q = 1'b0;

  logic [1:0] held_q, enters, arrives;
  logic [1:0][2:0] desc_q;
  logic [7:0] places;
  logic [Places-1:0][7:0] waited_q, ahead;

  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) enters[p] = valid_i[p] && ready[p] && desc_i[p] == watched_q;
    for (int unsigned m = 0; m < Memories; m++) arrives[m] = valid[m] && desc[m] == watched_q;
    places = 8'($countones(arrives));
    for (int unsigned k = 0; k < Places; k++) places += 8'(u_dut.valid_q[k] && u_dut.desc_q[k] == watched_q);
    // Turns until a place is the first.
    for (int unsigned k = 0; k < Places; k++) begin
      ahead[k] = '0;
      for (int unsigned j = 0; j < Places; j++) begin
        if (j != k && (u_dut.later_q[j] == u_dut.later_q[k] ? j < k : u_dut.later_q[j])) ahead[k] += 8'd1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    seen_q    <= 1'b1;
    watched_q <= seen_q ? watched_q : watched_i;
    inside_q  <= (inside_q && arrives == '0) || enters != '0;
    held_q    <= valid_i & ~ready;
    desc_q    <= desc_i;
    for (int unsigned k = 0; k < Places; k++) waited_q[k] <= u_dut.valid_q[k] && !u_dut.leaves[k] ? waited_q[k] + 1'b1 : '0;
    if (rst_i) begin
      inside_q <= 1'b0;
      held_q   <= '0;
      waited_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      for (int unsigned p = 0; p < Ports; p++) begin
        if (held_q[p]) m_held : assume (valid_i[p] && desc_i[p] == desc_q[p]);
        // A page has one holder: it is not given back while it is inside, nor at two ports.
        if (inside_q && valid_i[p]) m_held_once : assume (desc_i[p] != watched_q);
      end
      m_one_holder : assume (!(valid_i == '1 && desc_i[0] == watched_q && desc_i[1] == watched_q));

      // what a user relies on
      a_in_one_place : assert (32'(places) == 32'(inside_q));
      for (int unsigned m = 0; m < Memories; m++) begin
        if (valid[m]) a_home : assert ((32'(desc[m]) < First) == (m == 0));
      end
      for (int unsigned k = 0; k < Places; k++) begin
        a_waits_for_each_once : assert (32'(waited_q[k]) <= Places - 1);
        // what the induction needs
        if (u_dut.valid_q[k]) a_home_of : assert (u_dut.home_q[k] == (32'(u_dut.desc_q[k]) < First ? 2'b01 : 2'b10));
        if (k + 1 < Places) a_later_is_a_tail : assert (!u_dut.later_q[k] || u_dut.later_q[k+1]);
        a_turn : assert (waited_q[k] == '0 || 32'(waited_q[k]) + 32'(ahead[k]) <= Places - 1);
      end
      a_not_all_later : assert (!u_dut.later_q[0]);
      // useful work is possible
      c_two_at_once : cover (valid == '1 && inside_q);
      c_all_but_one : cover ($countones(u_dut.valid_q) == Places - 1);
      c_comes_again : cover (enters != '0 && $past(arrives) != '0);
    end
  end

endmodule
