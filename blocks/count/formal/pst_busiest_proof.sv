// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_busiest: after a scan the table is the `Keep` largest of what was read, or of what was added since the scan before.
//
// One entry, any, is followed: `mine_q` is what a scan found of it, `before_q` what the last scan of additions was answered. It is where
// it belongs: it stands in the table once, with its value, or every place has one that goes before it. The invariant says what is in the
// table while a scan is under way.
module pst_busiest_proof #(
    parameter int unsigned Entries = 5,
    parameter int unsigned Keep = 3,
    parameter int unsigned ValueWidth = 3,
    localparam int unsigned IndexWidth = $clog2(Entries),
    localparam int unsigned KeepWidth = Keep > 1 ? $clog2(Keep) : 1
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic                  s_start_valid_i,
    input logic                  s_start_level_i,
    input logic                  m_read_ready_i,
    input logic                  s_value_valid_i,
    input logic [ValueWidth-1:0] s_value_i,
    input logic [KeepWidth-1:0]  show_i
);

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [ValueWidth-1:0] value_t;

  localparam logic [2:0] Idle = 3'd0, Wait = 3'd2, Compare = 3'd3, Insert = 3'd4;  // of the module

  logic busy, read_valid, read_level, level;
  index_t read_index, shown_index;
  value_t shown_value;
  logic [31:0] window;
  logic [15:0] number;

  pst_busiest #(
      .Entries(Entries), .Keep(Keep), .ValueWidth(ValueWidth)
  ) u_dut (
      .clk_i, .rst_i, .s_start_valid_i, .s_start_level_i, .busy_o(busy), .m_read_valid_o(read_valid), .m_read_ready_i,
      .m_read_index_o(read_index), .m_read_level_o(read_level), .s_value_valid_i, .s_value_i, .show_i, .shown_index_o(shown_index),
      .shown_value_o(shown_value), .level_o(level), .window_o(window), .number_o(number)
  );

  logic seen_q;
  index_t x_q;                                  // the entry that is followed, any
  logic busy_q, level_q, asked_q, under_way_q;  // a read was taken in the cycle before; its answer has not come
  logic [IndexWidth:0] answers_q;               // that have come in this scan
  logic known_q;                                // a scan of additions has ended
  value_t before_q, mine_q;
  logic [31:0] age_q, window_q;                 // cycles since the last scan of additions began; what is to be said of it
  logic [15:0] number_q;
  logic start, taken, ends, mine;
  logic [2:0] state;
  initial seen_q = 1'b0;

  assign state = u_dut.state_q;
  assign start = s_start_valid_i;
  assign taken = read_valid && m_read_ready_i;
  assign mine  = s_value_valid_i && answers_q == (IndexWidth + 1)'(x_q);
  assign ends  = busy_q && !busy;               // since the cycle before

  always_ff @(posedge clk_i) begin
    seen_q  <= 1'b1;
    x_q     <= x_q;
    busy_q  <= busy;
    asked_q <= taken;
    age_q   <= &age_q ? age_q : age_q + 1'b1;
    if (taken) under_way_q <= 1'b1;
    if (s_value_valid_i) begin
      under_way_q <= 1'b0;
      answers_q   <= answers_q + 1'b1;
    end
    if (mine) begin
      mine_q <= s_value_i - (level_q || !known_q ? '0 : before_q);
      if (!level_q) before_q <= s_value_i;
    end
    if (state == Insert && 32'(answers_q) == Entries) begin
      number_q <= number_q + 1'b1;
      if (!level_q) known_q <= 1'b1;
    end
    if (start) begin
      answers_q <= '0;
      level_q   <= s_start_level_i;
      if (!s_start_level_i) begin
        window_q <= known_q ? age_q : '0;
        age_q    <= 32'd1;
      end
    end
    if (rst_i) begin
      busy_q      <= 1'b0;
      asked_q     <= 1'b0;
      under_way_q <= 1'b0;
      answers_q   <= '0;
      known_q     <= 1'b0;
      level_q     <= 1'b0;
      window_q    <= '0;
      number_q    <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    m_entry_exists : assume (32'(x_q) < Entries);
    if (!rst_i) begin
      if (start) m_one_scan_at_a_time : assume (!busy);
      if (s_value_valid_i) m_answer_to_a_read : assume (under_way_q && !asked_q);
    end
  end

  // What is in the table: of the entry that is followed, and of all.
  logic [Keep-1:0] is_mine, before_mine, orderly, empty;
  logic [31:0] done;  // entries that are in the table, or have had their chance
  logic placed;       // the one that is followed is among them

  assign done   = 32'(answers_q) - 32'(state >= Compare);
  assign placed = done > 32'(x_q);

  for (genvar k = 0; k < int'(Keep); k++) begin : g_place
    index_t index;
    value_t value;
    assign {index, value} = u_dut.table_q[k];
    assign empty[k]       = value == '0;
    assign is_mine[k]     = !empty[k] && index == x_q;
    assign before_mine[k] = value > mine_q || (value == mine_q && index < x_q);
    if (k == 0) begin : g_first
      assign orderly[k] = 1'b1;
    end else begin : g_next
      assign orderly[k] = g_place[k-1].value > value || (g_place[k-1].value == value && g_place[k-1].index < index) || empty[k];
    end
    always_ff @(posedge clk_i) begin
      if (seen_q && !rst_i) begin
        if (is_mine[k]) a_true : assert (placed && value == mine_q);
        if (!empty[k]) a_was_read : assert (32'(index) < done);
        if (empty[k]) a_empty_is_zero : assert (index == '0);
        if (state == Insert) a_above : assert (u_dut.above_q[k] == (u_dut.found_q > value));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_whole_scan : assert (!ends || 32'(answers_q) == Entries);
      if (read_valid) a_reads_in_turn : assert (32'(read_index) == 32'(answers_q) && read_level == level_q && !under_way_q);
      a_orderly : assert (&orderly);
      a_once : assert ((is_mine & (is_mine - 1'b1)) == '0);
      if (placed) a_belongs : assert (mine_q == '0 || |is_mine || &before_mine);
      if (placed && mine_q == '0) a_zero_is_not_kept : assert (is_mine == '0);
      if (32'(show_i) < Keep) a_shown : assert ({shown_index, shown_value} == u_dut.table_q[show_i]);
      a_said : assert (level == level_q && window == window_q && number == number_q);

      // what the induction needs
      a_answers : assert (32'(answers_q) <= Entries && busy == (state != Idle) && state <= Insert);
      a_state : assert (under_way_q == (state == Wait) && (!asked_q || under_way_q) && u_dut.known_q == known_q);
      if (busy) a_index : assert (32'(u_dut.index_q) == done && done < Entries);
      if (!busy) a_idle : assert (32'(answers_q) == Entries || (answers_q == '0 && &empty));
      if (known_q) a_age : assert (u_dut.age_q == age_q);
      if (busy && !level_q && !known_q) a_first_age : assert (u_dut.age_q == age_q);
      if (state >= Compare && u_dut.index_q == x_q) a_found : assert (u_dut.found_q == mine_q);
      // the memory has what the last scan of additions was answered, also that which is under way
      if (known_q || (busy && !level_q && 32'(answers_q) > 32'(x_q))) a_memory : assert (u_dut.u_before.mem[x_q] == before_q);
      if (known_q && state == Wait && u_dut.index_q == x_q) begin
        a_read : assert (u_dut.u_before.rdata_q == before_q && (asked_q || u_dut.u_before.rdata_q2 == before_q));
      end

      // useful work is possible: an entry that stood in the table falls out; a second scan of additions finds one that wrapped around
      c_falls_out : cover (ends && mine_q != '0 && is_mine == '0 && x_q == '0);
      c_second_scan : cover (ends && !level_q && number_q == 16'd2 && is_mine[0] && before_q < mine_q);
    end
  end

endmodule
