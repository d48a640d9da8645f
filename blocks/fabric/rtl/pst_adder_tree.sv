// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Adder tree: how many of Inputs bits are set, modulo 2^Width, every cycle.
//
// log2(Inputs) stages; latency in cycles is the number of ones in Registers. Reset clears all of it.
module pst_adder_tree #(
    parameter int unsigned Inputs = 8,  // bits, a power of two >= 2
    parameter int unsigned Width = 4,   // bits of the sum, >= 1
    parameter logic [pst_fabric_pkg::MaxStages-1:0] Registers = '1  // bit i: stage i ends in a register
) (
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic [Inputs-1:0] bits_i,
    output logic [ Width-1:0] sum_o
);

  localparam int unsigned Stages = $clog2(Inputs);

  if (Inputs < 2 || Inputs != 2 ** Stages || Width < 1) begin : g_bad_size
    $error("pst_adder_tree: Inputs is %0d (a power of two, at least 2), Width %0d (at least 1)", Inputs, Width);
  end

  for (genvar s = 0; s < Stages; s++) begin : g_stage
    localparam int unsigned Sums = Inputs >> (s + 1);
    logic [Sums-1:0][Width-1:0] added, to;

    for (genvar i = 0; i < Sums; i++) begin : g_sum
      if (s == 0) begin : g_first
        assign added[i] = Width'(bits_i[2*i]) + Width'(bits_i[2*i+1]);
      end else begin : g_next
        assign added[i] = g_stage[s-1].to[2*i] + g_stage[s-1].to[2*i+1];
      end
    end

    pst_fabric_register #(
        .Width(Sums * Width),
        .ResetWidth(Sums * Width),
        .Enable(Registers[s])
    ) u_register (
        .clk_i,
        .rst_i,
        .d_i(added),
        .q_o(to)
    );
  end

  assign sum_o = g_stage[Stages-1].to[0];

endmodule
