// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The deadline port as a model: pst_edfr's between its link, its memories and its registers, frames without their bytes. Cycles in which
// nothing can happen are left out.
#pragma once

#include <memory>

#include "designs/deadline_port/model/device_settings.hpp"
#include "penstock/engine/device.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/pin_face.hpp"

namespace penstock::engine {

// `face` hears of the same events at the same pins as the RTL's. Throws std::invalid_argument for what the model does not know: random gaps
// at inputs and outputs, wrong bits in memory.
std::unique_ptr<Device> make_port_device(const DeadlinePortSettings& settings, const Environment& environment,
                                         std::unique_ptr<PinFace> face);

}  // namespace penstock::engine
