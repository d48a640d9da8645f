// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Settings of every kind, changed as fast as the core takes them, while traffic flows at full rate.
//
// Rates stay above their load, limits above the backlog, and few gates are closed at a time and soon opened again: the packets that can go
// are never few, so an output that has nothing, or an enqueue side that takes nothing, stands still because of the core and not because of
// what was set. Subscribers change their nodes, and nodes their ports, in pairs, so that the load below each stays what it was.
#include "designs/access_edge/bench/bench_reconfigure.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "designs/access_edge/bench/core_driver.hpp"
#include "designs/access_edge/bench/core_hierarchy.hpp"

namespace nb = nanobind;

namespace penstock {
namespace {

constexpr uint32_t kMinLen = 60, kMaxLen = 1514;
constexpr double kMeanLen = (kMinLen + kMaxLen) / 2.0;
constexpr uint32_t kWindow = 32;            // cycles
constexpr uint32_t kShort = 8;              // cycles
constexpr uint64_t kLostQuiet = 2'000'000;  // packets that have not come out after so many cycles without one are lost
constexpr size_t kClosedQueues = 16, kClosedSubscribers = 4, kClosedNodes = 1;
constexpr uint64_t kRate = (uint64_t{1} << settings::kBurstAt) - 1;  // a shaper's code without its burst
constexpr uint32_t kLimit = 60'000;                                  // packets; limits are drawn between this and the most

// How long one side stands still; and the longest standstill in each window of the run.
class Standstills {
  public:
    void cycle(bool still) {
        run_ = still ? run_ + 1 : 0;
        longest_ = std::max(longest_, run_);
        if (++in_window_ < kWindow) return;
        windows_.push_back(longest_);
        longest_ = run_;
        in_window_ = 0;
    }

    uint32_t run() const { return run_; }
    const std::vector<uint32_t>& windows() const { return windows_; }

  private:
    uint32_t run_ = 0, longest_ = 0, in_window_ = 0;
    std::vector<uint32_t> windows_;
};

// A setting that is offered, and when it was first.
struct Offer {
    std::string kind;
    bool valid = false;
    uint64_t since = 0;
};

class Reconfigure : CoreDriver {
  public:
    Reconfigure(const nb::dict& given, nb::object progress)
        : CoreDriver(make_core(nb::cast<std::string>(given["library"]), nb::cast<uint32_t>(given["queues"]),
                               nb::cast<uint32_t>(given["descriptors"]), true, AqmChoice{}, HierarchyShape::from_python(given).sizes()),
                     nb::cast<uint32_t>(given["queues"]), nb::cast<uint32_t>(given["descriptors"]), std::move(progress)),
          queues_(nb::cast<uint32_t>(given["queues"])),
          descriptors_(nb::cast<uint32_t>(given["descriptors"])),
          total_(nb::cast<uint64_t>(given["cycles"])),
          changes_wanted_(nb::cast<bool>(given["changes"])),
          rng_(nb::cast<uint64_t>(given["seed"])),
          changes_rng_(nb::cast<uint64_t>(given["seed"]) + 1),
          hierarchy_(HierarchyShape::from_python(given), queues_, rng_),
          nodes_(queues_) {
        if (hierarchy_.shape.levels != 4) throw std::invalid_argument("this bench wants a core with four levels");
        mirror_.count_reordered();
    }

