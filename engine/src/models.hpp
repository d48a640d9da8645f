// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

// Adds the submodule `models` with the C++ model of every block to `parent`.
void bind_models(nanobind::module_& parent);

}  // namespace penstock
