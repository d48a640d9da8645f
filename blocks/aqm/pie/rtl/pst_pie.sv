// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// PIE (RFC 8033) for `Queues` queues, with time stamps in place of the departure rate (section 4.3) and de-randomisation (section 5.4).
//
// Throughput: one arrival and one departure per cycle, of any queues, the same one included; the periodic update visits one queue per
//             cycle once every UpdateTicks, beside them.
// Latency:    s_enq to m_enq_verdict 4 cycles; the delay of a departure counts from the next update.
// Ordering:   in order.
// Reset:      every queue disabled; `Queues` cycles, then init_done_o rises.
//
// Every memory has one writer: arrivals own the accumulated probability, departures the latest delay, the update everything else.
module pst_pie
  import pst_pkg::AqmSettingsWidth, pst_pkg::aqm_cfg_t;
  import pst_aqm_pkg::verdict_e, pst_aqm_pkg::VerdictPass, pst_aqm_pkg::VerdictMark, pst_aqm_pkg::VerdictDrop, pst_aqm_pkg::backlog_t,
         pst_aqm_pkg::xorshift32;
  import pst_pie_pkg::*;
#(
    parameter int unsigned Queues = 64,              // >= 2
    parameter int unsigned TimeWidth = 26,           // bits of a time in ticks, 16 .. 32
    parameter int unsigned TickShift = 8,            // a tick is 2^TickShift cycles
    parameter int unsigned UpdateTicks = PieUpdateTicks, // T_UPDATE; a tick of 2^8 cycles at 220 MHz: 15 ms
    parameter int unsigned Alpha = PieAlpha,         // 2^-32 per tick: 0.125 Hz
    parameter int unsigned Beta = PieBeta,           // 2^-32 per tick: 1.25 Hz
    parameter int unsigned MeanPacketBytes = PieMeanPacketBytes, // no drop while no more than two of these are queued
    parameter bit          Estimate = 1'b0,          // 1: s_take_time_i is the delay itself
    parameter logic [31:0] Seed = 32'h2545F491,      // of the random numbers, not 0
    parameter string       RamStyle = "auto",        // per-queue memories, see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned HalfWidth = AqmSettingsWidth / 2,    // the setting word is {target, burst}
    localparam int unsigned SettingWidth = TimeWidth - 8 < HalfWidth ? TimeWidth - 8 : HalfWidth
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [   TimeWidth-1:0] now_i,                 // ticks
    // a packet arrives
    input  logic                    s_enq_valid_i,
    input  logic [QueueIdWidth-1:0] s_enq_queue_i,
    input  logic                    s_enq_ect_i,           // it may be marked
    input  backlog_t                s_enq_backlog_i,       // two cycles later: bytes in its queue before it
    output logic                    m_enq_verdict_valid_o,
    output logic [QueueIdWidth-1:0] m_enq_verdict_queue_o,
    output verdict_e                m_enq_verdict_o,
    // a packet departs
    input  logic                    s_take_valid_i,
    input  logic [QueueIdWidth-1:0] s_take_queue_i,
    input  logic [   TimeWidth-1:0] s_take_time_i,         // tick in which it was enqueued; Estimate: its delay in ticks
    input  backlog_t                s_take_left_i,         // bytes behind it in the queue
    // setting of one queue; counts from its next update
    input  logic                    s_cfg_valid_i,
    input  logic [QueueIdWidth-1:0] s_cfg_queue_i,
    input  aqm_cfg_t                s_cfg_i,               // QDELAY_REF and MAX_BURST in ticks
    // read-back of a setting, held until the answer; read in a cycle in which no queue is updated
    input  logic                    s_read_valid_i,
    input  logic [QueueIdWidth-1:0] s_read_queue_i,
    output logic                    m_read_valid_o,
    output aqm_cfg_t                m_read_cfg_o,
    // one pulse per update: the arrivals of this cycle and later see it
    output logic                    ev_update_valid_o,
    output logic [QueueIdWidth-1:0] ev_update_queue_o,
    output logic                    init_done_o
);

  if (Queues < 2 || TimeWidth < 16 || TimeWidth > 32) begin : g_bad_size
    $error("pst_pie: Queues is %0d, at least 2; TimeWidth is %0d, allowed: 16 .. 32", Queues, TimeWidth);
  end
  if (Alpha < 1 || Alpha > 65535 || Beta < 1 || Beta > 65535) begin : g_bad_gain
    $error("pst_pie: Alpha is %0d and Beta is %0d, allowed: 1 .. 65,535", Alpha, Beta);
  end
  if (UpdateTicks < 1 || UpdateTicks >= 2 ** SettingWidth) begin : g_bad_update
    $error("pst_pie: UpdateTicks is %0d, allowed: 1 .. 2^(TimeWidth - 8) - 1", UpdateTicks);
  end
  if ((longint'(UpdateTicks) << TickShift) < longint'(Queues) + 16) begin : g_short_update
    $error("pst_pie: UpdateTicks is %0d, too short to update all %0d queues, a queue a cycle", UpdateTicks, Queues);
  end

  localparam int unsigned DelayWidth = SettingWidth + 2;      // four times the longest target; longer delays count as this
  localparam int unsigned AccuWidth = 36;                     // accumulated probability, 2^-32, below 16
  localparam logic [31:0] Tenth = 32'd429496729;              // mark_ecnth, 2^-32
  localparam logic [AccuWidth-1:0] AccuLow = 36'd3650722202;   // 0.85
  localparam logic [AccuWidth-1:0] AccuHigh = 36'd36507222016;  // 8.5

  typedef struct packed {
    logic                    live;        // enabled at the last update
    logic [31:0]             prob;
    logic [DelayWidth-1:0]   delay;       // at the last update
    logic [SettingWidth-1:0] burst;
  } state_t;

  typedef struct packed {
    logic        active;      // not protected by a burst allowance, not guarded
    logic        ecn;
    logic [31:0] prob;
  } share_t;

  typedef struct packed {
    logic                    enable;
    logic                    ecn;
    logic [SettingWidth-1:0] target;
    logic [SettingWidth-1:0] burst;
  } cfg_t;

  typedef struct packed {
    logic [HalfWidth-1:0] target;
    logic [HalfWidth-1:0] burst;
  } settings_t;

  settings_t given;
  assign given = s_cfg_i.settings;

  // --- clearing walk after reset

  logic init;
  logic [QueueIdWidth-1:0] init_queue;

  pst_clear_walk #(.Depth(Queues)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_queue));

  assign init_done_o = !init;

  // --- departures write the latest delay

  logic [TimeWidth-1:0] age;
  logic delay_valid_q;
  logic [QueueIdWidth-1:0] delay_queue_q;
  logic [DelayWidth-1:0] delay_q, delay;

  assign age = Estimate ? s_take_time_i : now_i - s_take_time_i;

  always_ff @(posedge clk_i) begin
    delay_valid_q <= s_take_valid_i && !rst_i;
    delay_queue_q <= s_take_queue_i;
    // An empty queue has no delay.
    delay_q       <= s_take_left_i == '0 ? '0 : |age[TimeWidth-1:DelayWidth] ? '1 : age[DelayWidth-1:0];
  end

  // --- the update: every UpdateTicks all queues in turn

  logic walk, update;         // a queue's words are read; they are written
  logic [7:0] read_wait_q;    // cycles for which a read-back has waited
  logic read_late_q;
  logic [QueueIdWidth-1:0] walk_queue, update_queue;
  state_t state, new_state;
  share_t new_share;
  cfg_t cfg, cfg_q[5];
  logic [DelayWidth-1:0] seen_q[5];
  logic [31:0] prob;
  logic [SettingWidth-1:0] burst;
  logic guarded;

  always_ff @(posedge clk_i) begin
    cfg_q[0]  <= cfg;
    seen_q[0] <= delay;
    for (int i = 1; i < 5; i++) begin
      cfg_q[i]  <= cfg_q[i-1];
      seen_q[i] <= seen_q[i-1];
    end
  end

  pst_aqm_walk #(
      .Visits(Queues), .TimeWidth(TimeWidth), .Period(UpdateTicks), .Latency(7)
  ) u_walk (
      .clk_i, .rst_i, .clear_i(init), .now_i, .skip_i(read_late_q),
      .visit_o(walk), .index_o(walk_queue), .write_o(update), .write_index_o(update_queue)
  );

  pst_pie_update #(
      .DelayWidth(DelayWidth),
      .BurstWidth(SettingWidth),
      .UpdateTicks(UpdateTicks),
      .Alpha(Alpha),
      .Beta(Beta)
  ) u_update (
      .clk_i,
      .prob_i     (state.prob),
      .delay_i    (delay),
      .delay_old_i(state.delay),
      .target_i   (DelayWidth'(cfg.target)),
      .burst_i    (state.burst),
      .max_burst_i(cfg.burst),
      .start_i    (!state.live || !cfg.enable),
      .prob_o     (prob),
      .burst_o    (burst),
      .guarded_o  (guarded)
  );

  assign new_state = '{live: cfg_q[4].enable, prob: prob, delay: seen_q[4], burst: burst};
  assign new_share = '{active: cfg_q[4].enable && burst == '0 && !guarded, ecn: cfg_q[4].ecn, prob: prob};

  assign ev_update_valid_o = update;
  assign ev_update_queue_o = update_queue;

  pst_ram_write_first #(
      .Width($bits(state_t)),
      .Depth(Queues),
      .Style(RamStyle)
  ) u_state (
      .clk_i,
      .we_i   (init || update),
      .waddr_i(init ? init_queue : update_queue),
      .wdata_i(init ? '0 : new_state),
      .re_i   (walk),
      .raddr_i(walk_queue),
      .rdata_o(state)
  );

  pst_ram_write_first #(
      .Width(DelayWidth),
      .Depth(Queues),
      .Style(RamStyle)
  ) u_delay (
      .clk_i,
      .we_i   (init || delay_valid_q),
      .waddr_i(init ? init_queue : delay_queue_q),
      .wdata_i(init ? '0 : delay_q),
      .re_i   (walk),
      .raddr_i(walk_queue),
      .rdata_o(delay)
  );

  // A read-back, one at a time, takes a read that is not needed; after 256 cycles it takes one from the walk, which goes on a cycle later.
  logic read_take;
  logic [2:1] read_q;
  settings_t read_settings;

  assign read_take      = s_read_valid_i && !walk && read_q == '0;
  assign read_settings  = '{target: HalfWidth'(cfg.target), burst: HalfWidth'(cfg.burst)};
  assign m_read_valid_o = read_q[2];
  assign m_read_cfg_o   = '{enable: cfg.enable, ecn: cfg.ecn, settings: read_settings};

  always_ff @(posedge clk_i) begin
    read_q      <= rst_i ? '0 : {read_q[1], read_take};
    read_wait_q <= s_read_valid_i && !read_take && read_q == '0 ? read_wait_q + 1'b1 : '0;
    read_late_q <= !rst_i && s_read_valid_i && !read_take && read_q == '0 && &read_wait_q;
    if (rst_i) read_wait_q <= '0;
  end

  pst_ram_write_first #(
      .Width($bits(cfg_t)),
      .Depth(Queues),
      .Style(RamStyle)
  ) u_cfg (
      .clk_i,
      .we_i   (init || s_cfg_valid_i),
      .waddr_i(init ? init_queue : s_cfg_queue_i),
      .wdata_i(init ? '0 : {s_cfg_i.enable, s_cfg_i.ecn, given.target[SettingWidth-1:0], given.burst[SettingWidth-1:0]}),
      .re_i   (walk || read_take),
      .raddr_i(walk ? walk_queue : s_read_queue_i),
      .rdata_o(cfg)
  );

  // --- arrivals: read (0, 1), compare (2), decide (3)

  typedef struct packed {
    logic                    valid;
    logic [QueueIdWidth-1:0] queue_id;
    logic                    ect;
  } enq_t;

  enq_t e_q, e_q2, e_q3;
  logic brief_q;    // e_q3: no more than two packets are queued
  share_t share, share_q;
  logic [31:0] random_q, drawn_1_q, drawn_2_q;    // one number per arrival
  logic [AccuWidth-1:0] accu, accu_q, accu_now, accu_sum, accu_new, accu_1_q, accu_2_q, accu_3_q;
  logic hit_1_q, hit_2_q, hit_3_q, drawn_q, hit;
  logic [QueueIdWidth-1:0] done_1_q, done_2_q;
  logic done_1_valid_q, done_2_valid_q;
  verdict_e verdict;

  pst_ram_write_first #(
      .Width($bits(share_t)),
      .Depth(Queues),
      .Style(RamStyle)
  ) u_share (
      .clk_i,
      .we_i   (init || update),
      .waddr_i(init ? init_queue : update_queue),
      .wdata_i(init ? '0 : new_share),
      .re_i   (s_enq_valid_i),
      .raddr_i(s_enq_queue_i),
      .rdata_o(share)
  );

  pst_ram_write_first #(
      .Width(AccuWidth),
      .Depth(Queues),
      .Style(RamStyle)
  ) u_accu (
      .clk_i,
      .we_i   (init || done_1_valid_q),
      .waddr_i(init ? init_queue : done_1_q),
      .wdata_i(init ? '0 : accu_1_q),
      .re_i   (s_enq_valid_i),
      .raddr_i(s_enq_queue_i),
      .rdata_o(accu)
  );

  always_comb begin
    // An arrival read its word before the last three commits were in the memory.
    accu_now = accu_q;
    if (hit_3_q) accu_now = accu_3_q;
    if (hit_2_q) accu_now = accu_2_q;
    if (hit_1_q) accu_now = accu_1_q;
    accu_sum = share_q.prob == '0 ? '0 : accu_now + AccuWidth'(share_q.prob);
    hit      = (drawn_q && accu_sum >= AccuLow) || accu_sum >= AccuHigh;
    verdict  = VerdictPass;
    accu_new = accu_now;
    if (share_q.active && !brief_q) begin
      accu_new = hit ? '0 : accu_sum;
      if (hit) verdict = share_q.ecn && e_q3.ect && share_q.prob <= Tenth ? VerdictMark : VerdictDrop;
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_enq_valid_i) random_q <= xorshift32(random_q);
    e_q      <= '{valid: s_enq_valid_i, queue_id: s_enq_queue_i, ect: s_enq_ect_i};
    drawn_1_q <= random_q;
    drawn_2_q <= drawn_1_q;
    e_q2     <= e_q;
    e_q3     <= e_q2;
    brief_q  <= s_enq_backlog_i <= backlog_t'(2 * MeanPacketBytes);
    share_q  <= share;
    accu_q   <= accu;
    drawn_q  <= drawn_2_q < share.prob;
    hit_1_q  <= e_q3.valid && e_q3.queue_id == e_q2.queue_id;
    hit_2_q  <= done_1_valid_q && done_1_q == e_q2.queue_id;
    hit_3_q  <= done_2_valid_q && done_2_q == e_q2.queue_id;
    accu_1_q <= accu_new;
    accu_2_q <= accu_1_q;
    accu_3_q <= accu_2_q;
    done_1_q <= e_q3.queue_id;
    done_2_q <= done_1_q;
    done_1_valid_q <= e_q3.valid;
    done_2_valid_q <= done_1_valid_q;

    m_enq_verdict_valid_o <= e_q3.valid;
    m_enq_verdict_queue_o <= e_q3.queue_id;
    m_enq_verdict_o       <= verdict;

    if (rst_i) begin
      random_q              <= Seed;
      e_q.valid             <= 1'b0;
      e_q2.valid            <= 1'b0;
      e_q3.valid            <= 1'b0;
      done_1_valid_q        <= 1'b0;
      done_2_valid_q        <= 1'b0;
      m_enq_verdict_valid_o <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_random_goes_on : assert (random_q != '0);  // 0 would stay 0
    end
  end
`endif

endmodule
