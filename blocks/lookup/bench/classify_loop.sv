// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Frames to subscribers, as a device would do it: top of `bench classify`. The headers of each frame make a key, and the key is looked up.
//
// The first profile that fits makes the key: two VLAN tags (profile 1: both ids), an IPv4 source (profile 2). All else has key 0.
module classify_loop
  import pst_lookup_pkg::*;
  import pst_parse_pkg::*;
#(
    parameter int unsigned Entries = 262144,
    localparam int unsigned KeyWidth   = 48,
    localparam int unsigned IndexWidth = $clog2(Entries / Tables),
    localparam int unsigned RestWidth  = KeyWidth - IndexWidth,
    localparam int unsigned SeedWidth  = RestWidth > Tables * IndexWidth ? RestWidth : Tables * IndexWidth
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    output logic                  init_done_o,
    input  logic                  seed_valid_i,
    input  logic [           7:0] seed_chunk_i,
    input  logic [           5:0] seed_index_i,
    input  logic [ SeedWidth-1:0] seed_word_i,
    // frames of one beat
    input  logic                  s_frame_valid_i,
    output logic                  s_frame_ready_o,
    input  logic [         511:0] s_frame_data_i,
    input  logic [          63:0] s_frame_keep_i,
    // what was parsed, and what was found
    output logic                  parsed_o,
    output logic [  KeyWidth-1:0] key_o,
    output logic                  m_value_valid_o,
    output logic                  m_value_hit_o,
    output logic [          31:0] m_value_o,
    // operations
    input  logic                  s_op_valid_i,
    output logic                  s_op_ready_o,
    input  logic                  s_op_delete_i,
    input  logic [  KeyWidth-1:0] s_op_key_i,
    input  logic [          31:0] s_op_value_i,
    output logic                  m_done_valid_o,
    output done_e                 m_done_o,
    output logic [IndexWidth+2:0] keys_o,
    output logic [          31:0] moves_o
);

  headers_t headers;
  logic headers_valid;
  logic [KeyWidth-1:0] key;

  pst_parse u_parse (
      .clk_i,
      .rst_i,
      .mpls_i           (MplsByNibble),
      .s_axis_tdata_i   (s_frame_data_i),
      .s_axis_tkeep_i   (s_frame_keep_i),
      .s_axis_tlast_i   (1'b1),
      .s_axis_tuser_i   (1'b0),
      .s_axis_tvalid_i  (s_frame_valid_i),
      .s_axis_tready_o  (s_frame_ready_o),
      .m_axis_tdata_o   (),
      .m_axis_tkeep_o   (),
      .m_axis_tlast_o   (),
      .m_axis_tuser_o   (),
      .m_axis_tvalid_o  (),
      .m_axis_tready_i  (1'b1),
      .m_headers_valid_o(headers_valid),
      .m_headers_ready_i(1'b1),
      .m_headers_o      (headers)
  );

  always_comb begin
    key = '0;
    if (headers.tags == 2'd2) key = {8'd1, 16'd0, headers.outer_tag.id, headers.inner_tag.id};
    else if (headers.ip == 3'd4) key = {8'd2, 8'd0, headers.source[31:0]};
  end

  assign parsed_o = headers_valid;
  assign key_o    = key;

  pst_lookup #(
      .Entries(Entries),
      .KeyWidth(KeyWidth)
  ) u_lookup (
      .clk_i,
      .rst_i,
      .init_done_o,
      .seed_valid_i,
      .seed_chunk_i,
      .seed_index_i,
      .seed_word_i,
      .s_key_valid_i(headers_valid),
      .s_key_i      (key),
      .m_value_valid_o,
      .m_value_hit_o,
      .m_value_o,
      .s_op_valid_i,
      .s_op_ready_o,
      .s_op_i       (op_e'(s_op_delete_i)),
      .s_op_key_i,
      .s_op_value_i,
      .m_done_valid_o,
      .m_done_o,
      .keys_o,
      .moves_o
  );

endmodule
