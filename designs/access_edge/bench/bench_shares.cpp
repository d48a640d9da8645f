// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The benches of what a congested node does: shares of its subscribers, and the delay of the highest class.
#include "designs/access_edge/bench/bench_shares.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "designs/access_edge/bench/core_driver.hpp"
#include "designs/access_edge/bench/core_hierarchy.hpp"

namespace nb = nanobind;

namespace penstock {
namespace {

constexpr uint32_t kDepth = 4;           // packets that a backlogged queue holds
constexpr uint64_t kNodeBurst = 20'000;  // cycles; a node's that is fast enough to let batches of packets go at once
constexpr uint64_t kBurst = 1ull << 20;  // cycles; of the queues' own shapers, so that what they wait for the node costs them no credit
constexpr std::array<uint32_t, 12> kImix = {60, 60, 60, 60, 60, 60, 60, 590, 590, 590, 590, 1514};
constexpr std::array<uint32_t, 5> kSizes = {60, 300, 590, 1514, 9600};
constexpr uint32_t kLargestImix = 1514;
constexpr uint64_t kLostQuiet = 2'000'000;  // packets that have not come out after so many cycles without one are lost

struct Options {
    std::string library;
    uint32_t queues, descriptors, subscribers, congested_nodes, size;
    HierarchyShape hierarchy;
    double overload, node_rate;
    uint64_t seed;

    explicit Options(const nb::dict& given)
        : library(nb::cast<std::string>(given["library"])),
          queues(nb::cast<uint32_t>(given["queues"])),
          descriptors(nb::cast<uint32_t>(given["descriptors"])),
          subscribers(nb::cast<uint32_t>(given["subscribers"])),
          congested_nodes(nb::cast<uint32_t>(given["congested_nodes"])),
          size(nb::cast<uint32_t>(given["size"])),
          hierarchy(HierarchyShape::from_python(given)),
          overload(nb::cast<double>(given["overload"])),
          node_rate(nb::cast<double>(given["node_rate"])),
          seed(nb::cast<uint64_t>(given["seed"])) {
        if (hierarchy.levels != 4) throw std::invalid_argument("this bench wants a core with four levels");
        if (uint64_t{subscribers} * hierarchy.queues_per_subscriber * kDepth + 64 > descriptors)
            throw std::invalid_argument("too few descriptors for that many backlogged queues");
    }
};

// A backlogged queue.
struct Flow {
    uint32_t queue, size;  // 0: every packet is drawn
    uint64_t bytes = 0;    // that left in the measured time
};

// A subscriber with traffic: its flows are in a row.
struct Source {
    uint32_t subscriber, weight;
    size_t first, flows;
};

class CongestedNodes : protected CoreDriver {
  protected:
    CongestedNodes(const Options& options, uint64_t total, nb::object progress)
        : CoreDriver(make_core(options.library, options.queues, options.descriptors, true, AqmChoice{}, options.hierarchy.sizes()),
                     options.queues, options.descriptors, std::move(progress)),
          options_(options),
          rng_(options.seed),
          hierarchy_(options.hierarchy, options.queues, rng_),
          total_(total),
          node_code_(kNodeBurst << settings::kBurstAt | shaper_code(1.0 / options.node_rate)),
          node_bytes_(options.hierarchy.nodes) {}

    uint64_t done() const override { return measuring_ ? std::min(total_, cycles_ - start_) : 0; }

    void departed(uint32_t queue, uint32_t, uint32_t len) override {
        if (measuring_) node_bytes_[hierarchy_.node(queue)] += len;
        const uint32_t flow = flow_of_[queue];
        if (flow == kNone) return;
        if (measuring_) flows_[flow].bytes += len;
        refill_.push_back(flow);
    }

