// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the timing block's models.
#include <nanobind/nanobind.h>

#include "shaper.hpp"

NB_MODULE(blocks_timing_model, m) {
    namespace nb = nanobind;
    using penstock::Shaper;
    using penstock::ShaperSetting;
    m.def(
        "shaper_increment",
        [](uint32_t mantissa, uint32_t exponent, uint32_t length, int time_width) {
            return Shaper::increment({mantissa, exponent, 0}, length, time_width);
        },
        nb::arg("mantissa"), nb::arg("exponent"), nb::arg("length"), nb::arg("time_width") = penstock::kLeastTimeWidth,
        "Time of a packet of `length` bytes in 2^-16 cycles");
    m.def(
        "shaper_update",
        [](uint32_t mantissa, uint32_t exponent, uint32_t burst, int64_t time, int64_t now, uint32_t length, uint32_t tolerance,
           int time_width) { return Shaper::update({mantissa, exponent, burst}, time, now, length, tolerance, time_width); },
        nb::arg("mantissa"), nb::arg("exponent"), nb::arg("burst"), nb::arg("time"), nb::arg("now"), nb::arg("length"),
        nb::arg("tolerance") = 1024, nb::arg("time_width") = penstock::kLeastTimeWidth,
        "Earliest departure time after a packet, in 2^-16 cycles");
    m.def("time_width_of", &penstock::time_width_of, nb::arg("most"),
          "Bits of a time in cycles of a device with frames of up to `most` bytes");
    m.def("shaper_eligible_cycle", &Shaper::eligible_cycle, nb::arg("time"), "First whole cycle at which the queue may send");
}
