// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The device's clock on the machine's. The one place of the engine where results depend on the time of day: only runs with wires have it.
#pragma once

#include <time.h>

#include <cstdint>

namespace penstock::engine::wire {

inline std::int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// Cycle 0 is at a moment of CLOCK_MONOTONIC, in nanoseconds; the moment moves where the device stands still.
class Clock {
  public:
    explicit Clock(double clock_hz) : clock_hz_(clock_hz) {}

    // Cycle `cycle` begins at `ns`.
    void begin(std::int64_t ns, std::int64_t cycle) { zero_ns_ = ns - static_cast<std::int64_t>(span_ns(static_cast<double>(cycle))); }
    std::int64_t begin_ns() const { return zero_ns_; }
    // The last cycle that has begun at this moment.
    std::int64_t cycle(std::int64_t ns) const { return span_cycles(ns - zero_ns_); }
    std::int64_t ns(double cycle) const { return zero_ns_ + static_cast<std::int64_t>(span_ns(cycle)); }
    // Whole cycles in so many nanoseconds.
    std::int64_t span_cycles(std::int64_t ns) const { return static_cast<std::int64_t>(static_cast<long double>(ns) * clock_hz_ / 1e9L); }
    // The device has stood still for so long.
    void stand(std::int64_t ns) { zero_ns_ += ns; }

  private:
    long double span_ns(double cycles) const { return static_cast<long double>(cycles) * 1e9L / clock_hz_; }

    long double clock_hz_;
    std::int64_t zero_ns_ = 0;
};

}  // namespace penstock::engine::wire