    // Sources are at the congested nodes in turn. `first_index`: the first of their queues that is backlogged; `all`: all from there on
    // are.
    void make_flows(uint32_t first_index, bool all, bool weights) {
        const uint32_t per = options_.hierarchy.queues_per_subscriber;
        flow_of_.assign(options_.queues, kNone);
        for (const uint32_t subscriber : hierarchy_.order) {
            if (hierarchy_.node_of[subscriber] >= options_.congested_nodes) continue;
            if (sources_.size() == options_.subscribers) break;
            const uint32_t count = all ? per - first_index : 1 + static_cast<uint32_t>(rng_() % (per - first_index));
            const uint32_t weight = weights ? 1 + static_cast<uint32_t>(rng_() % 8) : 1;
            sources_.push_back({subscriber, weight, flows_.size(), count});
            for (uint32_t k = 0; k < count; ++k) {
                const uint32_t queue = subscriber * per + first_index + k;
                flow_of_[queue] = static_cast<uint32_t>(flows_.size());
                flows_.push_back({queue, options_.size == 1 ? kSizes[rng_() % kSizes.size()] : options_.size});
            }
        }
        if (sources_.size() < options_.subscribers)
            throw std::invalid_argument("there are not so many subscribers below the congested nodes");
    }

    // Nodes get their rate; the queues below each are shaped so that they offer `overload` times that, by their weights; subscribers and
    // ports are open. Class of a flow: `cls` of its place among its subscriber's.
    template <class Class>
    void configure(Class cls) {
        std::vector<double> weights(options_.hierarchy.nodes);
        for (const Source& s : sources_) weights[hierarchy_.node_of[s.subscriber]] += s.weight;
        for (uint32_t port = 0; port < options_.hierarchy.ports; ++port) set({.what = HierarchyWhat::Port, .id = port});
        for (uint32_t node = 0; node < options_.hierarchy.nodes; ++node)
            set({.what = HierarchyWhat::Node, .id = node, .shaper = node_code_, .parent = hierarchy_.port_of[node]});
        for (const Source& s : sources_) {
            const uint32_t node = hierarchy_.node_of[s.subscriber];
            set({.what = HierarchyWhat::Subscriber, .id = s.subscriber, .parent = node, .weight = static_cast<uint8_t>(s.weight)});
            const double offered = options_.overload * options_.node_rate * s.weight / weights[node] / static_cast<double>(s.flows);
            for (size_t k = 0; k < s.flows; ++k) {
                const uint32_t queue = flows_[s.first + k].queue;
                set_queue(queue, kBurst << settings::kBurstAt | shaper_code(1.0 / offered));
                set({.what = HierarchyWhat::Queue, .id = queue, .cls = cls(k)});
            }
        }
        pins().m_out_ready_i = 1;
        for (uint32_t n = 0; n < kDepth; ++n)
            for (uint32_t flow = 0; flow < flows_.size(); ++flow) refill_.push_back(flow);
    }

    void offer_next() {
        if (refill_.empty() || !may_offer()) return;
        const Flow& flow = flows_[refill_.front()];
        refill_.pop_front();
        offer(flow.queue, flow.size ? flow.size : kImix[rng_() % kImix.size()]);
    }

    void start() {
        measuring_ = true;
        start_ = cycles_;
    }

    // Rate reached / rate, of the nodes that have traffic.
    void add_utilisation(nb::dict& result) const {
        std::vector<bool> used(options_.hierarchy.nodes);
        for (const Source& s : sources_) used[hierarchy_.node_of[s.subscriber]] = true;
        double least = 1e9, most = 0;
        for (uint32_t node = 0; node < options_.hierarchy.nodes; ++node) {
            if (!used[node]) continue;
            const double share = static_cast<double>(node_bytes_[node]) * code_period(node_code_) / static_cast<double>(stop_ - start_);
            least = std::min(least, share);
            most = std::max(most, share);
        }
        result["parent_utilisation"] = least;
        result["parent_utilisation_max"] = most;
        result["cycles"] = stop_ - start_;
        result["flows"] = flows_.size();
    }

