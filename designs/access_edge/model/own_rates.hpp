// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Which queues wait for their own rate: their shapers, seen from outside. A queue's frames wait for it from a departure to the cycle in
// which its shaper lets the next one go; behind a closed gate for ever.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "blocks/timing/model/shaper_code.hpp"

namespace penstock::engine {

class OwnRates {
  public:
    // One code for each queue, none: no queue has a rate; what shapers make up for, in cycles.
    OwnRates(const std::vector<std::uint64_t>& shapers, std::int64_t tolerance) : tolerance_(tolerance) {
        for (const std::uint64_t code : shapers) queues_.push_back({.setting = decode_shaper(code)});
        for (Queue& queue : queues_) queue.shut = queue.setting.mantissa == 0;
    }

    // So many frames more wait in the queue. This, as all below, returns by how many more wait for their queue's own rate.
    std::int64_t add(std::uint32_t queue, std::int64_t frames) {
        if (queues_.empty()) return 0;
        queues_[queue].waiting += frames;
        return queues_[queue].shut ? frames : 0;
    }
    std::int64_t departed(std::int64_t cycle, std::uint32_t queue, std::uint32_t length) {
        if (queues_.empty()) return 0;
        Queue& q = queues_[queue];
        const std::int64_t before = q.held();
        --q.waiting;
        // As Shaper::update(), for as long as one likes.
        const Time floor = Time{cycle - std::max<std::int64_t>(q.setting.burst, tolerance_)} * (1 << Shaper::kFraction);
        q.time = std::max(q.time, floor) + Shaper::increment(q.setting, length, kMostTimeWidth);
        q.shut = shuts(queue, cycle);
        return q.held() - before;
    }
    std::int64_t change(std::int64_t cycle, std::uint32_t queue, std::uint64_t code) {
        Queue& q = queues_[queue];
        const std::int64_t before = q.held();
        q.setting = decode_shaper(code);
        q.shut = shuts(queue, cycle);
        return q.held() - before;
    }
    // When the next shaper opens that is known to, at the latest.
    bool opens_until(std::int64_t cycle) const { return !due_.empty() && due_.top().first <= cycle; }
    // That shaper opens: its cycle and queue, and by how many more ...
    struct Opened {
        std::int64_t cycle;
        std::uint32_t queue;
        std::int64_t held;
    };
    Opened open() {
        const auto [cycle, queue] = due_.top();
        due_.pop();
        Queue& q = queues_[queue];
        const std::int64_t before = q.held();
        if (q.setting.mantissa && q.opens() <= cycle) q.shut = false;  // it may have got another time since
        return {cycle, queue, q.held() - before};
    }

  private:
    __extension__ typedef __int128 Time;  // 2^-16 cycles
    struct Queue {
        ShaperSetting setting;
        Time time = 0;  // from which on it may send
        std::int64_t waiting = 0;
        bool shut = false;
        std::int64_t held() const { return shut ? waiting : 0; }
        std::int64_t opens() const { return static_cast<std::int64_t>(-((-time) >> Shaper::kFraction)); }
    };
    using Due = std::pair<std::int64_t, std::uint32_t>;

    bool shuts(std::uint32_t queue, std::int64_t cycle) {
        const Queue& q = queues_[queue];
        if (q.setting.mantissa == 0) return true;
        if (q.opens() <= cycle) return false;
        due_.push({q.opens(), queue});
        return true;
    }

    std::vector<Queue> queues_;
    std::int64_t tolerance_;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

}  // namespace penstock::engine
