// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Small show-ahead FIFO from registers or LUTRAM: m_data_o is the oldest word whenever m_valid_o is high.
//
// Latency 1 cycle. One word per cycle in and out at every depth from 2 on (Depth = 1 takes a word every other cycle).
// s_ready_o and m_valid_o come from registers only; s_ready_o does not wait for m_ready_i, so a full FIFO takes
// nothing in the cycle in which a word leaves. Reset empties it; the words themselves are not reset.
// ReadyOnPop = 1: it does wait; a full FIFO takes a word in the cycle in which one leaves, so full rate at depth 1 too.
// RegisterOutput = 1: m_data_o comes from a register too, cycle by cycle the same, for one register per bit and a later s_data_i.
// For deep FIFOs use pst_ram_fifo, which reads block RAM.
module pst_fifo #(
    parameter int unsigned Width = 32,  // bits per word, >= 1
    parameter int unsigned Depth = 2,   // words, >= 1, any number
    parameter bit RegisterOutput = 1'b0,
    parameter bit ReadyOnPop = 1'b0,
    parameter string Style = "auto",    // see pst_ram_1r1w; block RAM answers late on ECP5: "distributed" is shorter
    localparam int unsigned LevelWidth = $clog2(Depth + 1)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    // stream in
    input  logic                  s_valid_i,
    output logic                  s_ready_o,
    input  logic [     Width-1:0] s_data_i,
    // stream out
    output logic                  m_valid_o,
    input  logic                  m_ready_i,
    output logic [     Width-1:0] m_data_o,
    // words inside, 0..Depth
    output logic [LevelWidth-1:0] level_o
);

  if (Width < 1 || Depth < 1) begin : g_bad_size
    $error("pst_fifo: Width (%0d) and Depth (%0d) must be at least 1", Width, Depth);
  end

  localparam int unsigned AddrWidth = Depth > 1 ? $clog2(Depth) : 1;
  localparam logic [AddrWidth-1:0] LastAddr = AddrWidth'(Depth - 1);

  (* ram_style = Style *) logic [Width-1:0] mem[Depth];
  logic [AddrWidth-1:0] waddr_q, raddr_q;
  logic [LevelWidth-1:0] level_d, level_q;
  logic push, pop, valid_q;

  assign s_ready_o = level_q != LevelWidth'(Depth) || (ReadyOnPop && m_ready_i);
  assign m_valid_o = valid_q;
  assign level_o   = level_q;
  assign push      = s_valid_i && s_ready_o;
  assign pop       = m_valid_o && m_ready_i;

  always_comb begin
    level_d = level_q;
    if (push && !pop) level_d = level_q + 1'b1;
    if (pop && !push) level_d = level_q - 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (push) mem[waddr_q] <= s_data_i;
  end

  // raddr_q is where the oldest word is, or with the register the one behind it.
  if (RegisterOutput) begin : g_register
    logic [Width-1:0] data_q;
    always_ff @(posedge clk_i) begin
      // Where the next word comes from is known early, whether it is wanted late; whether there is one says valid_q.
      if (!valid_q || pop) data_q <= level_q <= LevelWidth'(1) ? s_data_i : mem[raddr_q];
    end
    assign m_data_o = data_q;
  end else begin : g_direct
    assign m_data_o = mem[raddr_q];
  end

  always_ff @(posedge clk_i) begin
    if (push) waddr_q <= waddr_q == LastAddr ? '0 : waddr_q + 1'b1;
    if (pop) raddr_q <= raddr_q == LastAddr ? '0 : raddr_q + 1'b1;
    level_q <= level_d;
    if (push) valid_q <= 1'b1;
    else if (pop && level_q == LevelWidth'(1)) valid_q <= 1'b0;
    if (rst_i) begin
      valid_q <= 1'b0;
      waddr_q <= '0;
      raddr_q <= RegisterOutput && Depth > 1 ? AddrWidth'(1) : '0;
      level_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_level_in_range : assert (32'(level_q) <= Depth);
      a_flag : assert (valid_q == (level_q != '0));
    end
  end
`endif

endmodule
