// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pst_fabric inside the frame switch, cycle by cycle. Its outputs never stall there, so no cell is held and each output with cells sends
// one.
//
// The same as fabric.hpp, which has stalls and any kind of cell, but made for speed: flat memory, and work for cells that are there only.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "batcher.hpp"
#include "fabric.hpp"
#include "frame_cell.hpp"

namespace penstock {

class FrameFabric {
  public:
    explicit FrameFabric(const FrameSwitchSettings& settings)
        : ports_(settings.ports),
          mask_(settings.ports - 1),
          classes_(settings.classes),
          depth_(settings.fifo_depth),
          row_(std::bit_ceil(settings.fifo_depth)),
          batch_mask_(std::bit_ceil(settings.ports * settings.fifo_depth) - 1),
          slots_(fabric_pipeline_cycles(settings.ports, settings.stages) + 1),
          back_pressure_(settings.back_pressure),
          full_arbiter_(!settings.back_pressure || settings.classes > 1),
          nearly_(settings.back_pressure ? settings.fifo_depth - (slots_ + 1) : settings.fifo_depth),
          sorter_(settings.ports),
          pipeline_(slots_ * ports_),
          pipeline_inputs_(slots_),
          fifos_(ports_ * classes_ * ports_),
          cells_(std::make_unique_for_overwrite<FrameCell[]>(size_t{fifos_.size()} * row_)),
          groups_(ports_ * classes_),
          batches_(std::make_unique_for_overwrite<uint64_t[]>(size_t{groups_.size()} * (batch_mask_ + 1))),
          offset_(ports_),
          backlogged_(ports_),
          over_(ports_),
          nearly_full_(ports_),
          drops_(ports_) {
        reset();
    }

    void reset() {
        pipeline_inputs_.assign(slots_, 0);
        fifos_.assign(fifos_.size(), {});
        groups_.assign(groups_.size(), {});
        for (auto* masks : {&backlogged_, &over_, &nearly_full_}) masks->assign(ports_, 0);
        offset_.assign(ports_, 0);
        drops_.assign(ports_, 0);
        slot_ = 0;
        inside_ = 0;
        outputs_ = dropping_ = nearly_any_ = 0;
    }

    // What the ports show in this cycle.
    bool ready(uint32_t, uint32_t dest, uint32_t klass) const { return !(nearly_full_[dest] >> klass & 1); }
    uint64_t outputs() const { return outputs_; }  // those that offer a cell
    uint32_t drop_count(uint32_t output) const { return drops_[output]; }
    // A cell that is dropped leaves a full FIFO behind, so cells are inside while the drop is shown.
    bool idle() const { return inside_ == 0 && !nearly_any_; }

    // The clock edge: send() what was valid and ready, then edge(), then take() of every output that offers a cell, then finish().
    void send(const FrameCell& cell) {
        pipeline_[slot_ * ports_ + cell.source] = cell;
        pipeline_inputs_[slot_] |= uint64_t{1} << cell.source;
        inside_++;
    }

    void edge() {
        for (; dropping_; dropping_ &= dropping_ - 1) drops_[std::countr_zero(dropping_)] = 0;
        if (!back_pressure_ || !(nearly_any_ || outputs_)) return;
        nearly_any_ = 0;
        for (uint32_t d = 0; d < ports_; d++) nearly_any_ |= nearly_full_[d] = over_[d];
    }

    // The cell is good until finish().
    const FrameCell& take(uint32_t output) {
        const uint32_t klass = static_cast<uint32_t>(std::countr_zero(backlogged_[output])), id = output * classes_ + klass;
        Group& group = groups_[id];
        uint32_t q = group.turn & mask_;
        if (full_arbiter_) {
            uint64_t* const batches = &batches_[size_t{id} * (batch_mask_ + 1)];
            uint64_t& batch = batches[group.first_batch & batch_mask_];  // what is left of it
            q = first_from(batch, q);
            batch &= ~(uint64_t{1} << q);
            group.first_batch += batch == 0;
        }
        group.turn = q + 1;
        Fifo& fifo = fifos_[id * ports_ + q];
        const FrameCell& cell = cells_[size_t{id * ports_ + q} * row_ + (fifo.head++ & (row_ - 1))];
        if (fifo.level-- == nearly_ + 1 && --group.over == 0) over_[output] &= ~(uint64_t{1} << klass);
        if (--group.level == 0) {
            backlogged_[output] &= ~(uint64_t{1} << klass);
            if (backlogged_[output] == 0) outputs_ &= ~(uint64_t{1} << output);
        }
        inside_--;
        return cell;
    }

