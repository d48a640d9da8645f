// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Request, grant, accept: the frame that PIM, RRM and iSLIP share. They differ in how an arbiter chooses and when its pointer moves.
#pragma once

#include "matching.hpp"
#include "virtual_output_queues.hpp"

namespace penstock::switch_sim {

// In each iteration (counted from 0) each free input requests every free output that it has packets for; each output grants one request,
// `arbiters.grant(output, requests, iteration)`; each input accepts one grant, `arbiters.accept(input, grants, iteration)`.
template <class Arbiters>
void match_by_grants(const VirtualOutputQueues& queues, unsigned iterations, Arbiters& arbiters, Matching& matching) {
    std::array<Ports, kMaxPorts> grants;
    for (unsigned input = 0; input < queues.ports(); ++input) grants[input] = 0;
    for (unsigned iteration = 0; iteration < iterations; ++iteration) {
        Ports granted = 0;
        for_each(matching.free_outputs, [&](unsigned output) {
            const Ports requests = queues.inputs_of(output) & matching.free_inputs;
            if (!requests) {  // nor in a later iteration: inputs only get fewer
                matching.free_outputs &= ~port(output);
                return;
            }
            const unsigned input = arbiters.grant(output, requests, iteration);
            grants[input] |= port(output);
            granted |= port(input);
        });
        if (!granted) return;
        for_each(granted, [&](unsigned input) {
            matching.add(input, arbiters.accept(input, grants[input], iteration));
            grants[input] = 0;
        });
    }
}

}  // namespace penstock::switch_sim
