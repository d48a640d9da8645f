// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The input of the model: ingress link, pst_find_queue if there is one, and pst_classify. When each frame's last beat is taken, and when it
// is stored whole.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "blocks/classify/model/classify.hpp"
#include "designs/access_edge/model/device/device_settings.hpp"
#include "designs/access_edge/model/device/find_model.hpp"
#include "designs/access_edge/model/pin_face.hpp"
#include "penstock/engine/device.hpp"
#include "penstock/engine/ingress_fifo.hpp"

namespace penstock::engine {

// Cycles of pst_classify and pst_frame_fifo.
namespace classify_timing {
inline constexpr int kEvent = 1;  // from the last beat in the store to the event
inline constexpr int kOffer = 3;  // to the frame at the head of the store
inline constexpr std::uint32_t kBeatBytes = 64;
}  // namespace classify_timing

// A frame that is being taken, or has been.
struct InputFrame {
    Frame frame;
    std::int64_t last_bit = 0;  // the link has brought it
    std::int64_t first = 0;     // its first beat is taken
    std::int64_t last = 0;      // its last beat is taken
    std::int64_t stored = 0;    // its last beat enters the store, or it is dropped there
    std::uint32_t beats = 0;    // in the store
    std::uint8_t reason = 0;    // pst_pkg::drop_e
    std::int64_t vector = 0;    // with headers: its header vector is there
    std::int64_t known = 0;     // its queue is known
};

class InputModel {
  public:
    explicit InputModel(const DeviceSettings& settings);

    void connect(FrameSource* source);
    // There is no next frame, but the source may know of one later: ask() from cycle ask_again() on.
    bool asking() const { return source_ && !has_frame_; }
    std::int64_t ask_again() const { return ask_again_; }
    void ask(std::int64_t now) { fetch(now); }
    // No more frames but the first `told` that are to come, or the one whose first beat has been taken before cycle `now`.
    void close(std::int64_t now, unsigned told);
    // With headers: the next frame has this queue, or none.
    void resolve(const FoundQueue& found);
    // Frames that are to come see nothing of what was before this cycle.
    std::int64_t unseen_before(std::int64_t now) const { return has_frame_ ? cycle_ceil(link_start_) : now; }
    bool has_frame() const { return has_frame_; }
    // Frames that are to come, the next one and those that the link has been asked for already; 0 when there are none.
    unsigned frames() const { return has_frame_ ? 1 + look_count_ : 0; }
    // The frame that comes next; its times hold when `ready`.
    InputFrame& frame() { return next_; }
    // The times of the next frame are known. They are not while the store is too full to tell.
    bool ready() const { return timed_; }
    // Goes on to the next frame; it is cycle `now`.
    void advance(std::int64_t now) {
        fifo_.taken(next_.last, next_.frame.length);
        fetch(now);
    }
    // A beat of the store is taken in cycle `cycle` (in order).
    void beat_taken(std::int64_t cycle);
    // Tries once more, after beat_taken().
    void retry() {
        if (has_frame_ && !timed_) time();
    }
    const BusCounts& counts() const { return counts_; }
    const LostFrames& lost() const { return fifo_.lost(); }

    // While the next frame's times are not known: calls taken(frame, last_bit) for each frame from the next one on whose last beat the
    // device has taken before cycle `now`. There are some when the store is full: a beat can wait in either stage before it. None
    // where frames may be lost before they come to the device: which ones is not known yet.
    template <typename Taken>
    void taken_before(std::int64_t now, Taken&& taken) const;

    // Frames that come soon, for prefetching: the frame `ahead` after the next one, or nullptr.
    const Frame* look_ahead(unsigned ahead) const { return look_count_ > ahead ? &look_[(look_at_ + ahead) % kLook] : nullptr; }

  private:
    static constexpr unsigned kLook = 128;  // with headers so many beats may wait for their queue

