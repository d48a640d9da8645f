// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the deadline block's models.
#pragma once

#include <nanobind/nanobind.h>

#include "bind_chunk_lists.hpp"
#include "bind_edfr.hpp"
#include "bind_edfr_encoder.hpp"
#include "bind_edfr_model.hpp"

inline void bind_deadline(nanobind::module_& m) {
    penstock::bind_edfr(m);
    penstock::bind_edfr_encoder(m);
    penstock::bind_edfr_model(m);
    penstock::bind_chunk_lists(m);
}
