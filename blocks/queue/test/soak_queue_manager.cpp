// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_queue_manager against its model: mixed enqueues and dequeues, one of each per cycle where the ports allow it.
//
// Arguments (name=value): queues, descriptors, operations, seed, pattern (0 random queues, 1 one queue, 2 neighbours,
// 3 a few hot queues), stall (permille of cycles in which the m_ streams are not taken), resets (number of resets in mid-traffic),
// left (the module reports the bytes left), head (it reports head lengths and backlogs), look (it is looked at all the time), fill (first
// one queue is filled to what its counters hold, and its limits change meanwhile). Prints enqueues=, dequeues=, drops=, cycles=, peak=,
// both= (cycles in which both ports worked on one queue), looks=, known= (those of them that found the queue's head, or none).
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "Vtop.h"
#include "queue/model/queue_manager.hpp"
#include "verilated.h"

namespace {

constexpr int kDequeueSpacing = 4;  // cycles from m_deq to the next dequeue of that queue
constexpr int kNoPage = 5;          // pst_pkg::DropNoPage

[[noreturn]] void fail(uint64_t cycle, const std::string& what) {
    std::printf("cycle %" PRIu64 ": %s\n", cycle, what.c_str());
    std::exit(1);
}

struct Event {
    int reason;
    uint32_t queue, length;
    uint64_t backlog;
};

struct Departure {
    uint32_t queue, descriptor, length;
    bool backlogged;
    uint64_t left, due;
    uint32_t head;  // length of the packet behind it
};

struct Active {
    uint32_t queue, length;
};

class Bench {
  public:
    Bench(std::map<std::string, uint64_t> a)
        : args(std::move(a)), rng(args["seed"]), queues(args["queues"]), descriptors(args["descriptors"]) {}

    void run() {
        const uint64_t rounds = args["resets"] + 1;
        for (uint64_t round = 0; round < rounds; round++) {
            reset();
            if (args["fill"]) fill();
            const uint64_t until = dequeues + args["operations"] / rounds;
            while (dequeues < until) cycle(true);
        }
        drain();
        std::printf("enqueues=%" PRIu64 " dequeues=%" PRIu64 " drops=%" PRIu64 " cycles=%" PRIu64 " peak=%" PRIu64 " both=%" PRIu64
                    " looks=%" PRIu64 " known=%" PRIu64 "\n",
                    enqueues, dequeues, drops, now, peak, both, looks, known);
    }

  private:
    void reset() {
        top->rst_i = 1;
        top->s_enq_valid_i = top->s_deq_valid_i = top->s_cfg_valid_i = 0;
        for (int i = 0; i < 3; i++) tick();
        top->rst_i = 0;
        while (!top->init_done_o) tick();
        model = std::make_unique<penstock::QueueManager>(queues);
        free.clear();
        for (uint32_t d = 0; d < descriptors; d++) free.push_back(d);
        std::shuffle(free.begin(), free.end(), rng);
        events.clear();
        departures.clear();
        activations.clear();
        dropped.clear();
        backlogged.clear();
        place.assign(queues, -1);
        ready_again.clear();
        offered.reset();
        taken.reset();
        deciding.clear();
        left.reset();
        backlog.reset();
        heads = {};
        lengths.assign(queues, {});
        order.assign(queues, {});
        limits.assign(queues, {penstock::QueueManager::kMaxPackets, penstock::QueueManager::kMaxBytes});
        looking = {};
        answers.clear();
        // Small limits in some queues, so that tail drop happens, in packets and in bytes.
        for (uint32_t i = 0; i < std::min<uint32_t>(queues, 64); i++) configure(i);
    }

    // One queue full of short packets up to the largest limit in packets, and full of long ones up to the largest in bytes; lower limits
    // then let nothing in, however much more is in the queue.
    void fill() {
        const uint32_t queue = 7 % queues, most = penstock::QueueManager::kMaxPackets, largest = penstock::QueueManager::kMaxBytes;
        for (const uint32_t length : {60u, 16383u}) {
            configure(queue, most, largest);
            holding = length;
            const auto full = [&] { return length == 60 ? model->packets(queue) == most : model->bytes(queue) + length > largest; };
            for (const uint64_t until = now + 200000; !full();) {
                cycle(true);
                if (now > until) fail(now, "the queue does not become full");
            }
            for (const auto& [packets, bytes] : {std::pair{0u, largest}, {most, 0u}, {1u, 1u}, {most / 2, largest / 2}, {most, largest}}) {
                configure(queue, packets, bytes);
                for (int i = 0; i < 100; i++) cycle(true);
            }
            holding = 0;
            drain();
        }
    }

