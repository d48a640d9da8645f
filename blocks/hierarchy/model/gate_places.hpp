// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of where the parents of one level are while packets wait at them, as pst_gate has it: the FIFOs before its timing wheel and behind
// it, the looks at what comes out, and gates that open. Each in its cycle; cycles in which nothing is under way need not be stepped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../../queue/model/fast_queue_manager.hpp"
#include "../../timing/model/timing_wheel.hpp"

namespace penstock {

// Cycles of pst_gate, and sizes of its FIFOs.
namespace gate_timing {
inline constexpr int kPlace = 2;                            // from the decision that places a parent until it can go to the wheel
inline constexpr int kWoken = 1;                            // the same from a wake-up
inline constexpr int kOpen = 9;                             // from a setting with an open gate until a parked parent can
inline constexpr int kLook = 2;                             // from the wheel until its time and its gate are looked at
inline constexpr unsigned kDueRoom = 4;                     // no more wait in each FIFO behind the wheel when one comes out of it
inline constexpr unsigned kPlaceRoom = 16, kWakeRoom = 32;  // no more before it when an operation starts
}  // namespace gate_timing

// A parent's own clock, which stands still while its gate is closed.
struct GateClock {
    int64_t word = 0;  // how far it is behind, or the cycle in which it stands
    bool stands = false;

    int64_t at(int64_t cycle) const { return stands ? word : cycle - word; }
    // From a cycle on it stands, or does not.
    void set(int64_t cycle, bool closed) {
        if (stands == closed) return;
        stands = closed;
        word = cycle - word;
    }
};

// What a parent's memories say when it comes out of the wheel.
struct GateRead {
    GateClock clock{};
    int64_t span = 1;        // cycles of the largest packet, and more than it takes
    unsigned most = 0;       // log2 of the longest batch that the tolerance allows
    int64_t hold_below = 0;  // it holds back while it is less late
    bool closed = false;     // by the last setting; the clock follows two cycles later
};

// A parent that may let packets go: how many, and whether it is patient or holds back.
struct GateDue {
    uint32_t parent = 0;
    unsigned train = 1;
    bool patient = false, holds = false;
};

class GatePlaces {
  public:
    static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

    explicit GatePlaces(uint32_t parents) : wheel_(parents, slots(parents)) {}

    // Decided in cycle `decided`, which may be to come: the parent goes to the wheel. `hold`: the last cycle in which it has to wait.
    void place(uint32_t parent, int64_t hold, int64_t decided) {
        main_.push({decided + gate_timing::kPlace, hold, parent});
        next_ = std::min(next_, decided + gate_timing::kPlace);
    }
    // It is woken up in cycle `at`, which may be to come, to be looked at.
    void wake(uint32_t parent, int64_t at) {
        wakes_.push({at + gate_timing::kWoken, 0, parent});
        next_ = std::min(next_, at + gate_timing::kWoken);
    }
    // A setting with an open gate is written in this cycle; only if setting_ready().
    bool setting_ready() const { return open_at_ == kNever; }
    void open(uint32_t parent, int64_t now) {
        open_at_ = now + gate_timing::kOpen;
        open_parent_ = parent;
        next_ = std::min(next_, open_at_);
    }
    // Operations that start two cycles later have room.
    bool room(int64_t now) const { return fits(main_, gate_timing::kPlaceRoom, now) && fits(wakes_, gate_timing::kWakeRoom, now); }

