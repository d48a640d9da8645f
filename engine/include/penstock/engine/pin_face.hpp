// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// How a design's frames look at its pins: what stands in front of a frame or beside its beats, which queue an output belongs to, and what
// its events mean. RtlDevice does the rest.
#pragma once

#include <cstdint>
#include <span>

#include "penstock/engine/device.hpp"
#include "penstock/pins.h"

namespace penstock::engine {

class PinFace {
  public:
    static constexpr std::uint32_t kMostHead = 4;

    virtual ~PinFace() = default;
    // Bytes in front of each frame, at most kMostHead.
    virtual std::uint32_t head_bytes() const { return 0; }
    virtual void write_head(const Frame&, std::uint8_t*) const {}
    // Fields of a frame's beats.
    virtual std::uint32_t dest(const Frame&) const { return 0; }
    virtual std::uint32_t user(const Frame& frame, bool first, bool last) const = 0;
    // The queue of a frame that leaves.
    virtual std::uint32_t queue(unsigned output, std::uint32_t id, std::uint32_t user) const = 0;
    // What it carries of its number (Statement::tag_bits).
    virtual std::uint64_t tag(std::uint32_t /*user*/) const { return 0; }
    // What `user` of an output's last beat says is wrong, or null.
    virtual const char* fault(std::uint32_t user) const = 0;
    // Whether `user` of an output's last beat says that the frame is damaged: it has not left, and an event tells what became of it.
    virtual bool damaged(std::uint32_t /*user*/) const { return false; }
    // The last beat of a frame was taken: tells the observer, of each of its copies where it has several destinations.
    virtual void arrived(const Frame& frame, std::int64_t last_bit, std::int64_t now, Observer& observer) const = 0;
    // Whether the observer has been told of all frames that have arrived. Else the device counts as one that frames are on their way into.
    virtual bool idle() const { return true; }
    // How many event ports the device must have: those that events() reads.
    virtual unsigned event_ports() const = 0;
    // All event ports of a cycle in which one is valid. True: the observer was told something.
    virtual bool events(std::int64_t now, std::span<const pst_event_pins> events, Observer& observer) = 0;
};

}  // namespace penstock::engine
