// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What came to each subscriber, node and port of a device with a hierarchy, what left, what was dropped and why, and how long it took.
//
// A frame counts where its subscriber is at the time: offered when it comes, carried when it leaves, dropped when it is dropped. So of a
// node that subscribers leave or come to in mid-run, these need not add up. What waits moves with its subscriber: it is counted up and
// down at the same place, whenever it is that a frame's coming or end is told.
//
// A member is congested while frames wait for it and it carries what its rate allows: of at least kStretch departures one after the
// other, each with a frame left behind, that took as long as their bytes take at its rate, within kWithinPercent. Frames that wait below
// one that is congested itself wait for that one, and those that their queue's own rate holds back for that; they are left behind by a
// departure where it lets them go before the member's rate would.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "designs/access_edge/model/own_rates.hpp"
#include "penstock/engine/amount.hpp"
#include "penstock/engine/design.hpp"
#include "penstock/engine/histogram.hpp"

namespace penstock::engine {

// Which is below which when the run begins, and which moves: to its new parent from that cycle on.
struct HierarchyPlaces {
    struct Move {
        std::int64_t cycle;
        bool node;  // a node moves to a port; else a subscriber to a node
        std::uint32_t id, parent;
    };
    std::uint32_t queues_per_subscriber = 0, ports = 0;  // 0: there is no hierarchy
    std::vector<std::uint32_t> node_of, port_of;         // by subscriber, by node
    std::vector<Move> moves;                             // in order of time

    // Rates in bit/s by level and member, 0: none (unshaped, or a closed gate), and their changes in order of time.
    struct RateChange {
        std::int64_t cycle;
        std::uint32_t level, id;
        std::uint64_t bps;
    };
    std::array<std::vector<std::uint64_t>, 3> rates;
    std::vector<RateChange> rate_changes;

    // Shapers of the queues, a code for each, none: no queue has a rate; their changes in order of time; what they make up for, in cycles.
    struct ShaperChange {
        std::int64_t cycle;
        std::uint32_t queue;
        std::uint64_t code;
    };
    std::vector<std::uint64_t> shapers;
    std::vector<ShaperChange> shaper_changes;
    std::int64_t tolerance_cycles = 0;
    double clock_hz = 0;
    std::int64_t interval_cycles = 0;                  // 0: no series
    std::array<std::vector<std::uint32_t>, 3> series;  // the members that have one, by level
};

// What became of the frames of one level, a row for each of its members.
struct LevelTally {
    struct Row {
        Amount in, out, queued;
        std::array<Amount, kMostReasons> dropped;
        std::uint64_t marked = 0;
        std::int64_t first_arrival = -1, last_arrival = -1;                     // cycles, -1: none
        std::uint64_t in_before_last = 0, out_before_last = 0;                  // bytes that had come, and left, before the last frame
        std::uint64_t in_begun = 0, out_begun = 0;                              // bytes when the warm-up was over
        std::uint64_t congested_bytes = 0;                                      // that left while it was congested
        std::int64_t congested = 0, first_congested = -1, last_congested = -1;  // cycles; when for the first time, until when; -1: never
    };
    // What came and went in an interval.
    struct Point {
        std::uint64_t in_bytes = 0, out_bytes = 0, dropped_bytes = 0, latency = 0;  // latency: the sum of cycles
        std::uint32_t out_packets = 0, dropped_packets = 0, marked = 0;
        std::int64_t congested = 0;
    };
    // A level of more members has no latencies: each of these histograms takes 51 kB.
    static constexpr std::size_t kMostHistograms = 2048;

    // Departures without a pause between them that congest.
    static constexpr unsigned kStretch = 16;
    static constexpr unsigned kWithinPercent = 5;

    LevelTally(std::size_t members, const HierarchyPlaces& places, std::size_t level)
        : rows(members),
          latency(members <= kMostHistograms ? members : 0),
          rates(places.rates[level]),
          clock_hz(places.clock_hz),
          interval_cycles(places.interval_cycles),
          series(places.series[level].size()),
          in_series(places.series[level]),
          waiting_(members),
          held_(members),
          stretches_(members) {
        rates.resize(members);
        series_of_.resize(members, -1);
        for (std::size_t i = 0; i < in_series.size(); ++i) series_of_[in_series[i]] = static_cast<std::int32_t>(i);
    }

