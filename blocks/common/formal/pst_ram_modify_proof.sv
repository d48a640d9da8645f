// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_ram_modify: an operation finds what the operations before it left, in any sequence; at first nothing but zeros.
//
// One word, any, is followed: `word_q` is what it should be. It changes when an operation writes, in its cycle 3. The invariant says how memory
// and pipeline encode it. Nothing is said of the word that comes without an operation.
module pst_ram_modify_proof #(
    parameter int unsigned Depth = 3,
    localparam int unsigned Width = 2,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input logic                 clk_i,
    input logic                 rst_i,
    input logic                 valid_i,
    input logic [AddrWidth-1:0] addr_i,
    input logic                 we_i,
    input logic [    Width-1:0] word_i
);

  typedef logic [AddrWidth-1:0] addr_t;
  typedef logic [Width-1:0] word_t;

  word_t found, left;
  logic init_done;

  pst_ram_modify #(
      .Width(Width), .Depth(Depth)
  ) u_dut (
      .clk_i, .rst_i, .valid_i, .addr_i, .word_o(found), .we_i, .word_i, .word_q_o(left), .init_done_o(init_done)
  );

  logic seen_q;
  addr_t x_q;                      // the word's address, any
  word_t word_q, last_word_q;      // what it holds; word_i of the cycle before
  logic [6:1] valid_q, of_x, own;  // by cycle; own: operations on the word that is followed
  addr_t [6:1] addr_q;
  initial seen_q = 1'b0;

  always_comb begin
    for (int k = 1; k <= 6; k++) of_x[k] = addr_q[k] == x_q;
    own = valid_q & of_x;
  end

  always_ff @(posedge clk_i) begin
    seen_q      <= 1'b1;
    x_q         <= x_q;
    valid_q     <= {valid_q[5:1], valid_i};
    addr_q      <= {addr_q[5:1], addr_i};
    last_word_q <= word_i;
    if (own[3] && we_i) word_q <= word_i;
    if (rst_i) begin
      valid_q <= '0;
      word_q  <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    m_word_exists : assume (32'(x_q) < Depth);
    if (!rst_i) begin
      if (valid_i) m_after_clearing : assume (init_done && 32'(addr_i) < Depth);
      if (we_i) m_of_an_operation : assume (valid_q[3]);
      if (valid_q[3] && !we_i) m_unchanged : assume (word_i == found);
    end
  end

  word_t mem, read1, read2;
  assign mem   = u_dut.u_ram.mem[x_q];
  assign read1 = u_dut.u_ram.rdata_q;
  assign read2 = u_dut.u_ram.rdata_q2;

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (own[3]) a_found : assert (found == word_q);
      a_left : assert (left == last_word_q);

      // what the induction needs
      a_pipe : assert (u_dut.valid_q == valid_q);
      for (int k = 1; k <= 6; k++) if (valid_q[k]) a_addresses : assert (u_dut.addr_q[k] == addr_q[k] && 32'(addr_q[k]) < Depth);
      if (own[4]) a_stage4 : assert (u_dut.word_q[4] == word_q);
      else if (own[5]) a_stage5 : assert (u_dut.word_q[5] == word_q);
      else if (own[6]) a_stage6 : assert (u_dut.word_q[6] == word_q);
      // a word read in the cycle of its write, or before, is on its way in a later stage
      if (own[1] && own[5:4] == '0) a_read1 : assert (read1 == word_q);
      if (own[2] && own[6:4] == '0) a_read2 : assert (read2 == word_q);
      if (own[3]) a_stage3 : assert (u_dut.c3_hit_q == own[4] && u_dut.c3_miss_q == !own[4] && (own[4] || u_dut.c3_base_q == word_q));
      if (!u_dut.init || x_q < u_dut.init_addr) begin
        if (!(own[4] && u_dut.c4_we_q)) a_memory : assert (mem == word_q);
      end
      if (u_dut.c4_we_q) a_write : assert (valid_q[4]);
      if (!init_done) a_init : assert (valid_q == '0 && word_q == '0 && !u_dut.c4_we_q && 32'(u_dut.init_addr) < Depth);

      // useful work is possible: one word, operation after operation, each of them changes it
      c_same : cover (own[3] && own[4] && own[5] && own[6] && we_i && word_i != found && u_dut.word_q[4] != u_dut.word_q[5]);
    end
  end

endmodule
