// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What is measured of a deadline port alone: how much of its deadline each frame had left, which ones missed it and when, and what an exact
// EDFR makes of the same arrivals.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "penstock/engine/design.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/own_measurement.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock {

// `told`: the deadline of the frame that its class takes, or drops for want of memory, now; null: the device tells none, as a plain FIFO.
// Then key `deadlines` of the job has them by class, in cycles from the last bit on; without it there is nothing to measure, null.
std::unique_ptr<engine::OwnMeasurement> deadline_measurement(Table& job, const engine::Statement& statement,
                                                             const engine::Environment& environment, std::function<std::int64_t()> told);

}  // namespace penstock
