// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Whether bursts of an AXI4 port are under way: an address or data is on offer, or an answer is owed.
//
// Latency: none from what is on offer, 1 cycle from what was taken. Throughput: a burst per cycle and direction.
// Reset:   nothing is under way; what is at the port's other end must have nothing either.
module pst_bursts #(
    parameter int unsigned MaxOutstanding = 32     // bursts of one direction that may be under way
) (
    input  logic clk_i,
    input  logic rst_i,
    // AXI4
    input  logic awvalid_i,
    input  logic awready_i,
    input  logic wvalid_i,
    input  logic bvalid_i,
    input  logic bready_i,
    input  logic arvalid_i,
    input  logic arready_i,
    input  logic rvalid_i,
    input  logic rready_i,
    input  logic rlast_i,
    output logic busy_o
);

  localparam int unsigned Width = $clog2(MaxOutstanding + 1) + 1;

  logic [Width-1:0] writes_q, reads_q;

  always_ff @(posedge clk_i) begin
    writes_q <= writes_q + Width'(awvalid_i && awready_i) - Width'(bvalid_i && bready_i);
    reads_q  <= reads_q + Width'(arvalid_i && arready_i) - Width'(rvalid_i && rready_i && rlast_i);
    if (rst_i) begin
      writes_q <= '0;
      reads_q  <= '0;
    end
  end

  assign busy_o = awvalid_i || wvalid_i || arvalid_i || writes_q != '0 || reads_q != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_bursts_are_counted : assert (!writes_q[Width-1] && !reads_q[Width-1])
      else $error("pst_bursts: a memory has answered what was not asked, or has more than %0d bursts", MaxOutstanding);
    end
  end
`endif

endmodule
