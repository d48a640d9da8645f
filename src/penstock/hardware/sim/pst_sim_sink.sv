// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Takes the frames of pst_sim_pkg from an AXI4-Stream, with pauses at random, and compares every byte with what was sent.
module pst_sim_sink
  import pst_sim_pkg::*;
#(
    parameter int unsigned DataBytes = 64,
    parameter int unsigned UserWidth = 1,
    parameter int unsigned IdWidth = 1,
    parameter int unsigned Which = 0
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  int unsigned            seed_i,
    // the stream
    input  logic [8*DataBytes-1:0] s_tdata_i,
    input  logic [DataBytes-1:0]   s_tkeep_i,
    input  logic                   s_tlast_i,
    input  logic [IdWidth-1:0]     s_tid_i,
    input  logic [UserWidth-1:0]   s_tuser_i,
    input  logic                   s_tvalid_i,
    output logic                   s_tready_o,
    // a frame is complete
    output logic                   m_valid_o,
    output int unsigned            m_number_o,
    output int unsigned            m_bytes_o,
    output logic [IdWidth-1:0]     m_id_o,
    output logic [UserWidth-1:0]   m_user_o    // of the last beat
);

  localparam int unsigned AllBytes = DataBytes;

  random_t random_q;
  int unsigned at_q, number_q;

  always @(posedge clk_i) begin
    automatic int unsigned number, bytes;
    random_q   <= scrambled(random_q);
    s_tready_o <= random_q[31:30] != '0;
    m_valid_o  <= 1'b0;
    if (s_tvalid_i && s_tready_o) begin
      number = at_q == 0 ? {s_tdata_i[7:0], s_tdata_i[15:8], s_tdata_i[23:16], s_tdata_i[31:24]} : number_q;
      bytes = 0;
      for (int unsigned i = 0; i < DataBytes; i++) begin
        if (s_tkeep_i[i]) begin
          if (bytes != i) $fatal(1, "FAIL: frame %0d has a hole in tkeep at byte %0d", number, at_q + bytes);
          if (s_tdata_i[8*i+:8] != frame_byte(number, at_q + i))
            $fatal(1, "FAIL: byte %0d of frame %0d is 0x%02h, it was 0x%02h", at_q + i, number, s_tdata_i[8*i+:8],
                   frame_byte(number, at_q + i));
          bytes++;
        end
      end
      if (bytes == 0 || (bytes != AllBytes && !s_tlast_i)) $fatal(1, "FAIL: frame %0d has a beat that is not full", number);
      at_q     <= s_tlast_i ? 0 : at_q + bytes;
      number_q <= number;
      if (s_tlast_i) begin
        m_valid_o  <= 1'b1;
        m_number_o <= number;
        m_bytes_o  <= at_q + bytes;
        m_id_o     <= s_tid_i;
        m_user_o   <= s_tuser_i;
      end
    end
    if (rst_i) begin
      random_q   <= seeded(seed_i, 1000 + Which);
      s_tready_o <= 1'b0;
      m_valid_o  <= 1'b0;
      at_q       <= 0;
    end
  end

endmodule
