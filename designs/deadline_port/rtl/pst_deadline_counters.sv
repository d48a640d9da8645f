// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Everything that a deadline port counts: by class what came, left, missed its deadline, was lost, or found no memory; in all by reason.
//
// Throughput: all events in each cycle. Latency: an event is in the totals 2 cycles later; a read of a class is answered 3 cycles later, and
//             holds every event up to that of its own cycle: what came is what left, what was lost and what is inside, to the byte.
// Counters wrap around at their width; reset clears them, which takes Classes cycles.
module pst_deadline_counters
  import pst_deadline_port_drop_pkg::*;
#(
    parameter int unsigned Classes    = 64,  // 2..256
    parameter int unsigned FrameWidth = 50,  // bits, >= 32
    parameter int unsigned ByteWidth  = 56,  // bits, >= 40
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    output logic                              init_done_o,
    // a frame was refused at the input
    input  logic                              in_valid_i,
    input  drop_e                             in_reason_i,
    input  logic [          31:0]             in_bytes_i,
    // a good frame came: taken, or dropped for want of memory
    input  logic                              fate_valid_i,
    input  logic                              fate_dropped_i,
    input  logic [ClassWidth-1:0]             fate_class_i,
    input  logic [          15:0]             fate_bytes_i,
    // a frame has left
    input  logic                              out_valid_i,
    input  logic [ClassWidth-1:0]             out_class_i,
    input  logic [          15:0]             out_bytes_i,
    // over: found by the encoder, and by the last check; frames that were skipped, or lost
    input  logic                              expired_valid_i,
    input  logic [ClassWidth-1:0]             expired_class_i,
    input  logic [          15:0]             expired_bytes_i,
    input  logic                              late_valid_i,
    input  logic [ClassWidth-1:0]             late_class_i,
    input  logic [          15:0]             late_bytes_i,
    input  logic                              passed_valid_i,
    input  logic                              passed_lost_i,
    input  logic [ClassWidth-1:0]             passed_class_i,
    input  logic [          31:0]             passed_frames_i,
    input  logic [          39:0]             passed_bytes_i,
    // counters of a class
    input  logic                              read_valid_i,
    input  logic [ClassWidth-1:0]             read_class_i,
    output logic                              read_valid_o,
    output logic [FrameWidth-1:0]             in_frames_o,
    output logic [ ByteWidth-1:0]             in_bytes_o,
    output logic [FrameWidth-1:0]             out_frames_o,
    output logic [ ByteWidth-1:0]             out_bytes_o,
    output logic [FrameWidth-1:0]             missed_frames_o,
    output logic [ ByteWidth-1:0]             missed_bytes_o,
    output logic [FrameWidth-1:0]             lost_frames_o,
    output logic [ ByteWidth-1:0]             lost_bytes_o,
    output logic [FrameWidth-1:0]             no_page_frames_o,
    output logic [ ByteWidth-1:0]             no_page_bytes_o,
    // counters by reason, by the numbers of drop_e
    output logic [15:1][FrameWidth-1:0]       dropped_frames_o,
    output logic [15:1][ ByteWidth-1:0]       dropped_bytes_o,
    // frames lost in the cycle before, for any reason
    output logic [31:0]                       lost_now_o
);

  typedef logic [FrameWidth-1:0] frames_t;
  typedef logic [ByteWidth-1:0] bytes_t;

  // ---- By class: a bank for each event, as all may come in one cycle ----
  localparam int unsigned Banks = 7;
  typedef enum logic [2:0] {BankIn, BankNoPage, BankOut, BankExpired, BankLate, BankSkipped, BankLost} bank_e;

  logic [Banks-1:0] inc_valid, bank_done;
  logic [Banks-1:0][ClassWidth-1:0] inc_class;
  logic [Banks-1:0][31:0] inc_frames;
  logic [Banks-1:0][39:0] inc_bytes;
  frames_t frames[Banks];
  bytes_t bytes[Banks];

  always_comb begin
    inc_valid[BankIn]      = fate_valid_i;
    inc_valid[BankNoPage]  = fate_valid_i && fate_dropped_i;
    inc_valid[BankOut]     = out_valid_i;
    inc_valid[BankExpired] = expired_valid_i;
    inc_valid[BankLate]    = late_valid_i;
    inc_valid[BankSkipped] = passed_valid_i && !passed_lost_i;
    inc_valid[BankLost]    = passed_valid_i && passed_lost_i;

    inc_class[BankIn]      = fate_class_i;
    inc_class[BankNoPage]  = fate_class_i;
    inc_class[BankOut]     = out_class_i;
    inc_class[BankExpired] = expired_class_i;
    inc_class[BankLate]    = late_class_i;
    inc_class[BankSkipped] = passed_class_i;
    inc_class[BankLost]    = passed_class_i;

    inc_bytes[BankIn]      = 40'(fate_bytes_i);
    inc_bytes[BankNoPage]  = 40'(fate_bytes_i);
    inc_bytes[BankOut]     = 40'(out_bytes_i);
    inc_bytes[BankExpired] = 40'(expired_bytes_i);
    inc_bytes[BankLate]    = 40'(late_bytes_i);
    inc_bytes[BankSkipped] = passed_bytes_i;
    inc_bytes[BankLost]    = passed_bytes_i;

    inc_frames              = {Banks{32'd1}};
    inc_frames[BankSkipped] = passed_frames_i;
    inc_frames[BankLost]    = passed_frames_i;
  end

  for (genvar b = 0; b < Banks; b++) begin : g_bank
    pst_deadline_bank #(
        .Classes(Classes), .FrameWidth(FrameWidth), .ByteWidth(ByteWidth)
    ) u_bank (
        .clk_i, .rst_i, .init_done_o(bank_done[b]),
        .inc_valid_i(inc_valid[b]), .inc_class_i(inc_class[b]), .inc_frames_i(inc_frames[b]), .inc_bytes_i(inc_bytes[b]),
        .read_valid_i, .read_class_i, .read_frames_o(frames[b]), .read_bytes_o(bytes[b])
    );
  end

  assign init_done_o = &bank_done;

  logic [1:0] read_q;

  always_ff @(posedge clk_i) begin
    read_q           <= {read_q[0], read_valid_i};
    read_valid_o     <= read_q[1];
    in_frames_o      <= frames[BankIn];
    in_bytes_o       <= bytes[BankIn];
    out_frames_o     <= frames[BankOut];
    out_bytes_o      <= bytes[BankOut];
    missed_frames_o  <= frames[BankExpired] + frames[BankLate] + frames[BankSkipped];
    missed_bytes_o   <= bytes[BankExpired] + bytes[BankLate] + bytes[BankSkipped];
    lost_frames_o    <= frames[BankLost];
    lost_bytes_o     <= bytes[BankLost];
    no_page_frames_o <= frames[BankNoPage];
    no_page_bytes_o  <= bytes[BankNoPage];
    if (rst_i) begin
      read_q       <= '0;
      read_valid_o <= 1'b0;
    end
  end

  // ---- By reason: the sum of a cycle's events first, so that the wide adders see one small number ----
  localparam logic [15:0] Counted = 16'd1 << DropRunt | 16'd1 << DropOversize | 16'd1 << DropBadFrame | 16'd1 << DropNoPage
                                    | 16'd1 << DropReadError | 16'd1 << DropMissed;

  logic [15:1][31:0] add_frames, add_frames_q;
  logic [15:1][40:0] add_bytes, add_bytes_q;
  logic [15:1][FrameWidth-1:0] dropped_frames_q;
  logic [15:1][ByteWidth-1:0] dropped_bytes_q;

  always_comb begin
    add_frames = '0;
    add_bytes  = '0;
    for (int unsigned r = 1; r < 16; r++) begin
      if (in_valid_i && in_reason_i == drop_e'(r)) begin
        add_frames[r] = 32'd1;
        add_bytes[r]  = 41'(in_bytes_i);
      end
    end
    if (inc_valid[BankNoPage]) begin
      add_frames[DropNoPage] = 32'd1;
      add_bytes[DropNoPage]  = 41'(fate_bytes_i);
    end
    if (inc_valid[BankLost]) begin
      add_frames[DropReadError] = passed_frames_i;
      add_bytes[DropReadError]  = 41'(passed_bytes_i);
    end
    add_frames[DropMissed] = 32'(expired_valid_i) + 32'(late_valid_i) + (inc_valid[BankSkipped] ? passed_frames_i : '0);
    add_bytes[DropMissed]  = (expired_valid_i ? 41'(expired_bytes_i) : '0) + (late_valid_i ? 41'(late_bytes_i) : '0)
                             + (inc_valid[BankSkipped] ? 41'(passed_bytes_i) : '0);
  end

  always_ff @(posedge clk_i) begin
    lost_now_o   <= (passed_valid_i ? passed_frames_i : '0)
                    + (32'(in_valid_i) + 32'(inc_valid[BankNoPage]) + 32'(expired_valid_i) + 32'(late_valid_i));
    add_frames_q <= add_frames;
    add_bytes_q  <= add_bytes;
    for (int unsigned r = 1; r < 16; r++) begin
      dropped_frames_q[r] <= Counted[r] ? dropped_frames_q[r] + frames_t'(add_frames_q[r]) : '0;
      dropped_bytes_q[r]  <= Counted[r] ? dropped_bytes_q[r] + bytes_t'(add_bytes_q[r]) : '0;
    end
    if (rst_i) begin
      lost_now_o       <= '0;
      add_frames_q     <= '0;
      add_bytes_q      <= '0;
      dropped_frames_q <= '0;
      dropped_bytes_q  <= '0;
    end
  end

  assign dropped_frames_o = dropped_frames_q;
  assign dropped_bytes_o  = dropped_bytes_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && in_valid_i) a_reason_is_counted : assert (Counted[in_reason_i]);
  end
`endif

endmodule
