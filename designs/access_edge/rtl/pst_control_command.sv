// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the command is that stands in the window, what it writes of the hierarchy, and whether it is refused.
//
// Latency: none. State: none.
module pst_control_command
  import pst_hierarchy_pkg::ClassWidth, pst_hierarchy_pkg::setting_e, pst_hierarchy_pkg::SetQueue, pst_hierarchy_pkg::SetSubscriber,
      pst_hierarchy_pkg::SetNode;
  import pst_access_edge_values_pkg::*;
  import pst_control_pkg::*;
  import pst_profile_pkg::set_e;
  import pst_profile_pkg::SetProfile;
  import pst_profile_pkg::SetClass;
  import pst_profile_pkg::SetMiss;
  import pst_profile_pkg::SetSeed;
  import pst_profile_pkg::SetMpls;
  import pst_profile_pkg::SetSeparator;
  import pst_profile_pkg::SetInterval;
  import pst_profile_pkg::SetBank;
#(
    parameter int unsigned Queues = 16,             // >= 2
    parameter bit          Hierarchy = 1'b0,        // subscribers, nodes and ports
    parameter int unsigned QueuesPerSubscriber = 4, // Hierarchy
    parameter int unsigned Nodes = 2,               // Hierarchy
    parameter int unsigned Ports = 2,               // Hierarchy
    parameter int unsigned Classes = 4,             // Hierarchy: 1..8
    parameter int unsigned ShareClasses = 0,        // classes among which memory is shared, 0: it is not; 0..8
    parameter int unsigned ShareSizes = 1,          // ShareClasses > 0: page sizes
    parameter int unsigned Busiest = 0,             // places of the table that scans fill, 0: there are none
    parameter bit          NodeCounters = 1'b0,     // there are counters by node and class; wants Hierarchy
    parameter int unsigned FindProfiles = 0,        // profiles of headers, 0: queues are not found in headers; 0..15
    parameter int unsigned FindEntries = 16,        // FindProfiles > 0: places for keys
    parameter int unsigned FindPrefixLevels = 0,    // FindProfiles > 0: levels of the tree of prefixes; 0: none
    parameter int unsigned Flows = 0,               // flow queues, 0: there are none
    localparam int unsigned QueueIdW = Queues > 1 ? $clog2(Queues) : 1
) (
    input  logic [31:0]                                         command_i,
    input  pst_access_edge_regs_pkg::pst_access_edge_regs__out_t regs_i,
    input  logic                                                scanning_i,          // a scan is under way
    input  logic                                                find_any_i,          // there are keys
    // which kind it is; one that is none of these, nor a snapshot, does not exist
    output logic                                                is_write_o,          // settings of a queue
    output logic                                                is_provision_o,      // these, and class and weight
    output logic                                                is_hierarchy_o,      // a setting of the hierarchy alone
    output logic                                                is_share_o,          // a share of memory
    output logic                                                is_read_o,           // settings are read back
    output logic                                                is_scan_o,           // a scan
    output logic                                                is_node_o,           // a snapshot of a class at a node
    output logic                                                is_find_o,           // a key comes, goes or is read
    output logic                                                is_find_set_o,       // a setting of headers
    output set_e                                                find_what_o,         // which one
    output logic                                                is_flow_word_o,      // a random word of the hash of flows
    output logic                                                is_hierarchy_next_o, // `tree_index` steps
    output hierarchy_setting_t                                  hierarchy_o,         // what is written there, or read
    output logic                                                share_exists_o,      // class and page size that the window shows are there
    output refusal_e                                            refuse_o
);

  localparam logic [7:0] LastShareClass = ShareClasses != 0 ? 8'(ShareClasses - 1) : '0;
  localparam logic [7:0] LastShareSize = 8'(ShareSizes - 1);
  localparam logic [31:0] FirstHierarchyCommand = CommandTreeQueue;  // and three more: subscriber, node, port
  localparam logic [31:0] FirstReadBack = CommandReadBack;           // the same

  localparam int unsigned FindCount = FindProfiles != 0 ? FindProfiles : 1;
  localparam int unsigned FindIndexWidth = $clog2(FindEntries / pst_lookup_pkg::Tables);
  // Chunks of pst_lookup_mix.
  localparam int unsigned FindChunks = (FindIndexWidth + 5) / 6 + (pst_profile_pkg::KeyWidth - FindIndexWidth + 5) / 6;

  localparam int unsigned FlowWords = 64 * 50;    // of pst_fq_hash

  localparam int unsigned FindIntervals = 4 ** FindPrefixLevels;
  localparam int unsigned FindLastLevel = FindPrefixLevels != 0 ? FindPrefixLevels - 1 : 0;

  logic [31:0] queue_index, hierarchy_index, hierarchy_parent, find_item;

  assign is_provision_o = command_i == 32'(CommandProvision);
  assign is_write_o     = command_i == 32'(CommandWrite) || command_i == 32'(CommandWriteNext) || is_provision_o;
  assign is_hierarchy_o = Hierarchy
                        && (command_i[31:2] == FirstHierarchyCommand[31:2] || command_i == 32'(CommandTreeSubscriberNext));
  assign is_read_o      = command_i[31:2] == FirstReadBack[31:2] && (Hierarchy || command_i == 32'(CommandReadBack));
  assign is_share_o     = ShareClasses != 0 && command_i == 32'(CommandShare);
  assign share_exists_o = ShareClasses != 0 && regs_i.share_class.cls.value <= LastShareClass
                        && regs_i.share_size.value.value <= LastShareSize;

  assign queue_index      = regs_i.queue_index.value.value;
  assign hierarchy_index  = regs_i.tree_index.value.value;
  assign hierarchy_parent = regs_i.tree_parent.value.value;
  assign hierarchy_o = '{
      what: is_provision_o ? SetQueue : command_i == 32'(CommandTreeSubscriberNext) ? SetSubscriber : setting_e'(command_i[1:0]),
      id: is_provision_o || command_i == 32'(CommandReadBack) ? 32'(queue_index[QueueIdW-1:0]) : 32'(hierarchy_index[QueueIdW-1:0]),
      shaper: '{
          burst: regs_i.tree_burst.cycles.value,
          exponent: regs_i.tree_rate.exponent.value,
          mantissa: regs_i.tree_rate.mantissa.value
      },
      parent: 32'(hierarchy_parent[QueueIdW-1:0]),
      cls: regs_i.tree_class.cls.value[ClassWidth-1:0],
      weight: regs_i.tree_class.weight.value,
      guarantee: '{exponent: regs_i.tree_guarantee.exponent.value, mantissa: regs_i.tree_guarantee.mantissa.value}
  };

  always_comb begin
    refuse_o = RefusalAccepted;
    if (is_hierarchy_o) begin
      unique case (hierarchy_o.what)
        SetQueue: begin
          if (regs_i.tree_class.cls.value >= 8'(Classes)) refuse_o = RefusalBadClass;
          if (hierarchy_index >= Queues) refuse_o = RefusalBadIndex;
        end
        SetSubscriber: begin
          if (hierarchy_parent >= Nodes) refuse_o = RefusalBadParent;
          if (hierarchy_index >= (Queues + QueuesPerSubscriber - 1) / QueuesPerSubscriber) refuse_o = RefusalBadIndex;
        end
        SetNode: begin
          if (hierarchy_parent >= Ports) refuse_o = RefusalBadParent;
          if (hierarchy_index >= Nodes) refuse_o = RefusalBadIndex;
        end
        default: if (hierarchy_index >= Ports) refuse_o = RefusalBadIndex;
      endcase
    end else if (is_read_o && hierarchy_o.what != SetQueue) begin
      if (hierarchy_index >= (hierarchy_o.what == SetSubscriber ? Queues / QueuesPerSubscriber
                                                                : hierarchy_o.what == SetNode ? Nodes : Ports))
        refuse_o = RefusalBadIndex;
    end else if (is_share_o) begin
      if (regs_i.share_class.cls.value > LastShareClass) refuse_o = RefusalBadClass;
      if (regs_i.share_size.value.value > LastShareSize) refuse_o = RefusalBadIndex;
    end else if (is_scan_o) begin
      if (scanning_i) refuse_o = RefusalUnderWay;
    end else if (is_node_o) begin
      if (regs_i.node_class.cls.value >= 8'(Classes)) refuse_o = RefusalBadClass;
      if (regs_i.node_index.value.value >= Nodes) refuse_o = RefusalBadIndex;
    end else if (is_find_o) begin
      refuse_o = RefusalAccepted;    // the table says what becomes of it
    end else if (is_flow_word_o) begin
      if (find_item >= FlowWords) refuse_o = RefusalBadIndex;
    end else if (is_find_set_o) begin
      unique case (find_what_o)
        SetProfile: if (find_item >= FindCount) refuse_o = RefusalBadIndex;
        SetClass: if (find_item >= 64 * FindCount) refuse_o = RefusalBadIndex;
        SetMiss: if (find_item > FindCount) refuse_o = RefusalBadIndex;
        SetSeed: begin
          if (find_any_i) refuse_o = RefusalBadKey;
          if (find_item >= 64 * FindChunks) refuse_o = RefusalBadIndex;
        end
        SetSeparator: begin
          refuse_o = RefusalBadIndex;
          for (int unsigned level = 0; level <= FindLastLevel; level++) begin
            if (find_item[31:24] == 8'(level) && find_item[23:2] < 22'(4 ** level) && find_item[1:0] != 2'd3) refuse_o = RefusalAccepted;
          end
        end
        SetInterval: if (find_item >= FindIntervals) refuse_o = RefusalBadIndex;
        default: ;
      endcase
    end else begin
      if (ShareClasses != 0 && is_write_o && !(Hierarchy && is_provision_o) && regs_i.queue_class.cls.value > LastShareClass)
        refuse_o = RefusalBadClass;
      if (Hierarchy && is_provision_o && regs_i.tree_class.cls.value >= 8'(Classes)) refuse_o = RefusalBadClass;
      if (queue_index >= Queues) refuse_o = RefusalBadIndex;
    end
    if (!is_hierarchy_o && !is_share_o && !is_read_o && !is_scan_o && !is_node_o && !is_write_o && !is_find_o && !is_find_set_o
        && !is_flow_word_o && command_i != CommandSnapshot) begin
      refuse_o = RefusalNoCommand;
    end
  end

  assign is_scan_o      = Busiest != 0 && (command_i == 32'(CommandScan) || command_i == 32'(CommandScanBacklog));
  assign is_node_o      = NodeCounters && command_i == 32'(CommandSnapshotNode);
  assign find_item     = regs_i.find_item.value.value;
  assign is_find_o      = FindProfiles != 0
                        && command_i inside {32'(CommandFindInsert), 32'(CommandFindDelete), 32'(CommandFindRead)};
  assign is_find_set_o  = FindProfiles != 0 && command_i >= 32'(CommandFindProfile)
                          && command_i <= (FindPrefixLevels != 0 ? 32'(CommandFindBank) : 32'(CommandFindMpls));

  assign is_flow_word_o = Flows != 0 && command_i == 32'(CommandFlowWord);

  always_comb begin
    unique case (command_i)
      32'(CommandFindClass): find_what_o = SetClass;
      32'(CommandFindMiss):  find_what_o = SetMiss;
      32'(CommandFindSeed):  find_what_o = SetSeed;
      32'(CommandFindMpls):  find_what_o = SetMpls;
      32'(CommandFindSeparator): find_what_o = SetSeparator;
      32'(CommandFindInterval):  find_what_o = SetInterval;
      32'(CommandFindBank):      find_what_o = SetBank;
      default:               find_what_o = SetProfile;
    endcase
  end

  assign is_hierarchy_next_o = command_i == 32'(CommandTreeSubscriberNext);

endmodule
