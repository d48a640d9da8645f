// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_pie: PIE (RFC 8033) with time stamps and de-randomisation. Probabilities are in 2^-32, times in ticks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../model/aqm_model.hpp"
#include "../../model/xorshift32.hpp"

namespace penstock {

struct PieSetting {
    bool enable = false, ecn = false;
    uint32_t target = 0, max_burst = 0;  // QDELAY_REF and MAX_BURST in ticks, below 2^(time_width - 8)
};

using PieRandom = XorShift32;  // one number per arrival

// What RFC 8033 recommends (sections 4.2 and 5.1), where a tick is 2^8 cycles at 220 MHz: as pst_aqm_pkg has it.
namespace pie_defaults {
inline constexpr int64_t kUpdateTicks = 12891;      // T_UPDATE: 15 ms
inline constexpr int64_t kAlpha = 625;              // 0.125 Hz, in 2^-32 per tick
inline constexpr int64_t kBeta = 6247;              // 1.25 Hz, in 2^-32 per tick
inline constexpr uint32_t kMeanPacketBytes = 1024;  // MEAN_PKTSIZE
}  // namespace pie_defaults

class Pie {
  public:
    struct State {
        bool live = false, ecn = false, active = false;
        uint64_t prob = 0, accu = 0;
        int64_t delay_old = 0, burst = 0, delay = 0;
    };

    explicit Pie(uint32_t queues, int64_t update_ticks = pie_defaults::kUpdateTicks, int64_t alpha = pie_defaults::kAlpha,
                 int64_t beta = pie_defaults::kBeta, uint32_t mean_packet_bytes = pie_defaults::kMeanPacketBytes, int time_width = 26)
        : settings(queues),
          states(queues),
          update_ticks(update_ticks),
          alpha(alpha),
          beta(beta),
          mean_packet(mean_packet_bytes),
          longest((int64_t{1} << (time_width - 6)) - 1) {}

    // The word that the updates of a queue are of, and one of them, with the latest delay that depart() has kept.
    static uint32_t word(uint32_t queue) { return queue; }
    void update(uint32_t word) { update(word, states.at(word).delay); }

    void set(uint32_t queue, const PieSetting& s) { settings.at(queue) = s; }
    const State& state(uint32_t queue) const { return states.at(queue); }

    // Judges an arrival; `backlog`: bytes in the queue before it, `random`: the number drawn for it.
    AqmVerdict arrive(uint32_t queue, uint32_t backlog, bool ect, uint32_t random) {
        State& s = states.at(queue);
        if (!s.active || backlog <= 2 * mean_packet) return AqmVerdict::Pass;
        s.accu = s.prob == 0 ? 0 : s.accu + s.prob;
        if (!(random < s.prob && s.accu >= kAccuLow) && s.accu < kAccuHigh) return AqmVerdict::Pass;
        s.accu = 0;
        return s.ecn && ect && s.prob <= kTenth ? AqmVerdict::Mark : AqmVerdict::Drop;
    }

    // A packet departs after `delay` ticks and leaves `left` bytes behind.
    void depart(uint32_t queue, int64_t delay, uint32_t left) { states.at(queue).delay = left == 0 ? 0 : std::min(delay, longest); }

    // The periodic update of one queue; `delay`: the latest of its departures, as depart() has kept it.
    void update(uint32_t queue, int64_t delay) {
        const PieSetting& c = settings.at(queue);
        State& s = states.at(queue);
        const bool start = !s.live || !c.enable;
        const bool low = 2 * delay < c.target, calm = low && 2 * s.delay_old < c.target;
        int64_t step = alpha * (delay - c.target) + beta * (delay - s.delay_old);
        if (s.prob >= kTune[5] && step > kFiftieth)
            step = kFiftieth;
        else
            step >>= scale(s.prob);
        const int64_t sum = static_cast<int64_t>(s.prob) + step;
        s.prob = static_cast<uint64_t>(std::clamp<int64_t>(sum, 0, 0xFFFFFFFF));
        if (delay == 0 && s.delay_old == 0) s.prob -= s.prob >> 6;
        if (start) s.prob = 0;
        s.burst = start || (calm && s.prob == 0) ? c.max_burst : std::max<int64_t>(0, s.burst - update_ticks);
        s.active = c.enable && s.burst == 0 && !(low && s.prob < kFifth);
        s.delay_old = delay;
        s.live = c.enable;
        s.ecn = c.ecn;
    }

  private:
    // In 2^-32: 10^-6 .. 10^-1 and 0.2 rounded up, 0.1 and 0.02 rounded down, 0.85 rounded up, 8.5.
    static constexpr uint64_t kTune[] = {4295, 42950, 429497, 4294968, 42949673, 429496730};
    static constexpr uint64_t kFifth = 858993460, kTenth = 429496729, kAccuLow = 3650722202, kAccuHigh = 36507222016;
    static constexpr int64_t kFiftieth = 85899345;

    static int scale(uint64_t prob) {
        constexpr int kShift[] = {11, 9, 7, 5, 3, 1};
        for (int i = 0; i < 6; i++)
            if (prob < kTune[i]) return kShift[i];
        return 0;
    }

    std::vector<PieSetting> settings;
    std::vector<State> states;
    int64_t update_ticks, alpha, beta;
    uint32_t mean_packet;
    int64_t longest;
};

}  // namespace penstock