    void refill(std::int64_t now);
    void fetch(std::int64_t now);
    void time();
    // Where the beats have got to: the last one taken from the bus, out of the strip stage, out of the stage behind it; beats written.
    struct Way {
        std::int64_t in, strip, push;
        std::uint64_t at;
        std::int64_t vector = 0;
        std::uint64_t beats = 0;                                      // with headers: that have come
        std::array<std::int64_t, find_timing::kWaitBeats> left = {};  // when the last of them left
    };
    template <typename Free>
    bool pass(const Frame& frame, Ticks start, Way& way, std::int64_t& first, BusCounts& counts, Free&& free) const;
    bool time_unhindered(std::uint32_t in, std::uint32_t out);
    void write(std::uint64_t end, std::int64_t stored);
    std::uint8_t fate(const Frame& frame) const;

    Way committed(std::uint64_t at) const {
        Way way{last_in_, last_strip_, last_push_, at};
        if (headers_) way.beats = beats_, way.left = left_;
        return way;
    }

    std::uint32_t queues_, min_bytes_, max_bytes_;
    bool headers_;  // queues are found in headers
    std::uint32_t prefix_levels_;
    std::uint32_t head_;   // bytes in front of a frame, which are stripped; 0: there is no strip stage
    std::uint32_t depth_;  // beats, a power of two
    Link link_;
    IngressFifo fifo_;
    bool link_is_slower_;  // than the bus: a beat takes a cycle at least
    FrameSource* source_ = nullptr;
    std::int64_t ask_again_ = 0;
    std::array<Frame, kLook> look_;  // fetched ahead: the link's times do not depend on the device
    unsigned look_at_ = 0, look_count_ = 0;
    Ticks fetch_free_ = 0, link_free_ = 0, link_start_ = 0;
    InputFrame next_;
    bool has_frame_ = false, timed_ = false;

    // The store's output reads a beat ahead: when it does so is known as soon as the beat before it is given away.
    std::int64_t next_read() const { return std::max(stored_[slot(taken_)] + 1, advance_at_); }
    // The one behind it is read when the output has moved on: the beat before both has been taken.
    std::int64_t second_read() const { return std::max({stored_[slot(taken_ + 1)] + 1, next_read() + 1, taken_at_[(taken_ + 1) & 1]}); }
    // When the place of the n-th beat is free.
    std::int64_t free_at(std::uint64_t n) const {
        const std::uint64_t before = n - depth_;  // the beat that is there
        return before == taken_ ? next_read() : before == taken_ + 1 ? second_read() : read_[slot(before)];
    }
    // Where a beat is in the vectors below: twice the store, for a beat may come to a place before the one that was there has left the
    // output.
    std::size_t slot(std::uint64_t beat) const { return beat & (2 * depth_ - 1); }

