// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_fair_lists for long runs: which is next of the queues that wait at the nodes, or at the ports, and in which cycle that is
// known.
//
// One operation on the lists starts in a cycle: an append first, then the next head of a list that a pick has shortened, then a pick. What
// is in the lists when a pick starts is known two cycles before, so step() is called so long before. A batch is one pick; it gives a queue
// every two cycles, so that two batches are under way side by side.
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
inline constexpr int kHead = 6;    // from its start until the next head's can start, and kNext more for each other queue of a batch
inline constexpr int kOut = 5;     // from its start until the picked queue can go to stage 0
inline constexpr int kStand = 2;   // so long before that it is looked up which of its subscriber's queues it is
inline constexpr int kNext = 2;    // and until the next one of its batch
inline constexpr int kUnused = 5;  // from a pick's start until the places that it had asked for and does not need are free again
inline constexpr int kGone = 2;    // from a queue's going to stage 0 until its place is
inline constexpr unsigned kTrainLog = 4, kTrainMost = 1U << kTrainLog;  // queues of a batch
inline constexpr unsigned kPlaces = 4 * kTrainMost;                     // of picked queues that wait for stage 0
inline constexpr unsigned kRoom = 4;                                    // parents that wait for their pick when another one asks
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
        bool holds = false;             // of a subscriber: it waits for what is above, if there is anything when its operation starts
        bool own = false;               // behind: for a packet of its own class, too
        bool fresh = false;             // its subscriber had been idle when it came

        bool operator<(const Pick& other) const { return at < other.at; }
    };
    static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

    FairPicker(uint32_t parents, uint32_t classes, uint32_t queues)
        : classes_(classes), recent_(parents), lists_(size_t{parents} * classes), masks_(parents), links_(queues) {}

    // A queue waits from cycle `start` on; credit: what it has at this level; again: it was picked and may not go yet.
    void append(int64_t start, uint32_t parent, uint32_t cls, uint32_t queue, const RoundCredit& credit, bool again) {
        appends_.push({start, parent, queue, credit, static_cast<uint8_t>(cls), again});
    }

    // A packet of this parent and class left in cycle `now`; credit: its subscriber may send more in its round.
    void left(int64_t now, uint32_t parent, uint32_t cls, bool credit) {
        recent_[parent] = {FairLists::eighths(now), static_cast<uint8_t>(cls)};
        if (credit) lists_[size_t{parent} * classes_ + cls].left(now);
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
        apply(now + picker_timing::kAhead);
        unsigned mask = masks_[parent];
        for (unsigned n = 0; n < kChanges; ++n) {  // newest first: back to what it was
            const Change& change = changes_[(last_change_ - n) % kChanges];
            if (change.start <= now - picker_timing::kSeen) break;
            if (change.parent == parent) mask = change.before;
        }
        asks_.push({now + picker_timing::kAsk, parent, train, static_cast<uint8_t>(__builtin_ctz(mask)), patient, holds});
    }

    // Every cycle in which next_event() says so, or a queue was appended. `blocked(parent, cls)`: a higher class of this parent waits
    // above; `above(parent, cls, now)`: one has just left there.
    template <class Blocked, class Above>
    void step(int64_t now, Blocked blocked, Above above) {
        namespace t = picker_timing;
        const int64_t start = now + t::kAhead;
        apply(start);
        if (asks_.empty() || asks_.front().start > start || appended_[start % kCycles] == start || head_starts(start)) return;
        const Ask ask = asks_.front();
        give_back(start);
        if (blocked_[start & 1] >= start || places_ < needed(ask)) return;
        asks_.pop();
        started_[started_at_++ % kStarted] = {ask.start, start};
        FairLists& lists = lists_[size_t{ask.parent} * classes_ + ask.cls];
        // At the end of a round also for those of its class that wait above: their queues may have credit for more.
        const bool own = lists.ends();
        const bool behind = ask.holds && blocked(ask.parent, ask.cls + own);
        const bool none = behind || (ask.holds && above(ask.parent, ask.cls + own, start + t::kClock)) ||
                          (ask.patient && recent_[ask.parent].waits(start + t::kClock, ask.cls)) || lists.in_grace(start + t::kClock);
        Pick pick{.at = start + t::kOut, .parent = ask.parent, .queue = 0, .round = lists.round(), .none = none, .last = true};
        pick.behind = behind;
        pick.cls = ask.cls;
        pick.own = own;
        unsigned given = 1;
        if (!pick.none) {
            for (;; ++given, pick.at += t::kNext) {
                pick.queue = lists.pick(links_.data());
                pick.round = lists.round();
                pick.last = given == ask.train || !lists.shortened();
                picks_.push_in_order(pick);
                if (pick.last) break;
            }
            if (lists.shortened()) heads_.push_in_order(start + t::kHead + t::kNext * (given - 1));
            if (lists.empty()) change(start, ask.parent, masks_[ask.parent] & ~(1U << ask.cls));
        } else {
            picks_.push_in_order(pick);
        }
        places_ -= ask.train;
        if (given < ask.train) backs_.push_in_order({start + t::kUnused, ask.train - given});
        // No pick in the next cycle, and of those of every other cycle not while a batch is in its links.
        blocked_[~start & 1] = std::max(blocked_[~start & 1], start + 1);
        if (ask.train > 1) blocked_[start & 1] = start + t::kNext * (given > 2 ? given - 1 : 1);
    }
    int64_t next_event(int64_t now) const {
        int64_t next = kNever;
        if (!asks_.empty()) next = std::max(asks_.front().start, free_from(needed(asks_.front()))) - picker_timing::kAhead;
        if (known_ < picks_.size()) next = std::min(next, picks_.at(known_).at - picker_timing::kStand);
        return std::max(now + 1, next);
    }

    // `choose` gives a pick of a queue that stands in a list that of its subscriber's queues which goes in its place.
    template <class Choose>
    void stand(int64_t now, Choose choose) {
        for (; known_ < picks_.size() && picks_.at(known_).at - picker_timing::kStand <= now; ++known_)
            if (Pick& pick = picks_.at(known_); !pick.none) choose(pick);
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
        bool again;
    };
    struct Ask {
        int64_t start;
        uint32_t parent;
        unsigned train;  // how many at most
        uint8_t cls;
        bool patient, holds;
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

    // Places that must be free when a pick starts: for a batch those of the longest one.
    static unsigned needed(const Ask& ask) { return ask.train > 1 ? picker_timing::kTrainMost : 1; }
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

    // The appends until this cycle.
    void apply(int64_t start) {
        while (!appends_.empty() && appends_.front().start <= start) apply_first();
    }
    void apply_first() {
        const Append& a = appends_.front();
        FairLists& lists = lists_[size_t{a.parent} * classes_ + a.cls];
        if (lists.empty()) change(a.start, a.parent, masks_[a.parent] | 1U << a.cls);
        if (a.again)
            lists.append_again(links_.data(), a.queue);
        else
            lists.append(links_.data(), a.queue, a.credit);
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
            int64_t at = std::max({heads_.front(), last_head_ + 1, start - kCycles + 1});
            while (at <= start && appended_[at % kCycles] == at) ++at;
            if (at > start) return false;
            last_head_ = at;
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
    SmallFifo<Pick, 64> picks_;
    unsigned known_ = 0;  // of these, the first
    SmallFifo<int64_t, 64> heads_;
    int64_t last_head_ = -1;
    unsigned places_ = picker_timing::kPlaces;
    SmallFifo<Back, 64> backs_;  // places that come back
    Started started_[kStarted];  // the last picks
    unsigned started_at_ = 0;
    int64_t blocked_[2] = {-1, -1};  // until when no pick starts in even and odd cycles
    int64_t appended_[kCycles] = {};
    Change changes_[kChanges];
    unsigned last_change_ = 0;
};

}  // namespace penstock
