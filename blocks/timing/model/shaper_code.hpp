// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Shapers' settings as one word, as registers and RTL carry them (pst_pkg::shaper_cfg_t).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../../common/model/settings.hpp"
#include "shaper.hpp"

namespace penstock {

inline ShaperSetting decode_shaper(uint64_t code) {
    return {static_cast<uint32_t>(code & settings::kMostMantissa),
            static_cast<uint32_t>(code >> settings::kExponentAt & settings::kMostExponent),
            static_cast<uint32_t>(code >> settings::kBurstAt)};
}
inline uint64_t encode_shaper(const ShaperSetting& s) {
    return uint64_t{s.burst} << settings::kBurstAt | uint64_t{s.exponent} << settings::kExponentAt | s.mantissa;
}

// The shaper's code (pst_pkg::shaper_cfg_t, without a burst) whose period in cycles per byte is nearest.
inline uint64_t shaper_code(double cycles_per_byte) {
    const double period = std::max(1.0, cycles_per_byte * 65536.0);
    constexpr int kMostExponent = settings::kMostExponent;
    const int exponent = std::clamp(static_cast<int>(std::floor(std::log2(period))), 0, kMostExponent);
    const auto mantissa = static_cast<uint64_t>(std::lround(std::ldexp(period, 15 - exponent)));
    return static_cast<uint64_t>(exponent) << settings::kExponentAt |
           std::clamp<uint64_t>(mantissa, settings::kLeastMantissa, settings::kMostMantissa);
}

// Cycles per byte that a code stands for.
inline double code_period(uint64_t code) {
    const auto exponent = static_cast<int>(code >> settings::kExponentAt & settings::kMostExponent);
    return std::ldexp(static_cast<double>(code & settings::kMostMantissa), exponent - 31);
}

}  // namespace penstock
