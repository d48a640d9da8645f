// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/model/device/input_model.hpp"

#include <algorithm>
#include <bit>

namespace penstock::engine {

using classify_timing::kBeatBytes;

InputModel::InputModel(const DeviceSettings& settings)
    : queues_(settings.queues),
      min_bytes_(settings.min_frame_bytes),
      max_bytes_(settings.max_frame_bytes),
      headers_(settings.queue_id == QueueId::Headers),
      prefix_levels_(settings.find.prefix_levels),
      head_(settings.queue_id == QueueId::Prefix ? kPrefixBytes : 0),
      depth_(std::bit_ceil(2 * ((settings.max_frame_bytes + kPrefixBytes + kBeatBytes - 1) / kBeatBytes) + 2)),
      link_(settings.ingress(0)),
      fifo_(link_.buffer()),
      link_is_slower_(link_.time(kBeatBytes) >= ticks(1)),
      stored_(2 * depth_),
      read_(2 * depth_, INT64_MIN / 2) {
    left_.fill(INT64_MIN / 2);
}

void InputModel::connect(FrameSource* source) {
    source_ = source;
    fetch_free_ = link_free_ = 0;
    last_in_ = -1;
    look_count_ = 0;
    has_frame_ = false;
    fifo_.restart();
    fetch(0);
}

void InputModel::close(std::int64_t now, unsigned told) {
    source_ = nullptr;
    look_count_ = told > 0 ? told - 1 : 0;
    if (has_frame_ && told == 0 && !(timed_ && next_.first < now)) has_frame_ = false;
}

void InputModel::refill(std::int64_t now) {
    while (source_ && look_count_ < kLook) {
        Frame& frame = look_[(look_at_ + look_count_) % kLook];
        const Answer answer = source_->next(frame, fetch_free_, now, ask_again_);
        if (answer == Answer::End) source_ = nullptr;
        if (answer != Answer::Frame) return;
        fetch_free_ = std::max(frame.arrival, fetch_free_) + link_.frame_time(frame.length);
        ++look_count_;
    }
}

void InputModel::fetch(std::int64_t now) {
    timed_ = false;
    for (;;) {
        if (look_count_ < kLook / 2) refill(now);
        has_frame_ = look_count_ != 0;
        if (!has_frame_) return;
        next_.frame = look_[look_at_];
        look_at_ = (look_at_ + 1) % kLook;
        --look_count_;
        link_start_ = std::max(next_.frame.arrival, link_free_);
        link_free_ = link_start_ + link_.frame_time(next_.frame.length);
        next_.last_bit = cycle_ceil(link_start_ + link_.time(next_.frame.length));
        if (fifo_.takes(next_.last_bit, next_.frame.length)) break;
        if (source_) source_->lost(next_.frame);
    }
    next_.reason = fate(next_.frame);
    time();
}

std::uint8_t InputModel::fate(const Frame& frame) const {
    if (frame.error) return 4;
    if (frame.length < min_bytes_) return 1;
    if (frame.length > max_bytes_) return 2;
    return headers_ || frame.queue < queues_ ? 0 : 3;
}

void InputModel::resolve(const FoundQueue& found) {
    next_.frame.queue = found.none ? kNoQueue : found.queue;
    if (next_.reason == 0)
        next_.reason = static_cast<std::uint8_t>(found.none ? Drop::NoSubscriber : found.queue < queues_ ? Drop::None : Drop::BadQueueId);
    if (next_.reason == 0) write(written_ + next_.beats, next_.stored);
}

// Beats of the frame that is stored up to this one are in the store.
void InputModel::write(std::uint64_t end, std::int64_t stored) {
    for (; written_ < end; ++written_) {
        stored_[slot(written_)] = stored;
        read_[slot(written_)] = kUnknown;
    }
}

// The same as below for a frame that waits for nothing but the link, which is how it nearly always is: every beat of it finds room in
// the store, as the last one does, and the link brings a beat a cycle at most.
bool InputModel::time_unhindered(std::uint32_t in, std::uint32_t out) {
    if (next_.reason != 0 || !link_is_slower_ || headers_) return false;
    const auto brought = [&](std::uint32_t bytes) { return cycle_ceil(link_start_ + link_.time(bytes)); };
    const std::int64_t offered = std::max(brought(std::min(next_.frame.length, kBeatBytes - head_)), last_in_ + 1);
    const std::int64_t first = std::max(offered, head_ != 0 ? last_strip_ : last_push_);
    if (last_push_ > first + 1 || free_at(written_ + out - 1) >= first) return false;
    std::int64_t taken = first;
    if (in > 1) {
        if (in > 2) taken = std::max(brought((in - 1) * kBeatBytes - head_), first + in - 2);
        taken = std::max(next_.last_bit, taken + 1);
    }
    last_in_ = next_.last = taken;
    last_strip_ = taken + (head_ != 0 && out == in);
    last_push_ = next_.stored = last_strip_ + 1;
    next_.first = first;
    next_.beats = out;
    counts_.input_taken += in;
    counts_.input_offered += in + first - offered;
    for (std::uint32_t beat = 0; beat < out; ++beat, ++written_) {
        stored_[slot(written_)] = next_.stored;
        read_[slot(written_)] = kUnknown;
    }
    timed_ = true;
    return true;
}

void InputModel::time() {
    const std::uint32_t bytes = next_.frame.length + head_;
    const std::uint32_t in = std::max(1U, (bytes + kBeatBytes - 1) / kBeatBytes);
    const std::uint32_t out = std::max(1U, (next_.frame.length + kBeatBytes - 1) / kBeatBytes);
    if (time_unhindered(in, out)) return;
    Way way = committed(written_);
    BusCounts counts = counts_;
    std::int64_t first = 0;
    if (!pass(next_.frame, link_start_, way, first, counts, [&](std::uint64_t at) { return free_at(at); })) return;
    counts_ = counts;
    last_in_ = next_.last = way.in;
    last_strip_ = way.strip;
    last_push_ = next_.stored = way.push;
    next_.first = first;
    next_.beats = out;
    next_.vector = way.vector;
    next_.known = way.vector + find_timing::miss(prefix_levels_) + 1;
    if (headers_) {
        beats_ = way.beats;
        left_ = way.left;
    } else if (next_.reason == 0) {
        write(way.at, way.push);
    }
    timed_ = true;
}

// The store's output: read into its register, moved on to the output, taken.
void InputModel::beat_taken(std::int64_t cycle) {
    read_at_ = next_read();
    advance_at_ = std::max(read_at_ + 1, taken_at_[(taken_ + 1) & 1]);
    read_[slot(taken_)] = read_at_;
    taken_at_[taken_ & 1] = cycle;
    ++taken_;
}

}  // namespace penstock::engine
