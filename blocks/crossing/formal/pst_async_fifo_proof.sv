// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_async_fifo: a word that the solver picks comes out unchanged, in its place, once; its clocks are any two.
//
// Both clocks are inputs without a rule: each may rise in any step, with the other or without, or never again. An edge that meets the
// other clock's samples what was there before it. A flip-flop that is metastable then takes the old or the new value of the bit; as the
// proof also shows that a count changes in one bit at most, both are what an edge just before or just after would have sampled.
// The resets end in any order, after each clock has had an edge in reset. Reset in mid-traffic is left to the test.
module pst_async_fifo_proof #(
    parameter int unsigned Width = 2,
    parameter int unsigned Depth = 4,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input logic             s_clk_i,
    input logic             s_rst_i,
    input logic             s_valid_i,
    input logic [Width-1:0] s_data_i,
    input logic             m_clk_i,
    input logic             m_rst_i,
    input logic             m_ready_i,
    input logic             pick_i      // follow the word that is written now
);

  typedef logic [AddrWidth:0] count_t;

  logic s_ready, m_valid;
  logic [Width-1:0] m_data;

  pst_async_fifo #(
      .Width(Width),
      .Depth(Depth)
  ) u_dut (
      .s_clk_i,
      .s_rst_i,
      .s_valid_i,
      .s_ready_o(s_ready),
      .s_data_i,
      .m_clk_i,
      .m_rst_i,
      .m_valid_o(m_valid),
      .m_ready_i,
      .m_data_o (m_data)
  );

  function automatic count_t gray(input count_t count);
    return count ^ (count >> 1);
  endfunction

  function automatic count_t plain(input count_t code);
    count_t count;
    count = code;
    for (int unsigned i = 1; i <= AddrWidth; i++) count ^= code >> i;
    return count;
  endfunction

  // ---- the bench's own counts

  logic s_begun_q, m_begun_q, s_live_q, m_live_q;  // an edge has come; reset has ended
  count_t in_q, out_q;                             // words taken, words given away
  logic picked_q, gone_q;                          // the picked word is in; it has left
  count_t place_q;                                 // its number
  logic [Width-1:0] word_q;
  logic full_q;  // Depth words were inside at an edge

  initial begin
    s_begun_q = 1'b0;
    m_begun_q = 1'b0;
    s_live_q  = 1'b0;
    m_live_q  = 1'b0;
  end

  always_ff @(posedge s_clk_i) begin
    s_begun_q <= 1'b1;
    s_live_q  <= !s_rst_i;
    if (s_valid_i && s_ready) begin
      in_q <= in_q + 1'b1;
      if (pick_i && !picked_q) begin
        picked_q <= 1'b1;
        place_q  <= in_q;
        word_q   <= s_data_i;
      end
    end
    full_q <= full_q || !s_ready;
    if (s_rst_i) begin
      in_q     <= '0;
      picked_q <= 1'b0;
      full_q   <= 1'b0;
    end
  end

  always_ff @(posedge m_clk_i) begin
    m_begun_q <= 1'b1;
    m_live_q  <= !m_rst_i;
    if (m_valid && m_ready_i) begin
      out_q <= out_q + 1'b1;
      if (picked_q && out_q == place_q) gone_q <= 1'b1;
    end
    if (m_rst_i) begin
      out_q  <= '0;
      gone_q <= 1'b0;
    end
  end

  // ---- what is assumed of the resets

  logic both;
  assign both = s_begun_q && m_begun_q;

  always_comb begin
    if (!both) m_reset_first : assume (s_rst_i && m_rst_i);
    if (s_live_q) m_no_second_s : assume (!s_rst_i);
    if (m_live_q) m_no_second_m : assume (!m_rst_i);
  end

  // ---- what holds in every step

  count_t w_meta, w_sync, r_meta, r_sync;
  assign w_meta = plain(u_dut.wgray_meta_q);
  assign w_sync = plain(u_dut.wgray_sync_q);
  assign r_meta = plain(u_dut.rgray_meta_q);
  assign r_sync = plain(u_dut.rgray_sync_q);

  // From what the writer has seen of the reader up to what it has written: each at most as far as the next one.
  localparam int unsigned Wide = AddrWidth + 4;
  logic [Wide-1:0] steps;
  assign steps = Wide'(count_t'(r_meta - r_sync)) + Wide'(count_t'(u_dut.rcount - r_meta)) + Wide'(count_t'(w_sync - u_dut.rcount))
      + Wide'(count_t'(w_meta - w_sync)) + Wide'(count_t'(u_dut.wcount - w_meta));

  logic picked;  // and inside
  count_t behind;
  assign picked = picked_q && !gone_q;
  assign behind = place_q - u_dut.rcount;

  always_comb begin
    if (both) begin
      // what a user relies on
      if (picked && m_valid && out_q == place_q) a_order : assert (m_data == word_q);
      if (m_valid) a_something : assert (in_q != out_q);
      a_room : assert (Wide'(count_t'(in_q - out_q)) <= Wide'(Depth + 1));
      // what the induction needs
      a_steps : assert (steps <= Wide'(Depth));
      if (gone_q) a_gone : assert (picked_q);
      if (picked) a_place : assert (behind < count_t'(u_dut.wcount - u_dut.rcount) || (m_valid && out_q == place_q));
      if (picked && !(m_valid && out_q == place_q)) a_word : assert (u_dut.mem[place_q[AddrWidth-1:0]] == word_q);
    end
    if (s_begun_q) begin
      a_in : assert (in_q == u_dut.wcount && u_dut.wgray_q == gray(u_dut.wcount));
      a_closed : assert (s_live_q == u_dut.open_q);
      if (!s_live_q) a_zero_w : assert (in_q == '0 && !picked_q && r_meta == '0 && r_sync == '0);
    end
    if (m_begun_q) begin
      a_out : assert (count_t'(out_q + count_t'(m_valid)) == u_dut.rcount && u_dut.rgray_q == gray(u_dut.rcount));
      if (!m_live_q) a_zero_r : assert (out_q == '0 && !m_valid && !gone_q && w_meta == '0 && w_sync == '0);
    end
    a_live : assert (both || (!s_live_q && !m_live_q));
  end

  // A count changes in one bit at most, so a sample in the middle of a change is the old count or the new one.
  function automatic logic one_step(input count_t from, input count_t to);
    return ((from ^ to) & ((from ^ to) - 1'b1)) == '0;
  endfunction

  always_ff @(posedge s_clk_i) begin
    if (both && !s_rst_i) a_one_bit_w : assert (one_step(u_dut.wgray_q, gray(u_dut.wcount_d)));
    if (both && picked_q && gone_q && full_q && word_q == '1) c_useful : cover (1'b1);
  end

  always_ff @(posedge m_clk_i) begin
    if (both && !m_rst_i) a_one_bit_r : assert (one_step(u_dut.rgray_q, gray(u_dut.rcount_d)));
  end

endmodule
