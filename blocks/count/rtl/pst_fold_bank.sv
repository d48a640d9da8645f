// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The narrow part on the chip of counters whose rest is in an external memory: each event counts one packet and its bytes, of one kind.
//
// An event whose entry has a level above the parts in the FIFO takes all kinds of the entry: they go into the FIFO, to be added to the
// memory (pst_folded_counters), and the event alone is left. The level is the largest counter's upper LevelBits. A read takes, too.
//
// Throughput: one event per cycle, at any pattern of entries; an event never waits. A read takes in a cycle without event or with one of
//             the entry that is read, which is counted after it.
// Latency:    a part is answered, or in the FIFO, 4 cycles after its take, and at m_fold one later.
// One moment: packets and bytes of all kinds of a part belong together: they hold every event of an earlier cycle and none of a later one.
// Reset clears all of them: a walker takes Entries cycles, then init_done_o rises. No event may come before.
// A counter that is full is an error (overflow_o, which stays): whoever takes from the FIFO must do it in time (README).
module pst_fold_bank #(
    parameter int unsigned Entries = 512,       // >= 2
    parameter int unsigned Kinds = 2,           // counters of an entry, 1..15
    parameter logic [Kinds-1:0] HaveBytes = '1, // bit n: kind n has bytes, else packets alone
    parameter int unsigned PacketWidth = 13,    // bits, > LevelBits
    parameter int unsigned ByteWidth = 23,      // bits, >= 16 and > LevelBits
    parameter int unsigned LevelBits = 5,       // of a level; the FIFO has 2^LevelBits - 1 parts at most, >= 1
    parameter string       Style = "auto",      // of the RAM, see pst_ram_1r1w
    localparam int unsigned IndexWidth = $clog2(Entries),
    localparam int unsigned KindWidth = Kinds > 1 ? $clog2(Kinds) : 1
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    // events; not before init_done_o
    input  logic                              inc_valid_i,
    input  logic [ IndexWidth-1:0]            inc_index_i,
    input  logic [  KindWidth-1:0]            inc_kind_i,
    input  logic [           15:0]            inc_len_i,
    // takes of reads and, in order, what they have taken (one pulse each)
    input  logic                              s_take_valid_i,
    output logic                              s_take_ready_o,
    input  logic [ IndexWidth-1:0]            s_take_index_i,
    output logic                              m_part_valid_o,
    output logic [Kinds-1:0][PacketWidth-1:0] m_part_packets_o,
    output logic [Kinds-1:0][  ByteWidth-1:0] m_part_bytes_o,      // 0 of a kind that has none
    // a read has taken, and no part from before is in the FIFO any more; until the next take
    output logic                              m_part_first_o,
    // parts that events have taken, and their entry
    output logic                              m_fold_valid_o,
    input  logic                              m_fold_ready_i,
    output logic [ IndexWidth-1:0]            m_fold_index_o,
    output logic [Kinds-1:0][PacketWidth-1:0] m_fold_packets_o,
    output logic [Kinds-1:0][  ByteWidth-1:0] m_fold_bytes_o,
    // parts are in the FIFO or on their way there
    output logic                              busy_o,
    // a counter was full: the counts are wrong from then on; until reset
    output logic                              overflow_o,
    output logic                              init_done_o
);

  if (Entries < 2 || Kinds < 1 || Kinds > 15) begin : g_bad_size
    $error("pst_fold_bank: Entries (%0d) must be at least 2, Kinds (%0d) 1 to 15", Entries, Kinds);
  end
  if (LevelBits < 1 || PacketWidth <= LevelBits || ByteWidth < 16 || ByteWidth <= LevelBits) begin : g_bad_width
    $error("pst_fold_bank: PacketWidth (%0d) and ByteWidth (%0d, at least 16) must be above LevelBits (%0d, at least 1)",
           PacketWidth, ByteWidth, LevelBits);
  end

  localparam int unsigned AllBytes  = pst_count_pkg::ones_before(32'(HaveBytes), Kinds) * ByteWidth;
  localparam int unsigned WordWidth = Kinds * PacketWidth + AllBytes;

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [LevelBits-1:0] level_t;
  typedef logic [WordWidth-1:0] word_t;    // packets of each kind above the bytes of those that have some

  typedef struct packed {
    logic [Kinds-1:0][PacketWidth-1:0] packets;
    logic [Kinds-1:0][ByteWidth-1:0]   bytes;
  } part_t;

  typedef struct packed {
    index_t index;
    word_t  word;
  } fold_t;

  logic event_, take;
  assign event_         = inc_valid_i && init_done_o;
  assign s_take_ready_o = init_done_o && (!inc_valid_i || inc_index_i == s_take_index_i);
  assign take           = s_take_valid_i && s_take_ready_o;

  // Cycles 1 to 3: the operation on its way through the memory. Cycle 3: the part, and what it becomes.
  logic [3:1] event_q, take_q;
  index_t [4:1] index_q;
  logic [3:1][KindWidth-1:0] kind_q;
  logic [3:1][15:0] len_q;
  word_t word, changed_word;
  logic [Kinds-1:0] packets_full, bytes_full, over;
  logic fold, pop;
  level_t level_q;    // parts that were taken by events and have not left the FIFO

  pst_ram_modify #(
      .Width(WordWidth), .Depth(Entries), .Style(Style)
  ) u_ram (
      .clk_i, .rst_i,
      .valid_i(event_ || take), .addr_i(inc_valid_i ? inc_index_i : s_take_index_i),
      .word_o(word), .we_i(event_q[3] || take_q[3]), .word_i(changed_word), .word_q_o(),
      .init_done_o
  );

  assign fold = event_q[3] && !take_q[3] && over != '0;

  for (genvar k = 0; k < int'(Kinds); k++) begin : g_kind
    localparam int unsigned Packets = AllBytes + k * PacketWidth;    // lowest bit
    localparam int unsigned Bytes   = pst_count_pkg::ones_before(32'(HaveBytes), k) * ByteWidth;

    logic counts, packets_over, bytes_over;
    logic [PacketWidth-1:0] packets;
    assign counts            = event_q[3] && kind_q[3] == KindWidth'(k);
    assign packets           = word[Packets+:PacketWidth];
    assign packets_over      = packets[PacketWidth-1-:LevelBits] > level_q;
    assign over[k]           = packets_over || bytes_over;
    assign packets_full[k]   = counts && packets == '1 && !fold && !take_q[3];

    // The sum is made beside the comparison, and either is chosen.
    assign changed_word[Packets+:PacketWidth] = fold || take_q[3] ? PacketWidth'(counts) : packets + PacketWidth'(counts);

    if (HaveBytes[k]) begin : g_bytes
      logic [ByteWidth-1:0] bytes, sum;
      logic carry;
      assign bytes         = word[Bytes+:ByteWidth];
      assign bytes_over    = bytes[ByteWidth-1-:LevelBits] > level_q;
      assign {carry, sum}  = {1'b0, bytes} + (counts ? (ByteWidth + 1)'(len_q[3]) : '0);
      assign bytes_full[k] = carry && !fold && !take_q[3];
      assign changed_word[Bytes+:ByteWidth] = fold || take_q[3] ? (counts ? ByteWidth'(len_q[3]) : '0) : sum;
    end else begin : g_no_bytes
      assign bytes_over    = 1'b0;
      assign bytes_full[k] = 1'b0;
    end
  end

  function automatic part_t part_of(word_t from);
    part_of = '0;
    for (int unsigned k = 0; k < Kinds; k++) begin
      part_of.packets[k] = PacketWidth'(from >> (AllBytes + k * PacketWidth));
      if (HaveBytes[k]) part_of.bytes[k] = ByteWidth'(from >> (pst_count_pkg::ones_before(32'(HaveBytes), k) * ByteWidth));
    end
  endfunction

  // Cycle 4: the part, to the FIFO or to the read.
  word_t word_q;
  logic part_valid_q, fold_q, taken_q, overflow_q;
  level_t before_q;    // of the parts in the FIFO those from before the read
  fold_t first;
  logic unused_fold_ready;

  assign pop = m_fold_valid_o && m_fold_ready_i;

  always_ff @(posedge clk_i) begin
    event_q      <= {event_q[2:1], event_};
    take_q       <= {take_q[2:1], take};
    part_valid_q <= take_q[3];
    fold_q       <= fold;
    level_q      <= level_q + level_t'(fold) - level_t'(pop);
    overflow_q   <= overflow_q || packets_full != '0 || bytes_full != '0;
    if (pop && before_q != '0) before_q <= before_q - 1'b1;
    if (take_q[3]) begin
      taken_q  <= 1'b1;
      before_q <= level_q - level_t'(pop);
    end
    if (take) taken_q <= 1'b0;
    if (rst_i) begin
      event_q      <= '0;
      take_q       <= '0;
      part_valid_q <= 1'b0;
      fold_q       <= 1'b0;
      level_q      <= '0;
      taken_q      <= 1'b0;
      overflow_q   <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    index_q <= {index_q[3:1], inc_index_i};
    kind_q  <= {kind_q[2:1], inc_kind_i};
    len_q   <= {len_q[2:1], inc_len_i};
    word_q  <= word;
  end

  pst_fifo #(.Width($bits(fold_t)), .Depth(1 << LevelBits)) u_folds (
      .clk_i, .rst_i,
      .s_valid_i(fold_q), .s_ready_o(unused_fold_ready), .s_data_i({index_q[4], word_q}),
      .m_valid_o(m_fold_valid_o), .m_ready_i(m_fold_ready_i), .m_data_o(first), .level_o()
  );

  part_t part, fold_part;
  assign part      = part_of(word_q);
  assign fold_part = part_of(first.word);

  assign m_part_valid_o   = part_valid_q;
  assign m_part_packets_o = part.packets;
  assign m_part_bytes_o   = part.bytes;
  assign m_part_first_o   = taken_q && before_q == '0;
  assign m_fold_index_o   = first.index;
  assign m_fold_packets_o = fold_part.packets;
  assign m_fold_bytes_o   = fold_part.bytes;
  assign busy_o           = level_q != '0;
  assign overflow_o       = overflow_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_cleared_before_events : assert (!(inc_valid_i && !init_done_o))
      else $error("pst_fold_bank: an event came before init_done_o and is lost");
      a_event_in_range : assert (!(inc_valid_i && (int'(inc_index_i) >= Entries || int'(inc_kind_i) >= Kinds)))
      else $error("pst_fold_bank: event of kind %0d of entry %0d, there are %0d and %0d", inc_kind_i, inc_index_i, Kinds, Entries);
      a_take_in_range : assert (!(s_take_valid_i && int'(s_take_index_i) >= Entries))
      else $error("pst_fold_bank: take of entry %0d, there are %0d", s_take_index_i, Entries);
      a_fifo_has_room : assert (!fold_q || unused_fold_ready)
      else $error("pst_fold_bank: more parts than there are levels");
    end
  end
`endif

endmodule
