// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_cobalt against its model: a packet every cycle (or as often as asked), every verdict compared.
//
// Arguments (name=value): queues, width (TimeWidth), operations, seed, spacing (cycles between two looks at one queue, at least 9), tick
// (cycles of a tick), idle (permille of cycles without a look), pause (permille of operations after which a queue rests for up to three
// times the range of its times), settings (permille of cycles in which a setting is written), resets.
// Prints operations=, cycles=, passed=, marked=, dropped=, unlucky= (BLUE's drops), downs= (steps down of count), fulls=, highest= (count),
// rested= (longest rest in ticks).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <utility>

#include "aqm/cobalt/model/cobalt.hpp"
#include "aqm/test/soak.hpp"

namespace {

class Bench final : public penstock::soak::Departures<penstock::CobaltSetting> {
  public:
    using Departures::Departures;

  private:
    void begin() override {
        model = std::make_unique<penstock::Cobalt>(queues, penstock::soak::kMaxPacketBytes, width);
        random = {};
    }

    penstock::CobaltSetting draw() override {
        const uint32_t span = 1u << (width - 8);
        penstock::CobaltSetting s;
        s.enable = rng() % 16 != 0;
        s.ecn = rng() % 2;
        const uint32_t longest[] = {6, 40, 250, 2000};
        s.interval = 1 + rng() % std::min(span - 1, longest[rng() % 4]);
        s.target = rng() % (s.interval + 1);
        s.full_log2 = rng() % 4 ? 13 : rng() % 32;
        return s;
    }

    uint64_t word(const penstock::CobaltSetting& s) const override {
        return uint64_t{s.enable} << 37 | uint64_t{s.ecn} << 36 | uint64_t{s.target} << 22 | uint64_t{s.interval} << 5 | s.full_log2;
    }
    void set(uint32_t queue, const penstock::CobaltSetting& s) override { model->set(queue, s); }
    int state(uint32_t queue) const override { return static_cast<int>(model->state(queue).dropping); }
    void no_take() override { top->s_take_delay_i = rng() & (range() - 1); }

    penstock::AqmVerdict take(uint32_t queue) override {
        const auto& s = settings[queue];
        // Above the target for a time, then below: count rises and falls.
        const bool high = (now / 4096 + queue) % 3 != 0;
        int64_t delay = high ? static_cast<int64_t>(s.target) + 1 + rng() % (s.interval + 1) : rng() % (s.target + 1);
        if (rng() % 64 == 0) delay = rng() % (s.target + 2);
        if (rng() % 4096 == 0) delay = rng() % range();
        // Now full, now empty, and often around the one packet that is left alone.
        const uint32_t most = penstock::soak::kMaxPacketBytes;
        const bool brim = (now / 16384 + queue) % 4 == 0;
        uint32_t left = brim ? 6000 + rng() % 6000 : most + 1 + rng() % 4000;
        if (rng() % 32 == 0) left = rng() % 2 ? 0 : most - 1 + rng() % 3;
        const bool ect = rng() % 3 == 0;
        const uint32_t drawn = random.next();
        const auto before = model->state(queue);
        const auto verdict = model->step(queue, tick(), delay, left, ect, drawn);
        const auto& after = model->state(queue);
        unlucky += s.enable && drawn >> 20 < before.p_drop && left;
        downs += after.count + 1 == before.count;
        fulls += s.enable && left >> s.full_log2;
        highest = std::max<uint64_t>(highest, after.count);
        top->s_take_queue_i = queue;
        top->s_take_delay_i = static_cast<uint64_t>(delay);
        top->s_take_left_i = left;
        top->s_take_ect_i = ect;
        return verdict;
    }

    void report() const override {
        std::printf("operations=%" PRIu64 " cycles=%" PRIu64 " passed=%" PRIu64 " marked=%" PRIu64 " dropped=%" PRIu64 " unlucky=%" PRIu64
                    " downs=%" PRIu64 " fulls=%" PRIu64 " highest=%" PRIu64 " rested=%" PRIu64 "\n",
                    operations, now, verdicts[0], verdicts[1], verdicts[2], unlucky, downs, fulls, highest, rested);
    }

    uint64_t unlucky = 0, downs = 0, fulls = 0, highest = 0;
    std::unique_ptr<penstock::Cobalt> model;
    penstock::XorShift32 random;
};

}  // namespace

int main(int argc, char** argv) {
    Bench(penstock::soak::arguments(argc, argv)).run();
    return 0;
}
