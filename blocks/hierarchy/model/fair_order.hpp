// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Who is next among the queues that wait at a parent, as the hardware decides it: see ../README.md, "Fair order".
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>

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
    uint32_t round = 0, cls = 0;

    // The queue is picked in round `now`; `sharers`: queues of its subscriber and class that share, itself included. May it go?
    bool pick(uint32_t now, uint32_t sharers, uint32_t weight, uint32_t new_class, uint32_t length) {
        if (round != now) {
            const auto quantum = static_cast<int32_t>((2 * kQuantum + sharers) / (2 * sharers) * weight);
            credit = std::min(credit + quantum, kMostQuanta * quantum);
        }
        round = now;
        cls = new_class;
        const bool go = credit > 0;
        if (go) credit = std::max(credit - static_cast<int32_t>(length), kLeast);
        return go;
    }

    bool shares(uint32_t now, uint32_t of_class) const { return cls == of_class && (round == now || round == ((now - 1) & kRoundMask)); }
};

// The queues of one class that wait at a node or port: those of this round, and those of the next (pst_fair_lists).
class FairLists {
  public:
    bool empty() const { return lists_[0].empty() && lists_[1].empty(); }

    void append(uint32_t queue, const RoundCredit& credit) {
        const bool next = credit.round == round_ && credit.credit <= 0;
        lists_[(round_ & 1) ^ next].push_back(queue);
    }
    // It was picked and may not go yet.
    void append_again(uint32_t queue) { lists_[(round_ & 1) ^ 1].push_back(queue); }

    // Takes the queue whose turn it is. Not when empty.
    uint32_t pick() {
        if (lists_[round_ & 1].empty()) round_ = (round_ + 1) & RoundCredit::kRoundMask;
        auto& list = lists_[round_ & 1];
        const uint32_t queue = list.front();
        list.pop_front();
        return queue;
    }
    uint32_t round() const { return round_; }

  private:
    std::array<std::deque<uint32_t>, 2> lists_;
    uint32_t round_ = 2;  // a queue that was never picked is of round 0
};

// The queues that wait at a subscriber (pst_subscriber_order): start-time fair queueing (Goyal, Vin, Cheng, 1996) over at most eight.
class SubscriberOrder {
  public:
    static constexpr uint32_t kTagMask = (1u << 22) - 1;

    void wait(uint32_t index, uint32_t cls) { waits_[index] = {true, cls}; }

    // The queue (its index) whose turn it is; it waits on until `leave`. Not when nobody waits.
    uint32_t pick() {
        uint32_t found = kMaxQueuesPerSubscriber, ahead = 0;
        for (uint32_t i = 0; i < kMaxQueuesPerSubscriber; ++i) {
            if (!waits_[i].waits) continue;
            const uint32_t distance = (finish_[i] - now_) & kTagMask;
            const uint32_t mine = distance > kTagMask / 2 ? 0 : distance;
            if (found == kMaxQueuesPerSubscriber || waits_[i].cls < waits_[found].cls ||
                (waits_[i].cls == waits_[found].cls && mine < ahead)) {
                found = i;
                ahead = mine;
            }
        }
        now_ = (now_ + ahead) & kTagMask;
        return found;
    }

    void leave(uint32_t index, uint32_t length, uint32_t weight) {
        waits_[index].waits = false;
        finish_[index] = (now_ + ((length * (840 / weight)) >> 4)) & kTagMask;
    }

  private:
    struct Wait {
        bool waits = false;
        uint32_t cls = 0;
    };
    std::array<Wait, kMaxQueuesPerSubscriber> waits_;
    std::array<uint32_t, kMaxQueuesPerSubscriber> finish_{};
    uint32_t now_ = 0;
};

}  // namespace penstock
