// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_hierarchy: queues with sources of packets around it, every departure judged.
//
// Always judged: a queue has one packet inside at most, what leaves is what came in, once; credits are kept. At the level `level` (0
// subscriber, 1 node, 2 port) the parents are shaped to `kbps` at 220 MHz: no packet is charged before the earliest departure time that
// the shaper's model computes, unless settings change (mix=1). When priority=1: no packet of a lower class leaves a parent while one of
// a higher class has waited there for longer than `decision` cycles: from a pick to its departure, and back to the next pick.
//
// Arguments: queues, per_subscriber, nodes, ports, classes, seed, cycles, level, kbps, burst (cycles), tolerance, width (of times),
// backlog (1: always backlogged, 0: on and off), queues_used (of each subscriber, 0: 1 to all by subscriber), length (0: mixed),
// weights (1: of subscribers and queues drawn), priority (1: classes drawn, else all 0), mix (1: rates, gates, moves, classes change at
// random at all levels), loop (cycles from departure to the next packet), stall (permille of cycles in which the output stalls; when no
// rate is judged credits for packets through come late, too), idle (1: long pauses). Prints packets=, out= (packets per 1000 cycles),
// latency= (largest of the first packets of queues when nothing is shaped), share= (largest difference of a share from what its weight
// says, 1/10,000 points: subscribers under nodes and ports, and the queues of each subscriber), used= (rate reached, 1/10,000), wait=
// (largest wait of a packet of class 0, cycles), early=0.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "Vtop.h"
#include "timing/model/shaper.hpp"
#include "timing/model/shaper_code.hpp"

namespace {

constexpr int kCharge[3] = {5, 3, 1};  // cycles from a gate's decision to m_done_o

enum What : uint32_t { kQueue, kSubscriber, kNode, kPort };

struct Packet {
    uint32_t payload, length;
    uint64_t since;
};

struct Queue {
    bool inside = false, empties = false;  // its packet is here; it was its last one
    Packet packet{};
    uint32_t cls = 0, weight = 1, length = 0;
    uint64_t bytes = 0;
};

// What each of several was sent, and the largest difference of its share from that by its weight.
struct Shares {
    double bytes = 0, weights = 0;
    std::vector<std::pair<double, double>> each;

    void add(double own, double weight) {
        bytes += own;
        weights += weight;
        each.push_back({own, weight});
    }
    double error() const {
        double worst = 0;
        for (const auto& [own, weight] : each) worst = std::max(worst, std::fabs(own / std::max(1.0, bytes) - weight / weights));
        return worst;
    }
};

struct Parent {
    penstock::ShaperSetting setting;
    uint32_t weight = 1;  // of a subscriber
    int64_t time = 0;
    uint64_t bytes = 0;
    std::vector<std::deque<uint64_t>> waiting;  // by class: when it came
};

struct Bench {
    std::map<std::string, uint64_t> args;
    std::mt19937 rng;
    Vtop top;
    uint64_t now = 0, packets = 0, latency = 0, wait = 0, start = 0, warm = 0;
    std::vector<Queue> queues;
    std::vector<uint32_t> node_of, port_of;
    std::vector<Parent> parents[3];
    std::deque<uint32_t> ready;  // queues whose next packet may come
    std::vector<std::pair<uint64_t, uint32_t>> later;
    uint32_t owed = 0;     // credits to give back
    uint32_t offered = 0;  // the queue at the input
    bool offers = false;
    std::deque<std::pair<uint32_t, Packet>> out, finished;  // came out, were reported done
    bool judge_rate = true;

    explicit Bench(std::map<std::string, uint64_t> a) : args(std::move(a)), rng(args["seed"]), queues(args["queues"]) {}

    [[noreturn]] void fail(uint32_t id, const std::string& what) const {
        std::printf("cycle %" PRIu64 ", %u: %s\n", now, id, what.c_str());
        std::exit(1);
    }

    uint32_t subscriber(uint32_t queue) const { return queue / args.at("per_subscriber"); }
    uint32_t parent(int level, uint32_t queue) const {
        return level == 0 ? subscriber(queue) : level == 1 ? node_of[subscriber(queue)] : port_of[node_of[subscriber(queue)]];
    }

