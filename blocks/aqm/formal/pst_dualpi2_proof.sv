// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// For two pairs of queues, looks as close as they may be, settings and updates in any cycle: each packet is judged by the count that the one
// before it in its queue has left, by the probabilities of the latest update and by the latest setting; its verdict is that of RFC 9332
// (A.1, A.2); no probability or count is more than 1.
//
// Assumed: looks at one queue are four cycles apart, a packet is taken two cycles after its look; pst_dualpi2_update keeps its contract.
module pst_dualpi2_proof
  import pst_pkg::AqmSettingsWidth, pst_pkg::aqm_cfg_t;
  import pst_aqm_pkg::verdict_e, pst_aqm_pkg::VerdictPass, pst_aqm_pkg::VerdictMark, pst_aqm_pkg::VerdictDrop, pst_aqm_pkg::backlog_t;
#(
    parameter int unsigned RampLog2 = 8,
    parameter int unsigned Coupling = 2,
    localparam int unsigned Queues = 4,
    localparam int unsigned Pairs = 2,
    localparam int unsigned TimeWidth = 16,
    localparam int unsigned SettingWidth = TimeWidth - 8,
    localparam int unsigned HalfWidth = AqmSettingsWidth / 2
) (
    input logic                 clk_i,
    input logic                 rst_i,
    input logic [TimeWidth-1:0] now_i,
    input logic                 look_i,
    input logic [          1:0] look_queue_i,
    input logic                 take_i,           // the packet of the look two cycles before
    input logic [TimeWidth-1:0] delay_i,
    input backlog_t             left_i,
    input logic                 ect_i,
    input logic                 cfg_valid_i,
    input logic [          1:0] cfg_queue_i,
    input aqm_cfg_t             cfg_i,
    input logic                 read_i,
    input logic [          1:0] read_queue_i
);

  localparam logic [32:0] One = {1'b1, 32'b0};

  typedef struct packed {
    logic        no_marks;
    logic [32:0] coupled;
    logic [32:0] squared;
  } share_t;

  typedef struct packed {
    logic                    enable;
    logic                    ecn;
    logic [SettingWidth-1:0] target;
    logic [SettingWidth-1:0] threshold;
  } cfg_t;

  // A look and what it must see; from its take on the packet, too.
  typedef struct packed {
    logic                 valid;
    logic [1:0]           queue_id;
    share_t               share;
    cfg_t                 cfg;
  } look_t;

  typedef struct packed {
    logic       valid;
    logic [1:0] queue_id;
    verdict_e   verdict;
  } answer_t;

  logic init_done, verdict_valid, update;
  logic [1:0] verdict_queue;
  verdict_e verdict;
  logic [0:0] update_pair;

  look_t look, look1_q, look2_q, look3_q;
  logic taken3_q;
  logic [32:0] native2, native3_q;
  logic able3_q;
  answer_t answer3, answer4_q;
  logic [Queues-1:0][32:0] count_q;    // what the last packet of each queue has left
  logic [32:0] likelihood;
  logic [33:0] sum;
  logic hit;
  share_t [Pairs-1:0] share_q;
  cfg_t [Queues-1:0] cfg_q;
  cfg_t cfg_new;
  share_t share_new;
  logic seen_q;

  pst_dualpi2 #(
      .Queues(Queues), .TimeWidth(TimeWidth), .UpdateTicks(1), .Coupling(Coupling), .RampLog2(RampLog2)
  ) u_dut (
      .clk_i, .rst_i, .now_i,
      .s_look_valid_i(look_i), .s_look_queue_i(look_queue_i),
      .s_take_valid_i(take_i), .s_take_queue_i(look2_q.queue_id), .s_take_delay_i(delay_i), .s_take_left_i(left_i), .s_take_ect_i(ect_i),
      .m_deq_verdict_valid_o(verdict_valid), .m_deq_verdict_queue_o(verdict_queue), .m_deq_verdict_o(verdict),
      .s_cfg_valid_i(cfg_valid_i), .s_cfg_queue_i(cfg_queue_i), .s_cfg_i(cfg_i),
      .s_read_valid_i(read_i), .s_read_queue_i(read_queue_i), .m_read_valid_o(), .m_read_cfg_o(),
      .ev_update_valid_o(update), .ev_update_pair_o(update_pair), .init_done_o(init_done)
  );

  // --- the reference

  always_comb begin
    share_new = u_dut.new_share;
    cfg_new   = '{
        enable: cfg_i.enable, ecn: cfg_i.ecn, target: cfg_i.settings[HalfWidth+:SettingWidth], threshold: cfg_i.settings[0+:SettingWidth]
    };
    look = '{valid: look_i, queue_id: look_queue_i, share: share_q[look_queue_i[1]], cfg: cfg_q[look_queue_i]};
    if (update && update_pair == look_queue_i[1]) look.share = share_new;
    if (cfg_valid_i && cfg_queue_i == look_queue_i) look.cfg = cfg_new;

    // A.1: laqm(), with a ramp or a step
    native2 = '0;
    if (left_i != '0 && delay_i >= TimeWidth'(look2_q.cfg.threshold)) begin
      if (RampLog2 == 0 || (delay_i - TimeWidth'(look2_q.cfg.threshold)) >> RampLog2 != '0) native2 = One;
      else native2 = 33'(delay_i - TimeWidth'(look2_q.cfg.threshold)) << (32 - RampLog2);
    end

    // A.1 and A.2: dualpi2_dequeue(), recur()
    if (look3_q.queue_id[0] && able3_q && look3_q.share.coupled != One) begin
      likelihood = native3_q > look3_q.share.coupled ? native3_q : look3_q.share.coupled;
    end else begin
      likelihood = look3_q.share.squared;
    end
    sum     = 34'(count_q[look3_q.queue_id]) + 34'(likelihood);
    hit     = sum > 34'(One);
    answer3 = '{valid: taken3_q, queue_id: look3_q.queue_id, verdict: VerdictPass};
    if (look3_q.cfg.enable) begin
      if (hit) begin
        if (!able3_q) answer3.verdict = VerdictDrop;
        else if (look3_q.queue_id[0]) answer3.verdict = look3_q.share.coupled == One ? VerdictDrop : VerdictMark;
        else answer3.verdict = look3_q.share.no_marks ? VerdictDrop : VerdictMark;
      end else if (able3_q && look3_q.queue_id[0] && look3_q.share.coupled == One) begin
        answer3.verdict = VerdictMark;
      end
    end
  end

  initial seen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    seen_q    <= 1'b1;
    look1_q   <= look;
    look2_q   <= look1_q;
    look3_q   <= look2_q;
    taken3_q  <= take_i;
    native3_q <= native2;
    able3_q   <= ect_i && look2_q.cfg.ecn;
    answer4_q <= answer3;
    if (update) share_q[update_pair] <= share_new;
    if (cfg_valid_i) cfg_q[cfg_queue_i] <= cfg_new;
    if (taken3_q && look3_q.cfg.enable) count_q[look3_q.queue_id] <= 33'(hit ? sum - 34'(One) : sum);
    if (rst_i) begin
      look1_q.valid   <= 1'b0;
      look2_q.valid   <= 1'b0;
      look3_q.valid   <= 1'b0;
      taken3_q        <= 1'b0;
      answer4_q.valid <= 1'b0;
      count_q         <= '0;
      share_q         <= '0;
      cfg_q           <= '0;
    end
  end

  // --- what is assumed

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (look_i || cfg_valid_i || read_i) m_cleared_first : assume (init_done);
    if (take_i) m_taken_after_a_look : assume (look2_q.valid);
    if (look_i) begin
      m_four_cycles_apart : assume (!(look1_q.valid && look1_q.queue_id == look_queue_i)
                                    && !(look2_q.valid && look2_q.queue_id == look_queue_i)
                                    && !(look3_q.valid && look3_q.queue_id == look_queue_i));
    end
  end

  // --- what must be

  logic [Queues-1:0] clear;     // the walk has been at the words of this queue
  always_comb for (int q = 0; q < Queues; q++) clear[q] = !u_dut.init || q < 32'(u_dut.init_queue);

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      a_answer_comes : assert (verdict_valid == answer4_q.valid);
      if (verdict_valid) begin
        a_verdict : assert (verdict == answer4_q.verdict);
        a_queue : assert (verdict_queue == answer4_q.queue_id);
      end

      // counts, probabilities and settings are those of the reference, in their memories and on their way
      if (u_dut.init) begin
        a_nothing_yet : assert (count_q == '0 && share_q == '0 && cfg_q == '0 && !u_dut.u_walk.walk_q && u_dut.u_walk.valid_q == '0);
      end
      for (int q = 0; q < Queues; q++) begin
        a_count_at_most_one : assert (count_q[q] <= One);
        if (clear[q]) begin
          if (u_dut.count_valid_q && u_dut.m_deq_verdict_queue_o == 2'(q)) a_count_on_its_way : assert (u_dut.count_q == count_q[q]);
          else a_count : assert (u_dut.u_count.u_ram.mem[q] == count_q[q]);
          a_cfg : assert (u_dut.u_cfg.u_ram.mem[q] == cfg_q[q]);
          a_share : assert (u_dut.u_share.u_ram.mem[q/2] == share_q[q/2]);
        end
      end
      for (int p = 0; p < Pairs; p++) begin
        a_shares_at_most_one : assert (share_q[p].coupled <= One && share_q[p].squared <= One);
      end
      if (look1_q.valid) begin
        a_count1 : assert ((u_dut.u_count.hit_q ? u_dut.u_count.new_q : u_dut.u_count.word) == count_q[look1_q.queue_id]);
        a_share1 : assert ((u_dut.u_share.hit_q ? u_dut.u_share.new_q : u_dut.u_share.word) == look1_q.share);
        a_cfg1 : assert ((u_dut.u_cfg.hit_q ? u_dut.u_cfg.new_q : u_dut.u_cfg.word) == look1_q.cfg);
      end
      if (look2_q.valid) begin
        a_count2 : assert (u_dut.count == count_q[look2_q.queue_id]);
        a_share2 : assert (u_dut.share == look2_q.share);
        a_cfg2 : assert (u_dut.cfg == look2_q.cfg);
      end
      a_op_valid : assert (u_dut.op_q.valid == taken3_q && (!taken3_q || look3_q.valid));
      if (taken3_q) begin
        a_op : assert (u_dut.op_q.queue_id == look3_q.queue_id && u_dut.op_q.enable == look3_q.cfg.enable && u_dut.op_q.able == able3_q
                       && u_dut.op_q.native == native3_q && u_dut.op_q.share == look3_q.share);
        a_latest_count : assert (u_dut.op_q.count == count_q[look3_q.queue_id]);
        a_native_at_most_one : assert (native3_q <= One);
      end
      if (look1_q.valid) a_share1_at_most_one : assert (look1_q.share.coupled <= One && look1_q.share.squared <= One);
      if (look2_q.valid) a_share2_at_most_one : assert (look2_q.share.coupled <= One && look2_q.share.squared <= One);
      if (look3_q.valid) a_share3_at_most_one : assert (look3_q.share.coupled <= One && look3_q.share.squared <= One);
      if (u_dut.count_valid_q) a_write_is_of_an_answer : assert (answer4_q.valid && u_dut.m_deq_verdict_queue_o == answer4_q.queue_id);
      if (look1_q.valid || look2_q.valid || look3_q.valid || answer4_q.valid) a_after_clearing : assert (init_done);

      // four cycles apart
      a_apart12 : assert (!look1_q.valid || !look2_q.valid || look1_q.queue_id != look2_q.queue_id);
      a_apart13 : assert (!look1_q.valid || !look3_q.valid || look1_q.queue_id != look3_q.queue_id);
      a_apart23 : assert (!look2_q.valid || !look3_q.valid || look2_q.queue_id != look3_q.queue_id);
      for (int q = 0; q < Queues; q++) begin
        if (answer4_q.valid && answer4_q.queue_id == 2'(q)) begin
          a_apart4 : assert (!(look1_q.valid && look1_q.queue_id == 2'(q)) && !(look2_q.valid && look2_q.queue_id == 2'(q))
                             && !(look3_q.valid && look3_q.queue_id == 2'(q)));
        end
      end

      c_mark_close : cover (verdict_valid && verdict == VerdictMark && !verdict_queue[0] && count_q[verdict_queue] != '0);
      c_drop : cover (verdict_valid && verdict == VerdictDrop && verdict_queue[0]);
      c_look_meets_writes : cover (look_i && u_dut.count_valid_q && verdict_queue == look_queue_i
                                   && update && update_pair == look_queue_i[1]);
    end
  end

endmodule
