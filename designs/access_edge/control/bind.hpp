// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The compiled part of the control plane, for Python (penstock._engine.access_edge_control).
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

// What is done for each queue of many: reading what comes in a stream (scan.hpp), and making register writes (writes.hpp).
void bind_access_edge_control(nanobind::module_& m);

}  // namespace penstock
