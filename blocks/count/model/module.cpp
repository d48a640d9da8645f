// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python: CounterBank, DropCounters and Interrupt; counts are (packets, bytes).
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <utility>

#include "blocks/count/model/counters.hpp"
#include "blocks/count/model/interrupt.hpp"

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

    nb::class_<Interrupt>(m, "Interrupt", "Causes that stand until they are cleared; the last one is that of lost frames.")
        .def(nb::init<unsigned, unsigned>(), nb::arg("events") = 4, nb::arg("lost_width") = 32)
        .def("step", &Interrupt::step, nb::arg("clear"), nb::arg("events"), nb::arg("lost"), "One cycle.")
        .def("set_threshold", &Interrupt::set_threshold, nb::arg("most"), "So many lost frames are a cause; 0: none are.")
        .def("set_mask", &Interrupt::set_mask, nb::arg("mask"), "Causes that raise the level.")
        .def("cause", &Interrupt::cause, "Causes that stand.")
        .def("lost", &Interrupt::lost, "Frames lost since the last cause was cleared.")
        .def("level", &Interrupt::level, "A cause stands that the mask has.");
}

}  // namespace penstock
