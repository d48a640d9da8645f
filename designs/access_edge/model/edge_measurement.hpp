// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What is measured of an access edge alone: lateness of shaped frames, and frames by the levels of its hierarchy.
#pragma once

#include <cstdint>
#include <memory>

#include "penstock/engine/design.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/own_measurement.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock {

// Keys `lateness` and `hierarchy` of a job (docs/jobs.md); null: it has neither. Throws nanobind::value_error that names the key.
std::unique_ptr<engine::OwnMeasurement> edge_measurement(Table& job, const engine::Statement& statement,
                                                         const engine::Environment& environment);

}  // namespace penstock
