// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/frame_switch/model/switch_device.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace penstock::engine {

SwitchDevice::SwitchDevice(const FrameSwitchSettings& settings, const Flows& flows, std::shared_ptr<SwitchEvents> seen,
                           const Environment& environment)
    : switch_(settings), flows_(flows), seen_(std::move(seen)), beats_(settings.ports) {
    if (environment.valid_permille != 1000 || environment.ready_permille != 1000)
        throw std::invalid_argument("the model has no random gaps at inputs and outputs (valid_permille, ready_permille)");
    for (std::uint32_t port = 0; port < settings.ports; ++port) {
        inputs_.emplace_back(environment.ingress(port), 0, settings.data_bytes);
        outputs_.push_back({.link = LinkOutput(environment.egress(port))});
    }
}

void SwitchDevice::write(std::uint32_t, std::uint32_t) { throw std::invalid_argument("a frame switch has no registers"); }
std::uint32_t SwitchDevice::read(std::uint32_t) { throw std::invalid_argument("a frame switch has no registers"); }

void SwitchDevice::connect(std::span<FrameSource* const> sources, Observer* observer) {
    observer_ = observer;
    now_ = 0;
    bus_ = {};
    for (Output& output : outputs_) output.link.restart();
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i].connect(i < sources.size() ? sources[i] : nullptr);
}

bool SwitchDevice::input_idle() const {
    return std::all_of(inputs_.begin(), inputs_.end(), [](const LinkInput& input) { return input.idle(); });
}

void SwitchDevice::close_input() {
    for (LinkInput& input : inputs_) input.close();
    for (Output& output : outputs_) output.link.open();
}

void SwitchDevice::run(std::int64_t until) {
    for (LinkInput& input : inputs_)
        if (input.asking()) input.fetch(now_);
    while (now_ < until) {
        cycle();
        if (active_ && observer_->enough()) return;
        if (const std::int64_t next = next_event(); next > now_) skip(std::min(next, until));
    }
}

void SwitchDevice::cycle() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        LinkInput& input = inputs_[i];
        if (input.asking() && (active_ || now_ >= input.ask_again())) input.fetch(now_);
        if (!beats_[i].valid && now_ >= input.beat_cycle()) offer(i);
    }
    active_ = false;
    std::uint64_t ready = 0;
    for (std::size_t o = 0; o < outputs_.size(); ++o) ready |= std::uint64_t{outputs_[o].link.ready(now_)} << o;
    bus_.output_ready += std::popcount(ready);

    // What is handed over in this cycle is known by the ports before the edge; the observer hears of it in the order of RtlDevice.
    const std::uint64_t taken = take_beats();
    count_events();
    send_beats(ready);
    switch_.clock(beats_, ready);
    for (std::uint64_t left = taken; left; left &= left - 1) beats_[static_cast<std::size_t>(std::countr_zero(left))].valid = false;
    ++now_;
}

void SwitchDevice::offer(std::size_t i) {
    LinkInput& input = inputs_[i];
    const Frame& frame = input.frame();
    const Group to = flows_.group(frame.queue);
    if (input.at() == 0) input.begin();
    beats_[i] = {.valid = true,
                 .last = input.last(),
                 .error = input.last() && frame.error,
                 .klass = to.klass,
                 .dest_mask = to.destinations,
                 .bytes = input.beat_bytes(),
                 .tag = frame.number};
}

// A bit for each input whose beat goes in; it stands there until the edge.
LostFrames SwitchDevice::ingress_lost() const {
    LostFrames lost;
    for (const LinkInput& input : inputs_) lost += input.lost();
    return lost;
}

std::uint64_t SwitchDevice::take_beats() {
    std::uint64_t taken = 0;
    for (std::size_t i = 0; i < beats_.size(); ++i) {
        if (!beats_[i].valid) continue;
        ++bus_.input_offered;
        if (!switch_.ready(static_cast<std::uint32_t>(i))) continue;
        ++bus_.input_taken;
        taken |= std::uint64_t{1} << i;
        LinkInput& input = inputs_[i];
        if (!input.taken(now_)) continue;
        flows_.arrived(input.frame(), input.last_bit(), now_, *observer_);
        active_ = true;
        input.fetch(now_);
    }
    return taken;
}

void SwitchDevice::count_events() {
    for (std::uint64_t left = switch_.active_sources(); left; left &= left - 1)
        seen_->refused += switch_.refused(static_cast<std::uint32_t>(std::countr_zero(left)));
    for (std::uint64_t left = switch_.active_outputs(); left; left &= left - 1) {
        const auto output = static_cast<std::uint32_t>(std::countr_zero(left));
        seen_->lost += switch_.lost(output);
        seen_->no_room += switch_.no_room(output);
        seen_->bad += switch_.bad(output);
    }
}

void SwitchDevice::send_beats(std::uint64_t ready) {
    for (std::uint64_t left = switch_.active_outputs() & ready; left; left &= left - 1) {
        const auto number = static_cast<std::uint32_t>(std::countr_zero(left));
        const FrameBeatOut& beat = switch_.out(number);
        if (!beat.valid) continue;
        Output& output = outputs_[number];
        ++bus_.output_taken;
        if (beat.index == 0) {
            output.first_bit = now_;
            observer_->began(now_, number);
            output.bytes = 0;
        }
        output.bytes += beat.bytes;
        output.link.taken(now_, beat.bytes, beat.last);
        if (!beat.last) continue;
        observer_->departed(output.first_bit, flows_.flow(beat.source, number, beat.klass), beat.tag, output.bytes, number);
        active_ = true;
    }
}

// The next cycle in which something may happen.
std::int64_t SwitchDevice::next_event() const {
    if (!switch_.idle()) return now_;
    std::int64_t next = LinkInput::kNever;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (beats_[i].valid) return now_;
        next = std::min(next, inputs_[i].beat_cycle());
        if (inputs_[i].asking()) next = active_ ? now_ : std::min(next, inputs_[i].ask_again());
    }
    return next;
}

void SwitchDevice::skip(std::int64_t until) {
    for (const Output& output : outputs_) bus_.output_ready += std::max<std::int64_t>(0, until - std::max(now_, output.link.ready_from()));
    now_ = until;
}

}  // namespace penstock::engine
