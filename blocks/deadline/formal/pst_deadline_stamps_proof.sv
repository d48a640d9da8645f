// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_deadline_stamps: a frame that the solver picks, of class Watched, comes when it likes with any wait that is set then, and is
// counted by the tail when it likes. No skip to a place behind it leaves before it is over; skip times do not run back; and, with Prompt,
// a stamp that is over is gone a round later. Serials and settings are free; the time begins anywhere, so it wraps.
module pst_deadline_stamps_proof
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Watched = 0,
    parameter bit          Prompt  = 1'b0,   // the head takes each skip at once
    parameter int unsigned Bits    = 8,      // of the time
    localparam int unsigned RoundWidth = Bits - 3
) (
    input logic        clk_i,
    input logic        rst_i,
    input logic        tick_i,
    input logic        s_set_valid_i,
    input logic        s_set_class_i,
    input logic [Bits-1:0] s_set_cycles_i,
    input logic        look_any_i,
    input stamp_t      look_i,
    input logic        m_skip_ready_i,
    input logic        arrive_i,        // the picked frame comes,
    input logic [Bits-1:0] wait_i,          // may wait so long,
    input logic        count_i          // and is counted by the tail
);

  localparam logic [1:0][15:0] Stamps = {16'd2, 16'd3};
  localparam int unsigned Size = 32'(Stamps[Watched]);
  localparam int unsigned Base = Watched == 0 ? 0 : 3;

  // Words of the module under proof.
  typedef struct packed {
    logic [RoundWidth-1:0] over;
    stamp_t      stamp;
  } word_t;

  typedef struct packed {
    logic [ 1:0] first;
    logic [ 1:0] count;
    logic        any;
    serial_t     serial;
    logic        live;
    logic [RoundWidth-1:0] over;
  } state_t;

  logic init_done, look_valid, look_class, m_skip_valid, m_skip_class, set_ready;
  stamp_t m_skip;
  logic [Bits-1:0] now_q;

  pst_deadline_stamps #(
      .Classes(2),
      .Stamps (Stamps),
      .Skips  (2),
      .TimeBits(Bits)
  ) u_dut (
      .clk_i,
      .rst_i,
      .init_done_o(init_done),
      .now_i(32'(now_q)),
      .tick_i,
      .s_set_valid_i,
      .s_set_ready_o(set_ready),
      .s_set_class_i,
      .s_set_cycles_i(32'(s_set_cycles_i)),
      .look_valid_o(look_valid),
      .look_class_o(look_class),
      .look_any_i,
      .look_i,
      .m_skip_valid_o(m_skip_valid),
      .m_skip_ready_i,
      .m_skip_class_o(m_skip_class),
      .m_skip_o(m_skip)
  );

  // The time since reset, from a moment at which a round began; wraps of the real time are anywhere in it.
  logic seen_q, arrived_q, counted_q;
  logic [Bits-1:0] base_q, deadline_q, now_rel, deadline_rel;
  logic [RoundWidth-1:0] round_rel;
  initial seen_q = 1'b0;

  assign now_rel      = now_q - base_q;
  assign round_rel    = now_rel[Bits-1:3];
  assign deadline_rel = deadline_q - base_q;

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    now_q  <= now_q + 1'b1;
    if (init_done && arrive_i && !arrived_q) begin
      arrived_q  <= 1'b1;
      deadline_q <= now_q + wait_i;
    end
    if (arrived_q && count_i) counted_q <= 1'b1;
    if (rst_i) begin
      base_q    <= {now_q[Bits-1:3], 3'd0};
      arrived_q <= 1'b0;
      counted_q <= 1'b0;
    end
  end

  // What the watched class has: the ring from the oldest on, and the skips that wait.
  state_t state, other;
  word_t entry[Size];
  logic [RoundWidth-1:0] entry_rel[Size];
  logic [RoundWidth-1:0] last_rel;
  logic [Bits-1:0] longest, wait_set;
  assign state    = u_dut.state_mem[Watched];
  assign other    = u_dut.state_mem[1-Watched];
  assign longest  = u_dut.longest_mem[Watched];
  assign wait_set = u_dut.wait_mem[Watched];
  assign last_rel = state.over - base_q[Bits-1:3];

  for (genvar g = 0; g < Size; g++) begin : g_entry
    logic [2:0] at;
    assign at           = 3'(state.first) + 3'(g) >= 3'(Size) ? 3'(state.first) + 3'(g) - 3'(Size) : 3'(state.first) + 3'(g);
    assign entry[g]     = u_dut.u_ring.mem[3'(Base)+at];
    assign entry_rel[g] = entry[g].over - base_q[Bits-1:3];
  end

  logic [3:1][Bits-1:0] ago;
  for (genvar g = 1; g <= 3; g++) begin : g_ago
    assign ago[g] = now_q - Bits'(g);
  end

  // The watched class's visit of this round is through.
  logic visited;
  assign visited = 32'(now_q[2:0]) > Watched + 3;

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      m_time_is_not_out : assume (32'(now_rel) < 2 ** (Bits - 3));
      m_set_in_range : assume (32'(s_set_cycles_i) < 2 ** (Bits - 2));
      m_wait_is_set : assume (wait_i <= wait_set);
      m_look_says_whether_counted : assume (look_i.bytes[0] == counted_q);
      if (Prompt) m_taken_at_once : assume (m_skip_ready_i);
    end
    if (seen_q && !rst_i) begin
      a_base_is_a_round : assert (base_q[2:0] == '0);
      a_skips : assert (u_dut.u_skips.level_q <= 2'd2 && u_dut.u_skips.valid_q == (u_dut.u_skips.level_q != '0));
      a_skips_wait_in_order : assert (1'(u_dut.u_skips.waddr_q - u_dut.u_skips.raddr_q) == u_dut.u_skips.level_q[0]);
      for (int k = 1; k <= 3; k++) begin
        if (u_dut.visit_q[k].valid) begin
          a_visits_follow_time : assert (32'(ago[k][2:0]) == 32'(u_dut.visit_q[k].class_id) && u_dut.visit_q[k].round == ago[k][Bits-1:3]);
        end
        if (u_dut.visit_q[k].noting) a_noting_is_a_visit : assert (u_dut.visit_q[k].valid);
      end
    end
    if (seen_q && !rst_i && !init_done) begin
      a_nothing_yet : assert (!arrived_q && !counted_q && u_dut.u_skips.level_q == '0 && !m_skip_valid);
      a_no_visit_yet : assert (!u_dut.visit_q[1].valid && !u_dut.visit_q[2].valid && !u_dut.visit_q[3].valid);
      a_no_note_yet : assert (!u_dut.visit_q[1].noting && !u_dut.visit_q[2].noting && !u_dut.visit_q[3].noting);
      if (32'(u_dut.init_class_q) > Watched) a_cleared : assert (state == '0 && longest == '0 && wait_set == '0);
      if (32'(u_dut.init_class_q) > 1 - Watched) a_other_cleared : assert (other == '0);
    end
    if (seen_q && !rst_i && init_done) begin
      // what a user relies on
      if (m_skip_valid && m_skip_class == 1'(Watched) && m_skip.bytes[0]) a_never_early : assert (arrived_q && now_rel > deadline_rel);
      if ($past(init_done) && !$past(rst_i) && $past(state.any)) a_times_do_not_run_back : assert (last_rel >= $past(last_rel));
      if (Prompt && state.count != '0) a_gone_a_round_later : assert (entry_rel[0] >= round_rel + RoundWidth'(visited));
      // what the induction needs
      a_sizes : assert (32'(state.count) <= Size && 32'(state.first) < Size);
      a_other_sizes : assert (32'(other.count) <= 32'(Stamps[1-Watched]) && 32'(other.first) < 32'(Stamps[1-Watched]));
      a_settings : assert (wait_set <= longest && 32'(longest) < 2 ** (Bits - 2));
      if (!state.any) a_none_yet : assert (state.count == '0 && !state.live);
      if (state.any) a_last_in_range : assert (32'(last_rel) <= 2 ** (Bits - 6) + 2 ** (Bits - 5) + 2);
      if (state.any && !state.live) a_last_is_over : assert (last_rel <= round_rel);
      if (arrived_q) begin
        a_deadline_in_range : assert (32'(deadline_rel) < 2 ** (Bits - 3) + 2 ** (Bits - 2));
        a_deadline_is_covered :
        assert (now_rel > deadline_rel || 32'(now_rel) + 32'(longest) >= 32'(deadline_rel)
                || (state.live && {last_rel, 3'd0} > deadline_rel));
      end
      if (counted_q) a_counted_has_come : assert (arrived_q);
      if (u_dut.look_q.bytes[0]) a_look_is_right : assert (counted_q);
      for (int k = 0; k < Size; k++) begin
        if (32'(state.count) > k) begin
          a_entry_in_range : assert (entry_rel[k] <= last_rel);
          if (k > 0) a_in_order : assert (entry_rel[k] > entry_rel[k > 0 ? k - 1 : 0]);
          if (32'(state.count) == k + 1) a_newest_is_last : assert (entry[k].over == state.over);
          if (entry[k].stamp.bytes[0]) a_entry_is_behind_it : assert (counted_q && {entry_rel[k], 3'd0} > deadline_rel);
        end
      end
      for (int k = 0; k < 2; k++) begin
        if (32'(u_dut.u_skips.level_q) > k) begin
          if (u_dut.u_skips.mem[1'(u_dut.u_skips.raddr_q+1'(k))][136] == 1'(Watched)
              && u_dut.u_skips.mem[1'(u_dut.u_skips.raddr_q+1'(k))][0]) begin
            a_waiting_is_over : assert (arrived_q && now_rel > deadline_rel);
          end
        end
      end
      if (Prompt) a_no_skip_waits : assert (32'(u_dut.u_skips.level_q) <= 1);
      // useful work is possible
      c_skip : cover (m_skip_valid && m_skip_class == 1'(Watched) && m_skip.bytes[0]);
      c_full : cover (32'(state.count) == Size);
      c_settings_run_back : cover (state.count == 2'd2 && longest < Bits'(3) && counted_q && now_rel < deadline_rel);
    end
  end

endmodule
