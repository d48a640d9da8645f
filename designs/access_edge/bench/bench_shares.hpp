// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

// Nodes whose rate is a part of what the subscribers below them offer. Options of both benches:
//   library, queues, descriptors, levels (4), queues_per_subscriber, nodes, ports, classes, seed
//   congested_nodes the first so many nodes have traffic
//   subscribers     that have traffic, spread over these nodes; each has its own number of backlogged queues, 1 .. queues_per_subscriber
//   overload        what is offered below a node, as a multiple of its rate: the queues' own shapers let through that much
//   node_rate       byte per cycle
//   size            0: every packet IMIX; 1: every queue has its own size, up to 9,600 byte; else byte
// progress(cycles done of those that are measured, cycles) is called now and then. Raises RuntimeError when the core loses, invents,
// changes or reorders a packet (priority_bench counts those it loses).

// Shares in bytes over `cycles`, after a tenth of that; weights (bool): subscribers have weights 1 to 8. Returns share_error_points (the
// larger of the two that follow), subscriber_error_points (subscribers of a node), queue_error_points (equal queues of a subscriber), each
// the largest, in percentage points; share_by_queues (what a subscriber with that many backlogged queues gets on average, as a multiple of
// its fair share); flows, subscribers, bytes, packets, cycles; parent_utilisation (the least of all nodes) and parent_utilisation_max.
nanobind::dict fairness_bench(const nanobind::dict& given, nanobind::object progress);

// Class 0: `voice_bytes` long, `voice_share` of the nodes' rate, at random times (geometric gaps) in the first queue of random subscribers;
// their other queues, of classes 1 and up, are backlogged. `packets` of class 0 are measured. Returns latency_cycles (a list; enqueue to
// departure), lost, cycles, packets, flows, parent_utilisation (least of all nodes), parent_utilisation_max, packet_cycles (time of the
// largest packet at a node's rate).
nanobind::dict priority_bench(const nanobind::dict& given, nanobind::object progress);

}  // namespace penstock
