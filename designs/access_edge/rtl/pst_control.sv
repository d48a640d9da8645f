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
// Bound:     what a command waits for, traffic may keep from coming. After 512 cycles hold_o stops the traffic until the command has ended:
//            none takes more than 1,024 cycles once the device has cleared its memories, and no access waits longer (README, hazards);
//            with a CounterMemory a snapshot takes what that needs to answer besides.
// Read-back: of a queue its limits are looked at, then its class of memory, then the rest; the registers change all in one cycle.
// Latency:   a register access some 4 cycles; a setting leaves on m_cfg 1 cycle after its command.
// Reset:     loses a command that is under way, and the snapshot.
module pst_control
  import pst_pkg::DropLast, pst_pkg::LimitPacketsWidth, pst_pkg::LimitBytesWidth, pst_pkg::aqm_cfg_t, pst_pkg::shaper_cfg_t,
      pst_pkg::AlphaWidth;
  import pst_hierarchy_pkg::class_t, pst_hierarchy_pkg::weight_t, pst_hierarchy_pkg::guarantee_t, pst_hierarchy_pkg::setting_e,
      pst_hierarchy_pkg::SetQueue, pst_hierarchy_pkg::SetSubscriber, pst_hierarchy_pkg::SetNode;
  import pst_access_edge_values_pkg::*;
  import pst_control_pkg::*;
  import pst_lookup_pkg::op_e;
  import pst_lookup_pkg::OpInsert;
  import pst_lookup_pkg::OpDelete;
  import pst_lookup_pkg::OpRead;
  import pst_lookup_pkg::done_e;
  import pst_lookup_pkg::DoneAbsent;
  import pst_lookup_pkg::DoneFull;
  import pst_profile_pkg::set_e;
