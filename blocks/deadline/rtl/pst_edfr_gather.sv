// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Frames of a wide port's columns into one segmented stream, in the order in which they were decided.
//
// A frame has its positions in the output when it is decided (pst_edfr_positions); its beats come later, in its column's order, and each goes
// to the bank and row of its position. Two columns that want one bank in one cycle: one of them waits, and they walk the banks in step from
// then on. A row leaves when all its positions are behind what every column brings next. Positions of a frame that was over before its
// first beat stay empty; so do those of one that is over when its row is about to be offered: no frame begins after its deadline.
//
// Throughput: a row per cycle out, a beat of each bank per cycle in.
// Latency:    12 cycles from a row's last beat to m_valid, 18 when it has to be filled up.
// Order:      that of decisions, so FIFO in a class. Reset: all is forgotten; columns are to be reset with it.
module pst_edfr_gather
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes       = 64,     // 2..256
    parameter int unsigned Columns       = 8,      // 2, 4, 8
    parameter int unsigned Rows          = 4096,   // a power of two: rows that are decided and have not left
    parameter int unsigned Ahead         = 0,      // rows that are decided ahead, half of them in any order; 0: all
    parameter int unsigned MaxFrameBytes = 9600,   // 64..65535
    parameter int unsigned HoldLatency   = 0,      // registers between hold_o and columns and from there to s_decided, together
    parameter int unsigned Waiting       = 128,    // frames of a column that are decided and have not come
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    input  time_t                              now_i,                 // this cycle's number
    // decisions of the columns
    output logic                               hold_o,                // none to send is to be taken
    output logic                               ordered_o,             // none that is later than another column has at hand
    input  logic [Columns-1:0]                 s_decided_valid_i,
    input  logic [Columns-1:0][ClassWidth-1:0] s_decided_class_i,
    input  logic [Columns-1:0][10:0]           s_decided_segments_i,  // of 64 byte
    input  logic [Columns-1:0]                 s_decided_pair_i,      // two frames of a segment each
    // their frames
    input  logic [Columns-1:0]                 s_valid_i,
    output logic [Columns-1:0]                 s_ready_o,
    input  logic [Columns-1:0]                 s_void_i,              // the frame is over: this is all that comes of it
    input  logic [Columns-1:0][DataWidth-1:0]  s_data_i,
    input  logic [Columns-1:0]                 s_last_i,
    input  logic [Columns-1:0][6:0]            s_bytes_last_i,        // of the frame's last beat, beside all of them
    input  logic [Columns-1:0][ClassWidth-1:0] s_class_i,
    input  time_t [Columns-1:0]                s_deadline_i,
    input  logic [Columns-1:0][15:0]           s_user_i,
    // segments out: a frame is the used ones from one with first to the next one with last
    output logic                               m_valid_o,
    input  logic                               m_ready_i,
    output logic [Columns-1:0]                 m_used_o,
    output logic [Columns-1:0][DataWidth-1:0]  m_data_o,
    output logic [Columns-1:0]                 m_first_o,
    output logic [Columns-1:0]                 m_last_o,
    output logic [Columns-1:0][6:0]            m_bytes_last_o,        // 1..64, with last
    output logic [Columns-1:0][15:0]           m_bytes_o,             // of the frame, with first
    output logic [Columns-1:0][ClassWidth-1:0] m_class_o,             // with first, as are deadline and user
    output time_t [Columns-1:0]                m_deadline_o,
    output logic [Columns-1:0][15:0]           m_user_o,
    // frames that are over when their first segment is about to be offered
    output logic [Columns-1:0]                 ev_late_valid_o,
    output logic [Columns-1:0][ClassWidth-1:0] ev_late_class_o,
    output logic [Columns-1:0][15:0]           ev_late_bytes_o,
    output logic [Columns-1:0][15:0]           ev_late_user_o,
    output logic                               sending_o              // a row has a position and has not left
);

  localparam int unsigned LaneWidth     = $clog2(Columns);
  localparam int unsigned RowWidth      = $clog2(Rows);
  localparam int unsigned PositionWidth = RowWidth + LaneWidth + 1;
  localparam int unsigned MaxSegments   = (MaxFrameBytes + 63) / 64;
  localparam int unsigned Words         = 6;   // rows between reading and offering
  localparam int unsigned Settle        = 4;   // registers of the least position: a beat is in its bank before it counts

  if (Columns != 2 && Columns != 4 && Columns != 8) begin : g_bad_columns
    $error("pst_edfr_gather: Columns is %0d, allowed: 2, 4, 8", Columns);
  end

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [PositionWidth-1:0] position_t;
  typedef logic [RowWidth:0] row_t;

  typedef struct packed {
    logic                 used;
    logic                 first;
    logic                 last;
    logic [15:0]          bytes;      // with first: of the frame; else with last: of the segment
    class_t               class_id;
    time_t                deadline;
    logic [15:0]          user;
    logic [DataWidth-1:0] data;
  } segment_t;

  function automatic logic [6:0] last_bytes(logic [5:0] bytes);
    return bytes == '0 ? 7'd64 : 7'(bytes);
  endfunction

  function automatic position_t first_of(position_t a, position_t b);
    position_t difference;
    difference = b - a;
    return difference[PositionWidth-1] ? b : a;
  endfunction

  // ---- Positions ----
  logic [Columns-1:0] give_valid;
  position_t [Columns-1:0] give_position;
  logic [Columns-1:0][10:0] give_segments;
  position_t next;
  row_t out_row_q;
  logic pad, padded;

  pst_edfr_positions #(
      .Columns(Columns), .Rows(Rows), .Ahead(Ahead), .MaxSegments(MaxSegments), .HoldLatency(HoldLatency)
  ) u_positions (
      .clk_i, .rst_i, .hold_o, .ordered_o,
      .s_decided_valid_i, .s_decided_segments_i,
      .m_give_valid_o(give_valid), .m_give_position_o(give_position), .m_give_segments_o(give_segments),
      .next_o(next), .out_row_i(out_row_q), .pad_i(pad), .padded_o(padded)
  );

  // ---- Each column: the frame that comes, and where its next beat goes ----
  logic [Columns-1:0] pair_q, pair_q2, frame_pair;    // beside the positions
  logic [Columns-1:0] frame_valid, frame_done, wants, granted, frame_room, first_q, last, ends;
  position_t [Columns-1:0] frame_position, at_q, at;
  logic [Columns-1:0][10:0] frame_segments, left_q, left, behind;
  segment_t [Columns-1:0] word, word_q;

  always_ff @(posedge clk_i) begin
    pair_q  <= s_decided_pair_i;
    pair_q2 <= pair_q;
  end

  for (genvar i = 0; i < Columns; i++) begin : g_column
    pst_fifo #(
        .Width(PositionWidth + 12), .Depth(Waiting), .RegisterOutput(1'b1)
    ) u_frames (
        .clk_i, .rst_i,
        .s_valid_i(give_valid[i]), .s_ready_o(frame_room[i]), .s_data_i({pair_q2[i], give_position[i], give_segments[i]}),
        .m_valid_o(frame_valid[i]), .m_ready_i(frame_done[i]), .m_data_o({frame_pair[i], frame_position[i], frame_segments[i]}),
        .level_o()
    );

    always_comb begin
      at[i]     = first_q[i] ? frame_position[i] : at_q[i];
      left[i]   = first_q[i] ? frame_segments[i] : left_q[i];
      wants[i]  = s_valid_i[i] && frame_valid[i];
      behind[i] = left[i] - 11'd1;
      last[i]   = behind[i] == '0;
      ends[i]   = last[i] || frame_pair[i];

      word[i].used     = !s_void_i[i];
      word[i].first    = first_q[i] || frame_pair[i];
      word[i].last     = ends[i];
      word[i].bytes    = 16'(s_bytes_last_i[i]) + (first_q[i] && !frame_pair[i] ? 16'(behind[i]) << 6 : 16'd0);
      word[i].class_id = s_class_i[i];
      word[i].deadline = s_deadline_i[i];
      word[i].user     = s_user_i[i];
      word[i].data     = s_data_i[i];

      frame_done[i] = granted[i] && last[i];
      s_ready_o[i]  = granted[i] && (!s_void_i[i] || ends[i]);
    end

    always_ff @(posedge clk_i) begin
      if (granted[i]) begin
        first_q[i] <= last[i];
        at_q[i]    <= at[i] + 1'b1;
        left_q[i]  <= behind[i];
      end
      word_q[i] <= word[i];
      if (rst_i) first_q[i] <= 1'b1;
    end
  end

  // ---- Each bank: one of the columns that want it, another first in each cycle ----
  logic [Columns-1:0][Columns-1:0] asks, gets, gets_q;   // of bank, by column
  logic [Columns-1:0] before_q;                          // columns that have had their turn as the first
  logic [Columns-1:0][RowWidth-1:0] column_row_q;

  always_comb begin
    asks    = '0;
    granted = '0;
    for (int unsigned b = 0; b < Columns; b++) begin
      for (int unsigned i = 0; i < Columns; i++) asks[b][i] = wants[i] && at[i][LaneWidth-1:0] == LaneWidth'(b);
      gets[b] = (asks[b] & ~before_q) != '0 ? asks[b] & ~before_q : asks[b];
      gets[b] = gets[b] & (~gets[b] + 1'b1);
      granted = granted | gets[b];
    end
  end

  always_ff @(posedge clk_i) begin
    before_q <= before_q == '1 ? '0 : {before_q[Columns-2:0], 1'b1};
    gets_q   <= gets;
    for (int unsigned i = 0; i < Columns; i++) column_row_q[i] <= at[i][LaneWidth+:RowWidth];
    if (rst_i) begin
      before_q <= '0;
      gets_q   <= '0;
    end
  end

  // ---- Banks ----
  logic go;
  segment_t [Columns-1:0] read;

  for (genvar b = 0; b < Columns; b++) begin : g_bank
    segment_t chosen, write_q;
    logic [RowWidth-1:0] chosen_row, write_row_q;
    logic we_q;

    always_comb begin
      chosen     = '0;
      chosen_row = '0;
      for (int unsigned i = 0; i < Columns; i++) begin
        chosen     = chosen | ({$bits(segment_t){gets_q[b][i]}} & word_q[i]);
        chosen_row = chosen_row | ({RowWidth{gets_q[b][i]}} & column_row_q[i]);
      end
    end

    always_ff @(posedge clk_i) begin
      we_q        <= gets_q[b] != '0;
      write_q     <= chosen;
      write_row_q <= chosen_row;
      if (rst_i) we_q <= 1'b0;
    end

    pst_ram_1r1w #(
        .Width($bits(segment_t)), .Depth(Rows), .ReadLatency(2)
    ) u_bank (
        .clk_i,
        .we_i(we_q), .waddr_i(write_row_q), .wdata_i(write_q),
        .re_i(go), .raddr_i(out_row_q[RowWidth-1:0]), .rdata_o(read[b])
    );
  end

  // ---- The least position that is still to come, of all columns; what is before it has come ----
  position_t [Columns-1:0] least_q[Settle];
  position_t here;
  row_t ahead;   // rows that all positions before `here` fill

  always_ff @(posedge clk_i) begin
    // A column with nothing to come has given positions from `next` on only.
    for (int unsigned i = 0; i < Columns; i++) least_q[0][i] <= frame_valid[i] ? at[i] : next;
    for (int unsigned s = 1; s < Settle; s++) begin
      for (int unsigned i = 0; i < Columns; i++) begin
        // A level of the tree in each stage, the earlier of two; then nothing more.
        if (i < Columns >> s) least_q[s][i] <= first_of(least_q[s-1][2*i], least_q[s-1][2*i+1]);
        else least_q[s][i] <= least_q[s-1][i];
      end
    end
    if (rst_i) begin
      for (int unsigned s = 0; s < Settle; s++) least_q[s] <= '0;
    end
  end

  // ---- Rows out ----
  logic [2:0] words_q;
  logic [1:0] reading_q;
  logic [LaneWidth-1:0] pad_from_q;
  logic padded_q, out_valid, out_ready, room;
  logic [1:0][Columns-1:0] keep_q;
  segment_t [Columns-1:0] row_in, row;

  assign here  = least_q[Settle-1][0];
  assign ahead = here[PositionWidth-1:LaneWidth] - out_row_q;
  assign go    = ahead != '0 && words_q != '0;
  assign pad   = here == next && next[PositionWidth-1:LaneWidth] == out_row_q && next[LaneWidth-1:0] != '0 && words_q != '0 && !padded_q;

  always_comb begin
    row_in = read;
    for (int unsigned b = 0; b < Columns; b++) row_in[b].used = read[b].used && keep_q[1][b];
  end

  always_ff @(posedge clk_i) begin
    out_row_q <= out_row_q + row_t'(go);
    words_q   <= words_q - 3'(go) + 3'(out_valid && out_ready);
    reading_q <= {reading_q[0], go};
    keep_q[1] <= keep_q[0];
    for (int unsigned b = 0; b < Columns; b++) keep_q[0][b] <= !padded_q || LaneWidth'(b) < pad_from_q;
    if (go) padded_q <= 1'b0;
    if (padded) begin
      padded_q   <= 1'b1;
      pad_from_q <= next[LaneWidth-1:0];
    end
    if (rst_i) begin
      out_row_q <= '0;
      words_q   <= 3'(Words);
      reading_q <= '0;
      padded_q  <= 1'b0;
    end
  end

  pst_fifo #(
      .Width($bits(row)), .Depth(Words)
  ) u_out (
      .clk_i, .rst_i,
      .s_valid_i(reading_q[1]), .s_ready_o(room), .s_data_i(row_in),
      .m_valid_o(out_valid), .m_ready_i(out_ready), .m_data_o(row), .level_o()
  );

  // ---- The last check: what goes into the output register now is offered in the next cycle ----
  time_t soon_q;                              // that cycle's number
  logic [Columns-1:0] late;
  logic [LaneWidth:0][Columns-1:0] knows, over;   // by level of the tree: a frame begins here or shortly before; it is over
  logic [Columns-1:0] skip;
  logic skip_q, m_valid_q;

  // Each segment is as the last first one before it in its row, else as the row before ended.
  always_comb begin
    knows = '0;
    over  = '0;
    for (int unsigned s = 0; s < Columns; s++) begin
      knows[0][s] = row[s].used && row[s].first;
      late[s]     = row[s].used && row[s].first && later(soon_q, row[s].deadline);
    end
    over[0] = late;
    for (int unsigned k = 0; k < LaneWidth; k++) begin
      knows[k+1] = knows[k] | (knows[k] << (1 << k));
      over[k+1]  = over[k] | (~knows[k] & (over[k] << (1 << k)));
    end
    skip = over[LaneWidth] | (~knows[LaneWidth] & {Columns{skip_q}});
  end

  assign out_ready = !m_valid_q || m_ready_i;
  assign m_valid_o = m_valid_q;

  assign sending_o = next != {out_row_q, LaneWidth'(0)} || words_q != 3'(Words) || m_valid_q;

  always_ff @(posedge clk_i) begin
    soon_q <= now_i + 32'd2;
    if (out_ready) begin
      m_valid_q <= 1'b0;
      for (int unsigned s = 0; s < Columns; s++) begin
        if (out_valid && row[s].used && !skip[s]) m_valid_q <= 1'b1;
        m_used_o[s]       <= row[s].used && !skip[s];
        m_data_o[s]       <= row[s].data;
        m_first_o[s]      <= row[s].first;
        m_last_o[s]       <= row[s].last;
        m_bytes_last_o[s] <= last_bytes(row[s].bytes[5:0]);
        m_bytes_o[s]      <= row[s].bytes;
        m_class_o[s]      <= row[s].class_id;
        m_deadline_o[s]   <= row[s].deadline;
        m_user_o[s]       <= row[s].user;
      end
      if (out_valid) skip_q <= skip[Columns-1];
    end
    for (int unsigned s = 0; s < Columns; s++) begin
      ev_late_valid_o[s] <= out_valid && out_ready && late[s];
      ev_late_class_o[s] <= row[s].class_id;
      ev_late_bytes_o[s] <= row[s].bytes;
      ev_late_user_o[s]  <= row[s].user;
    end
    if (rst_i) begin
      m_valid_q       <= 1'b0;
      skip_q          <= 1'b0;
      ev_late_valid_o <= '0;
    end
  end

`ifndef SYNTHESIS
  // Classes come with the decisions for this alone: a frame comes as what was decided.
  logic [Columns-1:0] class_room, class_valid;
  class_t [Columns-1:0] class_next;
  for (genvar i = 0; i < Columns; i++) begin : g_check
    pst_fifo #(
        .Width(ClassWidth), .Depth(Waiting + 8)
    ) u_classes (
        .clk_i, .rst_i,
        .s_valid_i(s_decided_valid_i[i]), .s_ready_o(class_room[i]), .s_data_i(s_decided_class_i[i]),
        .m_valid_o(class_valid[i]), .m_ready_i(frame_done[i]), .m_data_o(class_next[i]), .level_o()
    );
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_frames_have_room : assert ((give_valid & ~frame_room) == '0);
      a_row_has_room : assert (room || !reading_q[1]);
      for (int unsigned i = 0; i < Columns; i++) begin
        if (granted[i]) begin
          a_as_decided : assert (class_valid[i] && class_room[i] && class_next[i] == s_class_i[i])
          else $error("column %0d: a frame of class %0d, one of %0d was decided", i, s_class_i[i], class_next[i]);
          a_as_long : assert (s_void_i[i] || ends[i] == s_last_i[i]) else $error("column %0d: %0d segments to come", i, left[i]);
          a_in_window : assert (32'(position_t'(at[i] - {out_row_q, LaneWidth'(0)})) < Rows * Columns);
        end
      end
    end
  end
`else
  logic unused_class;
  assign unused_class = ^{s_decided_class_i, s_last_i, frame_room, room};
`endif

endmodule
