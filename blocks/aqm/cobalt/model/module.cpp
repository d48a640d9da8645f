// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of COBALT's model.
#include <nanobind/nanobind.h>

#include "cobalt.hpp"

NB_MODULE(blocks_aqm_cobalt_model, m) {
    namespace nb = nanobind;
    using penstock::Cobalt;
    nb::class_<Cobalt>(m, "Cobalt", "COBALT for a number of queues; times in ticks")
        .def(nb::init<uint32_t, uint32_t, int>(), nb::arg("queues"), nb::arg("max_packet_bytes") = 1514, nb::arg("time_width") = 26)
        .def(
            "set",
            [](Cobalt& c, uint32_t queue, bool enable, bool ecn, uint32_t target, uint32_t interval, uint32_t full_log2) {
                c.set(queue, {enable, ecn, target, interval, full_log2});
            },
            nb::arg("queue"), nb::arg("enable"), nb::arg("ecn"), nb::arg("target"), nb::arg("interval"), nb::arg("full_log2"))
        .def(
            "step",
            [](Cobalt& c, uint32_t queue, int64_t now, int64_t sojourn, uint32_t left, bool ect, uint32_t drawn) {
                return static_cast<int>(c.step(queue, now, sojourn, left, ect, drawn));
            },
            nb::arg("queue"), nb::arg("now"), nb::arg("sojourn"), nb::arg("left"), nb::arg("ect"), nb::arg("drawn"),
            "Verdict on the head packet: 0 pass, 1 mark, 2 drop")
        .def(
            "state",
            [](const Cobalt& c, uint32_t queue) {
                const auto& s = c.state(queue);
                return nb::make_tuple(s.dropping, s.count, s.drop_next, s.p_drop);
            },
            nb::arg("queue"), "(dropping, count, drop_next, p_drop in 2^-12)");
}
