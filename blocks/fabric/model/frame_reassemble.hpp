// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pst_frame_reassemble cycle by cycle: puts frames together by source and class and sends them whole.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "frame_cell.hpp"

namespace penstock {

class FrameReassemble {
  public:
    // A cell that has left its room, for its source.
    struct Credit {
        bool valid = false;
        uint32_t source = 0, klass = 0;
    };

    explicit FrameReassemble(const FrameSwitchSettings& settings)
        : classes_(settings.classes),
          number_mask_(settings.number_mask()),
          room_(settings.room_cells),
          flows_(settings.ports * settings.classes),
          waiting_(settings.classes),
          turn_(settings.classes),
          words_(std::make_unique_for_overwrite<Word[]>(flows_.size() * settings.room_cells)) {
        reset();
    }

    void reset() {
        for (Flow& flow : flows_) flow = {.number = number_mask_};
        waiting_.assign(classes_, 0);
        turn_.assign(classes_, 0);
        waiting_classes_ = 0;
        has_cell_ = next_valid_ = fetched_ = false;
        out_ = {};
        credit_ = {};
        lost_ = 0;
        no_room_ = bad_ = false;
    }

    // What the ports show in this cycle.
    const FrameBeatOut& out() const { return out_; }
    const Credit& credit() const { return credit_; }
    uint32_t lost() const { return lost_; }
    bool no_room() const { return no_room_; }
    bool bad() const { return bad_; }
    // No frame is complete, nothing is on its way and no event is shown: without a cell nothing changes. (A credit is shown together with a
    // fetched word, and a next frame is a complete one.)
    bool idle() const { return !has_cell_ && !waiting_classes_ && !fetched_ && !out_.valid && !lost_ && !no_room_ && !bad_; }

    // The clock edge: `cell` is what the cell switch offers (null: nothing), `ready` is m_axis_tready_i.
    void clock(const FrameCell* cell, bool ready) {
        lost_ = 0;
        no_room_ = bad_ = false;
        Flow* const completed = has_cell_ ? take() : nullptr;
        send(ready);
        // The choice of the next frame has not seen it yet.
        if (completed && completed->frames++ == 0) {
            waiting_[cell_.klass] |= uint64_t{1} << cell_.source;
            waiting_classes_ |= uint64_t{1} << cell_.klass;
        }
        has_cell_ = cell != nullptr;
        if (cell) cell_ = *cell;
    }

  private:
    struct Flow {                                  // of a source and class
        uint32_t write = 0, commit = 0, read = 0;  // they count on and wrap
        uint32_t number = 0, index = 0;            // of the last frame of which something came; of the cell that comes next in it
        uint32_t frames = 0;                       // complete ones
        bool open = false;                         // it is under way; otherwise its fate is counted
    };

    struct Word {
        uint64_t tag;
        uint32_t index;
        uint16_t bytes;
        bool last;
    };

    Word& word(uint32_t flow, uint32_t place) { return words_[static_cast<size_t>(flow) * room_ + (place & (room_ - 1))]; }

    // The cell in the register; returns its flow if it completes a frame.
    Flow* take() {
        const uint32_t id = cell_.source * classes_ + cell_.klass;
        Flow& flow = flows_[id];
        const bool same = cell_.number == flow.number, forget = cell_.last && cell_.error;
        const bool in_turn = same ? flow.open && cell_.index == flow.index : cell_.index == 0;
        const uint32_t base = same ? flow.write : flow.commit;
        const bool room = base - flow.read != room_, taken = in_turn && room && !forget;
        no_room_ = in_turn && !room && !forget;
        bad_ = in_turn && forget;
        if (!same) {
            lost_ = ((cell_.number - flow.number - 1) & number_mask_) + flow.open + !in_turn;
        } else {
            lost_ = flow.open && !in_turn;
        }
        flow.number = cell_.number;
        flow.index = cell_.index + 1;
        flow.open = taken && !cell_.last;
        flow.write = taken ? base + 1 : flow.commit;
        if (!taken) return nullptr;
        word(id, base) = {cell_.tag, cell_.index, cell_.bytes, cell_.last};
        if (!cell_.last) return nullptr;
        flow.commit = base + 1;
        return &flow;
    }

    // The way out: the room's read register (fetched), then the output register. And which frame is next.
    void send(bool ready) {
        const bool ongoing = fetched_ && !word_.last, advance = fetched_ && (!out_.valid || ready);
        const bool read = (ongoing || next_valid_) && (!fetched_ || advance), start = read && !ongoing;
        if (advance) {
            out_ = {true, word_.last, from_.source, from_.klass, word_.bytes, word_.index, word_.tag};
        } else if (ready) {
            out_.valid = false;
        }
        if (start) {
            from_ = next_;
            if (--flows_[from_.flow].frames == 0) {
                waiting_[from_.klass] &= ~(uint64_t{1} << from_.source);
                if (waiting_[from_.klass] == 0) waiting_classes_ &= ~(uint64_t{1} << from_.klass);
            }
            turn_[from_.klass] = from_.source + 1;
        }
        credit_.valid = read;
        if (read) {
            word_ = word(from_.flow, flows_[from_.flow].read++);
            credit_.source = from_.source;
            credit_.klass = from_.klass;
        }
        fetched_ = read || (fetched_ && !advance);
        next_valid_ = waiting_classes_ != 0;
        if (!next_valid_) return;
        next_.klass = static_cast<uint32_t>(std::countr_zero(waiting_classes_));
        const uint64_t sources = waiting_[next_.klass];
        next_.source = first_from(sources, turn_[next_.klass] & 63);
        next_.flow = next_.source * classes_ + next_.klass;
    }

    struct Place {
        uint32_t source, klass, flow;
    };

    uint32_t classes_, number_mask_, room_;
    std::vector<Flow> flows_;        // [source][class]
    std::vector<uint64_t> waiting_;  // [class]: sources that have complete frames
    uint64_t waiting_classes_;       // classes that have any
    std::vector<uint32_t> turn_;     // [class]: the source whose turn it is
    std::unique_ptr<Word[]> words_;  // [flow][room]
    FrameCell cell_;                 // the register in front
    bool has_cell_, next_valid_, fetched_;
    Place next_, from_;  // the next frame; the one whose word is fetched
    Word word_;          // that word
    FrameBeatOut out_;
    Credit credit_;
    uint32_t lost_;
    bool no_room_, bad_;
};

}  // namespace penstock
