// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A memory in which each operation reads a word, changes it and writes it back, one operation per cycle, each seeing what those before it wrote.
//
// Latency: cycle 0 the address, 3 the word and what becomes of it, 4 the new word in a register. Throughput: one operation per cycle, to one word
// as to many. Reset: a walker clears the memory (`Depth` cycles), then init_done_o rises; no operation may be under way before.
module pst_ram_modify #(
    parameter int unsigned Width = 32,        // bits per word, >= 1
    parameter int unsigned Depth = 512,       // words, >= 2
    parameter string       Style = "auto",    // see pst_ram_1r1w
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    // cycle 0
    input  logic                 valid_i,     // an operation; without one word_o may be an old word
    input  logic [AddrWidth-1:0] addr_i,
    // cycle 3
    output logic [    Width-1:0] word_o,
    input  logic                 we_i,        // only of an operation
    input  logic [    Width-1:0] word_i,      // the new word; the old one when we_i is low
    // cycle 4
    output logic [    Width-1:0] word_q_o,    // word_i of the cycle before
    output logic                 init_done_o
);

  if (Depth < 2) begin : g_bad_depth
    $error("pst_ram_modify: Depth is %0d, allowed: 2 and more", Depth);
  end

  typedef logic [AddrWidth-1:0] addr_t;
  typedef logic [Width-1:0] word_t;

  // Stages 1 to 6 of the operations; from 4 on with the word that an operation leaves.
  logic [6:1] valid_q;
  addr_t [6:1] addr_q;
  word_t [6:4] word_q;
  word_t ram, c2_word, c3_base_q;
  logic c2_hit, c3_hit_q, c3_miss_q, c4_we_q, init;
  addr_t init_addr;

  assign c2_hit = valid_q[3] && addr_q[3] == addr_q[2];

  // Cycle 2: of operations two to four ahead the memory does not have the word yet, or had not when it was read.
  always_comb begin
    c2_word = ram;
    for (int stage = 6; stage >= 4; stage--) if (valid_q[stage] && addr_q[stage] == addr_q[2]) c2_word = word_q[stage];
  end

  // Cycle 3: nor that of the operation just ahead. Whether it is of this word is kept twice, as it is and inverted, each for half of a word:
  // one register would be far from some of the bits of a wide one.
  always_comb begin
    for (int i = 0; i < int'(Width); i++) begin
      if (i < int'(Width) / 2) word_o[i] = c3_hit_q ? word_q[4][i] : c3_base_q[i];
      else word_o[i] = c3_miss_q ? c3_base_q[i] : word_q[4][i];
    end
  end

  assign word_q_o    = word_q[4];
  assign init_done_o = !init;

  always_ff @(posedge clk_i) begin
    valid_q   <= {valid_q[5:1], valid_i};
    addr_q    <= {addr_q[5:1], addr_i};
    word_q    <= {word_q[5:4], word_i};
    c3_base_q <= c2_word;
    c3_hit_q  <= c2_hit;
    c3_miss_q <= !c2_hit;
    c4_we_q   <= we_i;
    if (rst_i) begin
      valid_q     <= '0;
      c4_we_q     <= 1'b0;
    end
  end

  pst_clear_walk #(.Depth(Depth)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_addr));

  pst_ram_1r1w #(
      .Width(Width), .Depth(Depth), .ReadLatency(2), .Style(Style)
  ) u_ram (
      .clk_i,
      .we_i(init || c4_we_q), .waddr_i(init ? init_addr : addr_q[4]), .wdata_i(init ? '0 : word_q[4]),
      .re_i(1'b1), .raddr_i(addr_i), .rdata_o(ram)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (we_i) a_modify_is_of_an_operation : assert (valid_q[3]) else $error("a word is written without an operation");
      if (valid_i) a_after_clearing : assert (!init) else $error("an operation before the memory is cleared");
    end
  end
`endif

endmodule
