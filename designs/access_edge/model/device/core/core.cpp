// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/model/device/core/core.hpp"

#include "designs/access_edge/model/device/core/model_device.hpp"

namespace penstock::engine {

std::unique_ptr<Device> make_core_device(const DeviceSettings& settings) {
    return std::make_unique<ModelDevice<PENSTOCK_ARGUMENT>>(settings);
}

}  // namespace penstock::engine
