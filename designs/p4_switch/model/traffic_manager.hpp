// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The queues between ingress and egress: of each output as many FIFOs as there are priorities. It decides what is let in (tail drop, in
// packets and in bytes) and what goes next: strict priority, the highest number first, but no packet before its time where a priority has a
// rate. Of packets it knows only a number.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "penstock/engine/frame.hpp"

namespace penstock::p4 {

class TrafficManager {
  public:
    static constexpr std::uint32_t kMostPriorities = 64;

    struct Taken {
        std::uint32_t item, priority;
    };

    // What holds for each queue of a priority: its places, and the time from one packet to the next, 0: any.
    struct Limit {
        std::uint32_t packets;
        engine::Ticks between = 0;
    };

    // `limits`: by priority; `bytes`: of each queue, 0: any.
    TrafficManager(std::uint32_t ports, std::vector<Limit> limits, std::uint64_t bytes)
        : limits_(std::move(limits)),
          priorities_(static_cast<std::uint32_t>(limits_.size())),
          bytes_(bytes),
          paced_(std::any_of(limits_.begin(), limits_.end(), [](const Limit& limit) { return limit.between != 0; })),
          outputs_(ports),
          queues_(std::size_t{ports} * priorities_) {}

    // It is cycle `now`. Drop::None: `item` is the last of its queue. Else why it is not.
    Drop enqueue(std::uint32_t port, std::uint32_t priority, std::uint32_t item, std::uint32_t bytes, std::int64_t now) {
        Queue& queue = queues_[port * priorities_ + priority];
        const Limit& limit = limits_[priority];
        if (queue.count == limit.packets) return Drop::TailDropPackets;
        if (bytes_ && queue.bytes + bytes > bytes_) return Drop::TailDropBytes;
        queue.latest = std::max(engine::ticks(now), queue.latest + limit.between);
        queue.push({item, bytes, engine::cycle_ceil(queue.latest)});
        outputs_[port].waiting |= std::uint64_t{1} << priority;
        ++outputs_[port].packets;
        return Drop::None;
    }
    bool empty(std::uint32_t port) const { return outputs_[port].waiting == 0; }
    // When the first packet of an output that is not empty may go, or a cycle that has passed.
    std::int64_t next(std::uint32_t port) const {
        if (!paced_) return 0;
        std::int64_t next = INT64_MAX;
        for (std::uint64_t left = outputs_[port].waiting; left; left &= left - 1)
            next = std::min(next, from(port, static_cast<std::uint32_t>(std::countr_zero(left))));
        return next;
    }
    // The oldest packet of the highest priority of which one may go in cycle `now`; there is one (next()).
    Taken dequeue(std::uint32_t port, std::int64_t now) {
        Output& output = outputs_[port];
        std::uint64_t left = output.waiting;
        const auto highest = [&] { return static_cast<std::uint32_t>(std::bit_width(left) - 1); };
        while (paced_ && from(port, highest()) > now) left &= ~(std::uint64_t{1} << highest());
        const std::uint32_t priority = highest();
        Queue& queue = queues_[port * priorities_ + priority];
        const std::uint32_t item = queue.pop();
        if (queue.count == 0) output.waiting &= ~(std::uint64_t{1} << priority);
        --output.packets;
        return {item, priority};
    }
    // Packets of all priorities.
    std::uint32_t depth(std::uint32_t port) const { return outputs_[port].packets; }
    std::uint32_t depth(std::uint32_t port, std::uint32_t priority) const { return queues_[port * priorities_ + priority].count; }
    std::uint64_t bytes(std::uint32_t port, std::uint32_t priority) const { return queues_[port * priorities_ + priority].bytes; }

  private:
    struct Entry {
        std::uint32_t item, bytes;
        std::int64_t from;  // the cycle in which it may go
    };
    // A ring that grows up to the places that the queue has, and is not made smaller.
    struct Queue {
        std::vector<Entry> ring;
        std::uint32_t first = 0, count = 0;
        std::uint64_t bytes = 0;
        engine::Ticks latest = -(engine::Ticks{1} << 100);  // when the last one that was let in may go

        void push(Entry entry) {
            if (count == ring.size()) grow();
            ring[(first + count) & (static_cast<std::uint32_t>(ring.size()) - 1)] = entry;
            ++count;
            bytes += entry.bytes;
        }
        std::uint32_t pop() {
            const Entry entry = ring[first];
            first = (first + 1) & (static_cast<std::uint32_t>(ring.size()) - 1);
            --count;
            bytes -= entry.bytes;
            return entry.item;
        }
        void grow() {
            std::vector<Entry> larger(ring.empty() ? 16 : 2 * ring.size());
            for (std::uint32_t i = 0; i < count; ++i) larger[i] = ring[(first + i) & (static_cast<std::uint32_t>(ring.size()) - 1)];
            ring = std::move(larger);
            first = 0;
        }
    };
    struct Output {
        std::uint64_t waiting = 0;  // a bit for each priority that has a packet
        std::uint32_t packets = 0;
    };

    std::int64_t from(std::uint32_t port, std::uint32_t priority) const {
        const Queue& queue = queues_[port * priorities_ + priority];
        return queue.ring[queue.first].from;
    }

    std::vector<Limit> limits_;
    std::uint32_t priorities_;
    std::uint64_t bytes_;
    bool paced_;  // some priority has a rate
    std::vector<Output> outputs_;
    std::vector<Queue> queues_;
};

}  // namespace penstock::p4
