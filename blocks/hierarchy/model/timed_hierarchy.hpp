// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_hierarchy for long runs: hierarchy.hpp says what becomes of a packet, this one adds when, and allocates nothing.
//
// All that an operation decides is decided when it starts, each gate by the clock of the stage in which the RTL decides: at a gate
// operations come in the order of their start, so nothing can come in between but a setting, which is some cycles earlier here. What the
// RTL does when several things meet (a full FIFO before a wheel, two operations on one list) is not modelled; docs/architecture.md has by
// how much the times differ. Time is in cycles without wrap-around.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../../queue/model/fast_queue_manager.hpp"
#include "../../timing/model/shaper.hpp"
#include "fair_order.hpp"
#include "fair_picker.hpp"
#include "parent_wheel.hpp"
#include "waits_above.hpp"

namespace penstock {

// Cycles of pst_hierarchy, pst_gate, pst_fair_lists and pst_subscriber_queues; a change of these pipelines is a change here.
namespace hierarchy_timing {
inline constexpr int kRead[3] = {1, 3, 5};     // from the start of an operation until the settings of subscriber, node and port are read
inline constexpr int kDecide[3] = {5, 7, 9};   // until these decide
inline constexpr int kDone = 10;               // until a packet is through
inline constexpr int kOut = 11;                // and until it is offered
inline constexpr int kBack = 12;               // or until the place of one that waits can be used again
inline constexpr int kTaken = 2;               // from a packet's being taken until its place can be used again
inline constexpr int kForgotten = 4;           // from a packet's being through until its place can, when its queue needs no wake-up
inline constexpr int kTold = 1;                // the same from the cycle after that of its wake-up
inline constexpr int kLook = 2;                // from the wheel until the gate is looked at once more
inline constexpr int kPlaceBack = 1;           // from there as if decided, when it was too early
inline constexpr int kPick = 8;                // from the wheel until the picked queue of a subscriber can start its operation
inline constexpr int kSeen[3] = {1, 0, 0};     // what waits since so many cycles before it comes out of the wheel is not seen by its pick
inline constexpr int kAppend[3] = {0, 9, 11};  // until a list of what waits at node or port is changed
inline constexpr int kAbove = 16;              // from the start of an operation until it is seen what it changed of what waits above,
inline constexpr int kLookAbove = 1;           // from that of one that a subscriber lets go until it looks there,
inline constexpr int kGraceAbove = 3;          // and until it is compared when the last one has left
inline constexpr int kWake = 1;                // from there until a parent that has held back is placed
inline constexpr int kOpen = 9;                // from a setting with an open gate until a parked parent is placed
inline constexpr int kWalkCycles = 64;         // one operation in so many is a walk over old stamps, which changes nothing here
inline constexpr int kTolerance = 1024;        // of a gate, cycles, unless the device has another
// A node or port that is less late than this may wait for a higher class: half of the tolerance, in 13 bits.
inline constexpr int64_t patient(int64_t tolerance) { return tolerance < 8192 ? tolerance / 2 : 4096; }
inline constexpr unsigned kPlaces = 32;  // operations under way and packets offered; the same and wake-ups that are not taken yet
inline constexpr unsigned kWakes = 32;   // nodes that are to be looked at again; nothing starts while more are
inline constexpr unsigned kPicks = 12;   // parents that have asked and are not answered, each level
inline constexpr unsigned kTrainLog = picker_timing::kTrainLog;  // of a node or port that is behind its time
inline constexpr int64_t kLargest = 1 << 14;                     // bytes of a packet that a batch is made for
inline constexpr int kHoldLeast = 11, kHoldMost = 25;  // log2 of the burst from which on a parent holds back, and up to which longer
inline constexpr int64_t kSpanMost = 1 << 13;          // cycles of such a packet; a parent that needs as many lets no batches go
inline constexpr int kSeenCredit = 7;                  // cycles from one pick's operation to that which sees what the first left of credit
}  // namespace hierarchy_timing

struct HierarchySizes {
    uint32_t queues_per_subscriber = 1, nodes = 2, ports = 2, classes = 1;
};

// A setting of the hierarchy, as pst_hierarchy_pkg::setting_e has them.
struct HierarchySetting {
    enum class What : uint8_t { Queue, Subscriber, Node, Port };
    What what = What::Queue;
    uint32_t id = 0;
    ShaperSetting shaper{};       // subscriber, node, port
    uint32_t parent = 0;          // of a subscriber its node, of a node its port
    uint8_t cls = 0, weight = 1;  // queue
};

class TimedHierarchy {
  public:
    struct Packet {
        uint64_t tag;
        uint32_t queue, descriptor;
        uint16_t length;
        bool mark;
        bool empties;  // it has left its queue empty
    };

