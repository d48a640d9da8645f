// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Brings the wide deadline port to rest, as pst_deadline_drain does the narrow one: while stop_i is high no word comes in, but those of a
// frame that has begun, and none is decided to be sent; done_o rises when no memory owes an answer, and closes all columns' AXI4 at once.
//
// A word may end a frame and begin another: words are let in until one has no frame under way behind it.
//
// State:      frames between input and columns, bursts at each column and at each memory.
// Throughput: a frame a segment and cycle, one burst per cycle, direction and memory. Latency: outputs 1 cycle, but for open_o.
// Reset:      everything is zero; the memories must have nothing under way.
module pst_deadline_wide_drain #(
    parameter int unsigned Columns        = 8,
    parameter int unsigned Memories       = 8,
    parameter int unsigned MaxOutstanding = 32,    // bursts of one direction that a column or a memory may have under way
    localparam int unsigned EventWidth = $clog2(Columns + 1)
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    input  logic                               stop_i,
    // a frame is half in; a word is behind the input and not in the port; words may come in
    input  logic                               half_i,
    input  logic                               busy_i,
    output logic                               open_o,
    // frames that begin in the word that the port takes; pulses by segment: refused, dropped; by column: taken; level: some are to be sent
    input  logic [EventWidth-1:0]              begins_i,
    input  logic [Columns-1:0]                 refused_i,
    input  logic [Columns-1:0]                 dropped_i,
    input  logic [Columns-1:0]                 taken_i,
    input  logic                               sending_i,
    // AXI4 of the columns, and as at the memories
    input  pst_axi_pkg::moves_t [Columns-1:0]  column_i,
    input  pst_axi_pkg::moves_t [Memories-1:0] axi_i,
    // memories that have bursts under way; nothing is under way and nothing will be, while stop_i is high
    output logic [Memories-1:0]                outstanding_o,
    output logic                               done_o
);

  localparam int unsigned FramesWidth = 20;

  typedef logic [FramesWidth-1:0] frames_t;

  logic [Columns-1:0] column_busy;
  logic [Memories-1:0] busy;
  frames_t inside_q, less;

  assign open_o = !stop_i || half_i;

  for (genvar c = 0; c < int'(Columns); c++) begin : g_column
    pst_bursts #(
        .MaxOutstanding(MaxOutstanding)
    ) u_column (
        .clk_i, .rst_i,
        .axi_i(column_i[c]),
        .busy_o(column_busy[c])
    );
  end

  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    pst_bursts #(
        .MaxOutstanding(MaxOutstanding)
    ) u_memory (
        .clk_i, .rst_i,
        .axi_i(axi_i[m]),
        .busy_o(busy[m])
    );
  end

  always_comb begin
    less = '0;
    for (int unsigned c = 0; c < Columns; c++) less += frames_t'(refused_i[c]) + frames_t'(dropped_i[c]) + frames_t'(taken_i[c]);
  end

  always_ff @(posedge clk_i) begin
    inside_q      <= inside_q + frames_t'(begins_i) - less;
    outstanding_o <= busy;
    done_o        <= stop_i && !half_i && !busy_i && inside_q == '0 && !sending_i && column_busy == '0;
    if (rst_i) begin
      inside_q      <= '0;
      outstanding_o <= '0;
      done_o        <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_frames_are_counted : assert (!inside_q[FramesWidth-1]) else $error("pst_deadline_wide_drain: a frame left that did not come");
      a_rest_is_rest : assert (!(done_o && stop_i && (busy != '0 || column_busy != '0 || inside_q != '0 || sending_i)))
      else $error("pst_deadline_wide_drain: something is under way although all was done");
    end
  end
`endif

endmodule
