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
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "Vtop.h"
#include "aqm/codel/model/codel.hpp"
#include "verilated.h"

namespace {

constexpr uint32_t kMaxPacketBytes = 1514;

[[noreturn]] void fail(uint64_t cycle, const std::string& what) {
    std::printf("cycle %" PRIu64 ": %s\n", cycle, what.c_str());
    std::exit(1);
}

class Bench {
  public:
    explicit Bench(std::map<std::string, uint64_t> a)
        : args(std::move(a)), rng(args["seed"]), queues(args["queues"]), width(static_cast<int>(args["width"])) {}

    void run() {
        const uint64_t rounds = args["resets"] + 1;
        for (uint64_t round = 0; round < rounds; round++) {
            reset();
            const uint64_t until = operations + args["operations"] / rounds;
            while (operations < until) cycle();
        }
        std::printf("operations=%" PRIu64 " cycles=%" PRIu64 " passed=%" PRIu64 " marked=%" PRIu64 " dropped=%" PRIu64 " rounds=%" PRIu64
                    " reentries=%" PRIu64 " rested=%" PRIu64 " fullest=%" PRIu64 " saturated=%" PRIu64 "\n",
                    operations, now, verdicts[0], verdicts[1], verdicts[2], in_rounds, reentries, rested, fullest, saturated);
    }

  private:
    int64_t tick_of(uint64_t cycle) const { return static_cast<int64_t>(cycle / args.at("tick")); }

    void reset() {
        top->rst_i = 1;
        top->s_look_valid_i = top->s_take_valid_i = top->s_cfg_valid_i = 0;
        for (int i = 0; i < 3; i++) step();
        top->rst_i = 0;
        while (!top->init_done_o) step();
        model =
            std::make_unique<penstock::Codel>(queues, kMaxPacketBytes, args["estimate"] != 0, width, static_cast<uint32_t>(args["guard"]));
        settings.assign(queues, {});
        last.assign(queues, tick_of(now));
        looks.clear();
        expected.clear();
        ready.clear();
        rounds.clear();
        resting = {};
        for (uint32_t q = 0; q < queues; q++) {
            top->s_cfg_valid_i = 0;
            if (rng() % 8) configure(q);  // the others are as reset leaves them
            step();
        }
        top->s_cfg_valid_i = 0;
        for (uint32_t q = 0; q < queues; q++) ready.push_back(q);
        std::shuffle(ready.begin(), ready.end(), rng);
        full = 0;
    }

    void configure(uint32_t queue) {
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
        top->s_cfg_valid_i = 1;
        top->s_cfg_queue_i = queue;
        top->s_cfg_i = uint64_t{s.enable} << 37 | uint64_t{s.ecn} << 36 | uint64_t{s.target} << 18 | s.interval;
        settings[queue] = s;
        // A look in this cycle or later sees it; takes of the last two cycles still have the old one.
        applied.push_back({now, queue, s});
    }

    void cycle() {
        const int64_t range = int64_t{1} << width;
        while (!resting.empty() && resting.top().first <= now) {
            ready.push_back(resting.top().second);
            resting.pop();
        }
        while (!rounds.empty() && rounds.front().first <= now) {
            ready.push_front(rounds.front().second);
            rounds.pop_front();
        }

        top->s_cfg_valid_i = 0;
        if (rng() % 1000 < args["settings"]) configure(!ready.empty() && rng() % 2 ? ready.front() : rng() % queues);

        top->s_look_valid_i = !ready.empty() && rng() % 1000 >= args["idle"];
        if (top->s_look_valid_i) {
            top->s_look_queue_i = ready.front();
            looks.push_back({now, ready.front()});
            ready.pop_front();
        } else {
            top->s_look_queue_i = rng() % queues;
        }

        // The model's turn comes with the take; settings written after the look do not count for it.
        top->s_take_valid_i = 0;
        top->s_take_time_i = rng() & (range - 1);
        if (!looks.empty() && looks.front().first + 2 == now) {
            while (!applied.empty() && applied.front().cycle <= now - 2) {
                model->set(applied.front().queue, applied.front().setting);
                applied.pop_front();
            }
            const uint32_t queue = looks.front().second;
            looks.pop_front();
            uint64_t rest = args["spacing"];
            // A queue whose packet is dropped comes back before the others.
            const bool hurried = rng() % 16 && take(queue) == penstock::AqmVerdict::Drop;
            if (rng() % 1000 < args["pause"]) rest += rng() % (rng() % 4 ? range / 256 : 3 * range) * args["tick"];
            const uint64_t again = now - 2 + rest;
            if (hurried && rest == args["spacing"])
                rounds.push_back({again, queue});
            else
                resting.push({again, queue});
        }
        full = top->s_take_valid_i ? full + 1 : 0;
        fullest = std::max(fullest, full);
        top->eval();
        if (!expected.empty() && expected.front().due == now) {
            const auto e = expected.front();
            expected.pop_front();
            if (!top->m_deq_verdict_valid_o || top->m_deq_verdict_queue_o != e.queue || top->m_deq_verdict_o != e.verdict)
                fail(now, "queue " + std::to_string(e.queue) + ": verdict " + std::to_string(top->m_deq_verdict_o) + ", model " +
                              std::to_string(e.verdict) + " (mode " + std::to_string(e.mode) + ", rest " + std::to_string(e.rest) + ")");
        } else if (top->m_deq_verdict_valid_o) {
            fail(now, "a verdict without a packet");
        }
        step();
    }

