// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What a design measures of a run beside what is measured of all devices: it is told of each frame's way while the run lasts, and adds keys
// of its own to the result. A DeviceKind makes it (design.hpp).
#pragma once

#include <cstdint>

#include "penstock/engine/frame.hpp"

namespace nanobind {
class dict;
}

namespace penstock::engine {

// Frames are those of queues that the device has. Cycles are of the run's clock, and do not decrease but for those of arrivals.
class OwnMeasurement {
  public:
    virtual ~OwnMeasurement() = default;

    // The clock of the run is on; the device was reset `age` cycles ago.
    virtual void start(std::int64_t /*age*/) {}
    // The warm-up is over: what is measured of times and rates begins here; counters go on.
    virtual void begin() {}
    // The link has brought it.
    virtual void arrived(std::int64_t /*last_bit*/, const Frame&) {}
    // Its queue took it. `slot`: a small number that no other frame has until this one has left or was dropped.
    virtual void accepted(std::int64_t /*cycle*/, const Frame&, std::uint32_t /*slot*/) {}
    virtual void dropped(std::int64_t /*cycle*/, const Frame&, unsigned /*reason*/) {}
    // Its queue has given it away with a mark.
    virtual void marked(std::int64_t /*cycle*/, const Frame&) {}
    // It left as `length` bytes, the first of them so many cycles after it had come. Returns what it must not do, "leaves before ...", as
    // a finding of the run; null: nothing.
    virtual const char* departed(std::int64_t /*first_bit*/, const Frame&, std::uint32_t /*slot*/, std::uint32_t /*length*/,
                                 std::uint32_t /*latency*/) {
        return nullptr;
    }
    // The run ends; then each frame that is still there.
    virtual void end(std::int64_t /*cycle*/) {}
    virtual void left_over(std::int64_t /*cycle*/, const Frame&) {}

    // Its keys of the result.
    virtual void add_to(nanobind::dict& result) const = 0;
};

}  // namespace penstock::engine