    void finish() {
        slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;  // what was sent a whole pipeline ago
        uint64_t inputs = pipeline_inputs_[slot_];
        if (!inputs) return;
        pipeline_inputs_[slot_] = 0;
        const FrameCell* const batch = &pipeline_[slot_ * ports_];
        uint64_t dests = 0, twice = 0;
        for (uint64_t left = inputs; left; left &= left - 1) {
            const uint64_t dest = uint64_t{1} << batch[std::countr_zero(left)].dest;
            twice |= dests & dest;
            dests |= dest;
        }
        if (!twice) {  // which of them comes first does not matter
            for (; inputs; inputs &= inputs - 1) store(batch[std::countr_zero(inputs)]);
        } else {
            uint32_t words[64];
            for (uint32_t i = 0; i < ports_; i++) words[i] = inputs >> i & 1 ? ((ports_ | batch[i].dest) << 8) | i : i;
            sorter_.sort(words, 8);
            for (uint32_t i = 0; i < ports_; i++)
                if (words[i] >> 8) store(batch[words[i] & 0xff]);
        }
        for (; touched_; touched_ &= touched_ - 1) close_batch(static_cast<uint32_t>(std::countr_zero(touched_)));
    }

  private:
    struct Fifo {
        uint32_t head = 0, level = 0;
    };
    struct Group {  // the FIFOs of an output and class
        uint32_t turn = 0, level = 0, over = 0;
        uint32_t first_batch = 0, next_batch = 0;  // they count on and wrap
        uint64_t stored = 0;                       // FIFOs that took a cell of the batch that is here now
    };

    void store(const FrameCell& cell) {
        const uint32_t output = cell.dest, q = offset_[output]++ & mask_, id = output * classes_ + cell.klass;
        Fifo& fifo = fifos_[id * ports_ + q];
        if (fifo.level == depth_) {
            drops_[output]++;
            dropping_ |= uint64_t{1} << output;
            inside_--;
            return;
        }
        Group& group = groups_[id];
        cells_[size_t{id * ports_ + q} * row_ + ((fifo.head + fifo.level) & (row_ - 1))] = cell;
        if (fifo.level++ == nearly_ && group.over++ == 0) over_[output] |= uint64_t{1} << cell.klass;
        if (group.level++ == 0) {
            backlogged_[output] |= uint64_t{1} << cell.klass;
            outputs_ |= uint64_t{1} << output;
        }
        if (!full_arbiter_) return;
        group.stored |= uint64_t{1} << q;
        touched_classes_[output] |= uint64_t{1} << cell.klass;
        touched_ |= uint64_t{1} << output;
    }

    void close_batch(uint32_t output) {
        for (uint64_t& left = touched_classes_[output]; left; left &= left - 1) {
            const uint32_t id = output * classes_ + static_cast<uint32_t>(std::countr_zero(left));
            Group& group = groups_[id];
            batches_[size_t{id} * (batch_mask_ + 1) + (group.next_batch++ & batch_mask_)] = group.stored;
            group.stored = 0;
        }
    }

    uint32_t ports_, mask_, classes_, depth_, row_, batch_mask_, slots_;
    bool back_pressure_, full_arbiter_;
    uint32_t nearly_;  // a FIFO with more cells is nearly full
    Batcher sorter_;
    std::vector<FrameCell> pipeline_;        // [slot][input]
    std::vector<uint64_t> pipeline_inputs_;  // [slot]: inputs that sent a cell
    std::vector<Fifo> fifos_;                // [output][class][fifo]
    std::unique_ptr<FrameCell[]> cells_;     // [output][class][fifo][place]
    std::vector<Group> groups_;              // [output][class]
    std::unique_ptr<uint64_t[]> batches_;    // [output][class][batch]: FIFOs that have a cell of it which has not left
    std::vector<uint32_t> offset_;           // by output, as the following; classes are bits
    std::vector<uint64_t> backlogged_, over_, nearly_full_;
    std::vector<uint32_t> drops_;
    uint64_t touched_classes_[64] = {};
    uint64_t touched_ = 0, outputs_ = 0, dropping_ = 0, nearly_any_ = 0;
    uint32_t slot_ = 0, inside_ = 0;
};

}  // namespace penstock
