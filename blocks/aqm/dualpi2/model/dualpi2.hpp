// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_dualpi2: DualPI2 (RFC 9332, appendix A) of pairs of queues, 2n Classic and 2n + 1 L4S. Probabilities are in 2^-32 and may be
// 1, times in ticks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "../../model/aqm_model.hpp"

namespace penstock {

struct DualPi2Setting {
    bool enable = false, ecn = false;
    uint32_t target = 0, threshold = 0;  // in ticks, below 2^(time_width - 8)
};

// Where a tick is 2^8 cycles at 220 MHz: as pst_dualpi2 has them.
namespace dualpi2_defaults {
inline constexpr int64_t kUpdateTicks = 13750;  // T_UPDATE: 16 ms
inline constexpr int64_t kAlpha = 800;          // 0.16 Hz, in 2^-32 per tick
inline constexpr int64_t kBeta = 14993;         // 3 Hz
inline constexpr uint32_t kCoupling = 2;        // k
inline constexpr uint32_t kRampLog2 = 8;
}  // namespace dualpi2_defaults

class DualPi2 {
  public:
    struct Pair {
        bool live = false, no_marks = false;
        uint64_t prob = 0, coupled = 0, squared = 0;  // p', p_CL, p_C
        int64_t delay_old = 0;
    };

    explicit DualPi2(uint32_t queues, int64_t alpha = dualpi2_defaults::kAlpha, int64_t beta = dualpi2_defaults::kBeta,
                     uint32_t coupling = dualpi2_defaults::kCoupling, uint32_t ramp_log2 = dualpi2_defaults::kRampLog2, int time_width = 26)
        : settings(queues),
          aims(queues / 2),
          pairs(queues / 2),
          delays(queues),
          counts(queues),
          alpha(alpha),
          beta(beta),
          coupling(coupling),
          ramp_log2(ramp_log2),
          longest((int64_t{1} << (std::min(time_width - 8, 18) + 2)) - 1) {
        if (queues < 4 || queues % 2) throw std::invalid_argument("DualPI2 needs pairs of queues, two at least");
        if (coupling < 1 || coupling > 4 || ramp_log2 > 18) throw std::invalid_argument("DualPI2: coupling is 1 to 4, ramp_log2 0 to 18");
    }

    // What departures see of it from now on, and what updates do.
    void judge_by(uint32_t queue, const DualPi2Setting& s) { settings.at(queue) = s; }
    void set(uint32_t queue, const DualPi2Setting& s) {
        if (queue % 2 == 0) aims.at(queue / 2) = s;
    }
    const Pair& pair(uint32_t index) const { return pairs.at(index); }

    // Judges a departure after `delay` ticks that leaves `left` bytes behind.
    AqmVerdict judge(uint32_t queue, int64_t delay, uint32_t left, bool ect) {
        const DualPi2Setting& c = settings[queue];
        if (!c.enable) return AqmVerdict::Pass;
        const Pair& p = pairs[queue / 2];
        const bool l4s = queue % 2, able = c.ecn && ect, overload = p.coupled == kOne;
        const bool linear = l4s && able && !overload;
        const bool hit = recur(counts[queue], linear ? std::max(native(c, delay, left), p.coupled) : p.squared);
        if (!able) return hit ? AqmVerdict::Drop : AqmVerdict::Pass;
        if (!l4s) return !hit ? AqmVerdict::Pass : p.no_marks ? AqmVerdict::Drop : AqmVerdict::Mark;
        if (overload) return hit ? AqmVerdict::Drop : AqmVerdict::Mark;
        return hit ? AqmVerdict::Mark : AqmVerdict::Pass;
    }
    // The same departure as the updates see it.
    void depart(uint32_t queue, int64_t delay, uint32_t left) { delays.at(queue) = left == 0 ? 0 : std::min(delay, longest); }

    static uint32_t word(uint32_t queue) { return queue / 2; }
    // The periodic update of a pair.
    void update(uint32_t index) {
        Pair& p = pairs.at(index);
        const DualPi2Setting& c = aims.at(index);
        const int64_t delay = std::max(delays[2 * index], delays[2 * index + 1]);
        const int64_t sum = static_cast<int64_t>(p.prob) + alpha * (delay - c.target) + beta * (delay - p.delay_old);
        p.prob = !p.live || !c.enable ? 0 : static_cast<uint64_t>(std::clamp<int64_t>(sum, 0, kOne));
        p.coupled = std::min<uint64_t>(p.prob * coupling, kOne);
        p.squared = static_cast<uint64_t>(static_cast<unsigned __int128>(p.prob) * p.prob >> 32);
        p.no_marks = p.squared * coupling * coupling >= kOne;
        p.delay_old = delay;
        p.live = c.enable;
    }

  private:
    static constexpr uint64_t kOne = uint64_t{1} << 32;

    // laqm(): the L4S queue's own probability.
    uint64_t native(const DualPi2Setting& c, int64_t delay, uint32_t left) const {
        const int64_t over = delay - static_cast<int64_t>(c.threshold);
        if (over < 0 || left == 0) return 0;
        return ramp_log2 == 0 || over >= int64_t{1} << ramp_log2 ? kOne : static_cast<uint64_t>(over) << (32 - ramp_log2);
    }
    static bool recur(uint64_t& count, uint64_t likelihood) {
        count += likelihood;
        if (count <= kOne) return false;
        count -= kOne;
        return true;
    }

    std::vector<DualPi2Setting> settings, aims;
    std::vector<Pair> pairs;
    std::vector<int64_t> delays;
    std::vector<uint64_t> counts;
    int64_t alpha, beta;
    uint64_t coupling;
    uint32_t ramp_log2;
    int64_t longest;
};

}  // namespace penstock
