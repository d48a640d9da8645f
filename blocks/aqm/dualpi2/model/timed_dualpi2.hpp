// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// DualPI2 of all pairs against the clock, as pst_dualpi2 has it: when each pair is updated, and which departures see that.
#pragma once

#include <cstdint>
#include <vector>

#include "../../model/aqm_model.hpp"
#include "../../model/update_walk.hpp"
#include "dualpi2.hpp"

namespace penstock {

// Cycles of pst_dualpi2; a change of its pipeline is a change of these.
namespace dualpi2_timing {
inline constexpr int kLook = 2;  // from the look, which reads the probabilities, to the take
}  // namespace dualpi2_timing

class TimedDualPi2 final : public AqmModel {
  public:
    TimedDualPi2(std::uint32_t queues, const AqmNumbers& numbers)
        : pairs_(queues, numbers.get("alpha", dualpi2_defaults::kAlpha), numbers.get("beta", dualpi2_defaults::kBeta),
                 static_cast<std::uint32_t>(numbers.get("coupling", dualpi2_defaults::kCoupling)),
                 static_cast<std::uint32_t>(numbers.get("ramp_log2", dualpi2_defaults::kRampLog2)),
                 static_cast<int>(numbers["time_width"])),
          walk_(queues / 2, queues, numbers.get("update_ticks", dualpi2_defaults::kUpdateTicks), static_cast<int>(numbers["tick_shift"])),
          given_(queues) {}

    void set(std::int64_t cycle, std::uint32_t queue, const AqmSetting& s) override {
        const DualPi2Setting setting{s.enable, s.ecn, s.field(18, 18), s.field(0, 18)};
        given_[queue] = s;
        pairs_.judge_by(queue, setting);
        walk_.set(cycle, queue, setting);
        walk_.advance(pairs_, cycle - kSeen);
    }
    AqmSetting setting(std::uint32_t queue) const override { return given_[queue]; }
    AqmVerdict departs(const AqmDeparture& p) override {
        const std::int64_t read = p.cycle - kSeen;  // updates that read until then are written before the look
        walk_.advance(pairs_, read);
        walk_.update(pairs_, DualPi2::word(p.queue), read);
        walk_.depart(p.cycle + 1, p.queue, p.sojourn, p.left);
        return pairs_.judge(p.queue, p.sojourn, p.left, p.ect);
    }

  private:
    static constexpr int kSeen = walk_timing::kUpdate + dualpi2_timing::kLook;

    DualPi2 pairs_;
    UpdateWalk<DualPi2Setting> walk_;
    std::vector<AqmSetting> given_;  // as they were set
};

}  // namespace penstock
