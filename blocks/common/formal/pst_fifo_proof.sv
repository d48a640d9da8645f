// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_fifo: a word that the solver picks comes out unchanged, in its place, once.
//
// The picked word is followed by the number of words ahead of it; that no word is lost or doubled follows, for any
// word can be picked. The inductive invariant says where in the memory the picked word lies.
module pst_fifo_proof #(
    parameter int unsigned Width = 2,
    parameter int unsigned Depth = 3,
    parameter bit RegisterOutput = 1'b0,
    parameter bit ReadyOnPop = 1'b0,
    localparam int unsigned LevelWidth = $clog2(Depth + 1)
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             s_valid_i,
    input logic [Width-1:0] s_data_i,
    input logic             m_ready_i,
    input logic             pick_i      // follow the word that is written now
);

  localparam int unsigned AddrWidth = Depth > 1 ? $clog2(Depth) : 1;

  logic s_ready, m_valid, push, pop;
  logic [Width-1:0] m_data;
  logic [LevelWidth-1:0] level;

  pst_fifo #(
      .Width(Width),
      .Depth(Depth),
      .RegisterOutput(RegisterOutput),
      .ReadyOnPop(ReadyOnPop)
  ) u_dut (
      .clk_i,
      .rst_i,
      .s_valid_i,
      .s_ready_o(s_ready),
      .s_data_i,
      .m_valid_o(m_valid),
      .m_ready_i,
      .m_data_o (m_data),
      .level_o  (level)
  );

  assign push = s_valid_i && s_ready;
  assign pop  = m_valid && m_ready_i;

  // The picked word, and how many words are ahead of it.
  logic picked_q, seen_q;
  logic [Width-1:0] word_q;
  logic [LevelWidth-1:0] ahead_q;
  // The number of words by the bench's own count.
  logic [LevelWidth-1:0] count_q;

  always_ff @(posedge clk_i) begin
    seen_q  <= 1'b1;
    count_q <= count_q + LevelWidth'(push) - LevelWidth'(pop);
    if (pop) begin
      ahead_q <= ahead_q - 1'b1;
      if (ahead_q == '0) picked_q <= 1'b0;
    end
    if (push && pick_i && !picked_q) begin
      picked_q <= 1'b1;
      word_q   <= s_data_i;
      ahead_q  <= count_q - LevelWidth'(pop);
    end
    if (rst_i) begin
      picked_q <= 1'b0;
      count_q  <= '0;
    end
  end

  // The proof starts in reset.
  initial seen_q = 1'b0;

  // Where the oldest word lies: behind an output register the read address is already that of the next one.
  logic [AddrWidth-1:0] head;
  assign head = !RegisterOutput ? u_dut.raddr_q : u_dut.raddr_q == '0 ? AddrWidth'(Depth - 1) : u_dut.raddr_q - 1'b1;

  // Where the picked word lies.
  logic [AddrWidth:0] place;
  always_comb begin
    place = (AddrWidth + 1)'(head) + (AddrWidth + 1)'(ahead_q);
    if (place >= (AddrWidth + 1)'(Depth)) place -= (AddrWidth + 1)'(Depth);
  end

  // Where the next word goes.
  logic [AddrWidth:0] next;
  always_comb begin
    next = (AddrWidth + 1)'(head) + (AddrWidth + 1)'(count_q);
    if (next >= (AddrWidth + 1)'(Depth)) next -= (AddrWidth + 1)'(Depth);
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_level : assert (level == count_q);
      a_room : assert (s_ready == (count_q != LevelWidth'(Depth) || (ReadyOnPop && m_ready_i)));
      a_words : assert (m_valid == (count_q != '0));
      if (picked_q && ahead_q == '0) a_order : assert (m_valid && m_data == word_q);
      // what the induction needs
      a_count : assert (count_q <= LevelWidth'(Depth));
      a_addresses : assert (32'(u_dut.raddr_q) < Depth && 32'(u_dut.waddr_q) < Depth);
      a_next : assert (32'(next) == 32'(u_dut.waddr_q));
      if (picked_q) a_place : assert (ahead_q < count_q && u_dut.mem[place[AddrWidth-1:0]] == word_q);
      // useful work is possible: full, and drained again with a picked word on the way
      c_full : cover (count_q == LevelWidth'(Depth) && picked_q);
      c_out : cover (picked_q && pop && ahead_q == '0 && word_q == '1);
    end
  end

endmodule
