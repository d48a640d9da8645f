// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A design as the engine knows it: it makes devices, says what holds for them, and compares their own counters at the end of a run.
// Designs plug in by being there: designs/<design>/model/module.cpp (penstock/engine/parts.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/engine/device.hpp"
#include "penstock/engine/environment.hpp"

namespace penstock {
class Table;
}

namespace penstock::engine {

class Measurement;
class OwnMeasurement;

// Drop reasons and 0, a frame that goes on. In hardware their numbers have four bits; a device that is a model alone may have two more.
inline constexpr unsigned kMostReasons = 18;

// In which order the frames of a queue leave.
enum class Order : std::uint8_t {
    Fifo,        // in which they came to it
    ByDeadline,  // the earliest deadline first, equal ones as they came
    Free,        // any
};

// What may happen to the bytes of a frame.
enum class Payload : std::uint8_t {
    Unchanged,
    EcnMark,    // where a queue gives a frame away with a mark, it is marked with ECN's CE; else unchanged. Marks are counted by queue
    Rewritten,  // others, and more or fewer
};

// What a device says of itself; measurement judges by it.
struct Statement {
    std::uint32_t queues = 0;
    unsigned inputs = 1, outputs = 1;
    bool registers = true;                  // that a job may write
    std::vector<std::string> drop_reasons;  // by number; empty: the device does not have it
    // The reason for which frames are lost without an event that names them: it is seen when a younger frame of their queue leaves. Of
    // order Fifo.
    std::optional<std::uint8_t> silent_loss;
    // The reasons whose drops are counted by queue, beside all drops of a queue; those of frames that have come as far as their queue.
    std::vector<std::uint8_t> queue_reasons;

    Order order = Order::Fifo;
    // Of order ByDeadline, and of Fifo where frames have deadlines that do not move them: the last cycle in which a frame may be given away
    // (or leave, if the device does not tell what its queues give away), when its queue took it in cycle `enqueued`. A class of frames is
    // known by Frame::address.
    std::function<std::int64_t(const Frame& frame, std::int64_t enqueued)> deadline;
    // The reason for which frames are dropped that have missed their deadline, and only these; none: they are sent late.
    std::optional<std::uint8_t> missed;

    Payload payload = Payload::Unchanged;
    // Of payload Rewritten: whether the second may come of the first; null: whatever comes out is right. Of order Free without tags: what
    // may come of two frames is all the same, or all different.
    std::function<bool(std::span<const std::uint8_t> in, std::span<const std::uint8_t> out)> rewrite;
    // The device carries so many low bits of a frame's number from its input to its output (PinFace::tag). 0: none; frames are known by
    // their bytes then, and equal ones are one as good as the other.
    unsigned tag_bits = 0;

    // Of order Free: events at a queue name frames by their page (Fate::page), from the one with which the queue takes a frame on. So the
    // device may tell what its queues give away, with marks or without, and what they drop later: for the reason `late`, by another event
    // of the kind with which they took it.
    bool pages = false;
    std::optional<std::uint8_t> late;

    // Throws std::invalid_argument where one part of the statement contradicts another.
    void check() const;
};

struct CounterReport {
    std::uint64_t mismatches = 0;
    std::vector<std::string> findings;
    std::vector<std::uint32_t> lost_memories;  // that do not answer any more, as the device tells
    std::vector<std::uint64_t> own_counters;   // that only a device of this kind has, in its order
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
    // What the design measures besides; it reads its own keys of the job. Null: nothing.
    virtual std::unique_ptr<OwnMeasurement> own_measurement(Table& job, const Environment& environment) const;
};

}  // namespace penstock::engine
