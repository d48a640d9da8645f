// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The delay line behind which bmv2 runs.
#include <nanobind/nanobind.h>

#include "designs/p4_switch/bench/bind_delay_line.hpp"

NB_MODULE(designs_p4_switch_bench, m) { penstock::p4::bind_delay_line(m); }
