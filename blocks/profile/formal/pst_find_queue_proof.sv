// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Frames and answers stay in step: every beat comes out once, in order and unchanged, and a frame's first beat has the answer that is its own.
//
// Any frames come, with any pauses at both ends, and parser and subscribers answer as late as they like (their contracts are pst_parse.sv
// and pst_subscriber.sv beside this). A beat's data is its number and that of its frame, so what comes out says what it is.
module pst_find_queue_proof
  import pst_profile_pkg::*;
(
    input logic       clk_i,
    input logic       rst_i,
    input logic       valid_i,
    input logic       last_i,
    input logic [7:0] keep_i,
    input logic       user_i,
    input logic       ready_i
);

  localparam int unsigned WaitBeats = 4;

  typedef struct packed {
    logic       last;
    logic [3:0] frame;
    logic [3:0] beat;
  } mark_t;

  logic in_ready, out_valid, out_last, out_user, out_drop;
  logic [63:0] out_data;
  logic [7:0] out_keep;
  logic [31:0] out_dest;

  logic in_first_q, out_first_q, seen_q;
  logic [3:0] in_frame_q, in_beat_q, out_frame_q, out_beat_q;    // frames and beats that came, and that left

  mark_t mark, out_mark;
  assign mark     = '{last: last_i, frame: in_frame_q, beat: in_beat_q};
  assign out_mark = mark_t'(out_data[$bits(mark_t)-1:0]);

  pst_find_queue #(
      .DataBytes(8),
      .Profiles(1),
      .Entries(16),
      .ExtensionHeaders(0),
      .WaitBeats(WaitBeats)
  ) u_dut (
      .clk_i,
      .rst_i,
      .init_done_o    (),
      .s_axis_tdata_i (64'(mark)),
      .s_axis_tkeep_i (keep_i),
      .s_axis_tlast_i (last_i),
      .s_axis_tuser_i (user_i),
      .s_axis_tvalid_i(valid_i),
      .s_axis_tready_o(in_ready),
      .m_axis_tdata_o (out_data),
      .m_axis_tkeep_o (out_keep),
      .m_axis_tlast_o (out_last),
      .m_axis_tuser_o (out_user),
      .m_axis_tdest_o (out_dest),
      .m_axis_tdrop_o (out_drop),
      .m_axis_tvalid_o(out_valid),
      .m_axis_tready_i(ready_i),
      .set_valid_i    (1'b0),
      .set_what_i     (SetProfile),
      .set_index_i    ('0),
      .set_value_i    ('0),
      .set_word_i     ('0),
      .s_op_valid_i   (1'b0),
      .s_op_ready_o   (),
      .s_op_i         (pst_lookup_pkg::OpInsert),
      .s_op_key_i     ('0),
      .s_op_value_i   ('0),
      .m_done_valid_o (),
      .m_done_o       (),
      .keys_o         (),
      .moves_o        (),
      .count_index_i  ('0),
      .count_o        ()
  );

  logic take, give;
  assign take = valid_i && in_ready;
  assign give = out_valid && ready_i;

  initial seen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    if (take) begin
      in_first_q <= last_i;
      in_beat_q  <= in_beat_q + 1'b1;
      in_frame_q <= in_frame_q + 4'(last_i);
    end
    if (give) begin
      out_first_q <= out_last;
      out_beat_q  <= out_beat_q + 1'b1;
      out_frame_q <= out_frame_q + 4'(out_last);
    end
    if (rst_i) begin
      in_first_q  <= 1'b1;
      out_first_q <= 1'b1;
      {in_frame_q, in_beat_q, out_frame_q, out_beat_q} <= '0;
    end
    if (!seen_q) m_reset_first : assume (rst_i);
  end

  // --- what waits: beats by place, answers by place, answers under way

  logic [2:0] beats, answers;
  mark_t held[WaitBeats];
  logic held_last[WaitBeats];
  logic [7:0] held_keep[WaitBeats];
  logic [28:0] held_answer[WaitBeats];
  assign beats   = u_dut.u_beats.level_q;
  assign answers = u_dut.u_answers.level_q;
  for (genvar i = 0; i < int'(WaitBeats); i++) begin : g_held
    logic [73:0] word;
    logic [1:0] beat_at, answer_at;
    assign beat_at        = u_dut.u_beats.raddr_q + 2'(i);
    assign answer_at      = u_dut.u_answers.raddr_q + 2'(i);
    assign word           = u_dut.u_beats.mem[beat_at];
    assign held[i]        = mark_t'(word[$bits(mark_t)-1:0]);
    assign held_keep[i]   = word[71:64];
    assign held_last[i]   = word[72];
    assign held_answer[i] = u_dut.u_answers.mem[answer_at];
  end

  // Frames that have begun to leave, vectors that were given, answers that were kept.
  logic [3:0] left, vectors, kept, under_way;
  assign left      = out_frame_q + 4'(!out_first_q);
  assign vectors   = u_dut.u_parse.vectors_q;
  assign under_way = 4'(u_dut.u_subscriber.valid_q[0]) + 4'(u_dut.u_subscriber.valid_q[1]);
  assign kept      = vectors - under_way;

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (out_valid) begin
        a_in_order : assert (out_mark.beat == out_beat_q && out_mark.frame == out_frame_q && out_mark.last == out_last);
        a_keep : assert ((out_keep & (out_keep + 1'b1)) == '0 && (out_last || out_keep == '1));
      end
      if (out_valid && out_first_q) a_own_answer : assert (out_dest == 32'(out_frame_q) && out_drop == out_frame_q[0]);
      if ($past(out_valid && !ready_i && !rst_i)) a_stays : assert (out_valid && $stable(out_data) && $stable(out_last));
      if (out_valid && out_first_q && $past(out_valid && !ready_i && out_first_q && !rst_i)) begin
        a_answer_stays : assert ($stable(out_dest) && $stable(out_drop));
      end
      // nothing is lost inside: what came and has not left waits, and whoever waits for its answer gets it
      a_all_there : assert (4'(in_beat_q - out_beat_q) == 4'(beats));
      a_answer_has_room : assert (!u_dut.queue_valid || u_dut.unused_answer_ready);
      a_answer_is_of_a_frame : assert (answers == '0 || beats != '0);
      if (beats != '0 && !out_valid) a_answer_comes : assert (out_first_q && 4'(vectors - left) == under_way);

      // what the induction needs
      a_first : assert (out_first_q == u_dut.beat_first_q && in_first_q == u_dut.u_parse.first_q);
      a_begun : assert (u_dut.u_parse.begun_q == 4'(in_frame_q + 4'(!in_first_q)));
      a_counts : assert (4'(u_dut.u_parse.begun_q - left) <= 4'(beats) && 4'(vectors - left) <= 4'(u_dut.u_parse.begun_q - left)
                         && 4'(kept - left) == 4'(answers));
      a_fifos : assert (beats <= 3'(WaitBeats) && answers <= 3'(WaitBeats) && (beats != '0) == u_dut.u_beats.valid_q
                        && (answers != '0) == u_dut.u_answers.valid_q);
      a_places : assert (2'(u_dut.u_beats.waddr_q - u_dut.u_beats.raddr_q) == beats[1:0]
                         && 2'(u_dut.u_answers.waddr_q - u_dut.u_answers.raddr_q) == answers[1:0]);
      for (int i = 0; i < 2; i++) begin
        if (u_dut.u_subscriber.valid_q[i]) begin
          a_under_way : assert (u_dut.u_subscriber.number_q[i] == 4'(vectors - 4'd1 - 4'(i == 1 && u_dut.u_subscriber.valid_q[0])));
        end
      end
      for (int i = 0; i < WaitBeats; i++) begin
        if (3'(i) < answers) a_answers : assert (held_answer[i] == {1'(4'(left + 4'(i))), 28'(4'(left + 4'(i)))});
        if (3'(i) < beats) a_beats : assert (held[i].beat == 4'(out_beat_q + 4'(i)) && held[i].last == held_last[i]);
        if (3'(i) < beats) a_keeps : assert ((held_keep[i] & (held_keep[i] + 1'b1)) == '0 && (held_last[i] || held_keep[i] == '1));
        if (i == 0 && beats != '0) a_head : assert (held[0].frame == out_frame_q);
        if (i > 0 && 3'(i) < beats) a_next : assert (held[i].frame == 4'(held[i-1].frame + 4'(held_last[i-1])));
        if (3'(i + 1) == beats) a_newest : assert (in_frame_q == 4'(held[i].frame + 4'(held_last[i])) && in_first_q == held_last[i]);
      end
      if (beats == '0) a_empty : assert (in_frame_q == out_frame_q && in_first_q == out_first_q);

      c_three_frames : cover (give && out_first_q && out_last && out_frame_q == 4'd3
                              && $past(give && out_first_q && out_last) && $past(give && out_first_q && out_last, 2));
      c_long : cover (give && out_last && out_beat_q == 4'd6 && out_frame_q == 4'd1);
      c_full : cover (beats == 3'(WaitBeats) && out_first_q && answers == 3'(WaitBeats));
    end
  end

endmodule
