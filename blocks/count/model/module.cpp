// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python: CounterBank and DropCounters; counts are (packets, bytes).
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <utility>

#include "blocks/count/model/counters.hpp"

namespace penstock {

NB_MODULE(blocks_count_model, m) {
    namespace nb = nanobind;
    using Pair = std::pair<std::uint64_t, std::uint64_t>;

    nb::class_<CounterBank>(m, "CounterBank", "Packet and byte counters of many entries.")
        .def(nb::init<std::size_t, unsigned, unsigned>(), nb::arg("entries"), nb::arg("packet_width") = 48, nb::arg("byte_width") = 56)
        .def("increment", &CounterBank::increment, nb::arg("index"), nb::arg("length"), "Add one packet of `length` bytes.")
        .def(
            "read", [](const CounterBank& bank, std::size_t index) { return Pair(bank.read(index).packets, bank.read(index).bytes); },
            nb::arg("index"), "(packets, bytes) of an entry. Raises IndexError when there is none.");

    nb::class_<DropCounters>(m, "DropCounters", "Packets and bytes lost, by reason (as in drop_e; 0 is not counted).")
        .def(nb::init<unsigned, unsigned>(), nb::arg("packet_width") = 48, nb::arg("byte_width") = 56)
        .def(
            "event",
            [](DropCounters& counters, unsigned reason, std::uint64_t length) { counters.event(static_cast<Drop>(reason), length); },
            nb::arg("reason"), nb::arg("length"), "Count one frame of `length` bytes.")
        .def(
            "read",
            [](const DropCounters& counters, unsigned reason) {
                const Count& count = counters.read(static_cast<Drop>(reason));
                return Pair(count.packets, count.bytes);
            },
            nb::arg("reason"), "(packets, bytes) lost for a reason.");
}

}  // namespace penstock
