// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the hierarchy's model.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "hierarchy.hpp"

NB_MODULE(blocks_hierarchy_model, m) {
    namespace nb = nanobind;
    using penstock::Hierarchy;
    using penstock::Level;
    nb::enum_<Level>(m, "Level").value("SUBSCRIBER", Level::Subscriber).value("NODE", Level::Node).value("PORT", Level::Port);
    nb::class_<Hierarchy>(m, "Hierarchy", "Subscribers, nodes and ports as gates in a row; times in cycles")
        .def(
            "__init__",
            [](Hierarchy* h, uint32_t queues_per_subscriber, uint32_t subscribers, uint32_t nodes, uint32_t ports, uint32_t classes) {
                new (h) Hierarchy({queues_per_subscriber, subscribers, nodes, ports, classes});
            },
            nb::arg("queues_per_subscriber"), nb::arg("subscribers"), nb::arg("nodes"), nb::arg("ports"), nb::arg("classes"))
        .def(
            "set_shaper",
            [](Hierarchy& h, Level level, uint32_t id, uint32_t mantissa, uint32_t exponent, uint32_t burst, int64_t now) {
                h.set_shaper(level, id, {mantissa, exponent, burst}, now);
            },
            nb::arg("level"), nb::arg("id"), nb::arg("mantissa"), nb::arg("exponent"), nb::arg("burst") = 0, nb::arg("now") = 0)
        .def("set_node", &Hierarchy::set_node, nb::arg("subscriber"), nb::arg("node"))
        .def("set_port", &Hierarchy::set_port, nb::arg("node"), nb::arg("port"))
        .def("set_weight", &Hierarchy::set_weight, nb::arg("subscriber"), nb::arg("weight"))
        .def("set_queue", &Hierarchy::set_queue, nb::arg("queue"), nb::arg("cls"), nb::arg("weight") = 1)
        .def(
            "arrive",
            [](Hierarchy& h, int64_t now, uint32_t queue, uint32_t length, bool empties) {
                std::vector<uint32_t> left;
                h.arrive(now, queue, length, empties, left);
                return left;
            },
            nb::arg("now"), nb::arg("queue"), nb::arg("length"), nb::arg("empties") = false, "Queues that pass all gates at once")
        .def("next_time", &Hierarchy::next_time, "When a gate next lets a queue go; None: never")
        .def(
            "advance",
            [](Hierarchy& h, int64_t now) {
                std::vector<uint32_t> left;
                h.advance(now, left);
                return left;
            },
            nb::arg("now"), "Queues that have passed all gates until now")
        .def("waiting", &Hierarchy::waiting, nb::arg("level"), nb::arg("id"), "Queues that wait at a gate");
}
