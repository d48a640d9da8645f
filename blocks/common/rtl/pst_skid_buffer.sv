// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Cuts a stream in both directions: every output comes from a register, so no path runs through.
//
// Latency 1 cycle, one word per cycle, order kept. Reset forgets what is inside.
module pst_skid_buffer #(
    parameter int unsigned Width = 32  // bits, >= 1
) (
    input  logic             clk_i,
    input  logic             rst_i,
    // stream in
    input  logic             s_valid_i,
    output logic             s_ready_o,
    input  logic [Width-1:0] s_data_i,
    // stream out
    output logic             m_valid_o,
    input  logic             m_ready_i,
    output logic [Width-1:0] m_data_o
);

  if (Width < 1) begin : g_bad_width
    $error("pst_skid_buffer: Width is %0d, must be at least 1", Width);
  end

  // The skid register takes the one word that arrives in the cycle in which the output first stalls:
  // the source could not know of it yet.
  logic out_valid_d, out_valid_q, skid_valid_d, skid_valid_q;
  logic [Width-1:0] out_data_q, skid_data_q;
  logic push, advance;

  assign s_ready_o = !skid_valid_q;
  assign m_valid_o = out_valid_q;
  assign m_data_o  = out_data_q;

  always_comb begin
    push         = s_valid_i && s_ready_o;
    advance      = m_ready_i || !out_valid_q;
    out_valid_d  = out_valid_q;
    skid_valid_d = skid_valid_q;
    if (advance) begin
      out_valid_d  = skid_valid_q || push;
      skid_valid_d = 1'b0;
    end else if (push) begin
      skid_valid_d = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) out_data_q <= skid_valid_q ? skid_data_q : s_data_i;
    if (push) skid_data_q <= s_data_i;
    out_valid_q  <= out_valid_d;
    skid_valid_q <= skid_valid_d;
    if (rst_i) begin
      out_valid_q  <= 1'b0;
      skid_valid_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_skid_behind_output : assert (!skid_valid_q || out_valid_q);
    end
  end
`endif

endmodule
