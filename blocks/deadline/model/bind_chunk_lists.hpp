// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the model of the chunk lists.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "chunk_lists.hpp"

namespace penstock {

inline void bind_chunk_lists(nanobind::module_& m) {
    namespace nb = nanobind;
    using Lists = ChunkLists;
    nb::class_<Lists::Inputs>(m, "ChunkListsInputs", "What pst_chunk_lists is given in a cycle; None: nothing is offered")
        .def(
            "__init__",
            [](Lists::Inputs* self, bool number_ready, std::optional<std::tuple<uint32_t, uint32_t, bool>> push,
               std::optional<uint32_t> pop, std::optional<uint32_t> free,
               std::optional<std::tuple<uint32_t, bool, uint32_t, uint32_t, uint32_t>> splice) {
                new (self) Lists::Inputs{number_ready, {}, pop, free, {}};
                if (push) self->push = {std::get<0>(*push), {std::get<1>(*push), std::get<2>(*push)}};
                if (splice) {
                    const auto [id, all, number, previous, count] = *splice;
                    self->splice = {id, all, number, previous, count};
                }
            },
            nb::arg("number_ready"), nb::arg("push").none(), nb::arg("pop").none(), nb::arg("free").none(), nb::arg("splice").none(),
            "push: (class, number, bad); pop: class; free: number; splice: (class, all, number, previous, count)");
    nb::class_<Lists::Outputs>(m, "ChunkListsOutputs")
        .def_ro("number", &Lists::Outputs::number)
        .def_prop_ro(
            "popped",
            [](const Lists::Outputs& o) { return o.popped ? std::optional(std::pair(o.popped->number, o.popped->bad)) : std::nullopt; })
        .def_ro("push_ready", &Lists::Outputs::push_ready)
        .def_ro("pop_ready", &Lists::Outputs::pop_ready)
        .def_ro("free_ready", &Lists::Outputs::free_ready)
        .def_ro("splice_ready", &Lists::Outputs::splice_ready)
        .def_ro("free_count", &Lists::Outputs::free_count);
    nb::class_<Lists>(m, "ChunkLists", "pst_chunk_lists, cycle by cycle: outputs, then clock")
        .def(nb::init<uint32_t, uint32_t, uint32_t>(), nb::arg("classes"), nb::arg("chunks"), nb::arg("read_latency") = 2)
        .def("reset", &Lists::reset)
        .def("empty", &Lists::empty, nb::arg("id"))
        .def("outputs", &Lists::outputs, nb::arg("inputs"))
        .def("clock", &Lists::clock, nb::arg("inputs"));
}

}  // namespace penstock
