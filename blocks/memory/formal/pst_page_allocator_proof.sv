// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_page_allocator: every page is always in exactly one place (with its user, or in one place of the
// allocator), so none is lost and none is handed out twice; a free page is offered within ReadLatency + 2 cycles.
module pst_page_allocator_proof #(
    parameter int unsigned Pages = 3,
    parameter int unsigned ReadLatency = 2,
    localparam int unsigned PageWidth = Pages > 1 ? $clog2(Pages) : 1,
    localparam int unsigned CountWidth = $clog2(Pages + 1)
) (
    input logic                 clk_i,
    input logic                 rst_i,
    input logic                 ready_i,
    input logic                 free_valid_i,
    input logic [PageWidth-1:0] free_page_i
);

  localparam int unsigned Depth = ReadLatency + 2;  // of the prefetch FIFO

  logic valid, pop;
  logic [PageWidth-1:0] page;
  logic [CountWidth-1:0] free_pages;

  pst_page_allocator #(
      .Pages(Pages),
      .ReadLatency(ReadLatency)
  ) u_dut (
      .clk_i,
      .rst_i,
      .m_alloc_valid_o(valid),
      .m_alloc_ready_i(ready_i),
      .m_alloc_page_o (page),
      .s_free_valid_i (free_valid_i),
      .s_free_page_i  (free_page_i),
      .free_pages_o   (free_pages)
  );

  assign pop = valid && ready_i;

  // What the user holds, and cycles in which a page was free and none was offered.
  logic [Pages-1:0] held_q;
  logic [2:0] hidden_q;
  logic seen_q;
  initial seen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    seen_q   <= 1'b1;
    hidden_q <= free_pages != '0 && !valid ? hidden_q + 1'b1 : '0;
    if (pop) held_q[page] <= 1'b1;
    if (free_valid_i) held_q[free_page_i] <= 1'b0;
    if (rst_i) begin
      held_q   <= '0;
      hidden_q <= '0;
    end
  end

  // The places of each page, counted.
  logic [Pages-1:0][3:0] places;
  logic [31:0] held, flying;
  always_comb begin
    held   = 0;
    flying = 0;
    for (int unsigned s = 0; s < ReadLatency; s++) flying += 32'(u_dut.pipe_valid_q[s]);
    for (int unsigned p = 0; p < Pages; p++) begin
      held += 32'(held_q[p]);
      places[p] = 4'(held_q[p]) + 4'(p >= 32'(u_dut.fresh_q));
      for (int unsigned k = 0; k < Pages; k++) begin
        if (k < 32'(u_dut.stored_q)) places[p] += 4'(32'(u_dut.u_ring.mem[PageWidth'((32'(u_dut.head_q) + k) % Pages)]) == p);
      end
      for (int unsigned s = 0; s < ReadLatency; s++) begin
        if (u_dut.pipe_valid_q[s]) begin
          if (u_dut.pipe_fresh_q[s]) places[p] += 4'(32'(u_dut.pipe_page_q[s]) == p);
          else if (s == ReadLatency - 1) places[p] += 4'(32'(u_dut.ram_page) == p);
          else places[p] += 4'(32'(u_dut.u_ring.rdata_q) == p);
        end
      end
      for (int unsigned k = 0; k < Depth; k++) begin
        if (k < 32'(u_dut.u_prefetch.level_q)) begin
          places[p] += 4'(32'(u_dut.u_prefetch.mem[$clog2(Depth)'((32'(u_dut.u_prefetch.raddr_q) + k) % Depth)]) == p);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (free_valid_i && !rst_i) m_free_is_held : assume (32'(free_page_i) < Pages && held_q[free_page_i]);
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (valid) a_not_twice : assert (32'(page) < Pages && !held_q[page]);
      a_count : assert (32'(free_pages) == Pages - held);
      a_one_place : assert (places == {Pages{4'd1}});
      a_prompt : assert (32'(hidden_q) <= ReadLatency + 1);
      // what the induction needs
      a_fresh : assert (32'(u_dut.fresh_q) <= Pages && 32'(u_dut.stored_q) <= Pages);
      a_ring : assert (32'(u_dut.head_q) < Pages && 32'(u_dut.tail_q) == (32'(u_dut.head_q) + 32'(u_dut.stored_q)) % Pages);
      a_sum : assert (32'(free_pages) == Pages - 32'(u_dut.fresh_q) + 32'(u_dut.stored_q) + flying + 32'(u_dut.u_prefetch.level_q));
      a_reserved : assert (32'(u_dut.reserved_q) == flying + 32'(u_dut.u_prefetch.level_q) && 32'(u_dut.reserved_q) <= Depth);
      a_flag : assert (valid == (u_dut.u_prefetch.level_q != '0));
      a_prefetch : assert (32'(u_dut.u_prefetch.raddr_q) < Depth
                           && 32'(u_dut.u_prefetch.waddr_q) == (32'(u_dut.u_prefetch.raddr_q) + 32'(u_dut.u_prefetch.level_q)) % Depth);
      if (hidden_q != '0) a_coming : assert (valid || (u_dut.pipe_valid_q >> (hidden_q - 1'b1)) != '0);
      // useful work is possible
      c_all_out : cover (&held_q);
      c_bypass : cover (u_dut.bypass);
      c_stored_while_fresh : cover (u_dut.stored_q != '0 && 32'(u_dut.fresh_q) < Pages);
      c_from_ring : cover (pop && u_dut.stored_q != '0 && 32'(u_dut.fresh_q) == Pages);
    end
  end

endmodule
