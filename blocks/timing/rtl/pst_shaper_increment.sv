// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// How long a packet takes at a shaper's rate: min((len * mantissa << exponent) >> 15, 2^(TimeWidth-3) cycles - 2^-16).
//
// Latency: 2 cycles. Throughput: one per cycle. Reset: nothing to reset.
module pst_shaper_increment
  import pst_pkg::*;
#(
    parameter int unsigned TimeWidth = 32,    // bits of a time in cycles, 16 .. 32
    localparam int unsigned IncrementWidth = TimeWidth - 3 + 16
) (
    input  logic                      clk_i,
    input  len_t                      len_i,          // the packet's length in bytes
    input  logic [              15:0] mantissa_i,     // period, see shaper_cfg_t
    input  logic [               4:0] exponent_i,
    output logic [IncrementWidth-1:0] increment_o     // 2^-16 cycles
);

  localparam int unsigned ProductWidth = LenWidth + 16;

  logic [ProductWidth-1:0] product_q;
  logic [4:0] exponent_q;
  logic [ProductWidth+15:0] scaled;

  assign scaled = (ProductWidth + 16)'(({31'b0, product_q} << exponent_q) >> 15);

  always_ff @(posedge clk_i) begin
    product_q   <= len_i * mantissa_i;
    exponent_q  <= exponent_i;
    increment_o <= |scaled[ProductWidth+15:IncrementWidth] ? '1 : scaled[IncrementWidth-1:0];
  end

endmodule
