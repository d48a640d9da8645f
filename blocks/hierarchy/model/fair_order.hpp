// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Which is next among the queues that wait at a parent, as the hardware decides it: see ../README.md, "Fair order".
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "guarantee.hpp"

namespace penstock {

constexpr uint32_t kMaxWeight = 8;
constexpr uint32_t kMaxQueuesPerSubscriber = 8;
// How often a subscriber whose turn it is lets others go first, because that of its queues which has had the least has just left.
constexpr uint8_t kPatience = 2;

// What a subscriber may still send of one class in its round at a node or port (pst_round_credit). A subscriber has as many of these as it
// can have queues; a word says itself of which class it is.
struct RoundCredit {
    static constexpr int32_t kQuantum = 2048;  // bytes at weight 1
    static constexpr int32_t kMostQuanta = 4;  // that are kept
    static constexpr uint32_t kRoundMask = (1u << 6) - 1;
    static constexpr int32_t kLeast = -(1 << 16);

    int32_t credit = 0;  // bytes
    uint16_t round = 0, cls = 0;
    Guarantee guarantee;

    // A queue of class `new_class` is picked in round `now` of its node or port; `weight`: of the subscriber. May it go?
    bool pick(uint32_t now, uint32_t weight, uint32_t new_class, uint32_t length) {
        if (round != now) {
            const auto quantum = kQuantum * static_cast<int32_t>(weight);
            credit = std::min(credit + quantum, kMostQuanta * quantum - 1);
        }
        round = static_cast<uint16_t>(now);
        cls = static_cast<uint16_t>(new_class);
        const bool go = credit > 0;
        if (go) credit = std::max(credit - static_cast<int32_t>(length), kLeast);
        return go;
    }

    // A quantum covers what it owes: the next pick of a round to come goes.
    bool covered(uint32_t weight) const { return credit + kQuantum * static_cast<int32_t>(weight) > 0; }

    // Two quanta are left: rounds have ended without it.
    bool far(uint32_t weight) const { return credit >= 2 * kQuantum * static_cast<int32_t>(weight); }

    struct Place;
    // Which of a subscriber's `count` words is that of class `of_class`: the first that says so, else the word with the number of the queue
    // that asks, and what was in it is forgotten: its guarantee is then due since `anew`. `word(i)` gives a word.
    template <class Word>
    static Place find(uint32_t count, uint32_t of_class, uint32_t index, int64_t anew, Word word);

  private:
    static constexpr uint16_t kNoRound = 0xFFFF;
};

struct RoundCredit::Place {
    uint32_t index;
    RoundCredit word;
};

template <class Word>
RoundCredit::Place RoundCredit::find(uint32_t count, uint32_t of_class, uint32_t index, int64_t anew, Word word) {
    for (uint32_t i = 0; i < count; ++i)
        if (const RoundCredit found = word(i); found.cls == of_class) return {i, found};
    RoundCredit fresh;
    fresh.round = kNoRound;
    fresh.guarantee.stamp = anew;
    return {index, fresh};
}

// The subscribers of one class that wait at a node or port, each by one of its queues: those of this round, and those of the next
// (pst_fair_lists). `links`: a word for each queue that belongs to the list it is in; a queue is in one list at most.
class FairLists {
  public:
    // A round does not end within so many cycles, in units of 8, of a queue's leaving with credit for more: it may be on its way back.
    static constexpr uint32_t kGrace = 64 / 8, kGraceMask = (1u << 10) - 1;

    bool empty() const { return lists_[0].count == 0 && lists_[1].count == 0; }

    // front: the subscriber has credit left of its quanta, and goes on with its turn if no wait has been made for it.
    void append(uint32_t* links, uint32_t queue, const RoundCredit& credit, bool front = false) {
        const bool next = credit.round == round_ && credit.credit <= 0;
        const uint32_t side = (round_ & 1) ^ next;
        if (front && late_ && !opens_[side])
            lists_[side].push_front(links, queue);
        else
            lists_[side].push(links, queue);
    }
    // It was picked and may not go yet.
    void append_again(uint32_t* links, uint32_t queue) { lists_[(round_ & 1) ^ 1].push(links, queue); }

