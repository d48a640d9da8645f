// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of PIE's model.
#include <nanobind/nanobind.h>

#include "pie.hpp"

NB_MODULE(blocks_aqm_pie_model, m) {
    namespace nb = nanobind;
    using penstock::Pie;
    using penstock::PieRandom;
    namespace pie_defaults = penstock::pie_defaults;
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
            "update", [](Pie& p, uint32_t queue) { p.update(queue); }, nb::arg("queue"), "The periodic update")
        .def("probability", [](const Pie& p, uint32_t queue) { return p.state(queue).prob; }, nb::arg("queue"), "In 2^-32");
}
