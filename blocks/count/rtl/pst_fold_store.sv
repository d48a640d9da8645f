// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Keeps the records of counters in an external memory, one of 64 byte for each entry, and adds parts to them.
//
// A record that is under way is in one of Slots places here until the memory has written it. What is added to it meanwhile is added here,
// and written once more, so the same entry may come again at any time.
//
// Throughput: an addition every 16 cycles, as long as there is a free slot for another entry, that is as the memory answers in time.
// Latency:    a record that is read: that of the memory and some 10 cycles.
// Traffic:    for each addition a beat that is read, and one that is written; neither a second time for an entry that has a slot.
// Memory:     the record of entry i is at base_i + 64 * i. It need not be cleared: what was not written since reset counts as zero.
// Reset:      forgets all; the memory has to be reset with it (it may keep its contents).
module pst_fold_store #(
    parameter int unsigned Entries = 512,       // >= 2
    parameter int unsigned Counters = 5,        // pairs of packets and bytes in a record, >= 1
    parameter int unsigned PartPackets = 13,    // bits of a part
    parameter int unsigned PartBytes = 21,
    parameter int unsigned PacketWidth = 46,    // bits in the record; with ByteWidth 512 of all counters at most
    parameter int unsigned ByteWidth = 56,
    parameter logic [31:0] HaveBytes = '1,      // bit n: counter n has bytes, else packets alone
    parameter int unsigned Slots = 16,          // records under way, >= 2
    parameter int unsigned AddrWidth = 32,      // bits of an address
    localparam int unsigned IndexWidth = $clog2(Entries)
) (
    input  logic                                 clk_i,
    input  logic                                 rst_i,
    input  logic [AddrWidth-1:0]                 base_i,         // first byte of the records, a multiple of 64; stays as it is
    // whether an entry has a record is asked, at the latest four cycles before its part comes
    input  logic                                 look_valid_i,
    input  logic [IndexWidth-1:0]                look_index_i,
    // parts to be added, each after its look; `ask`: the record is to be shown
    input  logic                                 s_part_valid_i,
    output logic                                 s_part_ready_o,
    input  logic                                 s_part_ask_i,
    input  logic [IndexWidth-1:0]                s_part_index_i,
    input  logic [Counters-1:0][PartPackets-1:0] s_part_packets_i,
    input  logic [Counters-1:0][  PartBytes-1:0] s_part_bytes_i,
    // records that were asked for; a pulse. One ask is under way at a time.
    output logic                                 m_record_valid_o,
    output logic [Counters-1:0][PacketWidth-1:0] m_record_packets_o,
    output logic [Counters-1:0][  ByteWidth-1:0] m_record_bytes_o,
    // AXI4 master, one beat a burst
    output pst_axi_pkg::write_req_t              m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t              m_axi_write_i,
    output pst_axi_pkg::read_req_t               m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t               m_axi_read_i,
    // the memory has answered with an error: counts are wrong from then on; until reset
    output logic                                 error_o,
    // the memory has records under way, or will have
    output logic                                 busy_o,
    output logic                                 init_done_o
);

  localparam int unsigned AllBytes    = pst_count_pkg::ones_before(HaveBytes, Counters) * ByteWidth;
  localparam int unsigned RecordWidth = Counters * PacketWidth + AllBytes;
  localparam int unsigned SlotWidth = Slots > 1 ? $clog2(Slots) : 1;

  if (Entries < 2 || Counters < 1 || Slots < 2) begin : g_bad_size
    $error("pst_fold_store: Entries (%0d) and Slots (%0d) must be at least 2, Counters (%0d) at least 1", Entries, Slots, Counters);
  end
  if (RecordWidth > 8 * pst_axi_pkg::DataBytes) begin : g_bad_record
    $error("pst_fold_store: a record has %0d bits, allowed: 512", RecordWidth);
  end
  if (PartPackets > PacketWidth || PartBytes > ByteWidth) begin : g_bad_width
    $error("pst_fold_store: a part has %0d and %0d bits, allowed: %0d and %0d", PartPackets, PartBytes, PacketWidth, ByteWidth);
  end

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [SlotWidth-1:0] slot_t;

  // Packets of each counter above the bytes of those that have some.
  typedef logic [RecordWidth-1:0] record_t;

  // --- which entries have a record

  logic clearing, written, look_q, look_known_q;
  index_t clear_index;
  logic add_first;    // an entry without a record gets one

  pst_clear_walk #(.Depth(Entries)) u_clear_walk (.clk_i, .rst_i, .busy_o(clearing), .addr_o(clear_index));

  assign init_done_o = !clearing;

  pst_ram_1r1w #(
      .Width(1), .Depth(Entries), .ReadLatency(2)
  ) u_written (
      .clk_i,
      .we_i(clearing || add_first), .waddr_i(clearing ? clear_index : s_part_index_i), .wdata_i(!clearing),
      .re_i(look_valid_i), .raddr_i(look_index_i), .rdata_o(written)
  );

  // The second register of the memory moves on, so what it had for the look is kept.
  logic written_q, known;
  assign known = look_known_q ? written : written_q;

  always_ff @(posedge clk_i) begin
    look_q       <= look_valid_i && !rst_i;
    look_known_q <= look_q && !rst_i;
    if (look_known_q) written_q <= written;
  end

  // --- slots

  typedef struct packed {
    logic   busy;
    logic   fetching;    // what the memory has is not in the sum yet
    logic   dirty;       // the sum has changed since it was given to the memory
    logic   asked;       // the record is to be shown when it is whole
    index_t index;
  } place_t;

  place_t [Slots-1:0] slots_q;

  logic hit, free;
  slot_t hit_slot, free_slot;

  always_comb begin
    hit       = 1'b0;
    free      = 1'b0;
    hit_slot  = '0;
    free_slot = '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      if (slots_q[s].busy && slots_q[s].index == s_part_index_i) begin
        hit      = 1'b1;
        hit_slot = slot_t'(s);
      end
      if (!slots_q[s].busy) begin
        free      = 1'b1;
        free_slot = slot_t'(s);
      end
    end
  end

  // --- answers of the memory: whatever it sends has room, so nothing here ever holds it up

  logic data_valid, data_take, read_first_valid, unused_data_ready, unused_slot_ready, unused_write_ready, written_first_valid;
  slot_t data_slot, done_slot;
  record_t data;
  logic [SlotWidth:0] done_q;     // writes that have ended and were not looked at
  logic read_start, write_start, done_take;
  slot_t op_slot_q;

  pst_fifo #(.Width(RecordWidth), .Depth(Slots)) u_data (
      .clk_i, .rst_i,
      .s_valid_i(m_axi_read_i.rvalid), .s_ready_o(unused_data_ready), .s_data_i(m_axi_read_i.rdata[RecordWidth-1:0]),
      .m_valid_o(data_valid), .m_ready_i(data_take), .m_data_o(data), .level_o()
  );

  // In which order they were asked.
  pst_fifo #(.Width(SlotWidth), .Depth(Slots)) u_reads (
      .clk_i, .rst_i,
      .s_valid_i(read_start), .s_ready_o(unused_slot_ready), .s_data_i(op_slot_q),
      .m_valid_o(read_first_valid), .m_ready_i(data_take), .m_data_o(data_slot), .level_o()
  );
  pst_fifo #(.Width(SlotWidth), .Depth(Slots)) u_writes (
      .clk_i, .rst_i,
      .s_valid_i(write_start), .s_ready_o(unused_write_ready), .s_data_i(op_slot_q),
      .m_valid_o(written_first_valid), .m_ready_i(done_take), .m_data_o(done_slot), .level_o()
  );

  // --- one thing at a time: choose, read the sum, add, then give it to the memory or ask for what that has

  typedef enum logic [2:0] {Choose, Read, Add, Give, Ask} state_e;

  state_e state_q;
  logic op_empty_q, op_give_q, op_ask_q, op_show_q, aw_q, w_q;
  record_t kept, added_q, sum_q;
  logic part_take, is_data, is_done, is_part, part_fits, shown_q;

  assign part_fits = hit || free;
  assign is_data   = data_valid && read_first_valid;
  assign is_done   = !is_data && done_q != '0 && written_first_valid;
  assign is_part   = !is_data && !is_done && s_part_valid_i && part_fits && !clearing;

  assign data_take = state_q == Choose && is_data;
  assign done_take = state_q == Choose && is_done;
  assign part_take = state_q == Choose && is_part;
  assign add_first = part_take && !hit && !known;

  assign s_part_ready_o = state_q == Choose && !is_data && !is_done && part_fits && !clearing;

  assign read_start  = state_q == Add && op_ask_q;
  assign write_start = state_q == Add && op_give_q;

  record_t part, sum;
  for (genvar c = 0; c < int'(Counters); c++) begin : g_counter
    localparam int unsigned Packets = AllBytes + c * PacketWidth;    // lowest bit
    localparam int unsigned Bytes   = pst_count_pkg::ones_before(HaveBytes, c) * ByteWidth;

    assign part[Packets+:PacketWidth] = PacketWidth'(s_part_packets_i[c]);
    assign sum[Packets+:PacketWidth]  = (op_empty_q ? '0 : kept[Packets+:PacketWidth]) + added_q[Packets+:PacketWidth];
    assign m_record_packets_o[c]      = sum_q[Packets+:PacketWidth];

    if (HaveBytes[c]) begin : g_bytes
      assign part[Bytes+:ByteWidth] = ByteWidth'(s_part_bytes_i[c]);
      assign sum[Bytes+:ByteWidth]  = (op_empty_q ? '0 : kept[Bytes+:ByteWidth]) + added_q[Bytes+:ByteWidth];
      assign m_record_bytes_o[c]    = sum_q[Bytes+:ByteWidth];
    end else begin : g_no_bytes
      logic unused_bytes;
      assign unused_bytes        = ^s_part_bytes_i[c];
      assign m_record_bytes_o[c] = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    shown_q <= 1'b0;
    done_q  <= done_q + (SlotWidth + 1)'(m_axi_write_i.bvalid) - (SlotWidth + 1)'(done_take);
    unique case (state_q)
      Choose: begin
        if (is_data) begin
          state_q    <= Read;
          op_slot_q  <= data_slot;
          added_q    <= data;
          op_empty_q <= 1'b0;
          op_give_q  <= 1'b1;
          op_ask_q   <= 1'b0;
          op_show_q  <= slots_q[data_slot].asked;
          slots_q[data_slot].fetching <= 1'b0;
          slots_q[data_slot].asked    <= 1'b0;
        end else if (is_done) begin
          op_slot_q  <= done_slot;
          added_q    <= '0;
          op_empty_q <= 1'b0;
          op_give_q  <= 1'b1;
          op_ask_q   <= 1'b0;
          op_show_q  <= 1'b0;
          if (slots_q[done_slot].dirty) state_q <= Read;
          slots_q[done_slot].dirty <= 1'b0;
          slots_q[done_slot].busy  <= slots_q[done_slot].dirty;
        end else if (is_part) begin
          state_q    <= Read;
          op_slot_q  <= hit ? hit_slot : free_slot;
          added_q    <= part;
          op_empty_q <= !hit;
          op_give_q  <= !hit && !known;
          op_ask_q   <= !hit && known;
          op_show_q  <= s_part_ask_i && (hit ? !slots_q[hit_slot].fetching : !known);
          if (hit) begin
            slots_q[hit_slot].dirty <= !slots_q[hit_slot].fetching;
            slots_q[hit_slot].asked <= slots_q[hit_slot].asked || (s_part_ask_i && slots_q[hit_slot].fetching);
          end else begin
            slots_q[free_slot] <= '{busy: 1'b1, fetching: known, dirty: 1'b0, asked: s_part_ask_i && known, index: s_part_index_i};
          end
        end
      end
      Read: state_q <= Add;
      Add: begin
        sum_q   <= sum;
        shown_q <= op_show_q;
        aw_q    <= op_give_q;
        w_q     <= op_give_q;
        state_q <= op_give_q ? Give : op_ask_q ? Ask : Choose;
      end
      Give: begin
        if (m_axi_write_i.awready) aw_q <= 1'b0;
        if (m_axi_write_i.wready) w_q <= 1'b0;
        if ((!aw_q || m_axi_write_i.awready) && (!w_q || m_axi_write_i.wready)) state_q <= Choose;
      end
      Ask: if (m_axi_read_i.arready) state_q <= Choose;
      default: state_q <= Choose;
    endcase
    if (rst_i) begin
      state_q <= Choose;
      shown_q <= 1'b0;
      done_q  <= '0;
      aw_q    <= 1'b0;
      w_q     <= 1'b0;
      for (int unsigned s = 0; s < Slots; s++) slots_q[s].busy <= 1'b0;
    end
  end

  pst_ram_1r1w #(
      .Width(RecordWidth), .Depth(Slots), .Style("distributed")
  ) u_sums (
      .clk_i,
      .we_i(state_q == Add), .waddr_i(op_slot_q), .wdata_i(sum),
      .re_i(state_q == Read), .raddr_i(op_slot_q), .rdata_o(kept)
  );

  logic error_q;
  always_ff @(posedge clk_i) begin
    error_q <= error_q || (m_axi_read_i.rvalid && m_axi_read_i.rresp[1]) || (m_axi_write_i.bvalid && m_axi_write_i.bresp[1]);
    if (rst_i) error_q <= 1'b0;
  end

  always_comb begin
    busy_o = state_q != Choose;
    for (int unsigned s = 0; s < Slots; s++) busy_o |= slots_q[s].busy;
  end

  assign error_o            = error_q;
  assign m_record_valid_o   = shown_q;

  // --- AXI4

  logic [AddrWidth-1:0] address;
  assign address = base_i + AddrWidth'({slots_q[op_slot_q].index, 6'b0});

  assign m_axi_write_o = '{
      awvalid: aw_q, awaddr: pst_axi_pkg::addr_t'(address), awlen: '0,
      wvalid: w_q, wdata: (8 * pst_axi_pkg::DataBytes)'(sum_q), wstrb: '1, wlast: 1'b1,
      bready: 1'b1
  };
  assign m_axi_read_o = '{arvalid: state_q == Ask, araddr: pst_axi_pkg::addr_t'(address), arlen: '0, rready: 1'b1};

  logic unused_answers;
  assign unused_answers = ^{m_axi_read_i.rdata, m_axi_read_i.rresp[0], m_axi_read_i.rlast, m_axi_write_i.bresp[0]};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_data_has_room : assert (!m_axi_read_i.rvalid || unused_data_ready)
      else $error("pst_fold_store: data of more reads than there are slots");
      a_order_has_room : assert ((!read_start || unused_slot_ready) && (!write_start || unused_write_ready))
      else $error("pst_fold_store: more is under way than there are slots");
      a_one_slot_an_entry : assert (!(part_take && hit && !slots_q[hit_slot].busy))
      else $error("pst_fold_store: an entry has a slot that is free");
      a_look_was_before : assert (!(part_take && look_q))
      else $error("pst_fold_store: a part comes before it is known whether its entry has a record");
    end
  end
`endif

endmodule
