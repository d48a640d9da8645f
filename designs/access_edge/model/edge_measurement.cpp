// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/model/edge_measurement.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "designs/access_edge/model/flow_tally.hpp"
#include "designs/access_edge/model/hierarchy_tally.hpp"
#include "designs/access_edge/model/lateness.hpp"
#include "designs/access_edge/model/model.hpp"
#include "penstock/engine/python_columns.hpp"

namespace nb = nanobind;

namespace penstock {

using namespace engine;

namespace {

// What lateness is measured against: shapers (one code for each queue, burst << 22 | exponent << 16 | mantissa), the output link,
// the cycle from which departures count, and what the shapers make up for.
struct LatenessSettings {
    std::vector<std::uint64_t> shapers;
    std::uint64_t link_bps = 0, clock_hz = 0;
    std::uint32_t overhead_bytes = 0;
    std::int64_t from_cycle = 0;
    std::int64_t tolerance_cycles = schedule_timing::kTolerance;
};

class EdgeMeasurement final : public OwnMeasurement {
  public:
    EdgeMeasurement(Statement statement, std::optional<LatenessSettings> lateness, const HierarchyPlaces& hierarchy,
                    std::optional<FlowTally> flows)
        : statement_(std::move(statement)), settings_(std::move(lateness)), flows_(std::move(flows)) {
        if (hierarchy.queues_per_subscriber) hierarchy_ = std::make_unique<HierarchyTally>(hierarchy);
    }

    void start(std::int64_t age) override {
        if (!settings_) return;
        const LinkClock link(settings_->link_bps, settings_->clock_hz, settings_->overhead_bytes);
        lateness_ = std::make_unique<Lateness>(settings_->shapers, link, settings_->from_cycle, age, settings_->tolerance_cycles);
    }
    void begin() override {
        if (hierarchy_) hierarchy_->begin();
        if (flows_) flows_->begin();
    }
    void arrived(std::int64_t last_bit, const Frame& frame) override {
        if (hierarchy_) hierarchy_->arrived(last_bit, frame.queue, frame.length);
    }
    void accepted(std::int64_t cycle, const Frame& frame, std::uint32_t slot) override {
        if (lateness_) lateness_->enqueued(cycle, frame.queue, slot, frame.length);
        if (flows_) flows_->accepted(frame, slot);
    }
    void dropped(std::int64_t cycle, const Frame& frame, unsigned reason) override {
        if (hierarchy_) hierarchy_->dropped(cycle, frame.queue, frame.length, reason);
        if (flows_) flows_->dropped(frame);
    }
    void marked(std::int64_t cycle, const Frame& frame) override {
        if (hierarchy_) hierarchy_->marked(cycle, frame.queue);
        if (flows_) flows_->marked(frame);
    }
    const char* departed(std::int64_t first_bit, const Frame& frame, std::uint32_t slot, std::uint32_t length,
                         std::uint32_t latency) override {
        if (hierarchy_) hierarchy_->departed(first_bit, frame.queue, length, latency);
        if (flows_) flows_->departed(first_bit, slot, length, latency);
        if (!lateness_ || lateness_->departed(first_bit, slot)) return nullptr;
        ++early_;
        return "leaves before its earliest departure time";
    }
    void end(std::int64_t cycle) override {
        if (lateness_) lateness_->close(cycle);
    }
    void left_over(std::int64_t cycle, const Frame& frame) override {
        if (hierarchy_) hierarchy_->left_over(cycle, frame.queue, frame.length);
    }

    void add_to(nb::dict& result) const override {
        if (lateness_) {
            result["early"] = early_;
            result["lateness"] = lateness_counts();
        }
        if (flows_) result["flows"] = flow_columns();
        if (!hierarchy_) return;
        nb::dict levels;
        levels["subscribers"] = level_arrays(hierarchy_->levels()[0]);
        levels["nodes"] = level_arrays(hierarchy_->levels()[1]);
        levels["ports"] = level_arrays(hierarchy_->levels()[2]);
        result["hierarchy"] = levels;
    }

  private:
    nb::dict lateness_counts() const {
        std::vector<std::int64_t> cycles;
        std::vector<std::uint64_t> frames;
        for (const auto& [late, count] : lateness_->counts()) cycles.push_back(late), frames.push_back(count);
        nb::dict dict;
        dict["cycles"] = to_array(std::move(cycles));
        dict["frames"] = to_array(std::move(frames));
        dict["left"] = lateness_->left();
        return dict;
    }

