// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_hierarchy for long runs: hierarchy.hpp says what becomes of a packet, this one adds when, and allocates nothing.
//
// An operation reads settings and decides, at each gate, in the cycle in which the RTL reads the settings there, by the clock of the cycle
// in which that decides: at a gate operations come in the order of their start, so nothing can come in between. What it leaves for others,
// which do not come in that order, they find when they do in the RTL. Time is in cycles without wrap-around.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../../queue/model/fast_queue_manager.hpp"
#include "../../schedule/model/stamp.hpp"
#include "../../timing/model/shaper.hpp"
#include "fair_order.hpp"
#include "fair_picker.hpp"
#include "gate_places.hpp"
#include "guarantee.hpp"
#include "sibling_guarantees.hpp"
#include "waits_above.hpp"

namespace penstock {

// Cycles of pst_hierarchy, pst_gate, pst_fair_lists and pst_subscriber_queues; a change of these pipelines is a change here.
namespace hierarchy_timing {
inline constexpr int kRead[3] = {1, 3, 5};      // from the start of an operation until the settings of subscriber, node and port are read
inline constexpr int kDecide[3] = {5, 7, 9};    // until these decide
inline constexpr int kDone = 10;                // until a packet is through
inline constexpr int kOut = 11;                 // and until it is offered
inline constexpr int kBack = 12;                // or until the place of one that waits can be used again
inline constexpr int kTaken = 2;                // from a packet's being taken until its place can be used again
inline constexpr int kForgotten = 4;            // from a packet's being through until its place can, when its queue needs no wake-up
inline constexpr int kTold = 1;                 // the same from the cycle after that of its wake-up
inline constexpr int kHold = 1;                 // from a decision until it is known how late its parent may get for what waits above
inline constexpr int kRule = 2;                 // the same from a setting for how many packets it may let go at once,
inline constexpr int kClock = 2;                // and until its clock stops or goes on,
inline constexpr int kClocked = 4;              // so long before an operation that then reads it decides
inline constexpr int kPick = 5;                 // from a subscriber's asking until the picked queue can start its operation,
inline constexpr int kNext = 3;                 // so long before it is looked up which one it is
inline constexpr unsigned kNextRoom = 8;        // subscribers that have asked
inline constexpr int kChosen[3] = {8, 10, 12};  // from the start of an operation until it is found which queue it has chosen to be next
inline constexpr int kAppend[3] = {0, 9, 11};   // until a list of what waits at node or port is changed
inline constexpr int kAbove = 16;               // from the start of an operation until it is seen what it changed of what waits above,
inline constexpr int kLookAbove = 1;            // from that of one that a subscriber lets go until it looks there,
inline constexpr int kGraceAbove = 3;           // and until it is compared when the last one has left
inline constexpr int kAskAbove = 2;             // from reading a node's setting until a packet that asks there looks above
inline constexpr int kRoom = 2;                 // from the look whether there is room for operations until one can start
inline constexpr int kTurnAbove = 10;           // from a walk until the clock says of which subscriber it tells
inline constexpr int kWalkCycles = 64;          // one operation in so many is a walk over old stamps, which changes nothing here
inline constexpr int kTolerance = 1024;         // of a gate, cycles, unless the device has another
// A node or port that is less late than this may wait for a higher class: half of the tolerance, in 13 bits.
inline constexpr int64_t patient(int64_t tolerance) { return tolerance < 8192 ? tolerance / 2 : 4096; }
inline constexpr unsigned kPlaces = 32;  // operations under way and packets offered; the same and wake-ups that are not taken yet
inline constexpr unsigned kTrainLog = picker_timing::kTrainLog;  // of a node or port that is behind its time
inline constexpr uint32_t kLargest = 1 << 14;                    // bytes of a packet that a batch is made for
inline constexpr int kHoldLeast = 11;                            // log2 of the burst from which on a parent holds back,
inline constexpr int kHoldMost = 15;                             // and how many doublings of it count
inline constexpr int64_t kSpanMost = 1 << 13;                    // cycles of such a packet; a parent that needs as many lets no batches go
inline constexpr int kSeenCredit = 7;  // cycles from one pick's operation to that which sees what the first left of credit
// From the start of an operation until a queue's guarantee is looked at and charged, and until it is compared with its siblings'; from when
// a subscriber's is looked at until node or port decides, and from when its stamp is read.
inline constexpr int kPay = 4, kCompare = 5, kLookAhead = 1, kAnew = 2;
}  // namespace hierarchy_timing

struct HierarchySizes {
    uint32_t queues_per_subscriber = 1, nodes = 2, ports = 2, classes = 1;
    uint32_t guarantee_cycles = 0;  // lateness that guarantees make up for; 0: there are none
};

// A setting of the hierarchy, as pst_hierarchy_pkg::setting_e has them.
struct HierarchySetting {
    enum class What : uint8_t { Queue, Subscriber, Node, Port };
    What what = What::Queue;
    uint32_t id = 0;
    ShaperSetting shaper{};        // subscriber, node, port
    uint32_t parent = 0;           // of a subscriber its node, of a node its port
    uint8_t cls = 0, weight = 1;   // queue
    GuaranteeSetting guarantee{};  // queue, subscriber
};

class TimedHierarchy {
  public:
    static constexpr int64_t kNever = GatePlaces::kNever;

    struct Packet {
        uint64_t tag;
        uint32_t queue, descriptor;
        uint16_t length;
        bool mark;
        bool empties;  // it has left its queue empty
    };

