// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Shares below congested nodes, with queues from idle to flooded.
#include "designs/access_edge/bench/bench_mixes.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "designs/access_edge/bench/core_driver.hpp"
#include "designs/access_edge/bench/core_hierarchy.hpp"

namespace nb = nanobind;

namespace penstock {
namespace {

constexpr uint32_t kDepth = 4;              // packets that a backlogged queue holds
constexpr uint64_t kLostQuiet = 2'000'000;  // packets that have not come out after so many cycles without one are lost

// Of a pair (cycles per byte, burst in cycles).
uint64_t shaper_of(double cycles_per_byte, uint64_t burst) {
    return cycles_per_byte > 0 ? burst << settings::kBurstAt | shaper_code(cycles_per_byte) : kUnshaped;
}

uint32_t guarantee_of(double cycles_per_byte) { return cycles_per_byte > 0 ? static_cast<uint32_t>(shaper_code(cycles_per_byte)) : 0; }

struct Flow {
    uint32_t queue;
    uint8_t cls, weight;
    uint32_t guarantee;
    uint64_t shaper;
    std::vector<uint32_t> sizes;
    double spacing;  // cycles between two bytes that come, on average; 0: backlogged
    uint32_t burst_bytes;
    uint32_t held = 0;
    uint64_t offered = 0, carried = 0;  // bytes in the measured time
};

class Mixed : CoreDriver {
  public:
    Mixed(const nb::dict& given, const HierarchyShape& shape, nb::object progress)
        : CoreDriver(make_core(nb::cast<std::string>(given["library"]), nb::cast<uint32_t>(given["queues"]),
                               nb::cast<uint32_t>(given["descriptors"]), true, AqmChoice{}, shape.sizes()),
                     nb::cast<uint32_t>(given["queues"]), nb::cast<uint32_t>(given["descriptors"]), std::move(progress)),
          shape_(shape),
          rng_(nb::cast<uint64_t>(given["seed"])),
          total_(nb::cast<uint64_t>(given["cycles"])),
          flow_of_(nb::cast<uint32_t>(given["queues"]), kNone),
          node_index_(shape.nodes, kNone) {
        for (nb::handle item : nb::cast<nb::list>(given["flows"])) add(nb::cast<nb::dict>(item));
        const nb::dict hierarchy = nb::cast<nb::dict>(given["hierarchy"]);
        for (nb::handle item : nb::cast<nb::list>(hierarchy["nodes"])) {
            const auto node = nb::cast<nb::tuple>(item);
            const auto id = nb::cast<uint32_t>(node[0]);
            node_index_.at(id) = static_cast<uint32_t>(parents_.size());
            parents_.push_back({.what = HierarchyWhat::Node,
                                .id = id,
                                .shaper = shaper_of(nb::cast<double>(node[1]), nb::cast<uint64_t>(node[2])),
                                .parent = id % shape.ports});
        }
        node_bytes_.resize(parents_.size());
        for (nb::handle item : nb::cast<nb::list>(hierarchy["subscribers"])) {
            const auto s = nb::cast<nb::tuple>(item);
            parents_.push_back({.what = HierarchyWhat::Subscriber,
                                .id = nb::cast<uint32_t>(s[0]),
                                .shaper = shaper_of(nb::cast<double>(s[3]), nb::cast<uint64_t>(s[4])),
                                .parent = nb::cast<uint32_t>(s[1]),
                                .weight = nb::cast<uint8_t>(s[2]),
                                .guarantee = guarantee_of(nb::cast<double>(s[5]))});
            node_of_.emplace_back(parents_.back().id, parents_.back().parent);
        }
        std::sort(node_of_.begin(), node_of_.end());
        // All that queues hold together fits; a queue that gets too little loses what is over at its source.
        most_held_ = (nb::cast<uint32_t>(given["descriptors"]) - 64) / std::max<size_t>(1, flows_.size());
        if (most_held_ < kDepth) throw std::invalid_argument("too few descriptors for that many queues");
    }

    nb::dict run() {
        reset();
        configure();
        for (uint64_t i = 0; i < total_ / 10; ++i) step();
        measuring_ = true;
        start_ = cycles_;
        const uint64_t out = dequeued_;
        while (cycles_ - start_ < total_) step();
        measuring_ = false;
        nb::dict result;
        std::vector<uint64_t> offered, carried;
        for (const Flow& flow : flows_) offered.push_back(flow.offered), carried.push_back(flow.carried);
        result["offered"] = offered;
        result["carried"] = carried;
        result["node_bytes"] = node_bytes_;
        result["packets"] = dequeued_ - out;
        result["cycles"] = total_;
        open_all();
        if (const uint64_t lost = drain_and_count(kLostQuiet)) throw std::runtime_error(std::to_string(lost) + " packets were lost");
        return result;
    }

  private:
    using Coming = std::pair<double, uint32_t>;  // when, flow

    uint64_t done() const override { return measuring_ ? std::min(total_, cycles_ - start_) : 0; }

