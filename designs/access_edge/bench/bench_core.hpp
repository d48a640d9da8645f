// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

// Adds `core_bench(options, progress)`, which measures pst_access_edge_core at its descriptor ports; bench_core.cpp has the options.
void bind_bench(nanobind::module_& m);

}  // namespace penstock
