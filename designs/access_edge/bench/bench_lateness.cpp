// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The lateness bench. To begin in the middle of things, with the first departures of all queues spread over their periods, each
// queue first sends one long packet at a rate that puts its time stamp where its first measured packet shall be; then it gets its own
// settings and its backlog. All of that is over before the first of those times comes.
#include "designs/access_edge/bench/bench_lateness.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "designs/access_edge/bench/core_hierarchy.hpp"
#include "designs/access_edge/bench/core_mirror.hpp"
#include "designs/access_edge/bench/core_model_pins.hpp"
#include "designs/access_edge/model/ideal_server.hpp"

namespace nb = nanobind;

namespace penstock {
namespace {

constexpr uint32_t kStarterLen = 9600;
constexpr uint32_t kStarterBurst = (1u << 28) - 1;  // longer than the set-up, so that a starter's stamp counts from reset
constexpr uint32_t kSetUpCyclesPerQueue = 60;
constexpr uint64_t kPatience = 200'000'000;
constexpr uint64_t kProgressCycles = 1 << 16;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Options {
    std::string library;
    uint32_t queues, descriptors, overhead_bytes;
    uint64_t packets, warm_up, seed, link_bps, clock_hz;
    std::vector<std::pair<uint32_t, uint32_t>> sizes;
    Array<uint64_t> shapers;
    Array<int64_t> first;
    Array<uint32_t> depth;
    std::optional<HierarchySizes> hierarchy;
};

// The setting with which a packet of `len` bytes takes about that many cycles.
ShaperSetting setting_for(int64_t cycles, uint32_t len) {
    const uint64_t period = std::max<uint64_t>(1, (static_cast<uint64_t>(cycles) << Shaper::kFraction) / len);
    const int exponent = std::bit_width(period) - 1;
    if (exponent > 31) throw std::invalid_argument("a first departure is too far away");
    return {static_cast<uint32_t>(exponent > 15 ? period >> (exponent - 15) : period << (15 - exponent)), static_cast<uint32_t>(exponent),
            kStarterBurst};
}

class LatenessBench {
  public:
    LatenessBench(const Options& options, nb::object progress)
        : options_(options),
          progress_(std::move(progress)),
          owned_(make_core(options.library, options.queues, options.descriptors, true, AqmChoice{}, options.hierarchy)),
          core_(*owned_),
          mirror_(options.queues, options.descriptors),
          link_(options.link_bps, options.clock_hz, options.overhead_bytes),
          ideal_({options.shapers.data(), options.shapers.data() + options.queues}, link_),
          at_ideal_(options.descriptors),
          rng_(options.seed) {
        for (const auto& size : options.sizes) weights_ += size.second;
    }

    nb::dict run() {
        reset();
        set_up();
        return measure();
    }

  private:
    int64_t now() const { return now_; }

    void reset() {
        auto& p = core_.pins;
        p.rst_i = 1;
        for (int i = 0; i < 4; ++i) core_.step();
        p.rst_i = 0;
        p.m_drop_ready_i = 1;
        for (uint64_t i = 0; !p.init_done_o; ++i) {
            core_.step();
            if (i > kPatience) throw std::runtime_error("init_done_o does not rise");
        }
        now_ = p.now_o;
    }

    // One clock cycle. `now_` is the scheduler's clock in the cycle that has just been looked at.
    void cycle() {
        auto& p = core_.pins;
        p.m_out_ready_i = !paced_ || link_.free_in(now_ + 1);
        core_.step();
        ++now_;
        if (p.now_o != static_cast<uint32_t>(now_)) throw std::runtime_error("the core's clock does not count cycles");
        if (p.s_enq_valid_i && p.s_enq_ready_o) {
            mirror_.enqueue(p.s_enq_queue_i, p.s_enq_desc_i, p.s_enq_len_i);
            if (paced_ && ideal_.starved(p.s_enq_queue_i, now_))
                throw std::runtime_error("queue " + std::to_string(p.s_enq_queue_i) + " ran empty: the core is far too late");
            if (filling_) at_ideal_[p.s_enq_desc_i] = ideal_.enqueued(now_, p.s_enq_queue_i, p.s_enq_len_i);
            p.s_enq_valid_i = 0;
        }
        if (p.ev_valid_o) mirror_.event(p.ev_queue_o, p.ev_len_o, p.ev_reason_o);
        if (p.m_drop_valid_o) throw std::runtime_error("a page was given back for a packet that was not dropped");
        if (paced_ && !closed_) outstanding_ += ideal_.advance(now_);
        if (p.m_out_valid_o && p.m_out_ready_i) {
            mirror_.departure(p.m_out_queue_o, p.m_out_desc_o, p.m_out_len_o);
            if (filling_ && !paced_) throw early(p.m_out_queue_o);
            if (paced_) departed(p.m_out_queue_o, p.m_out_desc_o, p.m_out_len_o);
            quiet_ = 0;
        } else if (++quiet_ > kPatience) {
            throw std::runtime_error("no packet has come out for " + std::to_string(kPatience) + " cycles");
        }
        if (now_ % kProgressCycles == 0) report();
    }