    // tolerance, time_width: ToleranceCycles and TimeWidth of the RTL.
    TimedHierarchy(uint32_t queues, const HierarchySizes& sizes, uint32_t tolerance = hierarchy_timing::kTolerance,
                   int time_width = kLeastTimeWidth)
        : sizes_(sizes),
          tolerance_(tolerance),
          time_width_(time_width),
          longest_(Shaper::longest(time_width)),
          shift_(static_cast<unsigned>(__builtin_ctz(sizes.queues_per_subscriber))),
          subscribers_(queues >> shift_),
          groups_{std::vector<Group>(sizes.nodes), std::vector<Group>(sizes.ports)},
          pickers_{FairPicker(sizes.nodes, sizes.classes, queues), FairPicker(sizes.ports, sizes.classes, queues)},
          credits_{std::vector<RoundCredit>(queues), std::vector<RoundCredit>(queues)},
          classes_(queues),
          held_(queues),
          above_{WaitsAbove(sizes.queues_per_subscriber > 1 ? queues >> shift_ : 0, sizes.queues_per_subscriber, true),
                 WaitsAbove(sizes.nodes, queues)},
          levels_{GatePlaces(queues >> shift_), GatePlaces(sizes.nodes), GatePlaces(sizes.ports)} {
        if (sizes.guarantee_cycles) {
            guarantees_.resize(subscribers_.size());
            queue_guarantees_.resize(queues);
            siblings_.resize(subscribers_.size());
        }
        for (std::vector<Group>& groups : groups_)
            for (Group& group : groups) group.rule.most = group.rule.longest(tolerance);
    }

    void reset() { *this = TimedHierarchy(static_cast<uint32_t>(held_.size()), sizes_, tolerance_, time_width_); }

    // Nothing can start before a packet is taken.
    bool blocked() const { return places_ == 0 && back_.empty() && taken_.empty(); }

    // ---- what comes out
    bool out_valid(int64_t now) const { return !out_.empty() && out_.front().from <= now; }
    const Packet& out() const { return out_.front().packet; }
    int64_t next_out() const { return out_.empty() ? kNever : out_.front().from; }
    // A queue whose packet is through.
    bool done_valid(int64_t now) const { return !done_.empty() && done_.front().from <= now; }
    uint32_t done() const { return done_.front().queue; }
    bool done_slow() const { return done_.front().slow; }  // it had to wait
    int64_t next_done() const { return done_.empty() ? kNever : done_.front().from; }

    bool setting_ready() const { return !offered_; }

    // It is noted: its queue is to wake up, and once more when it did; or it need not.
    void note_done(int64_t now, bool to_tell) {
        done_.pop();
        if (!to_tell) forgotten_.push_in_order(now + hierarchy_timing::kForgotten);
    }
    void told(int64_t now) { forgotten_.push_in_order(now + hierarchy_timing::kTold); }

    // One cycle. offered: a packet whose queue may send, or null. Returns whether it was taken.
    bool step(int64_t now, const Packet* offered, bool out_taken) {
        namespace t = hierarchy_timing;
        if (now - swept_ > stamps::kSweep) sweep(now);
        full_ <<= std::min<int64_t>(now - last_step_, 8);
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
        settle(now);
        above_[0].apply(now + t::kLookAbove, [&](uint32_t id, int64_t at) { levels_[0].wake(id, at); });
        above_[1].apply(now + t::kAskAbove, [&](uint32_t id, int64_t at) { levels_[1].wake(id, at); });
        for (unsigned level = 0; level < 3; ++level) {
            full_ |= !levels_[level].room(now);
            levels_[level].step(now, Face{*this, level, now}, asks(level, now));
        }
        // What the next cycle asks for there is known in this one.
        if (const GateDue* due = levels_[1].due(); due && asks(1, now + 1)) groups_[0][due->parent].holds = due->holds;
        for (unsigned level = 3; level-- > 0;) {
            if (stages_[level].empty() || stages_[level].front().start + t::kRead[level] > now) continue;
            const Operation operation = stages_[level].front();
            stages_[level].pop();
            execute(level, operation);
        }
        for (; known_ < picks_.size() && picks_.at(known_).at - t::kNext <= now; ++known_) {
            Pick& pick = picks_.at(known_);
            pick.first_queues = subscribers_[pick.parent].next;
            pick.most = static_cast<uint8_t>(std::min<unsigned>(pick.most, pick.first_queues.count));
        }
        for (FairPicker& picker : pickers_)
            picker.stand(now, [this](Pick& pick) {
                const Held& stands = held_[pick.queue];
                pick.queue = pick.queue - index_of(pick.queue) + stands.next;
                pick.hold = stands.hold;
                pick.fresh = stands.fresh && !stands.hold;
                pick.clear = stands.covered && !stands.beside && !stands.hold;
            });
        const bool taken = start(now, offered);
        for (FairPicker& picker : pickers_)
            picker.step(
                now, [this](uint32_t node, uint32_t cls) { return above_[1].blocked(node, cls); },
                [this](uint32_t node, uint32_t cls, int64_t at) { return above_[1].in_grace(node, cls, at); });
        if (node_set_) note_moved(*node_set_);
        node_set_.reset();
        if (out_taken) {
            out_.pop();
            taken_.push(now + t::kTaken);
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
            if (what == What::Queue || what == What::Subscriber) found.guarantee = offered_->guarantee;
            return found;
        }
        if (what == What::Queue) {
            found.cls = classes_[id].cls;
            found.weight = classes_[id].weight;
            if (guarantees()) found.guarantee = queue_guarantees_[id];
            return found;
        }
        const Gate& gate = what == What::Subscriber ? subscribers_[id].gate : groups_[static_cast<size_t>(what) - 2][id].gate;
        found.shaper = {gate.mantissa, gate.exponent, gate.burst};
        if (what == What::Subscriber) {
            found.parent = subscribers_[id].node;
            found.weight = static_cast<uint8_t>(subscribers_[id].weight);
            if (guarantees()) found.guarantee = guarantees_[id];
        } else if (what == What::Node) {
            found.parent = groups_[0][id].above;
        }
        return found;
    }

