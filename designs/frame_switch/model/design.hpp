// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The frame switch, for the engine (penstock/engine/design.hpp).
#pragma once

#include <memory>

#include "penstock/engine/design.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock {

// The device of a job: key `device` has `library` (the RTL) or `model` (true), the parameters of pst_frame_switch and `groups`
// (designs/frame_switch/README.md). Throws nanobind::value_error that names the key.
std::shared_ptr<const engine::DeviceKind> frame_switch_kind(Table& device, engine::Environment& environment);

}  // namespace penstock
