// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Models of pst_schedule_shaped and pst_schedule_passthrough for long runs: the same decisions in the same cycles. Cycles in which nothing
// is under way need not be called: next_event() says which is the next one that matters.
//
// Times are int64: cycles since reset, and stamps (stamp.hpp). The walk over old stamps changes no stamp here, but it takes its cycles as
// in the RTL. `Record` has a member `shaper` of type ShaperState; records belong to the caller.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "blocks/queue/model/fast_queue_manager.hpp"
#include "blocks/schedule/model/stamp.hpp"
#include "blocks/timing/model/shaper.hpp"

namespace penstock {

// Cycles of the schedulers' pipelines; a change there is a change here. Ages count from the pop (B0 in the README's table).
namespace schedule_timing {
inline constexpr int kDecide = 2;          // B2: early, closed, or it leaves; compared with the clock of this cycle
inline constexpr int kTake = 3;            // B3: the queue manager commits; `now` of the shaper is the clock of this cycle
inline constexpr int kAnswer = 4;          // R0: the packet goes to the output FIFO, whose reader sees it a cycle later
inline constexpr int kStamp = 7;           // R3: the new stamp is written, and the queue placed again; later by VerdictStages
inline constexpr int kActivate = 2;        // from the announcement to the choice of what is placed
inline constexpr int kListLatency = 3;     // from an operation on the lists to the queue at the head of the ready list
inline constexpr int kDirectLatency = 1;   // the same when nothing is under way in the lists and the queue is due
inline constexpr int kSpliceCycles = 4;    // one stripe a cycle; no other operation meanwhile
inline constexpr int kSpliceUnderWay = 6;  // cycles from a splice to the next direct place
inline constexpr int kOpen = 3;            // from when no decision with a frozen stamp is in flight until a parked queue wakes up
inline constexpr int kPace = 8;            // from the end of a closing gate's operation until the next setting is taken, less one
inline constexpr int kKept = 17;           // from a setting that neither closes nor opens a gate until the next one is taken, less one
inline constexpr int kChanged = 3;         // from a setting that does so to its operation
inline constexpr int kWalkCycles = 64;     // one stamp is looked after per so many cycles, which costs two pops
inline constexpr int kSlotShift = 5;       // slots of 32 cycles
inline constexpr int kTolerance = 1024;    // cycles, unless the device has another
inline constexpr int kCredits = 32;        // packets that fit downstream
inline constexpr int kPlaceDepth = 32;     // shaped: decisions in flight
inline constexpr int kTurnDepth = 16;      // pass-through: the same
inline constexpr unsigned kActiveDepth = 8, kActiveRoom = 4;
inline constexpr int kAgain = 3;  // hierarchy: from the end of a packet in the hierarchy until its queue, if it asks for that, wakes up
inline constexpr unsigned kAgainDepth = 32;  // hierarchy: wake-ups under way
}  // namespace schedule_timing

// A queue's shaper: setting and time stamp.
struct ShaperState {
    std::int64_t time = 0;    // earliest departure of the next packet, 2^-16 cycles; of a closed gate, how far that is ahead
    std::uint32_t burst = 0;  // cycles
    std::uint16_t mantissa = 1;
    std::uint8_t exponent = 0;
    bool parked : 1 = false;           // waits at its closed gate
    bool frozen : 1 = false;           // its gate is closed: time is a distance
    bool wants : 1 = false;            // hierarchy: waits for the end of its packet in the hierarchy
    bool slow : 1 = true;              // hierarchy: the last packet that got through had to wait at a gate, or none has
    std::uint8_t outstanding : 2 = 0;  // hierarchy: packets that have left the queue but not the hierarchy behind the scheduler
};

// VerdictStages: as in the RTL, cycles after R3 in which it is known whether the packet was dropped. Hierarchy: a queue has one packet at
// most between the scheduler and the end of the hierarchy behind it (pst_outstanding); done() tells of that end.
template <typename Record, int VerdictStages = 0, bool Hierarchy = false>
class ShapedSchedule {
  public:
    static constexpr int kLast = schedule_timing::kStamp + VerdictStages;  // age in which the stamp is written

