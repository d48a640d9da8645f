// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The shaped queues of one direction: words of frames come in, wait in block RAM, and leave queue by queue, each at its rate.
//
// A frame's queue is the low bits of the id of its VLAN, 0 without one. Behind each queue are flow queues (FQ-CoDel, RFC 8290); the scheduler
// and they are those of the access edge. Each queue is set as pst_bridge_settings says, but for its limit: it may hold twice the memory that is
// free, less what two of the longest frames need (a dynamic threshold; Choudhury and Hahne, 1998). So queues share the memory, and a frame
// finds room.
//
// Latency, throughput and ordering: the README of the design. Reset forgets every frame; frames wait for `Flows` cycles and some then.
module pst_bridge_queues
  import pst_pkg::len_t;
  import pst_pkg::DropNone, pst_pkg::DropFlowOverflow, pst_pkg::DropAqm;
  import pst_bridge_pkg::in_word_t, pst_bridge_pkg::about_t, pst_bridge_pkg::out_word_t, pst_bridge_pkg::setting_t;
#(
    parameter int unsigned Queues = 16,            // 2 .. Flows / 8, a power of two
    parameter int unsigned Flows = 1024,           // flow queues of all queues, a power of two, >= 32
    parameter int unsigned Cells = 512,            // of 64 bytes, for frames; more than eight of the longest frames need, a power of two
    parameter int unsigned LongestBytes = 1536,    // longest frame without FCS
    parameter int unsigned TickShift = 6,          // CoDel: a tick is 2^TickShift cycles
    parameter int unsigned AgeCycles = 6103,       // see pst_access_edge_core: FlowAgeCycles
    localparam int unsigned QueueWidth = $clog2(Queues)
) (
    input  logic      clk_i,
    input  logic      rst_i,
    // frames in
    input  logic      s_word_valid_i,
    output logic      s_word_ready_o,
    input  in_word_t  s_word_i,
    // frames out
    output logic      m_word_valid_o,
    input  logic      m_word_ready_i,
    output out_word_t m_word_o,
    // the setting of a queue
    output logic [QueueWidth-1:0] setting_queue_o,
    input  logic      setting_valid_i,
    input  setting_t  setting_i,
    // pulses, one for each frame: it is in a queue; it was lost: no room, from the fattest flow of a full queue, by CoDel
    output logic      queued_o,
    output logic      no_room_o,
    output logic      overflow_o,
    output logic      codel_o,
    // bytes of the frame, with its pulse
    output len_t      no_room_len_o,
    output len_t      overflow_len_o,
    output len_t      codel_len_o,
    output logic      init_done_o
);

  localparam int unsigned CellWidth  = $clog2(Cells);

  typedef logic [CellWidth-1:0] cell_t;

  if (Queues < 2 || Queues != 2 ** QueueWidth || QueueWidth > 12) begin : g_bad_queues
    $error("pst_bridge_queues: Queues is %0d, allowed: powers of two from 2 to 4096", Queues);
  end

  // --- settings: one queue after the other, all before any frame, and then again and again with the limit that is due

  localparam int unsigned SetCycles = 32;    // from one to the next, once all were set
  localparam int unsigned Reserve   = 2 * ((LongestBytes + 63) / 64);

  if (Cells < 4 * Reserve || Cells != 2 ** CellWidth) begin : g_bad_cells
    $error("pst_bridge_queues: Cells is %0d, must be a power of two and at least %0d", Cells, 4 * Reserve);
  end

  logic core_init_done, cfg_ready, cfg_due_q, cfg_q, set_q;    // the next one is due; is on offer; all queues are set
  setting_t setting_q;
  logic [$clog2(SetCycles)-1:0] wait_q;
  logic [QueueWidth-1:0] cfg_queue_q;
  logic [CellWidth:0] free_cells, spare_q;
  pst_access_edge_ports_pkg::queue_cfg_t cfg;
  pst_access_edge_ports_pkg::queue_cfg_rsp_t cfg_rsp;

  assign init_done_o = set_q;
  assign cfg_ready   = cfg_rsp.ready;
  assign cfg = '{
      valid: cfg_q, shaper: setting_q.shaper, limit_packets: '1, limit_bytes: 24'({spare_q, 7'b0}), aqm: setting_q.aqm,
      quantum: setting_q.quantum, default: '0
  };

  always_ff @(posedge clk_i) begin
    wait_q <= wait_q + 1'b1;
    if (wait_q == '1) cfg_due_q <= 1'b1;
    if (!cfg_q) begin
      setting_q <= setting_i;
      spare_q   <= 32'(free_cells) > Reserve ? (CellWidth + 1)'(32'(free_cells) - Reserve) : '0;
      cfg_q     <= core_init_done && (cfg_due_q || !set_q) && setting_valid_i;
    end
    if (cfg_q && cfg_ready) begin
      cfg_queue_q <= cfg_queue_q + 1'b1;
      cfg_q       <= 1'b0;
      cfg_due_q   <= 1'b0;
      if (cfg_queue_q == '1) set_q <= 1'b1;
    end
    if (rst_i) begin
      wait_q      <= '0;
      cfg_queue_q <= '0;
      cfg_due_q   <= 1'b0;
      cfg_q       <= 1'b0;
      set_q       <= 1'b0;
    end
  end

  assign setting_queue_o = cfg_queue_q;

  // --- packets

  logic word_ready, stored_valid, stored_ready, enq_ready, send_ready;
  logic [1:0] drop_valid, drop_ready;
  cell_t stored_desc, send_desc;
  cell_t [1:0] drop_desc;
  about_t stored_about;
  pst_access_edge_ports_pkg::enqueue_t enq;
  pst_access_edge_ports_pkg::send_t send;
  pst_access_edge_ports_pkg::decision_t decision;
  pst_access_edge_ports_pkg::verdict_t verdict;

  assign s_word_ready_o = word_ready && set_q;
  assign stored_ready   = enq_ready;

  pst_bridge_store #(
      .Cells(Cells)
  ) u_store (
      .clk_i, .rst_i,
      .s_word_valid_i(s_word_valid_i && set_q), .s_word_ready_o(word_ready), .s_word_i,
      .m_stored_valid_o(stored_valid), .m_stored_ready_i(stored_ready), .m_stored_desc_o(stored_desc), .m_stored_about_o(stored_about),
      .s_send_valid_i(send.valid), .s_send_ready_o(send_ready), .s_send_desc_i(send_desc), .s_send_len_i(send.len),
      .m_word_valid_o, .m_word_ready_i, .m_word_o,
      .s_drop_valid_i(drop_valid), .s_drop_ready_o(drop_ready), .s_drop_desc_i(drop_desc),
      .no_room_o, .no_room_len_o, .free_cells_o(free_cells)
  );

  assign enq = '{
      valid: stored_valid, len: stored_about.len, reason: DropNone, ect: 1'b0, hashes: '{bucket: stored_about.bucket, default: '0}
  };

  pst_access_edge_core #(
      .Queues(Queues), .Descriptors(Cells), .Aqm(1), .TickShift(TickShift), .MaxPacketBytes(LongestBytes), .Flows(Flows), .FlowLanes(1),
      .FlowAgeCycles(AgeCycles), .Credits(4)
  ) u_core (
      .clk_i, .rst_i,
      .s_enq_i(enq), .s_enq_ready_o(enq_ready), .s_enq_queue_i(stored_about.vlan[QueueWidth-1:0]), .s_enq_desc_i(stored_desc),
      .m_out_o(send), .m_out_ready_i(send_ready), .m_out_queue_o(), .m_out_desc_o(send_desc),
      .m_drop_valid_o(drop_valid[0]), .m_drop_ready_i(drop_ready[0]), .m_drop_desc_o(drop_desc[0]),
      .m_drop_head_valid_o(drop_valid[1]), .m_drop_head_ready_i(drop_ready[1]), .m_drop_head_desc_o(drop_desc[1]),
      .ev_o(decision), .ev_queue_o(), .ev_deq_o(verdict), .ev_deq_queue_o(),
      .s_cfg_i(cfg), .s_cfg_o(cfg_rsp), .s_cfg_queue_i(cfg_queue_q),
      .s_look_valid_i(1'b0), .s_look_ready_o(), .s_look_queue_i('0), .m_look_o(),
      .s_read_i('0), .s_read_id_i('0), .m_read_o(), .m_read_parent_o(),
      .s_hierarchy_cfg_i('0), .s_hierarchy_cfg_ready_o(), .s_hierarchy_cfg_id_i('0), .s_hierarchy_cfg_parent_i('0),
      .flow_limit_i('1), .flow_packets_o(),
      .hold_i(1'b0), .now_o(), .init_done_o(core_init_done)
  );

  always_ff @(posedge clk_i) begin
    queued_o   <= !rst_i && decision.valid && decision.reason == DropNone;
    overflow_o <= !rst_i && decision.valid && decision.reason == DropFlowOverflow;
    codel_o    <= !rst_i && verdict.valid && verdict.reason == DropAqm;
    overflow_len_o <= decision.len;
    codel_len_o    <= verdict.len;
  end

  logic unused;
  assign unused = ^{cfg_rsp.old, send.mark, decision, verdict, stored_about};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_no_frame_before_the_settings : assert (!stored_valid || set_q);
      a_nothing_is_marked : assert (!send.valid || !send.mark);
    end
  end
`endif

endmodule
