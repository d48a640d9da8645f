// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Time stamps of shapers, in 2^-16 cycles modulo 2^64, so that clocks may go on beyond 2^47 cycles. Two that are compared lie less than
// 2^47 cycles apart: the models renew old stamps now and then (kSweep), as the RTL's walk does with its shorter ones.
#pragma once

#include <cstdint>

namespace penstock::stamps {

inline constexpr int64_t kSweep = int64_t{1} << 44;  // cycles; far more than any setting reaches back

// The beginning of a cycle.
inline int64_t at(int64_t cycle) { return static_cast<int64_t>(static_cast<uint64_t>(cycle) << 16); }
// From one stamp to another.
inline int64_t between(int64_t from, int64_t to) { return static_cast<int64_t>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from)); }
inline int64_t after(int64_t stamp, int64_t by) { return static_cast<int64_t>(static_cast<uint64_t>(stamp) + static_cast<uint64_t>(by)); }
inline int64_t later(int64_t one, int64_t other) { return between(one, other) > 0 ? other : one; }
// Its time has come at the beginning of this cycle.
inline bool due(int64_t stamp, int64_t cycle) { return between(stamp, at(cycle)) >= 0; }
// The cycle in which it is; `near`: any that is less than 2^47 cycles away.
inline int64_t cycle_of(int64_t stamp, int64_t near) { return near + (between(at(near), stamp) >> 16); }
// The same stamp, or one that is as old as needed in cycle `now`; `near` as above.
inline int64_t renewed(int64_t stamp, int64_t near, int64_t now) { return cycle_of(stamp, near) < now - kSweep ? at(now - kSweep) : stamp; }

}  // namespace penstock::stamps
