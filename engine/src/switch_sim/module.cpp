// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// SwitchSimulation: a run of the slot simulator. penstock.switch_sim is its Python face and checks what people type.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "simulation.hpp"

namespace nb = nanobind;

namespace penstock {

namespace {

using switch_sim::Simulation;
using TraceArray = nb::ndarray<const std::int64_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object to_numpy(std::vector<T> values, std::size_t columns = 0) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (columns) return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), {kept->size() / columns, columns}, owner));
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), {kept->size()}, owner));
}

std::vector<switch_sim::TracePacket> trace_from_python(const nb::object& given, unsigned ports) {
    std::vector<switch_sim::TracePacket> trace;
    if (given.is_none()) return trace;
    const auto array = nb::cast<TraceArray>(given);
    trace.reserve(array.shape(0));
    for (std::size_t row = 0; row < array.shape(0); ++row) {
        const std::int64_t slot = array(row, 0), source = array(row, 1), destination = array(row, 2);
        const bool in_order = trace.empty() || slot >= static_cast<std::int64_t>(trace.back().slot);
        if (slot < 0 || !in_order || source < 0 || source >= ports || destination < 0 || destination >= ports)
            throw nb::value_error("trace: slots must ascend, sources and destinations must be ports");
        trace.push_back({static_cast<std::uint64_t>(slot), static_cast<std::uint8_t>(source), static_cast<std::uint8_t>(destination)});
    }
    return trace;
}

std::unique_ptr<Simulation> make(const std::string& algorithm, unsigned iterations, unsigned ports, std::uint32_t depth,
                                 const std::string& traffic, double rate, double burst, double hot, std::uint64_t seed, nb::object trace,
                                 bool keep) {
    if (ports < 2 || ports > switch_sim::kMaxPorts || !std::has_single_bit(ports)) throw nb::value_error("ports: 2, 4, 8, 16, 32 or 64");
    if (iterations < 1) throw nb::value_error("iterations: at least 1");
    if (!(rate >= 0 && rate <= 1)) throw nb::value_error("rate: 0 to 1");
    if (!(burst >= 1)) throw nb::value_error("burst: at least 1");
    if (!(hot >= 0 && hot <= 1)) throw nb::value_error("hot: 0 to 1");
    try {
        return switch_sim::make_simulation({algorithm, iterations, ports, depth ? depth : switch_sim::kUnlimited, traffic, rate, burst, hot,
                                            seed, trace_from_python(trace, ports), keep});
    } catch (const std::invalid_argument& error) {
        throw nb::value_error(error.what());
    }
}

nb::dict result(const Simulation& simulation) {
    std::vector<std::uint64_t> values, packets;
    simulation.latencies().list(values, packets);
    std::uint64_t sent = 0;
    for (const std::uint64_t count : packets) sent += count;
    nb::dict dict;
    dict["slots"] = simulation.slots();
    dict["arrived"] = simulation.arrived();
    dict["sent"] = sent;
    dict["dropped"] = simulation.drops();
    dict["queued"] = simulation.waiting();
    dict["latency_sum"] = simulation.latencies().sum();
    dict["latency_values"] = to_numpy(std::move(values));
    dict["latency_packets"] = to_numpy(std::move(packets));
    dict["cpu_seconds"] = simulation.cpu_seconds();
    return dict;
}

nb::object fates(const Simulation& simulation) {
    std::vector<std::uint64_t> rows;
    rows.reserve(5 * simulation.fates().size());
    for (const switch_sim::Fate& fate : simulation.fates())
        rows.insert(rows.end(), {fate.slot, fate.arrival, fate.source, fate.destination, std::uint64_t{fate.dropped}});
    return to_numpy(std::move(rows), 5);
}

}  // namespace

NB_MODULE(engine_src_switch_sim, m) {
    nb::class_<Simulation>(m, "SwitchSimulation", "A P x P switch under traffic, slot by slot; docs/switch-sim.md has the conventions.")
        .def(nb::new_(&make), nb::kw_only(), nb::arg("algorithm"), nb::arg("iterations"), nb::arg("ports"), nb::arg("depth"),
             nb::arg("traffic"), nb::arg("rate"), nb::arg("burst"), nb::arg("hot"), nb::arg("seed"), nb::arg("trace").none() = nb::none(),
             nb::arg("keep") = false,
             "depth 0: FIFOs without limit. trace: int64[packets, 3] with slot, source, destination in order of slots. keep: fates() has "
             "every packet. Raises ValueError.")
        .def("advance", &Simulation::advance, nb::arg("slots"), nb::call_guard<nb::gil_scoped_release>(), "Go on for so many slots.")
        .def("result", &result, "slots; packets arrived, sent, dropped, queued; latencies in slots; CPU seconds of advance().")
        .def("fates", &fates, "uint64[packets, 5]: slot, slot of arrival, source, destination, 1 if dropped; in order of slots.");
}

}  // namespace penstock
