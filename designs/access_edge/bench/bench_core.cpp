// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Benches of pst_access_edge_core (queue manager, scheduler, output FIFO, hierarchy) at its descriptor ports: how many packets
// per cycle it takes and gives, and how long a single packet needs. Every packet is checked (core_driver.hpp).
#include "designs/access_edge/bench/bench_core.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "designs/access_edge/bench/bench_lateness.hpp"
#include "designs/access_edge/bench/bench_mixes.hpp"
#include "designs/access_edge/bench/bench_reconfigure.hpp"
#include "designs/access_edge/bench/bench_shares.hpp"
#include "designs/access_edge/bench/core_driver.hpp"
#include "designs/access_edge/bench/core_hierarchy.hpp"
#include "designs/access_edge/model/device/scheduler_choice.hpp"

namespace nb = nanobind;

namespace penstock {
namespace {

constexpr uint32_t kMinLen = 60, kMaxLen = 1514;  // Ethernet without FCS
// Per-queue limits after reset are 65,535 packets and 16,777,215 bytes; this many of the largest frames stay below both.
constexpr uint32_t kBacklogPerQueue = 8192;
constexpr double kMeanLen = (kMinLen + kMaxLen) / 2.0;
constexpr uint64_t kCongestedBurst = 20'000;  // cycles; of parents that are fast enough to let batches of packets go at once

struct Options {
    std::string library, mode, pattern;
    HierarchyShape hierarchy;
    std::string congested;  // subscriber, node or port: every packet has to wait at that level; or none
    uint32_t queues = 0, descriptors = 0;
    FlowSizes flows;    // of the model
    uint32_t each = 1;  // flows of each queue
    uint64_t packets = 0, seed = 1;
    bool shaping = true;  // of the model; the library has it built in
    AqmChoice aqm;
    uint64_t aqm_word = 0;        // setting word of every queue's AQM, which is enabled and marks
    OwnScheduler scheduler;       // of the model, which has none of ours
    uint64_t scheduler_word = 0;  // setting word of every queue; 0: none is written
};

constexpr int kTickShift = 8;  // the library is built with a tick of 256 cycles

// As pst_pkg::aqm_cfg_t has it: enable, ecn, setting word.
uint64_t aqm_code(const Options& options) { return options.aqm ? uint64_t{3} << AqmSetting::kWordBits | options.aqm_word : 0; }

// Which queue is next: any; always the same one; one of four neighbours, which move on by one every 64 packets.
class Pattern {
  public:
    Pattern(const Options& options, std::mt19937_64& rng) : random_(rng), queues_(options.queues), kind_(options.pattern) {
        if (kind_ != "random" && kind_ != "same" && kind_ != "neighbours") throw std::invalid_argument("unknown pattern " + kind_);
        base_ = draw(queues_);
    }

    uint32_t next() {
        if (kind_ == "same") return base_;
        if (kind_ == "random") return draw(queues_);
        if (++count_ % 64 == 0) base_ = (base_ + 1) % queues_;
        return (base_ + draw(std::min(4u, queues_))) % queues_;
    }

    // How many queues share the load at any time.
    uint32_t active() const { return kind_ == "same" ? 1 : kind_ == "random" ? queues_ : std::min(4u, queues_); }

  private:
    uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

    std::mt19937_64& random_;
    uint32_t queues_, base_ = 0;
    uint64_t count_ = 0;
    std::string kind_;
};

class Bench : CoreDriver {
  public:
    Bench(const Options& options, nb::object progress)
        : CoreDriver(make_core(options.library, options.queues, options.descriptors, options.shaping, options.aqm,
                               options.hierarchy.sizes(), options.scheduler, options.flows),
                     options.queues, options.descriptors, std::move(progress), 50'000'000, options.each),
          options_(options),
          rng_(options.seed),
          pattern_(options, rng_) {
        aqm_ = static_cast<bool>(options.aqm);
    }

    nb::dict run() {
        reset();
        const std::string& mode = options_.mode;
        if (mode != "queue" && mode != "schedule" && mode != "idle-latency") throw std::invalid_argument("unknown mode " + mode);
        pins().s_cfg_aqm_i = aqm_code(options_);
        if (mode == "schedule")
            set_rates();
        else if (aqm_ || options_.scheduler_word)
            for (uint32_t queue = 0; queue < options_.queues; ++queue)
                set_queue(queue, options_.scheduler_word ? options_.scheduler_word : kUnshaped);
        if (options_.hierarchy.levels > 1) set_hierarchy();
        return mode == "idle-latency" ? idle_latency() : throughput();
    }

  private:
    // Every queue gets a period of 0.25 to 0.75 of what would share one packet per cycle: all rates together are about two packets per
    // cycle, and each is above the queue's load, so the core is the limit and queues still wait in the wheel for their time.
    void set_rates() {
        for (uint32_t queue = 0; queue < options_.queues; ++queue) set_queue(queue, drawn_shaper(1.0 / pattern_.active()));
    }