    // tolerance: ToleranceCycles of the RTL.
    TimedHierarchy(uint32_t queues, const HierarchySizes& sizes, uint32_t tolerance = hierarchy_timing::kTolerance)
        : sizes_(sizes),
          tolerance_(tolerance),
          shift_(static_cast<unsigned>(__builtin_ctz(sizes.queues_per_subscriber))),
          subscribers_(queues >> shift_),
          groups_{std::vector<Group>(sizes.nodes), std::vector<Group>(sizes.ports)},
          pickers_{FairPicker(sizes.nodes, sizes.classes, queues), FairPicker(sizes.ports, sizes.classes, queues)},
          credits_{std::vector<RoundCredit>(queues), std::vector<RoundCredit>(queues)},
          classes_(queues),
          held_(queues),
          above_{WaitsAbove(sizes.queues_per_subscriber > 1 ? queues >> shift_ : 0, sizes.queues_per_subscriber, true),
                 WaitsAbove(sizes.nodes, queues)},
          wheels_{ParentWheel(queues >> shift_), ParentWheel(sizes.nodes), ParentWheel(sizes.ports)} {
        for (std::vector<Group>& groups : groups_)
            for (Group& group : groups) group.most = group.longest(tolerance);
    }

    void reset() { *this = TimedHierarchy(static_cast<uint32_t>(held_.size()), sizes_, tolerance_); }

    // Nothing can start before a packet is taken.
    bool blocked() const { return places_ == 0 && back_.empty() && taken_.empty(); }

    // ---- what comes out
    bool out_valid(int64_t now) const { return !out_.empty() && out_.front().from <= now; }
    const Packet& out() const { return out_.front().packet; }
    int64_t next_out() const { return out_.empty() ? ParentWheel::kNever : out_.front().from; }
    // A queue whose packet is through.
    bool done_valid(int64_t now) const { return !done_.empty() && done_.front().from <= now; }
    uint32_t done() const { return done_.front().queue; }
    bool done_slow() const { return done_.front().slow; }  // it had to wait
    int64_t next_done() const { return done_.empty() ? ParentWheel::kNever : done_.front().from; }

    bool setting_ready() const { return !offered_; }

    // It is noted: its queue is to wake up, and once more when it did; or it need not.
    void note_done(int64_t now, bool to_tell) {
        done_.pop();
        if (!to_tell) forgotten_.push_in_order(now + hierarchy_timing::kForgotten);
    }
    void told(int64_t now) { forgotten_.push_in_order(now + hierarchy_timing::kTold); }

    // One cycle. offered: a packet whose queue may send, or null. Returns whether it was taken.
    bool step(int64_t now, const Packet* offered, bool out_taken) {
        if (now - swept_ > stamps::kSweep) sweep(now);
        last_step_ = now;
        if (offered_ && offered_from_ <= now && level_ready(offered_->what)) {
            set(now, *offered_);
            offered_.reset();
        }
        while (!back_.empty() && back_.front() <= now) {
            back_.pop();
            ++places_;
            ++done_places_;
        }
        while (!taken_.empty() && taken_.front() <= now) {
            taken_.pop();
            ++places_;
        }
        while (!forgotten_.empty() && forgotten_.front() <= now) {
            forgotten_.pop();
            ++done_places_;
        }
        for (unsigned level = 0; level < 2; ++level) {
            const int64_t seen = now + (level == 0 ? hierarchy_timing::kLookAbove : picker_timing::kAhead);
            above_[level].apply(seen, [&](uint32_t id, int64_t at) { wakes_[level].push({at + hierarchy_timing::kWake, id}); });
        }
        for (unsigned level = 0; level < 3; ++level) {
            if (opening_[level].at <= now) open(level, now);
            if (level < 2 && !wakes_[level].empty() && wakes_[level].front().at <= now && wheels_[level].free(now)) {
                wheels_[level].place_due(wakes_[level].front().parent, now);
                wakes_[level].pop();
            }
            // One look a cycle, as the wheel gives them.
            const int64_t out = now + hierarchy_timing::kSeen[level];
            if (under_way(level) < hierarchy_timing::kPicks && wheels_[level].ready(out)) look(level, wheels_[level].take(), out);
        }
        for (unsigned level = 3; level-- > 0;) {
            if (!stages_[level].empty() && stages_[level].front().start + hierarchy_timing::kRead[level] <= now) {
                const Operation operation = stages_[level].front();
                stages_[level].pop();
                execute(level, operation);
            }
            if (level == 0) continue;
            pickers_[level - 1].step(
                now, [this](uint32_t node, uint32_t cls) { return above_[1].blocked(node, cls); },
                [this](uint32_t node, uint32_t cls, int64_t at) { return above_[1].in_grace(node, cls, at); });
            pickers_[level - 1].stand(now, [this](Pick& pick) {
                const Held& stands = held_[pick.queue];
                pick.queue = pick.queue - index_of(pick.queue) + stands.next;
                pick.hold = stands.hold;
            });
        }
        const bool taken = start(now, offered);
        if (node_set_) note_moved(*node_set_);
        node_set_.reset();
        if (out_taken) {
            out_.pop();
            taken_.push(now + hierarchy_timing::kTaken);
        }
        return taken;
    }