    std::vector<Row> rows;
    std::vector<std::unique_ptr<Histogram>> latency;  // null where nothing has left
    std::vector<std::uint64_t> rates;                 // now
    double clock_hz;
    std::int64_t interval_cycles;
    std::vector<std::vector<Point>> series;  // of those that have one
    std::vector<std::uint32_t> in_series;    // their ids

    // The warm-up is over: rates, latencies and congestion begin here.
    void begin() {
        for (Row& row : rows) {
            row.first_arrival = row.last_arrival = row.first_congested = row.last_congested = -1;
            row.in_before_last = row.out_before_last = row.congested_bytes = 0;
            row.in_begun = row.in.bytes, row.out_begun = row.out.bytes;
            row.congested = 0;
        }
        for (auto& of : latency) of.reset();
    }
    void arrived(std::int64_t cycle, std::uint32_t member, std::uint32_t length) {
        Row& row = rows[member];
        row.in_before_last = row.in.bytes - row.in_begun;
        row.in.add(length);
        if (row.first_arrival < 0) row.first_arrival = cycle;
        row.last_arrival = cycle;
        row.out_before_last = row.out.bytes - row.out_begun;
        if (Point* const point = at(cycle, member)) point->in_bytes += length;
    }
    void dropped(std::int64_t cycle, std::uint32_t member, std::uint32_t length, unsigned reason) {
        rows[member].dropped[reason].add(length);
        if (Point* const point = at(cycle, member)) {
            point->dropped_bytes += length;
            ++point->dropped_packets;
        }
    }
    void marked(std::int64_t cycle, std::uint32_t member) {
        ++rows[member].marked;
        if (Point* const point = at(cycle, member)) ++point->marked;
    }
    std::int64_t waiting(std::uint32_t member) const { return waiting_[member]; }
    // Those that wait for it, where it is congested, or for others below it that are.
    std::int64_t held(std::uint32_t member) const { return stretches_[member].congested ? waiting_[member] : held_[member]; }
    // So many frames more wait below it; so many of them for others below it.
    void add_waiting(std::uint32_t member, std::int64_t frames, std::int64_t held) {
        waiting_[member] += frames;
        held_[member] += held;
    }
    // From now on it has another rate; a stretch ends.
    void change_rate(std::uint32_t member, std::uint64_t bps) {
        stretches_[member] = {};
        rates[member] = bps;
    }

    void departed(std::int64_t cycle, std::uint32_t member, std::uint32_t length, std::uint32_t cycles) {
        rows[member].out.add(length);
        if (Point* const point = at(cycle, member)) {
            point->out_bytes += length;
            ++point->out_packets;
            point->latency += cycles;
        }
        if (latency.empty()) return;
        if (!latency[member]) latency[member] = std::make_unique<Histogram>();
        latency[member]->add(cycles);
    }

    // A frame left it, which waits no longer.
    void passed(std::int64_t cycle, std::uint32_t member, std::uint32_t length) {
        if (!rates[member]) return;
        Stretch& now = stretches_[member];
        if (std::exchange(now.open, false)) stretch(member, now.last, now.last_length, false);
        now.last = cycle, now.last_length = length;
        const bool waits = waiting_[member] > held_[member];
        now.open = !waits && waiting_[member];
        if (!now.open) stretch(member, cycle, length, waits);
    }
    // Frames below it wait for their queue's own rate no longer.
    void let_go(std::int64_t cycle, std::uint32_t member) {
        Stretch& now = stretches_[member];
        if (!now.open || waiting_[member] <= held_[member]) return;
        if (static_cast<double>(cycle - now.last) > due(member, now.last_length)) return;
        now.open = false;
        stretch(member, now.last, now.last_length, true);
    }

  private:
    // Departures one after the other, each of which left a frame behind.
    struct Stretch {
        std::int64_t start = 0;               // cycle of the first departure
        std::uint64_t bytes = 0;              // of all but the last one
        std::uint32_t length = 0, count = 0;  // length: of the last one
        bool congested = false;               // those before them did congest
        bool open = false;                    // whether the very last one left a frame behind will be seen: what waits may be let go
        std::uint32_t last_length = 0;        // of that one,
        std::int64_t last = 0;                // and when it was
    };

