// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/p4_switch/model/switch_device.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace penstock::p4 {

using namespace engine;

namespace {
std::vector<TrafficManager::Limit> limits(const SwitchSettings& settings, double clock_hz) {
    std::vector<TrafficManager::Limit> limits;
    for (std::uint32_t priority = 0; priority < settings.priorities; ++priority) {
        const double pps = settings.queue_pps[priority];
        limits.push_back({settings.queue_packets[priority], pps > 0 ? static_cast<Ticks>(clock_hz / pps * (Ticks{1} << kTickBits)) : 0});
    }
    return limits;
}
}  // namespace

SwitchDevice::SwitchDevice(const SwitchSettings& settings, std::unique_ptr<V1Switch> machine, std::shared_ptr<QueueTally> tally,
                           const Environment& environment)
    : settings_(settings),
      machine_(std::move(machine)),
      tally_(std::move(tally)),
      clock_(environment.clock_hz, settings.clock_start_us),
      queues_(settings.ports, limits(settings, environment.clock_hz), settings.queue_bytes),
      seed_(environment.seed),
      output_of_(V1Switch::kDropPort + 1, kNone),
      bytes_(kMaxFrameBytes + 8) {
    if (environment.valid_permille != 1000 || environment.ready_permille != 1000)
        throw std::invalid_argument("the model has no random gaps at inputs and outputs (valid_permille, ready_permille)");
    for (std::uint32_t port = 0; port < settings.ports; ++port) {
        inputs_.emplace_back(environment.ingress(port), 0, kMaxFrameBytes + 1);  // a beat is a frame
        const bool paced = port < environment.egress_bps.size() && environment.egress_bps[port] > 0;
        outputs_.push_back({LinkOutput(environment.egress(port)), environment.egress(port), paced});
        output_of_.at(settings.number_of(port)) = port;
    }
}

void SwitchDevice::write(std::uint32_t, std::uint32_t) { throw std::invalid_argument("a P4 device has no registers on a bus"); }
std::uint32_t SwitchDevice::read(std::uint32_t) { throw std::invalid_argument("a P4 device has no registers on a bus"); }