    void departed(uint32_t queue, uint32_t, uint32_t len) override {
        const uint32_t index = flow_of_[queue];
        if (index == kNone) return;
        Flow& flow = flows_[index];
        --flow.held;
        if (measuring_) {
            flow.carried += len;
            node_bytes_[node_index_[node_of(queue / shape_.queues_per_subscriber)]] += len;
        }
        if (flow.spacing == 0) refill(index);
    }

    void add(const nb::dict& given) {
        const auto shaper = nb::cast<nb::tuple>(given["shaper"]);
        Flow flow{.queue = nb::cast<uint32_t>(given["queue"]),
                  .cls = nb::cast<uint8_t>(given["cls"]),
                  .weight = nb::cast<uint8_t>(given["weight"]),
                  .guarantee = guarantee_of(nb::cast<double>(given["guarantee"])),
                  .shaper = shaper_of(nb::cast<double>(shaper[0]), nb::cast<uint64_t>(shaper[1])),
                  .sizes = nb::cast<std::vector<uint32_t>>(given["sizes"]),
                  .spacing = nb::cast<double>(given["spacing"]),
                  .burst_bytes = nb::cast<uint32_t>(given["burst_bytes"])};
        flow_of_.at(flow.queue) = static_cast<uint32_t>(flows_.size());
        flows_.push_back(std::move(flow));
    }

    uint32_t node_of(uint32_t subscriber) const {
        return std::lower_bound(node_of_.begin(), node_of_.end(), std::pair(subscriber, uint32_t{0}))->second;
    }

    void configure() {
        for (uint32_t port = 0; port < shape_.ports; ++port) set({.what = HierarchyWhat::Port, .id = port});
        for (const HierarchyOffer& parent : parents_) set(parent);
        for (const Flow& flow : flows_) {
            set_queue(flow.queue, flow.shaper);
            set({.what = HierarchyWhat::Queue, .id = flow.queue, .cls = flow.cls, .weight = flow.weight, .guarantee = flow.guarantee});
        }
        pins().m_out_ready_i = 1;
        for (uint32_t index = 0; index < flows_.size(); ++index) {
            Flow& flow = flows_[index];
            if (flow.spacing > 0) {
                const double first = std::uniform_real_distribution<double>(0, 2 * flow.spacing * flow.burst_bytes)(rng_);
                coming_.emplace(static_cast<double>(cycles_) + first, index);
            }
            for (uint32_t n = 0; flow.spacing == 0 && n < kDepth; ++n) refill(index);
        }
    }

    void refill(uint32_t index) {
        const Flow& flow = flows_[index];
        if (!stopped_) pending_.emplace_back(index, flow.sizes[rng_() % flow.sizes.size()]);
    }

    void step() {
        while (!coming_.empty() && coming_.top().first <= static_cast<double>(cycles_)) burst();
        if (!pending_.empty() && may_offer()) {
            const auto [index, len] = pending_.front();
            pending_.pop_front();
            ++flows_[index].held;
            offer(flows_[index].queue, len);
        }
        cycle();
    }

    // A burst is half as long as the flow's to half as long again, and the next one comes when its bytes have had their time.
    void burst() {
        const auto [time, index] = coming_.top();
        coming_.pop();
        Flow& flow = flows_[index];
        const auto bytes = static_cast<uint64_t>(std::uniform_real_distribution<double>(0.5, 1.5)(rng_) * flow.burst_bytes);
        uint64_t made = 0;
        uint32_t waiting = flow.held;
        do {
            const uint32_t len = flow.sizes[rng_() % flow.sizes.size()];
            made += len;
            if (waiting++ < most_held_) pending_.emplace_back(index, len);
        } while (made < bytes);
        if (measuring_) flow.offered += made;
        coming_.emplace(time + flow.spacing * static_cast<double>(made), index);
    }

    // So that what is left comes out soon.
    void open_all() {
        stopped_ = true;
        pending_.clear();
        for (HierarchyOffer parent : parents_) {
            parent.shaper = kUnshaped;
            set(parent);
        }
        for (const Flow& flow : flows_) set_queue(flow.queue, kUnshaped);
    }

    HierarchyShape shape_;
    std::mt19937_64 rng_;
    uint64_t total_, start_ = 0;
    bool measuring_ = false, stopped_ = false;
    std::vector<Flow> flows_;
    std::vector<uint32_t> flow_of_, node_index_;          // by queue, by node
    std::vector<HierarchyOffer> parents_;                 // nodes, then subscribers
    std::vector<std::pair<uint32_t, uint32_t>> node_of_;  // subscriber, node
    std::priority_queue<Coming, std::vector<Coming>, std::greater<>> coming_;
    std::deque<std::pair<uint32_t, uint32_t>> pending_;  // flow and length of packets that have come
    std::vector<uint64_t> node_bytes_;
    size_t most_held_;
};

}  // namespace

nb::dict mix_bench(const nb::dict& given, nb::object progress) {
    const HierarchyShape shape = HierarchyShape::from_python(given);
    if (shape.levels != 4) throw std::invalid_argument("this bench wants a core with four levels");
    return Mixed(given, shape, std::move(progress)).run();
}

}  // namespace penstock
