// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_fair_lists for long runs: which is next of the queues that wait at the nodes, or at the ports, and in which cycle that is
// known.
//
// One operation on the lists starts in a cycle: an append first, then the next head of a list that a pick has shortened, then a pick. What
// is in the lists when a pick starts is known two cycles before, so step() is called so long before. A batch comes in parts, each of which
// is a pick. A part gives a queue every two cycles, so that two of them are under way side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../queue/model/fast_queue_manager.hpp"
#include "fair_order.hpp"

namespace penstock {

// Cycles of pst_fair_lists.
namespace picker_timing {
inline constexpr int kAsk = 3;     // from a parent's asking until its pick can start
inline constexpr int kSeen = 3;    // operations that have started so long before it asks count for the class that it asks for
inline constexpr int kAhead = 2;   // so long before a pick starts it is known which queues are in the lists then
inline constexpr int kClock = 2;   // from its start until the lists are changed
inline constexpr int kHead = 6;    // from its start until the next head's can start, and kNext more for each other queue of a part
inline constexpr int kOut = 5;     // from its start until the picked queue can go to stage 0
inline constexpr int kStand = 2;   // so long before that it is looked up which of its subscriber's queues it is
inline constexpr int kNext = 2;    // and until the next one of its part
inline constexpr int kUnused = 5;  // from a pick's start until the places that it had asked for and does not need are free again
inline constexpr int kGone = 2;    // from a queue's going to stage 0 until its place is

inline constexpr unsigned kTrainLog = 6;            // log2 of the queues of a batch
inline constexpr unsigned kPartMost = 16;           // queues of a part
inline constexpr unsigned kPlaces = 4 * kPartMost;  // of picked queues that wait for stage 0
inline constexpr unsigned kRoom = 4;                // parents that wait for their pick when another one asks
}  // namespace picker_timing

class FairPicker {
  public:
    struct Pick {
        int64_t at;                     // cycle in which it can go to stage 0
        uint32_t parent, queue, round;  // queue: until it is known which, the one that stands in the list
        bool none;                      // none yet: the parent asks again
        bool last;                      // of its batch
        uint8_t hold = 0;               // not 0: it holds back, so often
        bool behind = false;            // none: a higher class waits above; the parent is woken when that has left
        uint8_t cls = 0;                // of what was asked for
        bool holds = false;             // of a subscriber: it waits for what is above, if there is anything when its operation starts;
        uint8_t most = 1, given = 0;    // it lets so many queues go, and has let go so many
        FirstQueues first_queues{};     // of these, once they are looked up
        bool own = false;               // behind: for a packet of its own class, too
        bool fresh = false;             // its subscriber had been idle when it came
        bool clear = false;             // it goes, and leaves no other packet of its subscriber and class here
        bool first = true;              // of its part,
        bool before = true;             // and all of the parts before were clear
        bool same = false;              // its class, or a higher one, waits behind its part
        uint8_t rest = 0;               // the last of its part: so many more queues may follow in others

        bool operator<(const Pick& other) const { return at < other.at; }
    };
    static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

    FairPicker(uint32_t parents, uint32_t classes, uint32_t queues)
        : classes_(classes), recent_(parents), lists_(size_t{parents} * classes), masks_(parents), links_(queues) {}

    // A queue waits from cycle `start` on; credit: what it has at this level; front: by what is left of its quanta.
    void append(int64_t start, uint32_t parent, uint32_t cls, uint32_t queue, const RoundCredit& credit, bool front) {
        appends_.push({start, parent, queue, credit, static_cast<uint8_t>(cls), front});
    }

    // A packet of this parent and class left in cycle `now`; credit: its subscriber may send more in its round; far: it is far behind.
    void left(int64_t now, uint32_t parent, uint32_t cls, bool credit, bool far) {
        recent_[parent] = {FairLists::eighths(now), static_cast<uint8_t>(cls)};
        if (credit) lists_[size_t{parent} * classes_ + cls].left(now);
        // A batch that continues may end a round before that.
        settle(now - kLeftAhead);
        if (far) fars_.push({now, parent * classes_ + cls});
    }

