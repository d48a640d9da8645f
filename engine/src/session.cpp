// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/session.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "penstock/engine/rtl_device.hpp"

namespace penstock::engine {

Session::Session(const DeviceKind& kind, const Environment& environment, Measurement& measurement)
    : kind_(kind), memories_(environment.memories.size()), measurement_(measurement), device_(kind.make(environment)) {}

Device& Session::registers() const {
    if (!kind_.statement().registers) throw std::invalid_argument("the device has no registers");
    return *device_;
}

void Session::inherit(Session& other) {
    auto* mine = dynamic_cast<RtlDevice*>(device_.get());
    auto* theirs = dynamic_cast<RtlDevice*>(other.device_.get());
    if (mine && theirs) mine->inherit(*theirs);
}

void Session::open() {
    device_->start();
    kind_.identify(*device_);
}

void Session::start(std::span<FrameSource* const> sources) {
    device_->settle();
    init_cycles_ = device_->now();
    device_->connect(sources, &measurement_);
    measurement_.start(init_cycles_);
    started_ = true;
}

Outcome Session::end(std::span<const std::uint32_t> sample_queues, bool sent) {
    Outcome outcome;
    if (!started_) {
        init_cycles_ = device_->now();
        device_->connect({}, &measurement_);
    }
    outcome.init_cycles = init_cycles_;
    outcome.cycles = device_->now();
    outcome.drained = sent && input_idle() && measurement_.live().queued.packets == 0;
    outcome.bus = device_->bus_counts();
    outcome.ingress_lost = device_->ingress_lost();
    for (unsigned m = 0; m < memories_; ++m) outcome.memories.push_back(device_->memory_counts(m));
    measurement_.freeze(outcome.cycles);
    outcome.lost = measurement_.lost();

    device_->close_input();
    const CounterReport check = kind_.check_counters(*device_, measurement_, sample_queues);
    outcome.counter_mismatches = check.mismatches;
    outcome.lost_memories = check.lost_memories;
    outcome.own_counters = check.own_counters;
    measurement_.close();

    const Totals& t = measurement_.totals();
    Amount accounted{t.out.packets + t.queued.packets, t.out.bytes + t.queued.bytes - static_cast<std::uint64_t>(t.grown)};
    for (const Amount& amount : t.dropped) accounted.packets += amount.packets, accounted.bytes += amount.bytes;
    outcome.conservation_ok = accounted == t.in && t.event_errors == 0 && outcome.lost == 0 && outcome.counter_mismatches == 0;
    outcome.findings = t.findings;
    if (outcome.lost) outcome.findings.push_back(std::to_string(outcome.lost) + " frames never came out, younger ones of their queues did");
    outcome.findings.insert(outcome.findings.end(), check.findings.begin(), check.findings.end());
    return outcome;
}

// ---- frames that are offered

OfferedFrames::OfferedFrames(unsigned inputs) {
    for (unsigned input = 0; input < inputs; ++input) inputs_.emplace_back(*this);
}

std::vector<FrameSource*> OfferedFrames::sources() {
    std::vector<FrameSource*> sources;
    for (Input& input : inputs_) sources.push_back(&input);
    return sources;
}

std::uint64_t OfferedFrames::offer(std::int64_t cycle, unsigned input, std::uint32_t queue, std::vector<std::uint8_t> bytes, bool error) {
    if (cycle > kMaxCycles) throw std::invalid_argument("the clock ends at 2^52 cycles, and no frame arrives later");
    if (bytes.size() > kMaxFrameBytes) throw std::invalid_argument("a frame has 65,535 bytes at most");
    if (input >= inputs_.size())
        throw std::invalid_argument("the device has no input " + std::to_string(input) + ": there are " + std::to_string(inputs_.size()));
    const std::uint64_t number = next_++;
    latest_ = std::max(latest_, cycle);
    const std::vector<std::uint8_t>& kept = kept_.add(number, std::move(bytes)).bytes;
    const auto length = static_cast<std::uint32_t>(kept.size());
    inputs_[input].push({cycle, {number, ticks(cycle), kept.data(), length, queue, length, error, queue}});
    return number;
}

bool OfferedFrames::empty() const {
    return std::all_of(inputs_.begin(), inputs_.end(), [](const Input& input) { return input.empty(); });
}

void OfferedFrames::Input::push(const Offered& offered) {
    waiting_.push_back(offered);
    std::push_heap(waiting_.begin(), waiting_.end(), [](const Offered& a, const Offered& b) { return a.later(b); });
}

Answer OfferedFrames::Input::next(Frame& frame, Ticks, std::int64_t now, std::int64_t& again) {
    if (waiting_.empty() && all_.closed_) return Answer::End;
    again = waiting_.empty() ? kNever : waiting_.front().cycle;
    if (again >= std::max(all_.horizon_, now + 1)) return Answer::NotYet;
    std::pop_heap(waiting_.begin(), waiting_.end(), [](const Offered& a, const Offered& b) { return a.later(b); });
    frame = waiting_.back().frame;
    waiting_.pop_back();
    return Answer::Frame;
}

}  // namespace penstock::engine