    // tolerance, time_width: ToleranceCycles and TimeWidth of the RTL.
    ShapedSchedule(Record* records, std::uint32_t queues, std::uint32_t tolerance = schedule_timing::kTolerance,
                   int time_width = kLeastTimeWidth)
        : records_(records),
          queues_(queues),
          tolerance_(tolerance),
          time_width_(time_width),
          longest_(Shaper::longest(time_width)),
          wheel_(slots(queues)),
          used_(slots(queues) / 64),
          mask_(slots(queues) - 1),
          link_(queues) {
        // The golden section of the wheel, odd: successive queues beyond the horizon go to slots far from each other.
        scatter_step_ = static_cast<std::uint32_t>((wheel_.size() * 316 / 512) | 1);
    }

    // Cycles after reset until the memories are cleared.
    static std::uint32_t init_cycles(std::uint32_t queues) { return std::max<std::uint32_t>(queues, slots(queues)); }

    // As after a reset whose memories are cleared; `now` is the first cycle that is stepped.
    void start(std::int64_t now) {
        *this = ShapedSchedule(records_, queues_, tolerance_, time_width_);
        cursor_ = ((now - 1) >> schedule_timing::kSlotShift) + 1;
        last_walk_ = now - 1;
        last_step_ = now - 1;
        swept_ = now - 1;
    }

    // Settings of a queue can be written in this cycle.
    bool setting_room() const { return !gate_busy_; }

    // Hierarchy: a packet of this queue is through the hierarchy, slow: it had to wait there; before step(). Returns whether the queue is
    // to wake up.
    bool done(std::int64_t now, std::uint32_t queue, bool slow) {
        namespace t = schedule_timing;
        for (int age = 1; age <= kLast; ++age) {
            if (!(pipe_ >> (age - 1) & 1) || op(now, age).queue != queue) continue;
            // It comes off the count until the decision; later the decision stands, but the queue need not wait for it any more.
            if (age == 1)
                --op(now, age).setting.outstanding;
            else
                (age == t::kDecide ? op(now, age).decided : op(now, age).through) = true;
        }
        ShaperState& shaper = records_[queue].shaper;
        --shaper.outstanding;
        shaper.slow = slow;
        done_ = {now, queue};
        const bool wants = shaper.wants;
        if (wants) again_.push({now + t::kAgain, queue});
        shaper.wants = false;
        return wants;
    }
    // Hierarchy: a queue woke up in the last step.
    bool told() const { return last_again_ == last_step_; }

