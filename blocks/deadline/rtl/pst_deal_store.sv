// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Keeps words, a bank of memory for each segment, until the columns that were dealt segments of them have read these.
//
// Words are written in order, and dealt in order: each column gets a list of rows with the segments that are its own, and reads them in that
// order, a segment a cycle. Columns that want one bank in one cycle take turns. A row is free when no column has anything in it or before it.
//
// Throughput: a word per cycle in, a segment per cycle and column out as long as they want different banks. Latency: 10 cycles from s_deal to
// m_valid. Order: kept for each column. Reset: all is forgotten.
module pst_deal_store #(
    parameter int unsigned Columns = 8,     // segments of a word: 2, 4, 8
    parameter int unsigned Rows    = 4096,  // words, a power of two
    parameter int unsigned Lists   = 1024,  // rows on a column's list, a power of two
    parameter int unsigned Width   = 576,   // bits of a segment, with what stands beside it
    parameter string       Style   = "auto"
) (
    input  logic                            clk_i,
    input  logic                            rst_i,
    // words in
    input  logic                            s_valid_i,
    output logic                            s_ready_o,
    input  logic [Columns-1:0]              s_used_i,
    input  logic [Columns-1:0][  Width-1:0] s_data_i,
    // words dealt, in their order: which segments each column gets, perhaps none
    input  logic                            s_deal_valid_i,
    output logic                            s_deal_ready_o,
    input  logic [Columns-1:0][Columns-1:0] s_deal_i,
    // segments out, by column
    output logic [Columns-1:0]              m_valid_o,
    input  logic [Columns-1:0]              m_ready_i,
    output logic [Columns-1:0][  Width-1:0] m_data_o
);

  localparam int unsigned RowWidth  = $clog2(Rows);
  localparam int unsigned LaneWidth = $clog2(Columns);
  localparam int unsigned Words     = 8;    // segments of a column that are read or wait to leave
  localparam int unsigned OutWidth  = $clog2(Words + 1);

  if (Rows < 8 || Rows != 2 ** RowWidth) begin : g_bad_rows
    $error("pst_deal_store: Rows is %0d, must be a power of two and at least 8", Rows);
  end

  typedef logic [RowWidth-1:0] row_t;
  typedef logic [RowWidth:0] count_t;      // one bit more: differences are exact
  typedef logic [LaneWidth-1:0] lane_t;
  typedef logic [Columns-1:0] lanes_t;

  typedef struct packed {
    count_t row;
    lanes_t segments;
  } list_t;

  // ---- Words in ----
  count_t written_q, dealt_q, free_q, held;
  logic write, deal;

  assign held      = written_q - free_q;
  assign s_ready_o = held != count_t'(Rows);
  assign write     = s_valid_i && s_ready_o;

  // ---- Lists of the columns ----
  lanes_t list_ready, list_valid, list_done;
  list_t [Columns-1:0] list;

  always_comb begin
    s_deal_ready_o = 1'b1;
    for (int unsigned c = 0; c < Columns; c++) if (s_deal_i[c] != '0 && !list_ready[c]) s_deal_ready_o = 1'b0;
  end
  assign deal = s_deal_valid_i && s_deal_ready_o;

  for (genvar c = 0; c < Columns; c++) begin : g_list
    pst_ram_fifo #(
        .Width($bits(list_t)), .Depth(Lists)
    ) u_list (
        .clk_i, .rst_i,
        .s_valid_i(deal && s_deal_i[c] != '0), .s_ready_o(list_ready[c]), .s_data_i({dealt_q, s_deal_i[c]}),
        .s_commit_i(1'b1), .s_rewind_i(1'b0), .s_overrun_o(),
        .m_valid_o(list_valid[c]), .m_ready_i(list_done[c]), .m_data_o(list[c])
    );
  end

  // ---- A segment of each column: the lowest that it has not read; the bank takes one of those that want it ----
  lanes_t [Columns-1:0] done_q, left, wanted, want, grant;   // want, grant: by bank, the columns; the others by column
  lanes_t granted, credit;
  lane_t turn_q;
  row_t [Columns-1:0] bank_row;

  always_comb begin
    for (int unsigned c = 0; c < Columns; c++) begin
      left[c]   = list[c].segments & ~done_q[c];
      wanted[c] = left[c] & -left[c] & {Columns{list_valid[c] && credit[c]}};
    end
    for (int unsigned b = 0; b < Columns; b++) begin
      for (int unsigned c = 0; c < Columns; c++) want[b][c] = wanted[c][b];
      grant[b] = '0;
      for (int unsigned k = 0; k < Columns; k++) begin
        if (grant[b] == '0 && want[b][lane_t'(k) + turn_q + lane_t'(b)]) grant[b][lane_t'(k) + turn_q + lane_t'(b)] = 1'b1;
      end
      bank_row[b] = '0;
      for (int unsigned c = 0; c < Columns; c++) if (grant[b][c]) bank_row[b] |= row_t'(list[c].row);
    end
    for (int unsigned c = 0; c < Columns; c++) begin
      granted[c] = 1'b0;
      for (int unsigned b = 0; b < Columns; b++) if (grant[b][c]) granted[c] = 1'b1;
      list_done[c] = granted[c] && left[c] == wanted[c];
    end
  end

  // ---- Banks, and the way from them to the columns ----
  logic [Columns-1:0][Width-1:0] bank_data, column_data, column_data_q;
  lanes_t [Columns-1:0] from, from_q, from_q2;               // by column, the bank
  lanes_t came_q;

  for (genvar b = 0; b < Columns; b++) begin : g_bank
    pst_ram_1r1w #(
        .Width(Width), .Depth(Rows), .ReadLatency(2), .Style(Style)
    ) u_bank (
        .clk_i,
        .we_i   (write && s_used_i[b]), .waddr_i(written_q[RowWidth-1:0]), .wdata_i(s_data_i[b]),
        .re_i   (grant[b] != '0), .raddr_i(bank_row[b]), .rdata_o(bank_data[b])
    );
  end

  always_comb begin
    for (int unsigned c = 0; c < Columns; c++) begin
      for (int unsigned b = 0; b < Columns; b++) from[c][b] = grant[b][c];
      column_data[c] = '0;
      for (int unsigned b = 0; b < Columns; b++) column_data[c] |= bank_data[b] & {Width{from_q2[c][b]}};
    end
  end

  lanes_t unused_ready;

  for (genvar c = 0; c < Columns; c++) begin : g_out
    logic [OutWidth-1:0] credits_q;

    assign credit[c] = credits_q != '0;

    pst_fifo #(
        .Width(Width), .Depth(Words)
    ) u_out (
        .clk_i, .rst_i,
        .s_valid_i(came_q[c]), .s_ready_o(unused_ready[c]), .s_data_i(column_data_q[c]),
        .m_valid_o(m_valid_o[c]), .m_ready_i(m_ready_i[c]), .m_data_o(m_data_o[c]), .level_o()
    );

    always_ff @(posedge clk_i) begin
      credits_q <= credits_q - OutWidth'(granted[c]) + OutWidth'(m_valid_o[c] && m_ready_i[c]);
      if (granted[c]) done_q[c] <= list_done[c] ? '0 : done_q[c] | wanted[c];
      if (rst_i) begin
        credits_q <= OutWidth'(Words);
        done_q[c] <= '0;
      end
    end
  end

  // ---- Rows come back: every four cycles, the oldest that any column has to read, or the next to be dealt ----
  count_t [Columns-1:0] listed_q, oldest_q;                  // listed: rows on a column's list
  count_t [Columns:0] behind_q;
  count_t dealt_then_q, least_q;
  logic [1:0] step_q;
  lanes_t waits_q, seen_q;

  always_ff @(posedge clk_i) begin
    from_q        <= from;
    from_q2       <= from_q;
    column_data_q <= column_data;
    turn_q        <= turn_q + 1'b1;
    for (int unsigned c = 0; c < Columns; c++) begin
      came_q[c] <= from_q2[c] != '0;
      listed_q[c] <= listed_q[c] + count_t'(deal && s_deal_i[c] != '0) - count_t'(list_done[c]);
    end
    if (write) written_q <= written_q + 1'b1;
    if (deal) dealt_q <= dealt_q + 1'b1;

    step_q <= step_q + 1'b1;
    case (step_q)
      2'd0: begin
        for (int unsigned c = 0; c < Columns; c++) begin
          waits_q[c]  <= listed_q[c] != '0;
          seen_q[c]   <= list_valid[c];
          oldest_q[c] <= list[c].row;
        end
        dealt_then_q <= dealt_q;
      end
      2'd1: begin
        for (int unsigned c = 0; c < Columns; c++) begin
          // What was just listed is not seen yet: it may be any.
          behind_q[c] <= !waits_q[c] ? dealt_then_q - free_q : seen_q[c] ? oldest_q[c] - free_q : '0;
        end
        behind_q[Columns] <= dealt_then_q - free_q;
      end
      2'd2: least_q <= least(behind_q);
      default: free_q <= free_q + least_q;
    endcase

    if (rst_i) begin
      written_q <= '0;
      dealt_q   <= '0;
      free_q    <= '0;
      listed_q  <= '0;
      step_q    <= '0;
      turn_q    <= '0;
      from_q    <= '0;
      from_q2   <= '0;
      came_q    <= '0;
    end
  end

  function automatic count_t least(count_t [Columns:0] counts);
    least = counts[Columns];
    for (int unsigned c = 0; c < Columns; c++) if (counts[c] < least) least = counts[c];
  endfunction

`ifndef SYNTHESIS
  count_t ahead;
  assign ahead = dealt_q - free_q;
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_held_in_range : assert (held <= count_t'(Rows));
      a_dealt_in_range : assert (ahead <= held);
      a_no_deal_before_write : assert (!deal || dealt_q != written_q);
      for (int unsigned c = 0; c < Columns; c++) begin
        a_out_has_room : assert (unused_ready[c] || !came_q[c]);
        if (list_valid[c]) a_row_is_held : assert (count_t'(list[c].row - free_q) < held);
        if (granted[c]) a_used_once : assert ((done_q[c] & wanted[c]) == '0);
      end
    end
  end
`endif

endmodule
