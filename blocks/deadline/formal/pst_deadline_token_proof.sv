// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_deadline_token: a ring of columns has exactly one token of a class; only where it is are frames taken; runs are counted to the
// frame, whichever way frames go; so what is taken, or owed and passed over, is in the order in which it was dealt.
module pst_deadline_token_proof #(
    parameter int unsigned Classes   = 2,
    parameter int unsigned Columns   = 2,
    parameter int unsigned RunFrames = 2,
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input logic                               clk_i,
    input logic                               rst_i,
    input logic [Columns-1:0]                 show_i,        // a class that may be shown is
    input logic [Columns-1:0][ClassWidth-1:0] show_class_i,
    input logic [Columns-1:0]                 take_i,
    input logic [Columns-1:0][ClassWidth-1:0] take_class_i,
    input logic [Columns-1:0]                 pair_i,        // two are taken, if two may be
    input logic [Columns-1:0]                 follows_i,     // there is a frame behind what is taken
    input logic [Columns-1:0]                 gone_i,
    input logic [Columns-1:0][ClassWidth-1:0] gone_class_i,
    input logic [Columns-1:0][31:0]           gone_frames_i,
    input logic [ClassWidth-1:0]              watch_i        // the class that is followed
);

  localparam int unsigned SpotWidth = $clog2(RunFrames);
  localparam int unsigned RingWidth = $clog2(Columns);

  logic [ClassWidth-1:0] class_q;
  logic [Columns-1:0] pair, two, token_valid, here, owing, last, working, flight, takes, passes, shown_class;
  logic [Columns-1:0][ClassWidth-1:0] token_class;
  logic [Columns-1:0][31:0] owed, spot;
  logic [Columns-1:0][Classes-1:0] shown_q;
  logic seen_q;
  initial seen_q = 1'b0;

  for (genvar i = 0; i < Columns; i++) begin : g_column
    localparam int unsigned Before = (i + Columns - 1) % Columns;
    logic [Classes-1:0] may, owed_bits, stop, stop_pair, may_now;

    pst_deadline_token #(
        .Classes(Classes), .Columns(Columns), .RunFrames(RunFrames)
    ) u_dut (
        .clk_i, .rst_i, .column_i(3'(i)),
        .s_token_valid_i(token_valid[Before]), .s_token_class_i(token_class[Before]),
        .m_token_valid_o(token_valid[i]), .m_token_class_o(token_class[i]),
        .shown_i(shown_q[i]), .may_o(may), .owed_o(owed_bits), .stop_o(stop), .stop_pair_o(stop_pair),
        .take_valid_i(take_i[i]), .take_pair_i(pair[i]), .take_class_i(take_class_i[i]),
        .gone_valid_i(gone_i[i]), .gone_class_i(gone_class_i[i]), .gone_frames_i(gone_frames_i[i])
    );

    // The queues: a class is shown where it may be, also in the cycle in which its token comes; a frame that is taken has a next one, or not.
    always_comb begin
      may_now = may;
      if (token_valid[Before] && !owed_bits[token_class[Before]]) may_now[token_class[Before]] = 1'b1;
    end

    always_ff @(posedge clk_i) begin
      if (show_i[i]) shown_q[i][show_class_i[i]] <= 1'b1;
      if (take_i[i] && ((pair[i] ? stop_pair[take_class_i[i]] : stop[take_class_i[i]]) || !follows_i[i])) begin
        shown_q[i][take_class_i[i]] <= 1'b0;
      end
      if (rst_i) shown_q[i] <= '0;
    end

    assign pair[i] = take_i[i] && pair_i[i] && !stop[take_class_i[i]];

    always_ff @(posedge clk_i) begin
      m_class : assume (32'(show_class_i[i]) < Classes && 32'(take_class_i[i]) < Classes && 32'(gone_class_i[i]) < Classes);
      m_shown : assume (!show_i[i] || (may_now[show_class_i[i]] && !shown_q[i][show_class_i[i]]));
      m_taken : assume (!take_i[i] || shown_q[i][take_class_i[i]]);
      m_gone : assume (!gone_i[i] || (gone_frames_i[i] != '0 && gone_frames_i[i] < 32'd1 << 24));
    end

    assign here[i]        = u_dut.here_q[class_q];
    assign owing[i]       = u_dut.owed_q[class_q];
    assign last[i]        = u_dut.last_q[class_q];
    assign two[i]         = u_dut.two_q[class_q];
    assign owed[i]        = owing[i] ? u_dut.owed_mem[class_q] : '0;
    assign spot[i]        = 32'(u_dut.spot_q[class_q]);
    assign working[i]     = u_dut.work_valid_q && u_dut.work_class_q == class_q;
    assign flight[i]      = token_valid[i] && token_class[i] == class_q;
    assign takes[i]       = take_i[i] && take_class_i[i] == class_q;
    assign passes[i]      = (u_dut.take_pass && takes[i]) || (u_dut.work_pass && working[i]);
    assign shown_class[i] = shown_q[i][class_q];
  end

  // What has become of the frames of one class that each column was dealt, modulo 2^32, and where their order is.
  logic [Columns-1:0][31:0] gone_q, visits_q;
  logic [RingWidth-1:0] ring_q;   // column whose run it is

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    for (int unsigned i = 0; i < Columns; i++) begin
      gone_q[i] <= gone_q[i] + 32'(takes[i]) + 32'(takes[i] && pair[i]) + (gone_i[i] && gone_class_i[i] == class_q ? gone_frames_i[i] : '0);
      if (passes[i]) begin
        visits_q[i] <= visits_q[i] + 1'b1;
        ring_q      <= ring_q + 1'b1;
      end
    end
    if (rst_i) begin
      class_q  <= watch_i;
      gone_q   <= '0;
      visits_q <= '0;
      ring_q   <= RingWidth'(watch_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    m_watch : assume (32'(watch_i) < Classes);
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_one_token : assert ($countones(here) + $countones(flight) == 1);
      a_one_takes : assert ($countones(takes) <= 1);
      a_token_is_where_the_order_is : assert (here == '0 || here[ring_q]);
      a_token_goes_there : assert (flight == '0 || flight[RingWidth'(ring_q - 1'b1)]);
      for (int unsigned i = 0; i < Columns; i++) begin
        if (takes[i]) a_taken_in_turn : assert (here[i] && 32'(ring_q) == i);
        // All that is gone counts once: for runs that are over, for this one, or for those to come.
        a_counted : assert (gone_q[i] == RunFrames * visits_q[i] + spot[i] + owed[i]);
        a_between_runs : assert (here[i] || spot[i] == '0);
        // No frame is taken while there is something before it that counts in a later run: what is owed is below what can wrap.
        m_owed : assume (owed[i] < 32'd1 << 28);
        // what the induction needs
        a_shown_here : assert (!shown_class[i] || here[i]);
        a_last : assert (last[i] == (spot[i] == RunFrames - 1));
        a_two : assert (two[i] == (spot[i] == RunFrames - 2));
        a_owing : assert (!owing[i] || owed[i] != '0);
        a_working : assert (!working[i] || (here[i] && owing[i] && !shown_class[i]));
        a_spot : assert (spot[i] < RunFrames);
      end
      a_class : assert (32'(class_q) < Classes);
      // useful work is possible
      c_round : cover (visits_q[0] == 32'd2 && takes[Columns-1]);
      c_pair_ends_a_run : cover (visits_q[0] == 32'd2 && takes[Columns-1] && pair[Columns-1] && passes[Columns-1]);
      c_owed_round : cover (visits_q[0] == 32'd2 && owing[0] && passes[Columns-1]);
    end
  end

endmodule
