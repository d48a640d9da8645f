// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Decides for each frame whether its queue may take a page, and of which size, so that no queue starves the others of memory.
//
// Each class has reserved pages of each page size. A frame gets a page of the smallest size that holds it and that it may have:
//   - while its class holds fewer pages of that size than are reserved for it, always;
//   - else when a page of that size is free that is not reserved, and its queue holds fewer pages (of all sizes) than alpha times the
//     pages that are free, not reserved and large enough (dynamic thresholds: A. K. Choudhury and E. L. Hahne, 1998).
// A page counts for its queue and class from the decision until the pools offer it again. A reservation that is raised grows as pages come
// free, so what is reserved is always there: a frame that may have a page gets one.
//
// The pages of a memory that is lost are gone: those that are free at once, the others when they come back. With them every reservation of
// that page size falls to what its class holds, and grows again from what is left. Frames that were decided before, at most Depth and one,
// may find no page then; their pages are revoked and accounted before the next decision.
//
// Throughput: one frame and one freed page per cycle. Latency: 4 cycles. Ordering: in order.
// Reset:      no page is held, every class has its default reservation and alpha; `Queues` cycles, then init_done_o rises. The pools have to
//             be reset with it.
module pst_page_admission
  import pst_memory_pkg::pages_t;
  import pst_pkg::len_t, pst_pkg::AlphaWidth;
