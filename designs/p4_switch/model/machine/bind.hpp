// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A program packet by packet from Python: `Machine`.
#pragma once

#include <nanobind/nanobind.h>

namespace penstock::p4 {

void bind_machine(nanobind::module_& module);

}  // namespace penstock::p4
