// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The delay line for Python. A dictionary says what it is:
//   ports, ingress_bps, overhead_bytes, senders, receivers (file descriptors; -1: none), most_frames, seed
//   connections  [{ends: 37 bytes, input, flow, front: bytes, there_ns, back_ns}]
//   plan         {at_ns, input, flow, front, front_bytes, length, sum_from, sum_at, random}: arrays, ascending at_ns; fronts: bytes
#include "designs/p4_switch/bench/bind_delay_line.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "designs/p4_switch/bench/delay_line.hpp"
#include "penstock/engine/python_table.hpp"

namespace nb = nanobind;

namespace penstock::p4 {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;
constexpr std::uint32_t kMostFlows = 1 << 20;

std::vector<std::uint8_t> bytes_of(Table& table, const char* key) {
    const auto given = nb::cast<nb::bytes>(table.get(key));
    const auto* data = static_cast<const std::uint8_t*>(given.data());
    return {data, data + given.size()};
}

template <typename T>
nb::object array_of(const std::vector<T>& values) {
    auto kept = std::make_unique<std::vector<T>>(values);
    const std::size_t size = kept->size();
    T* data = kept->data();
    nb::capsule owner(kept.release(), [](void* given) noexcept { delete static_cast<std::vector<T>*>(given); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

std::vector<Planned> plan_of(Table plan, std::size_t ports, std::size_t fronts) {
    std::vector<nb::object> keep;
    const auto at = plan.array<std::int64_t>("at_ns", "int64", keep);
    const auto input = plan.array<std::uint32_t>("input", "uint32", keep);
    const auto flow = plan.array<std::uint32_t>("flow", "uint32", keep);
    const auto front = plan.array<std::uint64_t>("front", "uint64", keep);
    const auto front_bytes = plan.array<std::uint32_t>("front_bytes", "uint32", keep);
    const auto length = plan.array<std::uint32_t>("length", "uint32", keep);
    const auto sum_from = plan.array<std::uint32_t>("sum_from", "uint32", keep);
    const auto sum_at = plan.array<std::uint32_t>("sum_at", "uint32", keep);
    const auto random = plan.array<std::uint8_t>("random", "uint8", keep);
    for (const std::size_t size :
         {input.size(), flow.size(), front.size(), front_bytes.size(), length.size(), sum_from.size(), sum_at.size(), random.size()})
        if (size != at.size()) bad_job("plan: its arrays differ in length");
    std::vector<Planned> found;
    found.reserve(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
        if (input[i] >= ports || length[i] < 14 || length[i] > 65'535 || front_bytes[i] > length[i] || front[i] > fronts ||
            front_bytes[i] > fronts - front[i] || (sum_at[i] != 0 && (sum_at[i] + 2 > length[i] || sum_from[i] > length[i])))
            bad_job("plan: frame " + std::to_string(i) + " is not possible");
        found.push_back({at[i], input[i], flow[i], front[i], front_bytes[i], length[i], static_cast<std::uint16_t>(sum_from[i]),
                         static_cast<std::uint16_t>(sum_at[i]), random[i] != 0});
    }
    return found;
}

std::unique_ptr<DelayLine> made(const nb::dict& given) {
    Table table(given, "line.");
    LineSettings settings;
    settings.ports = nb::cast<std::vector<int>>(table.get("ports"));
    settings.ingress_bps = nb::cast<std::vector<std::int64_t>>(table.get("ingress_bps"));
    settings.overhead_bytes = table.integer("overhead_bytes", 0, 1000);
    settings.senders = static_cast<int>(table.integer("senders", -1, 1 << 20));
    settings.receivers = static_cast<int>(table.integer("receivers", -1, 1 << 20));
    settings.most_frames = static_cast<std::size_t>(table.integer("most_frames", 1, 1 << 26));
    if (settings.ingress_bps.size() != settings.ports.size()) bad_job("line.ingress_bps: one for each port");
    for (const std::int64_t bps : settings.ingress_bps)
        if (bps <= 0) bad_job("line.ingress_bps: above 0");
    std::vector<Connection> connections;
    for (Table& one : table.tables("connections")) {
        Connection connection{};
        const auto ends = bytes_of(one, "ends");
        if (ends.size() != connection.ends.size()) bad_job(one.name("ends") + " is not what it should be");
        std::copy(ends.begin(), ends.end(), connection.ends.begin());
        connection.input = static_cast<std::uint32_t>(one.integer("input", 0, static_cast<std::int64_t>(settings.ports.size()) - 1));
        connection.flow = static_cast<std::uint32_t>(one.integer("flow", 0, kMostFlows));
        connection.front = bytes_of(one, "front");
        connection.there_ns = one.integer("there_ns", 0, kMost);
        connection.back_ns = one.integer("back_ns", 0, kMost);
        connections.push_back(std::move(connection));
    }
    std::vector<std::uint8_t> fronts = bytes_of(table, "fronts");
    std::vector<Planned> plan = plan_of(table.table("plan"), settings.ports.size(), fronts.size());
    const auto seed = static_cast<std::uint64_t>(table.integer("seed", 0, kMost));
    return std::make_unique<DelayLine>(std::move(settings), std::move(connections), std::move(plan), std::move(fronts), seed);
}

nb::dict result(const DelayLine& line) {
    nb::dict found;
    const auto& frames = line.frames();
    found["begin_ns"] = line.begin_ns();
    found["in_ns"] = array_of(frames.in_ns);
    found["out_ns"] = array_of(frames.out_ns);
    found["flow"] = array_of(frames.flow);
    found["length"] = array_of(frames.length);
    found["out_length"] = array_of(frames.out_length);
    found["input"] = array_of(frames.input);
    found["output"] = array_of(frames.output);
    const auto& copies = line.copies();
    found["copy_in_ns"] = array_of(copies.in_ns);
    found["copy_out_ns"] = array_of(copies.out_ns);
    found["copy_flow"] = array_of(copies.flow);
    found["copy_length"] = array_of(copies.length);
    found["copy_output"] = array_of(copies.output);
    found["late_ns"] = array_of(line.late_ns());
    const auto& counts = line.counts();
    found["unknown"] = counts.unknown;
    found["same"] = counts.same;
    found["others"] = counts.others;
    found["send_failures"] = counts.send_failures;
    found["host_failures"] = counts.host_failures;
    found["acknowledged"] = counts.acknowledged;
    found["too_many"] = counts.too_many;
    return found;
}

}  // namespace

void bind_delay_line(nb::module_& module) {
    nb::class_<DelayLine>(module, "DelayLine")
        .def(nb::new_(&made))
        .def("run", &DelayLine::run, nb::arg("begin_ns"), nb::arg("end_ns"), nb::arg("drain_ns"), nb::arg("quiet_ns"),
             nb::call_guard<nb::gil_scoped_release>())
        .def("stop", &DelayLine::stop)
        .def("result", &result);
}

}  // namespace penstock::p4
