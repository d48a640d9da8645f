// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_ram_fifo: a word that the solver picks comes out unchanged, in its place, once, but never before it
// is committed and never after a rewind took it back.
module pst_ram_fifo_proof #(
    parameter int unsigned Width = 2,
    parameter int unsigned Depth = 4,
    localparam int unsigned AddrWidth = $clog2(Depth),
    localparam int unsigned CountWidth = $clog2(Depth + 3)
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             s_valid_i,
    input logic [Width-1:0] s_data_i,
    input logic             s_commit_i,
    input logic             s_rewind_i,
    input logic             m_ready_i,
    input logic             pick_i       // follow the word that is written now
);

  typedef logic [CountWidth-1:0] count_t;  // 0 .. Depth + 2, the two prefetched words included

  logic s_ready, overrun, m_valid, push, commit, pop;
  logic [Width-1:0] m_data;

  pst_ram_fifo #(
      .Width(Width),
      .Depth(Depth)
  ) u_dut (
      .clk_i,
      .rst_i,
      .s_valid_i,
      .s_ready_o  (s_ready),
      .s_data_i,
      .s_commit_i,
      .s_rewind_i,
      .s_overrun_o(overrun),
      .m_valid_o  (m_valid),
      .m_ready_i,
      .m_data_o   (m_data)
  );

  assign push   = s_valid_i && s_ready && !s_rewind_i;
  assign commit = push && s_commit_i;
  assign pop    = m_valid && m_ready_i;

  // The bench's own count: words that are final, and words that can still be taken back.
  count_t kept_q, pending_q;
  // The picked word, whether it is final, and how many words are ahead of it.
  logic seen_q, picked_q, final_q;
  logic [Width-1:0] word_q;
  count_t ahead_q;
  // Cycles in which a final word was there and not shown.
  logic [1:0] hidden_q;
  initial seen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    seen_q    <= 1'b1;
    kept_q    <= kept_q + (commit ? pending_q + 1'b1 : '0) - count_t'(pop);
    pending_q <= commit || s_rewind_i ? '0 : pending_q + count_t'(push);
    hidden_q  <= kept_q != '0 && !m_valid ? hidden_q + 1'b1 : '0;
    if (pop) begin
      ahead_q <= ahead_q - 1'b1;
      if (ahead_q == '0) picked_q <= 1'b0;
    end
    if (commit) final_q <= 1'b1;
    if (s_rewind_i && !final_q) picked_q <= 1'b0;
    if (push && pick_i && !picked_q) begin
      picked_q <= 1'b1;
      final_q  <= s_commit_i;
      word_q   <= s_data_i;
      ahead_q  <= kept_q + pending_q - count_t'(pop);
    end
    if (rst_i) begin
      picked_q  <= 1'b0;
      kept_q    <= '0;
      pending_q <= '0;
      hidden_q  <= '0;
    end
  end

  // Words in the RAM, and where the picked one lies when it is there.
  count_t prefetched;
  logic [AddrWidth:0] in_ram, to_take_back;
  logic [AddrWidth-1:0] place;
  assign prefetched   = count_t'(u_dut.out_valid_q) + count_t'(u_dut.fetched_q);
  assign in_ram       = u_dut.write_q - u_dut.read_q;
  assign to_take_back = u_dut.write_q - u_dut.commit_q;
  assign place        = u_dut.read_q[AddrWidth-1:0] + AddrWidth'(ahead_q - prefetched);

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_room : assert (s_ready || kept_q + pending_q >= count_t'(Depth));
      a_overrun : assert (overrun == (pending_q == count_t'(Depth)));
      a_only_final : assert (!m_valid || kept_q != '0);
      if (picked_q && ahead_q == '0 && m_valid) a_order : assert (final_q && m_data == word_q);
      a_prompt : assert (hidden_q <= 2'd2);
      // what the induction needs
      a_capacity : assert (32'(in_ram) <= Depth && to_take_back <= in_ram);
      a_kept : assert (32'(kept_q) == 32'(in_ram) - 32'(to_take_back) + 32'(prefetched));
      a_pending : assert (32'(pending_q) == 32'(to_take_back));
      if (hidden_q == 2'd1) a_hidden_1 : assert (u_dut.fetched_q || u_dut.out_valid_q);
      if (hidden_q == 2'd2) a_hidden_2 : assert (u_dut.out_valid_q);
      if (picked_q) begin
        a_inside : assert (ahead_q < kept_q + pending_q && final_q == (ahead_q < kept_q));
        if (ahead_q >= prefetched) a_in_ram : assert (u_dut.u_ram.mem[place] == word_q);
        else if (ahead_q == '0 && u_dut.out_valid_q) a_in_out : assert (u_dut.out_q == word_q);
        else a_in_fetched : assert (u_dut.u_ram.rdata_q == word_q);
      end
      // useful work is possible
      c_full : cover (!s_ready && kept_q == count_t'(Depth + 2) && picked_q);
      c_overrun : cover (overrun);
      c_out : cover (picked_q && pop && ahead_q == '0 && word_q == '1);
      c_taken_back : cover (picked_q && !final_q && s_rewind_i && kept_q != '0);
    end
  end

endmodule
