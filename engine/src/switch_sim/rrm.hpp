// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Round-robin matching (McKeown: The iSLIP scheduling algorithm for input-queued switches, 1999, section II-B).
#pragma once

#include "grant_accept.hpp"
#include "penstock/engine/random.hpp"

namespace penstock::switch_sim {

// A pointer moves one beyond what its arbiter chose, in every iteration, and that of an output whether or not its grant is accepted. So
// pointers of outputs move in step: one iteration carries some 63 % of the load.
class Rrm {
  public:
    Rrm(unsigned ports, unsigned iterations, engine::Random) : ports_(ports), iterations_(iterations), of_output_{}, of_input_{} {}

    void match(const VirtualOutputQueues& queues, Matching& matching) { match_by_grants(queues, iterations_, *this, matching); }
    unsigned grant(unsigned output, Ports requests, unsigned) { return choose(of_output_[output], requests); }
    unsigned accept(unsigned input, Ports grants, unsigned) { return choose(of_input_[input], grants); }

  private:
    unsigned choose(std::uint8_t& pointer, Ports candidates) {
        const unsigned chosen = first_from(candidates, pointer);
        pointer = static_cast<std::uint8_t>(next(chosen, ports_));
        return chosen;
    }

    unsigned ports_, iterations_;
    std::array<std::uint8_t, kMaxPorts> of_output_, of_input_;
};

}  // namespace penstock::switch_sim
