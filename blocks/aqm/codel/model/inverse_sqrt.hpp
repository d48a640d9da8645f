// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_inverse_sqrt, bit for bit, and of the control law that is built on it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace penstock {

struct InverseSqrt {
    uint32_t mantissa;  // 1 / sqrt(count) = mantissa * 2^-(27 + shift)
    uint32_t shift;
};

// 2^27 * sqrt(256 / index), rounded up: the smallest root with root^2 * index >= 2^62.
inline uint32_t inverse_sqrt_entry(uint32_t index) {
    uint64_t root = 0;
    for (int b = 27; b >= 0; b--) {
        const uint64_t tried = root | (uint64_t{1} << b);
        if (static_cast<unsigned __int128>(tried) * tried * index < static_cast<unsigned __int128>(1) << 62) root = tried;
    }
    return static_cast<uint32_t>(root + 1);
}

inline InverseSqrt inverse_sqrt(uint32_t count) {
    static const auto table = [] {
        std::array<uint32_t, 1026> t{};
        for (uint32_t i = 256; i < t.size(); i++) t[i] = inverse_sqrt_entry(i);
        return t;
    }();
    if (count == 0) count = 1;
    const uint32_t shift = (std::bit_width(count) - 1) / 2;
    const uint32_t normal = count << (14 - 2 * shift), fraction = normal & 63;
    const uint32_t* t = &table[normal >> 6];
    const uint32_t slope = t[0] - t[1], bend = t[0] - 2 * t[1] + t[2];
    return {t[0] - (slope * fraction >> 6) - (bend * fraction * (64 - fraction) >> 13), shift};
}

// interval / sqrt(count), rounded to nearest.
inline int64_t control_law_step(uint32_t interval, uint32_t count) {
    const InverseSqrt inverse = inverse_sqrt(count);
    return static_cast<int64_t>((((uint64_t{interval} * inverse.mantissa) >> (26 + inverse.shift)) + 1) >> 1);
}

}  // namespace penstock
