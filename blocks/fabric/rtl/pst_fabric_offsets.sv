// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The offsets' pipeline: from the keys of a batch, in any order, to the rotation of the sorted batch for each output.
//
// 2 log2(Ports) + 1 stages (paper, section 3.2): adder trees count the invalid cells and those for each output; the prefix sum of the
// counts says where each output's cells begin in the sorted batch, the offset counters where they shall go; the subtractors take the difference.
// Latency in cycles is the number of ones in Registers, whose bit log2(Ports) (the offset counters) is one.
module pst_fabric_offsets #(
    parameter int unsigned Ports = 8,  // a power of two, 2..64
    parameter logic [pst_fabric_pkg::MaxStages-1:0] Registers = '1,  // bit i: stage i ends in a register
    localparam int unsigned Width = $clog2(Ports)
) (
    input  logic                        clk_i,
    input  logic                        rst_i,
    input  logic [Ports-1:0][  Width:0] keys_i,      // {valid, dest}
    output logic [Ports-1:0][Width-1:0] rotations_o  // word i of the sorted batch goes to FIFO (i + rotation) mod Ports
);

  if (Ports < 2 || Ports > pst_fabric_pkg::MaxPorts || Ports != 2 ** Width) begin : g_bad_ports
    $error("pst_fabric_offsets: Ports is %0d, must be a power of two, 2..64", Ports);
  end
  if (!Registers[Width]) begin : g_bad_registers
    $error("pst_fabric_offsets: Registers leaves out stage %0d, the offset counters", Width);
  end

  // --- adder trees: counts[0] of the invalid cells, counts[d + 1] of those for output d

  logic [Ports:0][Width-1:0] counts;

  for (genvar d = 0; d <= Ports; d++) begin : g_count
    logic [Ports-1:0] match;
    for (genvar i = 0; i < Ports; i++) begin : g_match
      if (d == 0) begin : g_invalid
        assign match[i] = !keys_i[i][Width];
      end else begin : g_dest
        assign match[i] = keys_i[i] == {1'b1, Width'(d - 1)};
      end
    end
    pst_adder_tree #(
        .Inputs(Ports),
        .Width(Width),
        .Registers(Registers)
    ) u_tree (
        .clk_i,
        .rst_i,
        .bits_i(match),
        .sum_o (counts[d])
    );
  end

  // --- where each output's cells begin in the sorted batch, and where they shall go

  logic [Ports-1:0][Width-1:0] starts, offsets;

  pst_prefix_sum #(
      .Terms(Ports),
      .Width(Width),
      .Registers(Registers >> Width)
  ) u_prefix (
      .clk_i,
      .rst_i,
      .terms_i(counts[Ports-1:0]),
      .sums_o (starts)
  );

  pst_offset_counters #(
      .Ports(Ports)
  ) u_offsets (
      .clk_i,
      .rst_i,
      .counts_i (counts[Ports:1]),
      .offsets_o(offsets)
  );

  // The counters stand beside the first stage of the prefix sum; the offsets wait for the others.
  for (genvar s = 1; s < Width; s++) begin : g_wait
    logic [Ports-1:0][Width-1:0] from, to;
    if (s == 1) begin : g_first
      assign from = offsets;
    end else begin : g_next
      assign from = g_wait[s-1].to;
    end
    pst_fabric_register #(
        .Width(Ports * Width),
        .ResetWidth(Ports * Width),
        .Enable(Registers[Width+s])
    ) u_register (
        .clk_i,
        .rst_i,
        .d_i(from),
        .q_o(to)
    );
  end

  logic [Ports-1:0][Width-1:0] waited, differences;
  if (Width == 1) begin : g_no_wait
    assign waited = offsets;
  end else begin : g_waited
    assign waited = g_wait[Width-1].to;
  end

  // --- subtractors

  for (genvar d = 0; d < Ports; d++) begin : g_subtract
    assign differences[d] = waited[d] - starts[d];
  end

  pst_fabric_register #(
      .Width(Ports * Width),
      .ResetWidth(Ports * Width),
      .Enable(Registers[2*Width])
  ) u_register (
      .clk_i,
      .rst_i,
      .d_i(differences),
      .q_o(rotations_o)
  );

endmodule
