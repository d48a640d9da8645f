// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Register block of the bridge: settings of the queues, counters and links of both directions.
//
// Commands:  what a command needs is copied when it starts. One command is under way at a time; the next one waits on the bus, with every
//            access behind it. A refused command changes nothing but the refused bit.
// Snapshot:  frames and bytes of a counter are of one moment.
// Latency:   a register access some 4 cycles, a command some 10.
// Reset:     loses a command that is under way, the snapshot, all settings and counters. Counters are cleared for 32 cycles behind it.
module pst_bridge_control
  import pst_bridge_pkg::setting_t, pst_bridge_pkg::access_t, pst_bridge_pkg::count_t, pst_bridge_pkg::link_t;
  import pst_bridge_values_pkg::*;
#(
    parameter int unsigned Queues       = 16,            // of each direction, 0: no queues
    parameter int unsigned Flows        = 1024,           // shown in a register
    parameter int unsigned Cells        = 512,           // shown in a register
    parameter int unsigned LongestBytes = 1536,          // shown in a register
    parameter int unsigned ClockHz      = 62_500_000,    // shown in a register
    parameter int unsigned TickShift    = 6              // shown in a register
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // AXI4-Lite, 32 bit
    input  pst_axi_pkg::lite_req_t s_axil_i,
    output pst_axi_pkg::lite_rsp_t s_axil_o,
    // by direction: frames for the counters, the link, settings
    input  logic     [1:0]         s_count_valid_i,
    output logic     [1:0]         s_count_ready_o,
    input  count_t   [1:0]         s_count_i,
    input  link_t    [1:0]         link_i,
    output logic     [1:0]         shape_o,
    output access_t  [1:0]         access_o,
    input  logic     [1:0]         back_valid_i,
    input  setting_t [1:0]         back_i
);

  localparam int unsigned LeastMantissa = 1 << (pst_pkg::MantissaWidth - 1);

  // --- counters of both directions in one memory

  localparam int unsigned FrameWidth = 50;
  localparam int unsigned ByteWidth  = 56;

  logic bank_init_done, turn_q, pick, inc_q, read_ready, read_valid;
  logic [4:0] inc_index_q;
  pst_pkg::len_t inc_len_q;
  logic [FrameWidth-1:0] read_frames;
  logic [ByteWidth-1:0] read_bytes;
  logic reading;    // a counter is asked for
  logic [4:0] read_index;

  assign pick            = s_count_valid_i[turn_q] ? turn_q : !turn_q;
  assign s_count_ready_o = bank_init_done ? 2'(1 << pick) : '0;

  always_ff @(posedge clk_i) begin
    turn_q      <= !turn_q;
    inc_q       <= s_count_valid_i[pick] && bank_init_done;
    inc_index_q <= {pick, s_count_i[pick].counter};
    inc_len_q   <= s_count_i[pick].len;
    if (rst_i) begin
      turn_q <= 1'b0;
      inc_q  <= 1'b0;
    end
  end

  pst_counter_bank #(
      .Entries(32), .PacketWidth(FrameWidth), .ByteWidth(ByteWidth), .Style("distributed")
  ) u_bank (
      .clk_i, .rst_i, .inc_valid_i(inc_q), .inc_index_i(inc_index_q), .inc_len_i(16'(inc_len_q)),
      .s_read_valid_i(reading), .s_read_ready_o(read_ready), .s_read_index_i(read_index),
      .m_read_valid_o(read_valid), .m_read_packets_o(read_frames), .m_read_bytes_o(read_bytes), .init_done_o(bank_init_done)
  );

  // --- commands

  typedef enum logic [1:0] {
    Idle,
    ReadBack,    // a setting has been asked for
    Read,        // a counter is asked for
    Wait
  } state_e;

  pst_bridge_regs_pkg::pst_bridge_regs__in_t  hwif_in;
  pst_bridge_regs_pkg::pst_bridge_regs__out_t hwif_out;

  state_e state_d, state_q;
  refusal_e refused_q, refuse;
  logic pending_q, start, accept;    // a command that has been taken from the bus but not answered; it begins, and is not refused
  logic no_command, no_command_q;    // a write of some bytes of the command, but not of the lowest one
  logic direction, back_valid, direction_q, no_queue;
  logic [31:0] command_q, queue;
  logic [3:0] counter, counter_q;
  logic [FrameWidth-1:0] frames_q;
  logic [ByteWidth-1:0] bytes_q;
  setting_t setting, back;
  access_t access;

  assign direction  = hwif_out.direction.value.value;
  assign queue      = hwif_out.queue_index.value.value;
  assign no_queue   = {1'b0, queue} + 33'd1 > 33'(Queues);
  assign counter    = hwif_out.counter.value.value;
  assign start      = pending_q && state_q == Idle && bank_init_done;
  assign accept     = start && refuse == RefusalAccepted;
  assign no_command = hwif_out.command.req && hwif_out.command.req_is_wr && hwif_out.command.wr_biten.command[7:0] == '0;
  assign setting    = '{
      shaper: '{
          burst: hwif_out.queue_burst.cycles.value, exponent: hwif_out.queue_rate.exponent.value,
          mantissa: hwif_out.queue_rate.mantissa.value
      },
      aqm: '{
          enable: hwif_out.queue_aqm.enable.value, ecn: 1'b0,
          settings: {hwif_out.queue_aqm_target.ticks.value, hwif_out.queue_aqm_interval.ticks.value}
      },
      quantum: hwif_out.queue_quantum.bytes.value
  };

  always_comb begin
    refuse = RefusalAccepted;
    case (command_q)
      CommandWrite: begin
        if (32'(setting.shaper.mantissa) < LeastMantissa && setting.shaper.mantissa != '0 &&
            {setting.shaper.exponent, setting.shaper.mantissa} != 22'd1)
          refuse = RefusalBadRate;
        if (no_queue) refuse = RefusalBadQueue;
      end
      CommandReadBack: if (no_queue) refuse = RefusalBadQueue;
      CommandSnapshot: if (counter > CounterAqm && counter != CounterFlowOverflow) refuse = RefusalBadCounter;
      default: refuse = RefusalNoCommand;
    endcase
  end

  assign access = '{
      write: accept && command_q == CommandWrite, read: accept && command_q == CommandReadBack, queue_: 12'(queue), setting: setting
  };
  for (genvar d = 0; d < 2; d++) begin : g_access
    always_comb begin
      access_o[d]       = access;
      access_o[d].write = access.write && direction == d;
      access_o[d].read  = access.read && direction == d;
    end
  end

  assign back       = back_i[direction_q];
  assign back_valid = state_q == ReadBack && back_valid_i[direction_q];
  assign reading    = state_q == Read;
  assign read_index = {direction_q, counter_q};
  assign shape_o    = hwif_out.shaping.directions.value;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      ReadBack: if (back_valid) state_d = Idle;
      Read: if (read_ready) state_d = Wait;
      Wait: if (read_valid) state_d = Idle;
      Idle: begin
        if (accept && command_q == CommandReadBack) state_d = ReadBack;
        if (accept && command_q == CommandSnapshot) state_d = Read;
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    if (start) begin
      pending_q   <= 1'b0;
      refused_q   <= refuse;
      direction_q <= direction;
      counter_q   <= counter;
    end
    // The register block sends the next command only after this one has been answered.
    no_command_q <= no_command;
    if (hwif_out.command.req && hwif_out.command.req_is_wr && !no_command) begin
      pending_q <= 1'b1;
      command_q <= hwif_out.command.wr_data.command & hwif_out.command.wr_biten.command;
    end
    if (read_valid) begin
      frames_q <= read_frames;
      bytes_q  <= read_bytes;
    end
    if (rst_i) begin
      state_q      <= Idle;
      refused_q    <= RefusalAccepted;
      pending_q    <= 1'b0;
      no_command_q <= 1'b0;
      frames_q     <= '0;
      bytes_q      <= '0;
    end
  end

  always_comb begin
    hwif_in.queues.value.next          = Queues;
    hwif_in.flows.value.next           = Flows;
    hwif_in.cells.value.next           = Cells;
    hwif_in.max_frame_bytes.value.next = LongestBytes;
    hwif_in.clock_hz.value.next        = ClockHz;
    hwif_in.tick_shift.value.next      = TickShift;
    hwif_in.status.init_done.next      = bank_init_done;
    hwif_in.status.busy.next           = state_q != Idle || pending_q;
    hwif_in.status.refused.next        = refused_q != RefusalAccepted;
    hwif_in.status.reason.next         = refused_q;
    hwif_in.port_0.clock.next          = link_i[0].clock;
    hwif_in.port_0.up.next             = link_i[0].phy.up;
    hwif_in.port_0.full_duplex.next    = link_i[0].phy.full_duplex;
    hwif_in.port_0.speed.next          = link_i[0].phy.speed;
    hwif_in.port_1.clock.next          = link_i[1].clock;
    hwif_in.port_1.up.next             = link_i[1].phy.up;
    hwif_in.port_1.full_duplex.next    = link_i[1].phy.full_duplex;
    hwif_in.port_1.speed.next          = link_i[1].phy.speed;
    hwif_in.command.wr_ack             = start || no_command_q;
    hwif_in.frames.value.next          = frames_q;
    hwif_in.bytes.value.next           = bytes_q;

    hwif_in.queue_rate.mantissa.next      = back.shaper.mantissa;
    hwif_in.queue_rate.exponent.next      = back.shaper.exponent;
    hwif_in.queue_burst.cycles.next       = back.shaper.burst;
    hwif_in.queue_aqm.enable.next         = back.aqm.enable;
    {hwif_in.queue_aqm_target.ticks.next, hwif_in.queue_aqm_interval.ticks.next} = back.aqm.settings;
    hwif_in.queue_quantum.bytes.next      = back.quantum;
    hwif_in.queue_rate.mantissa.we        = back_valid;
    hwif_in.queue_rate.exponent.we        = back_valid;
    hwif_in.queue_burst.cycles.we         = back_valid;
    hwif_in.queue_aqm.enable.we           = back_valid;
    hwif_in.queue_aqm_target.ticks.we     = back_valid;
    hwif_in.queue_aqm_interval.ticks.we   = back_valid;
    hwif_in.queue_quantum.bytes.we        = back_valid;
  end

  logic unused;
  assign unused = back.aqm.ecn;

  pst_bridge_regs u_regs (
      .clk(clk_i), .rst(rst_i),
      .s_axil_awready(s_axil_o.awready), .s_axil_awvalid(s_axil_i.awvalid), .s_axil_awaddr(s_axil_i.awaddr),
      .s_axil_awprot(s_axil_i.awprot), .s_axil_wready(s_axil_o.wready), .s_axil_wvalid(s_axil_i.wvalid), .s_axil_wdata(s_axil_i.wdata),
      .s_axil_wstrb(s_axil_i.wstrb), .s_axil_bready(s_axil_i.bready), .s_axil_bvalid(s_axil_o.bvalid), .s_axil_bresp(s_axil_o.bresp),
      .s_axil_arready(s_axil_o.arready), .s_axil_arvalid(s_axil_i.arvalid), .s_axil_araddr(s_axil_i.araddr),
      .s_axil_arprot(s_axil_i.arprot), .s_axil_rready(s_axil_i.rready), .s_axil_rvalid(s_axil_o.rvalid), .s_axil_rdata(s_axil_o.rdata),
      .s_axil_rresp(s_axil_o.rresp), .hwif_in, .hwif_out
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_answer_that_was_asked_for : assert (!read_valid || state_q == Wait);
      a_count_has_a_counter : assert (!inc_q || inc_index_q[3:0] <= CounterAqm || inc_index_q[3:0] == CounterFlowOverflow);
    end
  end
`endif

endmodule
