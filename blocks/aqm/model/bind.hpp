// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the aqm block's models.
#pragma once

#include <nanobind/nanobind.h>

#include "codel.hpp"
#include "delay_estimate.hpp"
#include "pie.hpp"

inline void bind_aqm(nanobind::module_& m) {
    namespace nb = nanobind;
    using penstock::Codel;
    using penstock::Pie;
    using penstock::PieRandom;
    namespace pie_defaults = penstock::pie_defaults;
    m.def(
        "inverse_sqrt",
        [](uint32_t count) {
            const auto i = penstock::inverse_sqrt(count);
            return nb::make_tuple(i.mantissa, i.shift);
        },
        nb::arg("count"), "(mantissa, shift): 1 / sqrt(count) = mantissa * 2^-(27 + shift), count 1..65535");
    m.def("control_law_step", &penstock::control_law_step, nb::arg("interval"), nb::arg("count"),
          "interval / sqrt(count) rounded to nearest, in ticks");
    m.def("delay_estimate", &penstock::delay_estimate, nb::arg("backlog"), nb::arg("mantissa"), nb::arg("exponent"),
          nb::arg("tick_shift") = 8, nb::arg("time_width") = 26, "Delay in ticks of `backlog` bytes at a shaper's period");
    nb::class_<Codel>(m, "Codel", "CoDel for a number of queues; times in ticks")
        .def(nb::init<uint32_t, uint32_t, bool, int>(), nb::arg("queues"), nb::arg("max_packet_bytes") = 1514, nb::arg("estimate") = false,
             nb::arg("time_width") = 26)
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
    nb::class_<PieRandom>(m, "PieRandom", "The device's random numbers").def(nb::init<>()).def("next", &PieRandom::next);
    nb::dict defaults;
    defaults["update_ticks"] = pie_defaults::kUpdateTicks;
    defaults["alpha"] = pie_defaults::kAlpha;
    defaults["beta"] = pie_defaults::kBeta;
    defaults["mean_packet_bytes"] = pie_defaults::kMeanPacketBytes;
    m.attr("pie_defaults") = defaults;
    nb::class_<Pie>(m, "Pie", "PIE for a number of queues; times in ticks, probabilities in 2^-32")
        .def(nb::init<uint32_t, int64_t, int64_t, int64_t, uint32_t, int>(), nb::arg("queues"),
             nb::arg("update_ticks") = pie_defaults::kUpdateTicks, nb::arg("alpha") = pie_defaults::kAlpha,
             nb::arg("beta") = pie_defaults::kBeta, nb::arg("mean_packet_bytes") = pie_defaults::kMeanPacketBytes,
             nb::arg("time_width") = 26)
        .def(
            "set",
            [](Pie& p, uint32_t queue, bool enable, bool ecn, uint32_t target, uint32_t max_burst) {
                p.set(queue, {enable, ecn, target, max_burst});
            },
            nb::arg("queue"), nb::arg("enable"), nb::arg("ecn"), nb::arg("target"), nb::arg("max_burst"))
        .def(
            "arrive",
            [](Pie& p, uint32_t queue, uint32_t backlog, bool ect, uint32_t random) {
                return static_cast<int>(p.arrive(queue, backlog, ect, random));
            },
            nb::arg("queue"), nb::arg("backlog"), nb::arg("ect"), nb::arg("random"), "Verdict on an arrival: 0 pass, 1 mark, 2 drop")
        .def("depart", &Pie::depart, nb::arg("queue"), nb::arg("delay"), nb::arg("left"))
        .def(
            "update", [](Pie& p, uint32_t queue) { p.update(queue, p.state(queue).delay); }, nb::arg("queue"), "The periodic update")
        .def("probability", [](const Pie& p, uint32_t queue) { return p.state(queue).prob; }, nb::arg("queue"), "In 2^-32");
}
