// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A column's part of the token rings: which classes may be taken here now, and how far each has come in its run.
//
// A wide port deals the frames of a class to its columns in runs of RunFrames, in turn. There is one token for each class; only where it is
// may a frame of the class be taken. It goes on when the run's frames are gone, each in one of two ways: taken, or owed: left out by a skip
// or lost with a chunk, which is told here as a number of frames. What is owed counts before any further frame is taken; what is owed
// beyond the run waits for the next ones. So all columns count alike, without numbers on frames, and nothing waits for what is gone.
//
// Two frames may be taken at once, while two or more of the run are left.
//
// Throughput: a take a cycle, one that ends a run too; what is owed: a run, or what there is of it, every 2 cycles. Latency: 1 cycle from the
// last take of a run to m_token, 3 from s_token to m_token where a whole run is owed. Order: none. Reset: token of class c is in column c
// modulo Columns, nothing is owed.
module pst_deadline_token #(
    parameter int unsigned Classes   = 64,
    parameter int unsigned Columns   = 8,     // 2, 4, 8
    parameter int unsigned RunFrames = 16,    // a power of two, 2..256
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic [           2:0] column_i,         // constant
    // ring
    input  logic                  s_token_valid_i,
    input  logic [ClassWidth-1:0] s_token_class_i,
    output logic                  m_token_valid_o,
    output logic [ClassWidth-1:0] m_token_class_o,
    // classes
    input  logic [   Classes-1:0] shown_i,          // a frame of it is on its way to the encoder, or there
    output logic [   Classes-1:0] may_o,            // one may be shown
    output logic [   Classes-1:0] owed_o,
    output logic [   Classes-1:0] stop_o,           // none may follow, nor go with it, in the cycle in which one is taken
    output logic [   Classes-1:0] stop_pair_o,      // none may follow in the cycle in which two are
    // a frame of a class is taken, or two are
    input  logic                  take_valid_i,
    input  logic                  take_pair_i,
    input  logic [ClassWidth-1:0] take_class_i,
    // frames of a class are gone in another way
    input  logic                  gone_valid_i,
    input  logic [ClassWidth-1:0] gone_class_i,
    input  logic [          31:0] gone_frames_i     // >= 1
);

  localparam int unsigned SpotWidth = $clog2(RunFrames);

  if (Columns != 2 && Columns != 4 && Columns != 8) begin : g_bad_columns
    $error("pst_deadline_token: Columns is %0d, allowed: 2, 4, 8", Columns);
  end
  if (RunFrames < 2 || RunFrames > 256 || RunFrames != 2 ** SpotWidth) begin : g_bad_run
    $error("pst_deadline_token: RunFrames is %0d, allowed: powers of two, 2..256", RunFrames);
  end

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [SpotWidth-1:0] spot_t;

  logic [Classes-1:0] here_q, owed_q, last_q, two_q;   // token; frames are owed; one is left of the run; two are
  spot_t spot_q[Classes];                       // frames of the run that are gone
  logic [31:0] owed_mem[Classes];               // counts where owed_q is set

  localparam spot_t Two = spot_t'(RunFrames - 2);

  assign may_o       = here_q & ~owed_q;
  assign owed_o      = owed_q;
  assign stop_o      = last_q | owed_q;
  assign stop_pair_o = two_q | last_q | owed_q;

  // ---- A class that owes, has its token and no frame on its way ----
  logic pick_valid, pick_take, work_valid_q, work, work_all, work_pass, take_pass;
  class_t pick_class, work_class_q, owed_class;
  logic [31:0] owed, owed_new;
  logic [SpotWidth:0] room;
  spot_t take_spot, work_spot;

  assign pick_take = pick_valid && !work_valid_q;

  pst_deadline_pick #(
      .Classes(Classes)
  ) u_pick (
      .clk_i,
      .rst_i,
      .request_i(here_q & owed_q & ~shown_i),
      .take_i   (pick_take),
      .valid_o  (pick_valid),
      .class_o  (pick_class)
  );

  // The memory has one writer: what comes to be owed is first.
  assign owed_class = gone_valid_i ? gone_class_i : work_class_q;
  assign owed       = owed_q[owed_class] ? owed_mem[owed_class] : '0;
  assign room       = (SpotWidth + 1)'(RunFrames) - (SpotWidth + 1)'(spot_q[work_class_q]);

  always_comb begin
    take_spot = spot_q[take_class_i] + (take_pair_i ? spot_t'(2) : spot_t'(1));
    take_pass = take_valid_i && (last_q[take_class_i] || (take_pair_i && two_q[take_class_i]));
    work      = work_valid_q && !gone_valid_i && !take_pass;
    work_all  = owed <= 32'(room);
    work_pass = work && owed >= 32'(room);
    work_spot = owed >= 32'(room) ? '0 : spot_q[work_class_q] + spot_t'(owed);
    owed_new  = gone_valid_i ? owed + gone_frames_i : owed - 32'(room);
  end

  always_ff @(posedge clk_i) begin
    if (gone_valid_i || work) owed_mem[owed_class] <= owed_new;
  end

  always_ff @(posedge clk_i) begin
    work_valid_q <= pick_take || (work_valid_q && !work);
    if (pick_take) work_class_q <= pick_class;
    if (s_token_valid_i) here_q[s_token_class_i] <= 1'b1;
    if (take_valid_i) begin
      spot_q[take_class_i] <= take_spot;
      last_q[take_class_i] <= take_spot == '1;
      two_q[take_class_i]  <= take_spot == Two;
      if (take_pass) here_q[take_class_i] <= 1'b0;
    end
    if (work) begin
      spot_q[work_class_q] <= work_spot;
      last_q[work_class_q] <= work_spot == '1;
      two_q[work_class_q]  <= work_spot == Two;
      if (work_all) owed_q[work_class_q] <= 1'b0;
      if (work_pass) here_q[work_class_q] <= 1'b0;
    end
    if (gone_valid_i) owed_q[gone_class_i] <= 1'b1;

    m_token_valid_o <= take_pass || work_pass;
    m_token_class_o <= take_pass ? take_class_i : work_class_q;
    if (rst_i) begin
      m_token_valid_o <= 1'b0;
      work_valid_q    <= 1'b0;
      owed_q          <= '0;
      last_q          <= '0;
      two_q           <= {Classes{RunFrames == 2}};
      for (int unsigned c = 0; c < Classes; c++) begin
        spot_q[c] <= '0;
        here_q[c] <= 3'(c % Columns) == column_i;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_taken_with_token : assert (!take_valid_i || here_q[take_class_i])
      else $error("a frame of class %0d is taken in column %0d, its token is elsewhere", take_class_i, column_i);
      a_pair_is_of_one_run : assert (!take_valid_i || !take_pair_i || !last_q[take_class_i]);
      a_token_is_new : assert (!s_token_valid_i || !here_q[s_token_class_i]);
      a_goes_elsewhere : assert (!work || !take_valid_i || take_class_i != work_class_q);
    end
  end
`endif

endmodule
