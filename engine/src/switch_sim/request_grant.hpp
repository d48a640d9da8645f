// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Request, grant: the frame that DRRM and EDRRM share. An input asks for one output only, so a grant needs no acceptance.
#pragma once

#include "matching.hpp"
#include "virtual_output_queues.hpp"

namespace penstock::switch_sim {

// In each iteration (counted from 0) each free input requests one free output that it has packets for, `arbiters.request(input,
// candidates)`; each output grants one request, `arbiters.grant(output, requests)`; `arbiters.answer(input, output, granted, iteration)`
// tells each request's outcome.
template <class Arbiters>
void match_by_requests(const VirtualOutputQueues& queues, unsigned iterations, Arbiters& arbiters, Matching& matching) {
    std::array<Ports, kMaxPorts> requests;
    for (unsigned output = 0; output < queues.ports(); ++output) requests[output] = 0;
    for (unsigned iteration = 0; iteration < iterations; ++iteration) {
        Ports requested = 0;
        for_each(matching.free_inputs, [&](unsigned input) {
            const Ports candidates = queues.outputs_of(input) & matching.free_outputs;
            if (!candidates) {  // nor in a later iteration: outputs only get fewer
                matching.free_inputs &= ~port(input);
                return;
            }
            const unsigned output = arbiters.request(input, candidates);
            requests[output] |= port(input);
            requested |= port(output);
        });
        if (!requested) return;
        for_each(requested, [&](unsigned output) {
            const unsigned chosen = arbiters.grant(output, requests[output]);
            matching.add(chosen, output);
            for_each(requests[output], [&](unsigned input) { arbiters.answer(input, output, input == chosen, iteration); });
            requests[output] = 0;
        });
    }
}

}  // namespace penstock::switch_sim
