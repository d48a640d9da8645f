// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Uniform bursty traffic: bursts of packets for one output, an independent three-state chain (Off, New, On) at each input.
#pragma once

#include <algorithm>

#include "coins.hpp"
#include "traffic.hpp"

namespace penstock::switch_sim {

// In each slot a chain draws its state anew with probability 1 / burst: New (a packet for an output drawn uniformly) with probability
// `rate`, else Off. Otherwise New goes on as On (a packet for the same output), On and Off stay. So a burst has `burst` packets on average
// (geometric), the mean rate is `rate` in every slot from the first on, and a rate of 1 is possible: bursts then follow each other at once.
class BurstyTraffic final : public Traffic {
  public:
    BurstyTraffic(unsigned ports, double rate, double burst, Random random)
        : ports_(ports), rate_(rate, ports), redraw_(1 / burst, ports), random_(random), destination_{} {}

    void next(Arrivals& arrivals) override {
        for (unsigned slot = 0; slot < Arrivals::kSlots; ++slot) {
            const Ports drawn = started_ ? redraw_.flip(random_) : all_ports(ports_);
            started_ = true;
            if (drawn) {
                const Ports fresh = rate_.flip(random_) & drawn;
                sending_ = (sending_ & ~drawn) | fresh;
                for_each(fresh, [&](unsigned input) { destination_[input] = static_cast<std::uint8_t>(random_.below(ports_)); });
            }
            arrivals.inputs[slot] = sending_;
            std::copy_n(destination_, ports_, arrivals.destinations(slot));
        }
    }

  private:
    unsigned ports_;
    Coins rate_, redraw_;
    Random random_;
    Ports sending_ = 0;
    bool started_ = false;
    std::uint8_t destination_[kMaxPorts];
};

}  // namespace penstock::switch_sim
