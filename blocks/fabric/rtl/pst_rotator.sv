// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Barrel shifter: words_o[(i + rotation) mod Ports] = words_i[i], Ports words a cycle.
//
// log2(Ports) stages of two-to-one multiplexers; latency in cycles is the number of ones in Registers. Reset clears the highest bit of each word.
module pst_rotator #(
    parameter int unsigned Ports = 8,   // words, a power of two, 2..64
    parameter int unsigned Width = 16,  // bits of a word, >= 1
    parameter logic [pst_fabric_pkg::MaxStages-1:0] Registers = '1,  // bit i: stage i ends in a register
    localparam int unsigned SelectWidth = $clog2(Ports)
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    input  logic [Ports-1:0][      Width-1:0] words_i,
    input  logic [SelectWidth-1:0]            rotation_i,
    output logic [Ports-1:0][      Width-1:0] words_o
);

  if (Ports < 2 || Ports > pst_fabric_pkg::MaxPorts || Ports != 2 ** SelectWidth || Width < 1) begin : g_bad_size
    $error("pst_rotator: Ports is %0d (a power of two, 2..64), Width %0d (at least 1)", Ports, Width);
  end

  for (genvar s = 0; s < SelectWidth; s++) begin : g_stage
    logic [Ports-1:0][Width-1:0] from, to;
    logic [SelectWidth-1-s:0] select;  // the bits that are left, from bit s on

    if (s == 0) begin : g_first
      assign from   = words_i;
      assign select = rotation_i;
    end else begin : g_next
      assign from = g_stage[s-1].to;
      pst_fabric_register #(
          .Width(SelectWidth - s),
          .ResetWidth(0),
          .Enable(Registers[s-1])
      ) u_select (
          .clk_i,
          .rst_i,
          .d_i(g_stage[s-1].select[SelectWidth-s:1]),
          .q_o(select)
      );
    end

    for (genvar i = 0; i < Ports; i++) begin : g_word
      pst_fabric_register #(
          .Width(Width),
          .ResetWidth(1),
          .Enable(Registers[s])
      ) u_word (
          .clk_i,
          .rst_i,
          .d_i(select[0] ? from[(i+Ports-2**s)%Ports] : from[i]),
          .q_o(to[i])
      );
    end
  end

  for (genvar i = 0; i < Ports; i++) begin : g_out
    assign words_o[i] = g_stage[SelectWidth-1].to[i];
  end

endmodule
