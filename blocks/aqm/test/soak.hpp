// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak benches of the AQMs that see departures: clock, reset, arguments and the comparison of verdicts (Bench), and for CoDel and COBALT
// the order in which queues are looked at (Departures).
#pragma once

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
#include <utility>
#include <vector>

#include "Vtop.h"
#include "aqm/model/aqm_model.hpp"
#include "verilated.h"

namespace penstock::soak {

constexpr uint32_t kMaxPacketBytes = 1514;

using Arguments = std::map<std::string, uint64_t>;

// name=value of the command line.
inline Arguments arguments(int argc, char** argv) {
    Arguments args;
    for (int i = 1; i < argc; i++) {
        const char* equals = std::strchr(argv[i], '=');
        if (equals) args[std::string(argv[i], equals - argv[i])] = std::strtoull(equals + 1, nullptr, 10);
    }
    return args;
}

class Bench {
  public:
    explicit Bench(Arguments a) : args(std::move(a)), rng(args["seed"]), queues(args["queues"]), width(static_cast<int>(args["width"])) {}
    virtual ~Bench() = default;

    // `operations` of them, with `resets` resets in between.
    void run() {
        const uint64_t rounds = args["resets"] + 1;
        for (uint64_t round = 0; round < rounds; round++) {
            reset();
            const uint64_t until = operations + args["operations"] / rounds;
            while (operations < until) cycle();
        }
        report();
    }

  protected:
    // What the model has said of a packet, and in which cycle the RTL says it. For the message: the queue's state before, and its rest.
    struct Verdict {
        uint64_t due;
        uint32_t queue;
        int verdict;
        int state = 0;
        int64_t rest = 0;
    };

    virtual void reset() = 0;
    virtual void cycle() = 0;
    virtual void report() const = 0;

    [[noreturn]] void fail(const std::string& what) const {
        std::printf("cycle %" PRIu64 ": %s\n", now, what.c_str());
        std::exit(1);
    }

    int64_t range() const { return int64_t{1} << width; }  // of times
    int64_t tick() const { return static_cast<int64_t>(now / args.at("tick")); }

    void restart() {
        top->rst_i = 1;
        top->s_look_valid_i = top->s_take_valid_i = top->s_cfg_valid_i = 0;
        for (int i = 0; i < 3; i++) step();
        top->rst_i = 0;
        while (!top->init_done_o) step();
        expected.clear();
    }

    void compare() {
        top->eval();
        if (!expected.empty() && expected.front().due == now) {
            const Verdict e = expected.front();
            expected.pop_front();
            if (!top->m_deq_verdict_valid_o || top->m_deq_verdict_queue_o != e.queue || top->m_deq_verdict_o != e.verdict)
                fail("queue " + std::to_string(e.queue) + ": verdict " + std::to_string(top->m_deq_verdict_o) + ", model " +
                     std::to_string(e.verdict) + " (state " + std::to_string(e.state) + ", rest " + std::to_string(e.rest) + ")");
        } else if (top->m_deq_verdict_valid_o) {
            fail("a verdict without a packet");
        }
    }

    void step() {
        top->now_i = static_cast<uint64_t>(tick() & (range() - 1));
        top->clk_i = 0;
        top->eval();
        top->clk_i = 1;
        top->eval();
        if (Verilated::gotFinish()) fail("assertion");
        now++;
    }

    std::unique_ptr<Vtop> top = std::make_unique<Vtop>();
    Arguments args;
    std::mt19937 rng;
    uint32_t queues;
    int width;
    uint64_t now = 0, operations = 0;
    std::deque<Verdict> expected;
};

// A packet every cycle (or as often as asked), of queues that come again `spacing` cycles later or, after a rest, up to three times the
// range of times later. Settings change in between.
template <class Setting>
class Departures : public Bench {
  public:
    using Bench::Bench;

  protected:
    virtual void begin() = 0;                                             // a new model
    virtual Setting draw() = 0;                                           // a setting
    virtual uint64_t word(const Setting& s) const = 0;                    // as the RTL has it
    virtual void set(uint32_t queue, const Setting& s) = 0;               // the model's
    virtual void no_take() = 0;                                           // anything on the ports of a take that is none
    virtual AqmVerdict take(uint32_t queue) = 0;                          // a packet on these ports, and the model's verdict
    virtual int state(uint32_t queue) const = 0;                          // for messages
    virtual bool hurries(AqmVerdict /*verdict*/) const { return false; }  // the queue comes again before others

    void reset() override {
        restart();
        begin();
        settings.assign(queues, {});
        last.assign(queues, tick());
        looks.clear();
        applied.clear();
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
        const Setting s = draw();
        top->s_cfg_valid_i = 1;
        top->s_cfg_queue_i = queue;
        top->s_cfg_i = word(s);
        settings[queue] = s;
        // A look in this cycle or later sees it; takes of the last two cycles still have the old one.
        applied.push_back({now, queue, s});
    }

    void cycle() override {
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
        no_take();
        if (!looks.empty() && looks.front().first + 2 == now) {
            while (!applied.empty() && applied.front().cycle <= now - 2) {
                set(applied.front().queue, applied.front().setting);
                applied.pop_front();
            }
            const uint32_t queue = looks.front().second;
            looks.pop_front();
            uint64_t rest = args["spacing"];
            const bool hurried = rng() % 16 && hurries(judge(queue));
            if (rng() % 1000 < args["pause"]) rest += rng() % (rng() % 4 ? range() / 256 : 3 * range()) * args["tick"];
            const uint64_t again = now - 2 + rest;
            if (hurried && rest == args["spacing"])
                rounds.push_back({again, queue});
            else
                resting.push({again, queue});
        }
        full = top->s_take_valid_i ? full + 1 : 0;
        fullest = std::max(fullest, full);
        compare();
        step();
    }

    std::vector<Setting> settings;
    uint64_t verdicts[3] = {}, rested = 0, full = 0, fullest = 0;

  private:
    AqmVerdict judge(uint32_t queue) {
        const int64_t rest = tick() - last[queue];
        const int before = state(queue);
        const AqmVerdict verdict = take(queue);
        rested = std::max<uint64_t>(rested, rest);
        last[queue] = tick();
        expected.push_back({now + 2, queue, static_cast<int>(verdict), before, rest});
        verdicts[static_cast<int>(verdict)]++;
        operations++;
        top->s_take_valid_i = 1;
        return verdict;
    }

    struct Applied {
        uint64_t cycle;
        uint32_t queue;
        Setting setting;
    };
    using Rest = std::pair<uint64_t, uint32_t>;  // the cycle in which the queue may be looked at again

    std::vector<int64_t> last;
    std::deque<std::pair<uint64_t, uint32_t>> looks;
    std::deque<Applied> applied;
    std::deque<uint32_t> ready;
    std::deque<Rest> rounds;  // queues that come again, in order of time
    std::priority_queue<Rest, std::vector<Rest>, std::greater<>> resting;
};

}  // namespace penstock::soak
