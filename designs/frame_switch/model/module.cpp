// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The device of a job whose design is frame_switch.
#include <nanobind/nanobind.h>

#include "designs/frame_switch/model/design.hpp"
#include "penstock/engine/parts.hpp"

NB_MODULE(designs_frame_switch_model, m) {
    penstock::provide("designs/frame_switch/model", penstock::KindMaker(&penstock::frame_switch_kind));
    (void)m;
}
