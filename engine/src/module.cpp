// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The Python module penstock._engine.
#include <nanobind/nanobind.h>

#include "models.hpp"

namespace nb = nanobind;

NB_MODULE(_engine, m) {
  m.doc() = "Penstock's engine: drives a device cycle by cycle and measures it; models of the blocks.";
  penstock::bind_models(m);
}
