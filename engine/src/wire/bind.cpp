// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "bind.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "penstock/engine/python_columns.hpp"

namespace nb = nanobind;
using namespace penstock::engine;

namespace penstock {

namespace {

constexpr std::int64_t kMostNs = 3'600'000'000'000;  // of a delay
constexpr std::int64_t kMostBytes = 1 << 30;         // of a buffer
constexpr std::int64_t kMostEnds = 64;

std::span<const std::uint8_t> bytes_of(const nb::bytes& given) { return {static_cast<const std::uint8_t*>(given.data()), given.size()}; }

// {version, address: 4 or 16 bytes, bits}
wire::Network network(Table table) {
    wire::Network found{.version = static_cast<unsigned>(table.integer("version", 4, 6)), .address = {}, .bits = 0};
    found.address.size = found.version == 4 ? 4 : 16;
    found.bits = static_cast<std::size_t>(table.integer("bits", 0, static_cast<std::int64_t>(8 * found.address.size)));
    const auto given = nb::cast<nb::bytes>(table.get("address"));
    if (found.version == 5 || given.size() != found.address.size) bad_job(table.name("address") + " is not an address of its version");
    std::copy_n(bytes_of(given).begin(), found.address.size, found.address.bytes.begin());
    table.done();
    return found;
}

std::optional<wire::Mac> mac(Table& table, const char* key) {
    if (!table.has(key)) return std::nullopt;
    const auto given = nb::cast<nb::bytes>(table.get(key));
    wire::Mac found;
    if (given.size() != found.size()) bad_job(table.name(key) + " is not a MAC address");
    std::copy_n(bytes_of(given).begin(), found.size(), found.begin());
    return found;
}

std::optional<wire::PortRange> ports(Table& table, const char* key) {
    if (!table.has(key)) return std::nullopt;
    const nb::sequence pair = table.list(key);
    if (nb::len(pair) != 2) bad_job(table.name(key) + " is not (first, last)");
    return wire::PortRange{nb::cast<std::uint16_t>(pair[0]), nb::cast<std::uint16_t>(pair[1])};
}

wire::Rule rule(Table& table) {
    wire::Rule found;
    if (table.has("protocol")) found.protocol = static_cast<std::uint8_t>(table.integer("protocol", 0, 255));
    if (table.has("source")) found.source = network(table.table("source"));
    if (table.has("destination")) found.destination = network(table.table("destination"));
    found.source_port = ports(table, "source_port");
    found.destination_port = ports(table, "destination_port");
    if (table.has("dscp")) found.dscp = static_cast<std::uint8_t>(table.integer("dscp", 0, 63));
    if (table.has("vlans"))
        for (nb::handle one : table.list("vlans")) found.vlans.push_back(nb::cast<std::uint16_t>(one));
    if (found.vlans.size() > 2) bad_job(table.name("vlans") + " are more than two");
    found.source_mac = mac(table, "source_mac");
    found.destination_mac = mac(table, "destination_mac");
    if (table.has("mpls")) found.mpls = static_cast<std::uint32_t>(table.integer("mpls", 0, (1 << 20) - 1));
    if (table.has("pppoe")) found.pppoe = static_cast<std::uint16_t>(table.integer("pppoe", 0, 65'535));
    table.done();
    return found;
}

std::vector<wire::Rule> rules_of(Table& table) {
    std::vector<wire::Rule> found;
    for (Table& one : table.tables("rules")) found.push_back(rule(one));
    return found;
}

unsigned end_of(Table& table, const char* key, std::size_t ends) {
    return static_cast<unsigned>(table.integer(key, 0, static_cast<std::int64_t>(ends) - 1));
}

nb::dict amount(const Amount& given) {
    nb::dict dict;
    dict["packets"] = given.packets;
    dict["bytes"] = given.bytes;
    return dict;
}

nb::list ends_of(const wire::Traffic& traffic) {
    nb::list list;
    for (const wire::EndCounts& end : traffic.ends()) {
        nb::dict dict;
        dict["read"] = amount(end.read);
        dict["written"] = amount(end.written);
        dict["unmatched"] = amount(end.unmatched);
        dict["overrun"] = amount(end.overrun);
        dict["failed"] = amount(end.failed);
        dict["pending"] = amount(end.pending);
        list.append(dict);
    }
    return list;
}

nb::dict queue_of(const wire::QueueCounts& queue) {
    nb::dict dict;
    dict["in"] = amount(queue.in);
    dict["out"] = amount(queue.out);
    dict["dropped"] = amount(queue.dropped);
    dict["marked"] = queue.marked;
    dict["last_sojourn"] = queue.last_sojourn;
    return dict;
}

}  // namespace

wire::Settings wire_settings(Table table, double clock_hz, unsigned outputs) {
    wire::Settings settings;
    settings.clock_hz = clock_hz;
    for (nb::handle item : table.list("files")) settings.files.push_back(nb::cast<int>(item));
    const auto ends = static_cast<std::int64_t>(settings.files.size());
    if (ends < 1 || ends > kMostEnds) bad_job(table.name("files") + ": 1 to " + std::to_string(kMostEnds) + " ends");
    for (nb::handle item : table.list("end_of_output")) settings.end_of_output.push_back(nb::cast<int>(item));
    if (settings.end_of_output.size() != outputs) bad_job(table.name("end_of_output") + " does not have an element for each output");
    for (const int end : settings.end_of_output)
        if (end < wire::kNone || end >= ends) bad_job(table.name("end_of_output") + ": there is no such end");
    for (Table& one : table.tables("lines")) {
        wire::Line line;
        line.from = end_of(one, "from", settings.files.size());
        line.to = end_of(one, "to", settings.files.size());
        line.bps = one.number("bps", 0, 1e15);
        line.delay_ns = one.integer("delay_ns", 0, kMostNs);
        line.buffer_bytes = one.integer("buffer_bytes", 0, kMostBytes);
        one.done();
        settings.lines.push_back(line);
    }
    settings.slack_ns = table.integer("slack_ns", 1, kMostNs);
    settings.begin_ns = table.integer("begin_ns", 0, std::numeric_limits<std::int64_t>::max(), 0);
    table.done();
    return settings;
}

wire::Path wire_path(Table& table, unsigned input, std::size_t ends, std::vector<nb::object>& keep) {
    wire::Path path;
    table.text("kind");
    path.input = input;
    path.from = end_of(table, "from", ends);
    path.to = table.has("to") ? static_cast<int>(end_of(table, "to", ends)) : wire::kNone;
    path.delay_ns = table.integer("delay_ns", 0, kMostNs);
    path.rules = rules_of(table);
    const auto found = table.array<std::uint32_t>("queues", "uint32", keep);
    path.queues.assign(found.begin(), found.end());
    table.done();
    if (path.queues.size() != path.rules.size()) bad_job(table.name("queues") + " does not have an element for each rule");
    return path;
}

nb::dict wire_progress(const wire::Traffic& traffic) {
    nb::dict dict;
    dict["begin_ns"] = traffic.clock().begin_ns();
    dict["behind_ns"] = traffic.behind_now_ns();
    dict["stood_still_ns"] = traffic.stood_still_ns();
    dict["ends"] = ends_of(traffic);
    nb::dict queues;
    for (const auto& [number, queue] : traffic.queues()) queues[nb::int_(number)] = queue_of(queue);
    dict["queues"] = queues;
    return dict;
}

nb::dict wire_to_python(const wire::Traffic& traffic) {
    nb::dict dict = wire_progress(traffic);
    for (const auto& [number, queue] : traffic.queues()) {
        nb::dict of = nb::cast<nb::dict>(dict["queues"][nb::int_(number)]);
        of["sojourn_cycles"] = histogram_dict(queue.sojourn);
    }
    dict["behind_ns"] = histogram_dict(traffic.behind_ns());
    dict["late_ns"] = histogram_dict(traffic.late_ns());
    dict["stops"] = traffic.stops();
    dict["unplugged"] = traffic.unplugged() == wire::kNone ? nb::none() : nb::cast(traffic.unplugged());
    return dict;
}

void bind_wire(nb::module_& m) {
    m.def(
        "wire_fields",
        [](const nb::bytes& frame) {
            const wire::Fields fields = wire::fields_of(bytes_of(frame));
            nb::dict dict;
            const auto bytes = [](const auto& array, std::size_t size) -> nb::object {
                return size ? nb::cast(nb::bytes(reinterpret_cast<const char*>(array.data()), size)) : nb::none();
            };
            const auto maybe = [](const auto& value) -> nb::object { return value ? nb::cast(static_cast<unsigned>(*value)) : nb::none(); };
            const auto maybe_mac = [&](const std::optional<wire::Mac>& mac) { return mac ? bytes(*mac, mac->size()) : nb::none(); };
            dict["version"] = fields.version ? nb::cast(fields.version) : nb::none();
            dict["protocol"] = maybe(fields.protocol);
            dict["source"] = bytes(fields.source.bytes, fields.source.size);
            dict["destination"] = bytes(fields.destination.bytes, fields.destination.size);
            dict["source_port"] = maybe(fields.source_port);
            dict["destination_port"] = maybe(fields.destination_port);
            dict["dscp"] = maybe(fields.dscp);
            nb::list vlans;
            for (std::size_t i = 0; i < fields.vlan_count; ++i) vlans.append(fields.vlans[i]);
            dict["vlans"] = nb::tuple(vlans);
            dict["source_mac"] = maybe_mac(fields.source_mac);
            dict["destination_mac"] = maybe_mac(fields.destination_mac);
            dict["mpls"] = maybe(fields.mpls);
            dict["pppoe"] = maybe(fields.pppoe);
            return dict;
        },
        nb::arg("frame"), "What rules see of a frame; None: it does not have it.");
    m.def(
        "wire_match",
        [](const nb::dict& rules, const nb::list& frames) {
            Table table(rules, "");
            const std::vector<wire::Rule> found = rules_of(table);
            std::vector<int> matches;
            for (nb::handle frame : frames) matches.push_back(wire::first_match(found, bytes_of(nb::cast<nb::bytes>(frame))));
            return matches;
        },
        nb::arg("rules"), nb::arg("frames"), "Of {rules} the first that matches each frame, -1: none does.");
}

}  // namespace penstock
