// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python: penstock._engine.models.PagePools(pages=[...], page_bytes=[...])
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "blocks/memory/model/page_pools.hpp"

namespace penstock {

inline void bind_memory(nanobind::module_& m) {
    namespace nb = nanobind;
    nb::class_<PagePools>(m, "PagePools", "Which page a frame gets: the model of pst_page_pools. Pages and page sizes per memory.")
        .def(nb::init<const std::vector<std::uint32_t>&, std::vector<std::uint32_t>>(), nb::arg("pages"), nb::arg("page_bytes"))
        .def("allocate", &PagePools::allocate, nb::arg("len"), "Descriptor for a frame of `len` bytes, or None.")
        .def("free", &PagePools::free, nb::arg("desc"), "Give a descriptor back; ValueError when it is not held.")
        .def("free_pages", &PagePools::free_pages, nb::arg("memory"), "Free pages of one memory.")
        .def("memory_of", &PagePools::memory_of, nb::arg("desc"), "Memory that holds a descriptor.")
        .def_prop_ro("descriptors", &PagePools::descriptors, "Pages of all memories.");
}

}  // namespace penstock
