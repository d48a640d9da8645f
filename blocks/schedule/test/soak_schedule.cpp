// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_schedule: a bare queue manager (packet counts) around it, every decision judged by the shaper's model.
//
// Judged: only backlogged queues are served, one decision in flight per queue; never before the earliest departure time that
// the model computes; never through a closed gate; no queue waits for ever; out-credits are kept.
//
// Arguments: queues, packets, seed, shaping (0, 1), load (permille of cycles with an arrival), time_width, tolerance (cycles),
// gates (1: gates close and open at random), taken (permille of cycles in which the output takes a packet), idle (1: long pauses, longer
// than the time stamps' range), pattern (0 random, 1 one queue), stages (VerdictStages), drops (permille of packets that are dropped
// after they were taken: they are not charged), slow (not 0: every queue has this exponent of the period), length (of each packet; 0:
// drawn). Prints packets=, cycles=,
// lateness= (largest, cycles after both the time and the announcement), gate= (largest from opening to service), throughput= (decisions per
// 1000 cycles while everything is backlogged).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "Vtop.h"
#include "timing/model/shaper.hpp"
#include "timing/model/shaper_code.hpp"

namespace {

constexpr uint64_t kSettingDelay = 4;  // from the handshake of a setting to the first decision that must respect it
constexpr uint32_t kCredits = 32;

struct Queue {
    std::deque<uint32_t> lengths;  // committed packets
    bool in_flight = false;
    int64_t time = 0;    // earliest departure time, 2^-16 cycles
    uint64_t since = 0;  // backlogged and placed since this cycle
    penstock::ShaperSetting setting;
    uint64_t opened = 0, closed = 0;
};

struct Bench {
    std::map<std::string, uint64_t> args;
    std::mt19937 rng;
    Vtop top;
    uint64_t now = 0, start = 0, decisions = 0, lateness = 0, gate = 0, offered = 0;
    std::vector<Queue> queues;
    std::deque<uint32_t> active;  // announced, waiting for the handshake
    struct Start {
        uint64_t cycle;
        uint32_t queue;
    };
    std::deque<Start> started;  // dequeues that are not decided yet, with the cycle of the decision
    struct Setting {
        uint64_t cycle;
        uint32_t queue;
        penstock::ShaperSetting setting;
    };
    std::deque<Setting> settings;
    uint32_t downstream = 0;  // packets in the output FIFO or on their way to it
    struct Verdict {
        uint64_t cycle, decided;
        uint32_t queue, length;
        bool drop;
    };
    std::deque<Verdict> verdicts;  // packets that were taken and are not judged yet

    explicit Bench(std::map<std::string, uint64_t> a) : args(std::move(a)), rng(args["seed"]), queues(args["queues"]) {}

    [[noreturn]] void fail(uint32_t queue, const std::string& what) const {
        std::printf("cycle %" PRIu64 ", queue %u: %s\n", now, queue, what.c_str());
        std::exit(1);
    }

    void tick() {
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
        now++;
    }

    penstock::ShaperSetting draw() {
        penstock::ShaperSetting s;
        if (args["slow"]) return {49152, static_cast<uint32_t>(args["slow"]), 0};
        if (!args["shaping"] || rng() % 8 == 0) return s;  // unshaped
        s.mantissa = 32768 + rng() % 32768;
        s.exponent = 8 + rng() % (rng() % 4 ? 9 : 12);  // some cycles to some thousand a packet, now and then beyond the horizon
        s.burst = rng() % 2 ? 0 : rng() % (1u << std::min<uint64_t>(14, args["time_width"] - 5));
        return s;
    }

    void run() {
        top.rst_i = top.deq_ready_i = 1;
        top.s_active_valid_i = top.s_ret_valid_i = top.s_cfg_valid_i = top.s_drop_i = top.credit_i = 0;
        for (int i = 0; i < 3; i++) tick();
        top.rst_i = 0;
        now = 0;
        while (!top.init_done_o) tick();
        for (uint32_t q = 0; q < queues.size(); q++) configure(q, draw());
        start = now;
        uint64_t pause_until = 0;
        while (decisions < args["packets"]) {
            if (args["gates"] && !top.s_cfg_valid_i && rng() % 64 == 0) {
                const uint32_t q = rng() % queues.size();
                auto s = queues[q].setting;
                if (s.mantissa)
                    s.mantissa = 0;
                else
                    s = draw();
                offer(q, s);
            }
            if (args["idle"] && now > pause_until && rng() % 20000 == 0)
                pause_until = now + (uint64_t{1} << args["time_width"]) * (50 + rng() % 200) / 100;
            cycle(now >= pause_until && rng() % 1000 < args["load"]);
        }
        const double rate = 1000.0 * decisions / (now - start);
        // Everything that is open drains.
        for (uint32_t q = 0; q < queues.size(); q++) {
            while (top.s_cfg_valid_i) cycle(false);
            configure(q, {1, 0, 0});
        }
        const uint64_t limit = now + offered * 40 + 64 * (uint64_t{1} << std::min<uint64_t>(args["time_width"], 26));
        while (decisions < offered && now < limit) cycle(false);
        for (int i = 0; i < 8; i++) cycle(false);
        for (uint32_t q = 0; q < queues.size(); q++)
            if (!queues[q].lengths.empty()) fail(q, "starves with " + std::to_string(queues[q].lengths.size()) + " packets");
        std::printf("packets=%" PRIu64 " cycles=%" PRIu64 " lateness=%" PRIu64 " gate=%" PRIu64 " throughput=%d dropped=%" PRIu64 "\n",
                    decisions, now, lateness, gate, static_cast<int>(rate), dropped);
    }