    // One cycle. `manager` gives dequeue(), and dequeue_ready(): a queue may be asked for its packet in the next cycle. credit: the output
    // took a packet; setting: settings of this queue are written now (and have been put into its record by the caller after this call);
    // kNoQueue: none. left(queue, Dequeued, ShaperState): a packet was taken from its queue; drop: the one that was taken kLast - kTake
    // cycles ago is not to be sent, and not charged; ahead_room: a packet may be sent ahead of another one's being through the hierarchy,
    // which left() gets in its last arguments: ahead, and that it is just through.
    template <typename Manager, typename Left>
    void step(std::int64_t now, Manager& manager, bool credit, bool setting, Left&& left, bool drop = false, bool ahead_room = false) {
        namespace t = schedule_timing;
        if (now > next_tick()) catch_up(now, manager);
        if (now > last_step_ + 1) place_credit_ += std::exchange(returned_, 0);
        last_step_ = now;
        visible_ += newly_[now & 3];
        newly_[now & 3] = 0;
        if ((now & (t::kWalkCycles - 1)) == 0) {
            if (last_walk_ != now - 1) walk_due_ = true;
            if (now - swept_ > stamps::kSweep) sweep(now, now);
        }

        pipe_ = (pipe_ << 1) & ((2U << kLast) - 1);
        Op* const last = pipe_ >> kLast & 1 ? &op(now, kLast) : nullptr;
        const bool place_credit_free = place_credit_ != 0;

        // B0: the walk or a pop.
        const bool walk = walk_due_ && place_credit_free;
        const bool gate_next = gate_wait_ && now >= gate_now_ + t::kChanged && !under_way(now, gate_queue_);
        const bool gate = gate_next && !walk_due_ && place_credit_free;
        const bool pop = visible_ != 0 && !walk && !gate_next && place_credit_free && out_credit_ != 0 && !setting &&
                         manager.dequeue_ready() &&
                         !(last && (last->kind == Kind::Walk || (last->kind == Kind::Gate && last->queue == ready_head_)));
        if (walk) {
            op(now, 0) = {0, walk_queue_, Kind::Walk, {}, false};
            pipe_ |= 1;
            walk_due_ = false;
            last_walk_ = now;
            walk_queue_ = walk_queue_ + 1 == queues_ ? 0 : walk_queue_ + 1;
        } else if (gate) {
            op(now, 0) = {0, gate_queue_, Kind::Gate, {}, false};
            pipe_ |= 1;
            gate_wait_ = false;
        } else if (pop) {
            const std::uint32_t queue = ready_head_;
            if (--ready_) {
                ready_head_ = link_[queue];
                __builtin_prefetch(&records_[ready_head_]);
                __builtin_prefetch(&link_[ready_head_]);
            }
            --visible_;
            op(now, 0) = {records_[queue].shaper.time, queue, Kind::Dequeue, records_[queue].shaper, false};
            manager.expect(queue);
            pipe_ |= 1;
        }
        place_credit_ += std::exchange(returned_, 0) - static_cast<int>(walk || gate || pop);  // of the last cycle: seen in the next one
        out_credit_ += static_cast<int>(credit) - static_cast<int>(pop);

        // B3: what became of it in B2; the packet is taken, and the queue's next earliest departure follows.
        if (pipe_ >> t::kTake & 1) {
            Op& o = op(now, t::kTake);
            if (o.kind == Kind::Dequeue) {
                if (o.setting.mantissa == 0 || o.setting.frozen)
                    o.kind = Kind::Park;
                else if (!stamps::due(o.time, now + t::kDecide - t::kTake))
                    o.kind = Kind::Replace;
                else if (Hierarchy && o.setting.outstanding != 0 && (o.setting.outstanding != 1 || o.setting.slow || !ahead_room_))
                    o.kind = Kind::Wait;
            }
            if (o.kind == Kind::Dequeue) {
                const auto taken = manager.dequeue(now, o.queue);
                o.backlogged = taken.backlogged;
                o.time = next_departure(o, now, taken.length);
                left(o.queue, taken, o.setting, o.setting.outstanding != 0 && !o.decided, o.through);
            }
        }

        // The last stage.
        bool place_ret = false, park = false;
        if (last) {
            if (last->kind == Kind::Dequeue) {
                if (VerdictStages != 0 && drop)
                    last->time = records_[last->queue].shaper.time;
                else {
                    records_[last->queue].shaper.time = last->time;
                    if (Hierarchy) ++records_[last->queue].shaper.outstanding;
                }
                place_ret = last->backlogged;
                if (Hierarchy && place_ret && !(VerdictStages != 0 && drop) && !just_through(now, last->queue)) {
                    // The queue's next packet may follow this one (the one before this is through by then), or it waits for a wake-up.
                    place_ret = !last->setting.slow && ahead_room;
                    records_[last->queue].shaper.wants = !place_ret;
                }
            } else if (last->kind == Kind::Replace) {
                place_ret = true;
                ++out_credit_;
            } else if (last->kind == Kind::Park) {
                records_[last->queue].shaper.parked = park = true;
                ++out_credit_;
            } else if (last->kind == Kind::Gate) {
                set_gate(now, last->queue);
            } else if (Hierarchy && last->kind == Kind::Wait) {
                place_ret = last->decided || last->through;
                records_[last->queue].shaper.wants = !place_ret;
                ++out_credit_;
            }
            returned_ += !place_ret;
        }
        ahead_room_ = ahead_room;

        // A0: an announcement, or a parked queue whose gate has opened.
        const bool act_room = act_room_;
        act_room_ = place_act_.size() <= t::kActiveRoom;
        const bool gate_open = gate_busy_ && now >= gate_at_;
        const bool unpark = gate_open && gate_opens_ && records_[gate_queue_].shaper.parked;
        bool unpark_take = false;
        activated_ <<= 1;
        const bool again = Hierarchy && !again_.empty() && again_.front().at <= now;
        const bool again_first = again && (last_again_ != now - 1 || manager.active().empty());
        if (again_first && act_room && !unpark) {
            if (!stamp_written(last, again_.front().queue)) {
                activation_[now & 3] = {time_of(now, again_.front().queue), again_.front().queue};
                activated_ |= 1;
                last_again_ = now;
                again_.pop();
            }
        } else if (act_room && (unpark || !manager.active().empty())) {
            const std::uint32_t queue = unpark ? gate_queue_ : manager.active().front();
            if (!stamp_in_flight(now, queue) && !(unpark && park)) {
                activation_[now & 3] = {time_of(now, queue), queue};
                activated_ |= 1;
                if (unpark) {
                    records_[queue].shaper.parked = false;
                    unpark_take = true;
                } else {
                    manager.active().pop();
                }
            }
        }
        if (gate_open && (!unpark || unpark_take)) gate_busy_ = false;

        place(now, last, place_ret);
    }

