// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_hierarchy for long runs: hierarchy.hpp says what becomes of a packet, this one adds when, and allocates nothing.
//
// All that an operation decides is decided when it starts, each gate by the clock of the stage in which the RTL decides: at a gate operations
// come in the order of their start, so nothing can come in between but a setting, which is some cycles earlier here. What the RTL does
// when several things meet (a full FIFO before a wheel, two operations on one list) is not modelled; docs/architecture.md has by how much
// the times differ. Time is in cycles without wrap-around.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "../../queue/model/fast_queue_manager.hpp"
#include "../../schedule/model/shaper.hpp"
#include "fair_order.hpp"
#include "parent_wheel.hpp"

namespace penstock {

// Cycles of pst_hierarchy, pst_gate, pst_fair_lists and pst_subscriber_order; a change of these pipelines is a change here.
namespace hierarchy_timing {
inline constexpr int kDecide[3] = {4, 6, 8};  // from the start of an operation until subscriber, node and port decide
inline constexpr int kOut = 10;               // from there until the packet is offered, and its queue told
inline constexpr int kBack = 10;              // or until the place of one that waits can be used again
inline constexpr int kLook = 2;               // from the wheel until the gate is looked at once more
inline constexpr int kPlaceBack = 1;          // from there as if decided, when it was too early
inline constexpr int kPick[3] = {9, 10, 10};  // from the wheel until the picked queue can start its operation
inline constexpr int kListPick = 8;           // from the wheel until a fair list is looked at
inline constexpr int kOpen = 9;               // from a setting with an open gate until a parked parent is placed
inline constexpr int kUnpark = 2;             // from there until it comes out of the wheel
inline constexpr int kWalkCycles = 64;        // one operation in so many is a walk over old stamps, which changes nothing here
inline constexpr int kTolerance = 1024;       // of a gate, cycles
inline constexpr unsigned kPlaces = 32;       // operations under way and packets offered
inline constexpr unsigned kPicks = 12;        // parents under way from the wheel to stage 0, each level
}  // namespace hierarchy_timing

struct HierarchySizes {
    uint32_t queues_per_subscriber = 1, nodes = 2, ports = 2, classes = 1;
};

// A setting of the hierarchy, as pst_hierarchy_pkg::setting_e has them.
struct HierarchySetting {
    enum class What : uint8_t { Queue, Subscriber, Node, Port };
    What what = What::Queue;
    uint32_t id = 0;
    ShaperSetting shaper{};      // subscriber, node, port
    uint32_t parent = 0;         // of a subscriber its node, of a node its port
    uint8_t cls = 0, weight = 1; // queue
};

class TimedHierarchy {
  public:
    struct Packet {
        uint64_t tag;
        uint32_t queue, descriptor;
        uint16_t length;
        bool mark;
    };

    TimedHierarchy(uint32_t queues, const HierarchySizes& sizes)
        : sizes_(sizes),
          shift_(static_cast<unsigned>(__builtin_ctz(sizes.queues_per_subscriber))),
          subscribers_(queues >> shift_),
          groups_{std::vector<Group>(sizes.nodes), std::vector<Group>(sizes.ports)},
          lists_{std::vector<FairLists>(size_t{sizes.nodes} * sizes.classes), std::vector<FairLists>(size_t{sizes.ports} * sizes.classes)},
          credits_{std::vector<RoundCredit>(queues), std::vector<RoundCredit>(queues)},
          classes_(queues),
          held_(queues),
          links_(queues),
          wheels_{ParentWheel(queues >> shift_), ParentWheel(sizes.nodes), ParentWheel(sizes.ports)} {}

    void reset() { *this = TimedHierarchy(static_cast<uint32_t>(held_.size()), sizes_); }

    // Nothing can start before a packet is taken.
    bool blocked() const { return places_ == 0 && back_.empty(); }

