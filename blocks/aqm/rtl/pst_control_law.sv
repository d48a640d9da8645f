// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A step of CoDel's control law: interval / sqrt(count), in ticks with a bit behind the point.
//
// Latency: 6 cycles from the count. Throughput: one per cycle. Reset: nothing to reset.
module pst_control_law #(
    parameter int unsigned IntervalWidth = 18    // bits of an interval in ticks, >= 1
) (
    input  logic                     clk_i,
    input  logic [             15:0] count_i,       // 0 counts as 1
    input  logic [IntervalWidth-1:0] interval_i,    // 4 cycles after the count
    input  logic                     apply_i,       // 5 cycles after it; low: the step is 0
    output logic [  IntervalWidth:0] twice_o        // 6 cycles after it
);

  localparam int unsigned LowWidth = 18;    // what one multiplier takes

  logic [27:0] inverse;
  logic [2:0] shift, shift_q;
  logic [IntervalWidth+LowWidth-1:0] low_q;
  logic [IntervalWidth+27-LowWidth:0] high_q;
  logic [IntervalWidth+27:0] product;
  logic [IntervalWidth:0] twice_q;

  pst_inverse_sqrt u_inverse_sqrt (
      .clk_i,
      .count_i,
      .mantissa_o(inverse),
      .shift_o   (shift)
  );

  assign product = {high_q, LowWidth'(0)} + (IntervalWidth + 28)'(low_q);
  assign twice_o = twice_q;

  always_ff @(posedge clk_i) begin
    high_q  <= interval_i * inverse[27:LowWidth];
    low_q   <= interval_i * inverse[LowWidth-1:0];
    shift_q <= shift;
    twice_q <= apply_i ? (IntervalWidth + 1)'(product >> (6'd26 + 6'(shift_q))) : '0;
  end

endmodule
