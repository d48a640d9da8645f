// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Arithmetic of one shaper update: the earliest departure time after a packet (GCRA, ITU-T I.371 Annex A).
//
//     t = max(t, now - max(burst, ToleranceCycles)) + min((len * mantissa << exponent) >> 15, 2^29 cycles - 1)
//
// Times are 32 bits of cycles and 16 bits of fraction, compared modulo 2^32 cycles: every time is within 2^30 cycles of now,
// which the scheduler's walk over old time stamps ensures.
// Latency: 3 cycles. Throughput: one per cycle. Reset: nothing to reset.
module pst_shaper
  import pst_pkg::*;
#(
    parameter int unsigned ToleranceCycles = 1024    // cell delay variation tolerance, 0 .. 2^28-1 cycles
) (
    input  logic        clk_i,
    input  logic [31:0] now_i,     // cycles
    input  logic [47:0] time_i,    // earliest departure time of the packet that leaves
    input  len_t        len_i,     // its length in bytes
    input  shaper_cfg_t cfg_i,
    output logic [47:0] time_o     // earliest departure time of the next packet
);

  if (ToleranceCycles >= 2 ** 28) begin : g_bad_tolerance
    $error("pst_shaper: ToleranceCycles is %0d, allowed: 0 .. 2^28-1", ToleranceCycles);
  end

  localparam int unsigned ProductWidth = LenWidth + 16;
  localparam logic [44:0] IncrementMax = '1;    // 2^29 cycles less one fraction

  // stage 1: product, floor of the time stamp
  logic [ProductWidth-1:0] product_q;
  logic [4:0] exponent_q;
  logic [47:0] base_q, base_q2;
  logic [27:0] tolerance;
  logic [31:0] floor;

  assign tolerance = cfg_i.burst > 28'(ToleranceCycles) ? cfg_i.burst : 28'(ToleranceCycles);
  assign floor = now_i - 32'(tolerance);

  // stage 2: increment
  logic [ProductWidth+16-1:0] scaled;
  logic [44:0] increment_q;

  assign scaled = (ProductWidth + 16)'(({31'b0, product_q} << exponent_q) >> 15);

  always_ff @(posedge clk_i) begin
    product_q  <= len_i * cfg_i.mantissa;
    exponent_q <= cfg_i.exponent;
    base_q     <= $signed(time_i - {floor, 16'b0}) < 0 ? {floor, 16'b0} : time_i;

    increment_q <= |scaled[ProductWidth+15:45] ? IncrementMax : scaled[44:0];
    base_q2     <= base_q;

    time_o <= base_q2 + 48'(increment_q);
  end

endmodule
