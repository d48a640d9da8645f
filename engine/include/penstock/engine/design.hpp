// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A design as the engine knows it: it makes devices, says what holds for them, and compares their own counters at the end of a run.
// Designs plug in by being there: designs/<design>/model/design.hpp (engine/cmake/designs.hpp.in).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/engine/device.hpp"
#include "penstock/engine/environment.hpp"

namespace penstock::engine {

class Measurement;

inline constexpr unsigned kMostReasons = 16;  // numbers of drop reasons have four bits; 0 is a frame that goes on

// What a device says of itself; measurement judges by it.
struct Statement {
    std::uint32_t queues = 0;  // frames of one leave in the order in which they came
    unsigned inputs = 1, outputs = 1;
    bool registers = true;                  // that a job may write
    std::vector<std::string> drop_reasons;  // by number; empty: the device does not have it
    // The reason for which frames are lost without an event that names them: it is seen when a younger frame of their queue leaves.
    std::optional<std::uint8_t> silent_loss;
};

struct CounterReport {
    std::uint64_t mismatches = 0;
    std::vector<std::string> findings;
};

// A device that a job describes.
class DeviceKind {
  public:
    virtual ~DeviceKind() = default;
    virtual const Statement& statement() const = 0;
    // Throws std::invalid_argument for what this kind of device cannot have, std::runtime_error when a library does not load.
    virtual std::unique_ptr<Device> make(const Environment& environment) const = 0;
    // After Device::start(). Throws std::invalid_argument or DeviceError when it is not the device that the job describes.
    virtual void identify(Device& device) const = 0;
    // The inputs are closed: lets the frames under way have their fate, then compares what the device has counted, in all and of `queues`.
    virtual CounterReport check_counters(Device& device, const Measurement& measurement, std::span<const std::uint32_t> queues) const = 0;
};

}  // namespace penstock::engine
