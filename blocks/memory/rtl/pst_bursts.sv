// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Whether bursts of an AXI4 port are under way: an address or data is on offer, or an answer is owed.
//
// Latency: none from what is on offer, 1 cycle from what was taken. Throughput: a burst per cycle and direction.
// Reset:   nothing is under way; what is at the port's other end must have nothing either.
module pst_bursts #(
    parameter int unsigned MaxOutstanding = 32     // bursts of one direction that may be under way
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  pst_axi_pkg::moves_t axi_i,
    output logic                busy_o
);

  localparam int unsigned Width = $clog2(MaxOutstanding + 1) + 1;

  logic [Width-1:0] writes_q, reads_q;

  always_ff @(posedge clk_i) begin
    writes_q <= writes_q + Width'(axi_i.awvalid && axi_i.awready) - Width'(axi_i.bvalid && axi_i.bready);
    reads_q  <= reads_q + Width'(axi_i.arvalid && axi_i.arready) - Width'(axi_i.rvalid && axi_i.rready && axi_i.rlast);
    if (rst_i) begin
      writes_q <= '0;
      reads_q  <= '0;
    end
  end

  assign busy_o = axi_i.awvalid || axi_i.wvalid || axi_i.arvalid || writes_q != '0 || reads_q != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_bursts_are_counted : assert (!writes_q[Width-1] && !reads_q[Width-1])
      else $error("pst_bursts: a memory has answered what was not asked, or has more than %0d bursts", MaxOutstanding);
    end
  end
`endif

endmodule
