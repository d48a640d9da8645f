// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The output link of a bench, and of the ideal server that shows what such a link alone would do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <vector>

namespace penstock {

// Times of a link: so many units in a cycle that weeks of them do not fit 64 bits.
__extension__ typedef __int128 LinkUnits;

// A link that sends one frame after the other. Times are exact: integers in a unit that divides both a cycle and a byte.
class LinkClock {
  public:
    LinkClock(uint64_t link_bps, uint64_t clock_hz, uint32_t overhead_bytes) : overhead_(overhead_bytes) {
        const uint64_t byte = clock_hz * 8, divisor = std::gcd(byte, link_bps);
        byte_ = static_cast<int64_t>(byte / divisor);
        cycle_ = static_cast<int64_t>(link_bps / divisor);
    }

    LinkUnits units(int64_t cycle) const { return LinkUnits{cycle} * cycle_; }
    int64_t cycles_up(LinkUnits units) const { return units <= 0 ? 0 : static_cast<int64_t>((units + cycle_ - 1) / cycle_); }

    // Whether a frame can begin within this cycle.
    bool free_in(int64_t cycle) const { return free_ < units(cycle + 1); }

    // Sends a frame that is there from `cycle`; returns when its first bit goes out, in units.
    LinkUnits send(int64_t cycle, uint32_t len) {
        const LinkUnits start = std::max(free_, units(cycle));
        free_ = start + LinkUnits{len + overhead_} * byte_;
        return start;
    }

  private:
    int64_t byte_, cycle_;
    LinkUnits free_ = 0;
    uint32_t overhead_;
};

// Queues by their next earliest departure time.
class DueQueues {
  public:
    struct Due {
        int64_t cycle;
        uint32_t queue;
        bool operator>(const Due& other) const { return cycle != other.cycle ? cycle > other.cycle : queue > other.queue; }
    };

    void push(int64_t cycle, uint32_t queue) { heap_.push({cycle, queue}); }
    bool any_until(int64_t cycle) const { return !heap_.empty() && heap_.top().cycle <= cycle; }

    Due pop() {
        const Due due = heap_.top();
        heap_.pop();
        return due;
    }

  private:
    std::priority_queue<Due, std::vector<Due>, std::greater<>> heap_;
};

}  // namespace penstock
