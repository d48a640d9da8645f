// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_fq: packets, looks, verdicts and settings at random, every output in every cycle compared with the model.
//
// Arguments: lanes, queues, flows, descriptors, age, hosts (HostBits; as the module has them), cycles, seed, pattern (0: a few flows, 1:
// nearly every packet a flow, 2: one hot queue, flows of very different sizes), limits (1: small limits of queues and pool), resets. Prints
// accepted=, refused=, dropped=, left=, cycles=, claimed= (most flow queues in use), own= (packets to a queue's own flow queue).
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "Vtop.h"
#include "fabric/model/wide_pins.hpp"
#include "fq/model/fq_lanes.hpp"
#include "verilated.h"

namespace {

using penstock::Fq;
using penstock::FqLanes;
using penstock::get_bits;

class Bench {
  public:
    explicit Bench(std::map<std::string, std::uint64_t> a)
        : args(std::move(a)),
          rng(args["seed"]),
          model(static_cast<std::uint32_t>(args["lanes"]), sizes_of(args)),
          queues(args["queues"]),
          descriptors(args["descriptors"]) {}

    void run() {
        const std::uint64_t rounds = args["resets"] + 1;
        for (std::uint64_t round = 0; round < rounds; round++) {
            reset();
            const std::uint64_t until = now + args["cycles"] / rounds;
            while (now < until) {
                if (now % 2048 == 0) draw_phase();
                cycle();
            }
        }
        for (const char* name : {"accepted", "refused", "dropped", "left", "claimed", "own"}) {
            std::printf("%s=%" PRIu64 " ", name, counts[name]);
        }
        std::printf("cycles=%" PRIu64 "\n", now);
    }

  private:
    static penstock::FqSizes sizes_of(std::map<std::string, std::uint64_t>& a) {
        return {static_cast<std::uint32_t>(a["queues"]), static_cast<std::uint32_t>(a["flows"]),
                static_cast<std::uint32_t>(a["descriptors"]), static_cast<std::uint32_t>(a["age"]), static_cast<std::uint32_t>(a["hosts"])};
    }

    static std::uint32_t width(std::uint64_t count) { return static_cast<std::uint32_t>(std::bit_width(count - 1)); }

    [[noreturn]] void fail(const std::string& what) {
        std::printf("cycle %" PRIu64 ": %s\n", now, what.c_str());
        std::exit(1);
    }

    void tick() {
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
    }

    void reset() {
        top.s_enq_valid_i = top.s_deq_valid_i = top.s_verdict_valid_i = top.s_cfg_valid_i = 0;
        top.m_active_ready_i = top.m_drop_ready_i = 0;
        pool = static_cast<std::uint32_t>(2 * descriptors - 1);
        top.rst_i = 1;
        for (int i = 0; i < 12; i++) tick();
        top.rst_i = 0;
        model.reset();
        free.clear();
        for (std::uint32_t desc = 0; desc < descriptors; desc++) free.push_back(desc);
        waiting.clear();
        verdicts.clear();
        looks = {std::nullopt, std::nullopt};
        was_ready = false;
        offered.reset();
        top.clk_i = 0;
        top.eval();
        while (!top.init_done_o) {
            compare();
            FqLanes::Input in;
            in.active_ready = in.drop_ready = false;
            in.pool = pool;
            top.pool_limit_i = pool;
            model.cycle(in);
            tick();
            now++;
            top.clk_i = 0;
            top.eval();
        }
        compare();
        for (std::uint32_t queue = 0; queue < queues && queue < 64; queue++) set_queue(queue);
        draw_phase();
    }

    std::uint32_t below(std::uint64_t count) { return static_cast<std::uint32_t>(rng() % count); }

