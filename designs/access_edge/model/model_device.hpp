// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The access edge as a model: the same device as the RTL, event by event.
#pragma once

#include <memory>

#include "designs/access_edge/model/device_settings.hpp"
#include "penstock/engine/device.hpp"

namespace penstock::engine {

// Throws std::invalid_argument for what the model does not know: random gaps at input and output, planted memory faults.
std::unique_ptr<Device> make_model_device(const DeviceSettings& settings);

}  // namespace penstock::engine
