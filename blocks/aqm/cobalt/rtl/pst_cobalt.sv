// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// COBALT (CoDel with BLUE, as CAKE has it) for `Queues` queues: one operation a packet, one step of the control law in each.
//
// Throughput: one packet per cycle, of any queues; one queue at most every 9 cycles.
// Latency:    s_look, two cycles later s_take, two cycles after that m_deq_verdict; the state is written 10 cycles after the look.
// Ordering:   in order.
// Reset:      every queue calm, and disabled; `Queues` cycles, then init_done_o rises.
//
// Times are TimeWidth bits of ticks and wrap; a state that grows old is marked before its times could be mistaken for others
// (pst_aqm_aging). The README has the operation, how it differs from CAKE's, and the hazards.
module pst_cobalt
  import pst_pkg::AqmSettingsWidth, pst_pkg::aqm_cfg_t;
  import pst_aqm_pkg::verdict_e, pst_aqm_pkg::VerdictPass, pst_aqm_pkg::VerdictMark, pst_aqm_pkg::VerdictDrop, pst_aqm_pkg::backlog_t,
         pst_aqm_pkg::xorshift32;
#(
    parameter int unsigned Queues = 64,              // >= 2
    parameter int unsigned TimeWidth = 26,           // bits of a time in ticks, 18 .. 32; below 26 only to see wrap-around in tests
    parameter int unsigned MaxPacketBytes = 1514,    // the control law drops nothing while no more than this is left behind the packet
    parameter logic [31:0] Seed = 32'h2545F491,      // of the random numbers, not 0
    parameter string       RamStyle = "auto",        // per-queue memories, see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues)
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
    output verdict_e                m_deq_verdict_o,       // VerdictPass when there is none
    // setting of one queue; taken at once
    input  logic                    s_cfg_valid_i,
    input  logic [QueueIdWidth-1:0] s_cfg_queue_i,
    input  aqm_cfg_t                s_cfg_i,               // times in ticks, the interval at least 1
    // read-back of a setting, held until the answer; read in a cycle in which no packet is looked at
    input  logic                    s_read_valid_i,
    input  logic [QueueIdWidth-1:0] s_read_queue_i,
    output logic                    m_read_valid_o,
    output aqm_cfg_t                m_read_cfg_o,
    output logic                    init_done_o
);

  if (Queues < 2 || TimeWidth < 18 || TimeWidth > 32) begin : g_bad_size
    $error("pst_cobalt: Queues is %0d, at least 2; TimeWidth is %0d, allowed: 18 .. 32", Queues, TimeWidth);
  end

  localparam int unsigned TargetWidth = 14;
  localparam int unsigned IntervalWidth = 17;
  localparam int unsigned FullWidth = 5;
  localparam int unsigned DropWidth = 12;                            // BLUE's probability in 2^-12: the least that CAKE changes it by
  localparam logic [DropWidth-1:0] More = DropWidth'(16), Less = DropWidth'(1);    // CAKE's 2^-8 and 2^-12
  localparam logic [TimeWidth-1:0] MaxLag = TimeWidth'(1) << (TimeWidth - 4);

  typedef struct packed {
    logic                 tag;          // see pst_aqm_aging
    logic                 dropping;
    logic [15:0]          count;
    logic [TimeWidth-1:0] drop_next;
    logic                 rested;       // BLUE's timer is longer ago than the target
    logic [TimeWidth-1:0] blue_timer;
    logic [DropWidth-1:0] p_drop;
  } state_t;

  typedef struct packed {
    logic [TargetWidth-1:0]   target;
    logic [IntervalWidth-1:0] interval;
    logic [FullWidth-1:0]     full;
  } settings_t;

  typedef struct packed {
    logic      enable;
    logic      ecn;
    settings_t settings;
  } cfg_t;

  if ($bits(settings_t) != AqmSettingsWidth) begin : g_bad_settings
    $error("pst_cobalt: the settings have %0d bits, not AqmSettingsWidth, %0d", $bits(settings_t), AqmSettingsWidth);
  end

  // --- clearing walk after reset

  logic init;
  logic [QueueIdWidth-1:0] init_queue;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_queue));

  assign init_done_o = !init;

  // --- look: state, setting and mark are read

  // What stage 2 hands on: the next state, and what the control law adds to `base`.
  typedef struct packed {
    logic                     valid;
    logic [QueueIdWidth-1:0]  queue_id;
    state_t                   state;       // all but drop_next
    logic [TimeWidth-1:0]     base;
    logic                     law;         // the control law is applied
    logic                     overtake;    // drop_next is `now` where the step leaves it behind
    logic [TimeWidth-1:0]     now;
    logic [TimeWidth-1:0]     lag;         // now - base
    logic [IntervalWidth-1:0] interval;
  } late_t;

  state_t state, write_state;
  cfg_t cfg;
  logic mark;
  late_t late, late_q[3:8];    // of stages 3 to 8

  // A cleared state has the tag that is condemned: it is old from the beginning.
  pst_ram_write_first #(
      .Width($bits(state_t)), .Depth(Queues), .Late(1'b1), .Style(RamStyle)
  ) u_state (
      .clk_i,
      .we_i(init || late_q[8].valid), .waddr_i(init ? init_queue : late_q[8].queue_id), .wdata_i(init ? '0 : write_state),
      .re_i(s_look_valid_i), .raddr_i(s_look_queue_i), .rdata_o(state)
  );

  // A read-back, one at a time, takes a read that is not needed.
  logic read_take;
  logic [2:1] read_q;

  assign read_take      = s_read_valid_i && !s_look_valid_i && read_q == '0;
  assign m_read_valid_o = read_q[2];
  assign m_read_cfg_o   = '{enable: cfg.enable, ecn: cfg.ecn, settings: cfg.settings};

  always_ff @(posedge clk_i) read_q <= rst_i ? '0 : {read_q[1], read_take};

  pst_ram_write_first #(
      .Width($bits(cfg_t)), .Depth(Queues), .Style(RamStyle)
  ) u_cfg (
      .clk_i,
      .we_i(init || s_cfg_valid_i), .waddr_i(init ? init_queue : s_cfg_queue_i),
      .wdata_i(init ? '0 : {s_cfg_i.enable, s_cfg_i.ecn, s_cfg_i.settings}),
      .re_i(s_look_valid_i || read_take), .raddr_i(s_look_valid_i ? s_look_queue_i : s_read_queue_i), .rdata_o(cfg)
  );

  pst_aqm_aging #(
      .Queues(Queues), .WriteCycles(10), .FirstTag(1'b0), .RamStyle(RamStyle)
  ) u_aging (
      .clk_i, .rst_i,
      .epoch_i(now_i[TimeWidth-1-:4]),
      .look_valid_i(s_look_valid_i), .look_queue_i(s_look_queue_i), .mark_o(mark),
      .write_valid_i(late_q[8].valid), .write_queue_i(late_q[8].queue_id), .write_tag_i(late_q[8].state.tag),
      .clear_i(init), .clear_queue_i(init_queue)
  );

  // --- stage 0, with s_take: the differences of times, and a random number

  typedef struct packed {
    logic                    valid;
    logic [QueueIdWidth-1:0] queue_id;
    state_t                  state;
    cfg_t                    cfg;
    logic                    stale;
    logic [TimeWidth-1:0]    now;
    logic [TimeWidth-1:0]    lag;          // now - drop_next
    logic                    over;         // above the target, and not alone
    logic                    rested;
    logic                    unlucky;      // BLUE drops it
    logic                    full;
    logic                    empty;
    logic                    mark;
  } op_t;

  op_t op, op_q, judged_q;    // stages 0, 1 and 2
  logic [31:0] random_q;

  always_comb begin
    op.valid    = s_take_valid_i;
    op.queue_id = s_take_queue_i;
    op.state    = state;
    op.cfg      = cfg;
    op.stale    = mark == state.tag;
    op.now      = now_i;
    op.lag      = now_i - state.drop_next;
    op.over     = s_take_delay_i > TimeWidth'(cfg.settings.target) && s_take_left_i > backlog_t'(MaxPacketBytes);
    op.rested   = state.rested || op.stale || TimeWidth'(now_i - state.blue_timer) > TimeWidth'(cfg.settings.target);
    op.unlucky  = random_q[31-:DropWidth] < state.p_drop && s_take_left_i != '0;
    op.full     = (s_take_left_i >> cfg.settings.full) != '0;
    op.empty    = s_take_left_i == '0;
    op.mark     = s_take_ect_i && cfg.ecn;
  end

  // --- stage 1: the decision

  typedef struct packed {
    logic        fresh;      // nothing was due for so long that what was is forgotten
    logic        behind;     // drop_next has passed
    logic        enters;     // the dropping state
    logic        acts;       // the control law's drop, or mark
    logic        down;       // count goes down
    logic [15:0] count;      // after this packet
    logic        dropped;
  } judgement_t;

  judgement_t judgement, judgement_q;
  logic dropping, due, late_for_long;
  logic [15:0] count, law_count_q;
  verdict_e verdict;

  always_comb begin
    late_for_long = !op_q.lag[TimeWidth-1] && op_q.lag >= MaxLag;
    judgement.fresh  = op_q.stale || late_for_long;
    judgement.behind = judgement.fresh || (!op_q.lag[TimeWidth-1] && op_q.lag != '0);
    count    = judgement.fresh ? '0 : op_q.state.count;
    dropping = op_q.state.dropping && !judgement.fresh;
    due      = count != '0 && !op_q.lag[TimeWidth-1];
    judgement.enters = op_q.over && !dropping;
    judgement.acts   = op_q.over && dropping && due;
    judgement.down   = !op_q.over && due;
    judgement.count  = count;
    if (judgement.enters && count == '0) judgement.count = 16'd1;
    if (judgement.acts && !(&count)) judgement.count = count + 1'b1;
    if (judgement.down) judgement.count = count - 1'b1;

    verdict = VerdictPass;
    if (op_q.valid && op_q.cfg.enable) begin
      if (judgement.acts) verdict = op_q.mark ? VerdictMark : VerdictDrop;
      if (op_q.unlucky) verdict = VerdictDrop;
    end
    judgement.dropped = verdict == VerdictDrop;
  end

  // --- stage 2: the next state

  always_comb begin
    late                  = '0;
    late.valid            = judged_q.valid;
    late.queue_id         = judged_q.queue_id;
    late.state            = judged_q.state;
    late.state.tag        = judged_q.state.tag ^ judged_q.stale;
    late.state.dropping   = judged_q.over;
    late.state.count      = judgement_q.count;
    late.state.rested     = judged_q.rested;
    late.now              = judged_q.now;
    late.interval         = judged_q.cfg.settings.interval;
    late.base             = judged_q.state.drop_next;
    late.lag              = judged_q.lag;

    if (judgement_q.count == '0) begin    // an activity timeout: an interval from now
      late.base = judged_q.now;
      late.law  = 1'b1;
    end else if (judgement_q.enters) begin
      late.base = judged_q.now;
      late.law  = judgement_q.dropped || !judgement_q.behind;    // CAKE: at once if drop_next has passed
    end else begin
      late.law      = judgement_q.acts || judgement_q.down;
      late.overtake = judgement_q.acts && !judgement_q.dropped;
    end

    // BLUE
    if (judged_q.full) begin
      if (judged_q.rested) begin
        late.state.p_drop     = judged_q.state.p_drop > ~More ? '1 : judged_q.state.p_drop + More;
        late.state.blue_timer = judged_q.now;
        late.state.rested     = 1'b0;
      end
      late.state.dropping = 1'b1;
      if (judgement_q.count == '0) late.state.count = 16'd1;
      late.base     = judged_q.now;
      late.law      = 1'b0;
      late.overtake = 1'b0;
    end else if (judged_q.empty && judged_q.state.p_drop != '0 && judged_q.rested) begin
      late.state.p_drop     = judged_q.state.p_drop - Less;
      late.state.blue_timer = judged_q.now;
      late.state.rested     = 1'b0;
    end

    if (!judged_q.cfg.enable) begin
      late.state.dropping   = 1'b0;
      late.state.count      = '0;
      late.state.p_drop     = '0;
      late.state.rested     = judged_q.rested;
      late.state.blue_timer = judged_q.state.blue_timer;
      late.base             = judged_q.now;
      late.law              = 1'b1;
      late.overtake         = 1'b0;
    end
  end

  // --- stages 2 to 8: the control law, and the write

  logic [IntervalWidth:0] twice;    // interval / sqrt(count), with a bit behind the point
  logic [IntervalWidth:0] step;     // rounded to nearest

  pst_control_law #(.IntervalWidth(IntervalWidth)) u_control_law (
      .clk_i,
      .count_i(law_count_q), .interval_i(late_q[6].interval), .apply_i(late_q[7].law), .twice_o(twice)
  );

  always_comb begin
    step                  = (twice + 1'b1) >> 1;
    write_state           = late_q[8].state;
    write_state.drop_next = late_q[8].overtake && late_q[8].lag > TimeWidth'(step) ? late_q[8].now : late_q[8].base + TimeWidth'(step);
  end

  always_ff @(posedge clk_i) begin
    if (s_take_valid_i) random_q <= xorshift32(random_q);
    op_q        <= op;
    judged_q    <= op_q;
    judgement_q <= judgement;
    // A queue that is off, or calm, takes the whole interval.
    law_count_q <= op_q.cfg.enable ? judgement.count : '0;
    late_q[3]   <= late;
    for (int i = 4; i <= 8; i++) late_q[i] <= late_q[i-1];

    m_deq_verdict_valid_o <= op_q.valid;
    m_deq_verdict_queue_o <= op_q.queue_id;
    m_deq_verdict_o       <= verdict;

    if (rst_i) begin
      random_q              <= Seed;
      op_q.valid            <= 1'b0;
      judged_q.valid        <= 1'b0;
      m_deq_verdict_valid_o <= 1'b0;
      for (int i = 3; i <= 8; i++) late_q[i].valid <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, judged_q.unlucky, judged_q.mark, judged_q.cfg, judged_q.state, judgement_q.fresh};

`ifndef SYNTHESIS
  logic [1:0] looked_q;
  always_ff @(posedge clk_i) begin
    looked_q <= {looked_q[0], s_look_valid_i};
    if (!rst_i && init_done_o) begin
      a_taken_after_a_look : assert (!s_take_valid_i || looked_q[1])
      else $error("a packet is taken without a look two cycles before");
      a_random_goes_on : assert (random_q != '0);
    end
  end
`endif

endmodule
