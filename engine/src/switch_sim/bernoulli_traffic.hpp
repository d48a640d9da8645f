// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Traffic without memory: in each slot each input gets a packet with the same probability, whatever was before.
#pragma once

#include <utility>

#include "coins.hpp"
#include "traffic.hpp"

namespace penstock::switch_sim {

template <class Destinations>
class BernoulliTraffic final : public Traffic {
  public:
    BernoulliTraffic(unsigned ports, double rate, Destinations destinations, Random random)
        : coins_(rate, ports), destinations_(std::move(destinations)), random_(random) {}

    void next(Arrivals& arrivals) override {
        for (unsigned slot = 0; slot < Arrivals::kSlots; ++slot) {
            arrivals.inputs[slot] = coins_.flip(random_);
            destinations_.pick(arrivals.inputs[slot], arrivals.destinations(slot), random_);
        }
    }

  private:
    Coins coins_;
    Destinations destinations_;
    Random random_;
};

}  // namespace penstock::switch_sim
