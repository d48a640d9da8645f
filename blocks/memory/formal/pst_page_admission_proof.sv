// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_page_admission: a class below its reservation is never refused, a frame that may have a page finds one that the pools
// must offer, and all counts are those of the pages held, whatever frames, settings and freed pages come. No memory is lost here; what
// becomes of the counts then, test_pst_page_admission.py compares with a book of the pages.
//
// The bench stands for the pools: it gives any free page of the memories that may, and owes one as soon as one has been free for five cycles
// (what pst_page_allocator.sby proves of the allocators). It follows each page: held, or on its way back in one of four stages.
module pst_page_admission_proof #(
    parameter int unsigned Memories = 2,
    parameter logic [Memories-1:0][31:0] MemPages = {Memories{32'd2}},
    parameter logic [Memories-1:0][31:0] MemPageBytes = {Memories{32'd64}},
    parameter int unsigned Classes = 2,
    parameter int unsigned Queues = 2,
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
    input logic [DescWidth-1:0]           page_i,
    input logic                           free_valid_i,
    input logic [DescWidth-1:0]           free_desc_i,
    input logic                           cfg_valid_i,
    input logic [QueueIdWidth-1:0]        cfg_queue_i,
    input logic [ClassWidth-1:0]          cfg_class_i,
    input logic                           share_valid_i,
    input logic [ClassWidth-1:0]          share_class_i,
    input logic [SizeWidth-1:0]           share_size_i,
    input logic [pst_pkg::AlphaWidth-1:0] share_alpha_i,
    input logic [CountWidth-1:0]          share_reserved_i
);

  localparam int unsigned Depth = 8;

  typedef struct packed {
    logic                    valid;
    logic [QueueIdWidth-1:0] queue_id;
    logic [ClassWidth-1:0]   cls;
    logic [31:0]             size;
  } place_t;

  logic valid, leave, no_share, ok_q, pending_q, user, frame_ready, init_done;
  logic [QueueIdWidth-1:0] queue_id;
  pst_pkg::len_t len;
  logic [Memories-1:0] memories;
  logic [DescWidth-1:0] page_q;
  logic [CountWidth-1:0] shown_free, shown_used, shown_reserved;

  assign leave = valid && ready_i && (!pending_q || give_i);

  pst_page_admission #(
      .Queues(Queues), .Memories(Memories), .MemPages(MemPages), .MemPageBytes(MemPageBytes), .Classes(Classes)
  ) u_dut (
      .clk_i, .rst_i,
      .s_meta_valid_i(frame_valid_i), .s_meta_ready_o(frame_ready), .s_meta_queue_i(frame_queue_i), .s_meta_len_i(frame_len_i),
      .s_meta_user_i(1'b0),
      .m_meta_valid_o(valid), .m_meta_ready_i(ready_i && (!pending_q || give_i)), .m_meta_queue_o(queue_id), .m_meta_len_o(len),
      .m_meta_user_o(user), .m_meta_memories_o(memories), .m_meta_no_share_o(no_share),
      .given_valid_i(pending_q && give_i), .given_ok_i(ok_q), .given_desc_i(page_q),
      .free_valid_i, .free_desc_i, .lost_i('0), .cfg_valid_i, .cfg_queue_i, .cfg_class_i,
      .share_valid_i, .share_class_i, .share_size_i, .share_alpha_i, .share_reserved_i,
      .shown_free_o(shown_free), .shown_used_o(shown_used), .shown_reserved_o(shown_reserved), .init_done_o(init_done)
  );

  // ---- each page -------------------------------------------------------------------------------------------------------

  logic [Descriptors-1:0] held_q;
  logic [Descriptors-1:0][QueueIdWidth-1:0] queue_q;
  logic [Descriptors-1:0][ClassWidth-1:0] class_q;
  logic [QueueIdWidth-1:0] pending_queue_q;
  logic [ClassWidth-1:0] pending_class_q;
  place_t [4:1] back_q;                                 // pages that came back one to four cycles ago
  logic [4:1][DescWidth-1:0] back_page_q;
  logic seen_q;
  initial seen_q = 1'b0;

  localparam pst_memory_pkg::pages_t Ranks = pst_memory_pkg::size_ranks(pst_memory_pkg::pages_t'(MemPageBytes), Memories);
  localparam pst_memory_pkg::pages_t SizePages =
      pst_memory_pkg::sum_by_size(pst_memory_pkg::pages_t'(MemPages), pst_memory_pkg::pages_t'(MemPageBytes), Memories);

  function automatic logic [31:0] memory_of(logic [31:0] page);
    logic [31:0] base;
    memory_of = '0;
    base      = '0;
    for (int unsigned m = 0; m < Memories; m++) begin
      if (page >= base) memory_of = m;
      base += MemPages[m];
    end
  endfunction
  function automatic logic [31:0] size_of(logic [31:0] page);
    return Ranks[5'(memory_of(page))];
  endfunction

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    back_q[4:2] <= back_q[3:1];
    back_page_q <= {back_page_q[3:1], free_desc_i};
    back_q[1] <= '{valid: free_valid_i, queue_id: queue_q[free_desc_i], cls: class_q[free_desc_i], size: size_of(32'(free_desc_i))};
    if (free_valid_i) held_q[free_desc_i] <= 1'b0;
    if (pending_q && give_i) begin
      pending_q <= 1'b0;
      if (ok_q) begin
        held_q[page_q]  <= 1'b1;
        queue_q[page_q] <= pending_queue_q;
        class_q[page_q] <= pending_class_q;
      end
    end
    if (leave) begin
      pending_q       <= 1'b1;
      ok_q            <= memories != '0;
      page_q          <= page_i;
      pending_queue_q <= u_dut.first.queue_id;
      pending_class_q <= u_dut.first.cls;
    end
    if (rst_i) begin
      held_q    <= '0;
      pending_q <= 1'b0;
      back_q    <= '0;
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
  logic any_old;

  always_comb begin
    counted  = '0;
    of_queue = '0;
    used_sum = '0;
    lack_sum = '0;
    any_old  = 1'b0;
    for (int unsigned d = 0; d < Descriptors; d++) begin
      if (held_q[d]) begin
        counted[class_q[d]][size_of(d)] += 1;
        of_queue[queue_q[d]] += 1;
      end
      old[d] = !held_q[d] && !(pending_q && ok_q && 32'(page_q) == d);
      for (int s = 1; s <= 4; s++) if (back_q[s].valid && 32'(back_page_q[s]) == d) old[d] = 1'b0;
      if (old[d] && memories[memory_of(d)]) any_old = 1'b1;
    end
    if (pending_q && ok_q) begin
      counted[pending_class_q][size_of(32'(page_q))] += 1;
      of_queue[pending_queue_q] += 1;
    end
    for (int s = 1; s <= 4; s++) begin
      if (back_q[s].valid && s <= 3) counted[back_q[s].cls][back_q[s].size] += 1;
      if (back_q[s].valid) of_queue[back_q[s].queue_id] += 1;
    end
    for (int unsigned f = 0; f < Depth; f++) begin
      if (f < 32'(u_dut.u_decided.level_q)) begin
        for (int unsigned k = 0; k < Sizes; k++) begin
          if (decided[f].given[k]) begin
            counted[decided[f].cls][k] += 1;
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
      if (leave && memories != '0) begin
        m_page_is_free :
        assume (32'(page_i) < Descriptors && !held_q[page_i] && !(pending_q && ok_q && page_q == page_i)
                && memories[memory_of(32'(page_i))]);
      end

      // what others rely on
      for (int unsigned k = 0; k < Sizes; k++) begin
        if (u_dut.valid_q[3] && u_dut.fits_q[k] && u_dut.used_q[u_dut.frame_q.cls][k] < u_dut.reserved_q[u_dut.frame_q.cls][k]) begin
          a_reserved_is_never_refused : assert (u_dut.admitted);
        end
      end
      if (leave && memories != '0) a_page_is_there : assert (any_old);
      for (int unsigned k = 0; k < Sizes; k++) begin
        for (int unsigned c = 0; c < Classes; c++) begin
          a_count_is_pages_held : assert (5'(u_dut.used_q[c][k]) == counted[c][k]);
          a_reserved_exist : assert (32'(u_dut.reserved_q[c][k]) <= SizePages[k]);
        end
        a_no_deficit : assert (u_dut.free_q[k] >= 0 && u_dut.shared_q[k] >= 0);
        a_free_are_the_others : assert (5'(u_dut.free_q[k]) + used_sum[k] == 5'(SizePages[k]));
        a_reserved_pages_are_free : assert (5'(u_dut.shared_q[k]) + lack_sum[k] == 5'(u_dut.free_q[k]));
      end
      for (int unsigned q = 0; q < Queues; q++) begin
        if (!u_dut.init || q < 32'(u_dut.init_queue)) begin
          a_queue_count : assert (CountWidth'(u_dut.u_got.u_ram.mem[q] - u_dut.u_freed.u_ram.mem[q]) == CountWidth'(of_queue[q]));
          a_both_copies : assert (u_dut.u_gave.u_ram.mem[q] == u_dut.u_freed.u_ram.mem[q]);
        end
      end

      // what the induction needs
      if (u_dut.init) begin
        a_nothing_before_init :
        assert (u_dut.valid_q == '0 && held_q == '0 && !pending_q && u_dut.u_decided.level_q == '0 && u_dut.back_valid_q == '0);
      end
      a_init_in_range : assert (32'(u_dut.init_queue) < Queues || !u_dut.init);
      a_inside : assert (5'(u_dut.inside_q) == flying + 5'(u_dut.u_decided.level_q) && 32'(u_dut.inside_q) <= Depth);
      a_fifo : assert (u_dut.u_decided.waddr_q == 3'(32'(u_dut.u_decided.raddr_q) + 32'(u_dut.u_decided.level_q))
                       && u_dut.u_decided.valid_q == (u_dut.u_decided.level_q != '0));
      a_asked : assert (!pending_q || (u_dut.asked_given_q == ok_q && u_dut.asked_owner.queue_id == pending_queue_q
                                       && u_dut.asked_owner.cls == pending_class_q && 32'(pending_class_q) < Classes));
      if (pending_q && ok_q) a_pending_is_not_held : assert (32'(page_q) < Descriptors && !held_q[page_q]);
      for (int unsigned f = 0; f < Depth; f++) begin
        if (f < 32'(u_dut.u_decided.level_q)) a_one_size : assert ($onehot0(decided[f].given) && 32'(decided[f].cls) < Classes);
      end
      for (int unsigned d = 0; d < Descriptors; d++) begin
        if (held_q[d]) a_owner : assert (u_dut.u_owner.mem[d] == {queue_q[d], class_q[d]} && 32'(class_q[d]) < Classes);
      end
      for (int s = 1; s <= 4; s++) begin
        a_back_valid : assert (u_dut.back_valid_q[s] == back_q[s].valid);
        if (back_q[s].valid) begin
          a_back_page : assert (32'(back_page_q[s]) < Descriptors && back_q[s].size == size_of(32'(back_page_q[s]))
                                && 32'(back_q[s].cls) < Classes);
        end
      end
      if (back_q[1].valid) begin
        a_back1 : assert (u_dut.u_owner.rdata_q == {back_q[1].queue_id, back_q[1].cls}
                          && u_dut.back1_size_q == Sizes'(1) << back_q[1].size);
      end
      if (back_q[2].valid) begin
        a_back2 : assert (u_dut.owner == {back_q[2].queue_id, back_q[2].cls} && u_dut.back2_size_q == Sizes'(1) << back_q[2].size);
      end
      a_back3_size : assert (u_dut.back_size_q == (back_q[3].valid ? Sizes'(1) << back_q[3].size : '0));
      if (back_q[3].valid) begin
        a_back3 : assert (u_dut.back_class_q == back_q[3].cls && u_dut.back3_queue_q == back_q[3].queue_id
                          && u_dut.u_freed.raddr_q == back_q[3].queue_id && freed3 == u_dut.u_freed.u_ram.mem[back_q[3].queue_id]);
      end
      if (back_q[4].valid) begin
        a_back4 : assert (u_dut.back4_queue_q == back_q[4].queue_id && u_dut.freed == u_dut.u_freed.u_ram.mem[back_q[4].queue_id]);
        a_last_back_is_free : assert (u_dut.free_q[back_q[4].size] != '0);
      end
      if (u_dut.valid_q[1]) a_got1 : assert (u_dut.u_got.raddr_q == u_dut.queue1_q && got1 == u_dut.u_got.u_ram.mem[u_dut.queue1_q]);
      if (u_dut.valid_q[2]) a_got2 : assert (u_dut.got == u_dut.u_got.u_ram.mem[u_dut.queue2_q]);
      if (u_dut.valid_q[3]) begin
        a_got3 : assert (CountWidth'(u_dut.got_q + CountWidth'(u_dut.again)) == u_dut.u_got.u_ram.mem[u_dut.frame_q.queue_id]);
        a_class3 : assert (32'(u_dut.frame_q.cls) < Classes);
      end
      a_all_get_a_page : assert (u_dut.u_failed.level_q == '0 && !u_dut.u_failed.valid_q && u_dut.back_failed_q == '0);
      a_walk : assert (32'(u_dut.walk_class_q) < Classes && 32'(u_dut.walk_size_q) < Sizes);

      // useful work is possible
      c_all_out : cover (&held_q);
      c_refused : cover (u_dut.valid_q[3] && !u_dut.admitted && u_dut.frame.no_share);
      c_grown : cover (u_dut.walk_takes);
      c_both : cover ((u_dut.size & u_dut.back_size_q) != '0);
    end
  end

endmodule