    // Settings that are written in this cycle, after step().
    void write_setting(std::int64_t now, std::uint32_t queue, std::uint16_t mantissa, std::uint8_t exponent, std::uint32_t burst) {
        ShaperState& shaper = records_[queue].shaper;
        gate_busy_ = true;
        gate_closed_ = mantissa == 0;
        gate_wait_ = gate_closed_ != (shaper.mantissa == 0);
        gate_opens_ = gate_wait_ && !gate_closed_;
        gate_queue_ = queue;
        gate_now_ = now;
        gate_at_ = gate_wait_ ? INT64_MAX : now + schedule_timing::kKept;
        shaper.mantissa = mantissa;
        shaper.exponent = exponent;
        shaper.burst = burst;
    }

    // The next cycle after `now` that has to be stepped, if no queue is announced, no credit comes and no setting.
    std::int64_t next_event(std::int64_t now) const {
        namespace t = schedule_timing;
        if (busy()) return now + 1;
        // Until its gate has opened a new setting is nothing to be stepped for, but no other one can be written.
        const std::int64_t gate = gate_busy_ ? std::max(gate_at_, now + 1) : INT64_MAX;
        // Empty slots and walks can be made up for (catch_up).
        if (in_slots_ == 0) return gate;
        const std::int64_t slot = next_slot();
        if (slot - cursor_ > kReplay >> t::kSlotShift) return std::min(gate, slot << t::kSlotShift);
        return std::min(gate, next_tick());
    }

  private:
    enum class Kind : std::uint8_t { Dequeue, Replace, Park, Walk, Wait, Gate };
    struct Op {
        std::int64_t time;
        std::uint32_t queue;
        Kind kind;
        ShaperState setting;  // as it was at the pop
        bool backlogged;
        bool decided = false, through = false;  // hierarchy: a packet got through in the cycle of the decision, or later
    };
    struct Place {
        std::int64_t time;
        std::uint32_t queue;
    };
    struct Told {
        std::int64_t at;
        std::uint32_t queue;
    };
    struct Slot {
        std::uint32_t head = 0, tail = 0, count = 0;
    };

    // The horizon is at least eight cycles per queue, as in pst_schedule.
    static std::uint32_t slots(std::uint32_t queues) {
        if (queues <= 1024) return 256;
        std::uint32_t slots = 1;
        while (slots < queues / 4) slots *= 2;
        return slots;
    }

    static constexpr std::int64_t kReplay = 4 * schedule_timing::kWalkCycles;  // far more than anything stays under way
    static constexpr std::int64_t kLookAhead = 4096;                           // slots

