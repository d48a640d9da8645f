// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the access edge asks of its model, which is a part of its own (device/): only a job with a model compiles that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "designs/access_edge/model/pin_face.hpp"
#include "penstock/engine/device.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock {

// Largest tolerance of a shaper in cycles: the hardware's times have 32 bits.
inline constexpr std::int64_t kMostTolerance = (std::int64_t{1} << 28) - 1;

// Memory and pages of the device, for the model, which has to know them (the RTL has them built in).
struct PagePool {
    std::uint32_t pages = 0, page_bytes = 0;
};

using DeviceMaker = std::function<std::unique_ptr<engine::Device>(const engine::Environment&)>;

// Key `device.model` of a job. Throws nanobind::value_error that names the key; what it returns throws std::invalid_argument for what the
// model does not know: random gaps at input and output, planted memory faults.
using ModelMaker = DeviceMaker (*)(Table model, std::uint32_t queues, engine::QueueId queue_id, const std::vector<PagePool>& pools);

}  // namespace penstock