    // The store: when each beat came, and when it was read out. kUnknown: not yet known.
    static constexpr std::int64_t kUnknown = INT64_MAX / 2;
    std::vector<std::int64_t> stored_, read_;
    std::uint64_t written_ = 0, taken_ = 0;  // beats
    std::int64_t taken_at_[2] = {INT64_MIN / 2, INT64_MIN / 2};
    std::int64_t read_at_ = INT64_MIN / 2, advance_at_ = INT64_MIN / 2;
    std::int64_t last_in_ = INT64_MIN / 2;                         // last beat taken from the bus
    std::int64_t last_strip_ = INT64_MIN / 2;                      // last beat out of the strip stage
    std::int64_t last_push_ = INT64_MIN / 2;                       // last beat out of the stage behind it
    std::uint64_t beats_ = 0;                                      // with headers: that have come
    std::array<std::int64_t, find_timing::kWaitBeats> left_ = {};  // when the last of them left for the stage that measures
    BusCounts counts_;
};

// Beat by beat: the bus, the strip stage (a beat leaves it when the next one of its frame comes, the last one a cycle later; without it
// when it comes), the stage that measures, the store. free(n): when the place of the n-th beat is free; kUnknown ends it.
template <typename Free>
bool InputModel::pass(const Frame& frame, Ticks start, Way& way, std::int64_t& first, BusCounts& counts, Free&& free) const {
    using classify_timing::kBeatBytes;
    const std::uint32_t length = frame.length, bytes = length + head_;
    const std::uint32_t in = std::max(1U, (bytes + kBeatBytes - 1) / kBeatBytes),
                        out = std::max(1U, (length + kBeatBytes - 1) / kBeatBytes);
    const std::uint32_t kept = max_bytes_ / kBeatBytes + 1;  // beats that are stored of a frame that is too long, at most
    // The stage that measures and the store take the next beat.
    const auto store = [&](std::uint32_t beat) {
        way.strip = std::max(way.strip, way.push);
        const std::int64_t from = beat < kept ? free(way.at++) : INT64_MIN / 2;
        way.push = std::max(way.strip, from) + 1;
        return from != kUnknown;
    };
    if (headers_) {
        const std::uint32_t window = std::min(in, find_timing::kWindowBeats);
        std::array<std::int64_t, find_timing::kWindowBeats> came{};
        const auto leave = [&](std::uint32_t beat, std::int64_t from) {
            way.strip = from;
            if (!store(beat)) return false;
            way.left[way.beats++ % way.left.size()] = way.strip;
            return true;
        };
        for (std::uint32_t k = 0; k < in; ++k) {
            const std::int64_t offered = std::max(cycle_ceil(start + link_.time(std::min((k + 1) * kBeatBytes, bytes))), way.in + 1);
            const std::uint64_t number = way.beats + (k < window ? k : 0);
            way.in = std::max(offered, way.left[number % way.left.size()] + 1);
            if (k == 0) first = way.in;
            ++counts.input_taken;
            counts.input_offered += way.in - offered + 1;
            if (k >= window) {
                if (!leave(k, way.in + 1)) return false;
                continue;
            }
            came[k] = way.in;
            if (k + 1 != window) continue;
            way.vector = way.in + find_timing::kVector;
            for (std::uint32_t n = 0; n < window; ++n)
                if (!leave(n, n == 0 ? way.vector + find_timing::out(prefix_levels_) : came[n] + 1)) return false;
        }
        return true;
    }
    for (std::uint32_t k = 0; k < in; ++k) {
        const std::int64_t brought = cycle_ceil(start + link_.time(std::min((k + 1) * kBeatBytes, bytes) - head_));
        const std::int64_t offered = std::max(brought, way.in + 1);
        // The first beat waits for the last one of the frame before to leave the strip stage, the others take the one before them along.
        way.in = std::max(offered, k == 0 && head_ != 0 ? way.strip : way.push);
        if (k == 0) first = way.in;
        ++counts.input_taken;
        counts.input_offered += way.in - offered + 1;
        if (head_ == 0) {
            way.strip = way.in;
            if (!store(k)) return false;
            continue;
        }
        if (k == 0) continue;
        way.strip = way.in;
        if (!store(k - 1)) return false;
    }
    if (head_ != 0 && (out == in || in == 1)) {  // the last beat holds something of its own
        way.strip = way.in + 1;
        if (!store(in - 1)) return false;
    }
    return true;
}

template <typename Taken>
void InputModel::taken_before(std::int64_t now, Taken&& taken) const {
    if (!has_frame_ || (timed_ && !headers_) || fifo_.bounded()) return;
    // A place of which it is not known when it is free is not before `now`.
    const auto free = [&](std::uint64_t at) { return std::min(free_at(at), kUnknown - 1); };
    Way way = committed(written_);
    Ticks start = link_start_, link_free = link_free_;
    if (timed_) {
        if (next_.last >= now) return;
        if (next_.reason == 0) way.at += next_.beats;
        taken(next_.frame, next_.last_bit);
    }
    for (unsigned n = timed_; n <= look_count_; ++n) {
        const Frame& frame = n == 0 ? next_.frame : look_[(look_at_ + n - 1) % kLook];
        if (n > 0) start = std::max(frame.arrival, link_free);
        link_free = start + link_.frame_time(frame.length);
        const std::uint64_t at = way.at;
        std::int64_t first = 0;
        BusCounts counts;
        pass(frame, start, way, first, counts, free);
        if (way.in >= now) return;
        if (fate(frame) != 0) way.at = at;
        taken(frame, cycle_ceil(start + link_.time(frame.length)));
    }
}

}  // namespace penstock::engine