    // The next cycle matters.
    bool busy() const {
        const bool waiting = visible_ != 0 && out_credit_ != 0;
        return pipe_ || waiting || place_valid_ || activated_ & 3 || !place_act_.empty() || !place_ret_.empty() || over_ || !act_room_ ||
               walk_due_ || gate_wait_ || (Hierarchy && !again_.empty()) || newly_[0] || newly_[1] || newly_[2] || newly_[3];
    }

    // The next walk or splice after the last step.
    std::int64_t next_tick() const {
        namespace t = schedule_timing;
        return std::min((last_step_ | (t::kWalkCycles - 1)) + 1, std::max(last_step_ + 1, cursor_ << t::kSlotShift));
    }

    // The next slot from the cursor on that has queues, or one that is far ahead and may have some.
    std::int64_t next_slot() const {
        for (std::int64_t slot = cursor_, end = cursor_ + std::min<std::int64_t>(kLookAhead, mask_); slot < end;) {
            const std::uint64_t bits = used_[(slot & mask_) >> 6] >> (slot & 63);
            if (bits) return slot + __builtin_ctzll(bits);
            slot = (slot | 63) + 1;
        }
        return cursor_ + std::min<std::int64_t>(kLookAhead, mask_);
    }

    // Nothing was under way since the last step but walks and splices of empty slots: counts those that are long over, and replays the
    // others.
    template <typename Manager>
    void catch_up(std::int64_t now, Manager& manager) {
        namespace t = schedule_timing;
        std::int64_t from = next_tick();
        if (now > from + kReplay) {
            if (now - swept_ > stamps::kSweep) sweep(now, last_step_);
            from = now / t::kWalkCycles * t::kWalkCycles - t::kWalkCycles;
            const std::int64_t walks = from / t::kWalkCycles - 1 - last_step_ / t::kWalkCycles;
            walk_queue_ = static_cast<std::uint32_t>((walk_queue_ + walks) % queues_);
            cursor_ = from >> t::kSlotShift;
        }
        last_step_ = from - 1;
        for (std::int64_t cycle = from; cycle < now; cycle = busy() ? cycle + 1 : next_tick())
            step(cycle, manager, false, false, [](std::uint32_t, const auto&, const auto&, bool, bool) {});
    }

    // Renews old stamps; they lie less than 2^47 cycles from cycle `near`.
    void sweep(std::int64_t now, std::int64_t near) {
        for (std::uint32_t queue = 0; queue < queues_; ++queue) {
            ShaperState& shaper = records_[queue].shaper;
            if (!shaper.frozen) shaper.time = stamps::renewed(shaper.time, near, now);
        }
        swept_ = now;
    }

    // The operation of a gate: it freezes the stamp of one that has closed, and thaws that of one that has opened.
    void set_gate(std::int64_t now, std::uint32_t queue) {
        ShaperState& shaper = records_[queue].shaper;
        gate_at_ = now + (gate_opens_ ? kLast + schedule_timing::kOpen : schedule_timing::kPace);
        const std::int64_t set = stamps::at(gate_now_);
        shaper.time = gate_closed_ ? stamps::between(set, shaper.time) : stamps::after(set, shaper.time);
        shaper.frozen = gate_closed_;
    }

    // From when on the queue has to be looked at: at once, if its gate is closed.
    std::int64_t time_of(std::int64_t now, std::uint32_t queue) const {
        const ShaperState& shaper = records_[queue].shaper;
        return shaper.frozen ? stamps::at(now - 1) : shaper.time;
    }

    Op& op(std::int64_t now, int age) { return ops_[(now - age) & (kOps - 1)]; }

    // GCRA (model/shaper.hpp).
    std::int64_t next_departure(const Op& o, std::int64_t now, std::uint32_t length) const {
        const std::int64_t floor = stamps::at(now - std::max(o.setting.burst, tolerance_));
        return stamps::after(stamps::later(o.time, floor), Shaper::time_of(length, o.setting.mantissa, o.setting.exponent, longest_));
    }