#(
    parameter int unsigned                 Queues       = 64,                          // >= 2
    parameter int unsigned                 Memories     = 1,                           // 1..32
    parameter logic [Memories-1:0][31:0]   MemPages     = {Memories{32'd1024}},        // pages in each memory, >= 1
    parameter logic [Memories-1:0][31:0]   MemPageBytes = {Memories{32'd2048}},        // page size, multiple of 64
    parameter int unsigned                 Classes      = 4,                           // 1..8
    parameter string                       QueueRamStyle = "auto",                     // per-queue memories, see pst_ram_1r1w
    parameter string                       DescRamStyle = "auto",                      // per-descriptor memory
    localparam int unsigned Descriptors  = pst_memory_pkg::desc_base(pages_t'(MemPages), Memories),
    localparam int unsigned DescWidth    = Descriptors > 1 ? $clog2(Descriptors) : 1,
    localparam int unsigned CountWidth   = $clog2(Descriptors + 1),
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned Sizes        = pst_memory_pkg::page_sizes(pages_t'(MemPageBytes), Memories),
    localparam int unsigned SizeWidth    = Sizes > 1 ? $clog2(Sizes) : 1,
    localparam int unsigned ClassWidth   = Classes > 1 ? $clog2(Classes) : 1
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // frames: queue, length, and a bit that goes along
    input  logic                    s_meta_valid_i,
    output logic                    s_meta_ready_o,
    input  logic [QueueIdWidth-1:0] s_meta_queue_i,
    input  len_t                    s_meta_len_i,
    input  logic                    s_meta_user_i,
    // the same, with the memories that may give a page; none: refused, and whether there was a page that this frame may not have
    output logic                    m_meta_valid_o,
    input  logic                    m_meta_ready_i,
    output logic [QueueIdWidth-1:0] m_meta_queue_o,
    output len_t                    m_meta_len_o,
    output logic                    m_meta_user_o,
    output logic [Memories-1:0]     m_meta_memories_o,
    output logic                    m_meta_no_share_o,
    // the pools' grants, one for each frame of m_meta, before the next one is taken
    input  logic                    given_valid_i,
    input  logic                    given_ok_i,
    input  logic [DescWidth-1:0]    given_desc_i,
    // a page goes back to the pools
    input  logic                    free_valid_i,
    input  logic [DescWidth-1:0]    free_desc_i,
    // memories that are lost, until reset: the pools are asked for none of their pages from this cycle on
    input  logic [Memories-1:0]     lost_i,
    // class of a queue
    input  logic                    cfg_valid_i,
    input  logic [QueueIdWidth-1:0] cfg_queue_i,
    input  logic [ClassWidth-1:0]   cfg_class_i,
    // look at a queue's class: waits for a cycle in which no frame comes, answered 2 cycles later
    input  logic                    s_look_valid_i,
    output logic                    s_look_ready_o,
    input  logic [QueueIdWidth-1:0] s_look_queue_i,
    output logic                    m_look_valid_o,
    output logic [ClassWidth-1:0]   m_look_class_o,
    // of a class: alpha, which is 2^(n - 4), and its reserved pages of one size (0: the smallest)
    input  logic                    share_valid_i,
    input  logic [ClassWidth-1:0]   share_class_i,
    input  logic [SizeWidth-1:0]    share_size_i,
    input  logic [AlphaWidth-1:0]   share_alpha_i,
    input  logic [CountWidth-1:0]   share_reserved_i,
    // pages of share_size_i that are free, those that share_class_i holds, and has reserved by now; of the cycle before
    output logic [CountWidth-1:0]   shown_free_o,
    output logic [CountWidth-1:0]   shown_used_o,
    output logic [CountWidth-1:0]   shown_reserved_o,
    output logic                    init_done_o
);

  localparam int unsigned Depth = 8;                       // frames inside
  localparam int unsigned ReserveShift = 3;                // after reset 1/8 of the pages of each size are reserved
  localparam int unsigned One = 1 << (AlphaWidth - 2);     // alpha = 2^(n - One): from 1/16 to 2,048
  localparam int unsigned DefaultAlpha = One + 3;          // 8: a queue alone may have 8/9 of what is not reserved

  if (Queues < 2 || Classes < 1 || Classes > 8) begin : g_bad_size
    $error("pst_page_admission: Queues is %0d (at least 2), Classes is %0d (1 to 8)", Queues, Classes);
  end

  typedef logic [QueueIdWidth-1:0] queue_id_t;
  typedef logic [CountWidth-1:0] count_t;
  typedef logic signed [CountWidth:0] balance_t;           // less than 0 for a while when a memory is lost
  typedef logic [ClassWidth-1:0] cls_t;
  typedef logic [AlphaWidth-1:0] alpha_t;
  typedef logic [Sizes-1:0] sizes_t;
  typedef logic [CountWidth+One:0] scaled_t;               // of one more than there are

  typedef struct packed {
    queue_id_t queue_id;
    cls_t      cls;
    len_t      len;
    logic      user;
    sizes_t    given;      // the size of its page; none: refused
    logic      no_share;
  } frame_t;

  typedef struct packed {
    queue_id_t queue_id;
    cls_t      cls;
  } owner_t;

  // Of each memory the rank of its page size; by rank the size and the pages of all memories.
  localparam pages_t Ranks     = pst_memory_pkg::size_ranks(pages_t'(MemPageBytes), Memories);
  localparam pages_t SizeBytes = pst_memory_pkg::bytes_by_size(pages_t'(MemPageBytes), Memories);
  localparam pages_t SizePages = pst_memory_pkg::sum_by_size(pages_t'(MemPages), pages_t'(MemPageBytes), Memories);

  // Pages reserved for a class after reset.
  function automatic count_t default_reserved(int unsigned size);
    return count_t'((SizePages[size] >> ReserveShift) / Classes);
  endfunction

  // ---- clearing -------------------------------------------------------------------------------------------------------

  logic init;
  queue_id_t init_queue;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_queue));

  assign init_done_o = !init;

  // ---- pages that come back: whose, their count by queue, and (in stage 3) by class ------------------------------------

  frame_t first;                                              // what is handed on
  logic [4:1] back_valid_q;
  sizes_t free_size, back1_size_q, back2_size_q, back_size_q;
  owner_t owner, stored_owner, asked_owner, failed1_owner_q, failed2_owner_q;
  sizes_t asked_size;
  logic [3:1] back_failed_q;                                  // not a page that comes back: a frame that was to have one and got none
  cls_t back_class_q;
  queue_id_t back3_queue_q, back4_queue_q;
  count_t freed;
  logic given;

  logic [Memories-1:0] free_memory, given_memory, back1_memory_q, back2_memory_q, back_memory_q, lost_q;
  logic failed, failed_valid, failed_take, unused_failed_ready, asked_given_q;
  logic [$clog2(Depth+3)-1:0] unused_failed_level;
  owner_t failed_owner;
  sizes_t failed_size;

  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    localparam int unsigned Base = pst_memory_pkg::desc_base(pages_t'(MemPages), m);
    logic [31:0] free_page, given_page;  // wrap below Base to a number that no memory has pages for
    assign free_page            = 32'(free_desc_i) - Base;
    assign given_page           = 32'(given_desc_i) - Base;
    assign given_memory[m]      = given && given_page < MemPages[m];
    assign free_memory[m]       = free_page < MemPages[m];
    assign m_meta_memories_o[m] = first.given[Ranks[m]];
  end

  always_comb begin
    free_size = '0;
    for (int unsigned m = 0; m < Memories; m++) if (free_memory[m]) free_size[Ranks[m]] = 1'b1;
  end

  pst_ram_1r1w #(
      .Width($bits(owner_t)), .Depth(Descriptors), .ReadLatency(2), .Style(DescRamStyle)
  ) u_owner (
      .clk_i,
      .we_i(given), .waddr_i(given_desc_i), .wdata_i(asked_owner),
      .re_i(1'b1), .raddr_i(free_desc_i), .rdata_o(stored_owner)
  );

  // Frames that got no page wait for a cycle in which no page comes back, and then go the same way.
  assign failed      = given_valid_i && !given_ok_i && asked_given_q;
  assign failed_take = failed_valid && !free_valid_i;

  pst_fifo #(
      .Width($bits(owner_t) + Sizes), .Depth(Depth + 2)
  ) u_failed (
      .clk_i, .rst_i,
      .s_valid_i(failed), .s_ready_o(unused_failed_ready), .s_data_i({asked_owner, asked_size}),
      .m_valid_o(failed_valid), .m_ready_i(failed_take), .m_data_o({failed_owner, failed_size}),
      .level_o(unused_failed_level)
  );

  assign owner = back_failed_q[2] ? failed2_owner_q : stored_owner;

  always_ff @(posedge clk_i) begin
    back_valid_q    <= {back_valid_q[3:1], free_valid_i || failed_take};
    back_failed_q   <= {back_failed_q[2:1], failed_take};
    failed1_owner_q <= failed_owner;
    failed2_owner_q <= failed1_owner_q;
    back1_size_q    <= failed_take ? failed_size : free_size;
    back1_memory_q  <= failed_take ? '0 : free_memory;
    back2_memory_q  <= back1_memory_q;
    back_memory_q   <= back_valid_q[2] ? back2_memory_q : '0;
    lost_q          <= lost_i;
    back2_size_q    <= back1_size_q;
    back_size_q   <= back_valid_q[2] ? back2_size_q : '0;
    back_class_q  <= owner.cls;
    back3_queue_q <= owner.queue_id;
    back4_queue_q <= back3_queue_q;
    if (rst_i) begin
      back_valid_q  <= '0;
      back_failed_q <= '0;
      back_size_q   <= '0;
      back_memory_q <= '0;
      lost_q        <= '0;
    end
  end

  // Pages that each queue got and gave back, each counter with one writer: their difference is what it holds. The second one is there twice.
  pst_ram_write_first #(
      .Width(CountWidth), .Depth(Queues), .Late(1'b1), .Style(QueueRamStyle)
  ) u_freed (
      .clk_i,
      .we_i(init || back_valid_q[4]), .waddr_i(init ? init_queue : back4_queue_q), .wdata_i(init ? '0 : freed + 1'b1),
      .re_i(1'b1), .raddr_i(owner.queue_id), .rdata_o(freed)
  );

  // ---- frames: settings and counts of the queue are read ---------------------------------------------------------------

  logic [3:1] valid_q;
  logic [$clog2(Depth+1)-1:0] inside_q;
  queue_id_t queue1_q, queue2_q;
  len_t len1_q, len2_q;
  logic user1_q, user2_q, same_q, take, leave;
  sizes_t fits1, fits2_q, fits_q;
  cls_t cls;
  count_t got, gave, held, got_q, new_got;
  scaled_t held_q, held_next_q;
  frame_t frame_q, frame;
  logic admitted, admitted_q;
  alpha_t [Classes-1:0] alpha_q;

  assign s_meta_ready_o = !init && !failed_valid && inside_q != ($clog2(Depth + 1))'(Depth);
  assign take           = s_meta_valid_i && s_meta_ready_o;

  pst_ram_write_first #(
      .Width(ClassWidth), .Depth(Queues), .Style(QueueRamStyle)
  ) u_class (
      .clk_i,
      .we_i(init || cfg_valid_i), .waddr_i(init ? init_queue : cfg_queue_i), .wdata_i(init ? '0 : cfg_class_i),
      .re_i(1'b1), .raddr_i(take ? s_meta_queue_i : s_look_queue_i), .rdata_o(cls)
  );

  logic [2:1] look_q;

  always_ff @(posedge clk_i) look_q <= rst_i ? '0 : {look_q[1], s_look_valid_i && s_look_ready_o};

  assign s_look_ready_o = !take && !init;
  assign m_look_valid_o = look_q[2];
  assign m_look_class_o = cls;

  pst_ram_write_first #(
      .Width(CountWidth), .Depth(Queues), .Late(1'b1), .Style(QueueRamStyle)
  ) u_got (
      .clk_i,
      .we_i(init || admitted), .waddr_i(init ? init_queue : frame_q.queue_id), .wdata_i(init ? '0 : new_got),
      .re_i(1'b1), .raddr_i(s_meta_queue_i), .rdata_o(got)
  );

  pst_ram_write_first #(
      .Width(CountWidth), .Depth(Queues), .Late(1'b1), .Style(QueueRamStyle)
  ) u_gave (
      .clk_i,
      .we_i(init || back_valid_q[4]), .waddr_i(init ? init_queue : back4_queue_q), .wdata_i(init ? '0 : freed + 1'b1),
      .re_i(1'b1), .raddr_i(s_meta_queue_i), .rdata_o(gave)
  );

  always_comb begin
    for (int unsigned k = 0; k < Sizes; k++) fits1[k] = 32'(len1_q) <= SizeBytes[k];
  end

  assign held = got - gave;

  // "held < alpha * free" is asked as "held / alpha < free", as held is known a cycle earlier; held / alpha is cut, which changes nothing.
  always_ff @(posedge clk_i) begin
    valid_q     <= {valid_q[2:1], take};
    queue1_q    <= s_meta_queue_i;
    queue2_q    <= queue1_q;
    len1_q      <= s_meta_len_i;
    len2_q      <= len1_q;
    user1_q     <= s_meta_user_i;
    user2_q     <= user1_q;
    fits2_q     <= fits1;
    fits_q      <= fits2_q;
    got_q       <= got;
    held_q      <= {1'b0, held, One'(0)} >> alpha_q[cls];
    held_next_q <= {{1'b0, held} + 1'b1, One'(0)} >> alpha_q[cls];
    same_q      <= queue2_q == frame_q.queue_id;
    frame_q     <= '{queue_id: queue2_q, cls: cls, len: len2_q, user: user2_q, given: '0, no_share: 1'b0};
    admitted_q  <= admitted;
    inside_q    <= inside_q + ($bits(inside_q))'(take) - ($bits(inside_q))'(leave);
    if (rst_i) begin
      valid_q    <= '0;
      admitted_q <= 1'b0;
      inside_q   <= '0;
    end
  end

  // ---- the decision (stage 3) ------------------------------------------------------------------------------------------

  balance_t [Sizes-1:0] free_q, free_d, shared_q, shared_d;   // pages that are free; of these, not reserved
  // Pages of each memory that no frame has been given: below 0 while the last one is given again before its return has been counted.
  balance_t [Memories-1:0] home_q;
  count_t [Classes-1:0][Sizes-1:0] used_q, reserved_q, wanted_q;
  sizes_t below, may, size;                                   // its class is below its reservation; it may have a page; it has one
  count_t shared_fit;
  logic again, in_share;
  logic [Memories-1:0] fall;                                  // memories that are lost from this cycle on
  sizes_t size_falls;
  balance_t [Sizes-1:0] gone;
  logic back_gone, back_void;                                 // a page that comes back to a lost memory; that, or none at all

  always_comb begin
    shared_fit = '0;
    for (int unsigned k = 0; k < Sizes; k++) begin
      if (fits_q[k] && shared_q[k] > 0) shared_fit += count_t'(shared_q[k]);
      below[k] = used_q[frame_q.cls][k] < reserved_q[frame_q.cls][k];
    end

    // The frame just ahead has been counted neither when this one's count was read nor since.
    again    = same_q && admitted_q;
    new_got  = got_q + count_t'(again) + 1'b1;
    in_share = (again ? held_next_q : held_q) < scaled_t'(shared_fit);

    for (int unsigned k = 0; k < Sizes; k++) may[k] = fits_q[k] && (below[k] || (in_share && shared_q[k] > 0));
    size     = valid_q[3] ? may & (~may + 1'b1) : '0;
    admitted = size != '0;

    frame          = frame_q;
    frame.given    = size;
    frame.no_share = 1'b0;
    for (int unsigned k = 0; k < Sizes; k++) if (fits_q[k] && free_q[k] > 0 && !admitted) frame.no_share = 1'b1;
  end

  // ---- counts by class, and reservations that follow what is wanted ------------------------------------------------------

  cls_t walk_class_q;
  logic [SizeWidth-1:0] walk_size_q;
  logic walk_free, walk_up, walk_down, walk_takes, walk_gives;

  // One class and size a cycle; it waits for a class with a frame or a page in this cycle. A page that becomes reserved is one that no
  // other can take in this cycle.
  always_comb begin
    count_t used, reserved, wanted;
    balance_t shared;
    used       = used_q[walk_class_q][walk_size_q];
    reserved   = reserved_q[walk_class_q][walk_size_q];
    wanted     = wanted_q[walk_class_q][walk_size_q];
    shared     = shared_q[walk_size_q];
    walk_free  = fall == '0 && !(valid_q[3] && frame_q.cls == walk_class_q) && !(back_valid_q[3] && back_class_q == walk_class_q);
    walk_takes = walk_free && reserved < wanted && used <= reserved && shared > balance_t'({1'b0, valid_q[3]});
    walk_up    = walk_takes || (walk_free && reserved < wanted && used > reserved);
    walk_down  = walk_free && reserved > wanted;
    walk_gives = walk_down && used < reserved;
  end

  // A memory is lost: the page sizes that this is about, by how many pages, and the pages that come back to it, for no class to have. A page
  // of it that is given in this cycle or later was counted as one of those that are left.

  always_comb begin
    fall       = lost_i & ~lost_q;
    back_gone  = (back_memory_q & lost_i) != '0;
    back_void  = back_gone || back_failed_q[3];
    size_falls = '0;
    gone       = '0;
    for (int unsigned m = 0; m < Memories; m++) begin
      if (fall[m]) begin
        size_falls[Ranks[m]] = 1'b1;
        gone[Ranks[m]]       = gone[Ranks[m]] + home_q[m];
      end
      if (lost_i[m] && given_memory[m]) gone[Ranks[m]] = gone[Ranks[m]] - balance_t'(1);
    end
  end

  always_comb begin
    for (int unsigned k = 0; k < Sizes; k++) begin
      logic takes, gives, both;
      both        = size[k] && back_size_q[k] && !back_void && frame_q.cls == back_class_q;
      takes       = size[k] && !below[k] && !both;
      gives       = back_size_q[k] && !back_gone && !both
                    && (back_failed_q[3] || used_q[back_class_q][k] > reserved_q[back_class_q][k]);
      free_d[k]   = free_q[k] - gone[k] + balance_t'({1'b0, back_size_q[k] && !back_gone}) - balance_t'({1'b0, size[k]});
      shared_d[k] = shared_q[k] - gone[k] + balance_t'({1'b0, gives}) - balance_t'({1'b0, takes});
      if (walk_size_q == SizeWidth'(k)) shared_d[k] = shared_d[k] + balance_t'({1'b0, walk_gives}) - balance_t'({1'b0, walk_takes});
      // All that is free is shared when reservations have fallen to what is held, the frame and the page of this cycle included.
      if (size_falls[k]) shared_d[k] = free_d[k];
    end
  end

  count_t [Classes-1:0][Sizes-1:0] used_d;

  always_comb begin
    for (int unsigned k = 0; k < Sizes; k++) begin
      for (int unsigned c = 0; c < Classes; c++) begin
        used_d[c][k] = used_q[c][k] + count_t'(back_size_q[k] && back_class_q == cls_t'(c) ? '1 : '0)
                       + count_t'(size[k] && frame_q.cls == cls_t'(c));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    free_q   <= free_d;
    shared_q <= shared_d;
    used_q   <= used_d;
    for (int unsigned m = 0; m < Memories; m++) begin
      home_q[m] <= home_q[m] + balance_t'({1'b0, back_memory_q[m]}) - balance_t'({1'b0, given_memory[m]});
    end
    if (walk_up) reserved_q[walk_class_q][walk_size_q] <= reserved_q[walk_class_q][walk_size_q] + 1'b1;
    if (walk_down) reserved_q[walk_class_q][walk_size_q] <= reserved_q[walk_class_q][walk_size_q] - 1'b1;
    for (int unsigned k = 0; k < Sizes; k++) begin
      // A page of what was reserved does not come back, or was not there.
      if (back_size_q[k] && back_void && used_q[back_class_q][k] <= reserved_q[back_class_q][k])
        reserved_q[back_class_q][k] <= reserved_q[back_class_q][k] - 1'b1;
      if (size_falls[k])
        for (int unsigned c = 0; c < Classes; c++) reserved_q[c][k] <= used_d[c][k] < reserved_q[c][k] ? used_d[c][k] : reserved_q[c][k];
    end

    walk_size_q <= walk_size_q == SizeWidth'(Sizes - 1) ? '0 : walk_size_q + 1'b1;
    if (walk_size_q == SizeWidth'(Sizes - 1)) walk_class_q <= walk_class_q == cls_t'(Classes - 1) ? '0 : walk_class_q + 1'b1;

    if (share_valid_i) begin
      alpha_q[share_class_i]                <= share_alpha_i;
      wanted_q[share_class_i][share_size_i] <= share_reserved_i;
      walk_class_q                          <= '0;
      walk_size_q                           <= '0;
    end

    if (rst_i) begin
      alpha_q      <= {Classes{alpha_t'(DefaultAlpha)}};
      used_q       <= '0;
      walk_class_q <= '0;
      walk_size_q  <= '0;
      for (int unsigned m = 0; m < Memories; m++) home_q[m] <= balance_t'(MemPages[m]);
      for (int unsigned k = 0; k < Sizes; k++) begin
        free_q[k]   <= balance_t'(SizePages[k]);
        shared_q[k] <= balance_t'(SizePages[k] - Classes * 32'(default_reserved(k)));
        for (int unsigned c = 0; c < Classes; c++) begin
          reserved_q[c][k] <= default_reserved(k);
          wanted_q[c][k]   <= default_reserved(k);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    shown_free_o     <= free_q[share_size_i] > 0 ? count_t'(free_q[share_size_i]) : '0;
    shown_used_o     <= used_q[share_class_i][share_size_i];
    shown_reserved_o <= reserved_q[share_class_i][share_size_i];
  end

  // ---- decided frames ----------------------------------------------------------------------------------------------------

  logic unused_ready;
  logic [$clog2(Depth+1)-1:0] unused_level;

  pst_fifo #(
      .Width($bits(frame_t)), .Depth(Depth)
  ) u_decided (
      .clk_i, .rst_i,
      .s_valid_i(valid_q[3]), .s_ready_o(unused_ready), .s_data_i(frame),
      .m_valid_o(m_meta_valid_o), .m_ready_i(m_meta_ready_i), .m_data_o(first),
      .level_o(unused_level)
  );

  assign leave             = m_meta_valid_o && m_meta_ready_i;
  assign m_meta_queue_o    = first.queue_id;
  assign m_meta_len_o      = first.len;
  assign m_meta_user_o     = first.user;
  assign m_meta_no_share_o = first.no_share;

  // Whose page the next grant is.
  always_ff @(posedge clk_i) begin
    if (leave) begin
      asked_owner   <= '{queue_id: first.queue_id, cls: first.cls};
      asked_size    <= first.given;
      asked_given_q <= first.given != '0;
    end
    if (rst_i) asked_given_q <= 1'b0;
  end

  assign given = given_valid_i && given_ok_i;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_decided_fifo_has_room : assert (!valid_q[3] || unused_ready) else $error("pst_page_admission: frames overflow");
      a_admitted_frame_gets_a_page : assert (!given_valid_i || given_ok_i == asked_given_q || (asked_given_q && lost_i != '0))
      else $error("pst_page_admission: a frame was to have a page and got none, or the other way round");
      a_freed_page_was_held : assert (!back_valid_q[3] || (|back_size_q && 32'(back_class_q) < Classes))
      else $error("pst_page_admission: a page came back that no class had");
      for (int unsigned k = 0; k < Sizes; k++) begin
        a_shared_are_free : assert (shared_q[k] <= free_q[k] && 32'(free_q[k]) >= -int'(Depth + 1))
        else $error("pst_page_admission: more pages reserved than are free");
      end
    end
  end
`endif

endmodule
