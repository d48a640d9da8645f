// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The device of a job whose design is deadline_port.
#include <nanobind/nanobind.h>

#include "designs/deadline_port/model/design.hpp"
#include "penstock/engine/parts.hpp"

NB_MODULE(designs_deadline_port_model, m) {
    penstock::provide("designs/deadline_port/model", penstock::KindMaker(&penstock::deadline_port_kind));
    (void)m;
}
