// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The frame switch at its pins: tdest has a bit for each destination, tuser {class, error}; tid is the source, tuser the class.
#pragma once

#include <memory>

#include "designs/frame_switch/model/flows.hpp"
#include "designs/frame_switch/model/switch_events.hpp"
#include "penstock/engine/pin_face.hpp"

namespace penstock::engine {

class FrameSwitchFace final : public PinFace {
  public:
    FrameSwitchFace(const Flows& flows, std::uint32_t ports, std::shared_ptr<SwitchEvents> seen)
        : flows_(flows), ports_(ports), seen_(std::move(seen)) {}

    std::uint32_t dest(const Frame& frame) const override { return static_cast<std::uint32_t>(flows_.group(frame.queue).destinations); }
    std::uint32_t user(const Frame& frame, bool, bool last) const override {
        return flows_.group(frame.queue).klass << 1 | (last && frame.error);
    }
    std::uint32_t queue(unsigned output, std::uint32_t id, std::uint32_t user) const override { return flows_.flow(id, output, user); }
    const char* fault(std::uint32_t) const override { return nullptr; }
    void arrived(const Frame& frame, std::int64_t last_bit, std::int64_t now, Observer& observer) const override {
        flows_.arrived(frame, last_bit, now, observer);
    }
    unsigned event_ports() const override { return 4 * ports_; }
    // They name no frame: a frame that is lost is missed when a younger one of its flow leaves.
    bool events(std::int64_t, std::span<const pst_event_pins> events, Observer&) override {
        std::uint64_t* const counts[] = {&seen_->refused, &seen_->lost, &seen_->no_room, &seen_->bad};
        for (std::size_t i = 0; i < events.size(); ++i)
            if (events[i].valid_o) *counts[i / ports_] += events[i].len_o;
        return false;
    }

  private:
    const Flows& flows_;
    std::uint32_t ports_;
    std::shared_ptr<SwitchEvents> seen_;
};

}  // namespace penstock::engine
