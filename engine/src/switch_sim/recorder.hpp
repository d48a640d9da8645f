// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What a run measures: packets by fate, and how long those that left had waited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "packet_fifo.hpp"
#include "penstock/engine/histogram.hpp"

namespace penstock::switch_sim {

// Every slot below 4,096 has a bin of its own; longer latencies are known to 1/256, but their sum and the largest are exact.
class Latencies {
  public:
    Latencies() : short_(kShort) {}

    void add(std::uint64_t slots) {
        if (slots < kShort) [[likely]]
            ++short_[slots];
        else
            long_.add(static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, 0xFFFF'FFFF)));
    }
    // Ascending values with the number of packets of each.
    void list(std::vector<std::uint64_t>& values, std::vector<std::uint64_t>& packets) const {
        for (std::uint32_t value = 0; value < kShort; ++value)
            if (short_[value]) values.push_back(value), packets.push_back(short_[value]);
        for (unsigned bin = 0; bin < long_.bins().size(); ++bin)
            if (long_.bins()[bin])
                values.push_back(std::min(engine::Histogram::upper(bin), long_.largest())), packets.push_back(long_.bins()[bin]);
    }
    std::uint64_t sum() const {
        std::uint64_t sum = long_.sum();
        for (std::uint32_t value = 0; value < kShort; ++value) sum += value * short_[value];
        return sum;
    }

  private:
    static constexpr std::uint32_t kShort = 4096;

    std::vector<std::uint64_t> short_;
    engine::Histogram long_;
};

// A packet's fate, kept when each is to be seen.
struct Fate {
    std::uint64_t slot, arrival;
    std::uint8_t source, destination;
    bool dropped;
};

template <bool Keep>
class Recorder {
  public:
    void sent(std::uint64_t slot, Packet packet, unsigned destination) {
        latencies_.add(slot - packet.slot());
        if constexpr (Keep) fates_.push_back({slot, packet.slot(), std::uint8_t(packet.source()), std::uint8_t(destination), false});
    }
    void dropped(std::uint64_t slot, unsigned source, unsigned destination) {
        ++drops_;
        if constexpr (Keep) fates_.push_back({slot, slot, std::uint8_t(source), std::uint8_t(destination), true});
    }

    const Latencies& latencies() const { return latencies_; }
    std::uint64_t drops() const { return drops_; }
    const std::vector<Fate>& fates() const { return fates_; }

  private:
    Latencies latencies_;
    std::uint64_t drops_ = 0;
    std::vector<Fate> fates_;
};

}  // namespace penstock::switch_sim
