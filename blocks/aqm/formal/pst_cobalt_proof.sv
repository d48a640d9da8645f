// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// For two queues, looks as close as they may be, and settings in any cycle: each packet is judged by the state that the one before it in its
// queue has left, and by the latest setting. A queue that is off loses and marks nothing; a packet that leaves nothing behind passes; marks
// are of packets that may be marked; without BLUE's probability a packet below the target passes. count changes by one, unless it is
// forgotten, and p_drop by 2^-8 up or 2^-12 down, and only when BLUE's timer is over, which begins anew then.
//
// Assumed: looks at one queue are nine cycles apart, a packet is taken two cycles after its look. Any state may be old, and any step of the
// control law comes out.
module pst_cobalt_proof
  import pst_pkg::aqm_cfg_t;
  import pst_aqm_pkg::verdict_e, pst_aqm_pkg::VerdictPass, pst_aqm_pkg::VerdictMark, pst_aqm_pkg::VerdictDrop, pst_aqm_pkg::backlog_t;
#(
    localparam int unsigned TimeWidth = 18,
    localparam int unsigned MaxPacketBytes = 1514
) (
    input logic                 clk_i,
    input logic                 rst_i,
    input logic [TimeWidth-1:0] now_i,
    input logic                 look_i,
    input logic                 look_queue_i,
    input logic                 take_i,           // the packet of the look two cycles before
    input logic [TimeWidth-1:0] delay_i,
    input backlog_t             left_i,
    input logic                 ect_i,
    input logic                 cfg_valid_i,
    input logic                 cfg_queue_i,
    input aqm_cfg_t             cfg_i,
    input logic                 read_i,
    input logic                 read_queue_i
);

  localparam int unsigned Write = 10;    // cycles from a look to the write

  typedef struct packed {
    logic                 tag;
    logic                 dropping;
    logic [15:0]          count;
    logic [TimeWidth-1:0] drop_next;
    logic                 rested;
    logic [TimeWidth-1:0] blue_timer;
    logic [11:0]          p_drop;
  } state_t;

  typedef struct packed {
    logic     valid;
    logic     queue_id;
    aqm_cfg_t cfg;
  } look_t;

  typedef struct packed {
    logic     valid;
    logic     queue_id;
    aqm_cfg_t cfg;
    backlog_t left;
    logic     ect;
    logic     below;    // at the target or below
    logic     calm;     // p_drop is 0
  } packet_t;

  logic init_done, verdict_valid, verdict_queue, seen_q;
  verdict_e verdict;
  look_t look;
  look_t [Write:1] look_q;         // 1 to 10 cycles ago
  logic [Write:3] taken_q;         // of these, whether a packet was taken
  packet_t packet2, packet3_q, packet4_q;
  state_t [1:0] state_q;           // what the last packet of each queue has left
  state_t [Write:5] next_q;        // what stage 2 has made of it
  aqm_cfg_t [1:0] cfg_q;

  pst_cobalt #(
      .Queues(2), .TimeWidth(TimeWidth), .MaxPacketBytes(MaxPacketBytes)
  ) u_dut (
      .clk_i, .rst_i, .now_i,
      .s_look_valid_i(look_i), .s_look_queue_i(look_queue_i),
      .s_take_valid_i(take_i), .s_take_queue_i(look_q[2].queue_id), .s_take_delay_i(delay_i), .s_take_left_i(left_i), .s_take_ect_i(ect_i),
      .m_deq_verdict_valid_o(verdict_valid), .m_deq_verdict_queue_o(verdict_queue), .m_deq_verdict_o(verdict),
      .s_cfg_valid_i(cfg_valid_i), .s_cfg_queue_i(cfg_queue_i), .s_cfg_i(cfg_i),
      .s_read_valid_i(read_i), .s_read_queue_i(read_queue_i), .m_read_valid_o(), .m_read_cfg_o(),
      .init_done_o(init_done)
  );

  // --- the reference

  always_comb begin
    look = '{valid: look_i, queue_id: look_queue_i, cfg: cfg_valid_i && cfg_queue_i == look_queue_i ? cfg_i : cfg_q[look_queue_i]};
    packet2 = '{
        valid: take_i, queue_id: look_q[2].queue_id, cfg: look_q[2].cfg, left: left_i, ect: ect_i,
        below: delay_i <= TimeWidth'(look_q[2].cfg.settings[22+:14]), calm: state_q[look_q[2].queue_id].p_drop == '0
    };
  end

  initial seen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    seen_q    <= 1'b1;
    look_q    <= {look_q[Write-1:1], look};
    taken_q   <= {taken_q[Write-1:3], take_i};
    packet3_q <= packet2;
    packet4_q <= packet3_q;
    next_q    <= {next_q[Write-1:5], u_dut.late.state};
    if (cfg_valid_i) cfg_q[cfg_queue_i] <= cfg_i;
    if (u_dut.late_q[8].valid) state_q[u_dut.late_q[8].queue_id] <= u_dut.write_state;
    if (rst_i) begin
      for (int i = 1; i <= int'(Write); i++) look_q[i].valid <= 1'b0;
      taken_q         <= '0;
      packet3_q.valid <= 1'b0;
      packet4_q.valid <= 1'b0;
      state_q         <= '0;
      cfg_q           <= '0;
    end
  end

  // How a state may follow another: single steps.
  function automatic logic follows(state_t old, state_t next);
    logic count_ok, blue_ok;
    count_ok = next.count == old.count || next.count == old.count + 16'd1 || next.count == old.count - 16'd1 || next.count <= 16'd1;
    blue_ok  = next.p_drop == old.p_drop || next.p_drop == '0
               || (!next.rested && next.p_drop == old.p_drop - 12'd1)
               || (!next.rested && next.p_drop == (old.p_drop > 12'd4079 ? 12'd4095 : old.p_drop + 12'd16));
    return count_ok && blue_ok && (next.p_drop <= old.p_drop || !next.rested);
  endfunction

  // --- what is assumed

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (look_i || cfg_valid_i || read_i) m_cleared_first : assume (init_done);
    if (take_i) m_taken_after_a_look : assume (look_q[2].valid);
    for (int i = 1; i <= 8; i++) if (look_i && look_q[i].valid) m_nine_cycles_apart : assume (look_q[i].queue_id != look_queue_i);
  end

  // --- what must be

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      a_answer_comes : assert (verdict_valid == packet4_q.valid);
      if (verdict_valid) begin
        a_queue : assert (verdict_queue == packet4_q.queue_id);
        if (!packet4_q.cfg.enable) a_off : assert (verdict == VerdictPass);
        if (packet4_q.left == '0) a_last_packet_passes : assert (verdict == VerdictPass);
        if (verdict == VerdictMark) a_may_be_marked : assert (packet4_q.ect && packet4_q.cfg.ecn);
        if (packet4_q.calm && (packet4_q.below || packet4_q.left <= backlog_t'(MaxPacketBytes))) a_below : assert (verdict == VerdictPass);
      end
      // the state that is written: single steps from the one before
      if (taken_q[4]) a_single_steps : assert (follows(u_dut.judged_q.state, u_dut.late.state));
      if (u_dut.late_q[8].valid) begin
        a_written : assert (u_dut.write_state.tag == next_q[Write].tag && u_dut.write_state.dropping == next_q[Write].dropping
                            && u_dut.write_state.count == next_q[Write].count && u_dut.write_state.rested == next_q[Write].rested
                            && u_dut.write_state.blue_timer == next_q[Write].blue_timer
                            && u_dut.write_state.p_drop == next_q[Write].p_drop);
      end

      // states and settings are those of the reference, in their memories and on their way
      if (u_dut.init) a_nothing_yet : assert (state_q == '0 && cfg_q == '0);
      for (int q = 0; q < 2; q++) begin
        if (!u_dut.init || q < 32'(u_dut.init_queue)) begin
          a_state : assert (u_dut.u_state.u_ram.mem[q] == state_q[q]);
          a_cfg : assert (u_dut.u_cfg.u_ram.mem[q] == cfg_q[q]);
        end
      end
      if (look_q[1].valid) begin
        a_state1 : assert (u_dut.u_state.raddr_q == look_q[1].queue_id
                           && (u_dut.u_state.hit_q ? u_dut.u_state.new_q : u_dut.u_state.word) == state_q[look_q[1].queue_id]);
        a_cfg1 : assert ((u_dut.u_cfg.hit_q ? u_dut.u_cfg.new_q : u_dut.u_cfg.word) == look_q[1].cfg);
      end
      if (look_q[2].valid) begin
        a_latest_state : assert (u_dut.state == state_q[look_q[2].queue_id]);
        a_latest_setting : assert (u_dut.cfg == look_q[2].cfg);
      end

      // the stages of the operation
      a_op_valid : assert (u_dut.op_q.valid == taken_q[3] && packet3_q.valid == taken_q[3] && (!taken_q[3] || look_q[3].valid));
      if (taken_q[3]) begin
        a_op : assert (u_dut.op_q.queue_id == look_q[3].queue_id && packet3_q.queue_id == look_q[3].queue_id
                       && u_dut.op_q.cfg == packet3_q.cfg && u_dut.op_q.state == state_q[look_q[3].queue_id]);
        a_op_packet : assert (u_dut.op_q.mark == (packet3_q.ect && packet3_q.cfg.ecn) && u_dut.op_q.empty == (packet3_q.left == '0)
                              && u_dut.op_q.over == (!packet3_q.below && packet3_q.left > backlog_t'(MaxPacketBytes))
                              && (!u_dut.op_q.unlucky || (packet3_q.left != '0 && !packet3_q.calm)));
      end
      a_judged_valid : assert (u_dut.judged_q.valid == taken_q[4] && packet4_q.valid == taken_q[4] && (!taken_q[4] || look_q[4].valid));
      if (taken_q[4]) begin
        a_judged : assert (u_dut.judged_q.queue_id == look_q[4].queue_id && packet4_q.queue_id == look_q[4].queue_id
                           && u_dut.judged_q.state == state_q[look_q[4].queue_id]);
        a_judged_count : assert (u_dut.judgement_q.count == u_dut.judged_q.state.count
                                 || u_dut.judgement_q.count == u_dut.judged_q.state.count + 16'd1
                                 || u_dut.judgement_q.count == u_dut.judged_q.state.count - 16'd1 || u_dut.judgement_q.count <= 16'd1);
      end
      for (int i = 3; i <= 8; i++) begin
        a_late_valid : assert (u_dut.late_q[i].valid == taken_q[i+2] && (!taken_q[i+2] || look_q[i+2].valid));
        if (taken_q[i+2]) begin
          a_late : assert (u_dut.late_q[i].queue_id == look_q[i+2].queue_id && u_dut.late_q[i].state == next_q[i+2]);
        end
      end
      for (int i = 1; i <= int'(Write); i++) begin
        if (look_q[i].valid) a_after_clearing : assert (init_done);
        for (int j = 1; j < i; j++) begin
          if (i - j < 9 && look_q[i].valid && look_q[j].valid) a_apart : assert (look_q[i].queue_id != look_q[j].queue_id);
        end
      end

      c_look_meets_write : cover (look_q[1].valid && u_dut.late_q[8].valid && u_dut.late_q[8].queue_id == look_q[1].queue_id);
      c_unlucky : cover (verdict_valid && verdict == VerdictDrop && packet4_q.below);
      c_marked : cover (verdict_valid && verdict == VerdictMark);
    end
  end

endmodule
