// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The device of a job whose design is p4_switch.
#include <nanobind/nanobind.h>

#include "designs/p4_switch/model/design.hpp"
#include "designs/p4_switch/model/machine/bind.hpp"
#include "penstock/engine/parts.hpp"

NB_MODULE(designs_p4_switch_model, m) {
    penstock::provide("designs/p4_switch/model", penstock::KindMaker(&penstock::p4_switch_kind));
    penstock::p4::bind_machine(m);
}