    // The next cycle after `now` that must be stepped when nothing is offered and nothing taken.
    int64_t next_event(int64_t now) const {
        namespace t = hierarchy_timing;
        if (offered_ || walk_due_) return now + 1;
        int64_t next = above_[0].holding() || moved_ ? (now / t::kWalkCycles + 1) * t::kWalkCycles : kNever;
        for (const WaitsAbove& above : above_) next = std::min(next, above.next());
        for (const FairPicker& picker : pickers_) next = std::min(next, picker.next_event(now));
        if (known_ < picks_.size()) next = std::min(next, picks_.at(known_).at - t::kNext);
        for (unsigned level = 0; level < 3; ++level) {
            next = std::min(next, levels_[level].next_event(now, asks(level, now + 1)));
            if (!stages_[level].empty()) next = std::min(next, stages_[level].front().start + t::kRead[level]);
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
        uint8_t exponent : settings::kExponentWidth = 0;
        uint8_t parked : 1 = 0;  // packets wait behind the closed gate
        // How late it may get for the sake of what waits above, as hold_of() says it: as a look finds it, and as the last operation found
        // it.
        uint8_t holds : 4 = 0, holds_next : 4 = 0;

        // Cycles of its own clock.
        bool open(int64_t now) const { return mantissa != 0 && stamps::due(time, now); }
        // The last cycle in which it has to wait; `now`: any that is near.
        int64_t hold(int64_t now) const { return stamps::cycle_of(stamps::after(time, -1), now); }
        // A power of two, half of what is made up for at most: its logarithm less that of the least. 0: not at all.
        unsigned hold_of(uint32_t tolerance) const {
            const int log = std::bit_width(uint64_t{std::max(burst, tolerance)}) - 1;
            return static_cast<unsigned>(std::clamp(log - hierarchy_timing::kHoldLeast + 1, 0, hierarchy_timing::kHoldMost));
        }
        int64_t hold_below() const { return holds ? int64_t{1} << (holds + hierarchy_timing::kHoldLeast - 2) : 0; }
        int64_t made_up(uint32_t tolerance) const { return std::max(burst, tolerance); }
        // `longest`: that a packet takes.
        int64_t increment(uint32_t length, int64_t longest) const { return Shaper::time_of(length, mantissa, exponent, longest); }
        void charge(int64_t now, uint32_t length, uint32_t tolerance, int64_t longest) {
            time = stamps::after(stamps::later(time, stamps::at(now - made_up(tolerance))), increment(length, longest));
        }
    };
    // All that a packet asks for at open gates: one cache line.
    struct alignas(64) Subscriber {
        Gate gate;
        SiblingOrder order;
        SubscriberQueues queues;
        uint8_t weight = 1;
        FirstQueues next;  // which of its queues that wait go first, as a look finds it
        uint32_t node = 0;
    };
    static_assert(sizeof(Subscriber) == 64);
    struct Rule {           // for the batches of a node or port
        int64_t span = 1;   // cycles of the largest packet, and more than it takes
        unsigned most = 0;  // log2 of the longest batch that the tolerance allows

        // log2 of the longest batch of the largest packets whose last one is not early, when the first is so late.
        unsigned longest(int64_t late) const {
            unsigned log = 0;
            while (log < hierarchy_timing::kTrainLog && ((int64_t{2} << log) - 1) * span <= late) ++log;
            return log;
        }
    };
    struct Group {  // node or port
        Gate gate;
        uint32_t above = 0, count = 0;  // port of a node; packets that wait
        Rule rule{};                    // as a look finds it
        bool holds = false;             // a node, when it was looked at last
    };
    static Rule rule_of(const Gate& gate, uint32_t tolerance) {
        Rule rule{(gate.increment(hierarchy_timing::kLargest, Shaper::longest(kLeastTimeWidth)) >> 16) + 1, 0};
        if (rule.span < hierarchy_timing::kSpanMost) rule.most = rule.longest(gate.made_up(tolerance));
        return rule;
    }
    // A subscriber's is not kept: what it is by its setting, or by the one before that is not replaced yet.
    Rule subscriber_rule(uint32_t id) const {
        Rule rule = rule_of(subscribers_[id].gate, tolerance_);
        for (unsigned n = rules_[0].size(); n-- > 0;)
            if (rules_[0].at(n).parent == id) rule = rules_[0].at(n).rule;
        rule.most = std::min(rule.most, subscriber_train());
        return rule;
    }
    // log2 of the queues that a subscriber that is behind its time lets go at once.
    unsigned subscriber_train() const { return std::min(shift_, 2U); }

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
        bool idle : 1 = false;                // when it came, its subscriber had no other packet of its class
        bool fresh : 1 = false;               // and it stands in a list since then
        bool covered : 1 = false;             // it stands in a list, and a quantum covers what its subscriber owes
        bool beside : 1 = false;              // others of its subscriber wait with it
        bool alone : 1 = false;               // when it came, others of its subscriber waited at another parent of this level
    };
    using Pick = FairPicker::Pick;
    struct Operation {
        int64_t start;
        Packet packet;
        Pick pick;
        uint8_t level;                      // at which it is let go; 0 of a new one
        bool picked;                        // it is let go there
        bool slow;                          // it had to wait
        bool waited = false;                // above its subscriber
        bool behind = false;                // at its node it waits in any case: it would go out of turn
        bool ended = false, tells = false;  // it has ended at its subscriber; what becomes of that is told of above
        bool idle = false;                  // of a packet that comes: its subscriber had no other of its class
        uint8_t weight = 1;                 // of its subscriber,
        GuaranteeSetting guarantee{};       // and its guarantee
        Class own{};                        // of its queue
        uint32_t node = 0, port = 0;        // where it asks, or waited

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
    // The same of what its queues are guaranteed.
    struct RecentGuarantees {
        int64_t start = -1;
        uint32_t subscriber = 0;
        SiblingGuarantees before{};
    };
    static constexpr unsigned kRecent = 8;
    // Memories that an operation or a setting writes later than it is executed here: from which cycle on it is found.
    struct NewHold {
        int64_t at;
        uint32_t parent, hold;
    };
    struct NewRule {
        int64_t at;
        uint32_t parent;
        Rule rule;
    };
    struct NewClock {  // the gate has closed or opened
        int64_t at;
        uint32_t parent;
        bool closed;
    };
    struct Chosen {  // of queues that wait together, bits from `first` on, which one goes first, and how often it holds back
        int64_t at;
        uint32_t first;
        uint8_t waiting, next, hold;
        FirstQueues queues{};  // at their subscriber: in order
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
        const auto renew = [&](unsigned level, uint32_t id) {
            Gate& gate = gate_of(level, id);
            gate.time = stamps::renewed(gate.time, clock(level, id, last_step_), clock(level, id, now));
        };
        for (uint32_t id = 0; id < subscribers_.size(); ++id) renew(0, id);
        for (unsigned level = 1; level < 3; ++level)
            for (uint32_t id = 0; id < groups_[level - 1].size(); ++id) renew(level, id);
        if (guarantees())
            for (std::vector<RoundCredit>& credits : credits_)
                for (RoundCredit& word : credits) word.guarantee.stamp = stamps::renewed(word.guarantee.stamp, last_step_, now);
        for (SiblingGuarantees& siblings : siblings_) siblings.renew(last_step_, now);
        swept_ = now;
    }

