// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The narrow part on the chip of counters whose rest is in an external memory: each event counts one packet and its bytes, of one kind.
//
// A take reads all kinds of an entry and leaves zero, so that they can be added to the memory (pst_folded_counters).
//
// Throughput: one event per cycle, at any pattern of entries; an event never waits. A take steals a cycle without event.
// Latency:    a part is answered 4 cycles after its take; how much an entry counts, 5 cycles after its event.
// One moment: packets and bytes of all kinds of a part belong together: they hold every event of an earlier cycle and none of a later one.
// Reset clears all of them: a walker takes Entries cycles, then init_done_o rises. No event may come before.
// A counter that is full is an error (overflow_o, which stays): whoever takes must take the largest in time.
module pst_fold_bank #(
    parameter int unsigned Entries = 512,       // >= 2
    parameter int unsigned Kinds = 2,           // counters of an entry, >= 1
    parameter int unsigned PacketWidth = 13,    // bits, >= 1
    parameter int unsigned ByteWidth = 21,      // bits, >= 16
    parameter int unsigned PacketShift = 8,     // a packet weighs 2^PacketShift bytes
    parameter string       Style = "auto",      // of the RAM, see pst_ram_1r1w
    localparam int unsigned IndexWidth = $clog2(Entries),
    localparam int unsigned KindWidth = Kinds > 1 ? $clog2(Kinds) : 1,
    localparam int unsigned WeightWidth = (ByteWidth > PacketWidth + PacketShift ? ByteWidth : PacketWidth + PacketShift) + 1
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    // events; not before init_done_o
    input  logic                              inc_valid_i,
    input  logic [ IndexWidth-1:0]            inc_index_i,
    input  logic [  KindWidth-1:0]            inc_kind_i,
    input  logic [           15:0]            inc_len_i,
    // takes and, in order, what they have taken (one pulse each)
    input  logic                              s_take_valid_i,
    output logic                              s_take_ready_o,
    input  logic [ IndexWidth-1:0]            s_take_index_i,
    output logic                              m_part_valid_o,
    output logic [Kinds-1:0][PacketWidth-1:0] m_part_packets_o,
    output logic [Kinds-1:0][  ByteWidth-1:0] m_part_bytes_o,
    // how much the kind of an event counts after it: bytes + packets * 2^PacketShift
    output logic                              m_heavy_valid_o,
    output logic [ IndexWidth-1:0]            m_heavy_index_o,
    output logic [WeightWidth-1:0]            m_heavy_weight_o,
    // a counter was full: the counts are wrong from then on; until reset
    output logic                              overflow_o,
    output logic                              init_done_o
);

  if (Entries < 2 || Kinds < 1) begin : g_bad_size
    $error("pst_fold_bank: Entries (%0d) must be at least 2, Kinds (%0d) at least 1", Entries, Kinds);
  end
  if (PacketWidth < 1 || ByteWidth < 16) begin : g_bad_width
    $error("pst_fold_bank: PacketWidth is %0d (at least 1), ByteWidth is %0d (at least 16)", PacketWidth, ByteWidth);
  end

  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    logic [Kinds-1:0][PacketWidth-1:0] packets;
    logic [Kinds-1:0][ByteWidth-1:0]   bytes;
  } part_t;

  logic event_, take;
  assign event_         = inc_valid_i && init_done_o;
  assign s_take_ready_o = init_done_o && !inc_valid_i;
  assign take           = s_take_valid_i && s_take_ready_o;

  // Cycles 1 to 3: the operation on its way through the memory. Cycle 3: the part, and what it becomes.
  logic [3:1] event_q, take_q;
  index_t [4:1] index_q;
  logic [3:1][KindWidth-1:0] kind_q;
  logic [3:1][15:0] len_q;
  part_t part, changed;
  logic packets_full, bytes_full;

  pst_ram_modify #(
      .Width($bits(part_t)), .Depth(Entries), .Style(Style)
  ) u_ram (
      .clk_i, .rst_i,
      .valid_i(event_ || take), .addr_i(inc_valid_i ? inc_index_i : s_take_index_i),
      .word_o(part), .we_i(event_q[3] || take_q[3]), .word_i(changed), .word_q_o(),
      .init_done_o
  );

  always_comb begin
    changed      = take_q[3] ? '0 : part;
    packets_full = 1'b0;
    bytes_full   = 1'b0;
    if (event_q[3]) begin
      for (int unsigned k = 0; k < Kinds; k++) begin
        if (kind_q[3] == KindWidth'(k)) begin
          {packets_full, changed.packets[k]} = {1'b0, part.packets[k]} + 1'b1;
          {bytes_full, changed.bytes[k]}     = {1'b0, part.bytes[k]} + (ByteWidth + 1)'(len_q[3]);
        end
      end
    end
  end

  // Cycle 4: the answer of a take; what the kind of an event counts. Cycle 5: its weight.
  part_t part_q;
  logic part_valid_q, counted_q, heavy_valid_q, overflow_q;
  logic [PacketWidth-1:0] packets_q;
  logic [ByteWidth-1:0] bytes_q;
  index_t heavy_index_q;
  logic [WeightWidth-1:0] weight_q;

  always_ff @(posedge clk_i) begin
    event_q       <= {event_q[2:1], event_};
    take_q        <= {take_q[2:1], take};
    part_valid_q  <= take_q[3];
    counted_q     <= event_q[3];
    heavy_valid_q <= counted_q;
    overflow_q    <= overflow_q || packets_full || bytes_full;
    if (rst_i) begin
      event_q       <= '0;
      take_q        <= '0;
      part_valid_q  <= 1'b0;
      counted_q     <= 1'b0;
      heavy_valid_q <= 1'b0;
      overflow_q    <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    index_q       <= {index_q[3:1], inc_index_i};
    kind_q        <= {kind_q[2:1], inc_kind_i};
    len_q         <= {len_q[2:1], inc_len_i};
    part_q        <= part;
    packets_q     <= changed.packets[kind_q[3]];
    bytes_q       <= changed.bytes[kind_q[3]];
    heavy_index_q <= index_q[4];
    weight_q      <= WeightWidth'(bytes_q) + (WeightWidth'(packets_q) << PacketShift);
  end

  assign m_part_valid_o   = part_valid_q;
  assign m_part_packets_o = part_q.packets;
  assign m_part_bytes_o   = part_q.bytes;
  assign m_heavy_valid_o  = heavy_valid_q;
  assign m_heavy_index_o  = heavy_index_q;
  assign m_heavy_weight_o = weight_q;
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
    end
  end
`endif

endmodule
