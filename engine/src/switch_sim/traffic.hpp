// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What arrives at a switch: in each slot at most one packet at each input, each for one output.
#pragma once

#include <array>
#include <cstdint>

#include "bits.hpp"

namespace penstock::switch_sim {

// The arrivals of some consecutive slots; made in blocks, so that a virtual call costs nothing.
struct Arrivals {
    static constexpr unsigned kSlots = 64;

    std::array<Ports, kSlots> inputs;                                // those with a packet
    std::array<std::uint8_t, kSlots * kMaxPorts> destination_array;  // kMaxPorts a slot; means nothing for inputs without a packet

    std::uint8_t* destinations(unsigned slot) { return &destination_array[slot * kMaxPorts]; }
};

class Traffic {
  public:
    virtual ~Traffic() = default;
    // Makes the next `Arrivals::kSlots` slots.
    virtual void next(Arrivals& arrivals) = 0;
};

}  // namespace penstock::switch_sim
