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
#include "aqm/cobalt/model/cobalt.hpp"
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
        std::printf("operations=%" PRIu64 " cycles=%" PRIu64 " passed=%" PRIu64 " marked=%" PRIu64 " dropped=%" PRIu64 " unlucky=%" PRIu64
                    " downs=%" PRIu64 " fulls=%" PRIu64 " highest=%" PRIu64 " rested=%" PRIu64 "\n",
                    operations, now, verdicts[0], verdicts[1], verdicts[2], unlucky, downs, fulls, highest, rested);
    }

  private:
    int64_t tick_of(uint64_t cycle) const { return static_cast<int64_t>(cycle / args.at("tick")); }

    void reset() {
        top->rst_i = 1;
        top->s_look_valid_i = top->s_take_valid_i = top->s_cfg_valid_i = 0;
        for (int i = 0; i < 3; i++) step();
        top->rst_i = 0;
        while (!top->init_done_o) step();
        model = std::make_unique<penstock::Cobalt>(queues, kMaxPacketBytes, width);
        random = {};
        settings.assign(queues, {});
        last.assign(queues, tick_of(now));
        looks.clear();
        expected.clear();
        ready.clear();
        applied.clear();
        resting = {};
        for (uint32_t q = 0; q < queues; q++) {
            top->s_cfg_valid_i = 0;
            if (rng() % 8) configure(q);  // the others are as reset leaves them
            step();
        }
        top->s_cfg_valid_i = 0;
        for (uint32_t q = 0; q < queues; q++) ready.push_back(q);
        std::shuffle(ready.begin(), ready.end(), rng);
    }

    void configure(uint32_t queue) {
        const uint32_t span = 1u << (width - 8);
        penstock::CobaltSetting s;
        s.enable = rng() % 16 != 0;
        s.ecn = rng() % 2;
        const uint32_t longest[] = {6, 40, 250, 2000};
        s.interval = 1 + rng() % std::min(span - 1, longest[rng() % 4]);
        s.target = rng() % (s.interval + 1);
        s.full_log2 = rng() % 4 ? 13 : rng() % 32;
        top->s_cfg_valid_i = 1;
        top->s_cfg_queue_i = queue;
        top->s_cfg_i =
            uint64_t{s.enable} << 37 | uint64_t{s.ecn} << 36 | uint64_t{s.target} << 22 | uint64_t{s.interval} << 5 | s.full_log2;
        settings[queue] = s;
        applied.push_back({now, queue, s});  // a look in this cycle or later sees it
    }

    void cycle() {
        const int64_t range = int64_t{1} << width;
        while (!resting.empty() && resting.top().first <= now) {
            ready.push_back(resting.top().second);
            resting.pop();
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
        top->s_take_delay_i = rng() & (range - 1);
        if (!looks.empty() && looks.front().first + 2 == now) {
            while (!applied.empty() && applied.front().cycle <= now - 2) {
                model->set(applied.front().queue, applied.front().setting);
                applied.pop_front();
            }
            const uint32_t queue = looks.front().second;
            looks.pop_front();
            uint64_t rest = args["spacing"];
            if (rng() % 16) take(queue);
            if (rng() % 1000 < args["pause"]) rest += rng() % (rng() % 4 ? range / 256 : 3 * range) * args["tick"];
            resting.push({now - 2 + rest, queue});
        }
        top->eval();
        if (!expected.empty() && expected.front().due == now) {
            const auto e = expected.front();
            expected.pop_front();
            if (!top->m_deq_verdict_valid_o || top->m_deq_verdict_queue_o != e.queue || top->m_deq_verdict_o != e.verdict)
                fail(now, "queue " + std::to_string(e.queue) + ": verdict " + std::to_string(top->m_deq_verdict_o) + ", model " +
                              std::to_string(e.verdict) + " (rest " + std::to_string(e.rest) + ")");
        } else if (top->m_deq_verdict_valid_o) {
            fail(now, "a verdict without a packet");
        }
        step();
    }

    void take(uint32_t queue) {
        const int64_t tick = tick_of(now), range = int64_t{1} << width;
        const auto& s = settings[queue];
        // Above the target for a time, then below: count rises and falls.
        const bool high = (now / 4096 + queue) % 3 != 0;
        int64_t delay = high ? static_cast<int64_t>(s.target) + 1 + rng() % (s.interval + 1) : rng() % (s.target + 1);
        if (rng() % 64 == 0) delay = rng() % (s.target + 2);
        if (rng() % 4096 == 0) delay = rng() % range;
        // Now full, now empty, and often around the one packet that is left alone.
        const bool brim = (now / 16384 + queue) % 4 == 0;
        uint32_t left = brim ? 6000 + rng() % 6000 : kMaxPacketBytes + 1 + rng() % 4000;
        if (rng() % 32 == 0) left = rng() % 2 ? 0 : kMaxPacketBytes - 1 + rng() % 3;
        const bool ect = rng() % 3 == 0;
        const uint32_t drawn = random.next();
        const auto before = model->state(queue);
        const auto verdict = model->step(queue, tick, delay, left, ect, drawn);
        const auto& after = model->state(queue);
        const int64_t rest = tick - last[queue];
        rested = std::max<uint64_t>(rested, rest);
        last[queue] = tick;
        expected.push_back({now + 2, queue, static_cast<int>(verdict), rest});
        verdicts[static_cast<int>(verdict)]++;
        unlucky += s.enable && drawn >> 20 < before.p_drop && left;
        downs += after.count + 1 == before.count;
        fulls += s.enable && left >> s.full_log2;
        highest = std::max<uint64_t>(highest, after.count);
        operations++;
        top->s_take_valid_i = 1;
        top->s_take_queue_i = queue;
        top->s_take_delay_i = static_cast<uint64_t>(delay);
        top->s_take_left_i = left;
        top->s_take_ect_i = ect;
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
        penstock::CobaltSetting setting;
    };
    struct Verdict {
        uint64_t due;
        uint32_t queue;
        int verdict;
        int64_t rest;
    };
    using Rest = std::pair<uint64_t, uint32_t>;  // the cycle in which the queue may be looked at again

    std::unique_ptr<Vtop> top = std::make_unique<Vtop>();
    std::map<std::string, uint64_t> args;
    std::mt19937 rng;
    uint32_t queues;
    int width;
    uint64_t now = 0, operations = 0, verdicts[3] = {}, unlucky = 0, downs = 0, fulls = 0, highest = 0, rested = 0;
    std::unique_ptr<penstock::Cobalt> model;
    penstock::XorShift32 random;
    std::vector<penstock::CobaltSetting> settings;
    std::vector<int64_t> last;
    std::deque<std::pair<uint64_t, uint32_t>> looks;
    std::deque<Setting> applied;
    std::deque<Verdict> expected;
    std::deque<uint32_t> ready;
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
