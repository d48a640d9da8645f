// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// HyStart++ (RFC 9406): slow start ends when round trips grow, by way of a conservative slow start, and not when the buffer is full.
#pragma once

#include <algorithm>
#include <cstdint>

#include "penstock/engine/tcp/time.hpp"

namespace penstock::engine::tcp {

class HyStart {
  public:
    static constexpr unsigned kSamples = 8, kGrowthDivisor = 4, kRounds = 5;  // N_RTT_SAMPLE, CSS_GROWTH_DIVISOR, CSS_ROUNDS
    static constexpr unsigned kLimit = 8;                                     // L, of senders that do not pace

    explicit HyStart(double clock_hz) : least_(static_cast<Time>(0.004 * clock_hz)), most_(static_cast<Time>(0.016 * clock_hz)) {}

    // In slow start an acknowledgement has come up to `acknowledged`, with a round trip (0: it tells none); `next` would be sent next.
    // True: slow start is over.
    bool acknowledged(std::uint64_t acknowledged, std::uint64_t next, Time round_trip) {
        if (round_trip > 0) {
            current_ = std::min(current_, round_trip);
            ++samples_;
        }
        if (samples_ >= kSamples && current_ < kNever && last_ < kNever) {
            if (baseline_ == kNever && current_ >= last_ + std::clamp(last_ / 8, least_, most_)) {
                baseline_ = current_;
                rounds_ = 0;
            } else if (baseline_ != kNever && current_ < baseline_) {
                baseline_ = kNever;  // the delay was spurious: slow start goes on
            }
        }
        if (acknowledged < end_) return false;
        end_ = next;
        last_ = current_;
        current_ = kNever;
        samples_ = 0;
        return baseline_ != kNever && ++rounds_ >= kRounds;
    }
    // The window grows by a quarter of what slow start gives.
    bool conservative() const { return baseline_ != kNever; }

  private:
    Time least_, most_;  // MIN_RTT_THRESH, MAX_RTT_THRESH
    std::uint64_t end_ = 0;
    Time last_ = kNever, current_ = kNever, baseline_ = kNever;
    unsigned samples_ = 0, rounds_ = 0;
};

}  // namespace penstock::engine::tcp
