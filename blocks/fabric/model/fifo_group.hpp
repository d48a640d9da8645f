// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The P FIFOs of one output, row by row in one piece of memory: they fill evenly, so neighbours in time are neighbours in memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

namespace penstock {

template <class Cell>
class FifoGroup {
  public:
    static constexpr uint32_t kMaxFifos = 64;

    // `fifos`: 2..64, a power of two. `depth`: cells that each holds; memory grows by doubling up to it.
    FifoGroup(uint32_t fifos, uint32_t depth) : fifos_(fifos), depth_(depth), cells_(std::make_unique_for_overwrite<Cell[]>(fifos)) {}

    uint32_t size(uint32_t fifo) const { return tail_[fifo] - head_[fifo]; }
    bool empty(uint32_t fifo) const { return tail_[fifo] == head_[fifo]; }
    const Cell& front(uint32_t fifo) const { return cells_[(head_[fifo] & row_mask_) * fifos_ + fifo]; }
    void pop(uint32_t fifo) { head_[fifo]++; }
    // False: the FIFO is full.
    bool push(uint32_t fifo, const Cell& cell) {
        if (size(fifo) >= room_) [[unlikely]] {
            if (size(fifo) >= depth_) return false;
            grow();
        }
        cells_[(tail_[fifo]++ & row_mask_) * fifos_ + fifo] = cell;
        return true;
    }
    void clear() { head_ = tail_ = {}; }

  private:
    void grow() {
        const uint32_t rows = 2 * (row_mask_ + 1);
        auto larger = std::make_unique_for_overwrite<Cell[]>(rows * fifos_);
        for (uint32_t fifo = 0; fifo < fifos_; fifo++)
            for (uint32_t place = head_[fifo]; place != tail_[fifo]; place++)
                larger[(place & (rows - 1)) * fifos_ + fifo] = cells_[(place & row_mask_) * fifos_ + fifo];
        cells_ = std::move(larger);
        row_mask_ = rows - 1;
        room_ = rows < depth_ ? rows : depth_;
    }

    uint32_t fifos_, depth_, row_mask_ = 0, room_ = 1;  // room: of what is allocated
    std::unique_ptr<Cell[]> cells_;
    std::array<uint32_t, kMaxFifos> head_{}, tail_{};  // they count on and wrap
};

}  // namespace penstock
