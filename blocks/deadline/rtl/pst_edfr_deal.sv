// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Deal side of a wide deadline port: frames from words of several segments, whole and good, to the columns, those of a class in runs.
//
//   words ─► class ─┬─────────────────────────────► store, a bank a segment ─┬─► column 0
//            DSCP   └─► intake ─► records ─► assign ─► lists of the columns ─┴─► ...
//                       where frames begin             which segments of a row are whose
//
// A frame is the used segments of the words, in order, up to one that says last: it may begin and end in any segment.
//
// Throughput: a word per cycle in, up to a frame a segment; a beat per cycle and column out, as far as columns want different banks.
// Latency:    21 cycles from a frame's last segment to its first beat, when nothing waits.
// Order:      of the frames of a column as they came; frame k of a class goes to column (class + k / RunFrames) mod Columns.
// Conservation: each frame in goes to one column, or is ev_refused or ev_dropped, or inside.
// Reset:      all is forgotten, the table of classes too.
module pst_edfr_deal
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes       = 64,      // 2..256
    parameter bit          ClassFromUser = 1'b0,    // s_class_i is the class; else a table says which one a DSCP has
    parameter int unsigned Columns       = 8,       // segments of a word: 2, 4, 8
    parameter int unsigned RunFrames     = 16,      // frames of a class that go to a column in a row: a power of two, at least Columns
    parameter int unsigned MinFrameBytes = 60,      // >= 8
    parameter int unsigned MaxFrameBytes = 9600,    // 64..65535
    parameter int unsigned Rows          = 4096,    // words in the store, a power of two
    parameter int unsigned Lists         = 1024,    // words of which a column has segments to read, a power of two
    parameter int unsigned Records       = 512,     // words that wait for the end of a frame, a power of two, >= 8
    parameter string       Style         = "auto",  // of the store's RAM
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    input  time_t                              now_i,               // that of the columns
    input  logic [Columns-1:0]                 room_i,              // a column can take the longest frame, and all that is on its way to it
    // class of a DSCP, 64 and above: of all else
    input  logic                               set_dscp_valid_i,
    input  logic [                        6:0] set_dscp_i,
    input  logic [             ClassWidth-1:0] set_dscp_class_i,
    // words in
    input  logic                               s_valid_i,
    output logic                               s_ready_o,
    input  logic [Columns-1:0]                 s_used_i,            // the segment is a frame's
    input  logic [Columns-1:0][         511:0] s_data_i,            // byte 0 in bits 7:0
    input  logic [Columns-1:0]                 s_last_i,
    input  logic [Columns-1:0][           6:0] s_bytes_last_i,      // 1..64, in the last segment
    input  logic [Columns-1:0]                 s_bad_i,             // in the last segment
    input  logic [Columns-1:0][ClassWidth-1:0] s_class_i,           // in the first one, with ClassFromUser
    input  logic [Columns-1:0][          15:0] s_user_i,            // in the first one, comes out with the frame
    // whole frames, to each column; what stands beside them in every beat
    output logic [Columns-1:0]                 m_valid_o,
    input  logic [Columns-1:0]                 m_ready_i,
    output logic [Columns-1:0][         511:0] m_data_o,
    output logic [Columns-1:0]                 m_last_o,
    output logic [Columns-1:0][           6:0] m_bytes_last_o,      // 64 in all beats but the last
    output logic [Columns-1:0][ClassWidth-1:0] m_class_o,
    output logic [Columns-1:0][          15:0] m_user_o,
    output time_t [Columns-1:0]                m_arrived_o,         // the cycle in which the word with the first segment was taken
    // frames that end here, by segment: bad, too short or too long; no room in their column
    output logic [Columns-1:0]                 ev_refused_valid_o,
    output logic [Columns-1:0][ClassWidth-1:0] ev_refused_class_o,
    output logic [Columns-1:0][          15:0] ev_refused_bytes_o,
    output fate_e [Columns-1:0]                ev_refused_reason_o,
    output logic [Columns-1:0][          15:0] ev_refused_user_o,
    output logic [Columns-1:0]                 ev_dropped_valid_o,
    output logic [Columns-1:0][ClassWidth-1:0] ev_dropped_class_o,
    output logic [Columns-1:0][          15:0] ev_dropped_bytes_o,
    output logic [Columns-1:0][          15:0] ev_dropped_user_o
);

  // A frame may have one used segment in each of its words, and behind it another one.
  if (Records < 8 || Records < 2 * ((MaxFrameBytes + 63) / 64) || Records != 2 ** $clog2(Records)) begin : g_bad_records
    $error("pst_edfr_deal: Records is %0d, allowed: powers of two, 8 and more, that hold two frames of MaxFrameBytes (%0d)", Records,
           MaxFrameBytes);
  end
  if (Rows < Records) begin : g_bad_rows
    $error("pst_edfr_deal: Rows is %0d, less than Records (%0d)", Rows, Records);
  end

  typedef logic [ClassWidth-1:0] class_t;

  typedef struct packed {
    time_t       arrived;
    logic [15:0] user;
    class_t      class_id;
    logic        last;
    logic [6:0]  bytes;
    logic [511:0] data;
  } segment_t;

  typedef struct packed {
    logic                     opens;
    class_t [Columns-1:0]     class_id;
    logic [Columns-1:0][15:0] user;
    logic [Columns-1:0][15:0] bytes;
    logic [Columns-1:0]       good;
    logic [Columns-1:0]       begins;
    logic [Columns-1:0]       used;
  } record_t;

  // ---- Class of each segment, as if a frame began in it ----
  typedef struct packed {
    time_t       arrived;
    logic [15:0] user;
    logic        used;
    logic        last;
  } beside_t;

  logic [Columns-1:0] class_valid, class_ready, class_bad, unused_last, used, last;
  logic [Columns-1:0][6:0] class_bytes;
  logic [Columns-1:0][15:0] user;
  beside_t [Columns-1:0] beside;
  segment_t [Columns-1:0] segment;
  class_t [Columns-1:0] class_id;
  logic take, word_ready, store_ready, record_ready;

  assign s_ready_o = class_ready[0];

  for (genvar i = 0; i < Columns; i++) begin : g_class
    logic [511:0] data;

    pst_dscp_class #(
        .Classes(Classes), .ClassFromUser(ClassFromUser), .UserWidth($bits(beside_t))
    ) u_class (
        .clk_i, .rst_i,
        .set_valid_i(set_dscp_valid_i), .set_dscp_i, .set_class_i(set_dscp_class_i),
        .s_valid_i(s_valid_i && s_used_i != '0), .s_ready_o(class_ready[i]), .s_data_i(s_data_i[i]),
        .s_bytes_i(s_used_i[i] && s_last_i[i] ? s_bytes_last_i[i] : 7'd64), .s_last_i(1'b1), .s_bad_i(s_bad_i[i]), .s_class_i(s_class_i[i]),
        .s_user_i({now_i, s_user_i[i], s_used_i[i], s_last_i[i]}),
        .m_valid_o(class_valid[i]), .m_ready_i(word_ready), .m_data_o(data), .m_bytes_o(class_bytes[i]), .m_last_o(unused_last[i]),
        .m_bad_o(class_bad[i]), .m_class_o(class_id[i]), .m_user_o(beside[i])
    );

    assign used[i]    = beside[i].used;
    assign last[i]    = beside[i].last;
    assign user[i]    = beside[i].user;
    assign segment[i] = '{
        arrived: beside[i].arrived, user: beside[i].user, class_id: class_id[i], last: beside[i].last, bytes: class_bytes[i], data: data
    };
  end

  // Records on their way: the one out of intake needs room, too.
  assign word_ready = store_ready && record_ready;
  assign take       = class_valid[0] && word_ready;

  // ---- Where frames begin and whether they may go on ----
  logic record_valid, open_valid, open_good, deal_valid, deal_ready, dealt_valid, dealt_ready, deal_open_valid, deal_open_ready;
  logic unused_open;
  logic [15:0] open_bytes;
  record_t record, deal;
  logic [16:0] deal_open;
  logic [Columns-1:0][Columns-1:0] dealt;
  logic fifo_ready;

  pst_deal_intake #(
      .Classes(Classes), .Columns(Columns), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes)
  ) u_intake (
      .clk_i, .rst_i,
      .s_valid_i(take), .s_used_i(used), .s_last_i(last), .s_bytes_last_i(class_bytes), .s_bad_i(class_bad), .s_class_i(class_id),
      .s_user_i(user),
      .m_valid_o(record_valid), .m_used_o(record.used), .m_begin_o(record.begins), .m_good_o(record.good), .m_bytes_o(record.bytes),
      .m_class_o(record.class_id), .m_user_o(record.user), .m_opens_o(record.opens),
      .m_open_valid_o(open_valid), .m_open_good_o(open_good), .m_open_bytes_o(open_bytes),
      .ev_refused_valid_o, .ev_refused_class_o, .ev_refused_bytes_o, .ev_refused_reason_o, .ev_refused_user_o
  );


  // A word is taken while there is room for its record and for that on its way.
  localparam int unsigned RecordWidth = $clog2(Records + 4);
  logic [RecordWidth-1:0] records_q;

  always_ff @(posedge clk_i) begin
    records_q    <= records_q + RecordWidth'(record_valid) - RecordWidth'(deal_valid && deal_ready);
    record_ready <= records_q < RecordWidth'(Records - 4);
    if (rst_i) begin
      records_q    <= '0;
      record_ready <= 1'b0;
    end
  end

  pst_ram_fifo #(
      .Width($bits(record_t)), .Depth(Records)
  ) u_records (
      .clk_i, .rst_i,
      .s_valid_i(record_valid), .s_ready_o(fifo_ready), .s_data_i(record),
      .s_commit_i(1'b1), .s_rewind_i(1'b0), .s_overrun_o(),
      .m_valid_o(deal_valid), .m_ready_i(deal_ready), .m_data_o(deal)
  );

  // At most one for each record.
  pst_ram_fifo #(
      .Width(17), .Depth(Records)
  ) u_open (
      .clk_i, .rst_i,
      .s_valid_i(open_valid), .s_ready_o(unused_open), .s_data_i({open_good, open_bytes}),
      .s_commit_i(1'b1), .s_rewind_i(1'b0), .s_overrun_o(),
      .m_valid_o(deal_open_valid), .m_ready_i(deal_open_ready), .m_data_o(deal_open)
  );

  // ---- Columns ----
  pst_deal_assign #(
      .Classes(Classes), .Columns(Columns), .RunFrames(RunFrames)
  ) u_assign (
      .clk_i, .rst_i, .room_i,
      .s_valid_i(deal_valid), .s_ready_o(deal_ready), .s_used_i(deal.used), .s_begin_i(deal.begins), .s_good_i(deal.good),
      .s_bytes_i(deal.bytes), .s_class_i(deal.class_id), .s_user_i(deal.user), .s_opens_i(deal.opens),
      .s_open_valid_i(deal_open_valid), .s_open_ready_o(deal_open_ready), .s_open_good_i(deal_open[16]), .s_open_bytes_i(deal_open[15:0]),
      .m_valid_o(dealt_valid), .m_ready_i(dealt_ready), .m_segments_o(dealt),
      .ev_dropped_valid_o, .ev_dropped_class_o, .ev_dropped_bytes_o, .ev_dropped_user_o
  );

  // ---- Data ----
  segment_t [Columns-1:0] out;

  pst_deal_store #(
      .Columns(Columns), .Rows(Rows), .Lists(Lists), .Width($bits(segment_t)), .Style(Style)
  ) u_store (
      .clk_i, .rst_i,
      .s_valid_i(class_valid[0] && record_ready), .s_ready_o(store_ready), .s_used_i(used), .s_data_i(segment),
      .s_deal_valid_i(dealt_valid), .s_deal_ready_o(dealt_ready), .s_deal_i(dealt),
      .m_valid_o, .m_ready_i, .m_data_o(out)
  );

  // What a frame's first segment had beside it stands beside all of its beats.
  for (genvar c = 0; c < Columns; c++) begin : g_out
    logic first_q;
    time_t arrived_q;
    logic [15:0] user_q;
    class_t class_q;

    assign m_data_o[c]       = out[c].data;
    assign m_last_o[c]       = out[c].last;
    assign m_bytes_last_o[c] = out[c].bytes;
    assign m_class_o[c]      = first_q ? out[c].class_id : class_q;
    assign m_user_o[c]       = first_q ? out[c].user : user_q;
    assign m_arrived_o[c]    = first_q ? out[c].arrived : arrived_q;

    always_ff @(posedge clk_i) begin
      if (m_valid_o[c] && m_ready_i[c]) begin
        first_q   <= out[c].last;
        class_q   <= m_class_o[c];
        user_q    <= m_user_o[c];
        arrived_q <= m_arrived_o[c];
      end
      if (rst_i) first_q <= 1'b1;
    end
  end

  logic unused;
  assign unused = &{1'b0, unused_last, class_valid, class_ready};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_record_has_room : assert (fifo_ready || !record_valid);
      a_open_has_room : assert (unused_open || !open_valid);
    end
  end
`endif

endmodule
