// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_pie against its model: an arrival and a departure every cycle, every verdict and every update compared.
//
// Arguments (name=value): queues, width (TimeWidth), update (UpdateTicks), alpha, beta, mean (MeanPacketBytes), operations, seed, tick
// (cycles of a tick), idle (permille of cycles without an arrival), hot (number of queues that take most of the arrivals, so that
// neighbours meet), settings (permille of cycles in which a setting is written), resets, allowance (updates that the longest burst
// allowance lasts). Prints operations=, cycles=, passed=, marked=, dropped=, updates=, meetings= (arrivals of one queue within three
// cycles).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "Vtop.h"
#include "aqm/pie/model/pie.hpp"
#include "verilated.h"

namespace {

[[noreturn]] void fail(uint64_t cycle, const std::string& what) {
    std::printf("cycle %" PRIu64 ": %s\n", cycle, what.c_str());
    std::exit(1);
}

class Bench {
  public:
    explicit Bench(std::map<std::string, uint64_t> a) : args(std::move(a)), rng(args["seed"]), queues(args["queues"]) {}

    void run() {
        const uint64_t rounds = args["resets"] + 1;
        for (uint64_t round = 0; round < rounds; round++) {
            reset();
            const uint64_t until = operations + args["operations"] / rounds;
            while (operations < until) cycle();
        }
        std::printf("operations=%" PRIu64 " cycles=%" PRIu64 " passed=%" PRIu64 " marked=%" PRIu64 " dropped=%" PRIu64 " updates=%" PRIu64
                    " meetings=%" PRIu64 "\n",
                    operations, now, verdicts[0], verdicts[1], verdicts[2], updates, meetings);
    }

  private:
    static constexpr int kBacklog = 2;    // cycles after its arrival a packet's backlog is given
    static constexpr int kReadAhead = 7;  // cycles between the update's reading and its writing

    int64_t tick() const { return static_cast<int64_t>(now / args.at("tick")); }

    void reset() {
        top->rst_i = 1;
        top->s_enq_valid_i = top->s_take_valid_i = top->s_cfg_valid_i = 0;
        for (int i = 0; i < 3; i++) step();
        top->rst_i = 0;
        while (!top->init_done_o) step();
        begun = tick();
        model = std::make_unique<penstock::Pie>(queues, args["update"], args["alpha"], args["beta"], args["mean"],
                                                static_cast<int>(args["width"]));
        random = {};
        events.clear();
        expected.clear();
        backlogs.clear();
        level.assign(queues, 0);
        updated.assign(queues, 0);
        recent.assign(3, queues);
        for (uint32_t q = 0; q < queues; q++) {
            target[q] = 1;
            if (rng() % 8) configure(q);  // the others are as reset leaves them
            cycle();
        }
    }

    void configure(uint32_t queue) {
        const uint32_t span = 1u << (args["width"] - 8);
        penstock::PieSetting s;
        s.enable = rng() % 16 != 0;
        s.ecn = rng() % 2;
        s.target = 1 + rng() % (span / 2);
        s.max_burst = rng() % std::min<uint64_t>(span, args["allowance"] * args["update"]);
        top->s_cfg_valid_i = 1;
        top->s_cfg_queue_i = queue;
        top->s_cfg_i = uint64_t{s.enable} << 37 | uint64_t{s.ecn} << 36 | uint64_t{s.target} << 18 | s.max_burst;
        events.push_back({now, queue, true, s, 0, 0});
        target[queue] = s.target;
    }

    uint32_t pick() { return args["hot"] && rng() % 8 ? rng() % args["hot"] : rng() % queues; }

