// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_page_admission: a class below its reservation is never refused, a frame that may have a page finds one that the pools
// must offer, and all counts are those of the pages held, whatever frames, settings and freed pages come. With Loss = 1 memories are lost at
// any moment, one or all: the counts are then those of the pages that are left, to the page, and a frame finds one unless more are promised
// than there are, which happens after a loss only and never by more pages than were free in the lost memories.
//
// The bench stands for the pools: it gives any free page of the memories that may, and owes one as soon as one has been free for five cycles
// (what pst_page_allocator.sby proves of the allocators). It follows each page: held, or on its way back in one of four stages; and each
// frame that was to have a page and got none, which goes the same way.
module pst_page_admission_proof #(
    parameter int unsigned Memories = 2,
    parameter logic [Memories-1:0][31:0] MemPages = {Memories{32'd2}},
    parameter logic [Memories-1:0][31:0] MemPageBytes = {Memories{32'd64}},
    parameter int unsigned Classes = 2,
    parameter int unsigned Queues = 2,
    parameter bit Loss = 1'b0,  // memories are lost
    localparam int unsigned Descriptors = pst_memory_pkg::desc_base(pst_memory_pkg::pages_t'(MemPages), Memories),
    localparam int unsigned DescWidth = $clog2(Descriptors),
    localparam int unsigned CountWidth = $clog2(Descriptors + 1),
    localparam int unsigned Sizes = pst_memory_pkg::page_sizes(pst_memory_pkg::pages_t'(MemPageBytes), Memories),
    localparam int unsigned SizeWidth = Sizes > 1 ? $clog2(Sizes) : 1,
    localparam int unsigned ClassWidth = Classes > 1 ? $clog2(Classes) : 1,
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input logic                           clk_i,
    input logic                           rst_i,
    input logic                           frame_valid_i,
    input logic [QueueIdWidth-1:0]        frame_queue_i,
    input pst_pkg::len_t                  frame_len_i,
    input logic                           ready_i,
    input logic                           give_i,
    input logic                           found_i,
    input logic [Memories-1:0]            falls_i,
    input logic [DescWidth-1:0]           page_i,
    input logic                           free_valid_i,
    input logic [DescWidth-1:0]           free_desc_i,
    input logic                           cfg_valid_i,
    input logic [QueueIdWidth-1:0]        cfg_queue_i,
    input logic [ClassWidth-1:0]          cfg_class_i,
    input logic                           look_valid_i,
    input logic [QueueIdWidth-1:0]        look_queue_i,
    input logic                           share_valid_i,
    input logic [ClassWidth-1:0]          share_class_i,
    input logic [SizeWidth-1:0]           share_size_i,
    input logic [pst_pkg::AlphaWidth-1:0] share_alpha_i,
    input logic [CountWidth-1:0]          share_reserved_i
);

  localparam int unsigned Depth = 8;
  localparam int unsigned FailedDepth = Depth + 2;

  typedef struct packed {
    logic                    valid;
    logic                    failed;   // no page: a frame that was to have one
    logic [QueueIdWidth-1:0] queue_id;
    logic [ClassWidth-1:0]   cls;
    logic [31:0]             size;
  } place_t;

  // Frames that were to have a page, got none and have not set out on the way of pages that come back.
  typedef struct packed {
    logic [QueueIdWidth-1:0] queue_id;
    logic [ClassWidth-1:0]   cls;
    logic [Sizes-1:0]        given;
  } failed_t;
  failed_t [FailedDepth-1:0] failed;

  always_comb begin
    for (int unsigned f = 0; f < FailedDepth; f++) begin
      failed[f] = failed_t'(u_dut.u_failed.mem[4'((32'(u_dut.u_failed.raddr_q) + f) % FailedDepth)]);
    end
  end

  function automatic logic [31:0] size_index(logic [Sizes-1:0] given);
    size_index = '0;
    for (int unsigned k = 0; k < Sizes; k++) if (given[k]) size_index = k;
  endfunction

  function automatic logic [31:0] memory_of(logic [31:0] page);
    logic [31:0] base;
    memory_of = '0;
    base      = '0;
    for (int unsigned m = 0; m < Memories; m++) begin
      if (page >= base) memory_of = m;
      base += MemPages[m];
    end
  endfunction

  logic valid, leave, no_share, ok_q, want_q, pending_q, user, frame_ready, init_done, found;
  logic give_ok;                                         // it gets the page that was found, whose memory may be lost since
  logic any_old;                                         // the pools must offer a page to the frame that leaves
  logic [QueueIdWidth-1:0] queue_id;
  pst_pkg::len_t len;
  logic [Memories-1:0] memories;
  logic [DescWidth-1:0] page_q;
  logic [CountWidth-1:0] shown_free, shown_used, shown_reserved;

  logic [Memories-1:0] lost_q, lost;

  assign leave = valid && ready_i && (!pending_q || give_i);
  assign lost  = lost_q | (Loss ? falls_i : '0);
  assign found = memories != '0 && (!Loss || found_i || any_old);

  always_comb give_ok = ok_q && (!Loss || !lost[memory_of(32'(page_q))] || found_i);

  pst_page_admission #(
      .Queues(Queues), .Memories(Memories), .MemPages(MemPages), .MemPageBytes(MemPageBytes), .Classes(Classes)
  ) u_dut (
      .clk_i, .rst_i,
      .s_meta_valid_i(frame_valid_i), .s_meta_ready_o(frame_ready), .s_meta_queue_i(frame_queue_i), .s_meta_len_i(frame_len_i),
      .s_meta_user_i(1'b0),
      .m_meta_valid_o(valid), .m_meta_ready_i(ready_i && (!pending_q || give_i)), .m_meta_queue_o(queue_id), .m_meta_len_o(len),
      .m_meta_user_o(user), .m_meta_memories_o(memories), .m_meta_no_share_o(no_share),
      .given_valid_i(pending_q && give_i), .given_ok_i(give_ok), .given_desc_i(page_q),
      .free_valid_i, .free_desc_i, .lost_i(lost), .cfg_valid_i, .cfg_queue_i, .cfg_class_i,
      .s_look_valid_i(look_valid_i), .s_look_ready_o(), .s_look_queue_i(look_queue_i), .m_look_valid_o(), .m_look_class_o(),
      .share_valid_i, .share_class_i, .share_size_i, .share_alpha_i, .share_reserved_i,
      .shown_free_o(shown_free), .shown_used_o(shown_used), .shown_reserved_o(shown_reserved), .init_done_o(init_done)
  );

  // ---- each page -------------------------------------------------------------------------------------------------------

  logic [Descriptors-1:0] held_q;
  logic [Descriptors-1:0][QueueIdWidth-1:0] queue_q;
  logic [Descriptors-1:0][ClassWidth-1:0] class_q;
  logic [QueueIdWidth-1:0] pending_queue_q;
  logic [ClassWidth-1:0] pending_class_q;
  logic [31:0] pending_size_q;
  place_t [4:1] back_q;                                 // pages that came back one to four cycles ago
  logic [4:1][DescWidth-1:0] back_page_q;
  logic seen_q;
  initial seen_q = 1'b0;

  localparam pst_memory_pkg::pages_t Ranks = pst_memory_pkg::size_ranks(pst_memory_pkg::pages_t'(MemPageBytes), Memories);
  localparam pst_memory_pkg::pages_t SizePages =
      pst_memory_pkg::sum_by_size(pst_memory_pkg::pages_t'(MemPages), pst_memory_pkg::pages_t'(MemPageBytes), Memories);

  function automatic logic [31:0] size_of(logic [31:0] page);
    return Ranks[5'(memory_of(page))];
  endfunction

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    back_q[4:2] <= back_q[3:1];
    back_page_q <= {back_page_q[3:1], free_desc_i};
    back_q[1] <= '{valid: free_valid_i, failed: 1'b0, queue_id: queue_q[free_desc_i], cls: class_q[free_desc_i],
                   size: size_of(32'(free_desc_i))};
    if (u_dut.failed_take) begin
      back_q[1] <= '{valid: 1'b1, failed: 1'b1, queue_id: failed[0].queue_id, cls: failed[0].cls, size: size_index(failed[0].given)};
    end
    lost_q <= lost;
    if (free_valid_i) held_q[free_desc_i] <= 1'b0;
    if (pending_q && give_i) begin
      pending_q <= 1'b0;
      if (give_ok) begin
        held_q[page_q]  <= 1'b1;
        queue_q[page_q] <= pending_queue_q;
        class_q[page_q] <= pending_class_q;
      end
    end
    if (leave) begin
      pending_q       <= 1'b1;
      ok_q            <= found;
      want_q          <= memories != '0;
      pending_size_q  <= size_index(u_dut.first.given);
      page_q          <= page_i;
      pending_queue_q <= u_dut.first.queue_id;
      pending_class_q <= u_dut.first.cls;
    end
    if (rst_i) begin
      held_q    <= '0;
      pending_q <= 1'b0;
      back_q    <= '0;
      lost_q    <= '0;
    end
  end

  // Frames that are decided and not handed on, the oldest first.
  typedef struct packed {
    logic [QueueIdWidth-1:0] queue_id;
    logic [ClassWidth-1:0]   cls;
    pst_pkg::len_t           len;
    logic                    user;
    logic [Sizes-1:0]        given;
    logic                    no_share;
  } frame_t;
  frame_t [Depth-1:0] decided;

  always_comb begin
    for (int unsigned f = 0; f < Depth; f++) decided[f] = frame_t'(u_dut.u_decided.mem[3'(32'(u_dut.u_decided.raddr_q) + f)]);
  end

  // Where pages are: by class and size as the admission counts them, and by queue.
  logic [Classes-1:0][Sizes-1:0][4:0] counted;
  logic [Queues-1:0][4:0] of_queue;
  logic [Sizes-1:0][4:0] used_sum, lack_sum;
  logic [Descriptors-1:0] old;                          // free for so long that the pools must offer it
  logic [4:0] flying;
  // Pages of each memory that are in no queue, as the admission counts them: below 0 while one is given again on its way back.
  logic [Memories-1:0][4:0] home;
  logic [Sizes-1:0][4:0] promised, home_left, home_lost;  // to be given; at home in memories that answer, or not

  always_comb begin
    counted  = '0;
    of_queue = '0;
    used_sum = '0;
    lack_sum = '0;
    any_old  = 1'b0;
    home     = '0;
    promised = '0;
    home_left = '0;
    home_lost = '0;
    for (int unsigned d = 0; d < Descriptors; d++) begin
      if (held_q[d]) begin
        counted[class_q[d]][size_of(d)] += 1;
        of_queue[queue_q[d]] += 1;
      end
      old[d] = !held_q[d] && !(pending_q && ok_q && 32'(page_q) == d);
      for (int s = 1; s <= 4; s++) if (back_q[s].valid && !back_q[s].failed && 32'(back_page_q[s]) == d) old[d] = 1'b0;
      if (old[d] && memories[memory_of(d)] && !lost[memory_of(d)]) any_old = 1'b1;
      if (!held_q[d]) home[memory_of(d)] += 1;
    end
    if (pending_q && want_q) begin
      counted[pending_class_q][pending_size_q] += 1;
      of_queue[pending_queue_q] += 1;
      promised[pending_size_q] += 1;
    end
    for (int s = 1; s <= 4; s++) begin
      if (back_q[s].valid && s <= 3) counted[back_q[s].cls][back_q[s].size] += 1;
      if (back_q[s].valid && s <= 3 && back_q[s].failed) promised[back_q[s].size] += 1;
      if (back_q[s].valid && s <= 3 && !back_q[s].failed) home[memory_of(32'(back_page_q[s]))] -= 1;
      if (back_q[s].valid) of_queue[back_q[s].queue_id] += 1;
    end
    for (int unsigned f = 0; f < FailedDepth; f++) begin
      if (f < 32'(u_dut.u_failed.level_q)) begin
        counted[failed[f].cls][size_index(failed[f].given)] += 1;
        of_queue[failed[f].queue_id] += 1;
        promised[size_index(failed[f].given)] += 1;
      end
    end
    for (int unsigned m = 0; m < Memories; m++) begin
      if (lost_q[m]) home_lost[Ranks[5'(m)]] += home[m];
      else home_left[Ranks[5'(m)]] += home[m];
    end
    for (int unsigned f = 0; f < Depth; f++) begin
      if (f < 32'(u_dut.u_decided.level_q)) begin
        for (int unsigned k = 0; k < Sizes; k++) begin
          if (decided[f].given[k]) begin
            counted[decided[f].cls][k] += 1;
            promised[k] += 1;
            of_queue[decided[f].queue_id] += 1;
          end
        end
      end
    end
    for (int unsigned k = 0; k < Sizes; k++) begin
      for (int unsigned c = 0; c < Classes; c++) begin
        used_sum[k] += 5'(u_dut.used_q[c][k]);
        if (u_dut.reserved_q[c][k] > u_dut.used_q[c][k]) lack_sum[k] += 5'(u_dut.reserved_q[c][k] - u_dut.used_q[c][k]);
      end
    end
    flying = 5'(u_dut.valid_q[1]) + 5'(u_dut.valid_q[2]) + 5'(u_dut.valid_q[3]);
  end

  // What is free for the frame that leaves: a page that was counted in the cycle before need not be offered yet.
  logic signed [6:0] spare;
  logic [3:1][Memories-1:0] memory_of_back;
  always_comb begin
    spare = 7'($signed(u_dut.free_q[size_index(u_dut.first.given)]));
    if (back_q[4].valid && !back_q[4].failed && back_q[4].size == size_index(u_dut.first.given)) spare -= 1;
    for (int s = 1; s <= 3; s++) begin
      memory_of_back[s] = back_q[s].valid && !back_q[s].failed ? Memories'(1) << memory_of(32'(back_page_q[s])) : '0;
    end
  end

  // The word that a write-first RAM has under way for the address that it was asked for a cycle ago.
  logic [CountWidth-1:0] got1, freed3;
  assign got1   = u_dut.u_got.hit_q ? u_dut.u_got.new_q : u_dut.u_got.u_ram.rdata_q;
  assign freed3 = u_dut.u_freed.hit_q ? u_dut.u_freed.new_q : u_dut.u_freed.u_ram.rdata_q;

  // ---- assumptions and assertions ----------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      if (free_valid_i) m_free_is_held : assume (32'(free_desc_i) < Descriptors && held_q[free_desc_i]);
      if (share_valid_i) m_share_exists : assume (32'(share_size_i) < Sizes && 32'(share_class_i) < Classes);
      if (cfg_valid_i) m_class_exists : assume (32'(cfg_class_i) < Classes);
      if (leave && found) begin
        m_page_is_free :
        assume (32'(page_i) < Descriptors && !held_q[page_i] && !(pending_q && ok_q && page_q == page_i)
                && memories[memory_of(32'(page_i))] && !lost[memory_of(32'(page_i))]);
      end

      // what others rely on
      for (int unsigned k = 0; k < Sizes; k++) begin
        if (u_dut.valid_q[3] && u_dut.fits_q[k] && u_dut.used_q[u_dut.frame_q.cls][k] < u_dut.reserved_q[u_dut.frame_q.cls][k]) begin
          a_reserved_is_never_refused : assert (u_dut.admitted);
        end
      end
      if (leave && memories != '0 && lost == '0) a_page_is_there : assert (any_old);
      if (leave && memories != '0 && lost == lost_q && spare >= 0) a_page_is_there_after_a_loss : assert (any_old);
      for (int unsigned k = 0; k < Sizes; k++) begin
        for (int unsigned c = 0; c < Classes; c++) begin
          a_count_is_pages_held : assert (5'(u_dut.used_q[c][k]) == counted[c][k]);
          a_reserved_exist : assert (32'(u_dut.reserved_q[c][k]) <= SizePages[k]);
        end
        if (lost_q == '0) begin
          a_no_deficit : assert (u_dut.free_q[k] >= 0 && u_dut.shared_q[k] >= 0);
          a_free_are_the_others : assert (5'(u_dut.free_q[k]) + used_sum[k] == 5'(SizePages[k]));
        end
        a_free_are_those_left : assert (5'(u_dut.free_q[k]) + promised[k] == home_left[k]);
        a_reserved_pages_are_free : assert (5'(u_dut.shared_q[k]) + lack_sum[k] == 5'(u_dut.free_q[k]));
        a_deficit_is_what_was_lost : assert ($signed(5'(u_dut.shared_q[k])) + $signed(home_lost[k]) >= 0);
      end
      for (int unsigned m = 0; m < Memories; m++) a_home : assert (5'(u_dut.home_q[m]) == home[m]);
      a_lost : assert (u_dut.lost_q == lost_q && (Loss || lost_q == '0));
      for (int unsigned q = 0; q < Queues; q++) begin
        if (!u_dut.init || q < 32'(u_dut.init_queue)) begin
          a_queue_count : assert (CountWidth'(u_dut.u_got.u_ram.mem[q] - u_dut.u_freed.u_ram.mem[q]) == CountWidth'(of_queue[q]));
          a_both_copies : assert (u_dut.u_gave.u_ram.mem[q] == u_dut.u_freed.u_ram.mem[q]);
        end
      end

      // what the induction needs
      if (u_dut.init) begin
        a_nothing_before_init :
        assert (u_dut.valid_q == '0 && held_q == '0 && !pending_q && u_dut.u_decided.level_q == '0 && u_dut.back_valid_q == '0
                && u_dut.u_failed.level_q == '0);
      end
      a_init_in_range : assert (32'(u_dut.init_queue) < Queues || !u_dut.init);
      a_inside : assert (5'(u_dut.inside_q) == flying + 5'(u_dut.u_decided.level_q) && 32'(u_dut.inside_q) <= Depth);
      a_fifo : assert (u_dut.u_decided.waddr_q == 3'(32'(u_dut.u_decided.raddr_q) + 32'(u_dut.u_decided.level_q))
                       && u_dut.u_decided.valid_q == (u_dut.u_decided.level_q != '0));
      a_asked : assert (!pending_q || (u_dut.asked_given_q == want_q && u_dut.asked_owner.queue_id == pending_queue_q
                                       && u_dut.asked_owner.cls == pending_class_q && 32'(pending_class_q) < Classes));
      if (pending_q && want_q) a_asked_size : assert (pending_size_q < Sizes && u_dut.asked_size == Sizes'(1) << pending_size_q);
      if (pending_q && ok_q) begin
        a_pending_is_not_held : assert (want_q && 32'(page_q) < Descriptors && !held_q[page_q] && size_of(32'(page_q)) == pending_size_q);
      end
      a_failed : assert (32'(u_dut.u_failed.level_q) <= FailedDepth && 32'(u_dut.u_failed.raddr_q) < FailedDepth
                         && 32'(u_dut.u_failed.waddr_q) == (32'(u_dut.u_failed.raddr_q) + 32'(u_dut.u_failed.level_q)) % FailedDepth
                         && u_dut.u_failed.valid_q == (u_dut.u_failed.level_q != '0));
      a_nine_at_most : assert (5'(u_dut.u_failed.level_q) + 5'(u_dut.inside_q) + 5'(pending_q) <= 5'(Depth + 1));
      for (int unsigned f = 0; f < FailedDepth; f++) begin
        if (f < 32'(u_dut.u_failed.level_q)) a_failed_frame : assert ($onehot(failed[f].given) && 32'(failed[f].cls) < Classes);
      end
      for (int unsigned f = 0; f < Depth; f++) begin
        if (f < 32'(u_dut.u_decided.level_q)) a_one_size : assert ($onehot0(decided[f].given) && 32'(decided[f].cls) < Classes);
      end
      for (int unsigned d = 0; d < Descriptors; d++) begin
        if (held_q[d]) a_owner : assert (u_dut.u_owner.mem[d] == {queue_q[d], class_q[d]} && 32'(class_q[d]) < Classes);
      end
      for (int s = 1; s <= 4; s++) begin
        a_back_valid : assert (u_dut.back_valid_q[s] == back_q[s].valid);
        if (back_q[s].valid) begin
          a_back_class : assert (32'(back_q[s].cls) < Classes && back_q[s].size < Sizes);
          if (!back_q[s].failed) begin
            a_back_page : assert (32'(back_page_q[s]) < Descriptors && back_q[s].size == size_of(32'(back_page_q[s])));
          end
        end
      end
      for (int s = 1; s <= 3; s++) a_back_failed : assert (u_dut.back_failed_q[s] == (back_q[s].valid && back_q[s].failed));
      if (back_q[1].valid) begin
        a_back1_memory : assert (u_dut.back1_memory_q == memory_of_back[1]);
        a_back1 : assert ((back_q[1].failed ? u_dut.failed1_owner_q : u_dut.u_owner.rdata_q) == {back_q[1].queue_id, back_q[1].cls}
                          && u_dut.back1_size_q == Sizes'(1) << back_q[1].size);
      end
      if (back_q[2].valid) begin
        a_back2_memory : assert (u_dut.back2_memory_q == memory_of_back[2]);
        a_back2 : assert (u_dut.owner == {back_q[2].queue_id, back_q[2].cls} && u_dut.back2_size_q == Sizes'(1) << back_q[2].size);
      end
      a_back3_memory : assert (u_dut.back_memory_q == memory_of_back[3]);
      a_back3_size : assert (u_dut.back_size_q == (back_q[3].valid ? Sizes'(1) << back_q[3].size : '0));
      if (back_q[3].valid) begin
        a_back3 : assert (u_dut.back_class_q == back_q[3].cls && u_dut.back3_queue_q == back_q[3].queue_id
                          && u_dut.u_freed.raddr_q == back_q[3].queue_id && freed3 == u_dut.u_freed.u_ram.mem[back_q[3].queue_id]);
      end
      if (back_q[4].valid) begin
        a_back4 : assert (u_dut.back4_queue_q == back_q[4].queue_id && u_dut.freed == u_dut.u_freed.u_ram.mem[back_q[4].queue_id]);
        if (lost_q == '0) a_last_back_is_free : assert (u_dut.free_q[back_q[4].size] != '0);
      end
      if (u_dut.valid_q[1]) a_got1 : assert (u_dut.u_got.raddr_q == u_dut.queue1_q && got1 == u_dut.u_got.u_ram.mem[u_dut.queue1_q]);
      if (u_dut.valid_q[2]) a_got2 : assert (u_dut.got == u_dut.u_got.u_ram.mem[u_dut.queue2_q]);
      if (u_dut.valid_q[3]) begin
        a_got3 : assert (CountWidth'(u_dut.got_q + CountWidth'(u_dut.again)) == u_dut.u_got.u_ram.mem[u_dut.frame_q.queue_id]);
        a_class3 : assert (32'(u_dut.frame_q.cls) < Classes);
      end
      if (!Loss) a_all_get_a_page : assert (u_dut.u_failed.level_q == '0 && u_dut.back_failed_q == '0 && (!pending_q || ok_q == want_q));
      // A page is given again two cycles after it came back at the earliest, so it is on its way once, but for the last cycle.
      for (int s = 1; s <= 3; s++) begin
        if (back_q[s].valid && !back_q[s].failed) begin
          if (s <= 2) a_back_is_not_held : assert (!held_q[back_page_q[s]]);
          if (s == 1) a_back_is_not_pending : assert (!pending_q || !ok_q || page_q != back_page_q[s]);
          for (int t = 1; t < s; t++) begin
            if (back_q[t].valid && !back_q[t].failed) a_back_once : assert (back_page_q[t] != back_page_q[s]);
          end
        end
      end
      a_walk : assert (32'(u_dut.walk_class_q) < Classes && 32'(u_dut.walk_size_q) < Sizes);

      // useful work is possible
      c_all_out : cover (&held_q);
      c_refused : cover (u_dut.valid_q[3] && !u_dut.admitted && u_dut.frame.no_share);
      c_grown : cover (u_dut.walk_takes);
      if (Loss) begin
        c_failed : cover (u_dut.failed_take && !lost[0]);
        c_served_after_a_loss : cover (lost_q != '0 && u_dut.size != '0 && !u_dut.below[0]);
      end
      c_both : cover ((u_dut.size & u_dut.back_size_q) != '0);
    end
  end

endmodule
