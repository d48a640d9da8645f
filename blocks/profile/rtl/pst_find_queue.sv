// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Finds the queue of each frame in its headers: frames come out unchanged, with their queue in tdest, or with tdrop where there is none.
//
// Throughput: a beat per cycle, and with beats of 64 bytes a frame of 60 bytes in each cycle.
// Latency:    17 cycles from the beat that ends the frame or fills the window to the frame's first beat out; with a prefix table
//             as much longer as pst_subscriber is: 24 cycles with 7 levels. With SplitStages 28 cycles, and with 7 levels 33. A counter shows
//             an event a few cycles later.
// Ordering:   as they come.
// Reset:      frames inside are forgotten. No profile is on and no subscriber is there, by key or prefix; frames without a profile are
//             dropped.
module pst_find_queue
  import pst_lookup_pkg::Tables, pst_lookup_pkg::op_e;
  import pst_parse_pkg::mpls_e, pst_parse_pkg::MplsByNibble, pst_parse_pkg::headers_t, pst_parse_pkg::upper_t;
  import pst_profile_pkg::*;
#(
    parameter int unsigned DataBytes        = 64,      // bytes of a beat: 8, 16, 32 or 64
    parameter int unsigned Profiles         = 8,       // 1 .. 15
    parameter int unsigned Entries          = 262144,  // places for subscribers by key, see pst_lookup
    parameter int unsigned ExtensionHeaders = 2,       // of IPv6, 0 .. 8
    parameter int unsigned WindowBytes      = 128,     // that are read, see pst_parse; all headers up to IP end at 104 at the latest
    parameter int unsigned PrefixLevels     = 0,       // of pst_lookup_prefix, 2 .. 9, 7 for 8,191 prefixes; 0: no such table
    parameter int unsigned WaitBeats        = 64,      // beats that wait for their queue; for full rate more than the latency
    parameter bit          SplitStages      = 1'b0,    // stages are two or three, for a slow technology; those of prefixes stay as they are
    localparam int unsigned CountWidth      = 50
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    output logic                   init_done_o,
    // frames in
    input  logic [8*DataBytes-1:0] s_axis_tdata_i,
    input  logic [  DataBytes-1:0] s_axis_tkeep_i,   // a beat with a hole counts as a full one
    input  logic                   s_axis_tlast_i,
    input  logic                   s_axis_tuser_i,   // at the last beat: the frame is damaged
    input  logic                   s_axis_tvalid_i,
    output logic                   s_axis_tready_o,
    // frames out; tdest and tdrop mean something at the first beat. A hole has become tuser at the last beat.
    output logic [8*DataBytes-1:0] m_axis_tdata_o,
    output logic [  DataBytes-1:0] m_axis_tkeep_o,
    output logic                   m_axis_tlast_o,
    output logic                   m_axis_tuser_o,
    output logic [           31:0] m_axis_tdest_o,
    output logic                   m_axis_tdrop_o,
    output logic                   m_axis_tvalid_o,
    input  logic                   m_axis_tready_i,
    // a setting, taken in the cycle in which it comes: see set_e
    input  logic                   set_valid_i,
    input  set_e                   set_what_i,
    input  logic [           31:0] set_index_i,
    input  logic [           31:0] set_value_i,
    input  logic [           95:0] set_word_i,
    // a key comes (with its subscriber), goes or is read, see pst_lookup
    input  logic                   s_op_valid_i,
    output logic                   s_op_ready_o,
    input  op_e                    s_op_i,
    input  logic [   KeyWidth-1:0] s_op_key_i,
    input  subscriber_t            s_op_value_i,
    output logic                   m_done_valid_o,
    output key_done_t              m_done_o,
    // what is there
    output logic [           31:0] keys_o,
    output logic [           31:0] moves_o,
    // a counter of frames, by count_e: {kind, index}; that of the index in the cycle before
    input  logic [            7:0] count_index_i,
    output logic [ CountWidth-1:0] count_o
);

  localparam int unsigned IndexWidth = Profiles > 1 ? $clog2(Profiles) : 1;
  localparam int unsigned TableWidth = $clog2(Entries / Tables);
  localparam int unsigned RestWidth = KeyWidth - TableWidth;
  localparam int unsigned SeedWidth = RestWidth > Tables * TableWidth ? RestWidth : Tables * TableWidth;
  localparam int unsigned MaxMoves = 32;    // an operation waits for twice as many at most, 9 cycles each: less than a register access may
  localparam int unsigned BeatWidth = 9 * DataBytes + 2;

  localparam int unsigned NodeWidth = PrefixLevels > 0 ? 2 * PrefixLevels : 2;
  localparam int unsigned LevelWidth = PrefixLevels > 0 ? $clog2(PrefixLevels + 1) : 1;

  if (WindowBytes < 104) begin : g_bad_window
    $error("pst_find_queue: WindowBytes is %0d, must be at least 104, or headers that find a queue are not read", WindowBytes);
  end
  if (Profiles > 15) begin : g_bad_profiles
    $error("pst_find_queue: Profiles is %0d, allowed: 1..15", Profiles);
  end

  // ---- headers of the frames that come

  logic holes, take_in, headers_valid, upper_valid;
  logic [DataBytes-1:0] keep;
  headers_t headers;
  upper_t upper;
  mpls_e mpls_q;

  assign take_in = s_axis_tvalid_i && s_axis_tready_o;

  pst_stream_holes #(
      .DataBytes(DataBytes)
  ) u_holes (
      .clk_i,
      .rst_i,
      .take_i   (take_in),
      .keep_i   (s_axis_tkeep_i),
      .last_i   (s_axis_tlast_i),
      .keep_o   (keep),
      .damaged_o(holes)
  );

  // Headers up to IP find the queue. Those behind it only tell why reading ended.
  pst_parse_stages #(
      .DataBytes(DataBytes),
      .WindowBytes(WindowBytes),
      .ExtensionHeaders(ExtensionHeaders),
      .Tunnels(1'b0),
      .SplitStages(SplitStages)
  ) u_parse (
      .clk_i,
      .rst_i,
      .mpls_i         (mpls_q),
      .beat_valid_i   (take_in),
      .beat_data_i    (s_axis_tdata_i),
      .beat_keep_i    (keep),
      .beat_last_i    (s_axis_tlast_i),
      .headers_valid_o(headers_valid),
      .headers_o      (headers),
      .upper_valid_o  (upper_valid),
      .upper_o        (upper)
  );

  // ---- prefixes: a node is written with its last separator, the others are kept until then

  logic prefixes_q, bank_q;             // a bank has been chosen; which one
  logic [1:0][PrefixWidth-1:0] separators_q;
  logic write, write_interval;

  assign write_interval = set_what_i == SetInterval;
  assign write          = set_valid_i && (write_interval || (set_what_i == SetSeparator && set_index_i[1]));

  always_ff @(posedge clk_i) begin
    if (set_valid_i && set_what_i == SetSeparator && !set_index_i[1]) separators_q[set_index_i[0]] <= set_word_i[PrefixWidth-1:0];
    if (set_valid_i && set_what_i == SetBank) begin
      bank_q     <= set_value_i[0];
      prefixes_q <= 1'b1;
    end
    if (rst_i) begin
      bank_q     <= 1'b0;
      prefixes_q <= 1'b0;
    end
  end

  // ---- their queues

  typedef struct packed {
    logic                  drop;
    logic [QueueWidth-1:0] target;
  } answer_t;

  logic queue_valid;
  found_e found;
  logic [IndexWidth-1:0] profile;
  answer_t found_queue;
  logic [TableWidth+2:0] keys;

  pst_subscriber #(
      .Profiles(Profiles),
      .Entries(Entries),
      .MaxMoves(MaxMoves),
      .PrefixLevels(PrefixLevels),
      .SplitStages(SplitStages)
  ) u_subscriber (
      .clk_i,
      .rst_i,
      .init_done_o,
      .profile_we_i     (set_valid_i && set_what_i == SetProfile),
      .profile_index_i  (set_index_i[IndexWidth-1:0]),
      .profile_i        (profile_t'(set_value_i[$bits(profile_t)-1:0])),
      .class_we_i       (set_valid_i && set_what_i == SetClass),
      .class_profile_i  (set_index_i[6+:IndexWidth]),
      .class_value_i    (set_index_i[5:0]),
      .class_i          (set_value_i[3:0]),
      .miss_we_i        (set_valid_i && set_what_i == SetMiss),
      .miss_index_i     (set_index_i[$clog2(Profiles+1)-1:0]),
      .miss_i           (miss_t'(set_value_i[$bits(miss_t)-1:0])),
      .seed_valid_i     (set_valid_i && set_what_i == SetSeed),
      .seed_chunk_i     (set_index_i[13:6]),
      .seed_index_i     (set_index_i[5:0]),
      .seed_word_i      (set_word_i[SeedWidth-1:0]),
      .s_op_valid_i,
      .s_op_ready_o,
      .s_op_i,
      .s_op_key_i,
      .s_op_value_i,
      .m_done_valid_o,
      .m_done_o,
      .keys_o           (keys),
      .moves_o,
      .prefixes_i       (prefixes_q),
      .bank_i           (bank_q),
      .s_write_valid_i  (write),
      .s_write_level_i  (write_interval ? LevelWidth'(PrefixLevels) : set_index_i[24+:LevelWidth]),
      .s_write_node_i   (write_interval ? set_index_i[NodeWidth-1:0] : set_index_i[2+:NodeWidth]),
      .s_write_word_i   (write_interval ? (3*PrefixWidth)'({set_word_i[0], set_value_i}) : {set_word_i[PrefixWidth-1:0], separators_q}),
      .s_headers_valid_i(headers_valid),
      .s_headers_i      (headers),
      .s_port_i         ('0),
      .m_queue_valid_o  (queue_valid),
      .m_queue_found_o  (found),
      .m_queue_profile_o(profile),
      .m_queue_drop_o   (found_queue.drop),
      .m_queue_o        (found_queue.target)
  );

  assign keys_o = 32'(keys);

  // ---- frames wait for them

  logic beat_valid, beat_ready, beat_first_q, answer_valid, answer_ready, unused_answer_ready;
  answer_t answer;

  pst_fifo #(
      .Width(BeatWidth),
      .Depth(WaitBeats),
      .RegisterOutput(SplitStages)
  ) u_beats (
      .clk_i,
      .rst_i,
      .s_valid_i(s_axis_tvalid_i),
      .s_ready_o(s_axis_tready_o),
      .s_data_i ({s_axis_tuser_i || holes, s_axis_tlast_i, keep, s_axis_tdata_i}),
      .m_valid_o(beat_valid),
      .m_ready_i(beat_ready),
      .m_data_o ({m_axis_tuser_o, m_axis_tlast_o, m_axis_tkeep_o, m_axis_tdata_o}),
      .level_o  ()
  );

  // Each answer is of a frame whose first beat waits: there is room for it.
  pst_fifo #(
      .Width($bits(answer_t)),
      .Depth(WaitBeats),
      .RegisterOutput(SplitStages)
  ) u_answers (
      .clk_i,
      .rst_i,
      .s_valid_i(queue_valid),
      .s_ready_o(unused_answer_ready),
      .s_data_i (found_queue),
      .m_valid_o(answer_valid),
      .m_ready_i(answer_ready),
      .m_data_o (answer),
      .level_o  ()
  );

  assign m_axis_tvalid_o = beat_valid && (!beat_first_q || answer_valid);
  assign beat_ready      = m_axis_tready_i && (!beat_first_q || answer_valid);
  assign answer_ready    = beat_first_q && beat_valid && m_axis_tready_i;
  assign m_axis_tdest_o  = 32'(answer.target);
  assign m_axis_tdrop_o  = answer.drop;

  // ---- counters: why reading ended; {miss?, profile}, and in the place of a sixteenth profile the frames without one

  localparam logic [3:0] NoProfile = 4'd15;

  logic ending_shown_q, found_shown_q;  // which of them is asked for, if there is such a counter
  logic [3:0] shown;
  logic [CountWidth-1:0] ending_count, found_count;
  logic [4:0] found_event;

  assign found_event = found == FoundNoProfile ? {1'b0, NoProfile} : {found == FoundNoKey, 4'(profile)};
  assign shown       = count_e'(count_index_i[5:4]) == CountNone ? NoProfile : count_index_i[3:0];

  pst_event_counts #(
      .Counts(8),
      .Width(CountWidth)
  ) u_endings (
      .clk_i,
      .rst_i,
      .event_valid_i(upper_valid),
      .event_index_i(upper.ending),
      .index_i      (count_index_i[2:0]),
      .count_o      (ending_count)
  );

  pst_event_counts #(
      .Counts(32),
      .Width(CountWidth)
  ) u_found (
      .clk_i,
      .rst_i,
      .event_valid_i(queue_valid),
      .event_index_i(found_event),
      .index_i      ({count_e'(count_index_i[5:4]) == CountMisses, shown}),
      .count_o      (found_count)
  );

  assign count_o = ending_shown_q ? ending_count : found_shown_q ? found_count : '0;

  always_ff @(posedge clk_i) begin
    if (beat_valid && beat_ready) beat_first_q <= m_axis_tlast_o;
    if (set_valid_i && set_what_i == SetMpls) mpls_q <= mpls_e'(set_value_i[1:0]);
    ending_shown_q <= 1'b0;
    found_shown_q  <= 1'b0;
    if (count_index_i[7:6] == '0) begin
      unique case (count_e'(count_index_i[5:4]))
        CountEndings: ending_shown_q <= !count_index_i[3];
        CountNone:    found_shown_q <= count_index_i[3:0] == '0;
        default:      found_shown_q <= count_index_i[3:0] != NoProfile;
      endcase
    end
    if (rst_i) begin
      beat_first_q <= 1'b1;
      mpls_q       <= MplsByNibble;
    end
  end

  logic unused_set;
  assign unused_set = ^{set_index_i, set_value_i, set_word_i, upper};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_answer_has_room : assert (!queue_valid || unused_answer_ready);
      a_answer_is_of_a_frame : assert (!answer_valid || beat_valid);
    end
  end
`endif

endmodule
