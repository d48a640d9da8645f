// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One receiver: it puts bytes in order, and says what it acknowledges and when. Its reader takes bytes at once, so the window is always
// open by all of it; what is beyond the window is not taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "penstock/engine/tcp/time.hpp"

namespace penstock::engine::tcp {

struct ReceiverSettings {
    std::uint32_t mss = 1460;
    std::uint64_t window = 0;
    Time delay = 0;         // of an acknowledgement that waits for a second segment (RFC 5681, 4.2); 0: every segment has one
    bool accurate = false;  // it counts marked bytes (RFC 9768), and answers at once when marks begin or end (RFC 8257, 3.2)
};

class Receiver {
  public:
    static constexpr std::size_t kBlocks = 4;  // of a SACK option without time stamps beside it (RFC 2018, 3)

    explicit Receiver(const ReceiverSettings& settings) : settings_(settings) {}

    // A segment has come. `ce`: marked; `cwr`: the sender has reduced its window. True: an acknowledgement is due at once; otherwise in
    // timer().
    bool received(Time now, Range segment, bool ce, bool cwr);
    // When a delayed acknowledgement is due; kNever: none is.
    Time timer() const { return timer_; }
    // An acknowledgement is sent.
    void acknowledge();

    // What it says: all bytes before, and the ranges beyond, the one that came last first (RFC 2018, 4).
    std::uint64_t next() const { return next_; }
    // A segment that has come again is told first, once (RFC 2883, 4.1).
    std::vector<Range> sacks() const;
    bool ece() const { return echo_ && !settings_.accurate; }
    std::uint64_t ce_bytes() const { return ce_bytes_; }

    std::uint64_t delivered() const { return next_; }
    std::uint64_t duplicate_bytes() const { return duplicates_; }

  private:
    ReceiverSettings settings_;
    std::uint64_t next_ = 0, duplicates_ = 0;
    std::vector<Range> recent_;  // beyond a gap, disjoint; the one that changed last first
    std::uint64_t unacknowledged_ = 0;
    Range again_;  // below next_; without bytes: none
    bool echo_ = false, was_ce_ = false;
    std::uint64_t ce_bytes_ = 0;
    Time timer_ = kNever;
};

}  // namespace penstock::engine::tcp
