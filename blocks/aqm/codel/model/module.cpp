// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of CoDel's model.
#include <nanobind/nanobind.h>

#include "codel.hpp"

NB_MODULE(blocks_aqm_codel_model, m) {
    namespace nb = nanobind;
    using penstock::Codel;
    m.def(
        "inverse_sqrt",
        [](uint32_t count) {
            const auto i = penstock::inverse_sqrt(count);
            return nb::make_tuple(i.mantissa, i.shift);
        },
        nb::arg("count"), "(mantissa, shift): 1 / sqrt(count) = mantissa * 2^-(27 + shift), count 1..65535");
    m.def("control_law_step", &penstock::control_law_step, nb::arg("interval"), nb::arg("count"),
          "interval / sqrt(count) rounded to nearest, in ticks");
    nb::class_<Codel>(m, "Codel", "CoDel for a number of queues; times in ticks")
        .def(nb::init<uint32_t, uint32_t, bool, int, uint32_t>(), nb::arg("queues"), nb::arg("max_packet_bytes") = 1514,
             nb::arg("estimate") = false, nb::arg("time_width") = 26, nb::arg("guard_count") = 0)
        .def(
            "set",
            [](Codel& c, uint32_t queue, bool enable, bool ecn, uint32_t target, uint32_t interval) {
                c.set(queue, {enable, ecn, target, interval});
            },
            nb::arg("queue"), nb::arg("enable"), nb::arg("ecn"), nb::arg("target"), nb::arg("interval"))
        .def(
            "step",
            [](Codel& c, uint32_t queue, int64_t now, int64_t time, uint32_t left, bool ect) {
                return static_cast<int>(c.step(queue, now, time, left, ect));
            },
            nb::arg("queue"), nb::arg("now"), nb::arg("time"), nb::arg("left"), nb::arg("ect"),
            "Verdict on the head packet: 0 pass, 1 mark, 2 drop (call again for the next packet, in the same round)")
        .def(
            "state",
            [](const Codel& c, uint32_t queue) {
                const auto& s = c.state(queue);
                return nb::make_tuple(static_cast<int>(s.mode), s.count, s.lastcount, s.drop_next);
            },
            nb::arg("queue"), "(mode, count, lastcount, drop_next)");
}