    // Only when setting_ready(). It is in force when its level takes it, in the next cycle or when a gate there has opened.
    void offer(int64_t now, const HierarchySetting& setting) {
        offered_ = setting;
        offered_from_ = now + 1;
    }

    // A setting as it is now or, if it waits for its level, will be; what is not of it as in a new one.
    HierarchySetting setting(HierarchySetting::What what, uint32_t id) const {
        using What = HierarchySetting::What;
        HierarchySetting found{what, id};
        if (offered_ && offered_->what == what && offered_->id == id) {
            if (what != What::Queue) found.shaper = offered_->shaper;
            if (what == What::Queue) found.cls = offered_->cls;
            if (what == What::Queue || what == What::Subscriber) found.weight = offered_->weight;
            if (what == What::Subscriber || what == What::Node) found.parent = offered_->parent;
            return found;
        }
        if (what == What::Queue) {
            found.cls = classes_[id].cls;
            found.weight = classes_[id].weight;
            return found;
        }
        const Gate& gate = what == What::Subscriber ? subscribers_[id].gate : groups_[static_cast<size_t>(what) - 2][id].gate;
        found.shaper = {gate.mantissa, gate.exponent, gate.burst};
        if (what == What::Subscriber) {
            found.parent = subscribers_[id].node;
            found.weight = static_cast<uint8_t>(subscribers_[id].weight);
        } else if (what == What::Node) {
            found.parent = groups_[0][id].above;
        }
        return found;
    }

    // The next cycle after `now` that must be stepped when nothing is offered and nothing taken.
    int64_t next_event(int64_t now) const {
        if (offered_) return now + 1;
        int64_t next =
            above_[0].holding() || moved_ ? (now / hierarchy_timing::kWalkCycles + 1) * hierarchy_timing::kWalkCycles : ParentWheel::kNever;
        for (unsigned level = 0; level < 2; ++level)
            next = std::min({next, above_[level].next(), wakes_[level].empty() ? ParentWheel::kNever : wakes_[level].front().at});
        for (unsigned level = 0; level < 3; ++level) {
            next = std::min(next, opening_[level].at);
            const int seen = hierarchy_timing::kSeen[level];
            if (under_way(level) < hierarchy_timing::kPicks) next = std::min(next, wheels_[level].next(now + seen) - seen);
            if (level > 0) next = std::min(next, pickers_[level - 1].next_event(now));
            if (!stages_[level].empty()) next = std::min(next, stages_[level].front().start + hierarchy_timing::kRead[level]);
            if (!picks(level).empty() && !blocked()) next = std::min(next, picks(level).front().at);
        }
        return std::max(next, now + 1);
    }

    void prefetch(uint32_t queue) const { __builtin_prefetch(&subscribers_[queue >> shift_], 1); }

  private:
    struct Gate {
        int64_t time = 0;  // earliest departure of the next packet (schedule/model/stamp.hpp)
        uint32_t burst = 0;
        uint16_t mantissa = 1;
        uint8_t exponent = 0;
        bool parked = false;  // packets wait behind the closed gate

        bool open(int64_t now) const { return mantissa != 0 && stamps::due(time, now); }
        int64_t late(int64_t now) const { return now - 1 - stamps::cycle_of(stamps::after(time, -1), now); }
        // Less late than this it holds back for what waits above: a power of two, half of what is made up for at most.
        int64_t hold(uint32_t tolerance) const {
            const int log =
                std::min(static_cast<int>(std::bit_width(uint64_t{std::max(burst, tolerance)})) - 1, hierarchy_timing::kHoldMost);
            return log < hierarchy_timing::kHoldLeast ? 0 : int64_t{1} << (log - 1);
        }
        int64_t made_up(uint32_t tolerance) const { return std::max(burst, tolerance); }
        int64_t increment(int64_t length) const {
            constexpr uint64_t kMost = (uint64_t{1} << 45) - 1;  // 2^29 cycles
            return static_cast<int64_t>(std::min((static_cast<uint64_t>(length) * mantissa << exponent) >> 15, kMost));
        }
        void charge(int64_t now, uint32_t length, uint32_t tolerance) {
            time = stamps::after(stamps::later(time, stamps::at(now - made_up(tolerance))), increment(length));
        }
    };
    // All that a packet asks for at open gates: one cache line.
    struct alignas(64) Subscriber {
        Gate gate;
        SiblingOrder order;
        SubscriberQueues queues;
        uint8_t weight = 1;
        uint32_t node = 0;
    };
    static_assert(sizeof(Subscriber) == 64);
    struct Group {  // node or port
        Gate gate;
        uint32_t above = 0, count = 0;  // port of a node; packets that wait
        int64_t span = 1;               // cycles of the largest packet, and more than it takes
        unsigned most = 0;              // log2 of the longest batch that the tolerance allows
        bool holds = false;             // a node, when it was looked at last

