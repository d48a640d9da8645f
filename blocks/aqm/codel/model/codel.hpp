// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_codel: CoDel (RFC 8289), one operation a packet. Times are ticks and never wrap here (the RTL keeps them modulo
// 2^time_width, and marks what grows old); decisions are those of the RTL.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../model/aqm_model.hpp"
#include "inverse_sqrt.hpp"

namespace penstock {

struct CodelSetting {
    bool enable = false, ecn = false;
    uint32_t target = 0, interval = 0;  // ticks, below 2^(time_width - 8)
};

class Codel final : public AqmModel {
  public:
    enum class Mode : uint8_t { Below, Above, Dropping, DroppingBelow, Entered, Loop };

    struct State {
        Mode mode = Mode::Below;
        uint32_t count = 0, lastcount = 0;  // while not dropping: count is the RFC's count - lastcount
        int64_t first_above = 0, round = 0, drop_next = 0;
    };

    // guard_count: from so many marks and drops of one dropping state on packets are dropped even if they may be marked; 0: never.
    Codel(uint32_t queues, uint32_t max_packet_bytes = 1514, bool estimate = false, int time_width = 26, uint32_t guard_count = 0)
        : all(queues), max_packet(max_packet_bytes), estimate(estimate), width(time_width), guard(guard_count) {}

    // As a device has it.
    Codel(uint32_t queues, const AqmNumbers& numbers)
        : Codel(queues, static_cast<uint32_t>(numbers["max_packet_bytes"]), numbers["estimate"] != 0,
                static_cast<int>(numbers["time_width"]), static_cast<uint32_t>(numbers.get("guard_count", 0))) {}
    void set(int64_t /*cycle*/, uint32_t queue, const AqmSetting& s) override {
        set(queue, {s.enable, s.ecn, s.field(18, 18), s.field(0, 18)});
    }
    AqmSetting setting(uint32_t queue) const override {
        const CodelSetting& s = all.at(queue).setting;
        return {s.enable, s.ecn, static_cast<uint64_t>(s.target) << 18 | s.interval};
    }
    AqmVerdict departs(const AqmDeparture& p) override {
        return step(p.queue, p.now, estimate ? p.sojourn : p.now - p.sojourn, p.left, p.ect, all.at(p.setting).setting);
    }

    void set(uint32_t queue, const CodelSetting& s) { all.at(queue).setting = s; }
    const State& state(uint32_t queue) const { return all.at(queue).state; }

    // Judges the packet at the head of `queue` at tick `now`. `time`: tick of its enqueueing, or its delay when that is estimated;
    // `left`: bytes behind it; `ect`: it may be marked. After Drop the next call for the queue continues the round.
    AqmVerdict step(uint32_t queue, int64_t now, int64_t time, uint32_t left, bool ect) {
        return step(queue, now, time, left, ect, all.at(queue).setting);
    }
    AqmVerdict step(uint32_t queue, int64_t now, int64_t time, uint32_t left, bool ect, const CodelSetting& c) {
        Queue& q = all.at(queue);
        State& s = q.state;
        const bool in_round = s.mode == Mode::Entered || s.mode == Mode::Loop;
        const int64_t n = in_round ? now - ((now - s.round) & ((int64_t{1} << round_width()) - 1)) : now;
        const uint64_t delay = static_cast<uint64_t>(estimate ? time : n - time) & ((uint64_t{1} << width) - 1);
        const bool ok = delay >> (width - 1) == 0 && delay >= c.target && left > max_packet;
        const int64_t lag = n - s.drop_next;
        const bool guarded = guard && (s.mode == Mode::Dropping || s.mode == Mode::Loop) && s.count >= guard;
        const bool due = lag >= 0, recent = lag < 16 * int64_t{c.interval}, mark = ect && c.ecn && !guarded;
        const AqmVerdict act = mark ? AqmVerdict::Mark : AqmVerdict::Drop;
        const int64_t max_lag = int64_t{1} << (width - 4), clamped = std::max(s.drop_next, n - max_lag);

        if (!c.enable) {
            s.mode = Mode::Below;
            s.count = 0;
            return AqmVerdict::Pass;
        }
        switch (s.mode) {
            case Mode::Below:
            case Mode::Above:
                if (!recent) s.count = 0;
                if (!ok) {
                    s.mode = Mode::Below;
                } else if (s.mode == Mode::Below) {
                    s.mode = Mode::Above;
                    s.first_above = n + c.interval;
                } else if (n >= s.first_above) {
                    s.count = std::max<uint32_t>(s.count, 1);
                    s.lastcount = s.count;
                    s.drop_next = n + control_law_step(c.interval, s.count);
                    s.round = n;
                    s.mode = mark ? Mode::Dropping : Mode::Entered;
                    return act;
                }
                return AqmVerdict::Pass;
            case Mode::Entered:
                s.mode = ok ? Mode::Dropping : Mode::DroppingBelow;
                s.drop_next = clamped;
                return AqmVerdict::Pass;
            default:
                if (s.mode == Mode::DroppingBelow || !ok) {
                    if (s.mode == Mode::Loop) s.drop_next -= control_law_step(c.interval, s.count);
                    s.mode = ok ? Mode::Above : Mode::Below;
                    s.count -= s.lastcount;
                    s.first_above = n + c.interval;
                    return AqmVerdict::Pass;
                }
                s.mode = Mode::Dropping;
                if (!due) return AqmVerdict::Pass;
                s.count = std::min<uint32_t>(s.count + 1, 65535);
                s.drop_next = clamped + control_law_step(c.interval, s.count);
                s.round = n;
                if (!mark) s.mode = Mode::Loop;
                return act;
        }
    }

  private:
    struct alignas(64) Queue {  // one cache line
        CodelSetting setting;
        State state;
    };

    int round_width() const { return width > 20 ? width - 16 : 4; }

    std::vector<Queue> all;
    uint32_t max_packet;
    bool estimate;
    int width;
    uint32_t guard;
};

}  // namespace penstock
