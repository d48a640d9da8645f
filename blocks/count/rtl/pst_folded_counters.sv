// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Exact packet and byte counters of many entries with a narrow part of each on the chip and the rest in an external memory.
//
// A bank takes one event per cycle; each of its kinds is a pair of packets and bytes. An event whose entry has counted much takes what the
// entry has in its bank on the way (pst_fold_bank), and this is added to the entry's record in the memory (pst_fold_store).
//
// Throughput: one event per cycle and bank, at any pattern of entries; an event never waits, and none is needed not to come.
// Latency:    a read is taken as soon as the one before it was answered. It is answered after that of the memory and some 20 cycles; it
//             waits for each bank to have a cycle without event, or with one of the entry that is read.
// Moment:     an answer has each event of an earlier cycle than that in which the read was taken, and none of a later one.
// Traffic:    a beat of 64 byte read and one written for each part, that is for some 2^(PartPackets - LevelBits) packets or
//             2^(PartBytes - LevelBits) bytes of an entry; and for each read.
// Reset:      clears all; Entries cycles, then init_done_o rises. The memory has to be reset with it, and need not be cleared.
module pst_folded_counters #(
    parameter int unsigned Entries = 512,                        // >= 2
    parameter int unsigned Banks = 3,                            // 1 to 8
    parameter pst_count_pkg::bank_kinds_t BankKinds = 32'h122,   // kinds of each bank, 1 to 15, those of bank 0 lowest
    parameter int unsigned PartPackets = 13,                     // bits of a part, see README
    parameter int unsigned PartBytes = 23,                       // >= 16
    parameter int unsigned LevelBits = 5,                        // of a level, see README; below PartPackets and PartBytes, >= 1
    parameter int unsigned PacketWidth = 46,                     // bits of a counter; all of an entry 512 at most
    parameter int unsigned ByteWidth = 56,
    parameter logic [31:0] HaveBytes = '1,                       // bit n: counter n has bytes, else packets alone
    parameter int unsigned Slots = 16,                           // records under way, >= 2
    parameter int unsigned AddrWidth = 32,                       // bits of an address
    parameter string       Style = "auto",                       // of the parts' RAM, see pst_ram_1r1w
    localparam int unsigned Counters = pst_count_pkg::counters_before(BankKinds, Banks),
    localparam int unsigned IndexWidth = $clog2(Entries)
) (
    input  logic                                 clk_i,
    input  logic                                 rst_i,
    input  logic [AddrWidth-1:0]                 base_i,    // first byte of the records, a multiple of 64; stays as it is
    // events of each bank; not before init_done_o
    input  logic [Banks-1:0]                     inc_valid_i,
    input  logic [Banks-1:0][IndexWidth-1:0]     inc_index_i,
    input  logic [Banks-1:0][3:0]                inc_kind_i,
    input  logic [Banks-1:0][15:0]               inc_len_i,
    // a read, and its answer: a pulse. Counter n is kind n of bank 0, then those of bank 1, and so on.
    input  logic                                 s_read_valid_i,
    output logic                                 s_read_ready_o,
    input  logic [IndexWidth-1:0]                s_read_index_i,
    output logic                                 m_read_valid_o,
    output logic [Counters-1:0][PacketWidth-1:0] m_read_packets_o,
    output logic [Counters-1:0][  ByteWidth-1:0] m_read_bytes_o,
    // AXI4 master, one beat a burst
    output pst_axi_pkg::write_req_t              m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t              m_axi_write_i,
    output pst_axi_pkg::read_req_t               m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t               m_axi_read_i,
    // counts are wrong from then on, until reset: a part was full, the memory has answered with an error
    output logic                                 overflow_o,
    output logic                                 error_o,
    // a read waits for the memory, and for nothing else; the memory is in use, or will be for what has counted 5 cycles ago and before
    output logic                                 memory_o,
    output logic                                 busy_o,
    output logic                                 init_done_o
);

  if (Banks < 1 || Banks > 8) begin : g_bad_banks
    $error("pst_folded_counters: Banks is %0d, allowed: 1 to 8", Banks);
  end
  localparam int unsigned SourceWidth = $clog2(Banks + 1);

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [SourceWidth-1:0] source_t;

  logic [Banks-1:0] take_valid, take_ready, part_valid, part_first, fold_valid, fold_ready, fold_waits, overflow, bank_busy, bank_done;
  logic [Banks-1:0][IndexWidth-1:0] fold_index;
  logic [Counters-1:0][PartPackets-1:0] part_packets, fold_packets, packets_q, given_packets;
  logic [Counters-1:0][PartBytes-1:0] part_bytes, fold_bytes, bytes_q, given_bytes;
  logic store_done, part_ready, store_busy;

  // The read: its entry, until it is answered; its part has gone to the store; banks that have not taken it yet.
  logic read_open_q, read_given_q, read_take;
  logic [Banks-1:0] wanted_q;
  index_t read_index_q, take_index;

  // --- what goes to the store: a part of a bank or, as number Banks, those of a read, in turn

  typedef enum logic [2:0] {Idle, Look, Look2, Look3, Pass} state_e;

  state_e state_q;
  source_t source_q, source;
  index_t index_q;
  logic [Banks:0] offered;
  logic any, passed;

  for (genvar b = 0; b < int'(Banks); b++) begin : g_bank
    localparam int unsigned Kinds = int'(BankKinds[b]);
    localparam int unsigned KindWidth = Kinds > 1 ? $clog2(Kinds) : 1;
    localparam int unsigned First = pst_count_pkg::counters_before(BankKinds, b);

    pst_fold_bank #(
        .Entries(Entries), .Kinds(Kinds), .HaveBytes(HaveBytes[First+:Kinds]), .PacketWidth(PartPackets), .ByteWidth(PartBytes),
        .LevelBits(LevelBits), .Style(Style)
    ) u_bank (
        .clk_i, .rst_i,
        .inc_valid_i(inc_valid_i[b]), .inc_index_i(inc_index_i[b]), .inc_kind_i(inc_kind_i[b][KindWidth-1:0]), .inc_len_i(inc_len_i[b]),
        .s_take_valid_i(take_valid[b]), .s_take_ready_o(take_ready[b]), .s_take_index_i(take_index),
        .m_part_valid_o(part_valid[b]), .m_part_packets_o(part_packets[First+:Kinds]), .m_part_bytes_o(part_bytes[First+:Kinds]),
        .m_part_first_o(part_first[b]),
        .m_fold_valid_o(fold_valid[b]), .m_fold_ready_i(fold_ready[b]), .m_fold_index_o(fold_index[b]),
        .m_fold_packets_o(fold_packets[First+:Kinds]), .m_fold_bytes_o(fold_bytes[First+:Kinds]),
        .busy_o(bank_busy[b]), .overflow_o(overflow[b]), .init_done_o(bank_done[b])
    );

    always_ff @(posedge clk_i) begin
      if (part_valid[b]) begin
        packets_q[First+:Kinds] <= part_packets[First+:Kinds];
        bytes_q[First+:Kinds]   <= part_bytes[First+:Kinds];
      end
    end

    // What the entry that is read has counted since then is not in the answer, and stays here until it has come.
    assign fold_waits[b] = read_open_q && !wanted_q[b] && part_first[b] && fold_index[b] == read_index_q;
    assign fold_ready[b] = passed && source_q == source_t'(b);

    for (genvar k = First; k < First + Kinds; k++) begin : g_given
      assign given_packets[k] = source_q == source_t'(Banks) ? packets_q[k] : source_q == source_t'(b) ? fold_packets[k] : '0;
      assign given_bytes[k]   = source_q == source_t'(Banks) ? bytes_q[k] : source_q == source_t'(b) ? fold_bytes[k] : '0;
    end
  end

  logic unused_kinds;    // bits above those that a bank needs
  assign unused_kinds = ^inc_kind_i;

  // --- reads: one at a time. Each bank takes its part as soon as it can.

  assign s_read_ready_o = init_done_o && !read_open_q;
  assign read_take      = s_read_valid_i && s_read_ready_o;
  assign take_valid     = read_take ? '1 : wanted_q;
  assign take_index     = read_open_q ? read_index_q : s_read_index_i;

  always_ff @(posedge clk_i) begin
    wanted_q <= take_valid & ~take_ready;
    if (read_take) begin
      read_open_q  <= 1'b1;
      read_given_q <= 1'b0;
      read_index_q <= s_read_index_i;
    end
    if (passed && source_q == source_t'(Banks)) read_given_q <= 1'b1;
    if (m_read_valid_o) read_open_q <= 1'b0;
    if (rst_i) begin
      wanted_q    <= '0;
      read_open_q <= 1'b0;
    end
  end

  // --- the next one behind the last

  assign offered = {read_open_q && !read_given_q && wanted_q == '0 && part_first == '1, fold_valid & ~fold_waits};
  assign any     = offered != '0;
  assign passed  = state_q == Pass && part_ready;

  always_comb begin
    source = '0;
    for (int s = int'(Banks); s >= 0; s--) if (offered[s]) source = source_t'(s);
    for (int s = int'(Banks); s >= 0; s--) if (offered[s] && source_t'(s) > source_q) source = source_t'(s);
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        source_q <= source;
        index_q  <= read_index_q;
        for (int unsigned b = 0; b < Banks; b++) if (source == source_t'(b)) index_q <= fold_index[b];
        if (any) state_q <= Look;
        else source_q <= source_q;
      end
      Look:  state_q <= Look2;
      Look2: state_q <= Look3;
      Look3: state_q <= Pass;
      Pass: if (part_ready) state_q <= Idle;
      default: state_q <= Idle;
    endcase
    if (rst_i) begin
      state_q  <= Idle;
      source_q <= '0;
    end
  end

  pst_fold_store #(
      .Entries(Entries), .Counters(Counters), .PartPackets(PartPackets), .PartBytes(PartBytes),
      .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .HaveBytes(HaveBytes), .Slots(Slots), .AddrWidth(AddrWidth)
  ) u_store (
      .clk_i, .rst_i, .base_i,
      .look_valid_i(state_q == Look), .look_index_i(index_q),
      .s_part_valid_i(state_q == Pass), .s_part_ready_o(part_ready), .s_part_ask_i(source_q == source_t'(Banks)), .s_part_index_i(index_q),
      .s_part_packets_i(given_packets), .s_part_bytes_i(given_bytes),
      .m_record_valid_o(m_read_valid_o), .m_record_packets_o(m_read_packets_o), .m_record_bytes_o(m_read_bytes_o),
      .m_axi_write_o, .m_axi_write_i, .m_axi_read_o, .m_axi_read_i,
      .error_o, .busy_o(store_busy), .init_done_o(store_done)
  );

  assign memory_o    = read_open_q && wanted_q == '0;
  assign busy_o      = bank_busy != '0 || store_busy || state_q != Idle || read_open_q;
  assign overflow_o  = overflow != '0;
  assign init_done_o = store_done && bank_done == '1;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int b = 0; b < int'(Banks); b++) begin
        a_kind_is_there : assert (!(inc_valid_i[b] && inc_kind_i[b] >= BankKinds[b]))
        else $error("pst_folded_counters: event of kind %0d of bank %0d, which has %0d", inc_kind_i[b], b, BankKinds[b]);
      end
    end
  end
`endif

endmodule
