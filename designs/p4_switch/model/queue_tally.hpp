// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What is measured at the queues of a P4 device, by output and priority: what came, what became of it, how long it waited, and when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/engine/amount.hpp"
#include "penstock/engine/frame.hpp"
#include "penstock/engine/histogram.hpp"

namespace penstock::p4 {

struct QueuePoint {             // of an interval
    std::uint32_t packets = 0;  // taken from the queue
    std::uint32_t full = 0;     // dropped at its tail
    std::uint32_t egress = 0;   // dropped by the program behind it
    std::uint32_t wait_max = 0;
    std::uint64_t wait_sum = 0;  // cycles
    std::uint64_t sent_bytes = 0;
};

struct QueueCounts {
    engine::Amount in, full, egress, sent, again;  // let in; dropped at the tail, behind it; sent; recirculated
    std::uint32_t most_packets = 0;
    std::uint64_t most_bytes = 0;
    std::unique_ptr<engine::Histogram> waits;  // cycles in the queue, of all that were taken from it; null: none was
    std::vector<QueuePoint> points;            // by interval
};

struct OutputCounts {
    engine::Amount sent, before;  // before: sent until the warm-up was over
    engine::Ticks lost = 0;       // time of the link that packets have cost which egress dropped or sent back
};

struct QueueTally {
    std::int64_t interval = 0;  // cycles; 0: no points
    std::vector<QueueCounts> queues;
    std::vector<OutputCounts> outputs;
    std::uint64_t multicast_copies = 0, clones = 0, recirculated = 0;

    void restart(std::uint32_t ports, std::uint32_t priorities) {
        const std::int64_t kept = interval;
        *this = {};
        interval = kept;
        queues.resize(std::size_t{ports} * priorities);
        outputs.resize(ports);
    }
    // The warm-up is over: times in queues, and what was sent, are measured from here on.
    void begin() {
        for (QueueCounts& queue : queues) queue.waits.reset();
        for (OutputCounts& output : outputs) output.before = output.sent;
    }
    QueuePoint* point(QueueCounts& queue, std::int64_t cycle) {
        if (interval <= 0) return nullptr;
        const auto row = static_cast<std::size_t>(cycle / interval);
        if (row >= queue.points.size()) queue.points.resize(row + 1);
        return &queue.points[row];
    }
    void taken(QueueCounts& queue, std::int64_t cycle, std::int64_t waited) {
        const auto wait = static_cast<std::uint32_t>(std::min<std::int64_t>(waited, 0xFFFF'FFFF));
        if (!queue.waits) queue.waits = std::make_unique<engine::Histogram>();
        queue.waits->add(wait);
        if (QueuePoint* const at = point(queue, cycle)) {
            ++at->packets;
            at->wait_sum += wait;
            at->wait_max = std::max(at->wait_max, wait);
        }
    }
};

}  // namespace penstock::p4