    nb::dict run() {
        reset();
        set_up();
        while (mirror_.waiting() < backlog()) step();
        pins().m_out_ready_i = 1;
        for (uint32_t i = 0; i < 20'000; ++i) step();
        start_ = cycles_;
        const uint64_t in = enqueued_, out = dequeued_;
        while (cycles_ - start_ < total_) {
            if (changes_wanted_) change();
            const bool offered = pins().s_enq_valid_i || (step_offer(), pins().s_enq_valid_i);
            cycle();
            taken();
            if (pins().m_out_valid_o) departed(pins().m_out_queue_o);
            enqueue_side_.cycle(offered && !pins().s_enq_ready_o);
            output_side_.cycle(!pins().m_out_valid_o && mirror_.waiting() > descriptors_ / 4 && (output_side_.run() < kShort || may_go()));
        }
        const auto span = static_cast<double>(cycles_ - start_);
        nb::dict result;
        result["cycles"] = cycles_ - start_;
        result["packets"] = dequeued_ - out;
        result["enqueues_per_cycle"] = static_cast<double>(enqueued_ - in) / span;
        result["dequeues_per_cycle"] = static_cast<double>(dequeued_ - out) / span;
        result["enqueue_standstills"] = nb::cast(enqueue_side_.windows());
        result["output_standstills"] = nb::cast(output_side_.windows());
        result["ready"] = nb::cast(ready_);
        nb::dict kinds;
        for (const auto& [kind, count] : changes_) kinds[kind.c_str()] = count;
        result["changes"] = kinds;
        result["lost"] = open_and_drain();
        result["reordered"] = mirror_.reordered();
        return result;
    }

  private:
    // What waits while packets are offered as fast as they are taken. The run begins with it: with few packets some draws go on with few
    // for long, since the output keeps up, and then hardly a cycle says what changes do to it.
    uint64_t backlog() const { return uint64_t{descriptors_} * 7 / 8; }

    uint64_t done() const override { return start_ ? std::min(total_, cycles_ - start_) : 0; }

    // More than a quarter of the descriptors wait in queues whose gates are open at all levels. With few queues all that is there may stand
    // before a gate that was closed for long. Asked in a standstill of kShort cycles only, since it walks through all packets.
    bool may_go() {
        uint64_t open = 0;
        for (uint32_t queue = 0; queue < queues_; ++queue) {
            bool held = has(closed_queues_, queue) || has(closed(HierarchyWhat::Subscriber), hierarchy_.subscriber(queue));
            for (const uint32_t node : nodes_[queue]) held = held || has(closed(HierarchyWhat::Node), node);
            if (!held) open += mirror_.waiting(queue);
        }
        return open > descriptors_ / 4;
    }

    static bool has(const std::deque<uint32_t>& ids, uint32_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }
    std::deque<uint32_t>& closed(HierarchyWhat what) { return closed_[static_cast<size_t>(what)]; }

    // A packet that stands at a node stays there when its subscriber moves, and its queue waits for it: so a queue's next packet stands
    // before any node that it has been below since the last one left.
    void moved(uint32_t subscriber) {
        const uint32_t per = hierarchy_.shape.queues_per_subscriber;
        for (uint32_t queue = subscriber * per; queue < (subscriber + 1) * per; ++queue)
            nodes_[queue].push_back(records(HierarchyWhat::Subscriber)[subscriber].parent);
    }
    void departed(uint32_t queue) { nodes_[queue].assign(1, records(HierarchyWhat::Subscriber)[hierarchy_.subscriber(queue)].parent); }

    static uint32_t draw(std::mt19937_64& rng, size_t below) { return static_cast<uint32_t>(rng() % below); }

    // A queue with that part of the load gets two to ten times that rate.
    uint64_t shaper(std::mt19937_64& rng, double part) {
        return shaper_code(std::uniform_real_distribution<double>(0.1, 0.5)(rng) / part / kMeanLen);
    }
    uint64_t shaper_of(HierarchyWhat what) { return shaper(changes_rng_, 1.0 / static_cast<double>(records(what).size())); }

    std::vector<HierarchyOffer>& records(HierarchyWhat what) { return records_[static_cast<size_t>(what)]; }

    void set_up() {
        for (uint32_t queue = 0; queue < queues_; ++queue) {
            shapers_.push_back(shaper(rng_, 1.0 / queues_));
            limits_.push_back(kMostPackets);
            set_queue(queue, shapers_.back());
            records(HierarchyWhat::Queue)
                .push_back({.what = HierarchyWhat::Queue, .id = queue, .cls = static_cast<uint8_t>(draw(rng_, hierarchy_.shape.classes))});
        }
        const auto level = [&](HierarchyWhat what, size_t count, const std::vector<uint32_t>& parents) {
            for (uint32_t id = 0; id < count; ++id) {
                const uint64_t code = shaper(rng_, 1.0 / static_cast<double>(count));
                records(what).push_back({.what = what, .id = id, .shaper = code, .parent = parents.empty() ? 0 : parents[id]});
            }
        };
        level(HierarchyWhat::Subscriber, hierarchy_.subscribers(), hierarchy_.node_of);
        level(HierarchyWhat::Node, hierarchy_.shape.nodes, hierarchy_.port_of);
        level(HierarchyWhat::Port, hierarchy_.shape.ports, {});
        for (uint32_t queue = 0; queue < queues_; ++queue) departed(queue);
        for (const auto& level_records : records_)
            for (const HierarchyOffer& setting : level_records) set(setting);
    }

    void step_offer() {
        if (may_offer() && mirror_.waiting() < backlog()) offer(draw(rng_, queues_), kMinLen + draw(rng_, kMaxLen - kMinLen + 1));
    }
    void step() {
        step_offer();
        cycle();
    }

    // --- changes: one is always offered at each of the two ports

    void change() {
        auto& p = pins();
        if (!queue_offer_.valid) {
            queue_offer_ = {next_queue_change(), true, cycles_};
            p.s_cfg_valid_i = 1;
        }
        if (!hierarchy_offer_.valid) {
            const auto [kind, setting] = next_hierarchy_change();
            hierarchy_offer_ = {kind, true, cycles_};
            show(setting);
        }
    }

    void taken() {
        auto& p = pins();
        const auto take = [&](Offer& offer, bool ready, uint8_t& valid) {
            if (!offer.valid || !ready) return;
            ready_.push_back(static_cast<uint32_t>(cycles_ - offer.since));
            ++changes_[offer.kind];
            offer.valid = false;
            valid = 0;
        };
        take(queue_offer_, p.s_cfg_ready_o, p.s_cfg_valid_i);
        take(hierarchy_offer_, p.s_hierarchy_cfg_ready_o, p.s_hierarchy_cfg_valid_i);
    }

    // Puts the next change of a queue's own settings on the pins.
    std::string next_queue_change() {
        uint32_t queue = draw(changes_rng_, queues_);
        std::string kind;
        uint64_t code = 0;
        switch (changes_rng_() % 4) {
            case 0:
                shapers_[queue] = (shapers_[queue] >> settings::kBurstAt << settings::kBurstAt) | shaper(changes_rng_, 1.0 / queues_);
                kind = "queue rate";
                break;
            case 1:
                shapers_[queue] = (shapers_[queue] & kRate) | uint64_t{draw(changes_rng_, 1 << 20)} << settings::kBurstAt;
                kind = "queue burst";
                break;
            case 2:
                limits_[queue] = kLimit + draw(changes_rng_, kMostPackets - kLimit + 1);
                kind = "queue limit";
                break;
            default:
                kind = "queue gate";
                if (closed_queues_.size() >= kClosedQueues) {
                    queue = closed_queues_.front();
                    closed_queues_.pop_front();
                } else {
                    closed_queues_.push_back(queue);
                }
        }
        const bool closed = std::find(closed_queues_.begin(), closed_queues_.end(), queue) != closed_queues_.end();
        code = closed ? kClosed : shapers_[queue];
        auto& p = pins();
        p.s_cfg_queue_i = queue;
        p.s_cfg_shaper_i = code;
        p.s_cfg_limit_packets_i = static_cast<uint16_t>(limits_[queue]);
        p.s_cfg_limit_bytes_i = kMostBytes - limits_[queue] % 1024;
        return kind;
    }

    std::pair<std::string, HierarchyOffer> next_hierarchy_change() {
        if (!partner_.empty()) {  // the other half of a swap
            auto [kind, setting] = partner_.front();
            partner_.pop_front();
            return {kind, shown(setting.what, setting.id)};
        }
        static const char* const kNames[] = {"queue", "subscriber", "node", "port"};
        const auto what = static_cast<HierarchyWhat>(changes_rng_() % 4);
        const std::string name = kNames[static_cast<size_t>(what)];
        uint32_t id = draw(changes_rng_, records(what).size());
        HierarchyOffer& record = records(what)[id];
        if (what == HierarchyWhat::Queue) {
            if (changes_rng_() % 2) {
                record.cls = static_cast<uint8_t>(draw(changes_rng_, hierarchy_.shape.classes));
                return {"queue class", record};
            }
            record.weight = static_cast<uint8_t>(1 + draw(changes_rng_, 8));
            return {"queue weight", record};
        }
        switch (changes_rng_() % (what == HierarchyWhat::Port ? 2 : what == HierarchyWhat::Node ? 4 : 5)) {
            case 0:
                record.shaper = (record.shaper >> settings::kBurstAt << settings::kBurstAt) | shaper_of(what);
                return {name + " rate", shown(what, id)};
            case 1:
                record.shaper = (record.shaper & kRate) | uint64_t{draw(changes_rng_, 1 << 20)} << settings::kBurstAt;
                return {name + " burst", shown(what, id)};
            case 2: {
                HierarchyOffer& other = records(what)[draw(changes_rng_, records(what).size())];
                std::swap(record.parent, other.parent);
                if (what == HierarchyWhat::Subscriber) {
                    moved(id);
                    moved(other.id);
                }
                partner_.push_back({name + " parent", other});
                return {name + " parent", shown(what, id)};
            }
            case 4:
                record.weight = static_cast<uint8_t>(1 + draw(changes_rng_, 8));
                return {name + " weight", shown(what, id)};
            default:
                auto& closed = closed_[static_cast<size_t>(what)];
                if (closed.size() >= (what == HierarchyWhat::Node ? kClosedNodes : kClosedSubscribers)) {
                    id = closed.front();
                    closed.pop_front();
                } else {
                    closed.push_back(id);
                }
                return {name + " gate", shown(what, id)};
        }
    }

    // The record as it is written: closed, while its gate is.
    HierarchyOffer shown(HierarchyWhat what, uint32_t id) {
        HierarchyOffer setting = records(what)[id];
        const auto& closed = closed_[static_cast<size_t>(what)];
        if (std::find(closed.begin(), closed.end(), id) != closed.end()) setting.shaper = kClosed;
        return setting;
    }

    // Everything is opened, so that what is left comes out.
    uint64_t open_and_drain() {
        while (queue_offer_.valid || hierarchy_offer_.valid) {
            cycle();
            taken();
        }
        for (size_t what = 1; what < 4; ++what)
            for (HierarchyOffer setting : records_[what]) {
                setting.shaper = kUnshaped;
                set(setting);
            }
        for (const uint32_t queue : closed_queues_) set_queue(queue, kUnshaped);
        return drain_and_count(kLostQuiet);
    }

    uint32_t queues_, descriptors_;
    uint64_t total_, start_ = 0;
    bool changes_wanted_;
    std::mt19937_64 rng_, changes_rng_;  // traffic; changes, so that the traffic is the same without them
    DrawnHierarchy hierarchy_;
    std::vector<std::vector<uint32_t>> nodes_;  // by queue: the nodes it has been below since its last packet left
    std::vector<uint64_t> shapers_;             // of the queues
    std::vector<uint32_t> limits_;
    std::vector<HierarchyOffer> records_[4];
    std::deque<uint32_t> closed_queues_, closed_[4];
    std::deque<std::pair<std::string, HierarchyOffer>> partner_;
    Offer queue_offer_, hierarchy_offer_;
    std::map<std::string, uint64_t> changes_;
    std::vector<uint32_t> ready_;
    Standstills enqueue_side_, output_side_;
};

}  // namespace

nb::dict reconfigure_bench(const nb::dict& given, nb::object progress) { return Reconfigure(given, std::move(progress)).run(); }

}  // namespace penstock