    penstock::AqmVerdict take(uint32_t queue) {
        const int64_t tick = tick_of(now), range = int64_t{1} << width;
        const auto& s = settings[queue];
        // Below target once in a while: now and then in two thirds of the queues, rarely in the others.
        int64_t delay = static_cast<int64_t>(s.target) + (rng() % 4 ? rng() % (s.interval + 1) : rng() % 2);
        if (rng() % (queue % 3 ? 40 : 400) == 0) delay -= 1 + rng() % (s.interval + 2);
        if (rng() % 4096 == 0) delay = rng() % (range / 2);
        const bool steady = operations < args["steady"];
        if (steady) delay = s.target + rng() % 2;
        delay = std::max<int64_t>(delay, 0);
        const auto before = model->state(queue);
        // A round's packets were there when it began; now and then one comes later.
        const bool in_round = before.mode == penstock::Codel::Mode::Entered || before.mode == penstock::Codel::Mode::Loop;
        const int64_t time = args["estimate"] ? delay : (in_round && (steady || rng() % 256) ? before.round : tick) - delay;
        const uint32_t left = steady || rng() % 64 ? kMaxPacketBytes + 1 + rng() % 4000 : kMaxPacketBytes - rng() % 3;
        const bool ect = rng() % 3 == 0;
        const auto verdict = model->step(queue, tick, time, left, ect);
        const auto& after = model->state(queue);
        const int64_t rest = tick - last[queue];
        rested = std::max<uint64_t>(rested, rest);
        last[queue] = tick;
        expected.push_back({now + 2, queue, static_cast<int>(verdict), static_cast<int>(before.mode), rest});
        verdicts[static_cast<int>(verdict)]++;
        in_rounds += verdict == penstock::AqmVerdict::Drop && before.mode == penstock::Codel::Mode::Loop;
        reentries += verdict != penstock::AqmVerdict::Pass && before.mode == penstock::Codel::Mode::Above && after.count > 1;
        saturated += verdict != penstock::AqmVerdict::Pass && before.count == 0xFFFF && before.mode != penstock::Codel::Mode::Above;
        operations++;
        top->s_take_valid_i = 1;
        top->s_take_time_i = static_cast<uint64_t>(time) & (range - 1);
        top->s_take_left_i = left;
        top->s_take_ect_i = ect;
        return verdict;
    }

    void step() {
        top->now_i = static_cast<uint64_t>(tick_of(now)) & ((int64_t{1} << width) - 1);
        top->clk_i = 0;
        top->eval();
        top->clk_i = 1;
        top->eval();
        if (Verilated::gotFinish()) fail(now, "assertion");
        now++;
    }

    struct Setting {
        uint64_t cycle;
        uint32_t queue;
        penstock::CodelSetting setting;
    };
    struct Verdict {
        uint64_t due;
        uint32_t queue;
        int verdict, mode;
        int64_t rest;
    };
    using Rest = std::pair<uint64_t, uint32_t>;  // the cycle in which the queue may be looked at again

    std::unique_ptr<Vtop> top = std::make_unique<Vtop>();
    std::map<std::string, uint64_t> args;
    std::mt19937 rng;
    uint32_t queues;
    int width;
    uint64_t now = 0, operations = 0, verdicts[3] = {}, in_rounds = 0, reentries = 0, rested = 0, full = 0, fullest = 0, saturated = 0;
    std::unique_ptr<penstock::Codel> model;
    std::vector<penstock::CodelSetting> settings;
    std::vector<int64_t> last;
    std::deque<std::pair<uint64_t, uint32_t>> looks;
    std::deque<Setting> applied;
    std::deque<Verdict> expected;
    std::deque<uint32_t> ready;
    std::deque<Rest> rounds;  // queues that come again, in order of time
    std::priority_queue<Rest, std::vector<Rest>, std::greater<>> resting;
};

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, uint64_t> args;
    for (int i = 1; i < argc; i++) {
        const char* equals = std::strchr(argv[i], '=');
        if (equals) args[std::string(argv[i], equals - argv[i])] = std::strtoull(equals + 1, nullptr, 10);
    }
    Bench(std::move(args)).run();
    return 0;
}