        void set_train(uint32_t tolerance) {
            span = (gate.increment(hierarchy_timing::kLargest) >> 16) + 1;
            most = span >= hierarchy_timing::kSpanMost ? 0 : longest(gate.made_up(tolerance));
        }
        // log2 of the longest batch of the largest packets whose last one is not early, when the first is so late.
        unsigned longest(int64_t late) const {
            unsigned log = 0;
            while (log < hierarchy_timing::kTrainLog && ((int64_t{2} << log) - 1) * span <= late) ++log;
            return log;
        }
        unsigned train(int64_t now) const { return 1U << std::min(most, longest(gate.late(now))); }
    };
    struct Class {
        uint8_t cls : 4 = 0, weight : 4 = 1;
    };
    struct Held {  // a packet that waits, with the class that it came with
        uint64_t tag = 0;
        uint32_t descriptor = 0;
        uint16_t length = 0;
        bool mark : 1 = false, waits : 1 = false;
        uint8_t cls : 4 = 0, level : 2 = 0;   // 1 node, 2 port: it waits there
        uint32_t node = 0;                    // at a port: of this node
        uint32_t parent : 26 = 0;             // at this one
        uint32_t next : 3 = 0, hold : 2 = 0;  // which of its subscriber's queues that wait with it goes first, and how often it holds back
        bool alone : 1 = false;               // when it came, others of its subscriber waited at another parent of this level
    };
    using Pick = FairPicker::Pick;
    struct Operation {
        int64_t start;
        Packet packet;
        Pick pick;
        uint32_t above;       // the parent at the level that is next; of the node's stage and before, the node
        uint32_t node;        // of a packet that asks
        Class own;            // of a queue that asks for the first time
        bool picked;          // it is let go at its level
        bool slow;            // it had to wait
        bool waited = false;  // above its subscriber
        bool behind = false;  // at its node it waits in any case: it would go out of turn

        // Its subscriber, which has let it go, was too late to hold back.
        bool anew() const { return slow && !waited && !pick.holds; }

        bool operator<(const Operation& other) const { return start < other.start; }
    };
    // Stages of the RTL see what a memory held some cycles ago: a word of credit before the pick that started then, and how much a
    // subscriber's queues had had before the packet that started then.
    struct RecentCredit {
        int64_t start = -hierarchy_timing::kSeenCredit;
        uint32_t word = 0;
        RoundCredit before{};
    };
    struct RecentOrder {
        int64_t start = -1;
        uint32_t subscriber = 0;
        SiblingOrder before{};
    };
    struct RecentWeight {
        int64_t at = -1;
        uint32_t queue = 0, before = 1;
    };
    static constexpr unsigned kRecent = 8;
    struct Opening {
        int64_t at = ParentWheel::kNever;
        uint32_t parent = 0;
    };
    struct Wake {
        int64_t at;
        uint32_t parent;
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

    // Renews old stamps.
    void sweep(int64_t now) {
        for (Subscriber& subscriber : subscribers_) subscriber.gate.time = stamps::renewed(subscriber.gate.time, last_step_, now);
        for (std::vector<Group>& groups : groups_)
            for (Group& group : groups) group.gate.time = stamps::renewed(group.gate.time, last_step_, now);
        swept_ = now;
    }

    Gate& gate_of(unsigned level, uint32_t id) { return level == 0 ? subscribers_[id].gate : groups_[level - 1][id].gate; }
    const SmallFifo<Pick, 64>& picks(unsigned level) const { return level == 0 ? picks_ : pickers_[level - 1].picks(); }
    unsigned under_way(unsigned level) const { return level == 0 ? picks_.size() : pickers_[level - 1].under_way(); }
    bool any_waits(unsigned level, uint32_t id) const {
        return level == 0 ? !subscribers_[id].queues.empty() : groups_[level - 1][id].count != 0;
    }

    bool level_ready(HierarchySetting::What what) const {
        using What = HierarchySetting::What;
        return what == What::Queue || opening_[static_cast<size_t>(what) - 1].at == ParentWheel::kNever;
    }