    // What GatePlaces asks of the parents of a level.
    struct Face {
        TimedHierarchy& self;
        unsigned level;
        int64_t now;

        GateRead read(uint32_t parent) const {
            const Gate& gate = self.gate_of(level, parent);
            GateRead read;
            if (level > 0 || self.shift_) {
                const Rule rule = level > 0 ? self.groups_[level - 1][parent].rule : self.subscriber_rule(parent);
                read.span = rule.span;
                read.most = rule.most;
            }
            if (level == 1 || (level == 0 && self.shift_)) read.hold_below = gate.hold_below();
            read.closed = gate.mantissa == 0;
            if (!self.clocks_[level].empty()) read.clock = self.clocks_[level][parent];
            return read;
        }
        bool look(GateDue& due, const GateRead& read) const {
            const Gate& gate = self.gate_of(level, due.parent);
            if (read.clock.stands || !stamps::due(gate.time, read.clock.at(now))) return false;
            const int64_t late = now - 1 - hold(due.parent, read);
            due.train = 1U << std::min(read.most, Rule{read.span, 0}.longest(late));
            due.patient = late < hierarchy_timing::patient(self.tolerance_);
            due.holds = late < read.hold_below;
            return true;
        }
        // A clock that stands is that of a gate which has just opened: it goes on in a moment.
        int64_t hold(uint32_t parent, const GateRead& read) const {
            return read.clock.stands ? now : self.gate_of(level, parent).hold(read.clock.at(now)) + read.clock.word;
        }
        bool parked(uint32_t parent) const { return self.gate_of(level, parent).parked; }
        void park(uint32_t parent, bool parked) const { self.gate_of(level, parent).parked = parked; }
        void given(const GateDue& due) const {
            if (level > 0) return self.pickers_[level - 1].ask(now, due.parent, due.train, due.patient, due.holds);
            Pick pick{now + hierarchy_timing::kPick, due.parent, 0, 0, false, true};
            pick.holds = due.holds;
            pick.most = static_cast<uint8_t>(due.holds ? 1 : due.train);
            self.picks_.push(pick);
        }
    };

    // A parent's own cycle; there are no clocks before the first gate closes.
    int64_t clock(unsigned level, uint32_t id, int64_t cycle) const {
        return clocks_[level].empty() ? cycle : clocks_[level][id].at(cycle);
    }
    void set_clock(unsigned level, const NewClock& set) {
        std::vector<GateClock>& clocks = clocks_[level];
        if (clocks.empty() && set.closed) clocks.resize(level == 0 ? subscribers_.size() : groups_[level - 1].size());
        if (!clocks.empty()) clocks[set.parent].set(set.at + hierarchy_timing::kClocked, set.closed);
    }
    Gate& gate_of(unsigned level, uint32_t id) { return level == 0 ? subscribers_[id].gate : groups_[level - 1][id].gate; }
    const SmallFifo<Pick, 64>& picks(unsigned level) const { return level == 0 ? picks_ : pickers_[level - 1].picks(); }
    // A parent that is due can ask in this cycle, that of the step or the next one.
    bool asks(unsigned level, int64_t now) const {
        return level == 0 ? picks_.size() < hierarchy_timing::kNextRoom : pickers_[level - 1].room(now);
    }
    bool any_waits(unsigned level, uint32_t id) const {
        return level == 0 ? !subscribers_[id].queues.empty() : groups_[level - 1][id].count != 0;
    }

    bool level_ready(HierarchySetting::What what) const {
        using What = HierarchySetting::What;
        return what == What::Queue || levels_[static_cast<size_t>(what) - 1].setting_ready();
    }

