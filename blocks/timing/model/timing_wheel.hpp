// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_timing_wheel for long runs: the same ids come out in the same cycles.
//
// A cycle is begin(), then due(), take() and ready(), then end(). Cycles before next_event() may be left out as long as nothing is placed
// or taken. A slot's number is that of the slot that begins when it is over: the first in which what it holds is due.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace penstock {

// Cycles of pst_timing_wheel and pst_sched_lists.
namespace wheel_timing {
inline constexpr int kSlotShift = 5;       // slots of 32 cycles
inline constexpr int kListed = 3;          // from an operation on the lists until its ids can be taken
inline constexpr int kDirect = 1;          // the same of an id that is due, when no operation is under way
inline constexpr int kSplice = 4;          // from a splice to the next operation
inline constexpr int kSpliceUnderWay = 6;  // and until nothing of it is under way
}  // namespace wheel_timing

class TimingWheel {
  public:
    static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

    // slots: a power of two, 64 at least.
    TimingWheel(uint32_t entries, uint32_t slots)
        : slots_(slots), used_(slots / 64), mask_(slots - 1), scatter_step_(slots * 316 / 512 | 1), link_(entries) {}

    void begin(int64_t now) {
        catch_up(now);
        visible_ += newly_[now & 3];
        newly_[now & 3] = 0;
    }
    // An id can be taken in this cycle; takes it.
    bool due() const { return visible_ != 0; }
    uint32_t take() {
        const uint32_t id = ready_head_;
        if (--ready_) ready_head_ = link_[id];
        --visible_;
        return id;
    }
    // What is placed in this cycle is taken.
    bool ready(int64_t now) const { return !place_valid_ || takes(now); }
    // `hold`: the last cycle in which `id` has to wait, if one is placed; only if ready().
    void end(int64_t now, bool place, uint32_t id, int64_t hold) {
        namespace t = wheel_timing;
        const bool move = over_ && now >= free_, splice = move && any_, take = place_valid_ && takes(now);
        const int64_t cursor = cursor_, far_slot = far_slot_;
        far_slot_ = cursor - 1 - ((scatter_ & mask_) >> 1);
        over_ = !move && (now >> t::kSlotShift) >= cursor;
        any_ = slots_[cursor & mask_].count || (place_valid_ && !place_due_ && place_slot_ == cursor);
        cursor_ += move;
        if (splice) {
            Slot& slot = slots_[cursor & mask_];
            append(slot.head, slot.tail, slot.count, now + t::kListed);
            in_slots_ -= slot.count;
            slot.count = 0;
            used_[(cursor & mask_) >> 6] &= ~(uint64_t{1} << (cursor & 63));
            find_next(cursor + 1);
            free_ = now + t::kSplice;
            direct_from_ = now + t::kSpliceUnderWay;
        } else if (take) {
            put(now, far_slot);
        }
        if (!place_valid_ || take) {
            place_valid_ = place;
            place_id_ = id;
            place_due_ = hold < now;
            place_slot_ = (hold >> t::kSlotShift) + 1;
            place_far_ = place_slot_ - cursor > mask_;
        }
    }

    // The next cycle after `now` in which anything changes, if nothing is placed or taken.
    int64_t next_event(int64_t now) const {
        if (place_valid_ || over_ || newly_[0] || newly_[1] || newly_[2] || newly_[3]) return now + 1;
        return next_slot_ == kNever ? kNever : next_slot_ << wheel_timing::kSlotShift;
    }

  private:
    struct Slot {
        uint32_t head = 0, tail = 0, count = 0;
    };

    bool takes(int64_t now) const { return !(over_ && any_) && now >= free_; }

    // In the cycles that were left out only empty slots went by.
    void catch_up(int64_t now) {
        if (now > last_ + 1) {
            const int64_t slot = (now - 1) >> wheel_timing::kSlotShift;
            over_ = slot << wheel_timing::kSlotShift == now - 1;
            any_ = false;
            cursor_ = slot + !over_;
        }
        last_ = now;
    }

    // What waits to be placed goes to its slot, or to the end of the ready list.
    void put(int64_t now, int64_t far_slot) {
        namespace t = wheel_timing;
        scatter_ += scatter_step_;
        if (place_due_ && now >= direct_from_) return append(place_id_, place_id_, 1, now + t::kDirect);
        if (direct_from_ < now + t::kListed) direct_from_ = now + t::kListed;
        if (place_due_) return append(place_id_, place_id_, 1, now + t::kListed);
        const int64_t turn = place_far_ ? far_slot + mask_ + 1 : place_slot_, at = turn & mask_;
        Slot& slot = slots_[at];
        if (slot.count++) {
            link_[slot.tail] = place_id_;
        } else {
            slot.head = place_id_;
            used_[at >> 6] |= uint64_t{1} << (at & 63);
        }
        slot.tail = place_id_;
        ++in_slots_;
        if (turn < next_slot_) next_slot_ = turn;
    }

    // The first slot from this one on that is not empty.
    void find_next(int64_t slot) {
        if (in_slots_ == 0) {
            next_slot_ = kNever;
            return;
        }
        for (;; slot = (slot | 63) + 1) {
            const uint64_t bits = used_[(slot & mask_) >> 6] >> (slot & 63);
            if (!bits) continue;
            next_slot_ = slot + __builtin_ctzll(bits);
            return;
        }
    }

    void append(uint32_t head, uint32_t tail, uint32_t count, int64_t visible) {
        if (ready_)
            link_[ready_tail_] = head;
        else
            ready_head_ = head;
        ready_tail_ = tail;
        ready_ += count;
        newly_[visible & 3] += count;
    }

    std::vector<Slot> slots_;
    std::vector<uint64_t> used_;  // bit by slot: it is not empty
    int64_t mask_;
    int64_t scatter_ = 0, scatter_step_;  // ids beyond the horizon go to slots far from each other: the golden section
    std::vector<uint32_t> link_;
    int64_t last_ = -2;  // the last cycle
    uint32_t in_slots_ = 0;
    int64_t next_slot_ = kNever;                            // the first that is not empty
    uint32_t ready_ = 0, ready_head_ = 0, ready_tail_ = 0;  // the ready list
    uint32_t visible_ = 0;                                  // of these, that can be taken; the others are on their way
    uint32_t newly_[4] = {};                                // that can be taken from cycle n mod 4 on

    // one that waits to be placed
    bool place_valid_ = false, place_due_ = false, place_far_ = false;
    uint32_t place_id_ = 0;
    int64_t place_slot_ = 0, far_slot_ = 0;

    int64_t cursor_ = 0;                  // slot that is spliced next
    bool over_ = false, any_ = false;     // it is over; something is in it
    int64_t free_ = 0, direct_from_ = 0;  // cycles from which on an operation, a direct place, is taken
};

}  // namespace penstock