    void set(int64_t now, const HierarchySetting& s) {
        using What = HierarchySetting::What;
        if (s.what == What::Queue) {
            recent_weights_[next_weight_++ % kRecent] = {now, s.id, classes_[s.id].weight};
            classes_[s.id] = {s.cls, s.weight};
            return;
        }
        const unsigned level = static_cast<unsigned>(s.what) - 1;
        Gate& gate = gate_of(level, s.id);
        gate.burst = s.shaper.burst;
        gate.mantissa = static_cast<uint16_t>(s.shaper.mantissa);
        gate.exponent = static_cast<uint8_t>(s.shaper.exponent);
        if (level == 0) {
            subscribers_[s.id].node = s.parent;
            subscribers_[s.id].weight = s.weight;
        } else {
            groups_[level - 1][s.id].set_train(tolerance_);
        }
        if (level == 1) {
            groups_[0][s.id].above = s.parent;
            node_set_ = s.id;
        }
        if (s.shaper.mantissa != 0) opening_[level] = {now + hierarchy_timing::kOpen, s.id};
    }

    // An opened gate whose parent was parked: it is due at once.
    void open(unsigned level, int64_t now) {
        Gate& gate = gate_of(level, opening_[level].parent);
        if (gate.parked) {
            opening_[level].at = wheels_[level].room(now);
            if (opening_[level].at > now) return;
            gate.parked = false;
            wheels_[level].place_due(opening_[level].parent, now);
        }
        opening_[level].at = ParentWheel::kNever;
    }

    // A parent came out of its wheel: if its time has come and its gate is open, it picks one of the queues that wait.
    void look(unsigned level, uint32_t parent, int64_t now) {
        namespace t = hierarchy_timing;
        Gate& gate = gate_of(level, parent);
        if (gate.mantissa == 0) {
            gate.parked = true;
            return;
        }
        if (!gate.open(now + t::kLook)) return wheels_[level].place(parent, gate.time, now + t::kPlaceBack);
        if (level > 0) {
            Group& group = groups_[level - 1][parent];
            const int64_t late = gate.late(now + t::kLook);
            group.holds = level == 1 && late < gate.hold(tolerance_);
            return pickers_[level - 1].ask(now, parent, group.train(now + t::kLook), late < t::patient(tolerance_), group.holds);
        }
        const uint32_t queue = (parent << shift_) + subscribers_[parent].queues.next();
        Pick pick{now + t::kPick, parent, queue, 0, false, true};
        pick.holds = shift_ && gate.late(now + t::kLook) < gate.hold(tolerance_);
        picks_.push(pick);
    }

    // A node has a setting, of which a walk is to tell: of this one, or, when it has not told of the one before, of all in turn.
    void note_moved(uint32_t node) {
        if (moved_)
            moved_more_ = static_cast<uint32_t>(groups_[0].size()) - 1;
        else
            moved_ = node;
    }
    void tell_moved(int64_t now) {
        if (!moved_) return;
        above(1, now, *moved_, groups_[0][*moved_].above, 0, WaitsAbove::What::Moved);
        if (moved_more_ == 0) {
            moved_.reset();
            return;
        }
        moved_ = (*moved_ + 1) % static_cast<uint32_t>(groups_[0].size());
        --moved_more_;
    }

    // Stage 0: a walk, a new packet, or one that is let go; new ones and others in turn, of the latter the farthest first.
    bool start(int64_t now, const Packet* offered) {
        namespace t = hierarchy_timing;
        // The last place is kept back, and that which was taken in the last cycle is seen to be taken in the next.
        const unsigned least = last_start_ == now - 1 ? 1 : 2;
        if ((now & (t::kWalkCycles - 1)) == 0) {
            tell_moved(now);
            // A subscriber, or its node, may have moved: each in turn is looked at again, if it is held.
            const auto turn = static_cast<uint32_t>(now / t::kWalkCycles) & static_cast<uint32_t>(subscribers_.size() - 1);
            if (above_[0].holding()) above(0, now, turn, 0, 0, WaitsAbove::What::Moved);
            return false;
        }
        if (places_ < least || done_places_ < least || std::max(wakes_[0].size(), wakes_[1].size()) > t::kWakes) return false;
        int level = 2;
        while (level >= 0 && (picks(static_cast<unsigned>(level)).empty() || picks(static_cast<unsigned>(level)).front().at > now)) --level;
        if (offered && (new_turn_ || level < 0)) {
            last_start_ = now;
            --places_;
            --done_places_;
            new_turn_ = false;
            stages_[0].push({now, *offered, {}, 0, 0, {}, false, false});
            return true;
        }
        if (level < 0) return false;
        last_start_ = now;
        --places_;
        --done_places_;
        new_turn_ = true;
        Pick pick = picks(static_cast<unsigned>(level)).front();
        if (level > 0) {
            pickers_[level - 1].pop();
        } else {
            picks_.pop();
            pick.cls = held_[pick.queue].cls;
            pick.own = true;
            pick.behind = pick.holds && above_[0].blocked(pick.parent, pick.cls + 1);
            pick.none = pick.behind || (pick.holds && above_[0].in_grace(pick.parent, pick.cls + 1, now + t::kGraceAbove));
        }
        stages_[level].push_in_order({now, {}, pick, pick.parent, 0, {}, true, true});
        return false;
    }

