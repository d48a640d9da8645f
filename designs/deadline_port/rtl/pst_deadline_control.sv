// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Register block of the deadline port: deadlines of the classes, classes of the DSCPs, and snapshots of the counters of one class.
//
// Commands:  what a command needs is copied when it starts, so software may prepare the next one meanwhile. One command is under way at a
//            time; the next one waits on the bus, with every access behind it. A refused command changes nothing but the refused bit.
// Snapshot:  all counters of a class are of one cycle; the registers change in one cycle, too. status.busy tells when.
// Latency:   a register access some 4 cycles; a DSCP's class leaves 1 cycle after its command; a deadline is offered then, and taken when
//            the deadline before it is in force.
// Reset:     loses a command that is under way, the snapshot and all settings.
module pst_deadline_control
  import pst_deadline_port_values_pkg::*;
  import pst_deadline_port_drop_pkg::*;
#(
    parameter int unsigned Classes       = 64,           // 2..256
    parameter bit          ClassFromUser = 1'b0,         // there is no table of DSCPs
    parameter bit          PlainFifo     = 1'b0,         // shown in a register
    parameter int unsigned ChunkBytes    = 4096,         // shown in a register
    parameter int unsigned Chunks        = 4096,         // shown in a register; the limit is at most that
    parameter int unsigned Memories      = 1,            // shown in a register
    parameter int unsigned MinFrameBytes = 60,           // shown in a register
    parameter int unsigned MaxFrameBytes = 1522,         // shown in a register
    parameter int unsigned TickCycles    = 3662,         // shown in a register
    parameter int unsigned Stamps        = 64,           // shown in a register
    parameter int unsigned DefaultCycles = 100000,       // deadline of a class that was not set
    parameter int unsigned ClockHz       = 300_000_000,  // shown in a register, Hz
    parameter int unsigned FrameWidth    = 50,           // of the counters, bits, 32..50
    parameter int unsigned ByteWidth     = 56,           // of the counters, bits, 40..56
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned CountWidth = $clog2(Chunks + 1)
) (
    input  logic                        clk_i,
    input  logic                        rst_i,
    // AXI4-Lite, 32 bit
    input  pst_axi_pkg::lite_req_t      s_axil_i,
    output pst_axi_pkg::lite_rsp_t      s_axil_o,
    // deadline of a class; class of a DSCP, in one cycle; chunks in use at most, 0: all
    output logic                        m_class_valid_o,
    input  logic                        m_class_ready_i,
    output logic [ClassWidth-1:0]       m_class_o,
    output logic [31:0]                 m_class_cycles_o,
    output logic                        m_dscp_valid_o,
    output logic [6:0]                  m_dscp_o,
    output logic [ClassWidth-1:0]       m_dscp_class_o,
    output logic [CountWidth-1:0]       limit_o,
    // counters of a class: a pulse, and some cycles later the answer
    output logic                        read_valid_o,
    output logic [ClassWidth-1:0]       read_class_o,
    input  logic                        read_valid_i,
    input  logic [FrameWidth-1:0]       in_frames_i,
    input  logic [ByteWidth-1:0]        in_bytes_i,
    input  logic [FrameWidth-1:0]       out_frames_i,
    input  logic [ByteWidth-1:0]        out_bytes_i,
    input  logic [FrameWidth-1:0]       missed_frames_i,
    input  logic [ByteWidth-1:0]        missed_bytes_i,
    input  logic [FrameWidth-1:0]       lost_frames_i,
    input  logic [ByteWidth-1:0]        lost_bytes_i,
    input  logic [FrameWidth-1:0]       no_page_frames_i,
    input  logic [ByteWidth-1:0]        no_page_bytes_i,
    // frames lost, by reason
    input  logic [15:1][FrameWidth-1:0] dropped_frames_i,
    input  logic [15:1][ByteWidth-1:0]  dropped_bytes_i,
    // interrupt: pulse, a FIFO in front of the device has lost a frame; frames lost in this cycle; a level
    input  logic                        overflow_i,
    input  logic [31:0]                 lost_now_i,
    output logic                        irq_o,
    // drain: no frame is to come in or to be sent; what is under way
    output logic                        drain_stop_o,
    input  logic                        drain_done_i,
    input  logic [Memories-1:0]         drain_outstanding_i,
    // state of the device
    input  logic [CountWidth-1:0]       free_i,
    input  logic                        init_done_i
);

  localparam int unsigned Dscps = 65;  // the last one is that of all frames without

  if (FrameWidth < 32 || FrameWidth > 50 || ByteWidth < 40 || ByteWidth > 56) begin : g_bad_width
    $error("pst_deadline_control: FrameWidth is %0d (32 to 50), ByteWidth is %0d (40 to 56)", FrameWidth, ByteWidth);
  end

  typedef logic [ClassWidth-1:0] class_t;

  typedef struct packed {
    logic [FrameWidth-1:0] frames;
    logic [ByteWidth-1:0]  bytes;
  } count_t;

  typedef enum logic [1:0] {
    Idle,
    SetClass,  // a deadline is offered
    Read,      // the counters are asked for
    Wait
  } state_e;

  pst_deadline_port_regs_pkg::pst_deadline_port_regs__in_t  hwif_in;
  pst_deadline_port_regs_pkg::pst_deadline_port_regs__out_t hwif_out;

  state_e state_d, state_q;
  refusal_e refused_q, refuse;
  logic pending_q, start, accept;    // a command that has been taken from the bus but not answered; it begins, and is not refused
  logic no_command, no_command_q;    // a write of some bytes of the command, but not of the lowest one
  logic [31:0] command_q, class_index, dscp_index, dscp_class;
  class_t class_q;
  logic [31:0] cycles_q;
  count_t in_q, out_q, missed_q, lost_q, no_page_q, queued_q;

  assign class_index = hwif_out.class_index.value.value;
  assign dscp_index  = hwif_out.dscp_index.value.value;
  assign dscp_class  = hwif_out.dscp_class.cls.value;

  assign start  = pending_q && state_q == Idle && init_done_i;
  assign accept = start && refuse == RefusalAccepted;

  assign no_command = hwif_out.command.req && hwif_out.command.req_is_wr && hwif_out.command.wr_biten.command[7:0] == '0;

  always_comb begin
    refuse = RefusalAccepted;
    case (command_q)
      CommandWriteClass: begin
        if (hwif_out.class_deadline.cycles.value[31:30] != '0) refuse = RefusalBadDeadline;
        if (class_index >= Classes) refuse = RefusalBadClass;
      end
      CommandSnapshot: if (class_index >= Classes) refuse = RefusalBadClass;
      CommandWriteDscp: begin
        if (dscp_class >= Classes) refuse = RefusalBadClass;
        if (dscp_index >= Dscps) refuse = RefusalBadDscp;
        if (ClassFromUser) refuse = RefusalNoCommand;
      end
      default: refuse = RefusalNoCommand;
    endcase
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      SetClass: if (m_class_ready_i) state_d = Idle;
      Read: state_d = Wait;
      Wait: if (read_valid_i) state_d = Idle;
      default: begin  // Idle
        if (accept && command_q == CommandWriteClass) state_d = SetClass;
        if (accept && command_q == CommandSnapshot) state_d = Read;
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    if (start) begin
      pending_q <= 1'b0;
      refused_q <= refuse;
      class_q   <= class_t'(class_index);
      cycles_q  <= hwif_out.class_deadline.cycles.value;
    end
    // The register block sends the next command only after this one has been answered.
    no_command_q <= no_command;
    if (hwif_out.command.req && hwif_out.command.req_is_wr && !no_command) begin
      pending_q <= 1'b1;
      command_q <= hwif_out.command.wr_data.command & hwif_out.command.wr_biten.command;
    end
    if (read_valid_i) begin
      in_q            <= '{frames: in_frames_i, bytes: in_bytes_i};
      out_q           <= '{frames: out_frames_i, bytes: out_bytes_i};
      missed_q        <= '{frames: missed_frames_i, bytes: missed_bytes_i};
      lost_q          <= '{frames: lost_frames_i, bytes: lost_bytes_i};
      no_page_q       <= '{frames: no_page_frames_i, bytes: no_page_bytes_i};
      queued_q.frames <= in_frames_i - out_frames_i - missed_frames_i - lost_frames_i - no_page_frames_i;
      queued_q.bytes  <= in_bytes_i - out_bytes_i - missed_bytes_i - lost_bytes_i - no_page_bytes_i;
    end
    if (rst_i) begin
      state_q   <= Idle;
      refused_q <= RefusalAccepted;
      pending_q <= 1'b0;
      no_command_q <= 1'b0;
      in_q      <= '0;
      out_q     <= '0;
      missed_q  <= '0;
      lost_q    <= '0;
      no_page_q <= '0;
      queued_q  <= '0;
    end
  end

  assign m_class_valid_o  = state_q == SetClass;
  assign m_class_o        = class_q;
  assign m_class_cycles_o = cycles_q;
  assign m_dscp_valid_o   = accept && command_q == CommandWriteDscp;
  assign m_dscp_o         = 7'(dscp_index);
  assign m_dscp_class_o   = class_t'(dscp_class);
  assign read_valid_o     = state_q == Read;
  assign read_class_o     = class_q;
  assign limit_o          = hwif_out.memory_limit.chunks.value >= Chunks ? '0 : CountWidth'(hwif_out.memory_limit.chunks.value);

  // ---- What is set, to be read back: a word counts once it was written ----
  logic [29:0] cycles_mem[Classes];
  logic [Classes-1:0] cycles_set_q;
  logic [31:0] cycles_now, class_now;

  always_ff @(posedge clk_i) begin
    if (m_class_valid_o && m_class_ready_i) begin
      cycles_mem[class_q]   <= 30'(cycles_q);
      cycles_set_q[class_q] <= 1'b1;
    end
    if (rst_i) cycles_set_q <= '0;
  end

  assign cycles_now = class_index >= Classes ? '0
                      : cycles_set_q[class_t'(class_index)] ? 32'(cycles_mem[class_t'(class_index)]) : DefaultCycles;

  if (ClassFromUser) begin : g_no_dscp
    assign class_now = '0;
  end else begin : g_dscp
    class_t class_mem[Dscps];
    logic [Dscps-1:0] class_set_q;

    always_ff @(posedge clk_i) begin
      if (m_dscp_valid_o) begin
        class_mem[m_dscp_o]   <= m_dscp_class_o;
        class_set_q[m_dscp_o] <= 1'b1;
      end
      if (rst_i) class_set_q <= '0;
    end

    assign class_now = dscp_index < Dscps && class_set_q[7'(dscp_index)] ? 32'(class_mem[7'(dscp_index)]) : '0;
  end

  // ---- Interrupt; causes 0 and 1 are those of other devices ----
  logic [4:0] cause, clear;
  logic [31:0] lost_frames;

  logic drained_q;

  always_ff @(posedge clk_i) drained_q <= drain_done_i && !rst_i;

  assign drain_stop_o = hwif_out.drain.stop.value;
  assign clear        = hwif_out.irq_cause.req && hwif_out.irq_cause.req_is_wr
                        ? 5'(hwif_out.irq_cause.wr_data & hwif_out.irq_cause.wr_biten) : '0;

  pst_interrupt #(
      .Events(4), .LostWidth(32)
  ) u_interrupt (
      .clk_i, .rst_i,
      .event_i({drain_done_i && !drained_q, overflow_i, 2'b00}), .lost_i(lost_now_i), .most_i(hwif_out.irq_drops.frames.value),
      .clear_i(clear),
      .mask_i({hwif_out.irq_mask.drops.value, hwif_out.irq_mask.drained.value, hwif_out.irq_mask.overflow.value, 2'b00}),
      .cause_o(cause), .lost_o(lost_frames), .irq_o
  );

  // ---- Registers ----
  always_comb begin
    hwif_in.classes.value.next             = Classes;
    hwif_in.chunk_bytes.value.next         = ChunkBytes;
    hwif_in.chunks.value.next              = Chunks;
    hwif_in.memories.value.next            = Memories;
    hwif_in.clock_hz.value.next            = ClockHz;
    hwif_in.features.class_from_user.next  = ClassFromUser;
    hwif_in.features.plain_fifo.next       = PlainFifo;
    hwif_in.status.init_done.next          = init_done_i;
    hwif_in.status.busy.next               = state_q != Idle || pending_q;
    hwif_in.status.refused.next            = refused_q != RefusalAccepted;
    hwif_in.status.reason.next             = refused_q;
    hwif_in.min_frame_bytes.value.next     = MinFrameBytes;
    hwif_in.max_frame_bytes.value.next     = MaxFrameBytes;
    hwif_in.tick_cycles.value.next         = TickCycles;
    hwif_in.stamps.value.next              = Stamps;
    hwif_in.default_deadline.value.next    = DefaultCycles;
    hwif_in.class_deadline_now.cycles.next = cycles_now;
    hwif_in.dscp_class_now.cls.next        = class_now;
    hwif_in.free_chunks.chunks.next        = 32'(free_i);
    hwif_in.command.wr_ack                 = start || no_command_q;
    hwif_in.irq_cause.wr_ack               = hwif_out.irq_cause.req && hwif_out.irq_cause.req_is_wr;
    hwif_in.irq_cause.rd_ack               = hwif_out.irq_cause.req && !hwif_out.irq_cause.req_is_wr;
    hwif_in.irq_cause.rd_data              = 32'(cause);
    hwif_in.irq_lost.frames.next           = lost_frames;
    hwif_in.drained.done.next              = drain_done_i;
    hwif_in.outstanding.memories.next      = 32'(drain_outstanding_i);

    hwif_in.in.frames.value.next      = 50'(in_q.frames);
    hwif_in.in.bytes.value.next       = 56'(in_q.bytes);
    hwif_in.out.frames.value.next     = 50'(out_q.frames);
    hwif_in.out.bytes.value.next      = 56'(out_q.bytes);
    hwif_in.missed.frames.value.next  = 50'(missed_q.frames);
    hwif_in.missed.bytes.value.next   = 56'(missed_q.bytes);
    hwif_in.lost.frames.value.next    = 50'(lost_q.frames);
    hwif_in.lost.bytes.value.next     = 56'(lost_q.bytes);
    hwif_in.no_page.frames.value.next = 50'(no_page_q.frames);
    hwif_in.no_page.bytes.value.next  = 56'(no_page_q.bytes);
    hwif_in.queued.frames.value.next  = 50'(queued_q.frames);
    hwif_in.queued.bytes.value.next   = 56'(queued_q.bytes);

    hwif_in.dropped_runt.packets.value.next       = 50'(dropped_frames_i[DropRunt]);
    hwif_in.dropped_runt.bytes.value.next         = 56'(dropped_bytes_i[DropRunt]);
    hwif_in.dropped_oversize.packets.value.next   = 50'(dropped_frames_i[DropOversize]);
    hwif_in.dropped_oversize.bytes.value.next     = 56'(dropped_bytes_i[DropOversize]);
    hwif_in.dropped_bad_frame.packets.value.next  = 50'(dropped_frames_i[DropBadFrame]);
    hwif_in.dropped_bad_frame.bytes.value.next    = 56'(dropped_bytes_i[DropBadFrame]);
    hwif_in.dropped_no_page.packets.value.next    = 50'(dropped_frames_i[DropNoPage]);
    hwif_in.dropped_no_page.bytes.value.next      = 56'(dropped_bytes_i[DropNoPage]);
    hwif_in.dropped_read_error.packets.value.next = 50'(dropped_frames_i[DropReadError]);
    hwif_in.dropped_read_error.bytes.value.next   = 56'(dropped_bytes_i[DropReadError]);
    hwif_in.dropped_missed.packets.value.next     = 50'(dropped_frames_i[DropMissed]);
    hwif_in.dropped_missed.bytes.value.next       = 56'(dropped_bytes_i[DropMissed]);
  end

  // Numbers that are not reasons of this device.
  logic unused_reasons;
  assign unused_reasons = ^{dropped_frames_i[3], dropped_frames_i[10:6], dropped_frames_i[15:13],
                            dropped_bytes_i[3], dropped_bytes_i[10:6], dropped_bytes_i[15:13]};

  pst_deadline_port_regs u_regs (
      .clk           (clk_i),
      .rst           (rst_i),
      .s_axil_awready(s_axil_o.awready),
      .s_axil_awvalid(s_axil_i.awvalid),
      .s_axil_awaddr (s_axil_i.awaddr),
      .s_axil_awprot (s_axil_i.awprot),
      .s_axil_wready (s_axil_o.wready),
      .s_axil_wvalid (s_axil_i.wvalid),
      .s_axil_wdata  (s_axil_i.wdata),
      .s_axil_wstrb  (s_axil_i.wstrb),
      .s_axil_bready (s_axil_i.bready),
      .s_axil_bvalid (s_axil_o.bvalid),
      .s_axil_bresp  (s_axil_o.bresp),
      .s_axil_arready(s_axil_o.arready),
      .s_axil_arvalid(s_axil_i.arvalid),
      .s_axil_araddr (s_axil_i.araddr),
      .s_axil_arprot (s_axil_i.arprot),
      .s_axil_rready (s_axil_i.rready),
      .s_axil_rvalid (s_axil_o.rvalid),
      .s_axil_rdata  (s_axil_o.rdata),
      .s_axil_rresp  (s_axil_o.rresp),
      .hwif_in,
      .hwif_out
  );

`ifndef SYNTHESIS
  // Cycles for which the command that is under way has waited, once the device has cleared its memories.
  int unsigned waited_q;

  always_ff @(posedge clk_i) begin
    waited_q <= state_q == Idle || !init_done_i || rst_i ? 0 : waited_q + 1;
    if (!rst_i) begin
      a_command_ends_in_time : assert (waited_q < 1024) else $error("pst_deadline_control: a command has waited for 1024 cycles");
      a_one_command_at_a_time : assert (!(hwif_out.command.req && pending_q))
      else $error("pst_deadline_control: a command came before the one before was answered");
      a_counters_were_asked_for : assert (!(read_valid_i && state_q != Wait))
      else $error("pst_deadline_control: counters came that were not asked for");
    end
  end
`endif

endmodule
