// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

// Shares below congested nodes with queues of all kinds, as penstock.designs.access_edge.bench.bench_mixes has drawn them. Options:
//   library, queues, descriptors, levels (4), queues_per_subscriber, nodes, ports, classes, seed (of lengths and bursts), cycles (that are
//   measured, after a tenth of that)
//   hierarchy    {nodes: [(id, cycles per byte, burst in cycles)], subscribers: [(id, node, weight, cycles per byte, burst, cycles per byte
//           that is guaranteed)]}: those that have traffic; cycles per byte 0: unshaped, no guarantee. Nodes are dealt to the ports in
//           turn, ports are open
//   flows   [{queue, cls, weight, guarantee, shaper: (cycles per byte, burst), sizes: [byte], spacing, burst_bytes}]: with spacing 0 the
//   queue always has
//           packets; else bursts of about burst_bytes come so far apart that a byte comes every `spacing` cycles
// Returns offered and carried (bytes by flow; offered: what came in the time that is measured, 0 of queues that always have packets),
// node_bytes (by node of the list), packets, cycles. Raises RuntimeError when the core loses, invents, changes or reorders a packet.
nanobind::dict mix_bench(const nanobind::dict& given, nanobind::object progress);

}  // namespace penstock