    // An operation at the gate of one level, in the cycle in which the settings there are read.
    void execute(unsigned level, Operation operation) {
        if (level == 0) {
            operation.above = subscribers_[(operation.picked ? operation.pick.queue : operation.packet.queue) >> shift_].node;
            operation.node = operation.above;
            if (!operation.picked) {
                operation.own = classes_[operation.packet.queue];
                charge(operation);
            }
            // Seen here, as the hardware does: what happens until then is known.
            const uint32_t cls = operation.picked ? held_[operation.pick.queue].cls : operation.own.cls;
            operation.behind = groups_[0][operation.node].holds && above_[1].blocked(operation.node, cls + 1);
        }
        if (operation.picked)
            let_go(level, operation);
        else
            ask(level, operation);
    }

    void let_go(unsigned level, Operation operation) {
        namespace t = hierarchy_timing;
        const Pick& pick = operation.pick;
        const int64_t decided = operation.start + t::kDecide[level];
        Gate& gate = gate_of(level, pick.parent);
        Held& held = held_[pick.queue];
        if (level == 0 && pick.none) {
            if (pick.behind)
                above(0, operation.start, pick.parent, place_of(subscribers_[pick.parent].node), pick.cls, WaitsAbove::What::Held, false,
                      true);
            else
                wheels_[0].place(pick.parent, gate.time, decided);
            return give_back(operation.start);
        }
        if (level > 0) {
            RoundCredit credit;
            const bool go = !pick.none && !pick.hold && may_go(level, operation.start, pick, credit);
            if (!pick.none) {
                if (go) held.level = 0;
                const uint32_t waiting = beside(level, pick.queue, held.cls) | uint32_t{!go} << index_of(pick.queue);
                if (waiting) {
                    choose(pick.queue, waiting, operation.start, go, pick.hold ? pick.hold - 1U : 0);
                    const uint32_t stands = pick.queue - index_of(pick.queue) + static_cast<uint32_t>(__builtin_ctz(waiting));
                    if (pick.hold) credit.credit = 1;  // it goes on waiting in this round
                    pickers_[level - 1].append(operation.start + t::kAppend[level], pick.parent, held.cls, stands, credit,
                                               !go && !pick.hold);
                }
            }
            if (!go) {
                if (pick.behind)
                    above(1, operation.start, pick.parent, groups_[0][pick.parent].above, pick.cls, WaitsAbove::What::Held, false,
                          pick.own);
                else if (pick.last)
                    wheels_[level].place(pick.parent, gate.time, decided);
                return give_back(operation.start);
            }
        }
        gate.charge(decided, held.length, tolerance_);
        if (level == 0)
            subscribers_[pick.parent].queues.leave(index_of(pick.queue), subscribers_[pick.parent].order);
        else
            --groups_[level - 1][pick.parent].count;
        if (level == 1) operation.node = pick.parent;
        if (level == 2) operation.node = subscribers_[pick.queue >> shift_].node;
        if (level == 2 && !held.alone) above(1, operation.start, held.node, held.parent, held.cls, WaitsAbove::What::Left);
        operation.waited = level > 0;
        if (pick.last && any_waits(level, pick.parent)) wheels_[level].place(pick.parent, gate.time, decided);
        operation.packet = {held.tag, pick.queue, held.descriptor, held.length, held.mark, false};
        pass(level, operation);
    }

    // A node and its port, as what is above a subscriber.
    uint32_t place_of(uint32_t node) const { return node * sizes_.ports + groups_[0][node].above; }
    void above(unsigned level, int64_t start, uint32_t id, uint32_t parent, uint32_t cls, WaitsAbove::What what, bool anew = false,
               bool own = false) {
        if (level == 0 && !shift_) return;
        above_[level].push({start + hierarchy_timing::kAbove, id, parent, static_cast<uint8_t>(cls), what, anew, own});
    }

    uint32_t index_of(uint32_t queue) const { return queue & (sizes_.queues_per_subscriber - 1); }

