// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The counters of the access edge by queue: sent, accepted, lost, and with an AQM dropped by it and marked, packets and bytes.
//
// Folded = 0 keeps them in banks on the chip. Folded = 1 keeps a part of each there and the rest in records of 64 byte in a memory
// (pst_folded_counters); who reads sees no difference but in the time that a read takes.
//
// Throughput: an event of each kind per cycle; none waits.
// Reads:      sent counters are read alone, all others in one moment. Folded = 0: each is taken in a cycle without event, and answered 3 cycles
//             later. Folded = 1: each is taken at once and answered as late as the memory, and some 20 cycles, if traffic leaves each bank a
//             cycle without event; one read at a time.
// Moment:     an answer has each event of an earlier cycle than that in which the read was taken, and none of a later one.
// Reset:      clears all; then init_done_o rises. With Folded = 1 the memory has to be reset with it, and need not be cleared.
module pst_access_edge_counters
  import pst_pkg::drop_e, pst_pkg::DropNone, pst_pkg::DropAqm;
#(
    parameter int unsigned Queues = 16,          // >= 2
    parameter int unsigned Aqm = 0,              // judges 1 departures, 2 arrivals; 0: there is none
    parameter bit          Folded = 1'b0,        // a part on the chip, the rest in a memory
    parameter int unsigned MaxFrameBytes = 1522, // Folded = 1: decides how wide a part is
    parameter int unsigned PacketWidth = 50,     // bits of a counter
    parameter int unsigned ByteWidth = 56,
    parameter int unsigned Slots = 16,           // Folded = 1: records under way at the memory, >= 2
    parameter int unsigned AddrWidth = 32,       // Folded = 1: bits of an address
    parameter string       RamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // a frame has come to its queue, or is lost there; one has left; the AQM has judged one that leaves
    input  logic                    ev_come_valid_i,
    input  drop_e                   ev_come_reason_i,
    input  logic [QueueIdWidth-1:0] ev_come_queue_i,
    input  logic [            15:0] ev_come_len_i,
    input  logic                    ev_left_valid_i,
    input  logic [QueueIdWidth-1:0] ev_left_queue_i,
    input  logic [            15:0] ev_left_len_i,
    input  logic                    ev_judged_valid_i,
    input  drop_e                   ev_judged_reason_i,
    input  logic                    ev_judged_mark_i,
    input  logic [QueueIdWidth-1:0] ev_judged_queue_i,
    input  logic [            15:0] ev_judged_len_i,
    // reads, and their answers, a pulse each
    input  logic                    s_out_valid_i,
    output logic                    s_out_ready_o,
    input  logic [QueueIdWidth-1:0] s_out_index_i,
    input  logic                    s_others_valid_i,
    output logic                    s_others_ready_o,
    input  logic [QueueIdWidth-1:0] s_others_index_i,
    output logic                    m_out_valid_o,
    output logic [ PacketWidth-1:0] m_out_packets_o,
    output logic [   ByteWidth-1:0] m_out_bytes_o,
    output logic                    m_others_valid_o,
    output logic [ PacketWidth-1:0] m_in_packets_o,
    output logic [   ByteWidth-1:0] m_in_bytes_o,
    output logic [ PacketWidth-1:0] m_drop_packets_o,    // without those of the AQM
    output logic [   ByteWidth-1:0] m_drop_bytes_o,
    output logic [ PacketWidth-1:0] m_aqm_packets_o,
    output logic [   ByteWidth-1:0] m_aqm_bytes_o,
    output logic [ PacketWidth-1:0] m_mark_packets_o,
    // Folded = 1: AXI4 master, one beat a burst; record n is at 64 * n
    output pst_axi_pkg::write_req_t m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t m_axi_write_i,
    output pst_axi_pkg::read_req_t  m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t  m_axi_read_i,
    // Folded = 1: counts are wrong from then on, until reset; a read waits for the memory alone; the memory is in use, or will be for what
    // has been counted
    output logic                    wrong_o,
    output logic                    memory_o,
    output logic                    busy_o,
    output logic                    init_done_o
);

  if (Queues < 2 || Aqm > 2) begin : g_bad_size
    $error("pst_access_edge_counters: Queues is %0d (at least 2), Aqm is %0d (0 to 2)", Queues, Aqm);
  end

  logic accepted, lost, aqm_drop, marked;
  assign accepted = ev_come_valid_i && ev_come_reason_i == DropNone;
  assign lost     = ev_come_valid_i && ev_come_reason_i != DropNone && ev_come_reason_i != DropAqm;
  assign aqm_drop = Aqm == 2 ? ev_come_valid_i && ev_come_reason_i == DropAqm
                             : Aqm == 1 && ev_judged_valid_i && ev_judged_reason_i != DropNone;
  assign marked   = Aqm != 0 && ev_judged_valid_i && ev_judged_mark_i;

  if (Folded) begin : g_folded
    // The bank of what comes: accepted, lost, and dropped by an AQM that judges arrivals. That of what is judged when it leaves: dropped,
    // marked. That of what was sent. Each has an event per cycle at most. Marks have no bytes.
    localparam int unsigned Banks = Aqm != 0 ? 3 : 2;
    localparam int unsigned Counters = Aqm != 0 ? 5 : 3;
    localparam pst_count_pkg::bank_kinds_t BankKinds = Aqm == 0 ? 32'h12 : Aqm == 1 ? 32'h122 : 32'h113;
    localparam logic [31:0] HaveBytes = Aqm != 0 ? 32'h17 : '1;

    // How wide a part must be: blocks/count/README.md, with a part of each bank going to the store in 32 cycles, for ten years at 220 MHz.
    localparam int unsigned LevelBits   = 5;
    localparam int unsigned PartPackets = LevelBits + 8;
    localparam int unsigned PartBytes   = LevelBits + $clog2(160 * MaxFrameBytes);    // 32 frames are a fifth of a step

    logic [Banks-1:0] valid;
    logic [Banks-1:0][QueueIdWidth-1:0] index;
    logic [Banks-1:0][3:0] kind;
    logic [Banks-1:0][15:0] len;
    logic ready, answer, out_q, out_first_q, take_out, take, overflow, error, busy;
    logic [2:0] recent_q;    // cycles until it is known what an event has made busy
    logic [Counters-1:0][PacketWidth-1:0] packets;
    logic [Counters-1:0][ByteWidth-1:0] bytes;

    assign valid[0] = accepted || lost || (Aqm == 2 && aqm_drop);
    assign index[0] = ev_come_queue_i;
    assign kind[0]  = accepted ? 4'd0 : lost ? 4'd1 : 4'd2;
    assign len[0]   = ev_come_len_i;

    if (Aqm != 0) begin : g_judged
      assign valid[1] = (Aqm == 1 && aqm_drop) || marked;
      assign index[1] = ev_judged_queue_i;
      assign kind[1]  = Aqm == 1 && marked ? 4'd1 : 4'd0;
      assign len[1]   = marked ? '0 : ev_judged_len_i;
    end else begin : g_not_judged
      logic unused_judged;
      assign unused_judged = ^{aqm_drop, marked, ev_judged_queue_i, ev_judged_len_i};
    end

    assign valid[Banks-1] = ev_left_valid_i;
    assign index[Banks-1] = ev_left_queue_i;
    assign kind[Banks-1]  = '0;
    assign len[Banks-1]   = ev_left_len_i;

    // One read at a time; the two kinds take turns.
    assign take_out         = s_out_valid_i && (!s_others_valid_i || out_first_q);
    assign take             = (s_out_valid_i || s_others_valid_i) && ready;
    assign s_out_ready_o    = ready && (!s_others_valid_i || out_first_q);
    assign s_others_ready_o = ready && !(s_out_valid_i && out_first_q);

    always_ff @(posedge clk_i) begin
      if (take) begin
        out_q       <= take_out;
        out_first_q <= !take_out;
      end
      if (rst_i) out_first_q <= 1'b1;
    end

    pst_folded_counters #(
        .Entries(Queues), .Banks(Banks), .BankKinds(BankKinds), .PartPackets(PartPackets), .PartBytes(PartBytes), .LevelBits(LevelBits),
        .PacketWidth(PacketWidth), .ByteWidth(ByteWidth),
        .HaveBytes(HaveBytes), .Slots(Slots), .AddrWidth(AddrWidth), .Style(RamStyle)
    ) u_counters (
        .clk_i, .rst_i, .base_i('0),
        .inc_valid_i(valid), .inc_index_i(index), .inc_kind_i(kind), .inc_len_i(len),
        .s_read_valid_i(s_out_valid_i || s_others_valid_i), .s_read_ready_o(ready),
        .s_read_index_i(take_out ? s_out_index_i : s_others_index_i),
        .m_read_valid_o(answer), .m_read_packets_o(packets), .m_read_bytes_o(bytes),
        .m_axi_write_o, .m_axi_write_i, .m_axi_read_o, .m_axi_read_i,
        .overflow_o(overflow), .error_o(error), .memory_o, .busy_o(busy), .init_done_o
    );

    always_ff @(posedge clk_i) begin
      if (valid != '0) recent_q <= '1;
      else if (recent_q != '0) recent_q <= recent_q - 1'b1;
      if (rst_i) recent_q <= '0;
    end

    assign busy_o           = busy || recent_q != '0;
    assign wrong_o          = overflow || error;
    assign m_out_valid_o    = answer && out_q;
    assign m_others_valid_o = answer && !out_q;
    assign m_in_packets_o   = packets[0];
    assign m_in_bytes_o     = bytes[0];
    assign m_drop_packets_o = packets[1];
    assign m_drop_bytes_o   = bytes[1];
    assign m_aqm_packets_o  = Aqm != 0 ? packets[2] : '0;
    assign m_aqm_bytes_o    = Aqm != 0 ? bytes[2] : '0;
    assign m_mark_packets_o = Aqm != 0 ? packets[Counters-2] : '0;
    assign m_out_packets_o  = packets[Counters-1];
    assign m_out_bytes_o    = bytes[Counters-1];

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        a_dropped_is_not_marked : assert (!(Aqm == 1 && aqm_drop && marked))
        else $error("pst_access_edge_counters: a frame was dropped and marked");
      end
    end
`endif
  end else begin : g_banks
    logic in_ready, drop_ready, aqm_ready, mark_ready, in_done, drop_done, out_done, aqm_done, mark_done, take_others, drop_valid;

    assign s_others_ready_o = in_ready && drop_ready && aqm_ready && mark_ready;
    assign take_others      = s_others_valid_i && s_others_ready_o;
    assign init_done_o      = in_done && drop_done && out_done && aqm_done && mark_done;
    assign wrong_o          = 1'b0;
    assign memory_o         = 1'b0;
    assign busy_o           = 1'b0;
    assign m_axi_write_o    = '0;
    assign m_axi_read_o     = '0;

    logic unused_memory;
    assign unused_memory = ^{m_axi_write_i, m_axi_read_i, drop_valid};

    pst_counter_bank #(
        .Entries(Queues), .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .Style(RamStyle)
    ) u_in (
        .clk_i, .rst_i,
        .inc_valid_i(accepted), .inc_index_i(ev_come_queue_i), .inc_len_i(ev_come_len_i),
        .s_read_valid_i(take_others), .s_read_ready_o(in_ready), .s_read_index_i(s_others_index_i),
        .m_read_valid_o(m_others_valid_o), .m_read_packets_o(m_in_packets_o), .m_read_bytes_o(m_in_bytes_o),
        .init_done_o(in_done)
    );

    // Without the AQM's drops: those are added when they are read.
    pst_counter_bank #(
        .Entries(Queues), .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .Style(RamStyle)
    ) u_drop (
        .clk_i, .rst_i,
        .inc_valid_i(lost), .inc_index_i(ev_come_queue_i), .inc_len_i(ev_come_len_i),
        .s_read_valid_i(take_others), .s_read_ready_o(drop_ready), .s_read_index_i(s_others_index_i),
        .m_read_valid_o(drop_valid), .m_read_packets_o(m_drop_packets_o), .m_read_bytes_o(m_drop_bytes_o),
        .init_done_o(drop_done)
    );

    pst_counter_bank #(
        .Entries(Queues), .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .Style(RamStyle)
    ) u_out (
        .clk_i, .rst_i,
        .inc_valid_i(ev_left_valid_i), .inc_index_i(ev_left_queue_i), .inc_len_i(ev_left_len_i),
        .s_read_valid_i(s_out_valid_i), .s_read_ready_o(s_out_ready_o), .s_read_index_i(s_out_index_i),
        .m_read_valid_o(m_out_valid_o), .m_read_packets_o(m_out_packets_o), .m_read_bytes_o(m_out_bytes_o),
        .init_done_o(out_done)
    );

    // What the AQM did to each queue: frames dropped at the head or on arrival, and marks.
    if (Aqm != 0) begin : g_aqm
      logic aqm_valid, mark_valid, unused_valid;
      logic [17:0] mark_bytes;
      assign unused_valid = ^{aqm_valid, mark_valid, mark_bytes};

      pst_counter_bank #(
          .Entries(Queues), .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .Style(RamStyle)
      ) u_aqm (
          .clk_i, .rst_i,
          .inc_valid_i(aqm_drop), .inc_index_i(Aqm == 2 ? ev_come_queue_i : ev_judged_queue_i),
          .inc_len_i(Aqm == 2 ? ev_come_len_i : ev_judged_len_i),
          .s_read_valid_i(take_others), .s_read_ready_o(aqm_ready), .s_read_index_i(s_others_index_i),
          .m_read_valid_o(aqm_valid), .m_read_packets_o(m_aqm_packets_o), .m_read_bytes_o(m_aqm_bytes_o),
          .init_done_o(aqm_done)
      );

      pst_counter_bank #(
          .Entries(Queues), .PacketWidth(PacketWidth), .ByteWidth(18), .Style(RamStyle)
      ) u_mark (
          .clk_i, .rst_i,
          .inc_valid_i(marked), .inc_index_i(ev_judged_queue_i), .inc_len_i('0),
          .s_read_valid_i(take_others), .s_read_ready_o(mark_ready), .s_read_index_i(s_others_index_i),
          .m_read_valid_o(mark_valid), .m_read_packets_o(m_mark_packets_o), .m_read_bytes_o(mark_bytes),
          .init_done_o(mark_done)
      );
    end else begin : g_no_aqm
      assign m_aqm_packets_o  = '0;
      assign m_aqm_bytes_o    = '0;
      assign m_mark_packets_o = '0;
      assign aqm_ready        = 1'b1;
      assign mark_ready       = 1'b1;
      assign aqm_done         = 1'b1;
      assign mark_done        = 1'b1;

      logic unused_judged;
      assign unused_judged = ^{aqm_drop, marked, ev_judged_queue_i, ev_judged_len_i};
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        a_answer_together : assert (m_others_valid_o == drop_valid)
        else $error("pst_access_edge_counters: counters that are read together did not answer together");
      end
    end
`endif
  end

endmodule