    void set(int64_t now, const HierarchySetting& s) {
        using What = HierarchySetting::What;
        if (s.what == What::Queue) {
            classes_[s.id] = {s.cls, s.weight};
            if (guarantees()) queue_guarantees_[s.id] = s.guarantee;
            return;
        }
        const unsigned level = static_cast<unsigned>(s.what) - 1;
        Gate& gate = gate_of(level, s.id);
        if (level == 0) rules_[0].push({now + hierarchy_timing::kRule, s.id, rule_of(gate, tolerance_)});
        gate.burst = s.shaper.burst;
        gate.mantissa = static_cast<uint16_t>(s.shaper.mantissa);
        gate.exponent = s.shaper.exponent & settings::kMostExponent;
        if (level == 0) {
            subscribers_[s.id].node = s.parent;
            subscribers_[s.id].weight = s.weight & 15;
            if (guarantees()) guarantees_[s.id] = s.guarantee;
        } else {
            rules_[level].push({now + hierarchy_timing::kRule, s.id, rule_of(gate, tolerance_)});
        }
        if (level == 1) {
            groups_[0][s.id].above = s.parent;
            node_set_ = s.id;
        }
        if (s.shaper.mantissa == 0 || !clocks_[level].empty() || !new_clocks_[level].empty())
            new_clocks_[level].push({now + hierarchy_timing::kClock, s.id, s.shaper.mantissa == 0});
        if (s.shaper.mantissa != 0) levels_[level].open(s.id, now);
    }

    // What was written until this cycle.
    void settle(int64_t now) {
        for (unsigned level = 0; level < 3; ++level)
            for (auto& clocks = new_clocks_[level]; !clocks.empty() && clocks.front().at <= now; clocks.pop())
                set_clock(level, clocks.front());
        for (unsigned level = 0; level < 2; ++level)
            for (auto& holds = holds_[level]; !holds.empty() && holds.front().at <= now; holds.pop())
                gate_of(level, holds.front().parent).holds = holds.front().hold & 15;
        for (unsigned level = 0; level < 3; ++level)
            for (auto& rules = rules_[level]; !rules.empty() && rules.front().at <= now; rules.pop())
                if (level > 0) groups_[level - 1][rules.front().parent].rule = rules.front().rule;
        for (; !chosen_[0].empty() && chosen_[0].front().at <= now; chosen_[0].pop())
            subscribers_[chosen_[0].front().first >> shift_].next = chosen_[0].front().queues;
        for (unsigned level = 1; level < 3; ++level) {
            for (auto& chosen = chosen_[level]; !chosen.empty() && chosen.front().at <= now; chosen.pop()) {
                const Chosen& c = chosen.front();
                for (unsigned waiting = c.waiting; waiting; waiting &= waiting - 1) {
                    Held& held = held_[c.first + static_cast<uint32_t>(__builtin_ctz(waiting))];
                    held.next = c.next & 7;
                    held.hold = c.hold & 3;
                    held.beside = (c.waiting & (c.waiting - 1U)) != 0;
                }
            }
        }
    }
    // An operation at this gate writes how late it may get.
    void keep_hold(unsigned level, uint32_t parent, int64_t start) {
        Gate& gate = gate_of(level, parent);
        const unsigned hold = gate.hold_of(tolerance_);
        if (hold == gate.holds_next) return;
        gate.holds_next = hold & 15;
        holds_[level].push({start + hierarchy_timing::kDecide[level] + hierarchy_timing::kHold, parent, hold});
    }
    void place(unsigned level, uint32_t parent, int64_t decided) {
        const int64_t own = clock(level, parent, decided);
        levels_[level].place(parent, gate_of(level, parent).hold(own) + decided - own, decided);
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
        const uint32_t node = *moved_;
        above(1, now, node, groups_[0][node].above, 0, WaitsAbove::What::Moved);
        if (moved_more_ == 0) {
            moved_.reset();
            return;
        }
        moved_ = (node + 1) % static_cast<uint32_t>(groups_[0].size());
        --moved_more_;
    }

    // Stage 0: a walk, a new packet, or one that is let go: two of these for each new one, so that a backlog at a gate that keeps up with
    // what comes goes away. Of those that are let go the farthest first.
    bool start(int64_t now, const Packet* offered) {
        namespace t = hierarchy_timing;
        walk_due_ |= (now & (t::kWalkCycles - 1)) == 0;
        if (full_ >> t::kRoom & 1) return false;
        if (std::exchange(walk_due_, false)) {
            tell_moved(now);
            // A subscriber, or its node, may have moved: each in turn is looked at again, if it is held.
            const auto turn =
                static_cast<uint32_t>((now + t::kTurnAbove) / t::kWalkCycles) & static_cast<uint32_t>(subscribers_.size() - 1);
            if (above_[0].holding() || to_hold_) above(0, now, turn, 0, 0, WaitsAbove::What::Moved);
            return false;
        }
        // The last place is kept back, and that which was taken in the last cycle is seen to be taken in the next.
        const unsigned least = last_start_ == now - 1 ? 1 : 2;
        if (places_ < least || done_places_ < least) return false;
        int level = 2;
        while (level >= 0 && (picks(static_cast<unsigned>(level)).empty() || picks(static_cast<unsigned>(level)).front().at > now)) --level;
        if (level < 0 && !offered) return false;
        last_start_ = now;
        --places_;
        --done_places_;
        if (offered && (new_turn_ || level < 0)) {
            new_turn_ = released_ = false;
            stages_[0].push({now, *offered, {}, 0, false, false});
            return true;
        }
        new_turn_ = std::exchange(released_, true);
        Pick pick = picks(static_cast<unsigned>(level)).front();
        if (level > 0) {
            pickers_[level - 1].pop(now);
        } else {
            pick.queue = (pick.parent << shift_) + pick.first_queues.at(pick.given);
            pick.last = pick.given + 1 == pick.most;
            if (pick.last) {
                picks_.pop();
                --known_;
            } else {
                ++picks_.at(0).given;
            }
            pick.cls = held_[pick.queue].cls;
            pick.own = true;
            pick.behind = pick.holds && above_[0].blocked(pick.parent, pick.cls + 1);
            to_hold_ += pick.behind;
            pick.none = pick.behind || (pick.holds && above_[0].in_grace(pick.parent, pick.cls + 1, now + t::kGraceAbove));
        }
        stages_[0].push({now, {}, pick, static_cast<uint8_t>(level), true, true});
        return false;
    }

