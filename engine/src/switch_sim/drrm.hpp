// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Dual round-robin matching (Chao: Saturn, 2000; Li, Panwar, Chao: On the performance of a dual round-robin switch, 2001).
#pragma once

#include "penstock/engine/random.hpp"
#include "request_grant.hpp"

namespace penstock::switch_sim {

// The pointers of both sides move one beyond a granted pair, and stay where nothing was granted. The papers have one iteration; in further
// ones what is still free tries again, and pointers stay (as in iSLIP).
class Drrm {
  public:
    Drrm(unsigned ports, unsigned iterations, engine::Random) : ports_(ports), iterations_(iterations), of_input_{}, of_output_{} {}

    void match(const VirtualOutputQueues& queues, Matching& matching) { match_by_requests(queues, iterations_, *this, matching); }
    unsigned request(unsigned input, Ports candidates) const { return first_from(candidates, of_input_[input]); }
    unsigned grant(unsigned output, Ports requests) const { return first_from(requests, of_output_[output]); }
    void answer(unsigned input, unsigned output, bool granted, unsigned iteration) {
        if (!granted || iteration > 0) return;
        of_input_[input] = static_cast<std::uint8_t>(next(output, ports_));
        of_output_[output] = static_cast<std::uint8_t>(next(input, ports_));
    }

  private:
    unsigned ports_, iterations_;
    std::array<std::uint8_t, kMaxPorts> of_input_, of_output_;
};

}  // namespace penstock::switch_sim
