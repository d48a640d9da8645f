// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Delay of a queue estimated from its backlog and its rate (paper, section III-E): no time stamp per packet is needed.
//
//     delay_o = backlog_i * mantissa_i * 2^(exponent_i - 15) / 2^16 cycles, in ticks, rounded down, at most 2^(TimeWidth-1) - 1
//
// The period (mantissa, exponent) is the shaper's, see pst_pkg::shaper_cfg_t: 2^-16 cycles per byte. A closed gate (mantissa 0)
// and an unshaped queue have no delay. Latency: 2 cycles. Throughput: one per cycle. Reset: nothing to reset.
module pst_delay_estimate #(
    parameter int unsigned TimeWidth = 26,      // bits of a time in ticks, 16 .. 32
    parameter int unsigned TickShift = 8,       // a tick is 2^TickShift cycles, 0 .. 16
    parameter int unsigned BacklogWidth = 25    // bits of a backlog in bytes
) (
    input  logic                    clk_i,
    input  logic [BacklogWidth-1:0] backlog_i,
    input  logic [            15:0] mantissa_i,
    input  logic [             4:0] exponent_i,
    output logic [   TimeWidth-1:0] delay_o
);

  if (TimeWidth < 16 || TimeWidth > 32 || TickShift > 16) begin : g_bad_size
    $error("pst_delay_estimate: TimeWidth is %0d, allowed: 16 .. 32; TickShift is %0d, allowed: 0 .. 16", TimeWidth, TickShift);
  end

  localparam int unsigned ProductWidth = BacklogWidth + 16;

  logic [ProductWidth-1:0] product_q, delay;
  logic [4:0] exponent_q;

  assign delay = product_q >> (6'(31 + TickShift) - 6'(exponent_q));

  always_ff @(posedge clk_i) begin
    product_q  <= backlog_i * mantissa_i;
    exponent_q <= exponent_i;
    delay_o    <= |delay[ProductWidth-1:TimeWidth-1] ? {1'b0, {(TimeWidth - 1) {1'b1}}} : TimeWidth'(delay);
  end

endmodule
