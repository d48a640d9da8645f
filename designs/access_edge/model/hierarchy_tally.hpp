// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What came to each subscriber, node and port of a device with a hierarchy, what left, what was dropped and why, and how long it took.
//
// A frame counts where its subscriber is at the time: offered when it comes, carried when it leaves, dropped when it is dropped. So of a
// node that subscribers leave or come to in mid-run, these need not add up.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

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
};

// What became of the frames of one level, a row for each of its members.
struct LevelTally {
    struct Row {
        Amount in, out, queued;
        std::array<Amount, kMostReasons> dropped;
    };
    // A level of more members has no latencies: each of these histograms takes 51 kB.
    static constexpr std::size_t kMostHistograms = 2048;

    explicit LevelTally(std::size_t members) : rows(members), latency(members <= kMostHistograms ? members : 0) {}

    std::vector<Row> rows;
    std::vector<std::unique_ptr<Histogram>> latency;  // null where nothing has left

    void departed(std::uint32_t member, std::uint32_t length, std::uint32_t cycles) {
        rows[member].out.add(length);
        if (latency.empty()) return;
        if (!latency[member]) latency[member] = std::make_unique<Histogram>();
        latency[member]->add(cycles);
    }
};

class HierarchyTally {
  public:
    explicit HierarchyTally(const HierarchyPlaces& places)
        : places_(places), levels_{LevelTally(places.node_of.size()), LevelTally(places.port_of.size()), LevelTally(places.ports)} {
        for (const HierarchyPlaces::Move& move : places.moves) (move.node ? node_moves_ : subscriber_moves_)[move.id].push_back(move);
    }

    void arrived(std::int64_t cycle, std::uint32_t queue, std::uint32_t length) {
        at(cycle, queue, [&](LevelTally& level, std::uint32_t member) { level.rows[member].in.add(length); });
    }
    void dropped(std::int64_t cycle, std::uint32_t queue, std::uint32_t length, unsigned reason) {
        at(cycle, queue, [&](LevelTally& level, std::uint32_t member) { level.rows[member].dropped[reason].add(length); });
    }
    void departed(std::int64_t cycle, std::uint32_t queue, std::uint32_t length, std::uint32_t latency) {
        at(cycle, queue, [&](LevelTally& level, std::uint32_t member) { level.departed(member, length, latency); });
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

    template <typename Count>
    void at(std::int64_t cycle, std::uint32_t queue, Count&& count) {
        const std::uint32_t subscriber = queue / places_.queues_per_subscriber;
        const std::uint32_t node = place(cycle, subscriber, places_.node_of, subscriber_moves_);
        const std::uint32_t port = place(cycle, node, places_.port_of, node_moves_);
        count(levels_[0], subscriber);
        count(levels_[1], node);
        count(levels_[2], port);
    }

    HierarchyPlaces places_;
    Moves subscriber_moves_, node_moves_;
    std::array<LevelTally, 3> levels_;
};

}  // namespace penstock::engine
