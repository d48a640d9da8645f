// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The model with the kind of core that PENSTOCK_ARGUMENT names.
#pragma once

#include <memory>

#include "designs/access_edge/model/device/device_settings.hpp"

// An editor or lint, which reads the source alone, takes this kind.
#ifndef PENSTOCK_ARGUMENT
#define PENSTOCK_ARGUMENT HierarchyCoreFor<ArrivalJudge<false>>
#endif

namespace penstock::engine {

std::unique_ptr<Device> make_core_device(const DeviceSettings& settings);

}  // namespace penstock::engine
