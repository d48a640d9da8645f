// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include <nanobind/nanobind.h>

#include "designs/access_edge/model/device/core/core.hpp"
#include "penstock/engine/parts.hpp"

#define PENSTOCK_TEXT(words) #words
#define PENSTOCK_TEXT_OF(macro) PENSTOCK_TEXT(macro)

NB_MODULE(designs_access_edge_model_device_core, m) {
    (void)m;
    penstock::provide("designs/access_edge/model/device/core " PENSTOCK_TEXT_OF(PENSTOCK_ARGUMENT),
                      penstock::engine::CoreMaker(&penstock::engine::make_core_device));
}
