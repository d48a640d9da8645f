// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Deals frames to columns: those of a class in runs of RunFrames to one column after the other, class c from column c on.
//
// Frame k of a class (k counts those that are dealt) goes to column (c + k / RunFrames) mod Columns. One that its column has no room for, and
// with it all of its class in this word that would go there, is dropped and not counted. A word is dealt when it is known what becomes of all
// frames that begin in it.
//
// Throughput: a word per cycle, up to a frame a segment, of any classes. Latency: 2 cycles. Order: kept.
// Reset: all is forgotten, the first frame of each class goes to its first column.
module pst_deal_assign #(
    parameter int unsigned Classes   = 64,  // 2..256
    parameter int unsigned Columns   = 8,   // segments of a word: 2, 4, 8
    parameter int unsigned RunFrames = 16,  // frames of a class that go to a column in a row: a power of two, at least Columns
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    // a column can take the longest frame, and all that is on its way to it
    input  logic [Columns-1:0]                 room_i,
    // records of words, see pst_deal_intake
    input  logic                               s_valid_i,
    output logic                               s_ready_o,
    input  logic [Columns-1:0]                 s_used_i,
    input  logic [Columns-1:0]                 s_begin_i,
    input  logic [Columns-1:0]                 s_good_i,
    input  logic [Columns-1:0][          15:0] s_bytes_i,
    input  logic [Columns-1:0][ClassWidth-1:0] s_class_i,
    input  logic [Columns-1:0][          15:0] s_user_i,
    input  logic                               s_opens_i,
    // of a frame that goes on in further words
    input  logic                               s_open_valid_i,
    output logic                               s_open_ready_o,
    input  logic                               s_open_good_i,
    input  logic [         15:0]               s_open_bytes_i,
    // words: which of their segments each column gets
    output logic                               m_valid_o,
    input  logic                               m_ready_i,
    output logic [Columns-1:0][ Columns-1:0]   m_segments_o,
    // frames that are dropped, where they begin
    output logic [Columns-1:0]                 ev_dropped_valid_o,
    output logic [Columns-1:0][ClassWidth-1:0] ev_dropped_class_o,
    output logic [Columns-1:0][          15:0] ev_dropped_bytes_o,
    output logic [Columns-1:0][          15:0] ev_dropped_user_o
);

  if (RunFrames != 2 ** $clog2(RunFrames) || RunFrames < Columns) begin : g_bad_run
    $error("pst_deal_assign: RunFrames is %0d, must be a power of two and at least Columns (%0d)", RunFrames, Columns);
  end
  if (Columns != 2 && Columns != 4 && Columns != 8) begin : g_bad_columns
    $error("pst_deal_assign: Columns is %0d, allowed: 2, 4, 8", Columns);
  end

  localparam int unsigned RunWidth    = $clog2(RunFrames);
  localparam int unsigned ColumnWidth = $clog2(Columns);
  localparam int unsigned LaneWidth   = $clog2(Columns);

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [ColumnWidth-1:0] column_t;
  typedef logic [LaneWidth-1:0] lane_t;

  // Where the next frame of a class goes.
  typedef struct packed {
    column_t              round;   // its column, less the class's first one
    logic [RunWidth-1:0]  frames;  // of this run, before it
  } place_t;

  // ---- Stage 1: what is known without the classes' places ----
  logic valid_q, go, go2, opens_here;
  logic [Columns-1:0] good, used_q, begin_q, good_q;
  logic [Columns-1:0][15:0] bytes, bytes_q, user_q;
  class_t [Columns-1:0] class_q;
  lane_t [Columns-1:0] earlier, earlier_q;          // frames of the same class that may go on, in segments before this one
  logic opens_q;
  logic [LaneWidth-1:0] newest;

  assign opens_here     = s_valid_i && s_opens_i;
  assign go             = s_valid_i && (!s_opens_i || s_open_valid_i) && (!valid_q || go2);
  assign s_ready_o      = (!s_opens_i || s_open_valid_i) && (!valid_q || go2);
  assign s_open_ready_o = opens_here && (!valid_q || go2);

  always_comb begin
    newest = '0;
    for (int unsigned i = 0; i < Columns; i++) if (s_begin_i[i]) newest = LaneWidth'(i);
    good  = s_good_i;
    bytes = s_bytes_i;
    if (s_opens_i) begin
      good[newest]  = s_open_good_i;
      bytes[newest] = s_open_bytes_i;
    end
    for (int unsigned i = 0; i < Columns; i++) begin
      earlier[i] = '0;
      for (int unsigned j = 0; j < i; j++) earlier[i] += lane_t'(good[j] && s_class_i[j] == s_class_i[i]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      used_q   <= s_used_i;
      begin_q  <= s_begin_i;
      good_q   <= good;
      bytes_q  <= bytes;
      class_q  <= s_class_i;
      user_q   <= s_user_i;
      earlier_q <= earlier;
      opens_q  <= s_opens_i;
    end
    valid_q <= go || (valid_q && !go2);
    if (rst_i) valid_q <= 1'b0;
  end

  // ---- Stage 2: places, columns ----
  place_t places_q[Classes];
  place_t [Columns-1:0] at, mine;
  column_t [Columns-1:0] column;
  logic [Columns-1:0] takes, dropped, owned;
  logic [Columns-1:0][Columns-1:0] segments;
  logic carried_q, carried;                       // the frame that goes on from word to word has a column
  column_t carried_column_q, carried_column;
  logic [Columns-1:0] room_q;

  always_comb begin
    carried        = carried_q;
    carried_column = carried_column_q;
    segments       = '0;
    owned          = '0;
    for (int unsigned i = 0; i < Columns; i++) begin
      at[i]      = places_q[class_q[i]];
      mine[i]    = at[i] + (ColumnWidth + RunWidth)'(earlier_q[i]);
      column[i]  = column_t'(class_q[i]) + mine[i].round;
      takes[i]   = good_q[i] && room_q[column_t'(class_q[i]) + at[i].round] && room_q[column[i]];
      dropped[i] = good_q[i] && !takes[i];
      if (begin_q[i]) begin
        carried        = takes[i];
        carried_column = column[i];
      end
      owned[i] = used_q[i] && carried;
      for (int unsigned c = 0; c < Columns; c++) segments[c][i] = owned[i] && carried_column == column_t'(c);
    end
  end

  assign go2 = valid_q && (!m_valid_o || m_ready_i);

  always_ff @(posedge clk_i) begin
    room_q <= room_i;
    if (go2) begin
      m_segments_o       <= segments;
      ev_dropped_class_o <= class_q;
      ev_dropped_bytes_o <= bytes_q;
      ev_dropped_user_o  <= user_q;
      if (begin_q != '0) begin
        carried_q        <= carried && opens_q;
        carried_column_q <= carried_column;
      end
      for (int unsigned i = 0; i < Columns; i++) begin
        if (takes[i]) places_q[class_q[i]] <= mine[i] + 1'b1;
      end
    end
    ev_dropped_valid_o <= dropped & {Columns{go2}};
    m_valid_o          <= go2 || (m_valid_o && !m_ready_i);
    if (rst_i) begin
      m_valid_o          <= 1'b0;
      ev_dropped_valid_o <= '0;
      carried_q          <= 1'b0;
      for (int unsigned c = 0; c < Classes; c++) places_q[c] <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int unsigned i = 0; i < Columns; i++) begin
        a_good_begins : assert (!(s_valid_i && s_good_i[i]) || s_begin_i[i]);
        if (go2) begin
          for (int unsigned c = 0; c < Columns; c++) begin
            a_one_column : assert (!segments[c][i] || (carried_q || begin_q != '0));
          end
        end
      end
    end
  end
`endif

endmodule
