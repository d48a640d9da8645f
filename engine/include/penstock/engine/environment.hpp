// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the engine is to a device: its clock, its memories, the links at its ports.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/engine/frame.hpp"
#include "penstock/engine/memory_model.hpp"

namespace penstock::engine {

struct Environment {
    double clock_hz = 0;
    std::vector<MemorySettings> memories;
    std::vector<double> ingress_bps, egress_bps;  // of each input and output; 0, or none: as fast as the bus
    std::uint32_t overhead_bytes = 24;            // a frame, on all links
    std::uint32_t ingress_fifo_bytes = 0;         // of frames that wait at an input; more are lost; 0: they wait without end
    std::uint32_t egress_buffer_bytes = 0;        // that an output takes ahead of its link
    std::uint32_t valid_permille = 1000;          // share of cycles in which an input may start to offer a beat
    std::uint32_t ready_permille = 1000;          // share of cycles in which an output may be ready
    std::uint64_t seed = 1;
    std::int64_t flip_byte = -1;  // self-test: the n-th beat written to memory 0 gets a wrong bit

    // The line in front of an input, and behind an output.
    Link ingress(std::size_t port) const { return line(ingress_bps, port, ingress_fifo_bytes); }
    Link egress(std::size_t port) const { return line(egress_bps, port, egress_buffer_bytes); }

  private:
    Link line(const std::vector<double>& bps, std::size_t port, std::uint32_t buffer_bytes) const {
        return Link(port < bps.size() ? bps[port] : 0, clock_hz, overhead_bytes, buffer_bytes);
    }
};

}  // namespace penstock::engine
