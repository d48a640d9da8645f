// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Speculative store and forward: a frame goes in beat by beat and comes out whole or not at all.
//
// At its last beat a frame is kept, and its meta word with it, or discarded (s_discard_i), which rewinds the write
// pointer. A frame that has more beats than DepthBeats is discarded too, for it could never become whole: it is
// taken to its end and leaves no trace, so it cannot block the input.
//
// Meta words and data beats leave on two independent handshakes, both in order of arrival. Neither waits for the other;
// the data of a frame is not visible before its meta word has entered the meta FIFO.
//
// Latency 3 cycles from the last beat to m_meta_valid_o and m_data_valid_o. One beat per cycle in and out at once,
// frames of one beat included. Reset forgets everything.
module pst_frame_fifo #(
    parameter int unsigned DataBytes = 64,   // bytes per beat, >= 1
    parameter int unsigned DepthBeats = 512,  // beats in store, a power of two >= 2
    parameter int unsigned MaxFrames = 512,   // meta words in store, >= 1; rounded up to a power of two >= 2
    parameter int unsigned MetaWidth = 32,    // bits of the meta word, >= 1
    parameter string       Style = "auto"     // RAM style of the beat store, as in pst_ram_1r1w
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // frames in; discard and meta count at the last beat
    input  logic                   s_valid_i,
    output logic                   s_ready_o,
    input  logic [8*DataBytes-1:0] s_data_i,
    input  logic                   s_last_i,
    input  logic                   s_discard_i,
    input  logic [  MetaWidth-1:0] s_meta_i,
    // one meta word per kept frame
    output logic                   m_meta_valid_o,
    input  logic                   m_meta_ready_i,
    output logic [  MetaWidth-1:0] m_meta_o,
    // beats of kept frames
    output logic                   m_data_valid_o,
    input  logic                   m_data_ready_i,
    output logic [8*DataBytes-1:0] m_data_o,
    output logic                   m_data_last_o
);

  if (DataBytes < 1 || MaxFrames < 1 || MetaWidth < 1) begin : g_bad_size
    $error("pst_frame_fifo: DataBytes (%0d), MaxFrames (%0d) and MetaWidth (%0d) must be at least 1", DataBytes, MaxFrames,
           MetaWidth);
  end

  localparam int unsigned MetaDepth = MaxFrames > 2 ? 2 ** $clog2(MaxFrames) : 2;

  typedef struct packed {
    logic                   last;
    logic [8*DataBytes-1:0] data;
  } beat_t;

  beat_t s_beat, m_beat;
  logic data_ready, meta_ready, overrun, take, store, commit, rewind;

  // An overrun frame is swallowed without looking at the stores: nothing of it is written any more.
  assign s_ready_o = overrun || (data_ready && meta_ready);

  always_comb begin
    s_beat = '{last: s_last_i, data: s_data_i};
    take   = s_valid_i && s_ready_o;
    store  = take && !overrun;
    commit = store && s_last_i && !s_discard_i;
    rewind = take && s_last_i && !commit;
  end

  pst_ram_fifo #(
      .Width($bits(beat_t)),
      .Depth(DepthBeats),
      .Style(Style)
  ) u_beats (
      .clk_i,
      .rst_i,
      .s_valid_i  (store),
      .s_ready_o  (data_ready),
      .s_data_i   (s_beat),
      .s_commit_i (commit),
      .s_rewind_i (rewind),
      .s_overrun_o(overrun),
      .m_valid_o  (m_data_valid_o),
      .m_ready_i  (m_data_ready_i),
      .m_data_o   (m_beat)
  );

  assign m_data_o      = m_beat.data;
  assign m_data_last_o = m_beat.last;

  // The same kind of FIFO as the beats', hence the same latency: no beat overtakes its meta word.
  pst_ram_fifo #(
      .Width(MetaWidth),
      .Depth(MetaDepth)
  ) u_metas (
      .clk_i,
      .rst_i,
      .s_valid_i  (commit),
      .s_ready_o  (meta_ready),
      .s_data_i   (s_meta_i),
      .s_commit_i (1'b1),
      .s_rewind_i (1'b0),
      /* verilator lint_off PINCONNECTEMPTY */
      .s_overrun_o(),
      /* verilator lint_on PINCONNECTEMPTY */
      .m_valid_o  (m_meta_valid_o),
      .m_ready_i  (m_meta_ready_i),
      .m_data_o   (m_meta_o)
  );

`ifndef SYNTHESIS
  // Frames that are kept and have not left.
  logic [31:0] frames_q;
  always_ff @(posedge clk_i) begin
    frames_q <= frames_q + 32'(commit) - 32'(m_data_valid_o && m_data_ready_i && m_data_last_o);
    if (rst_i) frames_q <= '0;
    else if (m_data_valid_o) a_beat_is_of_a_kept_frame : assert (frames_q != '0);
  end
`endif

endmodule
