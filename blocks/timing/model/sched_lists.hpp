// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_sched_lists: a FIFO ready list and the slots of a timing wheel.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace penstock {

class SchedLists {
  public:
    explicit SchedLists(uint32_t slots) : wheel_(slots) {}

    void place_ready(uint32_t queue) { ready_.push_back(queue); }
    void place_slot(uint32_t queue, uint32_t slot) { wheel_.at(slot).push_back(queue); }

    // Move the queues of a slot to the end of the ready list, in their order.
    void splice(uint32_t slot) {
        auto& list = wheel_.at(slot);
        ready_.insert(ready_.end(), list.begin(), list.end());
        list.clear();
    }

    // First queue of the ready list.
    std::optional<uint32_t> pop() {
        if (ready_.empty()) return std::nullopt;
        const uint32_t queue = ready_.front();
        ready_.pop_front();
        return queue;
    }

    size_t ready() const { return ready_.size(); }

  private:
    std::deque<uint32_t> ready_;
    std::vector<std::deque<uint32_t>> wheel_;
};

}  // namespace penstock
