// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Exact match: finds the value of a key among up to Entries keys, which come, go and are moved while lookups run.
//
// Cuckoo hashing: each key may be in one place of each of four tables, or in a small stash. Its place in a table follows from a keyed hash
// (pst_lookup_mix), whose random words software writes while there are no keys.
//
// Throughput: a lookup per cycle, whatever else happens.
// Latency:    7 cycles from a key to its answer, 9 with SplitStages. An operation: pst_lookup_update.
// Ordering:   answers as the keys came. An answer sees all operations whose m_done_valid_o rose in the cycle of the key or before.
// Reset:      no key is there; as many cycles as a table has words, then init_done_o rises. Random words stay.
//
// In every cycle a key that is present is found, in one place, with its value; an absent one is not.
module pst_lookup
  import pst_lookup_pkg::*;
#(
    parameter int unsigned Entries      = 262144,  // places in the tables, a power of two, 16 .. 4,194,304
    parameter int unsigned KeyWidth     = 48,      // bits of a key, more than an address in a table has, at most 96
    parameter int unsigned ValueWidth   = 32,      // bits of a value
    parameter int unsigned StashEntries = 8,       // a power of two, 2 .. 64
    parameter int unsigned MaxMoves     = 64,      // moves in a row before the next operation has its turn
    parameter int unsigned ChunkBits    = 6,       // bits of a key that choose a random word, 2 .. 8
    parameter string       RamStyle     = "auto",  // of the tables, see pst_lookup_ram
    parameter string       WordStyle    = "block", // of the random words, see pst_ram_1r1w
    parameter bit          SplitStages  = 1'b0,    // two stages more, for a slow technology
    localparam int unsigned IndexWidth = $clog2(Entries / Tables),
    localparam int unsigned RestWidth  = KeyWidth - IndexWidth,
    localparam int unsigned SeedWidth  = RestWidth > Tables * IndexWidth ? RestWidth : Tables * IndexWidth,
    localparam int unsigned CountWidth = IndexWidth + 3
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    output logic                  init_done_o,
    // random words of the hash, while there are no keys: see pst_lookup_mix
    input  logic                  seed_valid_i,
    input  logic [           7:0] seed_chunk_i,
    input  logic [ ChunkBits-1:0] seed_index_i,
    input  logic [ SeedWidth-1:0] seed_word_i,
    // lookups
    input  logic                  s_key_valid_i,
    input  logic [  KeyWidth-1:0] s_key_i,
    output logic                  m_value_valid_o,
    output logic                  m_value_hit_o,
    output logic [ValueWidth-1:0] m_value_o,       // 0 without a hit
    // operations, one at a time
    input  logic                  s_op_valid_i,
    output logic                  s_op_ready_o,
    input  op_e                   s_op_i,
    input  logic [  KeyWidth-1:0] s_op_key_i,
    input  logic [ValueWidth-1:0] s_op_value_i,
    output logic                  m_done_valid_o,
    output done_e                 m_done_o,
    output logic [ValueWidth-1:0] m_done_value_o,  // of a key that was read or deleted; before an insert replaced it; else 0
    // counters
    output logic [CountWidth-1:0] keys_o,          // that are present
    output logic [          31:0] moves_o          // of keys from one place to another, modulo 2^32
);

  if (Entries < 16 || Entries > 4194304 || Entries != 2 ** $clog2(Entries)) begin : g_bad_entries
    $error("pst_lookup: Entries is %0d, must be a power of two from 16 to 4194304", Entries);
  end
  if (KeyWidth <= IndexWidth || KeyWidth > 96) begin : g_bad_key
    $error("pst_lookup: KeyWidth is %0d, allowed: %0d..96", KeyWidth, IndexWidth + 1);
  end
  if (ValueWidth < 1) begin : g_bad_value
    $error("pst_lookup: ValueWidth is %0d, must be at least 1", ValueWidth);
  end
  if (StashEntries < 2 || StashEntries > 64 || StashEntries != 2 ** $clog2(StashEntries)) begin : g_bad_stash
    $error("pst_lookup: StashEntries is %0d, must be a power of two from 2 to 64", StashEntries);
  end
  if (MaxMoves < 1) begin : g_bad_moves
    $error("pst_lookup: MaxMoves is %0d, must be at least 1", MaxMoves);
  end
  if (ChunkBits < 2 || ChunkBits > 8) begin : g_bad_chunk
    $error("pst_lookup: ChunkBits is %0d, allowed: 2..8", ChunkBits);
  end

  localparam int unsigned EntryWidth = $clog2(StashEntries);

  typedef struct packed {
    logic                  present;
    logic [RestWidth-1:0]  rest;
    logic [ValueWidth-1:0] value;
  } word_t;

  // ---- the hash of lookups: cycles 0 to 3, with SplitStages two more; all others are counted as if there were three

  logic valid3;
  logic [IndexWidth-1:0] low3;
  logic [RestWidth-1:0] rest3;
  logic [Tables-1:0][IndexWidth-1:0] index3;

  pst_lookup_mix #(
      .KeyWidth(KeyWidth),
      .IndexWidth(IndexWidth),
      .ChunkBits(ChunkBits),
      .WordStyle(WordStyle),
      .SplitStages(SplitStages)
  ) u_mix (
      .clk_i,
      .seed_we_i   (seed_valid_i),
      .seed_chunk_i,
      .seed_index_i,
      .seed_word_i,
      .valid_i     (s_key_valid_i),
      .mixed_i     (1'b0),
      .key_i       (s_key_i),
      .valid_o     (valid3),
      .low_o       (low3),
      .rest_o      (rest3),
      .index_o     (index3)
  );

  // ---- tables and stash: read in cycle 3, there in cycle 5

  logic ram_read;
  logic [Tables-1:0] ram_write;
  logic [Tables-1:0][IndexWidth-1:0] ram_addr;
  word_t ram_word, written_q;
  word_t [Tables-1:0] read_words, update_words;
  logic [Tables-1:0] same4_q, same5_q;  // what was read was written in that cycle
  logic valid4_q, valid5_q, valid6_q, valid7_q;
  logic [RestWidth-1:0] rest4_q, rest5_q;
  logic [IndexWidth-1:0] low4_q;
  logic [Tables-1:0] hit5, hit6_q;
  logic written_match5, written_hit5, written_hit6_q;   // the word that was written last has the key, and is what was read
  logic [Tables-1:0][ValueWidth-1:0] value6_q;
  logic [ValueWidth-1:0] written_value6_q;
  logic stash_hit5, stash_hit6_q, stash_hit6, hit7_q;           // with SplitStages stash_hit5 and _value5 come in cycle 6
  logic [ValueWidth-1:0] stash_value5, stash_value6_q, stash_value6, value6, value7_q;

  for (genvar t = 0; t < int'(Tables); t++) begin : g_table
    pst_lookup_ram #(
        .Width(1 + RestWidth + ValueWidth),
        .Depth(2 ** IndexWidth),
        .Style(RamStyle)
    ) u_words (
        .clk_i,
        .re_i     (1'b1),
        .raddr_i  (index3[t]),
        .rdata_o  (read_words[t]),
        .b_valid_i(ram_read || ram_write[t]),
        .b_write_i(ram_write[t]),
        .b_addr_i (ram_addr[t]),
        .b_wdata_i(ram_word),
        .b_rdata_o(update_words[t])
    );
  end

  assign stash_hit6   = SplitStages ? stash_hit5 : stash_hit6_q;
  assign stash_value6 = SplitStages ? stash_value5 : stash_value6_q;

  // Events are four cycles apart, so the word that was written last is still there when it is needed.
  always_comb begin
    value6         = stash_value6;
    written_match5 = written_q.present && written_q.rest == rest5_q;
    written_hit5   = written_match5 && same5_q != '0;
    for (int unsigned t = 0; t < Tables; t++) begin
      hit5[t] = !same5_q[t] && read_words[t].present && read_words[t].rest == rest5_q;
      if (hit6_q[t]) value6 |= value6_q[t];
    end
    if (written_hit6_q) value6 |= written_value6_q;
  end

  always_ff @(posedge clk_i) begin
    if (ram_write != '0) written_q <= ram_word;
    for (int unsigned t = 0; t < Tables; t++) begin
      same4_q[t]  <= ram_write[t] && ram_addr[t] == index3[t];
      value6_q[t] <= read_words[t].value;
    end
    same5_q        <= same4_q;
    rest4_q        <= rest3;
    rest5_q        <= rest4_q;
    low4_q         <= low3;
    hit6_q         <= hit5;
    written_hit6_q <= written_hit5;
    written_value6_q <= written_q.value;
    stash_hit6_q   <= stash_hit5;
    stash_value6_q <= stash_value5;
    hit7_q         <= valid6_q && (hit6_q != '0 || written_hit6_q || stash_hit6);
    value7_q       <= valid6_q ? value6 : '0;
    valid4_q       <= valid3 && init_done_o;
    valid5_q       <= valid4_q;
    valid6_q       <= valid5_q;
    valid7_q       <= valid6_q;
    if (rst_i) begin
      valid4_q <= 1'b0;
      valid5_q <= 1'b0;
      valid6_q <= 1'b0;
      valid7_q <= 1'b0;
    end
  end

  assign m_value_valid_o = valid7_q;
  assign m_value_hit_o   = hit7_q;
  assign m_value_o       = value7_q;

  // ---- updates

  logic up_valid, up_mixed, up_valid3;
  logic [KeyWidth-1:0] up_key, up_stash_key, set_key, show_key;
  logic [IndexWidth-1:0] up_low3;
  logic [RestWidth-1:0] up_rest3;
  logic [Tables-1:0][IndexWidth-1:0] up_index3;
  logic up_hit, set_valid, set_present, stash_free, stash_any;
  logic [EntryWidth-1:0] up_hit_entry, set_entry, free_entry, from_entry, next_entry, show_key_entry, show_value_entry;
  logic [ValueWidth-1:0] set_value, show_value;

  pst_lookup_mix #(
      .KeyWidth(KeyWidth),
      .IndexWidth(IndexWidth),
      .ChunkBits(ChunkBits),
      .WordStyle(WordStyle),
      .SplitStages(SplitStages)
  ) u_update_mix (
      .clk_i,
      .seed_we_i   (seed_valid_i),
      .seed_chunk_i,
      .seed_index_i,
      .seed_word_i,
      .valid_i     (up_valid),
      .mixed_i     (up_mixed),
      .key_i       (up_key),
      .valid_o     (up_valid3),
      .low_o       (up_low3),
      .rest_o      (up_rest3),
      .index_o     (up_index3)
  );

  pst_lookup_stash #(
      .KeyWidth(KeyWidth),
      .ValueWidth(ValueWidth),
      .Entries(StashEntries),
      .SplitStages(SplitStages)
  ) u_stash (
      .clk_i,
      .rst_i,
      .a_key_i           ({rest4_q, low4_q}),
      .a_hit_o           (stash_hit5),
      .a_value_o         (stash_value5),
      .b_key_i           (up_stash_key),
      .b_hit_o           (up_hit),
      .b_entry_o         (up_hit_entry),
      .set_valid_i       (set_valid),
      .set_entry_i       (set_entry),
      .set_present_i     (set_present),
      .set_key_i         (set_key),
      .set_value_i       (set_value),
      .free_o            (stash_free),
      .free_entry_o      (free_entry),
      .any_o             (stash_any),
      .from_i            (from_entry),
      .next_entry_o      (next_entry),
      .show_key_entry_i  (show_key_entry),
      .show_value_entry_i(show_value_entry),
      .show_key_o        (show_key),
      .show_value_o      (show_value)
  );

  pst_lookup_update #(
      .KeyWidth(KeyWidth),
      .IndexWidth(IndexWidth),
      .ValueWidth(ValueWidth),
      .StashEntries(StashEntries),
      .MaxMoves(MaxMoves),
      .SplitStages(SplitStages)
  ) u_update (
      .clk_i,
      .rst_i,
      .init_done_o,
      .s_op_valid_i,
      .s_op_ready_o,
      .s_op_i,
      .s_op_key_i,
      .s_op_value_i,
      .m_done_valid_o,
      .m_done_o,
      .m_done_value_o,
      .keys_o,
      .moves_o,
      .mix_valid_o        (up_valid),
      .mix_mixed_o        (up_mixed),
      .mix_key_o          (up_key),
      .mix_valid_i        (up_valid3),
      .mix_low_i          (up_low3),
      .mix_rest_i         (up_rest3),
      .mix_index_i        (up_index3),
      .ram_read_o         (ram_read),
      .ram_write_o        (ram_write),
      .ram_addr_o         (ram_addr),
      .ram_word_o         (ram_word),
      .ram_word_i         (update_words),
      .stash_key_o        (up_stash_key),
      .stash_hit_i        (up_hit),
      .stash_hit_entry_i  (up_hit_entry),
      .stash_set_o        (set_valid),
      .stash_set_entry_o  (set_entry),
      .stash_set_present_o(set_present),
      .stash_set_key_o    (set_key),
      .stash_set_value_o  (set_value),
      .stash_free_i       (stash_free),
      .stash_free_entry_i (free_entry),
      .stash_any_i        (stash_any),
      .stash_from_o       (from_entry),
      .stash_next_i       (next_entry),
      .stash_show_entry_o ({show_value_entry, show_key_entry}),
      .stash_show_word_i  ({show_key, show_value})
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_found_once : assert (!valid6_q || $countones({hit6_q, written_hit6_q}) + 32'(stash_hit6) <= 1);
      a_no_seed_beside_keys : assert (!seed_valid_i || (keys_o == '0 && !s_op_valid_i && !s_key_valid_i));
    end
  end
`endif

endmodule
