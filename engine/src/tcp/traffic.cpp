// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/tcp/traffic.hpp"

#include <algorithm>
#include <cmath>

#include "penstock/engine/ecn.hpp"

namespace penstock::engine::tcp {

Traffic::Traffic(const std::vector<FlowSettings>& flows, Time interval, Time end, Time after)
    : interval_(interval), end_(end), after_(after), next_sample_(interval > 0 ? interval : kNever) {
    flows_.reserve(flows.size());
    for (const FlowSettings& flow : flows) {
        const auto index = static_cast<std::uint32_t>(flows_.size());
        flows_.emplace_back(flow);
        inputs_[flow.input];
        push({.at = flow.start, .flow = index, .what = What::Start, .number = 0});
    }
}

void Traffic::push(Event event) {
    event.number = made_++;
    events_.push(std::move(event));
}

LiveSource::Ready Traffic::next(unsigned input, std::int64_t now, Ticks link_free) {
    run(now);
    Input& in = inputs_[input];
    // What has not begun on the line when its connection stops is not sent.
    const auto is_late = [&](const Waiting& first) {
        return std::max(ticks(first.at), link_free) >= ticks(flows_[first.flow].settings.stop);
    };
    while (!in.waiting.empty() && is_late(in.waiting.front())) in.waiting.pop_front();
    if (!in.waiting.empty()) return {true, in.waiting.front().at};
    return {false, events_.empty() ? kNever : events_.top().at};
}

void Traffic::take(unsigned input, Frame& frame) {
    Input& in = inputs_[input];
    Waiting& first = in.waiting.front();
    const std::uint64_t number = frame.number;
    const Ticks arrival = frame.arrival;
    frame = first.frame;
    frame.number = number;
    frame.arrival = arrival;
    frame.queue = frame.address = flows_[first.flow].settings.queue;
    sent_.emplace(number, Sent{first.flow, std::move(first.bytes)});  // the bytes stay where they are
    in.sent.push_back(number);
    in.waiting.pop_front();
}

void Traffic::run(Time until) {
    until = std::min(until, end_ - 1);
    while (!events_.empty() && events_.top().at <= until) {
        const Event event = events_.top();
        events_.pop();
        sample(event.at);
        begin(event.at);
        now_ = std::max(now_, event.at);
        handle(event);
    }
    now_ = std::max(now_, until);
}

void Traffic::handle(const Event& event) {
    Flow& flow = flows_[event.flow];
    if (now_ >= flow.settings.stop) return;  // figures are of that moment, as the time is that they are divided by
    switch (event.what) {
        case What::Start:
            break;
        case What::Segment: {
            const std::uint64_t from = unwrapped(event.head.sequence - flow.settings.sequence, flow.receiver.next());
            ++flow.counts.received;
            flow.counts.marked += event.head.ce;
            if (flow.receiver.received(now_, {from, from + event.head.payload}, event.head.ce, event.head.cwr)) {
                acknowledge(event.flow, now_);
            } else if (flow.receiver.timer() < flow.delay) {
                flow.delay = flow.receiver.timer();
                push({.at = flow.delay, .flow = event.flow, .what = What::Delay, .number = 0});
            }
            return;
        }
        case What::Delay:
            if (event.at == flow.delay) flow.delay = kNever;
            if (flow.receiver.timer() <= now_) {
                acknowledge(event.flow, now_);
            } else if (flow.receiver.timer() < flow.delay) {
                flow.delay = flow.receiver.timer();
                push({.at = flow.delay, .flow = event.flow, .what = What::Delay, .number = 0});
            }
            return;
        case What::Acknowledgement:
            flow.sender.acknowledged(now_, {event.up_to, event.sacks, event.ece, event.ce_bytes});
            if (flow.sender.done() && flow.counts.finished < 0) {
                flow.counts.finished = now_;
                ++finished_;
            }
            break;
        case What::Timer:
            if (event.at == flow.timer) flow.timer = kNever;
            flow.sender.expired(now_);
            break;
    }
    send(event.flow, now_);
}

void Traffic::send(std::uint32_t index, Time now) {
    Flow& flow = flows_[index];
    while (const auto segment = flow.sender.next(now)) {
        Waiting waiting{now, index, {}, {}};
        const SegmentHead head{.sequence = flow.settings.sequence + static_cast<std::uint32_t>(segment->range.from),
                               .acknowledgement = 1,
                               .payload = static_cast<std::uint32_t>(segment->range.bytes()),
                               .capable = segment->capable,
                               .cwr = segment->cwr,
                               .push = segment->range.to == flow.settings.sender.bytes,
                               .l4s = is_scalable(flow.settings.sender.congestion.algorithm)};
        build_segment(flow.settings.header, head, waiting.bytes, waiting.frame);
        inputs_[flow.settings.input].waiting.push_back(std::move(waiting));
    }
    if (flow.sender.timer() < flow.timer) {
        flow.timer = flow.sender.timer();
        push({.at = flow.timer, .flow = index, .what = What::Timer, .number = 0});
    }
}

void Traffic::acknowledge(std::uint32_t index, Time now) {
    Flow& flow = flows_[index];
    std::vector<Range> sacks = flow.receiver.sacks();
    flow.receiver.acknowledge();
    push({.at = now + flow.settings.round_trip / 2,
          .flow = index,
          .what = What::Acknowledgement,
          .number = 0,
          .up_to = flow.receiver.next(),
          .sacks = std::move(sacks),
          .ece = flow.receiver.ece(),
          .ce_bytes = flow.receiver.ce_bytes()});
}

// ---- what becomes of frames

// What an input's FIFO loses never arrives, so is known when a younger frame does.
void Traffic::arrived(const Frame& frame) {
    const auto found = sent_.find(frame.number);
    if (found == sent_.end()) return;
    Input& in = inputs_[flows_[found->second.flow].settings.input];
    while (!in.sent.empty()) {
        const std::uint64_t number = in.sent.front();
        in.sent.pop_front();
        if (number == frame.number) return;
        const auto lost = sent_.find(number);
        if (lost == sent_.end()) continue;
        ++flows_[lost->second.flow].counts.lost;
        sent_.erase(lost);
    }
}

void Traffic::left(const Frame& frame, std::int64_t, std::int64_t first_bit, bool mark, std::span<const std::uint8_t> bytes, unsigned) {
    const auto found = sent_.find(frame.number);
    if (found == sent_.end()) return;
    const std::uint32_t index = found->second.flow;
    Flow& flow = flows_[index];
    std::optional<SegmentHead> head;
    if (!bytes.data()) {  // a device without bytes: as it came, with its mark
        std::vector<std::uint8_t> copy = found->second.bytes;
        if (mark) mark_ce(copy.data(), copy.size());
        head = parse_segment(copy, flow.settings.header.ip_at, false);
    } else {
        head = parse_segment(bytes, flow.settings.header.ip_at, true);
    }
    if (!head) {
        ++flow.counts.unreadable;  // a receiver does not take it
    } else {
        const auto line = static_cast<Time>(std::ceil(flow.settings.cycles_per_byte * frame.length));
        const Time half = flow.settings.round_trip - flow.settings.round_trip / 2;
        push({.at = std::max(first_bit + line + half, now_ + 1), .flow = index, .what = What::Segment, .number = 0, .head = *head});
    }
    forget(found, true);
}

void Traffic::dropped(const Frame& frame, std::int64_t, unsigned) {
    const auto found = sent_.find(frame.number);
    if (found == sent_.end()) return;
    ++flows_[found->second.flow].counts.dropped;
    forget(found, false);
}

// The measurement compares with those that left last, however many were dropped since.
void Traffic::forget(std::unordered_map<std::uint64_t, Sent>::iterator at, bool left) {
    std::deque<Sent>& kept = left ? left_ : dropped_;
    kept.push_back(std::move(at->second));
    sent_.erase(at);
    if (kept.size() > kKept) kept.pop_front();
}

std::uint64_t Traffic::unwrapped(std::uint32_t number, std::uint64_t near) {
    const auto step = static_cast<std::int32_t>(number - static_cast<std::uint32_t>(near));
    return near + static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
}

// ---- series

// Rows of all intervals that end at `until` or before.
void Traffic::sample(Time until) {
    for (; next_sample_ <= until; next_sample_ += interval_)
        for (std::size_t i = 0; i < series_flows(); ++i) {
            const Flow& flow = flows_[i];
            samples_.push_back({static_cast<std::uint64_t>(flow.sender.cwnd()), flow.sender.flight(), flow.receiver.delivered(),
                                flow.sender.rto().srtt()});
        }
}

void Traffic::begin(Time now) {
    if (is_warm_ || now < after_) return;
    is_warm_ = true;
    for (Flow& flow : flows_) flow.delivered_before = flow.receiver.delivered();
}

void Traffic::finish(Time now) {
    run(now);
    begin(after_);
    sample(std::min(now, end_));
}

}  // namespace penstock::engine::tcp
