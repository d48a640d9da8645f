// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Who is next among the queues that wait at a parent, as the hardware decides it: see ../README.md, "Fair order".
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace penstock {

constexpr uint32_t kMaxWeight = 8;
constexpr uint32_t kMaxQueuesPerSubscriber = 8;

// What a queue may still send in its round at a node or port (pst_round_credit).
struct RoundCredit {
    static constexpr uint32_t kQuantum = 2048;  // bytes at weight 1
    static constexpr int32_t kMostQuanta = 4;   // that are kept
    static constexpr uint32_t kRoundMask = (1u << 12) - 1;
    static constexpr int32_t kLeast = -(1 << 17);

    int32_t credit = 0;  // bytes
    uint16_t round = 0, cls = 0;

    // The queue is picked in round `now`; `sharers`: queues of its subscriber and class that share, itself included. May it go?
    bool pick(uint32_t now, uint32_t sharers, uint32_t weight, uint32_t new_class, uint32_t length) {
        if (round != now) {
            const auto quantum = static_cast<int32_t>((2 * kQuantum + sharers) / (2 * sharers) * weight);
            credit = std::min(credit + quantum, kMostQuanta * quantum);
        }
        round = static_cast<uint16_t>(now);
        cls = static_cast<uint16_t>(new_class);
        const bool go = credit > 0;
        if (go) credit = std::max(credit - static_cast<int32_t>(length), kLeast);
        return go;
    }

    bool shares(uint32_t now, uint32_t of_class) const { return cls == of_class && (round == now || round == ((now - 1) & kRoundMask)); }
};

// The queues of one class that wait at a node or port: those of this round, and those of the next (pst_fair_lists). `links`: a word for
// each queue that belongs to the list it is in; a queue is in one list at most.
class FairLists {
  public:
    // A round does not end within so many cycles, in units of 8, of a queue's leaving with credit for more: it may be on its way back.
    static constexpr uint32_t kGrace = 64 / 8, kGraceMask = (1u << 10) - 1;

    bool empty() const { return lists_[0].count == 0 && lists_[1].count == 0; }

    void append(uint32_t* links, uint32_t queue, const RoundCredit& credit) {
        const bool next = credit.round == round_ && credit.credit <= 0;
        lists_[(round_ & 1) ^ next].push(links, queue);
    }
    // It was picked and may not go yet.
    void append_again(uint32_t* links, uint32_t queue) { lists_[(round_ & 1) ^ 1].push(links, queue); }

    // Nobody is left in this round, and it is too early for the next one.
    bool in_grace(int64_t now) const {
        return lists_[round_ & 1].count == 0 && ((static_cast<uint32_t>(now >> 3) - last_) & kGraceMask) < kGrace;
    }

    // Takes the queue whose turn it is. Not when empty.
    uint32_t pick(const uint32_t* links) {
        if (lists_[round_ & 1].count == 0) round_ = (round_ + 1) & RoundCredit::kRoundMask;
        return lists_[round_ & 1].pop(links);
    }
    // A queue left with credit for more.
    void left(int64_t now) { last_ = static_cast<uint32_t>(now >> 3) & kGraceMask; }
    uint32_t round() const { return round_; }
    // The list of the last pick has somebody left.
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
        uint32_t pop(const uint32_t* links) {
            const uint32_t queue = head;
            if (--count) head = links[queue];
            return queue;
        }
    };

    std::array<List, 2> lists_;
    uint32_t round_ = 2;  // a queue that was never picked is of round 0
    uint32_t last_ = 0;   // when a queue left with credit for more, in 8 cycles
};

// The queues that wait at a subscriber (pst_subscriber_order): start-time fair queueing (Goyal, Vin, Cheng, 1996) over at most eight.
class SubscriberOrder {
  public:
    static constexpr uint32_t kTagMask = (1u << 22) - 1;

    bool empty() const { return std::bit_cast<uint64_t>(waits_) == ~uint64_t{0}; }

    void wait(uint32_t index, uint32_t cls) { waits_[index] = static_cast<uint8_t>(cls); }

    // The queue (its index) whose turn it is; it waits on until `leave`. Not when nobody waits.
    uint32_t pick() {
        uint32_t found = kMaxQueuesPerSubscriber, ahead = 0;
        for (uint32_t i = 0; i < kMaxQueuesPerSubscriber; ++i) past_ |= uint32_t{((finish_[i] - now_) & kTagMask) > kTagMask / 2} << i;
        for (uint32_t i = 0; i < kMaxQueuesPerSubscriber; ++i) {
            if (waits_[i] == kNot) continue;
            const uint32_t mine = past_ >> i & 1 ? 0 : (finish_[i] - now_) & kTagMask;
            if (found == kMaxQueuesPerSubscriber || waits_[i] < waits_[found] || (waits_[i] == waits_[found] && mine < ahead)) {
                found = i;
                ahead = mine;
            }
        }
        now_ = (now_ + ahead) & kTagMask;
        past_ &= ~(1u << found);  // it gets a new tag when it leaves
        return found;
    }

    void leave(uint32_t index, uint32_t length, uint32_t weight) {
        waits_[index] = kNot;
        finish_[index] = (now_ + ((length * (840 / weight)) >> 4)) & kTagMask;
    }

  private:
    static constexpr uint8_t kNot = 0xFF;

    std::array<uint32_t, kMaxQueuesPerSubscriber> finish_{};
    std::array<uint8_t, kMaxQueuesPerSubscriber> waits_{kNot, kNot, kNot, kNot, kNot, kNot, kNot, kNot};  // class of each that waits
    uint32_t now_ : 22 = 0;
    uint32_t past_ : 8 = 0;  // tags that were found in the past, a bit each: tags wrap, and virtual time only goes on
};

}  // namespace penstock