    void offer(uint32_t q, penstock::ShaperSetting s) {
        top.s_cfg_valid_i = 1;
        top.s_cfg_queue_i = q;
        top.s_cfg_shaper_i = penstock::encode_shaper(s);
        settings.push_back({~uint64_t{0}, q, s});
    }

    void configure(uint32_t q, penstock::ShaperSetting s) {
        offer(q, s);
        while (top.s_cfg_valid_i) cycle(false);
    }

    // A packet of queue `id` leaves in this cycle: may it?
    void judge(uint32_t id, const Queue& q) {
        if (q.lengths.empty()) fail(id, "served although it is empty");
        if (!q.setting.mantissa) fail(id, "served through a closed gate");
        const int64_t eligible = args["shaping"] ? penstock::Shaper::eligible_cycle(q.time) : 0;
        if (static_cast<int64_t>(now) - 1 < eligible)
            fail(id, "served " + std::to_string(eligible - static_cast<int64_t>(now) + 1) + " cycles before its earliest departure time");
        if (downstream >= kCredits) fail(id, "served without a credit");
        // Time behind a gate counts from its opening. The wait that back-pressure makes is in both; light loads leave it out.
        const uint64_t due = std::max({static_cast<int64_t>(q.since), eligible, int64_t{0}});
        if (q.opened > due)
            gate = std::max(gate, now - q.opened);
        else
            lateness = std::max(lateness, now - due);
        downstream++;
        decisions++;
        decided[id] = q.setting;
    }

    void cycle(bool arrival) {
        while (!settings.empty() && settings.front().cycle <= now) {
            Queue& q = queues[settings.front().queue];
            const bool was_open = q.setting.mantissa != 0, open = settings.front().setting.mantissa != 0;
            const uint64_t set = settings.front().cycle - kSettingDelay;
            if (was_open && !open) q.closed = set;
            if (!was_open && open) {
                q.opened = set;
                q.time += static_cast<int64_t>(set - q.closed) << 16;  // no time has passed for it
            }
            q.setting = settings.front().setting;
            settings.pop_front();
        }
        // A dequeue is decided two cycles after its start and commits at once, before the enqueue of the cycle; the answer is seen in
        // the next one.
        bool answer = false, backlogged = false;
        uint32_t answer_queue = 0, answer_length = 0;
        if (!started.empty() && started.front().cycle == now) {
            const uint32_t id = started.front().queue;
            started.pop_front();
            Queue& q = queues[id];
            if (top.m_deq_take_o) {
                judge(id, q);
                answer = true;
                answer_queue = id;
                answer_length = q.lengths.front();
                q.lengths.pop_front();
                backlogged = !q.lengths.empty();
            } else {
                q.in_flight = false;
            }
        }
        if (arrival) {
            const uint32_t id = args["pattern"] == 1 ? 3 : rng() % queues.size();
            Queue& q = queues[id];
            if (q.lengths.size() < 200) {
                q.lengths.push_back(args["length"] ? args["length"] : 14 + rng() % (rng() % 4 ? 1500 : 9587));
                offered++;
                if (q.lengths.size() == 1) active.push_back(id);
            }
        }
        top.credit_i = downstream > 0 && rng() % 1000 < args["taken"] && in_fifo > 0;
        const bool judged = !verdicts.empty() && verdicts.front().cycle == now;
        top.s_drop_i = judged && verdicts.front().drop;
        top.eval();

        if (top.m_deq_valid_o) {
            const uint32_t id = top.m_deq_queue_o;
            if (queues[id].in_flight) fail(id, "a dequeue starts while the last one is in flight");
            if (queues[id].lengths.empty()) fail(id, "a dequeue starts although the queue is empty");
            queues[id].in_flight = true;
            started.push_back({now + 2, id});
        }
        if (top.credit_i) {
            downstream--;
            in_fifo--;
        }
        if (top.s_active_valid_i && top.s_active_ready_o) {
            queues[top.s_active_queue_i].since = now;
            active_shown = false;
        }
        if (top.s_cfg_valid_i && top.s_cfg_ready_o) {
            settings.back().cycle = now + kSettingDelay;
            cfg_taken = true;
        }
        // The answer that is shown now was committed one cycle ago: the shaper's new time is counted from this cycle, if the packet is not
        // dropped. Until that is known the queue must not be looked at.
        if (top.s_ret_valid_i) {
            const bool drop = args["drops"] && rng() % 1000 < args["drops"];
            verdicts.push_back({now + (args["shaping"] ? 3 + args["stages"] : 0), now - 1, top.s_ret_queue_i, top.s_ret_len_i, drop});
            queues[top.s_ret_queue_i].since = now;
        }
        if (!verdicts.empty() && verdicts.front().cycle == now) {
            const Verdict v = verdicts.front();
            verdicts.pop_front();
            Queue& q = queues[v.queue];
            q.in_flight = false;
            in_fifo++;
            if (v.drop) {
                q.since = now;
                dropped++;
            } else if (args["shaping"]) {
                q.time = penstock::Shaper::update(decided[v.queue], q.time, v.decided, v.length, args["tolerance"], args["time_width"]);
            }
        }
        tick();
        if (cfg_taken) top.s_cfg_valid_i = 0;
        cfg_taken = false;
        top.s_ret_valid_i = answer;
        top.s_ret_queue_i = answer_queue;
        top.s_ret_len_i = answer_length;
        top.s_ret_backlogged_i = backlogged;
        if (!active_shown && !active.empty()) {
            active_shown = true;
            top.s_active_queue_i = active.front();
            active.pop_front();
        }
        top.s_active_valid_i = active_shown;
    }

    uint32_t in_fifo = 0;
    uint64_t dropped = 0;
    bool active_shown = false, cfg_taken = false;
    std::map<uint32_t, penstock::ShaperSetting> decided;
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
