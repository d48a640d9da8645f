// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_skid_buffer: a word that the solver picks comes out unchanged, in its place, once.
module pst_skid_buffer_proof #(
    parameter int unsigned Width = 2
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             s_valid_i,
    input logic [Width-1:0] s_data_i,
    input logic             m_ready_i,
    input logic             pick_i      // follow the word that is written now
);

  logic s_ready, m_valid, push, pop;
  logic [Width-1:0] m_data;

  pst_skid_buffer #(
      .Width(Width)
  ) u_dut (
      .clk_i,
      .rst_i,
      .s_valid_i,
      .s_ready_o(s_ready),
      .s_data_i,
      .m_valid_o(m_valid),
      .m_ready_i,
      .m_data_o (m_data)
  );

  assign push = s_valid_i && s_ready;
  assign pop  = m_valid && m_ready_i;

  // The picked word, how many words are ahead of it, and the number of words by the bench's own count.
  logic seen_q, picked_q, ahead_q;
  logic [Width-1:0] word_q;
  logic [1:0] count_q;
  initial seen_q = 1'b0;

  // What was on offer in the cycle before.
  logic offered_q;
  logic [Width-1:0] offer_q;

  always_ff @(posedge clk_i) begin
    seen_q    <= 1'b1;
    offered_q <= m_valid && !m_ready_i && !rst_i;
    offer_q   <= m_data;
    count_q   <= count_q + 2'(push) - 2'(pop);
    if (pop) begin
      ahead_q <= 1'b0;
      if (!ahead_q) picked_q <= 1'b0;
    end
    if (push && pick_i && !picked_q) begin
      picked_q <= 1'b1;
      word_q   <= s_data_i;
      ahead_q  <= 1'(count_q - 2'(pop));
    end
    if (rst_i) begin
      picked_q <= 1'b0;
      count_q  <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_room : assert (s_ready == (count_q != 2'd2));
      a_words : assert (m_valid == (count_q != 2'd0));
      if (picked_q && !ahead_q) a_order : assert (m_valid && m_data == word_q);
      if (offered_q) a_held : assert (m_valid && m_data == offer_q);
      // what the induction needs
      a_count : assert (count_q == 2'(u_dut.out_valid_q) + 2'(u_dut.skid_valid_q));
      a_filled : assert (u_dut.out_valid_q || !u_dut.skid_valid_q);
      if (picked_q && ahead_q) a_place : assert (u_dut.skid_valid_q && u_dut.skid_data_q == word_q);
      // useful work is possible
      c_full : cover (count_q == 2'd2 && picked_q && ahead_q);
      c_out : cover (picked_q && pop && !ahead_q && word_q == '1);
      c_flow : cover (push && pop && count_q == 2'd1);
    end
  end

endmodule
