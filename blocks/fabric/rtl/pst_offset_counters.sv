// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Offset counters: for each output the FIFO of its group that the next batch begins with. The only feedback of the pipeline.
//
// Latency 1 cycle: offsets_o belong to the batch whose counts were at counts_i in the cycle before, and do not include it.
// Reset: FIFO 0 for all outputs.
module pst_offset_counters #(
    parameter int unsigned Ports = 8,  // a power of two >= 2
    localparam int unsigned Width = $clog2(Ports)
) (
    input  logic                        clk_i,
    input  logic                        rst_i,
    input  logic [Ports-1:0][Width-1:0] counts_i,  // cells of the batch for each output, modulo Ports
    output logic [Ports-1:0][Width-1:0] offsets_o
);

  if (Ports < 2 || Ports != 2 ** Width) begin : g_bad_ports
    $error("pst_offset_counters: Ports is %0d, must be a power of two, at least 2", Ports);
  end

  logic [Ports-1:0][Width-1:0] sum_q;  // the batch at offsets_o included
  logic [Ports-1:0][Width-1:0] offset_q;

  always_ff @(posedge clk_i) begin
    offset_q <= sum_q;
    for (int unsigned d = 0; d < Ports; d++) sum_q[d] <= sum_q[d] + counts_i[d];
    if (rst_i) begin
      sum_q    <= '0;
      offset_q <= '0;
    end
  end

  assign offsets_o = offset_q;

endmodule