    Point* at(std::int64_t cycle, std::uint32_t member) {
        const std::int32_t index = series_of_[member];
        if (index < 0 || interval_cycles == 0) return nullptr;
        const auto row = static_cast<std::size_t>(cycle / interval_cycles);
        std::vector<Point>& points = series[static_cast<std::size_t>(index)];
        if (row >= points.size()) points.resize(row + 1);
        return &points[row];
    }

    // Cycles that so many bytes take at its rate.
    double due(std::uint32_t member, std::uint64_t bytes) const {
        return 8.0 * static_cast<double>(bytes) * clock_hz / static_cast<double>(rates[member]);
    }

    // A frame left, and another one was left behind that waits for the member itself, or none.
    void stretch(std::uint32_t member, std::int64_t cycle, std::uint32_t length, bool waits) {
        Stretch& now = stretches_[member];
        const bool whole = now.count == kStretch && (waits || waiting_[member] == 0);  // not: all has turned out to wait for others below
        if (now.count) now.bytes += now.length;
        if (whole || (now.count && now.congested && !waits)) {
            const double expected = due(member, now.bytes), took = static_cast<double>(cycle - now.start);
            const bool held = std::abs(took - expected) * 100 <= expected * kWithinPercent;
            if (held) congest(member, now.start, cycle, now.bytes);
            now = {.start = cycle, .congested = held};
        }
        if (!waits) {
            now = {};
            return;
        }
        if (now.count == 0) now.start = cycle;
        now.length = length;
        ++now.count;
    }

    void congest(std::uint32_t member, std::int64_t from, std::int64_t to, std::uint64_t bytes) {
        Row& row = rows[member];
        row.congested_bytes += bytes;
        row.congested += to - from;
        if (row.first_congested < 0) row.first_congested = from;
        row.last_congested = to;
        for (std::int64_t end = from; from < to; from = end) {
            Point* const point = at(from, member);
            if (!point) return;
            end = std::min(to, (from / interval_cycles + 1) * interval_cycles);
            point->congested += end - from;
        }
    }

    std::vector<std::int32_t> series_of_;  // by member, -1: none
    std::vector<std::int64_t> waiting_;    // frames that have come and had no fate yet
    std::vector<std::int64_t> held_;       // those of them that wait for what is below it
    std::vector<Stretch> stretches_;
};

class HierarchyTally {
  public:
    explicit HierarchyTally(const HierarchyPlaces& places)
        : places_(places),
          levels_{LevelTally(places.node_of.size(), places, 0), LevelTally(places.port_of.size(), places, 1),
                  LevelTally(places.ports, places, 2)},
          own_rates_(places.shapers, places.tolerance_cycles) {
        for (const HierarchyPlaces::Move& move : places.moves) (move.node ? node_moves_ : subscriber_moves_)[move.id].push_back(move);
        now_node_of_ = places.node_of, now_port_of_ = places.port_of;
    }

    void begin() {
        for (LevelTally& level : levels_) level.begin();
    }
    void arrived(std::int64_t cycle, std::uint32_t queue, std::uint32_t length) {
        at(cycle, queue, [&](LevelTally& level, std::uint32_t member) { level.arrived(cycle, member, length); });
        wait(0, subscriber(queue), 1, own_rates_.add(queue, 1));
    }
    void marked(std::int64_t cycle, std::uint32_t queue) {
        at(cycle, queue, [&](LevelTally& level, std::uint32_t member) { level.marked(cycle, member); });
    }
    void dropped(std::int64_t cycle, std::uint32_t queue, std::uint32_t length, unsigned reason) {
        at(cycle, queue, [&](LevelTally& level, std::uint32_t member) { level.dropped(cycle, member, length, reason); });
        wait(0, subscriber(queue), -1, own_rates_.add(queue, -1));
    }
    void departed(std::int64_t cycle, std::uint32_t queue, std::uint32_t length, std::uint32_t latency) {
        catch_up(cycle);
        at(cycle, queue, [&](LevelTally& level, std::uint32_t member) { level.departed(cycle, member, length, latency); });
        wait(0, subscriber(queue), -1, own_rates_.departed(cycle, queue, length),
             [&](LevelTally& level, std::uint32_t member) { level.passed(cycle, member, length); });
    }
    // A frame that is still there at the end of the run.
    void left_over(std::int64_t cycle, std::uint32_t queue, std::uint32_t length) {
        at(cycle, queue, [&](LevelTally& level, std::uint32_t member) { level.rows[member].queued.add(length); });
    }

