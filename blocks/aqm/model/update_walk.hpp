// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Updates that pst_aqm_walk makes of each word in turn, followed without the walk: a word's updates are made up for when it is touched,
// each with the delays and the setting that stood in the cycle in which the walk read them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "../../queue/model/fast_queue_manager.hpp"

namespace penstock {

// Cycles of pst_aqm_walk as pst_pie and pst_dualpi2 have it; a change of their pipelines is a change of these.
namespace walk_timing {
inline constexpr int kUpdate = 7;  // from an update's reading to its writing
}  // namespace walk_timing

// `Setting`: what a queue's update needs of its setting. The owner has
//   void update(std::uint32_t word)                    one update of this word
//   void depart(std::uint32_t queue, std::int64_t delay, std::uint32_t left)
//   void set(std::uint32_t queue, const Setting& setting)
// and word(queue), which a queue's changes are of.
template <typename Setting>
class UpdateWalk {
  public:
    // Of `words` words; `clearing`: cycles of the walk that clears the memories before the first.
    UpdateWalk(std::uint32_t words, std::uint32_t clearing, std::int64_t period, int shift)
        : walks_(words), shift_(shift), period_(period), begun_((static_cast<std::int64_t>(clearing) - 1) >> shift) {
        if (period_ < 1) throw std::invalid_argument("the AQM's update_ticks must be at least 1");
    }

    // What is written, in which cycle.
    void set(std::int64_t cycle, std::uint32_t queue, const Setting& setting) { settings_.push({cycle, queue, setting}); }
    void depart(std::int64_t cycle, std::uint32_t queue, std::int64_t delay, std::uint32_t left) {
        departures_.push({cycle, queue, left, delay});
    }

    // What was written until `cycle` counts. Nothing older may be written any more.
    template <typename Owner>
    void advance(Owner& owner, std::int64_t cycle) {
        for (;;) {
            const std::int64_t departure = departures_.empty() ? INT64_MAX : departures_.front().cycle;
            const std::int64_t setting = settings_.empty() ? INT64_MAX : settings_.front().cycle;
            if (std::min(departure, setting) > cycle) return;
            if (departure < setting) {
                const Departure& d = departures_.front();
                update(owner, owner.word(d.queue), d.cycle - 1);
                owner.depart(d.queue, d.delay, d.left);
                departures_.pop();
            } else {
                const Change& s = settings_.front();
                update(owner, owner.word(s.queue), s.cycle - 1);
                owner.set(s.queue, s.setting);
                settings_.pop();
            }
        }
    }
    // The word's updates that read until `cycle`. Walk n begins one cycle after tick begun + n * period, and reads a word a cycle.
    template <typename Owner>
    void update(Owner& owner, std::uint32_t word, std::int64_t cycle) {
        const auto reads = [&] { return ((begun_ + (walks_[word] + 1) * period_) << shift_) + 1 + word; };
        for (; reads() <= cycle; ++walks_[word]) owner.update(word);
    }

  private:
    // With the cycle in which each is written.
    struct Departure {
        std::int64_t cycle;
        std::uint32_t queue, left;
        std::int64_t delay;
    };
    struct Change {
        std::int64_t cycle;
        std::uint32_t queue;
        Setting setting;
    };

    std::vector<std::int64_t> walks_;  // by word, so many have come by
    int shift_;
    std::int64_t period_, begun_;
    SmallFifo<Departure, 32> departures_;
    SmallFifo<Change, 32> settings_;
};

}  // namespace penstock