    // ---- what comes out
    bool out_valid(int64_t now) const { return !out_.empty() && out_.front().from <= now; }
    const Packet& out() const { return out_.front().packet; }
    int64_t next_out() const { return out_.empty() ? ParentWheel::kNever : out_.front().from; }
    // A queue whose packet is through.
    bool done_valid(int64_t now) const { return !done_.empty() && done_.front().from <= now; }
    uint32_t done() const { return done_.front().queue; }
    bool done_slow() const { return done_.front().slow; }  // it had to wait
    int64_t next_done() const { return done_.empty() ? ParentWheel::kNever : done_.front().from; }

    bool setting_ready(HierarchySetting::What what) const {
        return what == HierarchySetting::What::Queue || opening_[static_cast<size_t>(what) - 1].at == ParentWheel::kNever;
    }

    // One cycle. offered: a packet whose queue may send, or null. Returns whether it was taken.
    bool step(int64_t now, const Packet* offered, bool out_taken, bool done_taken) {
        while (!back_.empty() && back_.front() <= now) {
            back_.pop();
            ++places_;
        }
        for (unsigned level = 0; level < 3; ++level) {
            if (opening_[level].at <= now) open(level, now);
            // One look a cycle, as the wheel gives them.
            if (releases_[level].size() < hierarchy_timing::kPicks && wheels_[level].ready(now)) look(level, wheels_[level].take(), now);
        }
        const bool taken = start(now, offered);
        if (out_taken) {
            out_.pop();
            ++places_;
        }
        if (done_taken) done_.pop();
        return taken;
    }

    // Only when setting_ready(); after step().
    void set(int64_t now, const HierarchySetting& s) {
        using What = HierarchySetting::What;
        if (s.what == What::Queue) {
            classes_[s.id] = {s.cls, s.weight};
            return;
        }
        const unsigned level = static_cast<unsigned>(s.what) - 1;
        Gate& gate = gate_of(level, s.id);
        gate.burst = s.shaper.burst;
        gate.mantissa = static_cast<uint16_t>(s.shaper.mantissa);
        gate.exponent = static_cast<uint8_t>(s.shaper.exponent);
        if (level == 0)
            subscribers_[s.id].node = s.parent;
        else if (level == 1)
            groups_[0][s.id].above = s.parent;
        if (s.shaper.mantissa != 0) opening_[level] = {now + hierarchy_timing::kOpen, s.id};
    }

    // The next cycle after `now` that must be stepped when nothing is offered and nothing taken.
    int64_t next_event(int64_t now) const {
        int64_t next = ParentWheel::kNever;
        for (unsigned level = 0; level < 3; ++level) {
            next = std::min(next, opening_[level].at);
            if (releases_[level].size() < hierarchy_timing::kPicks) next = std::min(next, wheels_[level].next(now));
            if (!releases_[level].empty() && !blocked()) next = std::min(next, releases_[level].front().at);
        }
        return std::max(next, now + 1);
    }

    // A packet of this queue waits at a gate, and its length.
    bool waits(uint32_t queue) const { return held_[queue].waits; }
    uint16_t waiting_length(uint32_t queue) const { return held_[queue].length; }
    void prefetch(uint32_t queue) const { __builtin_prefetch(&subscribers_[queue >> shift_], 1); }

  private:
    struct Gate {
        int64_t time = 0;  // earliest departure of the next packet, 2^-16 cycles
        uint32_t burst = 0;
        uint16_t mantissa = 1;
        uint8_t exponent = 0;
        bool parked = false;  // packets wait behind the closed gate

