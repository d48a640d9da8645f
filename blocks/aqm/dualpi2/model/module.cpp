// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of DualPI2's model.
#include <nanobind/nanobind.h>

#include "dualpi2.hpp"

NB_MODULE(blocks_aqm_dualpi2_model, m) {
    namespace nb = nanobind;
    using penstock::DualPi2;
    namespace defaults = penstock::dualpi2_defaults;
    nb::dict given;
    given["update_ticks"] = defaults::kUpdateTicks;
    given["alpha"] = defaults::kAlpha;
    given["beta"] = defaults::kBeta;
    given["coupling"] = defaults::kCoupling;
    given["ramp_log2"] = defaults::kRampLog2;
    m.attr("dualpi2_defaults") = given;
    nb::class_<DualPi2>(m, "DualPi2", "DualPI2 for pairs of queues; times in ticks, probabilities in 2^-32")
        .def(nb::init<uint32_t, int64_t, int64_t, uint32_t, uint32_t, int>(), nb::arg("queues"), nb::arg("alpha") = defaults::kAlpha,
             nb::arg("beta") = defaults::kBeta, nb::arg("coupling") = defaults::kCoupling, nb::arg("ramp_log2") = defaults::kRampLog2,
             nb::arg("time_width") = 26)
        .def(
            "set",
            [](DualPi2& pairs, uint32_t queue, bool enable, bool ecn, uint32_t target, uint32_t threshold) {
                pairs.judge_by(queue, {enable, ecn, target, threshold});
                pairs.set(queue, {enable, ecn, target, threshold});
            },
            nb::arg("queue"), nb::arg("enable"), nb::arg("ecn"), nb::arg("target"), nb::arg("threshold"))
        .def(
            "depart",
            [](DualPi2& pairs, uint32_t queue, int64_t delay, uint32_t left, bool ect) {
                pairs.depart(queue, delay, left);
                return static_cast<int>(pairs.judge(queue, delay, left, ect));
            },
            nb::arg("queue"), nb::arg("delay"), nb::arg("left"), nb::arg("ect"), "Verdict on a departure: 0 pass, 1 mark, 2 drop")
        .def("update", &DualPi2::update, nb::arg("pair"), "The periodic update")
        .def(
            "probabilities",
            [](const DualPi2& pairs, uint32_t index) {
                const DualPi2::Pair& pair = pairs.pair(index);
                return nb::make_tuple(pair.prob, pair.coupled, pair.squared);
            },
            nb::arg("pair"), "Base, coupled and squared, in 2^-32");
}
