// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Retransmission timeout (RFC 6298): smoothed round-trip time, its variation, and the backed-off timeout. Samples of segments that were
// sent twice never come here (Karn's algorithm, its section 3).
#pragma once

#include <algorithm>
#include <cmath>

#include "penstock/engine/tcp/time.hpp"

namespace penstock::engine::tcp {

class RetransmissionTimeout {
  public:
    // In cycles. Before the first sample the timeout is `second` (2.1), and never below `least` (2.4) or above `most` (2.5).
    RetransmissionTimeout(Time second, Time least, Time most)
        : least_(least), most_(most), timeout_(bounded(static_cast<double>(second))) {}

    // A round trip took so long. The clock is the device's, far finer than what is measured: its granularity G is a cycle.
    void sample(Time round_trip) {
        const auto r = static_cast<double>(round_trip);
        if (srtt_ < 0) {
            srtt_ = r;
            variation_ = r / 2;
        } else {
            variation_ += (std::abs(srtt_ - r) - variation_) / 4;
            srtt_ += (r - srtt_) / 8;
        }
        timeout_ = bounded(srtt_ + std::max(1.0, 4 * variation_));
    }
    // The timer has expired (5.5).
    void back_off() { timeout_ = std::min(2 * timeout_, most_); }

    Time timeout() const { return timeout_; }
    // 0: there was no sample.
    Time srtt() const { return srtt_ < 0 ? 0 : static_cast<Time>(std::llround(srtt_)); }
    Time variation() const { return static_cast<Time>(std::llround(variation_)); }

  private:
    Time bounded(double timeout) const { return std::clamp(static_cast<Time>(std::llround(timeout)), least_, most_); }

    Time least_, most_, timeout_;
    double srtt_ = -1, variation_ = 0;
};

}  // namespace penstock::engine::tcp