    // One level of the hierarchy: arrays with an element for each member, and the latencies of those that frames have left from.
    nb::dict level_arrays(const LevelTally& level) const {
        const auto both = [&](auto amount) {
            nb::dict dict;
            dict["packets"] = column<std::uint64_t>(level.rows.size(), [&](std::uint32_t i) { return amount(level.rows[i]).packets; });
            dict["bytes"] = column<std::uint64_t>(level.rows.size(), [&](std::uint32_t i) { return amount(level.rows[i]).bytes; });
            return dict;
        };
        nb::dict dict, dropped, latency;
        dict["in"] = both([](const LevelTally::Row& row) { return row.in; });
        dict["out"] = both([](const LevelTally::Row& row) { return row.out; });
        dict["queued"] = both([](const LevelTally::Row& row) { return row.queued; });
        each_reason(statement_, [&](unsigned reason, const char* name) {
            dropped[name] = both([=](const LevelTally::Row& row) { return row.dropped[reason]; });
        });
        dict["dropped"] = dropped;
        const auto each = [&](auto value) {
            return column<std::int64_t>(level.rows.size(),
                                        [&](std::uint32_t i) { return static_cast<std::int64_t>(value(level.rows[i])); });
        };
        dict["marked"] = each([](const LevelTally::Row& row) { return row.marked; });
        dict["first_arrival"] = each([](const LevelTally::Row& row) { return row.first_arrival; });
        dict["last_arrival"] = each([](const LevelTally::Row& row) { return row.last_arrival; });
        dict["in_before_last"] = each([](const LevelTally::Row& row) { return row.in_before_last; });
        dict["out_before_last"] = each([](const LevelTally::Row& row) { return row.out_before_last; });
        dict["measured_out_bytes"] = each([](const LevelTally::Row& row) { return row.out.bytes - row.out_begun; });
        dict["congested_bytes"] = each([](const LevelTally::Row& row) { return row.congested_bytes; });
        dict["congested"] = each([](const LevelTally::Row& row) { return row.congested; });
        dict["first_congested"] = each([](const LevelTally::Row& row) { return row.first_congested; });
        dict["last_congested"] = each([](const LevelTally::Row& row) { return row.last_congested; });
        if (level.interval_cycles) dict["series"] = level_series(level);
        for (std::size_t i = 0; i < level.latency.size(); ++i)
            if (level.latency[i]) latency[nb::int_(i)] = histogram_dict(*level.latency[i]);
        dict["latency"] = level.latency.empty() ? nb::object(nb::none()) : nb::object(latency);
        return dict;
    }

    // [member][interval] of those that have a series; as many intervals as the longest has.
    static nb::dict level_series(const LevelTally& level) {
        std::size_t points = 1;
        for (const auto& of : level.series) points = std::max(points, of.size());
        nb::dict dict;
        dict["ids"] = to_array(level.in_series);
        const auto table = [&](const char* key, auto value) {
            std::vector<std::int64_t> cells(level.series.size() * points);
            for (std::size_t member = 0; member < level.series.size(); ++member)
                for (std::size_t i = 0; i < level.series[member].size(); ++i)
                    cells[member * points + i] = static_cast<std::int64_t>(value(level.series[member][i]));
            dict[key] = to_array(std::move(cells), points);
        };
        table("in_bytes", [](const LevelTally::Point& point) { return point.in_bytes; });
        table("out_bytes", [](const LevelTally::Point& point) { return point.out_bytes; });
        table("dropped_bytes", [](const LevelTally::Point& point) { return point.dropped_bytes; });
        table("out_packets", [](const LevelTally::Point& point) { return point.out_packets; });
        table("dropped_packets", [](const LevelTally::Point& point) { return point.dropped_packets; });
        table("marked", [](const LevelTally::Point& point) { return point.marked; });
        table("latency", [](const LevelTally::Point& point) { return point.latency; });
        table("congested", [](const LevelTally::Point& point) { return point.congested; });
        return dict;
    }