    // A packet of this queue gets through in this cycle.
    bool just_through(std::int64_t now, std::uint32_t queue) const { return done_.at == now && done_.queue == queue; }

    // An operation on this queue has started and is not over.
    bool under_way(std::int64_t now, std::uint32_t queue) {
        for (int age = 1; age <= kLast; ++age)
            if (pipe_ >> age & 1 && op(now, age).queue == queue) return true;
        return false;
    }

    // A walk or a setting's operation may write the stamp of this queue in this cycle.
    static bool stamp_written(const Op* last, std::uint32_t queue) {
        return last && (last->kind == Kind::Walk || last->kind == Kind::Gate) && last->queue == queue;
    }

    // The stamp of this queue is on its way from R0 to the last stage; that of a walk or of a setting counts when it is written.
    bool stamp_in_flight(std::int64_t now, std::uint32_t queue) {
        if (!(pipe_ >> schedule_timing::kAnswer)) return false;
        for (int age = schedule_timing::kAnswer; age <= kLast; ++age)
            if (pipe_ >> age & 1 && op(now, age).queue == queue &&
                ((op(now, age).kind != Kind::Walk && op(now, age).kind != Kind::Gate) || age == kLast))
                return true;
        return false;
    }

    void append_ready(std::uint32_t head, std::uint32_t tail, std::uint32_t count, std::int64_t visible) {
        if (ready_)
            link_[ready_tail_] = head;
        else
            ready_head_ = head;
        ready_tail_ = tail;
        ready_ += count;
        newly_[visible & 3] += count;
    }

    // Returns and activations in turn, one register stage, then the lists; a splice goes before a place, and a slot that is empty is not
    // spliced.
    void place(std::int64_t now, const Op* last, bool place_ret) {
        namespace t = schedule_timing;
        const bool op_ready = now >= lists_free_;
        const bool move = over_ && op_ready, splice = move && any_;
        const bool place_take = place_valid_ && !(over_ && any_) && op_ready;
        const bool room = !place_valid_ || place_take;
        const std::uint32_t far_slot = far_slot_;
        const std::int64_t cursor = cursor_;
        far_slot_ = static_cast<std::uint32_t>(cursor_) - 1 - ((scatter_ & mask_) >> 1);
        over_ = !move && (now >> t::kSlotShift) >= cursor_;
        any_ = wheel_[cursor_ & mask_].count || (place_valid_ && !place_due_ && place_slot_ == cursor_);
        cursor_ += move;

        if (splice) {
            Slot& slot = wheel_[cursor & mask_];
            __builtin_prefetch(&records_[slot.head]);
            append_ready(slot.head, slot.tail, slot.count, now + t::kListLatency);
            in_slots_ -= slot.count;
            slot.count = 0;
            used_[(cursor & mask_) >> 6] &= ~(std::uint64_t{1} << (cursor & 63));
            lists_free_ = now + t::kSpliceCycles;
            direct_from_ = now + t::kSpliceUnderWay;
        } else if (place_take) {
            const std::int64_t ahead = place_slot_ - cursor;
            if (place_due_ && now >= direct_from_) {
                append_ready(place_queue_, place_queue_, 1, now + t::kDirectLatency);
            } else {
                direct_from_ = std::max<std::int64_t>(direct_from_, now + t::kListLatency);
                if (place_due_ || ahead < 0) {
                    append_ready(place_queue_, place_queue_, 1, now + t::kListLatency);
                } else {
                    const std::int64_t at = (place_far_ ? far_slot : place_slot_) & mask_;
                    Slot& slot = wheel_[at];
                    if (slot.count++) {
                        link_[slot.tail] = place_queue_;
                    } else {
                        slot.head = place_queue_;
                        used_[at >> 6] |= std::uint64_t{1} << (at & 63);
                    }
                    slot.tail = place_queue_;
                    ++in_slots_;
                }
            }
            scatter_ += scatter_step_;
        }

        const bool act = activated_ >> t::kActivate & 1;
        const bool act_fifo = !place_act_.empty(), ret_fifo = !place_ret_.empty();
        const bool any_act = act_fifo || act, any_ret = ret_fifo || place_ret;
        const bool pick_act = any_act && (turn_ || !ret_fifo);
        const bool take_act = pick_act && room, take_ret = any_ret && !pick_act && room;
        if (room) {
            place_valid_ = any_act || any_ret;
            if (place_valid_) {
                const Place pick = pick_act   ? act_fifo ? place_act_.front() : activation_[(now - t::kActivate) & 3]
                                   : ret_fifo ? place_ret_.front()
                                              : Place{last->time, last->queue};
                turn_ = !pick_act;
                place_queue_ = pick.queue;
                place_due_ = stamps::due(pick.time, now);
                place_slot_ = (stamps::cycle_of(stamps::after(pick.time, -1), now) >> t::kSlotShift) + 1;  // the first that begins then
                place_far_ = place_slot_ - cursor > static_cast<std::int64_t>(mask_);
                if (!place_due_) __builtin_prefetch(&wheel_[place_slot_ & mask_], 1);
            }
        }
        // Both FIFOs are passed by when they are empty.
        if (take_act && act_fifo) place_act_.pop();
        if (act && (act_fifo || !take_act)) place_act_.push(activation_[(now - t::kActivate) & 3]);
        if (take_ret && ret_fifo) place_ret_.pop();
        if (place_ret && (ret_fifo || !take_ret)) place_ret_.push({last->time, last->queue});
        returned_ += take_ret;
    }

