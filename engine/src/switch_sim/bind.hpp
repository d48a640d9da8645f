// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

// Adds class `SwitchSimulation`; bind.cpp has its settings and what it measures.
void bind_switch_sim(nanobind::module_& m);

}  // namespace penstock