    void configure(uint32_t queue) { configure(queue, 1 + rng() % 24, rng() % 2 ? 16777215 : 2000 + rng() % 30000); }

    void configure(uint32_t queue, uint32_t packets, uint32_t bytes) {
        top->s_cfg_valid_i = 1;
        top->s_cfg_queue_i = queue;
        top->s_cfg_limit_packets_i = packets;
        top->s_cfg_limit_bytes_i = bytes;
        cycle(true);
        top->s_cfg_valid_i = 0;
        model->set_limits(queue, packets, bytes);
        limits[queue] = {packets, bytes};
    }

    uint32_t pick() {
        if (holding) return 7 % queues;
        switch (args["pattern"]) {
            case 1:
                return 7 % queues;
            case 2:
                return (now / 2 + rng() % 3) % queues;
            case 3:
                return rng() % 8 ? rng() % std::min<uint32_t>(queues, 5) : rng() % queues;
            default:
                return rng() % queues;
        }
    }

    // A queue enters the set of dequeuable queues when it is announced, or when its dequeue said that packets are left.
    void add(uint32_t queue) {
        if (place[queue] >= 0) fail(now, "queue " + std::to_string(queue) + " is announced twice");
        place[queue] = static_cast<int64_t>(backlogged.size());
        backlogged.push_back(queue);
    }

    uint32_t take() {
        const size_t i = args["pattern"] == 1 ? 0 : rng() % backlogged.size();
        const uint32_t queue = backlogged[i];
        backlogged[i] = backlogged.back();
        place[backlogged[i]] = static_cast<int64_t>(i);
        backlogged.pop_back();
        place[queue] = -1;
        return queue;
    }

    void cycle(bool traffic) {
        // Queues whose spacing is over may be dequeued again.
        std::erase_if(ready_again, [&](const auto& waiting) {
            if (waiting.first > now) return false;
            add(waiting.second);
            return true;
        });
        // Phases of filling and draining, so that queues run empty and full.
        const bool filling = (now / 4096) % 2 == 0;
        // A dequeue starts, and two cycles later takes its packet or leaves it.
        top->s_deq_valid_i = !holding && !backlogged.empty() && rng() % 1000 < (filling ? 600 : 980);
        const bool takes = rng() % 8 != 0;
        uint32_t deq_queue = 0;
        if (top->s_deq_valid_i) {
            deq_queue = take();
            top->s_deq_queue_i = deq_queue;
            if (!takes) ready_again.push_back({now + kDequeueSpacing + 3, deq_queue});
        }
        deciding.push_back(takes);
        top->s_deq_take_i = deciding.size() > 2 ? deciding.front() : 0;
        if (deciding.size() > 2) deciding.pop_front();
        if (traffic && !offered && rng() % 1000 < (filling ? 980 : 600) && (!free.empty() || rng() % 2)) {
            const bool lost = free.empty() || rng() % 50 == 0;
            const uint32_t length = holding ? holding : 14 + rng() % (rng() % 4 ? 1500 : 9587);
            offered = Offer{pick(), lost ? 0 : free.back(), length, lost};
            if (!lost) free.pop_back();
        }
        top->s_enq_valid_i = offered.has_value();
        if (offered) {
            top->s_enq_queue_i = offered->queue;
            top->s_enq_desc_i = offered->descriptor;
            top->s_enq_len_i = offered->length;
            top->s_enq_reason_i = offered->lost ? kNoPage : 0;
        }
        // The queue that is looked at is known for some cycles before, so that its head is, too.
        if (args["look"] && looking.taken != 0 && now > looking.taken + 1) looking = {pick(), now + 3, 0, {}};
        top->s_look_valid_i = args["look"] && looking.taken == 0 && now >= looking.from;
        top->s_look_queue_i = looking.queue;
        top->m_active_ready_i = rng() % 1000 >= args["stall"];
        top->m_drop_ready_i = rng() % 1000 >= args["stall"];
        top->eval();

        // The model: dequeues commit two cycles after their start, enqueues three; in one cycle the dequeue comes first. The limits
        // still count what was dequeued in the enqueue's last two cycles.
        Leaving leaving;
        if (top->s_deq_valid_i && takes) {
            const auto d = model->dequeue(deq_queue);
            lengths[deq_queue].pop_front();
            order[deq_queue].pop_front();
            departures.push_back({deq_queue, d.packet.descriptor, d.packet.length, d.backlogged, model->bytes(deq_queue), now + 3,
                                  d.backlogged ? lengths[deq_queue].front() : 0});
            leaving = {true, deq_queue, d.packet.length};
        }
        if (taken) {
            uint32_t packets = 0, bytes = 0;
            for (const Leaving& l : {leaving, leaving_before}) {
                if (!l.valid || l.queue != taken->queue) continue;
                packets++;
                bytes += l.length;
            }
            const auto r = taken->lost ? penstock::QueueManager::Enqueued{static_cast<penstock::QueueDrop>(kNoPage), false}
                                       : model->enqueue(taken->queue, taken->descriptor, taken->length, packets, bytes);
            events.push_back({static_cast<int>(r.reason), taken->queue, taken->length, model->bytes(taken->queue)});
            if (r.activated) activations.push_back({taken->queue, taken->length});
            if (r.reason == penstock::QueueDrop::None) {
                lengths[taken->queue].push_back(taken->length);
                order[taken->queue].push_back(taken->descriptor);
            }
            if (r.reason != penstock::QueueDrop::None && !taken->lost) dropped.push_back(taken->descriptor);
            if (r.reason == penstock::QueueDrop::None)
                enqueues++;
            else
                drops++;
            if (leaving.valid && deq_queue == taken->queue) both++;
            peak = std::max<uint64_t>(peak, model->packets(taken->queue));
        }
        leaving_before = leaving;
        taken.reset();
        // The model is two cycles ahead of the commits. What is in the queue is that of the third cycle after a look was taken, its head
        // that of the cycle before.
        if (looking.taken != 0 && now == looking.taken + 1)
            answers.back().packets = model->packets(looking.queue), answers.back().bytes = model->bytes(looking.queue);
        looking.heads = {looking.heads[1], looking.heads[2], order[looking.queue].empty() ? kNone : order[looking.queue].front()};
        if (top->s_look_valid_i && top->s_look_ready_o) {
            looking.taken = now;
            answers.push_back({now, looking.heads[0], 0, 0, limits[looking.queue]});
            looks++;
        }
        if (top->s_enq_valid_i && top->s_enq_ready_o) taken.swap(offered);
        check();
        tick();
    }

