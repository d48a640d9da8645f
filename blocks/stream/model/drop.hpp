// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What became of a frame: the C++ twin of pst_pkg::drop_e, the same numbers.
#pragma once

#include <cstdint>

namespace penstock {

enum class Drop : std::uint8_t {
    None = 0,
    Runt = 1,
    Oversize = 2,
    BadQueueId = 3,
    BadFrame = 4,
    NoPage = 5,
    TailDropPackets = 6,
    TailDropBytes = 7,
    Aqm = 8,
};

}  // namespace penstock
