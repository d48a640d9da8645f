// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The contract of pst_parse for proofs: frames pass in the same cycle, and may be held up at any first beat; each frame has one vector, in
// order, any time after its first beat. The vector is the number of the frame.
module pst_parse
  import pst_parse_pkg::*;
#(
    parameter int unsigned DataBytes        = 64,
    parameter int unsigned WindowBytes      = 128,
    parameter int unsigned ExtensionHeaders = 4,
    parameter bit          Tunnels          = 1'b1,
    parameter int unsigned Vectors          = 32
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  mpls_e                  mpls_i,
    input  logic [8*DataBytes-1:0] s_axis_tdata_i,
    input  logic [  DataBytes-1:0] s_axis_tkeep_i,
    input  logic                   s_axis_tlast_i,
    input  logic                   s_axis_tuser_i,
    input  logic                   s_axis_tvalid_i,
    output logic                   s_axis_tready_o,
    output logic [8*DataBytes-1:0] m_axis_tdata_o,
    output logic [  DataBytes-1:0] m_axis_tkeep_o,
    output logic                   m_axis_tlast_o,
    output logic                   m_axis_tuser_o,
    output logic                   m_axis_tvalid_o,
    input  logic                   m_axis_tready_i,
    output logic                   m_headers_valid_o,
    input  logic                   m_headers_ready_i,
    output headers_t               m_headers_o
);

  logic first_q;
  logic [3:0] begun_q, vectors_q;        // frames, and vectors that were given
  logic [31:0] stall_q, give_q;          // any at all: no reset, and what comes in is what went out

  assign s_axis_tready_o   = m_axis_tready_i && !(first_q && stall_q[0]);
  assign m_axis_tvalid_o   = s_axis_tvalid_i && !(first_q && stall_q[0]);
  assign m_axis_tdata_o    = s_axis_tdata_i;
  assign m_axis_tkeep_o    = s_axis_tkeep_i;
  assign m_axis_tlast_o    = s_axis_tlast_i;
  assign m_axis_tuser_o    = s_axis_tuser_i;
  assign m_headers_valid_o = begun_q != vectors_q && give_q[0];
  always_comb begin
    m_headers_o        = '0;
    m_headers_o.source = 128'(vectors_q);
  end

  always_ff @(posedge clk_i) begin
    stall_q <= {stall_q[0], stall_q[31:1]};
    give_q  <= {give_q[0], give_q[31:1]};
    if (s_axis_tvalid_i && s_axis_tready_o) begin
      first_q <= s_axis_tlast_i;
      if (first_q) begun_q <= begun_q + 1'b1;
    end
    if (m_headers_valid_o && m_headers_ready_i) vectors_q <= vectors_q + 1'b1;
    if (rst_i) begin
      first_q   <= 1'b1;
      begun_q   <= '0;
      vectors_q <= '0;
    end
  end

endmodule
