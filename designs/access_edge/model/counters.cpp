// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/model/counters.hpp"

#include "blocks/common/model/drop.hpp"
#include "penstock/engine/closing.hpp"

namespace penstock::engine {

namespace {
constexpr std::int64_t kPipeline = 256;  // cycles from an event pulse to its counter, generously
constexpr std::size_t kFindings = 16;

// What the AQM dropped of a queue.
const Amount& aqm_drops(const DeviceView& queue) { return queue.dropped[static_cast<std::size_t>(Drop::Aqm)]; }

std::string text(const Amount& amount) { return std::to_string(amount.packets) + " packets, " + std::to_string(amount.bytes) + " bytes"; }
}  // namespace

std::uint64_t CounterCheck::read64(std::uint32_t address) {
    const std::uint64_t low = device_.read(address);
    return low | static_cast<std::uint64_t>(device_.read(address + 4)) << 32;
}

// The packets first: reading them may hold the bytes.
Amount CounterCheck::read_amount(std::uint32_t packets, std::uint32_t bytes) {
    const std::uint64_t count = read64(packets);
    return {count, read64(bytes)};
}

void CounterCheck::compare(const std::string& what, const Amount& device, const Amount& seen) {
    if (device == seen) return;
    ++mismatches_;
    if (findings_.size() < kFindings)
        findings_.push_back(what + ": the device counts " + text(device) + ", the engine has seen " + text(seen));
}

void CounterCheck::compare_between(const std::string& what, const Amount& device, const Amount& least, const Amount& most) {
    const bool inside =
        least.packets <= device.packets && device.packets <= most.packets && least.bytes <= device.bytes && device.bytes <= most.bytes;
    if (!inside) compare(what, device, most);
}

std::uint64_t CounterCheck::run(std::span<const std::uint32_t> queues) {
    // A memory that has died holds its frames until it is known to be lost.
    timeout_ = device_.read(registers::kMemoryTimeout);
    finish(device_, measurement_, 64, timeout_, [&] { return measurement_.undecided() == 0 && device_.input_idle(); });
    device_.run(device_.now() + kPipeline);
    for (unsigned reason = 1; reason < access_edge::kDropReasons; ++reason) {
        if (access_edge::kDropCounters[reason].packets == 0) continue;  // a number that no reason has
        const std::string name = std::string("drop counter ") + access_edge::kDropNames[reason];
        const Amount before = measurement_.live().dropped[reason];
        const Amount read = read_amount(access_edge::kDropCounters[reason].packets, access_edge::kDropCounters[reason].bytes);
        // Frames still leave their queues, and more of them may be lost meanwhile; flow queues still lose what is over a limit.
        if (reason == static_cast<unsigned>(Drop::ReadError) || reason == static_cast<unsigned>(Drop::FlowOverflow))
            compare_between(name, read, before, measurement_.live().dropped[reason]);
        else
            compare(name, read, measurement_.live().dropped[reason]);
    }
    compare("marked packets", {read64(registers::kMarkedPackets), 0}, {measurement_.live().marked, 0});
    for (const std::uint32_t queue : queues) check_queue(queue);
    return mismatches_;
}

void CounterCheck::check_queue(std::uint32_t queue) {
    // With an AQM frames may be taken from the queue meanwhile: what was counted is between what was seen before and after.
    const DeviceView before = measurement_.device_view(queue);
    device_.write(registers::kQueueIndex, queue);
    device_.write(registers::kQueueCommand, access_edge::values::kCommandSnapshot);
    while (access_edge::fields::kStatusBusy.of(device_.read(registers::kStatus))) {
    }
    const DeviceView after = measurement_.device_view(queue);
    const Amount in = read_amount(registers::kInPackets, registers::kInBytes);
    const Amount out = read_amount(registers::kOutPackets, registers::kOutBytes);
    const Amount drop = read_amount(registers::kDropPackets, registers::kDropBytes);
    const Amount aqm_drop = read_amount(registers::kAqmDropPackets, registers::kAqmDropBytes);
    const Amount marks{read64(registers::kMarkPackets), 0};
    // A packet that the device has counted as sent may still be on its way to the output, and others may have left since.
    DeviceView now = measurement_.device_view(queue);
    finish(device_, measurement_, 1, timeout_, [&] {
        now = measurement_.device_view(queue);
        return now.out.packets >= out.packets;
    });
    Amount seen = before.out;
    for (const Amount& amount : now.outs)
        if (amount.packets == out.packets) seen = amount;
    const std::string name = "queue " + std::to_string(queue);
    compare(name + " in", in, before.in);
    compare_between(name + " dropped", drop, before.drop, after.drop);
    compare_between(name + " dropped by the AQM", aqm_drop, aqm_drops(before), aqm_drops(after));
    compare_between(name + " marked", marks, {before.marks, 0}, {after.marks, 0});
    // Dropped at the tail and by the AQM are counted in one moment: their difference does not change any more, but for flow queues.
    const auto others = [&](const DeviceView& view) {
        return Amount{view.drop.packets - aqm_drops(view).packets, view.drop.bytes - aqm_drops(view).bytes};
    };
    compare_between(name + " dropped, but not by the AQM", {drop.packets - aqm_drop.packets, drop.bytes - aqm_drop.bytes}, others(before),
                    others(after));
    compare(name + " out", out, seen);
}

}  // namespace penstock::engine
