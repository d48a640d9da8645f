// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/model/design.hpp"

#include <any>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "designs/access_edge/model/access_edge.hpp"
#include "designs/access_edge/model/counters.hpp"
#include "designs/access_edge/model/edge_measurement.hpp"
#include "designs/access_edge/model/model.hpp"
#include "designs/access_edge/model/pin_face.hpp"
#include "penstock/engine/parts.hpp"
#include "penstock/engine/python_memory.hpp"
#include "penstock/engine/rtl_device.hpp"

namespace penstock {

using namespace engine;

namespace {

// Frames by how their queue was found in headers, as register find_count shows them: found and not found by profile, why reading ended,
// those without a profile. Nothing where the device does not look at headers.
std::vector<std::uint64_t> found_in_headers(Device& device) {
    std::vector<std::uint64_t> counts;
    const std::uint32_t profiles = device.read(registers::kFindProfiles), endings = 8, of[] = {profiles, profiles, endings, 1};
    if (profiles == 0) return counts;
    for (std::uint32_t kind = 0; kind < std::size(of); ++kind)
        for (std::uint32_t index = 0; index < of[kind]; ++index) {
            device.write(registers::kFindItem, kind << 4 | index);
            const std::uint64_t low = device.read(registers::kFindCount);
            counts.push_back(std::uint64_t{device.read(registers::kFindCount + 4)} << 32 | low);
        }
    return counts;
}

class AccessEdge final : public DeviceKind {
  public:
    // flows: there are flow queues.
    AccessEdge(std::uint32_t queues, bool flows, DeviceMaker make) : make_(std::move(make)) {
        statement_.queues = queues;
        statement_.payload = Payload::EcnMark;
        statement_.queue_reasons = {static_cast<std::uint8_t>(Drop::Aqm)};
        if (flows) {
            statement_.order = Order::Free;
            statement_.pages = true;
            statement_.late = static_cast<std::uint8_t>(Drop::FlowOverflow);
            statement_.queue_reasons.push_back(*statement_.late);
        }
        statement_.drop_reasons.assign(std::begin(access_edge::kDropNames), std::end(access_edge::kDropNames));
    }

    const Statement& statement() const override { return statement_; }
    std::unique_ptr<Device> make(const Environment& environment) const override { return make_(environment); }
    void identify(Device& device) const override {
        if (device.read(registers::kType) != registers::kTypeAccessEdge)
            throw DeviceError("the type register is not that of an access edge");
        if (const auto queues = device.read(registers::kQueues); queues != statement_.queues)
            throw std::invalid_argument("the device has " + std::to_string(queues) + " queues, the job " +
                                        std::to_string(statement_.queues));
    }
    CounterReport check_counters(Device& device, const Measurement& measurement, std::span<const std::uint32_t> queues) const override {
        CounterCheck check(device, measurement);
        const std::uint64_t mismatches = check.run(queues);
        CounterReport report{mismatches, check.findings(), {}, found_in_headers(device)};
        const std::uint32_t lost = device.read(registers::kMemoryLost);
        for (std::uint32_t m = 0; m < 32; ++m)
            if (lost >> m & 1) report.lost_memories.push_back(m);
        return report;
    }
    std::unique_ptr<OwnMeasurement> own_measurement(Table& job, const Environment& environment) const override {
        return edge_measurement(job, statement_, environment);
    }

  private:
    DeviceMaker make_;
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

QueueId take_queue_id(Table& device) {
    if (!device.has("queue_id")) return QueueId::Prefix;
    const std::string given = device.text("queue_id");
    if (given == "prefix") return QueueId::Prefix;
    if (given == "headers") return QueueId::Headers;
    if (given != "tdest") bad_job("device.queue_id is prefix, tdest or headers");
    return QueueId::Tdest;
}

}  // namespace

std::shared_ptr<const DeviceKind> access_edge_kind(Table& device, Environment& environment) {
    const bool model = device.has("model");
    if (model == device.has("library")) bad_job("device.library or device.model: one of them is needed");
    const std::string library = model ? "" : device.text("library");
    if (!model && library.empty()) bad_job("device.library is empty");
    const auto queues = static_cast<std::uint32_t>(device.integer("queues", 1, 1 << 24));
    const QueueId queue_id = take_queue_id(device);
    const bool flows = device.boolean("flows", false);
    std::vector<PagePool> pools;
    for (Table& memory : device.tables("memories")) {
        if (model) pools.emplace_back();
        environment.memories.push_back(memory_settings(memory, model ? &pools.back() : nullptr));
    }
    if (model) {
        const auto make = std::any_cast<ModelMaker>(*provided("designs/access_edge/model/device"));
        return std::make_shared<AccessEdge>(queues, flows, make(device.table("model"), queues, queue_id, pools));
    }
    return std::make_shared<AccessEdge>(queues, flows, [library, queue_id](const Environment& around) -> std::unique_ptr<Device> {
        return std::make_unique<RtlDevice>(library, std::make_unique<AccessEdgeFace>(queue_id), 1, 1, around);
    });
}

}  // namespace penstock
