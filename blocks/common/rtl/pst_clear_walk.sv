// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The walk that clears memories after reset: every address once, in order, one a cycle.
//
// Latency: the first address in the cycle after reset, `Depth` cycles in all; then busy_o falls, and stays low until the next reset, which
// begins the walk anew. The owner of the memories writes what is clear at addr_o while busy_o is high, and takes no operation before.
module pst_clear_walk #(
    parameter int unsigned Depth = 512,                               // addresses, >= 1
    parameter int unsigned AddrWidth = Depth > 1 ? $clog2(Depth) : 1  // bits of an address, at least as many as the last one needs
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    output logic                 busy_o,
    output logic [AddrWidth-1:0] addr_o
);

  if (Depth < 1) begin : g_bad_depth
    $error("pst_clear_walk: Depth is %0d, allowed: 1 and more", Depth);
  end
  if (64'(Depth) > 64'd1 << AddrWidth) begin : g_bad_width
    $error("pst_clear_walk: AddrWidth is %0d, too few bits for a Depth of %0d", AddrWidth, Depth);
  end

  logic busy_q;
  logic [AddrWidth-1:0] addr_q;

  always_ff @(posedge clk_i) begin
    if (busy_q) addr_q <= addr_q + 1'b1;
    if (busy_q && addr_q == AddrWidth'(Depth - 1)) busy_q <= 1'b0;
    if (rst_i) begin
      busy_q <= 1'b1;
      addr_q <= '0;
    end
  end

  assign busy_o = busy_q;
  assign addr_o = addr_q;

endmodule
