// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Deep show-ahead FIFO in block RAM, with words that can be taken back until they are committed.
//
// A word becomes visible to the reader when it, or a later word, is written with s_commit_i. s_rewind_i forgets all
// words since the last commit, the one at the input included. A plain FIFO ties s_commit_i = 1, s_rewind_i = 0.
//
// Latency 3 cycles from a committing write to m_valid_o; one word per cycle on both sides at once.
// Two words prefetched at the output (the RAM's read register and m_data_o) stand outside Depth.
// Reset empties it; the words themselves are not reset.
module pst_ram_fifo #(
    parameter int unsigned Width = 32,     // bits per word, >= 1
    parameter int unsigned Depth = 512,    // words, a power of two >= 2
    parameter string       Style = "auto"  // RAM style, as in pst_ram_1r1w
) (
    input  logic             clk_i,
    input  logic             rst_i,
    // stream in
    input  logic             s_valid_i,
    output logic             s_ready_o,
    input  logic [Width-1:0] s_data_i,
    input  logic             s_commit_i,    // with the word: it and all before it are final
    input  logic             s_rewind_i,    // any time, valid or not: forget what is not committed
    output logic             s_overrun_o,   // nothing but uncommitted words: the reader can never make room
    // stream out
    output logic             m_valid_o,
    input  logic             m_ready_i,
    output logic [Width-1:0] m_data_o
);

  localparam int unsigned AddrWidth = $clog2(Depth);

  if (Depth < 2 || Depth != 2 ** AddrWidth) begin : g_bad_depth
    $error("pst_ram_fifo: Depth is %0d, must be a power of two and at least 2", Depth);
  end

  // One bit more than an address: differences of pointers are exact, 0..Depth.
  typedef logic [AddrWidth:0] ptr_t;

  ptr_t write_d, write_q, commit_d, commit_q, read_d, read_q;
  ptr_t used, uncommitted;
  logic push, read, fetched_d, fetched_q, advance, out_valid_d, out_valid_q;
  logic [Width-1:0] fetched, out_q;

  assign used        = write_q - read_q;
  assign uncommitted = write_q - commit_q;
  assign s_ready_o   = used != ptr_t'(Depth);
  assign s_overrun_o = uncommitted == ptr_t'(Depth);
  assign m_valid_o   = out_valid_q;
  assign m_data_o    = out_q;

  always_comb begin
    push     = s_valid_i && s_ready_o && !s_rewind_i;
    write_d  = write_q;
    commit_d = commit_q;
    if (push) begin
      write_d = write_q + 1'b1;
      if (s_commit_i) commit_d = write_d;
    end
    if (s_rewind_i) write_d = commit_q;

    // RAM -> its read register (fetched) -> out_q; each stage moves when the next one is free or moves.
    advance     = fetched_q && (!out_valid_q || m_ready_i);
    read        = read_q != commit_q && (!fetched_q || advance);
    read_d      = read_q + ptr_t'(read);
    fetched_d   = read || (fetched_q && !advance);
    out_valid_d = advance || (out_valid_q && !m_ready_i);
  end

  // No word is read in the cycle in which it is written: it is committed one cycle later at the earliest.
  pst_ram_1r1w #(
      .Width(Width),
      .Depth(Depth),
      .Style(Style)
  ) u_ram (
      .clk_i,
      .we_i   (push),
      .waddr_i(write_q[AddrWidth-1:0]),
      .wdata_i(s_data_i),
      .re_i   (read),
      .raddr_i(read_q[AddrWidth-1:0]),
      .rdata_o(fetched)
  );

  always_ff @(posedge clk_i) begin
    if (advance) out_q <= fetched;
    write_q     <= write_d;
    commit_q    <= commit_d;
    read_q      <= read_d;
    fetched_q   <= fetched_d;
    out_valid_q <= out_valid_d;
    if (rst_i) begin
      write_q     <= '0;
      commit_q    <= '0;
      read_q      <= '0;
      fetched_q   <= 1'b0;
      out_valid_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_used_in_range : assert (used <= ptr_t'(Depth));
      a_commit_in_range : assert (uncommitted <= used);
      a_no_read_of_written : assert (!(push && read && write_q[AddrWidth-1:0] == read_q[AddrWidth-1:0]));
    end
  end
`endif

endmodule
