// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_edfr_bound: of each column of a wide port, the earliest deadline that the other columns have at hand.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "edfr_wide_parts.hpp"

namespace penstock {

class EdfrBound {
  public:
    static constexpr int64_t kNone = INT64_MAX;
    using Fronts = std::array<int64_t, kEdfrColumns>;  // of each column; kNone: it has none

    explicit EdfrBound(uint32_t columns) : columns_(columns), level_(std::bit_width(columns)) {}

    int64_t of(uint32_t column) const { return level_.back().others[column]; }

    bool clock(const Fronts& fronts) {
        bool changed = false;
        for (size_t k = level_.size(); k-- > 0;) {
            Level next;
            for (uint32_t i = 0; i < columns_; ++i) {
                if (k == 0) {
                    next.all[i] = fronts[i];
                    continue;
                }
                const Level& from = level_[k - 1];
                const uint32_t beside = i ^ 1U << (k - 1);
                next.all[i] = std::min(from.all[i], from.all[beside]);
                next.others[i] = std::min(from.others[i], from.all[beside]);
            }
            changed |= next.all != level_[k].all || next.others != level_[k].others;
            level_[k] = next;
        }
        return changed;
    }

  private:
    // Register k: of the 2^k columns that a column is one of.
    struct Level {
        Level() {
            all.fill(kNone);
            others.fill(kNone);
        }
        Fronts all, others;
    };

    uint32_t columns_;
    std::vector<Level> level_;
};

}  // namespace penstock
