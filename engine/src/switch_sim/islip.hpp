// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// iSLIP (McKeown: The iSLIP scheduling algorithm for input-queued switches, 1999, sections II-C and V).
#pragma once

#include "grant_accept.hpp"
#include "penstock/engine/random.hpp"

namespace penstock::switch_sim {

// As RRM, but pointers move only in the first iteration, and that of an output only when its grant is accepted: so the pointers of the
// outputs come apart, and under full uniform load every output is served in every slot.
class Islip {
  public:
    Islip(unsigned ports, unsigned iterations, engine::Random) : ports_(ports), iterations_(iterations), of_output_{}, of_input_{} {}

    void match(const VirtualOutputQueues& queues, Matching& matching) { match_by_grants(queues, iterations_, *this, matching); }
    unsigned grant(unsigned output, Ports requests, unsigned) { return first_from(requests, of_output_[output]); }
    unsigned accept(unsigned input, Ports grants, unsigned iteration) {
        const unsigned output = first_from(grants, of_input_[input]);
        if (iteration == 0) {
            of_input_[input] = static_cast<std::uint8_t>(next(output, ports_));
            of_output_[output] = static_cast<std::uint8_t>(next(input, ports_));
        }
        return output;
    }

  private:
    unsigned ports_, iterations_;
    std::array<std::uint8_t, kMaxPorts> of_output_, of_input_;
};

}  // namespace penstock::switch_sim
