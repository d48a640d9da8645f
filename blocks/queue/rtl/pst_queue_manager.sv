// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Queue manager: `Queues` FIFO queues of packet descriptors as linked lists in shared descriptor memory.
//
// Throughput: one enqueue and one dequeue per cycle, on any queues, the same one included.
// Latency:    enqueue to m_active_o / ev_o 4 cycles; dequeue to m_deq_o 3 cycles, 1 after s_deq_take_i.
// Ordering:   FIFO in each queue. When an enqueue and a dequeue of one queue commit in the same cycle, the dequeue comes first.
// Reset:      forgets every packet; a walker then clears the memories (`Queues` cycles) and raises init_done_o.
//
// Each memory has one writer: the enqueue side owns tail and enqueue counters, the dequeue side head and dequeue
// counters, and occupancy is the difference of the two (paper, section III-C keeps one shared length and a lock). See
// the README for the hazards and how each is closed.
module pst_queue_manager
  import pst_pkg::LenWidth, pst_pkg::len_t, pst_pkg::drop_e, pst_pkg::DropNone, pst_pkg::DropTailDropPackets, pst_pkg::DropTailDropBytes,
      pst_pkg::LimitPacketsWidth, pst_pkg::LimitBytesWidth;
#(
    parameter int unsigned Queues = 64,               // >= 2
    parameter int unsigned Descriptors = 256,         // >= 2
    parameter string       QueueRamStyle = "auto",    // per-queue memories, see pst_ram_1r1w
    parameter string       DescRamStyle = "auto",     // per-descriptor memory
    parameter bit          ReportLeft = 1'b0,         // m_deq_left_o is made: 24 bits more per queue
    parameter bit          ReportHead = 1'b0,         // m_active_len_o, ev_backlog_o and m_deq_head_o are made: registers, no memory
    parameter bit          Look = 1'b0,               // s_look is answered: registers, no memory
    parameter int unsigned SettingProfiles = 0,       // profiles that queues have their limits from, see pst_ram_profiled; 0: their own
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned DescIdWidth = $clog2(Descriptors)
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    // enqueue; a reason other than DropNone: the frame was lost upstream and is only reported, in order
    input  logic                       s_enq_valid_i,
    output logic                       s_enq_ready_o,
    input  logic [QueueIdWidth-1:0]    s_enq_queue_i,
    input  logic [DescIdWidth-1:0]     s_enq_desc_i,
    input  len_t                       s_enq_len_i,
    input  drop_e                      s_enq_reason_i,
    // a queue that was empty has a packet now
    output logic                       m_active_valid_o,
    input  logic                       m_active_ready_i,
    output logic [QueueIdWidth-1:0]    m_active_queue_o,
    output len_t                       m_active_len_o,        // of that packet; 0 without ReportHead
    // descriptor of a packet dropped at the tail: its page is free again
    output logic                       m_drop_valid_o,
    input  logic                       m_drop_ready_i,
    output logic [DescIdWidth-1:0]     m_drop_desc_o,
    // one pulse per enqueue decision, in order
    output logic                       ev_valid_o,
    output drop_e                      ev_reason_o,
    output logic [QueueIdWidth-1:0]    ev_queue_o,
    output len_t                       ev_len_o,
    output logic [LimitBytesWidth-1:0] ev_backlog_o,          // one cycle after ev_o: bytes in the queue with this packet, if it was
                                                                // accepted; 0 without ReportHead
    // dequeue of the head packet: never stalls; the queue has a packet, no dequeue under way, and its last m_deq_o is at least 4
    // cycles ago. The caller decides while the memories are read: s_deq_take_i, two cycles later, takes the packet or leaves it
    input  logic                       s_deq_valid_i,
    input  logic [QueueIdWidth-1:0]    s_deq_queue_i,
    input  logic                       s_deq_take_i,
    output logic                       m_deq_valid_o,
    output logic [QueueIdWidth-1:0]    m_deq_queue_o,
    output logic [DescIdWidth-1:0]     m_deq_desc_o,
    output len_t                       m_deq_len_o,
    output logic                       m_deq_backlogged_o,    // packets are left in the queue
    output logic [LimitBytesWidth-1:0] m_deq_left_o,          // one cycle after m_deq_o: bytes left in the queue; 0 without ReportLeft
    output len_t                       m_deq_head_o,          // two cycles after m_deq_o: length of the packet behind it; 0 without
                                                                // one, or without ReportHead
    // Look: what a queue holds. Waits for a cycle in which nothing is enqueued and no dequeue begins, so it disturbs neither. Answered 3 cycles
    // later: whether the queue is empty, and else whether m_deq_desc_o is its head, which it is not for some cycles after a dequeue or the
    // first packet; and 4 cycles later: packets and bytes in the queue, and its limits
    input  logic                       s_look_valid_i,
    output logic                       s_look_ready_o,
    input  logic [QueueIdWidth-1:0]    s_look_queue_i,
    output pst_queue_ports_pkg::head_t m_head_o,
    output pst_queue_ports_pkg::look_t m_look_o,
    // limits of one queue, taken at once, or a peek; either holds enqueues back for this cycle
    input  pst_queue_ports_pkg::cfg_t  s_cfg_i,
    input  logic [QueueIdWidth-1:0]    s_cfg_queue_i,
    output logic [15:0]                cfg_old_o,             // SettingProfiles: one cycle after a peek, the profile that it has; else 0
    // memories are cleared
    output logic                       init_done_o
);

  if (Queues < 2 || Descriptors < 2) begin : g_bad_size
    $error("pst_queue_manager: Queues (%0d) and Descriptors (%0d) must be at least 2", Queues, Descriptors);
  end

  // Counters run modulo their width. Occupancy stays below 2^16 packets and 2^24 bytes; what is left below a limit, which may be
  // lowered to 0 while the queue is full, is a signed number of one and two bits more.
  localparam int unsigned PacketCountWidth = LimitPacketsWidth + 1;
  localparam int unsigned ByteCountWidth = LimitBytesWidth + 2;

  typedef struct packed {
    logic [PacketCountWidth-1:0] packets;
    logic [ByteCountWidth-1:0]   bytes;
  } count_t;

  typedef struct packed {
    logic [LimitPacketsWidth-1:0] packets;
    logic [LimitBytesWidth-1:0]   bytes;
  } limit_t;

  typedef struct packed {
    logic [DescIdWidth-1:0] desc;
    len_t                   len;
  } packet_t;

  typedef struct packed {
    logic                    valid;
    logic [QueueIdWidth-1:0] queue_id;
    packet_t                 packet;
    drop_e                   reason;
  } enq_op_t;

  typedef struct packed {
    logic                    valid;
    logic [QueueIdWidth-1:0] queue_id;
  } deq_op_t;

  localparam int unsigned OutDepth = 16;     // FIFOs to scheduler and page pools
  localparam int unsigned OutReserve = 7;    // enqueues that may still come after ready has gone low

  enq_op_t e1_q, e2_q, e3_q;
  deq_op_t d1_q, d2_q;

  // --- clearing walk after reset

  logic                    init;
  logic [QueueIdWidth-1:0] init_queue;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_queue));

  assign init_done_o = !init;

  // --- stage 0: handshake, reads are issued

  logic room_q;
  logic enq_take, peek;

  assign s_enq_ready_o = room_q && !s_cfg_i.valid && !peek;
  assign enq_take = s_enq_valid_i && s_enq_ready_o;
  assign peek     = SettingProfiles != 0 && s_cfg_i.peek;

  // A look takes the reads of both sides in a cycle that neither needs.
  logic look_take;
  logic [QueueIdWidth-1:0] enq_queue, deq_queue;

  assign s_look_ready_o = Look && !init && !(s_enq_valid_i && room_q) && !s_deq_valid_i && !s_cfg_i.valid && !peek;
  assign look_take      = s_look_valid_i && s_look_ready_o;
  assign enq_queue      = Look && !(s_enq_valid_i && room_q) ? s_look_queue_i : s_enq_queue_i;
  assign deq_queue      = Look && !s_deq_valid_i ? s_look_queue_i : s_deq_queue_i;

  // --- dequeue, stage 2: forward and commit, unless the caller leaves the packet where it is

  logic [PacketCountWidth-1:0] enq_packets_r, enq_packets_for_deq;
  packet_t first_r, head_r, head_now, next_r;
  count_t deq_r, deq_new;
  logic head_valid_r, backlogged, d_commit;

  // Commits of the last two cycles, for reads that were issued before those commits were in the memories.
  logic e_commit, e_commit1_q, d_commit1_q;
  logic [QueueIdWidth-1:0] e_queue1_q, d_queue1_q;
  logic [DescIdWidth-1:0] tail1_q, tail2_q;
  count_t enq1_q, enq2_q, deq1_q, deq2_q;
  logic ed_hit1_q, ed_hit2_q;

  always_comb begin
    // The enqueue that commits in this very cycle comes after the dequeue and does not count.
    enq_packets_for_deq = enq_packets_r;
    if (ed_hit2_q) enq_packets_for_deq = enq2_q.packets;
    if (ed_hit1_q) enq_packets_for_deq = enq1_q.packets;
    head_now   = head_valid_r ? head_r : first_r;
    deq_new    = '{packets: deq_r.packets + 1'b1, bytes: deq_r.bytes + ByteCountWidth'(head_now.len)};
    backlogged = enq_packets_for_deq != deq_new.packets;
    d_commit   = d2_q.valid && s_deq_take_i;
  end

  // --- enqueue, stage 2: forward, and what the counters of the enqueue side may reach at most

  logic [DescIdWidth-1:0] tail_r, tail_s2, tail_s3_q, tail_now;
  count_t enq_r, enq_s2, enq_s3_q, enq_now, enq_new, deq_for_enq_r, deq_s2;
  limit_t limit_r;
  logic e_hit1_q, e_hit2_q, e_hit3_q, de_hit1_q, de_hit2_q;
  count_t highest_s3_q;
  logic [PacketCountWidth-1:0] deq_packets_s3_q, deq_packets_next_s3_q;
  logic deq_meanwhile_q, deq_same_queue_q;

  always_comb begin
    enq_s2  = enq_r;
    tail_s2 = tail_r;
    if (e_hit2_q) begin
      enq_s2  = enq2_q;
      tail_s2 = tail2_q;
    end
    if (e_hit1_q) begin
      enq_s2  = enq1_q;
      tail_s2 = tail1_q;
    end
    deq_s2 = deq_for_enq_r;
    if (de_hit2_q) deq_s2 = deq2_q;
    if (de_hit1_q) deq_s2 = deq1_q;
  end

  // --- enqueue, stage 3: decide and commit

  logic was_empty, deq_one, over_packets, over_bytes, drop, accept;
  logic asks;                        // a packet that was not lost upstream
  logic first_we_q, next_we_q;
  logic [DescIdWidth-1:0] next_waddr_q;
  packet_t packet1_q;
  drop_e reason;

  function automatic logic is_empty(logic [PacketCountWidth-1:0] enqueued, logic one_more);
    return one_more ? enqueued == deq_packets_next_s3_q : enqueued == deq_packets_s3_q;
  endfunction

  always_comb begin
    enq_now  = e_hit3_q ? enq1_q : enq_s3_q;
    tail_now = e_hit3_q ? tail1_q : tail_s3_q;

    // Exact: dequeues up to this very cycle count. There is at most one since stage 2, for the queue's next is four cycles away.
    // The two counts that may be the present one are compared side by side, with either count of dequeues: which ones apply is known late.
    // (That a dequeue is in its stage 2 is part of deq_same_queue_q.)
    deq_one   = deq_meanwhile_q || (deq_same_queue_q && s_deq_take_i);
    was_empty = e_hit3_q ? is_empty(enq1_q.packets, deq_one) : is_empty(enq_s3_q.packets, deq_one);

    // Limits look at the dequeues up to stage 2: a packet that leaves in these two cycles still counts.
    over_packets = e_hit3_q ? $signed(highest_s3_q.packets - enq1_q.packets) < 0 : $signed(highest_s3_q.packets - enq_s3_q.packets) < 0;
    over_bytes   = e_hit3_q ? $signed(highest_s3_q.bytes - enq1_q.bytes) < 0 : $signed(highest_s3_q.bytes - enq_s3_q.bytes) < 0;

    reason = e3_q.reason;
    if (e3_q.reason == DropNone) begin
      if (over_bytes) reason = DropTailDropBytes;
      if (over_packets) reason = DropTailDropPackets;
    end
    asks     = e3_q.valid && e3_q.reason == DropNone;
    drop     = asks && (over_packets || over_bytes);
    accept   = asks && !over_packets && !over_bytes;
    e_commit = accept;
    enq_new  = '{packets: enq_now.packets + 1'b1, bytes: enq_now.bytes + ByteCountWidth'(e3_q.packet.len)};
  end

  // --- pipeline registers

  always_ff @(posedge clk_i) begin
    e1_q <= '{
        valid: enq_take,
        queue_id: enq_queue,
        packet: '{desc: s_enq_desc_i, len: s_enq_len_i},
        reason: s_enq_reason_i
    };
    e2_q <= e1_q;
    e3_q <= e2_q;
    d1_q <= '{valid: s_deq_valid_i, queue_id: deq_queue};
    d2_q <= d1_q;

    // Results of the commits, one and two cycles ago.
    tail1_q     <= e3_q.packet.desc;
    tail2_q     <= tail1_q;
    enq1_q      <= enq_new;
    enq2_q      <= enq1_q;
    deq1_q      <= deq_new;
    deq2_q      <= deq1_q;
    e_queue1_q  <= e3_q.queue_id;
    d_queue1_q  <= d2_q.queue_id;
    e_commit1_q <= e_commit;
    d_commit1_q <= d_commit;

    // These two are not looked for before the second cycle after the commit.
    first_we_q   <= accept && was_empty;
    next_we_q    <= accept && !was_empty;
    next_waddr_q <= tail_now;
    packet1_q    <= e3_q.packet;

    // Does a commit of this cycle (hit1) or of the last one (hit2) touch the queue of the operation that is in stage 1 now
    // and in stage 2 next? And of that which is in stage 3 next (hit3)?
    e_hit1_q  <= e_commit && e3_q.queue_id == e1_q.queue_id;
    e_hit2_q  <= e_commit1_q && e_queue1_q == e1_q.queue_id;
    e_hit3_q  <= e_commit && e3_q.queue_id == e2_q.queue_id;
    de_hit1_q <= d_commit && d2_q.queue_id == e1_q.queue_id;
    de_hit2_q <= d_commit1_q && d_queue1_q == e1_q.queue_id;
    ed_hit1_q <= e_commit && e3_q.queue_id == d1_q.queue_id;
    ed_hit2_q <= e_commit1_q && e_queue1_q == d1_q.queue_id;

    // Stage 2 to 3.
    enq_s3_q              <= enq_s2;
    tail_s3_q             <= tail_s2;
    highest_s3_q.packets  <= deq_s2.packets + PacketCountWidth'(limit_r.packets) - 1'b1;
    highest_s3_q.bytes    <= deq_s2.bytes + (ByteCountWidth'(limit_r.bytes) - ByteCountWidth'(e2_q.packet.len));
    deq_packets_s3_q      <= deq_s2.packets;
    deq_packets_next_s3_q <= deq_s2.packets + 1'b1;
    deq_meanwhile_q       <= d_commit && d2_q.queue_id == e2_q.queue_id;
    deq_same_queue_q      <= d1_q.valid && d1_q.queue_id == e2_q.queue_id;

    if (rst_i) begin
      e1_q.valid  <= 1'b0;
      e2_q.valid  <= 1'b0;
      e3_q.valid  <= 1'b0;
      d1_q.valid  <= 1'b0;
      d2_q.valid  <= 1'b0;
      d_commit1_q <= 1'b0;
      e_commit1_q <= 1'b0;
      first_we_q  <= 1'b0;
      next_we_q   <= 1'b0;
    end
  end

  // --- bytes left behind a dequeued packet: as for the packets, a copy of the enqueue side's count

  if (ReportLeft) begin : g_left
    logic [LimitBytesWidth-1:0] enq_bytes_r, enq_bytes_for_deq, enq_bytes_q;

    always_comb begin
      enq_bytes_for_deq = enq_bytes_r;
      if (ed_hit2_q) enq_bytes_for_deq = enq2_q.bytes[LimitBytesWidth-1:0];
      if (ed_hit1_q) enq_bytes_for_deq = enq1_q.bytes[LimitBytesWidth-1:0];
    end

    always_ff @(posedge clk_i) begin
      enq_bytes_q  <= enq_bytes_for_deq;
      m_deq_left_o <= enq_bytes_q - deq1_q.bytes[LimitBytesWidth-1:0];
    end

    pst_ram_1r1w #(
        .Width(LimitBytesWidth), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
    ) u_enq_bytes (
        .clk_i,
        .we_i(init || e_commit), .waddr_i(init ? init_queue : e3_q.queue_id),
        .wdata_i(init ? '0 : enq_new.bytes[LimitBytesWidth-1:0]),
        .re_i(1'b1), .raddr_i(deq_queue), .rdata_o(enq_bytes_r)
    );
  end else begin : g_no_left
    assign m_deq_left_o = '0;
  end

  // --- bytes in a queue with the packet that it has just accepted: what was dequeued until then is known a cycle after the commit

  if (ReportHead) begin : g_backlog
    logic [LimitBytesWidth-1:0] deq_bytes_s3_q, deq_bytes_s4_q, deq_bytes;
    logic meanwhile_s4_q, same_cycle_s4_q;

    always_comb begin
      deq_bytes = deq_bytes_s4_q;
      if (meanwhile_s4_q) deq_bytes = deq2_q.bytes[LimitBytesWidth-1:0];
      if (same_cycle_s4_q) deq_bytes = deq1_q.bytes[LimitBytesWidth-1:0];
    end

    always_ff @(posedge clk_i) begin
      deq_bytes_s3_q  <= deq_s2.bytes[LimitBytesWidth-1:0];
      deq_bytes_s4_q  <= deq_bytes_s3_q;
      meanwhile_s4_q  <= deq_meanwhile_q;
      same_cycle_s4_q <= deq_same_queue_q && d_commit;
      ev_backlog_o    <= enq1_q.bytes[LimitBytesWidth-1:0] - deq_bytes;
    end
  end else begin : g_no_backlog
    assign ev_backlog_o = '0;
  end

  // --- dequeue result, and the packet behind it becomes the head

  logic d3_fetch_q, d4_fetch_q, d5_fetch_q;
  logic [QueueIdWidth-1:0] d4_queue_q, d5_queue_q;

  always_ff @(posedge clk_i) begin
    m_deq_valid_o      <= d_commit;
    m_deq_queue_o      <= d2_q.queue_id;
    m_deq_desc_o       <= head_now.desc;
    m_deq_len_o        <= head_now.len;
    m_deq_backlogged_o <= backlogged;
    d3_fetch_q <= d_commit && backlogged;
    d4_fetch_q <= d3_fetch_q;
    d5_fetch_q <= d4_fetch_q;
    d4_queue_q <= m_deq_queue_o;
    d5_queue_q <= d4_queue_q;
    if (rst_i) begin
      m_deq_valid_o <= 1'b0;
      d3_fetch_q    <= 1'b0;
      d4_fetch_q    <= 1'b0;
      d5_fetch_q    <= 1'b0;
    end
  end

  assign m_deq_head_o = ReportHead && d5_fetch_q ? next_r.len : '0;

  // --- a look goes through both pipelines as an operation that commits nothing. What it finds is forwarded as for others, but for the head:
  // that is written up to three cycles after a dequeue's commit (u_head), and one after that of the first packet (u_first).

  if (Look) begin : g_look
    logic head_empty_q;
    logic [4:1] look_q;
    logic [3:1] stale_q;    // the words of the head may be those of another packet
    count_t enq4_q, deq3_q, deq4_q, enq4, deq4;
    limit_t limit3_q, limit4_q;
    logic meanwhile4_q, same4_q, dequeued, first;

    assign dequeued = (d_commit && d2_q.queue_id == s_look_queue_i) || (d3_fetch_q && m_deq_queue_o == s_look_queue_i)
                      || (d4_fetch_q && d4_queue_q == s_look_queue_i) || (d5_fetch_q && d5_queue_q == s_look_queue_i);
    assign first    = first_we_q && e_queue1_q == s_look_queue_i;

    always_ff @(posedge clk_i) begin
      look_q       <= {look_q[3:1], look_take};
      stale_q[1]   <= dequeued || first;
      stale_q[2]   <= stale_q[1] || (first_we_q && e_queue1_q == d1_q.queue_id);
      stale_q[3]   <= stale_q[2] || (first_we_q && e_queue1_q == d2_q.queue_id);
      head_empty_q <= enq_packets_for_deq == deq_r.packets;

      enq4_q       <= enq_now;
      deq3_q       <= deq_s2;
      deq4_q       <= deq3_q;
      limit3_q     <= limit_r;
      limit4_q     <= limit3_q;
      meanwhile4_q <= deq_meanwhile_q;
      same4_q      <= deq_same_queue_q && d_commit;
      if (rst_i) look_q <= '0;
    end

    always_comb begin
      enq4 = enq4_q;
      deq4 = deq4_q;
      if (meanwhile4_q) deq4 = deq2_q;
      if (same4_q) deq4 = deq1_q;
    end

    assign m_head_o = '{valid: look_q[3], empty: head_empty_q, known: !stale_q[3]};
    assign m_look_o = '{
        valid: look_q[4], packets: LimitPacketsWidth'(enq4.packets - deq4.packets), bytes: LimitBytesWidth'(enq4.bytes - deq4.bytes),
        limit_packets: limit4_q.packets, limit_bytes: limit4_q.bytes
    };
  end else begin : g_no_look
    assign m_head_o = '0;
    assign m_look_o = '0;

    logic unused_look;
    assign unused_look = ^{look_take, s_look_queue_i};
  end

  // --- memories of the enqueue side

  pst_ram_1r1w #(
      .Width(DescIdWidth + $bits(count_t)), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
  ) u_tail (
      .clk_i,
      .we_i(init || e_commit), .waddr_i(init ? init_queue : e3_q.queue_id),
      .wdata_i(init ? '0 : {e3_q.packet.desc, enq_new}),
      .re_i(1'b1), .raddr_i(enq_queue), .rdata_o({tail_r, enq_r})
  );

  pst_ram_1r1w #(
      .Width(PacketCountWidth), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
  ) u_enq_packets (
      .clk_i,
      .we_i(init || e_commit), .waddr_i(init ? init_queue : e3_q.queue_id), .wdata_i(init ? '0 : enq_new.packets),
      .re_i(1'b1), .raddr_i(deq_queue), .rdata_o(enq_packets_r)
  );

  pst_ram_1r1w #(
      .Width($bits(packet_t)), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
  ) u_first (
      .clk_i,
      .we_i(first_we_q), .waddr_i(e_queue1_q), .wdata_i(packet1_q),
      .re_i(1'b1), .raddr_i(deq_queue), .rdata_o(first_r)
  );

  // The packet behind each packet: id and length, so that a head's length is known before it is dequeued.
  pst_ram_1r1w #(
      .Width($bits(packet_t)), .Depth(Descriptors), .ReadLatency(2), .Style(DescRamStyle)
  ) u_next (
      .clk_i,
      .we_i(next_we_q), .waddr_i(next_waddr_q), .wdata_i(packet1_q),
      .re_i(1'b1), .raddr_i(m_deq_desc_o), .rdata_o(next_r)
  );

  pst_ram_profiled #(
      .Width($bits(limit_t)), .Depth(Queues), .Profiles(SettingProfiles), .Style(QueueRamStyle)
  ) u_limit (
      .clk_i,
      .we_i(init || s_cfg_i.valid), .waddr_i(init ? init_queue : s_cfg_queue_i),
      .profile_i(init ? '0 : s_cfg_i.profile), .fresh_i(init || s_cfg_i.fresh),
      .wdata_i(init ? '1 : {s_cfg_i.limit_packets, s_cfg_i.limit_bytes}),
      .raddr_i(peek ? s_cfg_queue_i : enq_queue), .profile_o(cfg_old_o), .rdata_o(limit_r)
  );

  // --- memories of the dequeue side

  pst_ram_1r1w #(
      .Width($bits(count_t) + 1), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
  ) u_deq (
      .clk_i,
      .we_i(init || d_commit), .waddr_i(init ? init_queue : d2_q.queue_id), .wdata_i(init ? '0 : {deq_new, backlogged}),
      .re_i(1'b1), .raddr_i(deq_queue), .rdata_o({deq_r, head_valid_r})
  );

  pst_ram_1r1w #(
      .Width($bits(count_t)), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
  ) u_deq_for_enq (
      .clk_i,
      .we_i(init || d_commit), .waddr_i(init ? init_queue : d2_q.queue_id), .wdata_i(init ? '0 : deq_new),
      .re_i(1'b1), .raddr_i(enq_queue), .rdata_o(deq_for_enq_r)
  );

  pst_ram_1r1w #(
      .Width($bits(packet_t)), .Depth(Queues), .ReadLatency(2), .Style(QueueRamStyle)
  ) u_head (
      .clk_i,
      .we_i(d5_fetch_q), .waddr_i(d5_queue_q), .wdata_i(next_r),
      .re_i(1'b1), .raddr_i(deq_queue), .rdata_o(head_r)
  );

  // --- outputs of the enqueue side

  logic [$clog2(OutDepth+1)-1:0] active_level, drop_level;
  logic unused_active_ready, unused_drop_ready;

  localparam int unsigned ActiveWidth = QueueIdWidth + (ReportHead ? LenWidth : 0);
  logic [ActiveWidth-1:0] active_data;

  pst_fifo #(
      .Width(ActiveWidth), .Depth(OutDepth), .RegisterOutput(1'b1)
  ) u_active (
      .clk_i, .rst_i,
      .s_valid_i(accept && was_empty), .s_ready_o(unused_active_ready), .s_data_i(ActiveWidth'({e3_q.packet.len, e3_q.queue_id})),
      .m_valid_o(m_active_valid_o), .m_ready_i(m_active_ready_i), .m_data_o(active_data),
      .level_o(active_level)
  );

  assign m_active_queue_o = active_data[QueueIdWidth-1:0];

  if (ReportHead) begin : g_active_len
    assign m_active_len_o = active_data[ActiveWidth-1:QueueIdWidth];
  end else begin : g_no_active_len
    assign m_active_len_o = '0;
  end

  pst_fifo #(
      .Width(DescIdWidth), .Depth(OutDepth)
  ) u_drop (
      .clk_i, .rst_i,
      .s_valid_i(drop), .s_ready_o(unused_drop_ready), .s_data_i(e3_q.packet.desc),
      .m_valid_o(m_drop_valid_o), .m_ready_i(m_drop_ready_i), .m_data_o(m_drop_desc_o),
      .level_o(drop_level)
  );

  always_ff @(posedge clk_i) begin
    room_q <= !init && int'(active_level) <= OutDepth - OutReserve && int'(drop_level) <= OutDepth - OutReserve;
    ev_valid_o  <= e3_q.valid;
    ev_reason_o <= reason;
    ev_queue_o  <= e3_q.queue_id;
    ev_len_o    <= e3_q.packet.len;
    if (rst_i) begin
      room_q     <= 1'b0;
      ev_valid_o <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  // The environment's side of the contract, and what must never happen inside.
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (s_deq_valid_i) begin
        a_cleared_before_dequeues : assert (init_done_o) else $error("dequeue before init_done_o");
        a_dequeue_in_range : assert (int'(s_deq_queue_i) < Queues) else $error("dequeue from queue %0d of %0d", s_deq_queue_i, Queues);
        a_not_in_d1 : assert (!(d1_q.valid && d1_q.queue_id == s_deq_queue_i))
        else $error("two dequeues of queue %0d in flight", s_deq_queue_i);
        a_not_in_d2 : assert (!(d2_q.valid && d2_q.queue_id == s_deq_queue_i))
        else $error("two dequeues of queue %0d in flight", s_deq_queue_i);
        a_head_is_known : assert (!(d3_fetch_q && m_deq_queue_o == s_deq_queue_i) && !(d4_fetch_q && d4_queue_q == s_deq_queue_i)
            && !(d5_fetch_q && d5_queue_q == s_deq_queue_i))
        else $error("dequeue of queue %0d before its new head is known", s_deq_queue_i);
      end
      if (enq_take) a_enqueue_in_range : assert (int'(s_enq_queue_i) < Queues)
        else $error("enqueue to queue %0d of %0d", s_enq_queue_i, Queues);
      if (d_commit) a_dequeue_finds_a_packet : assert (enq_packets_for_deq != deq_r.packets)
        else $error("dequeue from empty queue %0d", d2_q.queue_id);
      if (accept && was_empty) a_active_fifo_has_room : assert (unused_active_ready) else $error("active FIFO overflows");
      if (drop) a_drop_fifo_has_room : assert (unused_drop_ready) else $error("drop FIFO overflows");
    end
  end
`endif

endmodule