    void tick() {
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
        now++;
    }

    static penstock::ShaperSetting rate(double kbps, uint32_t burst) {
        const double period = 8 * 220e6 / (kbps * 1e3) * 65536;  // 2^-16 cycles per byte
        int exponent = 0;
        double mantissa = period * 32768;
        while (mantissa >= 65535.5) {
            mantissa /= 2;
            exponent++;
        }
        exponent = std::max(exponent, 0);
        return {static_cast<uint32_t>(std::lround(period * 32768 / std::pow(2.0, exponent))), static_cast<uint32_t>(exponent), burst};
    }

    void set(uint32_t what, uint32_t id, penstock::ShaperSetting s, uint32_t above, uint32_t cls, uint32_t weight) {
        top.s_cfg_valid_i = 1;
        top.s_cfg_what_i = what;
        top.s_cfg_id_i = id;
        top.s_cfg_shaper_i = penstock::encode_shaper(s);
        top.s_cfg_parent_i = above;
        top.s_cfg_class_i = cls;
        top.s_cfg_weight_i = weight - 1;
        for (bool taken = false; !taken;) {
            top.eval();
            taken = top.s_cfg_ready_o;
            cycle();
        }
        top.s_cfg_valid_i = 0;
    }
    void set_parent(int level, uint32_t id) {
        const uint32_t above = level == 0 ? node_of[id] : level == 1 ? port_of[id] : 0;
        set(kSubscriber + level, id, parents[level][id].setting, above, 0, parents[level][id].weight);
    }
    void set_queue(uint32_t q) { set(kQueue, q, {}, 0, queues[q].cls, queues[q].weight); }

    uint32_t next_length(const Queue& q) {
        if (q.length) return q.length;
        static constexpr uint32_t kLengths[] = {60, 590, 1514, 9600};
        return kLengths[rng() % 4];
    }

    // One cycle: at most one packet goes in, what leaves is judged.
    void cycle() {
        while (!later.empty() && later.front().first <= now) {
            ready.push_back(later.front().second);
            std::pop_heap(later.begin(), later.end(), std::greater<>());
            later.pop_back();
        }
        if (!offers && !ready.empty() && now >= pause_until) {
            const uint32_t id = ready.front();
            ready.pop_front();
            Queue& q = queues[id];
            if (q.inside) fail(id, "bench: a second packet");
            q.inside = offers = true;
            q.packet = {static_cast<uint32_t>(rng() % args["payloads"]), next_length(q), now};
            q.empties = !args["backlog"] && rng() % 4 == 0;
            offered = id;
            if (args["priority"] && !args["mix"]) parents[args["level"]][parent(args["level"], id)].waiting[q.cls].push_back(now);
        }
        top.s_packet_valid_i = offers;
        top.s_packet_queue_i = offered;
        top.s_packet_payload_i = queues[offered].packet.payload;
        top.s_packet_len_i = queues[offered].packet.length;
        top.s_packet_empties_i = queues[offered].empties;
        top.m_out_ready_i = rng() % 1000 >= args["stall"];
        const bool give = judge_rate || !args["stall"] || rng() % 4 != 0;
        top.done_credits_i = give ? std::min(owed, 2U) : 0;
        owed -= top.done_credits_i;
        top.now_i = now & ((uint64_t{1} << args["width"]) - 1);
        top.eval();
        if (offers && top.s_packet_ready_o) offers = false;
        if (top.m_out_valid_o && top.m_out_ready_i) {
            out.push_back({top.m_out_queue_o, {top.m_out_payload_o, top.m_out_len_o, 0}});
        }
        if (top.m_done_valid_o) {
            owed++;
            done(top.m_done_queue_o);
        }
        tick();
    }

