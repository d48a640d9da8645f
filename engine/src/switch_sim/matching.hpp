// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What a scheduler decides in a slot: which input sends to which output, each at most once.
#pragma once

#include <array>

#include "bits.hpp"

namespace penstock::switch_sim {

struct Matching {
    explicit Matching(unsigned ports) : free_inputs(all_ports(ports)), free_outputs(all_ports(ports)) {}

    void add(unsigned input, unsigned output) {
        free_inputs &= ~port(input);
        free_outputs &= ~port(output);
        matched |= port(output);
        input_of[output] = static_cast<std::uint8_t>(input);
    }

    Ports free_inputs, free_outputs;  // a scheduler may take those out of the latter that cannot be matched any more
    Ports matched = 0;                // outputs
    std::array<std::uint8_t, kMaxPorts> input_of;
};

}  // namespace penstock::switch_sim
