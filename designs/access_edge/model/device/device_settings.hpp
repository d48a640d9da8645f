// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The model of an access edge as a job describes it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "blocks/hierarchy/model/timed_hierarchy.hpp"
#include "blocks/schedule/model/event_schedule.hpp"
#include "blocks/schedule/model/scheduler_models.hpp"
#include "designs/access_edge/model/device/aqm_choice.hpp"
#include "designs/access_edge/model/device/find_model.hpp"
#include "designs/access_edge/model/flow_manager.hpp"
#include "designs/access_edge/model/model.hpp"
#include "penstock/engine/device.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/memory_timing.hpp"

namespace penstock::engine {

struct AccessEdgeSettings {
    std::uint32_t queues = 0;
    QueueId queue_id = QueueId::Prefix;
    FindSizes find;
    // The same numbers as of designs/access_edge/configs.yaml.
    std::uint32_t max_frame_bytes = 0, min_frame_bytes = 0;
    bool shaping = true;
    std::uint32_t tolerance_cycles = schedule_timing::kTolerance;  // of the shapers
    OwnScheduler scheduler;                                        // without shaping: its library is named if it is an own one
    AqmChoice aqm;
    bool hierarchy = false;                              // subscribers, nodes and ports above the queues
    HierarchySizes hierarchy_sizes;                      // how many
    unsigned busiest = 0;                                // places of the table that scans fill; 0: there are no scans
    bool node_counters = false;                          // counters by node and class
    bool counter_memory = false;                         // for software: the RTL has its counters by queue in a memory of their own
    std::uint32_t setting_profiles = 0;                  // profiles of settings; 0: each queue has its own
    FlowSizes flows;                                     // flow queues behind the queues; flows.flows 0: there are none
    unsigned share_classes = 0;                          // classes among which memory is shared; 0: it is not
    unsigned outstanding = memory_timing::kOutstanding;  // frames, and bursts, under way at the memories in each direction
    std::vector<PagePool> pools;
};

// The model's: what it is, and what is around it.
struct DeviceSettings : AccessEdgeSettings, Environment {};

// Makes the model with one kind of core; each is a part of its own (core/), whose argument is the core's type.
using CoreMaker = std::unique_ptr<Device> (*)(const DeviceSettings& settings);

}  // namespace penstock::engine
