// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// How long a packet takes at a shaper's rate: min((len * mantissa << exponent) >> 15, 2^(TimeWidth-3) cycles - 2^-16).
//
// Latency: 2 cycles. Throughput: one per cycle. Reset: nothing to reset.
module pst_shaper_increment
  import pst_pkg::LenWidth, pst_pkg::len_t, pst_pkg::MantissaWidth, pst_pkg::ExponentWidth;
#(
    parameter int unsigned TimeWidth = 32,    // bits of a time in cycles, 16 .. 40
    localparam int unsigned IncrementWidth = TimeWidth - 3 + 16
) (
    input  logic                      clk_i,
    input  len_t                      len_i,          // the packet's length in bytes
    input  logic [ MantissaWidth-1:0] mantissa_i,     // period, see shaper_cfg_t
    input  logic [ ExponentWidth-1:0] exponent_i,
    output logic [IncrementWidth-1:0] increment_o     // 2^-16 cycles
);

  localparam int unsigned ProductWidth = LenWidth + MantissaWidth;

  logic [ProductWidth-1:0] product_q, beyond_q;
  logic [ExponentWidth-1:0] exponent_q;
  logic [IncrementWidth+14:0] scaled;

  // Bits of the product that the shift takes out of the increment.
  function automatic logic [ProductWidth-1:0] beyond(logic [ExponentWidth-1:0] exponent);
    for (int b = 0; b < int'(ProductWidth); b++) beyond[b] = int'(exponent) >= int'(IncrementWidth) + 15 - b;
  endfunction

  assign scaled = (IncrementWidth + 15)'(product_q) << exponent_q;

  always_ff @(posedge clk_i) begin
    product_q   <= len_i * mantissa_i;
    exponent_q  <= exponent_i;
    beyond_q    <= beyond(exponent_i);
    increment_o <= (product_q & beyond_q) != '0 ? '1 : scaled[15+:IncrementWidth];
  end

  logic unused;
  assign unused = ^scaled[14:0];

endmodule