        bool open(int64_t now) const { return mantissa != 0 && time <= now * 65'536; }
        void charge(int64_t now, uint32_t length) {
            constexpr uint64_t kMost = (uint64_t{1} << 45) - 1;  // 2^29 cycles
            const uint64_t scaled = (uint64_t{length} * mantissa << exponent) >> 15;
            const int64_t floor = (now - std::max<int64_t>(burst, hierarchy_timing::kTolerance)) * 65'536;
            time = std::max(time, floor) + static_cast<int64_t>(std::min(scaled, kMost));
        }
    };
    // All that a packet asks for at open gates: one cache line.
    struct alignas(64) Subscriber {
        Gate gate;
        SubscriberOrder order;
        uint32_t node = 0;
    };
    static_assert(sizeof(Subscriber) == 64);
    struct Group {  // node or port
        Gate gate;
        uint32_t above = 0, count = 0;  // port of a node; packets that wait
    };
    struct Class {
        uint8_t cls = 0, weight = 1;
    };
    struct Held {  // a packet that waits, with class and weight that it came with
        uint64_t tag = 0;
        uint32_t descriptor = 0;
        uint16_t length = 0;
        bool mark : 1 = false, waits : 1 = false;
        uint8_t cls = 0, weight = 1;
    };
    struct Release {
        int64_t at;
        uint32_t parent, queue, round;
        bool none;  // nobody yet
    };
    struct Opening {
        int64_t at = ParentWheel::kNever;
        uint32_t parent = 0;
    };
    struct Out {
        int64_t from;
        Packet packet;
    };
    struct Done {
        int64_t from;
        uint32_t queue;
        bool slow;
    };

    Gate& gate_of(unsigned level, uint32_t id) { return level == 0 ? subscribers_[id].gate : groups_[level - 1][id].gate; }
    bool anybody(unsigned level, uint32_t id) const {
        return level == 0 ? !subscribers_[id].order.empty() : groups_[level - 1][id].count != 0;
    }

    // An opened gate whose parent was parked: it is due at once.
    void open(unsigned level, int64_t now) {
        Gate& gate = gate_of(level, opening_[level].parent);
        if (gate.parked) {
            gate.parked = false;
            wheels_[level].push(opening_[level].parent, now + hierarchy_timing::kUnpark);
        }
        opening_[level].at = ParentWheel::kNever;
    }

    // A parent came out of its wheel: if its time has come and its gate is open, it picks one of those who wait.
    void look(unsigned level, uint32_t parent, int64_t now) {
        namespace t = hierarchy_timing;
        Gate& gate = gate_of(level, parent);
        if (gate.mantissa == 0) {
            gate.parked = true;
            return;
        }
        if (!gate.open(now + t::kLook)) return wheels_[level].place(parent, gate.time, now + t::kPlaceBack);
        Release release{now + t::kPick[level], parent, 0, 0, false};
        if (level == 0) {
            release.queue = (parent << shift_) + subscribers_[parent].order.pick();
        } else {
            FairLists* lists = &lists_[level - 1][size_t{parent} * sizes_.classes];
            while (lists->empty()) ++lists;
            release.none = lists->in_grace(now + t::kListPick);
            if (!release.none) release.queue = lists->pick(links_.data(), now + t::kListPick);
            release.round = lists->round();
        }
        __builtin_prefetch(&held_[release.queue], 1);
        releases_[level].push(release);
    }

    // Stage 0: a walk, a new packet, or one that is let go; new ones and others in turn, of the latter the farthest first.
    bool start(int64_t now, const Packet* offered) {
        namespace t = hierarchy_timing;
        if ((now & (t::kWalkCycles - 1)) == 0 || places_ == 0 || done_.size() == t::kPlaces) return false;
        int level = 2;
        while (level >= 0 && (releases_[level].empty() || releases_[level].front().at > now)) --level;
        if (offered && (new_turn_ || level < 0)) {
            --places_;
            new_turn_ = false;
            ask(now, *offered, 0, subscribers_[offered->queue >> shift_].node);
            return true;
        }
        if (level < 0) return false;
        --places_;
        new_turn_ = true;
        const Release release = releases_[level].front();
        releases_[level].pop();
        let_go(now, static_cast<unsigned>(level), release);
        return false;
    }

