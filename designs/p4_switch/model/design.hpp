// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The P4 device, for the engine (penstock/engine/design.hpp).
#pragma once

#include <memory>

#include "penstock/engine/design.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock {

// The device of a job: key `device` has `model` (true), the sizes of switch_settings.hpp, the program and its tables
// (designs/p4_switch/README.md). Throws nanobind::value_error that names the key.
std::shared_ptr<const engine::DeviceKind> p4_switch_kind(Table& device, engine::Environment& environment);

}  // namespace penstock
