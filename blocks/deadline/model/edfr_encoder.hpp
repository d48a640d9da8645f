// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_deadline_encoder, equal to it in every cycle: decide(), then clock().
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace penstock {

// Earliest deadline first with reneging among the heads of classes. Times are cycles modulo 2^32.
class EdfrEncoder {
  public:
    struct Head {
        uint32_t id;        // class
        uint32_t deadline;  // a frame may begin in this cycle, and not later
    };

    struct Decision {
        Head head;
        bool drop;          // it is over
        bool from_pending;  // its head came in the cycle before
    };

    explicit EdfrEncoder(uint32_t patience = 4) : patience_(patience) {}

    void reset() {
        pending_.reset();
        list_.clear();
        waited_ = 0;
    }

    // What is taken in this cycle. `ready`: a frame may be sent; `bound`: unless it is later.
    std::optional<Decision> decide(uint32_t now, bool ready, std::optional<uint32_t> bound = std::nullopt) const {
        if (waited_ == patience_ || (!pending_ && list_.empty())) return std::nullopt;
        const bool from_pending = pending_ && (list_.empty() || earlier(pending_->deadline, list_.front().deadline));
        const Head& head = from_pending ? *pending_ : list_.front();
        const bool over = earlier(head.deadline, now);
        if (!over && (!ready || (bound && earlier(*bound, head.deadline)))) return std::nullopt;
        return Decision{head, over, from_pending};
    }

    // The end of the cycle in which `taken` was decided: `next` is the deadline of the frame behind it, if that is at hand; `head` is
    // offered by a class that has no entry. Returns whether it was accepted.
    bool clock(const std::optional<Decision>& taken, std::optional<uint32_t> next, std::optional<Head> head) {
        if (taken && !taken->from_pending) list_.erase(list_.begin());
        if (pending_ && !(taken && taken->from_pending)) {
            auto place = list_.begin();
            while (place != list_.end() && !earlier(pending_->deadline, place->deadline)) ++place;
            list_.insert(place, *pending_);
        }
        const bool follows = taken && next;
        pending_ = follows ? std::optional<Head>(Head{taken->head.id, *next}) : head;
        waited_ = head && follows ? waited_ + 1 : 0;
        return !follows;
    }

    // Entries, the pending one included.
    size_t size() const { return list_.size() + pending_.has_value(); }

  private:
    static bool earlier(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

    uint32_t patience_, waited_ = 0;
    std::optional<Head> pending_;
    std::vector<Head> list_;  // by deadline; equal ones in the order in which they came
};

}  // namespace penstock
