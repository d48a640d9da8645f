// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the deadline block's models.
#pragma once

#include <nanobind/nanobind.h>

#include "bind_edfr.hpp"

inline void bind_deadline(nanobind::module_& m) { penstock::bind_edfr(m); }