    // The shaper of a parent that gets that share of the load.
    uint64_t drawn_shaper(double share_of_load) {
        std::uniform_real_distribution<double> share(0.25, 0.75);
        return shaper_code(share(rng_) / share_of_load / kMeanLen);
    }

    // Subscribers below nodes below ports, the queues' classes drawn. `schedule` shapes all parents as it shapes queues, above their load.
    // At a congested level gates are closed until the backlog stands before them (open_congested), the other levels are unshaped.
    void set_hierarchy() {
        const DrawnHierarchy hierarchy(options_.hierarchy, options_.queues, rng_);
        const bool shaped = options_.mode == "schedule" && options_.congested.empty();
        const auto level = [&](HierarchyWhat what, const std::string& name, uint32_t count, const std::vector<uint32_t>& load,
                               const std::vector<uint32_t>& parents) {
            const double all = std::accumulate(load.begin(), load.end(), 0.0);
            for (uint32_t id = 0; id < count; ++id) {
                HierarchyOffer setting{.what = what, .id = id, .parent = parents.empty() ? 0 : parents[id]};
                // What takes turns is at times all below one parent.
                const double part = options_.pattern == "random" ? load[id] / all : 1.0;
                if (shaped) setting.shaper = drawn_shaper(part);
                if (options_.congested == name) {
                    congested_.push_back(setting);
                    congested_.back().shaper = kCongestedBurst << settings::kBurstAt | shaper_code(1.0 / part / kMeanLen);
                    setting.shaper = kClosed;
                }
                set(setting);
            }
        };
        std::vector<uint32_t> nodes(options_.hierarchy.nodes), ports(options_.hierarchy.ports);
        for (const uint32_t node : hierarchy.node_of) {
            ++nodes[node];
            ++ports[hierarchy.port_of[node]];
        }
        level(HierarchyWhat::Subscriber, "subscriber", hierarchy.subscribers(), std::vector<uint32_t>(hierarchy.subscribers(), 1),
              hierarchy.node_of);
        level(HierarchyWhat::Node, "node", options_.hierarchy.nodes, nodes, hierarchy.port_of);
        level(HierarchyWhat::Port, "port", options_.hierarchy.ports, ports, {});
        for (uint32_t queue = 0; queue < options_.queues; ++queue)
            set({.what = HierarchyWhat::Queue, .id = queue, .cls = static_cast<uint8_t>(rng_() % options_.hierarchy.classes)});
    }

    void open_congested() {
        if (congested_.empty()) return;
        for (uint64_t i = 0; i < 4 * uint64_t{options_.queues} + 1000; ++i) cycle();  // until every queue stands there
        for (const HierarchyOffer& setting : congested_) set(setting);
    }

    void offer_next() {
        if (may_offer()) offer(pattern_.next(), static_cast<uint32_t>(kMinLen + rng_() % (kMaxLen - kMinLen + 1)), draw_flow());
    }

    uint32_t draw_flow() { return options_.each == 1 ? 0 : static_cast<uint32_t>(rng_() % options_.each); }

    // A backlog is laid up first, so that in the measured time both sides always have something to do.
    nb::dict throughput() {
        const uint64_t most = std::min<uint64_t>(options_.descriptors, uint64_t{kBacklogPerQueue} * pattern_.active());
        while (mirror_.waiting() < most / 2) {
            offer_next();
            cycle();
        }
        pins().m_out_ready_i = 1;
        open_congested();
        const uint64_t start = cycles_, in = enqueued_, out = dequeued_;
        while (enqueued_ - in < options_.packets) {
            if (mirror_.waiting() < most) offer_next();
            cycle();
        }
        const double span = static_cast<double>(cycles_ - start);
        nb::dict result;
        result["cycles"] = cycles_ - start;
        result["packets"] = enqueued_ - in;
        result["enqueues_per_cycle"] = static_cast<double>(enqueued_ - in) / span;
        result["dequeues_per_cycle"] = static_cast<double>(dequeued_ - out) / span;
        drain();
        result["total_cycles"] = cycles_;
        result["total_packets"] = enqueued_;
        if (aqm_) {
            result["marked"] = marked_;
            result["aqm_dropped"] = aqm_dropped_;
        }
        return result;
    }

    // From the cycle of the enqueue handshake to the first cycle with m_out_valid_o, in a system that holds nothing else.
    nb::dict idle_latency() {
        pins().m_out_ready_i = 1;
        std::vector<uint32_t> latencies;
        latencies.reserve(options_.packets);
        for (uint64_t n = 0; n < options_.packets; ++n) {
            for (uint64_t gap = rng_() % 200; gap > 0; --gap) cycle();
            offer_next();
            while (pins().s_enq_valid_i) cycle();
            const uint64_t taken = cycles_;
            while (mirror_.waiting()) cycle();
            latencies.push_back(static_cast<uint32_t>(cycles_ - taken));
        }
        nb::dict result;
        result["cycles"] = cycles_;
        result["packets"] = enqueued_;
        result["latency_cycles"] = nb::cast(latencies);
        drain();
        return result;
    }

