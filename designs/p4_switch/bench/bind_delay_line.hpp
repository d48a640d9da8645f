// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

namespace penstock::p4 {

// Adds DelayLine to the module of the P4 device.
void bind_delay_line(nanobind::module_& module);

}  // namespace penstock::p4
