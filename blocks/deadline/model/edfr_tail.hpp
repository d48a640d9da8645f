// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_deadline_tail and pst_deadline_slots, equal to them in every cycle: frames into the chunk that their class fills.
#pragma once

#include "edfr_front.hpp"

namespace penstock {

// Of a closed chunk: what the mover has to know. Its frames are in the slot until the mover has chosen its way.
struct EdfrClosed {
    uint32_t id = 0;
    int64_t serial = 0;
    uint32_t number = 0;
    bool open = false;
    EdfrCount before;
    uint32_t data_units = 0;
};

struct EdfrSlots {
    // A class's chunk can be flushed: what was read of it two cycles ago.
    struct Flush {
        bool reads = false;  // the view of `picked` is read
        bool now = false;
    };

    Flush flush(bool op_valid, uint32_t op_class, bool look, bool room) const {
        Flush f;
        fits = picked_valid && want[picked] && !(op_valid && op_class == picked);
        f.reads = fits && !read0 && !read1 && !look;
        f.now = fits && read1 && room;
        return f;
    }

    // `dry`: classes that have nothing to come; `moved`: a slot comes back.
    bool clock(const Flush& f, const EdfrMask& dry, uint32_t flush_slot, bool close, bool done, uint32_t op_class, uint32_t op_slot,
               bool moved, uint32_t moved_class, uint32_t moved_slot, bool moved_looped) {
        const EdfrMask want_now = (dry & open) - (busy[0] | busy[1]);
        const bool changed = picked_valid || want.any() || !(want_now == want);
        const uint32_t flushed = picked;
        const bool give_up = picked_valid && !fits;
        if (!picked_valid) {
            picked_valid = want.any();
            if (picked_valid) picked = want.next(last);
        }
        read1 = read0 && fits;
        read0 = f.reads;
        want = want_now;
        if (f.now || give_up) {
            picked_valid = false;
            last = static_cast<int>(flushed);
        }
        if (done) open.set(op_class);
        if (f.now) open.clear(flushed);
        if (moved) {
            busy[moved_slot].clear(moved_class);
            kept[moved_slot].put(moved_class, moved_looped);
        }
        if (close) busy[op_slot].set(op_class);
        if (f.now) busy[flush_slot].set(flushed);
        return changed || close || done || moved;
    }

    EdfrMask open, want;
    std::array<EdfrMask, 2> busy, kept;
    bool picked_valid = false, read0 = false, read1 = false;
    mutable bool fits = false;
    uint32_t picked = 0;
    int last = -1;
};

class EdfrTail {
  public:
    static constexpr uint32_t kBeatUnits = EdfrSettings::kBeatUnits;

    explicit EdfrTail(const EdfrSettings& s)
        : numbers(s.further() + 1),
          closed(2 * std::bit_ceil(s.classes)),
          room_(s.room()),
          further_(s.further()),
          states_(s.classes),
          slot_(2 * s.classes) {}

    // What is done in this cycle.
    struct Now {
        bool go = false, fire = false, place = false, drop = false, done = false, goes_on = false, begins_here = false, spare = false;
        bool close = false, meta_ready = false;
        uint32_t room = 0, beat_units = 0, split = 0, slot = 0;
        bool takes_number() const { return place && goes_on && !spare; }
    };
    Now look(bool data_valid, bool number_valid, bool more_numbers) const {
        Now n;
        if (op_valid_) {
            const State& state = current();
            const bool open = slots.open[op_.id];
            n.slot = static_cast<uint32_t>(state.serial & 1);
            const bool taken_slot = slots.busy[n.slot ^ 1][op_.id];
            n.spare = slots.kept[n.slot ^ 1][op_.id];
            n.room = first_ && !open ? 0 : state.room;
            n.beat_units = std::min(units_, kBeatUnits);
            n.goes_on = n.beat_units > n.room;
            n.split = n.goes_on ? n.room : n.beat_units;
            n.begins_here = first_ && n.room != 0;
            n.drop = dropping_;
            n.go = true;
            if (first_ && units_ > n.room) {
                const uint32_t needed = std::min((units_ - n.room + room_ - 1) / room_, further_);
                const bool enough = numbers.level() + n.spare >= needed;
                n.drop = !taken_slot && !enough && !number_valid && !more_numbers;
                if (taken_slot || (!enough && !n.drop)) n.go = false;
            }
            if (!first_ && !n.drop && n.goes_on && (taken_slot || (!n.spare && !numbers.valid()))) n.go = false;
            n.fire = n.go && data_valid;
            n.place = n.fire && !n.drop;
            n.done = n.fire && units_ <= kBeatUnits;
            n.close = n.place && n.goes_on && (open || !first_);
        }
        n.meta_ready = !op_valid_ || n.done;
        return n;
    }
    bool op_valid() const { return op_valid_; }
    uint32_t op_class() const { return op_.id; }

    // A chunk that is flushed finds room behind those that are full.
    bool flush_room() const { return !close2_valid_; }
    EdfrChunk& slot(uint32_t id, int64_t serial) { return slot_[2 * id + static_cast<uint32_t>(serial & 1)]; }
    // A stamp may be made of the class: it has taken a frame since it was noted last, and has a chunk begun.
    EdfrMask to_note() const { return any & slots.open; }
    EdfrStamp stamp(uint32_t id) const { return stamp_of(states_[id]); }