    static std::runtime_error early(uint32_t queue) {
        return std::runtime_error("queue " + std::to_string(queue) + " sent a packet before its earliest departure time");
    }

    void report() {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress_.is_none()) progress_(departures_, now_);
    }

    void configure(uint32_t queue, uint64_t shaper) {
        auto& p = core_.pins;
        p.s_cfg_queue_i = queue;
        p.s_cfg_shaper_i = shaper;
        p.s_cfg_limit_packets_i = settings::kMostLimitPackets;
        p.s_cfg_limit_bytes_i = 0xFFFFFF;
        p.s_cfg_valid_i = 1;
        do cycle();
        while (!p.s_cfg_ready_o);
        p.s_cfg_valid_i = 0;
    }

    void offer(uint32_t queue, uint32_t len) {
        auto& p = core_.pins;
        if (!mirror_.has_free()) throw std::invalid_argument("there are too few descriptors");
        p.s_enq_valid_i = 1;
        p.s_enq_queue_i = queue;
        p.s_enq_desc_i = mirror_.take();
        p.s_enq_len_i = static_cast<uint16_t>(len);
    }

    void enqueue(uint32_t queue, uint32_t len) {
        offer(queue, len);
        while (core_.pins.s_enq_valid_i) cycle();
    }

    uint32_t draw_len() {
        uint64_t pick = rng_() % weights_;
        for (const auto& [len, weight] : options_.sizes) {
            if (pick < weight) return len;
            pick -= weight;
        }
        throw std::logic_error("unreachable");
    }

    void set_up() {
        const int64_t start = now() + int64_t{kSetUpCyclesPerQueue} * options_.queues + 50'000;
        for (uint32_t q = 0; q < options_.queues; ++q) {
            if (options_.first(q) < 0) continue;
            const auto len =
                static_cast<uint32_t>(kStarterLen - rng_() % 1024);  // times are a multiple of it, so it is not always the same
            const ShaperSetting setting = setting_for(start + options_.first(q), len);
            ideal_.set_time(q, Shaper::update(setting, 0, now(), len));
            configure(q, encode_shaper(setting));
            enqueue(q, len);
        }
        while (mirror_.waiting() > 0) cycle();
        for (int i = 0; i < 64; ++i) cycle();
        for (uint32_t q = 0; q < options_.queues; ++q) configure(q, options_.shapers(q));
        uint32_t deepest = 0;
        for (uint32_t q = 0; q < options_.queues; ++q) deepest = std::max(deepest, options_.depth(q));
        filling_ = true;
        // The first packets of all queues come back to back: the scheduler is told of one queue per cycle.
        for (uint32_t level = 0; level < deepest; ++level) {
            for (uint32_t q = 0; q < options_.queues; ++q) {
                if (level >= options_.depth(q)) continue;
                offer(q, draw_len());
                while (core_.pins.s_enq_valid_i) cycle();
            }
        }
        for (int i = 0; i < 64; ++i) cycle();
        if (ideal_.any_due(now())) throw std::runtime_error("the set-up took too long");
        paced_ = true;
        while (now() < start - 64 && !ideal_.any_due(now() + 64)) cycle();
    }

