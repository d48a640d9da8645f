// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A memory of a job: {bytes, read_latency, write_latency, gap_permille}, or {bytes, dram: {...}} with the numbers of DramSettings
// (penstock.engine.memories makes them).
#pragma once

#include "penstock/engine/memory_model.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock {

// Reads the keys of a memory and leaves all others. Throws nb::value_error, which names the key.
engine::MemorySettings memory_of_job(Table& table);
engine::DramSettings dram_of_job(Table table);

// penstock._engine.dram_trace
void bind_dram(nb::module_& m);

}  // namespace penstock
