// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Sends the frames of pst_sim_pkg as an AXI4-Stream, with pauses at random, between frames and in them.
module pst_sim_source
  import pst_sim_pkg::*;
#(
    parameter int unsigned DataBytes = 64,
    parameter int unsigned UserWidth = 1,
    parameter int unsigned DestWidth = 1,
    parameter int unsigned PrefixBytes = 0,  // 0, or 4: s_prefix_i goes first, most significant byte first
    parameter int unsigned Which = 0         // of several sources, so that each has pauses of its own
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  int unsigned            seed_i,
    // the next frame
    input  logic                   s_valid_i,
    output logic                   s_ready_o,
    input  int unsigned            s_number_i,
    input  int unsigned            s_bytes_i,       // without prefix
    input  logic [31:0]            s_prefix_i,
    input  logic [DestWidth-1:0]   s_dest_i,
    input  logic [UserWidth-1:0]   s_first_user_i,  // tuser of all beats but the last
    input  logic [UserWidth-1:0]   s_last_user_i,
    // the stream
    output logic [8*DataBytes-1:0] m_tdata_o,
    output logic [DataBytes-1:0]   m_tkeep_o,
    output logic                   m_tlast_o,
    output logic [DestWidth-1:0]   m_tdest_o,
    output logic [UserWidth-1:0]   m_tuser_o,
    output logic                   m_tvalid_o,
    input  logic                   m_tready_i
);

  random_t random_q;
  logic busy_q;
  int unsigned at_q, number_q, total_q;  // bytes, with prefix
  logic [31:0] prefix_q;
  logic [DestWidth-1:0] dest_q;
  logic [UserWidth-1:0] first_user_q, last_user_q;

  assign s_ready_o = !busy_q;

  function automatic logic [7:0] byte_at(input int unsigned at);
    if (int'(at) < int'(PrefixBytes)) return prefix_q[8*(3-at)+:8];
    return frame_byte(number_q, at - PrefixBytes);
  endfunction

  always_ff @(posedge clk_i) begin
    random_q <= scrambled(random_q);
    if (s_valid_i && s_ready_o) begin
      busy_q       <= 1'b1;
      at_q         <= 0;
      number_q     <= s_number_i;
      total_q      <= s_bytes_i + PrefixBytes;
      prefix_q     <= s_prefix_i;
      dest_q       <= s_dest_i;
      first_user_q <= s_first_user_i;
      last_user_q  <= s_last_user_i;
    end
    if (!m_tvalid_o || m_tready_i) begin
      m_tvalid_o <= 1'b0;
      if (busy_q && random_q[31:30] != '0) begin
        for (int unsigned i = 0; i < DataBytes; i++) begin
          m_tkeep_o[i]      <= at_q + i < total_q;
          m_tdata_o[8*i+:8] <= at_q + i < total_q ? byte_at(at_q + i) : '0;
        end
        m_tvalid_o <= 1'b1;
        m_tlast_o  <= at_q + DataBytes >= total_q;
        m_tdest_o  <= dest_q;
        m_tuser_o  <= at_q + DataBytes >= total_q ? last_user_q : first_user_q;
        at_q       <= at_q + DataBytes;
        busy_q     <= at_q + DataBytes < total_q;
      end
    end
    if (rst_i) begin
      random_q   <= seeded(seed_i, Which);
      busy_q     <= 1'b0;
      m_tvalid_o <= 1'b0;
    end
  end

endmodule
