// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The benches of the access edge's core.
#include <nanobind/nanobind.h>

#include "designs/access_edge/bench/bench_core.hpp"

NB_MODULE(designs_access_edge_bench, m) { penstock::bind_bench(m); }