    void done(uint32_t id) {
        Queue& q = queues[id];
        if (!q.inside) fail(id, "done, but it has no packet here");
        q.inside = false;
        finished.push_back({id, q.packet});
        packets++;
        if (now >= warm) q.bytes += q.packet.length;
        latency = std::max(latency, now - q.packet.since);
        if (q.cls == 0) wait = std::max(wait, now - q.packet.since);
        const int level = static_cast<int>(args["level"]);
        Parent& p = parents[level][parent(level, id)];
        if (now >= warm) p.bytes += q.packet.length;
        if (judge_rate) {
            const int64_t charged = static_cast<int64_t>(now) - kCharge[level];
            if (charged < penstock::Shaper::eligible_cycle(p.time))
                fail(id, "let go " + std::to_string(penstock::Shaper::eligible_cycle(p.time) - charged) + " cycles early");
            p.time = penstock::Shaper::update(p.setting, p.time, charged, q.packet.length, args["tolerance"], args["width"]);
        }
        if (args["priority"] && !args["mix"]) {
            auto& mine = p.waiting[q.cls];
            mine.erase(std::find(mine.begin(), mine.end(), q.packet.since));
            for (uint32_t c = 0; c < q.cls; c++) {
                if (!p.waiting[c].empty() && now - p.waiting[c].front() > args["decision"])
                    fail(id, "class " + std::to_string(q.cls) + " leaves while class " + std::to_string(c) + " waits for " +
                                 std::to_string(now - p.waiting[c].front()) + " cycles");
            }
        }
        while (!out.empty() && !finished.empty()) {
            const auto [from, packet] = out.front();
            const auto [queue, expected] = finished.front();
            if (from != queue || packet.payload != expected.payload || packet.length != expected.length)
                fail(from, "another packet leaves than came");
            out.pop_front();
            finished.pop_front();
        }
        again(id, args["loop"] + (args["loop"] ? rng() % 4 : 0) + (q.empties ? 1 + rng() % 2000 : 0));
    }

    void again(uint32_t id, uint64_t delay) {
        later.push_back({now + delay, id});
        std::push_heap(later.begin(), later.end(), std::greater<>());
    }

    void change() {
        const int level = rng() % 3;
        const uint32_t id = rng() % parents[level].size();
        if (rng() % 4 == 0) {
            const uint32_t q = rng() % queues.size();
            queues[q].cls = rng() % args["classes"];
            queues[q].weight = 1 + rng() % 8;
            return set_queue(q);
        }
        auto& s = parents[level][id].setting;
        const uint32_t kind = rng() % 10;
        s = kind == 0   ? penstock::ShaperSetting{0, 0, 0}
            : kind == 1 ? penstock::ShaperSetting{}
                        : rate(1e6 * (1 << rng() % 8), rng() % 4096);
        if (level == 0) node_of[id] = rng() % node_of_count(), parents[0][id].weight = 1 + rng() % 8;
        if (level == 1) port_of[id] = rng() % parents[2].size();
        set_parent(level, id);
    }
    uint32_t node_of_count() const { return parents[1].size(); }

