// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the queues of one subscriber are guaranteed (pst_sibling_order): see ../README.md, "Guarantees".
#pragma once

#include <array>
#include <cstdint>

#include "fair_order.hpp"
#include "guarantee.hpp"

namespace penstock {

struct SiblingGuarantees {
    std::array<Guarantee, kMaxQueuesPerSubscriber> queues{};
    uint8_t some = 0;  // its queue had a guarantee when it was looked at last
    uint8_t paid = 0;  // the packet that is here goes by it
    uint8_t busy = 0;  // its last packet has not left it empty
    uint8_t last = 0;  // queue of which one has begun to last

    // A packet comes to the queue `index`. `tolerance`: lateness that is made up for after it was empty.
    void arrive(uint32_t index, int64_t now, int64_t tolerance, bool empties) {
        const auto bit = static_cast<uint8_t>(1U << index);
        if (!(busy & bit)) queues[index].limit(now, tolerance);
        busy = static_cast<uint8_t>(empties ? busy & ~bit : busy | bit);
        paid = static_cast<uint8_t>(paid & ~bit);
    }
    // The packet of queue `index` comes, or may go: does it begin to go by the guarantee?
    bool look(uint32_t index, const GuaranteeSetting& setting, int64_t now, uint32_t length, int64_t keep, int64_t longest) {
        const auto bit = static_cast<uint8_t>(1U << index);
        some = static_cast<uint8_t>(setting.any() ? some | bit : some & ~bit);
        if (paid & bit) return false;
        const bool pays = queues[index].due(setting, now);
        if (pays) {
            paid |= bit;
            queues[index].charge(setting, now, length, keep, longest);
            last = static_cast<uint8_t>(index);
        }
        return pays;
    }
    // Queues whose next packet is within its guarantee, a bit each.
    uint32_t due(int64_t now) const {
        uint32_t found = 0;
        for (uint32_t i = 0; i < kMaxQueuesPerSubscriber; ++i) found |= uint32_t{(some >> i & 1) && stamps::due(queues[i].stamp, now)} << i;
        return found;
    }
    // Queues whose packet goes before those beyond their guarantees.
    Guaranteed first(int64_t now) const { return {paid | due(now), last}; }

    void renew(int64_t near, int64_t now) {
        for (Guarantee& queue : queues) queue.stamp = stamps::renewed(queue.stamp, near, now);
    }
};

}  // namespace penstock
