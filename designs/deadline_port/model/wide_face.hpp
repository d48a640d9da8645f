// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The wide deadline port at its pins (designs/deadline_port/wide.md): tuser of a segment in {class, 16 bits of the frame's number, damaged,
// last}, tid out the class.
//
// Events come by segment or by column and name frames by these bits, or tell how many of a class were skipped or lost in a column: they are
// the first of those that lie there. Columns take frames at their own pace, so of two frames the younger may be taken first. The observer
// is told of frames as they came, but of those that leave at once, and of the frames of a class always in their order; until then events
// are held back (DeadlineBook::held).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "designs/deadline_port/model/device_settings.hpp"
#include "penstock/engine/pin_face.hpp"

namespace penstock::engine {

class DeadlineWideFace final : public PinFace {
  public:
    // Event ports, as shim_wide.cpp has them: of each kind one by segment, or by column (taken, passed, expired, late).
    enum Event : unsigned { kRefused, kDropped, kTaken, kPassed, kExpired, kLate, kOverdue, kBegin, kEvents };
    static constexpr std::uint32_t kMostColumns = 8;

    DeadlineWideFace(const DeadlinePortSettings& settings, std::shared_ptr<DeadlineBook> book);

    std::uint32_t user(const Frame& frame, bool, bool last) const override {
        return (frame.queue & 0xFF) << 18 | static_cast<std::uint32_t>(frame.number & 0xFFFF) << 2 |
               static_cast<std::uint32_t>(last && frame.error) << 1 | static_cast<std::uint32_t>(last);
    }
    std::uint32_t queue(unsigned, std::uint32_t id, std::uint32_t) const override { return id; }
    const char* fault(std::uint32_t) const override { return nullptr; }
    void arrived(const Frame& frame, std::int64_t last_bit, std::int64_t now, Observer& observer) const override;
    bool idle() const override { return pending_.empty(); }
    unsigned event_ports() const override { return kEvents * settings_.columns; }
    bool events(std::int64_t now, std::span<const pst_event_pins> events, Observer& observer) override;

  private:
    // A frame that the observer has not been told of; `taken`: by a column, and it is in the lane of `klass`.
    struct Pending {
        Frame frame;
        std::int64_t last_bit;
        bool taken = false, told = false;
        std::uint32_t klass = 0;
    };
    enum class State : std::uint8_t { Waiting, Missed, Lost, Sent, Unknown };
    // A frame that a column has taken; `place` counts frames as they came.
    struct Entry {
        std::uint64_t place, number;
        std::int64_t deadline;
        std::uint32_t length;
        std::uint8_t column;
        State state;
    };
    // Frames that were skipped or lost, and not named.
    struct Passed {
        bool lost;
        std::uint64_t frames, bytes;
    };
    // The frames of a class in their order; the observer has been told of the first `told`.
    struct Lane {
        std::deque<Entry> frames;
        std::size_t told = 0;
        std::array<std::deque<Passed>, kMostColumns> passed;
        std::array<std::uint64_t, kMostColumns> waiting{}, passed_frames{};
    };

    bool good(const Frame& frame) const;
    static constexpr std::size_t kNone = SIZE_MAX;
    std::size_t pending(std::int64_t now, std::uint32_t name, bool good);
    void tell(std::int64_t now, std::size_t index, const Fate& fate, Observer& observer);
    void tell_next(std::int64_t now, std::uint32_t klass, Observer& observer);
    void catch_up(std::int64_t now, Observer& observer);
    void refused(std::int64_t now, const pst_event_pins& event, Observer& observer);
    void dropped(std::int64_t now, const pst_event_pins& event, Observer& observer);
    void taken(std::int64_t now, unsigned column, const pst_event_pins& event);
    void passed(std::int64_t now, unsigned column, const pst_event_pins& event, Observer& observer);
    void named(std::int64_t now, int column, const pst_event_pins& event, State state, Observer& observer);
    void pass(std::int64_t now, std::uint32_t klass, Entry& entry);
    void pass_the_rest(std::int64_t now, std::uint32_t klass, unsigned column);
    void advance(std::int64_t now, std::uint32_t klass, Observer& observer);

    DeadlinePortSettings settings_;
    std::shared_ptr<DeadlineBook> book_;
    mutable std::deque<Pending> pending_;  // as they came
    std::uint64_t first_ = 0;              // place of the first of them
    std::vector<Lane> lanes_;
};

}  // namespace penstock::engine
