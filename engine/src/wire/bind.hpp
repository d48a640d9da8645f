// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

#include "penstock/engine/python_table.hpp"
#include "penstock/engine/wire/traffic.hpp"

namespace penstock {

// Key `wire` of a job (docs/jobs.md). Its sources come one by one.
engine::wire::Settings wire_settings(Table table, double clock_hz, unsigned outputs);
// A source of kind `wire`. What its queues are, and what is beyond them, the design says.
engine::wire::Path wire_path(Table& table, unsigned input, std::size_t ends, std::vector<nanobind::object>& keep);

// Key `wire` of a result.
nanobind::dict wire_to_python(const engine::wire::Traffic& traffic);
// The same while it runs: counts, without distributions.
nanobind::dict wire_progress(const engine::wire::Traffic& traffic);

// Adds `wire_fields`, what rules see of a frame, and `wire_match`, for tests.
void bind_wire(nanobind::module_& m);

}  // namespace penstock
