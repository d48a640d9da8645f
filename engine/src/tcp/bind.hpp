// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/nanobind.h>

#include "penstock/engine/tcp/traffic.hpp"

namespace penstock {

// Key `tcp` of a result (docs/jobs.md).
nanobind::dict connections_to_python(const engine::tcp::Traffic& traffic, engine::tcp::Time interval);

// Adds the parts of a connection, for tests of each: `TcpSender`, `TcpReceiver`, `RetransmissionTimeout`, `Cubic`, and segments.
void bind_tcp(nanobind::module_& m);

}  // namespace penstock
