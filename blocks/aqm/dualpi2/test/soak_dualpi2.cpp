// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_dualpi2 against its model: a look in nearly every cycle, every verdict and the turn of every update compared.
//
// Arguments (name=value): queues, width (TimeWidth), update (UpdateTicks), alpha, beta, coupling, ramp (RampLog2), operations, seed, tick
// (cycles of a tick), idle (permille of cycles without a look), spacing (cycles between two looks at one queue, at least 4), settings
// (permille of cycles in which a setting is written), resets. Prints operations=, cycles=, updates=, and of Classic and L4S queues how many
// passed, were marked and dropped: cpass=, cmark=, cdrop=, lpass=, lmark=, ldrop=; saturated= (verdicts while p_CL is 1).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aqm/dualpi2/model/dualpi2.hpp"
#include "aqm/test/soak.hpp"

namespace {

class Bench final : public penstock::soak::Bench {
  public:
    using penstock::soak::Bench::Bench;

  private:
    static constexpr int kReadAhead = 7;  // cycles between the update's reading and its writing
    static constexpr uint64_t kOne = uint64_t{1} << 32;

    void report() const override {
        std::printf("operations=%" PRIu64 " cycles=%" PRIu64 " updates=%" PRIu64 " cpass=%" PRIu64 " cmark=%" PRIu64 " cdrop=%" PRIu64
                    " lpass=%" PRIu64 " lmark=%" PRIu64 " ldrop=%" PRIu64 " saturated=%" PRIu64 "\n",
                    operations, now, updates, verdicts[0][0], verdicts[0][1], verdicts[0][2], verdicts[1][0], verdicts[1][1],
                    verdicts[1][2], saturated);
    }

    void reset() override {
        restart();
        begun = tick();
        model = std::make_unique<penstock::DualPi2>(queues, args["alpha"], args["beta"], args["coupling"], args["ramp"], width);
        events.clear();
        taken.clear();
        level.assign(queues, 0);
        target.assign(queues, 1);
        ready.assign(queues, 0);
        updated.assign(queues / 2, 0);
        for (uint32_t q = 0; q < queues; q++) {
            if (rng() % 8) configure(q);  // the others are as reset leaves them
            cycle();
        }
    }

    void configure(uint32_t queue) {
        const uint32_t span = 1u << (width - 8);
        penstock::DualPi2Setting s;
        s.enable = rng() % 16 != 0;
        s.ecn = rng() % 8 != 0;
        s.target = 1 + rng() % (span / 2);
        s.threshold = rng() % (span / 2);
        top->s_cfg_valid_i = 1;
        top->s_cfg_queue_i = queue;
        top->s_cfg_i = uint64_t{s.enable} << 37 | uint64_t{s.ecn} << 36 | uint64_t{s.target} << 18 | s.threshold;
        events.push_back({now, queue, true, s, 0, 0});
        model->judge_by(queue, s);  // looks of this cycle and later have it
        target[queue] = queue % 2 ? s.threshold + (1u << args["ramp"]) / 2 : s.target;
    }

    void cycle() override {
        if (!top->s_cfg_valid_i && rng() % 1000 < args["settings"]) configure(rng() % queues);
        top->now_i = static_cast<uint64_t>(tick() & (range() - 1));
        top->s_look_valid_i = 0;
        top->eval();

        // An update that is written now has read its pair's delays and setting some cycles ago.
        while (!events.empty() && events.front().cycle + kReadAhead <= now) {
            const auto& e = events.front();
            if (e.is_setting)
                model->set(e.queue, e.setting);
            else
                model->depart(e.queue, e.delay, e.left);
            events.pop_front();
        }
        if (top->ev_update_valid_o) {
            const uint32_t pair = top->ev_update_pair_o;
            model->update(pair);
            updated[pair]++;
            updates++;
            const int64_t due = (tick() - begun) / static_cast<int64_t>(args["update"]);
            if (updated[pair] > due || updated[pair] + 1 < due) fail("pair " + std::to_string(pair) + " is updated out of turn");
        }

        if (rng() % 1000 >= args["idle"]) look();
        top->s_take_valid_i = 0;
        if (!taken.empty() && taken.front().cycle == now) {
            const auto& t = taken.front();
            top->s_take_valid_i = t.is_taken;
            top->s_take_queue_i = t.queue;
            top->s_take_delay_i = t.delay;
            top->s_take_left_i = t.left;
            top->s_take_ect_i = t.ect;
            if (t.is_taken) events.push_back({now + 1, t.queue, false, {}, t.delay, t.left});
            taken.pop_front();
        }
        std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.cycle < b.cycle; });
        compare();
        step();
        top->s_cfg_valid_i = 0;
    }

    // A look, and what will be taken two cycles later: the model judges it now, with what the look reads.
    void look() {
        const uint32_t queue = rng() % queues;
        if (ready[queue] > now) return;
        ready[queue] = now + args["spacing"];
        const int64_t longest = range() - 1;
        const bool l4s = queue % 2, is_taken = rng() % 16 != 0;
        int64_t& l = level[queue];
        // The delay of a Classic queue wanders above its target for a time, then below; that of an L4S queue about its ramp, and far above.
        const int64_t wander = target[queue] / (l4s ? 4 : 64) + 1, phase = static_cast<int64_t>(now / 131072 % 3);
        l += static_cast<int64_t>(rng() % (2 * wander + 1)) - wander;
        l = l4s ? std::clamp<int64_t>(l, 0, 2 * target[queue] + 2)
                : std::clamp<int64_t>(l, phase ? target[queue] : 0, phase == 1 ? 6 * target[queue] : 2 * target[queue]);
        if (rng() % 65536 == 0) l = rng() % 2 ? 0 : longest;
        const uint32_t left = rng() % 256 ? 1 + rng() % 9999 : 0;
        const int64_t delay = std::min(l, longest);
        const bool ect = rng() % 4 != 0;
        top->s_look_valid_i = 1;
        top->s_look_queue_i = queue;
        taken.push_back({now + 2, queue, is_taken, delay, left, ect});
        if (!is_taken) return;
        saturated += model->pair(queue / 2).coupled == kOne;
        const auto verdict = model->judge(queue, delay, left, ect);
        expected.push_back({now + 4, queue, static_cast<int>(verdict)});
        verdicts[l4s][static_cast<int>(verdict)]++;
        operations++;
    }

    struct Event {  // a setting or a departure, and the cycle in which it is written
        uint64_t cycle;
        uint32_t queue;
        bool is_setting;
        penstock::DualPi2Setting setting;
        int64_t delay;
        uint32_t left;
    };
    struct Taken {
        uint64_t cycle;
        uint32_t queue;
        bool is_taken;
        int64_t delay;
        uint32_t left;
        bool ect;
    };
    uint64_t updates = 0, saturated = 0, verdicts[2][3] = {};
    int64_t begun = 0;
    std::unique_ptr<penstock::DualPi2> model;
    std::deque<Event> events;
    std::deque<Taken> taken;
    std::vector<int64_t> level, updated, target;
    std::vector<uint64_t> ready;
};

}  // namespace

int main(int argc, char** argv) {
    Bench(penstock::soak::arguments(argc, argv)).run();
    return 0;
}
