// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Frames counted, with their bytes.
#pragma once

#include <cstdint>

namespace penstock::engine {

struct Amount {
    std::uint64_t packets = 0, bytes = 0;
    void add(std::uint32_t length) { ++packets, bytes += length; }
    bool operator==(const Amount&) const = default;
};

}  // namespace penstock::engine
