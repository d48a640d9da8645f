// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of the way into pst_edfr's tail: pst_dscp_class, pst_deadline_due, pst_deadline_intake; equal to them in every cycle.
#pragma once

#include <span>

#include "edfr_parts.hpp"

namespace penstock {

inline constexpr uint32_t kNoDscp = 64;  // all that has none

// The DSCP of a frame whose first beat has these bytes, as pst_dscp_class finds it; kNoDscp: the frame has the default class.
inline uint32_t edfr_dscp(std::span<const uint8_t> beat) {
    const auto word = [&](size_t at) { return at + 2 <= beat.size() ? beat[at] << 8 | beat[at + 1] : -1; };
    const auto tag = [&](size_t at) { return word(at) == 0x8100 || word(at) == 0x88A8; };
    const size_t behind = tag(12) ? tag(16) ? 8 : 4 : 0;
    const int type = word(12 + behind), lead = word(14 + behind);
    if (lead < 0) return kNoDscp;
    if (type == 0x0800 && lead >> 12 == 4) return lead >> 2 & 63;
    if (type == 0x86DD && lead >> 12 == 6) return lead >> 6 & 63;
    return kNoDscp;
}

struct EdfrBeat {
    uint64_t number = 0;
    uint16_t user = 0;
    uint16_t key = 0;   // DSCP or kNoDscp; the class, where it stands beside the frame
    uint8_t bytes = 0;  // in the last beat
    bool last = false, bad = false;
    int64_t arrived = 0;  // where it is given
};

struct EdfrClassifier {
    explicit EdfrClassifier(const EdfrSettings& s) : from_user(s.class_from_user) {}

    bool ready2(bool due_ready) const { return !valid2 || due_ready; }
    bool ready(bool due_ready) const { return !valid || ready2(due_ready); }
    bool clock(const EdfrBeat* in, bool due_ready) {
        const bool r2 = ready2(due_ready), r = ready(due_ready), take2 = valid && r2, take = in && r;
        const bool changed = take || take2 || (valid2 && r2);
        if (take2) {
            beat2 = beat;
            if (start) class2 = from_user ? beat.key : table[beat.key];
        }
        if (r2) valid2 = valid;
        if (take) {
            beat = *in;
            start = first;
            first = in->last;
        }
        if (r) valid = take;
        return changed;
    }

    bool from_user;
    std::array<uint32_t, 65> table{};
    bool valid = false, valid2 = false, first = true, start = false;
    EdfrBeat beat, beat2;
    uint32_t class2 = 0;
};

struct EdfrDue {
    enum class Step : uint8_t { Init, Idle, Read, Longer, Write, End, Drain, Shorter };

    explicit EdfrDue(const EdfrSettings& s)
        : classes(s.classes), arrived_given(s.arrived_given), cycles(s.default_cycles), wait(s.classes) {}

    bool hold() const { return step == Step::Init || step == Step::Write || step == Step::End; }
    bool ready(bool intake_ready) const { return !(hold() && first) && (!valid || intake_ready); }
    bool init_done() const { return step != Step::Init; }
    bool set_ready() const { return step == Step::Idle; }
    bool tells() const { return step == Step::Init || step == Step::Longer || step == Step::Shorter; }

    struct Set {
        uint32_t id, cycles;
    };
    bool clock(const EdfrBeat* in, uint32_t in_class, bool intake_ready, int64_t now, bool refused, bool fate, const Set* set,
               bool stamps_ready) {
        const bool taken = in && ready(intake_ready), left = valid && intake_ready;
        const uint32_t stored_now = stored + (ended && !refused) - fate;
        uint32_t ahead_now = ahead - fate;
        const Step before = step;
        bool changed = taken || left || ended || fate;
        if (step == Step::Init || (step == Step::Write && first)) wait[at] = cycles;
        switch (before) {
            case Step::Init:
                if (stamps_ready && ++at == classes) step = Step::Idle;
                changed = true;
                break;
            case Step::Idle:
                if (set) {
                    at = set->id;
                    cycles = set->cycles;
                    step = Step::Read;
                }
                break;
            case Step::Read:
                shorter = cycles <= wait[at];
                step = shorter ? Step::Write : Step::Longer;
                break;
            case Step::Longer:
                if (stamps_ready) step = Step::Write;
                break;
            case Step::Write:
                if (first) step = shorter ? Step::End : Step::Idle;
                break;
            case Step::End:
                ahead_now = stored_now;
                if (!valid) step = Step::Drain;
                break;
            case Step::Drain:
                if (ahead == 0) {
                    step = Step::Shorter;
                    ahead_now = 0;
                }
                break;
            case Step::Shorter:
                if (stamps_ready) step = Step::Idle;
                break;
        }
        changed |= step != before;
        ahead = ahead_now;
        stored = stored_now;
        ended = left && beat.last;
        if (taken) {
            beat = *in;
            id = in_class;
            if (first) deadline = (arrived_given ? in->arrived : now) + wait[in_class];
            first = in->last;
        }
        valid = taken || (valid && !left);
        return changed;
    }

    uint32_t classes;
    bool arrived_given;
    bool first = true, valid = false, ended = false, shorter = false;
    EdfrBeat beat;
    uint32_t id = 0;
    int64_t deadline = 0;
    Step step = Step::Init;
    uint32_t at = 0, cycles, stored = 0, ahead = 0;
    std::vector<uint32_t> wait;
};

enum class EdfrFate : uint8_t { Taken, NoChunk, Bad, Length };

// A frame that is refused, or dropped, or taken.
struct EdfrEvent {
    bool valid = false;
    uint32_t id = 0;
    EdfrFate fate = EdfrFate::Taken;
    EdfrFrame frame;
};

struct EdfrIntake {
    struct Whole {
        uint32_t id = 0;
        EdfrFrame frame;
    };

    explicit EdfrIntake(const EdfrSettings& s)
        : shortest(s.min_frame_bytes), longest(s.max_frame_bytes), beats_in(s.store_beats), metas(s.store_beats) {}

    bool ready() const { return beats_in.overrun() || (beats_in.ready() && metas.ready()); }
    bool data_valid() const { return beats_in.valid(); }
    bool clock(const EdfrDue& due, bool data_ready, bool meta_ready) {
        static constexpr uint32_t kMost = (1U << 26) - 1;  // beats that are counted
        const bool taken = due.valid && ready(), overrun = beats_in.overrun();
        bool commit = false, rewind = false, changed = refused.valid;
        refused.valid = false;
        if (taken) {
            changed = true;
            const uint32_t bytes = count * EdfrSettings::kBeatBytes + due.beat.bytes;
            const bool discard = due.beat.bad || bytes > longest || bytes < shortest;
            if (due.beat.last) {
                whole = {due.id, {due.beat.number, due.deadline, bytes, due.beat.user}};
                commit = !overrun && !discard;
                rewind = !commit;
                if (discard) refused = {true, due.id, due.beat.bad ? EdfrFate::Bad : EdfrFate::Length, whole.frame};
            }
            count = due.beat.last ? 0 : std::min(count + 1, kMost);
        }
        changed |= beats_in.clock(data_ready, taken && !overrun, commit, rewind);
        changed |= metas.clock(meta_ready, commit ? &whole : nullptr);
        return changed;
    }

    uint32_t shortest, longest;
    uint32_t count = 0;  // beats of the frame
    EdfrRamFifoState beats_in;
    EdfrRamFifo<Whole> metas;
    Whole whole;
    EdfrEvent refused;
};

}  // namespace penstock