    void departed(uint32_t queue, uint32_t descriptor, uint32_t len) {
        const LinkUnits start = link_.send(now(), len);
        const IdealServer::Packet packet = ideal_.packet(at_ideal_[descriptor]);
        ideal_.release(at_ideal_[descriptor]);
        if (packet.start == IdealServer::kNotYet) {
            if (!closed_) throw early(queue);
        } else {
            --outstanding_;
            const int64_t beyond = link_.cycles_up(start - link_.units(packet.earliest));
            if (beyond >= options_.shapers(queue) >> settings::kBurstAt)
                throw std::runtime_error("a packet is later than the queue's burst makes up for");
            if (departures_ >= options_.warm_up && lateness_.size() < options_.packets) {
                lateness_.push_back(static_cast<uint32_t>(link_.cycles_up(start - packet.start)));
                core_late_.push_back(static_cast<uint32_t>(beyond));
                ideal_late_.push_back(static_cast<uint32_t>(link_.cycles_up(packet.start - link_.units(packet.earliest))));
                if (!closed_) bytes_ += len;  // what leaves after the measured cycles is no load of theirs
            }
            ++departures_;
        }
        refill_.push_back(queue);
    }

    void traffic() {
        auto& p = core_.pins;
        if (!p.s_enq_valid_i && !refill_.empty() && mirror_.has_free()) {
            offer(refill_.front(), draw_len());
            refill_.pop_front();
        }
        cycle();
    }

    nb::dict measure() {
        for (auto* list : {&lateness_, &core_late_, &ideal_late_}) list->reserve(options_.packets);
        while (departures_ < options_.warm_up) traffic();
        const int64_t from = now();
        while (departures_ < options_.warm_up + options_.packets) traffic();
        const int64_t cycles = now() - from;
        // No packet escapes by being late: those whose time has come by now leave.
        closed_ = true;
        options_.packets = UINT64_MAX;
        while (outstanding_ > 0) traffic();
        nb::dict result;
        result["cycles"] = cycles;
        result["bytes"] = bytes_;
        result["lateness"] = array(lateness_);
        result["core"] = array(core_late_);
        result["ideal"] = array(ideal_late_);
        return result;
    }

    static nb::object array(const std::vector<uint32_t>& values) {
        auto* kept = new std::vector<uint32_t>(values);
        nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<uint32_t>*>(p); });
        return nb::cast(nb::ndarray<nb::numpy, uint32_t, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
    }

    Options options_;
    nb::object progress_;
    std::unique_ptr<Core> owned_;
    Core& core_;
    Mirror mirror_;
    LinkClock link_;
    IdealServer ideal_;
    std::vector<uint32_t> at_ideal_;  // packets in the core by descriptor: what the ideal server knows them by
    std::mt19937_64 rng_;
    std::deque<uint32_t> refill_;
    std::vector<uint32_t> lateness_, core_late_, ideal_late_;
    uint64_t weights_ = 0, departures_ = 0, outstanding_ = 0, quiet_ = 0, bytes_ = 0;
    int64_t now_ = 0;
    bool paced_ = false, filling_ = false, closed_ = false;
};

}  // namespace

nb::dict lateness_bench(const nb::dict& given, nb::object progress) {
    const auto number = [&](const char* key) { return nb::cast<uint64_t>(given[key]); };
    Options options{
        .library = nb::cast<std::string>(given["library"]),
        .queues = nb::cast<uint32_t>(given["queues"]),
        .descriptors = nb::cast<uint32_t>(given["descriptors"]),
        .overhead_bytes = nb::cast<uint32_t>(given["overhead_bytes"]),
        .packets = number("packets"),
        .warm_up = number("warm_up"),
        .seed = number("seed"),
        .link_bps = number("link_bps"),
        .clock_hz = number("clock_hz"),
        .sizes = nb::cast<std::vector<std::pair<uint32_t, uint32_t>>>(given["sizes"]),
        .shapers = nb::cast<Array<uint64_t>>(given["shapers"]),
        .first = nb::cast<Array<int64_t>>(given["first"]),
        .depth = nb::cast<Array<uint32_t>>(given["depth"]),
        .hierarchy = HierarchyShape::from_python(given).sizes(),
    };
    if (options.queues < 2 || options.packets < 1 || options.sizes.empty()) throw std::invalid_argument("nothing to measure");
    for (const size_t count : {options.shapers.size(), options.first.size(), options.depth.size()}) {
        if (count != options.queues) throw std::invalid_argument("shapers, first and depth must have one element for each queue");
    }
    return LatenessBench(options, std::move(progress)).run();
}

}  // namespace penstock
