// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python: Fq(queues=, flows=, ...), a cycle at a time, and its operations one by one for the judge; place() of a key.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "blocks/fq/model/fq.hpp"
#include "blocks/fq/model/fq_lanes.hpp"

namespace penstock {

namespace {

namespace nb = nanobind;
using Quad = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
using Pair = std::tuple<std::uint32_t, std::uint32_t>;
using Five = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

}  // namespace

NB_MODULE(blocks_fq_model, m) {
    nb::class_<FqLanes>(m, "Fq", "Model of pst_fq, cycle by cycle; with one lane of pst_fq_lane behind two FIFOs.")
        .def(
            "__init__",
            [](FqLanes* self, std::uint32_t queues, std::uint32_t flows, std::uint32_t descriptors, std::uint32_t lanes,
               std::uint32_t age_cycles, std::uint32_t host_bits, bool keep) {
                new (self) FqLanes(lanes, {queues, flows, descriptors, age_cycles, host_bits});
                for (std::uint32_t l = 0; l < lanes; l++) self->lane(l).keep = keep;
                while (!self->init_done()) self->cycle({});
            },
            nb::arg("queues"), nb::arg("flows"), nb::arg("descriptors"), nb::arg("lanes") = 1, nb::arg("age_cycles") = 64,
            nb::arg("host_bits") = 0, nb::arg("keep") = true, "keep: operations are kept until done() is called.")
        .def(
            "set",
            [](FqLanes& self, std::uint32_t queue, std::uint32_t quantum, std::uint32_t packets, std::uint32_t bytes, std::uint32_t sides) {
                FqLanes::Input in;
                in.setting = Fq::Setting{queue, {quantum, packets, bytes, sides}};
                self.cycle(in);
            },
            nb::arg("queue"), nb::arg("quantum") = 1514, nb::arg("packets") = 0xFFFF, nb::arg("bytes") = 0xFF'FFFF, nb::arg("sides") = 0,
            "Settings of a queue: quantum in bytes, limits, sides whose hosts share first. Takes a cycle.")
        .def(
            "cycle",
            [](FqLanes& self, std::optional<Quad> enqueue, std::optional<std::uint32_t> look, bool take, std::optional<bool> verdict,
               bool active_ready, bool drop_ready, std::uint32_t pool, Pair hosts) {
                FqLanes::Input in;
                if (enqueue) {
                    const auto [queue, bucket, desc, len] = *enqueue;
                    in.enqueue = Fq::Enqueue{queue, bucket, {desc, len}, {std::get<0>(hosts), std::get<1>(hosts)}};
                }
                in.look = look;
                in.take = take;
                in.verdict = verdict;
                in.active_ready = active_ready;
                in.drop_ready = drop_ready;
                in.pool = pool;
                self.cycle(in);
            },
            nb::arg("enqueue") = nb::none(), nb::arg("look") = nb::none(), nb::arg("take") = false, nb::arg("verdict") = nb::none(),
            nb::arg("active_ready") = true, nb::arg("drop_ready") = true, nb::arg("pool") = 0xFFFF'FFFF, nb::arg("hosts") = Pair{0, 0},
            "One cycle. enqueue: (queue, bucket, descriptor, length); look: a queue; take: of the look two cycles ago; verdict: dropped or "
            "not; hosts: of the packet that comes, its source's and its destination's.")
        .def("enqueue_ready", &FqLanes::enqueue_ready, nb::arg("queue"))
        .def_prop_ro("look_ready", &FqLanes::look_ready)
        .def_prop_ro("active",
                     [](const FqLanes& self) -> std::optional<Pair> {
                         const auto active = self.active();
                         return active ? std::optional(Pair{active->queue, active->len}) : std::nullopt;
                     })
        .def_prop_ro("dropped",
                     [](const FqLanes& self) -> std::optional<std::uint32_t> {
                         const auto dropped = self.dropped();
                         return dropped ? std::optional(dropped->packet.desc) : std::nullopt;
                     })
        .def_prop_ro("left",
                     [](const FqLanes& self) -> std::optional<Five> {
                         const auto left = self.left();
                         if (!left) return std::nullopt;
                         return Five{left->queue, left->flow, left->packet.desc, left->packet.len, left->left};
                     })
        .def_prop_ro("now", [](const FqLanes& self) { return self.lane(0).now(); })
        .def_prop_ro("operations",
                     [](const FqLanes& self) {
                         std::uint64_t sum = 0;
                         for (std::uint32_t l = 0; l < self.lanes(); l++) sum += self.lane(l).operations();
                         return sum;
                     })
        .def_prop_ro("total",
                     [](const FqLanes& self) {
                         std::uint64_t sum = 0;
                         for (std::uint32_t l = 0; l < self.lanes(); l++) sum += self.lane(l).total();
                         return sum;
                     })
        .def_prop_ro(
            "claimed",
            [](const FqLanes& self) {
                std::uint32_t sum = 0;
                for (std::uint32_t l = 0; l < self.lanes(); l++) sum += self.lane(l).claimed();
                return sum;
            },
            "Flow queues of the tables that are in use.")
        .def(
            "own",
            [](const FqLanes& self, std::uint32_t queue) {
                const std::uint32_t l = self.lane_of(queue);
                return self.flow_of(self.lane(l).map.own(self.in_lane(queue)), l);
            },
            nb::arg("queue"), "The flow queue that is the queue's own.")
        .def(
            "done",
            [](FqLanes& self) {
                nb::list found;
                for (std::uint32_t l = 0; l < self.lanes(); l++) {
                    for (const Fq::Done& d : self.lane(l).done()) {
                        found.append(nb::make_tuple(d.cycle, static_cast<std::uint32_t>(d.did), self.queue_of(d.queue, l), d.bucket,
                                                    self.flow_of(d.flow, l), d.packet.desc, d.packet.len));
                    }
                }
                return found;
            },
            "Operations since the last call: (cycle, what was done, queue, bucket, flow queue, descriptor, length).");
}

}  // namespace penstock