    // What a look found: the head first.
    void check_look() {
        const bool head = !answers.empty() && answers.front().taken + 3 == now, all = !answers.empty() && answers.front().taken + 4 == now;
        if (top->m_head_valid_o != head || top->m_look_valid_o != all) fail(now, "a look is answered in another cycle");
        if (head && top->m_head_known_o) {
            const Answer& a = answers.front();
            known++;
            if (top->m_head_empty_o != (a.head == kNone) || (a.head != kNone && top->m_deq_desc_o != a.head))
                fail(now, "a look found descriptor " + std::to_string(top->m_deq_desc_o) + " at the head, model " + std::to_string(a.head));
        }
        if (!all) return;
        const Answer a = answers.front();
        answers.pop_front();
        if (top->m_look_packets_o != a.packets || top->m_look_bytes_o != a.bytes)
            fail(now, "a look found " + std::to_string(top->m_look_packets_o) + " packets, model " + std::to_string(a.packets));
        if (top->m_look_limit_packets_o != a.limits.first || top->m_look_limit_bytes_o != a.limits.second)
            fail(now, "a look found other limits");
    }

    // What the module shows in this cycle.
    void check() {
        check_look();
        if (backlog && (args["head"] ? *backlog : 0) != top->ev_backlog_o)
            fail(now, "a backlog of " + std::to_string(top->ev_backlog_o) + " byte, model " + std::to_string(*backlog));
        backlog.reset();
        if (heads[0] && (args["head"] ? *heads[0] : 0) != top->m_deq_head_o)
            fail(now, "a head of " + std::to_string(top->m_deq_head_o) + " byte, model " + std::to_string(*heads[0]));
        heads = {heads[1], std::nullopt};
        if (top->ev_valid_o) {
            if (events.empty()) fail(now, "an event without an enqueue");
            const Event e = events.front();
            events.pop_front();
            if (top->ev_reason_o != e.reason || top->ev_queue_o != e.queue || top->ev_len_o != e.length)
                fail(now, "decision on queue " + std::to_string(e.queue) + ": reason " + std::to_string(top->ev_reason_o) + ", model " +
                              std::to_string(e.reason));
            if (e.reason == 0) backlog = e.backlog;
        }
        std::optional<uint64_t> answered;
        if (!departures.empty() && departures.front().due == now) {
            const Departure d = departures.front();
            answered = d.left;
            heads[1] = d.head;
            departures.pop_front();
            if (!top->m_deq_valid_o || top->m_deq_queue_o != d.queue || top->m_deq_desc_o != d.descriptor || top->m_deq_len_o != d.length ||
                top->m_deq_backlogged_o != d.backlogged)
                fail(now, "dequeue of queue " + std::to_string(d.queue) + " gave descriptor " + std::to_string(top->m_deq_desc_o) +
                              " length " + std::to_string(top->m_deq_len_o) + ", model " + std::to_string(d.descriptor) + " length " +
                              std::to_string(d.length));
            free.push_back(d.descriptor);
            dequeues++;
            if (d.backlogged) ready_again.push_back({now + kDequeueSpacing, d.queue});
        } else if (top->m_deq_valid_o) {
            fail(now, "an answer without a dequeue");
        }
        if (left && (args["left"] ? *left : 0) != top->m_deq_left_o)
            fail(now, std::to_string(top->m_deq_left_o) + " byte left, model " + std::to_string(*left));
        left = answered;
        if (top->m_active_valid_o && top->m_active_ready_i) {
            if (activations.empty() || activations.front().queue != top->m_active_queue_o) fail(now, "wrong queue announced as active");
            if (top->m_active_len_o != (args["head"] ? activations.front().length : 0)) fail(now, "announced with a wrong length");
            activations.pop_front();
            add(top->m_active_queue_o);
        }
        if (top->m_drop_valid_o && top->m_drop_ready_i) {
            if (dropped.empty() || dropped.front() != top->m_drop_desc_o) fail(now, "wrong descriptor freed");
            free.push_back(dropped.front());
            dropped.pop_front();
        }
    }

