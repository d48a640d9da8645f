// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/session.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "penstock/engine/counters.hpp"
#include "penstock/engine/model_device.hpp"
#include "penstock/engine/rtl_device.hpp"

namespace penstock::engine {

namespace {
std::unique_ptr<Device> make_device(const DeviceSettings& settings) {
    if (settings.library.empty()) return make_model_device(settings);
    return std::make_unique<RtlDevice>(settings);
}
}  // namespace

Session::Session(const DeviceSettings& settings, Measurement& measurement)
    : settings_(settings), measurement_(measurement), device_(make_device(settings_)) {}

void Session::open() {
    device_->start();
    if (device_->read(registers::kType) != registers::kTypeAccessEdge) throw DeviceError("the type register is not that of an access edge");
    if (const auto queues = device_->read(registers::kQueues); queues != settings_.queues)
        throw std::invalid_argument("the device has " + std::to_string(queues) + " queues, the job " + std::to_string(settings_.queues));
}

void Session::start(FrameSource& source) {
    device_->settle();
    init_cycles_ = device_->now();
    device_->connect(&source, &measurement_);
    measurement_.start(init_cycles_);
    started_ = true;
}

Outcome Session::end(std::span<const std::uint32_t> sample_queues, bool sent) {
    Outcome outcome;
    if (!started_) {
        init_cycles_ = device_->now();
        device_->connect(nullptr, &measurement_);
    }
    outcome.init_cycles = init_cycles_;
    outcome.cycles = device_->now();
    outcome.drained = sent && input_idle() && measurement_.live().queued.packets == 0;
    outcome.bus = device_->bus_counts();
    for (unsigned m = 0; m < settings_.memories.size(); ++m) outcome.memories.push_back(device_->memory_counts(m));
    measurement_.freeze(outcome.cycles);
    outcome.lost = measurement_.lost();

    device_->close_input();
    CounterCheck check(*device_, measurement_);
    outcome.counter_mismatches = check.run(sample_queues);
    measurement_.close();

    const Totals& t = measurement_.totals();
    Amount accounted{t.out.packets + t.queued.packets, t.out.bytes + t.queued.bytes};
    for (const Amount& amount : t.dropped) accounted.packets += amount.packets, accounted.bytes += amount.bytes;
    outcome.conservation_ok = accounted == t.in && t.event_errors == 0 && outcome.lost == 0 && outcome.counter_mismatches == 0;
    outcome.findings = t.findings;
    if (outcome.lost) outcome.findings.push_back(std::to_string(outcome.lost) + " frames never came out, younger ones of their queues did");
    outcome.findings.insert(outcome.findings.end(), check.findings().begin(), check.findings().end());
    return outcome;
}

// ---- frames that are offered

bool OfferedFrames::later(const Offered& a, const Offered& b) {
    return a.cycle != b.cycle ? a.cycle > b.cycle : a.frame.number > b.frame.number;
}

std::uint64_t OfferedFrames::offer(std::int64_t cycle, std::uint32_t queue, std::vector<std::uint8_t> bytes, bool error) {
    if (bytes.size() > kMaxFrameBytes) throw std::invalid_argument("a frame has 65,535 bytes at most");
    const std::uint64_t number = next_++;
    const std::vector<std::uint8_t>& kept = bytes_.emplace(number, std::move(bytes)).first->second;
    const auto length = static_cast<std::uint32_t>(kept.size());
    waiting_.push_back({cycle, {number, ticks(cycle), kept.data(), length, queue, length, error}});
    std::push_heap(waiting_.begin(), waiting_.end(), later);
    return number;
}

// The measurement compares with those that left last, to tell a frame that comes twice from one that is changed.
void OfferedFrames::forget(std::uint64_t number) {
    forgotten_.push_back(number);
    if (forgotten_.size() <= kKept) return;
    bytes_.erase(forgotten_.front());
    forgotten_.pop_front();
}

Answer OfferedFrames::next(Frame& frame, Ticks, std::int64_t now, std::int64_t& again) {
    if (waiting_.empty() && closed_) return Answer::End;
    again = waiting_.empty() ? kNever : waiting_.front().cycle;
    if (again >= std::max(horizon_, now + 1)) return Answer::NotYet;
    std::pop_heap(waiting_.begin(), waiting_.end(), later);
    frame = waiting_.back().frame;
    waiting_.pop_back();
    return Answer::Frame;
}

}  // namespace penstock::engine