    // The weight of a queue as an operation has read it.
    uint32_t weight_of(uint32_t queue, int64_t start) const {
        uint32_t weight = classes_[queue].weight;
        int64_t first = ParentWheel::kNever;
        for (const RecentWeight& r : recent_weights_) {
            if (r.queue == queue && r.at > start + hierarchy_timing::kRead[0] && r.at < first) {
                first = r.at;
                weight = r.before;
            }
        }
        return weight;
    }
    // A packet comes to the gates: its queue has had so much more.
    void charge(const Operation& operation) {
        if (sizes_.queues_per_subscriber == 1) return;
        const uint32_t id = operation.packet.queue >> shift_;
        SiblingOrder& order = subscribers_[id].order;
        recent_orders_[next_order_++ % kRecent] = {operation.start, id, order};
        order.charge(index_of(operation.packet.queue), operation.own.cls, operation.packet.length, operation.own.weight,
                     operation.packet.empties);
    }
    // Queues of the subscriber of `queue` that wait together, a bit each: the one that has had the least, as an operation sees it, goes
    // first.
    // `left`: `queue` has left; if it would go again before that one, it is waited for.
    void choose(uint32_t queue, uint32_t waiting, int64_t start, bool left, uint32_t hold) {
        const uint32_t id = queue >> shift_;
        const SiblingOrder* seen = &subscribers_[id].order;
        int64_t first = ParentWheel::kNever;
        for (const RecentOrder& r : recent_orders_) {
            if (r.subscriber == id && r.start > start && r.start < first) {
                first = r.start;
                seen = &r.before;
            }
        }
        const uint32_t next = seen->first(waiting);
        if (left && seen->again_before(index_of(queue), next, held_[queue].length, weight_of(queue, start))) hold = kPatience;
        for (; waiting; waiting &= waiting - 1) {
            Held& held = held_[(id << shift_) + static_cast<uint32_t>(__builtin_ctz(waiting))];
            held.next = next & 7;
            held.hold = hold & 3;
        }
    }
    // The other queues of its subscriber that wait with this one at its node or port in this class, a bit each. None when it waits alone.
    uint32_t beside(unsigned level, uint32_t queue, uint32_t cls) const {
        if (held_[queue].alone) return 0;
        const uint32_t first = queue - index_of(queue);
        uint32_t found = 0;
        for (uint32_t i = 0; i < sizes_.queues_per_subscriber; ++i) {
            const Held& other = held_[first + i];
            found |= uint32_t{first + i != queue && other.level == level && other.cls == cls && !other.alone} << i;
        }
        return found;
    }

    // Those of its subscriber's queues that wait together at this level do so at another parent.
    bool waits_elsewhere(unsigned level, uint32_t queue, uint32_t parent, uint32_t node) const {
        const uint32_t first = queue - index_of(queue);
        for (uint32_t i = 0; i < sizes_.queues_per_subscriber; ++i) {
            const Held& other = held_[first + i];
            if (first + i != queue && other.level == level && !other.alone) return other.parent != parent || other.node != node;
        }
        return false;
    }

    // A subscriber's credit in a class, as an operation sees it.
    RoundCredit::Place credit_of(unsigned level, int64_t start, uint32_t queue, uint32_t cls) const {
        const auto& credits = credits_[level - 1];
        const uint32_t first = queue - index_of(queue);
        return RoundCredit::find(sizes_.queues_per_subscriber, cls, index_of(queue), [&](uint32_t i) {
            RoundCredit seen = credits[first + i];
            int64_t oldest = ParentWheel::kNever;
            for (const RecentCredit& r : recent_[level - 1]) {
                if (r.word == first + i && start - r.start < hierarchy_timing::kSeenCredit && r.start < oldest) {
                    oldest = r.start;
                    seen = r.before;
                }
            }
            return seen;
        });
    }
    // Whether the queue that was picked may send in this round, and what is left then.
    bool may_go(unsigned level, int64_t start, const Pick& pick, RoundCredit& credit) {
        const Held& held = held_[pick.queue];
        auto [place, seen] = credit_of(level, start, pick.queue, held.cls);
        const uint32_t word = pick.queue - index_of(pick.queue) + place;
        const bool go = seen.pick(pick.round, subscribers_[pick.queue >> shift_].weight, held.cls, held.length);
        recent_[level - 1][next_recent_[level - 1]++ % kRecent] = {start, word, credits_[level - 1][word]};
        credit = credits_[level - 1][word] = seen;
        if (go) pickers_[level - 1].left(start + hierarchy_timing::kAppend[level], pick.parent, held.cls, credit.credit >= 0);
        return go;
    }

    void ask(unsigned level, const Operation& operation) {
        const uint32_t id = level == 0 ? operation.packet.queue >> shift_ : operation.above;
        const int64_t decided = operation.start + hierarchy_timing::kDecide[level];
        Gate& gate = gate_of(level, id);
        if (any_waits(level, id) || !gate.open(decided) || (level == 1 && operation.behind)) {
            wait(level, id, operation, decided);
            return give_back(operation.start);
        }
        gate.charge(decided, operation.packet.length, tolerance_);
        pass(level, operation);
    }

