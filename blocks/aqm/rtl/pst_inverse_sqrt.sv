// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// 1 / sqrt(count) for CoDel's control law: a table, interpolated with first and second differences.
//
//     1 / sqrt(count_i) = mantissa_o * 2^-(27 + shift_o)      at most 2^-24 too much (relative), for every count; exact for 4^k
//
// count = m * 4^shift with m in 1 .. 4. The table has 2^27 / sqrt(m), rounded up, for the 8 upper bits of m's fraction; the 6 lower bits
// interpolate. Never too small, so that interval / sqrt(count) in the middle between two ticks is rounded up for every square.
// Latency: 4 cycles. Throughput: one per cycle. Reset: nothing to reset.
module pst_inverse_sqrt (
    input  logic        clk_i,
    input  logic [15:0] count_i,       // 1 .. 65,535; 0 counts as 1
    output logic [27:0] mantissa_o,    // 2^26 .. 2^27
    output logic [ 2:0] shift_o
);

  localparam int unsigned IndexWidth = 10;       // 2 bits of m prior the point (1, 2 or 3) and 8 behind
  localparam int unsigned FractionWidth = 6;

  typedef struct packed {
    logic [27:0] value;
    logic [17:0] slope;    // first difference, to the next entry
    logic [10:0] bend;     // second difference
  } entry_t;

  // 2^27 * sqrt(256 / index), rounded up: the smallest root with root^2 * index >= 2^62. Two steps of Newton's from the value of the
  // index before are exact to less than one; no inner loop, because synthesis limits the turns of loops.
  function automatic logic [65:0] table_value(input logic [65:0] prior, input logic [65:0] index);
    logic [65:0] root;
    root = (prior + (66'd1 << 62) / (index * prior)) >> 1;
    root = (root + (66'd1 << 62) / (index * root)) >> 1;
    root = root - 66'd1;
    if (root * root * index < (66'd1 << 62)) root = root + 66'd1;
    if (root * root * index < (66'd1 << 62)) root = root + 66'd1;
    return root;
  endfunction

  entry_t rom[2**IndexWidth];

  initial begin
    logic [65:0] here, next, after;
    here = 66'd1 << 27;
    next = table_value(here, 66'd257);
    for (int unsigned i = 0; i < 2 ** IndexWidth; i++) begin
      rom[i] = '0;
      if (i >= 256) begin
        after  = table_value(next, 66'(i) + 66'd2);
        rom[i] = '{value: 28'(here), slope: 18'(here - next), bend: 11'((here - next) - (next - after))};
        here   = next;
        next   = after;
      end
    end
  end

  logic [15:0] normal;
  logic [2:0] shift, shift_q, shift_q2, shift_q3;
  entry_t word_q, entry_q;    // the first is the table's own register, which a block RAM gives late in its cycle
  logic [FractionWidth-1:0] fraction, fraction_q, fraction_q2;
  logic [10:0] fold_q2;
  logic [27:0] value_q;
  logic [18+FractionWidth-1:0] linear_q;
  logic [21:0] curve_q;

  assign fraction = normal[FractionWidth-1:0];

  // The leading one in one of the two upper bits.
  always_comb begin
    shift  = '0;
    normal = 16'd1 << 14;
    for (int unsigned s = 0; s < 8; s++) begin
      if (|count_i[2*s+:2]) begin
        shift  = 3'(s);
        normal = count_i << (14 - 2 * s);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    word_q     <= rom[normal[15-:IndexWidth]];
    fraction_q <= fraction;
    shift_q    <= shift;

    entry_q     <= word_q;
    fraction_q2 <= fraction_q;
    fold_q2     <= 11'(fraction_q) * (11'd64 - 11'(fraction_q));
    shift_q2    <= shift_q;

    linear_q   <= entry_q.slope * fraction_q2;
    curve_q    <= entry_q.bend * fold_q2;
    value_q    <= entry_q.value;
    shift_q3   <= shift_q2;

    mantissa_o <= value_q - (28'(linear_q) >> FractionWidth) - (28'(curve_q) >> (2 * FractionWidth + 1));
    shift_o    <= shift_q3;
  end

endmodule
