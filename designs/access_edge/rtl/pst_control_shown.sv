// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the registers of pst_control show, and what a write in the window changes of them.
//
// Latency: none. State: none, but for what pst_access_edge_regs keeps.
module pst_control_shown
  import pst_pkg::DropRunt, pst_pkg::DropOversize, pst_pkg::DropBadQueueId, pst_pkg::DropBadFrame, pst_pkg::DropNoPage,
      pst_pkg::DropTailDropPackets, pst_pkg::DropTailDropBytes, pst_pkg::DropAqm, pst_pkg::DropNoShare, pst_pkg::DropReadError,
      pst_pkg::DropWriteError, pst_pkg::DropNoSubscriber, pst_pkg::DropFlowOverflow,
      pst_pkg::DropLast, pst_pkg::AqmSettingsWidth, pst_pkg::shaper_cfg_t,
      pst_pkg::WeightWidth;
  import pst_control_pkg::*;
#(
    // see pst_control
    parameter int unsigned Queues = 16,
    parameter int unsigned Descriptors = 64,
    parameter int unsigned Memories = 1,
    parameter bit          CounterMemory = 1'b0,
    parameter int unsigned MaxFrameBytes = 1522,
    parameter int unsigned ClockHz = 220_000_000,
    parameter bit          Shaping = 1'b1,
    parameter int unsigned AqmKind = 0,
    parameter bit          AqmEstimate = 1'b0,
    parameter int unsigned TickShift = 8,
    parameter bit          Hierarchy = 1'b0,
    parameter int unsigned QueuesPerSubscriber = 4,
    parameter int unsigned Nodes = 2,
    parameter int unsigned Ports = 2,
    parameter int unsigned Classes = 4,
    parameter int unsigned ShareClasses = 0,
    parameter int unsigned ShareSizes = 1,
    parameter int unsigned Busiest = 0,
    parameter bit          NodeCounters = 1'b0,
    parameter bit          Guarantees = 1'b0,
    parameter int unsigned FindProfiles = 0,
    parameter int unsigned FindEntries = 16,
    parameter int unsigned FindPrefixLevels = 0,
    parameter int unsigned Flows = 0,
    parameter int unsigned FlowHostBits = 0,
    parameter int unsigned SettingProfiles = 0,
    parameter int unsigned PacketWidth = 50,
    parameter int unsigned ByteWidth = 56,
    localparam int unsigned MemoryPorts = Memories + 32'(CounterMemory)
) (
    input  pst_access_edge_regs_pkg::pst_access_edge_regs__out_t regs_i,
    output pst_access_edge_regs_pkg::pst_access_edge_regs__in_t  regs_o,
    // the commands
    input  logic                                                answer_i,      // the write of one is answered: it starts, or is none
    input  status_t                                             status_i,
    input  snapshot_t                                           snapshot_i,
    input  now_t                                                now_i,
    input  scan_t                                               scan_i,
    input  find_t                                               find_i,
    // a write in the window
    input  logic                                                window_write_i,
    input  logic [ 4:0]                                         window_word_i,
    input  logic [31:0]                                         window_data_i,
    // shares of memory
    input  logic                                                share_exists_i,
    input  logic [31:0]                                         s_share_free_i,
    input  logic [31:0]                                         s_share_used_i,
    input  logic [31:0]                                         s_share_in_force_i,
    // what is lost
    input  logic [MemoryPorts-1:0]                              memory_lost_i,
    input  logic                                                counters_wrong_i,
    input  logic                                                drain_done_i,
    input  logic [MemoryPorts-1:0]                              drain_outstanding_i,
    input  logic [ 4:0]                                         cause_i,       // of the interrupt, as in register irq_cause
    input  logic [31:0]                                         lost_frames_i,
    input  logic [DropLast:1][PacketWidth-1:0]                  dropped_packets_i,
    input  logic [DropLast:1][ByteWidth-1:0]                    dropped_bytes_i,
    input  logic [PacketWidth-1:0]                              marked_packets_i
);

  localparam int unsigned BurstWidth   = $bits(now_i.shaper.burst);
  localparam int unsigned RateWidth    = $bits(shaper_cfg_t) - BurstWidth;
  localparam int unsigned AqmHalfWidth = AqmSettingsWidth / 2;

  always_comb begin
    regs_o.queues.value.next          = Queues;
    regs_o.descriptors.value.next     = Descriptors;
    regs_o.memories.value.next        = Memories;
    regs_o.max_frame_bytes.value.next = MaxFrameBytes;
    regs_o.clock_hz.value.next        = ClockHz;
    regs_o.features.shaping.next      = Shaping;
    regs_o.features.aqm.next          = 2'(AqmKind);
    regs_o.features.aqm_estimate.next = AqmEstimate;
    regs_o.features.tick_shift.next   = AqmKind != 0 ? 5'(TickShift) : '0;
    regs_o.features.hierarchy.next    = Hierarchy;
    regs_o.features.admission.next    = ShareClasses != 0;
    regs_o.features.sojourn.next      = AqmKind != 0 && !AqmEstimate && Flows == 0;
    regs_o.features.node_counters.next = NodeCounters;
    regs_o.features.guarantees.next   = Guarantees;
    regs_o.features.headers.next      = FindProfiles != 0;
    regs_o.features.flows.next        = Flows != 0;
    regs_o.features.counter_memory.next = CounterMemory;
    regs_o.status.counters_wrong.next = CounterMemory && counters_wrong_i;
    regs_o.flows.value.next           = Flows;
    regs_o.flow_packets.packets.next  = Flows != 0 ? find_i.flow_packets : '0;
    regs_o.now_quantum.bytes.next     = now_i.quantum;
    regs_o.now_quantum.sides.next     = now_i.sides;
    regs_o.flow_hosts.value.next      = FlowHostBits != 0 ? 1 << FlowHostBits : 0;
    regs_o.setting_profiles.value.next = SettingProfiles;
    regs_o.setting_profiles_used.value.next = SettingProfiles != 0 ? 32'(find_i.profiles_used) : '0;
    regs_o.find_profiles.value.next   = FindProfiles;
    regs_o.find_entries.value.next    = FindProfiles != 0 ? FindEntries : 0;
    regs_o.find_keys.value.next       = find_i.keys;
    regs_o.find_moves.value.next      = find_i.moves;
    regs_o.find_prefix_levels.value.next = FindProfiles != 0 ? FindPrefixLevels : 0;
    regs_o.find_count.value.next      = find_i.count;
    regs_o.find_read.value.next       = find_i.read;
    regs_o.queues_per_subscriber.value.next = Hierarchy ? QueuesPerSubscriber : 0;
    regs_o.nodes.value.next           = Hierarchy ? Nodes : 0;
    regs_o.ports.value.next           = Hierarchy ? Ports : 0;
    regs_o.classes.value.next         = Hierarchy ? Classes : 0;
    regs_o.share_classes.value.next   = ShareClasses;
    regs_o.share_sizes.value.next     = ShareClasses != 0 ? ShareSizes : 0;
    regs_o.share_free.value.next      = share_exists_i ? s_share_free_i : '0;
    regs_o.share_used.value.next      = share_exists_i ? s_share_used_i : '0;
    regs_o.share_in_force.value.next  = share_exists_i ? s_share_in_force_i : '0;
    regs_o.memory_lost.memories.next  = 32'(memory_lost_i);
    regs_o.drained.done.next           = drain_done_i;
    regs_o.outstanding.memories.next   = 32'(drain_outstanding_i);
    regs_o.irq_cause.wr_ack           = regs_i.irq_cause.req && regs_i.irq_cause.req_is_wr;
    regs_o.irq_cause.rd_ack           = regs_i.irq_cause.req && !regs_i.irq_cause.req_is_wr;
    regs_o.irq_cause.rd_data          = 32'(cause_i);
    regs_o.irq_lost.frames.next       = lost_frames_i;
    regs_o.status.init_done.next      = status_i.init_done;
    regs_o.status.busy.next           = status_i.busy;
    regs_o.status.refused.next        = status_i.reason != '0;
    regs_o.status.reason.next         = status_i.reason;
    regs_o.queue_index.value.incr     = status_i.next_queue;
    regs_o.tree_index.value.incr      = status_i.next_hierarchy;
    // The register block waits for one answer at a time, whichever of the two was written. A read of the window is 0.
    regs_o.queue_command.wr_ack       = answer_i;
    regs_o.execute.wr_ack             = answer_i;
    regs_o.execute.rd_ack             = regs_i.execute.req && !regs_i.execute.req_is_wr;
    regs_o.execute.rd_data            = '0;

    // What the window writes.
    {regs_o.queue_rate.exponent.next, regs_o.queue_rate.mantissa.next} = RateWidth'(window_data_i);
    regs_o.queue_burst.cycles.next          = BurstWidth'(window_data_i);
    regs_o.queue_limit_packets.packets.next = window_data_i;
    regs_o.queue_limit_bytes.bytes.next     = window_data_i;
    {regs_o.queue_aqm.ecn.next, regs_o.queue_aqm.enable.next} = 2'(window_data_i);
    regs_o.queue_aqm_target.ticks.next      = AqmHalfWidth'(window_data_i);
    regs_o.queue_aqm_interval.ticks.next    = AqmHalfWidth'(window_data_i);
    regs_o.queue_class.cls.next             = 8'(window_data_i);
    {regs_o.tree_rate.exponent.next, regs_o.tree_rate.mantissa.next} = RateWidth'(window_data_i);
    regs_o.tree_burst.cycles.next           = BurstWidth'(window_data_i);
    regs_o.tree_parent.value.next           = window_data_i;
    {regs_o.tree_class.weight.next, regs_o.tree_class.cls.next} = (WeightWidth + 8)'(window_data_i);
    regs_o.queue_rate.mantissa.we           = window_write_i && window_word_i == QueueRate;
    regs_o.queue_rate.exponent.we           = window_write_i && window_word_i == QueueRate;
    regs_o.queue_burst.cycles.we            = window_write_i && window_word_i == QueueBurst;
    regs_o.queue_limit_packets.packets.we   = window_write_i && window_word_i == QueueLimitPackets;
    regs_o.queue_limit_bytes.bytes.we       = window_write_i && window_word_i == QueueLimitBytes;
    regs_o.queue_aqm.enable.we              = window_write_i && window_word_i == QueueAqm;
    regs_o.queue_aqm.ecn.we                 = window_write_i && window_word_i == QueueAqm;
    regs_o.queue_aqm_target.ticks.we        = window_write_i && window_word_i == QueueAqmTarget;
    regs_o.queue_aqm_interval.ticks.we      = window_write_i && window_word_i == QueueAqmInterval;
    regs_o.queue_class.cls.we               = window_write_i && window_word_i == QueueClass;
    regs_o.tree_rate.mantissa.we            = window_write_i && window_word_i == HierarchyRate;
    regs_o.tree_rate.exponent.we            = window_write_i && window_word_i == HierarchyRate;
    regs_o.tree_burst.cycles.we             = window_write_i && window_word_i == HierarchyBurst;
    regs_o.tree_parent.value.we             = window_write_i && window_word_i == HierarchyParent;
    regs_o.tree_class.cls.we                = window_write_i && window_word_i == HierarchyClass;
    regs_o.tree_class.weight.we             = window_write_i && window_word_i == HierarchyClass;

    regs_o.in.packets.value.next   = snapshot_i.accepted.packets;
    regs_o.in.bytes.value.next     = snapshot_i.accepted.bytes;
    regs_o.out.packets.value.next  = snapshot_i.sent.packets;
    regs_o.out.bytes.value.next    = snapshot_i.sent.bytes;
    regs_o.drop.packets.value.next = snapshot_i.lost.packets;
    regs_o.drop.bytes.value.next   = snapshot_i.lost.bytes;
    regs_o.aqm_drop.packets.value.next = snapshot_i.aqm.packets;
    regs_o.aqm_drop.bytes.value.next   = snapshot_i.aqm.bytes;
    regs_o.mark_packets.value.next     = snapshot_i.marks;
    regs_o.backlog_packets.value.next  = 32'(snapshot_i.look.packets);
    regs_o.backlog_bytes.value.next    = 32'(snapshot_i.look.bytes);
    regs_o.head_sojourn.cycles.next    = snapshot_i.look.age;

    regs_o.now_rate.mantissa.next         = now_i.shaper.mantissa;
    regs_o.now_rate.exponent.next         = now_i.shaper.exponent;
    regs_o.now_burst.cycles.next          = now_i.shaper.burst;
    regs_o.now_limit_packets.packets.next = 32'(now_i.limit_packets);
    regs_o.now_limit_bytes.bytes.next     = 32'(now_i.limit_bytes);
    regs_o.now_parent.value.next          = now_i.parent;
    regs_o.now_class.cls.next             = 8'(now_i.cls);
    regs_o.now_class.weight.next          = now_i.weight;
    regs_o.now_guarantee.mantissa.next    = now_i.guarantee.mantissa;
    regs_o.now_guarantee.exponent.next    = now_i.guarantee.exponent;
    regs_o.now_share_class.cls.next       = 8'(now_i.share_class);

    regs_o.busiest_places.value.next   = Busiest;
    regs_o.busiest_status.busy.next    = scan_i.busy;
    regs_o.busiest_status.backlog.next = scan_i.level;
    regs_o.busiest_status.scans.next  = scan_i.number;
    regs_o.busiest_queue.value.next    = scan_i.queue_id;
    regs_o.busiest_window.cycles.next  = scan_i.window;
    regs_o.busiest_bytes.value.next    = scan_i.value;

    {regs_o.now_aqm.ecn.next, regs_o.now_aqm.enable.next} = {now_i.aqm.ecn, now_i.aqm.enable};
    {regs_o.now_aqm_target.ticks.next, regs_o.now_aqm_interval.ticks.next} = now_i.aqm.settings;

    regs_o.dropped_runt.packets.value.next              = 50'(dropped_packets_i[DropRunt]);
    regs_o.dropped_runt.bytes.value.next                = 56'(dropped_bytes_i[DropRunt]);
    regs_o.dropped_oversize.packets.value.next          = 50'(dropped_packets_i[DropOversize]);
    regs_o.dropped_oversize.bytes.value.next            = 56'(dropped_bytes_i[DropOversize]);
    regs_o.dropped_bad_queue_id.packets.value.next      = 50'(dropped_packets_i[DropBadQueueId]);
    regs_o.dropped_bad_queue_id.bytes.value.next        = 56'(dropped_bytes_i[DropBadQueueId]);
    regs_o.dropped_bad_frame.packets.value.next         = 50'(dropped_packets_i[DropBadFrame]);
    regs_o.dropped_bad_frame.bytes.value.next           = 56'(dropped_bytes_i[DropBadFrame]);
    regs_o.dropped_no_page.packets.value.next           = 50'(dropped_packets_i[DropNoPage]);
    regs_o.dropped_no_page.bytes.value.next             = 56'(dropped_bytes_i[DropNoPage]);
    regs_o.dropped_tail_drop_packets.packets.value.next = 50'(dropped_packets_i[DropTailDropPackets]);
    regs_o.dropped_tail_drop_packets.bytes.value.next   = 56'(dropped_bytes_i[DropTailDropPackets]);
    regs_o.dropped_tail_drop_bytes.packets.value.next   = 50'(dropped_packets_i[DropTailDropBytes]);
    regs_o.dropped_tail_drop_bytes.bytes.value.next     = 56'(dropped_bytes_i[DropTailDropBytes]);
    regs_o.dropped_aqm.packets.value.next               = 50'(dropped_packets_i[DropAqm]);
    regs_o.dropped_aqm.bytes.value.next                 = 56'(dropped_bytes_i[DropAqm]);
    regs_o.dropped_no_share.packets.value.next          = 50'(dropped_packets_i[DropNoShare]);
    regs_o.dropped_no_share.bytes.value.next            = 56'(dropped_bytes_i[DropNoShare]);
    regs_o.dropped_read_error.packets.value.next        = 50'(dropped_packets_i[DropReadError]);
    regs_o.dropped_read_error.bytes.value.next          = 56'(dropped_bytes_i[DropReadError]);
    regs_o.dropped_write_error.packets.value.next       = 50'(dropped_packets_i[DropWriteError]);
    regs_o.dropped_write_error.bytes.value.next         = 56'(dropped_bytes_i[DropWriteError]);
    regs_o.dropped_no_subscriber.packets.value.next     = 50'(dropped_packets_i[DropNoSubscriber]);
    regs_o.dropped_no_subscriber.bytes.value.next       = 56'(dropped_bytes_i[DropNoSubscriber]);
    regs_o.dropped_flow_overflow.packets.value.next     = 50'(dropped_packets_i[DropFlowOverflow]);
    regs_o.dropped_flow_overflow.bytes.value.next       = 56'(dropped_bytes_i[DropFlowOverflow]);
    regs_o.marked_packets.value.next                    = 50'(marked_packets_i);
  end

  // Numbers that are not reasons of this device.
  logic unused_reasons;
  assign unused_reasons = ^{dropped_packets_i[9], dropped_bytes_i[9], dropped_packets_i[12], dropped_bytes_i[12]};

endmodule