    void run() {
        const uint32_t subscribers = queues.size() / args["per_subscriber"];
        node_of.resize(subscribers);
        port_of.resize(args["nodes"]);
        parents[0].resize(subscribers);
        parents[1].resize(args["nodes"]);
        parents[2].resize(args["ports"]);
        for (auto& level : parents)
            for (auto& p : level) p.waiting.resize(args["classes"]);
        top.rst_i = 1;
        top.s_packet_valid_i = top.s_cfg_valid_i = 0;
        for (int i = 0; i < 3; i++) tick();
        top.rst_i = 0;
        while (!top.init_done_o) {
            top.now_i = now;
            tick();
        }
        judge_rate = !args["mix"];
        const int level = static_cast<int>(args["level"]);
        for (uint32_t s = 0; s < subscribers; s++) {
            node_of[s] = s % args["nodes"];
            if (level == 0) parents[0][s].setting = rate(static_cast<double>(args["kbps"]), args["burst"]);
            if (args["weights"]) parents[0][s].weight = 1 + rng() % 8;
            set_parent(0, s);
        }
        for (uint32_t n = 0; n < args["nodes"]; n++) {
            port_of[n] = n % args["ports"];
            if (level == 1) parents[1][n].setting = rate(static_cast<double>(args["kbps"]), args["burst"]);
            set_parent(1, n);
        }
        for (uint32_t p = 0; p < args["ports"]; p++) {
            if (level == 2) parents[2][p].setting = rate(static_cast<double>(args["kbps"]), args["burst"]);
            set_parent(2, p);
        }
        std::vector<uint32_t> used(subscribers);
        for (uint32_t s = 0; s < subscribers; s++) {
            static constexpr uint32_t kLengths[] = {60, 300, 1514, 9600};
            used[s] = args["queues_used"] ? args["queues_used"] : 1 + s % args["per_subscriber"];
            for (uint32_t i = 0; i < used[s]; i++) {
                const uint32_t id = s * args["per_subscriber"] + i;
                Queue& q = queues[id];
                if (args["weights"]) q.weight = 1 + rng() % 8;
                q.cls = args["priority"] ? rng() % args["classes"] : 0;
                q.length = args["length"] ? args["length"] : rng() % 2 ? kLengths[rng() % 4] : 0;
                set_queue(id);
                ready.push_back(id);
            }
        }
        start = now;
        warm = now + args["cycles"] / 10;
        while (now < start + args["cycles"]) {
            if (args["mix"] && rng() % 200 == 0) change();
            if (args["idle"] && now > pause_until && rng() % 20000 == 0)
                pause_until = now + (uint64_t{1} << args["width"]) * (50 + rng() % 200) / 100;
            cycle();
        }
        const uint64_t rated = packets * 1000 / (now - start), cycles = now - start;
        uint64_t share = 0, reached = 0;
        if (args["backlog"] && !args["mix"]) share = share_error(level, used), reached = rate_reached(level);
        // Everything opens, and everything inside leaves.
        const uint64_t wait_seen = wait, latency_seen = latency;
        judge_rate = false;
        pause_until = ~uint64_t{0};
        ready.clear();
        later.clear();
        for (int l = 0; l < 3; l++) {
            for (uint32_t id = 0; id < parents[l].size(); id++) {
                parents[l][id].setting = {};
                set_parent(l, id);
            }
        }
        const uint64_t limit = now + 8'000'000;
        const auto inside = [](const Queue& q) { return q.inside; };
        for (uint32_t quiet = 0; quiet < 100 && now < limit; quiet++) {
            later.clear();
            if (std::any_of(queues.begin(), queues.end(), inside) || offers) quiet = 0;
            cycle();
        }
        for (uint32_t q = 0; q < queues.size(); q++)
            if (queues[q].inside) fail(q, "its packet never leaves");
        if (out.size() != finished.size()) fail(0, "packets are left");
        std::printf("packets=%" PRIu64 " out=%" PRIu64 " latency=%" PRIu64 " share=%" PRIu64 " used=%" PRIu64 " wait=%" PRIu64
                    " cycles=%" PRIu64 "\n",
                    packets, rated, latency_seen, share, reached, wait_seen, cycles);
    }

    // In 1/10,000 of a percentage point of what the parent has sent: a queue whose subscriber has a small part of it is off by a packet at
    // each end, too.
    uint64_t share_error(int level, const std::vector<uint32_t>& used) {
        double worst = 0;
        for (uint32_t p = 0; p < parents[level].size(); p++) {
            Shares subscribers;
            double queue_off = 0;  // bytes
            for (uint32_t s = 0; s < node_of.size(); s++) {
                if (parent(level, s * args["per_subscriber"]) != p) continue;
                Shares own;
                for (uint32_t q = s * args["per_subscriber"]; q < s * args["per_subscriber"] + used[s]; q++)
                    own.add(static_cast<double>(queues[q].bytes), queues[q].weight);
                subscribers.add(own.bytes, parents[0][s].weight);
                queue_off = std::max(queue_off, own.error() * own.bytes);
            }
            worst = std::max(worst, queue_off / std::max(1.0, subscribers.bytes));
            if (level > 0) worst = std::max(worst, subscribers.error());
        }
        return static_cast<uint64_t>(worst * 1e6);
    }

    uint64_t rate_reached(int level) {
        double least = 1e9;
        for (const auto& p : parents[level]) {
            const double expected = args["kbps"] * 1e3 / 8 / 220e6 * static_cast<double>(now - warm);
            least = std::min(least, p.bytes / expected);
        }
        return static_cast<uint64_t>(least * 1e4);
    }

    uint64_t pause_until = 0;
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
