// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Chunks land in their places: from memory and from the loop, a beat a cycle of both together; holds what is in the places.
//
// Headers and data stand in memories of their own; data beats of a class lie in two banks in turn, also from one chunk to the next, so two
// that follow each other can be read at once. When a chunk's last beat is there its class has one more that is `landed`; `whole` counts
// those up to which all frames are there to their last byte: all that landed, but where the last frame goes on in a chunk to come.
// A chunk that could not be read, or written before, is marked; a frame that began before it and goes on in it is cut off its own chunk.
//
// Latency: 2 cycles from a beat to the memories. Order: that of each source; the two take turns beat by beat. Reset: nothing has landed.
module pst_deadline_land
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes     = 64,
    parameter int unsigned ChunkBeats  = 64,
    parameter int unsigned Places      = 4,
    parameter int unsigned HeaderBeats = 8,    // of a chunk at most
    localparam int unsigned ClassWidth  = $clog2(Classes),
    localparam int unsigned PtrWidth    = $clog2(Places) + 1,
    localparam int unsigned PlaceWidth  = ClassWidth + PtrWidth - 1,            // class and place in one
    localparam int unsigned LineWidth   = HeaderBeats > 1 ? $clog2(HeaderBeats) : 1,
    localparam int unsigned RowWidth    = PlaceWidth + $clog2(ChunkBeats) - 1,  // of a bank of data
    localparam int unsigned DataWidth   = pst_memory_pkg::DataWidth
) (
    input  logic                             clk_i,
    input  logic                             rst_i,
    // chunks that come from memory, and their beats
    input  logic                             s_read_valid_i,
    output logic                             s_read_ready_o,    // it has landed
    input  logic [ClassWidth-1:0]            s_read_class_i,
    input  logic [  PtrWidth-1:0]            s_read_place_i,
    input  serial_t                          s_read_serial_i,
    input  logic                             s_read_bad_i,
    input  logic                             m_axi_rvalid_i,
    output logic                             m_axi_rready_o,
    input  logic [ DataWidth-1:0]            m_axi_rdata_i,
    input  logic [           1:0]            m_axi_rresp_i,
    input  logic                             m_axi_rlast_i,
    // the loop; its next chunk wants a place, and has got it
    input  logic                             s_loop_valid_i,
    output logic                             s_loop_ready_o,
    input  logic [ClassWidth-1:0]            s_loop_class_i,
    input  serial_t                          s_loop_serial_i,
    input  logic [ DataWidth-1:0]            s_loop_data_i,
    input  logic                             s_loop_last_i,
    output logic                             loop_wanted_o,
    input  logic                             loop_given_i,
    input  logic [  PtrWidth-1:0]            loop_place_i,
    // what has landed
    output logic                             landed_valid_o,    // pulse: a chunk more of this class
    output logic [ClassWidth-1:0]            landed_class_o,
    output logic [Classes-1:0][PtrWidth-1:0] landed_o,
    output logic [Classes-1:0][PtrWidth-1:0] whole_o,
    // what stands in a place, a cycle later
    input  logic                             word_read_i,
    input  logic [PlaceWidth-1:0]            word_place_i,
    output meta_t                            word_meta_o,
    output serial_t                          word_serial_o,
    output logic                             word_bad_o,        // it could not be read: nothing in it counts
    output logic                             word_bank_o,       // of its first data beat
    output logic                             word_cut_o,        // its last frame is lost
    // a beat of headers, two cycles later
    input  logic                             line_read_i,
    input  logic [PlaceWidth-1:0]            line_place_i,
    input  logic [ LineWidth-1:0]            line_beat_i,
    output logic [ DataWidth-1:0]            line_o,
    // a row of each bank of data, two cycles later
    input  logic                             data_read_i,
    input  logic [1:0][ RowWidth-1:0]        data_row_i,
    output logic [1:0][DataWidth-1:0]        data_o
);

  localparam int unsigned BeatWidth = $clog2(ChunkBeats);
  localparam int unsigned LineDepth = Classes * Places * 2 ** (HeaderBeats > 1 ? LineWidth : 0);

  typedef logic [PtrWidth-1:0] ptr_t;
  typedef logic [PlaceWidth-1:0] place_t;
  typedef logic [BeatWidth-1:0] beat_t;

  typedef struct packed {
    meta_t   meta;
    serial_t serial;
    logic    bad;
    logic    bank;
  } word_t;

  function automatic place_t place_of(logic [ClassWidth-1:0] class_id, logic [PtrWidth-2:0] at);
    return {class_id, at};
  endfunction

  // ---- First cycle: which of the two ----
  logic loop_has_place_q, loop_turn_q, read_can, loop_can, loop;
  ptr_t loop_place_q;
  beat_t [1:0] beat_q;             // of the chunk that lands: 0 from memory, 1 by the loop
  logic bad_q, refused;            // from memory
  logic last;

  assign read_can       = s_read_valid_i && (s_read_bad_i || m_axi_rvalid_i);
  assign loop_can       = s_loop_valid_i && loop_has_place_q;
  assign loop           = loop_can && (loop_turn_q || !read_can);
  assign s_loop_ready_o = loop_has_place_q && loop;
  assign m_axi_rready_o = s_read_valid_i && !s_read_bad_i && !loop;
  assign s_read_ready_o = read_can && !loop && last;
  assign loop_wanted_o  = s_loop_valid_i && !loop_has_place_q && !loop_given_i;
  assign refused        = m_axi_rresp_i >= 2'b10;
  assign last           = loop ? s_loop_last_i : s_read_bad_i || m_axi_rlast_i;

  // ---- Second cycle: what it is, and where it goes ----
  logic in_valid_q, in_loop_q, in_first_q, in_last_q, in_bad_q;
  logic [ClassWidth-1:0] in_class_q;
  ptr_t in_ptr_q;
  serial_t in_serial_q;
  beat_t in_beat_q, header_beats_now, data_beat;
  logic [DataWidth-1:0] in_data_q;
  meta_t [1:0] meta_q;
  meta_t meta;
  place_t in_place, whole_place;
  logic [Classes-1:0] bank_q;
  logic [Classes*Places-1:0] cut_q;
  ptr_t [Classes-1:0] landed_q, whole_q;
  logic is_header, bank, lands, pending, odd;

  assign in_place         = place_of(in_class_q, in_ptr_q[PtrWidth-2:0]);
  assign whole_place      = place_of(in_class_q, whole_q[in_class_q][PtrWidth-2:0]);
  assign meta             = in_first_q ? meta_t'(in_data_q[UnitWidth-1:0]) : meta_q[in_loop_q];
  assign header_beats_now = beat_t'(header_beats(16'(meta.frames)));
  assign is_header        = in_beat_q < header_beats_now;
  assign data_beat        = in_beat_q - header_beats_now;
  assign bank             = bank_q[in_class_q] ^ data_beat[0];
  assign odd              = meta.data_units[3] ^ (meta.data_units[2:0] != '0);  // number of data beats
  assign lands            = in_valid_q && in_last_q;
  assign pending          = whole_q[in_class_q] != landed_q[in_class_q];

  assign landed_valid_o = lands;
  assign landed_class_o = in_class_q;
  assign landed_o       = landed_q;
  assign whole_o        = whole_q;

  always_ff @(posedge clk_i) begin
    in_valid_q  <= loop || read_can;
    in_loop_q   <= loop;
    in_class_q  <= loop ? s_loop_class_i : s_read_class_i;
    in_ptr_q    <= loop ? loop_place_q : s_read_place_i;
    in_serial_q <= loop ? s_loop_serial_i : s_read_serial_i;
    in_data_q   <= loop ? s_loop_data_i : m_axi_rdata_i;
    in_beat_q   <= beat_q[loop];
    in_first_q  <= beat_q[loop] == '0;
    in_last_q   <= last;
    in_bad_q    <= !loop && (bad_q || s_read_bad_i || refused);

    if (loop || read_can) begin
      beat_q[loop] <= last ? '0 : beat_q[loop] + 1'b1;
      if (!loop) bad_q <= !last && (bad_q || refused);
      loop_turn_q  <= !loop;
    end
    if (loop_given_i) begin
      loop_has_place_q <= 1'b1;
      loop_place_q     <= loop_place_i;
    end
    if (loop && last) loop_has_place_q <= 1'b0;

    if (in_valid_q) meta_q[in_loop_q] <= meta;
    if (lands) begin
      landed_q[in_class_q] <= landed_q[in_class_q] + 1'b1;
      cut_q[in_place]      <= 1'b0;
      if (in_bad_q) begin
        if (pending) cut_q[whole_place] <= 1'b1;
        whole_q[in_class_q] <= landed_q[in_class_q] + 1'b1;
      end else begin
        bank_q[in_class_q] <= bank_q[in_class_q] ^ odd;
        // A frame that began before stays open where none begins and this chunk's last one, the same, goes on.
        if (meta.frames != '0 && meta.open) whole_q[in_class_q] <= landed_q[in_class_q];
        else if (!(meta.open && pending)) whole_q[in_class_q] <= landed_q[in_class_q] + 1'b1;
      end
    end
    if (rst_i) begin
      in_valid_q       <= 1'b0;
      beat_q           <= '0;
      bad_q            <= 1'b0;
      loop_turn_q      <= 1'b0;
      loop_has_place_q <= 1'b0;
      landed_q         <= '0;
      whole_q          <= '0;
      bank_q           <= '0;
      cut_q            <= '0;
    end
  end

  // ---- Memories ----
  word_t word;
  place_t word_place_q;
  logic [PlaceWidth+LineWidth-1:0] line_waddr, line_raddr;
  logic [$clog2(LineDepth)-1:0] line_write, line_read;

  pst_ram_1r1w #(
      .Width($bits(word_t)),
      .Depth(Classes * Places)
  ) u_words (
      .clk_i,
      .we_i   (lands),
      .waddr_i(in_place),
      .wdata_i({meta, in_serial_q, in_bad_q, bank_q[in_class_q]}),
      .re_i   (word_read_i),
      .raddr_i(word_place_i),
      .rdata_o(word)
  );

  always_ff @(posedge clk_i) if (word_read_i) word_place_q <= word_place_i;

  assign word_meta_o   = word.meta;
  assign word_serial_o = word.serial;
  assign word_bad_o    = word.bad;
  assign word_bank_o   = word.bank;
  assign word_cut_o    = cut_q[word_place_q];

  assign line_waddr = {in_place, LineWidth'(in_beat_q)};
  assign line_raddr = {line_place_i, line_beat_i};
  assign line_write = HeaderBeats > 1 ? $bits(line_write)'(line_waddr) : $bits(line_write)'(line_waddr >> 1);
  assign line_read  = HeaderBeats > 1 ? $bits(line_read)'(line_raddr) : $bits(line_read)'(line_raddr >> 1);

  pst_ram_1r1w #(
      .Width(DataWidth),
      .Depth(LineDepth),
      .ReadLatency(2)
  ) u_lines (
      .clk_i,
      .we_i   (in_valid_q && is_header && 32'(in_beat_q) < HeaderBeats && !in_bad_q),
      .waddr_i(line_write),
      .wdata_i(in_data_q),
      .re_i   (line_read_i),
      .raddr_i(line_read),
      .rdata_o(line_o)
  );

  for (genvar g = 0; g < 2; g++) begin : g_bank
    pst_ram_1r1w #(
        .Width(DataWidth),
        .Depth(Classes * Places * ChunkBeats / 2),
        .ReadLatency(2)
    ) u_data (
        .clk_i,
        .we_i   (in_valid_q && !is_header && bank == 1'(g) && !in_bad_q),
        .waddr_i({in_place, data_beat[BeatWidth-1:1]}),
        .wdata_i(in_data_q),
        .re_i   (data_read_i),
        .raddr_i(data_row_i[g]),
        .rdata_o(data_o[g])
    );
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && in_valid_q) begin
      a_place_is_next : assert (in_ptr_q == landed_q[in_class_q]) else $error("class %0d: place %0d, not the next", in_class_q, in_ptr_q);
      if (lands && !in_bad_q) begin
        a_headers_fit : assert (32'(header_beats(16'(meta.frames))) <= HeaderBeats) else $error("%0d frames in a chunk", meta.frames);
        a_has_all_data : assert (32'(meta.data_units) <= (32'(in_beat_q) + 1 - 32'(header_beats_now)) * BeatUnits)
        else $error("%0d units of data in %0d beats", meta.data_units, in_beat_q);
        a_open_ends_with_a_beat : assert (!meta.open || meta.data_units[2:0] == '0);
      end
    end
  end
`endif

endmodule
