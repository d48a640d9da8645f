// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_sched_lists against its model: places, splices and pops at random; every queue is in one place at most.
//
// Arguments: queues, slots, operations, seed, pops (permille of cycles in which the ready list is popped).
// Prints operations=, pops=, cycles=, longest= (longest ready list).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "Vtop.h"
#include "timing/model/sched_lists.hpp"

int main(int argc, char** argv) {
    std::map<std::string, uint64_t> args;
    for (int i = 1; i < argc; i++) {
        const char* equals = std::strchr(argv[i], '=');
        if (equals) args[std::string(argv[i], equals - argv[i])] = std::strtoull(equals + 1, nullptr, 10);
    }
    const uint32_t queues = args["queues"], slots = args["slots"];
    std::mt19937 rng(args["seed"]);
    Vtop top;
    penstock::SchedLists model(slots);
    uint64_t now = 0, operations = 0, pops = 0, longest = 0;
    auto tick = [&] {
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
        now++;
    };
    auto fail = [&](const std::string& what) {
        std::printf("cycle %" PRIu64 ": %s\n", now, what.c_str());
        std::exit(1);
    };

    top.rst_i = 1;
    top.s_op_valid_i = top.m_ready_ready_i = 0;
    for (int i = 0; i < 3; i++) tick();
    top.rst_i = 0;
    while (!top.init_done_o) tick();

    std::vector<uint32_t> idle(queues);
    for (uint32_t q = 0; q < queues; q++) idle[q] = q;
    size_t in_lists = 0;
    while (operations < args["operations"] || in_lists > 0) {
        const bool filling = operations < args["operations"];
        const uint64_t appetite = !filling ? 1000 : (now / 3000) % 2 ? args["pops"] : 1000;
        if (!top.s_op_valid_i) {
            const bool splice = slots && (!filling || rng() % 8 == 0);
            if (splice || (filling && !idle.empty() && rng() % 10 != 0)) {
                top.s_op_valid_i = 1;
                top.s_op_splice_i = splice;
                top.s_op_wheel_i = slots && rng() % 4 != 0;
                top.s_op_direct_i = !splice && !top.s_op_wheel_i && rng() % 4 != 0;
                // Few slots are busy, so that they get long and meet in the pipeline; all are emptied at the end.
                top.s_op_slot_i = slots ? (filling && rng() % 2 ? rng() % std::min<uint32_t>(slots, 3) : rng() % slots) : 0;
                if (!splice) {
                    const size_t i = rng() % idle.size();
                    top.s_op_queue_i = idle[i];
                    idle[i] = idle.back();
                    idle.pop_back();
                }
            }
        }
        top.m_ready_ready_i = rng() % 1000 < appetite;
        top.eval();
        const bool taken = top.s_op_valid_i && top.s_op_ready_o;
        if (top.m_ready_valid_o && top.m_ready_ready_i) {
            const auto expected = model.pop();
            if (!expected) fail("pop of queue " + std::to_string(top.m_ready_queue_o) + " from an empty list");
            if (*expected != top.m_ready_queue_o)
                fail("popped queue " + std::to_string(top.m_ready_queue_o) + ", model " + std::to_string(*expected));
            idle.push_back(*expected);
            in_lists--;
            pops++;
        }
        if (taken) {
            if (top.s_op_splice_i)
                model.splice(top.s_op_slot_i);
            else if (top.s_op_wheel_i)
                model.place_slot(top.s_op_queue_i, top.s_op_slot_i);
            else
                model.place_ready(top.s_op_queue_i);
            if (!top.s_op_splice_i) in_lists++;
            operations++;
            longest = std::max<uint64_t>(longest, model.ready());
        }
        tick();
        if (taken) top.s_op_valid_i = 0;
        if (now > 40 * args["operations"] + 1000 * (slots + queues)) fail(std::to_string(in_lists) + " queues are lost in the lists");
    }
    std::printf("operations=%" PRIu64 " pops=%" PRIu64 " cycles=%" PRIu64 " longest=%" PRIu64 "\n", operations, pops, now, longest);
    return 0;
}
