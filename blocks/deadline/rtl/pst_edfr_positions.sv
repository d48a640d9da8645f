// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Gives each frame that is decided its place in the output of a wide port: as many segments in a row as it has, behind all decided before.
//
// Positions are counted modulo twice the window. Frames of one cycle follow each other in the order of the columns, which never matters
// within a class: its frames of one cycle are of one column. A row that is not full and that nothing else stands before is filled up with
// nothing (pad_i): so what is decided leaves without waiting for more. Decisions are held while less is free than those on their way may
// take: what is given never reaches over what has not left. They are held, too, while Ahead rows are decided; that may be passed by what
// is on its way.
//
// Throughput: a frame of each column per cycle. Latency: 3 cycles from s_decided to m_give, 4 to next_o. Reset: all is forgotten.
module pst_edfr_positions #(
    parameter int unsigned Columns     = 8,      // segments of a row, and columns: 2, 4, 8
    parameter int unsigned Rows        = 4096,   // of the window, a power of two
    parameter int unsigned Ahead       = 0,      // rows that are decided ahead, half of them in any order; 0: as many as there is room for
    parameter int unsigned MaxSegments = 150,    // of a frame
    parameter int unsigned HoldLatency = 0,      // registers between hold_o and columns, and between columns and s_decided, together
    localparam int unsigned LaneWidth     = $clog2(Columns),
    localparam int unsigned RowWidth      = $clog2(Rows),
    localparam int unsigned PositionWidth = RowWidth + LaneWidth + 1
) (
    input  logic                                  clk_i,
    input  logic                                  rst_i,
    output logic                                  hold_o,
    output logic                                  ordered_o,    // half of Ahead is decided: columns are to decide in one order
    input  logic [Columns-1:0]                    s_decided_valid_i,
    input  logic [Columns-1:0][10:0]              s_decided_segments_i,
    // a frame's first position, and its segments
    output logic [Columns-1:0]                    m_give_valid_o,
    output logic [Columns-1:0][PositionWidth-1:0] m_give_position_o,
    output logic [Columns-1:0][10:0]              m_give_segments_o,
    // the position that is given next: every frame that m_give shows now or later begins there or behind it
    output logic [PositionWidth-1:0]              next_o,
    // rows that have left
    input  logic [RowWidth:0]                     out_row_i,
    // next_o is in row out_row_i, and all before it has come: fill that row up
    input  logic                                  pad_i,
    output logic                                  padded_o      // it is done: next_o begins a row in the next cycle
);

  // Takes whose segments next_q does not have yet when hold_o says that there is room for more: those of 5 cycles and of the registers between.
  localparam int unsigned Margin = (5 + HoldLatency) * Columns * MaxSegments + 2 * Columns;
  localparam int unsigned Window = Rows * Columns;
  localparam int unsigned SumWidth = 11 + LaneWidth;

  if (Rows < 2 || Rows != 2 ** RowWidth) begin : g_bad_rows
    $error("pst_edfr_positions: Rows is %0d, must be a power of two", Rows);
  end
  if (Margin + Columns * MaxSegments > Window) begin : g_small_window
    $error("pst_edfr_positions: %0d rows of %0d segments are too few for frames of %0d segments", Rows, Columns, MaxSegments);
  end

  typedef logic [PositionWidth-1:0] position_t;
  typedef logic [SumWidth-1:0] sum_t;

  // ---- Sums over the columns ----
  logic [Columns-1:0] decided_q, offered_q;
  logic [Columns-1:0][10:0] segments_q, segments_q2;
  sum_t [Columns:0] sums;
  sum_t [Columns-1:0] offset_q;
  sum_t total_q;

  always_comb begin
    sums = '0;
    for (int unsigned i = 0; i < Columns; i++) sums[i+1] = sums[i] + (decided_q[i] ? sum_t'(segments_q[i]) : '0);
  end

  always_ff @(posedge clk_i) begin
    decided_q   <= s_decided_valid_i;
    segments_q  <= s_decided_segments_i;
    offered_q   <= decided_q;
    segments_q2 <= segments_q;
    offset_q    <= sums[Columns-1:0];
    total_q     <= sums[Columns];
    if (rst_i) begin
      decided_q <= '0;
      offered_q <= '0;
      total_q   <= '0;
    end
  end

  // ---- Positions ----
  position_t next_q, used;
  logic hold_q, ordered_q, pad;

  assign pad               = pad_i && total_q == '0;
  assign padded_o          = pad;
  assign used              = next_q - {out_row_i, LaneWidth'(0)};
  assign next_o            = next_q;
  assign hold_o            = hold_q;
  assign ordered_o         = ordered_q;
  assign m_give_valid_o    = offered_q;
  assign m_give_segments_o = segments_q2;

  always_comb begin
    for (int unsigned i = 0; i < Columns; i++) m_give_position_o[i] = next_q + position_t'(offset_q[i]);
  end

  always_ff @(posedge clk_i) begin
    next_q    <= pad ? {next_q[PositionWidth-1:LaneWidth] + 1'b1, LaneWidth'(0)} : next_q + position_t'(total_q);
    hold_q    <= 32'(used) + Margin > Window || (Ahead != 0 && 32'(used) >= Ahead * Columns);
    ordered_q <= Ahead != 0 && 2 * 32'(used) >= Ahead * Columns;
    if (rst_i) begin
      next_q    <= '0;
      hold_q    <= 1'b0;
      ordered_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_window : assert (32'(used) <= Window);
      a_pads_a_part : assert (!pad_i || (next_q[LaneWidth-1:0] != '0 && next_q[PositionWidth-1:LaneWidth] == out_row_i));
      for (int unsigned i = 0; i < Columns; i++) begin
        if (s_decided_valid_i[i]) begin
          a_segments : assert (s_decided_segments_i[i] != '0 && 32'(s_decided_segments_i[i]) <= MaxSegments)
          else $error("a frame of %0d segments in column %0d", s_decided_segments_i[i], i);
        end
      end
    end
  end
`endif

endmodule
