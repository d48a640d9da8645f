// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pst_frame_segment cycle by cycle: cuts frames into cells, a copy for each destination.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "frame_cell.hpp"

namespace penstock {

class FrameSegment {
  public:
    FrameSegment(const FrameSwitchSettings& settings, uint32_t source)
        : classes_(settings.classes),
          last_index_(settings.max_cells() - 1),
          number_mask_(settings.number_mask()),
          room_(settings.back_pressure ? settings.room_cells : 0),
          all_ports_(~uint64_t{0} >> (64 - settings.ports)),
          source_(source),
          number_(settings.ports * settings.classes),
          credit_(settings.ports * settings.classes) {
        reset();
    }

    void reset() {
        beat_.valid = skid_.valid = false;
        holes_ = false;
        first_ = true;
        swallow_ = false;
        left_ = 0;
        index_ = 0;
        number_.assign(number_.size(), 0);
        credit_.assign(credit_.size(), room_);
    }

    // What the ports show in this cycle.
    bool ready() const { return !skid_.valid; }
    bool refused() const { return beat_.valid && refuse(); }
    // Nothing inside but, perhaps, the knowledge of a frame that has begun: without a beat nothing changes.
    bool idle() const { return !beat_.valid; }

    // The clock edge, with what was at the input. `cells.ready(source, dest, class)` and `cells.send(cell)` are the cell switch.
    template <class CellSwitch>
    void clock(const FrameBeatIn& in, CellSwitch& cells) {
        const bool push = in.valid && !skid_.valid;
        FrameBeatIn taken = in;
        taken.error |= in.hole || holes_;
        if (push) holes_ = !in.last && (in.hole || holes_);
        if (!beat_.valid || step(cells)) {
            if (skid_.valid) {
                beat_ = skid_;
                skid_.valid = false;
            } else if (push) {
                beat_ = taken;
            } else {
                beat_.valid = false;
            }
        } else if (push) {
            skid_ = taken;
        }
    }

    // A cell of this source has left its room: after clock() of the same edge, which does not see it yet.
    void give_back(uint32_t dest, uint32_t klass) { credit_[dest * classes_ + klass] += room_ != 0; }

  private:
    uint64_t dest() const { return first_ ? beat_.dest_mask & all_ports_ : dest_; }
    uint32_t klass() const { return classes_ == 1 ? 0 : first_ ? beat_.klass : class_; }
    bool refuse() const { return first_ && (dest() == 0 || klass() >= classes_); }

    // Sends a copy of the beat if one can go; true: the beat is done.
    template <class CellSwitch>
    bool step(CellSwitch& cells) {
        if (swallow_ || refuse()) {
            swallow_ = !beat_.last;
            first_ = beat_.last;
            return true;
        }
        const uint64_t dests = dest(), todo = left_ ? left_ : dests;
        const uint32_t klass = this->klass(), port = static_cast<uint32_t>(std::countr_zero(todo));
        const uint32_t flow = port * classes_ + klass;
        if ((room_ && credit_[flow] == 0) || !cells.ready(source_, port, klass)) return false;
        const bool cut = index_ == last_index_ && !beat_.last;
        const bool last = beat_.last || cut, error = cut || (beat_.last && beat_.error);
        cells.send(FrameCell{beat_.tag, number_[flow], index_, static_cast<uint16_t>(beat_.bytes), static_cast<uint8_t>(port),
                             static_cast<uint8_t>(source_), static_cast<uint8_t>(klass), last, error});
        if (last) number_[flow] = (number_[flow] + 1) & number_mask_;
        if (room_) credit_[flow] += last && error ? index_ : -1;  // the output forgets such a frame: what it took comes back here
        left_ = todo & (todo - 1);
        if (left_) return false;
        swallow_ = cut;
        first_ = beat_.last;
        index_ = last ? 0 : index_ + 1;
        dest_ = dests;
        class_ = klass;
        return true;
    }

    uint32_t classes_, last_index_, number_mask_, room_;  // room: 0 without credits
    uint64_t all_ports_;
    uint32_t source_;
    bool holes_ = false;       // a beat of the frame that comes in had a hole
    FrameBeatIn beat_, skid_;  // the skid buffer in front: its output register and its second one
    bool first_, swallow_;
    uint64_t dest_ = 0, left_;  // left: copies of this beat still to send, 0 before the first
    uint32_t class_ = 0, index_;
    std::vector<uint32_t> number_, credit_;  // [destination][class]
};

}  // namespace penstock
