// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// CoDel (RFC 8289) for `Queues` queues, unrolled: one operation a packet, the RFC's loop is the sequence of operations of a queue.
//
// Throughput: one packet per cycle, of any queues; one queue at most every 9 cycles.
// Latency:    s_look, two cycles later s_take, two cycles after that m_deq_verdict; the state is written 10 cycles after the look.
// Ordering:   in order.
// Reset:      every queue below target, and disabled; `Queues` cycles, then init_done_o rises.
//
// Times are TimeWidth bits of ticks (a tick is whatever the caller counts, 2^k cycles) and wrap; a state that grows old is marked before
// its times could be mistaken for others (pst_aqm_aging). The README has the transition table, why it equals the RFC's pseudo-code,
// and the hazards.
module pst_codel
  import pst_pkg::AqmSettingsWidth, pst_pkg::aqm_cfg_t;
  import pst_aqm_pkg::verdict_e, pst_aqm_pkg::VerdictPass, pst_aqm_pkg::VerdictMark, pst_aqm_pkg::VerdictDrop, pst_aqm_pkg::backlog_t;
#(
    parameter int unsigned Queues = 64,              // >= 2
    parameter int unsigned Settings = 0,             // queues with settings, where s_look_setting_i says whose count; 0: all, their own
    parameter int unsigned TimeWidth = 26,           // bits of a time in ticks, 16 .. 32; below 26 only to see wrap-around in tests
    parameter int unsigned MaxPacketBytes = 1514,    // no drop while no more than this is left behind the packet
    parameter bit          Estimate = 1'b0,          // 1: s_take_time_i is the delay itself
    parameter int unsigned GuardCount = 0,           // from so many marks and drops of a dropping state on only drops, to 65,535; 0: never
    parameter string       RamStyle = "auto",        // per-queue memories, see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned SettingCount = Settings == 0 ? Queues : Settings,
    localparam int unsigned SettingIdWidth = $clog2(SettingCount),
    localparam int unsigned HalfWidth = AqmSettingsWidth / 2,    // the setting word is {target, interval}
    localparam int unsigned SettingWidth = TimeWidth - 8 < HalfWidth ? TimeWidth - 8 : HalfWidth
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [   TimeWidth-1:0] now_i,                 // ticks
    // the packet at the head of this queue may leave
    input  logic                    s_look_valid_i,
    input  logic [QueueIdWidth-1:0] s_look_queue_i,
    input  logic [SettingIdWidth-1:0] s_look_setting_i,    // Settings: whose settings count
    // two cycles later: it does, unless the verdict is to drop it
    input  logic                    s_take_valid_i,
    input  logic [   TimeWidth-1:0] s_take_time_i,         // tick in which it was enqueued; Estimate: its delay in ticks
    input  backlog_t                s_take_left_i,         // bytes behind it in the queue
    input  logic                    s_take_ect_i,          // it may be marked
    output logic                    m_deq_verdict_valid_o,
    output logic [QueueIdWidth-1:0] m_deq_verdict_queue_o,
    output verdict_e                m_deq_verdict_o,       // VerdictPass when there is none
    // setting of one queue; taken at once
    input  logic                    s_cfg_valid_i,
    input  logic [SettingIdWidth-1:0] s_cfg_queue_i,
    input  aqm_cfg_t                s_cfg_i,               // times in ticks, the interval at least 1
    // read-back of a setting, held until the answer; read in a cycle in which no packet is looked at
    input  logic                    s_read_valid_i,
    input  logic [SettingIdWidth-1:0] s_read_queue_i,
    output logic                    m_read_valid_o,
    output aqm_cfg_t                m_read_cfg_o,
    output logic                    init_done_o
);

  if (Queues < 2) begin : g_bad_size
    $error("pst_codel: Queues is %0d, must be at least 2", Queues);
  end
  if (TimeWidth < 16 || TimeWidth > 32) begin : g_bad_time
    $error("pst_codel: TimeWidth is %0d, allowed: 16 .. 32", TimeWidth);
  end

  if (GuardCount > 65535) begin : g_bad_guard
    $error("pst_codel: GuardCount is %0d, allowed: 0 .. 65535", GuardCount);
  end

  // Of the clock reading of a round (the RFC's `now`) the lower bits are kept from operation to operation.
  localparam int unsigned RoundWidth = TimeWidth > 20 ? TimeWidth - 16 : 4;
  localparam int unsigned AuxWidth = 16 + RoundWidth;

  typedef enum logic [2:0] {
    Below         = 3'd0,    // first_above_time = 0
    Above         = 3'd1,    // first_above_time is set
    Dropping      = 3'd2,    // dropping; first_above_time has passed
    DroppingBelow = 3'd3,    // dropping; first_above_time = 0 (only after the first drop)
    Entered       = 3'd4,    // the first packet was dropped, its successor will be sent
    Loop          = 3'd5     // a packet was dropped while dropping, its successor is judged in the same round
  } mode_e;

  typedef struct packed {
    logic                 tag;          // see pst_aqm_aging
    mode_e                mode;
    logic [15:0]          count;        // RFC: count; while not dropping: count - lastcount
    logic [AuxWidth-1:0]  aux;          // Above: first_above_time; dropping: lastcount and the lower bits of the round's clock
    logic [TimeWidth-1:0] drop_next;
  } state_t;

  typedef struct packed {
    logic                    enable;
    logic                    ecn;
    logic [SettingWidth-1:0] target;
    logic [SettingWidth-1:0] interval;
  } cfg_t;

  typedef struct packed {
    logic [HalfWidth-1:0] target;
    logic [HalfWidth-1:0] interval;
  } settings_t;

  settings_t given;
  assign given = s_cfg_i.settings;

  // --- clearing walk after reset

  logic init;
  logic [QueueIdWidth-1:0] init_queue;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_queue));

  assign init_done_o = !init;

  // --- look: state, setting and mark are read

  // What stage 2 hands on: the next state, and what the control law adds to or takes from `base`.
  typedef struct packed {
    logic                    valid;
    logic [QueueIdWidth-1:0] queue_id;
    state_t                  state;       // all but drop_next
    logic [TimeWidth-1:0]    base;
    logic                    law;         // the control law is applied
    logic                    back;        // it is taken back
    logic [SettingWidth-1:0] interval;
  } late_t;

  state_t state, write_state;
  cfg_t cfg;
  logic mark;
  late_t late, late_q[3:8];    // of stages 3 to 8
  logic [QueueIdWidth-1:0] look_queue_q, take_queue;

  pst_ram_write_first #(
      .Width($bits(state_t)),
      .Depth(Queues),
      .Late(1'b1),
      .Style(RamStyle)
  ) u_state (
      .clk_i,
      .we_i   (init || late_q[8].valid),
      .waddr_i(init ? init_queue : late_q[8].queue_id),
      .wdata_i(init ? {1'b1, ($bits(state_t) - 1)'(0)} : write_state),
      .re_i   (s_look_valid_i),
      .raddr_i(s_look_queue_i),
      .rdata_o(state)
  );

  logic [SettingIdWidth-1:0] look_setting, init_setting;
  assign look_setting = Settings == 0 ? SettingIdWidth'(s_look_queue_i) : s_look_setting_i;
  assign init_setting = SettingIdWidth'(init_queue);    // Settings: again and again

  // A read-back, one at a time, takes a read that is not needed.
  logic read_take;
  logic [2:1] read_q;
  settings_t read_settings;

  assign read_take      = s_read_valid_i && !s_look_valid_i && read_q == '0;
  assign read_settings  = '{target: HalfWidth'(cfg.target), interval: HalfWidth'(cfg.interval)};
  assign m_read_valid_o = read_q[2];
  assign m_read_cfg_o   = '{enable: cfg.enable, ecn: cfg.ecn, settings: read_settings};

  always_ff @(posedge clk_i) read_q <= rst_i ? '0 : {read_q[1], read_take};

  pst_ram_write_first #(
      .Width($bits(cfg_t)),
      .Depth(SettingCount),
      .Style(RamStyle)
  ) u_cfg (
      .clk_i,
      .we_i   (init || s_cfg_valid_i),
      .waddr_i(init ? init_setting : s_cfg_queue_i),
      .wdata_i(init ? '0 : {s_cfg_i.enable, s_cfg_i.ecn, given.target[SettingWidth-1:0], given.interval[SettingWidth-1:0]}),
      .re_i   (s_look_valid_i || read_take),
      .raddr_i(s_look_valid_i ? look_setting : s_read_queue_i),
      .rdata_o(cfg)
  );

  pst_aqm_aging #(
      .Queues(Queues),
      .WriteCycles(10),
      .RamStyle(RamStyle)
  ) u_aging (
      .clk_i,
      .rst_i,
      .epoch_i      (now_i[TimeWidth-1-:4]),
      .look_valid_i (s_look_valid_i),
      .look_queue_i (s_look_queue_i),
      .mark_o       (mark),
      .write_valid_i(late_q[8].valid),
      .write_queue_i(late_q[8].queue_id),
      .write_tag_i  (late_q[8].state.tag),
      .clear_i      (init),
      .clear_queue_i(init_queue)
  );

  always_ff @(posedge clk_i) begin
    look_queue_q <= s_look_queue_i;
    take_queue   <= look_queue_q;
  end

  // --- stage 0, with s_take: the differences of times

  typedef struct packed {
    logic                    valid;
    logic [QueueIdWidth-1:0] queue_id;
    state_t                  state;
    cfg_t                    cfg;
    logic                    stale;
    logic [TimeWidth-1:0]    now;          // the RFC's `now`: when the round began
    logic [TimeWidth-1:0]    delay;
    logic [TimeWidth-1:0]    lag;          // now - drop_next
    logic                    first_due;    // now >= first_above_time
    logic                    backlog;
    logic                    mark;
  } op_t;

  op_t op, op_q, judged_q;    // stages 0, 1 and 2
  logic [RoundWidth-1:0] round;
  logic [TimeWidth-RoundWidth-1:0] now_high;
  logic [TimeWidth-1:0] first_lag;
  logic guarded;    // marks have not helped: nothing is marked

  always_comb begin
    round       = state.aux[RoundWidth-1:0];
    now_high    = now_i[TimeWidth-1:RoundWidth] - (TimeWidth - RoundWidth)'(now_i[RoundWidth-1:0] < round);
    op          = '0;
    op.valid    = s_take_valid_i;
    op.queue_id = take_queue;
    op.state    = state;
    op.cfg      = cfg;
    op.stale    = mark == state.tag;
    op.now      = state.mode == Entered || state.mode == Loop ? {now_high, round} : now_i;
    op.delay    = Estimate ? s_take_time_i : op.now - s_take_time_i;
    op.lag      = op.now - state.drop_next;
    first_lag   = now_i - state.aux[TimeWidth-1:0];    // looked at in Above only, where op.now is now_i
    op.first_due = !first_lag[TimeWidth-1] || op.stale;
    op.backlog  = s_take_left_i > backlog_t'(MaxPacketBytes);
    guarded     = GuardCount != 0 && (state.mode == Dropping || state.mode == Loop) && state.count >= 16'(GuardCount);
    op.mark     = s_take_ect_i && cfg.ecn && !guarded;
  end

  // --- stage 1: the decision

  localparam logic [TimeWidth-1:0] MaxLag = TimeWidth'(1) << (TimeWidth - 4);

  typedef struct packed {
    logic ok;          // RFC: ok_to_drop, but for first_above_time
    logic recent;      // the last drop is less than 16 intervals ago
    logic too_late;    // not served for longer than MaxLag while dropping
    logic enters;      // the dropping state, with this packet's drop
    logic again;       // the next drop of it is due
  } judgement_t;

  judgement_t judgement, judgement_q;
  logic due, dropping, leaves;
  verdict_e verdict;
  logic [15:0] count_up, law_count, law_count_q;

  always_comb begin
    // A delay in the upper half is a packet enqueued after the round began.
    judgement.ok     = !op_q.delay[TimeWidth-1] && op_q.delay >= TimeWidth'(op_q.cfg.target) && op_q.backlog;
    judgement.recent = !op_q.stale && (op_q.lag[TimeWidth-1] || op_q.lag < TimeWidth'({op_q.cfg.interval, 4'b0}));
    judgement.too_late = op_q.stale || (!op_q.lag[TimeWidth-1] && op_q.lag >= MaxLag);

    due      = !op_q.lag[TimeWidth-1] || op_q.stale;
    dropping = op_q.state.mode != Below && op_q.state.mode != Above;
    leaves   = op_q.state.mode == DroppingBelow || !judgement.ok;
    judgement.enters = op_q.state.mode == Above && judgement.ok && op_q.first_due;
    judgement.again  = dropping && op_q.state.mode != Entered && !leaves && due;

    count_up = &op_q.state.count ? op_q.state.count : op_q.state.count + 1'b1;
    if (dropping) law_count = leaves ? op_q.state.count : count_up;
    else law_count = op_q.state.count > 16'd1 && judgement.recent ? op_q.state.count : 16'd1;

    verdict = VerdictPass;
    if (op_q.valid && op_q.cfg.enable && (judgement.enters || judgement.again)) verdict = op_q.mark ? VerdictMark : VerdictDrop;
  end

  // --- stage 2: the next state

  logic [TimeWidth-1:0] drop_next;

  // A queue that was not served for very long while dropping makes up for no more than MaxLag.
  assign drop_next = judgement_q.too_late ? judged_q.now - MaxLag : judged_q.state.drop_next;

  always_comb begin
    late           = '0;
    late.valid     = judged_q.valid;
    late.queue_id  = judged_q.queue_id;
    late.state     = judged_q.state;
    late.state.tag = judged_q.state.tag ^ judged_q.stale;
    late.base      = judged_q.state.drop_next;
    late.interval  = judged_q.cfg.interval;

    unique case (judged_q.state.mode)
      Below, Above: begin
        // Once the last drop is 16 intervals ago its rate is forgotten for good.
        if (!judgement_q.recent) late.state.count = '0;
        if (!judgement_q.ok) begin
          late.state.mode = Below;
        end else if (judged_q.state.mode == Below) begin
          late.state.mode = Above;
          late.state.aux  = AuxWidth'(TimeWidth'(judged_q.now + TimeWidth'(judged_q.cfg.interval)));
        end else if (judgement_q.enters) begin
          late.law         = 1'b1;
          late.base        = judged_q.now;
          late.state.mode  = judged_q.mark ? Dropping : Entered;
          late.state.count = law_count_q;
          late.state.aux   = {law_count_q, judged_q.now[RoundWidth-1:0]};
        end
      end
      Entered: begin
        late.state.mode = judgement_q.ok ? Dropping : DroppingBelow;
        late.base       = drop_next;
      end
      default: begin
        if (judged_q.state.mode == DroppingBelow || !judgement_q.ok) begin    // leave the dropping state
          late.state.mode  = judgement_q.ok ? Above : Below;
          late.state.count = judged_q.state.count - judged_q.state.aux[AuxWidth-1-:16];
          late.state.aux   = AuxWidth'(TimeWidth'(judged_q.now + TimeWidth'(judged_q.cfg.interval)));
          // The drop before this packet has advanced drop_next; the RFC does so only if the loop goes on.
          late.law         = judged_q.state.mode == Loop;
          late.back        = 1'b1;
          if (judged_q.stale) late.state.count = '0;
        end else if (judgement_q.again) begin
          late.law         = 1'b1;
          late.base        = drop_next;
          late.state.mode  = judged_q.mark ? Dropping : Loop;
          late.state.count = law_count_q;
          late.state.aux[RoundWidth-1:0] = judged_q.now[RoundWidth-1:0];
        end else begin
          late.state.mode = Dropping;
        end
      end
    endcase

    if (!judged_q.cfg.enable) begin
      late.state.mode  = Below;
      late.state.count = '0;
      late.law         = 1'b0;
    end
  end

  // --- stages 2 to 8: the control law, and the write

  logic [SettingWidth:0] twice;    // interval / sqrt(count), with a bit behind the point
  logic [TimeWidth:0] step;

  pst_control_law #(.IntervalWidth(SettingWidth)) u_control_law (
      .clk_i,
      .count_i(law_count_q), .interval_i(late_q[6].interval), .apply_i(late_q[7].law), .twice_o(twice)
  );

  // The step is rounded to nearest: its last bit is the carry of the sum. Negative, both are inverted: -(a + b) = ~a + !b for a bit b.
  always_comb begin
    step = (TimeWidth + 1)'(twice);
    if (late_q[8].back) step = ~step;
    write_state           = late_q[8].state;
    write_state.drop_next = TimeWidth'(({late_q[8].base, 1'b1} + step) >> 1);
  end

  always_ff @(posedge clk_i) begin
    op_q        <= op;
    judged_q    <= op_q;
    judgement_q <= judgement;
    law_count_q <= law_count;
    late_q[3]   <= late;
    for (int i = 4; i <= 8; i++) late_q[i] <= late_q[i-1];

    m_deq_verdict_valid_o <= op_q.valid;
    m_deq_verdict_queue_o <= op_q.queue_id;
    m_deq_verdict_o       <= verdict;

    if (rst_i) begin
      op_q.valid            <= 1'b0;
      judged_q.valid        <= 1'b0;
      m_deq_verdict_valid_o <= 1'b0;
      for (int i = 3; i <= 8; i++) late_q[i].valid <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, s_look_setting_i, judged_q.delay, judged_q.lag, judged_q.first_due, judged_q.backlog};

`ifndef SYNTHESIS
  logic [1:0] looked_q;
  always_ff @(posedge clk_i) begin
    looked_q <= {looked_q[0], s_look_valid_i};
    if (!rst_i && init_done_o) begin
      a_taken_after_a_look : assert (!s_take_valid_i || looked_q[1])
      else $error("a packet is taken without a look two cycles before");
    end
  end
`endif

endmodule