    void stop() {
        measuring_ = false;
        stop_ = cycles_;
    }

    // Nodes open, so that what is left comes out soon.
    uint64_t open_and_drain() {
        refill_.clear();
        for (Flow& flow : flows_) flow_of_[flow.queue] = kNone;
        for (uint32_t node = 0; node < options_.hierarchy.nodes; ++node)
            set({.what = HierarchyWhat::Node, .id = node, .parent = hierarchy_.port_of[node]});
        return drain_and_count(kLostQuiet);
    }

    Options options_;
    std::mt19937_64 rng_;
    DrawnHierarchy hierarchy_;
    uint64_t total_, start_ = 0, stop_ = 0;
    uint64_t node_code_;
    bool measuring_ = false;
    std::vector<Flow> flows_;
    std::vector<Source> sources_;
    std::vector<uint32_t> flow_of_;  // by queue
    std::deque<uint32_t> refill_;    // flows that lack a packet
    std::vector<uint64_t> node_bytes_;
};

class Fairness : CongestedNodes {
  public:
    Fairness(const Options& options, uint64_t cycles, bool weights, nb::object progress)
        : CongestedNodes(options, cycles, std::move(progress)), weights_(weights) {}

    nb::dict run() {
        reset();
        make_flows(0, false, weights_);
        configure([](size_t) { return uint8_t{0}; });
        for (uint64_t i = 0; i < total_ / 10; ++i) step();
        start();
        const uint64_t out = dequeued_;
        while (cycles_ - start_ < total_) step();
        stop();
        nb::dict result;
        result["packets"] = dequeued_ - out;
        errors(result);
        add_utilisation(result);
        if (const uint64_t lost = open_and_drain()) throw std::runtime_error(std::to_string(lost) + " packets were lost");
        return result;
    }

  private:
    void step() {
        offer_next();
        cycle();
    }

    void errors(nb::dict& result) const {
        std::vector<double> weights(options_.hierarchy.nodes), bytes(options_.hierarchy.nodes);
        const auto bytes_of = [&](const Source& s) {
            double sum = 0;
            for (size_t k = 0; k < s.flows; ++k) sum += static_cast<double>(flows_[s.first + k].bytes);
            return sum;
        };
        for (const Source& s : sources_) {
            weights[hierarchy_.node_of[s.subscriber]] += s.weight;
            bytes[hierarchy_.node_of[s.subscriber]] += bytes_of(s);
        }
        double subscribers = 0, queues = 0, all = 0;
        std::map<size_t, std::pair<double, uint32_t>> by_flows;
        for (const Source& s : sources_) {
            const uint32_t node = hierarchy_.node_of[s.subscriber];
            const double mine = std::max(1.0, bytes_of(s));
            all += mine;
            const double fair = s.weight / weights[node];
            by_flows[s.flows].first += mine / std::max(1.0, bytes[node]) / fair;
            ++by_flows[s.flows].second;
            subscribers = std::max(subscribers, std::fabs(mine / std::max(1.0, bytes[node]) - fair));
            for (size_t k = 0; k < s.flows; ++k)
                queues =
                    std::max(queues, std::fabs(static_cast<double>(flows_[s.first + k].bytes) / mine - 1.0 / static_cast<double>(s.flows)));
        }
        result["share_error_points"] = 100 * std::max(subscribers, queues);
        result["subscriber_error_points"] = 100 * subscribers;
        result["queue_error_points"] = 100 * queues;
        nb::dict relative;
        for (const auto& [flows, sum] : by_flows) relative[std::to_string(flows).c_str()] = sum.first / sum.second;
        result["share_by_queues"] = relative;
        result["subscribers"] = sources_.size();
        result["bytes"] = static_cast<uint64_t>(all);
    }

