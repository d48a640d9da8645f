// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What is measured of a P4 device alone: drops by flow and reason, and its queues (queue_tally.hpp). Key `p4` of the result.
#pragma once

#include <memory>

#include "designs/p4_switch/model/queue_tally.hpp"
#include "designs/p4_switch/model/switch_settings.hpp"
#include "penstock/engine/design.hpp"
#include "penstock/engine/own_measurement.hpp"

namespace penstock::p4 {

// `tally` is filled by the device.
std::unique_ptr<engine::OwnMeasurement> switch_measurement(const SwitchSettings& settings, std::shared_ptr<QueueTally> tally,
                                                           const engine::Statement& statement);

}  // namespace penstock::p4
