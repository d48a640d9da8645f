// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Independent coins for all ports at once: a set of ports, each in it with the same probability.
#pragma once

#include "bits.hpp"
#include "penstock/engine/random.hpp"

namespace penstock::switch_sim {

using engine::Random;

// The probability is kept to 2^-48; 0 and 1 are exact.
class Coins {
  public:
    Coins(double probability, unsigned ports)
        : threshold_(static_cast<std::uint64_t>(probability * 0x1.0p48 + 0.5)), ports_(ports), all_(all_ports(ports)) {}

    Ports flip(Random& random) {
        if (threshold_ >> kBits) return all_;
        if (left_ < ports_) {
            word_ = flip_64(random);
            left_ = 64;
        }
        const Ports set = word_ & all_;
        word_ = ports_ == kMaxPorts ? 0 : word_ >> ports_;
        left_ -= ports_;
        return set;
    }

  private:
    static constexpr unsigned kBits = 48;

    // 64 comparisons of a random binary fraction with the threshold, digit by digit: half of those undecided fall with each digit.
    Ports flip_64(Random& random) const {
        Ports heads = 0, undecided = ~Ports{0};
        for (unsigned bit = kBits; bit-- > 0 && undecided;) {
            const Ports digits = random.bits();
            if (threshold_ >> bit & 1) {
                heads |= undecided & ~digits;
                undecided &= digits;
            } else {
                undecided &= ~digits;
            }
        }
        return heads;
    }

    std::uint64_t threshold_;
    unsigned ports_;
    Ports all_;
    Ports word_ = 0;
    unsigned left_ = 0;
};

}  // namespace penstock::switch_sim
