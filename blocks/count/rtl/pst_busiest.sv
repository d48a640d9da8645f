// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Walks all entries of something that can be read one by one, and keeps the `Keep` largest in a table, the largest first.
//
// A scan is of values as they are (`level`), or of what was added to them since the scan of this kind before; for that the memory here has the
// values of then. Of equal values the entry with the lower index is in front; an entry whose value is 0 is not kept.
//
// Throughput: an entry per read and 4 cycles; one read is under way at a time. Reads are asked for and may wait as long as they like.
// Latency:    the table is there when busy_o falls, and stands until the next scan begins.
// Reset:      ends a scan and empties the table; all values of before count as 0.
module pst_busiest #(
    parameter int unsigned Entries = 512,      // >= 2
    parameter int unsigned Keep = 16,          // of the table, 1..64
    parameter int unsigned ValueWidth = 38,    // bits; values wrap around: no more than this may be added between two scans
    parameter string       Style = "auto",     // of the memory, see pst_ram_1r1w
    localparam int unsigned IndexWidth = $clog2(Entries),
    localparam int unsigned KeepWidth = Keep > 1 ? $clog2(Keep) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    // a scan begins; none is under way
    input  logic                  s_start_valid_i,
    input  logic                  s_start_level_i,   // of values as they are
    output logic                  busy_o,
    // reads, and the answer to each, 2 cycles after it was taken or later
    output logic                  m_read_valid_o,
    input  logic                  m_read_ready_i,
    output logic [IndexWidth-1:0] m_read_index_o,
    output logic                  m_read_level_o,    // what is to be read
    input  logic                  s_value_valid_i,
    input  logic [ValueWidth-1:0] s_value_i,
    // the table: one place of it, an empty one has the value 0
    input  logic [KeepWidth-1:0]  show_i,
    output logic [IndexWidth-1:0] shown_index_o,
    output logic [ValueWidth-1:0] shown_value_o,
    output logic                  level_o,           // of the last scan
    output logic [          31:0] window_o,          // cycles between the starts of the last two scans of additions; 2^32 - 1: or more
    output logic [          15:0] number_o           // of scans that have ended
);

  if (Entries < 2 || Keep < 1 || Keep > 64) begin : g_bad_size
    $error("pst_busiest: Entries is %0d, allowed: 2 and more; Keep is %0d, allowed: 1 to 64", Entries, Keep);
  end
  if (ValueWidth < 1) begin : g_bad_width
    $error("pst_busiest: ValueWidth is %0d, allowed: 1 and more", ValueWidth);
  end

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [ValueWidth-1:0] value_t;

  typedef struct packed {
    index_t index;
    value_t value;
  } place_t;

  typedef enum logic [2:0] {
    Idle,
    Ask,      // a read is offered
    Wait,
    Compare,  // the value with all places at once
    Insert    // those behind it step back
  } state_e;

  state_e state_q, state_d;
  index_t index_q, index_d;
  logic level_q, level_d, known_q, known_d;
  logic [31:0] age_q, age_d, window_q, window_d;
  logic [15:0] number_q, number_d;
  value_t found_q, earlier;
  place_t [Keep-1:0] table_q, inserted;
  place_t found;
  logic [Keep-1:0] above_q;    // the value goes before what stands in this place
  logic last, take;

  assign last           = index_q == index_t'(Entries - 1);
  assign take           = state_q == Wait && s_value_valid_i;
  assign busy_o         = state_q != Idle;
  assign m_read_valid_o = state_q == Ask;
  assign m_read_index_o = index_q;
  assign m_read_level_o = level_q;
  assign level_o        = level_q;
  assign window_o       = window_q;
  assign number_o       = number_q;

  // The index stands from Ask on, so the word of before is there with the answer. It is written with it, and next read in another scan.
  pst_ram_1r1w #(
      .Width(ValueWidth), .Depth(Entries), .ReadLatency(2), .Style(Style)
  ) u_before (
      .clk_i,
      .we_i(take && !level_q), .waddr_i(index_q), .wdata_i(s_value_i),
      .re_i(state_q == Ask), .raddr_i(index_q), .rdata_o(earlier)
  );

  always_comb begin
    state_d  = state_q;
    index_d  = index_q;
    level_d  = level_q;
    known_d  = known_q;
    age_d    = &age_q ? age_q : age_q + 1'b1;
    window_d = window_q;
    number_d = number_q;
    unique case (state_q)
      Ask: if (m_read_ready_i) state_d = Wait;
      Wait: if (s_value_valid_i) state_d = Compare;
      Compare: state_d = Insert;
      Insert: begin
        index_d = index_q + 1'b1;
        state_d = Ask;
        if (last) begin
          state_d  = Idle;
          number_d = number_q + 1'b1;
          if (!level_q) known_d = 1'b1;
        end
      end
      default:  // Idle
      if (s_start_valid_i) begin
        state_d = Ask;
        index_d = '0;
        level_d = s_start_level_i;
        if (!s_start_level_i) begin
          window_d = known_q ? age_q : '0;
          age_d    = 32'd1;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q  <= state_d;
    known_q  <= known_d;
    level_q  <= level_d;
    window_q <= window_d;
    number_q <= number_d;
    if (rst_i) begin
      state_q  <= Idle;
      known_q  <= 1'b0;
      level_q  <= 1'b0;
      window_q <= '0;
      number_q <= '0;
    end
  end

  // The places behind the value step back by one, and the last one falls out.
  for (genvar k = 0; k < int'(Keep); k++) begin : g_place
    if (k == 0) begin : g_first
      assign inserted[k] = above_q[k] ? found : table_q[k];
    end else begin : g_next
      assign inserted[k] = !above_q[k] ? table_q[k] : above_q[k-1] ? table_q[k-1] : found;
    end
  end

  assign found = '{index: index_q, value: found_q};

  always_ff @(posedge clk_i) begin
    index_q <= index_d;
    age_q   <= age_d;
    if (take) found_q <= s_value_i - (level_q || !known_q ? '0 : earlier);
    for (int k = 0; k < int'(Keep); k++) above_q[k] <= found_q > table_q[k].value;
    if (state_q == Insert) table_q <= inserted;
    if (rst_i || (state_q == Idle && s_start_valid_i)) table_q <= '0;
  end

  always_comb begin
    {shown_index_o, shown_value_o} = '0;
    for (int k = 0; k < int'(Keep); k++) if (show_i == KeepWidth'(k)) {shown_index_o, shown_value_o} = table_q[k];
  end

`ifndef SYNTHESIS
  logic asked_q;

  always_ff @(posedge clk_i) begin
    asked_q <= state_q == Ask && m_read_ready_i;
    if (!rst_i) begin
      a_one_scan_at_a_time : assert (!(s_start_valid_i && state_q != Idle))
      else $error("pst_busiest: a scan is to begin while one is under way");
      a_answer_was_asked_for : assert (!(s_value_valid_i && state_q != Wait) && !(s_value_valid_i && asked_q))
      else $error("pst_busiest: an answer to no read, or before the memory's");
      for (int k = 1; k < int'(Keep); k++) begin
        a_table_is_in_order : assert (table_q[k-1].value >= table_q[k].value) else $error("pst_busiest: the table is not in order");
      end
    end
  end
`endif

endmodule
