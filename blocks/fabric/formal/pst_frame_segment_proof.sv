// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_frame_segment with credits: every beat goes to each destination of its frame once, numbered without gaps; no
// destination ever has more cells than it has room for; and a source waits only while that room holds a complete frame, so never for ever.
//
// The bench keeps books of its own by {destination, class}, from the cells alone: cells of the frame under way, and cells of complete frames
// that were not read yet. The destination reads complete frames only and forgets a frame with an error, as pst_frame_reassemble does (proved
// there). Room is for MaxCells cells, the least that is allowed. Beats are looked at behind the module's input register.
module pst_frame_segment_proof #(
    localparam int unsigned Ports = 2,
    localparam int unsigned Classes = 3,      // of a width that has a fourth, which is refused
    localparam int unsigned MaxCells = 3,
    localparam int unsigned NumberWidth = 1,
    localparam int unsigned Credits = MaxCells,
    localparam int unsigned CellWidth = 1 + 2 + NumberWidth + 2 + 2 + 1 + 8
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic [7:0]            data_i,
    input logic [Ports-1:0]      dest_i,
    input logic [1:0]            class_i,
    input logic                  last_i,
    input logic                  error_i,
    input logic                  valid_i,
    input logic                  ready_i,
    input logic [Ports-1:0]      credit_i,
    input logic [Ports-1:0][1:0] credit_class_i
);

  typedef struct packed {
    logic                   source;
    logic [1:0]             cls;
    logic [NumberWidth-1:0] number;
    logic [1:0]             index;
    logic                   last;
    logic                   error;
    logic                   bytes;
    logic [7:0]             data;
  } cell_t;

  logic valid, port, refused, s_ready;
  logic [1:0] cls;
  logic [CellWidth-1:0] word;
  cell_t sent_cell;
  assign sent_cell = cell_t'(word);

  pst_frame_segment #(
      .Ports(Ports),
      .DataBytes(1),
      .Classes(Classes),
      .MaxCells(MaxCells),
      .NumberWidth(NumberWidth),
      .Credits(Credits)
  ) u_dut (
      .clk_i,
      .rst_i,
      .source_i(1'b1),
      .s_axis_tdata_i(data_i),
      .s_axis_tkeep_i(1'b1),
      .s_axis_tlast_i(last_i),
      .s_axis_tdest_i(dest_i),
      .s_axis_tuser_i({class_i, error_i}),
      .s_axis_tvalid_i(valid_i),
      .s_axis_tready_o(s_ready),
      .m_cell_valid_o(valid),
      .m_cell_ready_i(ready_i),
      .m_cell_dest_o(port),
      .m_cell_class_o(cls),
      .m_cell_data_o(word),
      .s_credit_valid_i(credit_i),
      .s_credit_class_i(credit_class_i),
      .ev_refused_o(refused)
  );

  // --- the frame under way, as the source means it

  logic first_q, swallow_q;           // its first beat is next; the rest of it is thrown away
  logic [1:0] beat_q;                 // beats of it before
  logic [Ports-1:0] mask_q, done_q;   // its destinations; those that have this beat
  logic [1:0] class_q;

  logic bad, thrown, cut, sent;
  logic [Ports-1:0] mask, after;
  logic [1:0] of_class;

  always_comb begin
    mask     = first_q ? u_dut.beat.dest : mask_q;
    of_class = first_q ? u_dut.beat.cls : class_q;
    bad      = first_q && (mask == '0 || of_class >= 2'(Classes));
    thrown   = swallow_q || bad;
    cut      = beat_q == 2'(MaxCells - 1) && !u_dut.beat.last;
    sent     = valid && ready_i;
    after    = done_q;
    if (sent) after[port] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    done_q <= after;
    if (u_dut.beat_valid && (thrown || after == mask)) begin
      first_q   <= u_dut.beat.last;
      swallow_q <= !u_dut.beat.last && (thrown || cut);
      beat_q    <= u_dut.beat.last || cut ? '0 : thrown ? beat_q : beat_q + 1'b1;
      mask_q    <= mask;
      class_q   <= of_class;
      done_q    <= '0;
    end
    if (rst_i) begin
      first_q   <= 1'b1;
      swallow_q <= 1'b0;
      beat_q    <= '0;
      done_q    <= '0;
    end
  end

  // --- the books, by destination and class

  logic [Ports-1:0][Classes-1:0][NumberWidth-1:0] number_q;
  logic [Ports-1:0][Classes-1:0][2:0] open_q, whole_q;   // cells in the room: of the frame under way; of complete frames

  always_ff @(posedge clk_i) begin
    for (int p = 0; p < Ports; p++) begin
      for (int c = 0; c < Classes; c++) begin
        automatic logic here = sent && port == 1'(p) && cls == 2'(c);
        automatic logic read = credit_i[p] && credit_class_i[p] == 2'(c);
        automatic logic [2:0] gain = here && sent_cell.last && !sent_cell.error ? open_q[p][c] + 1'b1 : '0;
        m_reads_whole_frames : assume (!read || whole_q[p][c] != '0);
        whole_q[p][c] <= whole_q[p][c] + gain - 3'(read);
        if (here) open_q[p][c] <= sent_cell.last ? '0 : open_q[p][c] + 1'b1;
        if (here && sent_cell.last) number_q[p][c] <= number_q[p][c] + 1'b1;
      end
    end
    if (rst_i) begin
      number_q <= '0;
      open_q   <= '0;
      whole_q  <= '0;
    end
  end

  logic seen_q, waits_q, port_q;
  cell_t offered_q;
  initial seen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    seen_q    <= 1'b1;
    waits_q   <= valid && !ready_i && !rst_i;
    offered_q <= sent_cell;
    port_q    <= port;
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_refused : assert (refused == (u_dut.beat_valid && bad));
      if (waits_q) a_held : assert (valid && sent_cell == offered_q && port == port_q);
      if (valid) begin
        a_beat : assert (u_dut.beat_valid && !thrown && sent_cell.data == u_dut.beat.data && sent_cell.bytes == u_dut.beat.bytes);
        a_copy : assert (mask[port] && !done_q[port]);
        a_class : assert (cls == of_class && sent_cell.cls == of_class && sent_cell.source == 1'b1);
        a_index : assert (sent_cell.index == beat_q && sent_cell.index == open_q[port][cls][1:0]);
        a_number : assert (sent_cell.number == number_q[port][cls]);
        a_end : assert (sent_cell.last == (u_dut.beat.last || cut) && sent_cell.error == (cut || (u_dut.beat.last && u_dut.beat.error)));
      end
      a_next_beat : assert (u_dut.beat_done || !u_dut.beat_valid || !(thrown || after == mask));
      if (u_dut.beat_valid && u_dut.beat_done) a_all_copies : assert (thrown || after == mask);
      for (int p = 0; p < Ports; p++) begin
        for (int c = 0; c < Classes; c++) a_no_more_than_credits : assert (32'(open_q[p][c]) + 32'(whole_q[p][c]) <= Credits);
      end
      // the wait ends: the room that it waits for holds a complete frame
      if (u_dut.beat_valid && !thrown && !valid) a_waits_for_a_frame : assert (whole_q[port][of_class] != '0);
      c_both : cover (sent && sent_cell.last && sent_cell.index == 2'd2 && port && mask == '1 && number_q[0][1] == 1'b1);
      c_cut : cover (sent && cut);
      c_refused_then_sent : cover (sent && swallow_q == 1'b0 && refused == 1'b0 && $past(refused));
      c_waits : cover (u_dut.beat_valid && !thrown && !valid && open_q[port][of_class] != '0);
    end
  end

  // --- what the induction needs: the books of module and bench agree

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      a_books_of_the_frame : assert (u_dut.first_q == first_q && u_dut.swallow_q == swallow_q && (swallow_q || u_dut.index_q == beat_q));
      a_beat_in_range : assert (beat_q < 2'(MaxCells));
      if (first_q || swallow_q) a_no_beat_without_a_frame : assert (beat_q == '0);
      if (!u_dut.beat_valid || thrown) a_no_copy_without_a_beat : assert (done_q == '0);
      if (!first_q && !swallow_q)
        a_books_of_the_header : assert (mask_q == u_dut.dest_q && class_q == u_dut.class_q && mask_q != '0 && class_q < 2'(Classes));
      a_copied : assert (u_dut.copied_q == (done_q != '0));
      if (u_dut.copied_q) begin
        a_copied_a_beat : assert (u_dut.beat_valid && !thrown);
        a_left : assert (u_dut.left_q == (mask & ~done_q) && (done_q & ~mask) == '0 && u_dut.left_q != '0);
      end
      for (int p = 0; p < Ports; p++) begin
        for (int c = 0; c < Classes; c++) begin
          automatic logic of_frame = !swallow_q && (!first_q || done_q != '0) && mask[p] && of_class == 2'(c);
          a_credits_kept : assert (32'(u_dut.g_credits.credit_q[p][c]) + 32'(open_q[p][c]) + 32'(whole_q[p][c]) == Credits);
          a_numbers_kept : assert (u_dut.number_q[p][c] == number_q[p][c]);
          // copies of one frame are one beat apart at most, and the last beat's copies have closed theirs
          if (!of_frame) a_open_of_other_frames : assert (open_q[p][c] == '0);
          else if (!done_q[p]) a_open_before_the_copy : assert (open_q[p][c] == 3'(beat_q));
          else a_open_behind_the_copy : assert (open_q[p][c] == (u_dut.beat.last || cut ? '0 : 3'(beat_q) + 1'b1));
        end
      end
    end
  end

endmodule
