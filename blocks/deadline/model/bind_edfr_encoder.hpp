// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the encoder's model.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <utility>

#include "edfr_encoder.hpp"

namespace penstock {

inline void bind_edfr_encoder(nanobind::module_& m) {
    namespace nb = nanobind;
    nb::class_<EdfrEncoder::Decision>(m, "EdfrDecision", "What EdfrEncoder takes in a cycle")
        .def_prop_ro(
            "id", [](const EdfrEncoder::Decision& d) { return d.head.id; }, "class")
        .def_prop_ro("deadline", [](const EdfrEncoder::Decision& d) { return d.head.deadline; })
        .def_ro("drop", &EdfrEncoder::Decision::drop)
        .def_ro("from_pending", &EdfrEncoder::Decision::from_pending);
    nb::class_<EdfrEncoder>(m, "EdfrEncoder", "pst_deadline_encoder, cycle by cycle: decide, then clock")
        .def(nb::init<uint32_t>(), nb::arg("patience") = 4)
        .def("reset", &EdfrEncoder::reset)
        .def("decide", &EdfrEncoder::decide, nb::arg("now"), nb::arg("ready"), nb::arg("bound") = nb::none())
        .def(
            "clock",
            [](EdfrEncoder& e, const std::optional<EdfrEncoder::Decision>& taken, std::optional<uint32_t> next,
               std::optional<std::pair<uint32_t, uint32_t>> head) {
                std::optional<EdfrEncoder::Head> offered;
                if (head) offered = EdfrEncoder::Head{head->first, head->second};
                return e.clock(taken, next, offered);
            },
            nb::arg("taken").none(), nb::arg("next").none(), nb::arg("head").none(),
            "Next cycle: `next` is the deadline of the frame behind the one taken, `head` a (class, deadline) that is offered; whether it "
            "was "
            "accepted")
        .def("__len__", &EdfrEncoder::size);
}

}  // namespace penstock
