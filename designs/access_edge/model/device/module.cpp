// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The model of the access edge: what a job says of it, and which kind of core it has.
#include <nanobind/nanobind.h>

#include <any>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "blocks/common/model/settings.hpp"
#include "designs/access_edge/model/device/device_settings.hpp"
#include "designs/access_edge/model/device/input_model.hpp"
#include "designs/access_edge/model/device/register_model.hpp"
#include "designs/access_edge/model/device/scheduler_choice.hpp"
#include "penstock/engine/parts.hpp"

namespace penstock {

using namespace engine;

namespace {

// What the model has to know of the device; the RTL knows it.
AccessEdgeSettings model_settings(Table table) {
    AccessEdgeSettings device;
    device.max_frame_bytes = static_cast<std::uint32_t>(table.integer("max_frame_bytes", 1, settings::kMostLength));
    device.min_frame_bytes = static_cast<std::uint32_t>(table.integer("min_frame_bytes", 1, device.max_frame_bytes));
    device.shaping = table.boolean("shaping", true);
    device.tolerance_cycles = static_cast<std::uint32_t>(table.integer("tolerance_cycles", 0, kMostTolerance, device.tolerance_cycles));
    device.scheduler = take_scheduler(table);
    if (device.scheduler && device.shaping) bad_job("device.model.scheduler is an own one, which has no shaping");
    const bool estimate = table.boolean("aqm_estimate", false);
    const int tick_shift = static_cast<int>(table.integer("tick_shift", 0, 16, device.aqm.tick_shift));
    device.aqm = take_aqm(table, estimate, tick_shift, device.max_frame_bytes);
    if (device.aqm && !device.shaping) bad_job("device.model.aqm needs shaping");
    device.hierarchy = table.has("hierarchy");
    if (device.hierarchy) {
        if (!device.shaping) bad_job("device.model.hierarchy needs shaping");
        Table sizes = table.table("hierarchy");
        const auto number = [&](const char* key, std::int64_t least, std::int64_t most) {
            return static_cast<std::uint32_t>(sizes.integer(key, least, most));
        };
        device.hierarchy_sizes = {number("queues_per_subscriber", 1, 8), number("nodes", 2, 1 << 22), number("ports", 2, 1 << 22),
                                  number("classes", 1, settings::kMostTrafficClass + 1)};
        if (!std::has_single_bit(device.hierarchy_sizes.queues_per_subscriber))
            bad_job("device.model.hierarchy.queues_per_subscriber is 1, 2, 4 or 8");
        // As the RTL has it (config.py); there are none where it is not said.
        device.hierarchy_sizes.guarantee_cycles = static_cast<std::uint32_t>(sizes.integer("guarantee_cycles", 0, (1 << 28) - 1, 0));
        sizes.done();
    }
    if (table.has("headers")) {
        Table headers = table.table("headers");
        device.find.profiles = static_cast<std::uint32_t>(headers.integer("profiles", 1, 15));
        device.find.entries = static_cast<std::uint32_t>(headers.integer("entries", 16, 1 << 20));
        device.find.prefix_levels = static_cast<std::uint32_t>(headers.integer("prefix_levels", 0, 9, 0));
        if (device.find.prefix_levels == 1) bad_job("device.model.headers.prefix_levels is 0 or 2 to 9");
        if (!std::has_single_bit(device.find.entries)) bad_job("device.model.headers.entries is a power of two");
        headers.done();
    }
    device.busiest = static_cast<unsigned>(table.integer("busiest", 0, 64, 0));
    device.node_counters = table.boolean("node_counters", false);
    if (device.node_counters && !device.hierarchy) bad_job("device.model.node_counters needs hierarchy");
    device.counter_memory = table.boolean("counter_memory", false);
    device.setting_profiles = static_cast<std::uint32_t>(table.integer("setting_profiles", 0, 65'536, 0));
    if (device.setting_profiles && (device.setting_profiles < 4 || !std::has_single_bit(device.setting_profiles)))
        bad_job("device.model.setting_profiles is a power of two from 4 on");
    device.share_classes = static_cast<unsigned>(table.integer("share_classes", 0, settings::kMostTrafficClass + 1, 0));
    if (table.has("flows")) {
        Table flows = table.table("flows");
        device.flows.flows = static_cast<std::uint32_t>(flows.integer("queues", 32, 1 << 22));
        device.flows.lanes = static_cast<std::uint32_t>(flows.integer("lanes", 1, 4));
        device.flows.age_cycles = static_cast<std::uint32_t>(flows.integer("age_cycles", 1, INT32_MAX));
        device.flows.host_bits = static_cast<std::uint32_t>(flows.integer("host_bits", 0, 10, 0));
        device.flows.quantum = device.max_frame_bytes;
        if (!std::has_single_bit(device.flows.flows)) bad_job("device.model.flows.queues is a power of two");
        if (!std::has_single_bit(device.flows.lanes)) bad_job("device.model.flows.lanes is 1, 2 or 4");
        if (!device.shaping || (device.aqm && device.aqm.arrivals))
            bad_job("device.model.flows needs shaping, and no AQM that judges arrivals");
        flows.done();
    }
    if (device.setting_profiles && (!device.shaping || device.flows.flows || (device.aqm && device.aqm.arrivals)))
        bad_job("device.model.setting_profiles needs shaping, no flows, and no AQM that judges arrivals");
    device.outstanding = static_cast<unsigned>(
        table.integer("outstanding", memory_timing::kLeastOutstanding, memory_timing::kMostOutstanding, device.outstanding));
    table.done();
    return device;
}

// The type of its core (core_model.hpp): the argument of the part in core/.
std::string core_of(const AccessEdgeSettings& device) {
    const AqmChoice& aqm = device.aqm;
    if (!aqm && !device.shaping) return device.scheduler ? "OwnCore" : "PassthroughCore";
    std::string judge = "NoJudge";
    if (aqm) judge = std::string(aqm.arrivals ? "ArrivalJudge" : "DepartureJudge") + (aqm.estimate ? "<true>" : "<false>");
    if (device.flows.flows) return (device.hierarchy ? "FlowHierarchyCoreFor<" : "FlowCoreFor<") + judge + ">";
    return (device.hierarchy ? "HierarchyCoreFor<" : "JudgedCore<") + judge + ">";
}

void check(const DeviceSettings& settings) {
    if (settings.valid_permille != 1000 || settings.ready_permille != 1000)
        throw std::invalid_argument("the model has no random gaps at input and output (valid_permille, ready_permille)");
    if (settings.flip_byte >= 0) throw std::invalid_argument("the model has no bytes in its memories that could be flipped");
    if (settings.pools.size() != settings.memories.size() || settings.pools.empty())
        throw std::invalid_argument("the model needs pages and page_bytes of every memory");
}

DeviceMaker make_model(Table model, std::uint32_t queues, QueueId queue_id, const std::vector<PagePool>& pools) {
    AccessEdgeSettings settings = model_settings(std::move(model));
    settings.queues = queues;
    settings.queue_id = queue_id;
    if ((queue_id == QueueId::Headers) != (settings.find.profiles != 0)) bad_job("device.model.headers goes with device.queue_id headers");
    settings.pools = pools;
    if (settings.setting_profiles > queues) bad_job("device.model.setting_profiles is more than device.queues");
    if (settings.hierarchy && queues % settings.hierarchy_sizes.queues_per_subscriber != 0)
        bad_job("device.queues is no multiple of device.model.hierarchy.queues_per_subscriber");
    const auto make = std::any_cast<CoreMaker>(*provided("designs/access_edge/model/device/core", core_of(settings)));
    return [settings, make](const Environment& environment) {
        const DeviceSettings all{settings, environment};
        check(all);
        return make(all);
    };
}

}  // namespace

}  // namespace penstock

NB_MODULE(designs_access_edge_model_device, m) {
    (void)m;
    penstock::provide("designs/access_edge/model/device", penstock::ModelMaker(&penstock::make_model));
}
