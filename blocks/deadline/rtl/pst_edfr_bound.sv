// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Of each column of a wide port, the earliest deadline that the other columns have at hand.
//
// A tree of log2(Columns) levels. Level k knows of 2^k columns that stand side by side: the earliest of all of them, and of each column the
// earliest of the others; so a column's own deadline never comes back to it, and what it takes it need not wait to see gone.
//
// Deadlines are compared modulo 2^32. Throughput: all columns in every cycle. Latency: log2(Columns) + 1 cycles. Reset: none is at hand.
module pst_edfr_bound
  import pst_deadline_pkg::later;
#(
    parameter int unsigned Columns = 8   // 2, 4, 8
) (
    input  logic                                         clk_i,
    input  logic                                         rst_i,
    input  pst_deadline_ports_pkg::front_t [Columns-1:0] front_i,
    output pst_deadline_ports_pkg::front_t [Columns-1:0] others_o
);

  localparam int unsigned Levels = $clog2(Columns);

  if (Columns != 2 && Columns != 4 && Columns != 8) begin : g_bad_columns
    $error("pst_edfr_bound: Columns is %0d, allowed: 2, 4, 8", Columns);
  end

  typedef pst_deadline_ports_pkg::front_t front_t;

  function automatic front_t first_of(front_t a, front_t b);
    if (!a.valid || (b.valid && later(a.deadline, b.deadline))) return b;
    return a;
  endfunction

  front_t [Levels:0][Columns-1:0] all_q, others_q;

  assign others_o = others_q[Levels];

  always_ff @(posedge clk_i) begin
    all_q[0]    <= front_i;
    others_q[0] <= '0;
    for (int unsigned k = 0; k < Levels; k++) begin
      for (int unsigned i = 0; i < Columns; i++) begin
        all_q[k+1][i]    <= first_of(all_q[k][i], all_q[k][i^(1<<k)]);
        others_q[k+1][i] <= first_of(others_q[k][i], all_q[k][i^(1<<k)]);
      end
    end
    if (rst_i) begin
      all_q    <= '0;
      others_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int unsigned i = 0; i < Columns; i++) begin
        a_no_column_waits_alone : assert (!others_o[i].valid || all_q[Levels][i].valid);
        a_earliest_of_all : assert (!others_o[i].valid || !later(all_q[Levels][i].deadline, others_o[i].deadline));
      end
    end
  end
`endif

endmodule
