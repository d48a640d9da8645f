// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// DualPI2 (RFC 9332, appendix A) for `Queues / 2` pairs: queue 2n is Classic, queue 2n + 1 its L4S queue. The scheduler between them is the
// caller's.
//
// Throughput: one packet per cycle, of any queues; one queue at most every 4 cycles. The update visits one pair per cycle every UpdateTicks.
// Latency:    s_look, two cycles later s_take, two cycles after that m_deq_verdict; the delay of a departure counts from the next update.
// Ordering:   in order.
// Reset:      every queue disabled; `Queues` cycles, then init_done_o rises.
//
// Every memory has one writer: departures own the counts and the latest delays, the update owns the probabilities.
module pst_dualpi2
  import pst_pkg::AqmSettingsWidth, pst_pkg::aqm_cfg_t;
  import pst_aqm_pkg::verdict_e, pst_aqm_pkg::VerdictPass, pst_aqm_pkg::VerdictMark, pst_aqm_pkg::VerdictDrop, pst_aqm_pkg::backlog_t;
#(
    parameter int unsigned Queues = 64,              // >= 4, even
    parameter int unsigned TimeWidth = 26,           // bits of a time in ticks, 16 .. 32
    parameter int unsigned TickShift = 8,            // a tick is 2^TickShift cycles
    parameter int unsigned UpdateTicks = 13750,      // T_UPDATE; a tick of 2^8 cycles at 220 MHz: 16 ms
    parameter int unsigned Alpha = 800,              // 2^-32 per tick: 0.16 Hz
    parameter int unsigned Beta = 14993,             // 2^-32 per tick: 3 Hz
    parameter int unsigned Coupling = 2,             // k, 1 .. 4
    parameter int unsigned RampLog2 = 8,             // marks rise to all within 2^RampLog2 ticks above the threshold, to 18; 0: a step
    parameter string       RamStyle = "auto",        // per-queue memories, see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned Pairs = Queues / 2,
    localparam int unsigned PairIdWidth = $clog2(Pairs),
    localparam int unsigned HalfWidth = AqmSettingsWidth / 2,    // the setting word is {target, threshold}
    localparam int unsigned SettingWidth = TimeWidth - 8 < HalfWidth ? TimeWidth - 8 : HalfWidth
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [   TimeWidth-1:0] now_i,                 // ticks
    // the packet at the head of this queue may leave
    input  logic                    s_look_valid_i,
    input  logic [QueueIdWidth-1:0] s_look_queue_i,
    // two cycles later: it does, unless the verdict is to drop it
    input  logic                    s_take_valid_i,
    input  logic [QueueIdWidth-1:0] s_take_queue_i,
    input  logic [   TimeWidth-1:0] s_take_delay_i,        // its sojourn time in ticks
    input  backlog_t                s_take_left_i,         // bytes behind it in the queue
    input  logic                    s_take_ect_i,          // it may be marked
    output logic                    m_deq_verdict_valid_o,
    output logic [QueueIdWidth-1:0] m_deq_verdict_queue_o,
    output verdict_e                m_deq_verdict_o,
    // setting of one queue; the target counts from the pair's next update, the others at once
    input  logic                    s_cfg_valid_i,
    input  logic [QueueIdWidth-1:0] s_cfg_queue_i,
    input  aqm_cfg_t                s_cfg_i,
    // read-back of a setting, held until the answer; read in a cycle in which no packet is looked at
    input  logic                    s_read_valid_i,
    input  logic [QueueIdWidth-1:0] s_read_queue_i,
    output logic                    m_read_valid_o,
    output aqm_cfg_t                m_read_cfg_o,
    // one pulse per update: the looks of this cycle and later see it
    output logic                    ev_update_valid_o,
    output logic [ PairIdWidth-1:0] ev_update_pair_o,
    output logic                    init_done_o
);

  if (Queues < 4 || Queues % 2 != 0 || TimeWidth < 16 || TimeWidth > 32) begin : g_bad_size
    $error("pst_dualpi2: Queues is %0d, an even number of at least 4; TimeWidth is %0d, allowed: 16 .. 32", Queues, TimeWidth);
  end
  if (Coupling < 1 || Coupling > 4 || RampLog2 > 18) begin : g_bad_numbers
    $error("pst_dualpi2: Coupling is %0d, allowed: 1 .. 4; RampLog2 is %0d, allowed: 0 .. 18", Coupling, RampLog2);
  end
  if (UpdateTicks < 1 || UpdateTicks >= 2 ** SettingWidth) begin : g_bad_update
    $error("pst_dualpi2: UpdateTicks is %0d, allowed: 1 .. 2^(TimeWidth - 8) - 1", UpdateTicks);
  end
  if ((longint'(UpdateTicks) << TickShift) < longint'(Pairs) + 16) begin : g_short_update
    $error("pst_dualpi2: UpdateTicks is %0d, too short to update all %0d pairs, a pair a cycle", UpdateTicks, Pairs);
  end

  localparam int unsigned DelayWidth = SettingWidth + 2;      // four times the longest target; longer delays count as this
  localparam logic [32:0] One = {1'b1, 32'b0};                // probabilities are in 2^-32, 1 included

  typedef struct packed {
    logic                  live;        // the Classic queue was enabled at the last update
    logic [32:0]           prob;        // p'
    logic [DelayWidth-1:0] delay;       // prevq
  } base_t;

  typedef struct packed {
    logic        no_marks;    // overload of the Classic queue
    logic [32:0] coupled;     // p_CL
    logic [32:0] squared;     // p_C
  } share_t;

  typedef struct packed {
    logic                    enable;
    logic                    ecn;
    logic [SettingWidth-1:0] target;
    logic [SettingWidth-1:0] threshold;
  } cfg_t;

  typedef struct packed {
    logic                    enable;
    logic [SettingWidth-1:0] target;
  } aim_t;

  typedef struct packed {
    logic [HalfWidth-1:0] target;
    logic [HalfWidth-1:0] threshold;
  } settings_t;

  settings_t given;
  assign given = s_cfg_i.settings;

  function automatic logic [PairIdWidth-1:0] pair_of(input logic [QueueIdWidth-1:0] queue_id);
    return PairIdWidth'(queue_id >> 1);
  endfunction

  // --- clearing walk after reset; a pair's words are cleared twice

  logic init;
  logic [QueueIdWidth-1:0] init_queue;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_queue));

  assign init_done_o = !init;

  // --- departures write the latest delay of their queue

  logic delay_valid_q;
  logic [QueueIdWidth-1:0] delay_queue_q;
  logic [DelayWidth-1:0] delay_q;
  logic [1:0][DelayWidth-1:0] delay;    // of the Classic and the L4S queue that the update visits

  always_ff @(posedge clk_i) begin
    delay_valid_q <= s_take_valid_i && !rst_i;
    delay_queue_q <= s_take_queue_i;
    // An empty queue has no delay.
    delay_q       <= s_take_left_i == '0 ? '0 : |s_take_delay_i[TimeWidth-1:DelayWidth] ? '1 : s_take_delay_i[DelayWidth-1:0];
  end

  // --- the update: every UpdateTicks all pairs in turn

  logic walk, update;
  logic [PairIdWidth-1:0] walk_pair, update_pair;
  base_t base, new_base;
  share_t share, new_share;
  aim_t aim;
  logic [4:0] live_q;

  pst_aqm_walk #(
      .Visits(Pairs), .TimeWidth(TimeWidth), .Period(UpdateTicks), .Latency(7)
  ) u_walk (
      .clk_i, .rst_i, .clear_i(init), .now_i, .skip_i(1'b0),
      .visit_o(walk), .index_o(walk_pair), .write_o(update), .write_index_o(update_pair)
  );

  always_ff @(posedge clk_i) live_q <= {live_q[3:0], aim.enable};

  pst_dualpi2_update #(
      .DelayWidth(DelayWidth), .Alpha(Alpha), .Beta(Beta), .Coupling(Coupling)
  ) u_update (
      .clk_i,
      .prob_i(base.prob), .classic_i(delay[0]), .l4s_i(delay[1]), .delay_old_i(base.delay), .target_i(DelayWidth'(aim.target)),
      .start_i(!base.live || !aim.enable),
      .prob_o(new_base.prob), .delay_o(new_base.delay),
      .coupled_o(new_share.coupled), .squared_o(new_share.squared), .no_marks_o(new_share.no_marks)
  );

  assign new_base.live     = live_q[4];
  assign ev_update_valid_o = update;
  assign ev_update_pair_o  = update_pair;

  pst_ram_write_first #(
      .Width($bits(base_t)), .Depth(Pairs), .Style(RamStyle)
  ) u_base (
      .clk_i,
      .we_i(init || update), .waddr_i(init ? pair_of(init_queue) : update_pair), .wdata_i(init ? '0 : new_base),
      .re_i(walk), .raddr_i(walk_pair), .rdata_o(base)
  );

  for (genvar l4s = 0; l4s < 2; l4s++) begin : g_delay
    pst_ram_write_first #(
        .Width(DelayWidth), .Depth(Pairs), .Style(RamStyle)
    ) u_delay (
        .clk_i,
        .we_i(init || (delay_valid_q && delay_queue_q[0] == 1'(l4s))), .waddr_i(pair_of(init ? init_queue : delay_queue_q)),
        .wdata_i(init ? '0 : delay_q),
        .re_i(walk), .raddr_i(walk_pair), .rdata_o(delay[l4s])
    );
  end

  pst_ram_write_first #(
      .Width($bits(aim_t)), .Depth(Pairs), .Style(RamStyle)
  ) u_aim (
      .clk_i,
      .we_i(init || (s_cfg_valid_i && !s_cfg_queue_i[0])), .waddr_i(pair_of(init ? init_queue : s_cfg_queue_i)),
      .wdata_i(init ? '0 : {s_cfg_i.enable, given.target[SettingWidth-1:0]}),
      .re_i(walk), .raddr_i(walk_pair), .rdata_o(aim)
  );

  // --- look: setting, probabilities and count are read

  cfg_t cfg;
  logic [32:0] count;
  logic count_valid_q;
  logic [32:0] count_q;

  // A read-back, one at a time, takes a read that is not needed.
  logic read_take;
  logic [2:1] read_q;
  settings_t read_settings;

  assign read_take      = s_read_valid_i && !s_look_valid_i && read_q == '0;
  assign read_settings  = '{target: HalfWidth'(cfg.target), threshold: HalfWidth'(cfg.threshold)};
  assign m_read_valid_o = read_q[2];
  assign m_read_cfg_o   = '{enable: cfg.enable, ecn: cfg.ecn, settings: read_settings};

  always_ff @(posedge clk_i) read_q <= rst_i ? '0 : {read_q[1], read_take};

  pst_ram_write_first #(
      .Width($bits(cfg_t)), .Depth(Queues), .Style(RamStyle)
  ) u_cfg (
      .clk_i,
      .we_i(init || s_cfg_valid_i), .waddr_i(init ? init_queue : s_cfg_queue_i),
      .wdata_i(init ? '0 : {s_cfg_i.enable, s_cfg_i.ecn, given.target[SettingWidth-1:0], given.threshold[SettingWidth-1:0]}),
      .re_i(s_look_valid_i || read_take), .raddr_i(s_look_valid_i ? s_look_queue_i : s_read_queue_i), .rdata_o(cfg)
  );

  pst_ram_write_first #(
      .Width($bits(share_t)), .Depth(Pairs), .Style(RamStyle)
  ) u_share (
      .clk_i,
      .we_i(init || update), .waddr_i(init ? pair_of(init_queue) : update_pair), .wdata_i(init ? '0 : new_share),
      .re_i(s_look_valid_i), .raddr_i(pair_of(s_look_queue_i)), .rdata_o(share)
  );

  pst_ram_write_first #(
      .Width(33), .Depth(Queues), .Style(RamStyle)
  ) u_count (
      .clk_i,
      .we_i(init || count_valid_q), .waddr_i(init ? init_queue : m_deq_verdict_queue_o), .wdata_i(init ? '0 : count_q),
      .re_i(s_look_valid_i), .raddr_i(s_look_queue_i), .rdata_o(count)
  );

  // --- stage 0, with s_take: the L4S queue's own probability

  typedef struct packed {
    logic                    valid;
    logic [QueueIdWidth-1:0] queue_id;
    logic                    enable;
    logic                    able;        // it may be marked
    logic [32:0]             native;      // p'_L
    share_t                  share;
    logic [32:0]             count;
  } op_t;

  op_t op, op_q;
  logic late;    // at the threshold or above, and not alone in its queue
  logic [TimeWidth-1:0] over;

  always_comb begin
    over        = s_take_delay_i - TimeWidth'(cfg.threshold);
    late        = s_take_delay_i >= TimeWidth'(cfg.threshold) && s_take_left_i != '0;
    op.valid    = s_take_valid_i;
    op.queue_id = s_take_queue_i;
    op.enable   = cfg.enable;
    op.able     = cfg.ecn && s_take_ect_i;
    op.share    = share;
    op.count    = count;
    op.native   = !late ? '0 : RampLog2 == 0 || over >= TimeWidth'(1) << RampLog2 ? One : 33'(over) << (32 - RampLog2);
  end

  // --- stage 1: recur()

  logic l4s, overload, hit;
  logic [32:0] linear, likelihood;
  logic [33:0] sum;
  verdict_e verdict;

  always_comb begin
    l4s        = op_q.queue_id[0];
    overload   = op_q.share.coupled == One;    // p_CL is p_Lmax or more
    linear     = op_q.native > op_q.share.coupled ? op_q.native : op_q.share.coupled;
    likelihood = l4s && op_q.able && !overload ? linear : op_q.share.squared;
    sum        = 34'(op_q.count) + 34'(likelihood);
    hit        = sum > 34'(One);

    verdict = VerdictPass;
    if (op_q.enable) begin
      if (!op_q.able) begin
        if (hit) verdict = VerdictDrop;
      end else if (!l4s) begin
        if (hit) verdict = op_q.share.no_marks ? VerdictDrop : VerdictMark;
      end else if (overload) begin
        verdict = hit ? VerdictDrop : VerdictMark;
      end else if (hit) begin
        verdict = VerdictMark;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    op_q                  <= op;
    op_q.valid            <= op.valid && !rst_i;
    m_deq_verdict_valid_o <= op_q.valid && !rst_i;
    m_deq_verdict_queue_o <= op_q.queue_id;
    m_deq_verdict_o       <= op_q.valid ? verdict : VerdictPass;
    count_valid_q         <= op_q.valid && op_q.enable && !rst_i;
    count_q               <= 33'(hit ? sum - 34'(One) : sum);
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !init) begin
      if (op_q.valid) begin
        a_probabilities_are_at_most_one : assert (op_q.share.coupled <= One && op_q.share.squared <= One && op_q.count <= One);
      end
      if (count_valid_q) begin
        a_count_is_not_read_while_it_changes : assert (!$past(s_look_valid_i, 1) || $past(s_look_queue_i, 1) != m_deq_verdict_queue_o);
      end
    end
  end
`endif

endmodule
