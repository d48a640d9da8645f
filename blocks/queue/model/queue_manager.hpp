// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_queue_manager: FIFO queues of descriptors with limits in packets and bytes.
//
// Operations take effect in the order of the calls. The RTL commits a dequeue before an enqueue of the same cycle, so a
// test bench that calls dequeue() first and enqueue() second in each cycle sees the same decisions, exactly. Limits are looked at
// two cycles before the commit: what has been dequeued since then is given to enqueue() as `leaving`.
#pragma once

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "../../common/model/drop.hpp"
#include "../../common/model/settings.hpp"

namespace penstock {

// Drop reasons that a queue manager can find.
enum class QueueDrop : uint8_t {
    None = static_cast<uint8_t>(Drop::None),
    TailDropPackets = static_cast<uint8_t>(Drop::TailDropPackets),
    TailDropBytes = static_cast<uint8_t>(Drop::TailDropBytes)
};

struct QueuedPacket {
    uint32_t descriptor;
    uint32_t length;  // bytes
};

class QueueManager {
  public:
    static constexpr uint32_t kMaxPackets = settings::kMostLimitPackets;  // largest limit, and the limit after reset
    static constexpr uint32_t kMaxBytes = settings::kMostLimitBytes;      // the same in bytes

    explicit QueueManager(uint32_t queues) : queues_(queues) {}

    struct Enqueued {
        QueueDrop reason;
        bool activated;  // the queue was empty
    };

    // Append one packet, or drop it at the tail: packets before bytes. `leaving_*`: dequeued already, but still counted by the limits.
    // Throws std::out_of_range for a queue that is not there.
    Enqueued enqueue(uint32_t queue, uint32_t descriptor, uint32_t length, uint32_t leaving_packets = 0, uint32_t leaving_bytes = 0) {
        Queue& q = at(queue);
        if (q.packets.size() + leaving_packets >= q.limit_packets) return {QueueDrop::TailDropPackets, false};
        if (q.bytes + leaving_bytes + length > q.limit_bytes) return {QueueDrop::TailDropBytes, false};
        q.packets.push_back({descriptor, length});
        q.bytes += length;
        return {QueueDrop::None, q.packets.size() == 1};
    }

    struct Dequeued {
        QueuedPacket packet;
        bool backlogged;  // packets are left
    };

    // Take the head packet. Throws std::logic_error when the queue is empty.
    Dequeued dequeue(uint32_t queue) {
        Queue& q = at(queue);
        if (q.packets.empty()) throw std::logic_error("dequeue from empty queue " + std::to_string(queue));
        const QueuedPacket packet = q.packets.front();
        q.packets.pop_front();
        q.bytes -= packet.length;
        return {packet, !q.packets.empty()};
    }

    // Limits of one queue, 0..kMaxPackets and 0..kMaxBytes; what is queued already stays.
    void set_limits(uint32_t queue, uint32_t packets, uint32_t bytes) {
        if (packets > kMaxPackets || bytes > kMaxBytes) throw std::out_of_range("limit of queue " + std::to_string(queue));
        at(queue).limit_packets = packets;
        at(queue).limit_bytes = bytes;
    }

    uint32_t packets(uint32_t queue) { return static_cast<uint32_t>(at(queue).packets.size()); }
    uint64_t bytes(uint32_t queue) { return at(queue).bytes; }

  private:
    struct Queue {
        std::deque<QueuedPacket> packets;
        uint64_t bytes = 0;
        uint32_t limit_packets = kMaxPackets;
        uint32_t limit_bytes = kMaxBytes;
    };

    Queue& at(uint32_t queue) {
        if (queue >= queues_) throw std::out_of_range("queue " + std::to_string(queue) + " of " + std::to_string(queues_));
        return state_[queue];
    }

    uint32_t queues_;
    std::unordered_map<uint32_t, Queue> state_;
};

}  // namespace penstock
