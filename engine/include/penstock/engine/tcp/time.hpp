// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Time of the simulated TCP: whole cycles of the device's clock.
#pragma once

#include <cstdint>

namespace penstock::engine::tcp {

using Time = std::int64_t;  // cycles
inline constexpr Time kNever = INT64_MAX;

// Bytes of a connection count from 0 in 64 bits; in segments they are 32 bits from the initial sequence number on.
struct Range {
    std::uint64_t from = 0, to = 0;  // without `to`
    std::uint64_t bytes() const { return to - from; }
    bool operator==(const Range&) const = default;
};

}  // namespace penstock::engine::tcp
