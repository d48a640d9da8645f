// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the engine is to a device: its clock, its memories, the links at its ports.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/engine/memory_model.hpp"

namespace penstock::engine {

struct Environment {
    double clock_hz = 0;
    std::vector<MemorySettings> memories;
    double ingress_bps = 0, egress_bps = 0;  // of each input and output; 0: as fast as the bus
    std::uint32_t overhead_bytes = 24;       // a frame, on all links
    std::uint32_t valid_permille = 1000;     // share of cycles in which an input may start to offer a beat
    std::uint32_t ready_permille = 1000;     // share of cycles in which an output may be ready
    std::uint64_t seed = 1;
    std::int64_t flip_byte = -1;  // self-test: the n-th beat written to memory 0 gets a wrong bit
};

}  // namespace penstock::engine
