// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Recorded traffic: a list of packets. After its end nothing arrives.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "traffic.hpp"

namespace penstock::switch_sim {

struct TracePacket {
    std::uint64_t slot;
    std::uint8_t source, destination;
};

class TraceTraffic final : public Traffic {
  public:
    // `packets` in order of slots, at most one for each slot and source.
    explicit TraceTraffic(std::vector<TracePacket> packets) : packets_(std::move(packets)) {}

    void next(Arrivals& arrivals) override {
        for (unsigned slot = 0; slot < Arrivals::kSlots; ++slot, ++now_) {
            arrivals.inputs[slot] = 0;
            for (; place_ < packets_.size() && packets_[place_].slot == now_; ++place_) {
                const TracePacket& packet = packets_[place_];
                arrivals.inputs[slot] |= port(packet.source);
                arrivals.destinations(slot)[packet.source] = packet.destination;
            }
        }
    }

  private:
    std::vector<TracePacket> packets_;
    std::size_t place_ = 0;
    std::uint64_t now_ = 0;
};

}  // namespace penstock::switch_sim