    // An operation at the gate of one level, in the cycle in which the settings there are read; first, of all, those of its subscriber.
    void execute(unsigned level, Operation operation) {
        if (level == 0) {
            const uint32_t queue = operation.picked ? operation.pick.queue : operation.packet.queue;
            const Subscriber& subscriber = subscribers_[queue >> shift_];
            operation.own = classes_[queue];
            operation.weight = subscriber.weight;
            if (guarantees()) operation.guarantee = guarantees_[queue >> shift_];
            if (guarantees() && shift_ && operation.picked && (operation.level == 0 || !operation.pick.none)) look_again(operation);
            operation.node = operation.level == 1 ? operation.pick.parent : subscriber.node;
            if (operation.level > 0) return stages_[operation.level].push_in_order(operation);
            if (!operation.picked) charge(operation);
            keep_hold(0, queue >> shift_, operation.start);
        } else if (level == 1) {
            const Group& node = groups_[0][operation.node];
            operation.port = node.above;
            keep_hold(1, operation.node, operation.start);
            if (operation.ended) return tell(operation);
            // Seen here, as the hardware does: what happens until then is known.
            const uint32_t cls = operation.slow ? held_[operation.packet.queue].cls : operation.own.cls;
            operation.behind = !operation.picked && node.holds && above_[1].blocked(operation.node, cls + 1);
        } else if (operation.picked) {
            operation.port = operation.pick.parent;
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
            if (!pick.behind) place(0, pick.parent, decided);
            return end(operation, pick.behind);
        }
        if (level > 0) {
            RoundCredit credit;
            const bool go = !pick.none && !pick.hold && may_go(level, operation, credit);
            if (pick.hold) credit = credit_of(level, operation.start, pick.queue, held.cls).word;
            const bool covered = credit.covered(operation.weight), front = go && credit.credit > 0;
            if (go && due(credit, operation, decided)) credit.credit = std::max(credit.credit, 1);
            if (!pick.none) {
                if (go) held.level = 0;
                const uint32_t waiting = beside(level, pick.queue, held.cls) | uint32_t{!go} << index_of(pick.queue);
                if (waiting) {
                    choose(level, operation, pick.queue, waiting, go, pick.hold ? pick.hold - 1U : 0);
                    const uint32_t stands = pick.queue - index_of(pick.queue) + static_cast<uint32_t>(__builtin_ctz(waiting));
                    if (pick.hold) credit.credit = 1;  // it goes on waiting in this round
                    held_[stands].fresh = false;
                    held_[stands].covered = covered;
                    pickers_[level - 1].append(operation.start + t::kAppend[level], pick.parent, held.cls, stands, credit, front);
                }
            }
            if (!go) {
                if (pick.behind)
                    above(1, operation.start, pick.parent, operation.port, pick.cls, WaitsAbove::What::Held, false, pick.own);
                else if (pick.last)
                    place(level, pick.parent, decided);
                return give_back(operation.start);
            }
        }
        gate.charge(clock(level, pick.parent, decided), held.length, tolerance_, longest_);
        if (level == 0) {
            subscribers_[pick.parent].queues.leave(index_of(pick.queue));
            choose_next(operation.start, pick.queue);
        } else {
            --groups_[level - 1][pick.parent].count;
        }
        if (level == 2 && !held.alone) above(1, operation.start, held.node, held.parent, held.cls, WaitsAbove::What::Left);
        operation.waited = level > 0;
        if (pick.last && any_waits(level, pick.parent)) place(level, pick.parent, decided);
        operation.packet = {held.tag, pick.queue, held.descriptor, held.length, held.mark, false};
        pass(level, operation);
    }

    // It ends at its subscriber.
    void end(Operation operation, bool tells) {
        operation.ended = true;
        operation.tells = tells;
        stages_[1].push_in_order(operation);
        give_back(operation.start);
    }
    // What that is for the packets above: a packet begins to wait, or a pick has found one that has to wait.
    void tell(const Operation& operation) {
        if (!operation.tells) return;
        const bool held = operation.picked;
        to_hold_ -= held;
        const uint32_t queue = held ? operation.pick.queue : operation.packet.queue;
        above(0, operation.start, queue >> shift_, place_of(operation), held ? operation.pick.cls : operation.own.cls,
              held ? WaitsAbove::What::Held : WaitsAbove::What::Arrives, false, held);
    }
    // A node and its port, as what is above a subscriber.
    uint32_t place_of(const Operation& operation) const { return operation.node * sizes_.ports + operation.port; }
    void above(unsigned level, int64_t start, uint32_t id, uint32_t parent, uint32_t cls, WaitsAbove::What what, bool anew = false,
               bool own = false) {
        if (level == 0 && !shift_) return;
        above_[level].push({start + hierarchy_timing::kAbove, id, parent, static_cast<uint8_t>(cls), what, anew, own});
    }

    uint32_t index_of(uint32_t queue) const { return queue & (sizes_.queues_per_subscriber - 1); }

    // A packet comes to the gates: its queue has had so much more.
    void charge(Operation& operation) {
        const uint32_t id = operation.packet.queue >> shift_, index = index_of(operation.packet.queue);
        SiblingOrder& order = subscribers_[id].order;
        bool free = false;
        if (guarantees()) {
            note_guarantees(operation.start, id);
            operation.idle = !(siblings_[id].busy & (order.of_class(operation.own.cls) | 1U << index));
            siblings_[id].arrive(index, operation.start + hierarchy_timing::kPay, tolerance_, operation.packet.empties);
            free = look(operation.start, operation.packet.queue, operation.packet.length);
        }
        if (sizes_.queues_per_subscriber == 1) return;
        recent_orders_[next_order_++ % kRecent] = {operation.start, id, order};
        order.charge(index_of(operation.packet.queue), operation.own.cls, operation.packet.length, operation.own.weight,
                     operation.packet.empties, free);
    }

