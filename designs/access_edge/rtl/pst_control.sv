// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Register block of the access edge behind AXI4-Lite, with the window through which software sets and reads one queue.
//
// Commands:  the queue, its shaper and its limits are copied when a command starts, so software may prepare the next one meanwhile. One
//            command is under way at a time; the next one waits on the bus, with every access behind it. A refused command (queue id
//            out of range, no such command) changes nothing but the refused bit.
// Window:    a write to 0x800 + the address of a setting writes this one, and is the command `provision` or `tree_subscriber_next` as well;
//            it is answered when that starts. pst_control_bus has what is not to be written there.
// Snapshot:  what is in the queue is looked at first, again as long as its head is just changing; then the sent counters are read, then accepted
//            and lost ones in one cycle, so accepted is never less than sent.
//            The registers change all in one cycle when the last counter has come; status.busy tells when.
// Read-back: of a queue its limits are looked at, then its class of memory, then the rest; the registers change all in one cycle.
// Latency:   a register access some 4 cycles; a setting leaves on m_cfg 1 cycle after its command.
// Reset:     loses a command that is under way, and the snapshot.
module pst_control
  import pst_pkg::*;
  import pst_hierarchy_pkg::*;
  import pst_access_edge_values_pkg::*;
#(
    parameter int unsigned Queues = 16,             // >= 2
    parameter int unsigned Descriptors = 64,        // shown in a register
    parameter int unsigned Memories = 1,            // shown in a register; 1..32
    parameter int unsigned MaxFrameBytes = 1522,    // shown in a register
    parameter int unsigned ClockHz = 220_000_000,   // shown in a register, Hz
    parameter bit          Shaping = 1'b1,          // shown in a register
    parameter int unsigned AqmKind = 0,             // shown in a register: which AQM there is (aqm_kind_e), 0 none
    parameter bit          AqmEstimate = 1'b0,      // shown in a register
    parameter int unsigned TickShift = 8,           // shown in a register, 0..31
    parameter bit          Hierarchy = 1'b0,        // subscribers, nodes and ports; wants Shaping
    parameter int unsigned QueuesPerSubscriber = 4, // Hierarchy
    parameter int unsigned Nodes = 2,               // Hierarchy
    parameter int unsigned Ports = 2,               // Hierarchy
    parameter int unsigned Classes = 4,             // Hierarchy: 1..8
    parameter int unsigned ShareClasses = 0,        // classes among which memory is shared, 0: it is not; 0..8
    parameter int unsigned ShareSizes = 1,          // ShareClasses > 0: page sizes
    parameter int unsigned PacketWidth = 50,        // of the counters, bits, 1..50
    parameter int unsigned ByteWidth = 56,          // of the counters, bits, 1..56
    localparam int unsigned QueueIdW = Queues > 1 ? $clog2(Queues) : 1
) (
    input  logic                         clk_i,
    input  logic                         rst_i,
    // AXI4-Lite, 32 bit
    input  logic                         s_axil_awvalid_i,
    output logic                         s_axil_awready_o,
    input  logic [                 11:0] s_axil_awaddr_i,
    input  logic [                  2:0] s_axil_awprot_i,
    input  logic                         s_axil_wvalid_i,
    output logic                         s_axil_wready_o,
    input  logic [                 31:0] s_axil_wdata_i,
    input  logic [                  3:0] s_axil_wstrb_i,
    output logic                         s_axil_bvalid_o,
    input  logic                         s_axil_bready_i,
    output logic [                  1:0] s_axil_bresp_o,
    input  logic                         s_axil_arvalid_i,
    output logic                         s_axil_arready_o,
    input  logic [                 11:0] s_axil_araddr_i,
    input  logic [                  2:0] s_axil_arprot_i,
    output logic                         s_axil_rvalid_o,
    input  logic                         s_axil_rready_i,
    output logic [                 31:0] s_axil_rdata_o,
    output logic [                  1:0] s_axil_rresp_o,
    // settings of one queue
    output logic                         m_cfg_valid_o,
    input  logic                         m_cfg_ready_i,
    output logic [         QueueIdW-1:0] m_cfg_queue_o,
    output shaper_cfg_t                  m_cfg_shaper_o,
    output logic [LimitPacketsWidth-1:0] m_cfg_limit_packets_o,
    output logic [  LimitBytesWidth-1:0] m_cfg_limit_bytes_o,
    output aqm_cfg_t                     m_cfg_aqm_o,
    output class_t                       m_cfg_share_class_o,      // ShareClasses > 0
    // ShareClasses > 0: settings of a class, in one cycle; and what it has now
    output logic                         m_share_valid_o,
    output class_t                       m_share_class_o,
    output logic [                  4:0] m_share_size_o,
    output logic [       AlphaWidth-1:0] m_share_alpha_o,
    output logic [                 23:0] m_share_reserved_o,
    input  logic [                 31:0] s_share_free_i,
    input  logic [                 31:0] s_share_used_i,
    input  logic [                 31:0] s_share_in_force_i,
    // Hierarchy: settings of the hierarchy
    output logic                         m_hierarchy_cfg_valid_o,
    input  logic                         m_hierarchy_cfg_ready_i,
    output setting_e                     m_hierarchy_cfg_what_o,
    output logic [         QueueIdW-1:0] m_hierarchy_cfg_id_o,
    output shaper_cfg_t                  m_hierarchy_cfg_shaper_o,
    output logic [         QueueIdW-1:0] m_hierarchy_cfg_parent_o,
    output class_t                       m_hierarchy_cfg_class_o,
    output weight_t                      m_hierarchy_cfg_weight_o,
    // reads of the counter banks; all but "out" answer together
    output logic [         QueueIdW-1:0] m_read_index_o,
    // looks into that queue, see pst_access_edge_core
    output logic                         m_look_valid_o,
    input  logic                         m_look_ready_i,
    input  logic                         s_look_valid_i,
    input  logic [LimitPacketsWidth-1:0] s_look_packets_i,
    input  logic [  LimitBytesWidth-1:0] s_look_bytes_i,
    input  logic [                 31:0] s_look_age_i,
    input  logic                         s_look_age_known_i,
    input  logic [LimitPacketsWidth-1:0] s_look_limit_packets_i,
    input  logic [  LimitBytesWidth-1:0] s_look_limit_bytes_i,
    output logic                         m_read_out_valid_o,
    input  logic                         m_read_out_ready_i,
    output logic                         m_read_in_drop_valid_o,
    input  logic                         m_read_in_drop_ready_i,
    input  logic                         s_out_valid_i,
    input  logic [      PacketWidth-1:0] s_out_packets_i,
    input  logic [        ByteWidth-1:0] s_out_bytes_i,
    input  logic                         s_in_drop_valid_i,
    input  logic [      PacketWidth-1:0] s_in_packets_i,
    input  logic [        ByteWidth-1:0] s_in_bytes_i,
    input  logic [      PacketWidth-1:0] s_drop_packets_i,
    input  logic [        ByteWidth-1:0] s_drop_bytes_i,
    input  logic [      PacketWidth-1:0] s_aqm_packets_i,          // dropped by the AQM, not in "drop"
    input  logic [        ByteWidth-1:0] s_aqm_bytes_i,
    input  logic [      PacketWidth-1:0] s_mark_packets_i,
    // read-back of settings, see s_read of pst_access_edge_core; of the class of memory of that queue, ShareClasses > 0
    output logic                         m_back_valid_o,
    output setting_e                     m_back_what_o,
    output logic [         QueueIdW-1:0] m_back_id_o,
    input  logic                         s_back_valid_i,
    input  shaper_cfg_t                  s_back_shaper_i,
    input  logic [         QueueIdW-1:0] s_back_parent_i,
    input  class_t                       s_back_class_i,
    input  weight_t                      s_back_weight_i,
    output logic                         m_class_valid_o,
    input  logic                         m_class_ready_i,
    input  logic                         s_class_valid_i,
    input  class_t                       s_class_i,
    // frames lost, by reason, and frames marked
    input  logic [DropLast:1][PacketWidth-1:0] dropped_packets_i,
    input  logic [DropLast:1][ByteWidth-1:0] dropped_bytes_i,
    input  logic [      PacketWidth-1:0] marked_packets_i,
    // memories: cycles that one may be waited for (0: for ever), and those that are lost
    output logic [                 31:0] memory_timeout_o,
    input  logic [         Memories-1:0] memory_lost_i,
    // state of the device
    input  logic                         init_done_i
);

  if (Queues < 2) begin : g_bad_queues
    $error("pst_control: Queues is %0d, allowed: 2 and more", Queues);
  end
  if (PacketWidth < 1 || PacketWidth > 50 || ByteWidth < 1 || ByteWidth > 56) begin : g_bad_width
    $error("pst_control: PacketWidth is %0d (1 to 50), ByteWidth is %0d (1 to 56)", PacketWidth, ByteWidth);
  end

  localparam logic [7:0] LastShareClass = ShareClasses != 0 ? 8'(ShareClasses - 1) : '0;
  localparam logic [7:0] LastShareSize = 8'(ShareSizes - 1);
  localparam logic [31:0] FirstHierarchyCommand = CommandTreeQueue;  // and three more: subscriber, node, port
  localparam logic [31:0] FirstReadBack = CommandReadBack;           // the same

  // Words of the window.
  typedef enum logic [4:0] {
    QueueRate         = 5'h11,
    QueueBurst        = 5'h12,
    QueueLimitPackets = 5'h13,
    QueueLimitBytes   = 5'h14,
    QueueAqm          = 5'h16,
    QueueAqmTarget    = 5'h17,
    QueueAqmInterval  = 5'h18,
    QueueClass        = 5'h19,
    TreeRate          = 5'h1b,
    TreeBurst         = 5'h1c,
    TreeParent        = 5'h1d,
    TreeClass         = 5'h1e
  } word_e;

  typedef struct packed {
    logic [PacketWidth-1:0] packets;
    logic [ByteWidth-1:0]   bytes;
  } count_t;

  typedef struct packed {
    logic [LimitPacketsWidth-1:0] packets;
    logic [LimitBytesWidth-1:0]   bytes;
    logic [31:0]                  age;    // of the head, cycles
  } look_t;

  // Settings that were read back.
  typedef struct packed {
    shaper_cfg_t                  shaper;
    logic [LimitPacketsWidth-1:0] limit_packets;
    logic [LimitBytesWidth-1:0]   limit_bytes;
    logic [QueueIdW-1:0]          parent;
    class_t                       cls;
    weight_t                      weight;
    class_t                       share_class;
  } now_t;

  typedef struct packed {
    shaper_cfg_t                  shaper;
    logic [LimitPacketsWidth-1:0] limit_packets;
    logic [LimitBytesWidth-1:0]   limit_bytes;
    aqm_cfg_t                     aqm;
    class_t                       share_class;
  } settings_t;

  typedef struct packed {
    setting_e            what;
    logic [QueueIdW-1:0] id;
    shaper_cfg_t         shaper;
    logic [QueueIdW-1:0] parent;
    class_t              cls;
    weight_t             weight;
  } hierarchy_t;

  typedef enum logic [3:0] {
    Idle,
    Write,          // a setting is offered; with `provision` one of the hierarchy goes along with it
    WriteHierarchy, // a setting of the hierarchy is offered
    AskLook,        // a look into the queue is offered
    WaitLook,
    AskOut,         // the read of the sent counters is offered
    WaitOut,
    AskInDrop, // the read of the accepted and lost counters is offered
    WaitInDrop,
    AskClass, // of memory
    WaitClass,
    ReadBack  // the other settings are asked for
  } state_e;

  pst_access_edge_regs_pkg::pst_access_edge_regs__in_t  hwif_in;
  pst_access_edge_regs_pkg::pst_access_edge_regs__out_t hwif_out;

  state_e state_q, state_d;
  refusal_e refused_q, refused_d, refuse;
  // A command that has been taken from the bus but not answered.
  logic        pending_q, pending_d;
  logic [31:0] command_q, command_d;
  logic        start, is_write, is_provision, is_hierarchy, is_share, is_read, share_exists;
  logic        reading_q, reading_d;        // a look is for a read-back
  logic        provision_q, provision_d;    // class and weight go along with the setting on offer
  logic        window_write;
  logic [ 4:0] window_word;
  logic [31:0] window_data;
  hierarchy_t  hierarchy_q, hierarchy_d, hierarchy;
  logic [31:0] tree_index, tree_parent;

  logic [QueueIdW-1:0] queue_q, queue_d;
  settings_t settings_q, settings_d, settings;
  look_t look_q, look_d, snap_look_q, snap_look_d;
  now_t now_q, now_d, back_q, back_d;
  count_t out_q, out_d;
  count_t snap_in_q, snap_in_d, snap_out_q, snap_out_d, snap_drop_q, snap_drop_d, snap_aqm_q, snap_aqm_d;
  logic [PacketWidth-1:0] snap_mark_q, snap_mark_d;

  localparam int unsigned BurstWidth   = $bits(settings.shaper.burst);
  localparam int unsigned RateWidth    = $bits(shaper_cfg_t) - BurstWidth;
  localparam int unsigned AqmHalfWidth = AqmSettingsWidth / 2;

  // The limits are 32-bit registers: what the hardware cannot hold becomes the largest value it can.
  always_comb begin
    logic [31:0] packets, bytes;
    packets                  = hwif_out.queue_limit_packets.packets.value;
    bytes                    = hwif_out.queue_limit_bytes.bytes.value;
    settings.shaper.burst    = hwif_out.queue_burst.cycles.value;
    settings.shaper.exponent = hwif_out.queue_rate.exponent.value;
    settings.shaper.mantissa = hwif_out.queue_rate.mantissa.value;
    settings.limit_packets   = |packets[31:LimitPacketsWidth] ? '1 : packets[LimitPacketsWidth-1:0];
    settings.limit_bytes     = |bytes[31:LimitBytesWidth] ? '1 : bytes[LimitBytesWidth-1:0];
    settings.aqm.enable      = hwif_out.queue_aqm.enable.value;
    settings.aqm.ecn         = hwif_out.queue_aqm.ecn.value;
    settings.aqm.settings    = {hwif_out.queue_aqm_target.ticks.value, hwif_out.queue_aqm_interval.ticks.value};
    settings.share_class     = ShareClasses != 0 ? class_t'(hwif_out.queue_class.cls.value) : '0;
  end

  assign window_write = hwif_out.execute.req && hwif_out.execute.req_is_wr;
  assign window_word  = hwif_out.execute.addr[6:2];
  assign window_data  = hwif_out.execute.wr_data;

  assign start        = pending_q && state_q == Idle;
  assign is_provision = command_q == 32'(CommandProvision);
  assign is_write     = command_q == 32'(CommandWrite) || command_q == 32'(CommandWriteNext) || is_provision;
  assign is_hierarchy = Hierarchy
                        && (command_q[31:2] == FirstHierarchyCommand[31:2] || command_q == 32'(CommandTreeSubscriberNext));
  assign is_read      = command_q[31:2] == FirstReadBack[31:2] && (Hierarchy || command_q == 32'(CommandReadBack));
  assign is_share     = ShareClasses != 0 && command_q == 32'(CommandShare);
  assign share_exists = ShareClasses != 0 && hwif_out.share_class.cls.value <= LastShareClass
                        && hwif_out.share_size.value.value <= LastShareSize;

  assign tree_index  = hwif_out.tree_index.value.value;
  assign tree_parent = hwif_out.tree_parent.value.value;
  assign hierarchy = '{
      what: is_provision ? SetQueue : command_q == 32'(CommandTreeSubscriberNext) ? SetSubscriber : setting_e'(command_q[1:0]),
      id: is_provision || command_q == 32'(CommandReadBack) ? hwif_out.queue_index.value.value[QueueIdW-1:0] : tree_index[QueueIdW-1:0],
      shaper: '{
          burst: hwif_out.tree_burst.cycles.value,
          exponent: hwif_out.tree_rate.exponent.value,
          mantissa: hwif_out.tree_rate.mantissa.value
      },
      parent: tree_parent[QueueIdW-1:0],
      cls: hwif_out.tree_class.cls.value[ClassWidth-1:0],
      weight: hwif_out.tree_class.weight.value
  };

  always_comb begin
    refuse = RefusalAccepted;
    if (is_hierarchy) begin
      unique case (hierarchy.what)
        SetQueue: begin
          if (hwif_out.tree_class.cls.value >= 8'(Classes)) refuse = RefusalBadClass;
          if (tree_index >= Queues) refuse = RefusalBadIndex;
        end
        SetSubscriber: begin
          if (tree_parent >= Nodes) refuse = RefusalBadParent;
          if (tree_index >= Queues / QueuesPerSubscriber) refuse = RefusalBadIndex;
        end
        SetNode: begin
          if (tree_parent >= Ports) refuse = RefusalBadParent;
          if (tree_index >= Nodes) refuse = RefusalBadIndex;
        end
        default: if (tree_index >= Ports) refuse = RefusalBadIndex;
      endcase
    end else if (is_read && hierarchy.what != SetQueue) begin
      if (tree_index >= (hierarchy.what == SetSubscriber ? Queues / QueuesPerSubscriber : hierarchy.what == SetNode ? Nodes : Ports))
        refuse = RefusalBadIndex;
    end else if (is_share) begin
      if (hwif_out.share_class.cls.value > LastShareClass) refuse = RefusalBadClass;
      if (hwif_out.share_size.value.value > LastShareSize) refuse = RefusalBadIndex;
    end else begin
      if (ShareClasses != 0 && is_write && hwif_out.queue_class.cls.value > LastShareClass) refuse = RefusalBadClass;
      if (Hierarchy && is_provision && hwif_out.tree_class.cls.value >= 8'(Classes)) refuse = RefusalBadClass;
      if (hwif_out.queue_index.value.value >= Queues) refuse = RefusalBadIndex;
    end
    if (!is_hierarchy && !is_share && !is_read && !is_write && command_q != CommandSnapshot) refuse = RefusalNoCommand;
  end

  always_comb begin
    state_d     = state_q;
    refused_d   = refused_q;
    pending_d   = pending_q && !start;
    command_d   = command_q;
    queue_d     = queue_q;
    settings_d  = settings_q;
    hierarchy_d = hierarchy_q;
    provision_d = provision_q;
    out_d       = out_q;
    snap_in_d   = snap_in_q;
    snap_out_d  = snap_out_q;
    snap_drop_d = snap_drop_q;
    snap_aqm_d  = snap_aqm_q;
    snap_mark_d = snap_mark_q;
    look_d      = look_q;
    snap_look_d = snap_look_q;
    reading_d   = reading_q;
    back_d      = back_q;
    now_d       = now_q;

    unique case (state_q)
      Write: if (m_cfg_ready_i) state_d = provision_q && !m_hierarchy_cfg_ready_i ? WriteHierarchy : Idle;
      WriteHierarchy: if (m_hierarchy_cfg_ready_i) state_d = Idle;
      AskLook: if (m_look_ready_i) state_d = WaitLook;
      WaitLook:
      if (s_look_valid_i) begin
        look_d  = '{packets: s_look_packets_i, bytes: s_look_bytes_i, age: s_look_packets_i != '0 ? s_look_age_i : '0};
        back_d.limit_packets = s_look_limit_packets_i;
        back_d.limit_bytes   = s_look_limit_bytes_i;
        if (reading_q) state_d = ShareClasses != 0 ? AskClass : ReadBack;
        else state_d = s_look_age_known_i ? AskOut : AskLook;
      end
      AskClass: if (m_class_ready_i) state_d = WaitClass;
      WaitClass:
      if (s_class_valid_i) begin
        back_d.share_class = s_class_i;
        state_d            = ReadBack;
      end
      ReadBack:
      if (s_back_valid_i) begin
        now_d        = back_q;
        now_d.shaper = s_back_shaper_i;
        if (hierarchy_q.what == SetSubscriber || hierarchy_q.what == SetNode) now_d.parent = s_back_parent_i;
        if (Hierarchy && hierarchy_q.what == SetQueue) now_d.cls = s_back_class_i;
        if (Hierarchy && (hierarchy_q.what == SetQueue || hierarchy_q.what == SetSubscriber)) now_d.weight = s_back_weight_i;
        state_d      = Idle;
      end
      AskOut: if (m_read_out_ready_i) state_d = WaitOut;
      WaitOut:
      if (s_out_valid_i) begin
        out_d   = '{packets: s_out_packets_i, bytes: s_out_bytes_i};
        state_d = AskInDrop;
      end
      AskInDrop: if (m_read_in_drop_ready_i) state_d = WaitInDrop;
      WaitInDrop:
      if (s_in_drop_valid_i) begin
        snap_in_d   = '{packets: s_in_packets_i, bytes: s_in_bytes_i};
        snap_out_d  = out_q;
        snap_drop_d = '{packets: s_drop_packets_i + s_aqm_packets_i, bytes: s_drop_bytes_i + s_aqm_bytes_i};
        snap_aqm_d  = '{packets: s_aqm_packets_i, bytes: s_aqm_bytes_i};
        snap_mark_d = s_mark_packets_i;
        snap_look_d = look_q;
        state_d     = Idle;
      end
      default: begin  // Idle
        if (start) begin
          queue_d     = hwif_out.queue_index.value.value[QueueIdW-1:0];
          settings_d  = settings;
          hierarchy_d = hierarchy;
          provision_d = Hierarchy && is_provision;
          reading_d   = is_read;
          back_d      = '0;
          refused_d   = refuse;
          if (refuse == RefusalAccepted && !is_share) begin
            state_d = is_hierarchy ? WriteHierarchy : is_write ? Write : is_read && hierarchy.what != SetQueue ? ReadBack : AskLook;
          end
        end
      end
    endcase

    // The register block sends the next command only after this one has been answered.
    if (hwif_out.queue_command.req && hwif_out.queue_command.req_is_wr) begin
      pending_d = 1'b1;
      command_d = hwif_out.queue_command.wr_data.command & hwif_out.queue_command.wr_biten.command;
    end
    if (window_write) begin
      pending_d = 1'b1;
      command_d = window_word inside {TreeRate, TreeBurst, TreeParent} ? 32'(CommandTreeSubscriberNext) : 32'(CommandProvision);
    end
  end

  always_ff @(posedge clk_i) begin
    state_q     <= state_d;
    refused_q   <= refused_d;
    pending_q   <= pending_d;
    snap_in_q   <= snap_in_d;
    snap_out_q  <= snap_out_d;
    snap_drop_q <= snap_drop_d;
    snap_aqm_q  <= snap_aqm_d;
    snap_mark_q <= snap_mark_d;
    snap_look_q <= snap_look_d;
    now_q       <= now_d;
    if (rst_i) begin
      state_q     <= Idle;
      refused_q   <= RefusalAccepted;
      pending_q   <= 1'b0;
      snap_in_q   <= '0;
      snap_out_q  <= '0;
      snap_drop_q <= '0;
      snap_aqm_q  <= '0;
      snap_mark_q <= '0;
      snap_look_q <= '0;
      now_q       <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    command_q   <= command_d;
    queue_q     <= queue_d;
    settings_q  <= settings_d;
    hierarchy_q <= hierarchy_d;
    provision_q <= provision_d;
    out_q       <= out_d;
    look_q      <= look_d;
    reading_q   <= reading_d;
    back_q      <= back_d;
  end

  assign memory_timeout_o         = hwif_out.memory_timeout.cycles.value;
  assign m_cfg_valid_o            = state_q == Write;
  assign m_cfg_queue_o            = queue_q;
  assign m_cfg_shaper_o           = settings_q.shaper;
  assign m_cfg_limit_packets_o    = settings_q.limit_packets;
  assign m_cfg_limit_bytes_o      = settings_q.limit_bytes;
  assign m_cfg_aqm_o              = settings_q.aqm;
  assign m_cfg_share_class_o      = settings_q.share_class;
  assign m_share_valid_o          = start && is_share && refuse == RefusalAccepted;
  assign m_share_class_o          = share_exists ? class_t'(hwif_out.share_class.cls.value) : '0;
  assign m_share_size_o           = share_exists ? 5'(hwif_out.share_size.value.value) : '0;
  assign m_share_alpha_o          = hwif_out.share_alpha.exponent.value;
  assign m_share_reserved_o       = hwif_out.share_reserved.pages.value;
  // Class and weight come with the queue's other settings: in the cycle in which these are taken, so that a queue never has a part of them.
  assign m_hierarchy_cfg_valid_o  = state_q == WriteHierarchy || (state_q == Write && provision_q && m_cfg_ready_i);
  assign m_hierarchy_cfg_what_o   = hierarchy_q.what;
  assign m_hierarchy_cfg_id_o     = hierarchy_q.id;
  assign m_hierarchy_cfg_shaper_o = hierarchy_q.shaper;
  assign m_hierarchy_cfg_parent_o = hierarchy_q.parent;
  assign m_hierarchy_cfg_class_o  = hierarchy_q.cls;
  assign m_hierarchy_cfg_weight_o = hierarchy_q.weight;
  assign m_read_index_o           = queue_q;
  assign m_look_valid_o           = state_q == AskLook;
  assign m_back_valid_o           = state_q == ReadBack;
  assign m_back_what_o            = hierarchy_q.what;
  assign m_back_id_o              = hierarchy_q.id;
  assign m_class_valid_o          = state_q == AskClass;
  assign m_read_out_valid_o       = state_q == AskOut;
  assign m_read_in_drop_valid_o   = state_q == AskInDrop;

  always_comb begin
    hwif_in.queues.value.next          = Queues;
    hwif_in.descriptors.value.next     = Descriptors;
    hwif_in.memories.value.next        = Memories;
    hwif_in.max_frame_bytes.value.next = MaxFrameBytes;
    hwif_in.clock_hz.value.next        = ClockHz;
    hwif_in.features.shaping.next      = Shaping;
    hwif_in.features.aqm.next          = 2'(AqmKind);
    hwif_in.features.aqm_estimate.next = AqmEstimate;
    hwif_in.features.tick_shift.next   = AqmKind != 0 ? 5'(TickShift) : '0;
    hwif_in.features.hierarchy.next    = Hierarchy;
    hwif_in.features.admission.next    = ShareClasses != 0;
    hwif_in.features.sojourn.next      = AqmKind != 0 && !AqmEstimate;
    hwif_in.queues_per_subscriber.value.next = Hierarchy ? QueuesPerSubscriber : 0;
    hwif_in.nodes.value.next           = Hierarchy ? Nodes : 0;
    hwif_in.ports.value.next           = Hierarchy ? Ports : 0;
    hwif_in.classes.value.next         = Hierarchy ? Classes : 0;
    hwif_in.share_classes.value.next   = ShareClasses;
    hwif_in.share_sizes.value.next     = ShareClasses != 0 ? ShareSizes : 0;
    hwif_in.share_free.value.next      = share_exists ? s_share_free_i : '0;
    hwif_in.share_used.value.next      = share_exists ? s_share_used_i : '0;
    hwif_in.share_in_force.value.next  = share_exists ? s_share_in_force_i : '0;
    hwif_in.memory_lost.memories.next  = 32'(memory_lost_i);
    hwif_in.status.init_done.next      = init_done_i;
    hwif_in.status.busy.next           = state_q != Idle || pending_q;
    hwif_in.status.refused.next        = refused_q != RefusalAccepted;
    hwif_in.status.reason.next         = refused_q;
    hwif_in.queue_index.value.incr     = start && refuse == RefusalAccepted
                                         && (command_q == 32'(CommandWriteNext) || command_q == 32'(CommandProvision));
    hwif_in.tree_index.value.incr      = start && refuse == RefusalAccepted && command_q == 32'(CommandTreeSubscriberNext);
    // The register block waits for one answer at a time, whichever of the two was written. A read of the window is 0.
    hwif_in.queue_command.wr_ack       = start;
    hwif_in.execute.wr_ack             = start;
    hwif_in.execute.rd_ack             = hwif_out.execute.req && !hwif_out.execute.req_is_wr;
    hwif_in.execute.rd_data            = '0;

    // What the window writes.
    {hwif_in.queue_rate.exponent.next, hwif_in.queue_rate.mantissa.next} = RateWidth'(window_data);
    hwif_in.queue_burst.cycles.next          = BurstWidth'(window_data);
    hwif_in.queue_limit_packets.packets.next = window_data;
    hwif_in.queue_limit_bytes.bytes.next     = window_data;
    {hwif_in.queue_aqm.ecn.next, hwif_in.queue_aqm.enable.next} = 2'(window_data);
    hwif_in.queue_aqm_target.ticks.next      = AqmHalfWidth'(window_data);
    hwif_in.queue_aqm_interval.ticks.next    = AqmHalfWidth'(window_data);
    hwif_in.queue_class.cls.next             = 8'(window_data);
    {hwif_in.tree_rate.exponent.next, hwif_in.tree_rate.mantissa.next} = RateWidth'(window_data);
    hwif_in.tree_burst.cycles.next           = BurstWidth'(window_data);
    hwif_in.tree_parent.value.next           = window_data;
    {hwif_in.tree_class.weight.next, hwif_in.tree_class.cls.next} = (WeightWidth + 8)'(window_data);
    hwif_in.queue_rate.mantissa.we           = window_write && window_word == QueueRate;
    hwif_in.queue_rate.exponent.we           = window_write && window_word == QueueRate;
    hwif_in.queue_burst.cycles.we            = window_write && window_word == QueueBurst;
    hwif_in.queue_limit_packets.packets.we   = window_write && window_word == QueueLimitPackets;
    hwif_in.queue_limit_bytes.bytes.we       = window_write && window_word == QueueLimitBytes;
    hwif_in.queue_aqm.enable.we              = window_write && window_word == QueueAqm;
    hwif_in.queue_aqm.ecn.we                 = window_write && window_word == QueueAqm;
    hwif_in.queue_aqm_target.ticks.we        = window_write && window_word == QueueAqmTarget;
    hwif_in.queue_aqm_interval.ticks.we      = window_write && window_word == QueueAqmInterval;
    hwif_in.queue_class.cls.we               = window_write && window_word == QueueClass;
    hwif_in.tree_rate.mantissa.we            = window_write && window_word == TreeRate;
    hwif_in.tree_rate.exponent.we            = window_write && window_word == TreeRate;
    hwif_in.tree_burst.cycles.we             = window_write && window_word == TreeBurst;
    hwif_in.tree_parent.value.we             = window_write && window_word == TreeParent;
    hwif_in.tree_class.cls.we                = window_write && window_word == TreeClass;
    hwif_in.tree_class.weight.we             = window_write && window_word == TreeClass;

    hwif_in.in.packets.value.next   = 50'(snap_in_q.packets);
    hwif_in.in.bytes.value.next     = 56'(snap_in_q.bytes);
    hwif_in.out.packets.value.next  = 50'(snap_out_q.packets);
    hwif_in.out.bytes.value.next    = 56'(snap_out_q.bytes);
    hwif_in.drop.packets.value.next = 50'(snap_drop_q.packets);
    hwif_in.drop.bytes.value.next   = 56'(snap_drop_q.bytes);
    hwif_in.aqm_drop.packets.value.next = 50'(snap_aqm_q.packets);
    hwif_in.aqm_drop.bytes.value.next   = 56'(snap_aqm_q.bytes);
    hwif_in.mark_packets.value.next     = 50'(snap_mark_q);
    hwif_in.backlog_packets.value.next  = 32'(snap_look_q.packets);
    hwif_in.backlog_bytes.value.next    = 32'(snap_look_q.bytes);
    hwif_in.head_sojourn.cycles.next    = snap_look_q.age;

    hwif_in.now_rate.mantissa.next         = now_q.shaper.mantissa;
    hwif_in.now_rate.exponent.next         = now_q.shaper.exponent;
    hwif_in.now_burst.cycles.next          = now_q.shaper.burst;
    hwif_in.now_limit_packets.packets.next = 32'(now_q.limit_packets);
    hwif_in.now_limit_bytes.bytes.next     = 32'(now_q.limit_bytes);
    hwif_in.now_parent.value.next          = 32'(now_q.parent);
    hwif_in.now_class.cls.next             = 8'(now_q.cls);
    hwif_in.now_class.weight.next          = now_q.weight;
    hwif_in.now_share_class.cls.next       = 8'(now_q.share_class);

    hwif_in.dropped_runt.packets.value.next              = 50'(dropped_packets_i[DropRunt]);
    hwif_in.dropped_runt.bytes.value.next                = 56'(dropped_bytes_i[DropRunt]);
    hwif_in.dropped_oversize.packets.value.next          = 50'(dropped_packets_i[DropOversize]);
    hwif_in.dropped_oversize.bytes.value.next            = 56'(dropped_bytes_i[DropOversize]);
    hwif_in.dropped_bad_queue_id.packets.value.next      = 50'(dropped_packets_i[DropBadQueueId]);
    hwif_in.dropped_bad_queue_id.bytes.value.next        = 56'(dropped_bytes_i[DropBadQueueId]);
    hwif_in.dropped_bad_frame.packets.value.next         = 50'(dropped_packets_i[DropBadFrame]);
    hwif_in.dropped_bad_frame.bytes.value.next           = 56'(dropped_bytes_i[DropBadFrame]);
    hwif_in.dropped_no_page.packets.value.next           = 50'(dropped_packets_i[DropNoPage]);
    hwif_in.dropped_no_page.bytes.value.next             = 56'(dropped_bytes_i[DropNoPage]);
    hwif_in.dropped_tail_drop_packets.packets.value.next = 50'(dropped_packets_i[DropTailDropPackets]);
    hwif_in.dropped_tail_drop_packets.bytes.value.next   = 56'(dropped_bytes_i[DropTailDropPackets]);
    hwif_in.dropped_tail_drop_bytes.packets.value.next   = 50'(dropped_packets_i[DropTailDropBytes]);
    hwif_in.dropped_tail_drop_bytes.bytes.value.next     = 56'(dropped_bytes_i[DropTailDropBytes]);
    hwif_in.dropped_aqm.packets.value.next               = 50'(dropped_packets_i[DropAqm]);
    hwif_in.dropped_aqm.bytes.value.next                 = 56'(dropped_bytes_i[DropAqm]);
    hwif_in.dropped_no_share.packets.value.next          = 50'(dropped_packets_i[DropNoShare]);
    hwif_in.dropped_no_share.bytes.value.next            = 56'(dropped_bytes_i[DropNoShare]);
    hwif_in.dropped_read_error.packets.value.next        = 50'(dropped_packets_i[DropReadError]);
    hwif_in.dropped_read_error.bytes.value.next          = 56'(dropped_bytes_i[DropReadError]);
    hwif_in.marked_packets.value.next                    = 50'(marked_packets_i);
  end

  // No reason has the number 9.
  logic unused_reason;
  assign unused_reason = ^{dropped_packets_i[9], dropped_bytes_i[9]};

  logic awvalid, awready, wvalid, wready, bvalid, bready;
  logic [11:0] awaddr;
  logic [1:0] bresp;

  pst_control_bus u_bus (
      .clk_i, .rst_i,
      .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_awaddr_i, .s_axil_wvalid_i, .s_axil_wready_o, .s_axil_wstrb_i,
      .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_bresp_o,
      .m_axil_awvalid_o(awvalid), .m_axil_awready_i(awready), .m_axil_awaddr_o(awaddr),
      .m_axil_wvalid_o(wvalid), .m_axil_wready_i(wready),
      .m_axil_bvalid_i(bvalid), .m_axil_bready_o(bready), .m_axil_bresp_i(bresp)
  );

  pst_access_edge_regs u_regs (
      .clk           (clk_i),
      .rst           (rst_i),
      .s_axil_awready(awready),
      .s_axil_awvalid(awvalid),
      .s_axil_awaddr (awaddr),
      .s_axil_awprot (s_axil_awprot_i),
      .s_axil_wready (wready),
      .s_axil_wvalid (wvalid),
      .s_axil_wdata  (s_axil_wdata_i),
      .s_axil_wstrb  (s_axil_wstrb_i),
      .s_axil_bready (bready),
      .s_axil_bvalid (bvalid),
      .s_axil_bresp  (bresp),
      .s_axil_arready(s_axil_arready_o),
      .s_axil_arvalid(s_axil_arvalid_i),
      .s_axil_araddr (s_axil_araddr_i),
      .s_axil_arprot (s_axil_arprot_i),
      .s_axil_rready (s_axil_rready_i),
      .s_axil_rvalid (s_axil_rvalid_o),
      .s_axil_rdata  (s_axil_rdata_o),
      .s_axil_rresp  (s_axil_rresp_o),
      .hwif_in,
      .hwif_out
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_one_command_at_a_time : assert (!((hwif_out.queue_command.req || hwif_out.execute.req) && pending_q))
      else $error("pst_control: a command came before the one before was answered");
      a_look_was_asked_for : assert (!(s_look_valid_i && state_q != WaitLook))
      else $error("pst_control: an answer to no look");
      a_counters_were_asked_for : assert (!(s_out_valid_i && state_q != WaitOut) && !(s_in_drop_valid_i && state_q != WaitInDrop))
      else $error("pst_control: counters came that nobody asked for");
    end
  end
`endif

endmodule
