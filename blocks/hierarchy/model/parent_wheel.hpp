// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_timing_wheel for long runs: when a parent with waiting packets comes out to be looked at. Empty slots cost nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../../queue/model/fast_queue_manager.hpp"
#include "../../schedule/model/stamp.hpp"

namespace penstock {

// Cycles of pst_timing_wheel.
namespace wheel_timing {
inline constexpr int kSlotShift = 5;    // slots of 32 cycles
inline constexpr int kCompare = 2;      // from the decision that places a parent until its time is compared with the clock
inline constexpr int kSpliceAt = 1;     // a slot that is over and not empty is spliced so many cycles after its end,
inline constexpr int kSpliceEnd = 5;    // and no parent is placed until so many after it,
inline constexpr int kDirectAgain = 7;  // and not directly until so many after it
inline constexpr int kDirect = 1;       // from the place until a parent that is due comes out
inline constexpr int kListed = 3;       // the same through the list, when something else is under way there
}  // namespace wheel_timing

class ParentWheel {
  public:
    static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

    // Twice as many slots as the RTL has: a parent is entered here before the slot that is over is emptied.
    explicit ParentWheel(uint32_t parents)
        : horizon_(slot_count(parents)), slots_(static_cast<size_t>(2 * horizon_)), used_(slots_.size() / 64), link_(parents) {}

    // Decided in cycle `decided`: the parent comes out when `time` (a stamp) has come. Beyond the horizon it comes out early.
    void place(uint32_t parent, int64_t time, int64_t decided) {
        namespace t = wheel_timing;
        const int64_t hold = stamps::cycle_of(stamps::after(time, -1), decided), compared = std::max(decided + t::kCompare, last_);
        const int64_t now = after_splice(compared + 1), cursor = (now - 1 - t::kSpliceAt - 1) >> t::kSlotShift;  // as it was a cycle ago
        // As many as were placed until two cycles ago; the step is the golden section.
        const int64_t scatter = (placed_ - (last_ == now - 1)) * (horizon_ * 316 / 512 | 1) & (horizon_ - 1);
        last_ = now;
        last_compared_ = compared;
        waiting_[waits_++ % kWaiting] = {compared, now, direct_from_};
        ++placed_;
        int64_t slot = hold >> t::kSlotShift;
        const bool due = hold < compared;
        if (due && now >= std::max(splice_over(now), direct_from_)) return push(parent, now + t::kDirect);
        direct_from_ = std::max(direct_from_, now + t::kListed);
        if (due || slot < cursor) return push(parent, now + t::kListed);
        if (slot >= ((compared - 1 - t::kSpliceAt) >> t::kSlotShift) + horizon_) slot = cursor + horizon_ - 1 - (scatter >> 1);
        Slot& s = slots_[index(slot)];
        if (s.count++) {
            link_[s.tail] = parent;
        } else {
            s.head = parent;
            used_[index(slot) >> 6] |= uint64_t{1} << (index(slot) & 63);
        }
        s.tail = parent;
        ++in_slots_;
        next_slot_ = std::min(next_slot_, slot);
    }