    // ---- guarantees
    bool guarantees() const { return sizes_.guarantee_cycles != 0; }
    void note_guarantees(int64_t start, uint32_t id) { recent_guarantees_[next_guarantee_++ % kRecent] = {start, id, siblings_[id]}; }
    // A queue's packet comes, or may go: does it begin to go by the queue's guarantee?
    bool look(int64_t start, uint32_t queue, uint32_t length) {
        return siblings_[queue >> shift_].look(index_of(queue), queue_guarantees_[queue], start + hierarchy_timing::kPay, length,
                                               sizes_.guarantee_cycles, longest_);
    }
    // A packet that waits may go: what it was charged counts no more if it goes by the guarantee now.
    void look_again(const Operation& operation) {
        const int64_t start = operation.start;
        const uint32_t queue = operation.pick.queue;
        SiblingOrder& order = subscribers_[queue >> shift_].order;
        recent_orders_[next_order_++ % kRecent] = {start, queue >> shift_, order};
        note_guarantees(start, queue >> shift_);
        if (look(start, queue, held_[queue].length)) order.refund(index_of(queue), held_[queue].length, operation.own.weight);
    }
    // Queues of a subscriber whose packets go first, as an operation sees it.
    Guaranteed first_of(uint32_t subscriber, int64_t start) const {
        return guarantees() ? seen_guarantees(subscriber, start).first(start + hierarchy_timing::kCompare) : Guaranteed{};
    }
    const SiblingGuarantees& seen_guarantees(uint32_t subscriber, int64_t start) const {
        const SiblingGuarantees* seen = &siblings_[subscriber];
        int64_t first = kNever;
        for (const RecentGuarantees& r : recent_guarantees_) {
            if (r.subscriber == subscriber && r.start > start && r.start < first) {
                first = r.start;
                seen = &r.before;
            }
        }
        return *seen;
    }
    // The next packet of its subscriber in this class is within the guarantee.
    bool due(const RoundCredit& credit, const Operation& operation, int64_t now) const {
        return guarantees() && credit.guarantee.due(operation.guarantee, now);
    }

