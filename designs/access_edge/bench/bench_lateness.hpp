// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

// How late pst_access_edge_core sends the packets of shaped queues that are always backlogged, with the output taken at a link's pace.
//
// The earliest departure time E of every packet follows from the queue's settings alone (blocks/timing/model/shaper.hpp): the
// queues have bursts far longer than any lateness, so a late packet delays none of its successors. An ideal server without latency
// sends all packets over an equal link in order of E. Lateness is the time from its first bit to the first bit of the core, in cycles
// rounded up, and 0 when the core was earlier. A packet before E, out of order, lost, or changed is an error.
//
// Options: library (empty: the model), queues, descriptors, packets (measured), warm_up (packets before), seed, link_bps, clock_hz,
// overhead_bytes, sizes [(bytes, weight)], shapers uint64[queues] (as in pins_core.h), first int64[queues] (cycles from the start of the
// measurement to the queue's first departure; -1: its gate is closed), depth uint32[queues] (packets that wait in the queue). Returns
// uint32 arrays by departure: lateness (as above), core (first bit after E), ideal (the same of the ideal server); cycles; bytes.
nanobind::dict lateness_bench(const nanobind::dict& options, nanobind::object progress);

}  // namespace penstock
