// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A job as Python gives it (docs/jobs.md) made into the engine's own, every value checked.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "penstock/engine/run.hpp"

namespace penstock {

struct PythonJob {
    engine::Job job;
    std::vector<nanobind::object> keep;  // arrays that the job points into
};

// Loads what the device of a job takes. Throws nanobind::value_error that names the key.
void prepare_device(const nanobind::dict& dict);

// Throws nanobind::value_error that names the key.
PythonJob job_from_python(const nanobind::dict& dict);

}  // namespace penstock