    // No queue is left in this round, and it is too early for the next one. A parent that is behind waits only for those that are far
    // behind.
    bool stays(int64_t now, bool behind) const { return ends() && in_grace(now, behind ? far_ : last_); }
    // No queue is left in this round.
    bool ends() const { return lists_[round_ & 1].count == 0; }
    static uint16_t eighths(int64_t now) { return static_cast<uint16_t>(now >> 3 & kGraceMask); }
    // Less than the grace has passed since `last`, modulo 2^13 cycles.
    static bool in_grace(int64_t now, uint32_t last) { return ((static_cast<uint32_t>(now >> 3) - last) & kGraceMask) < kGrace; }

    // Takes the queue whose turn it is. Not when empty.
    uint32_t pick(const uint32_t* links) {
        if (lists_[round_ & 1].count == 0) round_ = (round_ + 1) & RoundCredit::kRoundMask;
        return lists_[round_ & 1].pop(links);
    }
    // The parent was not patient when it picked last.
    void late(bool late) { late_ = late; }
    // The next head of the list of a round is being read, or is known.
    void open(uint32_t side, bool opens) { opens_[side & 1] = opens; }
    // A queue left with credit for more.
    void left(int64_t now) { last_ = eighths(now); }
    // The same, and its subscriber is far behind.
    void left_far(int64_t now) { far_ = eighths(now); }
    uint32_t round() const { return round_; }
    // The list of the last pick has a queue left.
    bool shortened() const { return lists_[round_ & 1].count != 0; }

  private:
    struct List {
        uint32_t head = 0, tail = 0, count = 0;

        void push(uint32_t* links, uint32_t queue) {
            if (count++)
                links[tail] = queue;
            else
                head = queue;
            tail = queue;
        }
        void push_front(uint32_t* links, uint32_t queue) {
            if (count++)
                links[queue] = head;
            else
                tail = queue;
            head = queue;
        }
        uint32_t pop(const uint32_t* links) {
            const uint32_t queue = head;
            if (--count) head = links[queue];
            return queue;
        }
    };

    std::array<List, 2> lists_;
    std::array<bool, 2> opens_{};
    bool late_ = false;
    uint32_t round_ = 2;  // a queue that was never picked is of round 0
    uint32_t last_ = 0;   // when a queue left with credit for more, in 8 cycles
    uint32_t far_ = 0;    // the same of one whose subscriber is far behind
};

// Which of a subscriber's queues are within their guarantees, a bit each, and which was so last: these go in turn.
struct Guaranteed {
    uint32_t queues = 0, last = 0;

    // Of these the first after the last one.
    uint32_t next(uint32_t of) const {
        const uint32_t after = of >> last >> 1;
        return static_cast<uint32_t>(after ? std::countr_zero(after) + static_cast<int>(last) + 1 : std::countr_zero(of));
    }
};

// Which of a subscriber's queues is next (pst_sibling_order): of one class, the one that has had the least, in bytes by weight. A queue has
// had what it has sent to the gates, the packet that waits there included. What is kept is by how much each is behind the one of its class
// that has had the most, kMost at most: so nothing wraps, and a queue that was idle is not paid for more than a largest packet or so.
class SiblingOrder {
  public:
    static constexpr uint32_t kMost = (1u << 20) - 1;        // 1/52.5 byte at weight 1, 20 kB
    static constexpr uint32_t kMostPaused = (1u << 16) - 1;  // the same of a queue that had run empty, 1.2 kB

    // A packet of queue `index` comes to the gates. `empties`: it has left its queue empty; `free`: it goes by its guarantee.
    void charge(uint32_t index, uint32_t cls, uint32_t length, uint32_t weight, bool empties, bool free = false) {
        const uint32_t most = words_[index] & kEmpty ? kMostPaused : kMost;
        const uint32_t more = free ? 0 : cost(length, weight), mine = std::min(words_[index] & kMost, most);
        if (more > mine) {
            const uint32_t step = more - mine;
            for (uint32_t& word : words_)
                if (word >> kClassAt == cls) word = (word & ~kMost) | std::min((word & kMost) + step, kMost);
        }
        words_[index] = cls << kClassAt | (empties ? kEmpty : 0) | (more > mine ? 0 : mine - more);
    }

