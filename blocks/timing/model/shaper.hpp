// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_shaper: GCRA (ITU-T I.371, Annex A) in 2^-16 cycles, bit for bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace penstock {

struct ShaperSetting {
    uint32_t mantissa = 1;  // 0: closed gate; 1 with exponent 0: unshaped; else 32768..65535
    uint32_t exponent = 0;  // 0..63
    uint32_t burst = 0;     // cycles, 0..2^28-1
};

// Bits of a time in cycles in the RTL (TimeWidth) of a device with frames of `most` bytes: a frame takes an eighth of that at most, so that
// all rates down to 2^18 cycles per byte are exact. `pst_access_edge_core` has the same rule.
inline constexpr int kLeastTimeWidth = 32, kMostTimeWidth = 40;
constexpr int time_width_of(uint32_t most) { return std::max(kLeastTimeWidth, static_cast<int>(std::bit_width(most - 1)) + 18 + 3); }

// Times without wrap-around: int64 counts of 2^-16 cycles. The RTL keeps the same value modulo 2^(TimeWidth + 16).
struct Shaper {
    static constexpr int kFraction = 16;

    // The longest time that a packet takes: 2^(time_width - 3) cycles less one fraction.
    static constexpr int64_t longest(int time_width) { return (int64_t{1} << (time_width - 3 + kFraction)) - 1; }
    // Time that `length` bytes take at a period, `most` at most.
    static int64_t time_of(uint32_t length, uint32_t mantissa, uint32_t exponent, int64_t most) {
        const auto scaled = static_cast<unsigned __int128>(uint64_t{length} * mantissa) << exponent >> 15;
        return scaled > static_cast<unsigned __int128>(most) ? most : static_cast<int64_t>(scaled);
    }
    // Time that a packet of `length` bytes takes at the shaper's rate.
    static int64_t increment(const ShaperSetting& s, uint32_t length, int time_width = kLeastTimeWidth) {
        return time_of(length, s.mantissa, s.exponent, longest(time_width));
    }

    // Earliest departure time after a packet of `length` bytes that left at cycle `now`.
    static int64_t update(const ShaperSetting& s, int64_t time, int64_t now, uint32_t length, uint32_t tolerance_cycles = 1024,
                          int time_width = kLeastTimeWidth) {
        const int64_t floor = (now - static_cast<int64_t>(std::max(s.burst, tolerance_cycles))) * (int64_t{1} << kFraction);
        return std::max(time, floor) + increment(s, length, time_width);
    }

    // First whole cycle at which the queue may send.
    static int64_t eligible_cycle(int64_t time) { return -((-time) >> kFraction); }
};

}  // namespace penstock
