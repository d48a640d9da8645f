// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the event ports of a frame switch have told: frames, by what they were forgotten for.
#pragma once

#include <cstdint>

namespace penstock::engine {

struct SwitchEvents {
    std::uint64_t refused = 0;            // had no destination, or a class that there is not
    std::uint64_t lost = 0, no_room = 0;  // copies that missed a cell, or found no room at the output
    std::uint64_t bad = 0;                // copies with the error flag, or longer than the longest
};

}  // namespace penstock::engine