    bool weights_;
};

class Priority : CongestedNodes {
  public:
    Priority(const Options& options, uint64_t packets, uint32_t voice_bytes, double voice_share, nb::object progress)
        : CongestedNodes(options, packets, std::move(progress)), packets_(packets), voice_bytes_(voice_bytes), since_(options.descriptors) {
        // Of the traffic of all nodes together, by cycle.
        const double used = std::min(options.congested_nodes, options.subscribers);
        chance_ = voice_share * options.node_rate * used / voice_bytes;
    }

    nb::dict run() {
        reset();
        make_flows(1, true, false);
        const uint32_t low = options_.hierarchy.classes - 1;
        configure([&](size_t k) { return static_cast<uint8_t>(1 + k % low); });
        for (const Source& s : sources_) set({.what = HierarchyWhat::Queue, .id = voice_queue(s)});
        latencies_.reserve(packets_);
        // Until the backlog is there.
        const auto warm =
            static_cast<uint64_t>(10 * kLargestImix * static_cast<double>(flows_.size()) / options_.node_rate / options_.congested_nodes);
        for (uint64_t i = 0; i < warm + 10'000; ++i) step(false);
        start();
        // One that is lost, or starves, must not keep it for ever: all are offered, and none has moved for long.
        while (latencies_.size() < packets_ && (offered_ < packets_ || cycles_ - moved_ < kLostQuiet)) step(offered_ < packets_);
        stop();
        nb::dict result;
        add_utilisation(result);
        result["lost"] = open_and_drain();
        result["packets"] = packets_;
        result["latency_cycles"] = nb::cast(latencies_);
        result["packet_cycles"] = std::max(options_.size, options_.size > 1 ? 0
                                                          : options_.size   ? kSizes.back()
                                                                            : kLargestImix) *
                                  code_period(node_code_);
        return result;
    }

  private:
    uint64_t done() const override { return latencies_.size(); }

    uint32_t voice_queue(const Source& s) const { return s.subscriber * options_.hierarchy.queues_per_subscriber; }

    void enqueued(uint32_t, uint32_t descriptor) override { since_[descriptor] = cycles_; }

    void departed(uint32_t queue, uint32_t descriptor, uint32_t len) override {
        CongestedNodes::departed(queue, descriptor, len);
        if (flow_of_[queue] != kNone || !measuring_) return;
        latencies_.push_back(static_cast<uint32_t>(cycles_ - since_[descriptor]));
        moved_ = cycles_;
    }

    void step(bool voice) {
        if (voice && std::uniform_real_distribution<double>(0, 1)(rng_) < chance_) {
            voice_.push_back(voice_queue(sources_[rng_() % sources_.size()]));
            ++offered_;
            moved_ = cycles_;
        }
        if (voice_.empty()) {
            offer_next();
        } else if (may_offer()) {
            offer(voice_.front(), voice_bytes_);
            voice_.pop_front();
        }
        cycle();
    }

    uint64_t packets_, offered_ = 0;
    uint64_t moved_ = 0;  // cycle in which the last packet of class 0 was drawn or left
    uint32_t voice_bytes_;
    double chance_;
    std::deque<uint32_t> voice_;   // packets of class 0 that are to be offered
    std::vector<uint64_t> since_;  // by descriptor: when it was taken
    std::vector<uint32_t> latencies_;
};

}  // namespace

nb::dict fairness_bench(const nb::dict& given, nb::object progress) {
    return Fairness(Options(given), nb::cast<uint64_t>(given["cycles"]), nb::cast<bool>(given["weights"]), std::move(progress)).run();
}

nb::dict priority_bench(const nb::dict& given, nb::object progress) {
    const Options options(given);
    if (options.hierarchy.queues_per_subscriber < 2 || options.hierarchy.classes < 2)
        throw std::invalid_argument("priority wants two queues per subscriber and two classes at least");
    return Priority(options, nb::cast<uint64_t>(given["packets"]), nb::cast<uint32_t>(given["voice_bytes"]),
                    nb::cast<double>(given["voice_share"]), std::move(progress))
        .run();
}

}  // namespace penstock
