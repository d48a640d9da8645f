// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Queues that wait at one parent, in one class, in fair order: a calendar of rounds over virtual time.
//
// Start-time fair queueing (Goyal, Vin, Cheng, 1996) with the order kept by round only (as in AFQ, NSDI 2018): a queue waits in the round
// of its start tag max(V, F), V being the beginning of the round in service, and its finish tag becomes F = start + length / share. Tags
// are exact, so shares are exact while queues stay backlogged, whatever the width of a round. Virtual time stands still while nobody
// waits: queues that have just been let go come back in a moment, and what they got counts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>

namespace penstock {

class FairCalendar {
  public:
    static constexpr uint64_t kUnitsPerByte = 16;             // of virtual time, at weight 64
    static constexpr uint64_t kRound = 2048 * kUnitsPerByte;  // width of a round
    static constexpr uint32_t kRounds = 64;                   // a start tag beyond them waits in the last one and is looked at again

    bool empty() const { return count_ == 0; }
    // Virtual time: the beginning of the round in service.
    uint64_t now() const { return round_ * kRound; }

    // Appends a queue with finish tag `finish` of its packet before; returns its start tag.
    uint64_t push(uint32_t queue, uint64_t finish) {
        const uint64_t start = std::max(now(), finish);
        place({queue, start});
        ++count_;
        return start;
    }

    // Takes the queue that is next. Not when empty.
    uint32_t pop() {
        for (;;) {
            auto& list = rounds_[round_ % kRounds];
            if (list.empty()) {
                ++round_;
                continue;
            }
            const Entry entry = list.front();
            list.pop_front();
            if (entry.start / kRound > round_) {  // was beyond the last round
                place(entry);
                continue;
            }
            --count_;
            return entry.queue;
        }
    }

  private:
    struct Entry {
        uint32_t queue;
        uint64_t start;
    };

    void place(const Entry& entry) {
        const uint64_t round = std::min(entry.start / kRound, round_ + kRounds - 1);
        rounds_[round % kRounds].push_back(entry);
    }

    std::array<std::deque<Entry>, kRounds> rounds_;
    uint64_t round_ = 0, count_ = 0;
};

}  // namespace penstock
