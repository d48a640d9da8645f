// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// `penstock._engine.Served`: a device that runs on by itself, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

void bind_served(nanobind::module_& m);

}  // namespace penstock
