// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The random numbers of AQMs that draw some: xorshift32 (Marsaglia), one per packet that is judged, as pst_aqm_pkg has them.
#pragma once

#include <cstdint>

namespace penstock {

struct XorShift32 {
    uint32_t state = 0x2545F491;
    uint32_t next() {
        const uint32_t drawn = state;
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return drawn;
    }
};

}  // namespace penstock
