// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_crossing_reset: it begins everywhere at once, waits for two edges of every clock, and ends at edges; any clocks.
//
// The clocks and rst_ni are inputs without a rule: each may change in any step, with others or without, or never again. Flip-flops of
// step_clk_i take the values of the step before: the script makes them so. Nothing is assumed but that the first step is in reset.
module pst_crossing_reset_proof #(
    parameter int unsigned Domains = 2
) (
    input logic               step_clk_i,
    input logic [Domains-1:0] clk_i,
    input logic               rst_ni
);

  logic [Domains-1:0] rst;

  pst_crossing_reset #(
      .Domains(Domains)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .rst_o(rst)
  );

  // ---- the step before

  logic [Domains-1:0] before_clk_q, before_rst_q;
  logic before_rst_nq, begun_q, ended_q, again_q;

  initial begin
    begun_q = 1'b0;
    ended_q = 1'b0;
    again_q = 1'b0;
  end

  always_ff @(posedge step_clk_i) begin
    begun_q       <= 1'b1;
    before_clk_q  <= clk_i;
    before_rst_q  <= rst;
    before_rst_nq <= rst_ni;
    ended_q       <= ended_q || rst == '0;
    again_q       <= again_q || (ended_q && !rst_ni);
  end

  always_comb begin
    if (!begun_q) m_first : assume (!rst_ni);
    if (!rst_ni) a_everywhere : assert (rst == '1);
  end

  // ---- edges of each clock since rst_ni ended, up to two: in reset, and behind what the walk and the end wait for

  typedef logic [1:0] edges_t;
  edges_t in_reset[Domains], of_walk[Domains], of_end[Domains];

  function automatic edges_t next(input edges_t count, input logic counts);
    return count + edges_t'(counts && count != 2'd2);
  endfunction

  for (genvar d = 0; d < int'(Domains); d++) begin : g_domain
    edges_t in_reset_q, of_walk_q, of_end_q;

    always_ff @(posedge clk_i[d] or negedge rst_ni) begin
      if (!rst_ni) begin
        in_reset_q <= '0;
        of_walk_q  <= '0;
        of_end_q   <= '0;
      end else begin
        in_reset_q <= next(in_reset_q, rst[d]);
        of_walk_q  <= next(of_walk_q, u_dut.walked[d]);
        of_end_q   <= next(of_end_q, u_dut.walked[Domains]);
      end
    end

    assign in_reset[d] = in_reset_q;
    assign of_walk[d]  = of_walk_q;
    assign of_end[d]   = of_end_q;

    // two flip-flops each, no fewer and no more: it comes to its end with the second edge
    always_comb begin
      if (begun_q) begin
        a_walk : assert (u_dut.walked[d+1] == (of_walk_q == 2'd2));
        a_end : assert (rst[d] == (of_end_q != 2'd2));
        a_walk_first : assert (u_dut.g_domain[d].walk_meta_q == (of_walk_q != 2'd0));
        a_end_first : assert (u_dut.g_domain[d].end_meta_q == (of_end_q != 2'd0));
        a_up_to_two : assert (in_reset_q <= 2'd2 && of_walk_q <= 2'd2 && of_end_q <= 2'd2);
      end
    end
  end

  always_comb begin
    for (int unsigned d = 0; d < Domains; d++) begin
      if (begun_q) begin
        // two edges of every clock in reset before it ends anywhere
        for (int unsigned e = 0; e < Domains; e++) if (!rst[d]) a_all_have_seen_it : assert (in_reset[e] == 2'd2);
        // it ends at an edge of the clock that it is for, and begins for rst_ni only
        if (before_rst_q[d] && !rst[d]) a_ends_at_an_edge : assert (clk_i[d] && !before_clk_q[d] && rst_ni);
        if (!before_rst_q[d] && rst[d]) a_not_by_itself : assert (!rst_ni);
        // what the induction needs
        a_all_walked : assert ((of_end[d] == 2'd0) || u_dut.walked[Domains]);
        a_in_turn : assert ((of_walk[d] == 2'd0) || u_dut.walked[d]);
        a_counted : assert (in_reset[d] >= of_walk[d]);
      end
    end
    if (begun_q && ended_q && again_q && before_rst_nq && rst == '0) c_useful : cover (1'b1);
  end

endmodule