    void let_go(int64_t now, unsigned level, const Release& release) {
        namespace t = hierarchy_timing;
        const int64_t decided = now + t::kDecide[level];
        Gate& gate = gate_of(level, release.parent);
        Held& held = held_[release.queue];
        if (level > 0 && (release.none || !may_go(level, release))) {
            if (!release.none) lists_[level - 1][size_t{release.parent} * sizes_.classes + held.cls].append_again(links_.data(), release.queue);
            wheels_[level].place(release.parent, gate.time, decided);
            back_.push(now + t::kBack);
            return;
        }
        gate.charge(decided, held.length);
        if (level == 0)
            subscribers_[release.parent].order.leave(release.queue & (sizes_.queues_per_subscriber - 1), held.length, held.weight);
        else
            --groups_[level - 1][release.parent].count;
        if (anybody(level, release.parent)) wheels_[level].place(release.parent, gate.time, decided);
        const uint32_t node = level == 0 ? subscribers_[release.parent].node : release.parent;
        if (ask(now, {held.tag, release.queue, held.descriptor, held.length, held.mark}, level + 1, node)) held.waits = false;
    }

    // Whether the queue that was picked may send in this round.
    bool may_go(unsigned level, const Release& release) {
        const Held& held = held_[release.queue];
        auto& credits = credits_[level - 1];
        const uint32_t first = release.queue & ~(sizes_.queues_per_subscriber - 1);
        uint32_t sharers = 1;
        for (uint32_t other = first; other < first + sizes_.queues_per_subscriber; ++other)
            sharers += other != release.queue && credits[other].shares(release.round, held.cls);
        return credits[release.queue].pick(release.round, sharers, held.weight, held.cls, held.length);
    }

    // A packet asks at the gates from `level` on. `node`: where it is, or was let go (then level is 2). Returns whether it passed them all.
    bool ask(int64_t now, const Packet& packet, unsigned level, uint32_t node) {
        namespace t = hierarchy_timing;
        const bool slow = level != 0;
        for (; level < 3; ++level) {
            const uint32_t id = level == 0 ? packet.queue >> shift_ : level == 1 ? node : groups_[0][node].above;
            const int64_t decided = now + t::kDecide[level];
            Gate& gate = gate_of(level, id);
            if (!anybody(level, id) && gate.open(decided)) {
                gate.charge(decided, packet.length);
                continue;
            }
            wait(level, id, packet, decided);
            back_.push(now + t::kBack);
            return false;
        }
        out_.push({now + t::kOut, packet});
        done_.push({now + t::kOut, packet.queue, slow});
        return true;
    }

    void wait(unsigned level, uint32_t id, const Packet& packet, int64_t decided) {
        Held& held = held_[packet.queue];
        if (!held.waits) {
            const Class& own = classes_[packet.queue];
            held = {packet.tag, packet.descriptor, packet.length, packet.mark, true, own.cls, own.weight};
        }
        if (!anybody(level, id)) wheels_[level].place(id, gate_of(level, id).time, decided);
        if (level == 0) {
            subscribers_[id].order.wait(packet.queue & (sizes_.queues_per_subscriber - 1), held.cls);
        } else {
            ++groups_[level - 1][id].count;
            lists_[level - 1][size_t{id} * sizes_.classes + held.cls].append(links_.data(), packet.queue, credits_[level - 1][packet.queue]);
        }
    }

    HierarchySizes sizes_;
    unsigned shift_;  // queue to subscriber
    std::vector<Subscriber> subscribers_;
    std::vector<Group> groups_[2];           // nodes, ports
    std::vector<FairLists> lists_[2];        // by node or port, and class
    std::vector<RoundCredit> credits_[2];    // by queue
    std::vector<Class> classes_;             // by queue
    std::vector<Held> held_;                 // by queue
    std::vector<uint32_t> links_;            // of the fair lists, by queue
    ParentWheel wheels_[3];
    SmallFifo<Release, 16> releases_[3];
    Opening opening_[3];
    bool new_turn_ = false;
    unsigned places_ = hierarchy_timing::kPlaces;
    SmallFifo<int64_t, 64> back_;
    SmallFifo<Out, 64> out_;
    SmallFifo<Done, 64> done_;
};

}  // namespace penstock