    // A parent may ask in this cycle, `now` or the next one.
    bool room(int64_t now) const {
        unsigned waiting = 0;
        for (unsigned n = 0; n < asks_.size() && asks_.at(n).start < now; ++n) ++waiting;
        for (const Started& s : started_) waiting += s.from < now && s.at >= now - 1;
        return waiting <= picker_timing::kRoom;
    }
    // A parent asks in this cycle for a batch of the queues that wait, of the class that is known to be the highest now. patient: it may
    // wait for a higher class; holds: also for one that waits above.
    void ask(int64_t now, uint32_t parent, unsigned train, bool patient, bool holds) {
        asks_.push({now + picker_timing::kAsk, parent, train, highest(now, parent), patient, holds});
    }

    // Every cycle in which next_event() says so, or a queue was appended. `blocked(parent, cls)`: a higher class of this parent waits
    // above; `above(parent, cls, now)`: one has just left there.
    template <class Blocked, class Above>
    void step(int64_t now, Blocked blocked, Above above) {
        namespace t = picker_timing;
        const int64_t start = now + t::kAhead;
        apply(start);
        const bool continues = !rests_.empty() && rests_.front().start <= start;
        if (!continues && (asks_.empty() || asks_.front().start > start)) return;
        if (appended_[start % kCycles] == start || head_starts(start) || walked_[start & 1] >= start) return;
        const Ask ask = continues ? rests_.front() : asks_.front();
        const unsigned most = std::min(ask.train, t::kPartMost);
        give_back(start);
        // The places of one that has started in the cycle before are not taken yet, as many as a part's at most.
        const bool behind_another = last_start_ == start - 1;
        if (places_ + (behind_another ? last_most_ : 0) < (behind_another ? 2 * t::kPartMost : needed(ask))) return;
        if (continues) {
            rests_.pop();
        } else {
            asks_.pop();
            started_[started_at_++ % kStarted] = {ask.start, start};
        }
        places_ -= most;
        last_start_ = start;
        last_most_ = most;
        settle(start);
        FairLists& lists = lists_[size_t{ask.parent} * classes_ + ask.cls];
        // At the end of a round also for those of its class that wait above: their queues may have credit for more.
        const bool own = lists.ends();
        lists.late(!ask.patient);
        const bool behind = ask.holds && blocked(ask.parent, ask.cls + own);
        const bool none = behind || (ask.holds && above(ask.parent, ask.cls + own, start + t::kClock)) ||
                          (ask.patient && recent_[ask.parent].waits(start + t::kClock, ask.cls)) ||
                          lists.stays(start + t::kClock, !ask.patient && !ask.holds);
        Pick pick{.at = start + t::kOut, .parent = ask.parent, .queue = 0, .round = lists.round(), .none = none, .last = true};
        pick.behind = behind;
        pick.cls = ask.cls;
        pick.own = own;
        pick.before = ask.clear;
        unsigned given = 1;
        if (!pick.none) {
            for (;; ++given, pick.at += t::kNext) {
                pick.queue = lists.pick(links_.data());
                pick.round = lists.round();
                pick.last = given == most || !lists.shortened();
                if (lists.empty()) change(start, ask.parent, masks_[ask.parent] & ~(1U << ask.cls));
                if (pick.last && !ask.patient && !ask.holds && masks_[ask.parent]) pick.rest = static_cast<uint8_t>(ask.train - given);
                pick.same = (masks_[ask.parent] & ((2U << ask.cls) - 1)) != 0;
                picks_.push_in_order(pick);
                if (pick.last) break;
                pick.first = false;
            }
            if (lists.shortened()) {
                lists.open(lists.round(), true);
                heads_.push_in_order(
                    {start + t::kHead + t::kNext * (given - 1), ask.parent * classes_ + ask.cls, static_cast<uint8_t>(lists.round() & 1)});
            }
        } else {
            picks_.push_in_order(pick);
        }
        if (given < most) backs_.push_in_order({start + t::kUnused, most - given});
        // Of the picks of every other cycle none starts while a part is in its links.
        if (most > 1) walked_[start & 1] = start + t::kNext * (given > 2 ? given - 1 : 1);
    }
    int64_t next_event(int64_t now) const {
        int64_t next = kNever;
        for (const auto* asks : {&asks_, &rests_})
            if (!asks->empty())
                next = std::min(next, std::max(asks->front().start, free_from(needed(asks->front()))) - picker_timing::kAhead);
        if (known_ < picks_.size()) next = std::min(next, picks_.at(known_).at - picker_timing::kStand);
        return std::max(now + 1, next);
    }

