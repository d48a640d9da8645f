// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Words of AXI4-Stream, of several segments of 64 byte, as the wide deadline port takes them: which segments are used, how many bytes the last
// one of a frame has, which frames are damaged.
//
// A segment with a byte is used. One with a hole in tkeep, or one that is not full although the frame goes on behind it, damages its frame,
// and counts as full. So does a class that there is not, in the first segment: the frame goes as a damaged one of class 0.
//
// Throughput: a word per cycle. Latency: 1 cycle. Order: kept. Reset: a word inside and the frame under way are forgotten.
module pst_deadline_segments
  import pst_deadline_wide_ports_pkg::*;
#(
    parameter int unsigned Classes       = 64,    // 2..256
    parameter bit          ClassFromUser = 1'b0,
    parameter int unsigned Columns       = 8,     // segments of a word: 2, 4, 8
    localparam int unsigned CountWidth = $clog2(Columns + 1)
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    // words in; half_o: a frame is under way behind the last one that was taken; busy_o: a word is inside
    input  logic                       s_valid_i,
    output logic                       s_ready_o,
    input  logic [Columns-1:0][511:0]  s_data_i,
    input  logic [Columns-1:0][63:0]   s_keep_i,
    input  segment_t [Columns-1:0]     s_user_i,
    output logic                       half_o,
    output logic                       busy_o,
    // words out; with each that is taken, how many frames begin in it
    output logic                       m_valid_o,
    input  logic                       m_ready_i,
    output logic [Columns-1:0]         m_used_o,
    output logic [Columns-1:0][511:0]  m_data_o,
    output logic [Columns-1:0]         m_last_o,
    output logic [Columns-1:0][6:0]    m_bytes_last_o,    // 1..64
    output logic [Columns-1:0]         m_bad_o,           // in the last segment
    output logic [Columns-1:0][7:0]    m_class_o,
    output logic [Columns-1:0][15:0]   m_user_o,
    output logic [CountWidth-1:0]      m_begins_o
);

  typedef struct packed {
    logic         used;
    logic         hole;
    logic         unknown;
    logic         damaged;
    logic         last;
    logic [6:0]   bytes;
    logic [7:0]   class_id;
    logic [15:0]  user;
    logic [511:0] data;
  } known_t;

  function automatic logic [6:0] count_ones(logic [63:0] keep);
    count_ones = '0;
    for (int unsigned i = 0; i < 64; i++) count_ones += 7'(keep[i]);
  endfunction

  // ---- Each segment by itself ----
  known_t [Columns-1:0] known, known_q;
  logic valid_q, half_q, half, take, unused_bits;

  always_comb begin
    half = half_q;
    for (int unsigned s = 0; s < Columns; s++) begin
      known[s].used     = s_keep_i[s] != '0;
      known[s].last     = s_user_i[s].last;
      known[s].damaged  = s_user_i[s].damaged;
      known[s].hole     = !s_user_i[s].last && !s_keep_i[s][63];
      for (int unsigned i = 0; i < 63; i++) if (!s_keep_i[s][i] && s_keep_i[s][i+1]) known[s].hole = 1'b1;
      known[s].bytes    = known[s].hole ? 7'd64 : count_ones(s_keep_i[s]);
      known[s].unknown  = ClassFromUser && 32'(s_user_i[s].class_) >= Classes;
      known[s].class_id = known[s].unknown || !ClassFromUser ? '0 : s_user_i[s].class_;
      known[s].user     = s_user_i[s].user;
      known[s].data     = s_data_i[s];
      if (known[s].used) half = !known[s].last;
    end
    unused_bits = 1'b0;
    for (int unsigned s = 0; s < Columns; s++) unused_bits ^= s_user_i[s].zero ^ s_user_i[s].first;
  end

  assign s_ready_o = !valid_q || m_ready_i;
  assign take      = s_valid_i && s_ready_o;
  assign half_o    = half_q;
  assign busy_o    = valid_q;

  always_ff @(posedge clk_i) begin
    if (take) begin
      known_q <= known;
      half_q  <= half;
    end
    if (s_ready_o) valid_q <= s_valid_i;
    if (rst_i) begin
      valid_q <= 1'b0;
      half_q  <= 1'b0;
    end
  end

  // ---- A frame is damaged if one of its segments is ----
  logic open_q, open, damaged_q, damaged;

  always_comb begin
    open       = open_q;
    damaged    = damaged_q;
    m_begins_o = '0;
    for (int unsigned s = 0; s < Columns; s++) begin
      m_bad_o[s] = 1'b0;
      if (known_q[s].used) begin
        if (!open) begin
          m_begins_o++;
          damaged = known_q[s].unknown;
        end
        damaged    = damaged || known_q[s].hole;
        open       = !known_q[s].last;
        m_bad_o[s] = damaged || known_q[s].damaged;
      end
      m_used_o[s]       = known_q[s].used;
      m_last_o[s]       = known_q[s].last;
      m_bytes_last_o[s] = known_q[s].bytes;
      m_class_o[s]      = known_q[s].class_id;
      m_user_o[s]       = known_q[s].user;
      m_data_o[s]       = known_q[s].data;
    end
  end

  assign m_valid_o = valid_q;

  always_ff @(posedge clk_i) begin
    if (valid_q && m_ready_i) begin
      open_q    <= open;
      damaged_q <= damaged;
    end
    if (rst_i) open_q <= 1'b0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !valid_q) a_same_frame : assert (open_q == half_q);
  end
`endif

endmodule
