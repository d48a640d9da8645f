// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bench of a verilated pst_deadline_encoder (class Vpst_device), compiled with it: heads of all classes, every decision judged.
//
// The whole loop is in the library, so a call is a run: src/penstock/benches/bench_edfr.py gives the job and reads the result. Behind each
// class stands a head side that has up to `line` frames at hand; when they are used up, its head appears anew `refill` cycles later.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "Vpst_device.h"
#include "shim_model.hpp"

extern "C" {

// Written down once more by bench_edfr.Job and bench_edfr.Result, which compare the sizes when they load the library.
struct pst_edfr_job {
    uint32_t classes;
    uint32_t pattern;  // 0 random classes, 1 one hot class, 2 two that alternate, 3 every frame alone in its class, 4 all over
    uint32_t line, refill;
    uint64_t frames, seed;
};

struct pst_edfr_result {
    uint64_t cycles, decisions, drops, heads, longest_wait, heads_waited, idle;
    char error[200];
};
}

namespace {

enum Pattern : uint32_t { kRandom, kHot, kTwo, kAlone, kOver };

class Bench {
  public:
    Bench(const pst_edfr_job& j, pst_edfr_result& r)
        : job(j), result(r), rng(j.seed), deadline(j.classes), came(j.classes), hand(j.classes), there(j.classes) {}

    bool run(bool (*progress)(uint64_t, uint64_t)) {
        reset();
        const uint64_t warm_up = 4 * job.classes + 100, most = 100 * job.frames + 100 * warm_up;
        for (uint32_t c = 0; c < job.classes; c++)
            if (used(c)) queue.push_back(c);
        for (uint64_t i = 0; i < warm_up; i++)
            if (!cycle()) return false;
        result.cycles = result.decisions = result.drops = result.heads = result.longest_wait = result.heads_waited = result.idle = 0;
        while (result.decisions < job.frames) {
            if (!cycle()) return false;
            if (result.cycles % 8192 == 0 && progress && !progress(result.decisions, result.cycles)) return fail("interrupted");
            if (result.cycles > most) return fail("it does not get on");
        }
        return true;
    }

  private:
    bool fail(const std::string& what) {
        std::snprintf(result.error, sizeof result.error, "cycle %u: %s", now, what.c_str());
        return false;
    }

    // Times wrap early in the run.
    void reset() {
        now = ~uint32_t{0} - 1000;
        top().rst_i = 1;
        top().s_head_valid_i = top().take_ready_i = top().next_valid_i = 0;
        for (int i = 0; i < 4; i++) step();
        top().rst_i = 0;
    }

    void step() {
        top().clk_i = 0;
        top().eval();
        top().clk_i = 1;
        top().eval();
        now++;
    }

    bool used(uint32_t c) const { return job.pattern == kHot ? c == 0 : job.pattern != kTwo || c < 2; }

    // Of the next frame: with two classes each is a little later than the other's.
    uint32_t draw(uint32_t c) {
        const uint32_t random = static_cast<uint32_t>(rng());
        if (job.pattern == kOver) return now - 1 - random % 100'000;
        if (job.pattern == kTwo) return now + 1'000'000;
        return now + 1000 + c * 1000 + random % 1'000'000;
    }

    uint32_t at_hand() {
        if (job.pattern == kAlone) return 1;
        if (job.pattern == kHot) return ~uint32_t{0};
        return 1 + static_cast<uint32_t>(rng() % job.line);
    }

    // Drives the inputs of a cycle, judges its decision, and steps.
    bool cycle() {
        while (!returning.empty() && returning.front().first <= age) queue.push_back(returning.front().second), returning.pop_front();
        if (!offering && !queue.empty()) {
            offering = true;
            offered = queue.front();
            queue.pop_front();
            offered_deadline = draw(offered);
            waited = 0;
        }
        top().now_i = now;
        top().take_ready_i = job.pattern != kOver;
        top().s_head_valid_i = offering;
        top().s_head_class_i = offered;
        top().s_head_deadline_i = offered_deadline;
        top().next_valid_i = 0;
        top().eval();
        const bool taken = top().take_valid_o;
        const uint32_t c = top().take_class_o;
        bool follows = false;
        uint32_t next = 0;
        if (taken) {
            if (!judge(c)) return false;
            follows = hand[c] > 1;
            if (follows) {
                next = draw(c);
                top().next_valid_i = 1;
                top().next_deadline_i = next;
                top().eval();
            }
        }
        const bool accepted = offering && top().s_head_ready_o;
        step();
        age++;
        result.cycles++;
        if (taken)
            leave(c, follows, next);
        else
            result.idle++;
        if (accepted) {
            offering = false;
            result.heads++;
            hand[offered] = at_hand();
            come(offered, offered_deadline);
        } else if (offering) {
            result.heads_waited++;
            result.longest_wait = std::max(result.longest_wait, ++waited);
        }
        return true;
    }

    // The earliest of all heads, and of equal ones the oldest.
    bool judge(uint32_t c) {
        const std::string name = "class " + std::to_string(c);
        if (c >= job.classes || !there[c]) return fail(name + " was taken and has no head");
        if (top().take_deadline_o != deadline[c]) return fail(name + " was taken with a deadline that is not its");
        const bool over = static_cast<int32_t>(now - deadline[c]) > 0;
        if (over != static_cast<bool>(top().take_drop_o))
            return fail(name + (over ? " is over and is sent" : " is dropped and is not over"));
        if (over) result.drops++;
        for (uint32_t other = 0; other < job.classes; other++) {
            const int32_t ahead = static_cast<int32_t>(deadline[other] - deadline[c]);
            if (there[other] && (ahead < 0 || (ahead == 0 && came[other] < came[c])))
                return fail(name + " was taken before class " + std::to_string(other));
        }
        result.decisions++;
        return true;
    }

    void leave(uint32_t c, bool follows, uint32_t next) {
        there[c] = false;
        hand[c]--;
        if (follows)
            come(c, next);
        else
            returning.emplace_back(age + job.refill, c);
    }

    void come(uint32_t c, uint32_t its_deadline) {
        there[c] = true;
        deadline[c] = its_deadline;
        came[c] = age;
    }

    Vpst_device& top() { return *device.top; }

    const pst_edfr_job& job;
    pst_edfr_result& result;
    penstock::shim::Clocked<Vpst_device> device;
    std::mt19937_64 rng;
    uint32_t now = 0, offered = 0, offered_deadline = 0;
    uint64_t age = 0, waited = 0;
    bool offering = false;
    std::vector<uint32_t> deadline;  // by class, of its head
    std::vector<uint64_t> came;
    std::vector<uint32_t> hand;  // frames at hand, the head included
    std::vector<bool> there;
    std::deque<uint32_t> queue;                           // classes whose head is to appear
    std::deque<std::pair<uint64_t, uint32_t>> returning;  // cycle in which a class has frames again
};

}  // namespace

// Bytes of the two structs above, for callers that write them down again.
PST_EXPORT uint32_t pst_edfr_job_bytes() { return sizeof(pst_edfr_job); }
PST_EXPORT uint32_t pst_edfr_result_bytes() { return sizeof(pst_edfr_result); }

// Returns 0, or 1 with the error in words.
PST_EXPORT int pst_edfr_bench(const pst_edfr_job* job, pst_edfr_result* result, bool (*progress)(uint64_t, uint64_t)) {
    *result = {};
    return Bench(*job, *result).run(progress) ? 0 : 1;
}
