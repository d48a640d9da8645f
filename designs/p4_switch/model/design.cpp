// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/p4_switch/model/design.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "designs/p4_switch/model/machine/bind.hpp"
#include "designs/p4_switch/model/machine/program.hpp"
#include "designs/p4_switch/model/machine/v1_switch.hpp"
#include "designs/p4_switch/model/switch_device.hpp"
#include "designs/p4_switch/model/switch_measurement.hpp"
#include "penstock/engine/measure.hpp"

namespace penstock {

using namespace engine;

namespace {

class P4SwitchKind final : public DeviceKind {
  public:
    P4SwitchKind(const p4::SwitchSettings& settings, std::shared_ptr<const p4::Program> program, Table state)
        : settings_(settings), program_(std::move(program)), state_(std::move(state)) {
        statement_.queues = settings.all_flows();
        statement_.inputs = statement_.outputs = settings.ports;
        statement_.registers = false;
        statement_.order = Order::Free;
        statement_.payload = Payload::Rewritten;
        statement_.tag_bits = 64;
        std::vector<std::string>& reasons = statement_.drop_reasons;
        reasons.resize(kMostReasons);
        reasons[static_cast<unsigned>(Drop::Oversize)] = "oversize";
        reasons[static_cast<unsigned>(Drop::BadQueueId)] = "bad_queue_id";
        reasons[static_cast<unsigned>(Drop::BadFrame)] = "bad_frame";
        reasons[static_cast<unsigned>(Drop::TailDropPackets)] = "tail_drop_packets";
        reasons[static_cast<unsigned>(Drop::TailDropBytes)] = "tail_drop_bytes";
        reasons[p4::kIngressProgram] = "ingress_program";
        reasons[p4::kEgressProgram] = "egress_program";
        reasons[p4::kNoOutput] = "no_output";
        reasons[p4::kResubmits] = "resubmits";
    }

    const Statement& statement() const override { return statement_; }
    std::unique_ptr<Device> make(const Environment& environment) const override {
        auto machine = std::make_unique<p4::V1Switch>(program_, environment.seed);
        {
            nb::gil_scoped_acquire gil;
            Table state = state_;
            machine->configure(state);
        }
        return std::make_unique<p4::SwitchDevice>(settings_, std::move(machine), tally_, environment);
    }
    void identify(Device&) const override {}  // there is nothing that it could say of itself

    // The device counts at its queues, the measurement by frames.
    CounterReport check_counters(Device& device, const Measurement& measurement, std::span<const std::uint32_t>) const override {
        CounterReport report;
        const auto check = [&](const std::string& what, std::uint64_t told, std::uint64_t seen) {
            if (told == seen) return;
            ++report.mismatches;
            report.findings.push_back(what + ": the device tells of " + std::to_string(told) + ", the engine has seen " +
                                      std::to_string(seen));
        };
        const Totals& live = measurement.live();
        Amount in, full, behind, sent, again;
        const auto add = [](Amount& to, const Amount& amount) { to.packets += amount.packets, to.bytes += amount.bytes; };
        for (const p4::QueueCounts& queue : tally_->queues) {
            add(in, queue.in), add(full, queue.full), add(behind, queue.egress), add(sent, queue.sent), add(again, queue.again);
        }
        const auto dropped = [&](unsigned reason) { return live.dropped[reason].packets; };
        const std::uint64_t tail =
            dropped(static_cast<unsigned>(Drop::TailDropPackets)) + dropped(static_cast<unsigned>(Drop::TailDropBytes));
        check("packets dropped at full queues", full.packets, tail);
        check("packets sent", sent.packets, live.out.packets);
        check("bytes sent", sent.bytes, live.out.bytes);
        const auto& switched = static_cast<const p4::SwitchDevice&>(device);
        check("packets that it holds", switched.packets_known(), live.queued.packets);
        check("packets of its program", switched.packets_in_use(), switched.packets_known());
        check("packets in its queues", in.packets - behind.packets - sent.packets - again.packets + switched.packets_on_their_way(),
              live.queued.packets);
        return report;
    }
    std::unique_ptr<OwnMeasurement> own_measurement(Table& job, const Environment&) const override {
        tally_->interval = job.integer("interval_cycles", 0, kMaxCycles, 0);
        return p4::switch_measurement(settings_, tally_, statement_);
    }

  private:
    p4::SwitchSettings settings_;
    std::shared_ptr<const p4::Program> program_;
    Table state_;
    Statement statement_;
    std::shared_ptr<p4::QueueTally> tally_ = std::make_shared<p4::QueueTally>();  // of the device whose clock was started last
};

}  // namespace

std::shared_ptr<const DeviceKind> p4_switch_kind(Table& device, Environment&) {
    const auto number = [&](const char* key, std::int64_t least, std::int64_t most) {
        return static_cast<std::uint32_t>(device.integer(key, least, most));
    };
    if (device.has("library")) bad_job("device.library: a P4 device has no RTL, only device.model");
    if (!device.boolean("model", false)) bad_job("device.model is true");
    p4::SwitchSettings settings;
    settings.ports = number("ports", 1, 64);
    settings.priorities = number("priorities", 1, p4::TrafficManager::kMostPriorities);
    settings.flows = number("flows", 1, 1 << 20);
    settings.max_frame_bytes = number("max_frame_bytes", 1, kMaxFrameBytes);
    settings.queue_packets.assign(settings.priorities, number("queue_packets", 1, 1 << 24));
    settings.queue_pps.assign(settings.priorities, 0);
    if (device.has("by_priority"))
        for (Table& own : device.tables("by_priority")) {
            const auto priority = static_cast<std::size_t>(own.integer("priority", 0, settings.priorities - 1));
            std::uint32_t& packets = settings.queue_packets[priority];
            packets = static_cast<std::uint32_t>(own.integer("queue_packets", 1, 1 << 24, packets));
            settings.queue_pps[priority] = own.number("packets_per_second", 0, 1e12, 0);
            own.done();
        }
    settings.queue_bytes = static_cast<std::uint64_t>(device.integer("queue_bytes", 0, std::int64_t{1} << 40, 0));
    settings.charged = device.boolean("egress_drops_charged", true);
    settings.clock_start_us = static_cast<std::uint64_t>(device.integer("clock_start_us", 0, (std::int64_t{1} << 48) - 1, 0));
    if (device.has("port_numbers")) {
        std::vector<nb::object> keep;
        const auto given = device.array<std::uint32_t>("port_numbers", "uint32", keep);
        settings.port_numbers.assign(given.begin(), given.end());
        std::vector<std::uint32_t> sorted = settings.port_numbers;
        std::sort(sorted.begin(), sorted.end());
        if (sorted.size() != settings.ports || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() ||
            sorted.back() >= p4::V1Switch::kDropPort)
            bad_job("device.port_numbers is not a number below 511 for each port, each another one");
    }
    Table program = device.table("program"), state = device.table("state");
    return std::make_shared<P4SwitchKind>(settings, p4::Program::read(program), std::move(state));
}

}  // namespace penstock
