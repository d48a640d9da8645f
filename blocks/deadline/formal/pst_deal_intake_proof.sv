// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_deal_intake: each segment is of one frame, each frame begins once, has its length, and is said once to be good or
// refused, in the word in which it begins or by itself behind it; none waits for more segments than the longest frame has.
module pst_deal_intake_proof
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes       = 2,
    parameter int unsigned Columns       = 4,
    parameter int unsigned MinFrameBytes = 60,
    parameter int unsigned MaxFrameBytes = 150,
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input logic                               clk_i,
    input logic                               rst_i,
    input logic                               s_valid_i,
    input logic [Columns-1:0]                 s_used_i,
    input logic [Columns-1:0]                 s_last_i,
    input logic [Columns-1:0][           6:0] s_bytes_last_i,
    input logic [Columns-1:0]                 s_bad_i,
    input logic [Columns-1:0][ClassWidth-1:0] s_class_i
);

  localparam int unsigned MaxSegments = (MaxFrameBytes + 63) / 64;
  localparam int unsigned LaneWidth   = $clog2(Columns);

  logic m_valid, opens, open_valid, open_good, seen_q;
  logic [Columns-1:0] used, begins, good, refused;
  logic [Columns-1:0][15:0] bytes, refused_bytes, user, refused_user;
  logic [Columns-1:0][ClassWidth-1:0] class_id, refused_class;
  logic [15:0] open_bytes;
  fate_e [Columns-1:0] reason;
  initial seen_q = 1'b0;

  pst_deal_intake #(
      .Classes(Classes), .Columns(Columns), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes)
  ) u_dut (
      .clk_i, .rst_i,
      .s_valid_i, .s_used_i, .s_last_i, .s_bytes_last_i, .s_bad_i, .s_class_i, .s_user_i('0),
      .m_valid_o(m_valid), .m_used_o(used), .m_begin_o(begins), .m_good_o(good), .m_bytes_o(bytes), .m_class_o(class_id),
      .m_user_o(user), .m_opens_o(opens), .m_open_valid_o(open_valid), .m_open_good_o(open_good), .m_open_bytes_o(open_bytes),
      .ev_refused_valid_o(refused), .ev_refused_class_o(refused_class), .ev_refused_bytes_o(refused_bytes), .ev_refused_reason_o(reason),
      .ev_refused_user_o(refused_user)
  );

  // Said a segment at a time, of the word before: where the frame of each segment began, and how many it has up to there.
  logic valid_q;
  logic [Columns-1:0] used_q, last_q, bad_q;
  logic [Columns-1:0][6:0] last_bytes_q;
  logic [Columns-1:0][ClassWidth-1:0] class_q;
  logic open_q, told_q;                       // before that word: a frame was under way, its fate has been told
  logic [31:0] count_q, count;                // segments that it had
  logic [ClassWidth-1:0] open_class_q, open_class;

  logic [Columns-1:0] starts, ends, long_ones;
  logic [Columns-1:0][31:0] length, from;     // byte; lane of its begin, Columns: an earlier word
  logic [Columns-1:0][ClassWidth-1:0] of_class;
  logic open, old_ends, old_long;
  logic [31:0] old_bytes, old_lane;

  always_comb begin
    open       = open_q;
    count      = count_q;
    open_class = open_class_q;
    starts     = '0;
    ends       = '0;
    long_ones  = '0;
    length     = '0;
    from       = {Columns{32'(Columns)}};
    of_class   = '0;
    old_ends   = 1'b0;
    old_long   = 1'b0;
    old_bytes  = '0;
    old_lane   = '0;
    for (int unsigned i = 0; i < Columns; i++) begin
      if (i != 0) from[i] = from[i-1];
      if (used_q[i]) begin
        starts[i]  = !open;
        if (!open) from[i] = i;
        if (!open) open_class = class_q[i];
        count      = open ? count + 1 : 1;
        open       = !last_q[i];
        ends[i]    = last_q[i];
        length[i]  = 64 * (count - 1) + 32'(last_bytes_q[i]);
        of_class[i] = open_class;
        if (from[i] == Columns && ends[i]) begin
          old_ends  = 1'b1;
          old_bytes = length[i];
          old_lane  = i;
        end
        if (from[i] == Columns && open && count >= MaxSegments) old_long = 1'b1;
      end
      long_ones[i] = length[i] < MinFrameBytes || length[i] > MaxFrameBytes;
    end
  end

  logic [31:0] begun_q, fine_q, gone_q, opened_q, closed_q;
  logic [31:0] now_begun, now_fine, now_gone;
  always_comb begin
    now_begun = '0;
    now_fine  = '0;
    now_gone  = '0;
    for (int unsigned i = 0; i < Columns; i++) begin
      if (m_valid && begins[i]) now_begun = now_begun + 1;
      if (m_valid && good[i]) now_fine = now_fine + 1;
      if (refused[i]) now_gone = now_gone + 1;
    end
    if (open_valid && open_good) now_fine = now_fine + 1;
  end

  always_ff @(posedge clk_i) begin
    seen_q       <= 1'b1;
    valid_q      <= s_valid_i;
    used_q       <= s_used_i;
    last_q       <= s_last_i;
    bad_q        <= s_bad_i;
    last_bytes_q <= s_bytes_last_i;
    class_q      <= s_class_i;
    if (valid_q) begin
      open_q       <= open;
      count_q      <= open ? count : '0;
      open_class_q <= open_class;
      told_q       <= open && (from[Columns-1] == Columns && (told_q || old_long));
    end
    begun_q  <= begun_q + now_begun;
    fine_q   <= fine_q + now_fine;
    gone_q   <= gone_q + now_gone;
    opened_q <= opened_q + 32'(m_valid && opens);
    closed_q <= closed_q + 32'(open_valid);
    if (rst_i) begin
      valid_q  <= 1'b0;
      open_q   <= 1'b0;
      told_q   <= 1'b0;
      count_q  <= '0;
      begun_q  <= '0;
      fine_q   <= '0;
      gone_q   <= '0;
      opened_q <= '0;
      closed_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    for (int unsigned i = 0; i < Columns; i++) begin
      m_bytes : assume (s_bytes_last_i[i] >= 7'd1 && s_bytes_last_i[i] <= 7'd64);
      m_class : assume (32'(s_class_i[i]) < Classes);
    end
    m_word : assume (!s_valid_i || s_used_i != '0);
    m_count : assume (count_q < 32'd1 << 24);
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_record : assert (m_valid == valid_q);
      if (m_valid) begin
        a_used : assert (used == used_q);
        a_begins : assert (begins == starts);
        a_opens : assert (opens == (open && from[Columns-1] != Columns));
        for (int unsigned i = 0; i < Columns; i++) begin
          if (begins[i]) a_class : assert (class_id[i] == class_q[i]);
          a_good_begins : assert (!good[i] || begins[i]);
          // a frame that ends here
          for (int unsigned j = 0; j < Columns; j++) begin
            if (ends[i] && from[i] == j) a_told_where_it_begins : assert (good[j] == !(bad_q[i] || long_ones[i]));
            if (ends[i] && from[i] == j && good[j]) a_length : assert (32'(bytes[j]) == length[i]);
          end
          a_refused : assert (refused[i] == (ends[i] && (bad_q[i] || long_ones[i])));
          if (refused[i]) a_refused_class : assert (refused_class[i] == of_class[i]);
          if (refused[i]) a_refused_reason : assert (reason[i] == (bad_q[i] ? FateBad : FateLength));
          if (refused[i]) a_refused_length : assert (32'(refused_bytes[i]) == length[i]
                                                       || (refused_bytes[i] == '1 && length[i] > 32'd65535));
        end
        // one from an earlier word: told when it ends or is too long, once
        a_told_once : assert (open_valid == (!told_q && (old_ends || old_long)));
        if (open_valid && old_ends) a_told_right : assert (open_good == !(bad_q[LaneWidth'(old_lane)] || long_ones[LaneWidth'(old_lane)]));
        if (open_valid && open_good) a_told_length : assert (32'(open_bytes) == old_bytes);
        if (open_valid && !old_ends) a_too_long : assert (!open_good);
        if (told_q && old_ends) a_told_too_long : assert (old_bytes > MaxFrameBytes);
      end else begin
        a_nothing : assert (refused == '0 && !open_valid);
      end
      // All that has begun is good, refused or under way; what goes on is told of, or under way.
      a_all_frames : assert (begun_q == fine_q + gone_q + 32'(open_q));
      a_all_that_go_on : assert (opened_q == closed_q + 32'(open_q && !told_q));
      // what the induction needs
      a_next_open : assert (u_dut.open_q == (valid_q ? open : open_q));
      a_next_told : assert (u_dut.condemned_q == (valid_q ? open && from[Columns-1] == Columns && (told_q || old_long) : told_q));
      a_next_count : assert (!u_dut.open_q || 32'(u_dut.segments_q)
                               == ((valid_q ? count : count_q) < 2047 ? (valid_q ? count : count_q) : 2047));
      a_next_class : assert (!u_dut.open_q || u_dut.class_q == (valid_q ? open_class : open_class_q));
      a_open_count : assert (open_q == (count_q != '0));
      a_told_count : assert (!told_q || (open_q && count_q >= MaxSegments));
      a_not_told : assert (told_q || !open_q || count_q <= Columns || count_q < MaxSegments);
      // useful work is possible
      c_long_one : cover (open_valid && open_good && open_bytes == 16'(MaxFrameBytes) && refused != '0);
      c_full_word : cover (m_valid && begins == '1 && good == '1);
      c_endless : cover (told_q && count_q > 3 * MaxSegments && valid_q && old_ends);
    end
  end

endmodule
