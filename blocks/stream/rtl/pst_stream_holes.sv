// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Finds holes in tkeep: a 0 below a 1, or any 0 before the last beat. A beat with a hole counts as a full one, and damages its frame.
//
// Latency: none. State: whether a beat of the frame had one. Reset: the next beat begins a frame.
module pst_stream_holes #(
    parameter int unsigned DataBytes = 64  // bytes per beat, >= 2
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    input  logic                 take_i,     // the beat is taken in this cycle
    input  logic [DataBytes-1:0] keep_i,
    input  logic                 last_i,
    output logic [DataBytes-1:0] keep_o,     // contiguous from bit 0, full before the last beat
    output logic                 damaged_o   // this beat, or one of its frame before it, has a hole
);

  logic hole, holes_q;

  always_comb begin
    hole = !last_i && !keep_i[DataBytes-1];
    for (int unsigned i = 0; i + 1 < DataBytes; i++) if (!keep_i[i] && keep_i[i+1]) hole = 1'b1;
    keep_o    = keep_i | {DataBytes{hole}};
    damaged_o = hole || holes_q;
  end

  always_ff @(posedge clk_i) begin
    if (take_i) holes_q <= !last_i && damaged_o;
    if (rst_i) holes_q <= 1'b0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_keep_contiguous : assert (!take_i || (keep_o & (keep_o + 1'b1)) == '0);
      a_keep_full : assert (!take_i || last_i || (&keep_o));
    end
  end
`endif

endmodule
