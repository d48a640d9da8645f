// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_queue_manager: every descriptor has exactly one owner (the outside, an enqueue under way, one queue); packets
// leave a queue in the order in which they came, each once, with their own length; a queue is announced exactly when it was empty;
// limits are obeyed, and nothing is dropped below them.
//
// Each queue is kept beside the DUT as an array in its order; operations take effect at their commits, a dequeue before an enqueue. The
// inductive invariant says how the memories encode the arrays, and that every read, forwarded or not, sees the memories as they
// are now. The FIFOs to scheduler and pools have their own proof: what enters them counts as outside, so this outside knows at
// least as early as the real one.
module pst_queue_manager_proof
  import pst_pkg::*;
#(
    parameter int unsigned Queues = 2,         // a power of two
    parameter int unsigned Descriptors = 4,    // a power of two
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned DescIdWidth = $clog2(Descriptors)
) (
    input logic                         clk_i,
    input logic                         rst_i,
    input logic                         enq_valid_i,
    input logic [QueueIdWidth-1:0]      enq_queue_i,
    input logic [DescIdWidth-1:0]       enq_desc_i,
    input len_t                         enq_len_i,
    input drop_e                        enq_reason_i,
    input logic                         active_ready_i,
    input logic                         drop_ready_i,
    input logic                         deq_valid_i,
    input logic [QueueIdWidth-1:0]      deq_queue_i,
    input logic                         deq_take_i,
    input logic                         cfg_valid_i,
    input logic [QueueIdWidth-1:0]      cfg_queue_i,
    input logic [LimitPacketsWidth-1:0] cfg_packets_i,
    input logic [LimitBytesWidth-1:0]   cfg_bytes_i,
    input logic                         look_valid_i,
    input logic [QueueIdWidth-1:0]      look_queue_i
);

  localparam int unsigned PacketCountWidth = LimitPacketsWidth + 1;
  localparam int unsigned ByteCountWidth = LimitBytesWidth + 2;
  localparam int unsigned LevelWidth = $clog2(Descriptors + 1);

  typedef logic [QueueIdWidth-1:0] queue_t;
  typedef logic [DescIdWidth-1:0] desc_t;
  typedef logic [LevelWidth-1:0] level_t;
  typedef logic [7:0] wide_t;    // any sum of lengths, limits and levels here

  typedef struct packed {
    desc_t desc;
    len_t  len;
  } packet_t;

  typedef struct packed {
    logic [PacketCountWidth-1:0] packets;
    logic [ByteCountWidth-1:0]   bytes;
  } count_t;

  typedef struct packed {
    logic [LimitPacketsWidth-1:0] packets;
    logic [LimitBytesWidth-1:0]   bytes;
  } limit_t;

  typedef struct packed {
    desc_t  tail;
    count_t count;
  } tail_t;

  logic enq_ready, take, active_valid, drop_valid, ev_valid, deq_valid, deq_backlogged, init_done;
  queue_t active_queue, ev_queue, deq_queue;
  desc_t drop_desc, deq_desc;
  drop_e ev_reason;
  len_t ev_len, deq_len;

  pst_queue_manager #(
      .Queues(Queues), .Descriptors(Descriptors), .Look(1'b1)
  ) u_dut (
      .clk_i, .rst_i,
      .s_enq_valid_i(enq_valid_i), .s_enq_ready_o(enq_ready), .s_enq_queue_i(enq_queue_i), .s_enq_desc_i(enq_desc_i),
      .s_enq_len_i(enq_len_i), .s_enq_reason_i(enq_reason_i),
      .m_active_valid_o(active_valid), .m_active_ready_i(active_ready_i), .m_active_queue_o(active_queue),
      .m_drop_valid_o(drop_valid), .m_drop_ready_i(drop_ready_i), .m_drop_desc_o(drop_desc),
      .ev_valid_o(ev_valid), .ev_reason_o(ev_reason), .ev_queue_o(ev_queue), .ev_len_o(ev_len),
      .s_deq_valid_i(deq_valid_i), .s_deq_queue_i(deq_queue_i), .s_deq_take_i(deq_take_i),
      .m_deq_valid_o(deq_valid), .m_deq_queue_o(deq_queue), .m_deq_desc_o(deq_desc), .m_deq_len_o(deq_len),
      .m_deq_backlogged_o(deq_backlogged), .m_deq_left_o(), .m_deq_head_o(), .m_active_len_o(), .ev_backlog_o(),
      .s_look_valid_i(look_valid_i), .s_look_ready_o(), .s_look_queue_i(look_queue_i),
      .m_head_o(), .m_look_o(),
      .s_cfg_i('{valid: cfg_valid_i, limit_packets: cfg_packets_i, limit_bytes: cfg_bytes_i, default: '0}), .s_cfg_queue_i(cfg_queue_i),
      .cfg_old_o(),
      .init_done_o(init_done)
  );

  assign take = enq_valid_i && enq_ready;

  // --- the queues as they should be

  logic seen_q;
  initial seen_q = 1'b0;
  packet_t [Queues-1:0][Descriptors-1:0] list_q, list_d;
  level_t [Queues-1:0] level_q, level_d;
  wide_t [Queues-1:0] bytes;                  // in each queue
  logic [Descriptors-1:0] outside_q;
  logic [Queues-1:0] told_q, announced_q;     // pushed towards the scheduler in the cycle before; earlier: it may dequeue
  limit_t [Queues-1:0] limit_q;
  limit_t limit1_q, limit2_q, limit3_q;       // of the enqueue in stage 1, 2, 3
  count_t deq3_q;                             // what the enqueue in stage 3 knows of the dequeues
  logic pop_q, pop_left_q;                    // the dequeue of the cycle before, and whether it left packets
  queue_t pop_queue_q;
  packet_t pop_packet_q;

  logic deq_commit, enq_commit;
  queue_t dq, eq;                             // queues of the dequeue and the enqueue that commit
  assign deq_commit = u_dut.d2_q.valid && deq_take_i;
  assign enq_commit = u_dut.accept;
  assign dq         = u_dut.d2_q.queue_id;
  assign eq         = u_dut.e3_q.queue_id;

  level_t [Queues-1:0] level_mid;    // after this cycle's dequeue
  always_comb begin
    list_d  = list_q;
    level_d = level_q;
    if (deq_commit) begin
      list_d[dq]  = list_q[dq] >> $bits(packet_t);
      level_d[dq] = level_q[dq] - 1'b1;
    end
    level_mid = level_d;
    if (enq_commit) begin
      for (int i = 0; i < Descriptors; i++) if (level_mid[eq] == level_t'(i)) list_d[eq][i] = u_dut.e3_q.packet;
      level_d[eq] = level_mid[eq] + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    seen_q       <= 1'b1;
    list_q       <= list_d;
    level_q      <= level_d;
    pop_q        <= deq_commit;
    pop_queue_q  <= dq;
    pop_packet_q <= list_q[dq][0];
    pop_left_q   <= level_mid[dq] != '0;
    announced_q  <= announced_q | told_q;
    told_q       <= '0;
    if (enq_commit && u_dut.was_empty) told_q[eq] <= 1'b1;
    if (deq_commit && level_mid[dq] == '0) announced_q[dq] <= 1'b0;

    if (take && enq_reason_i == DropNone) outside_q[enq_desc_i] <= 1'b0;
    if (u_dut.e3_q.valid && u_dut.e3_q.reason == DropNone && !enq_commit) outside_q[u_dut.e3_q.packet.desc] <= 1'b1;
    if (deq_commit) outside_q[list_q[dq][0].desc] <= 1'b1;

    if (cfg_valid_i) limit_q[cfg_queue_i] <= '{packets: cfg_packets_i, bytes: cfg_bytes_i};
    if (u_dut.init) limit_q[u_dut.init_queue] <= '1;
    limit1_q <= limit_q[enq_queue_i];
    limit2_q <= limit1_q;
    limit3_q <= limit2_q;
    deq3_q   <= u_dut.deq_s2;

    if (rst_i) begin
      level_q     <= '0;
      outside_q   <= '1;
      told_q      <= '0;
      announced_q <= '0;
      pop_q       <= 1'b0;
    end
  end

  // --- the contract's other side

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i) begin
      if (take && enq_reason_i == DropNone) m_own : assume (outside_q[enq_desc_i]);
      if (cfg_valid_i) m_settings_after_init : assume (init_done);
      if (deq_valid_i) begin
        m_announced : assume (announced_q[deq_queue_i]);
        m_one_dequeue : assume (!(u_dut.d1_q.valid && u_dut.d1_q.queue_id == deq_queue_i)
                                && !(u_dut.d2_q.valid && u_dut.d2_q.queue_id == deq_queue_i)
                                && !(u_dut.d3_fetch_q && u_dut.m_deq_queue_o == deq_queue_i)
                                && !(u_dut.d4_fetch_q && u_dut.d4_queue_q == deq_queue_i)
                                && !(u_dut.d5_fetch_q && u_dut.d5_queue_q == deq_queue_i));
      end
    end
  end

  // --- where each descriptor is, what each queue holds

  logic [Descriptors-1:0][3:0] owners;
  level_t sum;
  always_comb begin
    sum = level_t'(u_dut.e1_q.valid && u_dut.e1_q.reason == DropNone) + level_t'(u_dut.e2_q.valid && u_dut.e2_q.reason == DropNone)
        + level_t'(u_dut.e3_q.valid && u_dut.e3_q.reason == DropNone);
    bytes = '0;
    for (int q = 0; q < Queues; q++) begin
      sum += level_q[q];
      for (int i = 0; i < Descriptors; i++) if (level_t'(i) < level_q[q]) bytes[q] += wide_t'(list_q[q][i].len);
    end
    for (int d = 0; d < Descriptors; d++) begin
      sum += level_t'(outside_q[d]);
      owners[d] = 4'(outside_q[d]);
      owners[d] += 4'(u_dut.e1_q.valid && u_dut.e1_q.reason == DropNone && u_dut.e1_q.packet.desc == desc_t'(d));
      owners[d] += 4'(u_dut.e2_q.valid && u_dut.e2_q.reason == DropNone && u_dut.e2_q.packet.desc == desc_t'(d));
      owners[d] += 4'(u_dut.e3_q.valid && u_dut.e3_q.reason == DropNone && u_dut.e3_q.packet.desc == desc_t'(d));
      for (int q = 0; q < Queues; q++) begin
        for (int i = 0; i < Descriptors; i++) owners[d] += 4'(level_t'(i) < level_q[q] && list_q[q][i].desc == desc_t'(d));
      end
    end
  end

  // What the memories say of each queue.
  tail_t [Queues-1:0] tail;
  count_t [Queues-1:0] deq;
  logic [Queues-1:0] head_in_head, cleared;
  always_comb begin
    for (int q = 0; q < Queues; q++) begin
      tail[q] = tail_t'(u_dut.u_tail.mem[q]);
      {deq[q], head_in_head[q]} = u_dut.u_deq.mem[q];
      cleared[q] = !u_dut.init || queue_t'(q) < u_dut.init_queue;
    end
  end

  // What a read in stage 1 of the pipelines gives, if it had to be used now.
  tail_t tail_e1;
  count_t deq_e1;
  logic [PacketCountWidth-1:0] enq_d1;
  always_comb begin
    tail_e1 = tail_t'(u_dut.u_tail.rdata_q);
    if (u_dut.e_commit1_q && u_dut.e_queue1_q == u_dut.e1_q.queue_id) tail_e1 = {u_dut.tail1_q, u_dut.enq1_q};
    deq_e1 = count_t'(u_dut.u_deq_for_enq.rdata_q);
    if (u_dut.d_commit1_q && u_dut.d_queue1_q == u_dut.e1_q.queue_id) deq_e1 = u_dut.deq1_q;
    enq_d1 = u_dut.u_enq_packets.rdata_q;
    if (u_dut.e_commit1_q && u_dut.e_queue1_q == u_dut.d1_q.queue_id) enq_d1 = u_dut.enq1_q.packets;
  end

  // Packets and bytes that the enqueue in stage 3 must count: those that left in the last cycle, too.
  wide_t counted_packets, counted_bytes;
  assign counted_packets = wide_t'(level_q[eq]) + wide_t'(u_dut.deq_meanwhile_q);
  assign counted_bytes   = wide_t'(ByteCountWidth'(tail[eq].count.bytes - deq3_q.bytes));

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_one_owner : assert (owners == {Descriptors{4'd1}});
      a_dequeued : assert (deq_valid == pop_q);
      if (pop_q) a_order : assert (deq_queue == pop_queue_q && {deq_desc, deq_len} == pop_packet_q && deq_backlogged == pop_left_q);
      if (u_dut.e3_q.valid) a_empty : assert (u_dut.was_empty == (level_mid[eq] == '0));
      if (enq_commit) begin
        a_limits : assert (wide_t'(level_mid[eq]) + 1 <= wide_t'(limit3_q.packets)
                           && bytes[eq] + wide_t'(u_dut.e3_q.packet.len) <= wide_t'(limit3_q.bytes)
                              + (deq_commit && dq == eq ? wide_t'(list_q[eq][0].len) : '0));
      end
      if (u_dut.e3_q.valid) begin
        a_reason : assert (u_dut.reason == (u_dut.e3_q.reason != DropNone ? u_dut.e3_q.reason
            : counted_packets + 1 > wide_t'(limit3_q.packets) ? DropTailDropPackets
            : counted_bytes + wide_t'(u_dut.e3_q.packet.len) > wide_t'(limit3_q.bytes) ? DropTailDropBytes : DropNone));
      end
      a_room : assert (32'(u_dut.active_level) < u_dut.OutDepth && 32'(u_dut.drop_level) < u_dut.OutDepth);

      // what the induction needs: sizes
      a_sum : assert (sum == level_t'(Descriptors));
      a_flags : assert (active_valid == (u_dut.active_level != '0) && drop_valid == (u_dut.drop_level != '0));
      a_in_flight : assert (32'(u_dut.drop_level) + 32'(u_dut.e1_q.valid) + 32'(u_dut.e2_q.valid) + 32'(u_dut.e3_q.valid)
                            <= 32'd13 + 32'(!u_dut.room_q)
                         && 32'(u_dut.active_level) + 32'(u_dut.e1_q.valid) + 32'(u_dut.e2_q.valid) + 32'(u_dut.e3_q.valid)
                            <= 32'd13 + 32'(!u_dut.room_q));
      if (u_dut.init) begin
        a_idle : assert (!u_dut.room_q && !u_dut.e1_q.valid && !u_dut.e2_q.valid && !u_dut.e3_q.valid && !u_dut.d1_q.valid
                         && !u_dut.d2_q.valid && !u_dut.first_we_q && !u_dut.next_we_q && !u_dut.e_commit1_q && !u_dut.d_commit1_q
                         && !u_dut.d3_fetch_q && !u_dut.d4_fetch_q && !u_dut.d5_fetch_q && level_q == '0);
      end

      // the memories encode the queues
      for (int q = 0; q < Queues; q++) begin
        a_announced_or_told : assert ((level_q[q] != '0) == (announced_q[q] || told_q[q]));
        a_counts_in_range : assert (32'(level_q[q]) < 2 ** LimitPacketsWidth && 32'(bytes[q]) < 2 ** LimitBytesWidth);
        if (cleared[q]) begin
          a_packets : assert (PacketCountWidth'(tail[q].count.packets - deq[q].packets) == PacketCountWidth'(level_q[q]));
          a_bytes : assert (ByteCountWidth'(tail[q].count.bytes - deq[q].bytes) == ByteCountWidth'(bytes[q]));
          a_copies : assert (u_dut.u_enq_packets.mem[q] == tail[q].count.packets && u_dut.u_deq_for_enq.mem[q] == deq[q]);
          a_limit : assert (u_dut.u_limit.g_own.u_words.mem[q] == limit_q[q]);
        end
        // a head is in one of two places, or on its way to the second
        if (level_q[q] != '0) begin
          if (!head_in_head[q]) begin
            a_first_in_first : assert (list_q[q][0] == (u_dut.first_we_q
                && u_dut.e_queue1_q == queue_t'(q) ? u_dut.packet1_q : u_dut.u_first.mem[q]));
          end else if (!(u_dut.d3_fetch_q && u_dut.m_deq_queue_o == queue_t'(q)) && !(u_dut.d4_fetch_q && u_dut.d4_queue_q == queue_t'(q))
                       && !(u_dut.d5_fetch_q && u_dut.d5_queue_q == queue_t'(q))) begin
            a_first_in_head : assert (list_q[q][0] == u_dut.u_head.mem[q]);
          end
        end
        for (int i = 0; i < Descriptors; i++) begin
          if (level_t'(i + 1) == level_q[q]) a_tail : assert (tail[q].tail == list_q[q][i].desc);
          if (i + 1 < Descriptors && level_t'(i + 1) < level_q[q]) begin
            a_next_linked : assert (list_q[q][(i+1)%Descriptors] == (u_dut.next_we_q && u_dut.next_waddr_q == list_q[q][i].desc
                                                     ? u_dut.packet1_q : u_dut.u_next.mem[list_q[q][i].desc]));
          end
          if (u_dut.next_we_q && u_dut.e_queue1_q == queue_t'(q) && level_t'(i + 2) == level_q[q]) begin
            a_next_being_linked : assert (u_dut.next_waddr_q == list_q[q][i].desc);
          end
        end
        if (u_dut.next_we_q && u_dut.e_queue1_q == queue_t'(q)) a_linked_has_two : assert (level_q[q] >= level_t'(2));
        if (u_dut.first_we_q && u_dut.e_queue1_q == queue_t'(q))
          a_first_has_one : assert (level_q[q] == level_t'(1) && told_q[q] && !head_in_head[q]);
        if (level_q[q] == '0 && cleared[q]) a_empty_has_no_head : assert (!head_in_head[q]);
        if (told_q[q]) a_told_is_under_way : assert (u_dut.first_we_q && u_dut.e_queue1_q == queue_t'(q) && !announced_q[q]);
      end
      a_one_write : assert (!(u_dut.first_we_q && u_dut.next_we_q));

      // every read sees the memories as they are now
      if (u_dut.e1_q.valid) begin
        a_e1 : assert (tail_e1 == tail[u_dut.e1_q.queue_id] && deq_e1 == deq[u_dut.e1_q.queue_id]);
        a_e1_limit : assert (u_dut.u_limit.g_own.u_words.rdata_q == limit1_q);
      end
      if (u_dut.e2_q.valid) begin
        a_e2 : assert ({u_dut.tail_s2, u_dut.enq_s2} == tail[u_dut.e2_q.queue_id] && u_dut.deq_s2 == deq[u_dut.e2_q.queue_id]);
        a_e2_limit : assert (u_dut.limit_r == limit2_q);
      end
      if (u_dut.e3_q.valid) begin
        a_e3 : assert ({u_dut.tail_now, u_dut.enq_now} == tail[eq]);
        a_e3_deq : assert (deq[eq].packets == deq3_q.packets + PacketCountWidth'(u_dut.deq_meanwhile_q)
                           && u_dut.deq_packets_s3_q == deq3_q.packets && u_dut.deq_packets_next_s3_q == deq3_q.packets + 1'b1);
        a_e3_bytes : assert (deq[eq].bytes == deq3_q.bytes + (u_dut.deq_meanwhile_q ? ByteCountWidth'(pop_packet_q.len) : '0)
                             && (!u_dut.deq_meanwhile_q || (pop_q && pop_queue_q == eq)));
        a_e3_limit : assert (u_dut.highest_s3_q.packets == PacketCountWidth'(deq3_q.packets + PacketCountWidth'(limit3_q.packets) - 1'b1)
            && u_dut.highest_s3_q.bytes == ByteCountWidth'(deq3_q.bytes + ByteCountWidth'(limit3_q.bytes)
                                                           - ByteCountWidth'(u_dut.e3_q.packet.len)));
        a_e3_same : assert (u_dut.deq_same_queue_q == (u_dut.d2_q.valid && dq == eq));
        a_e3_once : assert (!(u_dut.deq_meanwhile_q && u_dut.deq_same_queue_q));
      end
      if (u_dut.e_commit1_q) begin
        a_commit1 : assert ({u_dut.tail1_q, u_dut.enq1_q} == tail[u_dut.e_queue1_q]);
        a_packet1 : assert (u_dut.first_we_q || u_dut.next_we_q);
      end
      if (u_dut.d_commit1_q) a_deq1 : assert (u_dut.deq1_q == deq[u_dut.d_queue1_q]);
      if (u_dut.d1_q.valid) begin
        a_d1 : assert (u_dut.u_deq.rdata_q == {deq[u_dut.d1_q.queue_id], head_in_head[u_dut.d1_q.queue_id]}
                       && enq_d1 == tail[u_dut.d1_q.queue_id].count.packets);
        a_d1_head : assert ((head_in_head[u_dut.d1_q.queue_id] ? u_dut.u_head.rdata_q : u_dut.u_first.rdata_q)
                            == list_q[u_dut.d1_q.queue_id][0]);
        a_d1_there : assert (announced_q[u_dut.d1_q.queue_id] && !(u_dut.d2_q.valid && dq == u_dut.d1_q.queue_id));
        a_d1_alone : assert (!(u_dut.d3_fetch_q && u_dut.m_deq_queue_o == u_dut.d1_q.queue_id)
                             && !(u_dut.d4_fetch_q && u_dut.d4_queue_q == u_dut.d1_q.queue_id)
                             && !(u_dut.d5_fetch_q && u_dut.d5_queue_q == u_dut.d1_q.queue_id));
      end
      if (u_dut.d2_q.valid) begin
        a_d2 : assert ({u_dut.deq_r, u_dut.head_valid_r} == {deq[dq], head_in_head[dq]}
                       && u_dut.enq_packets_for_deq == tail[dq].count.packets);
        a_d2_head : assert (u_dut.head_now == list_q[dq][0]);
        a_d2_there : assert (announced_q[dq] && level_q[dq] != '0);
        a_d2_alone : assert (!(u_dut.d3_fetch_q && u_dut.m_deq_queue_o == dq) && !(u_dut.d4_fetch_q && u_dut.d4_queue_q == dq)
                             && !(u_dut.d5_fetch_q && u_dut.d5_queue_q == dq));
      end
      // the next head, on its way
      if (u_dut.d3_fetch_q) a_d3 : assert (level_q[u_dut.m_deq_queue_o] != '0 && head_in_head[u_dut.m_deq_queue_o] && u_dut.m_deq_valid_o
          && list_q[u_dut.m_deq_queue_o][0] == u_dut.u_next.mem[u_dut.m_deq_desc_o]
          && !(u_dut.next_we_q && u_dut.next_waddr_q == u_dut.m_deq_desc_o));
      if (u_dut.d4_fetch_q) a_d4 : assert (level_q[u_dut.d4_queue_q] != '0 && head_in_head[u_dut.d4_queue_q]
          && list_q[u_dut.d4_queue_q][0] == u_dut.u_next.rdata_q && !(u_dut.d3_fetch_q && u_dut.m_deq_queue_o == u_dut.d4_queue_q));
      if (u_dut.d5_fetch_q) a_d5 : assert (level_q[u_dut.d5_queue_q] != '0 && head_in_head[u_dut.d5_queue_q]
          && list_q[u_dut.d5_queue_q][0] == u_dut.next_r && !(u_dut.d3_fetch_q && u_dut.m_deq_queue_o == u_dut.d5_queue_q)
          && !(u_dut.d4_fetch_q && u_dut.d4_queue_q == u_dut.d5_queue_q));

      // useful work is possible
      c_full : cover (32'(level_q[0]) == 3 && u_dut.e3_q.valid && u_dut.reason == DropTailDropPackets && u_dut.e3_q.reason == DropNone);
      c_chain : cover (u_dut.d5_fetch_q && level_q[u_dut.d5_queue_q] == level_t'(2));
      c_meet : cover (deq_commit && enq_commit && dq == eq && level_q[dq] == level_t'(1));
    end
  end

endmodule