    Fq::Setting setting(std::uint32_t queue) {
        Fq::Setting s;
        s.queue = queue;
        static const std::uint32_t quanta[] = {1514, 1514, 300, 90, 9000, 10};
        s.setting.quantum = quanta[below(args["hosts"] ? 6 : 5)];
        if (args["hosts"]) s.setting.sides = below(4);
        if (args["limits"]) {
            s.setting.packets = below(3) ? 1 + below(40) : 0xFFFF;
            s.setting.bytes = below(3) ? 1 + below(60'000) : 0xFF'FFFF;
        }
        return s;
    }

    void set_queue(std::uint32_t queue) {
        FqLanes::Input in;
        in.setting = setting(queue);
        in.active_ready = in.drop_ready = false;
        in.pool = pool;
        show(in);
        model.cycle(in);
        tick();
        now++;
        top.clk_i = 0;
        top.eval();
        compare();
        top.s_cfg_valid_i = 0;
    }

    void draw_phase() {
        static const std::uint32_t shares[] = {20, 300, 700, 1000};
        offer = shares[below(4)];
        look = shares[below(4)];
        stall = below(3) ? 0 : 400;
        drop = below(2) ? 0 : 300;
        gap = below(3);
        if (args["limits"]) pool = below(3) ? static_cast<std::uint32_t>(2 * descriptors - 1) : static_cast<std::uint32_t>(descriptors / 4);
    }

    Fq::Enqueue draw() {
        Fq::Enqueue packet;
        static const std::uint32_t lengths[] = {64, 64, 64, 300, 1514, 9000};
        packet.queue = below(queues);
        packet.packet.len = lengths[below(6)];
        switch (args["pattern"]) {
            case 0:
                packet.bucket = below(4);
                break;
            case 1:
                packet.bucket = below(8) ? below(1024) : below(3);
                packet.packet.len = 1 + below(100);
                break;
            default:
                if (below(10) < 6) packet.queue = 0;
                packet.bucket = below(1u << (1 + below(10)));
                break;
        }
        if (args["hosts"]) packet.hosts = {below(3) ? 0 : below(1024), below(1024)};
        packet.packet.desc = free.front();
        free.pop_front();
        return packet;
    }

    void show(const FqLanes::Input& in) {
        top.s_enq_valid_i = offered.has_value();
        if (offered) {
            top.s_enq_queue_i = offered->queue;
            top.s_enq_hashes_i = penstock::FqHashes::pack(offered->bucket, offered->hosts);
            top.s_enq_desc_i = offered->packet.desc;
            top.s_enq_len_i = offered->packet.len;
        }
        top.s_deq_valid_i = in.look.has_value();
        top.s_deq_queue_i = in.look.value_or(below(queues));
        top.s_deq_take_i = in.take;
        top.s_verdict_valid_i = in.verdict.has_value();
        top.s_verdict_drop_i = in.verdict.value_or(false);
        top.m_active_ready_i = in.active_ready;
        top.m_drop_ready_i = in.drop_ready;
        top.pool_limit_i = in.pool;
        top.s_cfg_valid_i = in.setting.has_value();
        if (in.setting) {
            top.s_cfg_queue_i = in.setting->queue;
            top.s_cfg_quantum_i = in.setting->setting.quantum;
            top.s_cfg_sides_i = in.setting->setting.sides;
            top.s_cfg_limit_packets_i = in.setting->setting.packets;
            top.s_cfg_limit_bytes_i = in.setting->setting.bytes;
        }
    }

    void compare() {
        if (static_cast<bool>(top.init_done_o) != model.init_done()) fail("init_done");
        if (static_cast<bool>(top.s_deq_ready_o) != model.look_ready()) fail("ready of looks");
        const auto active = model.active();
        if (static_cast<bool>(top.m_active_valid_o) != active.has_value()) fail("valid of an announcement");
        if (active && (top.m_active_queue_o != active->queue || top.m_active_len_o != active->len)) fail("an announcement");
        const auto dropped = model.dropped();
        if (static_cast<bool>(top.m_drop_valid_o) != dropped.has_value()) fail("valid of a dropped packet");
        if (dropped &&
            (top.m_drop_desc_o != dropped->packet.desc || top.m_drop_queue_o != dropped->queue || top.m_drop_len_o != dropped->packet.len))
            fail("a dropped packet");
        const auto left = model.left();
        if (static_cast<bool>(top.m_left_valid_o) != left.has_value()) fail("valid of a packet that left");
        if (left && (top.m_left_queue_o != left->queue || top.m_left_flow_o != left->flow || top.m_left_desc_o != left->packet.desc ||
                     top.m_left_len_o != left->packet.len || top.m_left_bytes_o != left->left ||
                     static_cast<bool>(top.m_left_more_o) != left->more))
            fail("a packet that left");
        for (std::uint32_t l = 0; l < model.lanes(); l++) {
            const auto event = model.event(l);
            if ((top.ev_valid_o >> l & 1) != event.has_value()) fail("valid of an event");
            if (event &&
                (get_bits(top.ev_event_o, 2 * l, 2) != static_cast<std::uint32_t>(event->kind) ||
                 get_bits(top.ev_queue_o, queue_bits * l, queue_bits) != event->queue ||
                 get_bits(top.ev_flow_o, flow_bits * l, flow_bits) != event->flow || get_bits(top.ev_len_o, 14 * l, 14) != event->len))
                fail("an event");
        }
        if (top.pool_packets_o != model.packets()) fail("packets in the pool");
    }

    void cycle() {
        top.clk_i = 0;
        top.eval();
        compare();

        FqLanes::Input in;
        in.pool = pool;
        in.active_ready = below(1000) >= stall;
        in.drop_ready = below(1000) >= stall;
        if (const auto active = model.active(); active && in.active_ready) waiting.push_back(active->queue);
        if (const auto dropped = model.dropped(); dropped && in.drop_ready) free.push_back(dropped->packet.desc);
        if (const auto left = model.left()) {
            verdicts.push_back({now + gap, below(1000) < drop});
            free.push_back(left->packet.desc);
            counts["left"]++;
        }
        for (std::uint32_t l = 0; l < model.lanes(); l++) {
            const auto event = model.event(l);
            if (!event) continue;
            static const char* names[] = {"accepted", "refused", "dropped"};
            counts[names[static_cast<int>(event->kind)]]++;
            if (event->flow / model.lanes() >= model.lane(l).map.in_tables()) counts["own"]++;
        }
        if (!offered && !free.empty() && below(1000) < offer) offered = draw();
        if (offered && model.enqueue_ready(offered->queue)) in.enqueue = offered;
        const bool may_look = std::exchange(was_ready, model.look_ready());  // one cycle ago
        if (!waiting.empty() && may_look && below(1000) < look) {
            std::swap(waiting[below(waiting.size())], waiting.back());
            in.look = waiting.back();
            waiting.pop_back();
        }
        const auto looked = looks.front();
        looks.pop_front();
        looks.push_back(in.look);
        in.take = looked && below(8);
        if (looked && !in.take) waiting.push_back(*looked);
        if (!verdicts.empty() && verdicts.front().first <= now) {
            in.verdict = verdicts.front().second;
            verdicts.pop_front();
        }
        if (below(200) == 0) in.setting = setting(below(queues));
        show(in);
        top.eval();
        if (offered && static_cast<bool>(top.s_enq_ready_o) != in.enqueue.has_value()) fail("ready of enqueues");
        model.cycle(in);
        if (in.enqueue) offered.reset();
        if (now % 512 == 0) {
            std::uint64_t claimed = 0;
            for (std::uint32_t l = 0; l < model.lanes(); l++) claimed += model.lane(l).claimed();
            counts["claimed"] = std::max(counts["claimed"], claimed);
        }
        tick();
        now++;
    }

    std::map<std::string, std::uint64_t> args, counts;
    std::mt19937_64 rng;
    FqLanes model;
    std::uint64_t queues, descriptors, now = 0;
    const std::uint32_t queue_bits = width(args["queues"]), flow_bits = width(args["flows"]);
    bool was_ready = false;
    std::uint32_t offer = 500, look = 500, stall = 0, drop = 0, gap = 0, pool = 0;
    Vtop top;
    std::deque<std::uint32_t> free;
    std::vector<std::uint32_t> waiting;
    std::deque<std::pair<std::uint64_t, bool>> verdicts;
    std::deque<std::optional<std::uint32_t>> looks{std::nullopt, std::nullopt};
    std::optional<Fq::Enqueue> offered;
};

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::uint64_t> args;
    for (int i = 1; i < argc; i++) {
        const char* equals = std::strchr(argv[i], '=');
        if (equals) args[std::string(argv[i], equals - argv[i])] = std::strtoull(equals + 1, nullptr, 10);
    }
    Bench(args).run();
    return 0;
}
