// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Dual round-robin matching with exhaustive service (Li, Panwar, Chao: The dual round robin matching switch with exhaustive service, 2002).
#pragma once

#include "penstock/engine/random.hpp"
#include "request_grant.hpp"

namespace penstock::switch_sim {

// A granted pair stays together until its queue is empty: the output's pointer stays at the input; the input's pointer stays at the output
// while packets are left, and moves one beyond it when the queue is empty or the request was refused. The paper has one iteration; in
// further ones what is still free tries again, by the same rules.
class Edrrm {
  public:
    Edrrm(unsigned ports, unsigned iterations, engine::Random) : ports_(ports), iterations_(iterations), of_input_{}, of_output_{} {}

    void match(const VirtualOutputQueues& queues, Matching& matching) {
        queues_ = &queues;
        match_by_requests(queues, iterations_, *this, matching);
    }
    unsigned request(unsigned input, Ports candidates) const { return first_from(candidates, of_input_[input]); }
    unsigned grant(unsigned output, Ports requests) const { return first_from(requests, of_output_[output]); }
    void answer(unsigned input, unsigned output, bool granted, unsigned) {
        const bool stays = granted && queues_->length(input, output) > 1;
        of_input_[input] = static_cast<std::uint8_t>(stays ? output : next(output, ports_));
        if (granted) of_output_[output] = static_cast<std::uint8_t>(input);
    }

  private:
    unsigned ports_, iterations_;
    std::array<std::uint8_t, kMaxPorts> of_input_, of_output_;
    const VirtualOutputQueues* queues_ = nullptr;
};

}  // namespace penstock::switch_sim
