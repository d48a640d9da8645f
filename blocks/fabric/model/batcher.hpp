// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Batcher's odd-even merge sort as a list of compare-and-swap units, the same as rtl/pst_batcher_sort.sv.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace penstock {

class Batcher {
  public:
    using Pair = std::pair<uint16_t, uint16_t>;  // positions; the smaller key goes to the first

    // `ports`: words to sort, a power of two.
    explicit Batcher(uint32_t ports) {
        for (uint32_t p = 1; p < ports; p *= 2) {
            for (uint32_t k = p; k >= 1; k /= 2) {
                stages_.emplace_back();
                for (uint32_t x = 0; x + k < ports; x++) {
                    const uint32_t first = k % p;  // words before it stay where they are
                    if (x < first || (x - first) % (2 * k) >= k || x / (2 * p) != (x + k) / (2 * p)) continue;
                    stages_.back().emplace_back(x, x + k);
                    pairs_.emplace_back(x, x + k);
                }
            }
        }
    }

    // log2(P) * (log2(P) + 1) / 2 stages, the units of one work side by side.
    const std::vector<std::vector<Pair>>& stages() const { return stages_; }

    // Sort `words` by their bits from `shift` on; equal keys are not swapped, so where they end is the network's doing.
    void sort(uint32_t* words, int shift) const {
        for (const auto& [low, high] : pairs_) {
            const uint32_t a = words[low], b = words[high];
            const bool swap = a >> shift > b >> shift;
            words[low] = swap ? b : a;
            words[high] = swap ? a : b;
        }
    }

  private:
    std::vector<std::vector<Pair>> stages_;
    std::vector<Pair> pairs_;  // all units, stage by stage
};

}  // namespace penstock
