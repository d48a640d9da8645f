// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The access edge at its pins: a queue id in front of each frame or in tdest, tid says which queue it left, four event ports tell the fate
// of each.
#pragma once

#include "penstock/engine/pin_face.hpp"

namespace penstock::engine {

inline constexpr std::uint32_t kPrefixBytes = 4;  // queue id, most significant byte first

// Where the queue id of a frame is.
enum class QueueId : std::uint8_t { Prefix, Tdest, Headers };

class AccessEdgeFace final : public PinFace {
  public:
    explicit AccessEdgeFace(QueueId queue_id) : queue_id_(queue_id) {}

    std::uint32_t head_bytes() const override { return queue_id_ == QueueId::Prefix ? kPrefixBytes : 0; }
    std::uint32_t dest(const Frame& frame) const override { return frame.queue; }
    void write_head(const Frame& frame, std::uint8_t* to) const override {
        for (unsigned i = 0; i < head_bytes(); ++i) to[i] = static_cast<std::uint8_t>(frame.queue >> (24 - 8 * i));
    }
    std::uint32_t user(const Frame& frame, bool, bool last) const override { return last && frame.error; }
    std::uint32_t queue(unsigned, std::uint32_t id, std::uint32_t) const override { return id; }
    const char* fault(std::uint32_t) const override { return nullptr; }
    bool damaged(std::uint32_t user) const override { return user != 0; }
    void arrived(const Frame& frame, std::int64_t last_bit, std::int64_t, Observer& observer) const override {
        observer.arrived(frame, last_bit);
    }
    unsigned event_ports() const override { return kPinEvents; }
    bool events(std::int64_t now, std::span<const pst_event_pins> events, Observer& observer) override {
        const auto fate = [](const pst_event_pins& p) { return Fate{p.queue_o, p.len_o, p.reason_o, p.page_o}; };
        if (events[kClassify].valid_o) observer.classified(now, fate(events[kClassify]));
        if (events[kEnqueue].valid_o) observer.enqueued(now, fate(events[kEnqueue]));
        if (events[kDequeue].valid_o) observer.dequeued(now, fate(events[kDequeue]), events[kDequeue].mark_o);
        if (events[kOutput].valid_o) observer.unread(now, fate(events[kOutput]));
        return true;
    }

  private:
    enum PinEvent : unsigned { kClassify, kEnqueue, kDequeue, kOutput, kPinEvents };  // as shim.cpp has them

    QueueId queue_id_;
};

}  // namespace penstock::engine
