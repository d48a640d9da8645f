// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// PIE of all queues against the clock, as pst_pie has it: when each queue is updated, and what it is updated with.
#pragma once

#include <cstdint>
#include <vector>

#include "../../model/aqm_model.hpp"
#include "../../model/update_walk.hpp"
#include "pie.hpp"

namespace penstock {

class TimedPie final : public AqmModel {
  public:
    TimedPie(std::uint32_t queues, const AqmNumbers& numbers)
        : pie_(queues, numbers.get("update_ticks", pie_defaults::kUpdateTicks), numbers.get("alpha", pie_defaults::kAlpha),
               numbers.get("beta", pie_defaults::kBeta),
               static_cast<std::uint32_t>(numbers.get("mean_packet_bytes", pie_defaults::kMeanPacketBytes)),
               static_cast<int>(numbers["time_width"])),
          walk_(queues, queues, numbers.get("update_ticks", pie_defaults::kUpdateTicks), static_cast<int>(numbers["tick_shift"])),
          given_(queues) {}

    void set(std::int64_t cycle, std::uint32_t queue, const AqmSetting& s) override {
        given_[queue] = s;
        walk_.set(cycle, queue, {s.enable, s.ecn, s.field(18, 18), s.field(0, 18)});
        walk_.advance(pie_, cycle - walk_timing::kUpdate);
    }
    AqmSetting setting(std::uint32_t queue) const override { return given_[queue]; }
    AqmVerdict departs(const AqmDeparture& p) override {
        walk_.depart(p.cycle + 1, p.queue, p.sojourn, p.left);
        walk_.advance(pie_, p.cycle - walk_timing::kUpdate);
        return AqmVerdict::Pass;
    }
    AqmVerdict arrives(const AqmArrival& p) override {
        const std::int64_t read = p.cycle - walk_timing::kUpdate;  // updates that read until then are written
        walk_.advance(pie_, read);
        walk_.update(pie_, p.queue, read);
        return pie_.arrive(p.queue, p.backlog, p.ect, random_.next());
    }

  private:
    Pie pie_;
    PieRandom random_;
    UpdateWalk<PieSetting> walk_;
    std::vector<AqmSetting> given_;  // as they were set
};

}  // namespace penstock