void SwitchDevice::connect(std::span<FrameSource* const> sources, Observer* observer) {
    observer_ = observer;
    now_ = 0;
    bus_ = {};
    tally_->restart(settings_.ports, settings_.priorities);
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

LostFrames SwitchDevice::ingress_lost() const {
    LostFrames lost;
    for (const LinkInput& input : inputs_) lost += input.lost();
    return lost;
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

// What was recirculated before this cycle goes first, as in simple_switch; then the inputs in their order, then the outputs.
void SwitchDevice::cycle() {
    for (LinkInput& input : inputs_)
        if (input.asking() && (active_ || now_ >= input.ask_again())) input.fetch(now_);
    active_ = false;
    for (const Output& output : outputs_) bus_.output_ready += output.link.ready(now_);
    for (std::size_t left = again_.size(); left; --left) {
        const std::uint32_t held = again_.front();
        again_.pop_front();
        ingress(held, 0, false);
    }
    for (unsigned input = 0; input < inputs_.size(); ++input)
        if (now_ >= inputs_[input].beat_cycle()) arrive(input);
    for (std::uint32_t output = 0; output < outputs_.size(); ++output)
        if (!queues_.empty(output)) send(output);
    ++now_;
}

// ---- ingress

std::uint32_t SwitchDevice::hold(Packet* packet) {
    std::uint32_t held = static_cast<std::uint32_t>(held_.size());
    if (free_.empty()) {
        held_.emplace_back();
    } else {
        held = free_.back();
        free_.pop_back();
    }
    held_[held].packet = packet;
    packet->user = held;
    ++known_;
    return held;
}

void SwitchDevice::forget(std::uint32_t held) {
    machine_->give_back(std::exchange(held_[held].packet, nullptr));
    free_.push_back(held);
    --known_;
}

void SwitchDevice::arrive(unsigned number) {
    LinkInput& input = inputs_[number];
    input.begin();
    input.taken(now_);
    ++bus_.input_offered, ++bus_.input_taken;
    const Frame& frame = input.frame();
    active_ = true;
    observer_->arrived(frame, input.last_bit());
    const Drop refused = frame.error ? Drop::BadFrame : frame.length > settings_.max_frame_bytes ? Drop::Oversize : Drop::None;
    if (refused != Drop::None || frame.queue >= settings_.flows) {
        const Drop reason = refused != Drop::None ? refused : Drop::BadQueueId;
        observer_->classified(now_, {frame.queue, static_cast<std::uint16_t>(frame.length), static_cast<std::uint8_t>(reason)});
        return input.fetch(now_);
    }
    frame_bytes(frame, seed_, bytes_.data());
    const std::uint32_t held = hold(machine_->take({bytes_.data(), frame.length}));
    Held& own = held_[held];
    own.number = own.packet->number = frame.number;
    own.flow = frame.queue;
    own.bytes = frame.length;
    own.last_bit = input.last_bit();
    observer_->classified(now_, {own.flow, static_cast<std::uint16_t>(own.bytes), 0});
    ingress(held, settings_.number_of(number), true);
    input.fetch(now_);
}

// `first`: the observer waits to be told whether its queue takes the packet; of one that has been there it has been told.
void SwitchDevice::ingress(std::uint32_t held, std::uint32_t port, bool first) {
    const Held own = held_[held];
    queued_.clear();
    const Fate fate = machine_->ingress(own.packet, port, clock_.at(now_), queued_);
    if (fate != Fate::Queued) lose(held, fate == Fate::Dropped ? kIngressProgram : fate == Fate::NoMembers ? kNoOutput : kResubmits, first);
    // Clones come first, then the packet itself, which is the first of its copies where there are several.
    bool clone = true;
    for (const Queued& to : queued_) {
        if (to.packet == own.packet) {
            enqueue(held, to, first);
            clone = false;
        } else {
            enqueue_copy(own, to, clone);
        }
    }
}

// A copy is a frame of its own from here on, which has come when the packet came that it is a copy of.
void SwitchDevice::enqueue_copy(const Held& of, const Queued& to, bool clone) {
    const std::uint32_t output = to.port < output_of_.size() ? output_of_[to.port] : kNone;
    const std::uint32_t held = hold(to.packet);
    Held& own = held_[held];
    own.number = own.packet->number = kOwnNumbers | copies_++;
    own.flow = settings_.copy_flow(clone, output == kNone ? 0 : output);
    own.bytes = of.bytes;
    own.last_bit = of.last_bit;
    ++(clone ? tally_->clones : tally_->multicast_copies);
    Frame frame;
    frame.number = own.number;
    frame.arrival = ticks(of.last_bit);
    frame.queue = frame.address = own.flow;
    frame.length = own.bytes;
    observer_->arrived(frame, own.last_bit);
    observer_->classified(now_, {own.flow, static_cast<std::uint16_t>(own.bytes), 0});
    enqueue(held, to, true);
}

void SwitchDevice::enqueue(std::uint32_t held, const Queued& to, bool first) {
    active_ = true;
    Held& own = held_[held];
    const std::uint32_t output = to.port < output_of_.size() ? output_of_[to.port] : kNone;
    if (output == kNone || to.priority >= settings_.priorities) return lose(held, kNoOutput, first);
    QueueCounts& counts = tally_->queues[output * settings_.priorities + to.priority];
    const std::uint32_t depth = queues_.depth(output, to.priority);
    if (const Drop full = queues_.enqueue(output, to.priority, held, own.bytes, now_); full != Drop::None) {
        counts.full.add(own.bytes);
        if (QueuePoint* const at = tally_->point(counts, now_)) ++at->full;
        return lose(held, static_cast<std::uint8_t>(full), first);
    }
    counts.in.add(own.bytes);
    counts.most_packets = std::max(counts.most_packets, queues_.depth(output, to.priority));
    counts.most_bytes = std::max(counts.most_bytes, queues_.bytes(output, to.priority));
    own.enqueued = now_;
    own.enqueued_us = clock_.at(now_).clock_us;
    own.depth = depth;
    if (first) observer_->enqueued(now_, {own.flow, static_cast<std::uint16_t>(own.bytes), 0});
}

void SwitchDevice::lose(std::uint32_t held, std::uint8_t reason, bool first) {
    const Held& own = held_[held];
    active_ = true;
    if (first)
        observer_->enqueued(now_, {own.flow, static_cast<std::uint16_t>(own.bytes), reason});
    else
        observer_->dropped(now_, own.flow, own.number, reason);
    forget(held);
}

// ---- egress

// The packets that the link takes in this cycle: one, unless egress drops some at no cost or the link is faster than a packet a cycle. At
// most as many as waited: where egress drops a packet and sends a copy of it to the same output, there is always one more.
void SwitchDevice::send(std::uint32_t number) {
    Output& output = outputs_[number];
    for (std::uint32_t left = queues_.depth(number); left && output.link.ready(now_) && queues_.next(number) <= now_; --left) {
        const std::uint32_t sent = static_cast<std::uint32_t>(bus_.output_taken);
        egress(number, queues_.dequeue(number, now_));
        if (!output.paced && static_cast<std::uint32_t>(bus_.output_taken) != sent) return;
    }
}

void SwitchDevice::egress(std::uint32_t number, TrafficManager::Taken taken) {
    active_ = true;
    Output& output = outputs_[number];
    QueueCounts& counts = tally_->queues[number * settings_.priorities + taken.priority];
    const Held own = held_[taken.item];
    tally_->taken(counts, now_, now_ - own.enqueued);
    queued_.clear();
    const QueueFacts facts{.port = settings_.number_of(number),
                           .priority = taken.priority,
                           .enq_timestamp_us = own.enqueued_us,
                           .enq_qdepth = own.depth,
                           .deq_qdepth = queues_.depth(number, taken.priority)};
    const Verdict verdict = machine_->egress(own.packet, facts, clock_.at(now_), queued_);
    const std::span<const std::uint8_t> bytes = own.packet->bytes();
    const auto length = static_cast<std::uint32_t>(bytes.size());
    if (verdict == Verdict::Send && length <= kMaxFrameBytes) {
        counts.sent.add(length);
        output.link.taken(now_, length, true);
        tally_->outputs[number].sent.add(length);
        if (QueuePoint* const at = tally_->point(counts, now_)) at->sent_bytes += length;
        ++bus_.output_taken;
        observer_->departed(now_, own.flow, bytes, own.number, number);
        forget(taken.item);
    } else {
        if (settings_.charged) {
            output.link.taken(now_, own.bytes, true);
            tally_->outputs[number].lost += output.line.frame_time(own.bytes);
        }
        if (verdict == Verdict::Recirculate && length <= kMaxFrameBytes) {
            counts.again.add(own.bytes);
            ++tally_->recirculated;
            held_[taken.item].bytes = length;
            again_.push_back(taken.item);
        } else {
            counts.egress.add(own.bytes);
            if (QueuePoint* const at = tally_->point(counts, now_)) ++at->egress;
            lose(taken.item, verdict == Verdict::Drop ? kEgressProgram : static_cast<std::uint8_t>(Drop::Oversize), false);
        }
    }
    for (const Queued& to : queued_) enqueue_copy(own, to, true);
}

// ---- time

// The next cycle in which something may happen.
std::int64_t SwitchDevice::next_event() const {
    if (!again_.empty()) return now_;
    std::int64_t next = LinkInput::kNever;
    for (const LinkInput& input : inputs_) {
        next = std::min(next, input.beat_cycle());
        if (input.asking()) next = active_ ? now_ : std::min(next, input.ask_again());
    }
    for (std::uint32_t output = 0; output < outputs_.size(); ++output)
        if (!queues_.empty(output)) next = std::min(next, std::max({now_, outputs_[output].link.ready_from(), queues_.next(output)}));
    return next;
}

void SwitchDevice::skip(std::int64_t until) {
    for (const Output& output : outputs_) bus_.output_ready += std::max<std::int64_t>(0, until - std::max(now_, output.link.ready_from()));
    now_ = until;
}

}  // namespace penstock::p4
