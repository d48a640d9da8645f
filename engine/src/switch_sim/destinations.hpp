// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Where packets go: one class a pattern, `pick(inputs, destinations, random)` sets the destinations of one slot.
#pragma once

#include <bit>
#include <cstring>

#include "coins.hpp"

namespace penstock::switch_sim {

// Every output alike. Each byte of a random word gives as many ports as it has bits for; eight inputs at a time.
class UniformDestinations {
  public:
    explicit UniformDestinations(unsigned ports) : ports_(ports), bits_(lowest(ports)), lanes_(0x0101'0101'0101'0101 * (ports - 1)) {}

    void pick(Ports, std::uint8_t* destinations, Random& random) const {
        static_assert(std::endian::native == std::endian::little, "else a seed means other traffic");
        for (unsigned input = 0; input < ports_;) {
            const std::uint64_t word = random.bits();
            for (unsigned shift = 0; shift + bits_ <= 8 && input < ports_; shift += bits_, input += 8) {
                const std::uint64_t eight = word >> shift & lanes_;
                std::memcpy(destinations + input, &eight, sizeof eight);  // past the last of fewer than eight inputs there is room
            }
        }
    }

  private:
    unsigned ports_, bits_;
    std::uint64_t lanes_;
};

// One output for each input with probability `share`; the others alike. The output of the same number (the paper's non-uniform traffic),
// or the same one for all inputs (hotspot).
class FavouredDestinations {
  public:
    // `hotspot` < ports: the favoured output of all inputs.
    FavouredDestinations(unsigned ports, double share, unsigned hotspot = kMaxPorts)
        : ports_(ports), hotspot_(hotspot), coins_(share, ports) {}

    void pick(Ports inputs, std::uint8_t* destinations, Random& random) {
        const Ports favoured = coins_.flip(random);
        for_each(inputs, [&](unsigned input) {
            const unsigned favourite = hotspot_ < ports_ ? hotspot_ : input;
            unsigned chosen = favourite;
            if (!(favoured & port(input))) {
                chosen = random.below(ports_ - 1);
                chosen += chosen >= favourite;
            }
            destinations[input] = static_cast<std::uint8_t>(chosen);
        });
    }

  private:
    unsigned ports_, hotspot_;
    Coins coins_;
};

// Two thirds to the output of the same number, one third to the next: the pattern that is hardest on matchings with few choices.
class DiagonalDestinations {
  public:
    explicit DiagonalDestinations(unsigned ports) : ports_(ports), coins_(1.0 / 3, ports) {}

    void pick(Ports, std::uint8_t* destinations, Random& random) {
        const Ports beside = coins_.flip(random);
        for (unsigned input = 0; input < ports_; ++input)
            destinations[input] = static_cast<std::uint8_t>((input + (beside >> input & 1)) & (ports_ - 1));
    }

  private:
    unsigned ports_;
    Coins coins_;
};

}  // namespace penstock::switch_sim
