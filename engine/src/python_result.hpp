// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

#include "penstock/engine/run.hpp"

namespace penstock {

// The result of a run as Python gets it (docs/jobs.md). Takes the long arrays out of `measurement`.
nanobind::dict result_to_python(const engine::Outcome& outcome, engine::Measurement& measurement, bool keep_departures);

// What has happened so far: packets and bytes by fate, errors, and latencies in cycles. Of `measurement` only what never changes is read.
nanobind::dict totals_to_python(const engine::Totals& totals, const engine::Measurement& measurement, const engine::Histogram& latency);

}  // namespace penstock