    Options options_;
    std::mt19937_64 rng_;
    Pattern pattern_;
    std::vector<HierarchyOffer> congested_;  // settings of the congested level, for when the backlog is there
};

nb::dict core_bench(const nb::dict& given, nb::object progress) {
    Options options;
    options.library = nb::cast<std::string>(given["library"]);
    options.mode = nb::cast<std::string>(given["mode"]);
    options.pattern = nb::cast<std::string>(given["pattern"]);
    options.queues = nb::cast<uint32_t>(given["queues"]);
    options.descriptors = nb::cast<uint32_t>(given["descriptors"]);
    options.packets = nb::cast<uint64_t>(given["packets"]);
    options.seed = nb::cast<uint64_t>(given["seed"]);
    options.shaping = nb::cast<bool>(given["shaping"]);
    Table table(given, "");
    options.aqm = take_aqm(table, false, kTickShift, kMaxLen);
    options.aqm_word = options.aqm ? static_cast<uint64_t>(table.integer("aqm_word", 0, AqmSetting::kMostWord)) : 0;
    options.scheduler = take_scheduler(table);
    options.scheduler_word = static_cast<uint64_t>(table.integer("scheduler_word", 0, (int64_t{1} << SchedulerModel::kWordBits) - 1, 0));
    options.flows.flows = static_cast<uint32_t>(table.integer("flows", 0, 1 << 24, 0));
    options.flows.lanes = static_cast<uint32_t>(table.integer("lanes", 1, 4, 2));
    options.each = static_cast<uint32_t>(table.integer("each", 1, 1024, 1));
    options.hierarchy = HierarchyShape::from_python(given);
    options.congested = nb::cast<std::string>(given["congested"]);
    if (options.queues < 2 || options.descriptors < 2 || options.packets < 1)
        throw std::invalid_argument("queues and descriptors must be at least 2, packets at least 1");
    return Bench(options, std::move(progress)).run();
}

// The core's model for tests that drive pins cycle by cycle (testing/testcore.py).
struct PythonCore {
    std::unique_ptr<Core> core;
};

}  // namespace

void bind_bench(nb::module_& m) {
    nb::class_<PythonCore>(m, "CoreModel", "The model of pst_access_edge_core behind its pins: pst_core_pins at address `pins`.")
        .def(
            "__init__",
            [](PythonCore* self, uint32_t queues, uint32_t descriptors, bool shaping, const nb::object& scheduler) {
                nb::dict given;
                given["scheduler"] = scheduler;
                Table table(given, "");
                new (self) PythonCore{make_core("", queues, descriptors, shaping, {}, {}, take_scheduler(table))};
            },
            nb::arg("queues"), nb::arg("descriptors"), nb::arg("shaping"), nb::arg("scheduler").none() = nb::none())
        .def_prop_ro("pins", [](PythonCore& self) { return reinterpret_cast<uintptr_t>(&self.core->pins); })
        .def("step", [](PythonCore& self) { self.core->step(); }, "One clock cycle.");
    m.def("core_bench", &core_bench, nb::arg("options"), nb::arg("progress").none() = nb::none(),
          "Run a bench of pst_access_edge_core. Options: library (empty: the model), shaping, scheduler (an own one: as in a job, or None) "
          "and "
          "scheduler_word (of each queue), aqm (as in a job, or None) with aqm_word (of each queue), mode (queue, schedule, idle-latency), "
          "pattern (random, same,\n"
          "neighbours), queues, descriptors, packets, seed; flows (0: none), lanes, each (flows of a queue); levels (1 or 4), "
          "queues_per_subscriber, nodes, ports, classes; congested (none, "
          "or the level).\n"
          "progress(packets, cycles) is called now and then. Returns cycles,\n"
          "packets, and enqueues_per_cycle and dequeues_per_cycle, or latency_cycles (a list). Raises RuntimeError when the\n"
          "core loses, invents, changes or reorders a packet.");
    m.def("lateness_bench", &lateness_bench, nb::arg("options"), nb::arg("progress").none() = nb::none(),
          "Measure how late pst_access_edge_core sends shaped packets; bench_lateness.hpp has the options and the result.");
    m.def("mix_bench", &mix_bench, nb::arg("options"), nb::arg("progress").none() = nb::none(),
          "Measure shares below congested nodes with queues of all kinds; bench_mixes.hpp has the options and the result.");
    m.def("fairness_bench", &fairness_bench, nb::arg("options"), nb::arg("progress").none() = nb::none(),
          "Measure the shares below congested nodes; bench_shares.hpp has the options and the result.");
    m.def("priority_bench", &priority_bench, nb::arg("options"), nb::arg("progress").none() = nb::none(),
          "Measure the delay of class 0 below congested nodes; bench_shares.hpp has the options and the result.");
    m.def("reconfigure_bench", &reconfigure_bench, nb::arg("options"), nb::arg("progress").none() = nb::none(),
          "Change settings while traffic flows at full rate; bench_reconfigure.hpp has the options and the result.");
}

}  // namespace penstock
