// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/model/design.hpp"

#include <bit>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "blocks/common/model/settings.hpp"
#include "designs/access_edge/bench/bench_core.hpp"
#include "designs/access_edge/model/access_edge.hpp"
#include "designs/access_edge/model/counters.hpp"
#include "designs/access_edge/model/device_settings.hpp"
#include "designs/access_edge/model/edge_measurement.hpp"
#include "designs/access_edge/model/model_device.hpp"
#include "designs/access_edge/model/pin_face.hpp"
#include "designs/access_edge/model/scheduler_choice.hpp"
#include "penstock/engine/python_memory.hpp"
#include "penstock/engine/rtl_device.hpp"

namespace penstock {

using namespace engine;

namespace {

class AccessEdge final : public DeviceKind {
  public:
    explicit AccessEdge(AccessEdgeSettings settings) : settings_(std::move(settings)) {
        statement_.queues = settings_.queues;
        statement_.payload = Payload::EcnMark;
        statement_.queue_reasons = {static_cast<std::uint8_t>(Drop::Aqm)};
        statement_.drop_reasons.assign(std::begin(access_edge::kDropNames), std::end(access_edge::kDropNames));
    }

    const Statement& statement() const override { return statement_; }
    std::unique_ptr<Device> make(const Environment& environment) const override {
        if (settings_.library.empty()) return make_model_device(DeviceSettings{settings_, environment});
        return std::make_unique<RtlDevice>(settings_.library, std::make_unique<AccessEdgeFace>(), 1, 1, environment);
    }
    void identify(Device& device) const override {
        if (device.read(registers::kType) != registers::kTypeAccessEdge)
            throw DeviceError("the type register is not that of an access edge");
        if (const auto queues = device.read(registers::kQueues); queues != settings_.queues)
            throw std::invalid_argument("the device has " + std::to_string(queues) + " queues, the job " +
                                        std::to_string(settings_.queues));
    }
    CounterReport check_counters(Device& device, const Measurement& measurement, std::span<const std::uint32_t> queues) const override {
        CounterCheck check(device, measurement);
        const std::uint64_t mismatches = check.run(queues);
        CounterReport report{mismatches, check.findings(), {}};
        const std::uint32_t lost = device.read(registers::kMemoryLost);
        for (std::uint32_t m = 0; m < 32; ++m)
            if (lost >> m & 1) report.lost_memories.push_back(m);
        return report;
    }
    std::unique_ptr<OwnMeasurement> own_measurement(Table& job, const Environment& environment) const override {
        return edge_measurement(job, statement_, environment);
    }

  private:
    AccessEdgeSettings settings_;
    Statement statement_;
};

MemorySettings memory_settings(Table table, PagePool* pool) {
    const MemorySettings memory = memory_of_job(table);
    if (pool) {
        pool->pages = static_cast<std::uint32_t>(table.integer("pages", 1, 1 << 28));
        pool->page_bytes = memory.page_bytes;
        if (pool->page_bytes == 0) bad_job("device.memories: the model needs page_bytes of each");
    }
    table.done();
    return memory;
}

// What the model has to know of the device; the RTL knows it.
void model_settings(Table table, AccessEdgeSettings& device) {
    device.max_frame_bytes = static_cast<std::uint32_t>(table.integer("max_frame_bytes", 1, settings::kMostLength));
    device.min_frame_bytes = static_cast<std::uint32_t>(table.integer("min_frame_bytes", 1, device.max_frame_bytes));
    device.shaping = table.boolean("shaping", true);
    device.tolerance_cycles = static_cast<std::uint32_t>(table.integer("tolerance_cycles", 0, kMostTolerance, device.tolerance_cycles));
    device.scheduler = take_scheduler(table);
    if (!device.scheduler.library.empty() && device.shaping) bad_job("device.model.scheduler is an own one, which has no shaping");
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
        sizes.done();
    }
    device.busiest = static_cast<unsigned>(table.integer("busiest", 0, 64, 0));
    device.node_counters = table.boolean("node_counters", false);
    if (device.node_counters && !device.hierarchy) bad_job("device.model.node_counters needs hierarchy");
    device.share_classes = static_cast<unsigned>(table.integer("share_classes", 0, settings::kMostTrafficClass + 1, 0));
    device.outstanding = static_cast<unsigned>(
        table.integer("outstanding", memory_timing::kLeastOutstanding, memory_timing::kMostOutstanding, device.outstanding));
    table.done();
}

}  // namespace

std::shared_ptr<const DeviceKind> access_edge_kind(Table& device, Environment& environment) {
    AccessEdgeSettings settings;
    const bool model = device.has("model");
    if (model == device.has("library")) bad_job("device.library or device.model: one of them is needed");
    if (model) {
        model_settings(device.table("model"), settings);
    } else {
        settings.library = device.text("library");
        if (settings.library.empty()) bad_job("device.library is empty");
    }
    settings.queues = static_cast<std::uint32_t>(device.integer("queues", 1, 1 << 24));
    for (Table& memory : device.tables("memories")) {
        if (model) settings.pools.emplace_back();
        environment.memories.push_back(memory_settings(memory, model ? &settings.pools.back() : nullptr));
    }
    if (settings.hierarchy && settings.queues % settings.hierarchy_sizes.queues_per_subscriber != 0)
        bad_job("device.queues is no multiple of device.model.hierarchy.queues_per_subscriber");
    return std::make_shared<AccessEdge>(std::move(settings));
}

void bind_access_edge(nanobind::module_& m) { bind_bench(m); }

}  // namespace penstock
