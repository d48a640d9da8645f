// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The contract of pst_parse_stages for proofs: each frame has one vector, in order, any time after its first beat. The vector is the number
// of the frame. What is behind the IP header, and when it comes, is open.
module pst_parse_stages
  import pst_parse_pkg::*;
#(
    parameter int unsigned DataBytes        = 64,
    parameter int unsigned WindowBytes      = 128,
    parameter int unsigned ExtensionHeaders = 4,
    parameter bit          Tunnels          = 1'b1,
    parameter bit          SplitStages      = 1'b0
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  mpls_e                     mpls_i,
    input  logic                      beat_valid_i,
    input  logic [DataBytes-1:0][7:0] beat_data_i,
    input  logic [DataBytes-1:0]      beat_keep_i,
    input  logic                      beat_last_i,
    output logic                      headers_valid_o,
    output headers_t                  headers_o,
    output logic                      upper_valid_o,
    output upper_t                    upper_o
);

  logic first_q;
  logic [3:0] begun_q, vectors_q;        // frames, and vectors that were given
  logic [31:0] give_q, upper_q;          // any at all: no reset, and what comes in is what went out

  assign headers_valid_o = begun_q != vectors_q && give_q[0];
  assign upper_valid_o   = upper_q[0];
  always_comb begin
    headers_o        = '0;
    headers_o.source = 128'(vectors_q);
    upper_o          = '0;
    upper_o.ending   = end_e'(upper_q[3:1]);
  end

  always_ff @(posedge clk_i) begin
    give_q  <= {give_q[0], give_q[31:1]};
    upper_q <= {upper_q[0], upper_q[31:1]};
    if (beat_valid_i) begin
      first_q <= beat_last_i;
      if (first_q) begun_q <= begun_q + 1'b1;
    end
    if (headers_valid_o) vectors_q <= vectors_q + 1'b1;
    if (rst_i) begin
      first_q   <= 1'b1;
      begun_q   <= '0;
      vectors_q <= '0;
    end
  end

endmodule
