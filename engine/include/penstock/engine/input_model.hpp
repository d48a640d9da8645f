// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The input of the model: ingress link and pst_classify_prefix. When each frame's last beat is taken, and when it is stored whole.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "penstock/engine/device.hpp"
#include "penstock/engine/device_settings.hpp"

namespace penstock::engine {

// Cycles of pst_classify_prefix and pst_frame_fifo.
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
};

class InputModel {
  public:
    explicit InputModel(const DeviceSettings& settings);

    void connect(FrameSource* source);
    // No more frames but the one whose first beat has been taken before cycle `now`.
    void close(std::int64_t now);
    bool has_frame() const { return has_frame_; }
    // The frame that comes next; its times hold when `ready`.
    InputFrame& frame() { return next_; }
    // The times of the next frame are known. They are not while the store is too full to tell.
    bool ready() const { return timed_; }
    // Goes on to the next frame.
    void advance();
    // A beat of the store is taken in cycle `cycle` (in order); it was stored in cycle `stored`.
    void beat_taken(std::int64_t cycle, std::int64_t stored);
    // Tries once more, after beat_taken().
    void retry() {
        if (has_frame_ && !timed_) time();
    }
    const BusCounts& counts() const { return counts_; }

    // Frames that come soon, for prefetching: the frame `ahead` after the next one, or nullptr.
    const Frame* look_ahead(unsigned ahead) const { return look_count_ > ahead ? &look_[(look_at_ + ahead) % kLook] : nullptr; }

  private:
    static constexpr unsigned kLook = 16;

    void refill();
    void fetch();
    void time();
    bool time_unhindered(std::uint32_t in, std::uint32_t out);
    std::uint8_t fate(const Frame& frame) const;

    std::uint32_t queues_, min_bytes_, max_bytes_;
    std::uint32_t depth_;  // beats, a power of two
    Link link_;
    bool link_is_slower_;  // than the bus: a beat takes a cycle at least
    FrameSource* source_ = nullptr;
    std::array<Frame, kLook> look_;  // fetched ahead: the link's times do not depend on the device
    unsigned look_at_ = 0, look_count_ = 0;
    Ticks fetch_free_ = 0, link_free_ = 0, link_start_ = 0;
    InputFrame next_;
    bool has_frame_ = false, timed_ = false;

    // The store: when the beat at each place was read out of it. kUnknown: not yet known.
    static constexpr std::int64_t kUnknown = INT64_MAX / 2;
    std::vector<std::int64_t> read_;
    std::uint64_t written_ = 0, taken_ = 0;  // beats
    std::int64_t taken_at_[2] = {INT64_MIN / 2, INT64_MIN / 2};
    std::int64_t read_at_ = INT64_MIN / 2, advance_at_ = INT64_MIN / 2;
    std::int64_t last_in_ = INT64_MIN / 2;     // last beat taken from the bus
    std::int64_t last_strip_ = INT64_MIN / 2;  // last beat out of the strip stage
    std::int64_t last_push_ = INT64_MIN / 2;   // last beat out of the stage behind it
    BusCounts counts_;
};

}  // namespace penstock::engine
