// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The stand-in device of the engine's tests (engine/test/stand_in.cpp) under any statement: what measurement must find under each rule.
#pragma once

#include <memory>

#include "penstock/engine/design.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock {

// Key `device` of a job has `library`; `order`: fifo, by_deadline or free; `payload`: unchanged, ecn_mark or rewritten; `judged`: false
// where whatever a rewriting device makes of a frame is right; `tag_bits`; and with order by_deadline `deadlines`: cycles, of each class.
// Throws nanobind::value_error that names the key.
std::shared_ptr<const engine::DeviceKind> stand_in_kind(Table& device, engine::Environment& environment);

}  // namespace penstock
