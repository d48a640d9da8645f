// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_shaper: GCRA (ITU-T I.371, Annex A) in 2^-16 cycles, bit for bit.
#pragma once

#include <algorithm>
#include <cstdint>

namespace penstock {

struct ShaperSetting {
    uint32_t mantissa = 1;  // 0: closed gate; 1 with exponent 0: unshaped; else 32768..65535
    uint32_t exponent = 0;  // 0..31
    uint32_t burst = 0;     // cycles, 0..2^28-1
};

// Times without wrap-around: int64 counts of 2^-16 cycles. The RTL keeps the same value modulo 2^48.
struct Shaper {
    static constexpr int kFraction = 16;

    // Time that a packet of `length` bytes takes at the shaper's rate, at most 2^(time_width - 3) cycles less one fraction.
    static int64_t increment(const ShaperSetting& s, uint32_t length, int time_width = 32) {
        const int64_t max = (int64_t{1} << (time_width - 3 + kFraction)) - 1;
        const auto product = static_cast<unsigned __int128>(length) * s.mantissa;
        const auto scaled = (product << s.exponent) >> 15;
        return scaled > static_cast<unsigned __int128>(max) ? max : static_cast<int64_t>(scaled);
    }

    // Earliest departure time after a packet of `length` bytes that left at cycle `now`.
    static int64_t update(const ShaperSetting& s, int64_t time, int64_t now, uint32_t length, uint32_t tolerance_cycles = 1024,
                          int time_width = 32) {
        const int64_t floor = (now - static_cast<int64_t>(std::max(s.burst, tolerance_cycles))) * (int64_t{1} << kFraction);
        return std::max(time, floor) + increment(s, length, time_width);
    }

    // First whole cycle at which the queue may send.
    static int64_t eligible_cycle(int64_t time) { return -((-time) >> kFraction); }
};

}  // namespace penstock
