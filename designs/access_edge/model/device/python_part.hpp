// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// AQMs and schedulers whose functions are written in Python (docs/how-to/own-python.md): they are called for each packet, or decision.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>

#include "blocks/aqm/model/aqm_model.hpp"
#include "blocks/schedule/model/scheduler_model.hpp"

namespace penstock {

// An object of Python that threads may copy and drop without Python's lock.
using PythonObject = std::shared_ptr<nanobind::object>;
PythonObject python_object(nanobind::object object);

// Models for so many queues, which `maker`, a penstock.parts.python.Maker, makes anew. Throw std::invalid_argument with a sentence where
// the file does not run any more; so do their calls, where a function raises or returns what it must not.
std::shared_ptr<AqmModel> python_aqm(const PythonObject& maker, std::uint32_t queues);
std::shared_ptr<SchedulerModel> python_scheduler(const PythonObject& maker, std::uint32_t queues, std::int64_t credits);

}  // namespace penstock