    // A column for each thing that is known of a flow; latencies of the frames that were kept, one flow's behind the other's.
    nb::dict flow_columns() const {
        const std::vector<FlowTally::Flow>& flows = flows_->flows();
        const auto each = [&](auto value) {
            return column<std::int64_t>(flows.size(), [&](std::uint32_t i) { return static_cast<std::int64_t>(value(flows[i])); });
        };
        nb::dict dict;
        dict["queue"] = each([](const auto& flow) { return flow.queue; });
        dict["in_packets"] = each([](const auto& flow) { return flow.in.packets; });
        dict["in_bytes"] = each([](const auto& flow) { return flow.in.bytes; });
        dict["out_packets"] = each([](const auto& flow) { return flow.out.packets; });
        dict["out_bytes"] = each([](const auto& flow) { return flow.out.bytes; });
        dict["measured_bytes"] = each([](const auto& flow) { return flow.out.bytes - flow.out_begun; });
        dict["drop_packets"] = each([](const auto& flow) { return flow.dropped.packets; });
        dict["marked_packets"] = each([](const auto& flow) { return flow.marked; });
        dict["latency_sum"] = each([](const auto& flow) { return flow.latency_sum; });
        dict["latency_max"] = each([](const auto& flow) { return flow.latency_max; });
        dict["first_departure"] = each([](const auto& flow) { return flow.first_departure; });
        dict["last_departure"] = each([](const auto& flow) { return flow.last_departure; });
        dict["ip"] = each([](const auto& flow) { return flow.headers.ip; });
        dict["protocol"] = each([](const auto& flow) { return flow.headers.protocol; });
        dict["ports"] = each([](const auto& flow) { return flow.headers.transport_word; });
        dict["ethertype"] = each([](const auto& flow) { return flow.headers.ethertype; });
        std::vector<std::uint8_t> addresses(flows.size() * 32);
        std::vector<std::uint32_t> latency;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            std::copy(flows[i].headers.source.begin(), flows[i].headers.source.end(), addresses.begin() + static_cast<long>(32 * i));
            std::copy(flows[i].headers.destination.begin(), flows[i].headers.destination.end(),
                      addresses.begin() + static_cast<long>(32 * i + 16));
            latency.insert(latency.end(), flows[i].latency.begin(), flows[i].latency.end());
        }
        dict["kept"] = each([](const auto& flow) { return flow.latency.size(); });
        dict["addresses"] = to_array(std::move(addresses), 32);
        dict["latency"] = to_array(std::move(latency));
        dict["others"] = flows_->others();
        return dict;
    }

