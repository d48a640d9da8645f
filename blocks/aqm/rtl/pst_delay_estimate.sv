// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Delay of a queue estimated from its backlog and its rate (paper, section III-E): no time stamp per packet is needed.
//
//     delay_o = backlog_i * mantissa_i * 2^(exponent_i - 15) / 2^16 cycles, in ticks, rounded down, at most 2^(TimeWidth-1) - 1
//
// The period (mantissa, exponent) is the shaper's, see pst_pkg::shaper_cfg_t: 2^-16 cycles per byte. A closed gate (mantissa 0)
// and an unshaped queue have no delay. Latency: 2 cycles. Throughput: one per cycle. Reset: nothing to reset.
module pst_delay_estimate
  import pst_pkg::MantissaWidth, pst_pkg::ExponentWidth;
#(
    parameter int unsigned TimeWidth = 26,      // bits of a time in ticks, 16 .. 32
    parameter int unsigned TickShift = 8,       // a tick is 2^TickShift cycles, 0 .. 16
    parameter int unsigned BacklogWidth = 25    // bits of a backlog in bytes
) (
    input  logic                    clk_i,
    input  logic [BacklogWidth-1:0] backlog_i,
    input  logic [MantissaWidth-1:0] mantissa_i,
    input  logic [ExponentWidth-1:0] exponent_i,
    output logic [   TimeWidth-1:0] delay_o
);

  if (TimeWidth < 16 || TimeWidth > 32 || TickShift > 16) begin : g_bad_size
    $error("pst_delay_estimate: TimeWidth is %0d, allowed: 16 .. 32; TickShift is %0d, allowed: 0 .. 16", TimeWidth, TickShift);
  end

  localparam int unsigned ProductWidth = BacklogWidth + MantissaWidth;
  localparam int unsigned Shift = 31 + TickShift;

  logic [ProductWidth-1:0] product_q, beyond_q;
  logic [ExponentWidth-1:0] exponent_q;
  logic [Shift+TimeWidth-2:0] scaled;

  // Bits of the product that the shift takes out of the delay.
  function automatic logic [ProductWidth-1:0] beyond(logic [ExponentWidth-1:0] exponent);
    for (int b = 0; b < int'(ProductWidth); b++) beyond[b] = int'(exponent) >= int'(Shift + TimeWidth) - 1 - b;
  endfunction

  assign scaled = (Shift + TimeWidth - 1)'(product_q) << exponent_q;

  always_ff @(posedge clk_i) begin
    product_q  <= backlog_i * mantissa_i;
    exponent_q <= exponent_i;
    beyond_q   <= beyond(exponent_i);
    delay_o    <= {1'b0, (product_q & beyond_q) != '0 ? {(TimeWidth - 1) {1'b1}} : scaled[Shift+:TimeWidth-1]};
  end

  logic unused;
  assign unused = ^scaled[Shift-1:0];

endmodule
