// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Hands out the free pages of one memory, and takes them back.
//
// It behaves as a FIFO that holds 0 .. Pages-1 after reset: pages that were never handed out come first, in order
// ("fresh", a counter, so that reset needs no walk), then freed pages in the order in which they were freed.
//
// Latency:    a freed page is offered at the latest ReadLatency + 2 cycles later when no other waits before it, and in
//             the next cycle when nothing is on its way through the RAM.
// Throughput: one page out and one page back per cycle.
// Reset:      every page is free again; its holders forget theirs.
module pst_page_allocator #(
    parameter int unsigned Pages       = 1024,    // >= 1
    parameter int unsigned ReadLatency = 2,       // of the RAM of freed pages, 1 or 2
    parameter string       Style       = "auto",  // of the same RAM
    localparam int unsigned PageWidth  = Pages > 1 ? $clog2(Pages) : 1,
    localparam int unsigned CountWidth = $clog2(Pages + 1)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    // a free page
    output logic                  m_alloc_valid_o,
    input  logic                  m_alloc_ready_i,
    output logic [PageWidth-1:0]  m_alloc_page_o,
    // a page that comes back; always taken
    input  logic                  s_free_valid_i,
    input  logic [PageWidth-1:0]  s_free_page_i,
    // pages that are not held, those on their way to m_alloc included
    output logic [CountWidth-1:0] free_pages_o
);

  if (Pages < 1) begin : g_bad_pages
    $error("pst_page_allocator: Pages is %0d, must be at least 1", Pages);
  end

  // A page reserves its place in the prefetch FIFO when it sets out. From there to the place being free again take
  // ReadLatency cycles of RAM, one in the FIFO, one for the counter: with fewer places a bubble would come round.
  localparam int unsigned PrefetchDepth = ReadLatency + 2;
  localparam int unsigned ReservedWidth = $clog2(PrefetchDepth + 1);

  typedef logic [PageWidth-1:0] page_t;
  typedef logic [CountWidth-1:0] count_t;

  function automatic page_t next_page(page_t page);  // of the ring
    return page == page_t'(Pages - 1) ? '0 : page + 1'b1;
  endfunction

  count_t fresh_d, fresh_q;        // next page never handed out; Pages: none left
  count_t stored_d, stored_q;      // pages in the ring
  page_t head_d, head_q;           // where the ring is read
  page_t tail_d, tail_q;           // where the ring is written
  count_t free_pages_d, free_pages_q;
  logic [ReservedWidth-1:0] reserved_d, reserved_q;

  // Pages on their way: a fresh one keeps step with the RAM, so that the order holds and no bubble comes between
  // the last fresh page and the first freed one.
  logic [ReadLatency-1:0] pipe_valid_q, pipe_fresh_q;
  page_t [ReadLatency-1:0] pipe_page_q;

  logic room, issue_fresh, issue_ram, bypass, store, push, push_ready, pop;
  page_t push_page, ram_page;

  always_comb begin
    room        = reserved_q < ReservedWidth'(PrefetchDepth);
    issue_fresh = room && fresh_q != count_t'(Pages);
    issue_ram   = room && fresh_q == count_t'(Pages) && stored_q != '0;
    // Nothing before it anywhere but in the prefetch FIFO: a freed page needs no trip through the RAM.
    bypass      = s_free_valid_i && room && fresh_q == count_t'(Pages) && stored_q == '0 && pipe_valid_q == '0;
    store       = s_free_valid_i && !bypass;
    push        = pipe_valid_q[ReadLatency-1] || bypass;
    push_page   = bypass ? s_free_page_i : pipe_fresh_q[ReadLatency-1] ? pipe_page_q[ReadLatency-1] : ram_page;
    pop         = m_alloc_valid_o && m_alloc_ready_i;

    fresh_d      = fresh_q + count_t'(issue_fresh);
    stored_d     = stored_q + count_t'(store) - count_t'(issue_ram);
    head_d       = issue_ram ? next_page(head_q) : head_q;
    tail_d       = store ? next_page(tail_q) : tail_q;
    reserved_d   = reserved_q + ReservedWidth'(issue_fresh || issue_ram || bypass) - ReservedWidth'(pop);
    free_pages_d = free_pages_q + count_t'(s_free_valid_i) - count_t'(pop);
  end

  always_ff @(posedge clk_i) begin
    fresh_q      <= fresh_d;
    stored_q     <= stored_d;
    head_q       <= head_d;
    tail_q       <= tail_d;
    reserved_q   <= reserved_d;
    free_pages_q <= free_pages_d;
    pipe_valid_q <= ReadLatency'({pipe_valid_q, issue_fresh || issue_ram});
    pipe_fresh_q <= ReadLatency'({pipe_fresh_q, issue_fresh});
    pipe_page_q  <= (ReadLatency * PageWidth)'({pipe_page_q, page_t'(fresh_q)});
    if (rst_i) begin
      fresh_q      <= '0;
      stored_q     <= '0;
      head_q       <= '0;
      tail_q       <= '0;
      reserved_q   <= '0;
      free_pages_q <= count_t'(Pages);
      pipe_valid_q <= '0;
    end
  end

  // Read and write never meet at one address: head == tail means empty (no read) or full (no page left to free).
  pst_ram_1r1w #(
      .Width(PageWidth),
      .Depth(Pages),
      .ReadLatency(ReadLatency),
      .Style(Style)
  ) u_ring (
      .clk_i,
      .we_i(store),
      .waddr_i(tail_q),
      .wdata_i(s_free_page_i),
      .re_i(issue_ram),
      .raddr_i(head_q),
      .rdata_o(ram_page)
  );

  pst_fifo #(
      .Width(PageWidth),
      .Depth(PrefetchDepth)
  ) u_prefetch (
      .clk_i,
      .rst_i,
      .s_valid_i(push),
      .s_ready_o(push_ready),
      .s_data_i(push_page),
      .m_valid_o(m_alloc_valid_o),
      .m_ready_i(m_alloc_ready_i),
      .m_data_o(m_alloc_page_o),
      .level_o()
  );

  assign free_pages_o = free_pages_q;

`ifndef SYNTHESIS
  // Which module holds a page is nowhere in the hardware; the simulation keeps the book.
  logic [Pages-1:0] held_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      held_q <= '0;
    end else begin
      if (pop) begin
        a_page_handed_out_once : assert (!held_q[m_alloc_page_o])
        else $error("pst_page_allocator: page %0d handed out twice", m_alloc_page_o);
        held_q[m_alloc_page_o] <= 1'b1;
      end
      if (s_free_valid_i) begin
        a_freed_page_was_held : assert (held_q[s_free_page_i])
        else $error("pst_page_allocator: page %0d freed but not held", s_free_page_i);
        held_q[s_free_page_i] <= 1'b0;
      end
      a_prefetch_has_room : assert (!push || push_ready) else $error("pst_page_allocator: prefetch FIFO overflows");
      a_no_read_of_written : assert (!(store && issue_ram && head_q == tail_q)) else $error("pst_page_allocator: read meets write");
    end
  end
`endif

endmodule
