// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What a device of a run is, and what the engine is to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocks/hierarchy/model/timed_hierarchy.hpp"
#include "penstock/engine/memory_model.hpp"
#include "penstock/engine/pie_judge.hpp"

namespace penstock::engine {

// Memory and pages of the device, for a device that has to know them (the RTL has them built in).
struct PagePool {
    std::uint32_t pages = 0, page_bytes = 0;
};

struct DeviceSettings {
    std::string library;  // of the RTL; empty: the model
    // What the model is to be: the same numbers as of designs/access_edge/configs.yaml.
    std::uint32_t queues = 0, max_frame_bytes = 0, min_frame_bytes = 0;
    bool shaping = true;
    AqmKind aqm = AqmKind::None;
    bool aqm_estimate = false;
    AqmParameters aqm_parameters;
    bool gates = false;   // subscribers, nodes and ports above the queues
    HierarchySizes tree;  // how many
    std::vector<PagePool> pools;
    // What the engine is to the device.
    double clock_hz = 0;
    std::vector<MemorySettings> memories;
    double ingress_bps = 0, egress_bps = 0;  // 0: as fast as the bus
    std::uint32_t overhead_bytes = 24;       // a frame, on both links
    std::uint32_t valid_permille = 1000;     // share of cycles in which the input may start to offer a beat
    std::uint32_t ready_permille = 1000;     // share of cycles in which the output may be ready
    std::uint64_t seed = 1;
    std::int64_t flip_byte = -1;  // self-test: the n-th beat written to memory 0 gets a wrong bit
};

}  // namespace penstock::engine
