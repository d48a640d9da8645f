// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Exact packet and byte counters of many entries with a narrow part of each on the chip and the rest in an external memory.
//
// A bank takes one event per cycle; each of its kinds is a pair of packets and bytes. Every Window cycles the entry that has counted in
// them and has most is taken from all banks, and added to its record in the memory (pst_fold_choice, pst_fold_store).
//
// Throughput: one event per cycle and bank, at any pattern of entries; an event never waits. Each bank needs a cycle without event in
//             each window on average, in which an entry is taken.
// Latency:    a read is taken in a cycle in which no bank has an event, and answered after that of the memory and some 20 cycles; one read
//             at a time. While it waits for such a cycle, entries go on to be taken for windows.
// Moment:     an answer has each event of an earlier cycle than that in which the read was taken, and none of a later one.
// Traffic:    a beat of 64 byte read and one written each Window cycles at most, and for each read.
// Reset:      clears all; Entries cycles, then init_done_o rises. The memory has to be reset with it, and need not be cleared.
module pst_folded_counters #(
    parameter int unsigned Entries = 512,                        // >= 2
    parameter int unsigned Banks = 3,                            // 1 to 8
    parameter pst_count_pkg::bank_kinds_t BankKinds = 32'h122,   // kinds of each bank, 1 to 15, those of bank 0 lowest
    parameter int unsigned PartPackets = 13,                     // bits of a part, see README
    parameter int unsigned PartBytes = 21,                       // >= 16
    parameter int unsigned PacketShift = 8,                      // a packet weighs 2^PacketShift bytes where parts are compared
    parameter int unsigned PacketWidth = 46,                     // bits of a counter; all of an entry 512 at most
    parameter int unsigned ByteWidth = 56,
    parameter logic [31:0] HaveBytes = '1,                       // bit n: counter n has bytes, else packets alone
    parameter int unsigned Window = 32,                          // cycles, >= 16
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
    output logic                                 init_done_o
);

  if (Banks < 1 || Banks > 8) begin : g_bad_banks
    $error("pst_folded_counters: Banks is %0d, allowed: 1 to 8", Banks);
  end
  if (Window < 16) begin : g_bad_window
    $error("pst_folded_counters: Window is %0d, allowed: 16 and more", Window);
  end

  localparam int unsigned WeightWidth = (PartBytes > PartPackets + PacketShift ? PartBytes : PartPackets + PacketShift) + 1;

  typedef logic [IndexWidth-1:0] index_t;

  logic [Banks-1:0] take_valid, take_ready, part_valid, heavy_valid, overflow, bank_done;
  logic [Banks-1:0][IndexWidth-1:0] heavy_index;
  logic [Banks-1:0][WeightWidth-1:0] heavy_weight;
  logic [Counters-1:0][PartPackets-1:0] part_packets, packets_q;
  logic [Counters-1:0][PartBytes-1:0] part_bytes, bytes_q;
  logic fold_valid, fold_ready, store_done, part_ready, taken;
  index_t fold_index, index_q;

  for (genvar b = 0; b < int'(Banks); b++) begin : g_bank
    localparam int unsigned Kinds = int'(BankKinds[b]);
    localparam int unsigned KindWidth = Kinds > 1 ? $clog2(Kinds) : 1;
    localparam int unsigned First = pst_count_pkg::counters_before(BankKinds, b);

    pst_fold_bank #(
        .Entries(Entries), .Kinds(Kinds), .PacketWidth(PartPackets), .ByteWidth(PartBytes), .PacketShift(PacketShift), .Style(Style)
    ) u_bank (
        .clk_i, .rst_i,
        .inc_valid_i(inc_valid_i[b]), .inc_index_i(inc_index_i[b]), .inc_kind_i(inc_kind_i[b][KindWidth-1:0]), .inc_len_i(inc_len_i[b]),
        .s_take_valid_i(take_valid[b]), .s_take_ready_o(take_ready[b]), .s_take_index_i(take_index),
        .m_part_valid_o(part_valid[b]), .m_part_packets_o(part_packets[First+:Kinds]), .m_part_bytes_o(part_bytes[First+:Kinds]),
        .m_heavy_valid_o(heavy_valid[b]), .m_heavy_index_o(heavy_index[b]), .m_heavy_weight_o(heavy_weight[b]),
        .overflow_o(overflow[b]), .init_done_o(bank_done[b])
    );

    always_ff @(posedge clk_i) begin
      if (part_valid[b]) begin
        packets_q[First+:Kinds] <= part_packets[First+:Kinds];
        bytes_q[First+:Kinds]   <= part_bytes[First+:Kinds];
      end
    end
  end

  logic unused_kinds;    // bits above those that a bank needs
  assign unused_kinds = ^inc_kind_i;

  pst_fold_choice #(
      .Banks(Banks), .Entries(Entries), .WeightWidth(WeightWidth), .Window(Window)
  ) u_choice (
      .clk_i, .rst_i,
      .heavy_valid_i(heavy_valid), .heavy_index_i(heavy_index), .heavy_weight_i(heavy_weight),
      .m_fold_valid_o(fold_valid), .m_fold_ready_i(fold_ready), .m_fold_index_o(fold_index),
      .s_taken_i(taken)
  );

  // --- one entry at a time is taken from all banks, for a window or for a read; the two take turns

  typedef enum logic [1:0] {Idle, Take, Pass} state_e;

  state_e state_q;
  logic reading_q, read_last_q, read_open_q, look_q, is_read, start, passed_over, passed_over_q;
  logic [Banks-1:0] wanted_q, missing_q;
  index_t take_index, read_index_q;

  // A read takes from all banks in the cycle in which it is taken itself; a window from each as soon as it can.
  assign is_read        = s_read_valid_i && !read_open_q && !(fold_valid && read_last_q) && take_ready == '1;
  // The entry that is read was taken by that; what has counted since is not in the answer, and so stays here until it has come.
  assign passed_over    = fold_ready && fold_valid && read_open_q && fold_index == read_index_q;
  assign start          = state_q == Idle && init_done_o && (is_read || (fold_valid && !passed_over));
  assign s_read_ready_o = state_q == Idle && init_done_o && is_read;
  assign fold_ready     = state_q == Idle && init_done_o && !is_read;
  assign take_valid     = s_read_ready_o ? '1 : wanted_q;
  assign take_index     = state_q == Idle ? s_read_index_i : index_q;
  assign taken          = (state_q == Pass && part_ready && !reading_q) || passed_over_q;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        look_q    <= start;
        index_q   <= is_read ? s_read_index_i : fold_index;
        reading_q <= is_read;
        if (start) begin
          state_q     <= Take;
          wanted_q    <= is_read ? '0 : '1;
          missing_q   <= '1;
          read_last_q <= is_read;
        end
      end
      Take: begin
        look_q    <= 1'b0;
        wanted_q  <= wanted_q & ~take_ready;
        missing_q <= missing_q & ~part_valid;
        if ((missing_q & ~part_valid) == '0) state_q <= Pass;
      end
      Pass: if (part_ready) state_q <= Idle;
      default: state_q <= Idle;
    endcase
    passed_over_q <= passed_over;
    if (s_read_valid_i && s_read_ready_o) begin
      read_open_q  <= 1'b1;
      read_index_q <= s_read_index_i;
    end
    if (m_read_valid_o) read_open_q <= 1'b0;
    if (rst_i) begin
      state_q       <= Idle;
      look_q        <= 1'b0;
      wanted_q      <= '0;
      read_open_q   <= 1'b0;
      read_last_q   <= 1'b0;
      passed_over_q <= 1'b0;
    end
  end

  pst_fold_store #(
      .Entries(Entries), .Counters(Counters), .PartPackets(PartPackets), .PartBytes(PartBytes),
      .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .HaveBytes(HaveBytes), .Slots(Slots), .AddrWidth(AddrWidth)
  ) u_store (
      .clk_i, .rst_i, .base_i,
      .look_valid_i(look_q), .look_index_i(index_q),
      .s_part_valid_i(state_q == Pass), .s_part_ready_o(part_ready), .s_part_ask_i(reading_q), .s_part_index_i(index_q),
      .s_part_packets_i(packets_q), .s_part_bytes_i(bytes_q),
      .m_record_valid_o(m_read_valid_o), .m_record_packets_o(m_read_packets_o), .m_record_bytes_o(m_read_bytes_o),
      .m_axi_write_o, .m_axi_write_i, .m_axi_read_o, .m_axi_read_i,
      .error_o, .init_done_o(store_done)
  );

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