    // `choose` gives a pick of a queue that stands in a list that of its subscriber's queues which goes in its place.
    template <class Choose>
    void stand(int64_t now, Choose choose) {
        for (; known_ < picks_.size() && picks_.at(known_).at - picker_timing::kStand <= now; ++known_) {
            Pick& pick = picks_.at(known_);
            if (pick.none) continue;
            choose(pick);
            bool& clear = clear_[pick.at & 1];
            clear = pick.clear && (pick.first ? pick.before : clear);
            if (pick.rest) finish(now, pick, clear);
        }
    }

    // Picks on their way to stage 0.
    const SmallFifo<Pick, 64>& picks() const { return picks_; }
    void pop(int64_t now) {
        picks_.pop();
        --known_;
        backs_.push_in_order({now + picker_timing::kGone, 1});
    }

  private:
    static constexpr int64_t kCycles = 64;  // that are remembered
    static constexpr unsigned kChanges = 32, kStarted = 4;
    static constexpr int64_t kLeftAhead = 16;  // a packet's leaving is known so much earlier at most

    // The latest packet that left a parent: when, and its class. Classes below it do not get their turn while its queue may be on its way
    // back.
    struct Recent {
        uint16_t last = 0;
        uint8_t cls = 0xFF;

        bool waits(int64_t now, uint32_t lower) const { return cls < lower && FairLists::in_grace(now, last); }
    };
    struct Append {
        int64_t start;
        uint32_t parent, queue;
        RoundCredit credit;
        uint8_t cls;
        bool front;
    };
    struct Head {  // the next one of a list, which is known from then on
        int64_t at;
        uint32_t list;
        uint8_t side;

        bool operator<(const Head& other) const { return at < other.at; }
    };
    struct Ask {
        int64_t start;
        uint32_t parent;
        unsigned train;  // how many at most
        uint8_t cls;
        bool patient, holds;
        bool clear = true;   // all queues that its batch has had,
        bool begun = false;  // and there were some

        bool operator<(const Ask& other) const { return start < other.start; }
    };
    struct Far {  // a packet of that list has left, and its subscriber is far behind
        int64_t at;
        uint32_t list;
    };
    struct Change {
        int64_t start = -1;
        uint32_t parent = 0, before = 0;
    };
    struct Started {
        int64_t from = -1, at = -2;  // first cycle in which it could, and that in which it did
    };
    struct Back {
        int64_t at;
        unsigned places;

        bool operator<(const Back& other) const { return at < other.at; }
    };

    // Places that must be free when a pick starts: for a batch those of the largest part.
    static unsigned needed(const Ask& ask) { return ask.train > 1 || ask.begun ? picker_timing::kPartMost : 1; }
    void give_back(int64_t start) {
        for (; !backs_.empty() && backs_.front().at <= start; backs_.pop()) places_ += backs_.front().places;
    }
    // From when on so many places are free, as far as it is known.
    int64_t free_from(unsigned needed) const {
        unsigned places = places_;
        if (places >= needed) return 0;
        for (unsigned n = 0; n < backs_.size(); ++n)
            if ((places += backs_.at(n).places) >= needed) return backs_.at(n).at;
        return kNever;
    }

