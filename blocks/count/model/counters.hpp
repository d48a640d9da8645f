// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Models of pst_counter_bank and pst_drop_counters: what the counters hold, without their pipelines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "blocks/common/model/drop.hpp"

namespace penstock {

struct Count {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
};

// One packet and one byte counter, which wrap around at their width.
class Counter {
  public:
    // Widths in bits, 1..64.
    Counter(unsigned packet_width, unsigned byte_width) : packet_mask_(mask(packet_width)), byte_mask_(mask(byte_width)) {}

    void add(Count& count, std::uint64_t length) const {
        count.packets = (count.packets + 1) & packet_mask_;
        count.bytes = (count.bytes + length) & byte_mask_;
    }

  private:
    static std::uint64_t mask(unsigned width) {
        if (width < 1 || width > 64) throw std::invalid_argument("a counter has 1 to 64 bits");
        return ~std::uint64_t{0} >> (64 - width);
    }
    std::uint64_t packet_mask_, byte_mask_;
};

// Counters of many entries.
class CounterBank {
  public:
    explicit CounterBank(std::size_t entries, unsigned packet_width = 48, unsigned byte_width = 56)
        : counter_(packet_width, byte_width), counts_(entries) {}

    // Adds one packet of `length` bytes. Throws std::out_of_range for an entry that does not exist.
    void increment(std::size_t index, std::uint64_t length) { counter_.add(counts_.at(index), length); }
    const Count& read(std::size_t index) const { return counts_.at(index); }

  private:
    Counter counter_;
    std::vector<Count> counts_;
};

// Counters by drop reason; Drop::None is not counted.
class DropCounters {
  public:
    explicit DropCounters(unsigned packet_width = 48, unsigned byte_width = 56) : counter_(packet_width, byte_width) {}

    void event(Drop reason, std::uint64_t length) {
        if (reason != Drop::None) counter_.add(counts_.at(static_cast<std::size_t>(reason)), length);
    }
    const Count& read(Drop reason) const { return counts_.at(static_cast<std::size_t>(reason)); }

  private:
    Counter counter_;
    std::array<Count, kDropKinds> counts_{};
};

}  // namespace penstock
