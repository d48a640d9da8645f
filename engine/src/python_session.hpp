// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// `penstock._engine.Session`: a device held open, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

void bind_session(nanobind::module_& m);

}  // namespace penstock