    void drain() {
        const uint64_t limit = now + 64 * descriptors + 100000;
        while ((free.size() < descriptors || offered || taken) && now < limit) cycle(false);
        if (free.size() != descriptors) fail(now, std::to_string(descriptors - free.size()) + " descriptors leaked");
    }

    void tick() {
        top->clk_i = 0;
        top->eval();
        top->clk_i = 1;
        top->eval();
        if (Verilated::gotFinish()) fail(now, "assertion");
        now++;
    }

    struct Offer {
        uint32_t queue, descriptor, length;
        bool lost;
    };

    std::unique_ptr<Vtop> top = std::make_unique<Vtop>();
    std::map<std::string, uint64_t> args;
    std::mt19937 rng;
    uint32_t queues, descriptors;
    uint64_t now = 0, enqueues = 0, dequeues = 0, drops = 0, peak = 0, both = 0;
    std::unique_ptr<penstock::QueueManager> model;
    std::vector<uint32_t> free, backlogged;
    std::vector<int64_t> place;
    std::deque<Event> events;
    std::deque<Departure> departures;
    std::deque<Active> activations;
    std::deque<uint32_t> dropped;
    std::vector<std::deque<uint32_t>> lengths;  // of the packets in each queue
    std::vector<std::pair<uint64_t, uint32_t>> ready_again;
    struct Leaving {
        bool valid = false;
        uint32_t queue = 0, length = 0;
    };

    static constexpr uint32_t kNone = UINT32_MAX;
    struct Looking {
        uint32_t queue = 0;
        uint64_t from = 0, taken = 0;     // cycles; 0: not yet
        std::array<uint32_t, 3> heads{};  // of the model, in the last cycles
    };
    struct Answer {
        uint64_t taken;
        uint32_t head;
        uint64_t packets, bytes;
        std::pair<uint32_t, uint32_t> limits;
    };

    Looking looking;
    std::deque<Answer> answers;
    std::vector<std::deque<uint32_t>> order;            // descriptors in each queue
    std::vector<std::pair<uint32_t, uint32_t>> limits;  // packets, bytes
    uint64_t looks = 0, known = 0;
    std::optional<Offer> offered, taken;           // at the port; taken in the last cycle, not yet seen by the model
    uint32_t holding = 0;                          // nothing is dequeued, and all packets have this length
    std::optional<uint64_t> left;                  // bytes left behind the dequeue of the last cycle
    std::optional<uint64_t> backlog;               // bytes in the queue of the event of the last cycle
    std::array<std::optional<uint32_t>, 2> heads;  // lengths behind the dequeues of the cycle before the last one, and of the last one
    std::deque<bool> deciding;                     // whether the dequeues of the last two cycles take their packet
    Leaving leaving_before;
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
