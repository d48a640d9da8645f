// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Holds a stream back while hold_i is high. What has been offered is offered until it is taken.
//
// Throughput: one transfer per cycle. Latency: none. State: whether something has been offered.
// While hold_i is high one transfer at most goes through: the one that was already offered.
module pst_hold (
    input  logic clk_i,
    input  logic rst_i,
    input  logic hold_i,
    // the stream, whose data goes past this module
    input  logic s_valid_i,
    output logic s_ready_o,
    output logic m_valid_o,
    input  logic m_ready_i
);

  logic offered_q, open;

  assign open      = !hold_i || offered_q;
  assign m_valid_o = s_valid_i && open;
  assign s_ready_o = m_ready_i && open;

  always_ff @(posedge clk_i) begin
    offered_q <= m_valid_o && !m_ready_i;
    if (rst_i) offered_q <= 1'b0;
  end

endmodule
