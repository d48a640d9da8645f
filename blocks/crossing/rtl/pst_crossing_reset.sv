// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One reset for several clocks: it begins everywhere at once, and ends nowhere before every clock has had two edges in it.
//
// rst_ni may come from any clock or none, and be as short as the flip-flops see. Its end walks through all the clocks in turn, two
// flip-flops each; what has come to the end of the walk goes to each clock through two flip-flops of its own. So rst_o[d] is released at an
// edge of clk_i[d], 2 to 3 cycles of each clock and 2 to 3 more of its own after rst_ni; while a clock stands, all are held.
// rst_o begins between edges: what it resets sees it at the next edge, and must bear any value until the one after that.
module pst_crossing_reset #(
    parameter int unsigned Domains = 2  // clocks, >= 1
) (
    input  logic [Domains-1:0] clk_i,
    input  logic               rst_ni,  // asynchronous, active low
    output logic [Domains-1:0] rst_o    // of each clock, active high
);

  if (Domains < 1) begin : g_bad_size
    $error("pst_crossing_reset: Domains (%0d) must be at least 1", Domains);
  end

  logic [Domains:0] walked;  // the clocks below have had their edges
  assign walked[0] = 1'b1;

  for (genvar d = 0; d < int'(Domains); d++) begin : g_domain
    (* ASYNC_REG = "TRUE" *) logic walk_meta_q, walk_sync_q;
    (* ASYNC_REG = "TRUE" *) logic end_meta_q, end_sync_q;

    always_ff @(posedge clk_i[d] or negedge rst_ni) begin
      if (!rst_ni) begin
        walk_meta_q <= 1'b0;
        walk_sync_q <= 1'b0;
        end_meta_q  <= 1'b0;
        end_sync_q  <= 1'b0;
      end else begin
        walk_meta_q <= walked[d];
        walk_sync_q <= walk_meta_q;
        end_meta_q  <= walked[Domains];
        end_sync_q  <= end_meta_q;
      end
    end

    assign walked[d+1] = walk_sync_q;
    assign rst_o[d]    = !end_sync_q;
  end

endmodule
