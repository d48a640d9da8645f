// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// FIFO of any depth that behaves the same from whatever it is made: registers, LUT RAM, or block RAM when deeper than LutDepth.
//
// Latency 1 cycle, show-ahead, one word per cycle in and out. A full FIFO takes a word in the cycle in which its oldest leaves, so
// s_ready_o depends on m_ready_i. In front of a block RAM stand two words in LUT RAM, which hide its latency; they count for Depth.
// Reset empties it.
module pst_fabric_fifo #(
    parameter int unsigned Width = 32,     // bits of a word, >= 1
    parameter int unsigned Depth = 16,     // words, >= 1, any number
    parameter int unsigned LutDepth = 64,  // words up to which it is made of registers or LUT RAM, >= 4
    localparam int unsigned LevelWidth = $clog2(Depth + 1)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    // stream in
    input  logic                  s_valid_i,
    output logic                  s_ready_o,
    input  logic [     Width-1:0] s_data_i,
    // stream out
    output logic                  m_valid_o,
    input  logic                  m_ready_i,
    output logic [     Width-1:0] m_data_o,
    // words inside, 0..Depth
    output logic [LevelWidth-1:0] level_o
);

  if (Width < 1 || Depth < 1 || LutDepth < 4) begin : g_bad_size
    $error("pst_fabric_fifo: Width (%0d) and Depth (%0d) must be at least 1, LutDepth (%0d) at least 4", Width, Depth, LutDepth);
  end

  if (Depth <= LutDepth) begin : g_lut
    pst_fifo #(
        .Width(Width),
        .Depth(Depth),
        .ReadyOnPop(1'b1)
    ) u_fifo (
        .clk_i,
        .rst_i,
        .s_valid_i,
        .s_ready_o,
        .s_data_i,
        .m_valid_o,
        .m_ready_i,
        .m_data_o,
        .level_o
    );
  end else begin : g_ram
    localparam int unsigned AddrWidth = $clog2(Depth);
    localparam int unsigned HeadDepth = 2;
    localparam logic [AddrWidth-1:0] LastAddr = AddrWidth'(Depth - 1);

    logic [AddrWidth-1:0] write_q, read_q, stored_q;  // stored_q: words in the RAM whose read has not begun
    logic [LevelWidth-1:0] level_q;
    logic push, pop, room, direct, pass, store, read, fetched_q, passed_q;
    logic head_valid, head_ready;
    logic [1:0] head_level;
    logic [Width-1:0] read_word, pass_q, fetched;

    assign s_ready_o = level_q != LevelWidth'(Depth) || m_ready_i;
    assign push      = s_valid_i && s_ready_o;
    assign pop       = head_valid && m_ready_i;
    assign m_valid_o = head_valid;
    assign level_o   = level_q;

    // As long as the RAM has words the head and the word on its way to it (fetched_q) are HeadDepth together, so the head never runs dry. A
    // word passes an empty RAM by: straight into the head, or one cycle behind the word that is on its way.
    assign room    = head_level + 2'(fetched_q) != 2'(HeadDepth) || pop;
    assign direct  = push && stored_q == '0 && !fetched_q && head_level != 2'(HeadDepth);
    assign pass    = push && stored_q == '0 && !direct && room;
    assign store   = push && !direct && !pass;
    assign read    = stored_q != '0 && room;
    assign fetched = passed_q ? pass_q : read_word;

    pst_ram_1r1w #(
        .Width(Width),
        .Depth(Depth)
    ) u_ram (
        .clk_i,
        .we_i   (store),
        .waddr_i(write_q),
        .wdata_i(s_data_i),
        .re_i   (read),
        .raddr_i(read_q),
        .rdata_o(read_word)
    );

    pst_fifo #(
        .Width(Width),
        .Depth(HeadDepth)
    ) u_head (
        .clk_i,
        .rst_i,
        .s_valid_i(direct || fetched_q),
        .s_ready_o(head_ready),
        .s_data_i (fetched_q ? fetched : s_data_i),
        .m_valid_o(head_valid),
        .m_ready_i,
        .m_data_o,
        .level_o  (head_level)
    );

    always_ff @(posedge clk_i) begin
      if (pass) pass_q <= s_data_i;
      passed_q <= pass;
      if (store) write_q <= write_q == LastAddr ? '0 : write_q + 1'b1;
      if (read) read_q <= read_q == LastAddr ? '0 : read_q + 1'b1;
      stored_q  <= stored_q + AddrWidth'(store) - AddrWidth'(read);
      level_q   <= level_q + LevelWidth'(push) - LevelWidth'(pop);
      fetched_q <= read || pass;
      if (rst_i) begin
        write_q   <= '0;
        read_q    <= '0;
        stored_q  <= '0;
        level_q   <= '0;
        fetched_q <= 1'b0;
      end
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        a_level : assert (level_q == LevelWidth'(stored_q) + LevelWidth'(fetched_q) + LevelWidth'(head_level));
        if (stored_q != '0) a_head_is_full : assert (head_level + 2'(fetched_q) == 2'(HeadDepth));
        a_never_late : assert (head_valid == (level_q != '0));
        a_head_has_room : assert (head_ready || !fetched_q);
        a_no_read_of_written : assert (!(store && read && write_q == read_q));
      end
    end
`endif
  end

endmodule
