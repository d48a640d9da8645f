// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The contract of pst_ram_modify for proofs: a memory that an operation reads and changes in its cycle 3, in one step.
//
// pst_ram_modify.sby proves that the module of rtl/ is no different from outside. Here the memory is clear at once, and init_done_o rises at any
// time after that. Without an operation word_o is any word at all. `any_*` are not driven: sby lets them be anything, anew in each cycle.
module pst_ram_modify #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    parameter string       Style = "auto",
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    input  logic                 valid_i,
    input  logic [AddrWidth-1:0] addr_i,
    output logic [    Width-1:0] word_o,
    input  logic                 we_i,
    input  logic [    Width-1:0] word_i,
    output logic [    Width-1:0] word_q_o,
    output logic                 init_done_o
);

  logic [Depth-1:0][Width-1:0] mem_q;
  logic [3:1] valid_q;
  logic [3:1][AddrWidth-1:0] addr_q;
  logic [Width-1:0] word_q, any_word, any_word_q;
  logic any_done, done_q, init_q;

  always_ff @(posedge clk_i) begin
    valid_q    <= {valid_q[2:1], valid_i};
    addr_q     <= {addr_q[2:1], addr_i};
    word_q     <= word_i;
    any_word_q <= any_word;    // registers, for an undriven wire might be something else for each of its readers
    done_q     <= any_done;
    if (done_q) init_q <= 1'b0;
    if (valid_q[3] && we_i) mem_q[addr_q[3]] <= word_i;
    if (rst_i) begin
      valid_q <= '0;
      init_q  <= 1'b1;
      mem_q   <= '0;
    end
  end

  assign word_o      = valid_q[3] ? mem_q[addr_q[3]] : any_word_q;
  assign word_q_o    = word_q;
  assign init_done_o = !init_q;

endmodule
