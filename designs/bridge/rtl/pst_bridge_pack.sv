// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Pairs of bytes of frames to words of eight; behind each frame a word that says about it: length, VLAN, bucket of its flow.
//
// Latency 1 cycle from the fourth pair of a word or the last one of a frame; 6 cycles from there to the word about it. One pair per cycle
// within a frame; the next frame's first pair is taken 7 cycles after a last one. The order is kept. Reset forgets the frame inside;
// nothing is taken in the 1,024 cycles behind it.
module pst_bridge_pack
  import pst_bridge_pkg::in_word_t, pst_bridge_pkg::about_t;
#(
    parameter logic [31:0] Seed = 32'h2545_f491  // of the hash of flows, not 0: see pst_bridge_headers
) (
    input  logic       clk_i,
    input  logic       rst_i,
    // frames, two bytes at a time, the first one in the low bits; all pairs are whole but the last one of a frame
    input  logic       s_valid_i,
    output logic       s_ready_o,
    input  logic [15:0] s_data_i,
    input  logic       s_whole_i,
    input  logic       s_last_i,
    // words
    output logic       m_valid_o,
    input  logic       m_ready_i,
    output in_word_t   m_word_o
);

  typedef enum logic [1:0] {
    Gather,
    Wait,    // for what the headers said
    About
  } state_e;

  state_e state_q;
  logic word_q, take, found, init_done;    // a word is on offer
  logic [1:0] count_q;                     // pairs of the word that is gathered
  logic [3:0][15:0] data_q;
  about_t about_q;
  logic [11:0] vlan;
  pst_fq_pkg::bucket_t bucket;

  pst_bridge_headers #(
      .Seed(Seed)
  ) u_headers (
      .clk_i, .rst_i, .valid_i(take), .data_i(s_data_i), .whole_i(s_whole_i), .last_i(s_last_i),
      .found_o(found), .vlan_o(vlan), .bucket_o(bucket), .init_done_o(init_done)
  );

  assign s_ready_o = init_done && state_q == Gather && (!word_q || m_ready_i);
  assign take      = s_valid_i && s_ready_o;
  assign m_valid_o = word_q || state_q == About;
  assign m_word_o  = word_q ? '{ends: 1'b0, data: data_q} : '{ends: 1'b1, data: 64'(about_q)};

  always_ff @(posedge clk_i) begin
    if (m_ready_i) word_q <= 1'b0;
    if (take) begin
      data_q[count_q] <= s_data_i;
      count_q         <= s_last_i ? '0 : count_q + 2'd1;
      word_q          <= s_last_i || count_q == 2'd3;
      about_q.len     <= about_q.len + (s_whole_i ? pst_pkg::len_t'(2) : pst_pkg::len_t'(1));
      if (s_last_i) state_q <= Wait;
    end
    if (found) begin
      about_q.vlan   <= vlan;
      about_q.bucket <= bucket;
      state_q        <= About;
    end
    if (state_q == About && !word_q && m_ready_i) begin
      about_q.len <= '0;
      state_q     <= Gather;
    end
    if (rst_i) begin
      state_q     <= Gather;
      count_q     <= '0;
      word_q      <= 1'b0;
      about_q.len <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) a_headers_end_with_the_frame : assert (found == 1'b0 || state_q == Wait);
  end
`endif

endmodule