    // A look at a class, in this cycle: whether it has taken a frame since, answered behind the writes of the cycle by stamp().
    bool clock(const Now& n, const EdfrSlots::Flush& f, const EdfrIntake::Whole* in, const uint32_t* number_in, const EdfrMask& dry,
               bool moved, uint32_t moved_class, uint32_t moved_slot, bool moved_looped, bool chunk_ready, bool look, uint32_t look_class,
               bool* look_any) {
        const uint32_t op_class = op_.id;
        const bool kept_frame = n.done && !n.drop;
        bool changed = n.fire || in || close1_valid_ || close2_valid_ || fate.valid;

        // Closed chunks, first what came out two cycles ago.
        const EdfrClosed flushed = {slots.picked, view2_.serial, view2_.number, false, view2_.before, view2_units_};
        const EdfrClosed* const in_chunk = close2_valid_ ? &close2_ : f.now ? &flushed : nullptr;
        changed |= closed.clock(chunk_ready, in_chunk);
        close2_valid_ = close1_valid_;
        if (close1_valid_) close2_ = close1_;
        close1_valid_ = n.close;

        fate.valid = n.done;
        if (n.place) {
            put(n);
        } else if (n.fire) {
            fire();
            dropping_ = n.drop;
        }
        if (n.done) {
            fate = {true, op_class, n.drop ? EdfrFate::NoChunk : EdfrFate::Taken, op_.frame};
            if (kept_frame) states_[op_class] = state_;
        }
        if (look) {
            *look_any = any[look_class] && slots.open[look_class];
            if (*look_any) {
                any.clear(look_class);
                changed = true;
            }
        }
        if (kept_frame) any.set(op_class);

        view2_ = view1_;
        view2_units_ = view1_units_;
        if (f.reads) {
            view1_ = stamp_of(states_[slots.picked]);
            view1_units_ = states_[slots.picked].filled;
        }
        changed |= slots.clock(f, dry, static_cast<uint32_t>(flushed.serial & 1), n.close, kept_frame, op_class, n.slot, moved, moved_class,
                               moved_slot, moved_looped);

        if (n.takes_number()) numbers.pop();
        if (number_in) numbers.push(*number_in);
        if (in) {
            op_ = *in;
            units_ = (in->frame.bytes + EdfrSettings::kUnitBytes - 1) / EdfrSettings::kUnitBytes;
            first_ = true;
            dropping_ = false;
        }
        op_valid_ = in || (op_valid_ && !n.done);
        return changed || number_in;
    }

    EdfrFifo<uint32_t> numbers;
    EdfrRamFifo<EdfrClosed> closed;
    EdfrSlots slots;
    EdfrMask any;
    EdfrEvent fate;

  private:
    struct State {
        int64_t serial = -1;
        uint32_t number = 0, previous = 0;
        uint32_t frames = 0, filled = 0, room = 0;
        EdfrCount earlier, total;
    };

    const State& current() const { return first_ ? states_[op_.id] : state_; }
    static EdfrStamp stamp_of(const State& s) { return {s.serial, s.number, s.previous, s.earlier}; }

    void fire() {
        units_ -= std::min(units_, kBeatUnits);
        first_ = false;
    }

    void put(const Now& n) {
        State next = current();
        const EdfrCount before = next.total;
        if (first_) {
            ++next.total.frames;
            next.total.bytes += op_.frame.bytes;
            if (n.begins_here) slot(op_.id, next.serial).frames.push_back(op_.frame);
        }
        next.frames += n.begins_here;
        next.filled += n.split;
        next.room = n.room - n.split;
        if (n.close) close1_ = {op_.id, next.serial, next.number, !first_ || n.begins_here, next.earlier, next.filled};
        if (n.goes_on) {
            const uint32_t rest = n.beat_units - n.split, number = n.spare ? next.previous : numbers.front();
            const bool begins = first_ && !n.begins_here;
            next.previous = next.number;
            next.number = number;
            ++next.serial;
            next.frames = begins;
            next.filled = rest;
            next.room = room_ - rest;
            next.earlier = begins ? before : next.total;
            auto& frames = slot(op_.id, next.serial).frames;
            frames.clear();
            if (begins) frames.push_back(op_.frame);
        }
        // The header of a further frame would take a beat of its own.
        if (n.done && (next.frames & 7) == 7) next.room = next.room > kBeatUnits ? next.room - kBeatUnits : 0;
        state_ = next;
        dropping_ = false;
        fire();
    }

    uint32_t room_, further_;
    std::vector<State> states_;
    std::vector<EdfrChunk> slot_;
    bool op_valid_ = false, first_ = false, dropping_ = false;
    EdfrIntake::Whole op_;
    uint32_t units_ = 0;  // of the frame, from this beat on
    State state_;
    EdfrStamp view1_, view2_;
    uint32_t view1_units_ = 0, view2_units_ = 0;
    bool close1_valid_ = false, close2_valid_ = false;
    EdfrClosed close1_, close2_;
};

}  // namespace penstock