    // Subscribers, nodes, ports.
    const std::array<LevelTally, 3>& levels() const { return levels_; }

  private:
    using Moves = std::unordered_map<std::uint32_t, std::vector<HierarchyPlaces::Move>>;

    static std::uint32_t place(std::int64_t cycle, std::uint32_t id, const std::vector<std::uint32_t>& first, const Moves& moves) {
        std::uint32_t parent = first[id];
        if (moves.empty()) return parent;
        const auto found = moves.find(id);
        if (found == moves.end()) return parent;
        for (const HierarchyPlaces::Move& move : found->second)
            if (move.cycle <= cycle) parent = move.parent;
        return parent;
    }

    std::uint32_t subscriber(std::uint32_t queue) const { return queue / places_.queues_per_subscriber; }

    // What has changed up to this cycle: rates, where those wait that have moved, and what queues' own rates have let go.
    void catch_up(std::int64_t cycle) {
        for (; reshaped_ < places_.shaper_changes.size() && places_.shaper_changes[reshaped_].cycle <= cycle; ++reshaped_) {
            const HierarchyPlaces::ShaperChange& change = places_.shaper_changes[reshaped_];
            let_go(change.cycle);
            wait(0, subscriber(change.queue), 0, own_rates_.change(change.cycle, change.queue, change.code));
        }
        for (; changed_ < places_.rate_changes.size() && places_.rate_changes[changed_].cycle <= cycle; ++changed_) {
            const HierarchyPlaces::RateChange& change = places_.rate_changes[changed_];
            LevelTally& level = levels_[change.level];
            const std::int64_t before = level.held(change.id);
            level.change_rate(change.id, change.bps);
            if (change.level < 2) wait(change.level + 1, parent(change.level, change.id), 0, level.held(change.id) - before);
        }
        for (; moved_ < places_.moves.size() && places_.moves[moved_].cycle <= cycle; ++moved_) {
            const HierarchyPlaces::Move& move = places_.moves[moved_];
            const std::uint32_t from = move.node ? 1 : 0;
            const std::int64_t frames = levels_[from].waiting(move.id), held = levels_[from].held(move.id);
            wait(from + 1, parent(from, move.id), -frames, -held);
            (move.node ? now_port_of_ : now_node_of_)[move.id] = move.parent;
            wait(from + 1, move.parent, frames, held);
        }
        let_go(cycle);
    }
    void let_go(std::int64_t cycle) {
        while (own_rates_.opens_until(cycle)) {
            const OwnRates::Opened opened = own_rates_.open();
            if (opened.held == 0) continue;
            wait(0, subscriber(opened.queue), 0, opened.held,
                 [&](LevelTally& level, std::uint32_t member) { level.let_go(opened.cycle, member); });
        }
    }
    std::uint32_t parent(std::uint32_t level, std::uint32_t member) const { return (level ? now_port_of_ : now_node_of_)[member]; }

    // So many frames more wait below a member and all above it, so many of them for what is below it; `then` happens at each, from below.
    template <typename Then>
    void wait(std::uint32_t level, std::uint32_t member, std::int64_t frames, std::int64_t held, Then&& then) {
        for (;; ++level) {
            const std::int64_t before = levels_[level].held(member);
            levels_[level].add_waiting(member, frames, held);
            then(levels_[level], member);
            held = levels_[level].held(member) - before;
            if (level == 2) return;
            member = parent(level, member);
        }
    }
    void wait(std::uint32_t level, std::uint32_t member, std::int64_t frames, std::int64_t held) {
        wait(level, member, frames, held, [](const LevelTally&, std::uint32_t) {});
    }

    template <typename Count>
    void at(std::int64_t cycle, std::uint32_t queue, Count&& count) {
        const std::uint32_t node = place(cycle, subscriber(queue), places_.node_of, subscriber_moves_);
        count(levels_[0], subscriber(queue));
        count(levels_[1], node);
        count(levels_[2], place(cycle, node, places_.port_of, node_moves_));
    }

    HierarchyPlaces places_;
    Moves subscriber_moves_, node_moves_;
    std::array<LevelTally, 3> levels_;
    std::vector<std::uint32_t> now_node_of_, now_port_of_;
    OwnRates own_rates_;
    std::size_t changed_ = 0, moved_ = 0, reshaped_ = 0;  // how many changes of rates, moves, and changes of queues are over
};

}  // namespace penstock::engine
