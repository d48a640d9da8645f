// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Parallel iterative matching (Anderson, Owicki, Saxe, Thacker: High-speed switch scheduling for local-area networks, 1993).
#pragma once

#include "grant_accept.hpp"
#include "penstock/engine/random.hpp"

namespace penstock::switch_sim {

// Outputs and inputs choose at random, all candidates alike.
class Pim {
  public:
    Pim(unsigned, unsigned iterations, engine::Random random) : iterations_(iterations), random_(random) {}

    void match(const VirtualOutputQueues& queues, Matching& matching) { match_by_grants(queues, iterations_, *this, matching); }
    unsigned grant(unsigned, Ports requests, unsigned) { return any(requests); }
    unsigned accept(unsigned, Ports grants, unsigned) { return any(grants); }

  private:
    unsigned any(Ports set) { return (set & (set - 1)) ? member(set, random_.below(size(set))) : lowest(set); }

    unsigned iterations_;
    engine::Random random_;
};

}  // namespace penstock::switch_sim