    // Queues of the subscriber of `queue` that wait together, a bit each: the one that has had the least, as an operation sees it, goes
    // first.
    // `left`: `queue` has left; if it would go again before that one, it is waited for.
    void choose(unsigned level, const Operation& operation, uint32_t queue, uint32_t waiting, bool left, uint32_t hold) {
        const uint32_t id = queue >> shift_;
        const SiblingOrder* seen = &subscribers_[id].order;
        int64_t first = kNever;
        for (const RecentOrder& r : recent_orders_) {
            if (r.subscriber == id && r.start > operation.start && r.start < first) {
                first = r.start;
                seen = &r.before;
            }
        }
        const Guaranteed guaranteed = first_of(id, operation.start);
        const uint32_t next = seen->first(waiting, guaranteed);
        // One that is within its guarantee does not wait for another.
        if (left && !(guaranteed.queues >> next & 1)) {
            const bool due = guarantees() &&
                             seen_guarantees(id, operation.start).due(operation.start + hierarchy_timing::kCompare) >> index_of(queue) & 1;
            if (due || seen->again_before(index_of(queue), next, held_[queue].length, operation.own.weight)) hold = kPatience;
        }
        chosen_[level].push({operation.start + hierarchy_timing::kChosen[level], id << shift_, static_cast<uint8_t>(waiting),
                             static_cast<uint8_t>(next), static_cast<uint8_t>(hold)});
    }
    // The same of those that wait at the subscriber.
    void choose_next(int64_t start, uint32_t queue) {
        const Subscriber& subscriber = subscribers_[queue >> shift_];
        const FirstQueues first = subscriber.queues.first(1U << subscriber_train(), subscriber.order, first_of(queue >> shift_, start));
        chosen_[0].push({start + hierarchy_timing::kChosen[0], queue, 0, 0, 0, first});
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
        const int64_t anew = stamps::at(start + hierarchy_timing::kDecide[level] - hierarchy_timing::kAnew);
        return RoundCredit::find(sizes_.queues_per_subscriber, cls, index_of(queue), anew, [&](uint32_t i) {
            RoundCredit seen = credits[first + i];
            int64_t oldest = kNever;
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
    bool may_go(unsigned level, const Operation& operation, RoundCredit& credit) {
        const Pick& pick = operation.pick;
        const int64_t start = operation.start;
        const Held& held = held_[pick.queue];
        auto [place, seen] = credit_of(level, start, pick.queue, held.cls);
        const uint32_t word = pick.queue - index_of(pick.queue) + place;
        bool go = seen.pick(pick.round, operation.weight, held.cls, held.length);
        // What its weight does not give it goes by its guarantee.
        const int64_t decided = start + hierarchy_timing::kDecide[level], looked = decided - hierarchy_timing::kLookAhead;
        if (pick.fresh) seen.guarantee.limit(decided - hierarchy_timing::kAnew, tolerance_);
        if (!go && due(seen, operation, looked)) {
            seen.guarantee.charge(operation.guarantee, looked, held.length, sizes_.guarantee_cycles, longest_);
            go = true;
        }
        recent_[level - 1][next_recent_[level - 1]++ % kRecent] = {start, word, credits_[level - 1][word]};
        credit = credits_[level - 1][word] = seen;
        if (go)
            pickers_[level - 1].left(start + hierarchy_timing::kAppend[level], pick.parent, held.cls,
                                     credit.credit >= 0 || due(credit, operation, decided), credit.far(operation.weight));
        return go;
    }

    void ask(unsigned level, const Operation& operation) {
        const uint32_t id = level == 0 ? operation.packet.queue >> shift_ : level == 1 ? operation.node : operation.port;
        const int64_t decided = operation.start + hierarchy_timing::kDecide[level];
        const int64_t own = clock(level, id, decided);
        Gate& gate = gate_of(level, id);
        if (any_waits(level, id) || !gate.open(own) || (level == 1 && operation.behind)) return wait(level, id, operation, decided);
        gate.charge(own, operation.packet.length, tolerance_, longest_);
        pass(level, operation);
    }

    // The packet is through the gate of `level`.
    void pass(unsigned level, Operation operation) {
        namespace t = hierarchy_timing;
        operation.picked = false;
        if (level < 2) return stages_[level + 1].push_in_order(operation);
        if (operation.slow)
            above(0, operation.start, operation.packet.queue >> shift_, place_of(operation), held_[operation.packet.queue].cls,
                  operation.waited ? WaitsAbove::What::Left : WaitsAbove::What::Passed, operation.anew());
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
            held = {packet.tag, packet.descriptor, packet.length, packet.mark, true, operation.own.cls, 0, 0, 0, 0, 0, operation.idle};
        }
        if (!any_waits(level, id)) place(level, id, decided);
        if (level == 0) {
            subscribers_[id].queues.wait(index_of(packet.queue), held.cls);
            choose_next(operation.start, packet.queue);
            return end(operation, true);
        }
        if (!operation.waited)
            above(0, operation.start, packet.queue >> shift_, place_of(operation), held.cls, WaitsAbove::What::Waits, operation.anew());
        ++groups_[level - 1][id].count;
        held.level = static_cast<uint8_t>(level);
        held.parent = id & ((1U << 26) - 1);
        held.node = level == 2 ? operation.node : 0;
        held.alone = waits_elsewhere(level, packet.queue, held.parent, held.node);
        if (level == 1)
            above(1, operation.start, id, operation.port, held.cls, WaitsAbove::What::Arrives);
        else if (!held.alone)
            above(1, operation.start, held.node, held.parent, held.cls, WaitsAbove::What::Waits);
        give_back(operation.start);
        const uint32_t others = beside(level, packet.queue, held.cls);
        choose(level, operation, packet.queue, others | 1U << index_of(packet.queue), false, 0);
        if (others) return;  // one of them stands in the list
        held.fresh = held.idle;
        RoundCredit credit = credit_of(level, operation.start, packet.queue, held.cls).word;
        held.covered = credit.covered(operation.weight);
        const bool front = credit.credit > 0;
        if (due(credit, operation, decided - hierarchy_timing::kLookAhead)) credit.credit = std::max(credit.credit, 1);
        pickers_[level - 1].append(operation.start + hierarchy_timing::kAppend[level], id, held.cls, packet.queue, credit, front);
    }

    HierarchySizes sizes_;
    uint32_t tolerance_;
    int time_width_;
    int64_t longest_;  // that a packet takes, in 2^-16 cycles
    int64_t last_step_ = 0, swept_ = 0;
    unsigned shift_;  // queue to subscriber
    std::vector<Subscriber> subscribers_;
    std::vector<Group> groups_[2];         // nodes, ports
    FairPicker pickers_[2];                // what waits at nodes and ports
    std::vector<RoundCredit> credits_[2];  // as many for a subscriber as it has queues
    RecentCredit recent_[2][kRecent];
    RecentOrder recent_orders_[kRecent];
    unsigned next_recent_[2] = {0, 0}, next_order_ = 0;
    SmallFifo<NewHold, 16> holds_[2];
    SmallFifo<NewRule, 8> rules_[3];  // of a subscriber: the one before
    SmallFifo<NewClock, 8> new_clocks_[3];
    std::vector<GateClock> clocks_[3];
    SmallFifo<Chosen, 16> chosen_[3];
    std::vector<GuaranteeSetting> guarantees_, queue_guarantees_;  // by subscriber, by queue; empty without guarantees
    std::vector<SiblingGuarantees> siblings_;                      // by subscriber
    RecentGuarantees recent_guarantees_[kRecent];
    unsigned next_guarantee_ = 0;
    std::vector<Class> classes_;  // by queue
    std::vector<Held> held_;      // by queue
    WaitsAbove above_[2];         // what subscribers have at nodes and ports, and nodes at ports
    GatePlaces levels_[3];
    SmallFifo<Operation, 16> stages_[3];       // on their way to the gate of this level
    SmallFifo<Pick, 64> picks_;                // of subscribers,
    unsigned known_ = 0;                       // and of how many it is known which queue it is
    std::optional<HierarchySetting> offered_;  // in the register before the levels
    int64_t offered_from_ = 0;
    std::optional<uint32_t> moved_;     // a node with a setting that the next walk tells of,
    uint32_t moved_more_ = 0;           // and how many come after it
    std::optional<uint32_t> node_set_;  // in this cycle
    unsigned to_hold_ = 0;              // picks of subscribers that are on their way to tell that they are held
    unsigned full_ = 0;                 // bit n: n cycles ago nothing had room that operations need
    bool walk_due_ = false;
    bool new_turn_ = false, released_ = false;  // a new one goes next; one has been let go since the last new one
    int64_t last_start_ = -2;                   // when an operation started last that is not a walk
    unsigned places_ = hierarchy_timing::kPlaces, done_places_ = hierarchy_timing::kPlaces;
    SmallFifo<int64_t, 64> back_, taken_, forgotten_;  // when places can be used again
    SmallFifo<Out, 64> out_;
    SmallFifo<Done, 64> done_;
};

}  // namespace penstock
