// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_interrupt: causes that stand until they are cleared, and the frames lost since the last of them was.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace penstock {

class Interrupt {
  public:
    // Causes that are single events, 1..31; the next bit is that of lost frames. Bits of their count, 1..32.
    explicit Interrupt(unsigned events = 4, unsigned lost_width = 32) : drops_(std::uint32_t{1} << events) {
        if (events < 1 || events > 31 || lost_width < 1 || lost_width > 32)
            throw std::invalid_argument("an interrupt has 1 to 31 events and counts in 1 to 32 bits");
        most_lost_ = ~std::uint32_t{0} >> (32 - lost_width);
    }

    // A cycle: what is cleared, then what happens in it. As after it are cause() and lost().
    void step(std::uint32_t clear, std::uint32_t events, std::uint32_t lost) {
        const std::uint32_t over = compared();
        cause_ = ((cause_ | over) & ~clear) | events;
        if (clear & drops_) lost_ = 0;
        lost_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{lost_} + lost, most_lost_));
    }
    // The same where cycles in which nothing happens are left out; settle() before a threshold changes, or causes are shown.
    void happens(std::uint32_t events, std::uint32_t lost = 0) { step(0, events, lost); }
    void clear(std::uint32_t causes) { step(causes, 0, 0); }
    void settle() { cause_ |= compared(); }
    // Registers.
    void set_threshold(std::uint32_t most) { most_ = most; }
    void set_mask(std::uint32_t mask) { mask_ = mask & (2 * drops_ - 1); }
    std::uint32_t threshold() const { return most_; }
    std::uint32_t mask() const { return mask_; }
    std::uint32_t lost() const { return lost_; }
    std::uint32_t cause() const { return cause_; }
    bool level() const { return (cause_ & mask_) != 0; }

  private:
    std::uint32_t compared() const { return most_ != 0 && lost_ >= most_ ? drops_ : 0; }

    std::uint32_t drops_, most_lost_ = 0, cause_ = 0, lost_ = 0, most_ = 0, mask_ = 0;
};

}  // namespace penstock
