// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_codel against its model: a packet every cycle (or as often as asked), every verdict compared.
//
// Arguments (name=value): queues, width (TimeWidth), estimate, operations, seed, spacing (cycles between two looks at one queue, at
// least 9), tick (cycles of a tick), idle (permille of cycles without a look), pause (permille of operations after which a queue rests for
// up to three times the range of its times), settings (permille of cycles in which a setting is written), resets, steady (so many
// operations every queue stays above its target, with intervals of 2,000 ticks: drops and marks go on and on).
// Packets have delays around the target, and now and then no more than one packet behind them.
// Prints operations=, cycles=, passed=, marked=, dropped=, rounds= (drops that followed a drop in the same round), reentries= (entries
// with count above 1), rested= (longest rest in ticks), fullest= (longest run of cycles with a packet each),
// saturated= (drops and marks while count is as large as it can be).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <utility>

#include "aqm/codel/model/codel.hpp"
#include "aqm/test/soak.hpp"

namespace {

using penstock::AqmVerdict;
using Mode = penstock::Codel::Mode;

class Bench final : public penstock::soak::Departures<penstock::CodelSetting> {
  public:
    using Departures::Departures;

  private:
    void begin() override {
        model = std::make_unique<penstock::Codel>(queues, penstock::soak::kMaxPacketBytes, args["estimate"] != 0, width,
                                                  static_cast<uint32_t>(args["guard"]));
    }

    penstock::CodelSetting draw() override {
        const uint32_t span = 1u << (width - 8);
        penstock::CodelSetting s;
        s.enable = rng() % 16 != 0;
        s.ecn = rng() % 2;
        const uint32_t longest[] = {6, 40, 250, span - 1};
        s.interval = 1 + rng() % std::min(span - 1, longest[rng() % 4]);
        if (args["steady"]) {
            s.enable = true;
            s.interval = 2000;  // drop_next has hardly fallen behind when count comes to its end, so a wrong step of it is soon seen
        }
        s.target = rng() % (s.interval + 1);
        return s;
    }

    uint64_t word(const penstock::CodelSetting& s) const override {
        return uint64_t{s.enable} << 37 | uint64_t{s.ecn} << 36 | uint64_t{s.target} << 18 | s.interval;
    }
    void set(uint32_t queue, const penstock::CodelSetting& s) override { model->set(queue, s); }
    int state(uint32_t queue) const override { return static_cast<int>(model->state(queue).mode); }
    void no_take() override { top->s_take_time_i = rng() & (range() - 1); }
    bool hurries(AqmVerdict verdict) const override { return verdict == AqmVerdict::Drop; }  // a round

    AqmVerdict take(uint32_t queue) override {
        const auto& s = settings[queue];
        // Below target once in a while: now and then in two thirds of the queues, rarely in the others.
        int64_t delay = static_cast<int64_t>(s.target) + (rng() % 4 ? rng() % (s.interval + 1) : rng() % 2);
        if (rng() % (queue % 3 ? 40 : 400) == 0) delay -= 1 + rng() % (s.interval + 2);
        if (rng() % 4096 == 0) delay = rng() % (range() / 2);
        const bool steady = operations < args["steady"];
        if (steady) delay = s.target + rng() % 2;
        delay = std::max<int64_t>(delay, 0);
        const auto before = model->state(queue);
        // A round's packets were there when it began; now and then one comes later.
        const bool in_round = before.mode == Mode::Entered || before.mode == Mode::Loop;
        const int64_t time = args["estimate"] ? delay : (in_round && (steady || rng() % 256) ? before.round : tick()) - delay;
        const uint32_t most = penstock::soak::kMaxPacketBytes;
        const uint32_t left = steady || rng() % 64 ? most + 1 + rng() % 4000 : most - rng() % 3;
        const bool ect = rng() % 3 == 0;
        const auto verdict = model->step(queue, tick(), time, left, ect);
        const auto& after = model->state(queue);
        in_rounds += verdict == AqmVerdict::Drop && before.mode == Mode::Loop;
        reentries += verdict != AqmVerdict::Pass && before.mode == Mode::Above && after.count > 1;
        saturated += verdict != AqmVerdict::Pass && before.count == 0xFFFF && before.mode != Mode::Above;
        top->s_take_time_i = static_cast<uint64_t>(time) & (range() - 1);
        top->s_take_left_i = left;
        top->s_take_ect_i = ect;
        return verdict;
    }

    void report() const override {
        std::printf("operations=%" PRIu64 " cycles=%" PRIu64 " passed=%" PRIu64 " marked=%" PRIu64 " dropped=%" PRIu64 " rounds=%" PRIu64
                    " reentries=%" PRIu64 " rested=%" PRIu64 " fullest=%" PRIu64 " saturated=%" PRIu64 "\n",
                    operations, now, verdicts[0], verdicts[1], verdicts[2], in_rounds, reentries, rested, fullest, saturated);
    }

    uint64_t in_rounds = 0, reentries = 0, saturated = 0;
    std::unique_ptr<penstock::Codel> model;
};

}  // namespace

int main(int argc, char** argv) {
    Bench(penstock::soak::arguments(argc, argv)).run();
    return 0;
}
