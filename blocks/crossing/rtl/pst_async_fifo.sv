// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// FIFO between two clocks that know nothing of each other: m_data_o is the oldest word whenever m_valid_o is high.
//
// Each side counts its words in Gray code, of which one bit changes at a time, and the other side samples that count through two flip-flops.
// Latency: 3 to 4 edges of m_clk_i from the edge of s_clk_i that takes a word to m_valid_o. From Depth = 16 on, one word per cycle of
// the slower clock. s_ready_o, m_valid_o and m_data_o come from registers only, but for one comparison behind s_ready_o.
// Reset empties it. Neither reset may end before both have been there for an edge of their clocks; which ends first does not matter.
// pst_crossing_reset makes such resets; the reset of one side alone leaves counts that do not belong together.
// Words are written to LUTRAM and read into m_data_q: so timing must bound the paths wgray_q to wgray_meta_q, rgray_q to rgray_meta_q
// (and their skew, to a cycle of the clock that they come from) and mem to m_data_q. Nothing else crosses. Constraints find these registers
// by name, so no tool may merge them with others: no other register has the value of any of their bits, and attributes forbid it, too.
module pst_async_fifo #(
    parameter int unsigned Width = 32,  // bits per word, >= 1
    parameter int unsigned Depth = 16   // words, a power of two, >= 4
) (
    // stream in
    input  logic             s_clk_i,
    input  logic             s_rst_i,
    input  logic             s_valid_i,
    output logic             s_ready_o,
    input  logic [Width-1:0] s_data_i,
    // stream out
    input  logic             m_clk_i,
    input  logic             m_rst_i,
    output logic             m_valid_o,
    input  logic             m_ready_i,
    output logic [Width-1:0] m_data_o
);

  if (Width < 1 || Depth < 4 || (Depth & (Depth - 1)) != 0) begin : g_bad_size
    $error("pst_async_fifo: Width (%0d) must be at least 1, Depth (%0d) a power of two from 4 on", Width, Depth);
  end

  localparam int unsigned AddrWidth = $clog2(Depth);

  typedef logic [AddrWidth:0] count_t;  // of words; the lower bits are an address

  function automatic count_t gray(input count_t count);
    return count ^ (count >> 1);
  endfunction

  typedef logic [AddrWidth-1:0] addr_t;

  // Words taken, by s_clk_i, and read, by m_clk_i. The highest bit of a count is that of its Gray code, and is kept there alone.
  (* ram_style = "distributed" *) logic [Width-1:0] mem[Depth];
  (* keep = "true", dont_touch = "true", preserve = "true" *) count_t wgray_q, rgray_q;
  addr_t waddr_q, raddr_q;
  count_t wcount, wcount_d, rcount, rcount_d;

  // ---- clock of the stream in

  (* ASYNC_REG = "TRUE" *) count_t rgray_meta_q, rgray_sync_q;
  logic open_q, push;

  // Full: the counts differ by Depth, so their Gray codes in the two highest bits alone.
  assign s_ready_o = open_q && wgray_q != {~rgray_sync_q[AddrWidth:AddrWidth-1], rgray_sync_q[AddrWidth-2:0]};
  assign push      = s_valid_i && s_ready_o;
  assign wcount    = {wgray_q[AddrWidth], waddr_q};
  assign wcount_d  = wcount + count_t'(push);

  always_ff @(posedge s_clk_i) begin
    if (push) mem[waddr_q] <= s_data_i;
  end

  always_ff @(posedge s_clk_i) begin
    waddr_q      <= wcount_d[AddrWidth-1:0];
    wgray_q      <= gray(wcount_d);
    rgray_meta_q <= rgray_q;
    rgray_sync_q <= rgray_meta_q;
    open_q       <= 1'b1;
    if (s_rst_i) begin
      waddr_q      <= '0;
      wgray_q      <= '0;
      rgray_meta_q <= '0;
      rgray_sync_q <= '0;
      open_q       <= 1'b0;
    end
  end

  // ---- clock of the stream out

  (* ASYNC_REG = "TRUE" *) count_t wgray_meta_q, wgray_sync_q;
  logic m_valid_q, pop;
  logic [Width-1:0] m_data_q;

  assign pop       = rgray_q != wgray_sync_q && (!m_valid_q || m_ready_i);
  assign rcount    = {rgray_q[AddrWidth], raddr_q};
  assign rcount_d  = rcount + count_t'(pop);
  assign m_valid_o = m_valid_q;
  assign m_data_o  = m_data_q;

  always_ff @(posedge m_clk_i) begin
    if (pop) m_data_q <= mem[raddr_q];
  end

  always_ff @(posedge m_clk_i) begin
    raddr_q      <= rcount_d[AddrWidth-1:0];
    rgray_q      <= gray(rcount_d);
    wgray_meta_q <= wgray_q;
    wgray_sync_q <= wgray_meta_q;
    if (pop) m_valid_q <= 1'b1;
    else if (m_ready_i) m_valid_q <= 1'b0;
    if (m_rst_i) begin
      raddr_q      <= '0;
      rgray_q      <= '0;
      wgray_meta_q <= '0;
      wgray_sync_q <= '0;
      m_valid_q    <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  logic waits_q;
  logic [Width-1:0] waiting_q;
  always_ff @(posedge m_clk_i) begin
    waits_q   <= m_valid_o && !m_ready_i && !m_rst_i;
    waiting_q <= m_data_o;
    if (waits_q && !m_rst_i) a_word_waits : assert (m_valid_o && m_data_o == waiting_q);
  end
`endif

endmodule
