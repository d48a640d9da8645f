// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Arithmetic of one shaper update: the earliest departure time after a packet (GCRA, ITU-T I.371 Annex A).
//
//     t = max(t, floor) + min((len * mantissa << exponent) >> 15, 2^29 cycles - 2^-16)    floor = now - burst
//
// Times are TimeWidth bits of cycles and 16 bits of fraction, compared modulo 2^TimeWidth cycles: every time is within
// 2^(TimeWidth-2) cycles of now, which the scheduler's walk over old time stamps ensures. (2^29 above is 2^(TimeWidth-3).)
// Latency: 3 cycles. Throughput: one per cycle. Reset: nothing to reset.
module pst_shaper
  import pst_pkg::len_t, pst_pkg::MantissaWidth, pst_pkg::ExponentWidth;
#(
    parameter int unsigned TimeWidth = 32,    // bits of a time in cycles, 16 .. 40; below 32 only to see wrap-around in tests
    localparam int unsigned StampWidth = TimeWidth + 16
) (
    input  logic                  clk_i,
    input  logic [StampWidth-1:0] time_i,        // earliest departure time of the packet that leaves
    input  logic [ TimeWidth-1:0] floor_i,       // cycle before which no credit is kept
    input  len_t                  len_i,         // the packet's length in bytes
    input  logic [MantissaWidth-1:0] mantissa_i,    // period, see shaper_cfg_t
    input  logic [ExponentWidth-1:0] exponent_i,
    output logic [StampWidth-1:0] time_o,        // earliest departure time of the next packet
    output logic [ TimeWidth-1:0] hold_o         // last cycle in which that one has to wait: time_o rounded up to cycles, less one
);

  if (TimeWidth < 16 || TimeWidth > 40) begin : g_bad_time
    $error("pst_shaper: TimeWidth is %0d, allowed: 16 .. 40", TimeWidth);
  end

  localparam int unsigned IncrementWidth = TimeWidth - 3 + 16;

  logic [StampWidth-1:0] base_q, base_q2, base_before_q2;
  logic [IncrementWidth-1:0] increment_q;

  pst_shaper_increment #(
      .TimeWidth(TimeWidth)
  ) u_increment (
      .clk_i, .len_i, .mantissa_i, .exponent_i, .increment_o(increment_q)
  );

  always_ff @(posedge clk_i) begin
    base_q         <= $signed(time_i - {floor_i, 16'b0}) < 0 ? {floor_i, 16'b0} : time_i;
    base_q2        <= base_q;
    base_before_q2 <= base_q - 1'b1;

    time_o <= base_q2 + StampWidth'(increment_q);
    hold_o <= TimeWidth'((base_before_q2 + StampWidth'(increment_q)) >> 16);
  end

endmodule
