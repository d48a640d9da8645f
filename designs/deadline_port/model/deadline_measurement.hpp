// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What is measured of a deadline port alone: frames against their deadlines, and what an exact EDFR would have made of the same arrivals.
#pragma once

#include <memory>

#include "designs/deadline_port/model/device_settings.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/own_measurement.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock {

// Key `deadline` of the result (docs/jobs.md). Of a plain FIFO: where the job has `deadlines`, else there is nothing to measure, null.
std::unique_ptr<engine::OwnMeasurement> deadline_measurement(Table& job, const engine::DeadlinePortSettings& settings,
                                                             const engine::Environment& environment,
                                                             std::shared_ptr<engine::DeadlineBook> book);

}  // namespace penstock
