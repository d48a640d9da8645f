// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The deadline port at its pins: tuser in {class, 16 bits of the frame's number, error}, tid out the class, tuser out these bits.
//
// Its events name a frame by these bits, or tell of several frames at once that were skipped or lost. Frames of a class leave in order,
// whatever becomes of them, so which ones these were is known as soon as a later one begins: what is before that one and has no name. Until
// then the fates of a class's later frames are held back (DeadlineBook::held).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "designs/deadline_port/model/device_settings.hpp"
#include "penstock/engine/pin_face.hpp"

namespace penstock::engine {

class DeadlinePortFace final : public PinFace {
  public:
    // Event ports, as shim.cpp has them.
    enum Event : unsigned { kIn, kFate, kDeadline, kExpired, kLate, kPassed, kPassedBytes, kBegin, kEvents };

    DeadlinePortFace(const DeadlinePortSettings& settings, std::shared_ptr<DeadlineBook> book);

    std::uint32_t user(const Frame& frame, bool, bool last) const override {
        return (frame.queue & 0xFF) << 17 | static_cast<std::uint32_t>(frame.number & 0xFFFF) << 1 | (last && frame.error);
    }
    std::uint32_t queue(unsigned, std::uint32_t id, std::uint32_t) const override { return id; }
    const char* fault(std::uint32_t) const override { return nullptr; }
    void arrived(const Frame& frame, std::int64_t last_bit, std::int64_t now, Observer& observer) const override;
    unsigned event_ports() const override { return kEvents; }
    bool events(std::int64_t now, std::span<const pst_event_pins> events, Observer& observer) override;

  private:
    // At the input: its events have not come yet.
    struct Pending {
        Frame frame;
        std::int64_t last_bit;
        bool good, told;  // told: classified
    };
    enum class State : std::uint8_t { Waiting, Dropped, Sent };
    struct Entry {
        std::uint64_t number;
        std::uint32_t length;
        std::uint8_t klass;
        State state;
    };
    // Frames that were skipped or lost, and not named.
    struct Passed {
        bool lost;
        std::uint32_t klass;
        std::uint64_t frames, bytes;
    };
    // Frames that leave in one order: those of a class, or all of a plain FIFO.
    struct Lane {
        std::deque<Entry> frames;
        std::deque<Passed> passed;
        std::uint64_t waiting = 0, passed_frames = 0;
    };

    bool good(const Frame& frame) const;
    Pending* pending(bool good);
    void classify(std::int64_t now, Pending& frame, Fate fate, Observer& observer);
    void refused(std::int64_t now, const pst_event_pins& event, Observer& observer);
    void fate(std::int64_t now, const pst_event_pins& event, std::int64_t deadline, Observer& observer);
    void named(std::int64_t now, const pst_event_pins& event, State state, bool all_before, Observer& observer);
    void advance(std::int64_t now, Lane& lane, Observer& observer);
    void pass(std::int64_t now, Lane& lane, Observer& observer);
    Lane& lane(std::uint32_t klass) { return lanes_[settings_.fifo ? 0 : klass]; }

    DeadlinePortSettings settings_;
    std::shared_ptr<DeadlineBook> book_;
    mutable std::deque<Pending> pending_;
    std::vector<Lane> lanes_;
};

}  // namespace penstock::engine
