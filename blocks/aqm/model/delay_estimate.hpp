// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_delay_estimate.
#pragma once

#include <algorithm>
#include <cstdint>

namespace penstock {

// Delay in ticks of 2^tick_shift cycles of `backlog` bytes at a shaper's period (mantissa, exponent).
inline int64_t delay_estimate(uint32_t backlog, uint32_t mantissa, uint32_t exponent, int tick_shift = 8, int time_width = 26) {
    const auto delay = static_cast<unsigned __int128>(uint64_t{backlog} * mantissa) << exponent >> (31 + tick_shift);
    const int64_t most = (int64_t{1} << (time_width - 1)) - 1;
    return delay > static_cast<unsigned __int128>(most) ? most : static_cast<int64_t>(delay);
}

}  // namespace penstock
