// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_cobalt: COBALT, one operation a packet. Times are ticks and never wrap here (the RTL keeps them modulo 2^time_width, and
// marks what grows old); decisions are those of the RTL.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../codel/model/inverse_sqrt.hpp"
#include "../../model/aqm_model.hpp"
#include "../../model/xorshift32.hpp"

namespace penstock {

struct CobaltSetting {
    bool enable = false, ecn = false;
    uint32_t target = 0, interval = 1;  // ticks
    uint32_t full_log2 = 17;            // of the bytes with which a queue counts as full

    // Of the setting word: 14, 17 and 5 bits.
    static CobaltSetting of(const AqmSetting& s) { return {s.enable, s.ecn, s.field(22, 14), s.field(5, 17), s.field(0, 5)}; }
};

class Cobalt final : public AqmModel {
  public:
    struct State {
        bool dropping = false, rested = true;  // rested: BLUE's timer is longer ago than the target
        uint32_t count = 0, p_drop = 0;        // p_drop in 2^-12
        int64_t drop_next = INT64_MIN / 2, blue_timer = 0;
    };

    explicit Cobalt(uint32_t queues, uint32_t max_packet_bytes = 1514, int time_width = 26)
        : settings(queues), states(queues), given(queues), max_packet(max_packet_bytes), max_lag(int64_t{1} << (time_width - 4)) {}

    // As a device has it.
    Cobalt(uint32_t queues, const AqmNumbers& numbers)
        : Cobalt(queues, static_cast<uint32_t>(numbers["max_packet_bytes"]), static_cast<int>(numbers["time_width"])) {}
    void set(int64_t /*cycle*/, uint32_t queue, const AqmSetting& s) override {
        given.at(queue) = s;
        set(queue, CobaltSetting::of(s));
    }
    AqmSetting setting(uint32_t queue) const override { return given.at(queue); }
    AqmVerdict departs(const AqmDeparture& p) override { return step(p.queue, p.now, p.sojourn, p.left, p.ect, random.next()); }

    void set(uint32_t queue, const CobaltSetting& s) { settings.at(queue) = s; }
    const State& state(uint32_t queue) const { return states.at(queue); }

    // Judges the packet at the head of `queue` at tick `now`. `left`: bytes behind it; `drawn`: the random number of this packet.
    AqmVerdict step(uint32_t queue, int64_t now, int64_t sojourn, uint32_t left, bool ect, uint32_t drawn) {
        const CobaltSetting& c = settings.at(queue);
        State& s = states.at(queue);
        const int64_t target = c.target, lag = now - s.drop_next;
        const bool fresh = lag >= max_lag;
        if (!c.enable) {
            s = {false, s.rested || now - s.blue_timer > target, 0, 0, now + c.interval, s.blue_timer};
            return AqmVerdict::Pass;
        }
        if (fresh) s.count = 0, s.dropping = false;

        // cobalt_should_drop()
        AqmVerdict verdict = AqmVerdict::Pass;
        const bool over = sojourn > target && left > max_packet, due = s.count > 0 && lag >= 0;
        const bool unlucky = drawn >> 20 < s.p_drop && left > 0;
        if (over && !s.dropping) {
            s.count = std::max<uint32_t>(s.count, 1);
            s.drop_next = lag > 0 && !unlucky ? now : now + control_law_step(c.interval, s.count);
        } else if (over && due) {
            verdict = ect && c.ecn ? AqmVerdict::Mark : AqmVerdict::Drop;
            s.count = std::min<uint32_t>(s.count + 1, 65535);
            s.drop_next += control_law_step(c.interval, s.count);
            if (verdict == AqmVerdict::Mark && !unlucky) s.drop_next = std::max(s.drop_next, now);
        } else if (!over && due) {
            --s.count;
            s.drop_next += control_law_step(c.interval, s.count);
        }
        s.dropping = over;
        if (unlucky) verdict = AqmVerdict::Drop;
        if (s.count == 0) s.drop_next = now + c.interval;

        // BLUE: cobalt_queue_full(), cobalt_queue_empty()
        s.rested = s.rested || now - s.blue_timer > target;
        if (left >> c.full_log2) {
            if (s.rested) s.p_drop = std::min<uint32_t>(s.p_drop + kMore, kMost), s.blue_timer = now, s.rested = false;
            s.dropping = true;
            s.drop_next = now;
            s.count = std::max<uint32_t>(s.count, 1);
        } else if (left == 0 && s.p_drop && s.rested) {
            s.p_drop -= kLess, s.blue_timer = now, s.rested = false;
        }
        return verdict;
    }

  private:
    static constexpr uint32_t kMore = 16, kLess = 1, kMost = 4095;  // 2^-8 and 2^-12, as CAKE has them

    std::vector<CobaltSetting> settings;
    std::vector<State> states;
    std::vector<AqmSetting> given;  // as they were set
    XorShift32 random;
    uint32_t max_packet;
    int64_t max_lag;
};

}  // namespace penstock
