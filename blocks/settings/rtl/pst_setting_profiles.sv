// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Which profile has the settings of a queue: queues with equal settings share one. Equal settings are found by a hash and a chain of profiles;
// settings that no queue has get a free profile; a profile that no queue has any more is free again. Between settings one is always free, so
// that a queue whose profile no other one has may change it, whatever is in use.
//
// Throughput: one setting at a time; the next one 8 cycles after the last at most.
// Latency:    from m_peek_o to m_valid_o 3 cycles and one for each profile of the chain that is looked at; 2 more with a free profile.
// Ordering:   in order.
// Reset:      all queues have profile 0, whose word is ResetWord; `Profiles` cycles, then init_done_o rises.
module pst_setting_profiles #(
    parameter int unsigned Queues = 16,              // >= 2
    parameter int unsigned Profiles = 4,             // power of two, 4 .. 65,536
    parameter int unsigned Width = 128,              // bits of the settings, >= 1
    parameter logic [Width-1:0] ResetWord = '0,      // settings of profile 0, which is never free
    parameter string       RamStyle = "auto"         // see pst_ram_1r1w
) (
    input  logic             clk_i,
    input  logic             rst_i,
    // settings of a queue, held until they are taken (m_valid_o and m_ready_i) or refused (full_o)
    input  logic             s_valid_i,
    input  logic [Width-1:0] s_word_i,
    output logic             full_o,        // no profile has these settings, and only the last one is free
    // when they come: which profile does the queue have? Known one cycle later
    output logic             m_peek_o,
    input  logic [     15:0] old_i,
    // the same with their profile, held until taken
    output logic             m_valid_o,
    input  logic             m_ready_i,
    output logic [     15:0] m_profile_o,
    output logic             m_fresh_o,     // no queue has it, and its word is s_word_i from now on
    output logic [     16:0] used_o,        // profiles that are not free
    output logic             init_done_o
);

  localparam int unsigned ProfileWidth = $clog2(Profiles);
  localparam int unsigned CountWidth = $clog2(Queues + 1);

  if (Queues < 2) begin : g_bad_queues
    $error("pst_setting_profiles: Queues is %0d, must be at least 2", Queues);
  end
  if (Profiles < 4 || Profiles > 65536 || (Profiles & (Profiles - 1)) != 0) begin : g_bad_profiles
    $error("pst_setting_profiles: Profiles is %0d, allowed: a power of two from 4 to 65,536", Profiles);
  end

  typedef logic [ProfileWidth-1:0] profile_t;    // of a chain, too
  typedef logic [CountWidth-1:0] count_t;

  // A profile that follows, or none.
  typedef struct packed {
    logic     valid;
    profile_t profile;
  } link_t;

  // What precedes a profile: another one, or the start of a chain.
  typedef struct packed {
    logic     start;
    profile_t index;
  } back_t;

  typedef enum logic [3:0] {
    Idle,      // settings come: which chain
    Start,     // its first profile is read; the queue's profile is known
    First,     // its first profile is known, its word is read; how many queues have the old one is known
    Compare,   // the word is known, and the one behind it is read
    Free,      // there is a free profile? The one behind it is read
    Take,      // that is known
    Offer,     // until the queue has the profile
    Count,     // the new profile has one queue more
    Drop,      // the old one has one less
    Unlink,    // no queue has it: out of its chain
    Return,    // and to the free ones
    Behind,    // a fresh profile: the first one of its chain is read
    Link,      // which is behind it now
    Lead       // and the chain starts with it
  } state_e;

  // CRC-16 of the settings, polynomial 1021: of each bit of the settings, which bits of the CRC it changes. Its lowest bits are the chain.
  typedef logic [15:0][Width-1:0] masks_t;

  function automatic masks_t crc_masks();
    logic [15:0] crc;
    crc_masks = '0;
    crc = 16'h1021;
    for (int unsigned i = 0; i < Width; i++) begin
      for (int unsigned k = 0; k < 16; k++) crc_masks[k][i] = crc[k];
      crc = {crc[14:0], 1'b0} ^ (crc[15] ? 16'h1021 : 16'h0000);
    end
  endfunction

  localparam masks_t Masks = crc_masks();

  function automatic profile_t chain_of(logic [Width-1:0] word);
    for (int unsigned k = 0; k < ProfileWidth; k++) chain_of[k] = ^(word & Masks[k]);
  endfunction

  localparam profile_t ResetChain = chain_of(ResetWord);

  // --- clearing walk after reset

  logic init;
  profile_t init_profile;

  pst_clear_walk #(.Depth(Profiles)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_profile));

  assign init_done_o = !init;

  // --- state and memories. Only this state machine reads and writes; no word is read in the cycle in which it is written

  state_e state_q, state_d;
  profile_t chain_q, chain_d, at_q, at_d, old_q, old_d;    // at: the profile that is looked at, then that of the settings
  logic fresh_q, fresh_d;
  logic [ProfileWidth:0] unused_q, unused_d;              // profiles from this one on were never used
  link_t free_q, free_d;                                  // the first free one of those that were
  logic [16:0] used_q, used_d;

  logic start_we, next_we, back_we, count_we;
  profile_t start_waddr, next_waddr, back_waddr, count_waddr, count_raddr, next_raddr, word_raddr;
  link_t start_wdata, next_wdata, start_r, next_r;
  back_t back_wdata, back_r;
  count_t count_wdata, count_r, old_count_q, old_count_d;
  logic [Width-1:0] word_r;
  logic taken, unshared, room;

  assign m_valid_o   = state_q == Offer;
  assign m_profile_o = 16'(at_q);
  assign m_fresh_o   = fresh_q;
  assign used_o      = used_q;
  assign taken       = m_valid_o && m_ready_i;
  assign m_peek_o    = state_q == Idle && s_valid_i && init_done_o;
  assign unshared    = old_count_q == count_t'(1) && old_q != '0;    // the old profile will be free
  assign room        = int'(used_q) + 2 <= Profiles + int'(unshared);
  assign full_o      = state_q == Free && !room;

  always_comb begin
    state_d     = state_q;
    chain_d     = chain_q;
    at_d        = at_q;
    old_d       = old_q;
    old_count_d = old_count_q;
    fresh_d     = fresh_q;
    unused_d    = unused_q;
    free_d      = free_q;
    used_d      = used_q;
    start_we    = 1'b0;
    next_we     = 1'b0;
    back_we     = 1'b0;
    count_we    = 1'b0;
    start_waddr = chain_q;
    start_wdata = '{valid: 1'b1, profile: at_q};
    next_waddr  = at_q;
    next_wdata  = start_r;
    next_raddr  = old_q;
    back_waddr  = at_q;
    back_wdata  = '{start: 1'b1, index: chain_q};
    count_waddr = at_q;
    count_wdata = fresh_q ? count_t'(1) : count_r + 1'b1;
    count_raddr = at_q;
    word_raddr  = start_r.profile;

    unique case (state_q)
      Idle: begin
        chain_d = chain_of(s_word_i);
        fresh_d = 1'b0;
        if (m_peek_o) state_d = Start;
      end
      Start: begin
        old_d       = old_i[ProfileWidth-1:0];
        count_raddr = old_i[ProfileWidth-1:0];
        state_d     = First;
      end
      First: begin
        old_count_d = count_r;
        at_d        = start_r.profile;
        next_raddr  = start_r.profile;
        state_d     = start_r.valid ? Compare : Free;
      end
      Compare: begin
        next_raddr = next_r.profile;
        word_raddr = next_r.profile;
        if (word_r == s_word_i) state_d = Offer;
        else if (next_r.valid) at_d = next_r.profile;
        else state_d = Free;
      end
      Free: begin
        at_d       = free_q.valid ? free_q.profile : unused_q[ProfileWidth-1:0];
        next_raddr = free_q.profile;
        fresh_d    = 1'b1;
        state_d    = room ? Take : Idle;
      end
      Take: begin
        if (free_q.valid) free_d = next_r;
        else unused_d = unused_q + 1'b1;
        used_d  = used_q + 1'b1;
        state_d = Offer;
      end
      Offer: if (m_ready_i) state_d = Count;    // the count is read
      Count: begin
        count_we = old_q != at_q;
        state_d  = count_we ? Drop : Idle;
      end
      Drop: begin
        count_we    = 1'b1;
        count_waddr = old_q;
        count_wdata = old_count_q - 1'b1;
        state_d     = unshared ? Unlink : fresh_q ? Behind : Idle;    // what is before it and behind it is read
      end
      Unlink: begin
        start_we    = back_r.start;
        start_waddr = back_r.index;
        start_wdata = next_r;
        next_we     = !back_r.start;
        next_waddr  = back_r.index;
        next_wdata  = next_r;
        back_we     = next_r.valid;
        back_waddr  = next_r.profile;
        back_wdata  = back_r;
        state_d     = Return;
      end
      Return: begin
        next_we    = 1'b1;
        next_waddr = old_q;
        next_wdata = free_q;
        free_d     = '{valid: 1'b1, profile: old_q};
        used_d     = used_q - 1'b1;
        state_d    = fresh_q ? Behind : Idle;
      end
      Behind: state_d = Link;
      Link: begin
        next_we = 1'b1;
        back_we = 1'b1;
        state_d = Lead;
      end
      default: begin    // Lead; the start of the chain is still what was read
        start_we   = 1'b1;
        back_we    = start_r.valid;
        back_waddr = start_r.profile;
        back_wdata = '{start: 1'b0, index: at_q};
        state_d    = Idle;
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q  <= state_d;
    chain_q  <= chain_d;
    at_q     <= at_d;
    old_q    <= old_d;
    old_count_q <= old_count_d;
    fresh_q  <= fresh_d;
    unused_q <= unused_d;
    free_q   <= free_d;
    used_q   <= used_d;
    if (rst_i) begin
      state_q      <= Idle;
      unused_q     <= (ProfileWidth + 1)'(1);
      free_q.valid <= 1'b0;
      used_q       <= 17'd1;
    end
  end

  // Profile 0 alone is in a chain.
  pst_ram_1r1w #(
      .Width($bits(link_t)), .Depth(Profiles), .Style(RamStyle)
  ) u_start (
      .clk_i,
      .we_i(init || start_we), .waddr_i(init ? init_profile : start_waddr),
      .wdata_i(init ? link_t'{valid: init_profile == ResetChain, profile: '0} : start_wdata),
      .re_i(state_q inside {Start, Behind}), .raddr_i(chain_q), .rdata_o(start_r)
  );

  pst_ram_1r1w #(
      .Width($bits(link_t)), .Depth(Profiles), .Style(RamStyle)
  ) u_next (
      .clk_i,
      .we_i(init || next_we), .waddr_i(init ? init_profile : next_waddr), .wdata_i(init ? '0 : next_wdata),
      .re_i(state_q inside {First, Compare, Free, Drop}), .raddr_i(next_raddr), .rdata_o(next_r)
  );

  pst_ram_1r1w #(
      .Width($bits(back_t)), .Depth(Profiles), .Style(RamStyle)
  ) u_back (
      .clk_i,
      .we_i(back_we), .waddr_i(back_waddr), .wdata_i(back_wdata),
      .re_i(state_q == Drop), .raddr_i(old_q), .rdata_o(back_r)
  );

  // Queues that have a profile.
  pst_ram_1r1w #(
      .Width(CountWidth), .Depth(Profiles), .Style(RamStyle)
  ) u_count (
      .clk_i,
      .we_i(init || count_we), .waddr_i(init ? init_profile : count_waddr),
      .wdata_i(init ? (init_profile == '0 ? count_t'(Queues) : '0) : count_wdata),
      .re_i(state_q inside {Start, Offer}), .raddr_i(count_raddr), .rdata_o(count_r)
  );

  pst_ram_1r1w #(
      .Width(Width), .Depth(Profiles), .Style(RamStyle)
  ) u_word (
      .clk_i,
      .we_i(init || (taken && fresh_q)), .waddr_i(init ? init_profile : at_q), .wdata_i(init ? ResetWord : s_word_i),
      .re_i(state_q inside {First, Compare}), .raddr_i(word_raddr), .rdata_o(word_r)
  );

  logic unused;
  assign unused = ^old_i;

`ifndef SYNTHESIS
  logic wait_q;
  logic [Width-1:0] word_q;

  always_ff @(posedge clk_i) begin
    wait_q <= s_valid_i && !taken && !full_o && !rst_i;
    word_q <= s_word_i;
    if (!rst_i && init_done_o) begin
      if (wait_q) a_held : assert (s_valid_i && s_word_i == word_q) else $error("settings change before they are taken");
      if (state_q == Idle) a_one_is_free : assert (used_q < 17'(Profiles)) else $error("no profile is free");
      if (state_q == Drop) a_old_was_counted : assert (old_count_q != '0) else $error("profile %0d has no queue", old_q);
      a_used_in_range : assert (used_q >= 17'd1 && used_q <= 17'(Profiles)) else $error("%0d profiles in use", used_q);
    end
  end
`endif

endmodule
