// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Distribution of latencies in bounded memory: count, least, largest and sum are exact, everything between is known to 1/256.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace penstock::engine {

// Bins of width 1 below 512, then 256 of equal width in each doubling.
class Histogram {
  public:
    Histogram() : bins_(kBins) {}

    void add(std::uint32_t value) {
        ++bins_[bin(value)];
        ++count_;
        sum_ += value;
        least_ = std::min(least_, value);
        largest_ = std::max(largest_, value);
    }

    std::uint64_t count() const { return count_; }
    std::uint64_t sum() const { return sum_; }
    std::uint32_t least() const { return least_; }
    std::uint32_t largest() const { return largest_; }
    const std::vector<std::uint64_t>& bins() const { return bins_; }
    // The largest value of a bin.
    static std::uint32_t upper(unsigned bin) {
        if (bin < 2 * kPart) return bin;
        const unsigned shift = bin / kPart - 1;
        return static_cast<std::uint32_t>(((std::uint64_t{bin % kPart + kPart} + 1) << shift) - 1);
    }
    static unsigned bin(std::uint32_t value) {
        if (value < 2 * kPart) return value;
        const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - kPartBits - 1;
        return (shift << kPartBits) + (value >> shift);
    }

  private:
    static constexpr unsigned kPartBits = 8, kPart = 1U << kPartBits;
    static constexpr unsigned kBins = (32 - kPartBits + 1) * kPart;

    std::vector<std::uint64_t> bins_;
    std::uint64_t count_ = 0, sum_ = 0;
    std::uint32_t least_ = 0xFFFF'FFFF, largest_ = 0;
};

}  // namespace penstock::engine
