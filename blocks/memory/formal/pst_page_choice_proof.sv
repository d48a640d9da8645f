// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_page_choice, by induction, of three ports and four memories of two page sizes: no page goes to two ports, and none that
// is not on offer, not asked for, too small, or larger than must be; a request is told "no page" only when there is none, and waits for
// Ports - 1 cycles at most. SameMemories = 1: requests name all memories; then no page that could go in a cycle stays.
module pst_page_choice_proof #(
    parameter bit SameMemories = 1'b0
) (
    input logic                       clk_i,
    input logic                       rst_i,
    input logic                 [2:0] valid_i,
    input pst_pkg::len_t        [2:0] len_i,
    input logic           [2:0] [3:0] memories_i,
    input logic                 [3:0] offer_i
);

  localparam int unsigned Ports = 3;
  localparam int unsigned Memories = 4;
  localparam int unsigned Small = 64;
  localparam int unsigned Large = 128;
  localparam logic [3:0] IsSmall = 4'b0101;  // the memories with small pages

  logic [2:0] decided;
  logic [2:0][3:0] winner, named;

  assign named = SameMemories ? '1 : memories_i;

  pst_page_choice #(
      .Ports(Ports),
      .Memories(Memories),
      .MemPageBytes({32'(Large), 32'(Small), 32'(Large), 32'(Small)})
  ) u_dut (
      .clk_i,
      .rst_i,
      .req_valid_i(valid_i),
      .req_len_i(len_i),
      .req_memories_i(named),
      .offer_i,
      .decided_o(decided),
      .winner_o(winner)
  );

  logic seen_q;
  initial seen_q = 1'b0;

  // What stands, and how long it has.
  logic [2:0] stands_q;
  pst_pkg::len_t [2:0] len_q;
  logic [2:0][3:0] named_q;
  logic [2:0][3:0] waited_q, ahead;

  // Ports that are before p in turn.
  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      ahead[p] = '0;
      for (int unsigned k = 0; k < Ports; k++) begin
        if (k != p && (u_dut.port_later_q[k] == u_dut.port_later_q[p] ? k < p : u_dut.port_later_q[k])) ahead[p] += 4'd1;
      end
    end
  end

  // What there is for each request, in words of its own.
  logic [2:0][3:0] short_page, long_page;
  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      short_page[p] = 32'(len_i[p]) <= Small ? offer_i & named[p] & IsSmall : '0;
      long_page[p] = 32'(len_i[p]) <= Large ? offer_i & named[p] & ~IsSmall : '0;
    end
  end

  // Pages that are wanted, and pages that go, by size.
  logic [3:0] want_small, want_large, go_small, go_large, have_small, have_large;
  always_comb begin
    {want_small, want_large, go_small, go_large, have_small, have_large} = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      want_small += 4'(valid_i[p] && short_page[p] != '0);
      want_large += 4'(valid_i[p] && short_page[p] == '0 && long_page[p] != '0);
      go_small += 4'((winner[p] & IsSmall) != '0);
      go_large += 4'((winner[p] & ~IsSmall) != '0);
    end
    for (int unsigned m = 0; m < Memories; m++) begin
      if (offer_i[m] && IsSmall[m]) have_small += 4'd1;
      if (offer_i[m] && !IsSmall[m]) have_large += 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    seen_q   <= 1'b1;
    stands_q <= valid_i & ~decided;
    len_q    <= len_i;
    named_q  <= named;
    for (int unsigned p = 0; p < Ports; p++) waited_q[p] <= valid_i[p] && !decided[p] ? waited_q[p] + 1'b1 : '0;
    if (rst_i) begin
      stands_q <= '0;
      waited_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      for (int unsigned p = 0; p < Ports; p++) begin
        if (stands_q[p]) m_stands : assume (valid_i[p] && len_i[p] == len_q[p] && named[p] == named_q[p]);
      end
      for (int unsigned p = 0; p < Ports; p++) begin
        // what a user relies on
        a_one_page : assert ($onehot0(winner[p]) && (winner[p] == '0 || decided[p]));
        for (int unsigned k = 0; k < p; k++) a_not_twice : assert ((winner[p] & winner[k]) == '0);
        a_of_the_smallest : assert ((winner[p] & ~(short_page[p] != '0 ? short_page[p] : long_page[p])) == '0);
        if (decided[p]) a_asked : assert (valid_i[p]);
        if (decided[p] && winner[p] == '0) a_none_is_there : assert (short_page[p] == '0 && long_page[p] == '0);
        if (valid_i[p] && short_page[p] == '0 && long_page[p] == '0) a_told_at_once : assert (decided[p]);
        a_waits_for_each_once : assert (32'(waited_q[p]) <= Ports - 1);
        // what the induction needs
        if (p + 1 < Ports) a_later_is_a_tail : assert (!u_dut.port_later_q[p] || u_dut.port_later_q[p+1]);
        a_turn : assert (waited_q[p] == '0 || 32'(waited_q[p]) + 32'(ahead[p]) <= Ports - 1);
        if (stands_q[p]) a_counted : assert (waited_q[p] != '0);
      end
      if (SameMemories) begin
        a_small_go : assert (go_small == (want_small < have_small ? want_small : have_small));
        a_large_go : assert (go_large == (want_large < have_large ? want_large : have_large));
      end
      // useful work is possible
      c_three_at_once : cover (decided == '1 && winner[0] != '0 && winner[1] != '0 && winner[2] != '0);
      c_longest_wait : cover (32'(waited_q[2]) == Ports - 1);
      c_told_none_beside_a_page : cover (decided[0] && winner[0] == '0 && winner[1] != '0);
    end
  end

endmodule