    static constexpr int kOps = VerdictStages == 0 ? 8 : 16;  // more than kLast, a power of two

    Record* records_;
    std::uint32_t queues_, tolerance_;
    int time_width_;
    std::int64_t longest_;  // that a packet takes, in 2^-16 cycles

    // decisions
    Op ops_[kOps] = {};
    unsigned pipe_ = 0;  // bit n: an operation was popped n cycles ago
    int place_credit_ = schedule_timing::kPlaceDepth, returned_ = 0, out_credit_ = schedule_timing::kCredits;
    bool walk_due_ = false;
    std::int64_t last_walk_ = -8, last_step_ = 0, swept_ = 0;
    std::uint32_t walk_queue_ = 0;

    // activations and openings
    Place activation_[4] = {};
    unsigned activated_ = 0;  // bit n: n cycles ago
    bool act_room_ = true;
    bool gate_busy_ = false, gate_wait_ = false;  // a setting: until the next one; until its operation starts
    bool gate_closed_ = false, gate_opens_ = false;
    std::uint32_t gate_queue_ = 0;
    std::int64_t gate_now_ = 0, gate_at_ = 0;  // when it was taken; when a parked queue wakes up

    // placing
    SmallFifo<Place, schedule_timing::kActiveDepth> place_act_;
    SmallFifo<Place, schedule_timing::kPlaceDepth> place_ret_;
    bool turn_ = false, place_valid_ = false, place_due_ = false, place_far_ = false;
    std::uint32_t place_queue_ = 0, far_slot_ = 0, scatter_ = 0, scatter_step_ = 1;
    std::int64_t place_slot_ = 0;
    bool over_ = false, any_ = false;                // the slot that is spliced next is over; a queue is in it
    std::int64_t cursor_ = 0;                        // that slot
    std::int64_t lists_free_ = 0, direct_from_ = 0;  // cycles from which an operation, a direct place, is taken

    // lists
    std::vector<Slot> wheel_;
    std::vector<std::uint64_t> used_;  // bit by slot: it has queues
    std::uint32_t mask_;
    std::vector<std::uint32_t> link_;
    std::uint32_t in_slots_ = 0;  // queues
    std::uint32_t ready_head_ = 0, ready_tail_ = 0, ready_ = 0;
    std::uint32_t visible_ = 0;    // queues of the ready list that can be popped; the others are on their way
    std::uint32_t newly_[4] = {};  // that can be popped from cycle n mod 4 on

