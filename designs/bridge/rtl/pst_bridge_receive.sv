// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Frames from a MAC that cannot wait, without FCS, into two streams: control frames, and all others. A frame comes out whole or not at all.
//
// Control frames have a destination from 01-80-C2-00-00-00 to 01-80-C2-00-00-0F (IEEE 802.1Q, table 8-1): STP, pause, LACP, EAPOL, LLDP.
// Each frame is written to both stores; at its last byte one of them keeps it and the other forgets it.
// Dropped and reported by a pulse: a frame that the MAC calls damaged, a short one, a long one, one that finds no room in its store.
//
// Latency 4 cycles from the last word. One word per cycle in and out. The order within each stream is kept. Reset forgets everything.
module pst_bridge_receive #(
    parameter int unsigned Bytes = 1,            // per cycle, 1, 2 or 4; the first one is in the low bits
    parameter int unsigned LongestBytes = 1536,  // longest frame without FCS, 60 to 2047
    parameter int unsigned Depth = 16384,        // bytes in store, a power of two > LongestBytes
    parameter int unsigned ControlDepth = 2048,  // bytes in the store of control frames, a power of two > LongestBytes
    localparam int unsigned CountWidth = Bytes > 1 ? $clog2(Bytes) : 1
) (
    input  logic       clk_i,
    input  logic       rst_i,
    // words of the MAC; count is the bytes of a word less one, and Bytes - 1 before the last word; error counts at the last word
    input  logic                  s_valid_i,
    input  logic [8*Bytes-1:0]    s_data_i,
    input  logic [CountWidth-1:0] s_count_i,
    input  logic                  s_last_i,
    input  logic                  s_error_i,
    // control frames
    output logic                  m_control_valid_o,
    input  logic                  m_control_ready_i,
    output logic [8*Bytes-1:0]    m_control_data_o,
    output logic [CountWidth-1:0] m_control_count_o,
    output logic                  m_control_last_o,
    // all other frames
    output logic                  m_frame_valid_o,
    input  logic                  m_frame_ready_i,
    output logic [8*Bytes-1:0]    m_frame_data_o,
    output logic [CountWidth-1:0] m_frame_count_o,
    output logic                  m_frame_last_o,
    // pulses, two cycles after a frame's last word: it is kept, or is dropped for this reason
    output logic                  kept_o,
    output logic                  damaged_o,
    output logic                  short_o,
    output logic                  long_o,
    output logic                  no_room_o,
    // with a pulse: it is a control frame; its bytes without FCS, of a long one LongestBytes + 1
    output logic                  control_o,
    output logic [11:0]           len_o
);

  localparam int unsigned LeastBytes = 60;
  localparam logic [5:0][7:0] Reserved = 48'h01_80_c2_00_00_00;  // its lowest four bits are any

  if (LongestBytes < LeastBytes || LongestBytes > 2047 || Depth <= LongestBytes || ControlDepth <= LongestBytes) begin : g_bad_size
    $error("pst_bridge_receive: LongestBytes (%0d) must be %0d to 2047, and less than Depth (%0d) and ControlDepth (%0d)", LongestBytes,
           LeastBytes, Depth, ControlDepth);
  end
  if (!(Bytes inside {1, 2, 4})) begin : g_bad_width
    $error("pst_bridge_receive: Bytes is %0d, must be 1, 2 or 4", Bytes);
  end

  typedef logic [$clog2(LongestBytes+Bytes+1)-1:0] len_t;

  typedef struct packed {
    logic [CountWidth-1:0] count;
    logic                  last;
    logic [8*Bytes-1:0]    data;
  } word_t;

  localparam int unsigned Stored = $bits(word_t) - 32'(Bytes == 1);    // a single byte needs no count

  // All of the frame's address before this word is reserved; how many words that was, up to 6; a store had no room for a word.
  logic reserved_q, lost_frame_q, lost_control_q;
  logic [2:0] place_q;
  logic end_of_frame, too_short, too_long, sound, lost, keep_frame, keep_control;
  logic frame_room, control_room, reserved_word;

  // The word of the cycle before: the FCS is judged in one cycle, and the stores act on it in the next one. And the bytes of its frame up to
  // its end; more than LongestBytes are not counted on.
  logic valid_q, error_q, begins_q;
  word_t word_q;
  logic unused_count;  // of a word of one byte
  assign unused_count = ^word_q.count;
  len_t len_q;
  always_ff @(posedge clk_i) begin
    valid_q <= s_valid_i && !rst_i;
    word_q  <= '{count: s_count_i, last: s_last_i, data: s_data_i};
    error_q <= s_error_i;
    if (s_valid_i) begin
      begins_q <= s_last_i;
      if (begins_q) len_q <= len_t'(s_count_i) + len_t'(1);
      else if (!too_long) len_q <= len_q + len_t'(s_count_i) + len_t'(1);
    end
    if (rst_i) begins_q <= 1'b1;
  end

  assign end_of_frame = valid_q && word_q.last;
  assign too_short    = len_q < len_t'(LeastBytes);
  assign too_long     = len_q > len_t'(LongestBytes);
  assign sound        = !error_q && !too_short && !too_long;
  assign lost         = reserved_q ? lost_control_q || !control_room : lost_frame_q || !frame_room;
  assign keep_frame   = end_of_frame && sound && !lost && !reserved_q;
  assign keep_control = end_of_frame && sound && !lost && reserved_q;

  logic [Stored-1:0] frame_word, control_word;

  always_comb begin
    reserved_word = 1'b1;
    for (int unsigned n = 0; n < 6; n++) begin
      if (place_q == 3'(n / Bytes) && (word_q.data[8*(n%Bytes)+:8] & (n == 5 ? 8'hf0 : 8'hff)) != Reserved[5-n]) reserved_word = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_q) begin
      if (place_q != 3'd6) place_q <= place_q + 3'd1;
      reserved_q     <= reserved_q && reserved_word;
      lost_frame_q   <= lost_frame_q || !frame_room;
      lost_control_q <= lost_control_q || !control_room;
    end
    kept_o    <= keep_frame || keep_control;
    damaged_o <= end_of_frame && error_q;
    short_o   <= end_of_frame && !error_q && too_short;
    long_o    <= end_of_frame && !error_q && too_long;
    no_room_o <= end_of_frame && sound && lost;
    control_o <= reserved_q;
    len_o     <= too_long ? 12'(LongestBytes + 1) : 12'(len_q);
    if (rst_i || end_of_frame) begin
      place_q        <= '0;
      reserved_q     <= 1'b1;
      lost_frame_q   <= 1'b0;
      lost_control_q <= 1'b0;
    end
    if (rst_i) {kept_o, damaged_o, short_o, long_o, no_room_o} <= '0;
  end

  pst_ram_fifo #(
      .Width(Stored), .Depth(Depth / Bytes)
  ) u_frames (
      .clk_i, .rst_i,
      .s_valid_i(valid_q && !lost_frame_q), .s_ready_o(frame_room), .s_data_i(Stored'(word_q)), .s_commit_i(keep_frame),
      .s_rewind_i(end_of_frame && !keep_frame), .s_overrun_o(),
      .m_valid_o(m_frame_valid_o), .m_ready_i(m_frame_ready_i), .m_data_o(frame_word)
  );

  pst_ram_fifo #(
      .Width(Stored), .Depth(ControlDepth / Bytes)
  ) u_control (
      .clk_i, .rst_i,
      .s_valid_i(valid_q && !lost_control_q), .s_ready_o(control_room), .s_data_i(Stored'(word_q)), .s_commit_i(keep_control),
      .s_rewind_i(end_of_frame && !keep_control), .s_overrun_o(),
      .m_valid_o(m_control_valid_o), .m_ready_i(m_control_ready_i), .m_data_o(control_word)
  );

  assign {m_frame_count_o, m_frame_last_o, m_frame_data_o}       = word_t'(frame_word);
  assign {m_control_count_o, m_control_last_o, m_control_data_o} = word_t'(control_word);

`ifndef SYNTHESIS
  logic ended_q;
  always_ff @(posedge clk_i) begin
    ended_q <= end_of_frame && !rst_i;
    if (!rst_i && ended_q) begin
      a_one_outcome : assert ($onehot({kept_o, damaged_o, short_o, long_o, no_room_o}));
    end
  end
`endif

endmodule