    // Queues whose last packet was of this class, a bit each.
    uint32_t of_class(uint32_t cls) const {
        uint32_t found = 0;
        for (uint32_t i = 0; i < kMaxQueuesPerSubscriber; ++i) found |= uint32_t{words_[i] >> kClassAt == cls} << i;
        return found;
    }

    // The packet of queue `index` that was charged goes by its guarantee after all.
    void refund(uint32_t index, uint32_t length, uint32_t weight) {
        const uint32_t behind = std::min((words_[index] & kMost) + cost(length, weight), kMost);
        words_[index] = (words_[index] & ~kMost) | behind;
    }

    // Would queue `a`, had it one more packet such as this one, go before `b`?
    bool again_before(uint32_t a, uint32_t b, uint32_t length, uint32_t weight) const {
        return (words_[a] & kMost) > (words_[b] & kMost) + cost(length, weight);
    }

    // Of two queues of one class, does `a` go before `b`?
    bool before(uint32_t a, uint32_t b) const {
        const uint32_t behind_a = words_[a] & kMost, behind_b = words_[b] & kMost;
        return behind_a != behind_b ? behind_a > behind_b : a < b;
    }

    // The first of the queues `candidates`, a bit each, none of which may be 0 altogether; those within their guarantees go first, in turn.
    uint32_t first(uint32_t candidates, Guaranteed guaranteed = {}) const {
        if (candidates & guaranteed.queues) return guaranteed.next(candidates & guaranteed.queues);
        auto found = static_cast<uint32_t>(std::countr_zero(candidates));
        for (candidates &= candidates - 1; candidates; candidates &= candidates - 1) {
            const auto next = static_cast<uint32_t>(std::countr_zero(candidates));
            if (before(next, found)) found = next;
        }
        return found;
    }

  private:
    static constexpr unsigned kClassAt = 24;
    static constexpr uint32_t kEmpty = 1u << 20;

    static uint32_t cost(uint32_t length, uint32_t weight) { return length * (840 / weight) >> 4; }

    std::array<uint32_t, kMaxQueuesPerSubscriber> words_{};  // class, whether its last packet left it empty, and how far behind
};

// The first ones of a subscriber's queues that wait at it, in the order in which its next pick takes them: 3 bits each, and how many.
struct FirstQueues {
    static constexpr uint32_t kMost = 4;
    uint16_t queues : 12 = 0, count : 4 = 0;

    uint32_t at(uint32_t place) const { return queues >> 3 * place & 7; }
};

// The queues that wait at their subscriber (pst_subscriber_queues), and which of them its next pick takes: those of the highest class
// first, of one class those that have had the least, when a queue last began to wait or left.
class SubscriberQueues {
  public:
    bool empty() const { return waiting() == 0; }

    void wait(uint32_t index, uint32_t cls) { classes_[index] = static_cast<uint8_t>(cls); }
    void leave(uint32_t index) { classes_[index] = kNot; }

    // The first ones, `most` at most.
    FirstQueues first(uint32_t most, const SiblingOrder& order, Guaranteed guaranteed = {}) const {
        FirstQueues found;
        uint32_t left = waiting();
        for (uint8_t highest = 0; left && found.count < most; ++highest) {
            for (uint32_t alike = of_class(highest); alike && found.count < most;) {
                const uint32_t next = order.first(alike, guaranteed);
                found.queues = (found.queues | next << 3 * found.count) & 0xFFF;
                ++found.count;
                alike &= ~(1U << next);
                left &= ~(1U << next);
            }
        }
        return found;
    }

  private:
    static constexpr uint8_t kNot = 0xFF;

    uint32_t waiting() const { return of_class(kNot) ^ 0xFF; }
    uint32_t of_class(uint8_t cls) const {
        uint32_t found = 0;
        for (uint32_t i = 0; i < kMaxQueuesPerSubscriber; ++i) found |= uint32_t{classes_[i] == cls} << i;
        return found;
    }
    std::array<uint8_t, kMaxQueuesPerSubscriber> classes_{kNot, kNot, kNot, kNot, kNot, kNot, kNot, kNot};  // of each that waits
};

}  // namespace penstock