    // packets in the hierarchy behind
    SmallFifo<Told, schedule_timing::kAgainDepth> again_;
    Told done_{-1, 0};  // the last packet that got through the hierarchy
    std::int64_t last_again_ = -8;
    bool ahead_room_ = false;  // in the last cycle
};

template <typename Record>
class PassthroughSchedule {
  public:
    PassthroughSchedule(Record* records, std::uint32_t queues) : records_(records), queues_(queues), link_(queues) {}

    static std::uint32_t init_cycles(std::uint32_t queues) { return queues; }

    void start(std::int64_t) { *this = PassthroughSchedule(records_, queues_); }
    bool setting_room() const { return true; }

    // As in ShapedSchedule.
    template <typename Manager, typename Left>
    void step(std::int64_t now, Manager& manager, bool credit, bool, Left&& left, bool = false, bool = false) {
        namespace t = schedule_timing;
        visible_ += newly_;
        newly_ = 0;
        pipe_ = (pipe_ << 1) & 0x1F;

        const bool pop = visible_ != 0 && turn_credit_ != 0 && out_credit_ != 0;
        if (pop) {
            const std::uint32_t queue = ready_head_;
            if (--ready_) {
                ready_head_ = link_[queue];
                __builtin_prefetch(&records_[ready_head_]);
            }
            --visible_;
            ops_[now & 7] = {queue, false};
            manager.expect(queue);
            pipe_ |= 1;
        }
        out_credit_ += static_cast<int>(credit) - static_cast<int>(pop);
        turn_credit_ -= pop;

        if (pipe_ >> t::kTake & 1) {
            Op& o = ops_[(now - t::kTake) & 7];
            const auto taken = manager.dequeue(now, o.queue);
            o.backlogged = taken.backlogged;
            left(o.queue, taken, ShaperState{}, false, false);
        }

        // What was chosen a cycle ago goes onto the ready list.
        if (place_valid_) {
            if (ready_)
                link_[ready_tail_] = place_queue_;
            else
                ready_head_ = place_queue_;
            ready_tail_ = place_queue_;
            ++ready_;
            newly_ = 1;
        }
        // Returns and activations in turn.
        const bool active = !manager.active().empty(), ret = !returned_.empty();
        const bool pick_act = active && (turn_ || !ret);
        place_valid_ = active || ret;
        if (pick_act) {
            place_queue_ = manager.active().front();
            manager.active().pop();
        } else if (ret) {
            place_queue_ = returned_.front();
            returned_.pop();
            ++turn_credit_;
        }
        if (place_valid_) turn_ = !pick_act;

        if (pipe_ >> t::kAnswer & 1) {
            const Op& o = ops_[(now - t::kAnswer) & 7];
            if (o.backlogged)
                returned_.push(o.queue);
            else
                ++turn_credit_;
        }
    }

    void write_setting(std::int64_t, std::uint32_t, std::uint16_t, std::uint8_t, std::uint32_t) {}

    std::int64_t next_event(std::int64_t now) const {
        const bool waiting = visible_ != 0 && out_credit_ != 0;
        return pipe_ || waiting || place_valid_ || newly_ || !returned_.empty() ? now + 1 : INT64_MAX;
    }

  private:
    struct Op {
        std::uint32_t queue;
        bool backlogged;
    };

    Record* records_;
    std::uint32_t queues_;
    Op ops_[8] = {};
    unsigned pipe_ = 0;  // bit n: a queue was popped n cycles ago
    int turn_credit_ = schedule_timing::kTurnDepth, out_credit_ = schedule_timing::kCredits;
    SmallFifo<std::uint32_t, schedule_timing::kTurnDepth> returned_;
    bool turn_ = false, place_valid_ = false;
    std::uint32_t place_queue_ = 0;
    std::vector<std::uint32_t> link_;
    std::uint32_t ready_head_ = 0, ready_tail_ = 0, ready_ = 0, visible_ = 0, newly_ = 0;
};

}  // namespace penstock
