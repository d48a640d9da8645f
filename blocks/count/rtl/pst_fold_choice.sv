// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Says which entry of counters in parts is folded into the memory next: of those that counted in a window of cycles, the one that has most.
//
// So no part ever holds more than some 36 times what all banks can count in a window (README, "How large a part can get").
//
// Window:  at least Window cycles, and until the entry of the one before was taken (s_taken_i).
// Latency: an entry stands at m_fold_o Banks + 1 cycles after its window has ended.
// Reset:   forgets all.
module pst_fold_choice #(
    parameter int unsigned Banks = 3,           // >= 1
    parameter int unsigned Entries = 512,       // >= 2
    parameter int unsigned WeightWidth = 22,    // bits
    parameter int unsigned Window = 32,         // cycles, >= 8 and Banks + 2
    localparam int unsigned IndexWidth = $clog2(Entries)
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    // an entry has counted, and how much it has now
    input  logic [Banks-1:0]                  heavy_valid_i,
    input  logic [Banks-1:0][ IndexWidth-1:0] heavy_index_i,
    input  logic [Banks-1:0][WeightWidth-1:0] heavy_weight_i,
    // which is next
    output logic                              m_fold_valid_o,
    input  logic                              m_fold_ready_i,
    output logic [IndexWidth-1:0]             m_fold_index_o,
    // it was taken from all banks; a pulse
    input  logic                              s_taken_i
);

  if (Banks < 1 || Entries < 2) begin : g_bad_size
    $error("pst_fold_choice: Banks (%0d) must be at least 1, Entries (%0d) at least 2", Banks, Entries);
  end
  if (Window < 8 || Window < Banks + 2) begin : g_bad_window
    $error("pst_fold_choice: Window is %0d, allowed: 8 and Banks + 2 (%0d) at least", Window, Banks + 2);
  end

  localparam int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1;
  localparam int unsigned AgeWidth = $clog2(Window);

  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    logic                   valid;
    index_t                 index;
    logic [WeightWidth-1:0] weight;
  } heavy_t;

  // Of each bank the two entries that have most in this window. The second is there for when the first is the one of the last window,
  // which has counted on until it was taken: what it had then says nothing any more.
  heavy_t [Banks-1:0] first_d, second_d, first_q, second_q, seen_q;
  heavy_t most_q;
  logic [BankWidth-1:0] bank_q;
  logic scan_q, waits_q, out_q, ends;
  logic [AgeWidth-1:0] age_q;

  assign ends = age_q == AgeWidth'(Window - 1) && !scan_q && !out_q && !waits_q;

  for (genvar b = 0; b < int'(Banks); b++) begin : g_bank
    heavy_t heavy, first, second;
    logic is_first, is_second, over_first, over_second;

    assign heavy       = '{valid: heavy_valid_i[b], index: heavy_index_i[b], weight: heavy_weight_i[b]};
    assign is_first    = first.valid && heavy.index == first.index;
    assign is_second   = second.valid && heavy.index == second.index;
    assign over_first  = !first.valid || heavy.weight > first.weight;
    assign over_second = !second.valid || heavy.weight > second.weight;

    // A new window begins with nothing; of the entry that was taken nothing is kept.
    always_comb begin
      first  = first_q[b];
      second = second_q[b];
      if (s_taken_i && second.index == most_q.index) second.valid = 1'b0;
      if (s_taken_i && first.index == most_q.index) begin
        first        = second;
        second.valid = 1'b0;
      end
      if (ends) begin
        first.valid  = 1'b0;
        second.valid = 1'b0;
      end
    end

    always_comb begin
      first_d[b]  = first;
      second_d[b] = second;
      if (heavy.valid) begin
        if (is_first) begin    // it may have less now: it was taken to be read
          if (second.valid && !over_second) begin
            first_d[b]  = second;
            second_d[b] = heavy;
          end else begin
            first_d[b] = heavy;
          end
        end else if (over_first) begin
          first_d[b]  = heavy;
          second_d[b] = first;
        end else if (is_second || over_second) begin
          second_d[b] = heavy;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    first_q  <= first_d;
    second_q <= second_d;
    if (age_q != AgeWidth'(Window - 1)) age_q <= age_q + 1'b1;
    if (ends) begin
      age_q  <= '0;
      scan_q <= 1'b1;
      bank_q <= '0;
      most_q <= '0;
      seen_q <= first_q;
    end
    if (scan_q) begin
      bank_q <= bank_q + 1'b1;
      if (seen_q[bank_q].valid && (!most_q.valid || seen_q[bank_q].weight > most_q.weight)) most_q <= seen_q[bank_q];
      if (bank_q == BankWidth'(Banks - 1)) begin
        scan_q <= 1'b0;
        out_q  <= most_q.valid || seen_q[bank_q].valid;
      end
    end
    if (out_q && m_fold_ready_i) begin
      out_q   <= 1'b0;
      waits_q <= 1'b1;
    end
    if (s_taken_i) waits_q <= 1'b0;
    if (rst_i) begin
      first_q  <= '0;
      second_q <= '0;
      age_q    <= '0;
      scan_q   <= 1'b0;
      out_q    <= 1'b0;
      waits_q  <= 1'b0;
    end
  end

  assign m_fold_valid_o = out_q;
  assign m_fold_index_o = most_q.index;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_taken_was_given : assert (!s_taken_i || waits_q)
      else $error("pst_fold_choice: an entry was taken that was not given");
      for (int b = 0; b < int'(Banks); b++) begin
        a_two_entries : assert (!(first_q[b].valid && second_q[b].valid && first_q[b].index == second_q[b].index))
        else $error("pst_fold_choice: entry %0d stands twice", first_q[b].index);
      end
    end
  end
`endif

endmodule
