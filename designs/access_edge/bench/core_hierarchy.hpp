// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The hierarchy that benches of pst_access_edge_core set up: which is below which.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "blocks/hierarchy/model/timed_hierarchy.hpp"

namespace penstock {

// Sizes of the hierarchy, as the parameters of the core. A core without one has levels 1, and the rest is not looked at.
struct HierarchyShape {
    uint32_t levels = 1, queues_per_subscriber = 1, nodes = 1, ports = 1, classes = 1;
    uint32_t guarantee_cycles = 0;  // 0: there are no guarantees

    static HierarchyShape from_python(const nanobind::dict& given) {
        const auto number = [&](const char* key) { return nanobind::cast<uint32_t>(given[key]); };
        return {number("levels"),  number("queues_per_subscriber"),
                number("nodes"),   number("ports"),
                number("classes"), given.contains("guarantee_cycles") ? number("guarantee_cycles") : 0};
    }

    // What the model is told; nothing for a core without a hierarchy.
    std::optional<HierarchySizes> sizes() const {
        return levels > 1 ? std::optional(HierarchySizes{queues_per_subscriber, nodes, ports, classes, guarantee_cycles}) : std::nullopt;
    }
};

// Subscribers are dealt to the nodes in random order, nodes to the ports in turn.
struct DrawnHierarchy {
    DrawnHierarchy(const HierarchyShape& given, uint32_t queues, std::mt19937_64& rng)
        : shape(given), order(queues / given.queues_per_subscriber), node_of(order.size()), port_of(given.nodes) {
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin(), order.end(), rng);
        for (uint32_t i = 0; i < order.size(); ++i) node_of[order[i]] = i % shape.nodes;
        for (uint32_t node = 0; node < shape.nodes; ++node) port_of[node] = node % shape.ports;
    }

    uint32_t subscribers() const { return static_cast<uint32_t>(node_of.size()); }
    uint32_t subscriber(uint32_t queue) const { return queue / shape.queues_per_subscriber; }
    uint32_t node(uint32_t queue) const { return node_of[subscriber(queue)]; }

    HierarchyShape shape;
    std::vector<uint32_t> order;  // subscribers as they were dealt: the first `nodes` of them are at different nodes, and so on
    std::vector<uint32_t> node_of, port_of;
};

}  // namespace penstock
