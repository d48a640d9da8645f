// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Frames to queues, as a device would do it: top of `bench classify`. The headers of each frame find its subscriber.
module classify_loop
  import pst_lookup_pkg::*;
  import pst_parse_pkg::*;
  import pst_profile_pkg::*;
#(
    parameter int unsigned Entries = 262144,
    localparam int unsigned IndexWidth = $clog2(Entries / Tables),
    localparam int unsigned RestWidth  = KeyWidth - IndexWidth,
    localparam int unsigned SeedWidth  = RestWidth > Tables * IndexWidth ? RestWidth : Tables * IndexWidth
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    output logic                  init_done_o,
    // two profiles, and the random words of the hash
    input  logic                  profile_we_i,
    input  logic                  profile_index_i,
    input  profile_t              profile_i,
    input  logic                  seed_valid_i,
    input  logic [           7:0] seed_chunk_i,
    input  logic [           5:0] seed_index_i,
    input  logic [ SeedWidth-1:0] seed_word_i,
    // frames of one beat
    input  logic                  s_frame_valid_i,
    output logic                  s_frame_ready_o,
    input  logic [         511:0] s_frame_data_i,
    input  logic [          63:0] s_frame_keep_i,
    // a frame was parsed; the queue of a frame
    output logic                  parsed_o,
    output logic                  m_queue_valid_o,
    output found_e                m_queue_found_o,
    output logic                  m_queue_profile_o,
    output logic [QueueWidth-1:0] m_queue_o,
    // operations
    input  logic                  s_op_valid_i,
    output logic                  s_op_ready_o,
    input  logic                  s_op_delete_i,
    input  logic [  KeyWidth-1:0] s_op_key_i,
    input  subscriber_t           s_op_value_i,
    output logic                  m_done_valid_o,
    output done_e                 m_done_o,
    output logic [IndexWidth+2:0] keys_o,
    output logic [          31:0] moves_o
);

  headers_t headers;
  key_done_t done;

  assign m_done_o = done.done;

  logic unused;
  assign unused = &{1'b0, done.value};

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
      .m_headers_valid_o(parsed_o),
      .m_headers_ready_i(1'b1),
      .m_headers_o      (headers)
  );

  pst_subscriber #(
      .Profiles(2),
      .Entries(Entries),
      .PrefixLevels(0)
  ) u_subscriber (
      .clk_i,
      .rst_i,
      .init_done_o,
      .profile_we_i,
      .profile_index_i,
      .profile_i,
      .class_we_i       (1'b0),
      .class_profile_i  ('0),
      .class_value_i    ('0),
      .class_i          ('0),
      .miss_we_i        (1'b0),
      .miss_index_i     ('0),
      .miss_i           ('0),
      .seed_valid_i,
      .seed_chunk_i,
      .seed_index_i,
      .seed_word_i,
      .s_op_valid_i,
      .s_op_ready_o,
      .s_op_i           (s_op_delete_i ? OpDelete : OpInsert),
      .s_op_key_i,
      .s_op_value_i,
      .m_done_valid_o,
      .m_done_o         (done),
      .keys_o,
      .moves_o,
      .prefixes_i       (1'b0),
      .bank_i           (1'b0),
      .s_write_valid_i  (1'b0),
      .s_write_level_i  ('0),
      .s_write_node_i   ('0),
      .s_write_word_i   ('0),
      .s_headers_valid_i(parsed_o),
      .s_headers_i      (headers),
      .s_port_i         ('0),
      .m_queue_valid_o,
      .m_queue_found_o,
      .m_queue_profile_o,
      .m_queue_drop_o   (),
      .m_queue_o
  );

endmodule