#(
    parameter int unsigned Queues = 16,             // >= 2
    parameter int unsigned Descriptors = 64,        // shown in a register
    parameter int unsigned Memories = 1,            // of packets, shown in a register; 1..32
    parameter bit          CounterMemory = 1'b0,    // another one has the counters by queue: their reads wait for it
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
    parameter int unsigned Busiest = 0,             // places of the table that scans fill, 0: there are none; 0..64
    parameter bit          NodeCounters = 1'b0,     // there are counters by node and class; wants Hierarchy
    parameter bit          Guarantees = 1'b0,       // queues and subscribers may have guaranteed rates; wants Hierarchy
    parameter int unsigned FindProfiles = 0,        // profiles of headers, 0: queues are not found in headers; 0..15
    parameter int unsigned FindEntries = 16,        // FindProfiles > 0: places for keys, shown in a register
    parameter int unsigned FindPrefixLevels = 0,    // FindProfiles > 0: levels of the tree of prefixes, shown in a register; 0: none
    parameter int unsigned Flows = 0,               // flow queues, 0: there are none; shown in a register
    parameter int unsigned FlowHostBits = 0,        // Flows > 0: bits of a host's hash, 0: hosts are not told apart; shown in a register
    parameter int unsigned SettingProfiles = 0,     // profiles of settings, 0: each queue has its own; shown in a register
    parameter int unsigned PacketWidth = 50,        // of the counters, bits, 1..50
    parameter int unsigned ByteWidth = 56,          // of the counters, bits, 1..56
    localparam int unsigned MemoryPorts = Memories + 32'(CounterMemory),
    localparam int unsigned QueueIdW = Queues > 1 ? $clog2(Queues) : 1,
    localparam int unsigned NodeWidth = $clog2(Nodes),
    localparam int unsigned PlaceWidth = NodeWidth + (Classes > 1 ? $clog2(Classes) : 1)
) (
    input  logic                                      clk_i,
    input  logic                                      rst_i,
    // AXI4-Lite, 32 bit
    input  pst_axi_pkg::lite_req_t                    s_axil_i,
    output pst_axi_pkg::lite_rsp_t                    s_axil_o,
    // settings of one queue
    output pst_access_edge_ports_pkg::queue_cfg_t     m_cfg_o,
    output logic [QueueIdW-1:0]                       m_cfg_queue_o,
    // ShareClasses > 0: settings of a class, in one cycle; and what it has now
    output pst_access_edge_ports_pkg::share_cfg_t     m_share_o,
    input  pst_access_edge_ports_pkg::share_t         s_share_i,
    // Hierarchy: settings of the hierarchy
    output pst_access_edge_ports_pkg::hierarchy_cfg_t m_hierarchy_cfg_o,
    output logic [QueueIdW-1:0]                       m_hierarchy_cfg_id_o,
    output logic [QueueIdW-1:0]                       m_hierarchy_cfg_parent_o,
    // reads at an index: of a queue, or (node) of a class at a node, node above class
    output pst_access_edge_ports_pkg::read_t          m_read_o,
    output logic [QueueIdW-1:0]                       m_read_index_o,
    output logic [PlaceWidth-1:0]                     m_read_place_o,
    input  pst_access_edge_ports_pkg::counts_t        s_counts_i,
    input  pst_access_edge_ports_pkg::look_t          s_look_i,
    input  pst_access_edge_ports_pkg::share_class_t   s_class_i,
    // which of the requests, settings too, is taken
    input  pst_access_edge_ports_pkg::ready_t         ready_i,
    // read-back of settings, see s_read of pst_access_edge_core; of the class of memory of that queue, ShareClasses > 0
    output pst_access_edge_ports_pkg::back_ask_t      m_back_o,
    output logic [QueueIdW-1:0]                       m_back_id_o,
    input  pst_access_edge_ports_pkg::back_t          s_back_i,
    input  logic [QueueIdW-1:0]                       s_back_parent_i,
    // Busiest > 0: scans, see pst_access_edge_scan
    output pst_access_edge_ports_pkg::scan_ask_t      m_scan_o,
    input  scan_t                                     s_scan_i,
    // FindProfiles > 0: a setting of headers, in one cycle; a key that comes or goes, and what became of it; what is there. Index, value
    // and word are of both, see pst_find_queue. Flows > 0: a random word, the limit of all flow queues; packets in them
    output pst_access_edge_ports_pkg::find_ask_t      m_find_o,
    input  pst_access_edge_ports_pkg::find_done_t     s_find_done_i,
    input  find_t                                     s_find_i,
    // frames lost, by reason, and frames marked
    input  logic [DropLast:1][PacketWidth-1:0]        dropped_packets_i,
    input  logic [DropLast:1][ByteWidth-1:0]          dropped_bytes_i,
    input  logic [PacketWidth-1:0]                    marked_packets_i,
    // memories: cycles that one may be waited for (0: for ever), and those that are lost
    output logic [31:0]                               memory_timeout_o,
    input  logic [MemoryPorts-1:0]                    memory_lost_i,
    // drain: no frame is to come in or to be sent; what is under way
    output logic                                      drain_stop_o,
    input  logic                                      drain_done_i,
    input  logic [MemoryPorts-1:0]                    drain_outstanding_i,
    // interrupt: pulse, a FIFO in front of the device has lost a frame; frames lost in this cycle; a level
    input  logic                                      overflow_i,
    input  logic [2:0]                                lost_frames_i,
    output logic                                      irq_o,
    // a command has waited long: nothing is to be enqueued, dequeued or sent until it has ended
    output logic                                      hold_o,
    // state of the device
    input  logic                                      init_done_i
);

  if (Queues < 2) begin : g_bad_queues
    $error("pst_control: Queues is %0d, allowed: 2 and more", Queues);
  end
  if (PacketWidth < 1 || PacketWidth > 50 || ByteWidth < 1 || ByteWidth > 56) begin : g_bad_width
    $error("pst_control: PacketWidth is %0d (1 to 50), ByteWidth is %0d (1 to 56)", PacketWidth, ByteWidth);
  end
  if (Hierarchy && ShareClasses != 0 && ShareClasses < Classes) begin : g_bad_share_classes
    $error("pst_control: ShareClasses is %0d, fewer than the Classes of the hierarchy (%0d)", ShareClasses, Classes);
  end

  typedef struct packed {
    shaper_cfg_t                  shaper;
    logic [LimitPacketsWidth-1:0] limit_packets;
    logic [LimitBytesWidth-1:0]   limit_bytes;
    aqm_cfg_t                     aqm;
    class_t                       share_class;
    pst_pkg::len_t                quantum;
    pst_fq_pkg::sides_t           sides;
  } settings_t;

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
    ReadBack, // the other settings are asked for
    AskFind,  // a key is offered
    WaitFind,
    SettleFind // lookups leave a bank of prefixes
  } state_e;

  pst_access_edge_regs_pkg::pst_access_edge_regs__in_t  hwif_in;
  pst_access_edge_regs_pkg::pst_access_edge_regs__out_t hwif_out;

  localparam logic [4:0] SettleCycles = 5'(2 * FindPrefixLevels + 8);

  state_e state_q, state_d;
  logic [4:0] settle_q, settle_d;        // cycles that are left
  refusal_e refused_q, refused_d, refuse;
  logic [PacketWidth-1:0] lost_packets;
  logic [ByteWidth-1:0] lost_bytes;
  // A command that has been taken from the bus but not answered.
  logic        pending_q, pending_d;
  logic        no_command, no_command_q;
  logic [31:0] command_q, command_d, lost_frames;
  logic        late, written, refused_late;   // a setting is answered when it is taken or refused; it is
  logic        start, is_write, is_provision, is_hierarchy, is_share, is_read, is_scan, is_node, is_hierarchy_next, share_exists;
  logic        is_find, is_find_set, is_flow_word;
  set_e        find_what;
  op_e         find_op_q, find_op_d;
  logic [127:0] find_q, find_d, find;    // {word, value}
  logic        reading_q, reading_d;        // a look is for a read-back
  logic        provision_q, provision_d;    // class and weight go along with the setting on offer
  logic        node_q, node_d;              // a snapshot is of a class at a node
  logic [PlaceWidth-1:0] place_q, place_d;  // of which one
  logic        window_write;
  logic [ 4:0] window_word, cause;
  logic [31:0] window_data;
  hierarchy_setting_t hierarchy_q, hierarchy_d, hierarchy;

  logic [QueueIdW-1:0] queue_q, queue_d;
  settings_t settings_q, settings_d, settings;
  look_t look_q, look_d;
  now_t now_q, now_d, back_q, back_d;
  count_t out_q, out_d;
  snapshot_t snapshot_q, snapshot_d;
  status_t status;

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
    settings.quantum         = Flows != 0 ? hwif_out.queue_quantum.bytes.value : '0;
    settings.sides           = FlowHostBits != 0 ? hwif_out.queue_quantum.sides.value : '0;
    settings.share_class     = ShareClasses == 0 ? '0
                               : class_t'(Hierarchy && is_provision ? hwif_out.tree_class.cls.value : hwif_out.queue_class.cls.value);
  end

  assign lost_packets = PacketWidth'(s_counts_i.drop_packets + s_counts_i.aqm_packets);
  assign lost_bytes   = ByteWidth'(s_counts_i.drop_bytes + s_counts_i.aqm_bytes);

  assign window_write = hwif_out.execute.req && hwif_out.execute.req_is_wr;
  assign window_word  = hwif_out.execute.addr[6:2];
  assign window_data  = hwif_out.execute.wr_data;

  assign start        = pending_q && state_q == Idle;
  // With profiles of settings it takes some time until it is known whether there is one. The bus waits so long, and the index steps then:
  // software sees a refusal as of any other reason.
  assign late         = SettingProfiles != 0 && is_write && refuse == RefusalAccepted;
  assign written      = SettingProfiles != 0 && state_q == Write && ready_i.cfg;
  assign refused_late = written && ready_i.cfg_full;
  // A write of some bytes of the command, but not of the lowest one, is no command.
  assign no_command   = hwif_out.queue_command.req && hwif_out.queue_command.req_is_wr
                        && hwif_out.queue_command.wr_biten.command[7:0] == '0;

  pst_control_command #(
      .Queues(Queues), .Hierarchy(Hierarchy), .QueuesPerSubscriber(QueuesPerSubscriber), .Nodes(Nodes), .Ports(Ports), .Classes(Classes),
      .ShareClasses(ShareClasses), .ShareSizes(ShareSizes), .Busiest(Busiest), .NodeCounters(NodeCounters),
      .FindProfiles(FindProfiles), .FindEntries(FindEntries), .FindPrefixLevels(FindPrefixLevels), .Flows(Flows)
  ) u_command (
      .command_i(command_q), .regs_i(hwif_out), .scanning_i(s_scan_i.busy), .find_any_i(s_find_i.keys != '0),
      .is_write_o(is_write), .is_provision_o(is_provision), .is_hierarchy_o(is_hierarchy), .is_share_o(is_share), .is_read_o(is_read),
      .is_scan_o(is_scan), .is_node_o(is_node), .is_find_o(is_find), .is_find_set_o(is_find_set), .find_what_o(find_what),
      .is_flow_word_o(is_flow_word),
      .is_hierarchy_next_o(is_hierarchy_next), .hierarchy_o(hierarchy), .share_exists_o(share_exists), .refuse_o(refuse)
  );

  always_comb begin
    state_d     = state_q;
    refused_d   = refused_q;
    pending_d   = pending_q && !start;
    command_d   = command_q;
    queue_d     = queue_q;
    settings_d  = settings_q;
    hierarchy_d = hierarchy_q;
    provision_d = provision_q;
    node_d      = node_q;
    place_d     = place_q;
    out_d       = out_q;
    snapshot_d  = snapshot_q;
    look_d      = look_q;
    reading_d   = reading_q;
    back_d      = back_q;
    now_d       = now_q;
    find_d      = find_q;
    find_op_d   = find_op_q;
    settle_d    = settle_q - 1'b1;

    unique case (state_q)
      Write:
      if (refused_late) begin
        refused_d = RefusalNoRoom;
        state_d   = Idle;
      end else if (ready_i.cfg) begin
        state_d = provision_q && !ready_i.hierarchy_cfg ? WriteHierarchy : Idle;
      end
      WriteHierarchy: if (ready_i.hierarchy_cfg) state_d = Idle;
      AskLook: if (ready_i.look) state_d = WaitLook;
      WaitLook:
      if (s_look_i.valid) begin
        look_d  = '{packets: s_look_i.packets, bytes: s_look_i.bytes, age: s_look_i.packets != '0 ? s_look_i.age : '0};
        back_d.limit_packets = s_look_i.limit_packets;
        back_d.limit_bytes   = s_look_i.limit_bytes;
        back_d.quantum       = s_look_i.quantum;
        back_d.sides         = s_look_i.sides;
        if (reading_q) state_d = ShareClasses != 0 ? AskClass : ReadBack;
        else state_d = s_look_i.age_known ? AskOut : AskLook;
      end
      AskClass: if (ready_i.class_) state_d = WaitClass;
      WaitClass:
      if (s_class_i.valid) begin
        back_d.share_class = s_class_i.class_;
        state_d            = ReadBack;
      end
      ReadBack:
      if (s_back_i.valid) begin
        now_d        = back_q;
        now_d.shaper = s_back_i.shaper;
        if (AqmKind != 0 && hierarchy_q.what == SetQueue) now_d.aqm = s_back_i.aqm;
        if (hierarchy_q.what == SetSubscriber || hierarchy_q.what == SetNode) now_d.parent = 32'(s_back_parent_i);
        if (Hierarchy && hierarchy_q.what == SetQueue) now_d.cls = s_back_i.class_;
        if (Hierarchy && (hierarchy_q.what == SetQueue || hierarchy_q.what == SetSubscriber)) now_d.weight = s_back_i.weight;
        if (Guarantees && (hierarchy_q.what == SetQueue || hierarchy_q.what == SetSubscriber)) now_d.guarantee = s_back_i.guarantee;
        state_d      = Idle;
      end
      AskFind: if (ready_i.find_op) state_d = WaitFind;
      WaitFind:
      if (s_find_done_i.valid) begin
        if (s_find_done_i.done.done == DoneFull) refused_d = RefusalNoRoom;
        if (s_find_done_i.done.done == DoneAbsent) refused_d = RefusalBadKey;
        state_d = Idle;
      end
      SettleFind: if (settle_q == '0) state_d = Idle;
      AskOut: if (ready_i.out) state_d = WaitOut;
      WaitOut:
      if (s_counts_i.out_valid) begin
        out_d   = '{packets: s_counts_i.out_packets, bytes: s_counts_i.out_bytes};
        state_d = AskInDrop;
      end
      AskInDrop: if (ready_i.in_drop) state_d = WaitInDrop;
      WaitInDrop:
      if (s_counts_i.in_drop_valid) begin
        snapshot_d = '{
            accepted: '{packets: s_counts_i.in_packets, bytes: s_counts_i.in_bytes},
            sent: out_q,
            lost: '{packets: 50'(lost_packets), bytes: 56'(lost_bytes)},
            aqm: '{packets: s_counts_i.aqm_packets, bytes: s_counts_i.aqm_bytes},
            marks: s_counts_i.mark_packets,
            look: look_q
        };
        state_d     = Idle;
      end
      default: begin  // Idle
        if (start) begin
          queue_d     = hwif_out.queue_index.value.value[QueueIdW-1:0];
          settings_d  = settings;
          hierarchy_d = hierarchy;
          provision_d = Hierarchy && is_provision;
          node_d      = NodeCounters && is_node;
          place_d     = {hwif_out.node_index.value.value[NodeWidth-1:0], hwif_out.node_class.cls.value[PlaceWidth-NodeWidth-1:0]};
          reading_d   = is_read;
          back_d      = '0;
          refused_d   = refuse;
          find_d      = find;
          find_op_d   = command_q == 32'(CommandFindDelete) ? OpDelete : command_q == 32'(CommandFindRead) ? OpRead : OpInsert;
          if (refuse == RefusalAccepted && !is_share && !is_scan && !is_find_set && !is_flow_word) begin
            state_d = is_find ? AskFind
                      : is_hierarchy ? WriteHierarchy : is_write ? Write : is_read && hierarchy.what != SetQueue ? ReadBack
                      : is_node ? AskOut : AskLook;
            if (is_node) look_d = '0;
          end
          if (FindPrefixLevels != 0 && refuse == RefusalAccepted && is_find_set && find_what == pst_profile_pkg::SetBank) begin
            state_d  = SettleFind;
            settle_d = SettleCycles;
          end
        end
      end
    endcase

    // The register block sends the next command only after this one has been answered.
    if (hwif_out.queue_command.req && hwif_out.queue_command.req_is_wr && !no_command) begin
      pending_d = 1'b1;
      command_d = hwif_out.queue_command.wr_data.command & hwif_out.queue_command.wr_biten.command;
    end
    if (window_write) begin
      pending_d = 1'b1;
      command_d = window_word inside {HierarchyRate, HierarchyBurst, HierarchyParent} ? 32'(CommandTreeSubscriberNext)
                                                                                      : 32'(CommandProvision);
    end
  end

  always_ff @(posedge clk_i) begin
    state_q     <= state_d;
    refused_q   <= refused_d;
    pending_q   <= pending_d;
    no_command_q <= no_command;
    snapshot_q  <= snapshot_d;
    now_q       <= now_d;
    if (rst_i) begin
      state_q     <= Idle;
      refused_q   <= RefusalAccepted;
      pending_q   <= 1'b0;
      no_command_q <= 1'b0;
      snapshot_q  <= '0;
      now_q       <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    command_q   <= command_d;
    queue_q     <= queue_d;
    settings_q  <= settings_d;
    hierarchy_q <= hierarchy_d;
    provision_q <= provision_d;
    node_q      <= node_d;
    place_q     <= place_d;
    out_q       <= out_d;
    look_q      <= look_d;
    reading_q   <= reading_d;
    back_q      <= back_d;
    find_q      <= find_d;
    find_op_q   <= find_op_d;
    settle_q    <= settle_d;
  end

  // No traffic stands in the way of keys and prefixes, nor of an answer of the counters' memory, so none is stopped for them.
  logic stays, asked_memory;
  assign asked_memory = CounterMemory && !node_q && state_q inside {WaitOut, WaitInDrop};
  assign stays        = !(state_d inside {Idle, AskFind, WaitFind, SettleFind}) && !asked_memory;

  pst_control_wait #(.Bounded(AqmKind != 3)) u_wait (
      .clk_i, .rst_i, .init_done_i, .busy_i(state_q != Idle), .stays_i(stays), .memory_i(CounterMemory && s_counts_i.waits), .hold_o
  );

  assign memory_timeout_o         = hwif_out.memory_timeout.cycles.value;
  assign drain_stop_o             = hwif_out.drain.stop.value;
  assign m_cfg_o.valid            = state_q == Write;
  assign m_cfg_queue_o            = queue_q;
  assign m_cfg_o.shaper           = settings_q.shaper;
  assign m_cfg_o.limit_packets    = settings_q.limit_packets;
  assign m_cfg_o.limit_bytes      = settings_q.limit_bytes;
  assign m_cfg_o.aqm              = settings_q.aqm;
  assign m_cfg_o.quantum          = settings_q.quantum;
  assign m_cfg_o.sides            = settings_q.sides;
  assign m_cfg_o.profile          = '0;
  assign m_cfg_o.fresh            = 1'b0;
  assign m_cfg_o.peek             = 1'b0;
  assign m_find_o.flow_word       = start && is_flow_word && refuse == RefusalAccepted;
  assign m_find_o.flow_limit      = hwif_out.flow_limit.packets.value;
  assign m_share_o.queue_class      = settings_q.share_class;
  assign m_share_o.valid          = start && is_share && refuse == RefusalAccepted;
  assign m_scan_o.valid           = start && is_scan && refuse == RefusalAccepted;
  assign m_scan_o.level           = command_q == 32'(CommandScanBacklog);
  assign m_scan_o.show            = hwif_out.busiest_place.value.value;
  assign find                     = {
      hwif_out.find_key2.value.value, hwif_out.find_key1.value.value, hwif_out.find_key0.value.value, hwif_out.find_value.value.value
  };
  assign m_find_o.set             = start && is_find_set && refuse == RefusalAccepted;
  assign m_find_o.what            = find_what;
  assign m_find_o.item           = hwif_out.find_item.value.value;
  assign {m_find_o.word, m_find_o.value} = state_q == AskFind ? find_q : find;
  assign m_find_o.op_valid        = state_q == AskFind;
  assign m_find_o.op              = find_op_q;
  assign m_share_o.class_          = share_exists ? class_t'(hwif_out.share_class.cls.value) : '0;
  assign m_share_o.size           = share_exists ? 5'(hwif_out.share_size.value.value) : '0;
  assign m_share_o.alpha          = hwif_out.share_alpha.exponent.value;
  assign m_share_o.reserved       = hwif_out.share_reserved.pages.value;
  // Class and weight come with the queue's other settings: in the cycle in which these are taken, so that a queue never has a part of them.
  assign m_hierarchy_cfg_o.valid  = state_q == WriteHierarchy || (state_q == Write && provision_q && ready_i.cfg && !refused_late);
  assign m_hierarchy_cfg_o.what   = hierarchy_q.what;
  assign m_hierarchy_cfg_id_o     = hierarchy_q.id[QueueIdW-1:0];
  assign m_hierarchy_cfg_o.shaper = hierarchy_q.shaper;
  assign m_hierarchy_cfg_parent_o = hierarchy_q.parent[QueueIdW-1:0];
  assign m_hierarchy_cfg_o.class_  = hierarchy_q.cls;
  assign m_hierarchy_cfg_o.weight = hierarchy_q.weight;
  assign m_hierarchy_cfg_o.guarantee = hierarchy_q.guarantee;
  assign m_read_index_o           = queue_q;
  assign m_read_o.node            = node_q;
  assign m_read_place_o           = place_q;
  assign m_read_o.look_valid           = state_q == AskLook;
  assign m_back_o.valid           = state_q == ReadBack;
  assign m_back_o.what            = hierarchy_q.what;
  assign m_back_id_o              = hierarchy_q.id[QueueIdW-1:0];
  assign m_read_o.class_valid          = state_q == AskClass;
  assign m_read_o.out_valid       = state_q == AskOut;
  assign m_read_o.in_drop_valid   = state_q == AskInDrop;

  assign status = '{
      init_done: init_done_i,
      busy: state_q != Idle || pending_q,
      reason: refused_q,
      next_queue: (SettingProfiles != 0 ? written && !refused_late : start && refuse == RefusalAccepted)
                  && (command_q == 32'(CommandWriteNext) || is_provision),
      next_hierarchy: start && refuse == RefusalAccepted && is_hierarchy_next
  };

  pst_control_shown #(
      .Queues(Queues), .Descriptors(Descriptors), .Memories(Memories), .CounterMemory(CounterMemory), .MaxFrameBytes(MaxFrameBytes),
      .ClockHz(ClockHz), .Shaping(Shaping), .AqmKind(AqmKind), .AqmEstimate(AqmEstimate), .TickShift(TickShift), .Hierarchy(Hierarchy),
      .QueuesPerSubscriber(QueuesPerSubscriber), .Nodes(Nodes), .Ports(Ports), .Classes(Classes), .ShareClasses(ShareClasses),
      .ShareSizes(ShareSizes), .Busiest(Busiest), .NodeCounters(NodeCounters), .Guarantees(Guarantees),
      .FindProfiles(FindProfiles), .FindEntries(FindEntries), .FindPrefixLevels(FindPrefixLevels), .Flows(Flows),
      .FlowHostBits(FlowHostBits), .SettingProfiles(SettingProfiles), .PacketWidth(PacketWidth), .ByteWidth(ByteWidth)
  ) u_shown (
      .regs_i(hwif_out), .regs_o(hwif_in), .answer_i((start && !late) || written || no_command_q),
      .status_i(status), .snapshot_i(snapshot_q), .now_i(now_q),
      .scan_i(s_scan_i), .find_i(s_find_i),
      .window_write_i(window_write), .window_word_i(window_word), .window_data_i(window_data),
      .share_exists_i(share_exists), .s_share_free_i(s_share_i.free), .s_share_used_i(s_share_i.used),
      .s_share_in_force_i(s_share_i.in_force),
      .memory_lost_i, .counters_wrong_i(s_counts_i.wrong), .drain_done_i, .drain_outstanding_i, .cause_i(cause),
      .lost_frames_i(lost_frames), .dropped_packets_i,
      .dropped_bytes_i, .marked_packets_i
  );

  pst_control_interrupt #(.Memories(MemoryPorts)) u_interrupt (
      .clk_i, .rst_i, .regs_i(hwif_out), .memory_lost_i, .scanning_i(s_scan_i.busy), .drained_i(drain_done_i), .overflow_i,
      .lost_frames_i, .cause_o(cause), .lost_o(lost_frames), .irq_o
  );

  pst_axi_pkg::lite_req_t regs_req;
  pst_axi_pkg::lite_rsp_t regs_rsp;

  pst_control_bus u_bus (.clk_i, .rst_i, .s_axil_i, .s_axil_o, .m_axil_o(regs_req), .m_axil_i(regs_rsp));

  pst_access_edge_regs u_regs (
      .clk(clk_i), .rst(rst_i),
      .s_axil_awvalid(regs_req.awvalid), .s_axil_awready(regs_rsp.awready), .s_axil_awaddr(regs_req.awaddr),
      .s_axil_awprot(regs_req.awprot), .s_axil_wvalid(regs_req.wvalid), .s_axil_wready(regs_rsp.wready), .s_axil_wdata(regs_req.wdata),
      .s_axil_wstrb(regs_req.wstrb), .s_axil_bvalid(regs_rsp.bvalid), .s_axil_bready(regs_req.bready), .s_axil_bresp(regs_rsp.bresp),
      .s_axil_arvalid(regs_req.arvalid), .s_axil_arready(regs_rsp.arready), .s_axil_araddr(regs_req.araddr),
      .s_axil_arprot(regs_req.arprot), .s_axil_rvalid(regs_rsp.rvalid), .s_axil_rready(regs_req.rready), .s_axil_rdata(regs_rsp.rdata),
      .s_axil_rresp(regs_rsp.rresp),
      .hwif_in, .hwif_out
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_one_command_at_a_time : assert (!((hwif_out.queue_command.req || hwif_out.execute.req) && pending_q))
      else $error("pst_control: a command came before the one before was answered");
      a_look_was_asked_for : assert (!(s_look_i.valid && state_q != WaitLook))
      else $error("pst_control: an answer to no look");
      a_counters_were_asked_for : assert (!(s_counts_i.out_valid && state_q != WaitOut)
                                          && !(s_counts_i.in_drop_valid && state_q != WaitInDrop))
      else $error("pst_control: counters came that were not asked for");
    end
  end
`endif

endmodule
