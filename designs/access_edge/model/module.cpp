// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The device of a job whose design is access_edge.
#include <nanobind/nanobind.h>

#include "designs/access_edge/model/design.hpp"
#include "penstock/engine/parts.hpp"

NB_MODULE(designs_access_edge_model, m) {
    penstock::provide("designs/access_edge/model", penstock::KindMaker(&penstock::access_edge_kind));
    (void)m;
}
