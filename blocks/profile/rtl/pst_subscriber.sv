// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// From the headers of a frame to its queue: the first profile that fits finds the subscriber, a table the class; queue = base + class.
//
// Throughput: a header vector per cycle, whatever is inserted and deleted meanwhile.
// Latency:    10 cycles; with a prefix table 2 + 2 * PrefixLevels + 1, if that is more. With SplitStages 15, or 5 + 2 * PrefixLevels + 1.
// Ordering:   as they come. A frame sees the operations whose m_done_valid_o rose up to 6 cycles after its vector came, with SplitStages 10.
// Reset:      no subscriber is there, no profile is on, and frames without a subscriber are dropped; init_done_o as pst_lookup. Prefixes
//             and classes stay.
module pst_subscriber
  import pst_lookup_pkg::Tables, pst_lookup_pkg::op_e;
  import pst_parse_pkg::headers_t;
  import pst_profile_pkg::*;
#(
    parameter int unsigned Profiles     = 8,       // 1 .. 15
    parameter int unsigned Entries      = 262144,  // places for subscribers by key, see pst_lookup
    parameter int unsigned MaxMoves     = 64,      // of pst_lookup
    parameter int unsigned PrefixLevels = 7,       // of pst_lookup_prefix, 2 .. 9, 7 for 8,191 prefixes; 0: no such table, all miss
    parameter bit          SplitStages  = 1'b0,    // stages are two or three, for a slow technology; those of prefixes stay as they are
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
    // settings: see pst_profile; what becomes of frames without a subscriber by profile, and at index Profiles without a profile
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
    // random words and operations of pst_lookup; a value is a subscriber_t
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
    // bank and writes of pst_lookup_prefix; without prefixes_i all frames miss there
    input  logic                     prefixes_i,
    input  logic                     bank_i,
    input  logic                     s_write_valid_i,
    input  logic [   LevelWidth-1:0] s_write_level_i,
    input  logic [    NodeWidth-1:0] s_write_node_i,
    input  logic [3*PrefixWidth-1:0] s_write_word_i,
    // header vectors, and the input port of the frame
    input  logic                     s_headers_valid_i,
    input  headers_t                 s_headers_i,
    input  logic [              3:0] s_port_i,
    // the queue of each frame
    output logic                     m_queue_valid_o,
    output found_e                   m_queue_found_o,
    output logic [   IndexWidth-1:0] m_queue_profile_o,  // 0 without a profile
    output logic                     m_queue_drop_o,
    output logic [   QueueWidth-1:0] m_queue_o           // 0 if dropped
);

  localparam int unsigned KeyLatency = SplitStages ? 9 : 7;  // of pst_lookup
  localparam int unsigned PrefixLatency = 2 * PrefixLevels;  // of pst_lookup_prefix, whose prefix is there a cycle before the choice
  localparam int unsigned Latency = PrefixLatency > KeyLatency ? PrefixLatency : KeyLatency;

  typedef struct packed {
    logic                  valid;
    logic                  fits;
    logic                  routed;
    logic [IndexWidth-1:0] profile;
    logic [3:0]            number;               // class
  } choice_t;

  typedef struct packed {
    logic        hit;
    subscriber_t subscriber;
  } answer_t;

  choice_t choice;
  choice_t [Latency:1] choice_q;
  logic [KeyWidth-1:0] key;
  logic [PrefixWidth-1:0] prefix;
  logic prefix_valid, prefixes_q;        // the bank in use is that of the cycle before
  answer_t by_key, by_prefix, key_answer, prefix_answer, answer;

  pst_profile #(
      .Profiles(Profiles),
      .SplitStages(SplitStages)
  ) u_profile (
      .clk_i,
      .rst_i,
      .profile_we_i,
      .profile_index_i,
      .profile_i,
      .class_we_i,
      .class_profile_i,
      .class_value_i,
      .class_i,
      .s_headers_valid_i,
      .s_headers_i,
      .s_port_i,
      .m_choice_valid_o  (choice.valid),
      .m_choice_fits_o   (choice.fits),
      .m_choice_profile_o(choice.profile),
      .m_choice_routed_o (choice.routed),
      .m_choice_key_o    (key),
      .m_choice_class_o  (choice.number),
      .m_prefix_valid_o  (prefix_valid),
      .m_prefix_o        (prefix)
  );

  pst_lookup #(
      .Entries(Entries),
      .KeyWidth(KeyWidth),
      .ValueWidth($bits(subscriber_t)),
      .MaxMoves(MaxMoves),
      .SplitStages(SplitStages)
  ) u_lookup (
      .clk_i,
      .rst_i,
      .init_done_o,
      .seed_valid_i,
      .seed_chunk_i,
      .seed_index_i,
      .seed_word_i,
      .s_key_valid_i  (choice.valid && !seed_valid_i),  // then there are no keys, so it is a miss anyway
      .s_key_i        (key),
      .m_value_valid_o(),
      .m_value_hit_o  (key_answer.hit),
      .m_value_o      (key_answer.subscriber),
      .s_op_valid_i,
      .s_op_ready_o,
      .s_op_i,
      .s_op_key_i,
      .s_op_value_i,
      .m_done_valid_o,
      .m_done_o       (m_done_o.done),
      .m_done_value_o (m_done_o.value),
      .keys_o,
      .moves_o
  );

  if (PrefixLevels > 0) begin : g_prefix
    pst_lookup_prefix #(
        .KeyWidth(PrefixWidth),
        .ValueWidth($bits(subscriber_t)),
        .Levels(PrefixLevels)
    ) u_prefix (
        .clk_i,
        .rst_i,
        .bank_i,
        .s_write_valid_i,
        .s_write_level_i,
        .s_write_node_i,
        .s_write_word_i,
        .s_key_valid_i  (prefix_valid && prefixes_q),
        .s_key_i        (prefix),
        .m_value_valid_o(),
        .m_value_hit_o  (prefix_answer.hit),
        .m_value_o      (prefix_answer.subscriber)
    );
  end else begin : g_no_prefix
    logic unused;
    assign unused        = &{1'b0, prefixes_q, bank_i, s_write_valid_i, s_write_level_i, s_write_node_i, s_write_word_i, prefix_valid,
                             prefix};
    assign prefix_answer = '0;
  end

  // The answer that comes first waits for the other one.
  if (Latency > KeyLatency) begin : g_key_waits
    answer_t [Latency-KeyLatency:1] wait_q;
    always_ff @(posedge clk_i) begin
      wait_q[1] <= key_answer;
      for (int unsigned i = 2; i <= Latency - KeyLatency; i++) wait_q[i] <= wait_q[i-1];
    end
    assign by_key = wait_q[Latency-KeyLatency];
  end else begin : g_key_is_last
    assign by_key = key_answer;
  end

  if (PrefixLatency > 0 && PrefixLatency < Latency) begin : g_prefix_waits
    answer_t [Latency-PrefixLatency:1] wait_q;
    always_ff @(posedge clk_i) begin
      wait_q[1] <= prefix_answer;
      for (int unsigned i = 2; i <= Latency - PrefixLatency; i++) wait_q[i] <= wait_q[i-1];
    end
    assign by_prefix = wait_q[Latency-PrefixLatency];
  end else begin : g_prefix_is_last
    assign by_prefix = prefix_answer;
  end

  typedef struct packed {
    logic                  fits;
    logic                  hit;
    logic [IndexWidth-1:0] profile;
    logic [3:0]            number;
    logic [QueueWidth-1:0] base;
    miss_t                 miss;
  } parts_t;

  miss_t [Profiles:0] miss_q;
  choice_t last;
  parts_t parts, t;
  logic parts_valid;

  always_comb begin
    last          = choice_q[Latency];
    answer        = last.routed ? by_prefix : by_key;
    parts.fits    = last.fits;
    parts.hit     = last.fits && answer.hit;
    parts.profile = last.profile;
    parts.number  = last.number < answer.subscriber.last_class ? last.number : answer.subscriber.last_class;
    parts.base    = answer.subscriber.base;
    parts.miss    = miss_q[last.fits ? MissWidth'(last.profile) : MissWidth'(Profiles)];
  end

  pst_stage #(
      .Width($bits(parts_t)),
      .Registered(SplitStages)
  ) u_parts (
      .clk_i,
      .rst_i,
      .valid_i(last.valid),
      .data_i (parts),
      .valid_o(parts_valid),
      .data_o (t)
  );

  always_ff @(posedge clk_i) begin
    if (miss_we_i) miss_q[miss_index_i] <= miss_i;
    prefixes_q  <= prefixes_i;
    choice_q[1] <= choice;
    for (int unsigned i = 2; i <= Latency; i++) choice_q[i] <= choice_q[i-1];
    m_queue_valid_o   <= parts_valid;
    m_queue_found_o   <= t.hit ? FoundSubscriber : t.fits ? FoundNoKey : FoundNoProfile;
    m_queue_profile_o <= t.profile;
    m_queue_drop_o    <= !t.hit && t.miss.drop;
    m_queue_o         <= t.hit ? t.base + QueueWidth'(t.number) : t.miss.drop ? '0 : t.miss.target;
    if (rst_i) begin
      for (int unsigned i = 1; i <= Latency; i++) choice_q[i].valid <= 1'b0;
      m_queue_valid_o <= 1'b0;
      prefixes_q      <= 1'b0;
      for (int unsigned i = 0; i <= Profiles; i++) miss_q[i] <= '{drop: 1'b1, target: '0};
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && m_queue_valid_o && m_queue_drop_o)
      a_dropped_has_no_queue : assert (m_queue_found_o != FoundSubscriber && m_queue_o == '0);
  end
`endif

endmodule