    // One cycle. `ready`: one that is due is taken, by gates.given(due). Of the parents `gates` has
    //   read(parent)            what their memories say
    //   look(due, read)         two cycles later: the time has come; what is due is filled in
    //   hold(parent, read)      the last cycle in which it has to wait
    //   parked(parent), park(parent, parked)    it waits behind its closed gate
    template <class Gates>
    void step(int64_t now, Gates&& gates, bool ready) {
        if (now < next_ && !(ready && !due_.empty())) return;
        wheel_.begin(now);
        const bool out = wheel_.due() && due_.size() <= gate_timing::kDueRoom && back_.size() <= gate_timing::kDueRoom;
        if (ready && !due_.empty()) {
            gates.given(due_.front());
            due_.pop();
        }

        // What came out two cycles ago: parked, back to the wheel, or due.
        Look* const look = looked_ >> 1 & 1 ? &looks_[now & 1] : nullptr;
        const bool park = look && look->read.closed;

        const bool to_open = open_at_ <= now;
        bool unpark = false;
        if (to_open) {
            unpark = gates.parked(open_parent_);
            if (!unpark) open_at_ = kNever;
        }
        const bool main = valid(main_, now), back = valid(back_, now);
        const bool pick_back = back && (back_turn_ || !main), wake = !main && !back && valid(wakes_, now);
        if (wheel_.ready(now)) {
            if (unpark) {
                wheel_.end(now, !park, open_parent_, now - 1);
                if (!park) {
                    gates.park(open_parent_, false);
                    open_at_ = kNever;
                }
            } else {
                back_turn_ = !pick_back;
                if (pick_back)
                    put(now, back_, false);
                else if (main)
                    put(now, main_, false);
                else if (wake)
                    put(now, wakes_, true);
                else
                    wheel_.end(now, false, 0, 0);
            }
        } else {
            wheel_.end(now, false, 0, 0);
        }

        if (look) {
            GateDue due{look->parent};
            if (park)
                gates.park(look->parent, true);
            else if (gates.look(due, look->read))
                due_.push(due);
            else
                back_.push({now + 1, gates.hold(look->parent, look->read), look->parent});
        }
        looked_ = (looked_ << 1 | unsigned{out}) & 3;
        if (out) {
            const uint32_t parent = wheel_.take();
            looks_[now & 1] = {parent, gates.read(parent)};
        }
        next_ = find_next(now);
    }

    // The next one that is due, when all until this cycle has been stepped, or null.
    const GateDue* due() const { return due_.empty() ? nullptr : &due_.front(); }
    // The next cycle after `now` that must be stepped. `ready`: one that is due is taken in it.
    int64_t next_event(int64_t now, bool ready) const { return ready && !due_.empty() ? now + 1 : std::max(next_, now + 1); }

  private:
    struct Place {
        int64_t from;  // first cycle in which it can go
        int64_t hold;
        uint32_t parent;
    };
    using Places = SmallFifo<Place, 128>;
    struct Look {
        uint32_t parent = 0;
        GateRead read{};
    };

    // The horizon is at least eight cycles per parent, as in pst_hierarchy.
    static uint32_t slots(uint32_t parents) {
        uint32_t slots = 256;
        while (parents > 1024 && slots < parents / 4) slots *= 2;
        return slots;
    }
    static bool valid(const Places& places, int64_t now) { return !places.empty() && places.front().from <= now; }
    // No more than `most` are in a FIFO; some at its end may still be on their way.
    static bool fits(const Places& places, unsigned most, int64_t now) { return places.size() <= most || places.at(most).from > now; }

    void put(int64_t now, Places& places, bool due) {
        const Place place = places.front();
        places.pop();
        wheel_.end(now, true, place.parent, due ? now - 1 : place.hold);
    }

    int64_t find_next(int64_t now) const {
        const bool out = due_.size() <= gate_timing::kDueRoom && back_.size() <= gate_timing::kDueRoom;
        if (looked_ || !back_.empty() || (wheel_.due() && out)) return now + 1;
        int64_t next = std::min(wheel_.next_event(now), open_at_);
        if (!main_.empty()) next = std::min(next, main_.front().from);
        if (!wakes_.empty()) next = std::min(next, wakes_.front().from);
        return std::max(next, now + 1);
    }

    TimingWheel wheel_;
    Places main_, back_, wakes_;
    SmallFifo<GateDue, 16> due_;
    bool back_turn_ = false;
    unsigned looked_ = 0;  // bit n: one came out of the wheel n + 1 cycles ago
    Look looks_[2];
    int64_t open_at_ = kNever;  // a gate opens then, or as soon as there is room
    uint32_t open_parent_ = 0;
    int64_t next_ = 0;  // cycle that must be stepped next
};

}  // namespace penstock