    // The packet is through the gate of `level`.
    void pass(unsigned level, Operation operation) {
        namespace t = hierarchy_timing;
        operation.picked = false;
        if (level < 2) {
            if (level == 1) operation.above = groups_[0][operation.above].above;
            stages_[level + 1].push_in_order(operation);
            return;
        }
        if (operation.slow)
            above(0, operation.start, operation.packet.queue >> shift_, operation.node * sizes_.ports + operation.above,
                  held_[operation.packet.queue].cls, operation.waited ? WaitsAbove::What::Left : WaitsAbove::What::Passed,
                  operation.anew());
        if (operation.slow) held_[operation.packet.queue].waits = false;
        out_.push({operation.start + t::kOut, operation.packet});
        done_.push({operation.start + t::kDone, operation.packet.queue, operation.slow});
    }

    // An operation that does not end in a packet: its place can be used again.
    void give_back(int64_t start) { back_.push_in_order(start + hierarchy_timing::kBack); }

    void wait(unsigned level, uint32_t id, const Operation& operation, int64_t decided) {
        const Packet& packet = operation.packet;
        Held& held = held_[packet.queue];
        if (!held.waits) {
            held = {packet.tag, packet.descriptor, packet.length, packet.mark, true, operation.own.cls, 0, 0, 0, 0, 0};
        }
        if (!any_waits(level, id)) wheels_[level].place(id, gate_of(level, id).time, decided);
        if (level == 0) {
            subscribers_[id].queues.wait(index_of(packet.queue), held.cls, subscribers_[id].order);
            above(0, operation.start, id, place_of(operation.node), held.cls, WaitsAbove::What::Arrives);
            return;
        }
        if (!operation.waited)
            above(0, operation.start, packet.queue >> shift_, operation.node * sizes_.ports + (level == 2 ? id : groups_[0][id].above),
                  held.cls, WaitsAbove::What::Waits, operation.anew());
        ++groups_[level - 1][id].count;
        held.level = static_cast<uint8_t>(level);
        held.parent = id & ((1U << 26) - 1);
        held.node = level == 2 ? operation.node : 0;
        held.alone = waits_elsewhere(level, packet.queue, held.parent, held.node);
        if (level == 1)
            above(1, operation.start, id, groups_[0][id].above, held.cls, WaitsAbove::What::Arrives);
        else if (!held.alone)
            above(1, operation.start, held.node, held.parent, held.cls, WaitsAbove::What::Waits);
        const uint32_t others = beside(level, packet.queue, held.cls);
        choose(packet.queue, others | 1U << index_of(packet.queue), operation.start, false, 0);
        if (others) return;  // one of them stands in the list
        pickers_[level - 1].append(operation.start + hierarchy_timing::kAppend[level], id, held.cls, packet.queue,
                                   credit_of(level, operation.start, packet.queue, held.cls).word, false);
    }

    HierarchySizes sizes_;
    uint32_t tolerance_;
    int64_t last_step_ = 0, swept_ = 0;
    unsigned shift_;  // queue to subscriber
    std::vector<Subscriber> subscribers_;
    std::vector<Group> groups_[2];         // nodes, ports
    FairPicker pickers_[2];                // what waits at nodes and ports
    std::vector<RoundCredit> credits_[2];  // as many for a subscriber as it has queues
    RecentCredit recent_[2][kRecent];
    RecentOrder recent_orders_[kRecent];
    RecentWeight recent_weights_[kRecent];
    unsigned next_recent_[2] = {0, 0}, next_order_ = 0, next_weight_ = 0;
    std::vector<Class> classes_;  // by queue
    std::vector<Held> held_;      // by queue
    WaitsAbove above_[2];         // what subscribers have at nodes and ports, and nodes at ports
    ParentWheel wheels_[3];
    SmallFifo<Wake, 64> wakes_[2];             // subscribers and nodes that are to be looked at
    SmallFifo<Operation, 16> stages_[3];       // on their way to the gate of this level
    SmallFifo<Pick, 64> picks_;                // of subscribers
    std::optional<HierarchySetting> offered_;  // in the register before the levels
    int64_t offered_from_ = 0;
    Opening opening_[3];
    std::optional<uint32_t> moved_;     // a node with a setting that the next walk tells of,
    uint32_t moved_more_ = 0;           // and how many come after it
    std::optional<uint32_t> node_set_;  // in this cycle
    bool new_turn_ = false;
    int64_t last_start_ = -2;  // when an operation started last that is not a walk
    unsigned places_ = hierarchy_timing::kPlaces, done_places_ = hierarchy_timing::kPlaces;
    SmallFifo<int64_t, 64> back_, taken_, forgotten_;  // when places can be used again
    SmallFifo<Out, 64> out_;
    SmallFifo<Done, 64> done_;
};

}  // namespace penstock