    // The first cycle from `now` on in which a parent that is due can be handed over: not while another one waits for a splice.
    int64_t room(int64_t now) const { return now > last_compared_ ? std::max(now, last_) : now; }
    // In this cycle none other waits to be placed, nor is anything spliced: one that does not go before the others can be handed over.
    bool free(int64_t now) const {
        if (after_splice(now + 1) != now + 1) return false;
        return std::none_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.from <= now && now < w.until; });
    }
    // It was handed over in cycle `now`, and goes before those that are placed later.
    void place_due(uint32_t parent, int64_t now) {
        const int64_t at = after_splice(now + 1);
        int64_t direct = direct_from_;
        for (unsigned k = 1; k <= kWaiting && waiting_[(waits_ - k) % kWaiting].until >= at; ++k)
            direct = waiting_[(waits_ - k) % kWaiting].direct;
        const int64_t from = std::max(splice_over(at), direct);
        if (at < from) direct_from_ = std::max(direct_from_, at + wheel_timing::kListed);
        ++placed_;
        push(parent, at + (at >= from ? wheel_timing::kDirect : wheel_timing::kListed));
    }

    // Cycle in which a parent may come out next, after `now`.
    int64_t next(int64_t now) const {
        if (ready_) return now + 1;
        return std::max(now + 1, std::min(slot_end(), direct_.empty() ? kNever : direct_.front().from));
    }

    // Brings to the way out what is due until `now`, and says whether a parent can be taken in this cycle.
    bool ready(int64_t now) {
        for (;;) {
            const int64_t end = slot_end(), from = direct_.empty() ? kNever : direct_.front().from;
            if (std::min(end, from) > now) return ready_ != 0;
            if (from <= end) {
                append(direct_.front().parent, direct_.front().parent, 1);
                direct_.pop();
            } else {
                splice();
            }
        }
    }
    uint32_t take() {
        const uint32_t parent = ready_head_;
        if (--ready_) ready_head_ = link_[parent];
        return parent;
    }

  private:
    struct Slot {
        uint32_t head = 0, tail = 0, count = 0;
    };
    struct Waiting {
        int64_t from = 0, until = 0, direct = 0;  // direct_from_ before it
    };
    static constexpr unsigned kWaiting = 16;
    struct Direct {
        int64_t from;
        uint32_t parent;

        bool operator<(const Direct& other) const { return from < other.from; }
    };

    // The horizon is at least eight cycles per parent, as in pst_hierarchy.
    static int64_t slot_count(uint32_t parents) {
        int64_t slots = 256;
        while (parents > 1024 && slots < parents / 4) slots *= 2;
        return slots;
    }
    // The last slot that was over before `now` had a parent in it, so it is spliced. What is placed later is not placed there.
    bool spliced(int64_t now) const {
        const int64_t slot = ((now - 1) >> wheel_timing::kSlotShift) - 1;
        return slots_[index(slot)].count != 0 || slot == spliced_;
    }
    // The first cycle from `now` on in which nothing is spliced.
    int64_t after_splice(int64_t now) const {
        namespace t = wheel_timing;
        const int64_t phase = now & ((1 << t::kSlotShift) - 1);
        return phase >= t::kSpliceAt && phase < t::kSpliceEnd && spliced(now) ? now + t::kSpliceEnd - phase : now;
    }
    // When the last splice before `now` lets a parent be placed directly again.
    int64_t splice_over(int64_t now) const {
        namespace t = wheel_timing;
        return spliced(now) ? ((now - 1) >> t::kSlotShift << t::kSlotShift) + t::kDirectAgain : 0;
    }
    // The parent comes out in cycle `from`.
    void push(uint32_t parent, int64_t from) { direct_.push_in_order({from, parent}); }
    size_t index(int64_t slot) const { return static_cast<size_t>(slot) & (slots_.size() - 1); }
    int64_t slot_end() const {
        return next_slot_ == kNever ? kNever
                                    : ((next_slot_ + 1) << wheel_timing::kSlotShift) + wheel_timing::kSpliceAt + wheel_timing::kListed;
    }

    void append(uint32_t head, uint32_t tail, uint32_t count) {
        if (ready_)
            link_[ready_tail_] = head;
        else
            ready_head_ = head;
        ready_tail_ = tail;
        ready_ += count;
    }

    void splice() {
        Slot& s = slots_[index(next_slot_)];
        append(s.head, s.tail, s.count);
        in_slots_ -= s.count;
        s.count = 0;
        spliced_ = next_slot_;
        used_[index(next_slot_) >> 6] &= ~(uint64_t{1} << (index(next_slot_) & 63));
        if (in_slots_ == 0) {
            next_slot_ = kNever;
            return;
        }
        for (++next_slot_;; next_slot_ = (next_slot_ | 63) + 1) {
            const uint64_t bits = used_[index(next_slot_) >> 6] >> (next_slot_ & 63);
            if (!bits) continue;
            next_slot_ += __builtin_ctzll(bits);
            return;
        }
    }

    int64_t horizon_;  // slots
    std::vector<Slot> slots_;
    std::vector<uint64_t> used_;  // bit by slot: it is not empty
    std::vector<uint32_t> link_;
    uint32_t in_slots_ = 0, ready_ = 0, ready_head_ = 0, ready_tail_ = 0;
    int64_t placed_ = 0;
    int64_t next_slot_ = kNever, spliced_ = kNever;  // slots that are not empty: the first, and the last before it
    // Of the last place, its cycle and that of its comparison; from which cycle on a parent that is due comes out directly.
    int64_t last_ = -1, last_compared_ = -1, direct_from_ = 0;
    SmallFifo<Direct, 64> direct_;
    std::array<Waiting, kWaiting> waiting_{};  // those placed last: the cycles in which they wait for it
    unsigned waits_ = 0;
};

}  // namespace penstock
