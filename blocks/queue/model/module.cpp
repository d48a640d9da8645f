// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the queue block's model.
#include <nanobind/nanobind.h>

#include "queue_manager.hpp"

NB_MODULE(blocks_queue_model, m) {
    namespace nb = nanobind;
    using penstock::QueueManager;
    nb::class_<QueueManager>(m, "QueueManager", "FIFO queues of descriptors with limits in packets and bytes")
        .def(nb::init<uint32_t>(), nb::arg("queues"))
        .def(
            "enqueue",
            [](QueueManager& self, uint32_t queue, uint32_t descriptor, uint32_t length) {
                const auto r = self.enqueue(queue, descriptor, length);
                return nb::make_tuple(static_cast<int>(r.reason), r.activated);
            },
            nb::arg("queue"), nb::arg("descriptor"), nb::arg("length"), "Returns (drop reason, queue was empty)")
        .def(
            "dequeue",
            [](QueueManager& self, uint32_t queue) {
                const auto r = self.dequeue(queue);
                return nb::make_tuple(r.packet.descriptor, r.packet.length, r.backlogged);
            },
            nb::arg("queue"), "Returns (descriptor, length in bytes, packets are left)")
        .def("set_limits", &QueueManager::set_limits, nb::arg("queue"), nb::arg("packets"), nb::arg("bytes"))
        .def("packets", &QueueManager::packets, nb::arg("queue"))
        .def("bytes", &QueueManager::bytes, nb::arg("queue"));
}
