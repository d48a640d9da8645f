// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the engine calls queues is, of a frame switch, a flow: the frames from a source to a destination in a class, which stay in order.
// Numbers from flows() on are groups: a source, a class and several destinations; a frame of one is a frame of each of its flows.
#pragma once

#include <cstdint>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "penstock/engine/device.hpp"

namespace penstock::engine {

// Drop reasons of a frame switch beside those that blocks share (blocks/common/contract.yaml).
inline constexpr std::uint8_t kLostInSwitch = 9;
static_assert((kDropMask >> kLostInSwitch & 1) == 0,
              "the number of a reason that only the frame switch has is taken by one that blocks share");

struct Group {
    std::uint32_t source = 0, klass = 0;
    std::uint64_t destinations = 0;  // a bit each
};

class Flows {
  public:
    Flows(std::uint32_t ports, std::uint32_t classes, std::uint32_t longest, std::vector<Group> groups)
        : ports_(ports), classes_(classes), longest_(longest), groups_(std::move(groups)) {}

    std::uint32_t count() const { return ports_ * ports_ * classes_; }
    std::uint32_t flow(std::uint32_t source, std::uint32_t destination, std::uint32_t klass) const {
        return (source * ports_ + destination) * classes_ + klass;
    }
    // Where frames of a flow or group go; nowhere for a number that is neither.
    Group group(std::uint32_t number) const {
        if (number < count()) return {number / classes_ / ports_, number % classes_, std::uint64_t{1} << number / classes_ % ports_};
        return number - count() < groups_.size() ? groups_[number - count()] : Group{};
    }
    // What becomes of a frame before the switch has moved a cell of it: a drop reason, or 0.
    std::uint8_t reason(const Frame& frame) const;
    // Tells the observer of a frame that has come: of each copy, or of the one that goes nowhere.
    void arrived(const Frame& frame, std::int64_t last_bit, std::int64_t now, Observer& observer) const;

  private:
    std::uint32_t ports_, classes_, longest_;
    std::vector<Group> groups_;
};

}  // namespace penstock::engine
