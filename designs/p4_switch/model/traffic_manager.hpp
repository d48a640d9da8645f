// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The queues between ingress and egress: of each output as many FIFOs as there are priorities. It decides what is let in (tail drop, in
// packets and in bytes) and what goes next (strict priority, the highest number first); it knows no time, and of packets only a number.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "blocks/common/model/drop.hpp"

namespace penstock::p4 {

class TrafficManager {
  public:
    static constexpr std::uint32_t kMostPriorities = 64;

    struct Taken {
        std::uint32_t item, priority;
    };

    // `packets`: places of each queue; `bytes`: of each queue, 0: any.
    TrafficManager(std::uint32_t ports, std::uint32_t priorities, std::uint32_t packets, std::uint64_t bytes)
        : priorities_(priorities), packets_(packets), bytes_(bytes), outputs_(ports), queues_(std::size_t{ports} * priorities) {}

    // Drop::None: `item` is the last of its queue. Else why it is not.
    Drop enqueue(std::uint32_t port, std::uint32_t priority, std::uint32_t item, std::uint32_t bytes) {
        Queue& queue = queues_[port * priorities_ + priority];
        if (queue.count == packets_) return Drop::TailDropPackets;
        if (bytes_ && queue.bytes + bytes > bytes_) return Drop::TailDropBytes;
        queue.push({item, bytes});
        outputs_[port].waiting |= std::uint64_t{1} << priority;
        ++outputs_[port].packets;
        return Drop::None;
    }
    bool empty(std::uint32_t port) const { return outputs_[port].waiting == 0; }
    // The oldest packet of the highest priority, which there is.
    Taken dequeue(std::uint32_t port) {
        Output& output = outputs_[port];
        const auto priority = static_cast<std::uint32_t>(std::bit_width(output.waiting) - 1);
        Queue& queue = queues_[port * priorities_ + priority];
        const std::uint32_t item = queue.pop();
        if (queue.count == 0) output.waiting &= ~(std::uint64_t{1} << priority);
        --output.packets;
        return {item, priority};
    }
    // Packets of all priorities, as simple_switch counts depths.
    std::uint32_t depth(std::uint32_t port) const { return outputs_[port].packets; }
    std::uint32_t depth(std::uint32_t port, std::uint32_t priority) const { return queues_[port * priorities_ + priority].count; }
    std::uint64_t bytes(std::uint32_t port, std::uint32_t priority) const { return queues_[port * priorities_ + priority].bytes; }

  private:
    struct Entry {
        std::uint32_t item, bytes;
    };
    // A ring that grows up to the places that the queue has, and is not made smaller.
    struct Queue {
        std::vector<Entry> ring;
        std::uint32_t first = 0, count = 0;
        std::uint64_t bytes = 0;

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

    std::uint32_t priorities_, packets_;
    std::uint64_t bytes_;
    std::vector<Output> outputs_;
    std::vector<Queue> queues_;
};

}  // namespace penstock::p4
