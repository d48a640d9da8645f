// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Packets in block RAM: a frame takes cells of 64 bytes, each of which names the next one. A frame's descriptor is its first cell.
//
// Three walk along such chains: the writer makes one, the reader sends one and gives its cells back, the dropper gives the cells of one back.
// A frame that finds no cell is dropped whole.
//
// Throughput: a word per cycle in and out at once; the dropper gives a cell back every three cycles.
// Latency:    a frame is announced a cycle after the word about it; its first word is on offer two cycles after the request to send it.
// Ordering:   frames are announced as they come, and sent as they are asked for. Reset: forgets every frame.
module pst_bridge_store
  import pst_pkg::len_t;
  import pst_bridge_pkg::in_word_t, pst_bridge_pkg::about_t, pst_bridge_pkg::out_word_t;
#(
    parameter int unsigned Cells = 512,    // of 64 bytes, >= 2
    localparam int unsigned CellWidth = $clog2(Cells)
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    // words of frames, see in_word_t
    input  logic                       s_word_valid_i,
    output logic                       s_word_ready_o,
    input  in_word_t                   s_word_i,
    // a frame is there
    output logic                       m_stored_valid_o,
    input  logic                       m_stored_ready_i,
    output logic [CellWidth-1:0]       m_stored_desc_o,
    output about_t                     m_stored_about_o,
    // send a frame
    input  logic                       s_send_valid_i,
    output logic                       s_send_ready_o,
    input  logic [CellWidth-1:0]       s_send_desc_i,
    input  len_t                       s_send_len_i,    // bytes, as it was announced
    output logic                       m_word_valid_o,
    input  logic                       m_word_ready_i,
    output out_word_t                  m_word_o,
    // drop a frame; two may come side by side
    input  logic [1:0]                 s_drop_valid_i,
    output logic [1:0]                 s_drop_ready_o,
    input  logic [1:0][CellWidth-1:0]  s_drop_desc_i,
    // pulse: a frame found no cell, its bytes; cells that no frame has
    output logic                       no_room_o,
    output len_t                       no_room_len_o,
    output logic [$clog2(Cells+1)-1:0] free_cells_o
);

  typedef logic [CellWidth-1:0] cell_t;

  typedef struct packed {
    logic  last;
    cell_t next;
  } link_t;

  // --- free cells

  logic alloc_valid, alloc_ready, free_valid;
  cell_t alloc_cell, free_cell;
  logic [1:0] back_valid, back_ready;    // of the reader, which never waits, and of the dropper
  cell_t [1:0] back_cell;

  pst_page_allocator #(
      .Pages(Cells)
  ) u_cells (
      .clk_i, .rst_i,
      .m_alloc_valid_o(alloc_valid), .m_alloc_ready_i(alloc_ready), .m_alloc_page_o(alloc_cell),
      .s_free_valid_i(free_valid), .s_free_page_i(free_cell), .free_pages_o(free_cells_o)
  );

  pst_free_merge #(
      .Ports(2), .Width(CellWidth)
  ) u_back (
      .clk_i, .rst_i, .s_free_valid_i(back_valid), .s_free_ready_o(back_ready), .s_free_desc_i(back_cell),
      .m_free_valid_o(free_valid), .m_free_ready_i(1'b1), .m_free_desc_o(free_cell)
  );

  // --- the writer

  cell_t head_q, cell_q;
  logic [2:0] at_q;         // word of a cell that comes next
  logic within_q, lost_q;   // the frame has a cell; it has found none
  logic take, wants_cell, no_cell, data_we, link_we, stored_valid_q, abort_valid_q, abort_ready;
  cell_t stored_desc_q, abort_cell_q, data_cell;
  about_t about, stored_about_q;
  link_t link_wdata;

  assign about = about_t'(s_word_i.data);

  always_comb begin
    wants_cell     = !s_word_i.ends && !lost_q && at_q == 3'd0;
    no_cell        = wants_cell && !alloc_valid && free_cells_o == '0;
    // A frame that ends is announced, or what it has is given back: each of these has a register.
    s_word_ready_o = s_word_i.ends ? lost_q || !stored_valid_q : !wants_cell || alloc_valid || (no_cell && !abort_valid_q);
    take           = s_word_valid_i && s_word_ready_o;
    alloc_ready    = take && wants_cell && alloc_valid;
    data_we        = take && !s_word_i.ends && !lost_q && !no_cell;
    data_cell      = wants_cell ? alloc_cell : cell_q;
    // A link is written when the cell behind it is known, or that there is none.
    link_we        = take && !lost_q && within_q && (s_word_i.ends || wants_cell);
    link_wdata     = '{last: s_word_i.ends || no_cell, next: alloc_cell};
  end

  always_ff @(posedge clk_i) begin
    no_room_o <= take && s_word_i.ends && lost_q;
    no_room_len_o <= about.len;
    if (m_stored_ready_i) stored_valid_q <= 1'b0;
    if (abort_ready) abort_valid_q <= 1'b0;
    if (alloc_ready) begin
      cell_q   <= alloc_cell;
      within_q <= 1'b1;
      if (!within_q) head_q <= alloc_cell;
    end
    if (data_we) at_q <= at_q + 3'd1;
    if (take && no_cell) begin
      lost_q        <= 1'b1;
      abort_valid_q <= within_q;
      abort_cell_q  <= head_q;
    end
    if (take && s_word_i.ends) begin
      at_q     <= '0;
      within_q <= 1'b0;
      lost_q   <= 1'b0;
      if (!lost_q) begin
        stored_valid_q <= 1'b1;
        stored_desc_q  <= head_q;
        stored_about_q <= about;
      end
    end
    if (rst_i) begin
      at_q           <= '0;
      within_q       <= 1'b0;
      lost_q         <= 1'b0;
      stored_valid_q <= 1'b0;
      abort_valid_q  <= 1'b0;
      no_room_o      <= 1'b0;
    end
  end

  assign m_stored_valid_o = stored_valid_q;
  assign m_stored_desc_o  = stored_desc_q;
  assign m_stored_about_o = stored_about_q;

  // --- the reader

  logic sending_q, read, read_last, shown_q;
  cell_t send_cell_q, send_next_q;
  logic [2:0] send_at_q, shown_count_q;
  logic shown_last_q, send_link, send_link_q;    // the link of its cell is read
  len_t left_q;
  logic [63:0] data;
  link_t link_read;

  assign read           = sending_q && (!shown_q || m_word_ready_i);
  assign read_last      = left_q <= len_t'(8);
  assign s_send_ready_o = !sending_q;
  assign m_word_valid_o = shown_q;
  assign m_word_o       = '{last: shown_last_q, count: shown_count_q, data: data};
  assign send_link      = read && send_at_q == 3'd0;
  assign back_valid[0]  = read && (read_last || send_at_q == 3'd7);
  assign back_cell[0]   = send_cell_q;

  always_ff @(posedge clk_i) begin
    send_link_q <= send_link && !rst_i;
    if (send_link_q) send_next_q <= link_read.next;
    if (m_word_ready_i) shown_q <= 1'b0;
    if (read) begin
      shown_q       <= 1'b1;
      shown_last_q  <= read_last;
      shown_count_q <= read_last ? 3'(left_q - len_t'(1)) : 3'd7;
      send_at_q     <= send_at_q + 3'd1;
      left_q        <= left_q - len_t'(8);
      if (send_at_q == 3'd7) send_cell_q <= send_next_q;
      if (read_last) sending_q <= 1'b0;
    end
    if (s_send_valid_i && s_send_ready_o) begin
      sending_q   <= 1'b1;
      send_cell_q <= s_send_desc_i;
      send_at_q   <= '0;
      left_q      <= s_send_len_i;
    end
    if (rst_i) begin
      sending_q <= 1'b0;
      shown_q   <= 1'b0;
    end
  end

  // --- the dropper

  typedef enum logic [1:0] {
    Idle,
    Ask,     // for the link of its cell
    Look,    // the link is there
    Give     // the cell is given back
  } drop_e;

  drop_e drop_q;
  logic drop_valid, drop_link;
  cell_t drop_desc, drop_cell_q;
  link_t drop_link_q;

  pst_free_merge #(
      .Ports(3), .Width(CellWidth)
  ) u_drops (
      .clk_i, .rst_i, .s_free_valid_i({abort_valid_q, s_drop_valid_i}), .s_free_ready_o({abort_ready, s_drop_ready_o}),
      .s_free_desc_i({abort_cell_q, s_drop_desc_i}),
      .m_free_valid_o(drop_valid), .m_free_ready_i(drop_q == Idle), .m_free_desc_o(drop_desc)
  );

  assign drop_link     = drop_q == Ask && !send_link;
  assign back_valid[1] = drop_q == Give;
  assign back_cell[1]  = drop_cell_q;

  always_ff @(posedge clk_i) begin
    unique case (drop_q)
      Idle: begin
        drop_cell_q <= drop_desc;
        if (drop_valid) drop_q <= Ask;
      end
      Ask: if (drop_link) drop_q <= Look;
      Look: begin
        drop_link_q <= link_read;
        drop_q      <= Give;
      end
      Give: if (back_ready[1]) begin
        drop_cell_q <= drop_link_q.next;
        drop_q      <= drop_link_q.last ? Idle : Ask;
      end
    endcase
    if (rst_i) drop_q <= Idle;
  end

  // --- the memories

  pst_ram_1r1w #(
      .Width(64), .Depth(8 * Cells)
  ) u_data (
      .clk_i, .we_i(data_we), .waddr_i({data_cell, at_q}), .wdata_i(s_word_i.data),
      .re_i(read), .raddr_i({send_cell_q, send_at_q}), .rdata_o(data)
  );

  pst_ram_1r1w #(
      .Width($bits(link_t)), .Depth(Cells)
  ) u_link (
      .clk_i, .we_i(link_we), .waddr_i(cell_q), .wdata_i(link_wdata),
      .re_i(send_link || drop_link), .raddr_i(send_link ? send_cell_q : drop_cell_q), .rdata_o(link_read)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_reader_never_waits : assert (!back_valid[0] || back_ready[0]);
      a_link_and_length_agree : assert (!send_link_q || link_read.last == (left_q <= len_t'(56)) || !sending_q);
      a_frame_has_a_cell : assert (!(take && s_word_i.ends) || lost_q || within_q);
    end
  end
`endif

endmodule
