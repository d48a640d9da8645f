// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Finds a page for a frame: one page allocator per memory, and the choice between them; for one rx handler or for several.
//
// A frame gets a page of the smallest size that holds it and of which one is free; memories with pages of equal size
// take turns. When there is none the grant says so (m_gnt_ok_o = 0) at once: no frame waits for a page.
//
// Latency:    one cycle from request to grant, of several ports two, and of those that want pages of fewer memories than they are a turn
//             more; a freed page is offered at the latest ReadLatency + 3 cycles later, with several ports of freed pages ReadLatency + 4,
//             if no other one of its memory goes first.
// Throughput: one request at each port, one page of each memory, and one free at each port and for each memory per cycle.
// Ordering:   grants of a port are in the order of its requests. A port that does not take its grants holds up no other one.
// Reset:      every page is free again. The first request is taken when each allocator has a page to offer.
module pst_page_pools
  import pst_memory_pkg::pages_t;
#(
    parameter int unsigned                 Ports        = 1,               // of requests, >= 1
    parameter int unsigned                 FreePorts    = 1,               // of freed pages, >= 1
    parameter int unsigned                 Memories     = 1,               // 1..32
    parameter logic [Memories-1:0][31:0]   MemPages     = {Memories{32'd1024}},  // pages in each memory, >= 1
    parameter logic [Memories-1:0][31:0]   MemPageBytes = {Memories{32'd2048}},  // page size, multiple of 64
    parameter int unsigned                 ReadLatency  = 2,               // of the allocators' RAMs
    localparam int unsigned Descriptors = pst_memory_pkg::desc_base(pages_t'(MemPages), Memories),
    localparam int unsigned DescWidth   = Descriptors > 1 ? $clog2(Descriptors) : 1
) (
    input  logic                                clk_i,
    input  logic                                rst_i,
    // request: frame length in bytes, and the memories that may give a page (of none: "no page")
    input  logic [Ports-1:0]                    s_req_valid_i,
    output logic [Ports-1:0]                    s_req_ready_o,
    input  pst_pkg::len_t [Ports-1:0]           s_req_len_i,
    input  logic [Ports-1:0][Memories-1:0]      s_req_memories_i,
    // grant: ok = 0, no page (desc means nothing)
    output logic [Ports-1:0]                    m_gnt_valid_o,
    input  logic [Ports-1:0]                    m_gnt_ready_i,
    output logic [Ports-1:0]                    m_gnt_ok_o,
    output logic [Ports-1:0][DescWidth-1:0]     m_gnt_desc_o,
    // a page comes back
    input  logic [FreePorts-1:0]                s_free_valid_i,
    output logic [FreePorts-1:0]                s_free_ready_o,
    input  logic [FreePorts-1:0][DescWidth-1:0] s_free_desc_i
);

  if (Memories < 1 || Memories > pst_memory_pkg::MaxMemories) begin : g_bad_memories
    $error("pst_page_pools: Memories is %0d, allowed: 1..%0d", Memories, pst_memory_pkg::MaxMemories);
  end
  if (Ports < 1 || FreePorts < 1) begin : g_bad_ports
    $error("pst_page_pools: Ports (%0d) and FreePorts (%0d) must be at least 1", Ports, FreePorts);
  end

  typedef struct packed {
    pst_pkg::len_t       len;
    logic [Memories-1:0] memories;
  } request_t;

  logic [Memories-1:0] alloc_valid, alloc_ready, free_valid;
  logic [Memories-1:0][DescWidth-1:0] alloc_desc, free_desc;
  logic started_q;  // each allocator has offered a page since reset; before that "no page" would be a lie

  // What the choice sees of each port, and says to it.
  logic [Ports-1:0] asks, decided;
  pst_pkg::len_t [Ports-1:0] ask_len;
  logic [Ports-1:0][Memories-1:0] ask_memories, winner;
  logic [Ports-1:0][DescWidth-1:0] winner_desc;

  pst_page_choice #(
      .Ports(Ports),
      .Memories(Memories),
      .MemPageBytes(MemPageBytes)
  ) u_choice (
      .clk_i,
      .rst_i,
      .req_valid_i(asks),
      .req_len_i(ask_len),
      .req_memories_i(ask_memories),
      .offer_i(alloc_valid),
      .decided_o(decided),
      .winner_o(winner)
  );

  always_comb begin
    alloc_ready = '0;
    winner_desc = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      alloc_ready |= winner[p];
      for (int unsigned m = 0; m < Memories; m++) if (winner[p][m]) winner_desc[p] |= alloc_desc[m];
    end
  end

  always_ff @(posedge clk_i) begin
    started_q <= started_q || (&alloc_valid);
    if (rst_i) started_q <= 1'b0;
  end

  if (Ports == 1) begin : g_one
    // One port is decided in the cycle in which it asks.
    logic gnt_valid_q, gnt_ok_q;
    logic [DescWidth-1:0] gnt_desc_q;

    assign s_req_ready_o = started_q && (!gnt_valid_q || m_gnt_ready_i);
    assign asks          = s_req_valid_i & s_req_ready_o;
    assign ask_len       = s_req_len_i;
    assign ask_memories  = s_req_memories_i;
    assign m_gnt_valid_o = gnt_valid_q;
    assign m_gnt_ok_o    = gnt_ok_q;
    assign m_gnt_desc_o  = gnt_desc_q;

    always_ff @(posedge clk_i) begin
      if (asks != '0) begin
        gnt_ok_q   <= winner != '0;
        gnt_desc_q <= winner_desc;
      end
      gnt_valid_q <= asks != '0 || (gnt_valid_q && m_gnt_ready_i == '0);
      if (rst_i) gnt_valid_q <= 1'b0;
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i) a_one_port_is_decided : assert (decided == asks) else $error("pst_page_pools: the only port waits");
    end
`endif
  end else begin : g_several
    // A request stands in front of the choice until it is decided, and asks when there is room for its grant.
    for (genvar p = 0; p < int'(Ports); p++) begin : g_port
      logic valid, room;
      request_t request;

      pst_fifo #(
          .Width($bits(request_t)),
          .Depth(2)
      ) u_request (
          .clk_i,
          .rst_i,
          .s_valid_i(s_req_valid_i[p]),
          .s_ready_o(s_req_ready_o[p]),
          .s_data_i({s_req_len_i[p], s_req_memories_i[p]}),
          .m_valid_o(valid),
          .m_ready_i(decided[p]),
          .m_data_o(request),
          .level_o()
      );

      pst_fifo #(
          .Width(1 + DescWidth),
          .Depth(2)
      ) u_grant (
          .clk_i,
          .rst_i,
          .s_valid_i(decided[p]),
          .s_ready_o(room),
          .s_data_i({winner[p] != '0, winner_desc[p]}),
          .m_valid_o(m_gnt_valid_o[p]),
          .m_ready_i(m_gnt_ready_i[p]),
          .m_data_o({m_gnt_ok_o[p], m_gnt_desc_o[p]}),
          .level_o()
      );

      assign asks[p]         = valid && room && started_q;
      assign ask_len[p]      = request.len;
      assign ask_memories[p] = request.memories;
    end
  end

  // Pages that come back.
  if (FreePorts == 1) begin : g_one_free
    logic free_valid_q;
    logic [DescWidth-1:0] free_desc_q;

    assign s_free_ready_o = '1;
    assign free_valid     = {Memories{free_valid_q}};
    assign free_desc      = {Memories{free_desc_q}};

    always_ff @(posedge clk_i) begin
      free_valid_q <= s_free_valid_i;
      free_desc_q  <= s_free_desc_i;
      if (rst_i) free_valid_q <= 1'b0;
    end
  end else begin : g_several_free
    pst_free_route #(
        .Ports(FreePorts),
        .Memories(Memories),
        .MemPages(MemPages)
    ) u_route (
        .clk_i,
        .rst_i,
        .s_free_valid_i,
        .s_free_ready_o,
        .s_free_desc_i,
        .m_free_valid_o(free_valid),
        .m_free_desc_o(free_desc)
    );
  end

  logic [Memories-1:0] is_free;  // a page of this memory comes back

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
        .s_free_valid_i(is_free[m]),
        .s_free_page_i(PageWidth'(free_page)),
        .free_pages_o()
    );

    assign alloc_desc[m] = DescWidth'(Base + 32'(page));
    assign free_page     = 32'(free_desc[m]) - Base;
    assign is_free[m]    = free_valid[m] && free_page < Pages;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (FreePorts == 1) begin
        a_freed_descriptor_exists : assert (free_valid == '0 || $onehot(is_free))
        else $error("pst_page_pools: descriptor %0d does not exist", free_desc[0]);
      end else begin
        a_page_is_home : assert (is_free == free_valid) else $error("pst_page_pools: a page came to another memory");
      end
    end
  end
`endif

endmodule
