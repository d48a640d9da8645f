// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Counters by node and class: what came, left, was lost, was dropped by the AQM and was marked, of all queues of a class below a node.
//
// A packet counts where its queue is at that moment: with the class of its queue, at the node of its subscriber, as the last setting says that
// was taken in the same cycle or before. So of a subscriber that moves, packets may come at one node and leave at another one.
//
// Throughput: an event of each kind per cycle; none ever waits. Latency: a counter has an event 5 cycles after it, a read is answered after 3.
// Reads:      of what left in a cycle without a departure, of all others in one without an arrival or a verdict; all others in one moment.
// Reset:      clears every counter, and class and node of every queue; init_done_o rises when that is done.
module pst_access_edge_nodes
  import pst_pkg::len_t, pst_pkg::drop_e, pst_pkg::DropNone, pst_pkg::DropAqm;
  import pst_hierarchy_pkg::class_t, pst_hierarchy_pkg::setting_e;
#(
    parameter int unsigned Queues = 64,              // >= 2
    parameter int unsigned QueuesPerSubscriber = 4,  // 1, 2, 4 or 8
    parameter int unsigned Nodes = 2,                // power of two, >= 2
    parameter int unsigned Classes = 4,              // 1..8
    parameter int unsigned Aqm = 0,                  // 0: none; what it judges: 1 departures, 2 arrivals
    parameter int unsigned PacketWidth = 50,         // of the counters, see pst_counter_bank
    parameter int unsigned ByteWidth = 56,
    parameter string       RamStyle = "auto",        // see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned PlaceWidth = $clog2(Nodes) + (Classes > 1 ? $clog2(Classes) : 1)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // settings of the hierarchy, when they are taken
    input  logic                    cfg_valid_i,
    input  setting_e                cfg_what_i,
    input  logic [QueueIdWidth-1:0] cfg_id_i,
    input  logic [QueueIdWidth-1:0] cfg_parent_i,
    input  class_t                  cfg_class_i,
    // a frame came to its queue, or was lost before; one left; with an AQM: one that was taken from its queue was judged
    input  logic                    ev_come_valid_i,
    input  drop_e                   ev_come_reason_i,
    input  logic [QueueIdWidth-1:0] ev_come_queue_i,
    input  len_t                    ev_come_len_i,
    input  logic                    ev_left_valid_i,
    input  logic [QueueIdWidth-1:0] ev_left_queue_i,
    input  len_t                    ev_left_len_i,
    input  logic                    ev_judged_valid_i,
    input  drop_e                   ev_judged_reason_i,
    input  logic                    ev_judged_mark_i,
    input  logic [QueueIdWidth-1:0] ev_judged_queue_i,
    input  len_t                    ev_judged_len_i,
    // reads: node above class; of what left, and of all others
    input  logic [  PlaceWidth-1:0] s_read_place_i,
    input  logic                    s_read_left_valid_i,
    output logic                    s_read_left_ready_o,
    input  logic                    s_read_others_valid_i,
    output logic                    s_read_others_ready_o,
    output logic                    m_left_valid_o,
    output logic [ PacketWidth-1:0] m_left_packets_o,
    output logic [   ByteWidth-1:0] m_left_bytes_o,
    output logic                    m_others_valid_o,
    output logic [ PacketWidth-1:0] m_in_packets_o,
    output logic [   ByteWidth-1:0] m_in_bytes_o,
    output logic [ PacketWidth-1:0] m_drop_packets_o,    // without those of the AQM
    output logic [   ByteWidth-1:0] m_drop_bytes_o,
    output logic [ PacketWidth-1:0] m_aqm_packets_o,
    output logic [   ByteWidth-1:0] m_aqm_bytes_o,
    output logic [ PacketWidth-1:0] m_mark_packets_o,
    output logic                    init_done_o
);

  typedef logic [PlaceWidth-1:0] place_t;

  // ---- where the queue of each event is, two cycles later --------------------------------------------------------------

  // A lookup for each kind of event: each has memories of its own, as all may come in one cycle.
  localparam int unsigned Lookups = Aqm != 0 ? 3 : 2;
  logic [2:0] look_valid, place_valid, look_init_done;
  logic [2:0][QueueIdWidth-1:0] look_queue;
  place_t [2:0] place;

  assign look_valid = {ev_judged_valid_i && (ev_judged_mark_i || ev_judged_reason_i != DropNone), ev_left_valid_i, ev_come_valid_i};
  assign look_queue = {ev_judged_queue_i, ev_left_queue_i, ev_come_queue_i};

  for (genvar i = 0; i < 3; i++) begin : g_look
    if (i < int'(Lookups)) begin : g_there
      pst_hierarchy_place #(
          .Queues(Queues), .QueuesPerSubscriber(QueuesPerSubscriber), .Nodes(Nodes), .Classes(Classes), .RamStyle(RamStyle)
      ) u_place (
          .clk_i, .rst_i, .cfg_valid_i, .cfg_what_i, .cfg_id_i, .cfg_parent_i, .cfg_class_i,
          .s_valid_i(look_valid[i]), .s_queue_i(look_queue[i]), .m_valid_o(place_valid[i]), .m_place_o(place[i]),
          .init_done_o(look_init_done[i])
      );
    end else begin : g_none
      logic unused;
      assign unused            = ^{look_valid[i], look_queue[i], ev_judged_len_i};
      assign place_valid[i]    = 1'b0;
      assign place[i]          = '0;
      assign look_init_done[i] = 1'b1;
    end
  end

  // What else the counters need of an event, two cycles on.
  typedef struct packed {
    drop_e come_reason;
    len_t  come_len;
    len_t  left_len;
    logic  judged_drop;
    logic  judged_mark;
    len_t  judged_len;
  } event_t;
  event_t [2:1] ev_q;

  always_ff @(posedge clk_i) begin
    ev_q[1] <= '{
        come_reason: ev_come_reason_i, come_len: ev_come_len_i, left_len: ev_left_len_i, judged_drop: ev_judged_reason_i != DropNone,
        judged_mark: ev_judged_mark_i, judged_len: ev_judged_len_i
    };
    ev_q[2] <= ev_q[1];
  end

  // ---- counters --------------------------------------------------------------------------------------------------------

  localparam int unsigned Come = 0, Left = 1, Judged = 2;
  logic in_inc, drop_inc, aqm_inc, mark_inc;
  logic in_ready, drop_ready, aqm_ready, mark_ready, take, unused_drop_valid, unused_aqm_valid, unused_mark_valid;
  logic [17:0] unused_mark_bytes;
  logic [4:0] count_init_done;
  logic init_done_q;

  assign in_inc                = place_valid[Come] && ev_q[2].come_reason == DropNone;
  assign drop_inc              = place_valid[Come] && ev_q[2].come_reason != DropNone && ev_q[2].come_reason != DropAqm;
  assign aqm_inc               = Aqm == 2 ? place_valid[Come] && ev_q[2].come_reason == DropAqm
                                          : place_valid[Judged] && ev_q[2].judged_drop;
  assign mark_inc              = place_valid[Judged] && ev_q[2].judged_mark;
  assign s_read_others_ready_o = in_ready && drop_ready && aqm_ready && mark_ready;
  assign take                  = s_read_others_valid_i && s_read_others_ready_o;

  pst_counter_bank #(
      .Entries(1 << PlaceWidth), .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .Style(RamStyle)
  ) u_in (
      .clk_i, .rst_i,
      .inc_valid_i(in_inc), .inc_index_i(place[Come]), .inc_len_i(16'(ev_q[2].come_len)),
      .s_read_valid_i(take), .s_read_ready_o(in_ready), .s_read_index_i(s_read_place_i),
      .m_read_valid_o(m_others_valid_o), .m_read_packets_o(m_in_packets_o), .m_read_bytes_o(m_in_bytes_o),
      .init_done_o(count_init_done[0])
  );

  pst_counter_bank #(
      .Entries(1 << PlaceWidth), .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .Style(RamStyle)
  ) u_drop (
      .clk_i, .rst_i,
      .inc_valid_i(drop_inc), .inc_index_i(place[Come]), .inc_len_i(16'(ev_q[2].come_len)),
      .s_read_valid_i(take), .s_read_ready_o(drop_ready), .s_read_index_i(s_read_place_i),
      .m_read_valid_o(unused_drop_valid), .m_read_packets_o(m_drop_packets_o), .m_read_bytes_o(m_drop_bytes_o),
      .init_done_o(count_init_done[1])
  );

  pst_counter_bank #(
      .Entries(1 << PlaceWidth), .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .Style(RamStyle)
  ) u_left (
      .clk_i, .rst_i,
      .inc_valid_i(place_valid[Left]), .inc_index_i(place[Left]), .inc_len_i(16'(ev_q[2].left_len)),
      .s_read_valid_i(s_read_left_valid_i), .s_read_ready_o(s_read_left_ready_o), .s_read_index_i(s_read_place_i),
      .m_read_valid_o(m_left_valid_o), .m_read_packets_o(m_left_packets_o), .m_read_bytes_o(m_left_bytes_o),
      .init_done_o(count_init_done[2])
  );

  if (Aqm != 0) begin : g_aqm
    pst_counter_bank #(
        .Entries(1 << PlaceWidth), .PacketWidth(PacketWidth), .ByteWidth(ByteWidth), .Style(RamStyle)
    ) u_aqm (
        .clk_i, .rst_i,
        .inc_valid_i(aqm_inc), .inc_index_i(Aqm == 2 ? place[Come] : place[Judged]),
        .inc_len_i(Aqm == 2 ? 16'(ev_q[2].come_len) : 16'(ev_q[2].judged_len)),
        .s_read_valid_i(take), .s_read_ready_o(aqm_ready), .s_read_index_i(s_read_place_i),
        .m_read_valid_o(unused_aqm_valid), .m_read_packets_o(m_aqm_packets_o), .m_read_bytes_o(m_aqm_bytes_o),
        .init_done_o(count_init_done[3])
    );

    pst_counter_bank #(
        .Entries(1 << PlaceWidth), .PacketWidth(PacketWidth), .ByteWidth(18), .Style(RamStyle)
    ) u_mark (
        .clk_i, .rst_i,
        .inc_valid_i(mark_inc), .inc_index_i(place[Judged]), .inc_len_i('0),
        .s_read_valid_i(take), .s_read_ready_o(mark_ready), .s_read_index_i(s_read_place_i),
        .m_read_valid_o(unused_mark_valid), .m_read_packets_o(m_mark_packets_o), .m_read_bytes_o(unused_mark_bytes),
        .init_done_o(count_init_done[4])
    );
  end else begin : g_no_aqm
    assign aqm_ready            = 1'b1;
    assign mark_ready           = 1'b1;
    assign m_aqm_packets_o      = '0;
    assign m_aqm_bytes_o        = '0;
    assign m_mark_packets_o     = '0;
    assign unused_aqm_valid     = 1'b0;
    assign unused_mark_valid    = 1'b0;
    assign unused_mark_bytes    = '0;
    assign count_init_done[4:3] = '1;

    logic unused_inc;
    assign unused_inc = aqm_inc || mark_inc;
  end

  always_ff @(posedge clk_i) begin
    init_done_q <= !rst_i && (&look_init_done) && (&count_init_done);
  end

  assign init_done_o = init_done_q;

`ifndef SYNTHESIS
  // One valid stands for all banks that are read together.
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_drops_come_along : assert (unused_drop_valid == m_others_valid_o);
      if (Aqm != 0) a_verdicts_come_along : assert (unused_aqm_valid == m_others_valid_o && unused_mark_valid == m_others_valid_o);
    end
  end
`endif

endmodule
