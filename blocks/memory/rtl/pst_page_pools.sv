// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Finds a page for a frame: one page allocator per memory, and the choice between them.
//
// A frame gets a page of the smallest size that holds it and of which one is free; memories with pages of equal size
// take turns. When there is none the grant says so (m_gnt_ok_o = 0) at once: no frame waits for a page.
//
// Latency:    one cycle from request to grant; a freed page is offered at the latest ReadLatency + 3 cycles later.
// Throughput: one request and one free per cycle. Grants are in the order of the requests.
// Reset:      every page is free again. The first request is taken when each allocator has a page to offer.
module pst_page_pools
  import pst_memory_pkg::pages_t;
#(
    parameter int unsigned                 Memories     = 1,               // 1..32
    parameter logic [Memories-1:0][31:0]   MemPages     = {Memories{32'd1024}},  // pages in each memory, >= 1
    parameter logic [Memories-1:0][31:0]   MemPageBytes = {Memories{32'd2048}},  // page size, multiple of 64
    parameter int unsigned                 ReadLatency  = 2,               // of the allocators' RAMs
    localparam int unsigned Descriptors = pst_memory_pkg::desc_base(pages_t'(MemPages), Memories),
    localparam int unsigned DescWidth   = Descriptors > 1 ? $clog2(Descriptors) : 1
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    // request: frame length in bytes, and the memories that may give a page (of none: "no page")
    input  logic                 s_req_valid_i,
    output logic                 s_req_ready_o,
    input  pst_pkg::len_t        s_req_len_i,
    input  logic [Memories-1:0]  s_req_memories_i,
    // grant: ok = 0, no page (desc means nothing)
    output logic                 m_gnt_valid_o,
    input  logic                 m_gnt_ready_i,
    output logic                 m_gnt_ok_o,
    output logic [DescWidth-1:0] m_gnt_desc_o,
    // a page comes back
    input  logic                 s_free_valid_i,
    output logic                 s_free_ready_o,
    input  logic [DescWidth-1:0] s_free_desc_i
);

  if (Memories < 1 || Memories > pst_memory_pkg::MaxMemories) begin : g_bad_memories
    $error("pst_page_pools: Memories is %0d, allowed: 1..%0d", Memories, pst_memory_pkg::MaxMemories);
  end

  logic [Memories-1:0] alloc_valid, alloc_ready, free_valid, fits, beaten, winner;
  logic [Memories-1:0][DescWidth-1:0] alloc_desc;

  // later_q[m]: m comes after the memory of its page size that was served last, so it is before the others in turn.
  logic [Memories-1:0] later_d, later_q;
  logic started_q;  // each allocator has offered a page since reset; before that "no page" would be a lie
  logic gnt_valid_q, gnt_ok_q, take;
  logic [DescWidth-1:0] gnt_desc_d, gnt_desc_q;
  logic free_valid_q;
  logic [DescWidth-1:0] free_desc_q;

  always_comb begin
    for (int unsigned m = 0; m < Memories; m++) fits[m] = alloc_valid[m] && s_req_memories_i[m] && 32'(s_req_len_i) <= MemPageBytes[m];

    beaten = '0;
    for (int unsigned m = 0; m < Memories; m++) begin
      for (int unsigned k = 0; k < Memories; k++) begin
        if (fits[k]) begin
          if (MemPageBytes[k] < MemPageBytes[m]) beaten[m] = 1'b1;
          if (MemPageBytes[k] == MemPageBytes[m]) begin
            if (later_q[k] && !later_q[m]) beaten[m] = 1'b1;
            if (later_q[k] == later_q[m] && k < m) beaten[m] = 1'b1;
          end
        end
      end
    end
    winner = fits & ~beaten;

    take        = s_req_valid_i && s_req_ready_o;
    alloc_ready = take ? winner : '0;

    gnt_desc_d = '0;
    later_d    = later_q;
    for (int unsigned m = 0; m < Memories; m++) begin
      if (winner[m]) gnt_desc_d |= alloc_desc[m];
      if (alloc_ready[m]) begin
        for (int unsigned k = 0; k < Memories; k++) if (MemPageBytes[k] == MemPageBytes[m]) later_d[k] = k > m;
      end
    end
  end

  assign s_req_ready_o  = started_q && (!gnt_valid_q || m_gnt_ready_i);
  assign m_gnt_valid_o  = gnt_valid_q;
  assign m_gnt_ok_o     = gnt_ok_q;
  assign m_gnt_desc_o   = gnt_desc_q;
  assign s_free_ready_o = 1'b1;

  always_ff @(posedge clk_i) begin
    if (take) begin
      gnt_ok_q   <= |winner;
      gnt_desc_q <= gnt_desc_d;
    end
    gnt_valid_q  <= take || (gnt_valid_q && !m_gnt_ready_i);
    later_q      <= later_d;
    started_q    <= started_q || (&alloc_valid);
    free_valid_q <= s_free_valid_i;
    free_desc_q  <= s_free_desc_i;
    if (rst_i) begin
      gnt_valid_q  <= 1'b0;
      later_q      <= '0;
      started_q    <= 1'b0;
      free_valid_q <= 1'b0;
    end
  end

  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    localparam int unsigned Pages     = MemPages[m];
    localparam int unsigned Base      = pst_memory_pkg::desc_base(pages_t'(MemPages), m);
    localparam int unsigned PageWidth = Pages > 1 ? $clog2(Pages) : 1;

    if (Pages < 1 || MemPageBytes[m] < 64 || MemPageBytes[m] % 64 != 0) begin : g_bad_pages
      $error("pst_page_pools: memory %0d has %0d pages of %0d byte; at least 1, of a multiple of 64", m, Pages, MemPageBytes[m]);
    end

    logic [PageWidth-1:0] page;
    logic [31:0] free_page;  // wraps below Base to a number that no memory has pages for

    pst_page_allocator #(
        .Pages(Pages),
        .ReadLatency(ReadLatency)
    ) u_allocator (
        .clk_i,
        .rst_i,
        .m_alloc_valid_o(alloc_valid[m]),
        .m_alloc_ready_i(alloc_ready[m]),
        .m_alloc_page_o(page),
        .s_free_valid_i(free_valid[m]),
        .s_free_page_i(PageWidth'(free_page)),
        .free_pages_o()
    );

    assign alloc_desc[m] = DescWidth'(Base + 32'(page));
    assign free_page     = 32'(free_desc_q) - Base;
    assign free_valid[m] = free_valid_q && free_page < Pages;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_one_winner : assert ($onehot0(winner)) else $error("pst_page_pools: two memories won");
      a_freed_descriptor_exists : assert (!free_valid_q || $onehot(free_valid))
      else $error("pst_page_pools: descriptor %0d does not exist", free_desc_q);
    end
  end
`endif

endmodule
