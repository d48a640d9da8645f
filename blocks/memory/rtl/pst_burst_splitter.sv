// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Turns a descriptor and a frame length into the AXI4 bursts that cover the frame.
//
// A burst never crosses a 4 KiB boundary, so it has at most 64 beats. A frame without a page (ok = 0) comes out as a
// single entry with ok = 0 at its place in the order: no burst, but its data and its report have their turn.
//
// Latency:    3 cycles (which memory; address of the page; burst). Throughput: one burst per cycle.
// Reset:      frames inside are forgotten.
module pst_burst_splitter
  import pst_memory_pkg::pages_t, pst_memory_pkg::bytes_t, pst_memory_pkg::beats_t;
#(
    parameter int unsigned                 Memories     = 1,               // 1..32
    parameter logic [Memories-1:0][31:0]   MemPages     = {Memories{32'd1024}},
    parameter logic [Memories-1:0][31:0]   MemPageBytes = {Memories{32'd2048}},      // multiples of 64
    parameter logic [Memories-1:0][63:0]   MemBytes     = {Memories{64'd2097152}},   // multiples of 4096
    parameter int unsigned                 AddrWidth    = 32,              // bits of a byte address of the whole range
    localparam int unsigned Descriptors = pst_memory_pkg::desc_base(pages_t'(MemPages), Memories),
    localparam int unsigned DescWidth   = Descriptors > 1 ? $clog2(Descriptors) : 1
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    // a frame: length in bytes, at least 1
    input  logic                 s_valid_i,
    output logic                 s_ready_o,
    input  logic                 s_ok_i,
    input  logic [DescWidth-1:0] s_desc_i,
    input  pst_pkg::len_t        s_len_i,
    // its bursts: byte address, beats - 1, last burst of the frame
    output logic                 m_valid_o,
    input  logic                 m_ready_i,
    output logic                 m_ok_o,
    output logic [AddrWidth-1:0] m_addr_o,
    output logic [7:0]           m_len_o,
    output logic                 m_last_o
);

  localparam int unsigned DataBytes     = pst_memory_pkg::DataBytes;
  localparam int unsigned LineShift     = $clog2(DataBytes);
  localparam int unsigned LineWidth     = AddrWidth - LineShift;  // addresses count beats ("lines") in here
  localparam int unsigned BoundaryLines = pst_memory_pkg::BoundaryBytes / DataBytes;
  localparam int unsigned OffsetWidth   = $clog2(BoundaryLines);
  localparam int unsigned MemoryWidth   = Memories > 1 ? $clog2(Memories) : 1;

  if (AddrWidth <= $clog2(pst_memory_pkg::BoundaryBytes) || AddrWidth > 64 ||
      (AddrWidth < 64 && pst_memory_pkg::byte_base(bytes_t'(MemBytes), Memories) > 64'd1 << AddrWidth)) begin : g_bad_width
    $error("pst_burst_splitter: AddrWidth (%0d) does not hold all memories", AddrWidth);
  end
  for (genvar m = 0; m < int'(Memories); m++) begin : g_check
    if (64'(MemPages[m]) * 64'(MemPageBytes[m]) > MemBytes[m]) begin : g_bad_size
      $error("pst_burst_splitter: memory %0d has %0d byte, too few for %0d pages of %0d byte", m, MemBytes[m], MemPages[m],
             MemPageBytes[m]);
    end
    if (MemPageBytes[m] % DataBytes != 0 || MemBytes[m] % 64'(pst_memory_pkg::BoundaryBytes) != 0) begin : g_bad_multiple
      $error("pst_burst_splitter: memory %0d: pages must be multiples of %0d byte, the memory of 4096", m, DataBytes);
    end
  end

  typedef struct packed {
    logic                   ok;
    logic [MemoryWidth-1:0] memory;
    logic [DescWidth-1:0]   page;    // inside its memory
    beats_t                 beats;
  } page_t;

  typedef struct packed {
    logic                 ok;
    logic [LineWidth-1:0] line;      // of the next beat
    beats_t               beats;     // still to come
  } span_t;

  logic page_valid_q, start_valid_q, span_valid_q;
  logic page_ready, start_ready, span_ready;
  page_t page_d, page_q;
  span_t start_d, start_q, span_d, span_q;
  logic [OffsetWidth:0] room;  // lines up to the next boundary, 1..64
  logic last;
  beats_t burst;

  // Stage 1: which memory, which of its pages.
  always_comb begin
    page_d        = '0;
    page_d.ok     = s_ok_i;
    page_d.beats  = pst_memory_pkg::beats(s_len_i);
    for (int unsigned m = 0; m < Memories; m++) begin
      if (32'(s_desc_i) >= pst_memory_pkg::desc_base(pages_t'(MemPages), m)) begin
        page_d.memory = MemoryWidth'(m);
        page_d.page   = DescWidth'(32'(s_desc_i) - pst_memory_pkg::desc_base(pages_t'(MemPages), m));
      end
    end
  end

  // Stage 2: where the page starts. The factor is a constant: a shift, or few additions.
  always_comb begin
    start_d       = '0;
    start_d.ok    = page_q.ok;
    start_d.beats = page_q.beats;
    for (int unsigned m = 0; m < Memories; m++) begin
      if (page_q.memory == MemoryWidth'(m)) begin
        start_d.line = LineWidth'(pst_memory_pkg::byte_base(bytes_t'(MemBytes), m) >> LineShift)
                     + LineWidth'(page_q.page) * LineWidth'(MemPageBytes[m] >> LineShift);
      end
    end
  end

  // Stage 3: one burst after the other.
  assign room  = (OffsetWidth + 1)'(BoundaryLines) - (OffsetWidth + 1)'(span_q.line[OffsetWidth-1:0]);
  assign last  = !span_q.ok || 32'(span_q.beats) <= 32'(room);
  assign burst = last ? span_q.beats : beats_t'(room);

  always_comb begin
    span_d = span_q;
    if (span_ready) begin
      span_d = start_q;
    end else if (m_ready_i) begin
      span_d.line  = span_q.line + LineWidth'(room);
      span_d.beats = span_q.beats - burst;
    end
  end

  assign span_ready  = !span_valid_q || (m_ready_i && last);
  assign start_ready = !start_valid_q || span_ready;
  assign page_ready  = !page_valid_q || start_ready;

  assign s_ready_o = page_ready;
  assign m_valid_o = span_valid_q;
  assign m_ok_o    = span_q.ok;
  assign m_addr_o  = {span_q.line, LineShift'(0)};
  assign m_len_o   = 8'(burst - 1'b1);
  assign m_last_o  = last;

  always_ff @(posedge clk_i) begin
    if (page_ready) begin
      page_valid_q <= s_valid_i;
      page_q       <= page_d;
    end
    if (start_ready) begin
      start_valid_q <= page_valid_q;
      start_q       <= start_d;
    end
    if (span_ready) span_valid_q <= start_valid_q;
    span_q <= span_d;
    if (rst_i) begin
      page_valid_q  <= 1'b0;
      start_valid_q <= 1'b0;
      span_valid_q  <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && s_valid_i) begin
      a_descriptor_exists : assert (!s_ok_i || 32'(s_desc_i) < Descriptors)
      else $error("pst_burst_splitter: descriptor %0d does not exist", s_desc_i);
      a_frame_not_empty : assert (s_len_i != '0) else $error("pst_burst_splitter: empty frame");
    end
    if (!rst_i && page_valid_q && page_q.ok) begin
      a_beats_fit_the_page : assert (32'(page_q.beats) * DataBytes <= MemPageBytes[page_q.memory])
      else $error("pst_burst_splitter: %0d beats do not fit a page of memory %0d", page_q.beats, page_q.memory);
    end
    if (!rst_i && m_valid_o && m_ok_o) begin
      a_burst_within_4k : assert (32'(m_addr_o[11:0]) + 32'(burst) * DataBytes <= 32'd4096)
      else $error("pst_burst_splitter: burst crosses 4 KiB");
    end
  end
`endif

endmodule
