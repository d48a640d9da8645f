// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_deal_assign: frame k of a class goes to column (class + k / RunFrames) mod Columns with all of its segments, in
// as many words as they stand in, and nothing goes anywhere else; one that is dropped has its event, goes nowhere and is not counted.
module pst_deal_assign_proof #(
    parameter int unsigned Classes   = 2,
    parameter int unsigned Columns   = 2,
    parameter int unsigned RunFrames = 2,
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input logic                               clk_i,
    input logic                               rst_i,
    input logic [Columns-1:0]                 room_i,
    input logic                               s_valid_i,
    input logic [Columns-1:0]                 s_used_i,
    input logic [Columns-1:0]                 s_begin_i,
    input logic [Columns-1:0]                 s_good_i,
    input logic [Columns-1:0][ClassWidth-1:0] s_class_i,
    input logic                               s_opens_i,
    input logic                               s_open_valid_i,
    input logic                               s_open_good_i,
    input logic                               m_ready_i,
    input logic [ClassWidth-1:0]              watch_i        // the class that is followed
);

  localparam int unsigned RunWidth    = $clog2(RunFrames);
  localparam int unsigned ColumnWidth = $clog2(Columns);

  typedef logic [ColumnWidth-1:0] column_t;

  logic s_ready, open_ready, m_valid, seen_q;
  logic [Columns-1:0][Columns-1:0] segments;
  logic [Columns-1:0] dropped;
  logic [Columns-1:0][ClassWidth-1:0] dropped_class;
  logic [Columns-1:0][15:0] dropped_bytes, dropped_user;
  initial seen_q = 1'b0;

  pst_deal_assign #(
      .Classes(Classes), .Columns(Columns), .RunFrames(RunFrames)
  ) u_dut (
      .clk_i, .rst_i, .room_i,
      .s_valid_i, .s_ready_o(s_ready), .s_used_i, .s_begin_i, .s_good_i, .s_bytes_i('0), .s_class_i, .s_user_i('0), .s_opens_i,
      .s_open_valid_i, .s_open_ready_o(open_ready), .s_open_good_i, .s_open_bytes_i('0),
      .m_valid_o(m_valid), .m_ready_i, .m_segments_o(segments),
      .ev_dropped_valid_o(dropped), .ev_dropped_class_o(dropped_class), .ev_dropped_bytes_o(dropped_bytes),
      .ev_dropped_user_o(dropped_user)
  );

  // A copy of each word goes along with it: taken in, then where the outcome is.
  typedef struct packed {
    logic [Columns-1:0]                 used;
    logic [Columns-1:0]                 begins;
    logic [Columns-1:0]                 fine;     // begins here, and may go on
    logic [Columns-1:0][ClassWidth-1:0] class_id;
    logic                               opens;
  } word_t;

  word_t word, word_q, out_q;
  logic taken, moves, here_q, new_q;
  logic [Columns-1:0] room_q, room_then_q;
  logic [ClassWidth-1:0] class_q;

  always_comb begin
    word = '{used: s_used_i, begins: s_begin_i, fine: s_good_i, class_id: s_class_i, opens: s_opens_i};
    for (int unsigned i = 0; i < Columns; i++) begin
      if (s_opens_i && (s_begin_i >> i) == Columns'(1)) word.fine[i] = s_open_good_i;   // the last that begins
    end
  end

  assign taken = s_valid_i && s_ready;
  assign moves = here_q && (!m_valid || m_ready_i);

  // Lanes with the same class as each.
  logic [Columns-1:0][Columns-1:0] same;
  always_comb begin
    for (int unsigned i = 0; i < Columns; i++) begin
      for (int unsigned j = 0; j < Columns; j++) same[i][j] = word_q.class_id[i] == word_q.class_id[j];
    end
  end

  // Of the watched class: frames that are dealt, and the one that goes on in further words.
  logic [31:0] count_q, count;
  logic mine_q, mine, dealt_q, dealt, known;
  column_t column_q, column;
  logic [Columns-1:0] ours, goes, out, behind;
  column_t [Columns-1:0] where;

  always_comb begin
    count  = count_q;
    mine   = mine_q;
    dealt  = dealt_q;
    column = column_q;
    ours   = '0;
    goes   = '0;
    where  = '0;
    behind = '0;
    known  = mine_q;
    for (int unsigned i = 0; i < Columns; i++) begin
      if (out_q.begins[i]) begin
        mine  = out_q.class_id[i] == class_q;
        known = 1'b1;
        dealt = mine && out_q.fine[i] && !dropped[i];
        // what the rule says, with what was dealt so far
        column   = column_t'(class_q) + column_t'(count / RunFrames);
        behind[i] = room_then_q[column];
        if (dealt) count = count + 1;
      end
      ours[i]  = out_q.used[i] && mine;
      goes[i]  = ours[i] && dealt;
      where[i] = column;
    end
    for (int unsigned i = 0; i < Columns; i++) begin
      out[i] = 1'b0;
      for (int unsigned c = 0; c < Columns; c++) if (segments[c][i]) out[i] = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    seen_q      <= 1'b1;
    room_q      <= room_i;
    room_then_q <= room_q;
    new_q       <= moves;
    here_q      <= taken || (here_q && !moves);
    if (taken) word_q <= word;
    if (moves) out_q <= word_q;
    if (new_q) begin
      count_q <= count;
      if (out_q.begins != '0) begin
        mine_q   <= mine && out_q.opens;
        dealt_q  <= dealt && out_q.opens;
        column_q <= column;
      end
    end
    if (rst_i) begin
      class_q <= watch_i;
      here_q  <= 1'b0;
      new_q   <= 1'b0;
      mine_q  <= 1'b0;
      dealt_q <= 1'b0;
      count_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    m_watch : assume (32'(watch_i) < Classes);
    for (int unsigned i = 0; i < Columns; i++) m_class : assume (32'(s_class_i[i]) < Classes);
    m_begins : assume ((s_begin_i & ~s_used_i) == '0 && (s_good_i & ~s_begin_i) == '0);
    m_opens : assume (!s_valid_i || !s_opens_i || s_begin_i != '0);
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_word_is_there : assert (m_valid || !new_q);
      a_end_is_taken_with_its_word : assert ((open_ready && s_open_valid_i) == (taken && s_opens_i));
      if (new_q) begin
        for (int unsigned i = 0; i < Columns; i++) begin
          if (ours[i]) a_all_or_nothing : assert (out[i] == goes[i]);
          if (goes[i]) a_column_by_the_rule : assert (segments[where[i]][i]);
          for (int unsigned c = 0; c < Columns; c++) begin
            for (int unsigned d = 0; d < c; d++) a_one_column : assert (!(segments[c][i] && segments[d][i]));
          end
          a_unused_go_nowhere : assert (out_q.used[i] || !out[i]);
          a_dropped_began : assert (!dropped[i] || (out_q.begins[i] && out_q.fine[i]));
          if (dropped[i]) a_dropped_class : assert (dropped_class[i] == out_q.class_id[i]);
          if (ours[i] && out_q.begins[i] && out_q.fine[i]) begin
            a_there_was_room : assert (dropped[i] || behind[i]);
            a_dropped_for_want_of_room : assert (!dropped[i] || room_then_q != '1);
          end
        end
      end else begin
        a_no_event : assert (dropped == '0);
      end
      // what the induction needs
      a_place : assert ({u_dut.places_q[class_q].round, u_dut.places_q[class_q].frames}
                          == (ColumnWidth + RunWidth)'(new_q ? count : count_q));
      a_here : assert (u_dut.valid_q == here_q);
      a_room : assert (u_dut.room_q == room_q);
      if (here_q) begin
        a_word : assert (u_dut.used_q == word_q.used && u_dut.begin_q == word_q.begins && u_dut.good_q == word_q.fine
                         && u_dut.class_q == word_q.class_id && u_dut.opens_q == word_q.opens);
        a_word_is_sound : assert ((word_q.begins & ~word_q.used) == '0 && (word_q.fine & ~word_q.begins) == '0);
        for (int unsigned i = 0; i < Columns; i++) begin
          a_class : assert (32'(word_q.class_id[i]) < Classes);
          a_earlier : assert (32'(u_dut.earlier_q[i]) == $countones(word_q.fine & same[i] & Columns'((1 << i) - 1)));
        end
      end
      a_watch : assert (32'(class_q) < Classes);
      a_carried : assert (!(new_q && out_q.begins != '0 ? mine && out_q.opens : mine_q)
                          || (u_dut.carried_q == (new_q && out_q.begins != '0 ? dealt : dealt_q)));
      a_carried_column : assert (!(new_q && out_q.begins != '0 ? dealt && out_q.opens : dealt_q)
                                 || u_dut.carried_column_q == (new_q && out_q.begins != '0 ? column : column_q));
      a_dealt_is_mine : assert (!dealt_q || mine_q);
      // useful work is possible
      c_round : cover (count_q == Columns * RunFrames && new_q && goes == '1 && known);
      c_dropped_and_on : cover (count_q == RunFrames && new_q && dropped == Columns'(1) && goes[Columns-1]);
    end
  end

endmodule
