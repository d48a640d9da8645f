// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Prefix sum (Hillis and Steele): sums_o[k] = terms_i[0] + .. + terms_i[k], modulo 2^Width, every cycle.
//
// log2(Terms) stages; latency in cycles is the number of ones in Registers. Reset clears all of it.
module pst_prefix_sum #(
    parameter int unsigned Terms = 8,  // a power of two >= 2
    parameter int unsigned Width = 3,  // bits of a term and of a sum, >= 1
    parameter logic [pst_fabric_pkg::MaxStages-1:0] Registers = '1  // bit i: stage i ends in a register
) (
    input  logic                         clk_i,
    input  logic                         rst_i,
    input  logic [Terms-1:0][Width-1:0]  terms_i,
    output logic [Terms-1:0][Width-1:0]  sums_o
);

  localparam int unsigned Stages = $clog2(Terms);

  if (Terms < 2 || Terms != 2 ** Stages || Width < 1) begin : g_bad_size
    $error("pst_prefix_sum: Terms is %0d (a power of two, at least 2), Width %0d (at least 1)", Terms, Width);
  end

  for (genvar s = 0; s < Stages; s++) begin : g_stage
    logic [Terms-1:0][Width-1:0] from, added, to;

    if (s == 0) begin : g_first
      assign from = terms_i;
    end else begin : g_next
      assign from = g_stage[s-1].to;
    end
    for (genvar i = 0; i < Terms; i++) begin : g_sum
      if (i < 2 ** s) begin : g_done
        assign added[i] = from[i];
      end else begin : g_add
        assign added[i] = from[i] + from[i-2**s];
      end
    end

    pst_fabric_register #(
        .Width(Terms * Width),
        .ResetWidth(Terms * Width),
        .Enable(Registers[s])
    ) u_register (
        .clk_i,
        .rst_i,
        .d_i(added),
        .q_o(to)
    );
  end

  assign sums_o = g_stage[Stages-1].to;

endmodule
