// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_edfr_positions: frames get positions behind each other, without a hole but where a row is filled up, each position once;
// what is given never reaches over what has not left, whatever columns decide in the cycles that hold_o takes to them.
module pst_edfr_positions_proof #(
    parameter int unsigned Columns     = 2,
    parameter int unsigned Rows        = 32,
    parameter int unsigned MaxSegments = 3,
    localparam int unsigned LaneWidth     = $clog2(Columns),
    localparam int unsigned RowWidth      = $clog2(Rows),
    localparam int unsigned PositionWidth = RowWidth + LaneWidth + 1
) (
    input logic                     clk_i,
    input logic                     rst_i,
    input logic [Columns-1:0]       take_i,
    input logic [Columns-1:0][10:0] segments_i,
    input logic                     row_i,       // a row leaves, if one may
    input logic                     pad_i
);

  localparam int unsigned Window = Rows * Columns;
  localparam int unsigned Most   = Columns * MaxSegments;   // segments that a cycle decides

  logic hold, padded, pad, seen_q;
  logic [Columns-1:0] valid, valid_q;
  logic [Columns-1:0][10:0] segments_q, segments;
  logic [Columns-1:0][PositionWidth-1:0] position;
  logic [PositionWidth-1:0] next, used, end_of;
  logic [RowWidth:0] out_row_q;
  initial seen_q = 1'b0;

  // A column's take is told in the cycle behind it.
  always_ff @(posedge clk_i) begin
    seen_q     <= 1'b1;
    valid_q    <= hold ? '0 : take_i;
    segments_q <= segments_i;
    if (rst_i) valid_q <= '0;
  end

  pst_edfr_positions #(
      .Columns(Columns), .Rows(Rows), .MaxSegments(MaxSegments)
  ) u_dut (
      .clk_i, .rst_i, .hold_o(hold),
      .s_decided_valid_i(valid_q), .s_decided_segments_i(segments_q),
      .m_give_valid_o(valid), .m_give_position_o(position), .m_give_segments_o(segments),
      .next_o(next), .out_row_i(out_row_q), .pad_i(pad), .padded_o(padded)
  );

  assign used = next - {out_row_q, LaneWidth'(0)};
  assign pad  = pad_i && next[LaneWidth-1:0] != '0 && next[PositionWidth-1:LaneWidth] == out_row_q;

  always_ff @(posedge clk_i) begin
    if (row_i && 32'(used) >= Columns) out_row_q <= out_row_q + 1'b1;
    if (rst_i) out_row_q <= '0;
  end

  // Segments that are on their way to `next`: of the take, told, and summed up.
  logic [31:0] told, summed, total, given;
  always_comb begin
    told   = '0;
    summed = '0;
    given  = '0;
    for (int unsigned i = 0; i < Columns; i++) begin
      if (valid_q[i]) told = told + 32'(segments_q[i]);
      if (u_dut.decided_q[i]) summed = summed + 32'(u_dut.segments_q[i]);
      if (valid[i]) given = given + 32'(segments[i]);
    end
    total = 32'(u_dut.total_q);
  end

  // The frames that are given follow each other, and the last one ends where the next one begins.
  logic [Columns-1:0][PositionWidth-1:0] begins, ahead;
  always_comb begin
    end_of = next;
    for (int unsigned i = 0; i < Columns; i++) begin
      begins[i] = end_of;
      ahead[i]  = end_of - {out_row_q, LaneWidth'(0)};
      if (valid[i]) end_of = end_of + PositionWidth'(segments[i]);
    end
  end

  logic [PositionWidth-1:0] end_q, before_q, filled;
  logic padded_q;
  logic [2:0] held_q;       // since when hold_o is low, as far as it counts
  assign filled = next - before_q;

  always_ff @(posedge clk_i) begin
    end_q    <= end_of;
    before_q <= next;
    padded_q <= padded;
    held_q   <= {held_q[1:0], hold};
    if (rst_i) begin
      end_q    <= '0;
      before_q <= '0;
      padded_q <= 1'b0;
      held_q   <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    for (int unsigned i = 0; i < Columns; i++) m_segments : assume (segments_i[i] != '0 && 32'(segments_i[i]) <= MaxSegments);
    if (seen_q && !rst_i) begin
      // what a user relies on
      for (int unsigned i = 0; i < Columns; i++) begin
        if (valid[i]) a_behind_each_other : assert (position[i] == begins[i]);
        if (valid[i]) a_in_window : assert (32'(ahead[i]) + 32'(segments[i]) <= Window);
        if (valid[i]) a_segments : assert (segments[i] != '0 && 32'(segments[i]) <= MaxSegments);
        if (u_dut.decided_q[i]) a_decided : assert (u_dut.segments_q[i] != '0 && 32'(u_dut.segments_q[i]) <= MaxSegments);
        if (valid_q[i]) a_told : assert (segments_q[i] != '0 && 32'(segments_q[i]) <= MaxSegments);
      end
      if (padded_q) a_filled_up : assert (next[LaneWidth-1:0] == '0 && filled != '0 && 32'(filled) < Columns && end_q == before_q);
      else a_no_hole : assert (next == end_q);
      a_window : assert (32'(used) + total + summed + told <= Window);
      if (padded) a_pads_alone : assert (valid == '0);
      // what the induction needs: what has come since `used` was looked at
      a_total : assert (total == given && total <= Most && summed <= Most && told <= Most);
      // useful work is possible
      c_wrapped : cover (out_row_q[RowWidth] && 32'(used) > Window / 2);
      c_held : cover (hold && held_q == 3'b111);
      c_padded : cover (padded_q && valid != '0);
    end
  end

endmodule