    Statement statement_;
    std::optional<LatenessSettings> settings_;
    std::optional<FlowTally> flows_;
    std::unique_ptr<Lateness> lateness_;
    std::unique_ptr<HierarchyTally> hierarchy_;
    std::uint64_t early_ = 0;  // frames that left before their earliest departure time
};

LatenessSettings lateness_settings(Table table, std::uint32_t queues, const Environment& environment) {
    std::vector<nb::object> keep;
    const auto shapers = table.array<std::uint64_t>("shapers", "uint64", keep);
    if (shapers.size() != queues) bad_job(table.name("shapers") + " has not one element for each queue");
    LatenessSettings lateness{.shapers = {shapers.begin(), shapers.end()},
                              .link_bps = static_cast<std::uint64_t>(environment.egress_bps.front()),
                              .clock_hz = static_cast<std::uint64_t>(environment.clock_hz),
                              .overhead_bytes = environment.overhead_bytes,
                              .from_cycle = table.integer("from_cycle", 0, kMaxCycles, 0),
                              .tolerance_cycles = table.integer("tolerance_cycles", 0, kMostTolerance, schedule_timing::kTolerance)};
    if (lateness.link_bps == 0) bad_job("lateness needs egress_bps");
    table.done();
    return lateness;
}

constexpr std::array kLevels = {"subscribers", "nodes", "ports"};

// Which is below which in a device with a hierarchy. Everything is checked here: the tally trusts it.
HierarchyPlaces hierarchy_places(Table table, std::uint32_t queues, const Environment& environment) {
    std::vector<nb::object> keep;
    HierarchyPlaces hierarchy;
    hierarchy.queues_per_subscriber = static_cast<std::uint32_t>(table.integer("queues_per_subscriber", 1, 8));
    hierarchy.ports = static_cast<std::uint32_t>(table.integer("ports", 1, 1 << 22));
    const auto parents = [&](const char* key) {
        const auto given = table.array<std::uint32_t>(key, "uint32", keep);
        return std::vector<std::uint32_t>(given.begin(), given.end());
    };
    hierarchy.node_of = parents("node_of"), hierarchy.port_of = parents("port_of");
    if (hierarchy.node_of.size() != queues / hierarchy.queues_per_subscriber)
        bad_job(table.name("node_of") + " does not have each subscriber's node");
    const auto check = [&](const char* key, std::uint32_t parent, std::size_t most) {
        if (parent >= most) bad_job(table.name(key) + " names " + std::to_string(parent) + ", which is not there");
    };
    for (const std::uint32_t node : hierarchy.node_of) check("node_of", node, hierarchy.port_of.size());
    for (const std::uint32_t port : hierarchy.port_of) check("port_of", port, hierarchy.ports);
    for (nb::handle item : table.list("moves")) {
        try {
            const auto move = nb::cast<nb::sequence>(item);
            hierarchy.moves.push_back({nb::cast<std::int64_t>(move[0]), nb::cast<bool>(move[1]), nb::cast<std::uint32_t>(move[2]),
                                       nb::cast<std::uint32_t>(move[3])});
        } catch (const nb::cast_error&) {
            bad_job(table.name("moves") + " is not a list of (cycle, whether it is a node, id, parent)");
        }
        const HierarchyPlaces::Move& move = hierarchy.moves.back();
        check("moves", move.id, move.node ? hierarchy.port_of.size() : hierarchy.node_of.size());
        check("moves", move.parent, move.node ? hierarchy.ports : hierarchy.port_of.size());
    }
    std::stable_sort(hierarchy.moves.begin(), hierarchy.moves.end(),
                     [](const HierarchyPlaces::Move& a, const HierarchyPlaces::Move& b) { return a.cycle < b.cycle; });
    hierarchy.clock_hz = static_cast<double>(environment.clock_hz);
    hierarchy.interval_cycles = table.integer("interval_cycles", 0, kMaxCycles, 0);
    const std::array<std::size_t, 3> members = {hierarchy.node_of.size(), hierarchy.port_of.size(), hierarchy.ports};
    for (std::size_t level = 0; level < members.size(); ++level) {
        const std::string rates = std::string(kLevels[level]) + "_bps", series = std::string(kLevels[level]) + "_series";
        if (table.has(rates.c_str())) {
            const auto given = table.array<std::uint64_t>(rates.c_str(), "uint64", keep);
            if (given.size() != members[level]) bad_job(table.name(rates.c_str()) + " does not have each one's rate");
            hierarchy.rates[level].assign(given.begin(), given.end());
        }
        if (!table.has(series.c_str())) continue;
        const auto chosen = table.array<std::uint32_t>(series.c_str(), "uint32", keep);
        for (const std::uint32_t id : chosen) check(series.c_str(), id, members[level]);
        hierarchy.series[level].assign(chosen.begin(), chosen.end());
    }
    if (table.has("rate_changes")) {
        for (nb::handle item : table.list("rate_changes")) {
            try {
                const auto change = nb::cast<nb::sequence>(item);
                hierarchy.rate_changes.push_back({nb::cast<std::int64_t>(change[0]), nb::cast<std::uint32_t>(change[1]),
                                                  nb::cast<std::uint32_t>(change[2]), nb::cast<std::uint64_t>(change[3])});
            } catch (const nb::cast_error&) {
                bad_job(table.name("rate_changes") + " is not a list of (cycle, level, id, bit/s)");
            }
            const HierarchyPlaces::RateChange& change = hierarchy.rate_changes.back();
            check("rate_changes", change.level, members.size());
            check("rate_changes", change.id, members[change.level]);
        }
    }
    hierarchy.tolerance_cycles = table.integer("tolerance_cycles", 0, kMostTolerance, schedule_timing::kTolerance);
    if (table.has("shapers")) {
        const auto given = table.array<std::uint64_t>("shapers", "uint64", keep);
        if (given.size() != queues) bad_job(table.name("shapers") + " has not one element for each queue");
        hierarchy.shapers.assign(given.begin(), given.end());
    }
    if (table.has("shaper_changes")) {
        for (nb::handle item : table.list("shaper_changes")) {
            try {
                const auto change = nb::cast<nb::sequence>(item);
                hierarchy.shaper_changes.push_back(
                    {nb::cast<std::int64_t>(change[0]), nb::cast<std::uint32_t>(change[1]), nb::cast<std::uint64_t>(change[2])});
            } catch (const nb::cast_error&) {
                bad_job(table.name("shaper_changes") + " is not a list of (cycle, queue, code)");
            }
            check("shaper_changes", hierarchy.shaper_changes.back().queue, hierarchy.shapers.size());
        }
    }
    std::stable_sort(hierarchy.shaper_changes.begin(), hierarchy.shaper_changes.end(),
                     [](const HierarchyPlaces::ShaperChange& a, const HierarchyPlaces::ShaperChange& b) { return a.cycle < b.cycle; });
    std::stable_sort(hierarchy.rate_changes.begin(), hierarchy.rate_changes.end(),
                     [](const HierarchyPlaces::RateChange& a, const HierarchyPlaces::RateChange& b) { return a.cycle < b.cycle; });
    table.done();
    return hierarchy;
}

}  // namespace

std::unique_ptr<OwnMeasurement> edge_measurement(Table& job, const Statement& statement, const Environment& environment) {
    std::optional<LatenessSettings> lateness;
    HierarchyPlaces hierarchy;
    if (job.has("lateness")) lateness = lateness_settings(job.table("lateness"), statement.queues, environment);
    if (job.has("hierarchy")) hierarchy = hierarchy_places(job.table("hierarchy"), statement.queues, environment);
    std::optional<FlowTally> flows;
    if (job.has("flows")) {
        Table given = job.table("flows");
        flows.emplace(environment.seed, static_cast<std::uint32_t>(given.integer("most", 1, 1 << 24)));
        given.done();
    }
    if (!lateness && !hierarchy.queues_per_subscriber && !flows) return nullptr;
    return std::make_unique<EdgeMeasurement>(statement, std::move(lateness), hierarchy, std::move(flows));
}

}  // namespace penstock
