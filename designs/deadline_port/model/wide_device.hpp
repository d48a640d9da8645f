// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The wide deadline port as a model: pst_edfr_wide's between its link, the memories of its columns and its registers, frames without their
// bytes. Cycles in which nothing can happen are left out.
#pragma once

#include <memory>

#include "designs/deadline_port/model/device_settings.hpp"
#include "penstock/engine/device.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/pin_face.hpp"

namespace penstock::engine {

// As make_port_device, with a DeadlineWideFace.
std::unique_ptr<Device> make_wide_device(const DeadlinePortSettings& settings, const Environment& environment,
                                         std::unique_ptr<PinFace> face);

}  // namespace penstock::engine