    // The highest class of the parent, as it is found in cycle `now`.
    uint8_t highest(int64_t now, uint32_t parent) {
        apply(now + picker_timing::kAhead);
        unsigned mask = masks_[parent];
        for (unsigned n = 0; n < kChanges; ++n) {  // newest first: back to what it was
            const Change& change = changes_[(last_change_ - n) % kChanges];
            if (change.start <= now - picker_timing::kSeen) break;
            if (change.parent == parent) mask = change.before;
        }
        return static_cast<uint8_t>(__builtin_ctz(mask));
    }
    // The last queue of a part is looked at: the batch continues, with a lower class only if all of them are clear.
    void finish(int64_t now, Pick& pick, bool clear) {
        pick.last = !clear && !pick.same;
        if (!pick.last)
            rests_.push_in_order({now + picker_timing::kAsk, pick.parent, pick.rest, highest(now, pick.parent), false, false, clear, true});
    }

    // What left until this cycle.
    void settle(int64_t now) {
        for (; !fars_.empty() && fars_.front().at <= now; fars_.pop()) lists_[fars_.front().list].left_far(fars_.front().at);
    }
    // The appends until this cycle.
    void apply(int64_t start) {
        while (!appends_.empty() && appends_.front().start <= start) apply_first();
    }
    void apply_first() {
        const Append& a = appends_.front();
        head_starts(a.start - 1);
        FairLists& lists = lists_[size_t{a.parent} * classes_ + a.cls];
        if (lists.empty()) change(a.start, a.parent, masks_[a.parent] | 1U << a.cls);
        lists.append(links_.data(), a.queue, a.credit, a.front);
        appended_[a.start % kCycles] = a.start;
        appends_.pop();
    }

    void change(int64_t start, uint32_t parent, unsigned mask) {
        changes_[++last_change_ % kChanges] = {start, parent, masks_[parent]};
        masks_[parent] = static_cast<uint8_t>(mask);
    }

    // A head that waits for a cycle without an append starts in this one.
    bool head_starts(int64_t start) {
        while (!heads_.empty()) {
            int64_t at = std::max({heads_.front().at, last_head_ + 1, start - kCycles + 1});
            while (at <= start && appended_[at % kCycles] == at) ++at;
            if (at > start) return false;
            last_head_ = at;
            lists_[heads_.front().list].open(heads_.front().side, false);
            heads_.pop();
            if (at == start) return true;
        }
        return false;
    }

    uint32_t classes_;
    std::vector<Recent> recent_;    // by parent
    std::vector<FairLists> lists_;  // by parent and class
    std::vector<uint8_t> masks_;    // by parent: classes that wait
    std::vector<uint32_t> links_;   // by queue
    SmallFifo<Append, 32> appends_;
    SmallFifo<Ask, 32> asks_;
    SmallFifo<Ask, 32> rests_;  // of batches that continue
    SmallFifo<Pick, 64> picks_;
    unsigned known_ = 0;  // of these, the first
    SmallFifo<Far, 64> fars_;
    SmallFifo<Head, 64> heads_;
    int64_t last_head_ = -1;
    unsigned places_ = picker_timing::kPlaces;
    SmallFifo<Back, 64> backs_;  // places that come back
    Started started_[kStarted];  // the last picks
    unsigned started_at_ = 0;
    bool clear_[2] = {};            // all queues so far of the batch whose part is given in even and odd cycles are
    int64_t walked_[2] = {-1, -1};  // until when no pick starts in even and odd cycles, for the links of a part
    int64_t last_start_ = -2;       // of a pick,
    unsigned last_most_ = 0;        // and its places
    int64_t appended_[kCycles] = {};
    Change changes_[kChanges];
    unsigned last_change_ = 0;
};

}  // namespace penstock
