// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/p4_switch/model/switch_measurement.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "penstock/engine/python_columns.hpp"

namespace nb = nanobind;

namespace penstock::p4 {

using namespace engine;

namespace {

class SwitchMeasurement final : public OwnMeasurement {
  public:
    SwitchMeasurement(const SwitchSettings& settings, std::shared_ptr<QueueTally> tally, const Statement& statement)
        : settings_(settings), tally_(std::move(tally)), statement_(statement) {
        for (std::vector<Amount>& of : drops_) of.resize(statement.queues);
    }

    void start(std::int64_t) override {
        for (std::vector<Amount>& of : drops_) std::fill(of.begin(), of.end(), Amount{});
    }
    void begin() override { tally_->begin(); }
    void dropped(std::int64_t, const Frame& frame, unsigned reason) override { drops_[reason][frame.queue].add(frame.length); }

    void add_to(nb::dict& result) const override {
        nb::dict own, drops;
        each_reason(statement_, [&](unsigned reason, const char* name) {
            nb::dict of;
            of["packets"] = column<std::uint64_t>(statement_.queues, [&](std::uint32_t flow) { return drops_[reason][flow].packets; });
            of["bytes"] = column<std::uint64_t>(statement_.queues, [&](std::uint32_t flow) { return drops_[reason][flow].bytes; });
            drops[name] = of;
        });
        own["drops"] = drops;
        own["multicast_copies"] = tally_->multicast_copies;
        own["clones"] = tally_->clones;
        own["recirculated"] = tally_->recirculated;
        nb::list outputs, queues;
        for (const OutputCounts& output : tally_->outputs) outputs.append(output_dict(output));
        for (std::uint32_t port = 0; port < settings_.ports; ++port)
            for (std::uint32_t priority = 0; priority < settings_.priorities; ++priority) {
                const QueueCounts& queue = tally_->queues[port * settings_.priorities + priority];
                if (queue.in.packets || queue.full.packets) queues.append(queue_dict(queue, port, priority));
            }
        own["outputs"] = outputs;
        own["queues"] = queues;
        result["p4"] = own;
    }

  private:
    static nb::dict amount(const Amount& amount) {
        nb::dict dict;
        dict["packets"] = amount.packets;
        dict["bytes"] = amount.bytes;
        return dict;
    }
    static nb::dict output_dict(const OutputCounts& output) {
        nb::dict dict = amount(output.sent);
        dict["measured_packets"] = output.sent.packets - output.before.packets;
        dict["lost_cycles"] = static_cast<double>(output.lost) / static_cast<double>(Ticks{1} << kTickBits);
        return dict;
    }
    static nb::dict queue_dict(const QueueCounts& queue, std::uint32_t port, std::uint32_t priority) {
        nb::dict dict, points;
        dict["output"] = port;
        dict["priority"] = priority;
        dict["in"] = amount(queue.in);
        dict["full"] = amount(queue.full);
        dict["egress"] = amount(queue.egress);
        dict["recirculated"] = amount(queue.again);
        dict["sent"] = amount(queue.sent);
        dict["most_packets"] = queue.most_packets;
        dict["most_bytes"] = queue.most_bytes;
        dict["waits"] = histogram_dict(queue.waits ? *queue.waits : Histogram{});
        const std::size_t rows = queue.points.size();
        points["packets"] = column<std::uint32_t>(rows, [&](std::uint32_t i) { return queue.points[i].packets; });
        points["full"] = column<std::uint32_t>(rows, [&](std::uint32_t i) { return queue.points[i].full; });
        points["egress"] = column<std::uint32_t>(rows, [&](std::uint32_t i) { return queue.points[i].egress; });
        points["wait_max"] = column<std::uint32_t>(rows, [&](std::uint32_t i) { return queue.points[i].wait_max; });
        points["wait_sum"] = column<std::uint64_t>(rows, [&](std::uint32_t i) { return queue.points[i].wait_sum; });
        points["sent_bytes"] = column<std::uint64_t>(rows, [&](std::uint32_t i) { return queue.points[i].sent_bytes; });
        dict["points"] = points;
        return dict;
    }

    SwitchSettings settings_;
    std::shared_ptr<QueueTally> tally_;
    Statement statement_;
    std::array<std::vector<Amount>, kMostReasons> drops_;  // by reason and flow
};

}  // namespace

std::unique_ptr<OwnMeasurement> switch_measurement(const SwitchSettings& settings, std::shared_ptr<QueueTally> tally,
                                                   const Statement& statement) {
    return std::make_unique<SwitchMeasurement>(settings, std::move(tally), statement);
}

}  // namespace penstock::p4
