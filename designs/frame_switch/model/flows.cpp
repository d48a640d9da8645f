// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/frame_switch/model/flows.hpp"

#include "blocks/common/model/drop.hpp"

namespace penstock::engine {

std::uint8_t Flows::reason(const Frame& frame) const {
    if (group(frame.queue).destinations == 0) return static_cast<std::uint8_t>(Drop::BadQueueId);
    if (frame.length > longest_) return static_cast<std::uint8_t>(Drop::Oversize);
    return frame.error ? static_cast<std::uint8_t>(Drop::BadFrame) : 0;
}

void Flows::arrived(const Frame& frame, std::int64_t last_bit, std::int64_t now, Observer& observer) const {
    const std::uint8_t reason = this->reason(frame);
    const auto length = static_cast<std::uint16_t>(frame.length);
    const auto tell = [&](std::uint32_t queue) {
        Frame copy = frame;
        copy.queue = queue;
        observer.arrived(copy, last_bit);
        observer.classified(now, {queue, length, reason});
        if (reason == 0) observer.enqueued(now, {queue, length, 0});
    };
    const Group to = group(frame.queue);
    if (to.destinations == 0) tell(frame.queue);
    for (std::uint32_t destination = 0; destination < ports_; ++destination)
        if (to.destinations >> destination & 1) tell(flow(to.source, destination, to.klass));
}

}  // namespace penstock::engine
