// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// PIE of all queues against the clock, as pst_pie has it: when each queue is updated, and what it is updated with.
//
// The periodic walk over all queues is not followed: a queue's updates are made up for when it is touched, each with the delay and the
// setting that stood in the cycle in which the walk read them. Changes therefore wait until no update before them is outstanding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../../queue/model/fast_queue_manager.hpp"
#include "../../model/aqm_model.hpp"
#include "pie.hpp"

namespace penstock {

// Cycles of pst_pie; a change of its pipeline is a change of these.
namespace pie_timing {
inline constexpr int kUpdate = 7;  // from an update's reading to its writing
}  // namespace pie_timing

class TimedPie final : public AqmModel {
  public:
    TimedPie(std::uint32_t queues, const AqmNumbers& numbers)
        : pie_(queues, numbers.get("update_ticks", pie_defaults::kUpdateTicks), numbers.get("alpha", pie_defaults::kAlpha),
               numbers.get("beta", pie_defaults::kBeta),
               static_cast<std::uint32_t>(numbers.get("mean_packet_bytes", pie_defaults::kMeanPacketBytes)),
               static_cast<int>(numbers["time_width"])),
          walks_(queues),
          given_(queues),
          shift_(static_cast<int>(numbers["tick_shift"])),
          period_(numbers.get("update_ticks", pie_defaults::kUpdateTicks)),
          begun_((static_cast<std::int64_t>(queues) - 1) >> shift_) {
        if (period_ < 1) throw std::invalid_argument("PIE's update_ticks must be at least 1");
    }

    void set(std::int64_t cycle, std::uint32_t queue, const AqmSetting& s) override {
        given_[queue] = s;
        settings_.push({cycle, queue, {s.enable, s.ecn, s.field(18, 18), s.field(0, 18)}});
        advance(cycle - pie_timing::kUpdate);
    }
    AqmSetting setting(std::uint32_t queue) const override { return given_[queue]; }
    AqmVerdict departs(const AqmDeparture& p) override {
        departures_.push({p.cycle + 1, p.queue, p.left, p.sojourn});
        advance(p.cycle - pie_timing::kUpdate);
        return AqmVerdict::Pass;
    }
    AqmVerdict arrives(const AqmArrival& p) override {
        const std::int64_t read = p.cycle - pie_timing::kUpdate;  // updates that read until then are written
        advance(read);
        update(p.queue, read);
        return pie_.arrive(p.queue, p.backlog, p.ect, random_.next());
    }

  private:
    // With the cycle in which each is written.
    struct Departure {
        std::int64_t cycle;
        std::uint32_t queue, left;
        std::int64_t delay;
    };
    struct Setting {
        std::int64_t cycle;
        std::uint32_t queue;
        PieSetting setting;
    };

    // What was written until `cycle` counts. Nothing older may be written any more.
    void advance(std::int64_t cycle) {
        for (;;) {
            const std::int64_t departure = departures_.empty() ? INT64_MAX : departures_.front().cycle;
            const std::int64_t setting = settings_.empty() ? INT64_MAX : settings_.front().cycle;
            if (std::min(departure, setting) > cycle) return;
            if (departure < setting) {
                const Departure& d = departures_.front();
                update(d.queue, d.cycle - 1);
                pie_.depart(d.queue, d.delay, d.left);
                departures_.pop();
            } else {
                const Setting& s = settings_.front();
                update(s.queue, s.cycle - 1);
                pie_.set(s.queue, s.setting);
                settings_.pop();
            }
        }
    }
    // The queue's updates that read until `cycle`. Walk n begins one cycle after tick begun + n * period, and reads a queue a cycle.
    void update(std::uint32_t queue, std::int64_t cycle) {
        const auto reads = [&] { return ((begun_ + (walks_[queue] + 1) * period_) << shift_) + 1 + queue; };
        for (; reads() <= cycle; ++walks_[queue]) pie_.update(queue, pie_.state(queue).delay);
    }

    Pie pie_;
    PieRandom random_;
    std::vector<std::int64_t> walks_;  // by queue, so many have come by
    std::vector<AqmSetting> given_;    // as they were set
    int shift_;
    std::int64_t period_, begun_;
    SmallFifo<Departure, 32> departures_;
    SmallFifo<Setting, 32> settings_;
};

}  // namespace penstock
