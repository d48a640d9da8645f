// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/model/edge_measurement.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "designs/access_edge/model/device_settings.hpp"
#include "designs/access_edge/model/hierarchy_tally.hpp"
#include "designs/access_edge/model/lateness.hpp"
#include "penstock/engine/python_columns.hpp"

namespace nb = nanobind;

namespace penstock {

using namespace engine;

namespace {

// What lateness is measured against: shapers (one code for each queue, burst << 21 | exponent << 16 | mantissa), the output link,
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
    EdgeMeasurement(Statement statement, std::optional<LatenessSettings> lateness, const HierarchyPlaces& hierarchy)
        : statement_(std::move(statement)), settings_(std::move(lateness)) {
        if (hierarchy.queues_per_subscriber) hierarchy_ = std::make_unique<HierarchyTally>(hierarchy);
    }

    void start(std::int64_t age) override {
        if (!settings_) return;
        const LinkClock link(settings_->link_bps, settings_->clock_hz, settings_->overhead_bytes);
        lateness_ = std::make_unique<Lateness>(settings_->shapers, link, settings_->from_cycle, age, settings_->tolerance_cycles);
    }
    void arrived(std::int64_t last_bit, const Frame& frame) override {
        if (hierarchy_) hierarchy_->arrived(last_bit, frame.queue, frame.length);
    }
    void accepted(std::int64_t cycle, const Frame& frame, std::uint32_t slot) override {
        if (lateness_) lateness_->enqueued(cycle, frame.queue, slot, frame.length);
    }
    void dropped(std::int64_t cycle, const Frame& frame, unsigned reason) override {
        if (hierarchy_) hierarchy_->dropped(cycle, frame.queue, frame.length, reason);
    }
    const char* departed(std::int64_t first_bit, const Frame& frame, std::uint32_t slot, std::uint32_t length,
                         std::uint32_t latency) override {
        if (hierarchy_) hierarchy_->departed(first_bit, frame.queue, length, latency);
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
        for (std::size_t i = 0; i < level.latency.size(); ++i)
            if (level.latency[i]) latency[nb::int_(i)] = histogram_dict(*level.latency[i]);
        dict["latency"] = level.latency.empty() ? nb::object(nb::none()) : nb::object(latency);
        return dict;
    }

    Statement statement_;
    std::optional<LatenessSettings> settings_;
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

// Which is below which in a device with a hierarchy. Everything is checked here: the tally trusts it.
HierarchyPlaces hierarchy_places(Table table, std::uint32_t queues) {
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
    table.done();
    return hierarchy;
}

}  // namespace

std::unique_ptr<OwnMeasurement> edge_measurement(Table& job, const Statement& statement, const Environment& environment) {
    std::optional<LatenessSettings> lateness;
    HierarchyPlaces hierarchy;
    if (job.has("lateness")) lateness = lateness_settings(job.table("lateness"), statement.queues, environment);
    if (job.has("hierarchy")) hierarchy = hierarchy_places(job.table("hierarchy"), statement.queues);
    if (!lateness && !hierarchy.queues_per_subscriber) return nullptr;
    return std::make_unique<EdgeMeasurement>(statement, std::move(lateness), hierarchy);
}

}  // namespace penstock
