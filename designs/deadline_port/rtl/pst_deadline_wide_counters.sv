// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Everything that a wide deadline port counts: by class what came, left, missed its deadline, was lost, or found no memory; in all by
// reason. Each kind of event has a bank for each column or segment, which has one event of the kind at most in a cycle; a read sums them up.
//
// Throughput: all events of all columns and segments in each cycle. Latency: an event is in the totals 2 + $clog2(Columns) cycles later; a
//             read of a class is answered 3 + $clog2(Columns) cycles later, and holds every event up to that of its own cycle: what came is
//             what left, what was lost and what is inside, to the byte.
// Counters wrap around at their width; reset clears them, which takes Classes cycles.
module pst_deadline_wide_counters
  import pst_deadline_port_drop_pkg::*;
  import pst_deadline_wide_ports_pkg::*;
#(
    parameter int unsigned Classes    = 64,  // 2..256
    parameter int unsigned Columns    = 8,   // 2, 4, 8
    parameter int unsigned FrameWidth = 50,  // bits, >= 32
    parameter int unsigned ByteWidth  = 56,  // bits, >= 41
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                                              clk_i,
    input  logic                                              rst_i,
    output logic                                              init_done_o,
    // by segment: frames that were refused at the input, dropped for want of memory, left, or were over when they were about to
    input  pst_deadline_wide_ports_pkg::refused_t [Columns-1:0] refused_i,
    input  pst_deadline_wide_ports_pkg::gone_t [Columns-1:0]    dropped_i,
    input  pst_deadline_wide_ports_pkg::gone_t [Columns-1:0]    out_i,
    input  pst_deadline_wide_ports_pkg::gone_t [Columns-1:0]    overdue_i,
    // by column: taken; over, as found by the encoder and by the last check; skipped or lost
    input  pst_deadline_wide_ports_pkg::taken_t [Columns-1:0]   taken_i,
    input  pst_deadline_wide_ports_pkg::gone_t [Columns-1:0]    expired_i,
    input  pst_deadline_wide_ports_pkg::gone_t [Columns-1:0]    late_i,
    input  pst_deadline_wide_ports_pkg::passed_t [Columns-1:0]  passed_i,
    // counters of a class
    input  logic                                              read_valid_i,
    input  logic [ClassWidth-1:0]                             read_class_i,
    output logic                                              read_valid_o,
    output logic [FrameWidth-1:0]                             in_frames_o,
    output logic [ByteWidth-1:0]                              in_bytes_o,
    output logic [FrameWidth-1:0]                             out_frames_o,
    output logic [ByteWidth-1:0]                              out_bytes_o,
    output logic [FrameWidth-1:0]                             missed_frames_o,
    output logic [ByteWidth-1:0]                              missed_bytes_o,
    output logic [FrameWidth-1:0]                             lost_frames_o,
    output logic [ByteWidth-1:0]                              lost_bytes_o,
    output logic [FrameWidth-1:0]                             no_page_frames_o,
    output logic [ByteWidth-1:0]                              no_page_bytes_o,
    // counters by reason, by the numbers of drop_e
    output logic [15:1][FrameWidth-1:0]                       dropped_frames_o,
    output logic [15:1][ByteWidth-1:0]                        dropped_bytes_o,
    // frames lost, for any reason, 1 + $clog2(Columns) cycles before
    output logic [31:0]                                       lost_now_o
);

  localparam int unsigned Levels = $clog2(Columns);

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [FrameWidth-1:0] frames_t;
  typedef logic [ByteWidth-1:0] bytes_t;

  // ---- By class: banks of each column and segment, and what they say together ----
  localparam int unsigned Banks = 8, Answers = 5;
  typedef enum logic [2:0] {BankTaken, BankNoPage, BankOut, BankExpired, BankLate, BankSkipped, BankLost, BankOverdue} bank_e;
  typedef enum logic [2:0] {In, Out, Missed, Lost, NoPage} answer_e;

  logic [Columns-1:0][Banks-1:0] bank_done;
  logic [Answers-1:0][Columns-1:0][FrameWidth-1:0] part_frames_q;
  logic [Answers-1:0][Columns-1:0][ByteWidth-1:0] part_bytes_q;
  frames_t frames[Answers];
  bytes_t bytes[Answers];

  for (genvar c = 0; c < int'(Columns); c++) begin : g_column
    logic [Banks-1:0] inc_valid;
    logic [Banks-1:0][7:0] inc_class;
    logic [Banks-1:0][31:0] inc_frames;
    logic [Banks-1:0][39:0] inc_bytes;
    frames_t bank_frames[Banks];
    bytes_t bank_bytes[Banks];

    always_comb begin
      inc_valid[BankTaken]   = taken_i[c].valid;
      inc_valid[BankNoPage]  = dropped_i[c].valid;
      inc_valid[BankOut]     = out_i[c].valid;
      inc_valid[BankExpired] = expired_i[c].valid;
      inc_valid[BankLate]    = late_i[c].valid;
      inc_valid[BankSkipped] = passed_i[c].valid && !passed_i[c].lost;
      inc_valid[BankLost]    = passed_i[c].valid && passed_i[c].lost;
      inc_valid[BankOverdue] = overdue_i[c].valid;

      inc_class[BankTaken]   = taken_i[c].class_;
      inc_class[BankNoPage]  = dropped_i[c].class_;
      inc_class[BankOut]     = out_i[c].class_;
      inc_class[BankExpired] = expired_i[c].class_;
      inc_class[BankLate]    = late_i[c].class_;
      inc_class[BankSkipped] = passed_i[c].class_;
      inc_class[BankLost]    = passed_i[c].class_;
      inc_class[BankOverdue] = overdue_i[c].class_;

      inc_bytes[BankTaken]   = 40'(taken_i[c].len);
      inc_bytes[BankNoPage]  = 40'(dropped_i[c].len);
      inc_bytes[BankOut]     = 40'(out_i[c].len);
      inc_bytes[BankExpired] = 40'(expired_i[c].len);
      inc_bytes[BankLate]    = 40'(late_i[c].len);
      inc_bytes[BankSkipped] = passed_i[c].bytes;
      inc_bytes[BankLost]    = passed_i[c].bytes;
      inc_bytes[BankOverdue] = 40'(overdue_i[c].len);

      inc_frames              = {Banks{32'd1}};
      inc_frames[BankSkipped] = passed_i[c].frames;
      inc_frames[BankLost]    = passed_i[c].frames;
    end

    for (genvar b = 0; b < int'(Banks); b++) begin : g_bank
      pst_deadline_bank #(
          .Classes(Classes), .FrameWidth(FrameWidth), .ByteWidth(ByteWidth)
      ) u_bank (
          .clk_i, .rst_i, .init_done_o(bank_done[c][b]),
          .inc_valid_i(inc_valid[b]), .inc_class_i(class_t'(inc_class[b])), .inc_frames_i(inc_frames[b]), .inc_bytes_i(inc_bytes[b]),
          .read_valid_i, .read_class_i, .read_frames_o(bank_frames[b]), .read_bytes_o(bank_bytes[b])
      );
    end

    always_ff @(posedge clk_i) begin
      part_frames_q[In][c]     <= bank_frames[BankTaken] + bank_frames[BankNoPage];
      part_bytes_q[In][c]      <= bank_bytes[BankTaken] + bank_bytes[BankNoPage];
      part_frames_q[Out][c]    <= bank_frames[BankOut];
      part_bytes_q[Out][c]     <= bank_bytes[BankOut];
      part_frames_q[Missed][c] <= bank_frames[BankExpired] + bank_frames[BankLate] + bank_frames[BankSkipped] + bank_frames[BankOverdue];
      part_bytes_q[Missed][c]  <= bank_bytes[BankExpired] + bank_bytes[BankLate] + bank_bytes[BankSkipped] + bank_bytes[BankOverdue];
      part_frames_q[Lost][c]   <= bank_frames[BankLost];
      part_bytes_q[Lost][c]    <= bank_bytes[BankLost];
      part_frames_q[NoPage][c] <= bank_frames[BankNoPage];
      part_bytes_q[NoPage][c]  <= bank_bytes[BankNoPage];
    end
  end

  for (genvar a = 0; a < int'(Answers); a++) begin : g_answer
    pst_deadline_sum #(.Inputs(Columns), .Width(FrameWidth)) u_frames (.clk_i, .rst_i, .s_i(part_frames_q[a]), .m_o(frames[a]));
    pst_deadline_sum #(.Inputs(Columns), .Width(ByteWidth)) u_bytes (.clk_i, .rst_i, .s_i(part_bytes_q[a]), .m_o(bytes[a]));
  end

  assign init_done_o      = bank_done == '1;
  assign in_frames_o      = frames[In];
  assign in_bytes_o       = bytes[In];
  assign out_frames_o     = frames[Out];
  assign out_bytes_o      = bytes[Out];
  assign missed_frames_o  = frames[Missed];
  assign missed_bytes_o   = bytes[Missed];
  assign lost_frames_o    = frames[Lost];
  assign lost_bytes_o     = bytes[Lost];
  assign no_page_frames_o = frames[NoPage];
  assign no_page_bytes_o  = bytes[NoPage];

  logic [Levels+2:0] read_q;

  assign read_valid_o = read_q[Levels+2];

  always_ff @(posedge clk_i) begin
    read_q <= {read_q[Levels+1:0], read_valid_i};
    if (rst_i) read_q <= '0;
  end

  // ---- By reason: the sum of a cycle's events first, so that the wide adders see one small number ----
  localparam int unsigned Reasons = 6;
  localparam drop_e [Reasons-1:0] Counted = {DropMissed, DropReadError, DropNoPage, DropBadFrame, DropOversize, DropRunt};

  logic [Reasons-1:0][Columns-1:0][31:0] add_frames_q;
  logic [Reasons-1:0][Columns-1:0][41:0] add_bytes_q;
  logic [Columns-1:0][31:0] lost_q;
  logic [Reasons-1:0][31:0] all_frames;
  logic [Reasons-1:0][44:0] all_bytes;

  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < Columns; c++) begin
      for (int unsigned r = 0; r < Reasons; r++) begin
        add_frames_q[r][c] <= 32'(refused_i[c].valid && drop_e'(refused_i[c].reason) == Counted[r]);
        add_bytes_q[r][c]  <= refused_i[c].valid && drop_e'(refused_i[c].reason) == Counted[r] ? 42'(refused_i[c].len) : '0;
        if (Counted[r] == DropNoPage) begin
          add_frames_q[r][c] <= 32'(dropped_i[c].valid);
          add_bytes_q[r][c]  <= dropped_i[c].valid ? 42'(dropped_i[c].len) : '0;
        end
        if (Counted[r] == DropReadError) begin
          add_frames_q[r][c] <= passed_i[c].valid && passed_i[c].lost ? passed_i[c].frames : '0;
          add_bytes_q[r][c]  <= passed_i[c].valid && passed_i[c].lost ? 42'(passed_i[c].bytes) : '0;
        end
        if (Counted[r] == DropMissed) begin
          add_frames_q[r][c] <= 32'(expired_i[c].valid) + 32'(late_i[c].valid) + 32'(overdue_i[c].valid)
                                + (passed_i[c].valid && !passed_i[c].lost ? passed_i[c].frames : '0);
          add_bytes_q[r][c]  <= (expired_i[c].valid ? 42'(expired_i[c].len) : '0) + (late_i[c].valid ? 42'(late_i[c].len) : '0)
                                + (overdue_i[c].valid ? 42'(overdue_i[c].len) : '0)
                                + (passed_i[c].valid && !passed_i[c].lost ? 42'(passed_i[c].bytes) : '0);
        end
      end
      lost_q[c] <= 32'(refused_i[c].valid) + 32'(dropped_i[c].valid) + 32'(expired_i[c].valid) + 32'(late_i[c].valid)
                   + 32'(overdue_i[c].valid) + (passed_i[c].valid ? passed_i[c].frames : '0);
    end
    if (rst_i) begin
      add_frames_q <= '0;
      add_bytes_q  <= '0;
      lost_q       <= '0;
    end
  end

  pst_deadline_sum #(.Inputs(Columns), .Width(32)) u_lost (.clk_i, .rst_i, .s_i(lost_q), .m_o(lost_now_o));

  for (genvar r = 0; r < int'(Reasons); r++) begin : g_reason
    logic [Columns-1:0][44:0] wide;

    for (genvar c = 0; c < int'(Columns); c++) begin : g_column
      assign wide[c] = 45'(add_bytes_q[r][c]);
    end

    pst_deadline_sum #(.Inputs(Columns), .Width(32)) u_frames (.clk_i, .rst_i, .s_i(add_frames_q[r]), .m_o(all_frames[r]));
    pst_deadline_sum #(.Inputs(Columns), .Width(45)) u_bytes (.clk_i, .rst_i, .s_i(wide), .m_o(all_bytes[r]));
  end

  logic [15:1][FrameWidth-1:0] dropped_frames_q;
  logic [15:1][ByteWidth-1:0] dropped_bytes_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned r = 0; r < Reasons; r++) begin
      dropped_frames_q[Counted[r]] <= dropped_frames_q[Counted[r]] + frames_t'(all_frames[r]);
      dropped_bytes_q[Counted[r]]  <= dropped_bytes_q[Counted[r]] + bytes_t'(all_bytes[r]);
    end
    if (rst_i) begin
      dropped_frames_q <= '0;
      dropped_bytes_q  <= '0;
    end
  end

  assign dropped_frames_o = dropped_frames_q;
  assign dropped_bytes_o  = dropped_bytes_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int unsigned c = 0; c < Columns; c++) begin
        a_reason_is_counted : assert (!refused_i[c].valid || drop_e'(refused_i[c].reason) inside {DropRunt, DropOversize, DropBadFrame});
      end
    end
  end
`endif

endmodule
