// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

// Random traffic at full rate through all levels, every gate shaped above its load, and settings of every kind written as fast as the
// core's two ports for settings take them. Options: library, queues, descriptors, levels (4), queues_per_subscriber, nodes, ports, classes,
// seed, packets, changes (false: the same run without, to compare with). progress(packets out, cycles) is called now and then.
//
// A standstill is a run of cycles in which the enqueue side takes nothing though a packet is offered, or in which nothing leaves though the
// output is ready and a quarter of the descriptors are waiting packets' before open gates. Returns standstills
// (array: of the cycles of the run cut in windows of 32, each window's longest standstill), windows' width, ready (array: cycles from when
// a setting was offered until it was taken), changes (by kind), cycles, packets, lost, reordered, enqueues_per_cycle, dequeues_per_cycle.
nanobind::dict reconfigure_bench(const nanobind::dict& given, nanobind::object progress);

}  // namespace penstock
