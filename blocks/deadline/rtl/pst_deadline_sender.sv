// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads the data of the frames that were taken and sends them, each checked once more when its first beat is about to be offered.
//
// A beat out is eight units from any unit on: the two beats that it lies in are read at once, one from each bank, and turned. A frame that
// goes on in the next chunk of its class goes on at the same unit of a beat there, so the turn is the same for all its beats.
// A pair is two frames of a beat at most, the second behind the first in the same chunk; each is checked for itself.
// No frame is offered after its deadline: one that is over by then is left out, and reported. With Voids a word stands for it in the stream.
//
// Throughput: a beat per cycle, a frame per cycle. Latency: 5 cycles from s_frame to m_valid. Order: kept. Reset: frames inside are forgotten.
module pst_deadline_sender
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes     = 64,
    parameter int unsigned ChunkBeats  = 64,
    parameter int unsigned Places      = 4,
    parameter bit          Voids       = 1'b0,  // m_void_o: a frame that is over leaves a word of no data, the last of it
    parameter bit          NoDeadlines = 1'b0,  // now_i stands still
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned PtrWidth   = $clog2(Places) + 1,
    localparam int unsigned PlaceWidth = ClassWidth + PtrWidth - 1,
    localparam int unsigned RowWidth   = PlaceWidth + $clog2(ChunkBeats) - 1,
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  time_t                     now_i,
    // frames to send
    input  logic                      s_frame_valid_i,
    output logic                      s_frame_ready_o,   // its data have been read
    input  logic [ClassWidth-1:0]     s_frame_class_i,
    input  logic [  PtrWidth-2:0]     s_frame_place_i,
    input  logic [           9:0]     s_frame_start_i,
    input  logic [           6:0]     s_frame_beats_i,
    input  logic                      s_frame_bank_i,
    input  header_t                   s_frame_header_i,
    input  logic                      s_frame_pair_i,    // two frames: the second one behind the first
    input  header_t                   s_frame_second_i,
    // a row of each bank, two cycles later
    output logic                      data_read_o,
    output logic [1:0][ RowWidth-1:0] data_row_o,
    input  logic [1:0][DataWidth-1:0] data_i,
    // frames out
    output logic                      m_valid_o,
    input  logic                      m_ready_i,
    output logic [     DataWidth-1:0] m_data_o,
    output logic                      m_last_o,
    output logic                      m_void_o,
    output logic [               6:0] m_bytes_last_o,
    output logic [    ClassWidth-1:0] m_class_o,
    output logic [              15:0] m_user_o,
    output time_t                     m_deadline_o,
    // a frame that is over is not sent
    output logic                      ev_late_valid_o,
    output logic [    ClassWidth-1:0] ev_late_class_o,
    output logic [              15:0] ev_late_bytes_o,
    output logic [              15:0] ev_late_user_o,
    output logic                      busy_o           // beats are between reading and the line
);

  localparam int unsigned BeatWidth = $clog2(ChunkBeats);
  localparam int unsigned Words     = 8;   // beats between reading and sending: what is on its way, and what waits

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [PtrWidth-2:0] number_t;
  typedef logic [10:0] frame_beats_t;      // beats of a frame, up to 65535 bytes

  // Where a beat is: in which place, which of its beats, and how many there are.
  typedef struct packed {
    number_t    place;
    logic [6:0] beat;
    logic [6:0] beats;
  } at_t;

  typedef struct packed {
    logic    first;
    logic    last;
    logic    late;       // no data were read
    class_t  class_id;
    header_t header;
  } word_t;

  function automatic at_t following(at_t at);
    following      = at;
    following.beat = at.beat + 1'b1;
    // A chunk in which the frame goes on has nothing but meta ahead of its data, or the frame ends in it.
    if (following.beat == at.beats) following = '{place: at.place + 1'b1, beat: '0, beats: 7'(ChunkBeats - 1)};
  endfunction

  // ---- First cycle: the rows of both banks ----
  logic second_q;                          // the pair's second frame is next, which
  logic [9:0] second_start_q, start;       // begins here
  header_t header;
  at_t at_q, at, behind;
  logic first_q, bank_q, bank, credit, go, late, last;
  frame_beats_t left_q, left;
  logic [3:0] words_q;
  word_t word;
  logic [RowWidth-1:0] row, row_behind;

  always_comb begin
    header = second_q ? s_frame_second_i : s_frame_header_i;
    start  = second_q ? second_start_q : s_frame_start_i;
    at     = first_q ? '{place: s_frame_place_i, beat: start[9:3], beats: s_frame_beats_i} : at_q;
    behind = following(at);
    bank   = first_q ? s_frame_bank_i ^ start[3] : bank_q;
    left   = first_q ? frame_beats_t'((17'(header.bytes) + 17'd63) >> 6) : left_q;
    late   = first_q && later(now_i, header.deadline);
    last   = late || left <= frame_beats_t'(1);
    credit = words_q != '0;
    go     = s_frame_valid_i && credit;

    row        = {s_frame_class_i, at.place, at.beat[BeatWidth-1:1]};
    row_behind = {s_frame_class_i, behind.place, behind.beat[BeatWidth-1:1]};
    data_row_o = bank ? {row, row_behind} : {row_behind, row};

    word = '{first: first_q, last: last, late: late, class_id: s_frame_class_i, header: header};
  end

  assign data_read_o     = go;
  assign s_frame_ready_o = go && last && (second_q || !s_frame_pair_i);

  // ---- Two cycles later the data; they are turned, and wait until they are taken ----
  word_t word_q, word_q2, word_q3, out;
  logic [2:0] unit_q, unit_q2, valid_q;
  logic bank_q1, bank_q2, out_valid, out_ready, unused_ready;
  logic [2*DataWidth-1:0] pair;
  logic [DataWidth-1:0] data_q, out_data;

  assign pair = {data_i[!bank_q2], data_i[bank_q2]};

  always_ff @(posedge clk_i) begin
    if (go) begin
      first_q <= last;
      at_q    <= behind;
      bank_q  <= !bank;
      left_q  <= left - 1'b1;
      if (last) second_q <= s_frame_pair_i && !second_q;
    end
    if (!second_q) second_start_q <= s_frame_start_i + 10'(units_of(s_frame_header_i.bytes));
    words_q <= words_q - 4'(go) + 4'(out_valid && out_ready);
    valid_q <= {valid_q[1:0], go};
    word_q  <= word;
    word_q2 <= word_q;
    word_q3 <= word_q2;
    unit_q  <= start[2:0];
    unit_q2 <= unit_q;
    bank_q1 <= bank;
    bank_q2 <= bank_q1;
    data_q  <= pair[UnitWidth*32'(unit_q2)+:DataWidth];
    if (rst_i) begin
      first_q  <= 1'b1;
      second_q <= 1'b0;
      valid_q <= '0;
      words_q <= 4'(Words);
    end
  end

  pst_fifo #(
      .Width($bits(word_t) + DataWidth),
      .Depth(Words)
  ) u_out (
      .clk_i,
      .rst_i,
      .s_valid_i(valid_q[2]),
      .s_ready_o(unused_ready),
      .s_data_i ({word_q3, data_q}),
      .m_valid_o(out_valid),
      .m_ready_i(out_ready),
      .m_data_o ({out, out_data}),
      .level_o  ()
  );

  // ---- The last check: what goes into the output register now is offered in the next cycle ----
  logic skip_q, skip, m_valid_q;

  assign out_ready = !m_valid_q || m_ready_i;
  assign skip      = out.first ? out.late || later(now_i + time_t'(!NoDeadlines), out.header.deadline) : skip_q;

  always_ff @(posedge clk_i) begin
    if (out_ready) begin
      m_valid_q      <= out_valid && (!skip || (Voids && out.first));
      m_data_o       <= out_data;
      m_last_o       <= out.last || (Voids && skip);
      m_void_o       <= Voids && skip;
      m_bytes_last_o <= out.header.bytes[5:0] == '0 ? 7'd64 : 7'(out.header.bytes[5:0]);
      m_class_o      <= out.class_id;
      m_user_o       <= out.header.user;
      m_deadline_o   <= out.header.deadline;
      if (out_valid) skip_q <= skip;
    end
    ev_late_valid_o <= out_valid && out_ready && out.first && skip;
    ev_late_class_o <= out.class_id;
    ev_late_bytes_o <= out.header.bytes;
    ev_late_user_o  <= out.header.user;
    if (rst_i) begin
      m_valid_q       <= 1'b0;
      ev_late_valid_o <= 1'b0;
    end
  end

  assign m_valid_o = m_valid_q;
  assign busy_o    = words_q != 4'(Words) || m_valid_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_word_has_room : assert (unused_ready || !valid_q[2]);
      if (go && !late) a_starts_in_its_chunk : assert (at.beat < at.beats) else $error("beat %0d of %0d", at.beat, at.beats);
    end
  end
`endif

endmodule
