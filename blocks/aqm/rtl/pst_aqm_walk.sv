// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The walk of a periodic update: every Period ticks it visits each of `Visits` words in turn, one a cycle, beside the traffic.
//
// Throughput: one visit per cycle. Latency: Latency cycles from visit_o to write_o. Ordering: in order of the index.
// Reset:      no visit; the first walk begins a period after clear_i has fallen.
//
// A walk begins when the one before has written its last word. One that takes longer than a period is followed by the next at once.
module pst_aqm_walk #(
    parameter int unsigned Visits = 64,          // words, >= 2
    parameter int unsigned TimeWidth = 26,       // bits of a time in ticks
    parameter int unsigned Period = 12891,       // ticks, below 2^TimeWidth
    parameter int unsigned Latency = 7,          // cycles of an update, from its reading to its writing, >= 2
    localparam int unsigned IndexWidth = $clog2(Visits)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic                  clear_i,       // the words are being cleared: no walk
    input  logic [ TimeWidth-1:0] now_i,         // ticks
    input  logic                  skip_i,        // nothing is visited in this cycle
    output logic                  visit_o,       // this word is read
    output logic [IndexWidth-1:0] index_o,
    output logic                  write_o,       // and this one is written
    output logic [IndexWidth-1:0] write_index_o
);

  if (Visits < 2 || Latency < 2) begin : g_bad_size
    $error("pst_aqm_walk: Visits is %0d and Latency is %0d, allowed: 2 and more", Visits, Latency);
  end

  logic walk_q;
  logic [IndexWidth-1:0] index_q;
  logic [TimeWidth-1:0] begun_q;
  logic [Latency-1:0] valid_q;
  logic [IndexWidth-1:0] visited_q[Latency];

  assign visit_o       = walk_q && !skip_i;
  assign index_o       = index_q;
  assign write_o       = valid_q[Latency-1];
  assign write_index_o = visited_q[Latency-1];

  always_ff @(posedge clk_i) begin
    if (visit_o) index_q <= index_q == IndexWidth'(Visits - 1) ? '0 : index_q + 1'b1;
    if (visit_o && index_q == IndexWidth'(Visits - 1)) walk_q <= 1'b0;
    if (!walk_q && valid_q == '0 && TimeWidth'(now_i - begun_q) >= TimeWidth'(Period)) begin
      walk_q  <= 1'b1;
      begun_q <= begun_q + TimeWidth'(Period);
    end
    valid_q      <= {valid_q[Latency-2:0], visit_o};
    visited_q[0] <= index_q;
    for (int i = 1; i < int'(Latency); i++) visited_q[i] <= visited_q[i-1];
    if (rst_i || clear_i) begin
      walk_q  <= 1'b0;
      index_q <= '0;
      begun_q <= now_i;
      valid_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !clear_i && write_o) begin
      a_what_was_visited_is_written : assert (write_index_o == $past(index_q, Latency) && 32'(write_index_o) < Visits)
      else $error("pst_aqm_walk: another word is written than was read");
    end
  end
`endif

endmodule
