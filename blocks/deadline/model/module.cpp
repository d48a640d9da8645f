// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the deadline block's models.
#include <nanobind/nanobind.h>

#include "bind_chunk_lists.hpp"
#include "bind_edfr.hpp"
#include "bind_edfr_encoder.hpp"
#include "bind_edfr_model.hpp"
#include "bind_edfr_wide.hpp"

NB_MODULE(blocks_deadline_model, m) {
    penstock::bind_edfr(m);
    penstock::bind_edfr_encoder(m);
    penstock::bind_edfr_model(m);
    penstock::bind_edfr_wide(m);
    penstock::bind_chunk_lists(m);
}
