// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_deal_store: one segment of any word is marked, when it is written. It comes out once, in the column that it is dealt
// to, behind all that was dealt to that column before it and before all that is dealt later; dealt to none, it does not come out. No column has
// more than it was dealt.
module pst_deal_store_proof #(
    parameter int unsigned Columns = 2,
    parameter int unsigned Rows    = 8,
    parameter int unsigned Lists   = 4
) (
    input logic                            clk_i,
    input logic                            rst_i,
    input logic                            s_valid_i,
    input logic [Columns-1:0]              s_used_i,
    input logic                            mark_i,      // a segment of this word is the marked one
    input logic [$clog2(Columns)-1:0]      mark_lane_i,
    input logic                            deal_i,
    input logic [Columns-1:0][Columns-1:0] s_deal_i,
    input logic [Columns-1:0]              m_ready_i
);

  localparam int unsigned LaneWidth = $clog2(Columns);

  logic s_ready, deal_ready, seen_q, write, deal, marks;
  logic [Columns-1:0] m_valid, m_data, s_data, out;
  initial seen_q = 1'b0;

  // ---- The marked one: where it stands, then which column's it is, and how many that column has to bring before it ----
  logic marked_q, owned_q, gone_q, owned;
  logic [7:0] row_q;
  logic [LaneWidth-1:0] lane_q, column_q, column;
  logic [7:0] ahead_q, ahead;
  logic [Columns-1:0][7:0] dealt_to_q, out_of_q;     // segments of each column, modulo 256

  // ---- Words that are written and not dealt yet, as the environment knows them: which segments are used ----
  logic [7:0] written_q, dealt_q;
  logic [Columns-1:0] used_q[Rows];
  logic [Columns-1:0] used_now;

  assign used_now = used_q[$clog2(Rows)'(dealt_q)];

  pst_deal_store #(
      .Columns(Columns), .Rows(Rows), .Lists(Lists), .Width(1)
  ) u_dut (
      .clk_i, .rst_i,
      .s_valid_i, .s_ready_o(s_ready), .s_used_i, .s_data_i(s_data),
      .s_deal_valid_i(deal_i), .s_deal_ready_o(deal_ready), .s_deal_i,
      .m_valid_o(m_valid), .m_ready_i, .m_data_o(m_data)
  );

  assign write = s_valid_i && s_ready;
  assign deal  = deal_i && deal_ready;
  assign out   = m_valid & m_ready_i;
  assign marks = write && mark_i && !marked_q;


  always_comb begin
    s_data = '0;
    if (marks) s_data[mark_lane_i] = 1'b1;
    owned  = 1'b0;
    column = '0;
    ahead = '0;
    for (int unsigned c = 0; c < Columns; c++) begin
      if (deal && marked_q && row_q == dealt_q && s_deal_i[c][lane_q]) begin
        owned  = 1'b1;
        column = LaneWidth'(c);
        ahead = dealt_to_q[c];
        for (int unsigned i = 0; i < Columns; i++) if (i < 32'(lane_q) && s_deal_i[c][i]) ahead = ahead + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    if (write) used_q[$clog2(Rows)'(written_q)] <= s_used_i;
    written_q <= written_q + 8'(write);
    dealt_q   <= dealt_q + 8'(deal);
    if (marks) begin
      marked_q <= 1'b1;
      row_q    <= written_q;
      lane_q   <= mark_lane_i;
    end
    if (owned) begin
      owned_q  <= 1'b1;
      column_q <= column;
      ahead_q <= ahead;
    end
    for (int unsigned c = 0; c < Columns; c++) begin
      for (int unsigned i = 0; i < Columns; i++) if (out[c] && m_data[c]) gone_q <= 1'b1;
      out_of_q[c]   <= out_of_q[c] + 8'(out[c]);
      dealt_to_q[c] <= dealt_to_q[c] + (deal ? 8'($countones(s_deal_i[c])) : 8'd0);
    end
    if (rst_i) begin
      written_q  <= '0;
      dealt_q    <= '0;
      marked_q   <= 1'b0;
      owned_q    <= 1'b0;
      gone_q     <= 1'b0;
      out_of_q   <= '0;
      dealt_to_q <= '0;
    end
  end

  logic [Columns-1:0][7:0] held;
  logic [Columns-1:0] dealt_here;
  always_comb begin
    dealt_here = '0;
    for (int unsigned c = 0; c < Columns; c++) begin
      held[c]  = dealt_to_q[c] - out_of_q[c];
      dealt_here = dealt_here | s_deal_i[c];
    end
  end

  // What is dealt comes out: a column that is always ready, and has something, has a segment in so many cycles.
  logic [Columns-1:0][4:0] waited_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < Columns; c++) waited_q[c] <= held[c] == '0 || m_valid[c] || rst_i ? '0 : waited_q[c] + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q) m_no_reset : assume (!rst_i);
    m_written_first : assume (!deal_i || dealt_q != written_q);
    m_marked_is_used : assume (!mark_i || s_used_i[mark_lane_i]);
    for (int unsigned c = 0; c < Columns; c++) begin
      m_dealt_is_used : assume ((s_deal_i[c] & ~used_now) == '0);
      for (int unsigned d = 0; d < c; d++) m_one_column : assume ((s_deal_i[c] & s_deal_i[d]) == '0);
    end
    if (seen_q && !rst_i) begin
      for (int unsigned c = 0; c < Columns; c++) begin
        if (m_valid[c]) a_dealt_before : assert (held[c] != '0 && held[c] < 8'd128);
        if (m_valid[c] && m_data[c]) begin
          a_once : assert (!gone_q);
          a_its_column : assert (owned_q && column_q == LaneWidth'(c));
          a_its_turn : assert (out_of_q[c] == ahead_q);
        end
        if (m_valid[c] && owned_q && column_q == LaneWidth'(c) && out_of_q[c] == ahead_q) a_its_data : assert (m_data[c]);
        a_comes_out : assert (waited_q[c] < 5'd12);
      end
      c_row_again : cover (gone_q && written_q > 8'(Rows) && row_q == 8'd1);
      c_both : cover (gone_q && out == '1);
    end
  end

endmodule