    void cycle() {
        const int64_t range = int64_t{1} << args["width"], longest = (range >> 6) - 1;
        if (!top->s_cfg_valid_i && rng() % 1000 < args["settings"]) configure(rng() % queues);

        // Departures: the delay of a queue wanders above its target for a time, then below, so that probabilities rise and fall.
        top->s_take_valid_i = rng() % 16 != 0;
        if (top->s_take_valid_i) {
            const uint32_t queue = pick();
            int64_t& l = level[queue];
            const int64_t wander = target[queue] / 64 + 1;
            l += static_cast<int64_t>(rng() % (2 * wander + 1)) - wander;
            const bool high = now / 262144 % 2 == 0;
            l = std::clamp<int64_t>(l, high ? 2 * target[queue] : 0, high ? 6 * target[queue] : target[queue]);
            if (rng() % 65536 == 0) l = rng() % 2 ? 0 : 2 * longest;
            const uint32_t left = rng() % 4096 ? 1 + rng() % 9999 : 0;
            top->s_take_queue_i = queue;
            top->s_take_time_i = static_cast<uint64_t>(args["estimate"] ? l : tick() - l) & (range - 1);
            top->s_take_left_i = left;
            events.push_back({now + 1, queue, false, {}, l, left});
        }

        top->s_enq_valid_i = rng() % 1000 >= args["idle"];
        top->now_i = static_cast<uint64_t>(tick()) & (range - 1);
        top->eval();
        // An update that is written now has read its queue's delay and setting some cycles ago.
        while (!events.empty() && events.front().cycle + kReadAhead <= now) {
            const auto& e = events.front();
            if (e.is_setting)
                model->set(e.queue, e.setting);
            else
                model->depart(e.queue, e.delay, e.left);
            events.pop_front();
        }
        if (top->ev_update_valid_o) {
            const uint32_t queue = top->ev_update_queue_o;
            model->update(queue, model->state(queue).delay);
            updated[queue]++;
            updates++;
            const int64_t due = (tick() - begun) / static_cast<int64_t>(args["update"]);
            if (updated[queue] > due || updated[queue] + 1 < due) fail(now, "queue " + std::to_string(queue) + " is updated out of turn");
        }
        if (top->s_enq_valid_i) {
            const uint32_t queue = pick(), backlog = rng() % 16 ? 2 * args["mean"] + rng() % 3 : rng() % 100000;
            const bool ect = rng() % 2;
            top->s_enq_queue_i = queue;
            backlogs.push_back({now + kBacklog, backlog});
            top->s_enq_ect_i = ect;
            const auto verdict = model->arrive(queue, backlog, ect, random.next());
            expected.push_back({now + 4, queue, static_cast<int>(verdict)});
            verdicts[static_cast<int>(verdict)]++;
            operations++;
            meetings += std::count(recent.begin(), recent.end(), queue) > 0;
            recent.push_back(queue);
        } else {
            recent.push_back(queues);
        }
        recent.pop_front();
        if (!backlogs.empty() && backlogs.front().first == now) {
            top->s_enq_backlog_i = backlogs.front().second;
            backlogs.pop_front();
        } else {
            top->s_enq_backlog_i = rng();
        }
        top->eval();
        if (!expected.empty() && expected.front().due == now) {
            const auto e = expected.front();
            expected.pop_front();
            if (!top->m_enq_verdict_valid_o || top->m_enq_verdict_queue_o != e.queue || top->m_enq_verdict_o != e.verdict)
                fail(now, "queue " + std::to_string(e.queue) + ": verdict " + std::to_string(top->m_enq_verdict_o) + ", model " +
                              std::to_string(e.verdict));
        } else if (top->m_enq_verdict_valid_o) {
            fail(now, "a verdict without an arrival");
        }
        step();
        top->s_cfg_valid_i = 0;
    }

    void step() {
        top->now_i = static_cast<uint64_t>(tick()) & ((int64_t{1} << args["width"]) - 1);
        top->clk_i = 0;
        top->eval();
        top->clk_i = 1;
        top->eval();
        if (Verilated::gotFinish()) fail(now, "assertion");
        now++;
    }

    struct Event {  // a setting or a departure, and the cycle in which it is written
        uint64_t cycle;
        uint32_t queue;
        bool is_setting;
        penstock::PieSetting setting;
        int64_t delay;
        uint32_t left;
    };
    struct Verdict {
        uint64_t due;
        uint32_t queue;
        int verdict;
    };

    std::unique_ptr<Vtop> top = std::make_unique<Vtop>();
    std::map<std::string, uint64_t> args;
    std::mt19937 rng;
    uint32_t queues;
    uint64_t now = 0, operations = 0, verdicts[3] = {}, updates = 0, meetings = 0;
    int64_t begun = 0;
    std::unique_ptr<penstock::Pie> model;
    penstock::PieRandom random;
    std::deque<Event> events;
    std::deque<std::pair<int64_t, uint32_t>> backlogs;
    std::deque<Verdict> expected;
    std::vector<int64_t> level, updated;
    std::map<uint32_t, int64_t> target;
    std::deque<uint32_t> recent;
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
